// datarep.hpp - Datarep for C++20, over datarep.h alone: nothing to link but the C library.
// SPDX-FileCopyrightText: 2026 The Datarep authors
// SPDX-License-Identifier: MIT
//
// Handles are movable objects that release what they hold; a call that fails throws
// datarep::error; elements are std::span and std::vector; strings are std::string in UTF-8.
// What is not here is called in C: every class has get(), and check() turns a code into an error.
// Threads may share what datarep.h lets them share.
//
//     datarep::file f = datarep::file::create("x.drep");
//     std::vector<double> v(60);
//     f.create_dataset<double>("t", {3, 20}).write<double>(v);
//     f.set_attr("t", "units", "K");
//     f.close();                                   // commits; a destructor does not
#ifndef DATAREP_HPP
#define DATAREP_HPP

#include <datarep.h>

#include <complex>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <exception>
#include <initializer_list>
#include <memory>
#include <span>
#include <stdexcept>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

namespace datarep {
// what() is the thread's message, which names file, object and byte; code() one of DREP_ERR_....
// object() is "" and byte() -1 if it is about none.
class error : public std::runtime_error {
public:
    explicit error(int code) : std::runtime_error(text(code)), code_(code) {}
    int code() const noexcept { return code_; }
    const char *object() const noexcept { return object_.what(); }
    int64_t byte() const noexcept { return byte_; }
private:
    static std::string text(int code) { return *drep_error() ? drep_error() : drep_strerror(code); }
    int code_;
    int64_t byte_ = drep_error_byte();
    std::runtime_error object_{drep_error_object()}; // a text that is copied without failing
};

inline void check(int err)
{
    if (err)
        throw error(err);
}

using shape = std::vector<int64_t>;
using str = const std::string &;

namespace detail {

template <class T, void (*release)(T *)> struct releaser {
    void operator()(T *p) const noexcept { release(p); }
};

// What holds one handle of C: movable, released at its end.
template <class T, void (*release)(T *)> class handle {
public:
    explicit handle(T *own = nullptr) noexcept : p_(own) {}
    T *get() const noexcept { return p_.get(); }
protected:
    std::unique_ptr<T, releaser<T, release>> p_;
};

// The result of a function of C whose last argument says where it goes.
template <class T, class Call, class... A> T ask(Call call, A... args)
{
    T value{};
    if constexpr (requires { sizeof value.size; })
        value.size = sizeof value;
    check(call(args..., &value));
    return value;
}

inline std::string take(char *text)
{
    std::unique_ptr<char, decltype(&std::free)> own(text, std::free);
    return text ? std::string(text) : std::string();
}

inline void require(bool condition, const char *what)
{
    if (!condition)
        throw std::invalid_argument(what);
}

// A function object for a callback of C: its exception stops the walk and stays on this side.
template <class F> struct walker {
    F &fn;
    std::exception_ptr thrown{};

    template <class A> int operator()(const A &arg) noexcept
    try {
        if constexpr (std::is_same_v<std::invoke_result_t<F &, const A &>, bool>)
            return fn(arg) ? 0 : DREP_ERR_STOPPED;
        else
            return fn(arg), 0;
    } catch (...) {
        thrown = std::current_exception();
        return DREP_ERR_STOPPED;
    }
    void end(int err) const // a walk that fn stopped is no error
    {
        if (thrown)
            std::rethrow_exception(thrown);
        check(err == DREP_ERR_STOPPED ? 0 : err);
    }
};

// The first of the codes whose type is T; 0: none.
template <class T, class... Ts> constexpr int code_among(std::initializer_list<int> codes)
{
    const int *code = codes.begin();
    (void)((std::is_same_v<T, Ts> || (++code, false)) || ...);
    return code == codes.end() ? 0 : *code;
}
template <class T>
inline constexpr int code =
    code_among<T, char, signed char, unsigned char, std::byte, bool, wchar_t, short, unsigned short,
               int, unsigned, long, unsigned long, long long, unsigned long long, float, double,
               long double, std::complex<float>, std::complex<double>, std::complex<long double>>(
        {DREP_CODE_CHAR, DREP_CODE_SIGNED_CHAR, DREP_CODE_UNSIGNED_CHAR, DREP_CODE_BYTE,
         DREP_CODE_CXX_BOOL, DREP_CODE_WCHAR, DREP_CODE_SHORT, DREP_CODE_UNSIGNED_SHORT,
         DREP_CODE_INT, DREP_CODE_UNSIGNED, DREP_CODE_LONG, DREP_CODE_UNSIGNED_LONG,
         DREP_CODE_LONG_LONG, DREP_CODE_UNSIGNED_LONG_LONG, DREP_CODE_FLOAT, DREP_CODE_DOUBLE,
         DREP_CODE_LONG_DOUBLE, DREP_CODE_CXX_FLOAT_COMPLEX, DREP_CODE_CXX_DOUBLE_COMPLEX,
         DREP_CODE_CXX_LONG_DOUBLE_COMPLEX});

} // namespace detail

using detail::ask, detail::require, detail::take;

// A datatype; type::parse("struct{t: DOUBLE, n: INT}") takes the one-line form.
class type : public detail::handle<drep_type, drep_type_free> {
public:
    using handle::handle;
    static type parse(str text) { return type(ask<drep_type *>(drep_type_parse, text.c_str())); }
    std::string text() const { return take(ask<char *>(drep_type_print, get())); }
};

// The datatype of T in memory.  For a struct of yours, specialise it with a get() of its own.
template <class T> struct type_of {
    static_assert(detail::code<T> != 0, "specialise datarep::type_of for this type");
    static const drep_type *get() noexcept { return drep_predefined(detail::code<T>); }
};

// Hints: hints{{"drep_threads", "4"}}.
class hints : public detail::handle<drep_info, drep_info_free> {
public:
    hints(std::initializer_list<std::pair<const char *, const char *>> pairs = {})
        : handle(ask<drep_info *>(drep_info_new))
    {
        for (auto &[key, value] : pairs)
            check(drep_info_set(get(), key, value));
    }
};

// A set of elements of a dataset; a selection{} is all of them.
class selection : public detail::handle<drep_selection, drep_selection_free> {
public:
    using handle::handle;
    // count[d] elements, stride[d] apart (default 1), from start[d] on.
    static selection box(const shape &start, const shape &count, const shape &stride = {})
    {
        require(start.size() == count.size() && (stride.empty() || stride.size() == count.size()),
                "datarep::selection::box: ranks differ");
        const int64_t *step = stride.empty() ? nullptr : stride.data();
        return selection(ask<drep_selection *>(drep_select_box, static_cast<int>(start.size()),
                                               start.data(), count.data(), step, nullptr));
    }
    friend selection operator|(const selection &a, const selection &b)
    { return selection(ask<drep_selection *>(drep_select_union, a.get(), b.get())); }
};

class dataset : public detail::handle<drep_dataset, drep_dataset_close> {
public:
    using handle::handle;
    drep_dsinfo info() const { return ask<drep_dsinfo>(drep_dataset_info, get()); }
    shape dims() const
    { drep_dsinfo i = info(); return i.rank > 0 ? shape(i.dims, i.dims + i.rank) : shape(); }
    // All elements, or those selected, in row-major order.  More items than T's: DREP_ERR_BUFFER.
    template <class T> std::vector<T> read(const selection &sel = {}) const
    {
        static_assert(!std::is_same_v<T, bool>, "std::vector<bool> has no elements in memory");
        std::vector<T> v(count(sel));
        read(std::span<T>(v), sel);
        return v;
    }
    template <class T> void read(std::span<T> to, const selection &sel = {}) const
    {
        require(to.size() == count(sel), "datarep::dataset::read: another number of elements");
        move(drep_read, to, sel.get());
    }
    template <class T> void write(std::span<const T> from, const selection &sel = {})
    {
        require(from.size() == count(sel), "datarep::dataset::write: another number of elements");
        move(drep_write, from, sel.get());
    }
    // Grows dimension `dim` by whole rows of the other dimensions.
    template <class T> void append(std::span<const T> rows, std::size_t dim = 0)
    {
        std::size_t row = 1, d = 0;
        for (int64_t n : dims())
            row *= d++ == dim ? 1 : static_cast<std::size_t>(n);
        require(dim < d && row > 0 && rows.size() % row == 0,
                "datarep::dataset::append: not whole rows");
        move(drep_append, rows, static_cast<int>(dim), static_cast<int64_t>(rows.size() / row));
    }
    void resize(const shape &dims)
    {
        require(static_cast<int>(dims.size()) == info().rank, "datarep::resize: ranks differ");
        check(drep_dataset_resize(get(), dims.data()));
    }
private:
    template <class T, class Call, class... A> void move(Call call, std::span<T> m, A... args) const
    {
        drep_xfer x = DREP_XFER();
        x.buf_size = m.size_bytes() + m.empty();
        check(call(get(), args..., type_of<std::remove_const_t<T>>::get(), m.data(), &x));
    }
    std::size_t count(const selection &sel) const
    { return static_cast<std::size_t>(sel.get() ? drep_selection_count(sel.get()) : info().count); }
};

// A file.  close() commits; the destructor abandons what was not committed, so that an exception
// publishes nothing half-made.
class file : public detail::handle<drep_file, drep_abandon> {
public:
    using handle::handle;
    static file create(str path, const char *datarep = "native", const hints &how = {},
                       int amode = DREP_RDWR)
    { return file(ask<drep_file *>(drep_create, path.c_str(), amode, datarep, how.get())); }
    static file open(str path, int amode = DREP_RDONLY, const hints &how = {})
    { return file(ask<drep_file *>(drep_open, path.c_str(), amode, how.get())); }
    void commit() { check(drep_commit(get())); }
    void close() { check(drep_close(p_.release())); }
    void refresh() { check(drep_refresh(get())); }
    void create_group(str path) { check(drep_group_create(get(), path.c_str(), 1)); }
    // maxdims: DREP_UNLIMITED where it may grow.  spec: the rest of what a dataset may have.
    template <class T>
    dataset create_dataset(str path, const shape &dims, const shape &maxdims = {},
                           drep_spec spec = DREP_SPEC())
    {
        require(maxdims.empty() || maxdims.size() == dims.size(),
                "datarep::file::create_dataset: ranks differ");
        spec.type = type_of<T>::get();
        spec.rank = static_cast<int>(dims.size());
        spec.dims = dims.data();
        spec.maxdims = maxdims.empty() ? nullptr : maxdims.data();
        return dataset(ask<drep_dataset *>(drep_dataset_create, get(), path.c_str(), &spec));
    }
    dataset open_dataset(str path) const
    { return dataset(ask<drep_dataset *>(drep_dataset_open, get(), path.c_str())); }
    bool exists(str path) const { return ask<int>(drep_exists, get(), path.c_str()) != 0; }
    void remove(str path) { check(drep_link_remove(get(), path.c_str())); }

    // fn(const drep_linkinfo &), fn(const drep_visited &); one that returns bool stops with false.
    template <class F> void list(str group, F fn, int order = DREP_BY_NAME) const
    { each<drep_linkinfo>(drep_list, group, fn, order); }
    template <class F> void visit(str path, F fn, int order = DREP_BY_NAME) const
    { each<drep_visited>(drep_visit, path, fn, order); }

    void set_attr(str path, str name, str value)
    { check(drep_attr_write_string(get(), path.c_str(), name.c_str(), value.c_str())); }
    template <class T, std::enable_if_t<std::is_arithmetic_v<T>, int> = 0>
    void set_attr(str path, str name, T value)
    {
        const drep_type *t = type_of<T>::get();
        check(drep_attr_write(get(), path.c_str(), name.c_str(), t, 0, nullptr, &value));
    }
    std::string attr_string(str path, str name) const
    { return take(attr<char *>(drep_attr_read_string, path, name)); }
    int64_t attr_int(str path, str name) const
    { return attr<int64_t>(drep_attr_read_int64, path, name); }
    double attr_double(str path, str name) const
    { return attr<double>(drep_attr_read_double, path, name); }
private:
    template <class V, class Call> V attr(Call call, str path, str name) const
    { return ask<V>(call, get(), path.c_str(), name.c_str()); }
    template <class Info, class C, class F> void each(C call, str path, F &fn, int order) const
    {
        using walk = detail::walker<F>;
        walk w{fn};
        w.end(call(get(), path.c_str(), order,
                   [](const Info *i, void *ctx) { return (*static_cast<walk *>(ctx))(*i); }, &w));
    }
};

} // namespace datarep
#endif
