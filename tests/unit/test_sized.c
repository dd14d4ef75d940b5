/* test_sized.c - structs of callers that begin with their size: programs and libraries of different
 * versions work together. */
/* SPDX-License-Identifier: MIT */
#include "data_help.h"

#include <stddef.h>

static drep_file *f;
static drep_dataset *ds;
static drep_spec spec; /* set where a test begins: DREP_INT is no constant */

enum { ROWS = 3, MARK = 0x5a };

static void setup(void)
{
    const int64_t dims = ROWS, most = DREP_UNLIMITED;
    const int32_t value[ROWS] = {1, 2, 3};

    spec = DREP_SPEC(.type = DREP_INT);
    ok(drep_create(":memory:", DREP_RDWR, "external32", NULL, &f));
    ok(drep_dataset_create(
        f, "d", &DREP_SPEC(.type = DREP_INT32_T, .rank = 1, .dims = &dims, .maxdims = &most), &ds));
    ok(drep_write(ds, NULL, DREP_INT32_T, value, NULL));
    ok(drep_attr_write_int64(f, "/", "a", 7));
    ok(drep_commit(f));
}

static void teardown(void)
{
    drep_dataset_close(ds);
    drep_abandon(f);
}

/* ---- results ---- */

static int get_dsinfo(void *out)
{
    return drep_dataset_info(ds, out);
}

static int get_header(void *out)
{
    return drep_header_get(f, out);
}

static int get_objinfo(void *out)
{
    return drep_stat(f, "d", out);
}

/* Without the type, which every call gives a new reference of. */
static int get_attrinfo(void *out)
{
    int err = drep_attr_info(f, "/", "a", out);

    if (!err)
        drep_type_free(((drep_attrinfo *)out)->type);
    return err;
}

static int get_dsusage(void *out)
{
    return drep_dataset_usage(ds, out);
}

static int get_stored(void *out)
{
    return drep_stored_at(ds, (const int64_t[DREP_MAX_RANK]){0}, out);
}

static int get_usage(void *out)
{
    return drep_usage_get(f, out);
}

static int get_objusage(void *out)
{
    return drep_object_usage(f, "d", out);
}

static int get_datarep(void *out)
{
    return drep_datarep_get("external32", out);
}

static int get_unitinfo(void *out)
{
    const int32_t value = 5;
    int64_t size, at = 0;
    void *unit;
    int err;

    ok(drep_pack_unit_size("external32", 1, DREP_INT32_T, &size));
    unit = malloc((size_t)size);
    ok(drep_pack_unit("external32", &value, 1, DREP_INT32_T, unit, size, &at));
    err = drep_pack_unit_info(unit, size, 0, out);
    free(unit);
    return err;
}

static int get_report_of_a_read(void *out)
{
    int64_t buf[ROWS];

    return drep_read(ds, NULL, DREP_INT64_T, buf, &DREP_XFER(.report = out));
}

static int get_report_of_a_copy(void *out)
{
    drep_file *to;
    int err;

    ok(drep_create(":memory:", DREP_RDWR, "native", NULL, &to));
    err = drep_copy(f, "/", to, "/", &DREP_COPYING(.report = out));
    drep_abandon(to);
    return err;
}

static const struct {
    const char *macro;
    size_t size;
    int (*get)(void *out);
} result[] = {
    {"DREP_DSINFO", sizeof(drep_dsinfo), get_dsinfo},
    {"DREP_HEADER", sizeof(drep_header), get_header},
    {"DREP_OBJINFO", sizeof(drep_objinfo), get_objinfo},
    {"DREP_ATTRINFO", sizeof(drep_attrinfo), get_attrinfo},
    {"DREP_DSUSAGE", sizeof(drep_dsusage), get_dsusage},
    {"DREP_STORED", sizeof(drep_stored), get_stored},
    {"DREP_USAGE", sizeof(drep_usage), get_usage},
    {"DREP_OBJUSAGE", sizeof(drep_objusage), get_objusage},
    {"DREP_DATAREP", sizeof(drep_datarep), get_datarep},
    {"DREP_UNITINFO", sizeof(drep_unitinfo), get_unitinfo},
    {"DREP_REPORT", sizeof(drep_report), get_report_of_a_read},
    {"DREP_REPORT", sizeof(drep_report), get_report_of_a_copy},
};

static char *begun(size_t room, size_t size)
{
    char *p = malloc(room);

    memset(p, MARK, room);
    memcpy(p, &size, sizeof size);
    return p;
}

static void refused(int err, int want, const char *text)
{
    ck_assert_int_eq(err, want);
    ck_assert_msg(strstr(drep_error(), text), "\"%s\" does not name %s", drep_error(), text);
}

/* A struct without its size, or with less than the first version's, is refused and stays. */
START_TEST(test_results_without_size)
{
    size_t size = result[_i].size;

    for (size_t is = 0; is <= 8; is += 8) {
        char *out = begun(size, is), *same = begun(size, is);

        refused(result[_i].get(out), DREP_ERR_ARG, result[_i].macro);
        ck_assert(memcmp(out, same, size) == 0);
        free(same);
        free(out);
    }
}
END_TEST

/* The members that a newer program has room for are zeros, its size stays, what lies behind it is
 * not touched; the members that both know are those that a program of this version gets. */
START_TEST(test_results_of_newer_programs)
{
    size_t size = result[_i].size, more = size + 24;
    char *out = begun(more + 8, more), *now = begun(size, size);
    size_t is;

    ok(result[_i].get(now));
    ok(result[_i].get(out));
    memcpy(&is, out, sizeof is);
    ck_assert_uint_eq(is, more);
    for (size_t i = 0; i < 24; i++)
        ck_assert_int_eq(out[size + i], 0);
    for (size_t i = 0; i < 8; i++)
        ck_assert_int_eq(out[more + i], MARK);
    if (result[_i].get != get_header && result[_i].get != get_dsinfo)
        ck_assert(memcmp(out + sizeof is, now + sizeof is, size - sizeof is) == 0);
    free(now);
    free(out);
}
END_TEST

/* ---- options ---- */

static int with_spec(const void *how)
{
    static int n;
    char name[16];

    snprintf(name, sizeof name, "new%d", n++);
    return drep_dataset_create(f, name, how, NULL);
}

static int with_xfer(const void *how)
{
    int64_t buf[ROWS] = {0};

    return drep_read(ds, NULL, DREP_INT64_T, buf, how);
}

static int with_xfer_box(const void *how)
{
    int64_t buf[ROWS] = {0};

    return drep_read_box(ds, NULL, NULL, DREP_INT64_T, buf, how);
}

static int with_xfer_write(const void *how)
{
    const int64_t buf[ROWS] = {0};

    return drep_write(ds, NULL, DREP_INT64_T, buf, how);
}

static int with_xfer_write_box(const void *how)
{
    const int64_t buf[ROWS] = {0};

    return drep_write_box(ds, NULL, NULL, DREP_INT64_T, buf, how);
}

static int with_xfer_append(const void *how)
{
    const int64_t value = 4;

    ok(drep_commit(f)); /* an append that failed lets no other follow */
    return drep_append(ds, 0, 1, DREP_INT64_T, &value, how);
}

static int with_xfer_readv(const void *how)
{
    int32_t buf[ROWS + 8];
    drep_item item = {.path = "d", .buf = buf};

    return drep_readv(f, &item, 1, how);
}

static int with_xfer_convert(const void *how)
{
    const int32_t from = 1;
    int64_t to;

    return drep_convert(DREP_INT64_T, &to, DREP_INT32_T, &from, 1, how);
}

static int with_xfer_pack(const void *how)
{
    const int32_t from = 1;
    int64_t at = 0;
    char to[8];

    return drep_pack_xfer("external32", &from, 1, DREP_INT32_T, to, sizeof to, &at, how);
}

static int with_xfer_unpack(const void *how)
{
    const char from[4] = {0};
    int64_t at = 0;
    int32_t to;

    return drep_unpack_xfer("external32", from, sizeof from, &at, &to, 1, DREP_INT32_T, how);
}

static int with_xfer_view(const void *how, bool writing)
{
    int32_t value = 1;
    drep_view *v;
    int err;

    ok(drep_view_dataset(ds, &v));
    err = writing ? drep_write_at(v, 0, &value, 1, DREP_INT32_T, how, NULL)
                  : drep_read_at(v, 0, &value, 1, DREP_INT32_T, how, NULL);
    drep_view_close(v);
    return err;
}

static int with_xfer_read_at(const void *how)
{
    return with_xfer_view(how, false);
}

static int with_xfer_write_at(const void *how)
{
    return with_xfer_view(how, true);
}

static int with_copying(const void *how)
{
    drep_file *to;
    int err;

    ok(drep_create(":memory:", DREP_RDWR, "native", NULL, &to));
    err = drep_copy(f, "/", to, "/", how);
    drep_abandon(to);
    return err;
}

static int no_bytes(void *state, uint64_t *size)
{
    (void)state;
    *size = 0;
    return 0;
}

static int no_read(void *state, const drep_range *range, size_t n)
{
    (void)state, (void)range;
    return n > 0 ? DREP_ERR_TRUNCATE : 0;
}

/* The driver is taken if its file is then found to be none. */
static int with_driver(const void *how)
{
    drep_file *none;
    int err = drep_open_driver(how, NULL, "nothing", DREP_RDONLY, NULL, &none);

    return err == DREP_ERR_NOT_DREP || err == DREP_ERR_TRUNCATE ? 0 : err;
}

static int with_driver_create(const void *how)
{
    drep_file *none;
    int err = drep_create_driver(how, NULL, "nothing", "native", NULL, &none);

    return err == DREP_ERR_ARG && strstr(drep_error(), "write_at") ? 0 : err;
}

static const drep_xfer xfer = DREP_XFER(.threads = 1);
static const drep_copying copying = DREP_COPYING(.threads = 1);
static const drep_driver driver = DREP_DRIVER(.read_many = no_read, .file_size = no_bytes);

static const struct {
    const char *macro;
    const void *good;
    size_t size;
    int (*use)(const void *how);
} option[] = {
    {"DREP_SPEC(...)", &spec, sizeof spec, with_spec},
    {"DREP_XFER(...)", &xfer, sizeof xfer, with_xfer},
    {"DREP_XFER(...)", &xfer, sizeof xfer, with_xfer_box},
    {"DREP_XFER(...)", &xfer, sizeof xfer, with_xfer_write},
    {"DREP_XFER(...)", &xfer, sizeof xfer, with_xfer_write_box},
    {"DREP_XFER(...)", &xfer, sizeof xfer, with_xfer_append},
    {"DREP_XFER(...)", &xfer, sizeof xfer, with_xfer_readv},
    {"DREP_XFER(...)", &xfer, sizeof xfer, with_xfer_convert},
    {"DREP_XFER(...)", &xfer, sizeof xfer, with_xfer_pack},
    {"DREP_XFER(...)", &xfer, sizeof xfer, with_xfer_unpack},
    {"DREP_XFER(...)", &xfer, sizeof xfer, with_xfer_read_at},
    {"DREP_XFER(...)", &xfer, sizeof xfer, with_xfer_write_at},
    {"DREP_COPYING(...)", &copying, sizeof copying, with_copying},
    {"DREP_DRIVER(...)", &driver, sizeof driver, with_driver},
    {"DREP_DRIVER(...)", &driver, sizeof driver, with_driver_create},
};

/* Options of a size, zeros behind those of this version. */
static char *options(int i, size_t size)
{
    size_t have = size < option[i].size ? option[i].size : size;
    char *p = calloc(1, have);

    memcpy(p, option[i].good, option[i].size);
    memcpy(p, &size, sizeof size);
    return p;
}

START_TEST(test_options_without_size)
{
    for (size_t is = 0; is <= 8; is += 8) {
        char *how = options(_i, is);

        refused(option[_i].use(how), DREP_ERR_ARG, option[_i].macro);
        free(how);
    }
}
END_TEST

/* Options of a newer program: zeros are the default, all else is not known here. */
START_TEST(test_options_of_newer_programs)
{
    size_t more = option[_i].size + 24;
    char *how = options(_i, more);
    char byte[32];

    ok(option[_i].use(how));
    how[more - 1] = 1;
    snprintf(byte, sizeof byte, "byte %zu of the", more - 1);
    refused(option[_i].use(how), DREP_ERR_UNSUPPORTED, byte);
    free(how);
}
END_TEST

/* The default of every option is zero. */
START_TEST(test_macros)
{
    const drep_xfer none = DREP_XFER();
    drep_xfer zero;

    memset(&zero, 0, sizeof zero);
    zero.size = sizeof zero;
    ck_assert_int_eq(none.range, zero.range);
    ck_assert_int_eq(none.threads, zero.threads);
    ck_assert_ptr_null(none.report);
    ck_assert_uint_eq(none.size, sizeof none);
    ck_assert_uint_eq(offsetof(drep_spec, size), 0);
    ok(with_xfer(&none));
    ok(drep_read(ds, NULL, DREP_INT64_T, (int64_t[ROWS]){0}, &DREP_XFER(.threads = 2)));
}
END_TEST

int main(void)
{
    Suite *s = suite_create("sized");
    TCase *t = tcase_create("sized");
    int results = sizeof result / sizeof *result, options_ = sizeof option / sizeof *option;

    tcase_add_checked_fixture(t, setup, teardown);
    tcase_add_loop_test(t, test_results_without_size, 0, results);
    tcase_add_loop_test(t, test_results_of_newer_programs, 0, results);
    tcase_add_loop_test(t, test_options_without_size, 0, options_);
    tcase_add_loop_test(t, test_options_of_newer_programs, 0, options_);
    tcase_add_test(t, test_macros);
    suite_add_tcase(s, t);
    return run_suite(s);
}
