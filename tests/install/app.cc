// app.cc - what datarep.hpp has, used as a program of a stranger uses it.  argv[1]: a directory.
// SPDX-License-Identifier: MIT
#include <datarep.hpp>

#include <cstdio>
#include <numeric>

#undef NDEBUG
#include <cassert>

struct sample {
    double time;
    int count;
};

template <> struct datarep::type_of<sample> {
    static const drep_type *get()
    {
        static const type t = [] {
            const char *names[] = {"time", "count"};
            const int64_t at[] = {offsetof(sample, time), offsetof(sample, count)};
            const drep_type *members[] = {type_of<double>::get(), type_of<int>::get()};
            return type(ask<drep_type *>(drep_type_compound, 2, names, at, members,
                                         static_cast<int64_t>(sizeof(sample))));
        }();
        return t.get();
    }
};

template <class F> static int code_of(F fn, const std::string &object = "")
{
    try {
        fn();
    } catch (const datarep::error &e) {
        assert(*e.what() != '\0' && e.object() == object && e.byte() == -1);
        return e.code();
    }
    return 0;
}

template <class F> static bool refused(F fn)
{
    try {
        fn();
    } catch (const std::invalid_argument &) {
        return true;
    }
    return false;
}

static void write(const std::string &path)
{
    datarep::file f = datarep::file::create(path, "external32", {{"drep_threads", "1"}});
    std::vector<double> v(60);

    std::iota(v.begin(), v.end(), 0.5);
    datarep::dataset t = f.create_dataset<double>("t", {3, 20}, {DREP_UNLIMITED, 20});
    t.write<double>(v);
    t.append<double>(std::span<const double>(v).first(40));
    assert(refused([&] { t.append<double>(std::span<const double>(v).first(30)); }));
    assert(refused([&] { t.write<double>(std::span<const double>(v)); }));
    f.create_group("a/b");
    std::vector<sample> samples{{1.5, 3}, {2.5, 4}};
    f.create_dataset<sample>("a/s", {2}).write<sample>(samples);
    f.set_attr("t", "units", "K");
    f.set_attr("t", "runs", 7);
    f.set_attr("t", "scale", 0.25f);
    f.close();
}

static void read(const std::string &path)
{
    const datarep::file f = datarep::file::open(path);
    const datarep::dataset t = f.open_dataset("/t");

    assert((t.dims() == datarep::shape{5, 20}));
    std::vector<float> row = t.read<float>(datarep::selection::box({1, 0}, {1, 20}));
    assert(row.size() == 20 && row[3] == 23.5f);
    auto two = datarep::selection::box({0, 0}, {1, 2}) | datarep::selection::box({4, 19}, {1, 1});
    assert((t.read<double>(two) == std::vector<double>{0.5, 1.5, 39.5}));
    const auto fractions = datarep::selection::box({0, 0}, {1, 3}, {1, 5});
    assert(code_of([&] { t.read<int64_t>(fractions); }, "/t") == DREP_ERR_CONVERSION);
    int64_t cut[3] = {-1, -1, -1};
    const drep_xfer clamp = DREP_XFER(.range = DREP_RANGE_CLAMP);
    assert(drep_read(t.get(), fractions.get(), DREP_INT64_T, cut, &clamp) == 0);
    assert(cut[0] == 0 && cut[1] == 5 && cut[2] == 10);
    auto samples = f.open_dataset("a/s").read<sample>();
    assert(samples[1].time == 2.5 && samples[1].count == 4);
    assert(code_of([&] { f.open_dataset("a/s").read<double>(); }, "a/s") == DREP_ERR_BUFFER);
    assert(f.attr_string("t", "units") == "K" && f.attr_int("t", "runs") == 7);
    assert(f.attr_double("t", "scale") == 0.25);

    std::vector<std::string> paths;
    f.visit("/", [&](const drep_visited &o) { paths.push_back(o.path); });
    assert((paths == std::vector<std::string>{"/", "/a", "/a/b", "/a/s", "/t"}));
    int seen = 0;
    f.list("/", [&](const drep_linkinfo &) { return ++seen < 1; });
    assert(seen == 1);
    try {
        f.list("/", [](const drep_linkinfo &l) { throw std::string(l.name); });
        assert(false);
    } catch (const std::string &name) {
        assert(name == "a");
    }
    assert(f.exists("a/b") && !f.exists("a/c"));
    assert(code_of([&] { (void)f.open_dataset("none"); }, "none") == DREP_ERR_NOT_FOUND);
    assert(code_of([&] { (void)f.attr_int("t", "units"); }, "t") == DREP_ERR_TYPE);
}

// An exception publishes nothing.
static void abandon(const std::string &path)
{
    try {
        datarep::file f = datarep::file::open(path, DREP_RDWR);
        f.remove("t");
        throw 1;
    } catch (int) {
    }
    assert(datarep::file::open(path).exists("t"));
}

int main(int argc, char **argv)
{
    std::string path = std::string(argc > 1 ? argv[1] : ".") + "/hpp.drep";

    write(path);
    read(path);
    abandon(path);
    datarep::file moved = datarep::file::open(path), f = std::move(moved);
    assert(moved.get() == nullptr && f.exists("/"));
    assert(datarep::type::parse("struct{t: DOUBLE}").text() == "struct{t: DOUBLE}");
    assert(code_of([] { (void)datarep::file::open("/no/such/file"); }) == DREP_ERR_NO_SUCH_FILE);
    std::puts("ok");
}
