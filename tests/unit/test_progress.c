/* test_progress.c - long calls tell how far they are, and end when they are told to
 * (drep_progress).
 *
 * The files are behind a driver that takes its time, so that every machine finds them slow.
 *
 * needs: deflate */
/* SPDX-License-Identifier: MIT */
#include "data_help.h"

#include <pthread.h>
#include <time.h>

enum { ROWS = 64, COLUMNS = 8192, N = ROWS * COLUMNS }; /* 4 MiB of doubles */

/* ---- a slow file in memory ---- */

struct slow {
    pthread_mutex_t alone;
    uint8_t *p;
    uint64_t size;
    int64_t each; /* bytes in a millisecond; 0: it does not wait */
};

static void wait_for(const struct slow *d, size_t bytes)
{
    int64_t ns = d->each > 0 ? (int64_t)bytes * 1000000 / d->each : 0;
    const struct timespec t = {.tv_sec = ns / 1000000000, .tv_nsec = (long)(ns % 1000000000)};

    if (ns > 0)
        nanosleep(&t, NULL);
}

static int slow_size(void *state, uint64_t *size)
{
    *size = ((struct slow *)state)->size;
    return 0;
}

static int slow_read(void *state, const drep_range *range, size_t n)
{
    struct slow *d = state;
    int err = 0;

    for (size_t i = 0; !err && i < n; i++) {
        pthread_mutex_lock(&d->alone);
        if (range[i].offset > d->size || range[i].size > d->size - range[i].offset)
            err = DREP_ERR_TRUNCATE;
        else
            memcpy(range[i].buf, d->p + range[i].offset, range[i].size);
        pthread_mutex_unlock(&d->alone);
        wait_for(d, range[i].size);
    }
    return err;
}

static int slow_truncate(void *state, uint64_t size)
{
    struct slow *d = state;
    int err;

    pthread_mutex_lock(&d->alone);
    err = file_in_memory_resize(&d->p, &d->size, size);
    pthread_mutex_unlock(&d->alone);
    return err;
}

static int slow_write(void *state, const void *buf, size_t size, uint64_t offset)
{
    struct slow *d = state;
    int err;

    pthread_mutex_lock(&d->alone);
    err = offset + size > d->size ? file_in_memory_resize(&d->p, &d->size, offset + size) : 0;
    if (!err)
        memcpy(d->p + offset, buf, size);
    pthread_mutex_unlock(&d->alone);
    wait_for(d, size);
    return err;
}

static const drep_driver driver = {.size = sizeof driver,
                                   .read_many = slow_read,
                                   .file_size = slow_size,
                                   .write_at = slow_write,
                                   .truncate = slow_truncate};

/* ---- what is told ---- */

struct told {
    int64_t times, done, total;
    int64_t stop_at; /* the time that stops the call; 0: none */
    bool back;       /* `done` went back, or beyond the total */
    pthread_t thread;
    bool elsewhere; /* another thread asked */
};

static int tell(int64_t done, int64_t total, void *ctx)
{
    struct told *t = ctx;

    t->back |= done < t->done || (total > 0 && done > total);
    t->elsewhere |= !pthread_equal(t->thread, pthread_self());
    t->done = done;
    t->total = total;
    return ++t->times == t->stop_at;
}

static void listen(struct told *t, int64_t stop_at)
{
    *t = (struct told){.stop_at = stop_at, .thread = pthread_self()};
    drep_progress(tell, t);
}

static void went_well(const struct told *t, int64_t total)
{
    drep_progress(NULL, NULL);
    ck_assert_int_ge(t->times, 1);
    ck_assert(!t->back && !t->elsewhere);
    ck_assert_int_eq(t->total, total);
    ck_assert_int_gt(t->done, 0);
}

static void was_stopped(const struct told *t)
{
    drep_progress(NULL, NULL);
    ck_assert_int_eq(t->times, t->stop_at); /* nobody is asked again */
    ck_assert(!t->elsewhere);
    ck_assert_ptr_nonnull(strstr(drep_error(), "stopped by the caller after"));
}

/* ---- datasets ---- */

static const struct {
    const char *name;
    int64_t chunk[2];
    int filters;
} kinds[] = {{"contiguous", {0, 0}, 0},
             {"chunked", {1, COLUMNS}, 0},
             {"cut", {3, COLUMNS / 3}, 0},
             {"deflated", {2, COLUMNS}, 1}};
enum { KINDS = sizeof kinds / sizeof *kinds };

static double *values(double base)
{
    double *v = malloc(N * sizeof *v);

    ck_assert_ptr_nonnull(v);
    for (int i = 0; i < N; i++)
        v[i] = base + (double)(((uint32_t)i * 2654435761U) >> 8); /* hardly packs */
    return v;
}

static drep_file *begin(struct slow *d, int threads)
{
    char number[40];
    drep_info *info;
    drep_file *f;

    *d = (struct slow){.alone = PTHREAD_MUTEX_INITIALIZER};
    snprintf(number, sizeof number, "drep_threads=%d", threads);
    info = hints(number, NULL);
    ok(drep_create_driver(&driver, d, "slow.drep", "external32", info, &f));
    drep_info_free(info);
    return f;
}

static drep_dataset *make(drep_file *f, int kind)
{
    drep_filter deflate = {.id = DREP_FILTER_DEFLATE, .level = 1};
    const int64_t dims[2] = {ROWS, COLUMNS};
    drep_dataset *ds;

    ok(drep_dataset_create(
        f, kinds[kind].name,
        &DREP_SPEC(.type = DREP_DOUBLE, .rank = 2, .dims = dims,
                   .layout = kinds[kind].chunk[0] ? DREP_CHUNKED : DREP_CONTIGUOUS,
                   .chunk = kinds[kind].chunk[0] ? kinds[kind].chunk : NULL,
                   .filters = kinds[kind].filters ? &deflate : NULL,
                   .nfilters = kinds[kind].filters),
        &ds));
    return ds;
}

static void holds(drep_dataset *ds, const double *v)
{
    double *back = malloc(N * sizeof *back);

    ck_assert_ptr_nonnull(back);
    ok(drep_read(ds, NULL, DREP_DOUBLE, back, NULL));
    ck_assert_mem_eq(back, v, N * sizeof *back);
    free(back);
}

/* A stopped write of parts of chunks, which are read first, leaves nothing either; the same write
 * succeeds then. */
static void parts_are_taken_back(struct slow *d, int kind, const double *old, const double *new)
{
    const int64_t start[2] = {1, 1}, count[2] = {ROWS - 2, COLUMNS - 2};
    drep_selection *box;
    drep_dataset *ds;
    struct told t;
    drep_file *f;

    ok(drep_select_box(2, start, count, NULL, NULL, &box));
    ok(drep_open_driver(&driver, d, "slow.drep", DREP_RDWR, NULL, &f));
    ok(drep_dataset_open(f, kinds[kind].name, &ds));
    listen(&t, 1);
    fails(drep_write(ds, box, DREP_DOUBLE, new, NULL), DREP_ERR_STOPPED);
    was_stopped(&t);
    d->each = 0;
    holds(ds, old);
    check_file(f);
    ok(drep_write(ds, box, DREP_DOUBLE, new, NULL));
    check_file(f);
    drep_dataset_close(ds);
    ok(drep_close(f));
    drep_selection_free(box);
}

/* Reads and writes of every layout, by one thread and by two; stopped ones leave the old values,
 * and the handle works on. */
START_TEST(test_reads_and_writes)
{
    double *old = values(1), *new = values(2), *back = malloc(N * sizeof *back);
    int kind = _i < KINDS ? _i : 2 * (_i - KINDS) + 1, threads = 1 + _i / KINDS;
    int64_t each = threads == 1 ? 24576 : 8192;
    drep_dataset *ds;
    struct told t;
    struct slow d;
    drep_file *f = begin(&d, threads);

    ds = make(f, kind);
    ok(drep_write(ds, NULL, DREP_DOUBLE, old, NULL));
    ok(drep_commit(f));
    d.each = each;

    listen(&t, 0);
    ok(drep_write(ds, NULL, DREP_DOUBLE, new, NULL));
    went_well(&t, N * 8);
    d.each = 0;
    holds(ds, new);
    ok(drep_write(ds, NULL, DREP_DOUBLE, old, NULL));
    ok(drep_commit(f));
    d.each = each;

    listen(&t, 1);
    fails(drep_write(ds, NULL, DREP_DOUBLE, new, NULL), DREP_ERR_STOPPED);
    was_stopped(&t);
    ck_assert_ptr_nonnull(strstr(drep_error(), kinds[kind].name));
    ck_assert_int_lt(t.done, N * 8);
    d.each = 0;
    holds(ds, old);

    d.each = each / (kind == 3 ? 2 : 1); /* a cache has nothing of what the handle reads */
    drep_dataset_close(ds);
    fails(drep_close(f), DREP_ERR_STOPPED); /* of the write */
    ok(drep_open_driver(&driver, &d, "slow.drep", DREP_RDONLY, NULL, &f));
    ok(drep_dataset_open(f, kinds[kind].name, &ds));
    listen(&t, 1);
    fails(drep_read(ds, NULL, DREP_DOUBLE, back, &DREP_XFER(.threads = threads)), DREP_ERR_STOPPED);
    was_stopped(&t);
    listen(&t, 0);
    ok(drep_read(ds, NULL, DREP_DOUBLE, back, &DREP_XFER(.threads = threads)));
    went_well(&t, N * 8);
    ck_assert_mem_eq(back, old, N * sizeof *back);
    drep_dataset_close(ds);
    ok(drep_close(f));
    parts_are_taken_back(&d, kind, old, new);
    free(d.p);
    free(old);
    free(new);
    free(back);
}
END_TEST

/* A transfer of a few bytes tells nothing, however long it takes. */
START_TEST(test_few_bytes)
{
    const int64_t start[2] = {0, 0}, count[2] = {1, 100};
    double *v = values(1);
    drep_selection *box;
    struct told t;
    struct slow d;
    drep_file *f = begin(&d, 1);
    drep_dataset *ds = make(f, 0);

    ok(drep_write(ds, NULL, DREP_DOUBLE, v, NULL));
    ok(drep_select_box(2, start, count, NULL, NULL, &box));
    d.each = 40; /* 4 KiB in 100 ms */
    listen(&t, 1);
    ok(drep_read(ds, box, DREP_DOUBLE, v, NULL));
    drep_progress(NULL, NULL);
    ck_assert_int_eq(t.times, 0);
    d.each = 0;
    drep_selection_free(box);
    drep_dataset_close(ds);
    ok(drep_close(f));
    free(d.p);
    free(v);
}
END_TEST

static void *read_all(void *ds)
{
    double *back = malloc(N * sizeof *back);

    ck_assert_ptr_nonnull(back);
    ok(drep_read(ds, NULL, DREP_DOUBLE, back, NULL));
    free(back);
    return NULL;
}

/* The function is that of one thread: a call of another one is not asked. */
START_TEST(test_another_thread)
{
    double *v = values(1);
    pthread_t thread;
    drep_dataset *ds;
    struct told t;
    struct slow d;
    drep_file *f = begin(&d, 1);

    ds = make(f, 1);
    ok(drep_write(ds, NULL, DREP_DOUBLE, v, NULL));
    d.each = 32768;
    listen(&t, 1);
    ck_assert_int_eq(pthread_create(&thread, NULL, read_all, ds), 0);
    ck_assert_int_eq(pthread_join(thread, NULL), 0);
    drep_progress(NULL, NULL);
    ck_assert_int_eq(t.times, 0);
    d.each = 0;
    drep_dataset_close(ds);
    ok(drep_close(f));
    free(d.p);
    free(v);
}
END_TEST

/* Stopped checks are no findings; a seal goes on where it ended; a copy leaves nothing. */
START_TEST(test_whole_files)
{
    drep_info *deferred = hints("drep_checksum=deferred", NULL);
    drep_file *f, *to;
    drep_dataset *ds;
    struct told t;
    struct slow d = {.alone = PTHREAD_MUTEX_INITIALIZER}, other = d;
    double *v = values(3);
    int64_t findings = 77, blocks = 0;

    ok(drep_create_driver(&driver, &d, "slow.drep", "external32", deferred, &f));
    for (int kind = 0; kind < KINDS; kind++) {
        ds = make(f, kind);
        ok(drep_write(ds, NULL, DREP_DOUBLE, v, NULL));
        drep_dataset_close(ds);
    }
    ok(drep_commit(f));
    d.each = 98304;
    listen(&t, 1);
    fails(drep_seal(f, &blocks), DREP_ERR_STOPPED);
    was_stopped(&t);
    listen(&t, 0);
    ok(drep_seal(f, &blocks));
    went_well(&t, 0);
    ck_assert_int_gt(blocks, 0);
    ok(drep_commit(f));
    for (int deep = 0; deep < 2; deep++) {
        listen(&t, 1);
        fails(drep_check(f, deep, say_finding, NULL, &findings), DREP_ERR_STOPPED);
        was_stopped(&t);
        ck_assert_int_eq(findings, 77);
        listen(&t, 0);
        ok(drep_check(f, deep, say_finding, NULL, &findings));
        went_well(&t, 0);
        ck_assert_int_eq(findings, 0);
        findings = 77;
    }
    ok(drep_create_driver(&driver, &other, "copy.drep", "native", NULL, &to));
    listen(&t, 1);
    fails(drep_copy(f, "/", to, "/copy", NULL), DREP_ERR_STOPPED);
    was_stopped(&t);
    fails(drep_stat(to, "/copy", &DREP_OBJINFO), DREP_ERR_NOT_FOUND);
    listen(&t, 0);
    ok(drep_copy(f, "/", to, "/copy", NULL));
    went_well(&t, 0);
    ok(drep_dataset_open(to, "/copy/deflated", &ds));
    d.each = 0;
    holds(ds, v);
    drep_dataset_close(ds);
    drep_abandon(to);
    drep_abandon(f);
    drep_info_free(deferred);
    free(d.p);
    free(other.p);
    free(v);
}
END_TEST

/* Rows go to their end: one that is left out could not be appended later. */
START_TEST(test_appends_are_not_asked)
{
    const int64_t dims[2] = {0, COLUMNS}, most[2] = {DREP_UNLIMITED, COLUMNS};
    double *v = values(5);
    drep_dataset *ds;
    struct told t;
    struct slow d;
    drep_file *f = begin(&d, 1);

    ok(drep_dataset_create(f, "rows",
                           &DREP_SPEC(.type = DREP_DOUBLE, .rank = 2, .dims = dims, .maxdims = most,
                                      .chunk = (int64_t[]){4, COLUMNS}),
                           &ds));
    d.each = 32768;
    listen(&t, 1);
    for (int i = 0; i < 2; i++)
        ok(drep_append(ds, 0, ROWS / 2, DREP_DOUBLE, v + N / 2 * i, NULL));
    ok(drep_commit(f));
    drep_progress(NULL, NULL);
    ck_assert_int_eq(t.times, 0);
    d.each = 0;
    holds(ds, v);
    drep_dataset_close(ds);
    ok(drep_close(f));
    free(d.p);
    free(v);
}
END_TEST

/* A view of a dataset: what was read before the stop is counted, a write leaves nothing. */
START_TEST(test_views)
{
    double *v = values(6), *new = values(7), *back = malloc(N * sizeof *back);
    int64_t items = 77;
    drep_dataset *ds;
    drep_view *view;
    drep_info *info;
    struct told t;
    struct slow d;
    drep_file *f = begin(&d, 1);

    ds = make(f, 1);
    ok(drep_write(ds, NULL, DREP_DOUBLE, v, NULL));
    ok(drep_commit(f));
    info = hints("cb_buffer_size=262144", NULL);
    ok(drep_view_dataset(ds, &view));
    ok(drep_view_set(view, 0, DREP_DOUBLE, DREP_DOUBLE, "external32", info));
    drep_info_free(info);
    d.each = 16384;
    listen(&t, 1);
    fails(drep_write_at(view, 0, new, N, DREP_DOUBLE, NULL, &items), DREP_ERR_STOPPED);
    was_stopped(&t);
    ck_assert_int_eq(items, 0);
    d.each = 0;
    holds(ds, v);
    d.each = 16384;
    listen(&t, 0);
    ok(drep_write_at(view, 0, new, N, DREP_DOUBLE, NULL, &items));
    went_well(&t, N * 8);
    ck_assert_int_eq(items, N);
    listen(&t, 1);
    fails(drep_read_at(view, 0, back, N, DREP_DOUBLE, NULL, &items), DREP_ERR_STOPPED);
    was_stopped(&t);
    ck_assert(items > 0 && items < N);
    ck_assert_mem_eq(back, new, (size_t)items * sizeof *back);
    ok(drep_view_close(view));
    drep_dataset_close(ds);
    drep_abandon(f);
    free(d.p);
    free(v);
    free(new);
    free(back);
}
END_TEST

static int slow_xor(void *user, const drep_type *type, int64_t count, void *file, int64_t position,
                    void *state)
{
    const struct timespec t = {.tv_nsec = 4000000};

    nanosleep(&t, NULL);
    return xor_read(user, type, count, file, position, state);
}

/* A stopped repair leaves no file, and nothing counts as lost. */
START_TEST(test_repair)
{
    const char *path = temp_path("damaged"), *new_path = temp_path("mended");
    double *v = values(8);
    int64_t findings = 77;
    drep_dataset *ds;
    struct told t;
    drep_file *f;

    ok(drep_register_datarep("slow", slow_xor, xor_write, native_extent, NULL));
    f = new_file(path, "slow");
    ds = make(f, 1);
    ok(drep_write(ds, NULL, DREP_DOUBLE, v, NULL));
    drep_dataset_close(ds);
    ok(drep_close(f));
    listen(&t, 1);
    fails(drep_repair(path, new_path, 0, NULL, say_finding, NULL, &findings), DREP_ERR_STOPPED);
    was_stopped(&t);
    ck_assert(!temp_exists(new_path));
    listen(&t, 0);
    ok(drep_repair(path, new_path, 0, NULL, say_finding, NULL, &findings));
    went_well(&t, 0);
    ck_assert_int_eq(findings, 0);
    free(v);
}
END_TEST

int main(void)
{
    Suite *s = suite_create("progress");
    TCase *c = tcase_create("all");
    SRunner *r = srunner_create(s);
    int failed;

    tcase_set_timeout(c, 120);
    tcase_add_loop_test(c, test_reads_and_writes, 0, KINDS + 2);
    tcase_add_test(c, test_few_bytes);
    tcase_add_test(c, test_another_thread);
    tcase_add_test(c, test_whole_files);
    tcase_add_test(c, test_appends_are_not_asked);
    tcase_add_test(c, test_views);
    tcase_add_test(c, test_repair);
    suite_add_tcase(s, c);
    srunner_run_all(r, CK_NORMAL);
    failed = srunner_ntests_failed(r);
    srunner_free(r);
    return failed != 0;
}
