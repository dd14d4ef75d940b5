/* test_space.c - how much of a file is free or lost to alignment: after a commit of its own for
 * each day of a year, and when it is fresh.
 *
 * The sizes of netCDF-4 are those of tests/bench/bench_space.c, which writes the same elements in
 * the same steps through libnetcdf 4.9.0 and HDF5 1.10.8.
 *
 * needs: deflate */
/* SPDX-License-Identifier: MIT */
#include "data_help.h"

enum { DAYS = 365, LAT = 44, LON = 64, FIELD = LAT * LON };

static const char *const names[] = {"time", "y", "x"};
static float field[FIELD];

/* The numbers of bench_space.c. */
static const float *field_of(int day)
{
    uint32_t x = (uint32_t)day * 2654435761u + 1;

    for (int i = 0; i < FIELD; i++) {
        x = x * 1664525u + 1013904223u;
        field[i] = (float)(x >> 16) * 0x1p-10f;
    }
    return field;
}

static void append_to(drep_file *f, const char *path, const drep_type *type, int64_t n,
                      const void *values)
{
    drep_dataset *ds;

    ok(drep_dataset_open(f, path, &ds));
    ok(drep_append(ds, 0, n, type, values, NULL));
    drep_dataset_close(ds);
}

/* A field and its time, both without elements. */
static void make_series(const char *path, int64_t times, bool deflate)
{
    const int64_t dims[] = {0, LAT, LON}, most[] = {DREP_UNLIMITED, LAT, LON};
    const int64_t chunk[] = {1, LAT, LON};
    const drep_filter filter = {.id = DREP_FILTER_DEFLATE, .level = 1};
    drep_spec spec = DREP_SPEC(.type = DREP_DOUBLE, .rank = 1, .dims = dims, .maxdims = most,
                               .dim_names = names, .layout = DREP_CHUNKED, .chunk = &times,
                               .filters = deflate ? &filter : NULL, .nfilters = deflate);
    drep_file *f = new_file(path, "native");

    ok(drep_dataset_create(f, "/time", &spec, NULL));
    spec.type = DREP_FLOAT;
    spec.rank = 3;
    spec.chunk = chunk;
    ok(drep_dataset_create(f, "/field", &spec, NULL));
    ok(drep_close(f));
}

/* Percent of a file, whose every byte is accounted for, that is free or lost to alignment. */
static double unused_share(const char *path, drep_usage *u)
{
    drep_file *f;

    *u = (drep_usage)DREP_USAGE;
    ok(drep_open(path, DREP_RDONLY, NULL, &f));
    check_file(f);
    ok(drep_usage_get(f, u));
    ok(drep_close(f));
    ck_assert_int_eq(u->slots + u->nodes + u->blobs + u->sums + u->data + u->free + u->slack,
                     u->file);
    return 100.0 * (double)(u->free + u->slack) / (double)u->file;
}

static const struct {
    int64_t times; /* in a chunk of the coordinate */
    bool deflate, one_handle;
    double netcdf, bar; /* bytes of the same in netCDF-4, and how many times that we may take */
} story[] = {{64, false, false, 4149808, 1.0075},
             {4096, false, false, 4179504, 1.003},
             {64, true, false, 3009927, 1.0075},
             {4096, true, false, 3141444, 1},
             {4096, false, true, 4179504, 1.0053}};

/* What changes at each commit goes round a few places, and leaves no holes that nothing fits. */
START_TEST(test_a_commit_each_day)
{
    const char *path = temp_path("year");
    drep_info *info = hints("drep_sync=none", (char *)NULL);
    drep_file *f = NULL;
    drep_usage u;

    make_series(path, story[_i].times, story[_i].deflate);
    for (int day = 0; day < DAYS; day++) {
        double time = day;

        if (!f)
            ok(drep_open(path, DREP_RDWR, info, &f));
        append_to(f, "/field", DREP_FLOAT, 1, field_of(day));
        append_to(f, "/time", DREP_DOUBLE, 1, &time);
        ok(drep_commit(f));
        if (!story[_i].one_handle || day == DAYS - 1) {
            ok(drep_close(f));
            f = NULL;
        }
    }
    drep_info_free(info);
    ck_assert_double_le(unused_share(path, &u), 2);
    ck_assert_double_le((double)u.file, story[_i].bar * story[_i].netcdf);
}
END_TEST

/* ---- fresh files ---- */

static void make_one(drep_file *f, int number, int64_t len, int64_t max, int64_t chunk)
{
    drep_spec spec = DREP_SPEC(.type = DREP_FLOAT, .rank = 1, .dims = &len, .maxdims = &max,
                               .layout = chunk ? DREP_CHUNKED : DREP_CONTIGUOUS);
    char path[16];

    spec.chunk = chunk ? &chunk : NULL;
    snprintf(path, sizeof path, "/%d", number);
    ok(drep_dataset_create(f, path, &spec, NULL));
}

static void write_one(drep_file *f, int number, int64_t len)
{
    float *v = calloc((size_t)len, sizeof *v);
    drep_dataset *ds;
    char path[16];

    ck_assert_ptr_nonnull(v);
    snprintf(path, sizeof path, "/%d", number);
    ok(drep_dataset_open(f, path, &ds));
    ok(drep_write(ds, NULL, DREP_FLOAT, v, NULL));
    drep_dataset_close(ds);
    free(v);
}

/* n datasets of `len` floats each, all made before the first is written, as an import does. */
static void write_datasets(drep_file *f, int n, int64_t len, int64_t max, int64_t chunk)
{
    for (int i = 0; i < n; i++)
        make_one(f, i, len, max, chunk);
    for (int i = 0; i < n; i++)
        write_one(f, i, len);
}

static void records(drep_file *f)
{
    write_datasets(f, 9, 7300, DREP_UNLIMITED, 0);
}

static void short_arrays(drep_file *f)
{
    write_datasets(f, 60, 1300, 1300, 0);
}

static void middling_arrays(drep_file *f)
{
    write_datasets(f, 12, 20000, 20000, 0);
}

static void odd_chunks(drep_file *f)
{
    write_datasets(f, 10, 13000, 13000, 1300);
}

static void growing_odd_chunks(drep_file *f)
{
    write_datasets(f, 10, 12500, DREP_UNLIMITED, 1300);
}

/* Appends to several datasets in turn. */
static void appends(drep_file *f)
{
    for (int i = 0; i < 4; i++)
        make_one(f, i, 0, DREP_UNLIMITED, 2500);
    for (int round = 0; round < 40; round++)
        for (int i = 0; i < 4; i++) {
            char path[16];

            snprintf(path, sizeof path, "/%d", i);
            append_to(f, path, DREP_FLOAT, FIELD, field_of(round));
        }
}

static void (*const fresh[])(drep_file *f) = {records,    short_arrays,       middling_arrays,
                                              odd_chunks, growing_odd_chunks, appends};

START_TEST(test_a_fresh_file)
{
    const char *path = temp_path("fresh");
    drep_file *f = new_file(path, "native");
    drep_usage u;

    fresh[_i](f);
    ok(drep_close(f));
    ck_assert_double_le(unused_share(path, &u), 2);
}
END_TEST

/* A unit that was asked for aligns all payload that is not short. */
START_TEST(test_an_alignment_that_was_asked_for)
{
    const int64_t unit = 65536;
    const char *path = temp_path("unit");
    drep_info *info = hints("drep_sync=none", "striping_unit=65536", (char *)NULL);
    drep_usage u;
    drep_file *f;

    ok(drep_create(path, DREP_RDWR, "native", info, &f));
    short_arrays(f);
    ok(drep_close(f));
    drep_info_free(info);
    unused_share(path, &u);
    ck_assert_int_ge(u.file, 60 * unit);
}
END_TEST

int main(void)
{
    Suite *s = suite_create("space");
    TCase *t = tcase_create("space");

    tcase_set_timeout(t, 300);
    tcase_add_loop_test(t, test_a_commit_each_day, 0, (int)(sizeof story / sizeof *story));
    tcase_add_loop_test(t, test_a_fresh_file, 0, (int)(sizeof fresh / sizeof *fresh));
    tcase_add_test(t, test_an_alignment_that_was_asked_for);
    suite_add_tcase(s, t);
    return run_suite(s);
}
