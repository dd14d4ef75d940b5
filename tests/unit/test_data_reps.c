/* test_data_reps.c - several representations in one file (D32): each dataset has its own, the
 * header lists each once, and there are at most 256 of them. */
/* SPDX-License-Identifier: MIT */
#include "data_help.h"

#define VALUES 8

/* How INT32_T stands in the file; its bytes are made here, without the library. */
static const struct form {
    const char *name, *form;
    int size;
    bool big, xored;
} forms[] = {
    {"external32", "table", 4, true, false},   {"internal", "table", 4, false, false},
    {"native:s390x", "table", 4, true, false}, {"small", "table", 3, false, false},
    {"xor", "code", 4, false, true},
};
enum { FORMS = sizeof forms / sizeof *forms };

static int32_t value_at(int form, int i)
{
    return (form + 1) * 0x101010 * (i % 2 ? -1 : 1) + i;
}

static bool little_endian(void)
{
    const uint16_t one = 1;
    uint8_t first;

    memcpy(&first, &one, 1);
    return first == 1;
}

/* The payload of a dataset, as the format says it. */
static size_t encode(int form, uint8_t *out)
{
    const struct form *f = &forms[form];
    bool big = f->xored ? !little_endian() : f->big;

    for (int i = 0; i < VALUES; i++)
        for (int b = 0; b < f->size; b++) {
            int shift = 8 * (big ? f->size - 1 - b : b);

            out[i * f->size + b] =
                (uint8_t)((uint32_t)value_at(form, i) >> shift) ^ (f->xored ? 0x5a : 0);
        }
    return (size_t)f->size * VALUES;
}

/* True if these bytes stand somewhere in the file. */
static bool file_has(const char *path, const uint8_t *bytes, size_t size)
{
    static uint8_t content[1 << 20];
    FILE *f = fopen(path, "rb");
    size_t n, i;

    ck_assert_ptr_nonnull(f);
    n = fread(content, 1, sizeof content, f);
    fclose(f);
    for (i = 0; i + size <= n && memcmp(content + i, bytes, size) != 0; i++)
        ;
    return i + size <= n;
}

static const char *dataset_path(int form)
{
    static char path[2][40];
    static int next;
    char *p = path[next++ % 2];

    snprintf(p, sizeof path[0], "/d%d", form);
    return p;
}

static void put_dataset(drep_file *f, int form)
{
    const int64_t n = VALUES;
    const drep_spec spec = DREP_SPEC(.type = DREP_INT32_T, .datarep = forms[form].name, .rank = 1,
                                     .dims = &n, .layout = DREP_CONTIGUOUS);
    int32_t v[VALUES];
    drep_dataset *ds;

    for (int i = 0; i < VALUES; i++)
        v[i] = value_at(form, i);
    ok(drep_dataset_create(f, dataset_path(form), &spec, &ds));
    ok(drep_write(ds, NULL, NULL, v, NULL));
    drep_dataset_close(ds);
}

/* The dataset has its values, and this representation and number. */
static void check_dataset(drep_file *f, int form, const char *name, int number)
{
    int32_t v[VALUES] = {0};
    drep_dsinfo info = DREP_DSINFO;
    drep_dataset *ds;

    ok(drep_dataset_open(f, dataset_path(form), &ds));
    ok(drep_dataset_info(ds, &info));
    ck_assert_str_eq(info.datarep, name);
    ck_assert_int_eq(info.datarep_number, number);
    ok(drep_read(ds, NULL, NULL, v, NULL));
    for (int i = 0; i < VALUES; i++)
        ck_assert_int_eq(v[i], value_at(form, i));
    drep_dataset_close(ds);
}

static int count_reps(const drep_file *f)
{
    int n = -1;

    ok(drep_header_datareps(f, NULL, 0, &n));
    return n;
}

static void check_list(const drep_file *f)
{
    static drep_repinfo list[FORMS];
    int n;

    ok(drep_header_datareps(f, list, FORMS, &n));
    ck_assert_int_eq(n, FORMS);
    for (int i = 0; i < n; i++) {
        ck_assert_int_eq(list[i].number, i);
        ck_assert_str_eq(list[i].name, forms[i].name);
        ck_assert_str_eq(list[i].form, forms[i].form);
        ck_assert_str_ne(list[i].machine, "");
    }
}

static void make_several(const char *path)
{
    drep_file *f = new_file(path, forms[0].name);

    for (int i = 0; i < FORMS; i++) {
        put_dataset(f, i);
        ck_assert_int_eq(count_reps(f), i + 1);
    }
    /* A second dataset of one makes no second entry. */
    ok(drep_dataset_create(f, "/again", &DREP_SPEC(.type = DREP_INT32_T, .datarep = forms[2].name),
                           NULL));
    check_list(f);
    check_file(f);
    ok(drep_close(f));
}

START_TEST(test_D32_datasets_of_several_representations)
{
    const char *path = temp_path("several");
    uint8_t bytes[4 * VALUES];
    int64_t findings = -1;
    drep_file *f, *before;

    register_datareps();
    make_several(path);
    for (int i = 0; i < FORMS; i++)
        ck_assert_msg(file_has(path, bytes, encode(i, bytes)), "%s", forms[i].name);
    ok(drep_open(path, DREP_RDWR, NULL, &f));
    check_list(f);
    for (int i = 0; i < FORMS; i++)
        check_dataset(f, i, forms[i].name, i);
    /* Numbers are never taken back: an earlier commit is read with the newest header. */
    ok(drep_link_remove(f, dataset_path(1)));
    ok(drep_link_remove(f, dataset_path(3)));
    check_file(f);
    check_list(f);
    ok(drep_open_commit(path, DREP_RDONLY, 1, NULL, &before));
    check_dataset(before, 1, "internal", 1);
    ok(drep_close(before));
    /* That of the file and the one declared here are the same table. */
    put_dataset(f, 3);
    check_dataset(f, 3, "small", 3);
    check_list(f);
    ok(drep_close(f));
    ok(drep_open(path, DREP_RDONLY, NULL, &f));
    ok(drep_check(f, 1, say_finding, NULL, &findings));
    check_dataset(f, 4, "xor", 4);
    ok(drep_close(f));
}
END_TEST

/* Those that a copy needs are added in the order in which its datasets need them. */
START_TEST(test_D32_copies_keep_or_change_representations)
{
    const drep_copying stored = DREP_COPYING(.datarep = DREP_DATAREP_STORED);
    uint8_t bytes[4 * VALUES];
    drep_file *f, *g;

    register_datareps();
    make_several(temp_path("from"));
    ok(drep_open(temp_path("from"), DREP_RDONLY, NULL, &f));
    g = new_file(temp_path("to"), "internal");
    ok(drep_copy(f, "/", g, "/", &stored));
    ck_assert_int_eq(count_reps(g), FORMS);
    check_dataset(g, 0, "external32", 1);
    check_dataset(g, 1, "internal", 0);
    check_dataset(g, 3, "small", 3);
    check_file(g);
    ok(drep_close(g));
    for (int i = 0; i < FORMS; i++)
        ck_assert(file_has(temp_path("to"), bytes, encode(i, bytes)));
    g = new_file(temp_path("one"), "external32");
    ok(drep_copy(f, "/", g, "/", NULL));
    ck_assert_int_eq(count_reps(g), 1);
    for (int i = 0; i < FORMS; i++)
        check_dataset(g, i, "external32", 0);
    check_file(g);
    ok(drep_close(g));
    ok(drep_close(f));
}
END_TEST

/* What fails leaves no representation behind. */
START_TEST(test_D32_failed_calls_add_none)
{
    const int64_t n = 2;
    drep_spec spec = DREP_SPEC(.type = DREP_INT32_T, .datarep = "nobody's", .rank = 1, .dims = &n);
    drep_file *f;

    register_datareps();
    f = new_file(temp_path("failing"), "external32");
    fails(drep_dataset_create(f, "/a", &spec, NULL), DREP_ERR_UNSUPPORTED_DATAREP);
    ck_assert_int_eq(count_reps(f), 1);
    spec.datarep = "small";
    ok(drep_group_create(f, "/a", 0));
    fails(drep_dataset_create(f, "/a", &spec, NULL), DREP_ERR_EXISTS);
    ck_assert_int_eq(count_reps(f), 1);
    ok(drep_dataset_create(f, "/b", &spec, NULL));
    ck_assert_int_eq(count_reps(f), 2);
    drep_abandon(f);
}
END_TEST

/* ---- the last number ---- */

/* Table k: of nine integers those are little-endian whose bit of k is set. */
static const char *declare_table(int k)
{
    static const struct {
        uint16_t code;
        uint8_t size;
    } integer[] = {{DREP_CODE_SHORT, 2},    {DREP_CODE_UNSIGNED_SHORT, 2}, {DREP_CODE_INT, 4},
                   {DREP_CODE_UNSIGNED, 4}, {DREP_CODE_INT16_T, 2},        {DREP_CODE_UINT16_T, 2},
                   {DREP_CODE_INT32_T, 4},  {DREP_CODE_UINT32_T, 4},       {DREP_CODE_INT64_T, 8}};
    static char name[20];
    drep_encoding rows[9];

    for (int b = 0; b < 9; b++)
        rows[b] = (drep_encoding){.code = integer[b].code,
                                  .format = b % 2 ? DREP_FORMAT_UINT : DREP_FORMAT_INT,
                                  .order = k >> b & 1 ? DREP_LITTLE : DREP_BIG,
                                  .size = integer[b].size,
                                  .align = 1};
    snprintf(name, sizeof name, "table %d", k);
    ok(drep_declare_datarep(name, "external32", rows, 9, NULL, 0));
    return name;
}

static void check_numbered(drep_file *f, int k)
{
    char path[20];
    drep_dataset *ds;
    int32_t v = 0;

    snprintf(path, sizeof path, "/%d", k);
    ok(drep_dataset_open(f, path, &ds));
    ok(drep_read(ds, NULL, NULL, &v, NULL));
    ck_assert_int_eq(v, 0x01020304 * (k % 100));
    drep_dataset_close(ds);
}

enum { MANY = 300 }; /* more than 8 bits name */

START_TEST(test_D48_more_than_256_representations)
{
    const drep_copying stored = DREP_COPYING(.datarep = DREP_DATAREP_STORED);
    drep_file *f = new_file(temp_path("many"), "external32"), *g;
    drep_spec spec = DREP_SPEC(.type = DREP_INT32_T);
    char path[20];
    drep_dataset *ds;

    ok(drep_dataset_create(f, "/default", &spec, NULL));
    for (int k = 1; k < MANY; k++) {
        int32_t v = 0x01020304 * (k % 100);

        spec.datarep = declare_table(k);
        snprintf(path, sizeof path, "/%d", k);
        ok(drep_dataset_create(f, path, &spec, &ds));
        ok(drep_write(ds, NULL, NULL, &v, NULL));
        drep_dataset_close(ds);
        ck_assert_int_eq(count_reps(f), k + 1);
    }
    /* Those that are there are found, also by a table of another name. */
    spec.datarep = "table 77";
    ok(drep_dataset_create(f, "/more", &spec, NULL));
    check_file(f);
    ok(drep_close(f));
    ok(drep_open(temp_path("many"), DREP_RDWR, NULL, &f));
    ck_assert_int_eq(count_reps(f), MANY);
    for (int k = 1; k < MANY; k++)
        check_numbered(f, k);
    ok(drep_attr_write_int64(f, "/", "a", 1));
    check_file(f);
    /* In a file of another default there is one more. */
    ok(drep_create(":memory:", DREP_RDWR, "internal", NULL, &g));
    ok(drep_copy(f, "/", g, "/", &stored));
    ck_assert_int_eq(count_reps(g), MANY + 1);
    check_file(g);
    check_numbered(g, 200);
    ok(drep_close(g));
    ok(drep_close(f));
}
END_TEST

int main(void)
{
    Suite *s = suite_create("data reps");
    TCase *t = tcase_create("reps");

    tcase_set_timeout(t, 120);
    tcase_add_test(t, test_D32_datasets_of_several_representations);
    tcase_add_test(t, test_D32_copies_keep_or_change_representations);
    tcase_add_test(t, test_D32_failed_calls_add_none);
    tcase_add_test(t, test_D48_more_than_256_representations);
    suite_add_tcase(s, t);
    return run_suite(s);
}
