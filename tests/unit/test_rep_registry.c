/* test_rep_registry.c - names, tables and functions of data representations.
 * U1-U4, U7-U11, C3, C6, D7, D9, V3, V4, X1-X3. */
/* SPDX-License-Identifier: MIT */
#include "base/mem.h"
#include "rep/convert.h"
#include "rep/dispatch.h"
#include "rep/pick.h"
#include "rep/rep.h"
#include "rep/encodings.h"
#include "tests/unit/bytes.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stddef.h>
#include <unistd.h>

static int none(void *userbuf, const drep_type *type, int64_t count, void *filebuf,
                int64_t position, void *state)
{
    (void)userbuf, (void)type, (void)count, (void)filebuf, (void)position, (void)state;
    return 0;
}

static int native_extent(const drep_type *type, int64_t *extent, void *state)
{
    (void)state;
    *extent = drep_type_size(type);
    return 0;
}

/* ---------------------------------------------------------------- names */

START_TEST(test_U1_names)
{
    char name[DREP_MAX_DATAREP_STRING + 1];

    memset(name, 'n', sizeof name);
    name[DREP_MAX_DATAREP_STRING] = 0;
    ck_assert_int_eq(drep_register_datarep(name, none, none, native_extent, NULL), DREP_ERR_NAME);
    name[DREP_MAX_DATAREP_STRING - 1] = 0;
    ck_assert_int_eq(drep_register_datarep(name, none, none, native_extent, NULL), 0);
    ck_assert_str_eq(rep_find(name)->name, name);
    ck_assert_int_eq(drep_register_datarep("", none, none, native_extent, NULL), DREP_ERR_NAME);
    ck_assert_int_eq(drep_register_datarep(NULL, none, none, native_extent, NULL), DREP_ERR_NAME);
    ck_assert_int_eq(drep_register_datarep("native:pdp11", none, none, native_extent, NULL),
                     DREP_ERR_NAME);
    ck_assert_int_eq(drep_register_datarep("caf\xe9", none, none, native_extent, NULL),
                     DREP_ERR_NAME);
    ck_assert_int_eq(drep_declare_datarep("caf\xe9", "external32", NULL, 0, NULL, 0),
                     DREP_ERR_NAME);
    ck_assert_int_eq(drep_register_datarep("caf\xc3\xa9", none, none, native_extent, NULL), 0);
    ck_assert_int_eq(drep_register_datarep("no extents", none, none, NULL, NULL), DREP_ERR_ARG);
    ck_assert_int_eq(drep_register_datarep_flags("odd", none, none, native_extent, NULL, 6),
                     DREP_ERR_ARG);
    ck_assert_ptr_null(rep_find("no extents"));
    /* N3: no case folding. */
    ck_assert_ptr_null(rep_find("EXTERNAL32"));
}
END_TEST

START_TEST(test_U2_C6_duplicates)
{
    static const char *const taken[] = {"native", "internal", "external32", "twice"};
    size_t i;

    ck_assert_int_eq(drep_register_datarep("twice", none, none, native_extent, NULL), 0);
    for (i = 0; i < 4; i++) {
        ck_assert_int_eq(drep_register_datarep(taken[i], none, none, native_extent, NULL),
                         DREP_ERR_DUP_DATAREP);
        ck_assert_int_eq(drep_declare_datarep(taken[i], "external32", NULL, 0, NULL, 0),
                         DREP_ERR_DUP_DATAREP);
    }
    ck_assert_ptr_nonnull(strstr(drep_error(), "twice"));
}
END_TEST

START_TEST(test_U3_unknown_names)
{
    int64_t n;
    int rows;

    ck_assert_int_eq(drep_type_file_extent(DREP_INT, "never heard of", &n),
                     DREP_ERR_UNSUPPORTED_DATAREP);
    ck_assert_int_eq(drep_datarep_table("never heard of", NULL, 0, &rows),
                     DREP_ERR_UNSUPPORTED_DATAREP);
    ck_assert_int_eq(drep_pack_size("never heard of", 1, DREP_INT, &n),
                     DREP_ERR_UNSUPPORTED_DATAREP);
    ck_assert_ptr_nonnull(strstr(drep_error(), "never heard of"));
    ck_assert_int_eq(drep_declare_datarep("child", "never heard of", NULL, 0, NULL, 0),
                     DREP_ERR_UNSUPPORTED_DATAREP);
}
END_TEST

static int collect(const char *name, const char *form, void *ctx)
{
    int *seen = ctx;

    if (strcmp(name, "external32") == 0 || strcmp(name, "native:m68k") == 0)
        *seen += strcmp(form, "table") == 0;
    if (strcmp(name, "walked") == 0)
        *seen += 10 * (strcmp(form, "code") == 0);
    return 0;
}

static int stop(const char *name, const char *form, void *ctx)
{
    (void)form;
    *(const char **)ctx = name;
    return 1;
}

START_TEST(test_walk_and_tables)
{
    drep_encoding rows[DREP_CODE_MAX];
    const char *first = NULL;
    int seen = 0, n;

    ck_assert_int_eq(drep_register_datarep("walked", none, none, native_extent, NULL), 0);
    ck_assert_int_eq(drep_datarep_walk(collect, &seen), 0);
    ck_assert_int_eq(seen, 12);
    ck_assert_int_eq(drep_datarep_walk(stop, &first), DREP_ERR_STOPPED);
    ck_assert_str_eq(first, "native");
    ck_assert_int_eq(drep_datarep_table("walked", NULL, 0, &n), 0);
    ck_assert_int_eq(n, 0);
    ck_assert_int_eq(drep_datarep_table("external32", rows, DREP_CODE_MAX, &n), 0);
    ck_assert_int_eq(n, DREP_CODE_MAX);
    ck_assert(rows[DREP_CODE_LONG - 1].code == DREP_CODE_LONG &&
              rows[DREP_CODE_LONG - 1].size == 4);
    ck_assert_int_eq(drep_datarep_table("external32", rows, 3, &n), 0);
    ck_assert_int_eq(n, DREP_CODE_MAX);
}
END_TEST

/* E1, E2: the standard's lengths. */
START_TEST(test_E1_lengths)
{
    static const struct {
        int code, ext, internal;
    } known[] = {
        {DREP_CODE_LONG, 4, 8},          {DREP_CODE_C_BOOL, 1, 1}, {DREP_CODE_WCHAR, 2, 4},
        {DREP_CODE_LONG_DOUBLE, 16, 16}, {DREP_CODE_AINT, 8, 8},   {DREP_CODE_LOGICAL, 4, 4},
        {DREP_CODE_COMPLEX32, 32, 32},   {DREP_CODE_REAL2, 2, 2},  {DREP_CODE_UNSIGNED_LONG, 4, 8}};
    int64_t n;
    size_t i;

    for (i = 0; i < sizeof known / sizeof known[0]; i++) {
        ck_assert_int_eq(drep_type_file_extent(drep_predefined(known[i].code), "external32", &n),
                         0);
        ck_assert_int_eq(n, known[i].ext);
        ck_assert_int_eq(drep_type_file_extent(drep_predefined(known[i].code), "internal", &n), 0);
        ck_assert_int_eq(n, known[i].internal);
    }
}
END_TEST

/* --------------------------------------------------------------- extents */

static int64_t extent_of(const drep_type *type, const char *datarep)
{
    int64_t n = -1;

    ck_assert_msg(drep_type_file_extent(type, datarep, &n) == 0, "%s", drep_error());
    return n;
}

START_TEST(test_V3_V4_extents_of_derived_types)
{
    const int64_t displs[] = {0, 8, 16}, ones[] = {1, 1, 1};
    const drep_type *members[] = {DREP_CHAR, DREP_DOUBLE, DREP_INT};
    const int64_t align = drep_type_align(DREP_DOUBLE);
    drep_type *t;

    ck_assert_int_eq(drep_type_contiguous(3, DREP_LONG, &t), 0);
    ck_assert_int_eq(extent_of(t, "external32"), 12);
    drep_type_free(t);
    ck_assert_int_eq(drep_type_vector(2, 1, 3, DREP_LONG, &t), 0);
    ck_assert_int_eq(extent_of(t, "external32"), 16);              /* C2 */
    ck_assert_int_eq(extent_of(t, "native"), drep_type_extent(t)); /* X1 */
    drep_type_free(t);
    /* X3: byte displacements stay, nothing is rounded up; natively it is. */
    ck_assert_int_eq(drep_type_struct(3, ones, displs, members, &t), 0);
    ck_assert_int_eq(extent_of(t, "external32"), 20);
    ck_assert_int_eq(drep_type_extent(t), (20 + align - 1) / align * align);
    drep_type_free(t);
}
END_TEST

static int twice_extent(const drep_type *type, int64_t *extent, void *state)
{
    int *codes = state;

    codes[drep_type_code(type)]++;
    *extent = 2 * drep_type_size(type);
    return 0;
}

/* X2, U4: only the types in use are asked for. */
START_TEST(test_X2_extents_by_function)
{
    static int codes[DREP_CODE_MAX + 1];
    const drep_type *members[] = {DREP_INT16_T, DREP_DOUBLE};
    const int64_t displs[] = {0, 100};
    drep_type *t;
    int c;

    ck_assert_int_eq(drep_register_datarep("twice as long", none, none, twice_extent, codes), 0);
    for (c = 0; c <= DREP_CODE_MAX; c++)
        ck_assert_int_eq(codes[c], 0); /* D9: not before the first use */
    ck_assert_int_eq(drep_type_vector(3, 2, 4, DREP_INT32_T, &t), 0);
    ck_assert_int_eq(extent_of(t, "twice as long"), 8 * (2 * 4 + 2));
    drep_type_free(t);
    ck_assert_int_eq(drep_type_struct(2, NULL, displs, members, &t), 0);
    ck_assert_int_eq(extent_of(t, "twice as long"), 116);
    drep_type_free(t);
    for (c = 0; c <= DREP_CODE_MAX; c++)
        ck_assert_int_eq(codes[c] > 0,
                         c == DREP_CODE_INT32_T || c == DREP_CODE_INT16_T || c == DREP_CODE_DOUBLE);
}
END_TEST

static int bad_extent(const drep_type *type, int64_t *extent, void *state)
{
    (void)state;
    *extent = drep_type_code(type) == DREP_CODE_INT     ? DREP_UNDEFINED
              : drep_type_code(type) == DREP_CODE_FLOAT ? 0
                                                        : 8;
    return drep_type_code(type) == DREP_CODE_CHAR ? 77 : 0;
}

START_TEST(test_U4_extents_that_cannot_be)
{
    int64_t n;

    ck_assert_int_eq(drep_register_datarep("bad extents", none, none, bad_extent, NULL), 0);
    ck_assert_int_eq(drep_type_file_extent(DREP_INT, "bad extents", &n), DREP_ERR_VALUE_TOO_LARGE);
    ck_assert_ptr_nonnull(strstr(drep_error(), "INT"));
    ck_assert_int_eq(drep_type_file_extent(DREP_FLOAT, "bad extents", &n),
                     DREP_ERR_VALUE_TOO_LARGE);
    ck_assert_int_eq(drep_type_file_extent(DREP_CHAR, "bad extents", &n), DREP_ERR_CONVERSION);
    ck_assert_ptr_nonnull(strstr(drep_error(), "77"));
    ck_assert_int_eq(drep_type_file_extent(DREP_DOUBLE, "bad extents", &n), 0);
    ck_assert_int_eq(n, 8);
}
END_TEST

/* -------------------------------------------------------------- functions */

static int failing(void *userbuf, const drep_type *type, int64_t count, void *filebuf,
                   int64_t position, void *state)
{
    (void)userbuf, (void)type, (void)count, (void)filebuf, (void)state;
    return position >= 4 ? 42 : 0;
}

START_TEST(test_U9_failures)
{
    double user[10] = {0};
    uint8_t file[80];
    int64_t done, used;
    const struct datarep *rep;

    ck_assert_int_eq(drep_register_datarep("failing", failing, failing, native_extent, NULL), 0);
    rep = rep_find("failing");
    ck_assert_int_eq(rep_read_items(rep, NULL, user, DREP_DOUBLE, 0, 10, file, 16, &done, &used),
                     DREP_ERR_CONVERSION);
    ck_assert(done == 4 && used == 32);
    ck_assert_ptr_nonnull(strstr(drep_error(), "42"));
    ck_assert_ptr_nonnull(strstr(drep_error(), "failing"));
    ck_assert_int_eq(rep_write_items(rep, NULL, user, DREP_DOUBLE, 5, 5, file, 16, &done, &used),
                     DREP_ERR_CONVERSION);
    ck_assert(done == 0 && used == 0);
}
END_TEST

static int shift(void *userbuf, const drep_type *type, int64_t count, void *filebuf,
                 int64_t position, void *state)
{
    int64_t i;

    (void)type;
    for (i = 0; i < 2 * count; i++)
        ((uint8_t *)filebuf)[i] = (uint8_t)(((uint8_t *)userbuf)[2 * position + i] + *(int *)state);
    return 0;
}

/* U10: each direction on its own; C3: the extents must then be native. */
START_TEST(test_U10_null_functions)
{
    const int16_t user[4] = {1, -2, 300, 4};
    static int by = 1, codes[DREP_CODE_MAX + 1];
    int16_t back[4] = {0};
    uint8_t file[16];
    int64_t done, used, i;

    ck_assert_int_eq(
        drep_register_datarep("write only", DREP_CONVERSION_NULL, shift, native_extent, &by), 0);
    ck_assert_int_eq(drep_register_datarep("nothing", NULL, NULL, native_extent, NULL), 0);
    ck_assert_int_eq(drep_register_datarep("nothing, twice", NULL, NULL, twice_extent, codes), 0);
    ck_assert_int_eq(rep_write_items(rep_find("write only"), NULL, user, DREP_INT16_T, 1, 3, file,
                                     2, &done, &used),
                     0);
    ck_assert(done == 3 && used == 6);
    for (i = 0; i < 6; i++)
        ck_assert_int_eq(file[i], (uint8_t)(((const uint8_t *)user)[2 + i] + 1));
    ck_assert_int_eq(rep_read_items(rep_find("write only"), NULL, back, DREP_INT16_T, 1, 3,
                                    user + 1, 2, &done, &used),
                     0);
    ck_assert_int_eq(memcmp(back + 1, user + 1, 6), 0);
    ck_assert_int_eq(back[0], 0);
    ck_assert_int_eq(rep_write_items(rep_find("nothing"), NULL, user, DREP_INT16_T, 2, 2, file, 100,
                                     &done, &used),
                     0);
    ck_assert(done == 2 && used == 4 && memcmp(file, user + 2, 4) == 0);
    ck_assert_int_eq(rep_write_items(rep_find("nothing, twice"), NULL, user, DREP_INT16_T, 2, 2,
                                     file, 100, &done, &used),
                     DREP_ERR_CONVERSION);
    ck_assert_ptr_nonnull(strstr(drep_error(), "INT16_T"));
}
END_TEST

/* ---------------------------------------------------------- declared tables */

START_TEST(test_declared_tables)
{
    const drep_scalar three = {.cls = DREP_SCALAR_INT,
                               .order = DREP_BIG,
                               .size = 3,
                               .is_signed = 1,
                               .format = DREP_FORMAT_CUSTOM,
                               .precision = 24};
    const drep_encoding rows[] = {
        {DREP_CODE_DOUBLE, DREP_FORMAT_IBM_HEX64, DREP_BIG, 8, 0, 0, 0},
        {DREP_CODE_INT, DREP_FORMAT_CUSTOM, DREP_BIG, 3, 0, 0, 0},
        {DREP_CODE_CHAR, DREP_FORMAT_EBCDIC, DREP_BIG, 1, 0, 0, 0},
    };
    const drep_type *members[] = {DREP_CHAR, DREP_DOUBLE, DREP_INT};
    struct {
        char c;
        double d;
        int i;
    } in = {'A', -118.625, -2}, out;
    uint8_t packed[32];
    int64_t position = 0;
    drep_type *t;

    ck_assert_int_eq(drep_declare_datarep("mainframe", "external32", rows, 3, &three, 1), 0);
    ck_assert_int_eq(drep_type_struct(3, NULL, NULL, members, &t), 0);
    ck_assert_int_eq(drep_pack("mainframe", &in, 1, t, packed, 32, &position), 0);
    ck_assert_int_eq(position, 12);
    ck_assert_int_eq(memcmp(packed, "\xc1\xc2\x76\xa0\x00\x00\x00\x00\x00\xff\xff\xfe", 12), 0);
    position = 0;
    ck_assert_int_eq(drep_unpack("mainframe", packed, 12, &position, &out, 1, t), 0);
    ck_assert(out.c == 'A' && out.d == -118.625 && out.i == -2);
    ck_assert_int_eq(extent_of(DREP_LONG, "mainframe"), 4); /* the base's */
    drep_type_free(t);
    /* One declared over another keeps its scalars. */
    ck_assert_int_eq(
        drep_declare_datarep("child of mainframe", "mainframe",
                             &(drep_encoding){DREP_CODE_SHORT, DREP_FORMAT_CUSTOM, 0, 3, 1, 0, 0},
                             1, &three, 1),
        0);
    position = 0;
    ck_assert_int_eq(drep_pack("child of mainframe", &in.i, 1, DREP_INT, packed, 32, &position), 0);
    ck_assert(position == 3 && memcmp(packed, "\xff\xff\xfe", 3) == 0);
}
END_TEST

START_TEST(test_tables_that_cannot_be)
{
    const drep_scalar good = {.cls = DREP_SCALAR_INT,
                              .size = 3,
                              .is_signed = 1,
                              .format = DREP_FORMAT_CUSTOM,
                              .precision = 24};
    static const drep_encoding bad[] = {
        {0, DREP_FORMAT_INT, 0, 4, 1, 0, 0},
        {DREP_CODE_MAX + 1, DREP_FORMAT_INT, 0, 4, 1, 0, 0},
        {DREP_CODE_INT, DREP_FORMAT_BINARY32, 0, 4, 1, 0, 0},
        {DREP_CODE_INT, DREP_FORMAT_INT, 0, 17, 1, 0, 0},
        {DREP_CODE_INT, DREP_FORMAT_INT, 3, 4, 1, 0, 0},
        {DREP_CODE_INT, DREP_FORMAT_INT, DREP_VAX, 3, 1, 0, 0},
        {DREP_CODE_INT, DREP_FORMAT_INT, 0, 4, 3, 0, 0},
        {DREP_CODE_DOUBLE, DREP_FORMAT_BINARY64, 0, 4, 1, 0, 0},
        {DREP_CODE_DOUBLE, DREP_FORMAT_X87, 0, 8, 1, 0, 0},
        {DREP_CODE_COMPLEX, DREP_FORMAT_BINARY64, 0, 8, 1, 0, 0},
        {DREP_CODE_COMPLEX, DREP_FORMAT_BINARY32, 0, 9, 1, 0, 0},
        {DREP_CODE_CHAR, DREP_FORMAT_CHAR, 0, 2, 1, 0, 0},
        {DREP_CODE_INT, DREP_FORMAT_CUSTOM, 0, 4, 1, 0, 0},
        {DREP_CODE_INT, DREP_FORMAT_CUSTOM, 0, 3, 1, 1, 0},
        {DREP_CODE_DOUBLE, DREP_FORMAT_CUSTOM, 0, 3, 1, 0, 0},
        {DREP_CODE_INT, 99, 0, 4, 1, 0, 0},
    };
    drep_scalar wrong = good;
    size_t i;

    for (i = 0; i < sizeof bad / sizeof bad[0]; i++)
        ck_assert_msg(drep_declare_datarep("bad", "external32", &bad[i], 1, &good, 1) ==
                          DREP_ERR_ARG,
                      "row %zu", i);
    wrong.precision = 25;
    ck_assert_int_eq(drep_declare_datarep("bad", "external32", NULL, 0, &wrong, 1), DREP_ERR_ARG);
    ck_assert_int_eq(drep_declare_datarep("bad", "external32", NULL, 1, NULL, 0), DREP_ERR_ARG);
    ck_assert_ptr_null(rep_find("bad"));
}
END_TEST

/* D8: a file's own table is nobody else's. */
START_TEST(test_D8_scoped_tables_do_not_enter_the_registry)
{
    struct rep_table table = *rep_find("external32")->table;
    struct datarep *rep;
    int64_t extent = 0;

    table.row[DREP_CODE_LONG].size = 8;
    ck_assert_int_eq(rep_scoped("external32", &table, &rep), 0);
    ck_assert_int_eq(rep->table->row[DREP_CODE_LONG].size, 8);
    ck_assert_int_eq(rep->extent(DREP_LONG, &extent, rep->extra_state), 0);
    ck_assert_int_eq(extent, 8);
    ck_assert_int_eq(rep_find("external32")->table->row[DREP_CODE_LONG].size, 4);
    rep_scoped_free(rep);
    table.row[DREP_CODE_LONG].size = 33;
    ck_assert_int_eq(rep_scoped("mine", &table, &rep), DREP_ERR_FORMAT);
    ck_assert_ptr_null(rep_find("mine"));
}
END_TEST

/* E13, D3: a table need not speak of bytes, and cannot make them anything else. */
START_TEST(test_E13_bytes_are_in_no_table)
{
    struct rep_table table = *rep_find("external32")->table;
    const struct rep_opts opts = {.range = DREP_RANGE_WRAP};
    struct datarep *rep;
    struct kernel k;
    int64_t extent = 0;
    uint8_t out[2];

    table.row[DREP_CODE_BYTE] = (drep_encoding){0, 0, 0, 0, 0, 0, 0};
    ck_assert_int_eq(rep_scoped("no bytes", &table, &rep), 0);
    ck_assert_int_eq(rep->extent(DREP_BYTE, &extent, rep->extra_state), 0);
    ck_assert_int_eq(extent, 1);
    ck_assert_int_eq(kernel_pick(&k, rep_native(), DREP_BYTE, rep->table, DREP_BYTE, &opts), 0);
    ck_assert_int_eq(kernel_run(&k, out, 1, "ab", 1, 2, 0), 0);
    ck_assert(k.plan.load.size == 1 && out[0] == 'a' && out[1] == 'b');
    rep_scoped_free(rep);
    table.row[DREP_CODE_BYTE] = (drep_encoding){DREP_CODE_BYTE, DREP_FORMAT_BYTES, 0, 4, 1, 0, 0};
    ck_assert_int_eq(rep_scoped("long bytes", &table, &rep), DREP_ERR_FORMAT);
}
END_TEST

START_TEST(test_every_allocation_may_fail)
{
    const drep_encoding row = {DREP_CODE_DOUBLE, DREP_FORMAT_VAX_G, DREP_VAX, 8, 1, 0, 0};
    const drep_scalar scalar = {.cls = DREP_SCALAR_INT,
                                .size = 3,
                                .is_signed = 1,
                                .format = DREP_FORMAT_CUSTOM,
                                .precision = 24};
    const drep_type *members[] = {DREP_DOUBLE, DREP_INT};
    struct {
        double d;
        int i;
    } in = {1, 2};
    uint8_t packed[12];
    int64_t position, n = 0;
    drep_type *t;
    int err;

    do {
        mem_fail_at(n++);
        err = drep_declare_datarep("hard to declare", "external32", &row, 1, &scalar, 1);
        mem_fail_at(-1);
        ck_assert_int_eq(rep_find("hard to declare") != NULL, err == 0);
    } while (err == DREP_ERR_NOMEM);
    ck_assert_int_eq(err, 0);
    ck_assert_int_eq(drep_type_struct(2, NULL, NULL, members, &t), 0);
    n = 0;
    do {
        mem_fail_at(n++);
        position = 0;
        err = drep_pack("hard to declare", &in, 1, t, packed, 12, &position);
        ck_assert_int_eq(position, err ? 0 : 12);
    } while (err == DREP_ERR_NOMEM);
    mem_fail_at(-1);
    ck_assert_int_eq(err, 0);
    ck_assert_int_gt(n, 1);
    drep_type_free(t);
}
END_TEST

/* D7: the built-in ones are a table and functions, and both say the same. */
START_TEST(test_D7_builtin_functions_agree_with_their_tables)
{
    static const char *const names[] = {"external32", "internal", "native", "native:alpha"};
    int c;
    size_t i;

    for (i = 0; i < 4; i++) {
        const struct datarep *rep = rep_find(names[i]);

        ck_assert(rep->read && rep->write && rep->extent && rep->table);
        for (c = 1; c <= DREP_CODE_MAX; c++) {
            int64_t extent = 0;

            ck_assert_int_eq(rep->extent(drep_predefined(c), &extent, rep->extra_state), 0);
            ck_assert_int_eq(extent, rep->table->row[c].size);
        }
    }
    ck_assert(rep_find("external32")->builtin && rep_find("internal")->builtin);
    ck_assert(!rep_find("native")->builtin && !rep_find("native:alpha")->builtin);
}
END_TEST

/* --------------------------------------------------------------- threads */

enum { THREADS = 8, NAMES = 60 };
static atomic_int registered, refused_twice;

static const char names[] = "anything but null";

static void *register_many(void *arg)
{
    char name[32];
    int i;

    (void)arg;
    for (i = 0; i < NAMES; i++) {
        int err;

        snprintf(name, sizeof name, "shared %d", i);
        err = drep_register_datarep(name, none, none, native_extent, NULL);
        registered += err == 0;
        refused_twice += err == DREP_ERR_DUP_DATAREP;
        if (!rep_find(name) || !rep_find("external32"))
            return arg;
    }
    return NULL;
}

START_TEST(test_U1_threads_register_at_once)
{
    pthread_t thread[THREADS];
    void *result;
    int i;

    for (i = 0; i < THREADS; i++)
        ck_assert_int_eq(pthread_create(&thread[i], NULL, register_many, (void *)names), 0);
    for (i = 0; i < THREADS; i++) {
        ck_assert_int_eq(pthread_join(thread[i], &result), 0);
        ck_assert_ptr_null(result);
    }
    ck_assert_int_eq(registered, NAMES);
    ck_assert_int_eq(refused_twice, NAMES * (THREADS - 1));
}
END_TEST

static atomic_int inside, most_inside;

static int counting(void *userbuf, const drep_type *type, int64_t count, void *filebuf,
                    int64_t position, void *state)
{
    int now = ++inside, most = most_inside;

    (void)userbuf, (void)type, (void)count, (void)filebuf, (void)position, (void)state;
    while (now > most && !atomic_compare_exchange_weak(&most_inside, &most, now))
        ;
    usleep(200);
    inside--;
    return 0;
}

static void *transfer_many(void *rep)
{
    uint8_t user[8] = {0}, file[8];
    int i;

    for (i = 0; i < 20; i++)
        if (rep_write_items(rep, NULL, user, DREP_BYTE, 0, 8, file, 4, NULL, NULL))
            return rep;
    return NULL;
}

/* D9: DREP_REP_SERIAL means one thread at a time. */
START_TEST(test_D9_serial_functions)
{
    pthread_t thread[4];
    void *result;
    int i;

    ck_assert_int_eq(drep_register_datarep_flags("serial", counting, counting, native_extent, NULL,
                                                 DREP_REP_SERIAL),
                     0);
    for (i = 0; i < 4; i++)
        ck_assert_int_eq(
            pthread_create(&thread[i], NULL, transfer_many, (void *)rep_find("serial")), 0);
    for (i = 0; i < 4; i++) {
        pthread_join(thread[i], &result);
        ck_assert_ptr_null(result);
    }
    ck_assert_int_eq(most_inside, 1);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("rep_registry");
    TCase *tc = tcase_create("rep_registry");

    tcase_set_timeout(tc, 60);
    tcase_add_test(tc, test_U1_names);
    tcase_add_test(tc, test_U2_C6_duplicates);
    tcase_add_test(tc, test_U3_unknown_names);
    tcase_add_test(tc, test_walk_and_tables);
    tcase_add_test(tc, test_E1_lengths);
    tcase_add_test(tc, test_V3_V4_extents_of_derived_types);
    tcase_add_test(tc, test_X2_extents_by_function);
    tcase_add_test(tc, test_U4_extents_that_cannot_be);
    tcase_add_test(tc, test_U9_failures);
    tcase_add_test(tc, test_U10_null_functions);
    tcase_add_test(tc, test_declared_tables);
    tcase_add_test(tc, test_tables_that_cannot_be);
    tcase_add_test(tc, test_D8_scoped_tables_do_not_enter_the_registry);
    tcase_add_test(tc, test_E13_bytes_are_in_no_table);
    tcase_add_test(tc, test_every_allocation_may_fail);
    tcase_add_test(tc, test_D7_builtin_functions_agree_with_their_tables);
    tcase_add_test(tc, test_U1_threads_register_at_once);
    tcase_add_test(tc, test_D9_serial_functions);
    suite_add_tcase(suite, tc);
    return run_suite(suite);
}
