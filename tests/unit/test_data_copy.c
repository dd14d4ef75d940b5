/* test_data_copy.c - drep_copy(): what random files (test_data_model.c) seldom hold.
 *
 * needs: lz4 zstd */
/* SPDX-License-Identifier: MIT */
#include "elem/transfer.h"
#include "data_help.h"
#include "format/block.h"

#include <fcntl.h>
#include <sys/stat.h>

static drep_file *memory_file(const char *datarep)
{
    drep_file *f;

    register_datareps();
    ok(drep_create(":memory:", DREP_RDWR, datarep, NULL, &f));
    return f;
}

static drep_dataset *chunked(drep_file *f, const char *path, const drep_type *type, int rank,
                             const int64_t *dims, const int64_t *chunk, int filter)
{
    drep_filter filters = {.id = filter};
    drep_spec spec =
        DREP_SPEC(.type = type, .rank = rank, .dims = dims, .chunk = chunk, .layout = DREP_CHUNKED,
                  .filters = filter != 0 ? &filters : NULL, .nfilters = filter != 0);
    drep_dataset *ds;

    ok(drep_dataset_create(f, path, &spec, &ds));
    return ds;
}

/* ---- plans ---- */

struct want {
    int layout, filter;
    int64_t chunk[3];
    int asked;
    drep_filter room;
};

static int want_plan(uint64_t id, drep_spec *spec, void *ctx)
{
    struct want *w = ctx;

    ck_assert_uint_ne(id, 0);
    w->asked++;
    w->room = (drep_filter){.id = w->filter};
    spec->layout = w->layout;
    spec->chunk = w->layout == DREP_CHUNKED ? w->chunk : NULL;
    spec->filters = &w->room;
    spec->nfilters = w->filter != 0;
    return 0;
}

/* A plane of numbers in every layout into every other one, under several representations. */
START_TEST(test_every_layout_into_every_other)
{
    static const int64_t dims[] = {70, 45};
    static double in[70 * 45], out[70 * 45];
    const struct want wants[] = {{DREP_COMPACT, 0, {0}, 0, {0}},
                                 {DREP_CONTIGUOUS, 0, {0}, 0, {0}},
                                 {DREP_CHUNKED, 0, {16, 16}, 0, {0}},
                                 {DREP_CHUNKED, 0, {1, 45}, 0, {0}},
                                 {DREP_CHUNKED, DREP_FILTER_LZ4, {70, 7}, 0, {0}},
                                 {DREP_CHUNKED, DREP_FILTER_ZSTD, {100, 100}, 0, {0}}};
    drep_file *from = memory_file(datareps[_i]);
    const int n = sizeof wants / sizeof *wants;

    for (int i = 0; i < 70 * 45; i++)
        in[i] = i * 0.25;
    for (int a = 0; a < n; a++) {
        drep_filter filter = {.id = wants[a].filter};
        drep_spec spec =
            DREP_SPEC(.type = DREP_DOUBLE, .rank = 2, .dims = dims, .layout = wants[a].layout,
                      .chunk = wants[a].layout == DREP_CHUNKED ? wants[a].chunk : NULL,
                      .filters = filter.id != 0 ? &filter : NULL, .nfilters = filter.id != 0);
        drep_dataset *ds;
        char path[20];

        snprintf(path, sizeof path, "/d%d", a);
        ok(drep_dataset_create(from, path, &spec, &ds));
        ok(drep_write(ds, NULL, DREP_DOUBLE, in, NULL));
        drep_dataset_close(ds);
    }
    for (int to_rep = 0; to_rep < DATAREPS; to_rep++)
        for (int b = 0; b < n; b++) {
            struct want w = wants[b];
            drep_copying how = DREP_COPYING(.plan = want_plan, .ctx = &w, .threads = 1 + b % 2);
            drep_file *to = memory_file(datareps[to_rep]);

            ok(drep_copy(from, "/", to, "/", &how));
            ck_assert_int_eq(w.asked, n);
            for (int a = 0; a < n; a++) {
                drep_dsinfo info = DREP_DSINFO;
                drep_dataset *ds;
                char path[20];

                snprintf(path, sizeof path, "/d%d", a);
                ok(drep_dataset_open(to, path, &ds));
                ok(drep_dataset_info(ds, &info));
                ck_assert_int_eq(info.layout, wants[b].layout);
                memset(out, 0xee, sizeof out);
                ok(drep_read(ds, NULL, DREP_DOUBLE, out, NULL));
                ck_assert_int_eq(memcmp(in, out, sizeof in), 0);
                drep_dataset_close(ds);
            }
            check_file(to);
            drep_abandon(to);
        }
    drep_abandon(from);
}
END_TEST

/* ---- selections ---- */

enum { HIGH = 30, WIDE = 22 };

static const struct {
    int64_t start[2], count[2], stride[2];
} boxes[] = {{{0, 0}, {HIGH, WIDE}, {1, 1}}, {{7, 3}, {11, 16}, {1, 1}}, {{29, 21}, {1, 1}, {1, 1}},
             {{1, 0}, {10, 8}, {3, 1}},      {{2, 1}, {9, 7}, {2, 3}},   {{0, 5}, {30, 2}, {1, 16}},
             {{5, 4}, {0, 3}, {1, 1}}};

/* Numbers, or texts of several lengths, "" among them, in the layout that is wanted. */
static drep_dataset *plane(drep_file *f, const struct want *w, const drep_type *text)
{
    const int64_t dims[] = {HIGH, WIDE};
    const drep_filter filter = {.id = w->filter};
    drep_spec spec =
        DREP_SPEC(.type = text ? text : DREP_DOUBLE, .rank = 2, .dims = dims, .layout = w->layout,
                  .nfilters = w->filter != 0, .filters = w->filter ? &filter : NULL,
                  .chunk = w->layout == DREP_CHUNKED ? w->chunk : NULL);
    static char letters[HIGH * WIDE][24];
    static const char *texts[HIGH * WIDE];
    static double numbers[HIGH * WIDE];
    drep_dataset *ds;

    for (int i = 0; i < HIGH * WIDE; i++) {
        numbers[i] = i * 0.25;
        snprintf(letters[i], sizeof letters[i], "%.*s%d", i % 7, "abcdefg", i);
        texts[i] = i % 5 ? letters[i] : "";
    }
    ok(drep_dataset_create(f, "/d", &spec, &ds));
    ok(drep_write(ds, NULL, spec.type, text ? (const void *)texts : numbers, NULL));
    return ds;
}

/* The copy has what a read of the selection gives. */
static void same_selected(drep_dataset *a, const drep_selection *sel, drep_dataset *b,
                          const drep_type *text)
{
    static double x[HIGH * WIDE], y[HIGH * WIDE];
    static char *s[HIGH * WIDE], *t[HIGH * WIDE];
    int64_t n = drep_selection_count(sel);

    ok(drep_read(a, sel, text ? text : DREP_DOUBLE, text ? (void *)s : x, NULL));
    ok(drep_read(b, NULL, text ? text : DREP_DOUBLE, text ? (void *)t : y, NULL));
    for (int64_t i = 0; i < n; i++) {
        ck_assert(text || x[i] == y[i]);
        ck_assert(!text || strcmp(s[i], t[i]) == 0);
    }
    if (text) {
        drep_vlen_free(text, n, s);
        drep_vlen_free(text, n, t);
    }
}

static void copy_selections(drep_dataset *ds, drep_file *from, struct want *w, const char *datarep,
                            const drep_type *text)
{
    for (size_t i = 0; i < sizeof boxes / sizeof *boxes; i++) {
        drep_file *to = memory_file(datarep);
        drep_dsinfo info = DREP_DSINFO;
        drep_selection *sel;
        drep_dataset *copy;
        drep_copying how = DREP_COPYING(.plan = w ? want_plan : NULL, .ctx = w);

        ok(drep_select_box(2, boxes[i].start, boxes[i].count, boxes[i].stride, NULL, &sel));
        how.selection = sel;
        ok(drep_copy(from, "/d", to, "/d", &how));
        ok(drep_dataset_open(to, "/d", &copy));
        ok(drep_dataset_info(copy, &info));
        for (int d = 0; d < 2; d++) {
            ck_assert_int_eq(info.dims[d], boxes[i].count[d]);
            ck_assert_int_eq(info.maxdims[d], boxes[i].count[d]);
        }
        same_selected(ds, sel, copy, text);
        drep_dataset_close(copy);
        check_file(to);
        drep_abandon(to);
        drep_selection_free(sel);
    }
}

START_TEST(test_selections)
{
    const struct want wants[] = {{DREP_COMPACT, 0, {0}, 0, {0}},
                                 {DREP_CHUNKED, 0, {7, 5}, 0, {0}},
                                 {DREP_CHUNKED, DREP_FILTER_LZ4, {4, 22}, 0, {0}},
                                 {DREP_CONTIGUOUS, 0, {0}, 0, {0}}};
    drep_type *text;

    ok(drep_type_vstring(&text));
    for (int texts = 0; texts < 2; texts++)
        for (int a = 0; a < 4 - texts; a++) {
            drep_file *from = memory_file("external32");
            drep_dataset *ds = plane(from, &wants[a], texts ? text : NULL);

            copy_selections(ds, from, NULL, "external32", texts ? text : NULL);
            for (int b = 0; b < 4 - texts; b++) {
                struct want w = wants[b];

                copy_selections(ds, from, &w, b % 2 ? "native" : "external32", texts ? text : NULL);
            }
            drep_dataset_close(ds);
            drep_abandon(from);
        }
    drep_type_free(text);
}
END_TEST

/* A cut dimension gets the new length, once for all datasets that are cut alike. */
START_TEST(test_dimensions_of_selections)
{
    const int64_t dims[] = {5, 3}, most[] = {DREP_UNLIMITED, 3}, chunk[] = {2, 3};
    const int64_t start[] = {1, 2}, count[] = {2, 1}, long_count[] = {5, 1};
    const int64_t first[] = {0, 0}, stride[] = {3, 1}, block[] = {2, 1};
    const char *const names[] = {"time", "lat"}, *const square[] = {"lat", "lat"};
    const int64_t three[] = {3, 3};
    const drep_filter lz4 = {.id = DREP_FILTER_LZ4};
    drep_file *from = memory_file("external32"), *to = memory_file("external32");
    drep_spec spec = DREP_SPEC(.type = DREP_FLOAT, .rank = 2, .dims = dims, .maxdims = most,
                               .chunk = chunk, .filters = &lz4, .nfilters = 1, .dim_names = names);
    drep_dsinfo info = DREP_DSINFO;
    drep_objinfo dim = DREP_OBJINFO;
    drep_copying how = DREP_COPYING(.range = DREP_RANGE_STRICT);
    drep_selection *box, *row, *blocks, *beyond;
    drep_dataset *ds;

    ok(drep_dataset_create(from, "/d", &spec, NULL));
    ok(drep_dataset_create(
        from, "/lat",
        &DREP_SPEC(.type = DREP_FLOAT, .rank = 1, .dims = dims + 1, .dim_names = names + 1), NULL));
    ok(drep_dataset_create(
        from, "/square",
        &DREP_SPEC(.type = DREP_FLOAT, .rank = 2, .dims = three, .dim_names = square), NULL));
    ok(drep_select_box(2, start, count, NULL, NULL, &box));
    ok(drep_select_box(1, start + 1, count + 1, NULL, NULL, &row));
    ok(drep_select_box(2, first, count, stride, block, &blocks));
    ok(drep_select_box(2, start, long_count, NULL, NULL, &beyond));
    how.selection = box;
    ok(drep_copy(from, "/d", to, "/d", &how));
    how.selection = row;
    ok(drep_copy(from, "/lat", to, "/lat", &how));
    ok(drep_dataset_open(to, "/d", &ds));
    ok(drep_dataset_info(ds, &info));
    ck_assert_int_eq(info.maxdims[0], DREP_UNLIMITED);
    ck_assert_int_eq(info.maxdims[1], 1);
    ck_assert_int_eq(info.chunk[0], 2);
    ck_assert_int_eq(info.chunk[1], 1); /* no longer than the dimension */
    ck_assert_int_eq(info.nfilters, 1);
    ok(drep_stat(to, "/#time", &dim));
    ck_assert_int_eq(dim.len, 2);
    ck_assert_int_eq(dim.unlimited, 1);
    ok(drep_stat(to, "/#lat", &dim));
    ck_assert_int_eq(dim.len, 1);
    ck_assert_uint_eq(info.dim_ids[1], dim.id);
    drep_dataset_close(ds);
    ok(drep_dataset_open(to, "/lat", &ds));
    ok(drep_dataset_info(ds, &info));
    ck_assert_uint_eq(info.dim_ids[0], dim.id);
    drep_dataset_close(ds);
    how.selection = box;
    fails(drep_copy(from, "/square", to, "/square", &how), DREP_ERR_DIMS);
    fails(drep_copy(from, "/lat", to, "/x", &how), DREP_ERR_DIMS);
    fails(drep_copy(from, "/", to, "/x", &how), DREP_ERR_KIND);
    fails(drep_copy(from, "/d", from, "/x", &how), DREP_ERR_UNSUPPORTED_OPERATION);
    how.selection = blocks;
    fails(drep_copy(from, "/d", to, "/x", &how), DREP_ERR_UNSUPPORTED_OPERATION);
    how.selection = beyond;
    fails(drep_copy(from, "/d", to, "/x", &how), DREP_ERR_RANGE);
    drep_selection_free(blocks);
    how.selection = blocks;
    fails(drep_copy(from, "/d", to, "/x", &how), DREP_ERR_ARG);
    check_file(to);
    drep_selection_free(box);
    drep_selection_free(row);
    drep_selection_free(beyond);
    drep_abandon(from);
    drep_abandon(to);
}
END_TEST

/* ---- what no machine's native formats hold ---- */

/* Stored bytes of binary128 that no x87 and no binary64 holds go from one table to another
 * bit by bit. */
START_TEST(test_nothing_is_lost_between_tables)
{
    uint8_t quad[16] = {0x3f, 0xfd, 0x55, 0x55, 0x55, 0x55, 0x55, 0x55,
                        0x55, 0x55, 0x55, 0x55, 0x55, 0x55, 0x55, 0x57};
    uint8_t got[16];
    drep_report report = DREP_REPORT;
    drep_copying how = DREP_COPYING(.report = &report);
    drep_file *from = memory_file("external32"), *to = memory_file("internal");
    drep_file *back = memory_file("external32");
    drep_dataset *ds = new_dataset(from, "/q", drep_predefined(DREP_CODE_LONG_DOUBLE), 0, NULL);

    ok(write_begin(from));
    ok(write_end(from, dataset_raw(ds, 0, 1, quad, true)));
    drep_dataset_close(ds);
    ok(drep_copy(from, "/", to, "/", &how));
    ck_assert_int_eq(report.items, 1);
    ck_assert_int_eq(report.inexact, 0);
    ok(drep_dataset_open(to, "/q", &ds));
    ok(read_begin(to));
    ok(read_end(to, dataset_raw(ds, 0, 1, got, false)));
    for (int i = 0; i < 16; i++)
        ck_assert_uint_eq(got[i], quad[15 - i]);
    drep_dataset_close(ds);
    ok(drep_copy(to, "/", back, "/", NULL));
    ok(drep_dataset_open(back, "/q", &ds));
    ok(read_begin(back));
    ok(read_end(back, dataset_raw(ds, 0, 1, got, false)));
    ck_assert_int_eq(memcmp(got, quad, 16), 0);
    drep_dataset_close(ds);
    drep_abandon(from);
    drep_abandon(to);
    drep_abandon(back);
}
END_TEST

/* ---- ranges ---- */

struct told_losses {
    int n;
    drep_report last;
};

static int note_loss(uint64_t id, const drep_report *report, void *ctx)
{
    struct told_losses *l = ctx;

    ck_assert_uint_ne(id, 0);
    l->n++;
    l->last = *report;
    return 0;
}

/* Values that 24 bits do not hold: refused unless asked otherwise, then told of. */
START_TEST(test_ranges_and_reports)
{
    const int64_t n = 10000;
    int32_t *in = malloc((size_t)n * 4), *out = malloc((size_t)n * 4);
    struct told_losses l = {0};
    drep_copying how = DREP_COPYING(.lost = note_loss, .ctx = &l, .range = DREP_RANGE_CLAMP);
    drep_file *from = memory_file("external32"), *to = memory_file("small");
    drep_dataset *ds = new_dataset(from, "/x", DREP_INT32_T, 1, &n);

    for (int64_t i = 0; i < n; i++)
        in[i] = (int32_t)(i * 1000);
    ok(drep_write(ds, NULL, DREP_INT32_T, in, NULL));
    drep_dataset_close(ds);
    fails(drep_copy(from, "/", to, "/", NULL), DREP_ERR_CONVERSION);
    ck_assert_ptr_nonnull(strstr(drep_error(), "object 2"));
    drep_abandon(to);
    to = memory_file("small");
    ok(drep_copy(from, "/", to, "/", &how));
    ck_assert_int_eq(l.n, 1);
    ck_assert_int_eq(l.last.overflow, n - 8389);
    ok(drep_dataset_open(to, "/x", &ds));
    ok(drep_read(ds, NULL, DREP_INT32_T, out, NULL));
    for (int64_t i = 0; i < n; i++)
        ck_assert_int_eq(out[i], in[i] < 8388607 ? in[i] : 8388607);
    drep_dataset_close(ds);
    drep_abandon(from);
    drep_abandon(to);
    free(in);
    free(out);
}
END_TEST

/* A copy counts each item once, converted by tables or by functions. */
START_TEST(test_items_are_counted_once)
{
    static const char *const to_rep[] = {"internal", "xor"};
    const int64_t n = 10000;
    double *v = calloc((size_t)n, sizeof *v);
    drep_report report = DREP_REPORT;
    drep_copying how = DREP_COPYING(.report = &report);
    drep_file *from = memory_file("external32"), *to = memory_file(to_rep[_i]);
    drep_dataset *ds = new_dataset(from, "/x", DREP_DOUBLE, 1, &n);

    ok(drep_write(ds, NULL, DREP_DOUBLE, v, NULL));
    drep_dataset_close(ds);
    ok(drep_copy(from, "/", to, "/", &how));
    ck_assert_int_eq(report.items, n);
    drep_abandon(from);
    drep_abandon(to);
    free(v);
}
END_TEST

/* ---- references ---- */

struct holder {
    drep_ref one;
    drep_vlen many; /* of drep_ref */
};

static drep_type *holder_type(void)
{
    const char *const names[] = {"one", "many"};
    drep_type *ref, *region, *list, *t;

    ok(drep_type_reference(DREP_REF_OBJECT, &ref));
    ok(drep_type_reference(DREP_REF_REGION, &region));
    ok(drep_type_sequence(region, &list));
    t = value_compound(2, names, (const drep_type *const[]){ref, list});
    drep_type_free(ref);
    drep_type_free(region);
    drep_type_free(list);
    return t;
}

static uint64_t id_of(drep_file *f, const char *path)
{
    drep_objinfo info = DREP_OBJINFO;

    ok(drep_stat(f, path, &info));
    return info.id;
}

static void look_holder(drep_file *f, const char *path, const drep_type *type, uint64_t first,
                        uint64_t second)
{
    struct holder h;
    drep_dataset *ds;

    for (int attr = 0; attr < 2; attr++) {
        if (attr) {
            ok(drep_attr_read(f, path, "refs", type, &h));
        } else {
            ok(drep_dataset_open(f, path, &ds));
            ok(drep_read(ds, NULL, type, &h, NULL));
            drep_dataset_close(ds);
        }
        ck_assert_uint_eq(h.one.object, first);
        ck_assert_int_eq(h.many.count, 2);
        ck_assert_uint_eq(((drep_ref *)h.many.data)[0].object, second);
        ck_assert_uint_eq(((drep_ref *)h.many.data)[1].object, first);
        ck_assert_str_eq(((drep_ref *)h.many.data)[0].region, "[0:2]");
        drep_vlen_free(type, 1, &h);
    }
}

START_TEST(test_references_follow_their_objects)
{
    drep_type *type = holder_type();
    drep_file *from = memory_file("external32"), *to = memory_file("internal"), *whole;
    drep_dataset *ds;
    char region[] = "[0:2]";
    drep_ref many[2] = {{0, region}, {0, NULL}};
    struct holder h = {{0, NULL}, {2, many}};

    ok(drep_group_create(from, "/g", 0));
    ok(drep_group_create(from, "/outside", 0));
    ok(drep_group_create(from, "/g/inside", 0));
    many[0].object = id_of(from, "/outside");
    h.one.object = many[1].object = id_of(from, "/g/inside");
    ds = new_dataset(from, "/g/d", type, 0, NULL);
    ok(drep_write(ds, NULL, type, &h, NULL));
    drep_dataset_close(ds);
    ok(drep_attr_write(from, "/g/d", "refs", type, 0, NULL, &h));
    /* Within a file what is outside stays, in another there is none. */
    ok(drep_copy(from, "/g", from, "/h", NULL));
    look_holder(from, "/h/d", type, id_of(from, "/h/inside"), id_of(from, "/outside"));
    look_holder(from, "/g/d", type, id_of(from, "/g/inside"), id_of(from, "/outside"));
    ok(drep_group_create(to, "/before", 0));
    ok(drep_copy(from, "/g", to, "/k", NULL));
    look_holder(to, "/k/d", type, id_of(to, "/k/inside"), 0);
    whole = memory_file("native");
    ok(drep_copy(from, "/", whole, "/", NULL));
    look_holder(whole, "/g/d", type, id_of(whole, "/g/inside"), id_of(whole, "/outside"));
    ck_assert_uint_eq(id_of(whole, "/h/inside"), id_of(from, "/h/inside"));
    check_file(from);
    check_file(to);
    check_file(whole);
    drep_abandon(from);
    drep_abandon(to);
    drep_abandon(whole);
    drep_type_free(type);
}
END_TEST

/* ---- dimensions ---- */

static void with_dims(drep_file *f, const char *path, const char *a, const char *b,
                      const int64_t *dims, const int64_t *max)
{
    const char *const names[] = {a, b};
    drep_spec spec =
        DREP_SPEC(.type = DREP_INT, .rank = 2, .dims = dims, .maxdims = max, .dim_names = names);

    ok(drep_dataset_create(f, path, &spec, NULL));
}

static void dims_are(drep_file *f, const char *path, const char *a, const char *b)
{
    drep_dataset *ds;
    drep_dsinfo info = DREP_DSINFO;

    ok(drep_dataset_open(f, path, &ds));
    ok(drep_dataset_info(ds, &info));
    ck_assert_uint_eq(info.dim_ids[0], id_of(f, a));
    ck_assert_uint_eq(info.dim_ids[1], id_of(f, b));
    drep_dataset_close(ds);
}

START_TEST(test_dimensions_come_along_or_are_found)
{
    const int64_t dims[] = {4, 6}, max[] = {DREP_UNLIMITED, 6};
    drep_file *from = memory_file("external32"), *to = memory_file("external32");
    drep_objinfo info = DREP_OBJINFO;

    ok(drep_group_create(from, "/g", 0));
    ok(drep_dimension_create(from, "/#time", 4, 1));
    ok(drep_dimension_create(from, "/g#x", 6, 0));
    with_dims(from, "/g/v", "time", "x", dims, max);
    with_dims(from, "/w", "time", "/g#x", dims, max);
    /* x is in the copy, time is not. */
    ok(drep_copy(from, "/g", from, "/h", NULL));
    dims_are(from, "/h/v", "/#time", "/h#x");
    ok(drep_copy(from, "/g", to, "/g", NULL));
    dims_are(to, "/g/v", "/#time", "/g#x");
    ok(drep_stat(to, "/#time", &info));
    ck_assert_int_eq(info.len, 4);
    ck_assert_int_eq(info.unlimited, 1);
    /* Both outside: time is found, x is made. */
    ok(drep_copy(from, "/w", to, "/w", NULL));
    dims_are(to, "/w", "/#time", "/#x");
    /* One that is too short there. */
    drep_abandon(to);
    to = memory_file("external32");
    ok(drep_dimension_create(to, "/#time", 3, 0));
    fails(drep_copy(from, "/w", to, "/w", NULL), DREP_ERR_DIMS);
    ok(drep_stat(to, "/", &info));
    ck_assert_int_eq(info.members, 0);
    /* A shorter one further up is not taken: another is made beside the copy. */
    ok(drep_group_create(to, "/k", 0));
    ok(drep_copy(from, "/w", to, "/k/w", NULL));
    dims_are(to, "/k/w", "/k#time", "/k#x");
    /* Alone. */
    ok(drep_copy(from, "/#time", to, "/k#other", NULL));
    ok(drep_stat(to, "/k#other", &info));
    ck_assert_int_eq(info.len, 4);
    fails(drep_copy(from, "/#time", to, "/k#other", NULL), DREP_ERR_EXISTS);
    fails(drep_copy(from, "/#time", to, "/k/other", NULL), DREP_ERR_NAME);
    check_file(from);
    check_file(to);
    drep_abandon(from);
    drep_abandon(to);
}
END_TEST

/* ---- sparse ---- */

static int64_t seen_bytes;

static int count_bytes(int64_t bytes, void *ctx)
{
    (void)ctx;
    seen_bytes += bytes;
    return 0;
}

/* The work follows what is stored, not what could be. */
START_TEST(test_sparse_datasets_stay_sparse)
{
    const int64_t dims[] = {1 << 28, 1 << 28}, chunk[] = {64, 64};
    const int64_t starts[3][2] = {{5, 7}, {1 << 20, 1 << 25}, {(1 << 28) - 3, (1 << 28) - 1}};
    const char *const reps[] = {"external32", "internal", "xor"};

    for (int k = 0; k < 6; k++) {
        drep_type *text;
        struct want w = {DREP_CHUNKED, DREP_FILTER_LZ4, {100, 30}, 0, {0}};
        drep_copying how =
            DREP_COPYING(.plan = k % 2 ? want_plan : NULL, .ctx = &w, .progress = count_bytes);
        drep_file *from = memory_file("external32"), *to = memory_file(reps[k / 2]);
        drep_dataset *ds;

        ok(drep_type_vstring(&text));
        for (int d = 0; d < 2; d++) {
            ds = chunked(from, d ? "/t" : "/n", d ? text : DREP_INT, 2, dims, chunk, 0);
            for (int i = 0; i < 3; i++) {
                char word[] = "a word";
                void *text_value = word;
                int number = 1000 + i;
                drep_selection *sel;

                ok(drep_select_points(2, 1, starts[i], &sel));
                ok(drep_write(ds, sel, NULL, d ? (void *)&text_value : &number, NULL));
                drep_selection_free(sel);
            }
            drep_dataset_close(ds);
        }
        seen_bytes = 0;
        ok(drep_copy(from, "/", to, "/", &how));
        ck_assert_int_gt(seen_bytes, 0);
        ck_assert_int_lt(seen_bytes, 8 << 20);
        for (int d = 0; d < 2; d++) {
            ok(drep_dataset_open(to, d ? "/t" : "/n", &ds));
            for (int i = 0; i < 3; i++) {
                drep_selection *sel;
                char *word = NULL;
                int number = 0;

                ok(drep_select_points(2, 1, starts[i], &sel));
                ok(drep_read(ds, sel, NULL, d ? (void *)&word : &number, NULL));
                if (d)
                    ck_assert_str_eq(word, "a word");
                else
                    ck_assert_int_eq(number, 1000 + i);
                free(word);
                drep_selection_free(sel);
            }
            drep_dataset_close(ds);
        }
        check_file(to);
        drep_abandon(from);
        drep_abandon(to);
        drep_type_free(text);
    }
}
END_TEST

/* Chunks apart that no commit has yet: writing the copy closes the runs that it is made of. */
START_TEST(test_copies_of_what_is_being_written)
{
    enum { CHUNKS = 60 };
    const int64_t dims = 8 * CHUNKS, chunk = 8;
    drep_file *f = memory_file("native");
    drep_dataset *ds = chunked(f, "/a", DREP_INT64_T, 1, &dims, &chunk, 0);
    int64_t value[8 * CHUNKS] = {0}, got[8 * CHUNKS];

    ok(drep_commit(f));
    for (int64_t c = 0; c < CHUNKS; c += 2) {
        int64_t start = 8 * c;
        drep_selection *sel;

        for (int64_t i = start; i < start + 8; i++)
            value[i] = i + 1;
        ok(drep_select_box(1, &start, &chunk, NULL, NULL, &sel));
        ok(drep_write(ds, sel, NULL, value + start, NULL));
        drep_selection_free(sel);
    }
    drep_dataset_close(ds);
    ok(drep_copy(f, "/a", f, "/b", NULL));
    ok(drep_dataset_open(f, "/b", &ds));
    ok(drep_read(ds, NULL, NULL, got, NULL));
    ck_assert_mem_eq(got, value, sizeof got);
    drep_dataset_close(ds);
    check_file(f);
    drep_abandon(f);
}
END_TEST

/* ---- what is refused, and leaves nothing ---- */

static int stop_at_once(int64_t bytes, void *ctx)
{
    (void)bytes;
    (void)ctx;
    return DREP_ERR_STOPPED;
}

START_TEST(test_refused_copies_leave_nothing)
{
    drep_file *from = memory_file("external32"), *to = memory_file("external32");
    drep_copying how = DREP_COPYING(.progress = stop_at_once);
    const int64_t n = 100;
    drep_objinfo before = DREP_OBJINFO, after = DREP_OBJINFO;
    drep_dataset *ds = new_dataset(from, "/x", DREP_INT, 1, &n);
    int in[100] = {1};

    ok(drep_write(ds, NULL, NULL, in, NULL));
    drep_dataset_close(ds);
    ok(drep_group_create(from, "/g", 0));
    ok(drep_group_create(to, "/x", 0));
    ok(drep_stat(to, "/", &before));
    fails(drep_copy(from, "/", to, "/", NULL), DREP_ERR_EXISTS);
    fails(drep_copy(from, "/x", to, "/x", NULL), DREP_ERR_EXISTS);
    fails(drep_copy(from, "/y", to, "/y", NULL), DREP_ERR_NOT_FOUND);
    fails(drep_copy(from, "/x", to, "/no/x", NULL), DREP_ERR_NOT_FOUND);
    fails(drep_copy(from, "/x", to, "/x/..", NULL), DREP_ERR_NAME);
    fails(drep_copy(from, "/x", to, "/", NULL), DREP_ERR_NAME);
    fails(drep_copy(from, "/x", to, "/z", &how), DREP_ERR_STOPPED);
    fails(drep_copy(from, NULL, to, "/z", NULL), DREP_ERR_ARG);
    ok(drep_stat(to, "/", &after));
    ck_assert_int_eq(after.members, before.members);
    /* Into itself: what was there before. */
    ok(drep_copy(from, "/g", from, "/g/g", NULL));
    ok(drep_stat(from, "/g/g", &after));
    ck_assert_int_eq(after.members, 0);
    check_file(from);
    check_file(to);
    drep_abandon(from);
    drep_abandon(to);
}
END_TEST

/* ---- the metadata extent ---- */

static uint64_t be64(const uint8_t *p)
{
    return key_u64(p);
}

/* All nodes lie in the extent that the slot names, which holds nothing else: walked from the
 * root by hand. */
static uint64_t nodes_below(const uint8_t *image, const uint8_t *ref, uint64_t low, uint64_t high)
{
    uint64_t at = be64(ref), sum;
    uint32_t length = key_u32(ref + 8), count;
    const uint8_t *p = image + at + FMT_BLOCK_HEAD;

    ck_assert_msg(at >= low && at + length <= high, "a node at %llu", (unsigned long long)at);
    ck_assert_uint_eq(image[at + 4], FMT_NODE);
    sum = (length + 63) / 64 * 64;
    count = image[at + 5] > 0 ? key_u32(image + at + 28) : 0;
    for (uint32_t i = 0; i < count; i++) {
        struct entry e = entry_load(p);

        sum += nodes_below(image, e.value, low, high);
        p = e.value + e.value_len;
    }
    return sum;
}

static uint8_t *file_image(const char *path, size_t *size)
{
    int fd = open(path, O_RDONLY);
    struct stat st;
    uint8_t *p;

    ck_assert_int_ge(fd, 0);
    ck_assert_int_eq(fstat(fd, &st), 0);
    *size = (size_t)st.st_size;
    p = malloc(*size);
    ck_assert_int_eq(read(fd, p, *size), (ssize_t)*size);
    close(fd);
    return p;
}

START_TEST(test_all_nodes_in_one_extent)
{
    drep_info *info = hints("drep_sync=none", "drep_pack=true", (char *)NULL);
    const char *first = temp_path("first"), *second = temp_path("second");
    drep_file *f = new_file(first, "native"), *g;
    const int64_t n = 600;
    uint64_t low, length;
    uint8_t *image;
    double v[600];
    size_t size;

    /* So many that leaves are written early, and payload between them. */
    for (int i = 0; i < 600; i++)
        v[i] = i;
    for (int i = 0; i < 60000; i++) {
        char path[40];

        snprintf(path, sizeof path, "/object number %d", i);
        if (i % 2)
            ok(drep_group_create(f, path, 0));
        else
            drep_dataset_close(new_dataset(f, path, DREP_DOUBLE, 1, &n));
        ok(drep_attr_write_int64(f, path, "number", i));
        if (i % 100 == 0) {
            drep_dataset *ds;

            ok(drep_dataset_open(f, path, &ds));
            ok(drep_write(ds, NULL, NULL, v, NULL));
            drep_dataset_close(ds);
        }
    }
    ok(drep_create(second, DREP_RDWR, "external32", info, &g));
    ok(drep_copy(f, "/", g, "/", NULL));
    ok(drep_close(g));
    image = file_image(second, &size);
    low = be64(image + 140);
    length = be64(image + 148);
    ck_assert_uint_ne(low, 0);
    ck_assert_uint_eq(nodes_below(image, image + 80, low, low + length), length);
    free(image);
    ok(drep_open(second, DREP_RDWR, NULL, &g));
    ok(drep_attr_write_int64(g, "/", "later", 1)); /* the leaves are where they should be */
    check_file(g);
    ok(drep_close(g));
    drep_abandon(f);
    drep_info_free(info);
}
END_TEST

int main(void)
{
    Suite *s = suite_create("data copy");
    TCase *t = tcase_create("copy");

    tcase_set_timeout(t, 300);
    tcase_add_loop_test(t, test_every_layout_into_every_other, 0, DATAREPS);
    tcase_add_test(t, test_selections);
    tcase_add_test(t, test_dimensions_of_selections);
    tcase_add_test(t, test_nothing_is_lost_between_tables);
    tcase_add_test(t, test_ranges_and_reports);
    tcase_add_loop_test(t, test_items_are_counted_once, 0, 2);
    tcase_add_test(t, test_references_follow_their_objects);
    tcase_add_test(t, test_dimensions_come_along_or_are_found);
    tcase_add_test(t, test_sparse_datasets_stay_sparse);
    tcase_add_test(t, test_copies_of_what_is_being_written);
    tcase_add_test(t, test_refused_copies_leave_nothing);
    tcase_add_test(t, test_all_nodes_in_one_extent);
    suite_add_tcase(s, t);
    return run_suite(s);
}
