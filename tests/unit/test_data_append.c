/* test_data_append.c - rows that were appended and wait in memory (D47): who sees them, what is
 * refused in the call, what a delayed write that fails leaves, and random calls against a model. */
/* stacks: off */
/* SPDX-License-Identifier: MIT */
#include "whole/create.h"
#include "file/file.h"
#include "data_help.h"
#include "faultio.h"

#include <limits.h>
#include <pthread.h>
#include <stdatomic.h>
#include <sys/wait.h>

enum { ROWS = 40000, OPS = 1500, SETS = 4 };

static struct fault_file disk;
static int32_t values[ROWS], seen[ROWS];

static void begin(void)
{
    register_datareps();
    for (int i = 0; i < ROWS; i++)
        values[i] = i * 7 + 1;
}

static drep_file *on_disk(void)
{
    drep_file *f;

    fault_init(&disk);
    ok(file_create_on(fault_io(&disk), "external32", NULL, &f));
    disk.record = 1;
    return f;
}

/* A dataset without elements that grows; chunk 0: contiguous. */
static drep_dataset *growing(drep_file *f, const char *path, int64_t max, int64_t chunk,
                             const drep_type *type)
{
    const int64_t none = 0;
    const drep_spec spec = DREP_SPEC(.type = type, .rank = 1, .dims = &none, .maxdims = &max,
                                     .layout = chunk > 0 ? DREP_CHUNKED : DREP_CONTIGUOUS,
                                     .chunk = chunk > 0 ? &chunk : NULL);
    drep_dataset *ds;

    ok(drep_dataset_create(f, path, &spec, &ds));
    return ds;
}

static void append_some(drep_dataset *ds, int from, int to)
{
    for (int i = from; i < to; i++)
        ok(drep_append(ds, 0, 1, DREP_INT32_T, values + i, NULL));
}

static void holds(drep_dataset *ds, int n)
{
    int32_t *back = malloc(sizeof values);
    drep_dsinfo info = DREP_DSINFO;

    ck_assert_ptr_nonnull(back);
    ok(drep_dataset_info(ds, &info));
    ck_assert_int_eq(info.dims[0], n);
    ok(drep_read(ds, NULL, DREP_INT32_T, back, NULL));
    ck_assert_int_eq(memcmp(back, values, (size_t)n * sizeof *back), 0);
    free(back);
}

/* ---- what waits ---- */

/* The first append settles what the handle does not know yet; the next ones do no I/O at all. */
START_TEST(test_D47_small_appends_do_no_io)
{
    drep_file *f = on_disk();
    drep_dataset *ds = growing(f, "/a", DREP_UNLIMITED, _i * 100, DREP_INT32_T);
    drep_dsinfo info = DREP_DSINFO;
    size_t events;

    append_some(ds, 0, 1);
    events = disk.events;
    append_some(ds, 1, 16000);
    ok(drep_dataset_info(ds, &info)); /* knows them without a look at the file */
    ck_assert_int_eq(info.dims[0], 16000);
    ck_assert_int_eq(info.count, 16000);
    ck_assert_uint_eq(disk.events, events);
    append_some(ds, 16000, 40000); /* 64 KiB are 16,384 */
    ck_assert_uint_gt(disk.events, events);
    holds(ds, 40000);
    ok(drep_commit(f));
    check_file(f);
    drep_dataset_close(ds);
    ok(drep_close(f));
    fault_release(&disk);
}
END_TEST

/* Every other call finds the rows there, also by another handle and after the first was closed. */
START_TEST(test_D47_every_call_sees_them)
{
    const char *path = temp_path("sees");
    drep_file *f = new_file(path, "small");
    drep_dataset *ds = growing(f, "/a", DREP_UNLIMITED, 64, DREP_INT32_T), *other;
    const int64_t longer = 200;
    drep_usage usage = DREP_USAGE;

    append_some(ds, 0, 10);
    ok(drep_dataset_open(f, "/a", &other));
    append_some(other, 10, 20);
    append_some(ds, 20, 30);
    holds(other, 30);
    append_some(ds, 30, 40);
    drep_dataset_close(ds);
    drep_dataset_close(other);
    ok(drep_dataset_open(f, "/a", &ds));
    holds(ds, 40);
    append_some(ds, 40, 50);
    ok(drep_copy(f, "/a", f, "/b", NULL));
    ok(drep_dataset_open(f, "/b", &other));
    holds(other, 50);
    append_some(ds, 50, 60);
    ok(drep_dataset_resize(ds, &longer));
    ok(drep_read(ds, NULL, DREP_INT32_T, seen, NULL));
    ck_assert_int_eq(memcmp(seen, values, 60 * sizeof *seen), 0);
    ck_assert_int_eq(seen[60], 0);
    append_some(other, 50, 55);
    ok(drep_usage_get(f, &usage));
    ok(drep_link_remove(f, "/a"));
    fails(drep_append(ds, 0, 1, DREP_INT32_T, values, NULL), DREP_ERR_NOT_FOUND);
    append_some(other, 55, 56);
    drep_dataset_close(ds);
    drep_dataset_close(other);
    ok(drep_close(f)); /* commits what waits */
    ok(drep_open(path, DREP_RDONLY, NULL, &f));
    ok(drep_dataset_open(f, "/b", &ds));
    holds(ds, 56);
    check_file(f);
    drep_dataset_close(ds);
    ok(drep_close(f));
}
END_TEST

/* ---- a commit after each ---- */

/* Bytes of payload that were given to the file since the last call. */
static size_t payload_written(void)
{
    size_t bytes = 0;

    for (size_t i = 0; i < disk.events; i++) {
        const struct fault_event *e = &disk.event[i];

        if (e->kind == FAULT_WRITE && memcmp(e->bytes, "DRPB", 4) != 0 &&
            memcmp(e->bytes,
                   "\x89"
                   "DRP",
                   4) != 0)
            bytes += e->size;
    }
    fault_forget(&disk);
    return bytes;
}

/* The first n elements, as another handle finds them that opens the file now. */
static drep_file *look_now(int n, drep_dataset **ds)
{
    drep_file *f;

    ok(file_open_on(fault_io(&disk), DREP_RDONLY, NULL, 0, &f));
    ok(drep_dataset_open(f, "/a", ds));
    holds(*ds, n);
    return f;
}

/* What is appended between commits is written behind the last chunk, which does not move: so a
 * commit costs a slot, a node and little else.  What an earlier commit has of that chunk stays as
 * it is, and its sums with it. */
START_TEST(test_R6_13_a_chunk_grows_where_it_is)
{
    enum { N = 4000, CHUNK = 3000 };
    drep_file *f = on_disk(), *reader = NULL;
    drep_dataset *ds = growing(f, "/a", DREP_UNLIMITED, _i * CHUNK, DREP_INT32_T), *old = NULL;
    drep_selection *seven;
    size_t moved = 0;
    int seen_n = 0;

    for (int n = 1; n <= N; n++) {
        append_some(ds, n - 1, n);
        ok(drep_commit(f));
        if (n % 500 == 250) { /* a reader that stays */
            if (reader) {
                holds(old, seen_n);
                check_file(reader);
                drep_dataset_close(old);
                ok(drep_close(reader));
            }
            reader = look_now(n, &old);
            seen_n = n;
        }
        if (n > 1)
            moved += payload_written() != sizeof *values;
        if (n % 1000 == 0)
            check_file(f);
    }
    ck_assert_uint_le(moved, 8); /* where the room behind it ended */
    holds(old, seen_n);
    /* An element that a commit has moves the chunk; the next ones are behind it again. */
    ok(drep_select_box(1, (int64_t[]){7}, (int64_t[]){1}, NULL, NULL, &seven));
    ok(drep_write(ds, seven, DREP_INT32_T, values + 7, NULL));
    drep_selection_free(seven);
    append_some(ds, N, N + 1);
    ok(drep_commit(f));
    holds(old, seen_n);
    /* Rows of an operation that fails leave nothing, and the file goes on. */
    disk.fail_at = 1;
    disk.fail_code = DREP_ERR_NO_SPACE;
    append_some(ds, N + 1, N + 2);
    ck_assert_int_ne(drep_commit(f), 0);
    disk.fail_at = -1;
    drep_abandon(f);
    drep_dataset_close(ds);
    drep_dataset_close(old);
    ok(drep_close(reader));
    reader = look_now(N + 1, &old);
    check_file(reader);
    drep_dataset_close(old);
    ok(drep_close(reader));
    /* The next writer may use all that the last one kept. */
    ok(file_open_on(fault_io(&disk), DREP_RDWR, NULL, 0, &f));
    ok(drep_dataset_open(f, "/a", &ds));
    append_some(ds, N + 1, N + 3);
    ok(drep_commit(f));
    append_some(ds, N + 3, N + 4);
    check_file(f);
    holds(ds, N + 4);
    drep_dataset_close(ds);
    ok(drep_close(f));
    fault_release(&disk);
}
END_TEST

static void count_call(void *calls)
{
    ++*(int *)calls;
}

/* An append and its commit ask for locks of readers and the length, write the element, the nodes
 * with the list behind them, and the slot, and sync twice.  They read nothing: the block that grows
 * is in memory, if it is what the record says. */
START_TEST(test_R6_13_an_append_and_its_commit_read_nothing)
{
    enum { N = 60, CHUNK = 3000 };
    drep_dataset *ds, *old;
    drep_file *f, *reader;
    struct io *io;
    int calls = 0;

    fault_init(&disk);
    io = fault_io(&disk);
    ok(file_create_on(io, "external32", NULL, &f));
    ds = growing(f, "/a", DREP_UNLIMITED, _i * CHUNK, DREP_INT32_T);
    for (int n = 0; n < N; n++) {
        calls = 0;
        disk.hook_io = io;
        disk.hook_ctx = &calls;
        disk.hook = n > N / 2 ? count_call : NULL;
        append_some(ds, n, n + 1);
        ok(drep_commit(f));
        disk.hook = NULL;
        ck_assert_int_le(calls, 7);
    }
    /* Rows that were taken back are not those that are kept. */
    append_some(ds, N + 7, N + 8);
    disk.fail_at = 3;
    disk.fail_code = DREP_ERR_NO_SPACE;
    ck_assert_int_ne(drep_commit(f), 0);
    disk.fail_at = -1;
    drep_abandon(f);
    drep_dataset_close(ds);
    reader = look_now(N, &old);
    drep_dataset_close(old);
    ok(drep_close(reader));
    fault_release(&disk);
}
END_TEST

/* Commits that are kept show what they had, each with its sums. */
START_TEST(test_R6_13_earlier_commits_stay)
{
    const char *path = temp_path("kept");
    drep_info *info;
    drep_dataset *ds;
    drep_file *f;

    ok(drep_info_new(&info));
    ok(drep_info_set(info, "drep_keep", "100"));
    ok(drep_create(path, DREP_RDWR, "native", info, &f));
    ds = growing(f, "/a", DREP_UNLIMITED, _i * 700, DREP_INT32_T);
    for (int n = 1; n <= 90; n++) {
        append_some(ds, 13 * (n - 1), 13 * n);
        ok(drep_commit(f));
    }
    drep_dataset_close(ds);
    ok(drep_close(f));
    for (int n = 1; n <= 90; n++) {
        ok(drep_open_commit(path, DREP_RDONLY, (uint64_t)n, NULL, &f));
        ok(drep_dataset_open(f, "/a", &ds));
        holds(ds, 13 * n);
        check_file(f);
        drep_dataset_close(ds);
        ok(drep_close(f));
    }
    drep_info_free(info);
}
END_TEST

START_TEST(test_D47_abandoning_drops_them)
{
    const char *path = temp_path("drops");
    drep_file *f = new_file(path, "native");
    drep_dataset *ds = growing(f, "/a", DREP_UNLIMITED, 0, DREP_INT32_T);

    append_some(ds, 0, 10);
    ok(drep_commit(f));
    append_some(ds, 10, 20);
    drep_dataset_close(ds);
    drep_abandon(f);
    ok(drep_open(path, DREP_RDWR, NULL, &f));
    ok(drep_dataset_open(f, "/a", &ds));
    append_some(ds, 10, 12); /* the file is closed first */
    drep_abandon(f);
    fails(drep_append(ds, 0, 1, NULL, values, NULL), DREP_ERR_ARG);
    drep_dataset_close(ds);
    ok(drep_open(path, DREP_RDONLY, NULL, &f));
    ok(drep_dataset_open(f, "/a", &ds));
    holds(ds, 10);
    drep_dataset_close(ds);
    ok(drep_close(f));
}
END_TEST

/* After an append that failed: the caller says that appends go on behind what is there. */
static void goes_on(drep_dataset *ds)
{
    drep_dsinfo info = DREP_DSINFO;

    ok(drep_dataset_info(ds, &info));
    ok(drep_dataset_resize(ds, info.dims));
}

/* An append that fails, and after it every other until the caller has said so. */
static void refuses(drep_dataset *ds, int dim, int64_t n, const drep_type *type, const void *buf,
                    int err)
{
    fails(drep_append(ds, dim, n, type, buf, NULL), err);
    fails(drep_append(ds, 0, 0, DREP_INT32_T, values, NULL), DREP_ERR_FAILED);
    ck_assert_ptr_nonnull(strstr(drep_error(), "drep_dataset_resize()"));
    goes_on(ds);
}

/* Memory types alternate, a report is filled for its own call, and gaps are zeros. */
START_TEST(test_D47_types_and_reports)
{
    drep_file *f = new_file(temp_path("types"), "native");
    drep_dataset *ds = growing(f, "/a", DREP_UNLIMITED, 0, DREP_INT16_T);
    const drep_xfer clamp = DREP_XFER(.range = DREP_RANGE_CLAMP);
    drep_report report = DREP_REPORT;
    const drep_xfer told = DREP_XFER(.range = DREP_RANGE_CLAMP, .report = &report);
    int16_t back[6];

    ok(drep_append(ds, 0, 1, DREP_INT16_T, &(int16_t){1}, NULL));
    ok(drep_append(ds, 0, 1, DREP_INT32_T, &(int32_t){2}, NULL));
    ok(drep_append(ds, 0, 1, DREP_DOUBLE, &(double){3}, &clamp));
    fails(drep_append(ds, 0, 1, DREP_INT32_T, &(int32_t){70000}, NULL), DREP_ERR_CONVERSION);
    ck_assert_ptr_nonnull(strstr(drep_error(), "dataset \"/a\""));
    goes_on(ds);
    ok(drep_append(ds, 0, 2, DREP_INT32_T, (int32_t[]){70000, 5}, &told));
    ck_assert_int_eq(report.items, 2);
    ck_assert_int_eq(report.overflow, 1);
    ck_assert_int_eq(report.first_overflow, 0);
    ok(drep_append(ds, 0, 1, DREP_INT32_T, &(int32_t){-70000}, &clamp));
    ck_assert_int_eq(report.items, 2);
    ok(drep_read(ds, NULL, NULL, back, NULL));
    ck_assert_int_eq(memcmp(back, (int16_t[]){1, 2, 3, 32767, 5, -32768}, sizeof back), 0);
    drep_dataset_close(ds);
    check_file(f);
    drep_abandon(f);
}
END_TEST

/* ---- what is refused in the call ---- */

START_TEST(test_D47_what_cannot_be_is_refused_at_once)
{
    drep_file *f = new_file(temp_path("refused"), "internal");
    const int64_t none = 0, max = DREP_UNLIMITED;
    const char *const name = "x";
    drep_spec spec = DREP_SPEC(.type = DREP_INT32_T, .rank = 1, .dims = &none, .maxdims = &max);
    drep_dataset *ds = growing(f, "/a", 12, 0, DREP_INT32_T), *first, *second;
    drep_type *pair;

    refuses(ds, INT_MAX, 1, DREP_INT32_T, values, DREP_ERR_DIMS); /* before rows wait */
    refuses(ds, -1, 1, DREP_INT32_T, values, DREP_ERR_DIMS);
    append_some(ds, 0, 10);
    refuses(ds, INT_MAX, 1, DREP_INT32_T, values, DREP_ERR_DIMS);
    ok(drep_type_contiguous(2, DREP_INT32_T, &pair));
    refuses(ds, 0, 3, DREP_INT32_T, values, DREP_ERR_DIMS);
    refuses(ds, 1, 1, DREP_INT32_T, values, DREP_ERR_DIMS);
    refuses(ds, 0, -1, DREP_INT32_T, values, DREP_ERR_COUNT);
    refuses(ds, 0, 1, DREP_INT32_T, NULL, DREP_ERR_ARG);
    refuses(ds, 0, 1, pair, values, DREP_ERR_COUNT);
    ok(drep_append(ds, 0, 2, pair, values + 10, NULL));
    drep_type_free(pair);
    refuses(ds, 0, 1, DREP_INT32_T, values, DREP_ERR_DIMS);
    ok(drep_append(ds, 0, 0, DREP_INT32_T, NULL, NULL));
    holds(ds, 12);
    drep_dataset_close(ds);

    /* Two datasets grow along one dimension; it is as long as the longer one. */
    spec.dim_names = &name;
    ok(drep_dataset_create(f, "/first", &spec, &first));
    ok(drep_dataset_create(f, "/second", &spec, &second));
    append_some(first, 0, 5);
    append_some(second, 0, 9);
    append_some(first, 5, 7);
    holds(first, 7);
    holds(second, 9);
    drep_dataset_close(first);
    drep_dataset_close(second);
    check_file(f);
    drep_abandon(f);
}
END_TEST

/* ---- a delayed write that fails ---- */

static void names_the_rows(void)
{
    ck_assert_ptr_nonnull(strstr(drep_error(), "dataset \"/a\""));
    ck_assert_ptr_nonnull(strstr(drep_error(), "elements 4 to 6"));
}

/* i 0: the commit finds it, 1: a read, 2: another change, 3: closing. */
START_TEST(test_D47_a_delayed_write_that_fails)
{
    drep_file *f = on_disk();
    drep_dataset *ds = growing(f, "/a", DREP_UNLIMITED, 0, DREP_INT32_T);
    drep_dataset *other = growing(f, "/b", DREP_UNLIMITED, 0, DREP_INT32_T);

    append_some(ds, 0, 4);
    append_some(other, 0, 4);
    ok(drep_commit(f));
    append_some(other, 4, 7);
    append_some(ds, 4, 7); /* what came last is written first */
    disk.fail_at = 0;
    disk.fail_code = DREP_ERR_IO;
    if (_i < 3) {
        fails(_i == 0   ? drep_commit(f)
              : _i == 1 ? drep_read(other, NULL, NULL, seen, NULL)
                        : drep_attr_write_int64(f, "/", "n", 1),
              DREP_ERR_IO);
        names_the_rows();
        fails(drep_append(ds, 0, 1, NULL, values, NULL), DREP_ERR_FAILED);
        names_the_rows();
        fails(drep_append(other, 0, 1, NULL, values, NULL), DREP_ERR_FAILED);
        fails(drep_write(other, NULL, NULL, values, NULL), DREP_ERR_FAILED);
        fails(drep_commit(f), DREP_ERR_FAILED);
        names_the_rows();
        holds(ds, 4); /* reads go on, with what the file has */
        holds(other, 4);
    }
    drep_dataset_close(ds);
    drep_dataset_close(other);
    fails(drep_close(f), DREP_ERR_IO);
    names_the_rows();
    disk.fail_at = -1;
    ok(file_open_on(fault_io(&disk), DREP_RDONLY, NULL, 0, &f));
    ok(drep_dataset_open(f, "/a", &ds));
    holds(ds, 4);
    drep_dataset_close(ds);
    ok(drep_close(f));
    fault_release(&disk);
}
END_TEST

/* ---- bounds ---- */

START_TEST(test_D24_tails_take_16_mib_at_most)
{
    enum { FILES = 300, EACH = 9000 };
    drep_file *f = new_file(temp_path("many"), "native");
    drep_dataset *ds[FILES];
    double v, last;
    uint64_t most = 0;

    for (int i = 0; i < FILES; i++) {
        char name[16];

        snprintf(name, sizeof name, "/d%d", i);
        ds[i] = growing(f, name, DREP_UNLIMITED, 0, DREP_DOUBLE);
        ok(drep_append(ds[i], 0, 1, NULL, &(double){0}, NULL));
    }
    for (int k = 1; k < EACH; k++)
        for (int i = 0; i < FILES; i++) {
            v = k + i;
            ok(drep_append(ds[i], 0, 1, NULL, &v, NULL));
            most = f->tails.bytes > most ? f->tails.bytes : most;
        }
    ck_assert_uint_gt(most, 15 << 20);
    ck_assert_uint_le(most, 16 << 20);
    for (int i = 0; i < FILES; i++) {
        const int64_t at = EACH - 1, one = 1;
        drep_selection *sel;

        ok(drep_select_box(1, &at, &one, NULL, NULL, &sel));
        ok(drep_read(ds[i], sel, NULL, &last, NULL));
        ck_assert_double_eq(last, EACH - 1 + i);
        drep_selection_free(sel);
        drep_dataset_close(ds[i]);
    }
    ck_assert_uint_eq(f->tails.bytes, 0);
    drep_abandon(f);
}
END_TEST

/* ---- chunks with filters ---- */

static atomic_int encodings;

static int note_encoding(const uint32_t *params, int nparams, const void *in, size_t in_size,
                         void *out, size_t *out_size, void *extra)
{
    size_t room = *out_size;

    (void)params;
    (void)nparams;
    (void)extra;
    atomic_fetch_add(&encodings, 1);
    *out_size = in_size;
    if (in_size <= room)
        memcpy(out, in, in_size);
    return 0;
}

static int plain_decoding(const uint32_t *params, int nparams, const void *in, size_t in_size,
                          void *out, size_t *out_size, void *extra)
{
    (void)params;
    (void)nparams;
    (void)extra;
    *out_size = in_size;
    memcpy(out, in, in_size);
    return 0;
}

/* One by one, and each chunk is encoded once; after a commit the last one again. */
START_TEST(test_D47_each_chunk_is_encoded_once)
{
    const drep_filter filter = {.id = DREP_FILTER_USER, .name = "noted"};
    const int64_t none = 0, max = DREP_UNLIMITED, chunk = 1000;
    const drep_spec spec =
        DREP_SPEC(.type = DREP_INT32_T, .rank = 1, .dims = &none, .maxdims = &max,
                  .layout = DREP_CHUNKED, .chunk = &chunk, .filters = &filter, .nfilters = 1);
    drep_file *f = new_file(temp_path("encoded"), "native");
    drep_dataset *ds;

    ok(drep_register_filter("noted", note_encoding, plain_decoding, NULL, DREP_FILTER_KEEP));
    ok(drep_dataset_create(f, "/a", &spec, &ds));
    append_some(ds, 0, 35500);
    ok(drep_commit(f));
    ck_assert_int_eq(encodings, 36);
    append_some(ds, 35500, 35600);
    ok(drep_commit(f));
    ck_assert_int_eq(encodings, 37);
    holds(ds, 35600);
    drep_dataset_close(ds);
    check_file(f);
    drep_abandon(f);
}
END_TEST

/* ---- other processes and threads ---- */

static int in_child(drep_file *f, drep_dataset *ds)
{
    if (drep_append(ds, 0, 1, DREP_INT32_T, values, NULL) != DREP_ERR_FILE_IN_USE)
        return 1;
    drep_dataset_close(ds);
    return drep_close(f) != DREP_ERR_FILE_IN_USE;
}

START_TEST(test_D47_a_child_does_not_write_them)
{
    drep_file *f = new_file(temp_path("child"), "native");
    drep_dataset *ds = growing(f, "/a", DREP_UNLIMITED, 0, DREP_INT32_T);
    int status = -1;
    pid_t pid;

    append_some(ds, 0, 20);
    pid = fork();
    if (pid == 0)
        _exit(in_child(f, ds));
    ck_assert_int_eq(waitpid(pid, &status, 0), pid);
    ck_assert_msg(WIFEXITED(status) && WEXITSTATUS(status) == 0, "status %x", (unsigned)status);
    append_some(ds, 20, 25);
    holds(ds, 25);
    drep_dataset_close(ds);
    check_file(f);
    drep_abandon(f);
}
END_TEST

struct appender {
    drep_file *f;
    drep_dataset *ds, *both;
    atomic_int *shared; /* rows of `both` */
};

static void *append_many(void *ctx)
{
    struct appender *a = ctx;

    for (int i = 0; i < 3000; i++) {
        append_some(a->ds, i, i + 1);
        ok(drep_append(a->both, 0, 1, DREP_INT32_T, values, NULL));
        atomic_fetch_add(a->shared, 1);
        if (i % 100 == 0)
            holds(a->ds, i + 1);
        if (i % 500 == 0)
            ok(drep_commit(a->f));
    }
    return NULL;
}

/* Each thread has a dataset, and all have one together. */
START_TEST(test_D47_threads)
{
    drep_file *f = new_file(temp_path("threads"), "native");
    drep_dataset *both = growing(f, "/both", DREP_UNLIMITED, 100, DREP_INT32_T);
    atomic_int shared = 0;
    struct appender a[3];
    pthread_t thread[3];
    drep_dsinfo info = DREP_DSINFO;

    for (int i = 0; i < 3; i++) {
        char name[3] = {'/', (char)('a' + i), '\0'};

        a[i] =
            (struct appender){f, growing(f, name, DREP_UNLIMITED, 0, DREP_INT32_T), both, &shared};
    }
    for (int i = 0; i < 3; i++)
        ck_assert_int_eq(pthread_create(&thread[i], NULL, append_many, &a[i]), 0);
    for (int i = 0; i < 3; i++) {
        ck_assert_int_eq(pthread_join(thread[i], NULL), 0);
        holds(a[i].ds, 3000);
        drep_dataset_close(a[i].ds);
    }
    ok(drep_dataset_info(both, &info));
    ck_assert_int_eq(info.dims[0], shared);
    drep_dataset_close(both);
    check_file(f);
    drep_abandon(f);
}
END_TEST

/* ---- against plain arrays ---- */

struct row_set {
    drep_dataset *ds[2]; /* two handles */
    int32_t *v, *committed;
    int64_t n, n_committed;
    int64_t width; /* elements of a row */
};

struct rows_run {
    struct rnd r;
    const char *path;
    drep_file *f;
    struct row_set set[SETS];
};

static uint64_t below(struct rows_run *t, uint64_t n)
{
    return rnd_below(&t->r, n);
}

static void open_sets(struct rows_run *t)
{
    for (int i = 0; i < SETS; i++)
        for (int k = 0; k < 2; k++) {
            char name[3] = {'/', (char)('a' + i), '\0'};

            ok(drep_dataset_open(t->f, name, &t->set[i].ds[k]));
        }
}

static void close_sets(struct rows_run *t)
{
    for (int i = 0; i < SETS; i++)
        for (int k = 0; k < 2; k++)
            drep_dataset_close(t->set[i].ds[k]);
}

/* Contiguous, chunked, filtered; and rows along the second dimension. */
static void make_sets(struct rows_run *t)
{
    const drep_filter filter = {.id = DREP_FILTER_SHUFFLE};

    for (int i = 0; i < SETS; i++) {
        int64_t width = 1 + (int64_t)below(t, 5), chunk[2] = {10, 2};
        int64_t dims[2] = {0, width}, max[2] = {DREP_UNLIMITED, width};
        drep_spec spec = DREP_SPEC(.type = DREP_INT32_T, .rank = 2, .dims = dims, .maxdims = max);
        char name[3] = {'/', (char)('a' + i), '\0'};

        spec.layout = i == 0 ? DREP_CONTIGUOUS : DREP_CHUNKED;
        spec.chunk = i == 0 ? NULL : chunk;
        spec.filters = i == 2 ? &filter : NULL;
        spec.nfilters = i == 2;
        if (i == 3) {
            dims[0] = max[0] = 1;
            dims[1] = 0;
            max[1] = DREP_UNLIMITED;
            width = 1;
            chunk[0] = 1;
            chunk[1] = 7;
        }
        t->set[i] = (struct row_set){.v = calloc(ROWS, 4), .committed = calloc(ROWS, 4)};
        t->set[i].width = width;
        ok(drep_dataset_create(t->f, name, &spec, NULL));
    }
}

static void keep(struct rows_run *t)
{
    ok(drep_commit(t->f));
    for (int i = 0; i < SETS; i++) {
        memcpy(t->set[i].committed, t->set[i].v, ROWS * 4);
        t->set[i].n_committed = t->set[i].n;
    }
}

static void give_up(struct rows_run *t)
{
    drep_info *info = hints("drep_sync=none", (char *)NULL);

    if (below(t, 2)) {
        close_sets(t);
        drep_abandon(t->f);
    } else {
        drep_abandon(t->f);
        close_sets(t);
    }
    ok(drep_open(t->path, DREP_RDWR, info, &t->f));
    drep_info_free(info);
    open_sets(t);
    for (int i = 0; i < SETS; i++) {
        memcpy(t->set[i].v, t->set[i].committed, ROWS * 4);
        t->set[i].n = t->set[i].n_committed;
    }
}

/* Without memory for what waited before, the handle refuses to write; else nothing happened. */
static void after_failure(struct rows_run *t)
{
    int err = drep_attr_write_int64(t->f, "/", "probe", 1);

    ck_assert_msg(!err || (err == DREP_ERR_FAILED && strstr(drep_error(), "appended to dataset")),
                  "%s", drep_error());
    if (err)
        give_up(t);
}

static void one_append(struct rows_run *t, int i)
{
    struct row_set *s = &t->set[i];
    int64_t n = below(t, 8) == 0 ? (int64_t)below(t, 3000) : (int64_t)below(t, 4), cells;
    double wide[4 * 5];
    bool as_double = n < 4 && below(t, 3) == 0, bad = n > 0 && n < 4 && below(t, 20) == 0;
    int err;

    if ((s->n + n) * s->width > ROWS)
        return;
    cells = n * s->width;
    for (int64_t k = 0; k < cells; k++) {
        s->v[s->n * s->width + k] = (int32_t)below(t, 1000000);
        if (as_double || bad)
            wide[k] = s->v[s->n * s->width + k];
    }
    if (bad)
        wide[cells - 1] = 1e30;
    if (below(t, 10) == 0)
        mem_fail_at((int64_t)below(t, 8));
    err = drep_append(s->ds[below(t, 2)], i == 3, n, as_double || bad ? DREP_DOUBLE : DREP_INT32_T,
                      as_double || bad ? (void *)wide : s->v + s->n * s->width, NULL);
    mem_fail_at(-1);
    ck_assert_msg(!err || err == DREP_ERR_NOMEM || (bad && err == DREP_ERR_CONVERSION), "%s",
                  drep_error());
    ck_assert(!bad || err);
    s->n += err ? 0 : n;
    if (err)
        fails(drep_append(s->ds[below(t, 2)], i == 3, 1, DREP_INT32_T, s->v, NULL),
              DREP_ERR_FAILED);
    if (err == DREP_ERR_NOMEM) {
        after_failure(t);
        keep(t);
    } else if (err) {
        goes_on(s->ds[below(t, 2)]);
    }
}

static void look(struct rows_run *t, int i)
{
    struct row_set *s = &t->set[i];
    drep_dsinfo info = DREP_DSINFO;

    ok(drep_dataset_info(s->ds[below(t, 2)], &info));
    ck_assert_int_eq(info.dims[i == 3], s->n);
    ok(drep_read(s->ds[below(t, 2)], NULL, NULL, seen, NULL));
    ck_assert_int_eq(memcmp(seen, s->v, (size_t)(s->n * s->width) * 4), 0);
}

static void shorten(struct rows_run *t, int i)
{
    struct row_set *s = &t->set[i];
    int64_t n = s->n - (int64_t)below(t, (uint64_t)(s->n < 50 ? s->n : 50) + 1);
    const int64_t dims[2] = {i == 3 ? 1 : n, i == 3 ? n : s->width};

    ok(drep_dataset_resize(s->ds[0], dims));
    s->n = n;
}

static void overwrite(struct rows_run *t, int i)
{
    struct row_set *s = &t->set[i];
    int64_t at = (int64_t)below(t, (uint64_t)s->n);
    const int64_t start[2] = {i == 3 ? 0 : at, i == 3 ? at : 0}, count[2] = {1, s->width};
    drep_selection *sel;

    for (int64_t k = 0; k < s->width; k++)
        s->v[at * s->width + k] = (int32_t)below(t, 1000);
    ok(drep_select_box(2, start, count, NULL, NULL, &sel));
    ok(drep_write(s->ds[1], sel, NULL, s->v + at * s->width, NULL));
    drep_selection_free(sel);
}

static void step(struct rows_run *t)
{
    int i = (int)below(t, SETS);
    uint64_t what = below(t, 1000);

    if (what < 940)
        one_append(t, i);
    else if (what < 960)
        look(t, i);
    else if (what < 970)
        shorten(t, i);
    else if (what < 980 && t->set[i].n > 0)
        overwrite(t, i);
    else if (what < 992)
        keep(t);
    else
        give_up(t);
}

START_TEST(test_D47_random_calls_against_arrays)
{
    static const char *const reps[] = {"native", "external32", "small", "xor"};
    struct rows_run t = {.path = temp_path("model")};

    rnd_init(&t.r, (uint64_t)_i + 1);
    t.f = new_file(t.path, reps[_i % 4]);
    make_sets(&t);
    open_sets(&t);
    keep(&t);
    for (int k = share_of(OPS * 4); k > 0; k--) {
        mark_point();
        step(&t);
    }
    for (int i = 0; i < SETS; i++)
        look(&t, i);
    check_file(t.f);
    close_sets(&t);
    ok(drep_close(t.f));
    for (int i = 0; i < SETS; i++) {
        free(t.set[i].v);
        free(t.set[i].committed);
    }
}
END_TEST

/* Each element of a chunk of texts is fill until it is written, also after the dataset has grown
 * into a chunk that was changed before: the texts of 60 fill values outgrow their heap. */
START_TEST(test_texts_beyond_the_end_are_fill)
{
    const int64_t none = 0, unlimited = DREP_UNLIMITED, chunk = 60, one = 1;
    const char *fill = "fill", *text = "text";
    drep_type *type;
    drep_dataset *d;
    drep_file *f;
    drep_spec spec =
        DREP_SPEC(.rank = 1, .dims = &none, .maxdims = &unlimited, .layout = DREP_CHUNKED,
                  .chunk = &chunk, .fill = DREP_FILL_VALUE, .fill_value = &fill);
    char *got[8];

    ok(drep_create(":memory:", DREP_RDWR, "external32", NULL, &f));
    ok(drep_type_vstring(&type));
    spec.type = type;
    ok(drep_dataset_create(f, "/t", &spec, &d));
    for (int64_t at = 1; at < 8; at += 2) {
        int64_t len = at + 1;

        ok(drep_dataset_resize(d, &len));
        ok(drep_write_box(d, &at, &one, type, &text, NULL));
        if (at == 3)
            ok(drep_commit(f));
    }
    ok(drep_read(d, NULL, type, got, NULL));
    for (int i = 0; i < 8; i++)
        ck_assert_str_eq(got[i], i % 2 ? "text" : "fill");
    drep_vlen_free(type, 8, got);
    drep_type_free(type);
    drep_dataset_close(d);
    drep_abandon(f);
}
END_TEST

int main(void)
{
    Suite *s = suite_create("data append");
    TCase *t = tcase_create("append");

    tcase_set_timeout(t, 300);
    tcase_add_checked_fixture(t, begin, NULL);
    tcase_add_loop_test(t, test_D47_small_appends_do_no_io, 0, 2);
    tcase_add_test(t, test_D47_every_call_sees_them);
    tcase_add_loop_test(t, test_R6_13_a_chunk_grows_where_it_is, 0, 2);
    tcase_add_loop_test(t, test_R6_13_an_append_and_its_commit_read_nothing, 0, 2);
    tcase_add_loop_test(t, test_R6_13_earlier_commits_stay, 0, 2);
    tcase_add_test(t, test_D47_abandoning_drops_them);
    tcase_add_test(t, test_D47_types_and_reports);
    tcase_add_test(t, test_D47_what_cannot_be_is_refused_at_once);
    tcase_add_loop_test(t, test_D47_a_delayed_write_that_fails, 0, 4);
    tcase_add_test(t, test_D24_tails_take_16_mib_at_most);
    tcase_add_test(t, test_D47_each_chunk_is_encoded_once);
    tcase_add_test(t, test_D47_a_child_does_not_write_them);
    tcase_add_test(t, test_D47_threads);
    tcase_add_test(t, test_texts_beyond_the_end_are_fill);
    tcase_add_loop_test(t, test_D47_random_calls_against_arrays, 0, sanitized_part(8));
    suite_add_tcase(s, t);
    return run_suite(s);
}
