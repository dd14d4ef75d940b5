/* test_data_transfer.c - elements between memory and datasets: selections, values that
 * change their type, what a range lets pass, memory types of any form (D11, D12, C5, C7). */
/* SPDX-License-Identifier: MIT */
#include "data_help.h"

static drep_file *f;

static void setup(void)
{
    register_datareps();
    ok(drep_create(":memory:", DREP_RDWR, "external32", NULL, &f));
}

static void teardown(void)
{
    drep_abandon(f);
}

static drep_dataset *chunked(const char *path, const drep_type *type, int rank, const int64_t *dims,
                             const int64_t *chunk)
{
    drep_spec spec =
        DREP_SPEC(.type = type, .rank = rank, .dims = dims, .layout = DREP_CHUNKED, .chunk = chunk);
    drep_dataset *ds;

    ok(drep_dataset_create(f, path, &spec, &ds));
    return ds;
}

/* ---- selections ---- */

START_TEST(test_selections_that_are_none)
{
    const int64_t dims[] = {4, 5}, one = 1, minus = -1, zero = 0, big = INT64_MAX, five = 5;
    drep_dataset *ds = new_dataset(f, "d", DREP_INT, 2, dims);
    drep_selection *sel;
    int v[20];

    fails(drep_select_box(33, dims, dims, NULL, NULL, &sel), DREP_ERR_ARG);
    fails(drep_select_box(-1, dims, dims, NULL, NULL, &sel), DREP_ERR_ARG);
    fails(drep_select_box(1, &minus, &one, NULL, NULL, &sel), DREP_ERR_RANGE);
    fails(drep_select_box(1, &one, &minus, NULL, NULL, &sel), DREP_ERR_RANGE);
    fails(drep_select_box(1, &one, &one, &zero, NULL, &sel), DREP_ERR_RANGE);
    fails(drep_select_box(1, &one, &big, NULL, NULL, &sel), DREP_ERR_RANGE);
    fails(drep_select_box(1, &big, &five, NULL, NULL, &sel), DREP_ERR_RANGE);
    fails(drep_select_box(1, &one, &five, &one, &five, &sel), DREP_ERR_RANGE); /* overlap */
    fails(drep_select_points(0, 1, dims, &sel), DREP_ERR_ARG);
    fails(drep_select_points(1, -1, dims, &sel), DREP_ERR_ARG);
    ok(drep_select_box(1, &zero, &five, NULL, NULL, &sel));
    fails(drep_read(ds, sel, NULL, v, NULL), DREP_ERR_DIMS);
    drep_selection_free(sel);
    ok(drep_select_box(2, (int64_t[]){0, 1}, (int64_t[]){4, 5}, NULL, NULL, &sel));
    fails(drep_read(ds, sel, NULL, v, NULL), DREP_ERR_RANGE);
    drep_selection_free(sel);
    ok(drep_select_points(2, 2, (int64_t[]){3, 4, 4, 0}, &sel));
    fails(drep_read(ds, sel, NULL, v, NULL), DREP_ERR_RANGE);
    drep_selection_free(sel);
    ok(drep_select_box(2, (int64_t[]){9, 9}, (int64_t[]){0, 0}, NULL, NULL, &sel));
    ok(drep_read(ds, sel, NULL, NULL, NULL)); /* nothing is selected */
    drep_selection_free(sel);
    fails(drep_read(ds, NULL, NULL, NULL, NULL), DREP_ERR_ARG);
    drep_dataset_close(ds);
}
END_TEST

/* Selections so far apart that only what they meet may be visited; nothing is stored. */
START_TEST(test_wide_strides_in_a_sparse_dataset)
{
    const int64_t dims[] = {(int64_t)1 << 30, (int64_t)1 << 31}, chunk[] = {64, 64};
    const int64_t start[] = {7, 9}, count[] = {3, 2}, stride[] = {300000000, 1000000007};
    drep_dataset *ds = chunked("d", DREP_INT16_T, 2, dims, chunk);
    int16_t v[6] = {1, 2, 3, 4, 5, 6}, back[6] = {0};
    drep_selection *sel, *points;
    int64_t coords[12];
    drep_dsusage usage = DREP_DSUSAGE;

    ok(drep_select_box(2, start, count, stride, NULL, &sel));
    ok(drep_write(ds, sel, NULL, v, NULL));
    ok(drep_read(ds, sel, NULL, back, NULL));
    ck_assert_int_eq(memcmp(v, back, sizeof v), 0);
    for (int i = 0; i < 6; i++) {
        coords[2 * i] = start[0] + i / 2 * stride[0];
        coords[2 * i + 1] = start[1] + i % 2 * stride[1];
    }
    memset(back, 0, sizeof back);
    ok(drep_select_points(2, 6, coords, &points));
    ok(drep_read(ds, points, NULL, back, NULL));
    ck_assert_int_eq(memcmp(v, back, sizeof v), 0);
    ok(drep_dataset_usage(ds, &usage));
    ck_assert_int_eq(usage.chunks, 6);
    drep_selection_free(sel);
    drep_selection_free(points);
    drep_dataset_close(ds);
    check_file(f);
}
END_TEST

/* A shape may be changed that no loop over its chunks would ever come through. */
START_TEST(test_resize_of_a_sparse_dataset)
{
    const int64_t zero = 0, max = DREP_UNLIMITED, huge = (int64_t)1 << 50, small = 10, ten = 10;
    drep_spec spec =
        DREP_SPEC(.type = DREP_INT32_T, .rank = 1, .dims = &zero, .maxdims = &max, .chunk = &ten);
    int32_t v[10], all[10];
    drep_selection *end;

    for (int layout = DREP_CONTIGUOUS; layout <= DREP_CHUNKED; layout++) {
        drep_dataset *ds;
        int64_t start = huge - 10;
        char path[3] = {'d', (char)('0' + layout), '\0'};

        spec.layout = layout;
        spec.chunk = layout == DREP_CHUNKED ? &ten : NULL;
        ok(drep_dataset_create(f, path, &spec, &ds));
        ok(drep_dataset_resize(ds, &huge));
        ok(drep_select_box(1, &start, &ten, NULL, NULL, &end));
        for (int i = 0; i < 10; i++)
            v[i] = i + 1;
        ok(drep_write(ds, end, NULL, v, NULL));
        ok(drep_dataset_resize(ds, &small));
        ok(drep_read(ds, NULL, NULL, all, NULL));
        for (int i = 0; i < 10; i++)
            ck_assert_int_eq(all[i], 0);
        ok(drep_dataset_resize(ds, &huge));
        ok(drep_read(ds, end, NULL, all, NULL));
        for (int i = 0; i < 10; i++)
            ck_assert_int_eq(all[i], 0);
        fails(drep_dataset_resize(ds, &max), DREP_ERR_DIMS);
        fails(drep_dataset_resize(ds, &(int64_t){INT64_MAX}), DREP_ERR_LIMIT);
        ok(drep_read(ds, end, NULL, all, NULL));
        drep_selection_free(end);
        drep_dataset_close(ds);
    }
    check_file(f);
}
END_TEST

/* Growing step by step along an unlimited dimension (D25). */
START_TEST(test_D25_appending)
{
    const int64_t zero[] = {0, 3}, max[] = {DREP_UNLIMITED, 3};
    drep_spec spec = DREP_SPEC(.type = DREP_INT32_T, .rank = 2, .dims = zero, .maxdims = max);
    drep_dataset *ds;
    static int32_t all[3 * 2000];

    ok(drep_dataset_create(f, "d", &spec, &ds));
    for (int64_t i = 0; i < 2000; i++) {
        const int64_t dims[] = {i + 1, 3}, start[] = {i, 0}, one[] = {1, 3};
        int32_t row[] = {(int32_t)i, (int32_t)-i, 7};
        drep_selection *last;

        ok(drep_dataset_resize(ds, dims));
        ok(drep_select_box(2, start, one, NULL, NULL, &last));
        ok(drep_write(ds, last, NULL, row, NULL));
        drep_selection_free(last);
    }
    ok(drep_read(ds, NULL, NULL, all, NULL));
    for (int i = 0; i < 2000; i++)
        ck_assert(all[3 * i] == i && all[3 * i + 1] == -i && all[3 * i + 2] == 7);
    drep_dataset_close(ds);
    check_file(f);
}
END_TEST

/* ---- values ---- */

START_TEST(test_D12_values_that_do_not_fit)
{
    const int64_t n = 1000, chunk = 100;
    const char *const names[] = {"chunked", "flat", "compact"};

    for (int k = 0; k < 3; k++) {
        drep_dataset *ds;
        drep_report r = DREP_REPORT;
        drep_xfer strict = DREP_XFER(.range = DREP_RANGE_STRICT, .report = &r);
        drep_xfer clamp = DREP_XFER(.range = DREP_RANGE_CLAMP, .report = &r);
        drep_xfer wrap = DREP_XFER(.range = DREP_RANGE_WRAP, .report = &r);
        double in[1000], back[1000];

        ok(drep_dataset_create(f, names[k],
                               &DREP_SPEC(.type = DREP_INT8_T, .rank = 1, .dims = &n,
                                          .layout = k == 0   ? DREP_CHUNKED
                                                    : k == 1 ? DREP_CONTIGUOUS
                                                             : DREP_COMPACT,
                                          .chunk = k == 0 ? &chunk : NULL),
                               &ds));
        for (int i = 0; i < n; i++)
            in[i] = i % 100;
        ok(drep_write(ds, NULL, DREP_DOUBLE, in, &strict));
        ck_assert_int_eq(r.items, 1000);
        ck_assert_int_eq(r.overflow, 0);
        ck_assert_int_eq(r.first_overflow, -1);
        in[555] = 200;
        in[700] = 0.5;
        in[777] = 300;
        fails(drep_write(ds, NULL, DREP_DOUBLE, in, &strict), DREP_ERR_CONVERSION);
        ck_assert_msg(strstr(drep_error(), "555") != NULL, "%s", drep_error());
        ck_assert_ptr_nonnull(strstr(drep_error(), names[k]));
        fails(drep_write(ds, NULL, DREP_DOUBLE, in, NULL), DREP_ERR_CONVERSION); /* the default */
        ok(drep_read(ds, NULL, DREP_DOUBLE, back, &strict));
        for (int i = 0; i < n; i++) /* D11 */
            ck_assert(back[i] == i % 100);
        ok(drep_write(ds, NULL, DREP_DOUBLE, in, &clamp));
        ck_assert_int_eq(r.items, 1000);
        ck_assert_int_eq(r.overflow, 2);
        ck_assert_int_eq(r.first_overflow, 555);
        ck_assert_int_eq(r.first_inexact, 700);
        ck_assert_int_eq(r.nan_lost, 0);
        ok(drep_read(ds, NULL, DREP_DOUBLE, back, NULL));
        ck_assert(back[555] == 127 && back[777] == 127 && back[700] == 0);
        ok(drep_write(ds, NULL, DREP_DOUBLE, in, &wrap));
        ck_assert_int_eq(r.overflow, 2);
        drep_dataset_close(ds);
    }
}
END_TEST

/* Real to integer saturates, NaN gives 0; integers lose their upper bits. */
START_TEST(test_C7_D12_wrap_and_clamp)
{
    const int64_t n = 4;
    drep_dataset *ds = new_dataset(f, "d", DREP_INT16_T, 1, &n);
    double in[] = {1e9, -1e9, 0.0 / 0.0, 5}, nan_in = 0.0 / 0.0;
    int32_t whole[] = {0x12345, -70000, 5, -5};
    int16_t out[4];
    drep_report r = DREP_REPORT;

    for (int range = DREP_RANGE_WRAP; range <= DREP_RANGE_CLAMP; range++) {
        drep_xfer x = DREP_XFER(.range = range, .report = &r);

        ok(drep_write(ds, NULL, DREP_DOUBLE, in, &x));
        ok(drep_read(ds, NULL, NULL, out, NULL));
        ck_assert(out[0] == 32767 && out[1] == -32768 && out[2] == 0 && out[3] == 5);
        ck_assert_int_ge(r.overflow, 2);
        ok(drep_write(ds, NULL, DREP_INT32_T, whole, &x));
        ok(drep_read(ds, NULL, NULL, out, NULL));
        if (range == DREP_RANGE_WRAP)
            ck_assert(out[0] == 0x2345 && out[1] == (int16_t)-70000 && out[3] == -5);
        else
            ck_assert(out[0] == 32767 && out[1] == -32768 && out[3] == -5);
    }
    drep_dataset_close(ds);
    ds = new_dataset(f, "e", DREP_INT32_T, 0, NULL);
    fails(drep_write(ds, NULL, DREP_DOUBLE, &nan_in, NULL), DREP_ERR_CONVERSION);
    fails(drep_write(ds, NULL, DREP_BYTE, &nan_in, NULL), DREP_ERR_TYPE);
    drep_dataset_close(ds);
}
END_TEST

/* E5 on a container: LONG has four bytes, and counts are items (C5).  Where that is what a
 * long has, nothing is narrowed. */
START_TEST(test_E5_C5_narrow_longs)
{
    const int64_t n = 3;
    const int wide = sizeof(long) > 4;
    const long in[] = {wide ? (long)0x1122334455667788 : 0x55667788, -2, 7};
    drep_dataset *ds = new_dataset(f, "d", DREP_LONG, 1, &n);
    long out[3];
    drep_report r = DREP_REPORT;
    drep_xfer wrap = DREP_XFER(.range = DREP_RANGE_WRAP, .report = &r);

    ok(drep_write(ds, NULL, NULL, in, &wrap));
    ck_assert_int_eq(r.overflow, wide);
    ck_assert_int_eq(r.first_overflow, wide ? 0 : -1);
    ok(drep_read(ds, NULL, NULL, out, NULL));
    ck_assert(out[0] == 0x55667788 && out[1] == -2 && out[2] == 7);
    fails(drep_write(ds, NULL, NULL, in, NULL), wide ? DREP_ERR_CONVERSION : 0);
    drep_dataset_close(ds);
}
END_TEST

/* Bytes that are stored as they are: a report counts them, though nothing converts them; slabs
 * that are not stored yet stand before, between and behind those that are. */
START_TEST(test_report_of_plain_bytes)
{
    enum { BYTES = 300001 };
    static uint8_t in[BYTES], out[BYTES];
    const int64_t n = BYTES, start[] = {8192, 40000}, count[] = {20000, 4096};
    drep_dataset *ds = new_dataset(f, "d", DREP_UINT8_T, 1, &n);
    drep_report r = DREP_REPORT;
    drep_xfer report = DREP_XFER(.report = &r, .threads = 1 + _i);

    for (int i = 0; i < 2; i++) {
        memset(in, 'a' + i, (size_t)count[i]);
        ok(drep_write_box(ds, start + i, count + i, DREP_UINT8_T, in, &report));
        ck_assert_int_eq(r.items, count[i]);
    }
    ok(drep_read(ds, NULL, DREP_UINT8_T, out, NULL));
    ck_assert(out[8191] == 0 && out[8192] == 'a' && out[28191] == 'a' && out[28192] == 0);
    ck_assert(out[39999] == 0 && out[40000] == 'b' && out[44095] == 'b' && out[44096] == 0);
    for (int i = 0; i < BYTES; i++)
        in[i] = (uint8_t)(i * 7 + i / 251);
    ok(drep_write(ds, NULL, DREP_UINT8_T, in, &report));
    ck_assert_int_eq(r.items, n);
    ok(drep_read(ds, NULL, DREP_UINT8_T, out, &report));
    ck_assert_int_eq(r.items, n);
    ck_assert_int_eq(memcmp(in, out, BYTES), 0);
    drep_dataset_close(ds);
}
END_TEST

/* ---- memory types ---- */

/* Every pair of numbers, through every representation. */
/* Numbers in sequences, also in those of sequences, are counted as all others. */
START_TEST(test_report_of_sequences)
{
    const int64_t n = 5;
    double numbers[] = {0.5, 0.1, 0.2, 1e300, 0.25};
    drep_vlen rows[] = {{1, numbers}, {3, numbers}, {0, NULL}, {1, numbers + 3}, {1, numbers + 4}};
    drep_vlen pairs[] = {{2, rows}, {1, rows + 2}, {0, NULL}, {0, NULL}, {2, rows + 3}}, got[5];
    drep_type *narrow, *wide, *narrows, *wides;
    drep_dataset *ds;

    ok(drep_type_sequence(DREP_FLOAT, &narrow));
    ok(drep_type_sequence(DREP_DOUBLE, &wide));
    ok(drep_type_sequence(narrow, &narrows));
    ok(drep_type_sequence(wide, &wides));
    for (int nested = 0; nested < 2; nested++) {
        const drep_type *small = nested ? narrows : narrow, *large = nested ? wides : wide;
        const drep_vlen *from = nested ? pairs : rows;

        for (int way = 0; way < 3; way++) {
            drep_report r = DREP_REPORT;
            drep_xfer xfer = DREP_XFER(.range = DREP_RANGE_CLAMP, .report = &r);

            if (way == 0) {
                ok(drep_convert(small, got, large, from, n, &xfer));
            } else {
                ds = new_dataset(f, nested ? "n" : "s", way == 1 ? small : large, 1, &n);
                ok(drep_write(ds, NULL, large, from, way == 1 ? &xfer : NULL));
                if (way == 2)
                    ok(drep_read(ds, NULL, small, got, &xfer));
                drep_dataset_close(ds);
                ok(drep_link_remove(f, nested ? "n" : "s"));
            }
            ck_assert_int_eq(r.items, n);
            ck_assert_int_eq(r.inexact, 2);
            ck_assert_int_eq(r.first_inexact, nested ? 0 : 1);
            ck_assert_int_eq(r.overflow, 1);
            ck_assert_int_eq(r.first_overflow, nested ? 4 : 3);
            if (way != 1)
                drep_vlen_free(small, n, got);
        }
    }
    drep_type_free(narrow);
    drep_type_free(wide);
    drep_type_free(narrows);
    drep_type_free(wides);
}
END_TEST

START_TEST(test_values_change_their_type)
{
    static const int codes[] = {DREP_CODE_INT8_T,     DREP_CODE_UINT16_T, DREP_CODE_INT,
                                DREP_CODE_UINT64_T,   DREP_CODE_FLOAT,    DREP_CODE_DOUBLE,
                                DREP_CODE_LONG_DOUBLE};
    const int64_t n = 50;
    drep_file *g = new_file(temp_path("values"), datareps[_i]);

    for (int a = 0; a < 7; a++)
        for (int b = 0; b < 7; b++) {
            const drep_type *from = drep_predefined(codes[a]), *to = drep_predefined(codes[b]);
            _Alignas(16) uint8_t in[50 * 16], out[50 * 16];
            double plain[50], back[50];
            drep_dataset *ds;
            char name[24];

            for (int i = 0; i < n; i++)
                plain[i] = i * 2;
            ok(drep_convert(from, in, DREP_DOUBLE, plain, n, NULL));
            snprintf(name, sizeof name, "d%d%d", a, b);
            ds = new_dataset(g, name, to, 1, &n);
            ok(drep_write(ds, NULL, from, in, NULL));
            ok(drep_read(ds, NULL, from, out, NULL));
            ok(drep_convert(DREP_DOUBLE, back, from, out, n, NULL));
            ck_assert_int_eq(memcmp(plain, back, sizeof plain), 0);
            drep_dataset_close(ds);
        }
    check_file(g);
    ok(drep_close(g));
}
END_TEST

/* Tiles that cover many elements, with holes, in another order. */
START_TEST(test_memory_types_with_holes)
{
    const int64_t dims[] = {6, 10}, chunk[] = {4, 3};
    const int64_t sizes[] = {8, 12}, sub[] = {6, 10}, starts[] = {1, 2};
    drep_file *g = new_file(temp_path("holes"), datareps[_i]);
    int32_t in[8][12], out[8][12], two[30][4];
    drep_type *frame, *vector, *pair;
    drep_spec spec = DREP_SPEC(.type = DREP_INT32_T, .rank = 2, .dims = dims, .chunk = chunk);
    drep_dataset *ds;

    for (int i = 0; i < 96; i++)
        in[i / 12][i % 12] = 1000 + i;
    memset(out, 0x77, sizeof out);
    memset(two, 0x77, sizeof two);
    ok(drep_type_subarray(2, sizes, sub, starts, DREP_ORDER_C, DREP_INT32_T, &frame));
    ok(drep_type_vector(2, 1, 2, DREP_INT32_T, &pair)); /* x . x */
    ok(drep_type_resized(0, 16, pair, &vector));
    ok(drep_dataset_create(g, "d", &spec, &ds));
    ok(drep_write(ds, NULL, frame, in, NULL));
    ok(drep_read(ds, NULL, frame, out, NULL));
    for (int i = 0; i < 8; i++)
        for (int k = 0; k < 12; k++)
            ck_assert_int_eq(out[i][k], i >= 1 && i < 7 && k >= 2 ? in[i][k] : 0x77777777);
    ok(drep_read(ds, NULL, vector, two, NULL));
    for (int i = 0; i < 60; i++) {
        ck_assert_int_eq(two[i / 2][i % 2 * 2], in[1 + i / 10][2 + i % 10]);
        ck_assert_int_eq(two[i / 2][i % 2 * 2 + 1], 0x77777777);
    }
    fails(drep_read(ds, NULL, frame, NULL, NULL), DREP_ERR_ARG);
    drep_dataset_close(ds);
    drep_type_free(frame);
    drep_type_free(vector);
    drep_type_free(pair);
    ok(drep_close(g));
}
END_TEST

START_TEST(test_C5_items_must_fill_whole_elements)
{
    const int64_t n = 10;
    drep_dataset *ds = new_dataset(f, "d", DREP_INT, 1, &n);
    drep_type *three, *none;
    int v[12] = {0};

    ok(drep_type_contiguous(3, DREP_INT, &three));
    ok(drep_type_contiguous(0, DREP_INT, &none));
    fails(drep_write(ds, NULL, three, v, NULL), DREP_ERR_COUNT);
    fails(drep_read(ds, NULL, none, v, NULL), DREP_ERR_COUNT);
    fails(drep_dataset_create(f, "e", &DREP_SPEC(.type = none), NULL), DREP_ERR_TYPE);
    drep_type_free(three);
    drep_type_free(none);
    drep_dataset_close(ds);
}
END_TEST

/* ---- views ---- */

/* D6: a view ends with its dataset, and goes with it. */
START_TEST(test_D6_views_end_with_their_dataset)
{
    const int64_t n = 10, none[] = {0, 5};
    int32_t v[20] = {0};
    int64_t moved, etypes;
    drep_dataset *ds = new_dataset(f, "d", DREP_INT32_T, 1, &n);
    drep_view *view;

    ok(drep_view_dataset(ds, &view));
    ok(drep_view_size(view, &etypes));
    ck_assert_int_eq(etypes, 10);
    ok(drep_write_at(view, 0, v, 10, DREP_INT32_T, NULL, &moved));
    ok(drep_read_at(view, 8, v, 10, DREP_INT32_T, NULL, &moved));
    ck_assert_int_eq(moved, 2);
    fails(drep_write_at(view, 5, v, 10, DREP_INT32_T, NULL, &moved), DREP_ERR_RANGE);
    fails(drep_write_at(view, 10, v, 1, DREP_INT32_T, NULL, &moved), DREP_ERR_RANGE);
    fails(drep_write_at(view, INT64_MAX, v, 1, DREP_INT32_T, NULL, &moved),
          DREP_ERR_VALUE_TOO_LARGE);
    ok(drep_link_remove(f, "d"));
    fails(drep_read_at(view, 0, v, 1, DREP_INT32_T, NULL, &moved), DREP_ERR_NOT_FOUND);
    fails(drep_write_at(view, 0, v, 1, DREP_INT32_T, NULL, &moved), DREP_ERR_NOT_FOUND);
    ok(drep_view_close(view));
    drep_dataset_close(ds);
    ds = new_dataset(f, "empty", DREP_INT32_T, 2, none);
    ok(drep_view_dataset(ds, &view));
    ok(drep_read_at(view, 0, v, 3, DREP_INT32_T, NULL, &moved));
    ck_assert_int_eq(moved, 0);
    fails(drep_write_at(view, 0, v, 1, DREP_INT32_T, NULL, &moved), DREP_ERR_RANGE);
    ok(drep_view_close(view));
    drep_dataset_close(ds);
}
END_TEST

/* ---- the null dataspace, ranks, shapes ---- */

START_TEST(test_null_space_and_scalars)
{
    drep_dataset *ds = new_dataset(f, "null", DREP_DOUBLE, DREP_NULL_SPACE, NULL);
    drep_selection *sel;
    const int64_t one = 1;
    drep_dsinfo info = DREP_DSINFO;
    double v = 3.25;

    ok(drep_dataset_info(ds, &info));
    ck_assert_int_eq(info.rank, DREP_NULL_SPACE);
    ck_assert_int_eq(info.count, 0);
    ok(drep_read(ds, NULL, NULL, NULL, NULL));
    ok(drep_write(ds, NULL, NULL, NULL, NULL));
    ok(drep_select_box(1, &one, &one, NULL, NULL, &sel));
    fails(drep_read(ds, sel, NULL, &v, NULL), DREP_ERR_RANGE);
    drep_selection_free(sel);
    fails(drep_dataset_resize(ds, &one), DREP_ERR_DIMS);
    drep_dataset_close(ds);
    ds = new_dataset(f, "scalar", DREP_DOUBLE, 0, NULL);
    ok(drep_write(ds, NULL, NULL, &v, NULL));
    ok(drep_select_box(0, NULL, NULL, NULL, NULL, &sel));
    v = 0;
    ok(drep_read(ds, sel, NULL, &v, NULL));
    ck_assert(v == 3.25);
    drep_selection_free(sel);
    fails(drep_dataset_resize(ds, &one), DREP_ERR_DIMS);
    drep_dataset_close(ds);
    check_file(f);
}
END_TEST

START_TEST(test_shapes_that_are_none)
{
    int64_t dims[33], max[33], huge[] = {(int64_t)1 << 40, (int64_t)1 << 40};
    drep_spec spec = DREP_SPEC(.type = DREP_INT, .rank = 33, .dims = dims);
    drep_filter many[DREP_MAX_FILTERS + 1] = {{.id = DREP_FILTER_SHUFFLE}}, odd = {.id = 99};

    for (int i = 0; i < 33; i++)
        dims[i] = max[i] = 1;
    fails(drep_dataset_create(f, "d", &spec, NULL), DREP_ERR_DIMS);
    spec.rank = -2;
    fails(drep_dataset_create(f, "d", &spec, NULL), DREP_ERR_DIMS);
    spec.rank = 2;
    dims[1] = -1;
    fails(drep_dataset_create(f, "d", &spec, NULL), DREP_ERR_DIMS);
    dims[1] = 5;
    max[1] = 4;
    spec.maxdims = max;
    fails(drep_dataset_create(f, "d", &spec, NULL), DREP_ERR_DIMS);
    max[1] = INT64_MAX; /* beyond what a record may say */
    fails(drep_dataset_create(f, "d", &spec, NULL), DREP_ERR_DIMS);
    spec.maxdims = NULL;
    spec.dims = huge;
    fails(drep_dataset_create(f, "d", &spec, NULL), DREP_ERR_LIMIT);
    spec.dims = dims;
    spec.layout = 9;
    fails(drep_dataset_create(f, "d", &spec, NULL), DREP_ERR_ARG);
    spec.layout = DREP_CHUNKED;
    spec.chunk = &(int64_t[]){0, 1}[0];
    fails(drep_dataset_create(f, "d", &spec, NULL), DREP_ERR_DIMS);
    spec.chunk = NULL;
    spec.filters = many;
    spec.nfilters = DREP_MAX_FILTERS + 1;
    fails(drep_dataset_create(f, "d", &spec, NULL), DREP_ERR_ARG);
    spec.filters = &odd;
    spec.nfilters = 1;
    fails(drep_dataset_create(f, "d", &spec, NULL), DREP_ERR_UNSUPPORTED);
    spec.filters = many;
    spec.layout = DREP_CONTIGUOUS;
    fails(drep_dataset_create(f, "d", &spec, NULL), DREP_ERR_UNSUPPORTED_OPERATION);
    spec.layout = DREP_COMPACT;
    fails(drep_dataset_create(f, "d", &spec, NULL), DREP_ERR_LIMIT);
    spec = DREP_SPEC(.type = DREP_INT, .fill = DREP_FILL_VALUE);
    fails(drep_dataset_create(f, "d", &spec, NULL), DREP_ERR_ARG);
    spec.rank = 32;
    spec.fill = 0;
    dims[1] = 2;
    spec.dims = dims;
    ok(drep_dataset_create(f, "d", &spec, NULL));
    fails(drep_dataset_create(f, "d", &spec, NULL), DREP_ERR_EXISTS);
    check_file(f);
}
END_TEST

/* Long runs of a large read go past the cache: wherever they begin and end, each byte arrives. */
START_TEST(test_large_reads_to_any_address)
{
    enum { SIDE = 3100 };
    const int64_t dims[2] = {SIDE, SIDE}, chunk[2] = {700, 1801};
    drep_spec spec = DREP_SPEC(.type = DREP_UINT8_T, .rank = 2, .dims = dims,
                               .layout = DREP_CHUNKED, .chunk = chunk);
    uint8_t *v = malloc(SIDE * SIDE), *got = malloc(SIDE * SIDE + 64);
    drep_file *large = new_file(temp_path("large"), "native");
    drep_dataset *ds;

    for (int64_t i = 0; i < (int64_t)SIDE * SIDE; i++)
        v[i] = (uint8_t)(i * 7 + i / 251);
    ok(drep_dataset_create(large, "/x", &spec, &ds));
    ok(drep_write(ds, NULL, DREP_UINT8_T, v, NULL));
    for (int shift = 0; shift < 64; shift += 21) {
        memset(got, 0, SIDE * SIDE + 64);
        ok(drep_read(ds, NULL, DREP_UINT8_T, got + shift, NULL));
        ck_assert_mem_eq(got + shift, v, SIDE * SIDE);
        ck_assert_uint_eq(got[shift + SIDE * SIDE], 0);
    }
    drep_dataset_close(ds);
    ok(drep_close(large));
    free(v);
    free(got);
}
END_TEST

int main(void)
{
    Suite *s = suite_create("data transfer");
    TCase *t = tcase_create("transfer");

    tcase_add_checked_fixture(t, setup, teardown);
    tcase_set_timeout(t, 120);
    tcase_add_test(t, test_selections_that_are_none);
    tcase_add_test(t, test_wide_strides_in_a_sparse_dataset);
    tcase_add_test(t, test_resize_of_a_sparse_dataset);
    tcase_add_test(t, test_D25_appending);
    tcase_add_test(t, test_D12_values_that_do_not_fit);
    tcase_add_test(t, test_C7_D12_wrap_and_clamp);
    tcase_add_test(t, test_E5_C5_narrow_longs);
    tcase_add_loop_test(t, test_report_of_plain_bytes, 0, 2);
    tcase_add_test(t, test_report_of_sequences);
    tcase_add_loop_test(t, test_values_change_their_type, 0, DATAREPS);
    tcase_add_loop_test(t, test_memory_types_with_holes, 0, DATAREPS);
    tcase_add_test(t, test_C5_items_must_fill_whole_elements);
    tcase_add_test(t, test_D6_views_end_with_their_dataset);
    tcase_add_test(t, test_null_space_and_scalars);
    tcase_add_test(t, test_shapes_that_are_none);
    tcase_add_test(t, test_large_reads_to_any_address);
    suite_add_tcase(s, t);
    return run_suite(s);
}
