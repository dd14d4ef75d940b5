/* test_data_nuls.c - texts with NULs: whole as counted texts and as sequences of bytes, out of
 * range as a char *. */
/* SPDX-License-Identifier: MIT */
#include "data_help.h"

enum { N = 5 };
static const drep_vlen texts[N] = {
    {3, (void *)"a\0b"}, {0, NULL}, {1, (void *)"\0"}, {2, (void *)"ok"}, {4, (void *)"\0\0z\0"}};

/* The types of memory that hold any text. */
static drep_type *whole(int which)
{
    const drep_type *base[] = {DREP_CHAR, DREP_BYTE, DREP_UINT8_T};
    drep_type *t;

    ok(which == 3 ? drep_type_text(&t) : drep_type_sequence(base[which], &t));
    return t;
}

static void same(const drep_vlen *a, const drep_vlen *b)
{
    ck_assert_int_eq(a->count, b->count);
    ck_assert(a->count == 0 || memcmp(a->data, b->data, (size_t)a->count) == 0);
}

/* As a char *: refused, with item and byte; or cut, and counted. */
static void check_pointers(drep_dataset *ds, const drep_type *vstring)
{
    drep_report report = DREP_REPORT;
    char *p[N] = {NULL};

    fails(drep_read(ds, NULL, vstring, p, NULL), DREP_ERR_CONVERSION);
    ck_assert_ptr_nonnull(strstr(drep_error(), "item 0: its text has a NUL at byte 1"));
    for (int i = 0; i < N; i++)
        ck_assert_ptr_null(p[i]);
    ok(drep_read(ds, NULL, vstring, p, &DREP_XFER(.range = DREP_RANGE_CLAMP, .report = &report)));
    ck_assert_int_eq(report.overflow, 3);
    ck_assert_int_eq(report.first_overflow, 0);
    ck_assert_str_eq(p[0], "a");
    ck_assert_str_eq(p[2], "");
    ck_assert_str_eq(p[3], "ok");
    ck_assert_str_eq(p[4], "");
    drep_vlen_free(vstring, N, p);
}

static void check_strings(drep_dataset *ds)
{
    drep_report report = DREP_REPORT;
    char bytes[N][8];
    drep_type *t;

    ok(drep_type_string(8, DREP_PAD_NUL, &t));
    ok(drep_read(ds, NULL, t, bytes, &DREP_XFER(.report = &report)));
    ck_assert_mem_eq(bytes[0], "a\0b\0\0\0\0", 8);
    ck_assert_int_eq(report.overflow, 0);
    ck_assert_int_eq(report.inexact, 2); /* those that end as they are padded */
    drep_type_free(t);
    ok(drep_type_string(8, DREP_PAD_NULTERM, &t));
    fails(drep_read(ds, NULL, t, bytes, NULL), DREP_ERR_CONVERSION);
    drep_type_free(t);
}

static const char *const reps[] = {"external32", "internal", "native"};

START_TEST(test_texts_are_whole)
{
    int64_t dims[] = {N}, chunk[] = {2};
    drep_type *stored, *read = whole(_i % 4), *written = whole(_i / 4 % 4);
    drep_vlen back[N] = {{0, NULL}};
    int64_t findings;
    drep_dataset *ds;
    drep_file *f;

    ok(drep_type_vstring(&stored));
    ok(drep_create(":memory:", DREP_RDWR, reps[_i % 3], NULL, &f));
    ok(drep_dataset_create(f, "/d",
                           &DREP_SPEC(.type = stored, .rank = 1, .dims = dims,
                                      .layout = _i % 2 ? DREP_CHUNKED : DREP_COMPACT,
                                      .chunk = _i % 2 ? chunk : NULL),
                           &ds));
    ok(drep_write(ds, NULL, written, texts, NULL));
    ok(drep_read(ds, NULL, read, back, NULL));
    for (int i = 0; i < N; i++)
        same(&back[i], &texts[i]);
    drep_vlen_free(read, N, back);
    check_pointers(ds, stored);
    check_strings(ds);
    drep_dataset_close(ds);
    ok(drep_commit(f));
    ok(drep_check(f, 1, NULL, NULL, &findings));
    ck_assert_int_eq(findings, 0);
    drep_abandon(f);
    drep_type_free(stored);
    drep_type_free(read);
    drep_type_free(written);
}
END_TEST

START_TEST(test_values)
{
    int64_t dims[] = {N}, chunk[] = {2};
    drep_type *t = whole(3), *s;
    drep_vlen back[N] = {{0, NULL}}, one = {0, NULL};
    drep_dsinfo info = DREP_DSINFO;
    drep_dataset *ds;
    drep_file *f;
    char *text = NULL;

    ok(drep_type_vstring(&s));
    ok(drep_create(":memory:", DREP_RDWR, "internal", NULL, &f));
    ok(drep_attr_write(f, "/", "a", t, 1, dims, texts));
    ok(drep_attr_write(f, "/", "one", t, 0, NULL, texts));
    ok(drep_attr_read(f, "/", "a", t, back));
    for (int i = 0; i < N; i++)
        same(&back[i], &texts[i]);
    drep_vlen_free(t, N, back);
    fails(drep_attr_read_string(f, "/", "one", &text), DREP_ERR_CONVERSION);
    ok(drep_dataset_create(f, "/d",
                           &DREP_SPEC(.type = t, .rank = 1, .dims = dims, .chunk = chunk,
                                      .layout = DREP_CHUNKED, .fill = DREP_FILL_VALUE,
                                      .fill_value = texts),
                           &ds));
    ok(drep_dataset_info(ds, &info));
    ck_assert(drep_type_equal(info.type, s)); /* a file does not keep how memory had it */
    ck_assert_int_eq(drep_type_counted(info.type), 0);
    ck_assert_int_eq(drep_type_counted(t), 1);
    ok(drep_dataset_fill(ds, t, &one));
    same(&one, &texts[0]);
    drep_vlen_free(t, 1, &one);
    ok(drep_read(ds, NULL, t, back, NULL));
    for (int i = 0; i < N; i++)
        same(&back[i], &texts[0]);
    ok(drep_convert(s, &text, t, &texts[3], 1, NULL));
    ck_assert_str_eq(text, "ok");
    drep_vlen_free(s, 1, &text);
    fails(drep_convert(s, &text, t, &texts[0], 1, NULL), DREP_ERR_CONVERSION);
    drep_vlen_free(t, N, back);
    drep_dataset_close(ds);
    drep_abandon(f);
    drep_type_free(t);
    drep_type_free(s);
}
END_TEST

/* Given back as it is, without a copy. */
static void kept(const drep_type *type)
{
    drep_type *out;

    ok(drep_type_with_texts(type, &out));
    ck_assert_ptr_eq(out, type);
    drep_type_free(out);
}

START_TEST(test_with_texts)
{
    struct member {
        int8_t a;
        drep_vlen s, q, v[2];
    };
    struct blocks {
        int8_t a;
        drep_vlen s[3];
    };
    const int64_t one_three[] = {1, 3}, apart[] = {16, 40};
    const char *names[] = {"a", "s"};
    const drep_type *parts[] = {DREP_INT8_T, NULL};
    drep_type *t, *out;

    ok(drep_type_parse("struct{a: INT8_T, s: vstring, q: seq(struct{x: INT32_T, t: vstring}), "
                       "v: vstring[2]}",
                       &t));
    ok(drep_type_with_texts(t, &out));
    ck_assert_int_eq(drep_type_extent(out), sizeof(struct member));
    ck_assert_str_eq(drep_type_member_name(out, 2), "q");
    ck_assert_int_eq(drep_type_counted(drep_type_member(out, 1)), 1);
    ck_assert_int_eq(
        drep_type_counted(drep_type_member(drep_type_member(drep_type_member(out, 2), 0), 1)), 1);
    ck_assert_int_eq(drep_type_counted(drep_type_member(drep_type_member(out, 3), 0)), 1);
    kept(out);
    drep_type_free(out);
    drep_type_free(t);

    ok(drep_type_vstring(&t));
    parts[1] = t;
    ok(drep_type_struct(2, one_three, NULL, parts, &out));
    drep_type_free(t);
    ok(drep_type_with_texts(out, &t));
    ck_assert_int_eq(drep_type_extent(t), sizeof(struct blocks));
    drep_type_free(t);
    drep_type_free(out);

    ok(drep_type_text(&t));
    kept(t);
    parts[1] = t;
    ok(drep_type_compound(2, names, apart, parts, 64, &out));
    kept(out); /* its displacements too */
    drep_type_free(out);
    kept(DREP_DOUBLE);
    fails(drep_type_with_texts(NULL, &out), DREP_ERR_ARG);
    fails(drep_type_with_texts(t, NULL), DREP_ERR_ARG);
    drep_type_free(t);
}
END_TEST

int main(void)
{
    Suite *s = suite_create("data nuls");
    TCase *t = tcase_create("nuls");

    tcase_set_timeout(t, 60);
    tcase_add_loop_test(t, test_texts_are_whole, 0, 48);
    tcase_add_test(t, test_values);
    tcase_add_test(t, test_with_texts);
    suite_add_tcase(s, t);
    return run_suite(s);
}
