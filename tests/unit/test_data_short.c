/* test_data_short.c - the calls that do in one step what others do in several: attributes of one
 * text or number, what a path leads to, every object once. */
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

/* ---- attributes ---- */

static void text_is(const char *name, const char *want)
{
    char *text = NULL;

    ok(drep_attr_read_string(f, "/", name, &text));
    ck_assert_str_eq(text, want);
    free(text);
}

static void text_fails(const char *name, int err)
{
    char *text = (char *)"kept";

    fails(drep_attr_read_string(f, "/", name, &text), err);
    ck_assert_str_eq(text, "kept");
}

START_TEST(test_any_text)
{
    static const int pads[] = {DREP_PAD_NUL, DREP_PAD_NULTERM, DREP_PAD_SPACE};
    static const char *const texts[] = {"", "a", "a b ", "abcde", "K"};
    const int64_t one = 1, two = 2, three = 3, none = 0, grid[2] = {2, 3};
    drep_type *string, *vstring, *array;
    const char *v[2] = {"one", "two"};
    const wchar_t wide[4] = {0xe9, 0x20ac, 0x1f600, 0}, bad[1] = {0xd800};

    for (int pad = 0; pad < 3; pad++)
        for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
            char buf[8];

            memset(buf, pads[pad] == DREP_PAD_SPACE ? ' ' : 0, sizeof buf);
            memcpy(buf, texts[i], strlen(texts[i]));
            ok(drep_type_string(7, pads[pad], &string));
            ok(drep_attr_write(f, "/", "s", string, 0, NULL, buf));
            /* Spaces before the padding are padding, too. */
            text_is("s", pads[pad] == DREP_PAD_SPACE && i == 2 ? "a b" : texts[i]);
            drep_type_free(string);
        }
    ok(drep_type_string(3, DREP_PAD_NUL, &string)); /* one without room for a NUL */
    ok(drep_attr_write(f, "/", "full", string, 1, &one, "abcdef"));
    text_is("full", "abc");
    ok(drep_attr_write(f, "/", "several", string, 1, &two, "abcdef"));
    text_fails("several", DREP_ERR_COUNT);
    ok(drep_type_vstring(&vstring));
    ok(drep_attr_write_string(f, "/", "v", "caf\xc3\xa9"));
    text_is("v", "caf\xc3\xa9");
    ok(drep_attr_write(f, "/", "v1", vstring, 1, &one, v));
    text_is("v1", "one");
    ok(drep_attr_write(f, "/", "v2", vstring, 1, &two, v));
    text_fails("v2", DREP_ERR_COUNT);
    ok(drep_attr_write(f, "/", "v0", vstring, 1, &none, NULL));
    text_is("v0", "");
    ok(drep_attr_write(f, "/", "vn", vstring, DREP_NULL_SPACE, NULL, NULL));
    text_is("vn", "");
    ok(drep_attr_write(f, "/", "sn", string, DREP_NULL_SPACE, NULL, NULL));
    text_is("sn", "");
    ok(drep_attr_write(f, "/", "c", DREP_CHAR, 1, &three, "m/s"));
    text_is("c", "m/s");
    ok(drep_attr_write(f, "/", "c2", DREP_CHAR, 2, grid, "m/s\0\0"));
    text_is("c2", "m/s");
    ok(drep_attr_write(f, "/", "fortran", drep_predefined(DREP_CODE_CHARACTER), 1, &three, "K  "));
    text_is("fortran", "K");
    ok(drep_type_array(1, &three, DREP_CHAR, &array));
    ok(drep_attr_write(f, "/", "array", array, 0, NULL, "m/s"));
    text_is("array", "m/s");
    ok(drep_attr_write(f, "/", "wide", DREP_WCHAR, 1, &(int64_t){4}, wide));
    text_is("wide", "\xc3\xa9\xe2\x82\xac\xf0\x9f\x98\x80");
    ok(drep_attr_write(f, "/", "bad", DREP_WCHAR, 1, &one, bad));
    text_fails("bad", DREP_ERR_CONVERSION);
    ok(drep_attr_write_int(f, "/", "n", 5));
    text_fails("n", DREP_ERR_TYPE);
    text_fails("none", DREP_ERR_NOT_FOUND);
    fails(drep_attr_read_string(f, "/", "v", NULL), DREP_ERR_ARG);
    drep_type_free(string);
    drep_type_free(vstring);
    drep_type_free(array);
}
END_TEST

static void put(const drep_type *type, const void *value)
{
    ok(drep_attr_write(f, "/", "x", type, 0, NULL, value));
}

static void number_is(int64_t want)
{
    int64_t n = 0;
    double x = 0;

    ok(drep_attr_read_int64(f, "/", "x", &n));
    ck_assert_int_eq(n, want);
    ok(drep_attr_read_double(f, "/", "x", &x));
    ck_assert(x == (double)want);
}

START_TEST(test_any_number)
{
    const char *const names[] = {"no", "yes"};
    const int64_t values[] = {0, 7}, grid[3] = {1, 1, 1}, two = 2;
    const drep_scalar int24 = {.cls = DREP_SCALAR_INT,
                               .size = 3,
                               .is_signed = 1,
                               .format = DREP_FORMAT_CUSTOM,
                               .precision = 24};
    drep_type *type;
    int64_t n = 77;
    double x = 77;

    put(DREP_INT8_T, &(int8_t){-5});
    number_is(-5);
    put(DREP_UINT16_T, &(uint16_t){65535});
    number_is(65535);
    put(DREP_INT64_T, &(int64_t){INT64_MIN});
    number_is(INT64_MIN);
    put(DREP_FLOAT, &(float){-3});
    number_is(-3);
    put(DREP_LONG_DOUBLE, &(long double){1024});
    number_is(1024);
    put(DREP_C_BOOL, &(bool){true});
    number_is(1);
    ok(drep_type_enum(DREP_INT16_T, 2, names, values, &type));
    put(type, &(int16_t){7});
    number_is(7);
    drep_type_free(type);
    ok(drep_type_boolean(DREP_INT8_T, &type));
    put(type, &(int8_t){1});
    number_is(1);
    drep_type_free(type);
    ok(drep_type_scalar(&int24, &type));
    put(type, "\xff\xff\xfe");
    number_is(-2);
    drep_type_free(type);
    ok(drep_attr_write(f, "/", "x", DREP_INT, 3, grid, &(int){12}));
    number_is(12);
    ok(drep_type_array(2, grid, DREP_INT, &type));
    put(type, &(int){13});
    number_is(13);
    drep_type_free(type);

    put(DREP_DOUBLE, &(double){2.5});
    fails(drep_attr_read_int64(f, "/", "x", &n), DREP_ERR_CONVERSION);
    ok(drep_attr_read_double(f, "/", "x", &x));
    ck_assert(x == 2.5);
    x = 77;
    put(DREP_UINT64_T, &(uint64_t){UINT64_MAX});
    fails(drep_attr_read_int64(f, "/", "x", &n), DREP_ERR_CONVERSION);
    put(DREP_DOUBLE, &(double){1e300});
    fails(drep_attr_read_int64(f, "/", "x", &n), DREP_ERR_CONVERSION);
    put(DREP_DOUBLE, &(double){__builtin_nan("")});
    fails(drep_attr_read_int64(f, "/", "x", &n), DREP_ERR_CONVERSION);
    ok(drep_attr_write(f, "/", "x", DREP_INT, 1, &two, (int[]){1, 2}));
    fails(drep_attr_read_int64(f, "/", "x", &n), DREP_ERR_COUNT);
    fails(drep_attr_read_double(f, "/", "x", &x), DREP_ERR_COUNT);
    ok(drep_attr_write(f, "/", "x", DREP_INT, DREP_NULL_SPACE, NULL, NULL));
    fails(drep_attr_read_int64(f, "/", "x", &n), DREP_ERR_COUNT);
    ok(drep_attr_write_string(f, "/", "x", "12"));
    fails(drep_attr_read_int64(f, "/", "x", &n), DREP_ERR_TYPE);
    put(DREP_C_DOUBLE_COMPLEX, (double[]){1, 2});
    fails(drep_attr_read_double(f, "/", "x", &x), DREP_ERR_TYPE);
    fails(drep_attr_read_double(f, "/none", "x", &x), DREP_ERR_NOT_FOUND);
    fails(drep_attr_read_double(f, "/", "x", NULL), DREP_ERR_ARG);
    fails(drep_attr_read_int64(f, "/", "x", NULL), DREP_ERR_ARG);
    ck_assert(n == 77 && x == 77);
}
END_TEST

/* ---- objects ---- */

/* /a, /g with the dimension t, /g/h with /g/h/b, one more link to /a and one to /g/h, a soft link,
 * an external one, a named type. */
static void tree(void)
{
    ok(drep_group_create(f, "/g/h", 1));
    drep_dataset_close(new_dataset(f, "/g/h/b", DREP_INT, 0, NULL));
    drep_dataset_close(new_dataset(f, "/a", DREP_INT, 0, NULL));
    ok(drep_dimension_create(f, "/g#t", 5, 0));
    ok(drep_type_commit(f, "/t", DREP_INT));
    ok(drep_link_hard(f, "/a", "/g/a"));
    ok(drep_link_hard(f, "/g/h", "/z"));
    ok(drep_link_soft(f, "/g/none", "/soft"));
    ok(drep_link_soft(f, "/g/h", "/g/soft"));
    ok(drep_link_external(f, "other.drep", "/x", "/external"));
}

START_TEST(test_exists)
{
    static const struct {
        const char *path;
        int kind;
    } cases[] = {{"/", DREP_OBJ_GROUP},
                 {"a", DREP_OBJ_DATASET},
                 {"/g/h/b", DREP_OBJ_DATASET},
                 {"/g#t", DREP_OBJ_DIMENSION},
                 {"/t", DREP_OBJ_TYPE},
                 {"/g/soft/b", DREP_OBJ_DATASET},
                 {"/soft", 0},
                 {"/none", 0},
                 {"/none/x", 0},
                 {"/a/x", 0},
                 {"/#t", 0},
                 {"/none#t", 0}};
    int kind;

    tree();
    fails(drep_group_create(f, "/a", 0), DREP_ERR_EXISTS);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char *before = strdup(drep_error());

        kind = 99;
        ok(drep_exists(f, cases[i].path, &kind));
        ck_assert_msg(kind == cases[i].kind, "%s: %d", cases[i].path, kind);
        ck_assert_str_eq(drep_error(), before);
        free(before);
    }
    kind = 99;
    fails(drep_exists(f, "/external", &kind), DREP_ERR_UNSUPPORTED_OPERATION);
    fails(drep_exists(f, NULL, &kind), DREP_ERR_ARG);
    fails(drep_exists(f, "/a", NULL), DREP_ERR_ARG);
    ck_assert_int_eq(kind, 99);
}
END_TEST

struct seen {
    char text[4000];
    const char *stop, *act; /* paths at which fn does something */
    int (*does)(void);
};

static int see(const drep_visited *object, void *ctx)
{
    static const char kinds[] = "?gdt#";
    struct seen *s = ctx;
    size_t len = strlen(s->text);
    drep_objinfo info;

    snprintf(s->text + len, sizeof s->text - len, "%s%s:%c", len ? " " : "", object->path,
             kinds[object->kind]);
    ok(drep_stat(f, object->path, &info));
    ck_assert_uint_eq(info.id, object->id);
    ck_assert_int_eq(info.kind, object->kind);
    if (s->act && strcmp(s->act, object->path) == 0)
        ok(s->does());
    return s->stop && strcmp(s->stop, object->path) == 0 ? 4711 : 0;
}

static void visit_gives(struct seen *s, const char *path, int order, const char *want)
{
    s->text[0] = '\0';
    ok(drep_visit(f, path, order, see, s));
    ck_assert_str_eq(s->text, want);
}

START_TEST(test_visit)
{
    struct seen s = {.stop = NULL};

    tree();
    visit_gives(&s, "/", DREP_BY_NAME, "/:g /a:d /g:g /g#t:# /g/h:g /g/h/b:d /t:t");
    visit_gives(&s, "/", DREP_BY_CREATION, "/:g /g:g /g#t:# /g/h:g /g/h/b:d /g/a:d /t:t");
    visit_gives(&s, "g", DREP_BY_NAME, "/g:g /g#t:# /g/a:d /g/h:g /g/h/b:d");
    visit_gives(&s, "/g/soft//", DREP_BY_NAME, "/g/soft:g /g/soft/b:d");
    visit_gives(&s, "/z", DREP_BY_NAME, "/z:g /z/b:d");
    visit_gives(&s, "/a", DREP_BY_NAME, "/a:d");
    visit_gives(&s, "/g#t", DREP_BY_NAME, "/g#t:#");
    s.stop = "/g/h";
    s.text[0] = '\0';
    ck_assert_int_eq(drep_visit(f, "/", DREP_BY_NAME, see, &s), 4711);
    ck_assert_str_eq(s.text, "/:g /a:d /g:g /g#t:# /g/h:g");
    fails(drep_visit(f, "/none", DREP_BY_NAME, see, &s), DREP_ERR_NOT_FOUND);
    fails(drep_visit(f, "/", DREP_BY_NAME, NULL, &s), DREP_ERR_ARG);
    fails(drep_visit(f, NULL, DREP_BY_NAME, see, &s), DREP_ERR_ARG);
}
END_TEST

static int removes(void)
{
    int err = drep_link_remove(f, "/t");

    err = err ? err : drep_link_remove(f, "/z");
    return err ? err : drep_link_remove(f, "/g");
}

static int adds(void)
{
    return drep_group_create(f, "/g/h/new", 0);
}

START_TEST(test_visit_while_the_file_changes)
{
    struct seen s = {.act = "/a", .does = adds};

    tree();
    visit_gives(&s, "/", DREP_BY_NAME, "/:g /a:d /g:g /g#t:# /g/h:g /g/h/b:d /g/h/new:g /t:t");
    s.does = removes;
    visit_gives(&s, "/", DREP_BY_NAME, "/:g /a:d");
    ok(drep_group_create(f, "/g", 0));
    ok(drep_type_commit(f, "/t", DREP_INT));
    ok(drep_group_create(f, "/z", 0));
    s.act = "/g"; /* which removes itself */
    visit_gives(&s, "/", DREP_BY_NAME, "/:g /a:d /g:g");
}
END_TEST

static int count_object(const drep_visited *object, void *ctx)
{
    int *n = ctx;

    *n += strlen(object->path) > 700 ? 1000000 : 1;
    return 0;
}

START_TEST(test_visit_deep_and_wide)
{
    enum { DEEP = 400, WIDE = 2000 };
    char path[2 * DEEP + 1] = "", name[24];
    int n = 0;

    for (int i = 0; i < DEEP; i++) {
        strcat(path, "/g");
        ok(drep_group_create(f, path, 0));
    }
    for (int i = 0; i < WIDE; i++) {
        snprintf(name, sizeof name, "/g/w%d", i);
        ok(drep_group_create(f, name, 0));
    }
    ok(drep_visit(f, "/", DREP_BY_NAME, count_object, &n));
    ck_assert_int_eq(n, 1 + 350 + 50 * 1000000 + WIDE);
}
END_TEST

int main(void)
{
    Suite *s = suite_create("data short");
    TCase *t = tcase_create("short");

    tcase_add_checked_fixture(t, setup, teardown);
    tcase_set_timeout(t, 60);
    tcase_add_test(t, test_any_text);
    tcase_add_test(t, test_any_number);
    tcase_add_test(t, test_exists);
    tcase_add_test(t, test_visit);
    tcase_add_test(t, test_visit_while_the_file_changes);
    tcase_add_test(t, test_visit_deep_and_wide);
    suite_add_tcase(s, t);
    return run_suite(s);
}
