/* test_view.c - views of headerless files and of datasets (requirements V, X, U). */
/* SPDX-License-Identifier: MIT */
#include "tests/unit/checks.h"

#include <datarep.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static char path[256];

static void must(int err)
{
    ck_assert_msg(err == 0, "error %d: %s", err, drep_error());
}

static drep_view *open_raw(void)
{
    drep_view *v;

    snprintf(path, sizeof path, "%s/view-%d.raw", getenv("TMPDIR") ? getenv("TMPDIR") : "/tmp",
             (int)getpid());
    unlink(path);
    must(drep_view_raw(path, DREP_RDWR, NULL, &v));
    return v;
}

static size_t file_bytes(unsigned char *p, size_t size)
{
    FILE *f = fopen(path, "rb");
    size_t n = f == NULL ? 0 : fread(p, 1, size, f);

    if (f != NULL)
        fclose(f);
    return n;
}

START_TEST(test_N1_V7_default_view)
{
    char name[DREP_MAX_DATAREP_STRING];
    drep_type *e, *f;
    int64_t disp;
    drep_view *v = open_raw();

    must(drep_view_get(v, &disp, &e, &f, name));
    ck_assert_int_eq(disp, 0);
    ck_assert_int_eq(drep_type_code(e), DREP_CODE_BYTE);
    ck_assert_int_eq(drep_type_code(f), DREP_CODE_BYTE);
    ck_assert_str_eq(name, "native");
    must(drep_view_close(v));
}
END_TEST

START_TEST(test_V3_portable_types_scale)
{
    unsigned char bytes[64];
    long value = 7;
    int64_t n, items;
    drep_type *t;
    drep_view *v = open_raw();

    must(drep_view_set(v, 0, DREP_LONG, DREP_LONG, "external32", NULL));
    must(drep_type_contiguous(3, DREP_LONG, &t));
    must(drep_view_type_extent(v, t, &n));
    ck_assert_int_eq(n, 12);
    drep_type_free(t);
    must(drep_type_vector(2, 1, 3, DREP_LONG, &t));
    must(drep_view_type_extent(v, t, &n));
    ck_assert_int_eq(n, 16);
    drep_type_free(t);
    must(drep_view_byte_offset(v, 1, &n));
    ck_assert_int_eq(n, 4);
    must(drep_write_at(v, 2, &value, 1, DREP_LONG, NULL, &items));
    ck_assert_int_eq(items, 1);
    ck_assert_uint_eq(file_bytes(bytes, sizeof bytes), 12);
    ck_assert_int_eq(memcmp(bytes + 8, "\0\0\0\7", 4), 0);
    must(drep_view_close(v));
}
END_TEST

/* Holes scale too: every other LONG of a strided filetype. */
START_TEST(test_V3_holes_scale)
{
    long in[3] = {1, -2, 0x11223344}, out[3] = {0};
    unsigned char bytes[64];
    drep_type *one, *ft;
    int64_t items;
    drep_view *v = open_raw();

    must(drep_type_indexed(1, (int64_t[]){1}, (int64_t[]){0}, DREP_LONG, &one));
    must(drep_type_subarray(1, (int64_t[]){2}, (int64_t[]){1}, (int64_t[]){1}, DREP_ORDER_C,
                            DREP_LONG, &ft));
    must(drep_view_set(v, 0, DREP_LONG, ft, "external32", NULL));
    must(drep_write_at(v, 0, in, 3, DREP_LONG, NULL, &items));
    ck_assert_uint_eq(file_bytes(bytes, sizeof bytes), 24);
    ck_assert_int_eq(memcmp(bytes + 4, "\0\0\0\1", 4), 0);
    ck_assert_int_eq(memcmp(bytes + 12, "\xff\xff\xff\xfe", 4), 0);
    ck_assert_int_eq(memcmp(bytes + 20, "\x11\x22\x33\x44", 4), 0);
    must(drep_read_at(v, 0, out, 3, DREP_LONG, NULL, &items));
    ck_assert_int_eq(memcmp(in, out, sizeof in), 0);
    must(drep_read_at(v, 1, out, 1, DREP_LONG, NULL, &items));
    ck_assert_int_eq(out[0], -2);
    drep_type_free(one);
    drep_type_free(ft);
    must(drep_view_close(v));
}
END_TEST

START_TEST(test_V4_X3_byte_displacements_stay)
{
    const drep_type *types[] = {DREP_CHAR, DREP_DOUBLE, DREP_INT};
    struct {
        char c;
        double d;
        int i;
    } mem = {'A', 1.5, 7};
    unsigned char bytes[64] = {0};
    drep_type *t, *m;
    int64_t n;
    drep_view *v = open_raw();

    must(drep_type_struct(3, NULL, (int64_t[]){0, 8, 16}, types, &t));
    must(drep_type_struct(3, NULL, NULL, types, &m));
    must(drep_view_set(v, 0, t, t, "external32", NULL));
    must(drep_view_type_extent(v, t, &n));
    ck_assert_int_eq(n, 20);
    must(drep_write_at(v, 0, &mem, 1, m, NULL, NULL));
    ck_assert_uint_eq(file_bytes(bytes, sizeof bytes), 20);
    ck_assert_int_eq(bytes[0], 0x41);
    ck_assert_int_eq(memcmp(bytes + 8, "\x3f\xf8\0\0\0\0\0\0", 8), 0);
    ck_assert_int_eq(memcmp(bytes + 16, "\0\0\0\7", 4), 0);
    drep_type_free(t);
    drep_type_free(m);
    must(drep_view_close(v));
}
END_TEST

START_TEST(test_V5_displacement_is_bytes)
{
    unsigned char bytes[64];
    long value = 1;
    int64_t n;
    drep_view *v = open_raw();

    must(drep_view_set(v, 3, DREP_LONG, DREP_LONG, "external32", NULL));
    must(drep_view_byte_offset(v, 2, &n));
    ck_assert_int_eq(n, 11);
    must(drep_write_at(v, 0, &value, 1, DREP_LONG, NULL, NULL));
    ck_assert_uint_eq(file_bytes(bytes, sizeof bytes), 7);
    must(drep_view_close(v));
}
END_TEST

START_TEST(test_V6_illegal_views)
{
    drep_type *t;
    drep_view *v = open_raw();

    must(drep_type_hindexed(2, (int64_t[]){1, 1}, (int64_t[]){8, 0}, DREP_INT, &t));
    ck_assert_int_eq(drep_view_set(v, 0, DREP_INT, t, "external32", NULL), DREP_ERR_TYPE);
    drep_type_free(t);
    must(drep_type_hindexed(1, (int64_t[]){1}, (int64_t[]){-4}, DREP_INT, &t));
    ck_assert_int_eq(drep_view_set(v, 0, DREP_INT, t, "external32", NULL), DREP_ERR_TYPE);
    drep_type_free(t);
    must(drep_type_hvector(2, 1, 2, DREP_INT, &t));
    ck_assert_int_eq(drep_view_set(v, 0, DREP_INT, t, "external32", NULL), DREP_ERR_TYPE);
    drep_type_free(t);
    ck_assert_int_eq(drep_view_set(v, 0, DREP_INT, DREP_DOUBLE, "external32", NULL), DREP_ERR_TYPE);
    ck_assert_int_eq(drep_view_set(v, -1, DREP_INT, DREP_INT, "external32", NULL), DREP_ERR_ARG);
    must(drep_type_vstring(&t));
    ck_assert_int_eq(drep_view_set(v, 0, t, t, "external32", NULL), DREP_ERR_TYPE);
    drep_type_free(t);
    must(drep_view_close(v));
}
END_TEST

/* An etype whose items begin at or beyond its extent, and filetypes built of it. */
START_TEST(test_V6_etype_that_begins_behind_its_extent)
{
    static const int in[4] = {1, 2, 3, 4};
    int out[4] = {0}, raw[6];
    drep_type *e, *two, *apart, *off;
    drep_view *v = open_raw();
    int64_t items;

    must(drep_type_indexed_block(1, 2, (int64_t[]){2}, DREP_INT, &e));
    ck_assert_int_eq(drep_type_extent(e), 8);
    must(drep_view_set(v, 0, e, e, "native", NULL));
    must(drep_write_at(v, 0, in, 4, DREP_INT, NULL, NULL));
    must(drep_read_at(v, 1, out, 2, DREP_INT, NULL, &items));
    ck_assert_int_eq(items, 2);
    ck_assert_mem_eq(out, in + 2, 8);
    must(drep_view_set(v, 0, DREP_INT, DREP_INT, "native", NULL));
    must(drep_read_at(v, 0, raw, 6, DREP_INT, NULL, NULL));
    ck_assert_mem_eq(raw + 2, in, 16);

    must(drep_type_contiguous(2, e, &two));
    must(drep_view_set(v, 0, e, two, "native", NULL));
    must(drep_read_at(v, 0, out, 4, DREP_INT, NULL, NULL));
    ck_assert_mem_eq(out, in, 16);
    must(drep_type_hindexed(2, (int64_t[]){1, 1}, (int64_t[]){0, 16}, e, &apart));
    must(drep_view_set(v, 0, e, apart, "native", NULL));
    must(drep_type_hindexed(1, (int64_t[]){1}, (int64_t[]){4}, e, &off));
    ck_assert_int_eq(drep_view_set(v, 0, e, off, "native", NULL), DREP_ERR_TYPE);
    drep_type_free(off);
    drep_type_free(apart);
    drep_type_free(two);
    drep_type_free(e);
    must(drep_view_close(v));
}
END_TEST

START_TEST(test_U3_C6_unknown_datarep_keeps_the_view)
{
    char name[DREP_MAX_DATAREP_STRING];
    int64_t disp;
    drep_view *v = open_raw();

    must(drep_view_set(v, 5, DREP_INT, DREP_INT, "external32", NULL));
    ck_assert_int_eq(drep_view_set(v, 0, DREP_INT, DREP_INT, "External32", NULL),
                     DREP_ERR_UNSUPPORTED_DATAREP);
    must(drep_view_get(v, &disp, NULL, NULL, name));
    ck_assert_int_eq(disp, 5);
    ck_assert_str_eq(name, "external32");
    must(drep_view_close(v));
}
END_TEST

START_TEST(test_V8_C5_short_reads_count_items)
{
    long out[5] = {9, 9, 9, 9, 9};
    int64_t items, n;
    FILE *f;
    drep_view *v = open_raw();

    f = fopen(path, "wb");
    fwrite("\0\0\0\1\0\0\0\2\xff\xff", 1, 10, f);
    fclose(f);
    must(drep_view_set(v, 0, DREP_LONG, DREP_LONG, "external32", NULL));
    must(drep_read_at(v, 0, out, 5, DREP_LONG, NULL, &items));
    ck_assert_int_eq(items, 2);
    ck_assert_int_eq(out[0], 1);
    ck_assert_int_eq(out[1], 2);
    ck_assert_int_eq(out[2], 9);
    must(drep_view_size(v, &n));
    ck_assert_int_eq(n, 2);
    must(drep_view_close(v));
}
END_TEST

/* ---- a user's functions, watched ---- */

static struct watch {
    int calls, extents, fail_at;
    void *userbuf;
    const drep_type *type;
    int64_t next, total;
    int wrong;
    void *state;
} seen;

static int watched(void *user, const drep_type *type, int64_t count, void *file, int64_t position,
                   void *state, int writing)
{
    drep_cursor c;
    drep_run run;
    unsigned char *f = file;

    if (seen.calls++ == 0) {
        seen.userbuf = user;
        seen.type = type;
        seen.next = 0;
    }
    seen.wrong |= user != seen.userbuf || !drep_type_equivalent(type, seen.type);
    seen.wrong |= position != seen.next || count < 1 || state != seen.state;
    seen.next += count;
    seen.total += count;
    if (seen.fail_at != 0 && seen.calls == seen.fail_at)
        return 77;
    drep_cursor_init(&c, type, position);
    for (; count > 0; count -= run.count) {
        drep_cursor_next(&c, count, &run);
        for (int64_t i = 0; i < run.count; i++)
            for (int64_t b = 0, n = drep_type_size(run.type); b < n; b++, f++) {
                unsigned char *u = (unsigned char *)user + run.offset + i * run.stride + b;

                if (writing)
                    *f = *u ^ 0x33;
                else
                    *u = *f ^ 0x33;
            }
    }
    return 0;
}

static int watched_read(void *u, const drep_type *t, int64_t n, void *f, int64_t p, void *x)
{
    return watched(u, t, n, f, p, x, 0);
}

static int watched_write(void *u, const drep_type *t, int64_t n, void *f, int64_t p, void *x)
{
    return watched(u, t, n, f, p, x, 1);
}

static int watched_extent(const drep_type *t, int64_t *extent, void *x)
{
    (void)x;
    seen.extents++;
    *extent = drep_type_size(t);
    return 0;
}

static drep_view *open_watched(const char *staging)
{
    static int registered;
    drep_info *info;
    drep_view *v = open_raw();

    memset(&seen, 0, sizeof seen);
    seen.state = &seen;
    if (!registered++)
        must(drep_register_datarep("watched", watched_read, watched_write, watched_extent, &seen));
    must(drep_info_new(&info));
    must(drep_info_set(info, "cb_buffer_size", staging));
    seen.calls = seen.extents = 0;
    must(drep_view_set(v, 0, DREP_DOUBLE, DREP_DOUBLE, "watched", info));
    drep_info_free(info);
    return v;
}

START_TEST(test_U5_U6_U7_U11_calls_of_one_transfer)
{
    double in[100], out[200] = {0};
    drep_type *strided;
    int64_t items;
    drep_view *v = open_watched("100");

    /* U11: neither registering nor setting a view calls anything. */
    ck_assert_int_eq(seen.extents, 0);
    for (int i = 0; i < 100; i++)
        in[i] = i * 1.25;
    must(drep_write_at(v, 0, in, 100, DREP_DOUBLE, NULL, &items));
    ck_assert_int_eq(items, 100);
    ck_assert_int_eq(seen.total, 100);
    ck_assert_int_eq(seen.calls, 9); /* 12 items of 8 bytes fit into 100 */
    ck_assert_int_gt(seen.extents, 0);
    ck_assert_int_eq(seen.wrong, 0);
    /* U13: the read function gets the type of the read. */
    memset(&seen, 0, sizeof seen);
    seen.state = &seen;
    must(drep_type_vector(50, 1, 2, DREP_DOUBLE, &strided));
    must(drep_read_at(v, 10, out, 1, strided, NULL, &items));
    ck_assert_int_eq(items, 50);
    ck_assert_int_eq(seen.wrong, 0);
    ck_assert_int_eq(seen.total, 50);
    for (int i = 0; i < 50; i++)
        ck_assert_double_eq(out[2 * i], in[10 + i]);
    drep_type_free(strided);
    must(drep_view_close(v));
}
END_TEST

START_TEST(test_U9_D11_failing_function)
{
    double in[100] = {1, 2, 3};
    int64_t items;
    drep_view *v = open_watched("80");

    seen.fail_at = 3;
    ck_assert_int_eq(drep_write_at(v, 0, in, 100, DREP_DOUBLE, NULL, &items), DREP_ERR_CONVERSION);
    ck_assert_msg(strstr(drep_error(), "77") != NULL, "%s", drep_error());
    ck_assert_int_eq(items, 20);
    must(drep_view_close(v));
}
END_TEST

/* Any staging size and any cut into calls give the same bytes. */
START_TEST(test_U6_any_staging_same_bytes)
{
    static const char *const sizes[] = {"1", "8", "9", "17", "64", "1000", "100000"};
    unsigned char first[4096], bytes[4096];
    double in[256];
    size_t n0 = 0, n;

    for (int i = 0; i < 256; i++)
        in[i] = i / 3.0;
    for (size_t s = 0; s < sizeof sizes / sizeof *sizes; s++) {
        drep_view *v = open_watched(sizes[s]);

        for (int at = 0, step = 1; at < 256; at += step, step = step % 7 + 1) {
            seen.calls = 0;
            must(drep_write_at(v, at, in + at, at + step > 256 ? 256 - at : step, DREP_DOUBLE, NULL,
                               NULL));
            ck_assert_int_eq(seen.wrong, 0);
        }
        must(drep_view_close(v));
        n = file_bytes(s == 0 ? first : bytes, sizeof first);
        if (s == 0)
            n0 = n;
        ck_assert_uint_eq(n, n0);
        ck_assert_uint_eq(n, 2048);
        if (s > 0)
            ck_assert_int_eq(memcmp(first, bytes, n), 0);
    }
}
END_TEST

START_TEST(test_D6_view_of_a_dataset)
{
    double in[12], out[12] = {0}, row[3];
    drep_spec spec = DREP_SPEC(.type = DREP_DOUBLE, .rank = 2, .dims = (int64_t[]){4, 3},
                               .layout = DREP_CHUNKED, .chunk = (int64_t[]){2, 2});
    drep_dataset *ds;
    drep_file *f;
    drep_view *v;
    int64_t n;

    for (int i = 0; i < 12; i++)
        in[i] = i + 0.5;
    must(drep_create(":memory:", 0, "external32", NULL, &f));
    must(drep_dataset_create(f, "/x", &spec, &ds));
    must(drep_write(ds, NULL, NULL, in, NULL));
    must(drep_view_dataset(ds, &v));
    must(drep_view_size(v, &n));
    ck_assert_int_eq(n, 12);
    must(drep_read_at(v, 0, out, 12, DREP_DOUBLE, NULL, &n));
    ck_assert_int_eq(n, 12);
    ck_assert_int_eq(memcmp(in, out, sizeof in), 0);
    row[0] = row[1] = row[2] = -1;
    must(drep_write_at(v, 4, row, 3, DREP_DOUBLE, NULL, &n));
    must(drep_read(ds, NULL, NULL, out, NULL));
    for (int i = 0; i < 12; i++)
        ck_assert_double_eq(out[i], i >= 4 && i < 7 ? -1 : in[i]);
    ck_assert_int_eq(drep_view_set(v, 4, DREP_DOUBLE, DREP_DOUBLE, NULL, NULL), DREP_ERR_ARG);
    ck_assert_int_eq(drep_view_set(v, 0, DREP_DOUBLE, DREP_DOUBLE, "native", NULL),
                     DREP_ERR_UNSUPPORTED_DATAREP);
    must(drep_view_set(v, 24, DREP_DOUBLE, DREP_DOUBLE, "external32", NULL));
    must(drep_read_at(v, 0, out, 1, DREP_DOUBLE, NULL, &n));
    ck_assert_double_eq(out[0], in[3]);
    must(drep_view_close(v));
    drep_dataset_close(ds);
    must(drep_close(f));
}
END_TEST

START_TEST(test_C7_strict_and_report_on_a_view)
{
    const int wide = sizeof(long) > 4; /* else nothing is narrowed */
    const long in[4] = {1, (long)(wide ? (int64_t)1 << 40 : 2), 3, (long)((int64_t)1 << 41)};
    drep_report r = DREP_REPORT;
    drep_xfer strict = DREP_XFER(.range = DREP_RANGE_STRICT), wrap = DREP_XFER(.report = &r);
    int64_t items;
    drep_view *v = open_raw();

    must(drep_view_set(v, 0, DREP_LONG, DREP_LONG, "external32", NULL));
    ck_assert_int_eq(drep_write_at(v, 0, in, 4, DREP_LONG, &strict, &items),
                     wide ? DREP_ERR_CONVERSION : 0);
    must(drep_write_at(v, 0, in, 4, DREP_LONG, &wrap, &items));
    ck_assert_int_eq(r.overflow, wide ? 2 : 0);
    ck_assert_int_eq(r.first_overflow, wide ? 1 : -1);
    must(drep_view_close(v));
}
END_TEST

START_TEST(test_access_modes_of_raw_views)
{
    static const int refused[] = {0, DREP_EXCL, DREP_RDONLY | DREP_EXCL, DREP_RDONLY | DREP_RDWR,
                                  DREP_RDWR | DREP_HEADER_ONLY};
    drep_view *v;

    unlink(path);
    ck_assert_int_eq(drep_view_raw(path, DREP_RDWR | DREP_EXCL, NULL, &v), 0);
    ck_assert_int_eq(drep_view_close(v), 0);
    for (size_t i = 0; i < sizeof refused / sizeof *refused; i++)
        ck_assert_int_eq(drep_view_raw(path, refused[i], NULL, &v), DREP_ERR_AMODE);
    ck_assert_int_eq(drep_view_raw(path, DREP_RDWR | DREP_EXCL, NULL, &v), DREP_ERR_FILE_EXISTS);
    ck_assert_int_eq(drep_view_raw(path, DREP_RDONLY, NULL, &v), 0);
    ck_assert_int_eq(drep_view_close(v), 0);
}
END_TEST

int main(void)
{
    Suite *s = suite_create("view");
    TCase *t = tcase_create("view");
    SRunner *r;
    int failed;

    tcase_add_test(t, test_N1_V7_default_view);
    tcase_add_test(t, test_V3_portable_types_scale);
    tcase_add_test(t, test_V3_holes_scale);
    tcase_add_test(t, test_V4_X3_byte_displacements_stay);
    tcase_add_test(t, test_V5_displacement_is_bytes);
    tcase_add_test(t, test_V6_illegal_views);
    tcase_add_test(t, test_V6_etype_that_begins_behind_its_extent);
    tcase_add_test(t, test_U3_C6_unknown_datarep_keeps_the_view);
    tcase_add_test(t, test_V8_C5_short_reads_count_items);
    tcase_add_test(t, test_U5_U6_U7_U11_calls_of_one_transfer);
    tcase_add_test(t, test_U9_D11_failing_function);
    tcase_add_test(t, test_U6_any_staging_same_bytes);
    tcase_add_test(t, test_D6_view_of_a_dataset);
    tcase_add_test(t, test_C7_strict_and_report_on_a_view);
    tcase_add_test(t, test_access_modes_of_raw_views);
    suite_add_tcase(s, t);
    r = srunner_create(s);
    srunner_set_fork_status(r, CK_NOFORK);
    srunner_run_all(r, CK_NORMAL);
    failed = srunner_ntests_failed(r);
    srunner_free(r);
    unlink(path);
    return failed != 0;
}
