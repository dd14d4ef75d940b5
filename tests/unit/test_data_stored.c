/* test_data_stored.c - chunks as they are stored: in and out of files, and what is refused.
 *
 * needs: deflate lz4 zstd */
/* SPDX-License-Identifier: MIT */
#include "data_help.h"

enum { ROWS = 10, COLUMNS = 20, HIGH = 4, WIDE = 8 };

static drep_file *memory_file(const char *datarep)
{
    drep_file *f;

    register_datareps();
    ok(drep_create(":memory:", DREP_RDWR, datarep, NULL, &f));
    return f;
}

static drep_dataset *grid(drep_file *f, const char *path, const drep_type *type,
                          const drep_filter *filters, int n)
{
    const int64_t dims[] = {ROWS, COLUMNS}, chunk[] = {HIGH, WIDE};
    const int64_t most[] = {2 * ROWS, 2 * COLUMNS};
    drep_dataset *ds;

    ok(drep_dataset_create(f, path,
                           &DREP_SPEC(.type = type, .rank = 2, .dims = dims, .maxdims = most,
                                      .chunk = chunk, .layout = DREP_CHUNKED,
                                      .filters = n > 0 ? filters : NULL, .nfilters = n),
                           &ds));
    return ds;
}

static const struct {
    drep_filter filter[2];
    int n;
} lists[] = {{.n = 0},
             {{{.id = DREP_FILTER_SHUFFLE}, {.id = DREP_FILTER_DEFLATE}}, 2},
             {{{.id = DREP_FILTER_ZSTD}}, 1},
             {{{.id = DREP_FILTER_BITSHUFFLE}, {.id = DREP_FILTER_LZ4}}, 2}};
enum { LISTS = sizeof lists / sizeof *lists };

struct carrying {
    drep_dataset *from, *to;
    int chunks;
};

static int carry(const int64_t *start, void *ctx)
{
    struct carrying *c = ctx;
    uint8_t bytes[2000];
    int64_t size = 0, again = 0;
    uint32_t skipped = 99;

    ok(drep_read_stored(c->from, start, NULL, 0, &size, NULL));
    ck_assert_int_gt(size, 0);
    fails(drep_read_stored(c->from, start, bytes, size - 1, &again, NULL), DREP_ERR_BUFFER);
    ck_assert_int_eq(again, size);
    ok(drep_read_stored(c->from, start, bytes, size, &again, &skipped));
    ok(drep_write_stored(c->to, start, bytes, size, skipped, 0));
    c->chunks++;
    return 0;
}

/* Chunks carried over one by one read as the elements that they were. */
START_TEST(test_chunks_are_carried_over)
{
    const char *datarep = datareps[_i / LISTS];
    const int n = _i % LISTS;
    drep_file *a = memory_file(datarep), *b = memory_file(datarep);
    struct carrying c = {grid(a, "d", DREP_DOUBLE, lists[n].filter, lists[n].n),
                         grid(b, "d", DREP_DOUBLE, lists[n].filter, lists[n].n), 0};
    const int64_t start[] = {1, 9}, count[] = {9, 11};
    static double in[ROWS * COLUMNS], one[ROWS * COLUMNS], other[ROWS * COLUMNS];

    for (int i = 0; i < ROWS * COLUMNS; i++)
        in[i] = i % 7;
    ok(drep_write_box(c.from, start, count, NULL, in,
                      NULL)); /* the first column of chunks is not */
    ok(drep_dataset_chunks(c.from, carry, &c));
    ck_assert_int_eq(c.chunks, 6);
    for (int again = 0; again < 2; again++) {
        ok(drep_read(c.from, NULL, NULL, one, NULL));
        ok(drep_read(c.to, NULL, NULL, other, NULL));
        ck_assert_mem_eq(one, other, sizeof one);
        ok(drep_commit(b));
    }
    drep_dataset_close(c.from);
    drep_dataset_close(c.to);
    ok(drep_close(a));
    ok(drep_close(b));
}
END_TEST

/* What stands outside the shape is not seen when the dataset grows over it. */
START_TEST(test_what_stands_outside_the_shape)
{
    drep_file *f = memory_file("internal");
    drep_dataset *ds = grid(f, "d", DREP_INT32_T, NULL, 0);
    const int64_t start[] = {8, 16}, grown[] = {12, 24};
    const int64_t from[] = {8, 16}, count[] = {4, 8};
    int32_t chunk[HIGH * WIDE], got[HIGH * WIDE];

    for (int i = 0; i < HIGH * WIDE; i++)
        chunk[i] = i + 1;
    ok(drep_write_stored(ds, start, chunk, sizeof chunk, 0, 0));
    ok(drep_dataset_resize(ds, grown));
    ok(drep_read_box(ds, from, count, NULL, got, NULL));
    for (int y = 0; y < HIGH; y++)
        for (int x = 0; x < WIDE; x++)
            ck_assert_int_eq(got[y * WIDE + x], y < 2 && x < 4 ? chunk[y * WIDE + x] : 0);
    drep_dataset_close(ds);
    ok(drep_close(f));
}
END_TEST

START_TEST(test_what_is_not_stored)
{
    const int64_t dims[] = {4}, origin[] = {0, 0}, inside[] = {4, 9}, beyond[] = {12, 0};
    drep_file *f = memory_file("internal");
    drep_filter deflate = {.id = DREP_FILTER_DEFLATE};
    drep_dataset *ds = grid(f, "d", DREP_INT32_T, &deflate, 1), *flat;
    uint8_t bytes[600] = {0};
    uint32_t skipped;
    int64_t size = 7;

    ok(drep_read_stored(ds, origin, bytes, sizeof bytes, &size, &skipped));
    ck_assert_int_eq(size, 0);
    fails(drep_read_stored(ds, inside, NULL, 0, &size, NULL), DREP_ERR_RANGE);
    fails(drep_read_stored(ds, beyond, NULL, 0, &size, NULL), DREP_ERR_RANGE);
    fails(drep_read_stored(ds, NULL, NULL, 0, &size, NULL), DREP_ERR_ARG);
    fails(drep_read_stored(ds, origin, NULL, 0, NULL, NULL), DREP_ERR_ARG);
    fails(drep_write_stored(ds, inside, bytes, 10, 0, 0), DREP_ERR_RANGE);
    fails(drep_write_stored(ds, origin, bytes, 0, 0, 0), DREP_ERR_ARG);
    fails(drep_write_stored(ds, origin, NULL, 10, 0, 0), DREP_ERR_ARG);
    fails(drep_write_stored(ds, origin, bytes, 10, 2, 0), DREP_ERR_ARG);
    fails(drep_write_stored(ds, origin, bytes, 10, 1, 0), DREP_ERR_ARG); /* no whole elements */
    fails(drep_write_stored(ds, origin, bytes, 132, 1, 0), DREP_ERR_ARG);
    fails(drep_write_stored(ds, origin, bytes, (int64_t)1 << 40, 0, 0), DREP_ERR_LIMIT);
    ok(drep_dataset_create(f, "flat", &DREP_SPEC(.type = DREP_INT, .rank = 1, .dims = dims),
                           &flat));
    fails(drep_read_stored(flat, origin, NULL, 0, &size, NULL), DREP_ERR_KIND);
    /* Bytes that no filter gave are found by whoever decodes them. */
    ok(drep_write_stored(ds, origin, bytes, 40, 0, 0));
    fails(drep_read(ds, NULL, NULL, bytes, NULL), DREP_ERR_FORMAT);
    ck_assert_ptr_nonnull(strstr(drep_error(), "chunk (0,0)"));
    drep_dataset_close(flat);
    drep_dataset_close(ds);
    ok(drep_close(f));
}
END_TEST

/* True if the dataset of this type, under this representation, has the bytes of memory's type. */
static int same_as(const char *datarep, const drep_type *type, const drep_type *mem, int placed)
{
    const int64_t dims[] = {4};
    drep_file *f = memory_file(datarep);
    drep_dataset *ds;
    int same = 7;

    ok(drep_dataset_create(f, "d",
                           &DREP_SPEC(.type = type, .rank = 1, .dims = dims, .chunk = dims,
                                      .layout = DREP_CHUNKED, .placed = placed),
                           &ds));
    ok(drep_stored_as(ds, mem, &same));
    fails(drep_stored_as(ds, NULL, &same), DREP_ERR_ARG);
    drep_dataset_close(ds);
    ok(drep_close(f));
    return same;
}

START_TEST(test_bytes_that_are_the_same)
{
    static const char *const names[] = {"a", "b"};
    const drep_type *const types[] = {DREP_INT8_T, DREP_INT32_T};
    const int64_t displs[] = {0, 4};
    drep_type *s, *text;

    ok(drep_type_compound(2, names, displs, types, 8, &s));
    ok(drep_type_vstring(&text));
    ck_assert_int_eq(same_as("native", DREP_INT32_T, DREP_INT32_T, 0), 1);
    ck_assert_int_eq(same_as("external32", DREP_INT8_T, DREP_INT8_T, 0), 1);
    ck_assert_int_eq(same_as("external32", DREP_INT32_T, DREP_INT32_T, 0),
                     __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__);
    ck_assert_int_eq(same_as("native", DREP_INT32_T, DREP_FLOAT, 0), 0);
    ck_assert_int_eq(same_as("native", DREP_INT32_T, DREP_INT64_T, 0), 0);
    ck_assert_int_eq(same_as("native", s, s, 1), 1);
    ck_assert_int_eq(same_as("internal", s, s, 0), 0); /* packed: no gap */
    ck_assert_int_eq(same_as("native", text, text, 0), 0);
    drep_type_free(s);
    drep_type_free(text);
}
END_TEST

/* ---- two datasets ---- */

static int alike(const char *name, const drep_type *type, int placed, const char *others,
                 const drep_type *other, int other_placed)
{
    drep_file *f = memory_file(name), *g = memory_file(others);
    drep_dataset *a, *b;
    int same = -1, again = -1;

    ok(drep_dataset_create(f, "d", &DREP_SPEC(.type = type, .placed = placed), &a));
    ok(drep_dataset_create(g, "d", &DREP_SPEC(.type = other, .placed = other_placed), &b));
    ok(drep_stored_alike(a, b, &same));
    ok(drep_stored_alike(b, a, &again));
    ck_assert_int_eq(same, again);
    drep_dataset_close(a);
    drep_dataset_close(b);
    ok(drep_close(f));
    ok(drep_close(g));
    return same;
}

START_TEST(test_datasets_of_the_same_bytes)
{
    static const char *const names[] = {"a", "b"}, *const turned_names[] = {"b", "a"};
    const drep_type *const types[] = {DREP_INT8_T, DREP_INT32_T};
    const int64_t displs[] = {0, 4};
    drep_type *s, *turned, *text, *list, *object, *region, *pointers;

    ok(drep_type_compound(2, names, displs, types, 8, &s));
    ok(drep_type_compound(2, turned_names, displs, types, 8, &turned));
    ok(drep_type_vstring(&text));
    ok(drep_type_sequence(DREP_INT32_T, &list));
    ok(drep_type_reference(DREP_REF_OBJECT, &object));
    ok(drep_type_reference(DREP_REF_REGION, &region));
    ok(drep_type_contiguous(2, object, &pointers));
    ck_assert_int_eq(alike("native", DREP_INT32_T, 0, "native", DREP_INT32_T, 0), 1);
    ck_assert_int_eq(alike("external32", DREP_INT8_T, 0, "native", DREP_INT8_T, 0), 1);
    ck_assert_int_eq(alike("external32", DREP_INT32_T, 0, "native", DREP_INT32_T, 0),
                     __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__);
    ck_assert_int_eq(alike("native", DREP_INT32_T, 0, "native", DREP_FLOAT, 0), 0);
    ck_assert_int_eq(alike("native", DREP_INT32_T, 0, "native", DREP_UINT32_T, 0), 0);
    ck_assert_int_eq(alike("native", s, 1, "native", s, 1), 1);
    ck_assert_int_eq(alike("native", s, 1, "native", turned, 1), 0);
    ck_assert_int_eq(alike("internal", s, 1, "internal", s, 0), 0); /* packed: no gap */
    ck_assert_int_eq(alike("xor", DREP_INT32_T, 0, "xor", DREP_INT32_T, 0), 1);
    ck_assert_int_eq(alike("xor", DREP_INT32_T, 0, "native", DREP_INT32_T, 0), 0);
    ck_assert_int_eq(alike("native", text, 0, "native", text, 0), 0);
    ck_assert_int_eq(alike("native", list, 0, "native", list, 0), 0);
    ck_assert_int_eq(alike("native", object, 0, "native", object, 0), 0);
    ck_assert_int_eq(alike("native", region, 0, "native", region, 0), 0);
    ck_assert_int_eq(alike("native", pointers, 0, "native", pointers, 0), 0);
    drep_type_free(s);
    drep_type_free(turned);
    drep_type_free(text);
    drep_type_free(list);
    drep_type_free(object);
    drep_type_free(region);
    drep_type_free(pointers);
}
END_TEST

/* ---- filters of HDF5 ---- */

static const uint32_t hdf5_size[] = {8};
static const drep_filter netcdf[] = {
    {.id = DREP_FILTER_HDF5 + 3},
    {.id = DREP_FILTER_HDF5 + 2, .level = 1, .nparams = 1, .params = hdf5_size, .param = {8}},
    {.id = DREP_FILTER_HDF5 + 1, .level = 1, .nparams = 1, .param = {4}}};
static const drep_filter nobody[] = {
    {.id = DREP_FILTER_HDF5 + 32026, .name = "blosc2", .nparams = 2, .param = {7, 8}}};

/* Elements go through HDF5's filters in both directions; fletcher32 stands first, so that the
 * chunk is a stream of zlib. */
/* Without parameters blosc encodes by LZ4 (number 1 in bits 5 to 7 of byte 2), which the format
 * asks of writers. */
START_TEST(test_blosc_encodes_by_lz4)
{
    const drep_filter blosc = {.id = DREP_FILTER_BLOSC};
    const int64_t origin[] = {0, 0};
    static int v[ROWS * COLUMNS];
    drep_dsinfo info = DREP_DSINFO;
    uint32_t skipped = 99;
    uint8_t bytes[1000];
    drep_dataset *ds;
    drep_file *f;
    int64_t size;

    if (!drep_filter_available(DREP_FILTER_BLOSC))
        return;
    f = memory_file("external32");
    ds = grid(f, "/d", DREP_INT, &blosc, 1);
    ok(drep_write(ds, NULL, DREP_INT, v, NULL));
    ok(drep_dataset_info(ds, &info));
    ck_assert_int_eq(info.nfilters, 1);
    ck_assert_uint_eq(info.filters[0].param[3], 1);
    ok(drep_read_stored(ds, origin, bytes, sizeof bytes, &size, &skipped));
    ck_assert_uint_eq(skipped, 0);
    ck_assert_int_gt(size, 16);
    ck_assert_int_eq(bytes[2] >> 5, 1);
    drep_dataset_close(ds);
    ok(drep_close(f));
}
END_TEST

START_TEST(test_hdf5_filters_that_are_here)
{
    drep_file *f = memory_file("native");
    drep_dataset *ds = grid(f, "d", DREP_DOUBLE, netcdf, 3);
    const int64_t start[] = {8, 16}, longer[] = {12, 20};
    static double in[ROWS * COLUMNS], out[ROWS * COLUMNS];
    drep_dsinfo info = DREP_DSINFO;
    uint8_t bytes[2000];
    int64_t size = 0;

    for (int i = 0; i < ROWS * COLUMNS; i++)
        in[i] = i % 7;
    ok(drep_write(ds, NULL, DREP_DOUBLE, in, NULL));
    ok(drep_commit(f));
    ok(drep_read(ds, NULL, DREP_DOUBLE, out, NULL));
    ck_assert_mem_eq(in, out, sizeof in);
    ok(drep_dataset_info(ds, &info));
    ck_assert_int_eq(info.nfilters, 3);
    ck_assert_int_eq(info.filters[1].id, DREP_FILTER_HDF5 + 2);
    ck_assert_int_eq(info.filters[0].level + 2 * info.filters[1].level, 2);
    ck_assert_uint_eq(info.filters[1].params[0], 8);
    ck_assert(!info.filters[0].name);
    /* The chunk at the corner, too, is stored whole. */
    ok(drep_read_stored(ds, start, bytes, sizeof bytes, &size, NULL));
    ck_assert_int_eq(bytes[0] & 15, 8);
    ok(drep_dataset_resize(ds, longer));
    in[0] = -1;
    ok(drep_read_box(ds, (const int64_t[]){11, 0}, (const int64_t[]){1, 1}, DREP_DOUBLE, in, NULL));
    ck_assert_double_eq(in[0], 0);
    drep_dataset_close(ds);
    ok(drep_close(f));
}
END_TEST

static int64_t undecoded(drep_dataset *ds)
{
    drep_dsusage u = DREP_DSUSAGE;

    ok(drep_dataset_usage(ds, &u));
    return u.undecoded;
}

/* Only elements need the filter: chunks go in, out, and into copies, and the shape may change where
 * no chunk is cut. */
START_TEST(test_hdf5_filters_that_nobody_has)
{
    drep_file *f = memory_file("native");
    drep_dataset *ds = grid(f, "d", DREP_DOUBLE, nobody, 1), *copy;
    static const int64_t at[] = {4, 8}, other[] = {4, 0}, skips[] = {0, 0};
    static const int64_t longer[] = {12, 24}, cut[] = {7, 24}, rows[] = {8, 24};
    const int64_t one[] = {1, 1};
    double v = 5, plain[HIGH * WIDE] = {3};
    uint8_t bytes[20] = {0};
    int64_t size = 0;
    uint32_t skipped = 0;

    fails(drep_write(ds, NULL, DREP_DOUBLE, (double[ROWS * COLUMNS]){0}, NULL),
          DREP_ERR_UNSUPPORTED);
    ck_assert_ptr_nonnull(strstr(drep_error(), "HDF5 filter 32026 'blosc2' is not here"));
    ok(drep_write_stored(ds, at, "nobody knows", 12, 0, DREP_STORED_UNDECODED));
    ok(drep_write_stored(ds, other, "what it says", 12, 0, 0));
    ok(drep_write_stored(ds, skips, plain, sizeof plain, 1, 0));
    fails(drep_write_stored(ds, at, "nobody knows", 12, 0, 4), DREP_ERR_ARG);
    ok(drep_commit(f));
    ck_assert_int_eq(undecoded(ds), 1);
    fails(drep_read_box(ds, at, one, DREP_DOUBLE, &v, NULL), DREP_ERR_UNSUPPORTED);
    ck_assert_ptr_nonnull(strstr(drep_error(), "HDF5 filter 32026 'blosc2' is not here"));
    ok(drep_read_box(ds, skips, one, DREP_DOUBLE, &v, NULL));
    ck_assert_double_eq(v, 3);
    ok(drep_dataset_resize(ds, longer));
    fails(drep_dataset_resize(ds, cut), DREP_ERR_UNSUPPORTED);
    ok(drep_dataset_resize(ds, rows));
    ok(drep_copy(f, "d", f, "copy", NULL));
    ok(drep_dataset_open(f, "copy", &copy));
    ok(drep_read_stored(copy, at, bytes, sizeof bytes, &size, &skipped));
    ck_assert_int_eq(size, 12);
    ck_assert_mem_eq(bytes, "nobody knows", 12);
    ck_assert_int_eq(undecoded(copy), 1);
    drep_dataset_close(copy);
    drep_dataset_close(ds);
    ok(drep_close(f));
}
END_TEST

START_TEST(test_hdf5_filters_that_are_refused)
{
    drep_file *f = memory_file("native");
    const drep_filter mixed[] = {{.id = DREP_FILTER_SHUFFLE}, {.id = DREP_FILTER_HDF5 + 1}};
    const drep_filter large[] = {{.id = DREP_FILTER_HDF5 + 65536}};
    const drep_filter level[] = {{.id = DREP_FILTER_HDF5 + 1, .level = 6}};
    const drep_filter named[] = {{.id = DREP_FILTER_HDF5 + 1, .name = "\xff"}};
    const struct {
        const drep_filter *filter;
        int n, error;
    } some[] = {{mixed, 2, DREP_ERR_ARG},
                {large, 1, DREP_ERR_ARG},
                {level, 1, DREP_ERR_ARG},
                {named, 1, DREP_ERR_NAME}};
    const int64_t dims[] = {4};
    drep_type *text;

    for (size_t i = 0; i < sizeof some / sizeof *some; i++)
        fails(drep_dataset_create(f, "d",
                                  &DREP_SPEC(.type = DREP_INT, .rank = 1, .dims = dims,
                                             .layout = DREP_CHUNKED, .filters = some[i].filter,
                                             .nfilters = some[i].n),
                                  NULL),
              some[i].error);
    ok(drep_type_vstring(&text));
    fails(drep_dataset_create(f, "d",
                              &DREP_SPEC(.type = text, .rank = 1, .dims = dims,
                                         .layout = DREP_CHUNKED, .filters = nobody, .nfilters = 1),
                              NULL),
          DREP_ERR_TYPE);
    drep_type_free(text);
    ok(drep_close(f));
}
END_TEST

/* ---- where they are ---- */

/* Bytes of a file as another program reads them. */
static void raw(const char *path, int64_t offset, void *p, int64_t size)
{
    FILE *f = fopen(path, "rb");

    ck_assert_ptr_nonnull(f);
    ck_assert_int_eq(fseek(f, (long)offset, SEEK_SET), 0);
    ck_assert_uint_eq(fread(p, 1, (size_t)size, f), (size_t)size);
    fclose(f);
}

static int compare_chunk(const int64_t *start, void *ctx)
{
    struct carrying *c = ctx;
    const int64_t last[] = {start[0] + HIGH - 1 < ROWS ? start[0] + HIGH - 1 : ROWS - 1,
                            start[1] + WIDE - 1 < COLUMNS ? start[1] + WIDE - 1 : COLUMNS - 1};
    uint8_t bytes[2000], there[2000];
    drep_stored at = DREP_STORED, same = DREP_STORED;
    int64_t size = 0;
    uint32_t skipped = 99;

    ok(drep_read_stored(c->from, start, bytes, sizeof bytes, &size, &skipped));
    ok(drep_stored_at(c->from, start, &at));
    ok(drep_stored_at(c->from, last, &same));
    ck_assert_int_eq(memcmp(&at, &same, sizeof at), 0);
    ck_assert_int_eq(at.bytes, size);
    ck_assert_uint_eq(at.skipped, skipped);
    ck_assert_uint_eq(at.flags, 0);
    ck_assert_int_eq(at.external, 0);
    raw(temp_path("at.drep"), at.offset, there, size);
    ck_assert_int_eq(memcmp(bytes, there, (size_t)size), 0);
    c->chunks += skipped != 0;
    return 0;
}

/* Bytes that other programs find there are those of the chunk, filtered or not. */
START_TEST(test_chunks_are_where_they_are_said_to_be)
{
    static double in[ROWS * COLUMNS];
    const int64_t origin[] = {0, 0}, beyond[] = {ROWS, 0}, one[] = {1, 1};
    drep_stored at = DREP_STORED;
    struct carrying c = {.chunks = 0};
    drep_dataset *none;
    drep_file *f;

    ok(drep_create(temp_path("at.drep"), DREP_RDWR, "external32", NULL, &f));
    c.from = grid(f, "d", DREP_DOUBLE, lists[_i].filter, lists[_i].n);
    none = grid(f, "none", DREP_DOUBLE, lists[_i].filter, lists[_i].n);
    for (int i = 0; i < ROWS * COLUMNS; i++)
        in[i] = i % COLUMNS < WIDE ? i * 0.37 + 1 / (i + 0.7) : 5; /* the first ones are noise */
    ok(drep_write(c.from, NULL, DREP_DOUBLE, in, NULL));
    fails(drep_stored_at(c.from, origin, &at), DREP_ERR_NOT_COMMITTED);
    ok(drep_commit(f));
    ok(drep_dataset_chunks(c.from, compare_chunk, &c));
    fails(drep_stored_at(none, origin, &at), DREP_ERR_NOT_FOUND);
    fails(drep_stored_at(c.from, beyond, &at), DREP_ERR_RANGE);
    fails(drep_stored_at(c.from, NULL, &at), DREP_ERR_ARG);
    fails(drep_stored_at(c.from, origin, NULL), DREP_ERR_ARG);
    ok(drep_write_box(c.from, origin, one, DREP_DOUBLE, in, NULL)); /* may wait in the cache */
    fails(drep_stored_at(c.from, origin, &at), DREP_ERR_NOT_COMMITTED);
    ck_assert_ptr_nonnull(strstr(drep_error(), "it has changes since the last commit"));
    drep_dataset_close(none);
    drep_dataset_close(c.from);
    drep_abandon(f);
    ok(drep_open(temp_path("at.drep"), DREP_RDONLY, NULL, &f));
    ok(drep_dataset_open(f, "d", &c.from));
    ok(drep_dataset_chunks(c.from, compare_chunk, &c));
    ck_assert_int_eq(c.chunks > 0, _i == 1 || _i == 2); /* some skipped their compressor */
    drep_dataset_close(c.from);
    ok(drep_close(f));
}
END_TEST

/* Stretches of a contiguous dataset, from each element on, have all that is written. */
START_TEST(test_stretches_are_where_they_are_said_to_be)
{
    enum { N = 7000, WIDTH = 3 };
    static int32_t in[N][WIDTH], got[N][WIDTH];
    const int64_t dims[] = {N, WIDTH}, hole[] = {2500, 0}, some[] = {300, WIDTH};
    drep_dataset *ds;
    drep_file *f;
    int pieces = 0;

    for (int i = 0; i < N * WIDTH; i++)
        in[i / WIDTH][i % WIDTH] = i + 1;
    ok(drep_create(temp_path("at.drep"), DREP_RDWR, "internal", NULL, &f));
    ok(drep_dataset_create(
        f, "d",
        &DREP_SPEC(.type = DREP_INT32_T, .rank = 2, .dims = dims, .layout = DREP_CONTIGUOUS), &ds));
    ok(drep_write(ds, NULL, DREP_INT32_T, in, NULL));
    ok(drep_commit(f));
    for (int64_t i = 0; i < N * WIDTH; i += 1 + 97 * (i % 2)) {
        const int64_t start[] = {i / WIDTH, i % WIDTH};
        drep_stored at = DREP_STORED;

        ok(drep_stored_at(ds, start, &at));
        ck_assert_int_eq(at.bytes, (N * WIDTH - i) * 4); /* it was written at once */
        raw(temp_path("at.drep"), at.offset, got, 4);
        ck_assert_int_eq(memcmp(got, in[0] + i, 4), 0);
    }
    for (int i = 0; i < 300 * WIDTH; i++)
        in[2500 + i / WIDTH][i % WIDTH] *= -1;
    ok(drep_write_box(ds, hole, some, DREP_INT32_T, in[2500], NULL)); /* it moves */
    ok(drep_commit(f));
    for (int64_t i = 0; i < N * WIDTH; pieces++) {
        const int64_t start[] = {i / WIDTH, i % WIDTH};
        drep_stored at = DREP_STORED;

        ok(drep_stored_at(ds, start, &at));
        ck_assert_int_eq(at.bytes % 4, 0);
        raw(temp_path("at.drep"), at.offset, got[0] + i, at.bytes);
        i += at.bytes / 4;
    }
    ck_assert_int_eq(memcmp(in, got, sizeof in), 0);
    ck_assert_int_gt(pieces, 2);
    drep_dataset_close(ds);
    ok(drep_close(f));
}
END_TEST

/* What is in the tree, what is nowhere, and what was written in part. */
START_TEST(test_what_is_stored_nowhere)
{
    const int64_t dims[] = {50000}, from[] = {0}, behind[] = {40000}, n[] = {30};
    static int32_t v[30] = {5};
    drep_stored at = DREP_STORED;
    drep_file *f;
    drep_dataset *ds;

    ok(drep_create(temp_path("at.drep"), DREP_RDWR, NULL, NULL, &f));
    ok(drep_dataset_create(f, "scalar", &DREP_SPEC(.type = DREP_INT32_T), &ds));
    ok(drep_write(ds, NULL, NULL, v, NULL));
    ok(drep_commit(f));
    fails(drep_stored_at(ds, NULL, &at), DREP_ERR_KIND);
    drep_dataset_close(ds);
    ok(drep_dataset_create(f, "null", &DREP_SPEC(.type = DREP_INT32_T, .rank = DREP_NULL_SPACE),
                           &ds));
    fails(drep_stored_at(ds, NULL, &at), DREP_ERR_KIND);
    drep_dataset_close(ds);
    ok(drep_dataset_create(f, "one", &DREP_SPEC(.type = DREP_INT32_T, .layout = DREP_CHUNKED),
                           &ds));
    ok(drep_write(ds, NULL, NULL, v, NULL));
    ok(drep_commit(f));
    ok(drep_stored_at(ds, NULL, &at));
    ck_assert_int_eq(at.bytes, 4);
    drep_dataset_close(ds);
    ok(drep_dataset_create(
        f, "d",
        &DREP_SPEC(.type = DREP_INT32_T, .rank = 1, .dims = dims, .layout = DREP_CONTIGUOUS), &ds));
    ok(drep_write_box(ds, from, n, NULL, v, NULL));
    ok(drep_commit(f));
    ok(drep_stored_at(ds, from, &at));
    ck_assert_int_ge(at.bytes, 120);
    fails(drep_stored_at(ds, behind, &at), DREP_ERR_NOT_FOUND);
    fails(drep_stored_at(ds, dims, &at), DREP_ERR_RANGE);
    drep_dataset_close(ds);
    ok(drep_close(f));
    fails(drep_stored_at(NULL, from, &at), DREP_ERR_ARG);
}
END_TEST

/* A chunk that grows in its place is not what the commit has, and says so. */
START_TEST(test_appended_chunks)
{
    const int64_t none[] = {0}, most[] = {DREP_UNLIMITED}, chunk[] = {1000}, first[] = {0};
    static double v[8] = {1, 2, 3, 4, 5, 6, 7, 8};
    drep_stored at = DREP_STORED, then = DREP_STORED;
    double there[8];
    drep_dataset *ds;
    drep_file *f;

    ok(drep_create(temp_path("at.drep"), DREP_RDWR, "native", NULL, &f));
    ok(drep_dataset_create(f, "d",
                           &DREP_SPEC(.type = DREP_DOUBLE, .rank = 1, .dims = none, .maxdims = most,
                                      .layout = DREP_CHUNKED, .chunk = chunk),
                           &ds));
    for (int i = 0; i < 8; i++) {
        ok(drep_append(ds, 0, 1, DREP_DOUBLE, v + i, NULL));
        fails(drep_stored_at(ds, first, &then), DREP_ERR_NOT_COMMITTED);
        ok(drep_commit(f));
        ok(drep_stored_at(ds, first, &at));
        ck_assert_int_eq(at.bytes, 8 * (i + 1));
        raw(temp_path("at.drep"), at.offset, there, at.bytes);
        ck_assert_int_eq(memcmp(there, v, (size_t)at.bytes), 0);
    }
    drep_dataset_close(ds);
    ok(drep_close(f));
}
END_TEST

int main(void)
{
    Suite *s = suite_create("data stored");
    TCase *t = tcase_create("stored");

    tcase_add_loop_test(t, test_chunks_are_carried_over, 0, DATAREPS * LISTS);
    tcase_add_test(t, test_what_stands_outside_the_shape);
    tcase_add_test(t, test_what_is_not_stored);
    tcase_add_test(t, test_bytes_that_are_the_same);
    tcase_add_test(t, test_datasets_of_the_same_bytes);
    tcase_add_test(t, test_blosc_encodes_by_lz4);
    tcase_add_test(t, test_hdf5_filters_that_are_here);
    tcase_add_test(t, test_hdf5_filters_that_nobody_has);
    tcase_add_test(t, test_hdf5_filters_that_are_refused);
    tcase_add_loop_test(t, test_chunks_are_where_they_are_said_to_be, 0, LISTS);
    tcase_add_test(t, test_stretches_are_where_they_are_said_to_be);
    tcase_add_test(t, test_what_is_stored_nowhere);
    tcase_add_test(t, test_appended_chunks);
    suite_add_tcase(s, t);
    return run_suite(s);
}
