/* test_changed.c - the commit that changed a dataset last, and what counts only while it has not
 * changed since (SPEC.md, R7.20, R7.21). */
/* SPDX-License-Identifier: MIT */
#include "data_help.h"

#include "io/io.h"
#include "tree/edit.h"
#include "tree/find.h"
#include "txn/commit.h"
#include "txn/open.h"
#include "txn/txn.h"

static const char *const names[] = {"/chunked", "/contiguous", "/compact", "/far"};
enum { CHUNKED, CONTIGUOUS, COMPACT, FAR, DATASETS, N = 12 };
static int32_t values[N];

static void make_dataset(drep_file *f, int which)
{
    static const int layout[] = {DREP_CHUNKED, DREP_CONTIGUOUS, DREP_COMPACT, DREP_CHUNKED};
    static const char fill[3000] = "a fill value that the record is too long for a leaf with";
    const int64_t n = N, max = DREP_UNLIMITED, chunk = 4;
    drep_type *text;
    drep_spec spec;
    drep_dataset *ds;

    ok(drep_type_string(sizeof fill, DREP_PAD_NUL, &text));
    spec = DREP_SPEC(.type = which == FAR ? text : DREP_INT32_T, .rank = 1, .dims = &n,
                     .layout = layout[which]);
    if (layout[which] == DREP_CHUNKED) {
        spec.maxdims = &max;
        spec.chunk = &chunk;
    }
    if (which == FAR) {
        spec.fill = DREP_FILL_VALUE;
        spec.fill_value = fill;
    }
    ok(drep_dataset_create(f, names[which], &spec, &ds));
    if (which != FAR)
        ok(drep_write(ds, NULL, DREP_INT32_T, values, NULL));
    drep_dataset_close(ds);
    drep_type_free(text);
}

static uint64_t changed(drep_file *f, int which)
{
    drep_dsinfo info = DREP_DSINFO;
    drep_dataset *ds;

    ok(drep_dataset_open(f, names[which], &ds));
    ok(drep_dataset_info(ds, &info));
    drep_dataset_close(ds);
    return info.changed;
}

static void all_changed(drep_file *f, uint64_t chunked, uint64_t contiguous, uint64_t compact,
                        uint64_t far)
{
    ck_assert_uint_eq(changed(f, CHUNKED), chunked);
    ck_assert_uint_eq(changed(f, CONTIGUOUS), contiguous);
    ck_assert_uint_eq(changed(f, COMPACT), compact);
    ck_assert_uint_eq(changed(f, FAR), far);
}

/* Write element `at` alone. */
static void write_one(drep_file *f, int which, int64_t at)
{
    const int64_t one = 1;
    drep_selection *sel;
    drep_dataset *ds;

    ok(drep_dataset_open(f, names[which], &ds));
    ok(drep_select_box(1, &at, &one, NULL, NULL, &sel));
    if (which == FAR) {
        char text[3000] = "written";
        drep_type *type;

        ok(drep_type_string(sizeof text, DREP_PAD_NUL, &type));
        ok(drep_write(ds, sel, type, text, NULL));
        drep_type_free(type);
    } else {
        ok(drep_write(ds, sel, DREP_INT32_T, values, NULL));
    }
    drep_selection_free(sel);
    drep_dataset_close(ds);
}

static void resize(drep_file *f, int which, int64_t n)
{
    drep_dataset *ds;

    ok(drep_dataset_open(f, names[which], &ds));
    ok(drep_dataset_resize(ds, &n));
    drep_dataset_close(ds);
}

static void append(drep_file *f, int64_t n)
{
    drep_dataset *ds;

    ok(drep_dataset_open(f, names[CHUNKED], &ds));
    ok(drep_append(ds, 0, n, DREP_INT32_T, values, NULL));
    ck_assert_uint_eq(changed(f, CHUNKED), 6); /* also while the rows wait in memory */
    drep_dataset_close(ds);
}

static drep_file *make_file(const char *path)
{
    drep_info *deferred = hints("drep_checksum=deferred", NULL);
    drep_file *f;

    ok(drep_create(path, 0, "external32", deferred, &f));
    drep_info_free(deferred);
    for (int i = 0; i < DATASETS; i++)
        make_dataset(f, i);
    all_changed(f, 1, 1, 1, 1);
    ok(drep_commit(f));
    all_changed(f, 1, 1, 1, 1);
    return f;
}

START_TEST(test_the_commit_that_changed_elements_or_shape)
{
    const char *path = temp_path("changed.drep");
    drep_file *f = make_file(path);

    for (int i = 0; i < 3; i++)
        write_one(f, i, 5);
    all_changed(f, 2, 2, 2, 1); /* the next commit */
    ok(drep_commit(f));
    all_changed(f, 2, 2, 2, 1);
    write_one(f, FAR, 1);
    ok(drep_commit(f));
    all_changed(f, 2, 2, 2, 3);
    ok(drep_attr_write_int64(f, names[CHUNKED], "a", 1)); /* no attribute, no name */
    ok(drep_link_move(f, "/compact", "/moved"));
    ok(drep_link_move(f, "/moved", "/compact"));
    ok(drep_commit(f));
    all_changed(f, 2, 2, 2, 3);
    resize(f, FAR, 20);
    ok(drep_commit(f));
    all_changed(f, 2, 2, 2, 5);
    append(f, 3);
    ok(drep_commit(f));
    all_changed(f, 6, 2, 2, 5);
    for (int i = 7; i < 130; i++) {
        ok(drep_attr_write_int64(f, "/", "n", i));
        ok(drep_commit(f));
    }
    write_one(f, CHUNKED, 0);
    write_one(f, FAR, 2);
    ok(drep_close(f));
    ok(drep_open(path, DREP_RDONLY, NULL, &f));
    all_changed(f, 130, 2, 2, 130);
    check_file(f);
    ok(drep_close(f));
}
END_TEST

/* What is taken back, or abandoned, leaves nothing; sums made later change no elements. */
START_TEST(test_what_changes_no_elements)
{
    const char *path = temp_path("same.drep");
    const int64_t outside[] = {N + 1};
    drep_file *f = make_file(path);
    drep_selection *sel;
    drep_dataset *ds;
    int64_t sealed;

    ok(drep_dataset_open(f, names[CHUNKED], &ds));
    ok(drep_select_points(1, 1, outside, &sel));
    ck_assert_int_ne(drep_write(ds, sel, DREP_INT32_T, values, NULL), 0);
    drep_selection_free(sel);
    ok(drep_attr_write_int64(f, names[CHUNKED], "a", 1));
    ok(drep_seal(f, &sealed));
    ck_assert_int_gt(sealed, 0);
    drep_dataset_close(ds);
    ok(drep_commit(f));
    all_changed(f, 1, 1, 1, 1);
    write_one(f, CHUNKED, 0);
    all_changed(f, 3, 1, 1, 1);
    drep_abandon(f);
    ok(drep_open(path, DREP_RDWR, NULL, &f));
    all_changed(f, 1, 1, 1, 1);
    ok(drep_close(f));
}
END_TEST

/* ---- an entry of a later version that says something about elements ---- */

static const struct store_opts opts = {
    .verify = 1, .keep = 2, .unit = 4096, .chunk_max = 1 << 24, .cache_size = 1 << 20, .time = -1};

static void later_key(struct key *key, uint64_t id)
{
    key_make_in(key, 7, id, 1);
    key_add_bytes(key, "largest", 7);
}

static struct store *open_store(const char *path, int write)
{
    struct store *st;
    struct io *io;

    ok(io_posix(path, write ? IO_WRITE : IO_READ, 0, 0, &io));
    ok(store_open(io, write, &opts, &st));
    return st;
}

static void plant(const char *path, uint64_t id, uint64_t sequence)
{
    struct store *st = open_store(path, 1);
    struct buf header = {0};
    uint8_t value[16];
    struct key key;
    size_t size;

    later_key(&key, id);
    store_u64(value, sequence);
    store_u64(value + 8, 99);
    ok(tree_put(st, &key, value, sizeof value));
    store_header(st, &size);
    ok(buf_set(&header, store_header(st, &size), size));
    ok(store_commit(st, header.p, size, size));
    store_close(st);
    buf_release(&header);
}

/* True if the entry counts; it is in the file in any case. */
static bool counts(const char *path, uint64_t id, int which)
{
    struct store *st = open_store(path, 0);
    struct buf value = {0};
    struct key key;
    uint64_t sequence, is;
    drep_file *f;

    later_key(&key, id);
    ok(tree_get(st, &key, &value));
    ck_assert_uint_eq(value.len, 16);
    sequence = load_u64(value.p);
    buf_release(&value);
    store_close(st);
    ok(drep_open(path, DREP_RDONLY, NULL, &f));
    is = changed(f, which);
    ok(drep_close(f));
    return sequence == is;
}

START_TEST(test_an_entry_about_elements_stops_counting)
{
    const char *path = temp_path("planted.drep");
    drep_file *f = make_file(path);
    drep_objinfo info = DREP_OBJINFO;
    uint64_t id[3];

    for (int i = 0; i < 3; i++) {
        ok(drep_stat(f, names[i], &info));
        id[i] = info.id;
    }
    ok(drep_close(f));
    for (int i = 0; i < 3; i++)
        plant(path, id[i], 1);
    for (int i = 0; i < 3; i++)
        ck_assert(counts(path, id[i], i));
    ok(drep_open(path, DREP_RDWR, NULL, &f));
    ok(drep_attr_write_int64(f, names[COMPACT], "a", 1));
    write_one(f, CHUNKED, 3);
    ok(drep_close(f));
    ck_assert(!counts(path, id[CHUNKED], CHUNKED));
    ck_assert(counts(path, id[CONTIGUOUS], CONTIGUOUS));
    ck_assert(counts(path, id[COMPACT], COMPACT));
    ok(drep_open(path, DREP_RDWR, NULL, &f));
    write_one(f, CONTIGUOUS, 3);
    write_one(f, COMPACT, 3);
    ok(drep_close(f));
    for (int i = 0; i < 3; i++)
        ck_assert(!counts(path, id[i], i));
}
END_TEST

int main(void)
{
    Suite *s = suite_create("changed");
    TCase *t = tcase_create("changed");

    tcase_add_test(t, test_the_commit_that_changed_elements_or_shape);
    tcase_add_test(t, test_what_changes_no_elements);
    tcase_add_test(t, test_an_entry_about_elements_stops_counting);
    suite_add_tcase(s, t);
    return run_suite(s);
}
