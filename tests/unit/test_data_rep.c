/* test_data_rep.c - representations of containers: a user's functions (requirement U),
 * what the header says of them, and who wins over a name (D7, D8, D9, D10). */
/* SPDX-License-Identifier: MIT */
#include "data_help.h"

#include <pthread.h>
#include <stdatomic.h>
#include <sys/wait.h>

/* ---- functions that write down how they are called ---- */

struct call {
    void *user;
    const drep_type *type;
    int64_t count, position;
    uint8_t *file;
};

static struct {
    struct call call[4096];
    atomic_int n, inside, most; /* calls; now under way; at once */
    int fail_at;                /* the call that fails, from 1 */
    int64_t int_extent;
    bool reading;
} spy;

static int note(void *user, const drep_type *type, int64_t count, void *file, int64_t position,
                bool reading)
{
    int n = atomic_fetch_add(&spy.n, 1), inside = atomic_fetch_add(&spy.inside, 1) + 1, err;

    if (inside > atomic_load(&spy.most))
        atomic_store(&spy.most, inside);
    if (n < 4096)
        spy.call[n] = (struct call){user, type, count, position, file};
    err = n + 1 == spy.fail_at ? 77 : xor_run(user, type, count, file, position, reading);
    atomic_fetch_sub(&spy.inside, 1);
    return err;
}

static int spy_read(void *user, const drep_type *type, int64_t count, void *file, int64_t position,
                    void *state)
{
    ck_assert_ptr_eq(state, &spy);
    return note(user, type, count, file, position, true);
}

static int spy_write(void *user, const drep_type *type, int64_t count, void *file, int64_t position,
                     void *state)
{
    ck_assert_ptr_eq(state, &spy);
    return note(user, type, count, file, position, false);
}

/* DOUBLE is not representable; INT as the test says. */
static int spy_extent(const drep_type *type, int64_t *extent, void *state)
{
    (void)state;
    *extent = drep_type_extent(type);
    if (drep_type_code(type) == DREP_CODE_DOUBLE)
        *extent = DREP_UNDEFINED;
    if (drep_type_code(type) == DREP_CODE_INT && spy.int_extent != 0)
        *extent = spy.int_extent;
    return 0;
}

static void spy_setup(void)
{
    static bool done;

    if (!done) {
        ok(drep_register_datarep("spy", spy_read, spy_write, spy_extent, &spy));
        ok(drep_register_datarep("no write", spy_read, DREP_CONVERSION_NULL, native_extent, &spy));
        ok(drep_register_datarep("no read", DREP_CONVERSION_NULL, spy_write, native_extent, &spy));
        ok(drep_register_datarep("no functions", DREP_CONVERSION_NULL, DREP_CONVERSION_NULL,
                                 spy_extent, &spy));
        ok(drep_register_datarep_flags("one by one", spy_read, spy_write, native_extent, &spy,
                                       DREP_REP_SERIAL));
    }
    done = true;
    register_datareps();
    memset(&spy, 0, sizeof spy);
}

static void spy_clear(void)
{
    spy.fail_at = 0;
    atomic_store(&spy.n, 0);
    atomic_store(&spy.most, 0);
}

/* The calls of one transfer: each begins where the one before ended, in all `items`. */
static void check_transfer(int from, int to, int64_t items)
{
    int64_t at = 0;

    for (int i = from; i < to; i++) {
        ck_assert_int_eq(spy.call[i].position, at);
        ck_assert_ptr_eq(spy.call[i].user, spy.call[from].user);
        ck_assert_ptr_eq(spy.call[i].type, spy.call[from].type);
        ck_assert_int_gt(spy.call[i].count, 0);
        at += spy.call[i].count;
    }
    ck_assert_int_eq(at, items);
}

START_TEST(test_U5_U6_U7_U8_calls_of_one_write)
{
    const int64_t n = 1000;
    drep_info *info = hints("drep_sync=none", "cb_buffer_size=64", (char *)NULL);
    int32_t in[2000], out[2000] = {0};
    drep_type *two;
    drep_file *f;
    drep_dataset *ds;

    spy_setup();
    for (int i = 0; i < 2000; i++)
        in[i] = i;
    ok(drep_type_contiguous(2, DREP_INT32_T, &two));
    ok(drep_create(temp_path("calls"), DREP_RDWR, "spy", info, &f));
    ds = new_dataset(f, "d", two, 1, &n);
    spy_clear();
    ok(drep_write(ds, NULL, two, in, NULL));
    ck_assert_int_eq(spy.n, 2000 * 4 / 64); /* whole items, at most 64 bytes a call */
    check_transfer(0, spy.n, 2000);
    ck_assert_ptr_eq(spy.call[0].user, in);
    ck_assert(drep_type_equivalent(spy.call[0].type, two));
    for (int i = 1; i < spy.n; i++) /* items without gaps, filebuf at the call's first */
        ck_assert_ptr_eq(spy.call[i].file, spy.call[i - 1].file + 4 * spy.call[i - 1].count);
    spy_clear();
    ok(drep_read(ds, NULL, two, out, NULL));
    check_transfer(0, spy.n, 2000);
    ck_assert_int_eq(memcmp(in, out, sizeof in), 0);
    drep_dataset_close(ds);
    ok(drep_close(f));
    drep_type_free(two);
    drep_info_free(info);
}
END_TEST

/* A memory tile that a chunk begins inside of: position 0 of another datatype. */
START_TEST(test_U6_D9_parts_begin_at_position_0)
{
    const int64_t n = 30, chunk = 4;
    drep_spec spec = DREP_SPEC(.type = DREP_INT32_T, .rank = 1, .dims = &n, .chunk = &chunk);
    int32_t in[30], out[30] = {0};
    drep_file *f;
    drep_dataset *ds;
    drep_type *ten;

    spy_setup();
    for (int i = 0; i < 30; i++)
        in[i] = 100 - i;
    ok(drep_type_contiguous(10, DREP_INT32_T, &ten));
    f = new_file(temp_path("parts"), "spy");
    ok(drep_dataset_create(f, "d", &spec, &ds));
    spy_clear();
    ok(drep_write(ds, NULL, ten, in, NULL));
    for (int i = 0; i < spy.n; i++)
        ck_assert_int_eq(spy.call[i].position, 0);
    ok(drep_read(ds, NULL, ten, out, NULL));
    ck_assert_int_eq(memcmp(in, out, sizeof in), 0);
    drep_dataset_close(ds);
    ok(drep_close(f));
    drep_type_free(ten);
}
END_TEST

START_TEST(test_U9_D11_failing_write_leaves_nothing)
{
    const int64_t n = 50000;
    static int32_t in[50000], out[50000], kept[50000];
    drep_file *f;
    drep_dataset *ds;
    drep_info *info = hints("drep_sync=none", "cb_buffer_size=4096", (char *)NULL);

    spy_setup();
    ok(drep_create(temp_path("fail"), DREP_RDWR, "spy", info, &f));
    ds = new_dataset(f, "d", DREP_INT32_T, 1, &n);
    for (int i = 0; i < n; i++) {
        kept[i] = i;
        in[i] = -i;
    }
    ok(drep_write(ds, NULL, NULL, kept, NULL));
    ok(drep_commit(f));
    for (int at = 1; at < 40; at += 13) {
        spy_clear();
        spy.fail_at = at;
        fails(drep_write(ds, NULL, NULL, in, NULL), DREP_ERR_CONVERSION);
        ck_assert_ptr_nonnull(strstr(drep_error(), "77"));
        spy_clear();
        ok(drep_read(ds, NULL, NULL, out, NULL));
        ck_assert_int_eq(memcmp(out, kept, sizeof out), 0);
    }
    spy_clear();
    spy.fail_at = 3;
    fails(drep_read(ds, NULL, NULL, out, NULL), DREP_ERR_CONVERSION);
    drep_dataset_close(ds);
    fails(drep_close(f), DREP_ERR_CONVERSION); /* D43 */
    drep_info_free(info);
}
END_TEST

/* A write function that refuses zero: what is never unwritten needs no fill. */
static int no_zero(void *user, const drep_type *type, int64_t count, void *file, int64_t position,
                   void *state)
{
    const int32_t *p = (const int32_t *)user + position;

    if (drep_type_code(type) == DREP_CODE_INT32_T)
        for (int64_t i = 0; i < count; i++)
            if (p[i] == 0)
                return 5;
    return xor_write(user, type, count, file, position, state);
}

START_TEST(test_U9_fill_that_functions_refuse)
{
    const int64_t n = 10, max = 20, more = 12;
    drep_spec spec =
        DREP_SPEC(.type = DREP_INT32_T, .rank = 1, .dims = &n, .maxdims = &max, .chunk = &n);
    int32_t in[12] = {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12}, out[12];
    drep_file *f;
    drep_dataset *ds;

    spy_setup();
    ok(drep_register_datarep("no zero", xor_read, no_zero, native_extent, NULL));
    f = new_file(temp_path("zero"), "no zero");
    ok(drep_dataset_create(f, "d", &spec, &ds));
    fails(drep_read(ds, NULL, NULL, out, NULL), DREP_ERR_CONVERSION);
    ok(drep_write(ds, NULL, NULL, in, NULL));
    ok(drep_read(ds, NULL, NULL, out, NULL));
    ck_assert_int_eq(memcmp(in, out, sizeof in - 8), 0);
    ok(drep_dataset_resize(ds, &more));
    drep_dataset_close(ds);
    ok(drep_close(f));
}
END_TEST

/* A fill value is what storing it makes of it, wherever it is read: in the record, in elements that
 * were never written, beside others in a chunk, and in a copy under another representation. */
START_TEST(test_fill_is_what_the_representation_holds)
{
    const int64_t n = 10, chunk = 4, first = 0, count = 1;
    const double third = 1.0 / 3, large = 1e300;
    drep_encoding narrow = {DREP_CODE_DOUBLE, DREP_FORMAT_BINARY32, DREP_BIG, 4, 1, 0, 0};
    drep_spec spec = DREP_SPEC(.type = DREP_DOUBLE, .rank = 1, .dims = &n, .fill = DREP_FILL_VALUE);
    drep_report report = DREP_REPORT;
    drep_copying copying = DREP_COPYING(.report = &report);
    double fill, all[10], one = 7;
    drep_selection *sel;
    drep_file *f, *to;
    drep_dataset *ds;

    ok(drep_declare_datarep("narrow", "external32", &narrow, 1, NULL, 0));
    for (int layout = DREP_COMPACT; layout <= DREP_CHUNKED; layout++) {
        f = new_file(":memory:", "narrow");
        spec.layout = layout;
        spec.chunk = layout == DREP_CHUNKED ? &chunk : NULL;
        spec.fill_value = &third;
        ok(drep_dataset_create(f, "d", &spec, &ds));
        ok(drep_dataset_fill(ds, NULL, &fill));
        ck_assert(fill == (double)(float)third);
        ok(drep_read(ds, NULL, NULL, all, NULL));
        ck_assert(all[0] == fill && all[9] == fill);
        ok(drep_select_box(1, &first, &count, NULL, NULL, &sel));
        ok(drep_write(ds, sel, NULL, &one, NULL));
        drep_selection_free(sel);
        ok(drep_read(ds, NULL, NULL, all, NULL));
        ck_assert(all[0] == 7 && all[1] == fill && all[9] == fill);
        drep_dataset_close(ds);
        spec.fill_value = &large;
        fails(drep_dataset_create(f, "e", &spec, NULL), DREP_ERR_CONVERSION);
        ok(drep_close(f));
    }
    f = new_file(":memory:", "external32");
    spec.fill_value = &third;
    ok(drep_dataset_create(f, "d", &spec, NULL));
    spec.fill_value = &large;
    ok(drep_dataset_create(f, "e", &spec, NULL));
    to = new_file(":memory:", "narrow");
    ok(drep_copy(f, "d", to, "d", &copying));
    ck_assert_int_eq(report.inexact, 1);
    copying.range = DREP_RANGE_STRICT;
    fails(drep_copy(f, "e", to, "e", &copying), DREP_ERR_CONVERSION);
    ok(drep_dataset_open(to, "d", &ds));
    ok(drep_dataset_fill(ds, NULL, &fill));
    ck_assert(fill == (double)(float)third);
    drep_dataset_close(ds);
    drep_abandon(to);
    ok(drep_close(f));
}
END_TEST

/* Functions see neither bytes nor strings, nor text behind a place (D3, D4, E13). */
START_TEST(test_D3_bytes_and_strings_are_never_converted)
{
    const int kinds[] = {V_STRING, V_OPAQUE, V_FLAT, V_DEEP};
    _Alignas(16) uint8_t in[VALUE_ROOM] = {0};

    spy_setup();
    for (int k = 0; k < 4; k++) {
        drep_type *type = value_type(kinds[k]);
        drep_file *f = new_file(temp_path("bytes"), "xor");
        drep_dataset *ds = new_dataset(f, "d", type, 0, NULL);
        uint8_t bytes[64 << 10];
        size_t n;
        FILE *p;

        value_make(kinds[k], 43, in);
        ok(drep_write(ds, NULL, type, in, NULL));
        drep_vlen_free(type, 1, in);
        drep_dataset_close(ds);
        ok(drep_close(f));
        p = fopen(temp_path("bytes"), "rb");
        n = fread(bytes, 1, sizeof bytes, p);
        fclose(p);
        ck_assert_ptr_nonnull(memmem(bytes, n,
                                     kinds[k] == V_STRING || kinds[k] == V_OPAQUE ? "RRR"
                                     : kinds[k] == V_FLAT                         ? "r"
                                                                                  : "43abc",
                                     kinds[k] == V_FLAT ? 1 : 3));
        drep_type_free(type);
    }
}
END_TEST

/* The same through a view: what it shows is what the dataset holds. */
START_TEST(test_D3_D6_bytes_in_views)
{
    const int kinds[] = {V_STRING, V_OPAQUE, V_FLAT, V_INT};

    spy_setup();
    for (int k = 0; k < 4; k++) {
        _Alignas(16) uint8_t in[VALUE_ROOM] = {0}, out[VALUE_ROOM] = {0};
        drep_type *type = value_type(kinds[k]);
        drep_file *f = new_file(temp_path("byteview"), "xor");
        drep_dataset *ds = new_dataset(f, "d", type, 0, NULL);
        drep_view *view;
        int64_t moved;

        value_make(kinds[k], 43, in);
        ok(drep_write(ds, NULL, type, in, NULL));
        ok(drep_view_dataset(ds, &view));
        ok(drep_read_at(view, 0, out, 1, type, NULL, &moved));
        ck_assert_int_eq(moved, drep_type_items(type));
        ck_assert(value_is(kinds[k], type, 43, out));
        value_make(kinds[k], 45, in);
        ok(drep_write_at(view, 0, in, 1, type, NULL, &moved));
        ok(drep_read(ds, NULL, type, out, NULL));
        ck_assert(value_is(kinds[k], type, 45, out));
        ok(drep_view_close(view));
        drep_dataset_close(ds);
        ok(drep_close(f));
        drep_type_free(type);
    }
}
END_TEST

START_TEST(test_U4_X2_type_that_is_not_representable)
{
    drep_spec spec = DREP_SPEC(.type = DREP_DOUBLE);
    drep_file *f;

    spy_setup();
    f = new_file(temp_path("no"), "spy");
    fails(drep_dataset_create(f, "d", &spec, NULL), DREP_ERR_VALUE_TOO_LARGE);
    ck_assert_ptr_nonnull(strstr(drep_error(), "DOUBLE"));
    spec.type = DREP_INT;
    ok(drep_dataset_create(f, "d", &spec, NULL));
    ok(drep_close(f));
}
END_TEST

/* U10: a direction without a function is native, with the creator's table in the header. */
START_TEST(test_U10_D10_null_functions)
{
    const int64_t n = 100;
    const char *const names[] = {"no write", "no read"};

    for (int k = 0; k < 2; k++) {
        int32_t in[100], out[100];
        const drep_encoding *rows;
        drep_file *f;
        drep_dataset *ds;
        int nrows;

        spy_setup();
        f = new_file(temp_path("null"), names[k]);
        ds = new_dataset(f, "d", DREP_INT32_T, 1, &n);
        for (int i = 0; i < 100; i++)
            in[i] = i * 7;
        spy_clear();
        ok(drep_write(ds, NULL, NULL, in, NULL));
        ck_assert_int_eq(spy.n > 0, k == 1);
        spy_clear();
        ok(drep_read(ds, NULL, NULL, out, NULL));
        ck_assert_int_eq(spy.n > 0, k == 0);
        for (int i = 0; i < 100; i++) /* the spy's functions xor, the other side does not */
            ck_assert_int_eq(out[i], in[i] ^ 0x5a5a5a5a);
        drep_dataset_close(ds);
        ok(drep_close(f));
        ok(drep_open(temp_path("null"), DREP_RDONLY | DREP_HEADER_ONLY, NULL, &f));
        ok(drep_header_types(f, 0, &rows, &nrows));
        ck_assert_int_eq(nrows, 1);
        ck_assert_int_eq(rows[0].size, 4);
        ok(drep_close(f));
    }
}
END_TEST

START_TEST(test_C3_null_function_with_another_extent)
{
    drep_spec spec = DREP_SPEC(.type = DREP_INT);
    drep_file *f;

    spy_setup();
    spy.int_extent = 3;
    f = new_file(temp_path("c3"), "no functions");
    fails(drep_dataset_create(f, "d", &spec, NULL), DREP_ERR_UNSUPPORTED_DATAREP);
    ck_assert_ptr_nonnull(strstr(drep_error(), "INT"));
    spec.type = DREP_INT16_T;
    ok(drep_dataset_create(f, "d", &spec, NULL));
    ok(drep_close(f));
}
END_TEST

START_TEST(test_C1_extents_that_differ_at_reopen)
{
    const int64_t n = 4;
    drep_dataset *ds;
    drep_file *f;
    drep_header h = DREP_HEADER;

    spy_setup();
    f = new_file(temp_path("ext"), "spy");
    drep_dataset_close(new_dataset(f, "d", DREP_INT, 1, &n));
    ok(drep_close(f));
    spy.int_extent = 3;
    ok(drep_open(temp_path("ext"), DREP_RDONLY, NULL, &f));
    ok(drep_dataset_open(f, "d", &ds));
    fails(drep_read(ds, NULL, NULL, &(int[4]){0}, NULL), DREP_ERR_UNSUPPORTED_DATAREP);
    ck_assert_ptr_nonnull(strstr(drep_error(), "INT"));
    drep_dataset_close(ds);
    ok(drep_close(f));
    ok(drep_open(temp_path("ext"), DREP_RDONLY | DREP_HEADER_ONLY, NULL, &f));
    ok(drep_header_get(f, &h));
    ck_assert_str_eq(h.datarep, "spy");
    ck_assert_str_eq(h.form, "code");
    ok(drep_close(f));
}
END_TEST

/* The functions under a name are not those that wrote the file. */
static unsigned char swap_key;
static int key_run(void *user, const drep_type *type, int64_t count, void *file, int64_t position,
                   bool reading)
{
    int err = xor_run(user, type, count, file, position, reading);

    for (int64_t i = 0; !reading && i < count * drep_type_extent(type); i++)
        ((uint8_t *)file)[i] ^= swap_key;
    return err;
}

static int key_read(void *user, const drep_type *type, int64_t count, void *file, int64_t position,
                    void *state)
{
    (void)state;
    for (int64_t i = 0; i < count * drep_type_extent(type); i++)
        ((uint8_t *)file)[i] ^= swap_key;
    return key_run(user, type, count, file, position, true);
}

static int key_write(void *user, const drep_type *type, int64_t count, void *file, int64_t position,
                     void *state)
{
    (void)state;
    return key_run(user, type, count, file, position, false);
}

START_TEST(test_D8_witnesses_tell_another_representation)
{
    drep_dataset *ds;
    drep_file *f;

    spy_setup();
    ok(drep_register_datarep("keyed", key_read, key_write, native_extent, NULL));
    f = new_file(temp_path("key"), "keyed");
    drep_dataset_close(new_dataset(f, "d", DREP_DOUBLE, 0, NULL));
    ok(drep_close(f));
    ok(drep_open(temp_path("key"), DREP_RDONLY, NULL, &f));
    ok(drep_close(f));
    swap_key = 1;
    ok(drep_open(temp_path("key"), DREP_RDONLY, NULL, &f));
    ok(drep_dataset_open(f, "d", &ds));
    fails(drep_read(ds, NULL, NULL, &(double){0}, NULL), DREP_ERR_UNSUPPORTED_DATAREP);
    ck_assert_ptr_nonnull(strstr(drep_error(), "DOUBLE"));
    drep_dataset_close(ds);
    ok(drep_close(f));
    ok(drep_open(temp_path("key"), DREP_RDONLY | DREP_HEADER_ONLY, NULL, &f));
    ok(drep_close(f));
    swap_key = 0;
}
END_TEST

/* ---- resolution ---- */

START_TEST(test_U3_unknown_names)
{
    const char *path = temp_path("unknown");
    drep_file *f;

    spy_setup();
    fails(drep_create(path, DREP_RDWR, "nobody's", NULL, &f), DREP_ERR_UNSUPPORTED_DATAREP);
    fails(drep_create(path, DREP_RDWR, "External32", NULL, &f), DREP_ERR_UNSUPPORTED_DATAREP);
    ck_assert(!temp_exists(path));
}
END_TEST

static int keep_finding(int err, uint64_t offset, const char *message, void *ctx)
{
    ck_assert_int_eq(err, DREP_ERR_UNSUPPORTED_DATAREP);
    ck_assert(offset == 0);
    snprintf(ctx, 500, "%s", message);
    return 0;
}

/* R3.11: everything of a dataset of INT32[3] is shown but its elements; a deep check says so. */
static void elements_refused(drep_file *f, drep_dataset *ds)
{
    drep_item item = {.path = "/d", .buf = &(int32_t[3]){0}};
    const int64_t one = 1, zero = 0;
    char message[500] = "";
    int64_t findings = 0;
    drep_view *view;
    int32_t v = 0;

    fails(drep_read(ds, NULL, NULL, &(int32_t[3]){0}, NULL), DREP_ERR_UNSUPPORTED_DATAREP);
    ck_assert_ptr_nonnull(strstr(drep_error(), "\"elsewhere\" is not registered"));
    fails(drep_read_box(ds, &zero, &one, NULL, &v, NULL), DREP_ERR_UNSUPPORTED_DATAREP);
    fails(drep_readv(f, &item, 1, NULL), DREP_ERR_UNSUPPORTED_DATAREP);
    fails(drep_view_dataset(ds, &view), DREP_ERR_UNSUPPORTED_DATAREP);
    ck_assert_ptr_nonnull(strstr(drep_error(), "\"elsewhere\" is not registered"));
    ok(drep_check(f, 0, keep_finding, message, &findings));
    ck_assert_int_eq(findings, 0);
    ok(drep_check(f, 1, keep_finding, message, &findings));
    ck_assert_int_eq(findings, 1);
    ck_assert_ptr_nonnull(strstr(message, "\"/d\""));
    ck_assert_ptr_nonnull(strstr(message, "elsewhere"));
}

/* A file of functions that this process lacks: made by changing the name's bytes would
 * break sums, so its image is written under a name that a child registers. */
START_TEST(test_D8_unregistered_name_shows_its_header)
{
    const char *path = temp_path("gone");
    drep_objinfo info = DREP_OBJINFO;
    drep_dataset *ds;
    drep_file *f;
    int32_t v = 5;

    spy_setup();
    if (fork() == 0) {
        const int64_t n = 3;

        drep_register_datarep("elsewhere", xor_read, xor_write, native_extent, NULL);
        if (drep_create(path, DREP_RDWR, "elsewhere", NULL, &f) == 0) {
            drep_dataset_create(f, "d", &DREP_SPEC(.type = DREP_INT32_T, .rank = 1, .dims = &n),
                                NULL);
            drep_attr_write_int64(f, "/", "answer", 42);
            drep_close(f);
        }
        _exit(0);
    }
    while (wait(NULL) < 0)
        ;
    ok(drep_open(path, DREP_RDONLY, NULL, &f));
    ok(drep_dataset_open(f, "d", &ds));
    elements_refused(f, ds);
    drep_dataset_close(ds);
    ok(drep_attr_read(f, "/", "answer", DREP_INT32_T, &v));
    ok(drep_close(f));
    fails(drep_open(path, DREP_RDWR | DREP_HEADER_ONLY, NULL, &f), DREP_ERR_AMODE);
    ok(drep_open(path, DREP_RDONLY | DREP_HEADER_ONLY, NULL, &f));
    ok(drep_stat(f, "/d", &info));
    ok(drep_attr_read(f, "/", "answer", DREP_INT32_T, &v));
    ck_assert_int_eq(v, 42);
    ok(drep_dataset_open(f, "d", &ds));
    fails(drep_read(ds, NULL, NULL, &(int32_t[3]){0}, NULL), DREP_ERR_UNSUPPORTED_DATAREP);
    drep_dataset_close(ds);
    ok(drep_close(f));
}
END_TEST

/* The table in the header wins over what is registered under its name. */
START_TEST(test_D8_table_of_the_header_wins)
{
    const drep_encoding big = {DREP_CODE_INT, DREP_FORMAT_INT, DREP_BIG, 8, 1, 0, 0};
    const drep_encoding little = {DREP_CODE_INT, DREP_FORMAT_INT, DREP_LITTLE, 4, 1, 0, 0};
    const char *path = temp_path("wins");
    const drep_encoding *rows;
    drep_dataset *ds;
    drep_file *f;
    int v = 0, n;

    spy_setup();
    if (fork() == 0) {
        int one = 0x01020304;

        drep_declare_datarep("mine", "external32", &big, 1, NULL, 0);
        if (drep_create(path, DREP_RDWR, "mine", NULL, &f) == 0 &&
            drep_dataset_create(f, "d", &DREP_SPEC(.type = DREP_INT), &ds) == 0) {
            drep_write(ds, NULL, NULL, &one, NULL);
            drep_dataset_close(ds);
            drep_close(f);
        }
        _exit(0);
    }
    while (wait(NULL) < 0)
        ;
    ok(drep_declare_datarep("mine", "external32", &little, 1, NULL, 0));
    ok(drep_open(path, DREP_RDWR, NULL, &f));
    ok(drep_header_types(f, 0, &rows, &n));
    ck_assert_int_eq(n, 1);
    ck_assert_int_eq(rows[0].size, 8);
    ok(drep_dataset_open(f, "d", &ds));
    ok(drep_read(ds, NULL, NULL, &v, NULL));
    ck_assert_int_eq(v, 0x01020304);
    drep_dataset_close(ds);
    ok(drep_attr_write_int64(f, "/", "a", 1));
    ok(drep_close(f)); /* and stays there */
    ok(drep_open(path, DREP_RDONLY, NULL, &f));
    ok(drep_header_types(f, 0, &rows, &n));
    ck_assert_int_eq(rows[0].size, 8);
    ok(drep_close(f));
}
END_TEST

/* A handle that read the header writes it as the one that made it: nothing is committed that nobody
 * changed. */
START_TEST(test_D8_a_declared_table_goes_back_as_it_is)
{
    const drep_encoding big = {DREP_CODE_INT, DREP_FORMAT_INT, DREP_BIG, 8, 1, 0, 0};
    const char *path = temp_path("goes-back");
    drep_header h = DREP_HEADER;
    drep_dataset *ds;
    drep_file *f;

    ok(drep_declare_datarep("back", "external32", &big, 1, NULL, 0));
    f = new_file(path, "internal");
    ok(drep_dataset_create(f, "d", &DREP_SPEC(.type = DREP_INT, .datarep = "back"), NULL));
    ok(drep_close(f));
    for (int i = 0; i < 3; i++) {
        ok(drep_open(path, DREP_RDWR, NULL, &f));
        ok(drep_dataset_open(f, "d", &ds));
        drep_dataset_close(ds);
        ok(drep_commit(f));
        ok(drep_header_get(f, &h));
        ck_assert_uint_eq(h.sequence, 1);
        ok(drep_close(f));
    }
}
END_TEST

/* ---- threads ---- */

static void many_chunks(const char *datarep)
{
    const int64_t n = 4 << 20, chunk = 64 << 10;
    static int32_t v[4 << 20], in[4 << 20];
    drep_spec spec = DREP_SPEC(.type = DREP_INT32_T, .rank = 1, .dims = &n, .chunk = &chunk);
    drep_xfer xfer = DREP_XFER(.threads = 4);
    drep_dataset *ds;
    drep_file *f = new_file(temp_path("many"), datarep);

    for (int64_t i = 0; i < n; i++)
        in[i] = (int32_t)i;
    ok(drep_dataset_create(f, "d", &spec, &ds));
    ok(drep_write(ds, NULL, NULL, in, &xfer));
    spy_clear();
    ok(drep_read(ds, NULL, NULL, v, &xfer));
    ck_assert_int_eq(memcmp(v, in, sizeof v), 0);
    drep_dataset_close(ds);
    ok(drep_close(f));
}

START_TEST(test_D9_serial_functions_are_never_concurrent)
{
    spy_setup();
    many_chunks("one by one");
    ck_assert_int_eq(spy.most, 1);
    many_chunks("spy"); /* these may be */
}
END_TEST

int main(void)
{
    Suite *s = suite_create("data rep");
    TCase *t = tcase_create("rep");

    tcase_set_timeout(t, 120);
    tcase_add_test(t, test_U5_U6_U7_U8_calls_of_one_write);
    tcase_add_test(t, test_U6_D9_parts_begin_at_position_0);
    tcase_add_test(t, test_U9_D11_failing_write_leaves_nothing);
    tcase_add_test(t, test_U9_fill_that_functions_refuse);
    tcase_add_test(t, test_fill_is_what_the_representation_holds);
    tcase_add_test(t, test_D3_bytes_and_strings_are_never_converted);
    tcase_add_test(t, test_D3_D6_bytes_in_views);
    tcase_add_test(t, test_U4_X2_type_that_is_not_representable);
    tcase_add_test(t, test_U10_D10_null_functions);
    tcase_add_test(t, test_C3_null_function_with_another_extent);
    tcase_add_test(t, test_C1_extents_that_differ_at_reopen);
    tcase_add_test(t, test_D8_witnesses_tell_another_representation);
    tcase_add_test(t, test_U3_unknown_names);
    tcase_add_test(t, test_D8_unregistered_name_shows_its_header);
    tcase_add_test(t, test_D8_table_of_the_header_wins);
    tcase_add_test(t, test_D8_a_declared_table_goes_back_as_it_is);
    tcase_add_test(t, test_D9_serial_functions_are_never_concurrent);
    suite_add_tcase(s, t);
    return run_suite(s);
}
