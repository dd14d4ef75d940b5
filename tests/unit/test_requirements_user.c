/* test_requirements_user.c - the rules of views, extents, representations of one's own, and
 * errors; on raw files, where they hold literally. */
/* SPDX-License-Identifier: MIT */
#include "data_help.h"

#include <fcntl.h>
#include <sys/wait.h>

static drep_view *raw_view(const char *path, const char *datarep, const drep_type *etype)
{
    drep_view *v;

    ok(drep_view_raw(path, DREP_RDWR, NULL, &v));
    ok(drep_view_set(v, 0, etype, etype, datarep, NULL));
    return v;
}

/* The file holds these bytes and no others. */
static void file_is(const char *path, const char *hex)
{
    size_t size;
    uint8_t *want = hex_bytes(hex, &size), got[512];
    int fd = open(path, O_RDONLY);
    ssize_t n = read(fd, got, sizeof got);

    close(fd);
    ck_assert_int_eq(n, (ssize_t)size);
    ck_assert_mem_eq(got, want, size);
    free(want);
}

/* ------------------------------------------------------- native and internal */

START_TEST(test_N1_native_is_memory)
{
    const char *path = temp_path("native");
    const double in[] = {1.5, -2.5, 1e300};
    uint8_t bytes[sizeof in];
    int64_t n;
    drep_view *v;
    int fd;

    ok(drep_view_raw(path, DREP_RDWR, NULL, &v));
    ok(drep_write_at(v, 0, in, sizeof in, DREP_BYTE, NULL, &n));
    ck_assert_int_eq(n, sizeof in);
    ok(drep_view_close(v));
    fd = open(path, O_RDONLY);
    ck_assert_int_eq(read(fd, bytes, sizeof bytes), sizeof bytes);
    close(fd);
    ck_assert_mem_eq(bytes, in, sizeof in);
    v = raw_view(path, "native", DREP_DOUBLE);
    ok(drep_write_at(v, 1, in, 1, DREP_DOUBLE, NULL, &n));
    ok(drep_view_close(v));
    fd = open(path, O_RDONLY);
    ck_assert_int_eq(read(fd, bytes, sizeof bytes), sizeof bytes);
    close(fd);
    ck_assert_mem_eq(bytes + 8, in, 8);
}
END_TEST

START_TEST(test_N2_internal_can_be_chosen)
{
    const long in[] = {1, -2};
    long back[2];
    char name[DREP_MAX_DATAREP_STRING];
    int64_t first, again, n;
    drep_view *v = raw_view(temp_path("internal"), "internal", DREP_LONG);

    ok(drep_view_get(v, NULL, NULL, NULL, name));
    ck_assert_str_eq(name, "internal");
    for (int code = 1; code <= DREP_CODE_MAX; code++) {
        ok(drep_view_type_extent(v, drep_predefined(code), &first));
        ok(drep_type_file_extent(drep_predefined(code), "internal", &again));
        ck_assert_int_eq(first, again);
        ck_assert(first >= 1 && first <= 32);
    }
    ok(drep_write_at(v, 0, in, 2, DREP_LONG, NULL, &n));
    ok(drep_read_at(v, 0, back, 2, DREP_LONG, NULL, &n));
    ck_assert_mem_eq(back, in, sizeof in);
    ok(drep_view_close(v));
}
END_TEST

START_TEST(test_N3_names_are_as_written)
{
    static const char *const wrong[] = {"External32", "EXTERNAL32", "Native",
                                        "INTERNAL",   "native ",    " native",
                                        "",           "external",   "external321"};
    drep_view *v = raw_view(temp_path("names"), "native", DREP_INT);

    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++)
        fails(drep_view_set(v, 0, DREP_INT, DREP_INT, wrong[i], NULL),
              DREP_ERR_UNSUPPORTED_DATAREP);
    ok(drep_view_set(v, 0, DREP_INT, DREP_INT, "native:s390x", NULL));
    ok(drep_view_close(v));
}
END_TEST

/* -------------------------------------------------------------------- views */

START_TEST(test_V1_V7_what_was_set_comes_back)
{
    drep_type *etype, *filetype, *e, *f;
    char name[DREP_MAX_DATAREP_STRING];
    int64_t disp;
    drep_view *v;

    ok(drep_type_contiguous(2, DREP_LONG, &etype));
    ok(drep_type_vector(3, 1, 2, etype, &filetype));
    ok(drep_view_raw(temp_path("v7"), DREP_RDWR, NULL, &v));
    ok(drep_view_set(v, 24, etype, filetype, "external32", NULL));
    ok(drep_view_get(v, &disp, &e, &f, name));
    ck_assert_int_eq(disp, 24);
    ck_assert_str_eq(name, "external32");
    ck_assert(drep_type_equivalent(e, etype) && drep_type_portable(e));
    ck_assert(drep_type_equivalent(f, filetype) && drep_type_portable(f));
    /* The view's own reference, and ours. */
    drep_type_free(etype);
    drep_type_free(filetype);
    ck_assert_int_eq(drep_type_items(e), 2);
    ck_assert_int_eq(drep_type_items(f), 6);
    drep_type_free(e);
    drep_type_free(f);
    /* A representation alone, an etype of the filetype. */
    ok(drep_view_set(v, 0, DREP_INT, DREP_INT, NULL, NULL));
    ok(drep_view_get(v, &disp, NULL, NULL, name));
    ck_assert_str_eq(name, "external32");
    ok(drep_view_close(v));
}
END_TEST

START_TEST(test_V2_what_is_portable)
{
    static const struct {
        int portable;
        const char *text;
    } types[] = {{1, "INT"},
                 {1, "contiguous(2,INT)"},
                 {1, "vector(2,1,3,INT)"},
                 {1, "indexed([1,2],[4,0],INT)"},
                 {1, "indexed_block(2,[4,0],INT)"},
                 {1, "subarray([4,5],[2,2],[1,1],c,INT)"},
                 {1, "dup(contiguous(2,INT))"},
                 {1, "darray(2,1,[5],[block],[-1],[2],c,INT)"},
                 {0, "hvector(2,1,24,INT)"},
                 {0, "hindexed([1,1],[16,0],INT)"},
                 {0, "hindexed_block(1,[16,0],INT)"},
                 {0, "struct([1,1],[0,8],[INT,INT])"},
                 {0, "resized(0,16,INT)"},
                 {0, "contiguous(2,resized(0,16,INT))"},
                 {0, "dup(hvector(2,1,24,INT))"}};

    for (size_t i = 0; i < sizeof types / sizeof *types; i++) {
        drep_type *t;

        ok(drep_type_parse(types[i].text, &t));
        ck_assert_msg(drep_type_portable(t) == types[i].portable, "%s", types[i].text);
        drep_type_free(t);
    }
}
END_TEST

/* The standard's own numbers, and the bytes of the file. */
START_TEST(test_V3_C2_vectors_of_LONG)
{
    const char *path = temp_path("v3");
    const long value = 7, more[] = {1, 2, 3};
    drep_type *three, *strided;
    int64_t extent, at, n;
    drep_view *v = raw_view(path, "external32", DREP_LONG);

    ok(drep_type_contiguous(3, DREP_LONG, &three));
    ok(drep_type_vector(2, 1, 3, DREP_LONG, &strided));
    ok(drep_view_type_extent(v, three, &extent));
    ck_assert_int_eq(extent, 12);
    ok(drep_view_type_extent(v, strided, &extent));
    ck_assert_int_eq(extent, 16);
    ok(drep_view_byte_offset(v, 1, &at));
    ck_assert_int_eq(at, 4);
    ok(drep_write_at(v, 2, &value, 1, DREP_LONG, NULL, &n));
    file_is(path, "00000000 00000000 00000007");
    /* Holes scale too: one of three LONG is 12 bytes apart. */
    ok(drep_view_set(v, 0, DREP_LONG, strided, "external32", NULL));
    ok(drep_write_at(v, 0, more, 3, DREP_LONG, NULL, &n));
    file_is(path, "00000001 00000000 00000007 00000002 00000003");
    drep_type_free(three);
    drep_type_free(strided);
    ok(drep_view_close(v));
}
END_TEST

START_TEST(test_V5_disp_is_never_scaled)
{
    const char *path = temp_path("v5");
    const long value = 1;
    int64_t at, n;
    drep_view *v = raw_view(path, "external32", DREP_LONG);

    ok(drep_view_set(v, 3, DREP_LONG, DREP_LONG, "external32", NULL));
    ok(drep_view_byte_offset(v, 0, &at));
    ck_assert_int_eq(at, 3);
    ok(drep_write_at(v, 1, &value, 1, DREP_LONG, NULL, &n));
    file_is(path, "000000 00000000 00000001");
    ok(drep_view_close(v));
}
END_TEST

/* Five LONG asked for, ten bytes there: two items, and nothing behind them is touched. */
START_TEST(test_V8_C5_counts_are_items)
{
    const char *path = temp_path("v8");
    long back[5] = {-1, -1, -1, -1, -1};
    int64_t n = -1, whole;
    drep_view *v = raw_view(path, "external32", DREP_LONG);
    int fd = open(path, O_WRONLY);

    ck_assert_int_eq(write(fd, "\0\0\0\1\0\0\0\2\0\0", 10), 10);
    close(fd);
    ok(drep_read_at(v, 0, back, 5, DREP_LONG, NULL, &n));
    ck_assert_int_eq(n, 2);
    ck_assert(back[0] == 1 && back[1] == 2 && back[2] == -1 && back[4] == -1);
    ok(drep_view_size(v, &whole));
    ck_assert_int_eq(whole, 2);
    ok(drep_view_close(v));
}
END_TEST

/* ------------------------------------------- representations of one's own */

/* DOUBLE takes 11 bytes: its own, a comma, and where it stands (two bytes).  INT takes 3.
 * Other types have none. */
static struct {
    int extents, wrong_type, calls, fail, asked[DREP_CODE_MAX + 1];
    const void *state;
} eleven;

static int eleven_extent(const drep_type *type, int64_t *extent, void *state)
{
    eleven.extents++;
    eleven.wrong_type |= drep_type_code(type) == 0 || state != eleven.state;
    eleven.asked[drep_type_code(type)]++;
    if (drep_type_code(type) == DREP_CODE_LONG)
        return 99;
    *extent = drep_type_code(type) == DREP_CODE_DOUBLE ? 11
              : drep_type_code(type) == DREP_CODE_INT  ? 3
                                                       : DREP_UNDEFINED;
    return 0;
}

static int eleven_run(char *user, const drep_type *type, int64_t count, uint8_t *file,
                      int64_t position, bool writing)
{
    drep_cursor cursor;
    drep_run run;

    eleven.calls++;
    if (eleven.fail)
        return eleven.fail;
    drep_cursor_init(&cursor, type, position);
    for (; drep_cursor_next(&cursor, count, &run); count -= run.count)
        for (int64_t i = 0; i < run.count; i++, position++) {
            char *item = user + run.offset + i * run.stride;

            if (drep_type_code(run.type) == DREP_CODE_DOUBLE) {
                writing ? memcpy(file, item, 8) : memcpy(item, file, 8);
                if (writing) {
                    file[8] = ',';
                    file[9] = (uint8_t)(position >> 8);
                    file[10] = (uint8_t)position;
                }
                file += 11;
            } else {
                int32_t number = 0;

                memcpy(&number, item, 4);
                for (int b = 0; writing && b < 3; b++)
                    file[b] = (uint8_t)((uint32_t)number >> (16 - 8 * b));
                number = (int32_t)((uint32_t)file[0] << 24 | (uint32_t)file[1] << 16 |
                                   (uint32_t)file[2] << 8) >>
                         8;
                if (!writing)
                    memcpy(item, &number, 4);
                file += 3;
            }
        }
    return 0;
}

static int eleven_write(void *user, const drep_type *type, int64_t count, void *file,
                        int64_t position, void *state)
{
    eleven.wrong_type |= state != eleven.state;
    return eleven_run(user, type, count, file, position, true);
}

static int eleven_read(void *user, const drep_type *type, int64_t count, void *file,
                       int64_t position, void *state)
{
    eleven.wrong_type |= state != eleven.state;
    return eleven_run(user, type, count, file, position, false);
}

static void register_eleven(void)
{
    static int state, done;

    if (done++)
        return;
    eleven.state = &state;
    ok(drep_register_datarep("eleven", eleven_read, eleven_write, eleven_extent, &state));
    ck_assert_int_eq(eleven.extents + eleven.calls, 0); /* U11 */
}

START_TEST(test_X1_X2_extents_follow_the_representation)
{
    drep_type *three, *strided, *mixed;
    const drep_type *const members[] = {DREP_DOUBLE, DREP_INT, DREP_DOUBLE};
    const int64_t displs[] = {0, 11, 14};
    int64_t extent;
    drep_view *v;

    register_eleven();
    ok(drep_type_contiguous(3, DREP_DOUBLE, &three));
    ok(drep_type_vector(2, 1, 3, DREP_DOUBLE, &strided));
    ok(drep_type_struct(3, NULL, displs, members, &mixed));
    v = raw_view(temp_path("x1"), "native", DREP_DOUBLE);
    ok(drep_view_type_extent(v, strided, &extent));
    ck_assert_int_eq(extent, 4 * (int64_t)sizeof(double));
    ok(drep_view_set(v, 0, DREP_DOUBLE, DREP_DOUBLE, "external32", NULL));
    ok(drep_view_type_extent(v, strided, &extent));
    ck_assert_int_eq(extent, 32);
    ok(drep_view_set(v, 0, DREP_DOUBLE, DREP_DOUBLE, "eleven", NULL));
    ok(drep_view_type_extent(v, DREP_DOUBLE, &extent));
    ck_assert_int_eq(extent, 11);
    ok(drep_view_type_extent(v, three, &extent));
    ck_assert_int_eq(extent, 33);
    ok(drep_view_type_extent(v, strided, &extent));
    ck_assert_int_eq(extent, 44);
    ok(drep_view_type_extent(v, mixed, &extent));
    ck_assert_int_eq(extent, 25);
    ok(drep_type_file_extent(mixed, "eleven", &extent));
    ck_assert_int_eq(extent, 25);
    ok(drep_view_close(v));
    drep_type_free(three);
    drep_type_free(strided);
    drep_type_free(mixed);
}
END_TEST

START_TEST(test_X3_no_alignment)
{
    drep_type *t;
    int64_t extent;

    ok(drep_type_parse("struct([1,1,1],[0,8,16],[CHAR,DOUBLE,INT])", &t));
    ok(drep_type_file_extent(t, "external32", &extent));
    ck_assert_int_eq(extent, 20);
    drep_type_free(t);
}
END_TEST

static int some_extent(const drep_type *type, int64_t *extent, void *state)
{
    (void)state;
    *extent = drep_type_size(type);
    return 0;
}

/* What a child process registers its parent does not know. */
START_TEST(test_U1_registering)
{
    char name[200];
    int64_t extent;
    int status;
    pid_t pid = fork();

    if (pid == 0)
        _exit(drep_register_datarep("of the child", NULL, NULL, some_extent, NULL) != 0 ||
              drep_type_file_extent(DREP_INT, "of the child", &extent) != 0);
    ck_assert_int_eq(waitpid(pid, &status, 0), pid);
    ck_assert_int_eq(status, 0);
    fails(drep_type_file_extent(DREP_INT, "of the child", &extent), DREP_ERR_UNSUPPORTED_DATAREP);

    memset(name, 'n', sizeof name);
    name[128] = '\0';
    fails(drep_register_datarep(name, NULL, NULL, some_extent, NULL), DREP_ERR_NAME);
    name[127] = '\0';
    ok(drep_register_datarep(name, NULL, NULL, some_extent, NULL));
    ok(drep_type_file_extent(DREP_INT, name, &extent));
    ck_assert_int_eq(extent, sizeof(int));
    fails(drep_register_datarep("", NULL, NULL, some_extent, NULL), DREP_ERR_NAME);
    fails(drep_register_datarep(NULL, NULL, NULL, some_extent, NULL), DREP_ERR_NAME);
    fails(drep_register_datarep("no extents", NULL, NULL, NULL, NULL), DREP_ERR_ARG);
}
END_TEST

START_TEST(test_U2_C6_a_name_is_registered_once)
{
    static const char *const taken[] = {"native", "internal", "external32", "eleven"};

    register_eleven();
    for (size_t i = 0; i < sizeof taken / sizeof *taken; i++) {
        fails(drep_register_datarep(taken[i], eleven_read, eleven_write, some_extent, NULL),
              DREP_ERR_DUP_DATAREP);
        ck_assert_ptr_nonnull(strstr(drep_error(), taken[i]));
        fails(drep_declare_datarep(taken[i], "external32", NULL, 0, NULL, 0), DREP_ERR_DUP_DATAREP);
    }
    fails(drep_register_datarep("native:s390x", NULL, NULL, some_extent, NULL), DREP_ERR_NAME);
    fails(drep_register_datarep("native:mine", NULL, NULL, some_extent, NULL), DREP_ERR_NAME);
}
END_TEST

START_TEST(test_U4_the_extent_function)
{
    const double in[] = {1, 2};
    wchar_t back[1];
    drep_type *wrong;
    int64_t n, extent;
    drep_view *v;

    register_eleven();
    eleven.extents = eleven.wrong_type = 0;
    memset(eleven.asked, 0, sizeof eleven.asked);
    v = raw_view(temp_path("u4"), "eleven", DREP_DOUBLE);
    ck_assert_int_eq(eleven.extents, 0); /* U11: setting a view calls nothing */
    ok(drep_write_at(v, 0, in, 2, DREP_DOUBLE, NULL, &n));
    ck_assert_int_gt(eleven.extents, 0);
    ck_assert_int_eq(eleven.wrong_type, 0);
    for (int code = 1; code <= DREP_CODE_MAX; code++) /* of what the user uses, and no more */
        ck_assert(eleven.asked[code] == 0 || code == DREP_CODE_DOUBLE);
    /* What is not representable. */
    fails(drep_view_type_extent(v, DREP_WCHAR, &extent), DREP_ERR_VALUE_TOO_LARGE);
    fails(drep_type_file_extent(DREP_WCHAR, "eleven", &extent), DREP_ERR_VALUE_TOO_LARGE);
    ck_assert_ptr_nonnull(strstr(drep_error(), "WCHAR"));
    ok(drep_type_contiguous(2, DREP_WCHAR, &wrong));
    fails(drep_pack_size("eleven", 1, wrong, &extent), DREP_ERR_VALUE_TOO_LARGE);
    drep_type_free(wrong);
    ok(drep_view_set(v, 0, DREP_WCHAR, DREP_WCHAR, "eleven", NULL));
    fails(drep_read_at(v, 0, back, 1, DREP_WCHAR, NULL, &n), DREP_ERR_VALUE_TOO_LARGE);
    /* What fails. */
    fails(drep_type_file_extent(DREP_LONG, "eleven", &extent), DREP_ERR_CONVERSION);
    ck_assert_ptr_nonnull(strstr(drep_error(), "99"));
    ok(drep_view_close(v));
}
END_TEST

/* A container asks for the datatypes in use alone, once for each handle. */
START_TEST(test_U4_extents_of_a_container)
{
    const char *path = temp_path("u4.drep");
    drep_dataset *ds;
    drep_file *f;
    int64_t two = 2;

    register_eleven();
    memset(eleven.asked, 0, sizeof eleven.asked);
    f = new_file(path, "eleven");
    drep_dataset_close(new_dataset(f, "/d", DREP_DOUBLE, 1, &two));
    drep_dataset_close(new_dataset(f, "/e", DREP_DOUBLE, 1, &two));
    fails(drep_dataset_create(f, "/w", &DREP_SPEC(.type = DREP_WCHAR), NULL),
          DREP_ERR_VALUE_TOO_LARGE);
    fails(drep_dataset_create(f, "/l", &DREP_SPEC(.type = DREP_LONG), NULL), DREP_ERR_CONVERSION);
    for (int code = 1; code <= DREP_CODE_MAX; code++)
        ck_assert_int_eq(eleven.asked[code], code == DREP_CODE_DOUBLE || code == DREP_CODE_WCHAR ||
                                                 code == DREP_CODE_LONG);
    ok(drep_close(f));
    memset(eleven.asked, 0, sizeof eleven.asked);
    ok(drep_open(path, DREP_RDONLY, NULL, &f));
    ok(drep_dataset_open(f, "/d", &ds));
    drep_dataset_close(ds);
    for (int code = 1; code <= DREP_CODE_MAX; code++)
        ck_assert_int_eq(eleven.asked[code], code == DREP_CODE_DOUBLE);
    ok(drep_close(f));
}
END_TEST

/* Items of 11 and 3 bytes stand one behind the other; the position is the number of the
 * item, whatever it is cut into. */
START_TEST(test_U5_U6_U8_mixed_items)
{
    static const char want[] = /* the doubles as this machine holds them */
#if __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
        "3ff0000000000000 2c0000 00000a 4000000000000000 2c0002 fffff6 4008000000000000 2c0004 "
        "000007";
#else
        "000000000000f03f 2c0000 00000a 0000000000000040 2c0002 fffff6 0000000000000840 2c0004 "
        "000007";
#endif
    const struct pair {
        double d;
        int i;
    } in[] = {{1, 10}, {2, -10}, {3, 7}};
    struct pair back[3];
    static const char *const staging[] = {"1", "12", "15", "28", "1000"};
    drep_type *pair;

    register_eleven();
    ok(drep_type_struct(2, NULL, NULL, (const drep_type *const[]){DREP_DOUBLE, DREP_INT}, &pair));
    for (size_t i = 0; i < sizeof staging / sizeof *staging; i++) {
        const char *path = temp_path("u8");
        drep_info *info = hints("X=y", (char *)NULL);
        drep_type *etype;
        int64_t n;
        drep_view *v;

        unlink(path);
        ok(drep_info_set(info, "cb_buffer_size", staging[i]));
        ok(drep_view_raw(path, DREP_RDWR, info, &v));
        ok(drep_type_struct(2, NULL, (const int64_t[]){0, 11},
                            (const drep_type *const[]){DREP_DOUBLE, DREP_INT}, &etype));
        ok(drep_view_set(v, 0, etype, etype, "eleven", NULL));
        ok(drep_write_at(v, 0, in, 3, pair, NULL, &n));
        ck_assert_int_eq(n, 6);
        file_is(path, want);
        memset(back, 0, sizeof back);
        ok(drep_read_at(v, 1, back, 2, pair, NULL, &n));
        ck_assert(back[0].d == 2 && back[0].i == -10 && back[1].d == 3 && back[1].i == 7);
        drep_type_free(etype);
        drep_info_free(info);
        ok(drep_view_close(v));
    }
    drep_type_free(pair);
}
END_TEST

START_TEST(test_U9_a_failing_function)
{
    double in[2] = {1, 2};
    int64_t n;
    drep_view *v;

    register_eleven();
    v = raw_view(temp_path("u9"), "eleven", DREP_DOUBLE);
    ok(drep_write_at(v, 0, in, 2, DREP_DOUBLE, NULL, &n));
    eleven.fail = 4711;
    fails(drep_write_at(v, 0, in, 2, DREP_DOUBLE, NULL, &n), DREP_ERR_CONVERSION);
    ck_assert_ptr_nonnull(strstr(drep_error(), "4711"));
    fails(drep_read_at(v, 0, in, 2, DREP_DOUBLE, NULL, &n), DREP_ERR_CONVERSION);
    eleven.fail = 0;
    ok(drep_view_close(v));
}
END_TEST

/* One function each: the other direction is native. */
START_TEST(test_U10_C3_a_missing_function)
{
    const double in[] = {1.5, -2.5};
    uint8_t bytes[16];
    double back[2];
    int64_t at = 0;

    ok(drep_register_datarep("only read", xor_read, DREP_CONVERSION_NULL, native_extent, NULL));
    ok(drep_register_datarep("only write", DREP_CONVERSION_NULL, xor_write, native_extent, NULL));
    ok(drep_pack("only read", in, 2, DREP_DOUBLE, bytes, 16, &at));
    ck_assert_mem_eq(bytes, in, 16);
    for (int i = 0; i < 16; i++)
        bytes[i] ^= 0x5a;
    at = 0;
    ok(drep_unpack("only read", bytes, 16, &at, back, 2, DREP_DOUBLE));
    ck_assert_mem_eq(back, in, 16);
    at = 0;
    ok(drep_pack("only write", in, 2, DREP_DOUBLE, bytes, 16, &at));
    for (int i = 0; i < 16; i++)
        ck_assert_int_eq(bytes[i] ^ 0x5a, ((const uint8_t *)in)[i]);
    at = 0;
    ok(drep_unpack("only write", in, 16, &at, back, 2, DREP_DOUBLE));
    ck_assert_mem_eq(back, in, 16);
    /* Native form needs native extents: the error names the type. */
    ok(drep_register_datarep("narrow", eleven_read, DREP_CONVERSION_NULL, eleven_extent,
                             (void *)(uintptr_t)eleven.state));
    at = 0;
    ck_assert_int_ne(drep_pack("narrow", in, 1, DREP_DOUBLE, bytes, 16, &at), 0);
    ck_assert_ptr_nonnull(strstr(drep_error(), "DOUBLE"));
}
END_TEST

/* Counts beyond 32 bits, in extents, sizes and positions. */
START_TEST(test_U12_counts_of_64_bits)
{
    const int64_t many = (int64_t)3 << 32;
    const char *path = temp_path("u12");
    drep_type *t;
    int64_t size, n;
    int value = 7, back = 0;
    drep_view *v;

    register_eleven();
    ok(drep_type_contiguous(many, DREP_INT, &t));
    ck_assert_int_eq(drep_type_items(t), many);
    ok(drep_pack_size("eleven", 2, t, &size));
    ck_assert_int_eq(size, 2 * 3 * many);
    drep_type_free(t);
    v = raw_view(path, "external32", DREP_INT);
    ok(drep_write_at(v, many, &value, 1, DREP_INT, NULL, &n)); /* a hole before */
    ok(drep_view_size(v, &size));
    ck_assert_int_eq(size, many + 1);
    ok(drep_read_at(v, many, &back, 1, DREP_INT, NULL, &n));
    ck_assert_int_eq(back, 7);
    ok(drep_view_close(v));
    unlink(path);
}
END_TEST

/* ------------------------------------------------------------------- errors */

START_TEST(test_R1_classes)
{
    static const int classes[] = {DREP_ERR_CONVERSION,
                                  DREP_ERR_DUP_DATAREP,
                                  DREP_ERR_UNSUPPORTED_DATAREP,
                                  DREP_ERR_UNSUPPORTED_OPERATION,
                                  DREP_ERR_NOT_SAME,
                                  DREP_ERR_VALUE_TOO_LARGE};
    int64_t size;

    for (size_t i = 0; i < sizeof classes / sizeof *classes; i++) {
        ck_assert_int_ne(classes[i], 0);
        ck_assert_str_ne(drep_strerror(classes[i]), drep_strerror(0));
        ck_assert_str_ne(drep_strerror(classes[i]), drep_strerror(-1));
        for (size_t k = 0; k < i; k++)
            ck_assert_str_ne(drep_strerror(classes[i]), drep_strerror(classes[k]));
    }
    size = 5;
    fails(drep_pack_size("nobody's", 1, DREP_INT, &size), DREP_ERR_UNSUPPORTED_DATAREP);
    ck_assert_int_eq(size, 5);
    ck_assert_ptr_nonnull(strstr(drep_error(), "nobody's"));
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("requirements_user");
    TCase *tc = tcase_create("all");

    tcase_add_test(tc, test_N1_native_is_memory);
    tcase_add_test(tc, test_N2_internal_can_be_chosen);
    tcase_add_test(tc, test_N3_names_are_as_written);
    tcase_add_test(tc, test_V1_V7_what_was_set_comes_back);
    tcase_add_test(tc, test_V2_what_is_portable);
    tcase_add_test(tc, test_V3_C2_vectors_of_LONG);
    tcase_add_test(tc, test_V5_disp_is_never_scaled);
    tcase_add_test(tc, test_V8_C5_counts_are_items);
    tcase_add_test(tc, test_X1_X2_extents_follow_the_representation);
    tcase_add_test(tc, test_X3_no_alignment);
    tcase_add_test(tc, test_U1_registering);
    tcase_add_test(tc, test_U2_C6_a_name_is_registered_once);
    tcase_add_test(tc, test_U4_the_extent_function);
    tcase_add_test(tc, test_U4_extents_of_a_container);
    tcase_add_test(tc, test_U5_U6_U8_mixed_items);
    tcase_add_test(tc, test_U9_a_failing_function);
    tcase_add_test(tc, test_U10_C3_a_missing_function);
    tcase_add_test(tc, test_U12_counts_of_64_bits);
    tcase_add_test(tc, test_R1_classes);
    suite_add_tcase(suite, tc);
    return run_suite(suite);
}
