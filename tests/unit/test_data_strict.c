/* test_data_strict.c - no number of a dataset changes unless the caller says so, also where only
 * its size differs between file and memory: the oracle is arithmetic of 64 bits. */
/* SPDX-License-Identifier: MIT */
#include "data_help.h"

#include <limits.h>
#include <math.h>

enum { N = 64 };

/* Integers of 8 bytes, longer than this machine's. */
static const struct {
    int code;
    int64_t low, high;
} kinds[] = {
    {DREP_CODE_SIGNED_CHAR, INT8_MIN, INT8_MAX}, {DREP_CODE_SHORT, INT16_MIN, INT16_MAX},
    {DREP_CODE_UNSIGNED_SHORT, 0, UINT16_MAX},   {DREP_CODE_INT, INT32_MIN, INT32_MAX},
    {DREP_CODE_UNSIGNED, 0, UINT32_MAX},
};
enum { KINDS = sizeof kinds / sizeof *kinds };

static void declare_wide(void)
{
    static bool declared;
    drep_encoding row[KINDS];

    for (int k = 0; k < KINDS; k++)
        row[k] = (drep_encoding){.code = (uint16_t)kinds[k].code,
                                 .format = kinds[k].low < 0 ? DREP_FORMAT_INT : DREP_FORMAT_UINT,
                                 .order = k % 2 ? DREP_BIG : DREP_LITTLE,
                                 .size = 8,
                                 .align = 8};
    if (!declared)
        ok(drep_declare_datarep("wide", "external32", row, KINDS, NULL, 0));
    declared = true;
}

static bool little(void)
{
    return *(const uint8_t *)&(const uint16_t){1} == 1;
}

static int64_t as_number(const void *p, const drep_type *type, int64_t low)
{
    size_t size = (size_t)drep_type_extent(type);
    uint64_t bits = 0;

    for (size_t i = 0; i < size; i++)
        bits |= (uint64_t)((const uint8_t *)p)[little() ? i : size - 1 - i] << 8 * i;
    if (low < 0 && bits >> (8 * size - 1))
        bits |= UINT64_MAX << (8 * size - 1);
    return (int64_t)bits;
}

/* What each policy makes of one value, as calls of all sorts read it. */
static void one_value(drep_file *f, drep_dataset *ds, int k, int64_t value)
{
    const drep_type *type = drep_predefined(kinds[k].code);
    const int64_t low = kinds[k].low, high = kinds[k].high;
    int want = value < low || value > high ? DREP_ERR_CONVERSION : 0;
    int bits = 8 * (int)drep_type_extent(type);
    int64_t wrapped = value & (int64_t)(UINT64_MAX >> (64 - bits));
    drep_report report = DREP_REPORT;
    drep_selection *first;
    drep_item item;
    drep_view *view;
    uint64_t buf[N];

    if (low < 0 && wrapped > high)
        wrapped -= (int64_t)1 << bits;
    ok(drep_write(ds, NULL, DREP_INT64_T, &value, NULL));
    fails(drep_read(ds, NULL, NULL, buf, NULL), want);
    if (!want)
        ck_assert_int_eq(as_number(buf, type, low), value);
    fails(drep_read(ds, NULL, type, buf, &DREP_XFER(.range = DREP_RANGE_STRICT)), want);
    fails(drep_read_box(ds, NULL, NULL, type, buf, &DREP_XFER(.report = &report)), want);
    ok(drep_select_points(1, 1, &(int64_t){0}, &first));
    fails(drep_read(ds, first, type, buf, NULL), want);
    drep_selection_free(first);
    item = (drep_item){.path = "d", .type = type, .buf = buf};
    fails(drep_readv(f, &item, 1, NULL), want);
    ok(drep_read(ds, NULL, type, buf, &DREP_XFER(.range = DREP_RANGE_WRAP, .report = &report)));
    ck_assert_int_eq(as_number(buf, type, low), wrapped);
    ck_assert_int_eq(report.overflow, want != 0);
    ok(drep_read(ds, NULL, type, buf, &DREP_XFER(.range = DREP_RANGE_CLAMP)));
    ck_assert_int_eq(as_number(buf, type, low), value < low ? low : value > high ? high : value);
    /* A view is MPI's: it wraps, and the report tells. */
    ok(drep_view_dataset(ds, &view));
    ok(drep_read_at(view, 0, buf, 1, type, &DREP_XFER(.report = &report), NULL));
    ck_assert_int_eq(as_number(buf, type, low), wrapped);
    ck_assert_int_eq(report.overflow, want != 0);
    drep_view_close(view);
}

START_TEST(test_longer_in_the_file)
{
    const int64_t dims = 1;
    drep_dataset *ds;
    drep_file *f;

    declare_wide();
    f = new_file(":memory:", "wide");
    ds = new_dataset(f, "d", drep_predefined(kinds[_i].code), 1, &dims);
    for (int n = -2; n <= 2; n++) {
        one_value(f, ds, _i, kinds[_i].low + n < 0 && kinds[_i].low == 0 ? 0 : kinds[_i].low + n);
        one_value(f, ds, _i, kinds[_i].high + n);
        one_value(f, ds, _i, ((int64_t)1 << 40) + n);
    }
    drep_dataset_close(ds);
    drep_abandon(f);
}
END_TEST

/* Shorter in the file: an external32 LONG has 4 bytes. */
START_TEST(test_shorter_in_the_file)
{
    const int64_t dims = 2, most = DREP_UNLIMITED;
    const long good[2] = {-7, 2147483647};
    long bad[2] = {1, LONG_MAX}, back[2];
    int status = LONG_MAX > INT32_MAX ? DREP_ERR_CONVERSION : 0;
    drep_spec spec = DREP_SPEC(.type = DREP_LONG, .rank = 1, .dims = &dims, .maxdims = &most);
    drep_dsinfo info = DREP_DSINFO;
    drep_dataset *ds;
    drep_file *f = new_file(":memory:", "external32");

    ok(drep_dataset_create(f, "d", &spec, &ds));
    ok(drep_write(ds, NULL, NULL, good, NULL));
    fails(drep_write(ds, NULL, NULL, bad, NULL), status);
    fails(drep_write_box(ds, NULL, NULL, DREP_LONG, bad, NULL), status);
    fails(drep_append(ds, 0, 2, NULL, bad, NULL), status);
    if (status) {
        ck_assert_ptr_nonnull(strstr(drep_error(), "item 1"));
        ok(drep_dataset_info(ds, &info));
        ck_assert_int_eq(info.count, 2);
        ok(drep_read(ds, NULL, NULL, back, NULL));
        ck_assert(memcmp(back, good, sizeof good) == 0);
        ok(drep_write(ds, NULL, NULL, bad, &DREP_XFER(.range = DREP_RANGE_WRAP)));
        ok(drep_read(ds, NULL, NULL, back, NULL));
        ck_assert_int_eq(back[1], -1);
        spec.fill = DREP_FILL_VALUE;
        spec.fill_value = &bad[1];
        fails(drep_dataset_create(f, "filled", &spec, NULL), DREP_ERR_CONVERSION);
    }
    drep_dataset_close(ds);
    drep_abandon(f);
}
END_TEST

/* Attributes are strict, too; a call that has options says otherwise. */
START_TEST(test_attributes)
{
    const int64_t in[3] = {5, 300, -129}, n = 3;
    drep_report report = DREP_REPORT;
    drep_file *f = new_file(":memory:", "external32");
    int8_t out[3];
    drep_item item = {.path = "/", .attr = "a", .type = DREP_INT8_T, .buf = out};

    ok(drep_attr_write(f, "/", "a", DREP_INT64_T, 1, &n, in));
    fails(drep_attr_read(f, "/", "a", DREP_INT8_T, out), DREP_ERR_CONVERSION);
    fails(drep_readv(f, &item, 1, NULL), DREP_ERR_CONVERSION);
    ok(drep_readv(f, &item, 1, &DREP_XFER(.range = DREP_RANGE_WRAP, .report = &report)));
    ck_assert(out[0] == 5 && out[1] == 44 && out[2] == 127);
    ck_assert_int_eq(report.items, 3);
    ck_assert_int_eq(report.overflow, 2);
    ok(drep_readv(f, &item, 1, &DREP_XFER(.range = DREP_RANGE_CLAMP)));
    ck_assert(out[0] == 5 && out[1] == 127 && out[2] == -128);
    item.type = NULL;
    item.buf = (int64_t[3]){0};
    ok(drep_readv(f, &item, 1, &DREP_XFER(.report = &report)));
    ck_assert_int_eq(report.items, 3);
    drep_abandon(f);
}
END_TEST

/* What a double becomes as an INT32_T; false: the policy refuses it. */
static bool as_int(double v, int range, int32_t *out)
{
    const double whole = range == DREP_RANGE_ROUND ? rint(v) : trunc(v);
    const bool exact = whole == v || range != DREP_RANGE_STRICT;

    if (range >= DREP_RANGE_STRICT && !(whole >= INT32_MIN && whole <= INT32_MAX && exact))
        return false;
    *out = isnan(v)             ? 0
           : whole <= INT32_MIN ? INT32_MIN
           : whole >= INT32_MAX ? INT32_MAX
                                : (int32_t)whole;
    return true;
}

/* Writes a real among 99 whole ones to integers, and reads one as an integer, by every call; the
 * message names dataset and item. */
static void one_real(drep_file *f, drep_dataset *ints, drep_dataset *reals, double v, int range)
{
    const int policy = range == DREP_RANGE_DEFAULT ? DREP_RANGE_STRICT : range;
    const drep_xfer xfer = DREP_XFER(.range = range);
    const int64_t at = 61, one = 1;
    double in[N];
    float narrow = (float)v;
    int32_t want = 0, out[N];
    int err = as_int(v, policy, &want) ? 0 : DREP_ERR_CONVERSION;

    for (int i = 0; i < N; i++)
        in[i] = i - 7;
    in[at] = v;
    ck_assert_int_eq(drep_write(ints, NULL, DREP_DOUBLE, in, &xfer), err);
    if (err)
        ck_assert_msg(strstr(drep_error(), "\"ints\"") && strstr(drep_error(), "item 61 "), "%s",
                      drep_error());
    ok(drep_read(ints, NULL, NULL, out, NULL));
    if (!err)
        ck_assert_msg(out[0] == -7 && out[at] == want, "%g, range %d: %d", v, range, out[at]);
    ck_assert_int_eq(drep_write_box(ints, &at, &one, DREP_DOUBLE, &v, &xfer), err);
    if ((double)narrow == v)
        ck_assert_int_eq(drep_write_box(ints, &at, &one, DREP_FLOAT, &narrow, &xfer), err);
    ck_assert_int_eq(drep_append(ints, 0, 1, DREP_DOUBLE, &v, &xfer), err);
    ok(drep_commit(f));
    ok(drep_dataset_resize(ints, &(int64_t){N}));
    ok(drep_write(reals, NULL, NULL, in, NULL));
    ck_assert_int_eq(drep_read(reals, NULL, DREP_INT32_T, out, &xfer), err);
    ck_assert_int_eq(drep_read_box(reals, &at, &one, DREP_INT32_T, out, &xfer), err);
    ck_assert(err || out[0] == want);
    ck_assert_int_eq(drep_convert(DREP_INT32_T, out, DREP_DOUBLE, &v, 1, &xfer), err);
}

/* An integer holds whole numbers: a fraction is refused unless the caller says how to lose it. */
START_TEST(test_fractions)
{
    static const double values[] = {
        0,   -0.0, 1.7,   -1.7, 0.5, 1.5,          2.5, -2.5,     -0.4,      1e-9,
        3e9, -3e9, 1e300, 0.1,  7,   2147483647.5, NAN, INFINITY, -INFINITY, 4503599627370495.5};
    const int64_t dims = N, max = DREP_UNLIMITED;
    drep_file *f = new_file(":memory:", _i % 2 ? "external32" : "native");
    drep_spec spec = DREP_SPEC(.type = DREP_INT32_T, .rank = 1, .dims = &dims, .maxdims = &max);
    drep_dataset *ints, *reals = new_dataset(f, "reals", DREP_DOUBLE, 1, &dims);
    double v = 1.5;
    int32_t got;

    ok(drep_dataset_create(f, "ints", &spec, &ints));
    for (int range = DREP_RANGE_DEFAULT; range <= DREP_RANGE_ROUND; range++)
        for (size_t i = 0; i < sizeof values / sizeof *values; i++)
            one_real(f, ints, reals, values[i], range);
    ok(drep_attr_write(f, "/", "a", DREP_DOUBLE, 0, NULL, &v));
    fails(drep_attr_read(f, "/", "a", DREP_INT32_T, &got), DREP_ERR_CONVERSION);
    ok(drep_readv(f, &(drep_item){.path = "/", .attr = "a", .type = DREP_INT32_T, .buf = &got}, 1,
                  &DREP_XFER(.range = DREP_RANGE_ROUND)));
    ck_assert_int_eq(got, 2);
    drep_dataset_close(ints);
    drep_dataset_close(reals);
    drep_abandon(f);
}
END_TEST

/* A real is the nearest of its format. */
START_TEST(test_rounding_is_counted)
{
    const double in[3] = {0.1, 1e300, -0.0};
    const float tenth = 0.1f; /* a constant may have more digits where x87 computes */
    const int64_t dims = 2;
    drep_report report = DREP_REPORT;
    drep_file *f = new_file(":memory:", "native");
    drep_dataset *ds = new_dataset(f, "d", DREP_DOUBLE, 1, &dims);
    float out[2];

    ok(drep_write(ds, NULL, NULL, in, NULL));
    fails(drep_read(ds, NULL, DREP_FLOAT, out, NULL), DREP_ERR_CONVERSION);
    ok(drep_write(ds, NULL, NULL, (double[2]){0.1, 2}, NULL));
    ok(drep_read(ds, NULL, DREP_FLOAT, out, &DREP_XFER(.report = &report)));
    ck_assert(out[0] == tenth && out[1] == 2);
    ck_assert_int_eq(report.inexact, 1);
    drep_dataset_close(ds);
    drep_abandon(f);
}
END_TEST

int main(void)
{
    Suite *s = suite_create("data: strict");
    TCase *t = tcase_create("strict");

    tcase_add_loop_test(t, test_longer_in_the_file, 0, KINDS);
    tcase_add_test(t, test_shorter_in_the_file);
    tcase_add_test(t, test_attributes);
    tcase_add_loop_test(t, test_fractions, 0, 2);
    tcase_add_test(t, test_rounding_is_counted);
    suite_add_tcase(s, t);
    return run_suite(s);
}
