/* test_data_short.c - the calls that do in one step what others do in several: attributes of one
 * text or number, what a path leads to, every object once, boxes, many values, selections as text;
 * and contradictions that are refused. */
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
    const wchar_t wide[4] = {0xe9, 0x20ac, 0x1f600, 0}, bad[4] = {0xd800, 0xdfff, 0x110000, -1};

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
    for (int i = 0; i < 4; i++) {
        ok(drep_attr_write(f, "/", "bad", DREP_WCHAR, 1, &one, &bad[i]));
        text_fails("bad", DREP_ERR_CONVERSION);
    }
    ok(drep_attr_write_int64(f, "/", "n", 5));
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
    drep_objinfo info = DREP_OBJINFO;

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

/* ---- elements ---- */

/* A file with /x, the numbers 0..59 in a shape of 3, 4, 5. */
static drep_dataset *numbers(void)
{
    const int64_t dims[3] = {3, 4, 5};
    drep_dataset *ds = new_dataset(f, "/x", DREP_INT, 3, dims);
    int v[60];

    for (int i = 0; i < 60; i++)
        v[i] = i;
    ok(drep_write(ds, NULL, DREP_INT, v, NULL));
    return ds;
}

START_TEST(test_boxes)
{
    const int64_t start[3] = {1, 2, 3}, count[3] = {2, 2, 2}, end[3] = {3, 4, 5}, none[3] = {0},
                  beyond[3] = {1, 1, 6}, negative[3] = {0, -1, 0}, huge[3] = {INT64_MAX, 1, 1};
    drep_dataset *ds = numbers(), *scalar = new_dataset(f, "/s", DREP_INT, 0, NULL);
    double v[60], w[8] = {-1, -2, -3, -4, -5, -6, -7, -8};
    drep_report report = DREP_REPORT;
    const drep_xfer xfer = DREP_XFER(.report = &report, .buf_size = sizeof w);

    ok(drep_read_box(ds, start, count, DREP_DOUBLE, v, NULL));
    for (int i = 0; i < 8; i++)
        ck_assert(v[i] == (1 + i / 4) * 20 + (2 + i / 2 % 2) * 5 + 3 + i % 2);
    ok(drep_read_box(ds, start, NULL, DREP_DOUBLE, v, NULL)); /* up to the last: the same box */
    ck_assert(v[7] == 59);
    ok(drep_read_box(ds, NULL, count, DREP_DOUBLE, v, NULL));
    ck_assert(v[0] == 0 && v[7] == 26);
    ok(drep_read_box(ds, NULL, NULL, DREP_DOUBLE, v, NULL));
    ck_assert(v[59] == 59);
    ok(drep_read_box(ds, end, none, DREP_DOUBLE, NULL, NULL));
    ok(drep_read_box(ds, end, NULL, DREP_DOUBLE, NULL, NULL));
    ok(drep_write_box(ds, start, count, DREP_DOUBLE, w, &xfer));
    ck_assert_int_eq(report.items, 8);
    ok(drep_read(ds, NULL, DREP_DOUBLE, v, NULL));
    ck_assert(v[33] == -1 && v[34] == -2 && v[59] == -8 && v[32] == 32);
    fails(drep_read_box(ds, beyond, NULL, DREP_DOUBLE, v, NULL), DREP_ERR_RANGE);
    fails(drep_read_box(ds, NULL, beyond, DREP_DOUBLE, v, NULL), DREP_ERR_RANGE);
    fails(drep_read_box(ds, start, huge, DREP_DOUBLE, v, NULL), DREP_ERR_RANGE);
    fails(drep_read_box(ds, huge, start, DREP_DOUBLE, v, NULL), DREP_ERR_RANGE);
    fails(drep_write_box(ds, negative, NULL, DREP_DOUBLE, v, NULL), DREP_ERR_RANGE);
    fails(drep_write_box(ds, NULL, negative, DREP_DOUBLE, v, NULL), DREP_ERR_RANGE);
    ok(drep_write_box(scalar, NULL, NULL, DREP_DOUBLE, w, NULL));
    ok(drep_read_box(scalar, none, count, DREP_DOUBLE, v, NULL)); /* no dimension looks at them */
    ck_assert(v[0] == -1);
    drep_dataset_close(scalar);
    scalar = new_dataset(f, "/null", DREP_INT, DREP_NULL_SPACE, NULL);
    fails(drep_read_box(scalar, NULL, NULL, DREP_DOUBLE, v, NULL), DREP_ERR_RANGE);
    drep_dataset_close(scalar);
    drep_dataset_close(ds);
}
END_TEST

START_TEST(test_the_size_of_the_buffer)
{
    drep_dataset *ds = numbers();
    drep_type *pairs;
    int v[60];
    double w[60];
    drep_view *view;
    int64_t n;
    drep_xfer xfer = DREP_XFER(.buf_size = sizeof v);

    ok(drep_read(ds, NULL, DREP_INT, v, &xfer));
    ok(drep_read(ds, NULL, NULL, v, &xfer));
    ok(drep_write(ds, NULL, DREP_INT, v, &xfer));
    xfer.buf_size--;
    memset(v, 0xee, sizeof v);
    fails(drep_read(ds, NULL, DREP_INT, v, &xfer), DREP_ERR_BUFFER);
    fails(drep_read(ds, NULL, NULL, v, &xfer), DREP_ERR_BUFFER);
    fails(drep_write(ds, NULL, DREP_INT, v, &xfer), DREP_ERR_BUFFER);
    fails(drep_read_box(ds, NULL, NULL, DREP_INT, v, &xfer), DREP_ERR_BUFFER);
    fails(drep_convert(DREP_INT, v, DREP_DOUBLE, w, 60, &xfer), DREP_ERR_BUFFER);
    ck_assert_int_eq(v[0], (int)0xeeeeeeee);
    ok(drep_view_dataset(ds, &view));
    fails(drep_read_at(view, 0, v, 60, DREP_INT, &xfer, &n), DREP_ERR_BUFFER);
    ok(drep_read_at(view, 0, v, 59, DREP_INT, &xfer, &n));
    ok(drep_view_close(view));
    /* With gaps: 30 elements of two numbers, the second 12 bytes behind the first. */
    ok(drep_type_vector(2, 1, 3, DREP_INT, &pairs));
    xfer.buf_size = 29 * 16 + 16;
    ck_assert_int_eq(drep_type_extent(pairs), 16);
    ok(drep_read(ds, NULL, pairs, w, &xfer));
    xfer.buf_size--;
    fails(drep_read(ds, NULL, pairs, w, &xfer), DREP_ERR_BUFFER);
    drep_type_free(pairs);
    drep_dataset_close(ds);
}
END_TEST

/* The text's box against indices that a loop counts. */
START_TEST(test_select_parse)
{
    static const struct {
        const char *text, *want; /* start:count:step of each dimension, ! behind an index */
    } cases[] = {{"[]", "0:3:1 0:10:1"},
                 {"[...]", "0:3:1 0:10:1"},
                 {"[1]", "1:1:1! 0:10:1"},
                 {"[-1,-10]", "2:1:1! 0:1:1!"},
                 {"[:,2:5]", "0:3:1 2:3:1"},
                 {"[0:2,::3]", "0:2:1 0:4:3"},
                 {"[ 0 : 2 , 1 : 9 : 4 ]", "0:2:1 1:2:4"},
                 {"[...,7]", "0:3:1 7:1:1!"},
                 {"[2,...]", "2:1:1! 0:10:1"},
                 {"[2,...,3]", "2:1:1! 3:1:1!"},
                 {"[1:,:-3]", "1:2:1 0:7:1"},
                 {"[5:9,-99:99:9]", "3:0:1 0:2:9"},
                 {"[2:1]", "2:0:1 0:10:1"},
                 {"[::9223372036854775807]", "0:1:1 0:10:1"},
                 {"[+1:+2,]", "1:1:1 0:10:1"}};
    static const struct {
        const char *text;
        int err, column;
    } bad[] = {{"", DREP_ERR_SYNTAX, 1},          {"1", DREP_ERR_SYNTAX, 1},
               {"[1", DREP_ERR_SYNTAX, 3},        {"[1,2,3]", DREP_ERR_DIMS, 6},
               {"[3]", DREP_ERR_RANGE, 2},        {"[0,-11]", DREP_ERR_RANGE, 4},
               {"[a]", DREP_ERR_SYNTAX, 2},       {"[1 2]", DREP_ERR_SYNTAX, 4},
               {"[::0]", DREP_ERR_SYNTAX, 4},     {"[::-1]", DREP_ERR_SYNTAX, 4},
               {"[1]x", DREP_ERR_SYNTAX, 4},      {"[-]", DREP_ERR_SYNTAX, 2},
               {"[...,...]", DREP_ERR_SYNTAX, 2}, {"[1:2:3:4]", DREP_ERR_SYNTAX, 7},
               {"[...,1,2,3]", DREP_ERR_DIMS, 2}, {"[99999999999999999999]", DREP_ERR_SYNTAX, 2}};
    const int64_t dims[2] = {3, 10};
    drep_selection *sel;

    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        int64_t start[2], count[2], step[2];
        int single[2], rank;
        char text[100];

        ok(drep_select_parse(cases[i].text, 2, dims, &sel));
        ok(drep_selection_box(sel, &rank, start, count, step, NULL, single));
        snprintf(text, sizeof text, "%d:%d:%d%s %d:%d:%d%s", (int)start[0], (int)count[0],
                 (int)step[0], single[0] ? "!" : "", (int)start[1], (int)count[1], (int)step[1],
                 single[1] ? "!" : "");
        ck_assert_str_eq(text, cases[i].want);
        ck_assert_int_eq(rank, 2);
        ck_assert_int_eq(drep_selection_count(sel), count[0] * count[1]);
        drep_selection_free(sel);
    }
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        char column[40];

        fails(drep_select_parse(bad[i].text, 2, dims, &sel), bad[i].err);
        snprintf(column, sizeof column, "%s: column %d: ", bad[i].text, bad[i].column);
        ck_assert_msg(strncmp(drep_error(), column, strlen(column)) == 0, "%s: %s", bad[i].text,
                      drep_error());
    }
    ok(drep_select_parse("[]", 0, NULL, &sel));
    ck_assert_int_eq(drep_selection_count(sel), 1);
    drep_selection_free(sel);
    fails(drep_select_parse("[0]", 0, NULL, &sel), DREP_ERR_DIMS);
    fails(drep_select_parse(NULL, 0, NULL, &sel), DREP_ERR_ARG);
    fails(drep_select_parse("[]", 2, NULL, &sel), DREP_ERR_ARG);
    fails(drep_select_parse("[]", 33, dims, &sel), DREP_ERR_ARG);
    fails(drep_select_parse("[]", 2, dims, NULL), DREP_ERR_ARG);
    fails(drep_select_parse("[]", 1, &(int64_t){-1}, &sel), DREP_ERR_DIMS);
}
END_TEST

/* What a box was made of, or an equal one. */
START_TEST(test_selection_box)
{
    const int64_t start[2] = {1, 2}, count[2] = {3, 2}, stride[2] = {4, 5}, block[2] = {4, 3};
    drep_selection *sel, *two;
    int64_t s[2], c[2], st[2], b[2];
    int rank = 0, single[2] = {9, 9};

    ok(drep_select_box(2, start, count, stride, block, &sel));
    ok(drep_selection_box(sel, &rank, s, c, st, b, single));
    ck_assert(rank == 2 && s[0] == 1 && c[0] == 12 && st[0] == 1 && b[0] == 1);
    ck_assert(s[1] == 2 && c[1] == 2 && st[1] == 5 && b[1] == 3);
    ck_assert(single[0] == 0 && single[1] == 0);
    ok(drep_selection_box(sel, NULL, NULL, NULL, NULL, NULL, NULL));
    ok(drep_select_union(sel, sel, &two));
    fails(drep_selection_box(two, NULL, NULL, NULL, NULL, NULL, NULL),
          DREP_ERR_UNSUPPORTED_OPERATION);
    drep_selection_free(two);
    ok(drep_select_points(2, 1, start, &two));
    fails(drep_selection_box(two, NULL, NULL, NULL, NULL, NULL, NULL),
          DREP_ERR_UNSUPPORTED_OPERATION);
    drep_selection_free(two);
    drep_selection_free(sel);
    fails(drep_selection_box(NULL, NULL, NULL, NULL, NULL, NULL, NULL), DREP_ERR_ARG);
}
END_TEST

START_TEST(test_readv)
{
    int part[6], all[60], small[4];
    double factor = 0;
    int16_t narrow[60];
    drep_report report = DREP_REPORT;
    const drep_xfer xfer = DREP_XFER(.range = DREP_RANGE_CLAMP, .report = &report);
    drep_item items[] = {
        {.path = "/x", .select = "[1,:,2:5:3]", .type = DREP_INT, .buf = part, .buf_size = 16},
        {.path = "/x", .attr = "factor", .type = DREP_DOUBLE, .buf = &factor, .buf_size = 8},
        {.path = "/none", .buf = small},
        {.path = "/x", .buf = all, .buf_size = sizeof all},
        {.path = "/x", .buf = all, .buf_size = sizeof all - 1},
        {.path = "/x", .attr = "factor", .buf = small, .buf_size = 7},
        {.path = "/x", .attr = "none", .buf = small},
        {.path = "/", .buf = small},
        {.path = "/x", .select = "[9]", .buf = small},
        {.path = "/x", .attr = "factor", .select = "[0]", .buf = small},
        {.buf = small},
        {.path = "/big", .type = DREP_INT16_T, .buf = narrow},
    };
    static const int want[] = {0,
                               0,
                               DREP_ERR_NOT_FOUND,
                               0,
                               DREP_ERR_BUFFER,
                               DREP_ERR_BUFFER,
                               DREP_ERR_NOT_FOUND,
                               DREP_ERR_KIND,
                               DREP_ERR_RANGE,
                               DREP_ERR_ARG,
                               DREP_ERR_ARG,
                               0};
    const int n = sizeof items / sizeof *items;
    const int64_t two = 2;
    drep_dataset *ds = numbers();

    drep_dataset_close(ds);
    ok(drep_attr_write_double(f, "/x", "factor", 2.5));
    ds = new_dataset(f, "/big", DREP_INT, 1, &two);
    ok(drep_write(ds, NULL, DREP_INT, (int[]){70000, 5}, NULL));
    drep_dataset_close(ds);
    fails(drep_readv(f, items, n, &xfer), DREP_ERR_NOT_FOUND);
    ck_assert_ptr_nonnull(strstr(drep_error(), "/none"));
    for (int i = 0; i < n; i++)
        ck_assert_msg(items[i].err == want[i], "%d: %d", i, items[i].err);
    ck_assert(part[0] == 22 && part[1] == 27 && part[2] == 32 && part[3] == 37);
    ck_assert(factor == 2.5 && all[59] == 59);
    ck_assert(narrow[0] == 32767 && narrow[1] == 5);
    ck_assert_int_eq(report.items, 4 + 60 + 2 + 1); /* the attribute is one */
    ck_assert_int_eq(report.overflow, 1);
    ck_assert_int_eq(report.first_overflow, -1);
    ok(drep_readv(f, items, 2, NULL));
    ok(drep_readv(f, NULL, 0, NULL));
    fails(drep_readv(f, NULL, 1, NULL), DREP_ERR_ARG);
    fails(drep_readv(f, items, -1, NULL), DREP_ERR_COUNT);
}
END_TEST

START_TEST(test_readv_through_external_links)
{
    const char *path = temp_path("links");
    drep_info *info = hints("drep_external=true", (char *)NULL);
    drep_file *g = new_file(path, "native");
    int v[2] = {0};
    drep_item items[] = {{.path = "/there/x", .buf = &v[0]},
                         {.path = "/x", .buf = &v[1]},
                         {.path = "/there/none", .buf = v}};
    drep_dataset *ds = new_dataset(g, "/x", DREP_INT, 0, NULL);

    ok(drep_write(ds, NULL, NULL, &(int){7}, NULL));
    drep_dataset_close(ds);
    ok(drep_link_external(g, strrchr(path, '/') + 1, "/", "/there"));
    ok(drep_close(g));
    ok(drep_open(path, DREP_RDONLY, info, &g));
    fails(drep_readv(g, items, 3, NULL), DREP_ERR_NOT_FOUND);
    ck_assert(items[0].err == 0 && items[1].err == 0 && v[0] == 7 && v[1] == 7);
    ok(drep_close(g));
    drep_info_free(info);
}
END_TEST

START_TEST(test_create_without_a_representation)
{
    drep_header header = DREP_HEADER;
    drep_file *g;

    ok(drep_create(":memory:", DREP_RDWR, NULL, NULL, &g));
    ok(drep_header_get(g, &header));
    ck_assert_str_eq(header.datarep, "native");
    drep_abandon(g);
}
END_TEST

/* One half of two members that belong together. */
START_TEST(test_contradictions_in_a_spec)
{
    const int64_t two[2] = {2, 2};
    const drep_filter filter = {.id = DREP_FILTER_SHUFFLE};
    const char *const names[2] = {"a", "b"};
    const int value = 5;
    const drep_spec refused[] = {
        DREP_SPEC(.type = DREP_INT, .dims = two),
        DREP_SPEC(.type = DREP_INT, .maxdims = two),
        DREP_SPEC(.type = DREP_INT, .chunk = two),
        DREP_SPEC(.type = DREP_INT, .dim_names = names),
        DREP_SPEC(.type = DREP_INT, .rank = 2, .dims = two, .fill_value = &value),
        DREP_SPEC(.type = DREP_INT, .rank = 2, .dims = two, .fill_value = &value,
                  .fill = DREP_FILL_NONE),
        DREP_SPEC(.type = DREP_INT, .rank = 2, .dims = two, .fill = DREP_FILL_VALUE),
        DREP_SPEC(.type = DREP_INT, .rank = 2, .dims = two, .filters = &filter),
        DREP_SPEC(.type = DREP_INT, .rank = 2, .dims = two, .nfilters = 1),
        DREP_SPEC(.type = DREP_INT, .rank = 2, .dims = two, .chunk = two,
                  .layout = DREP_CONTIGUOUS),
        DREP_SPEC(.type = DREP_INT, .rank = 2, .dims = two, .chunk = two, .layout = DREP_COMPACT),
    };
    int kind;

    for (size_t i = 0; i < sizeof refused / sizeof *refused; i++) {
        fails(drep_dataset_create(f, "/new", &refused[i], NULL), DREP_ERR_ARG);
        ok(drep_exists(f, "/new", &kind));
        ck_assert_int_eq(kind, 0);
    }
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
    tcase_add_test(t, test_boxes);
    tcase_add_test(t, test_the_size_of_the_buffer);
    tcase_add_test(t, test_select_parse);
    tcase_add_test(t, test_selection_box);
    tcase_add_test(t, test_readv);
    tcase_add_test(t, test_readv_through_external_links);
    tcase_add_test(t, test_create_without_a_representation);
    tcase_add_test(t, test_contradictions_in_a_spec);
    suite_add_tcase(s, t);
    return run_suite(s);
}
