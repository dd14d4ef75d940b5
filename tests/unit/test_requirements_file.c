/* test_requirements_file.c - the rules of hints and of containers. */
/* SPDX-License-Identifier: MIT */
#include "data_help.h"

#include "base/info.h"
#include "format/record.h"

#include <fcntl.h>
#include <math.h>
#include <pthread.h>
#include <sys/wait.h>

/* The file has these bytes somewhere. */
static bool file_has(const char *path, const void *bytes, size_t size)
{
    static uint8_t all[1 << 20];
    int fd = open(path, O_RDONLY);
    ssize_t n = read(fd, all, sizeof all);

    close(fd);
    ck_assert(n > 0 && n < (ssize_t)sizeof all);
    return memmem(all, (size_t)n, bytes, size) != NULL;
}

/* -------------------------------------------------------------------- hints */

static const char *value_of(drep_file *f, const char *key)
{
    static char value[DREP_MAX_INFO_VAL + 1];
    drep_info *info;
    const char *v;

    ok(drep_get_info(f, &info));
    v = drep_info_get(info, key);
    snprintf(value, sizeof value, "%s", v ? v : "(not there)");
    drep_info_free(info);
    return value;
}

START_TEST(test_H1_H3_C4_all_that_are_known)
{
    static const char *const reserved[] = {"access_style",  "collective_buffering",
                                           "cb_block_size", "cb_buffer_size",
                                           "cb_nodes",      "chunked",
                                           "chunked_item",  "chunked_size",
                                           "filename",      "file_perm",
                                           "io_node_list",  "nb_proc",
                                           "num_io_nodes",  "striping_factor",
                                           "striping_unit"};
    static const char *const known[] = {
#define X(key, kind, value) key,
#include "format/hints.def"
#undef X
    };
    drep_info *info = hints("no_such_hint=7", "cb_nodes=3", "drep_sync=none", (char *)NULL), *one,
              *two;
    drep_file *f;

    ok(drep_create(":memory:", DREP_RDWR, "external32", info, &f));
    drep_info_free(info);
    for (size_t i = 0; i < sizeof reserved / sizeof *reserved; i++)
        ck_assert_str_ne(value_of(f, reserved[i]), "(not there)");
    ck_assert_str_eq(value_of(f, "cb_nodes"), "1"); /* what is in force: one process */
    ck_assert_str_eq(value_of(f, "collective_buffering"), "false");
    ck_assert_str_eq(value_of(f, "no_such_hint"), "(not there)");
    /* All of them and nothing else; each time a new object. */
    ok(drep_get_info(f, &one));
    ok(drep_get_info(f, &two));
    ck_assert_ptr_ne(one, two);
    ck_assert_int_eq(drep_info_count(one), (int)(sizeof known / sizeof *known));
    for (size_t i = 0; i < sizeof known / sizeof *known; i++)
        ck_assert_ptr_nonnull(drep_info_get(one, known[i]));
    ok(drep_info_set(one, "cb_nodes", "9"));
    ck_assert_str_eq(drep_info_get(two, "cb_nodes"), "1");
    ck_assert_str_eq(value_of(f, "cb_nodes"), "1");
    drep_info_free(one);
    drep_info_free(two);
    drep_abandon(f);
}
END_TEST

START_TEST(test_H2_the_others_stay)
{
    drep_info *info = hints("cb_buffer_size=3", "drep_threads=5", "drep_sync=none", (char *)NULL);
    drep_file *f;

    ok(drep_create(":memory:", DREP_RDWR, "external32", info, &f));
    drep_info_free(info);
    info = hints("drep_threads=7", "unknown=1", (char *)NULL);
    ok(drep_set_info(f, info));
    drep_info_free(info);
    ck_assert_str_eq(value_of(f, "drep_threads"), "7");
    ck_assert_str_eq(value_of(f, "cb_buffer_size"), "3");
    /* A value that is none, and a key that only counts at opening. */
    info = hints("drep_threads=many", "cb_buffer_size=4", "drep_sync=commit", (char *)NULL);
    ok(drep_set_info(f, info));
    drep_info_free(info);
    ck_assert_str_eq(value_of(f, "drep_threads"), "7");
    ck_assert_str_eq(value_of(f, "cb_buffer_size"), "4");
    ck_assert_str_eq(value_of(f, "drep_sync"), "none");
    drep_abandon(f);
}
END_TEST

/* Whatever is promised about access, what was written is read. */
START_TEST(test_H4_data_is_the_same)
{
    static const char *const pairs[] = {"access_style=read_once,sequential",
                                        "cb_buffer_size=64",
                                        "collective_buffering=true",
                                        "chunked=4",
                                        "striping_unit=65536",
                                        "drep_cache_size=0"};
    const int64_t dims[] = {50};
    double in[50], out[50];

    for (int i = 0; i < 50; i++)
        in[i] = i * 1.5;
    for (size_t i = 0; i < sizeof pairs / sizeof *pairs; i++) {
        drep_info *info = hints(pairs[i], "drep_sync=none", (char *)NULL);
        const char *path = temp_path("hints");
        drep_dataset *ds;
        drep_file *f;

        ok(drep_create(path, DREP_RDWR, "external32", info, &f));
        ds = new_dataset(f, "/x", DREP_DOUBLE, 1, dims);
        ok(drep_write(ds, NULL, NULL, in, NULL));
        drep_dataset_close(ds);
        ok(drep_close(f));
        ok(drep_open(path, DREP_RDONLY, info, &f));
        ok(drep_dataset_open(f, "/x", &ds));
        memset(out, 0, sizeof out);
        ok(drep_read(ds, NULL, NULL, out, NULL));
        ck_assert_mem_eq(in, out, sizeof in);
        drep_dataset_close(ds);
        ok(drep_close(f));
        drep_info_free(info);
    }
}
END_TEST

START_TEST(test_H5_how_values_are_written)
{
    static const struct {
        const char *key, *value;
        int valid;
    } rows[] = {{"collective_buffering", "true", 1},
                {"collective_buffering", "false", 1},
                {"collective_buffering", "True", 0},
                {"collective_buffering", "1", 0},
                {"cb_nodes", "5", 1},
                {"cb_nodes", "+5", 1},
                {"cb_nodes", "-5", 0},
                {"drep_time", "-5", 1},
                {"cb_nodes", "9223372036854775807", 1},
                {"cb_nodes", "9223372036854775808", 0},
                {"cb_nodes", "- 5", 0},
                {"cb_nodes", "5 ", 0},
                {"cb_nodes", "0x10", 0},
                {"cb_nodes", "5.0", 0},
                {"cb_nodes", "five", 0},
                {"CB_NODES", "5", 0},
                {"chunked", " 1 , 2,3 ", 1},
                {"chunked", "1,,3", 0},
                {"chunked", "1 2", 0},
                {"access_style", " read_once , random", 1}};
    char key[DREP_MAX_INFO_KEY + 2];
    drep_info *info;
    int64_t list[4];

    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        ck_assert_msg(info_valid(rows[i].key, rows[i].value) == rows[i].valid, "%s=%s", rows[i].key,
                      rows[i].value);
    info = hints("chunked= 10 , 20,30 ", "access_style= read_once , random", (char *)NULL);
    ck_assert_int_eq(info_ints(info, "chunked", list, 4), 3);
    ck_assert(list[0] == 10 && list[1] == 20 && list[2] == 30);
    ck_assert_ptr_nonnull(strstr(info_str(info, "access_style"), "random"));
    memset(key, 'k', sizeof key);
    key[DREP_MAX_INFO_KEY] = '\0';
    ok(drep_info_set(info, key, "a value"));
    ck_assert_str_eq(drep_info_get(info, key), "a value");
    key[DREP_MAX_INFO_KEY] = 'k';
    key[DREP_MAX_INFO_KEY + 1] = '\0';
    fails(drep_info_set(info, key, "a value"), DREP_ERR_INFO_KEY);
    drep_info_free(info);
}
END_TEST

/* ----------------------------------------- functions of another process */

static int64_t wide;
static int extents_asked;

static int wide_extent(const drep_type *type, int64_t *extent, void *state)
{
    (void)state;
    extents_asked++;
    *extent = drep_type_size(type) + wide;
    return 0;
}

/* Runs fn in a process of its own, which registers what we shall not know. */
static void elsewhere(void (*fn)(const char *path), const char *path)
{
    int status;
    pid_t pid = fork();

    if (pid == 0) {
        fn(path);
        _exit(0);
    }
    ck_assert_int_eq(waitpid(pid, &status, 0), pid);
    ck_assert_int_eq(status, 0);
}

static void make_c1(const char *path)
{
    const int64_t dims[] = {3};
    const int in[] = {1, 2, 3};
    drep_file *f;
    drep_dataset *ds;

    ok(drep_register_datarep("c1", xor_read, xor_write, wide_extent, NULL));
    f = new_file(path, "c1");
    ds = new_dataset(f, "/x", DREP_INT, 1, dims);
    ok(drep_write(ds, NULL, NULL, in, NULL));
    drep_dataset_close(ds);
    ok(drep_attr_write_double(f, "/x", "scale", 0.25));
    ok(drep_attr_write_string(f, "/", "title", "kept"));
    ok(drep_close(f));
}

/* D5: what stands in attributes can be read without any function. */
START_TEST(test_C1_D5_extents_and_attributes)
{
    const char *path = temp_path("c1");
    drep_type *text;
    char *title;
    int elements[64];
    double scale = 0;
    drep_dataset *ds;
    drep_file *f;

    elsewhere(make_c1, path);
    ok(drep_open(path, DREP_RDONLY, NULL, &f));
    ok(drep_dataset_open(f, "/x", &ds));
    fails(drep_read(ds, NULL, NULL, elements, NULL), DREP_ERR_UNSUPPORTED_DATAREP);
    ck_assert_ptr_nonnull(strstr(drep_error(), "\"c1\""));
    drep_dataset_close(ds);
    ok(drep_close(f));
    ok(drep_open(path, DREP_RDONLY | DREP_HEADER_ONLY, NULL, &f));
    ok(drep_attr_read(f, "/x", "scale", DREP_DOUBLE, &scale));
    ck_assert(scale == 0.25);
    ok(drep_type_vstring(&text));
    ok(drep_attr_read(f, "/", "title", text, &title));
    ck_assert_str_eq(title, "kept");
    drep_vlen_free(text, 1, &title);
    drep_type_free(text);
    ok(drep_close(f));

    /* The same name with other extents: refused when elements are read, naming the type. */
    wide = 1;
    extents_asked = 0;
    ok(drep_register_datarep("c1", xor_read, xor_write, wide_extent, NULL));
    ok(drep_open(path, DREP_RDONLY, NULL, &f));
    ck_assert_int_eq(extents_asked, 0);
    ok(drep_dataset_open(f, "/x", &ds));
    fails(drep_read(ds, NULL, NULL, elements, NULL), DREP_ERR_UNSUPPORTED_DATAREP);
    ck_assert_ptr_nonnull(strstr(drep_error(), "INT"));
    drep_dataset_close(ds);
    ck_assert_int_gt(extents_asked, 0);
    wide = 0;
    ok(drep_dataset_open(f, "/x", &ds));
    drep_dataset_close(ds);
    ok(drep_close(f));
}
END_TEST

/* Native form with extents that are not: refused where the type comes into use. */
START_TEST(test_C3_U10_native_form_needs_native_extents)
{
    const int64_t dims[] = {3};
    const drep_spec spec = DREP_SPEC(.type = DREP_DOUBLE, .rank = 1, .dims = dims);
    drep_dataset *ds;
    drep_file *f;

    ok(drep_register_datarep("c3", xor_read, DREP_CONVERSION_NULL, wide_extent, NULL));
    wide = 3;
    f = new_file(":memory:", "c3");
    fails(drep_dataset_create(f, "/x", &spec, &ds), DREP_ERR_UNSUPPORTED_DATAREP);
    ck_assert_ptr_nonnull(strstr(drep_error(), "DOUBLE"));
    drep_abandon(f);
    wide = 0;
    f = new_file(":memory:", "c3");
    ok(drep_dataset_create(f, "/x", &spec, &ds));
    drep_dataset_close(ds);
    drep_abandon(f);
}
END_TEST

/* ---------------------------------------------------------- what is stored */

/* The same three bytes under every representation, read as any number. */
START_TEST(test_D2_scalars_mean_the_same_everywhere)
{
    const drep_scalar s24 = {.cls = DREP_SCALAR_INT,
                             .order = DREP_BIG,
                             .size = 3,
                             .is_signed = 1,
                             .format = DREP_FORMAT_CUSTOM,
                             .precision = 24};
    const uint8_t in[] = {0x12, 0x34, 0x56, 0xff, 0xff, 0xfe, 0x7a, 0x5b, 0x3c};
    const int64_t dims[] = {3};

    register_datareps();
    for (int i = 0; i < DATAREPS; i++) {
        const char *path = temp_path("d2");
        drep_file *f = new_file(path, datareps[i]);
        double out[3];
        drep_type *type;
        drep_dataset *ds;

        ok(drep_type_scalar(&s24, &type));
        ds = new_dataset(f, "/x", type, 1, dims);
        ok(drep_write(ds, NULL, type, in, NULL));
        ok(drep_read(ds, NULL, DREP_DOUBLE, out, NULL));
        ck_assert(out[0] == 0x123456 && out[1] == -2 && out[2] == 0x7a5b3c);
        drep_dataset_close(ds);
        drep_type_free(type);
        ok(drep_close(f));
        ck_assert(file_has(path, in, sizeof in));
    }
}
END_TEST

static int codes_seen[DREP_CODE_MAX + 1], others_seen;

static int seeing_write(void *user, const drep_type *type, int64_t count, void *file,
                        int64_t position, void *state)
{
    drep_cursor cursor;
    drep_run run;

    for (int64_t left = count; left > 0; left -= run.count) {
        if (left == count)
            drep_cursor_init(&cursor, type, position);
        if (!drep_cursor_next(&cursor, left, &run))
            break;
        if (drep_type_kind(run.type) == DREP_KIND_PREDEFINED)
            codes_seen[drep_type_code(run.type)]++;
        else
            others_seen++;
    }
    return xor_write(user, type, count, file, position, state);
}

START_TEST(test_D3_what_functions_see)
{
    const char *const names[] = {"e", "b", "o", "s", "c", "f"}, *const colours[] = {"RED", "BLUE"};
    struct {
        int16_t e;
        int8_t b;
        char o[7], s[5], c[3];
        float f;
    } in = {1, 1, {1, 2, 3, 4, 5, 6, 7}, "wxyz", {'x', 'y', 'z'}, 1.5f}, back = {0};
    const char *path = temp_path("d3");
    const int64_t three = 3;
    drep_type *e, *b, *o, *s, *c, *t;
    drep_dataset *ds;
    drep_file *f;

    ok(drep_register_datarep("seeing", xor_read, seeing_write, native_extent, NULL));
    ok(drep_type_enum(DREP_INT16_T, 2, colours, (const int64_t[]){0, 1}, &e));
    ok(drep_type_boolean(DREP_INT8_T, &b));
    ok(drep_type_opaque(7, "seven", &o));
    ok(drep_type_string(5, DREP_PAD_NUL, &s));
    ok(drep_type_array(1, &three, DREP_CHAR, &c));
    ok(drep_type_compound(6, names, NULL, (const drep_type *const[]){e, b, o, s, c, DREP_FLOAT}, 0,
                          &t));
    ck_assert_int_eq(drep_type_extent(t), sizeof in);
    f = new_file(path, "seeing");
    ds = new_dataset(f, "/x", t, 0, NULL);
    memset(codes_seen, 0, sizeof codes_seen);
    ok(drep_write(ds, NULL, NULL, &in, NULL));
    ok(drep_read(ds, NULL, NULL, &back, NULL));
    ck_assert(back.e == 1 && back.b == 1 && back.f == 1.5f && memcmp(back.c, "xyz", 3) == 0);
    drep_dataset_close(ds);
    ok(drep_close(f));
    /* Predefined types alone: of the enum and the boolean their base, characters. */
    ck_assert_int_eq(others_seen, 0);
    for (int code = 1; code <= DREP_CODE_MAX; code++)
        ck_assert_int_eq(codes_seen[code] > 0,
                         code == DREP_CODE_INT16_T || code == DREP_CODE_INT8_T ||
                             code == DREP_CODE_CHAR || code == DREP_CODE_FLOAT);
    /* Opaque and strings are bytes as they were. */
    ck_assert(file_has(path, "\1\2\3\4\5\6\7wxyz", 12));
    ck_assert(file_has(path, (const char[]){'x' ^ 0x5a, 'y' ^ 0x5a, 'z' ^ 0x5a}, 3));
    drep_type_free(e);
    drep_type_free(b);
    drep_type_free(o);
    drep_type_free(s);
    drep_type_free(c);
    drep_type_free(t);
}
END_TEST

START_TEST(test_D4_variable_length)
{
    int first[] = {1, 2, 3}, third[] = {4};
    const drep_vlen in[] = {{3, first}, {0, NULL}, {1, third}};
    drep_vlen out[3] = {{0, NULL}};
    const int64_t dims[] = {3};
    drep_file *f = new_file(":memory:", "external32");
    uint8_t bytes[64];
    int64_t at = 0;
    drep_type *seq;
    drep_dataset *ds;

    ok(drep_type_sequence(DREP_INT, &seq));
    ds = new_dataset(f, "/x", seq, 1, dims);
    ok(drep_write(ds, NULL, NULL, in, NULL));
    ok(drep_read(ds, NULL, NULL, out, NULL));
    ck_assert(out[0].count == 3 && out[1].count == 0 && out[2].count == 1);
    ck_assert_mem_eq(out[0].data, first, sizeof first);
    ck_assert_mem_eq(out[2].data, third, sizeof third);
    drep_vlen_free(seq, 3, out);
    ck_assert_ptr_null(out[0].data);
    /* Pack refuses them by name. */
    fails(drep_pack("external32", in, 1, seq, bytes, sizeof bytes, &at), DREP_ERR_TYPE);
    check_file(f);
    drep_dataset_close(ds);
    drep_type_free(seq);
    drep_abandon(f);
}
END_TEST

/* Tables are converted by the engine, functions are called: the same values through the
 * functions that stand behind a table lie as the same bytes. */
START_TEST(test_D7_table_and_functions_agree)
{
    static const char *const names[] = {"external32",  "internal",    "native:s390x",
                                        "native:i386", "native:m68k", "small"};
    struct {
        double d;
        int i[3];
        long l;
        char c;
    } in[20];
    drep_type *type;

    register_datareps();
    ok(drep_type_parse("struct{d: DOUBLE, i: INT[3], l: LONG, c: CHAR}", &type));
    ck_assert_int_eq(drep_type_extent(type), sizeof in[0]);
    for (int i = 0; i < 20; i++) {
        memset(&in[i], 0, sizeof in[i]);
        in[i].d = i * 0.75 - 3;
        in[i].i[0] = in[i].i[1] = in[i].i[2] = 1000 * i - 7;
        in[i].l = -i;
        in[i].c = (char)('a' + i);
    }
    for (size_t n = 0; n < sizeof names / sizeof *names; n++) {
        char twin[40];
        const char *path = temp_path("d7");
        const int64_t dims[] = {20};
        static uint8_t packed[20 * 100];
        int64_t size = 0;
        drep_datarep rep = DREP_DATAREP;
        drep_dataset *ds;
        drep_file *f;

        ok(drep_datarep_get(names[n], &rep));
        snprintf(twin, sizeof twin, "twin of %s", names[n]);
        ok(drep_register_datarep(twin, rep.read, rep.write, rep.extent, rep.extra_state));
        ok(drep_pack(names[n], in, 20, type, packed, sizeof packed, &size));
        for (int functions = 0; functions < 2; functions++) {
            drep_spec spec =
                DREP_SPEC(.type = type, .rank = 1, .dims = dims, .layout = DREP_CONTIGUOUS);
            char back[sizeof in];

            /* native:ABI lays compounds out as that machine's structs do. */
            if (!functions && strncmp(names[n], "native:", 7) == 0)
                continue;
            f = new_file(path, functions ? twin : names[n]);
            ok(drep_dataset_create(f, "/x", &spec, &ds));
            ok(drep_write(ds, NULL, NULL, in, NULL));
            memset(back, 0, sizeof back);
            ok(drep_read(ds, NULL, NULL, back, NULL));
            for (int i = 0; i < 20; i++)
                ck_assert_mem_eq(back + i * (int)sizeof in[0], &in[i],
                                 offsetof(__typeof__(in[0]), c));
            drep_dataset_close(ds);
            ok(drep_close(f));
            ck_assert_msg(file_has(path, packed, (size_t)size), "%s", functions ? twin : names[n]);
        }
    }
    drep_type_free(type);
}
END_TEST

/* A big-endian machine's file stays one, whoever writes to it later. */
START_TEST(test_D10_native_is_the_creators)
{
    const char *path = temp_path("d10");
    const int64_t dims[] = {2};
    const int32_t one[] = {0x01020304, 0x05060708}, two[] = {0x11121314, 0x15161718};
    drep_file *f = new_file(path, "native:s390x");
    drep_dataset *ds = new_dataset(f, "/x", DREP_INT32_T, 1, dims);
    const drep_encoding *rows;
    int32_t back[2];
    int n;

    ok(drep_write(ds, NULL, NULL, one, NULL));
    drep_dataset_close(ds);
    ok(drep_close(f));
    ck_assert(file_has(path, "\1\2\3\4\5\6\7\10", 8));
    ok(drep_open(path, DREP_RDWR, NULL, &f));
    ok(drep_header_types(f, 0, &rows, &n));
    ck_assert_int_eq(n, 1);
    ck_assert(rows[0].code == DREP_CODE_INT32_T && rows[0].order == DREP_BIG);
    ds = new_dataset(f, "/y", DREP_INT32_T, 1, dims);
    ok(drep_write(ds, NULL, NULL, two, NULL));
    drep_dataset_close(ds);
    ok(drep_close(f));
    ck_assert(file_has(path, "\x11\x12\x13\x14\x15\x16\x17\x18", 8));
    ok(drep_open(path, DREP_RDONLY, NULL, &f));
    ok(drep_dataset_open(f, "/x", &ds));
    ok(drep_read(ds, NULL, NULL, back, NULL));
    ck_assert_mem_eq(back, one, sizeof one);
    drep_dataset_close(ds);
    ok(drep_close(f));
}
END_TEST

START_TEST(test_D12_E5_ranges)
{
    const long big[] = {1L << 20, (long)((uint64_t)1 << 40) + 3};
    const double reals[] = {1e6, NAN, -1e6};
    const int64_t two[] = {2}, three[] = {3};
    drep_file *f = new_file(":memory:", "external32");
    drep_dataset *longs = new_dataset(f, "/l", DREP_LONG, 1, two);
    drep_dataset *shorts = new_dataset(f, "/s", DREP_INT16_T, 1, three);
    drep_report report = DREP_REPORT;
    drep_xfer xfer = DREP_XFER(.range = DREP_RANGE_WRAP, .report = &report);
    int16_t s[3];
    long l[2];

    /* The same type: wrapped if told so, and counted. */
    ok(drep_write(longs, NULL, NULL, big, &xfer));
    ok(drep_read(longs, NULL, NULL, l, NULL));
    ck_assert_int_eq(l[0], big[0]);
    if (sizeof(long) == 8) {
        ck_assert_int_eq(report.overflow, 1);
        ck_assert_int_eq(report.first_overflow, 1);
        ck_assert_int_eq(l[1], 3);
        fails(drep_write(longs, NULL, NULL, big, NULL), DREP_ERR_CONVERSION);
    }
    /* Another type: refused unless told otherwise. */
    fails(drep_write(shorts, NULL, DREP_DOUBLE, reals, NULL), DREP_ERR_CONVERSION);
    xfer.range = DREP_RANGE_WRAP;
    ok(drep_write(shorts, NULL, DREP_DOUBLE, reals, &xfer));
    ok(drep_read(shorts, NULL, NULL, s, NULL));
    ck_assert(s[0] == INT16_MAX && s[1] == 0 && s[2] == INT16_MIN);
    drep_dataset_close(longs);
    drep_dataset_close(shorts);
    drep_abandon(f);
}
END_TEST

/* ----------------------------------------------------------------- the tree */

START_TEST(test_D20_dimensions_are_shared)
{
    const int64_t three[] = {3}, five[] = {5}, unlimited[] = {DREP_UNLIMITED};
    const char *const names[] = {"x"};
    const drep_spec spec =
        DREP_SPEC(.type = DREP_INT, .rank = 1, .dims = three, .maxdims = unlimited,
                  .dim_names = names, .layout = DREP_CHUNKED);
    const int in[] = {1, 2, 3, 4, 5};
    drep_file *f = new_file(":memory:", "external32");
    drep_dataset *a, *b;
    drep_dsinfo ia = DREP_DSINFO, ib = DREP_DSINFO;
    drep_objinfo x = DREP_OBJINFO;

    ok(drep_dimension_create(f, "/#x", 3, 1));
    ok(drep_dataset_create(f, "/a", &spec, &a));
    ok(drep_dataset_create(f, "/b", &spec, &b));
    ok(drep_dataset_info(a, &ia));
    ok(drep_dataset_info(b, &ib));
    ck_assert_uint_ne(ia.dim_ids[0], 0);
    ck_assert_uint_eq(ia.dim_ids[0], ib.dim_ids[0]);
    ok(drep_dataset_resize(a, five));
    ok(drep_write(a, NULL, NULL, in, NULL));
    ok(drep_stat(f, "/#x", &x));
    ck_assert_int_eq(x.kind, DREP_OBJ_DIMENSION);
    ck_assert_int_eq(x.len, 5);
    drep_dataset_close(a);
    drep_dataset_close(b);
    check_file(f);
    drep_abandon(f);
}
END_TEST

START_TEST(test_D21_links_lead_where_they_may)
{
    drep_file *f = new_file(":memory:", "external32");
    drep_objinfo o = DREP_OBJINFO;

    ok(drep_group_create(f, "/a/b", 1));
    ck_assert_int_ne(drep_link_hard(f, "/a", "/a/b/loop"), 0);
    ck_assert_int_ne(drep_link_hard(f, "/a/b", "/a/b/self"), 0);
    fails(drep_stat(f, "/a/b/loop", &o), DREP_ERR_NOT_FOUND);
    ok(drep_link_hard(f, "/a/b", "/also"));
    ok(drep_stat(f, "/also", &o));
    ck_assert_uint_eq(o.links, 2);
    /* A soft link round in a circle ends; an external one is not followed. */
    ok(drep_link_soft(f, "/two", "/one"));
    ok(drep_link_soft(f, "/one", "/two"));
    ck_assert_int_ne(drep_stat(f, "/one", &o), 0);
    ok(drep_link_external(f, "/etc/passwd", "/x", "/out"));
    ck_assert_int_ne(drep_stat(f, "/out", &o), 0);
    check_file(f);
    drep_abandon(f);
}
END_TEST

START_TEST(test_D22_nothing_is_there_before_the_first_commit)
{
    const char *path = temp_path("d22");
    drep_objinfo o = DREP_OBJINFO;
    drep_file *f = new_file(path, "external32");

    ok(drep_group_create(f, "/old", 0));
    ck_assert_int_eq(access(path, F_OK), -1);
    ok(drep_commit(f));
    ck_assert_int_eq(access(path, F_OK), 0);
    ok(drep_close(f));
    /* One that is there stays what it is until then. */
    f = new_file(path, "internal");
    ok(drep_group_create(f, "/new", 0));
    drep_abandon(f);
    ok(drep_open(path, DREP_RDONLY, NULL, &f));
    ok(drep_stat(f, "/old", &o));
    fails(drep_stat(f, "/new", &o), DREP_ERR_NOT_FOUND);
    ok(drep_close(f));
}
END_TEST

/* ------------------------------------------------------------------ threads */

static struct {
    drep_file *file;
    int failed;
} turns;

static void *take_turns(void *arg)
{
    const int64_t dims[] = {100};
    int number = *(int *)arg, in[100];
    char path[20];
    drep_dataset *ds = NULL;

    for (int round = 0; round < 10; round++) {
        const drep_spec spec = DREP_SPEC(.type = DREP_INT, .rank = 1, .dims = dims);

        snprintf(path, sizeof path, "/d%d-%d", number, round);
        for (int i = 0; i < 100; i++)
            in[i] = number * 1000 + round;
        if (drep_dataset_create(turns.file, path, &spec, &ds) != 0 ||
            drep_write(ds, NULL, NULL, in, NULL) != 0)
            __atomic_store_n(&turns.failed, 1, __ATOMIC_SEQ_CST);
        drep_dataset_close(ds);
        ds = NULL;
        /* Each thread's messages are its own. */
        snprintf(path, sizeof path, "/missing%d", number);
        if (drep_dataset_open(turns.file, path, &ds) != DREP_ERR_NOT_FOUND ||
            strstr(drep_error(), path + 1) == NULL)
            __atomic_store_n(&turns.failed, 2, __ATOMIC_SEQ_CST);
    }
    return NULL;
}

START_TEST(test_D23_writers_take_turns)
{
    pthread_t thread[4];
    int number[4] = {0, 1, 2, 3}, out[100];
    drep_dataset *ds;
    char path[20];

    turns.file = new_file(":memory:", "external32");
    for (int i = 0; i < 4; i++)
        ck_assert_int_eq(pthread_create(&thread[i], NULL, take_turns, &number[i]), 0);
    for (int i = 0; i < 4; i++)
        pthread_join(thread[i], NULL);
    ck_assert_int_eq(turns.failed, 0);
    for (int i = 0; i < 40; i++) {
        snprintf(path, sizeof path, "/d%d-%d", i / 10, i % 10);
        ok(drep_dataset_open(turns.file, path, &ds));
        ok(drep_read(ds, NULL, NULL, out, NULL));
        ck_assert(out[0] == i / 10 * 1000 + i % 10 && out[99] == out[0]);
        drep_dataset_close(ds);
    }
    check_file(turns.file);
    drep_abandon(turns.file);
}
END_TEST

/* A filtered chunk is held whole in memory, so it has a limit that its user may raise. */
START_TEST(test_D24_filtered_chunks_are_bounded)
{
    const int64_t dims[] = {(int64_t)1 << 24}, chunk[] = {(int64_t)1 << 22};
    const drep_filter filter = {.id = DREP_FILTER_SHUFFLE};
    const drep_spec spec =
        DREP_SPEC(.type = DREP_DOUBLE, .rank = 1, .dims = dims, .layout = DREP_CHUNKED,
                  .chunk = chunk, .filters = &filter, .nfilters = 1);
    drep_info *info = hints("drep_chunk_max=67108864", "drep_sync=none", (char *)NULL);
    drep_file *f = new_file(":memory:", "external32");
    drep_dataset *ds;

    ck_assert_int_ne(drep_dataset_create(f, "/x", &spec, &ds), 0);
    drep_abandon(f);
    ok(drep_create(":memory:", DREP_RDWR, "external32", info, &f));
    ok(drep_dataset_create(f, "/x", &spec, &ds));
    drep_dataset_close(ds);
    drep_abandon(f);
    drep_info_free(info);
}
END_TEST

START_TEST(test_D25_grow_and_move)
{
    const int64_t two[] = {2}, four[] = {4}, unlimited[] = {DREP_UNLIMITED}, start[] = {2};
    const drep_spec spec = DREP_SPEC(.type = DREP_INT, .rank = 1, .dims = two, .maxdims = unlimited,
                                     .layout = DREP_CHUNKED);
    const int in[] = {1, 2, 3, 4};
    drep_file *f = new_file(":memory:", "external32");
    drep_selection *end;
    drep_dataset *ds;
    drep_objinfo o = DREP_OBJINFO;
    int out[4];

    ok(drep_group_create(f, "/g", 0));
    ok(drep_dataset_create(f, "/x", &spec, &ds));
    ok(drep_write(ds, NULL, NULL, in, NULL));
    ok(drep_dataset_resize(ds, four));
    ok(drep_select_box(1, start, two, NULL, NULL, &end));
    ok(drep_write(ds, end, NULL, in + 2, NULL));
    drep_selection_free(end);
    drep_dataset_close(ds);
    ok(drep_link_move(f, "/x", "/g/y"));
    fails(drep_stat(f, "/x", &o), DREP_ERR_NOT_FOUND);
    ok(drep_dataset_open(f, "/g/y", &ds));
    ok(drep_read(ds, NULL, NULL, out, NULL));
    ck_assert_mem_eq(out, in, sizeof in);
    drep_dataset_close(ds);
    check_file(f);
    drep_abandon(f);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("requirements_file");
    TCase *tc = tcase_create("all");

    tcase_add_test(tc, test_H1_H3_C4_all_that_are_known);
    tcase_add_test(tc, test_H2_the_others_stay);
    tcase_add_test(tc, test_H4_data_is_the_same);
    tcase_add_test(tc, test_H5_how_values_are_written);
    tcase_add_test(tc, test_C1_D5_extents_and_attributes);
    tcase_add_test(tc, test_C3_U10_native_form_needs_native_extents);
    tcase_add_test(tc, test_D2_scalars_mean_the_same_everywhere);
    tcase_add_test(tc, test_D3_what_functions_see);
    tcase_add_test(tc, test_D4_variable_length);
    tcase_add_test(tc, test_D7_table_and_functions_agree);
    tcase_add_test(tc, test_D10_native_is_the_creators);
    tcase_add_test(tc, test_D12_E5_ranges);
    tcase_add_test(tc, test_D20_dimensions_are_shared);
    tcase_add_test(tc, test_D21_links_lead_where_they_may);
    tcase_add_test(tc, test_D22_nothing_is_there_before_the_first_commit);
    tcase_add_test(tc, test_D23_writers_take_turns);
    tcase_add_test(tc, test_D24_filtered_chunks_are_bounded);
    tcase_add_test(tc, test_D25_grow_and_move);
    suite_add_tcase(suite, tc);
    return run_suite(suite);
}
