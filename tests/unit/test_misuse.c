/* test_misuse.c - every public call with handles that it must not get: none, closed ones, those
 * whose file is closed, opened for something else.  Each gives an error, or what datarep.h says;
 * none crashes (this runs under ASan too) or waits. */
/* SPDX-License-Identifier: MIT */
#include "data_help.h"

enum { N = 100 };

/* What the calls are made with. */
static struct {
    drep_file *f;
    drep_dataset *ds;
    drep_view *v;
    const char *path;   /* of the dataset, of */
    const drep_type *t; /* this type */
} h;

/* Room for whatever they give. */
static int64_t dims[DREP_MAX_RANK] = {N};
static struct {
    drep_objinfo object;
    drep_attrinfo attr;
    drep_dsinfo ds;
    drep_header header;
    drep_usage usage;
    drep_objusage object_usage;
    int64_t n;
    double value[2 * N];
} out = {.object = DREP_OBJINFO,
         .attr = DREP_ATTRINFO,
         .ds = DREP_DSINFO,
         .header = DREP_HEADER,
         .usage = DREP_USAGE,
         .object_usage = DREP_OBJUSAGE};
static double buf[2 * N];
static const void *mapped;
static drep_file *file_out;
static drep_dataset *dataset_out;
static drep_view *view_out;
static drep_type *type_out;
static drep_info *info_out;
static char *path_out;
static int kind_out;
static size_t size_out;

static int see_link(const drep_linkinfo *link, void *ctx)
{
    (void)link;
    (void)ctx;
    return 0;
}

static int see_name(const char *name, void *ctx)
{
    (void)name;
    (void)ctx;
    return 0;
}

static int see_object(const drep_visited *object, void *ctx)
{
    (void)object;
    (void)ctx;
    return 0;
}

static int see_commit(const drep_commitinfo *commit, void *ctx)
{
    (void)commit;
    (void)ctx;
    return 0;
}

static int count_out;

static int see_start(const int64_t *start, void *ctx)
{
    (void)start;
    (void)ctx;
    return 0;
}

static int see_leak(uint64_t offset, uint64_t length, void *ctx)
{
    (void)offset;
    (void)length;
    (void)ctx;
    return 0;
}

static int create_dataset(void)
{
    drep_spec spec = DREP_SPEC(.type = DREP_DOUBLE, .rank = 1, .dims = dims);

    return drep_dataset_create(h.f, "/new", &spec, &dataset_out);
}

static int set_info(void)
{
    drep_info *info = hints("drep_threads=1", (char *)NULL);
    int err = drep_set_info(h.f, info);

    drep_info_free(info);
    return err;
}

static int header_types(void)
{
    const drep_encoding *rows;
    int n;

    return drep_header_types(h.f, 0, &rows, &n);
}

static int header_scalars(void)
{
    const drep_scalar *scalars;
    int n;

    return drep_header_scalars(h.f, 0, &scalars, &n);
}

/* The calls with one kind of handle.  X(name, call, writes) */
#define FILE_CALLS(X)                                                                    \
    X(stat, drep_stat(h.f, h.path, &out.object), false)                                  \
    X(object_path, drep_object_path(h.f, 1, &path_out), false)                           \
    X(exists, drep_exists(h.f, h.path, &kind_out), false)                                \
    X(visit, drep_visit(h.f, "/", DREP_BY_NAME, see_object, NULL), false)                \
    X(readv, drep_readv(h.f, &(drep_item){.path = "/a", .buf = buf}, 1, NULL), false)    \
    X(attr_read_string, drep_attr_read_string(h.f, h.path, "s", &path_out), false)       \
    X(attr_read_int64, drep_attr_read_int64(h.f, h.path, "n", &out.n), false)            \
    X(attr_read_double, drep_attr_read_double(h.f, h.path, "n", out.value), false)       \
    X(object_usage, drep_object_usage(h.f, h.path, &out.object_usage), false)            \
    X(usage, drep_usage_get(h.f, &out.usage), false)                                     \
    X(check, drep_check(h.f, 1, NULL, NULL, NULL), false)                                \
    X(leaks, drep_leaks(h.f, see_leak, NULL), false)                                     \
    X(list, drep_list(h.f, "/", DREP_BY_NAME, see_link, NULL), false)                    \
    X(attr_list, drep_attr_list(h.f, h.path, DREP_BY_NAME, see_name, NULL), false)       \
    X(attr_info, drep_attr_info(h.f, h.path, "n", &out.attr), false)                     \
    X(attr_read, drep_attr_read(h.f, h.path, "n", DREP_INT64_T, &out.n), false)          \
    X(attr_encodings, drep_attr_encodings(h.f, h.path, "n", NULL, 0, &count_out), false) \
    X(type_open, drep_type_open(h.f, "/t", &type_out), false)                            \
    X(dataset_open, drep_dataset_open(h.f, h.path, &dataset_out), false)                 \
    X(header_get, drep_header_get(h.f, &out.header), false)                              \
    X(header_types, header_types(), false)                                               \
    X(header_scalars, header_scalars(), false)                                           \
    X(header_hints, drep_header_hints(h.f, &info_out), false)                            \
    X(get_info, drep_get_info(h.f, &info_out), false)                                    \
    X(get_amode, drep_get_amode(h.f, &count_out), false)                                 \
    X(set_info, set_info(), false)                                                       \
    X(refresh, drep_refresh(h.f), false)                                                 \
    X(log, drep_log(h.f, see_commit, NULL), false)                                       \
    X(create_like, drep_create_like(":memory:", DREP_RDWR, h.f, NULL, &file_out), false) \
    X(commit, drep_commit(h.f), true)                                                    \
    X(seal, drep_seal(h.f, &out.n), true)                                                \
    X(group_create, drep_group_create(h.f, "/g2", 0), true)                              \
    X(dimension_create, drep_dimension_create(h.f, "/#d2", 5, 0), true)                  \
    X(type_commit, drep_type_commit(h.f, "/t2", DREP_INT), true)                         \
    X(link_hard, drep_link_hard(h.f, h.path, "/h2"), true)                               \
    X(link_soft, drep_link_soft(h.f, h.path, "/s2"), true)                               \
    X(link_external, drep_link_external(h.f, "other", "/x", "/e2"), true)                \
    X(link_remove, drep_link_remove(h.f, "/t"), true)                                    \
    X(link_move, drep_link_move(h.f, "/t", "/t3"), true)                                 \
    X(attr_write, drep_attr_write(h.f, h.path, "m", DREP_DOUBLE, 0, NULL, buf), true)    \
    X(attr_write_string, drep_attr_write_string(h.f, h.path, "s", "text"), true)         \
    X(attr_write_int, drep_attr_write_int64(h.f, h.path, "i", 1), true)                  \
    X(attr_write_double, drep_attr_write_double(h.f, h.path, "x", 1), true)              \
    X(attr_rename, drep_attr_rename(h.f, h.path, "n", "o"), true)                        \
    X(attr_remove, drep_attr_remove(h.f, h.path, "n"), true)                             \
    X(copy, drep_copy(h.f, h.path, h.f, "/copy", NULL), true)                            \
    X(dataset_create, create_dataset(), true)

#define DATASET_CALLS(X)                                                             \
    X(info, drep_dataset_info(h.ds, &out.ds), false)                                 \
    X(fill, drep_dataset_fill(h.ds, NULL, buf), false)                               \
    X(placed, drep_dataset_placed(h.ds, &type_out), false)                           \
    X(fill_encodings, drep_dataset_fill_encodings(h.ds, NULL, 0, &count_out), false) \
    X(chunks, drep_dataset_chunks(h.ds, see_start, NULL), false)                     \
    X(map, drep_dataset_map(h.ds, 0, &mapped, &size_out), false)                     \
    X(stored_as, drep_stored_as(h.ds, h.t, &count_out), false)                       \
    X(stored_alike, drep_stored_alike(h.ds, h.ds, &count_out), false)                \
    X(read, drep_read(h.ds, NULL, NULL, buf, NULL), false)                           \
    X(read_box, drep_read_box(h.ds, NULL, NULL, NULL, buf, NULL), false)             \
    X(view_dataset, drep_view_dataset(h.ds, &view_out), false)                       \
    X(unmap, drep_dataset_unmap(h.ds, buf), true)                                    \
    X(write, drep_write(h.ds, NULL, NULL, buf, NULL), true)                          \
    X(write_box, drep_write_box(h.ds, NULL, NULL, NULL, buf, NULL), true)            \
    X(append, drep_append(h.ds, 0, 1, NULL, buf, NULL), true)                        \
    X(resize, drep_dataset_resize(h.ds, dims), true)

#define VIEW_CALLS(X)                                                \
    X(view_set, drep_view_set(h.v, 0, h.t, h.t, NULL, NULL), false)  \
    X(view_get_amode, drep_view_get_amode(h.v, &count_out), false)   \
    X(view_get, drep_view_get(h.v, &out.n, NULL, NULL, NULL), false) \
    X(view_extent, drep_view_type_extent(h.v, h.t, &out.n), false)   \
    X(view_offset, drep_view_byte_offset(h.v, 1, &out.n), false)     \
    X(view_size, drep_view_size(h.v, &out.n), false)                 \
    X(read_at, drep_read_at(h.v, 0, buf, 1, h.t, NULL, NULL), false) \
    X(write_at, drep_write_at(h.v, 0, buf, 1, h.t, NULL, NULL), true)

#define X(name, call, writes)    \
    static int call_##name(void) \
    {                            \
        return call;             \
    }
FILE_CALLS(X)
DATASET_CALLS(X)
VIEW_CALLS(X)
#undef X

enum takes { FILES, DATASETS, VIEWS };
static const struct call {
    const char *name;
    int (*make)(void);
    enum takes takes;
    bool writes;
} calls[] = {
#define X(name, call, writes) {#name, call_##name, FILES, writes},
    FILE_CALLS(X)
#undef X
#define X(name, call, writes) {#name, call_##name, DATASETS, writes},
        DATASET_CALLS(X)
#undef X
#define X(name, call, writes) {#name, call_##name, VIEWS, writes},
            VIEW_CALLS(X)
#undef X
};
enum { CALLS = sizeof calls / sizeof *calls };

/* ---- what they are made with ---- */

static const char *file_path;

static void make_file(void)
{
    const int64_t max = DREP_UNLIMITED, chunk = 10;
    drep_spec spec = DREP_SPEC(.type = DREP_DOUBLE, .rank = 1, .dims = dims, .maxdims = &max,
                               .layout = DREP_CHUNKED, .chunk = &chunk);
    drep_file *f;
    drep_dataset *ds;

    file_path = temp_path("misuse");
    f = new_file(file_path, "native");
    ok(drep_dataset_create(f, "/a", &spec, &ds));
    ok(drep_write(ds, NULL, NULL, buf, NULL));
    ok(drep_attr_write_int64(f, "/a", "n", 1));
    ok(drep_attr_write_string(f, "/a", "s", "text"));
    ok(drep_type_commit(f, "/t", DREP_DOUBLE));
    ok(drep_group_create(f, "/g", 0));
    drep_dataset_close(ds);
    ok(drep_close(f));
}

static void open_all(int amode)
{
    make_file();
    h.path = "/a";
    h.t = DREP_DOUBLE;
    ok(drep_open(file_path, amode, NULL, &h.f));
    ok(drep_dataset_open(h.f, "/a", &h.ds));
    if ((amode & DREP_HEADER_ONLY) == 0)
        ok(drep_view_dataset(h.ds, &h.v));
}

/* Whatever a call gave. */
static void give_back(void)
{
    drep_abandon(file_out);
    drep_view_close(view_out);
    drep_dataset_close(dataset_out);
    drep_type_free(type_out);
    drep_info_free(info_out);
    free(path_out);
    file_out = NULL;
    view_out = NULL;
    dataset_out = NULL;
    type_out = NULL;
    info_out = NULL;
    path_out = NULL;
}

static void must_say_closed(const struct call *c, int err)
{
    ck_assert_msg(err == DREP_ERR_ARG && strstr(drep_error(), "closed") != NULL, "%s: %d: %s",
                  c->name, err, err != 0 ? drep_error() : "");
}

/* ---- the misuses ---- */

START_TEST(test_no_handle)
{
    const struct call *c = &calls[_i];
    int err;

    h.path = "/a";
    h.t = DREP_DOUBLE;
    err = c->make();
    ck_assert_msg(err == DREP_ERR_ARG, "%s: %d", c->name, err);
    ck_assert_str_ne(drep_error(), "");
}
END_TEST

/* close and abandon; dataset and view outlive their file. */
static void file_is_gone(int i, bool keep)
{
    const struct call *c = &calls[i];

    open_all(DREP_RDWR);
    if (keep)
        ok(drep_close(h.f));
    else
        drep_abandon(h.f);
    if (strcmp(c->name, "unmap") == 0)
        fails(c->make(), DREP_ERR_ARG); /* nothing is mapped at this address */
    else
        must_say_closed(c, c->make());
    ok(drep_view_close(h.v));
    drep_dataset_close(h.ds);
    must_say_closed(c, c->make());
    unlink(file_path);
}

START_TEST(test_the_file_was_closed)
{
    file_is_gone(_i, true);
}
END_TEST

START_TEST(test_the_file_was_abandoned)
{
    file_is_gone(_i, false);
}
END_TEST

/* While the file is open: a closed dataset or view. */
START_TEST(test_the_handle_was_closed)
{
    const struct call *c = &calls[_i];

    open_all(DREP_RDWR);
    ok(drep_view_close(h.v));
    drep_dataset_close(h.ds);
    if (c->takes != FILES)
        must_say_closed(c, c->make());
    ok(drep_close(h.f));
    unlink(file_path);
}
END_TEST

/* Datasets and views are no files, whatever a cast says. */
START_TEST(test_another_kind_of_handle)
{
    const struct call *c = &calls[_i];
    drep_file *f;

    open_all(DREP_RDWR);
    f = h.f;
    h.f = (drep_file *)(void *)h.ds;
    h.ds = (drep_dataset *)(void *)h.v;
    h.v = (drep_view *)(void *)f;
    must_say_closed(c, c->make());
    drep_view_close((drep_view *)(void *)h.ds);
    drep_dataset_close((drep_dataset *)(void *)h.f);
    ok(drep_close(f));
    unlink(file_path);
}
END_TEST

START_TEST(test_opened_read_only)
{
    const struct call *c = &calls[_i];
    int err;

    open_all(DREP_RDONLY);
    err = c->make();
    if (strcmp(c->name, "unmap") == 0)
        ck_assert_int_eq(err, DREP_ERR_ARG);
    else if (c->writes)
        ck_assert_msg(err == DREP_ERR_READ_ONLY, "%s: %d: %s", c->name, err, drep_error());
    else if (strcmp(c->name, "map") != 0) /* chunked datasets cannot be */
        ck_assert_msg(err == 0, "%s: %d: %s", c->name, err, drep_error());
    if (strcmp(c->name, "attr_info") == 0)
        drep_attrinfo_release(&out.attr);
    give_back();
    ok(drep_view_close(h.v));
    drep_dataset_close(h.ds);
    ok(drep_close(h.f));
    unlink(file_path);
}
END_TEST

START_TEST(test_opened_for_the_header_only)
{
    const struct call *c = &calls[_i];
    int err;

    open_all(DREP_RDONLY | DREP_HEADER_ONLY);
    err = c->make();
    if (c->takes == VIEWS || strcmp(c->name, "unmap") == 0)
        ck_assert_int_eq(err, DREP_ERR_ARG);
    else if (c->writes)
        ck_assert_msg(err == DREP_ERR_READ_ONLY, "%s: %d: %s", c->name, err, drep_error());
    else if (strcmp(c->name, "check") == 0) /* a deep one, which could not say "no findings" */
        ck_assert_int_eq(err, DREP_ERR_UNSUPPORTED_OPERATION);
    else if (strcmp(c->name, "map") != 0) /* a table needs no functions: elements can be read */
        ck_assert_msg(err == 0, "%s: %d: %s", c->name, err, drep_error());
    if (strcmp(c->name, "attr_info") == 0)
        drep_attrinfo_release(&out.attr);
    give_back();
    drep_dataset_close(h.ds);
    ok(drep_close(h.f));
    unlink(file_path);
}
END_TEST

/* Paths that lead to something else, or nowhere, or are none. */
START_TEST(test_another_kind_of_object)
{
    static const char *const paths[] = {"/g", "/t", "/none", "/a/b", "", NULL};
    const struct call *c = &calls[_i];

    open_all(DREP_RDWR);
    for (size_t i = 0; i < sizeof paths / sizeof *paths; i++) {
        int err;

        h.path = paths[i];
        err = c->make();
        if (c->takes == FILES && strcmp(c->name, "dataset_open") == 0)
            ck_assert_msg(err != 0, "%s of \"%s\"", c->name, paths[i]);
        if (err == 0 && strcmp(c->name, "attr_info") == 0)
            drep_attrinfo_release(&out.attr);
        give_back();
    }
    ok(drep_view_close(h.v));
    drep_dataset_close(h.ds);
    drep_abandon(h.f);
    unlink(file_path);
}
END_TEST

/* ---- closing ---- */

START_TEST(test_closing_in_any_order_and_twice)
{
    /* Which handle is closed when: two of the file, the dataset (opened twice) and the view. */
    static const char *const orders[] = {"fdvd", "fvdd",    "dfvd",  "ddfv",  "vfdd",
                                         "dvfd", "ffddvvd", "ddddf", "vvffdd"};
    const char *order = orders[_i];
    drep_dataset *same;

    open_all(DREP_RDWR);
    ok(drep_dataset_open(h.f, "/a", &same));
    ck_assert_ptr_eq(same, h.ds); /* one handle, to be closed twice */
    for (; *order != '\0'; order++) {
        if (*order == 'f')
            drep_close(h.f);
        else if (*order == 'd')
            drep_dataset_close(h.ds);
        else
            drep_view_close(h.v);
    }
    for (int i = 0; i < 3; i++) { /* what is left, and what is not */
        drep_view_close(h.v);
        drep_dataset_close(h.ds);
        drep_close(h.f);
        drep_abandon(h.f);
    }
    fails(drep_close(h.f), DREP_ERR_ARG);
    fails(drep_view_close(h.v), DREP_ERR_ARG);
    fails(drep_read(h.ds, NULL, NULL, buf, NULL), DREP_ERR_ARG);
    ok(drep_open(file_path, DREP_RDWR, NULL, &h.f)); /* nobody has its lock */
    ok(drep_close(h.f));
    unlink(file_path);
}
END_TEST

/* What was lent out lives as long as the dataset, whose file is closed. */
START_TEST(test_what_was_lent_and_mapped_stays)
{
    drep_filter delta = {.id = DREP_FILTER_DEFLATE};
    const int64_t chunk = 10;
    drep_spec spec =
        DREP_SPEC(.type = DREP_DOUBLE, .rank = 1, .dims = dims, .layout = DREP_CONTIGUOUS);
    drep_dataset *filtered;
    drep_dsinfo info = DREP_DSINFO;
    const double *p;
    drep_file *f;

    for (int i = 0; i < N; i++)
        buf[i] = i;
    f = new_file(_i == 0 ? temp_path("lent") : ":memory:", "native");
    ok(drep_dataset_create(f, "/m", &spec, &h.ds));
    ok(drep_write(h.ds, NULL, NULL, buf, NULL));
    spec.layout = DREP_CHUNKED;
    spec.chunk = &chunk;
    spec.filters = drep_filter_available(DREP_FILTER_DEFLATE) ? &delta : NULL;
    spec.nfilters = drep_filter_available(DREP_FILTER_DEFLATE);
    ok(drep_dataset_create(f, "/c", &spec, &filtered));
    ok(drep_commit(f));
    ok(drep_dataset_map(h.ds, 0, &mapped, &size_out));
    ok(drep_dataset_info(filtered, &info));
    ok(drep_close(f));
    p = mapped;
    ck_assert_uint_eq(size_out, N * sizeof *p);
    for (int i = 0; i < N; i++)
        ck_assert_double_eq(p[i], i);
    ck_assert_int_eq(drep_type_code(info.type), DREP_CODE_DOUBLE);
    drep_dataset_close(filtered);
    if (_i == 0)
        ok(drep_dataset_unmap(h.ds, mapped));
    drep_dataset_close(h.ds);
}
END_TEST

/* Datasets behind an external link belong to a file that nobody else holds. */
START_TEST(test_behind_an_external_link)
{
    char *name;
    drep_info *info = hints("drep_external=true", (char *)NULL);
    drep_file *f;

    make_file();
    name = strrchr(file_path, '/') + 1;
    f = new_file(temp_path("linking"), "native");
    ok(drep_link_external(f, name, "/a", "/there"));
    ok(drep_close(f));
    ok(drep_open(temp_path("linking"), DREP_RDONLY, info, &f));
    drep_info_free(info);
    ok(drep_dataset_open(f, "/there", &h.ds));
    ok(drep_view_dataset(h.ds, &h.v));
    ok(drep_read(h.ds, NULL, NULL, buf, NULL));
    ok(drep_close(f));
    h.t = DREP_DOUBLE;
    for (int i = 0; i < CALLS; i++)
        if (calls[i].takes != FILES && strcmp(calls[i].name, "unmap") != 0)
            must_say_closed(&calls[i], calls[i].make());
    drep_dataset_close(h.ds);
    ok(drep_view_close(h.v));
    unlink(file_path);
}
END_TEST

/* ---- arguments that are missing ---- */

#define NOTHING(X)                                                     \
    X(drep_create(NULL, DREP_RDWR, "native", NULL, &file_out))         \
    X(drep_create("x", DREP_RDWR, "native", NULL, NULL))               \
    X(drep_open(NULL, DREP_RDONLY, NULL, &file_out))                   \
    X(drep_open("x", DREP_RDONLY, NULL, NULL))                         \
    X(drep_open_commit(NULL, DREP_RDONLY, 0, NULL, &file_out))         \
    X(drep_open_image(NULL, 0, NULL, &file_out))                       \
    X(drep_open_driver(NULL, NULL, "x", DREP_RDONLY, NULL, &file_out)) \
    X(drep_create_driver(NULL, NULL, "x", "native", NULL, &file_out))  \
    X(drep_repair(NULL, NULL, 0, NULL, NULL, NULL, NULL))              \
    X(drep_view_raw(NULL, DREP_RDONLY, NULL, &view_out))               \
    X(drep_stat(h.f, NULL, &out.object))                               \
    X(drep_stat(h.f, "/a", NULL))                                      \
    X(drep_object_path(h.f, 1, NULL))                                  \
    X(drep_object_usage(h.f, NULL, NULL))                              \
    X(drep_usage_get(h.f, NULL))                                       \
    X(drep_leaks(h.f, NULL, NULL))                                     \
    X(drep_log(h.f, NULL, NULL))                                       \
    X(drep_list(h.f, "/", 0, NULL, NULL))                              \
    X(drep_list(h.f, NULL, 0, see_link, NULL))                         \
    X(drep_attr_list(h.f, "/a", 0, NULL, NULL))                        \
    X(drep_attr_info(h.f, "/a", NULL, &out.attr))                      \
    X(drep_attr_info(h.f, "/a", "n", NULL))                            \
    X(drep_attr_read(h.f, "/a", "n", DREP_INT64_T, NULL))              \
    X(drep_attr_encodings(h.f, "/a", NULL, NULL, 0, &count_out))       \
    X(drep_attr_encodings(h.f, "/a", "n", NULL, 0, NULL))              \
    X(drep_attr_encodings(h.f, "/a", "n", NULL, 1, &count_out))        \
    X(drep_attr_write(h.f, "/a", NULL, DREP_INT, 0, NULL, buf))        \
    X(drep_attr_write(h.f, "/a", "x", NULL, 0, NULL, buf))             \
    X(drep_attr_write(h.f, "/a", "x", DREP_INT, 1, NULL, buf))         \
    X(drep_attr_write(h.f, "/a", "x", DREP_INT, 0, NULL, NULL))        \
    X(drep_attr_remove(h.f, "/a", NULL))                               \
    X(drep_attr_rename(h.f, "/a", NULL, "x"))                          \
    X(drep_attr_rename(h.f, "/a", "n", NULL))                          \
    X(drep_group_create(h.f, NULL, 0))                                 \
    X(drep_dimension_create(h.f, NULL, 1, 0))                          \
    X(drep_type_commit(h.f, "/x", NULL))                               \
    X(drep_type_commit(h.f, NULL, DREP_INT))                           \
    X(drep_type_open(h.f, "/t", NULL))                                 \
    X(drep_type_open(h.f, NULL, &type_out))                            \
    X(drep_link_hard(h.f, NULL, "/x"))                                 \
    X(drep_link_hard(h.f, "/a", NULL))                                 \
    X(drep_link_soft(h.f, NULL, "/x"))                                 \
    X(drep_link_soft(h.f, "/a", NULL))                                 \
    X(drep_link_external(h.f, NULL, "/a", "/x"))                       \
    X(drep_link_external(h.f, "b", NULL, "/x"))                        \
    X(drep_link_remove(h.f, NULL))                                     \
    X(drep_link_move(h.f, "/a", NULL))                                 \
    X(drep_copy(h.f, NULL, h.f, "/x", NULL))                           \
    X(drep_copy(h.f, "/a", NULL, "/x", NULL))                          \
    X(drep_copy(h.f, "/a", h.f, NULL, NULL))                           \
    X(drep_dataset_create(h.f, "/x", NULL, NULL))                      \
    X(drep_dataset_create(h.f, NULL, NULL, NULL))                      \
    X(drep_dataset_open(h.f, NULL, &dataset_out))                      \
    X(drep_dataset_open(h.f, "/a", NULL))                              \
    X(drep_dataset_info(h.ds, NULL))                                   \
    X(drep_dataset_placed(h.ds, NULL))                                 \
    X(drep_dataset_fill(h.ds, NULL, NULL))                             \
    X(drep_dataset_fill_encodings(h.ds, NULL, 0, NULL))                \
    X(drep_dataset_fill_encodings(h.ds, NULL, 1, &count_out))          \
    X(drep_dataset_resize(h.ds, NULL))                                 \
    X(drep_dataset_chunks(h.ds, NULL, NULL))                           \
    X(drep_dataset_map(h.ds, 0, NULL, NULL))                           \
    X(drep_stored_as(h.ds, NULL, &count_out))                          \
    X(drep_stored_alike(h.ds, NULL, &count_out))                       \
    X(drep_read_stored(h.ds, NULL, NULL, 0, NULL, NULL))               \
    X(drep_stored_at(h.ds, NULL, NULL))                                \
    X(drep_external_add(h.f, NULL, NULL))                              \
    X(drep_external_add_version(h.f, NULL, NULL, NULL))                \
    X(drep_external_version(h.f, 1, NULL))                             \
    X(drep_external_list(h.f, NULL, NULL))                             \
    X(drep_read(h.ds, NULL, NULL, NULL, NULL))                         \
    X(drep_write(h.ds, NULL, NULL, NULL, NULL))                        \
    X(drep_append(h.ds, 0, 1, NULL, NULL, NULL))                       \
    X(drep_view_dataset(h.ds, NULL))                                   \
    X(drep_view_set(h.v, 0, NULL, NULL, NULL, NULL))                   \
    X(drep_view_type_extent(h.v, NULL, NULL))                          \
    X(drep_view_byte_offset(h.v, 0, NULL))                             \
    X(drep_view_size(h.v, NULL))                                       \
    X(drep_read_at(h.v, 0, NULL, 1, DREP_DOUBLE, NULL, NULL))          \
    X(drep_read_at(h.v, 0, buf, 1, NULL, NULL, NULL))                  \
    X(drep_write_at(h.v, 0, NULL, 1, DREP_DOUBLE, NULL, NULL))         \
    X(drep_header_get(h.f, NULL))                                      \
    X(drep_header_types(h.f, 0, NULL, NULL))                           \
    X(drep_header_hints(h.f, NULL))                                    \
    X(drep_header_scalars(h.f, 0, NULL, NULL))                         \
    X(drep_get_info(h.f, NULL))                                        \
    X(drep_set_info(h.f, NULL))                                        \
    X(drep_get_amode(h.f, NULL))                                       \
    X(drep_view_get_amode(h.v, NULL))                                  \
    X(drep_info_new(NULL))                                             \
    X(drep_info_set(NULL, "a", "b"))                                   \
    X(drep_info_delete(NULL, "a"))                                     \
    X(drep_info_check(NULL, "a"))                                      \
    X(drep_info_check("drep_sync", NULL))                              \
    X(drep_select_box(1, NULL, NULL, NULL, NULL, NULL))                \
    X(drep_select_points(1, 1, NULL, NULL))                            \
    X(drep_select_union(NULL, NULL, NULL))                             \
    X(drep_register_datarep(NULL, NULL, NULL, NULL, NULL))             \
    X(drep_declare_datarep("none", NULL, NULL, 0, NULL, 0))            \
    X(drep_datarep_table(NULL, NULL, 0, NULL))                         \
    X(drep_datarep_get("native", NULL))                                \
    X(drep_datarep_walk(NULL, NULL))                                   \
    X(drep_library_walk(NULL, NULL))                                   \
    X(drep_register_filter(NULL, NULL, NULL, NULL, 0))                 \
    X(drep_convert(NULL, buf, NULL, buf, 1, NULL))                     \
    X(drep_convert(DREP_INT, NULL, DREP_INT, NULL, 1, NULL))           \
    X(drep_pack("native", buf, 1, DREP_INT, buf, 8, NULL))             \
    X(drep_pack("native", NULL, 1, DREP_INT, buf, 8, &out.n))          \
    X(drep_unpack("native", buf, 8, NULL, buf, 1, DREP_INT))           \
    X(drep_pack_size("native", 1, NULL, &out.n))                       \
    X(drep_pack_unit_info(NULL, 8, 0, NULL))                           \
    X(drep_type_contiguous(1, NULL, &type_out))                        \
    X(drep_type_contiguous(1, DREP_INT, NULL))                         \
    X(drep_type_vector(1, 1, 1, NULL, &type_out))                      \
    X(drep_type_indexed(1, NULL, NULL, DREP_INT, &type_out))           \
    X(drep_type_struct(1, NULL, NULL, NULL, &type_out))                \
    X(drep_type_compound(1, NULL, NULL, NULL, 0, &type_out))           \
    X(drep_type_subarray(1, NULL, NULL, NULL, 0, DREP_INT, &type_out)) \
    X(drep_type_array(1, NULL, DREP_INT, &type_out))                   \
    X(drep_type_sequence(NULL, &type_out))                             \
    X(drep_type_enum(DREP_INT, 1, NULL, NULL, &type_out))              \
    X(drep_type_boolean(NULL, &type_out))                              \
    X(drep_type_scalar(NULL, &type_out))                               \
    X(drep_type_dup(NULL, &type_out))                                  \
    X(drep_type_print(NULL, &path_out))                                \
    X(drep_type_print(DREP_INT, NULL))                                 \
    X(drep_type_parse(NULL, &type_out))                                \
    X(drep_type_parse("INT", NULL))                                    \
    X(drep_type_file_extent(NULL, "native", &out.n))                   \
    X(drep_cursor_init(NULL, DREP_INT, 0))                             \
    X(drep_plugin_load(NULL))

START_TEST(test_arguments_that_are_missing)
{
    static const char *const names[] = {
#define X(call) #call,
        NOTHING(X)
#undef X
    };
    enum { MISSING = sizeof names / sizeof *names };
    int err[MISSING], i = 0;

    open_all(DREP_RDWR);
#define X(call) err[i++] = call;
    NOTHING(X)
#undef X
    for (i = 0; i < MISSING; i++)
        ck_assert_msg(err[i] != 0, "%s gave 0", names[i]);
    ok(drep_view_close(h.v));
    drep_dataset_close(h.ds);
    ok(drep_close(h.f)); /* none of them counts */
    unlink(file_path);
}
END_TEST

/* Whatever a program owns may be freed, closed or released again. */
START_TEST(test_everything_is_freed_twice)
{
    const int64_t start[] = {0, 0}, count[] = {1, 1};
    drep_selection *sel[4];
    drep_info *info[2];
    drep_view *view;
    drep_dataset *ds;
    drep_attrinfo attr = DREP_ATTRINFO;
    drep_file *f = new_file(":memory:", "native");

    ok(drep_select_box(2, start, count, NULL, NULL, &sel[0]));
    ok(drep_select_points(2, 1, start, &sel[1]));
    ok(drep_select_union(sel[0], sel[0], &sel[2]));
    ok(drep_select_parse("[0,0]", 2, count, &sel[3]));
    ok(drep_info_new(&info[0]));
    ok(drep_get_info(f, &info[1]));
    ds = new_dataset(f, "/d", DREP_DOUBLE, 2, count);
    ok(drep_attr_write_int64(f, "/d", "n", 1));
    ok(drep_attr_info(f, "/d", "n", &attr));
    ok(drep_view_dataset(ds, &view));
    for (int i = 0; i < 2; i++)
        drep_attrinfo_release(&attr);
    for (int i = 0; i < 2; i++)
        drep_view_close(view);
    for (int k = 0; k < 4; k++)
        for (int i = 0; i < 2; i++)
            drep_selection_free(sel[k]);
    for (int k = 0; k < 2; k++)
        for (int i = 0; i < 2; i++)
            drep_info_free(info[k]);
    /* One that is gone selects nothing. */
    ck_assert_int_eq(drep_selection_count(sel[0]), 0);
    fails(drep_read(ds, sel[0], NULL, buf, NULL), DREP_ERR_ARG);
    fails(drep_write(ds, sel[1], NULL, buf, NULL), DREP_ERR_ARG);
    fails(drep_select_union(sel[2], sel[2], &sel[1]), DREP_ERR_ARG);
    fails(drep_selection_box(sel[3], NULL, NULL, NULL, NULL, NULL, NULL), DREP_ERR_ARG);
    for (int i = 0; i < 2; i++)
        drep_dataset_close(ds);
    for (int i = 0; i < 2; i++)
        (void)drep_close(f);
}
END_TEST

/* What gives no error gives what means nothing. */
START_TEST(test_nothing_is_asked_about)
{
    drep_cursor cursor;
    drep_run run;

    ok(drep_close(NULL));
    drep_abandon(NULL);
    drep_dataset_close(NULL);
    ok(drep_view_close(NULL));
    drep_info_free(NULL);
    drep_selection_free(NULL);
    drep_type_free(NULL);
    drep_attrinfo_release(NULL);
    drep_vlen_free(NULL, 1, buf);
    drep_vlen_free(DREP_INT, 1, NULL);
    ck_assert_ptr_null(drep_type_ref(NULL));
    ck_assert_ptr_null(drep_info_get(NULL, "a"));
    ck_assert_ptr_null(drep_info_key(NULL, 0));
    ck_assert_int_eq(drep_info_count(NULL), 0);
    ck_assert_int_eq(drep_selection_count(NULL), 0);
    ck_assert_int_eq(drep_type_size(NULL), 0);
    ck_assert_int_eq(drep_type_extent(NULL), 0);
    ck_assert_int_eq(drep_type_lb(NULL), 0);
    ck_assert_int_eq(drep_type_true_extent(NULL), 0);
    ck_assert_int_eq(drep_type_true_lb(NULL), 0);
    ck_assert_int_eq(drep_type_items(NULL), 0);
    ck_assert_int_eq(drep_type_portable(NULL), 0);
    ck_assert_int_eq(drep_type_variable(NULL), 0);
    ck_assert_int_eq(drep_type_kind(NULL), 0);
    ck_assert_int_eq(drep_type_code(NULL), 0);
    ck_assert_int_eq(drep_type_align(NULL), 0);
    ck_assert_int_eq(drep_type_members(NULL), 0);
    ck_assert_ptr_null(drep_type_member(NULL, 0));
    ck_assert_ptr_null(drep_type_member_name(NULL, 0));
    ck_assert_int_eq(drep_type_member_offset(NULL, 0), 0);
    ck_assert_int_eq(drep_type_member_blocklen(NULL, 0), 1);
    ck_assert_int_eq(drep_type_array_rank(NULL), 0);
    ck_assert_ptr_null(drep_type_array_dims(NULL));
    ck_assert_int_eq(drep_type_enum_count(NULL), 0);
    ck_assert_ptr_null(drep_type_enum_name(NULL, 0));
    ck_assert_int_eq(drep_type_enum_value(NULL, 0), 0);
    ck_assert_int_eq(drep_type_string_pad(NULL), 0);
    ck_assert_int_eq(drep_type_reference_what(NULL), 0);
    ck_assert_ptr_null(drep_type_scalar_desc(NULL));
    ck_assert_int_eq(drep_type_arg_count(NULL), 0);
    ck_assert_int_eq(drep_type_arg(NULL, 0), 0);
    ck_assert_int_eq(drep_type_equal(NULL, DREP_INT), 0);
    ck_assert_int_eq(drep_type_equivalent(DREP_INT, NULL), 0);
    ck_assert_int_eq(drep_code_from_name(NULL), 0);
    ck_assert_int_eq(drep_format_from_name(NULL), 0);
    ck_assert_int_eq(drep_filter_from_name(NULL), 0);
    ok(drep_cursor_init(&cursor, DREP_INT, 0));
    ck_assert_int_eq(drep_cursor_next(NULL, 1, &run), 0);
    ck_assert_int_eq(drep_cursor_next(&cursor, 1, NULL), 0);
}
END_TEST

int main(void)
{
    Suite *s = suite_create("misuse");
    TCase *t = tcase_create("misuse");

    tcase_set_timeout(t, 60);
    tcase_add_loop_test(t, test_no_handle, 0, CALLS);
    tcase_add_loop_test(t, test_the_file_was_closed, 0, CALLS);
    tcase_add_loop_test(t, test_the_file_was_abandoned, 0, CALLS);
    tcase_add_loop_test(t, test_the_handle_was_closed, 0, CALLS);
    tcase_add_loop_test(t, test_another_kind_of_handle, 0, CALLS);
    tcase_add_loop_test(t, test_opened_read_only, 0, CALLS);
    tcase_add_loop_test(t, test_opened_for_the_header_only, 0, CALLS);
    tcase_add_loop_test(t, test_another_kind_of_object, 0, CALLS);
    tcase_add_loop_test(t, test_closing_in_any_order_and_twice, 0, 9);
    tcase_add_loop_test(t, test_what_was_lent_and_mapped_stays, 0, 2);
    tcase_add_test(t, test_behind_an_external_link);
    tcase_add_test(t, test_arguments_that_are_missing);
    tcase_add_test(t, test_everything_is_freed_twice);
    tcase_add_test(t, test_nothing_is_asked_about);
    suite_add_tcase(s, t);
    return run_suite(s);
}
