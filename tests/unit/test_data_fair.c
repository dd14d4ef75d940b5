/* test_data_fair.c - threads that read and threads that write through one handle: neither keeps
 * the others out, and callbacks may read while a writer waits.
 *
 * Both sides go on until each has its count, which takes milliseconds; the time is only a bound,
 * for a lock that keeps somebody out. */
/* SPDX-License-Identifier: MIT */
#include "data_help.h"

#include <pthread.h>
#include <stdatomic.h>
#include <time.h>

enum { READERS = 4, LEN = 1000, COMMITS = 30, READS = 30, BOUND_MS = 20000 };

static drep_file *f;
static atomic_int stop, bad;

static int64_t now_ms(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return (int64_t)t.tv_sec * 1000 + t.tv_nsec / 1000000;
}

static pthread_t begin(void *(*fn)(void *), void *ctx)
{
    pthread_t thread;

    ck_assert_int_eq(pthread_create(&thread, NULL, fn, ctx), 0);
    return thread;
}

static void *read_on(void *ctx)
{
    atomic_int *reads = ctx;
    drep_dataset *ds;
    double v[LEN];

    bad += drep_dataset_open(f, "a", &ds) != 0;
    while (!stop && !bad) {
        bad += drep_read(ds, NULL, DREP_DOUBLE, v, NULL) != 0;
        bad += v[0] != v[LEN - 1];
        ++*reads;
    }
    drep_dataset_close(ds);
    return NULL;
}

static void write_all(drep_dataset *ds, double value)
{
    static _Thread_local double v[LEN];

    for (int i = 0; i < LEN; i++)
        v[i] = value;
    bad += drep_write(ds, NULL, DREP_DOUBLE, v, NULL) != 0;
}

static drep_dataset *make_file(const char *name, const char *datarep)
{
    const int64_t len = LEN;
    drep_dataset *ds;

    f = new_file(temp_path(name), datarep);
    ds = new_dataset(f, "a", DREP_DOUBLE, 1, &len);
    stop = bad = 0;
    write_all(ds, 0);
    ok(drep_commit(f));
    return ds;
}

static bool all_reached(const atomic_int *counts, int least)
{
    for (int i = 0; i < READERS; i++)
        if (counts[i] < least)
            return false;
    return true;
}

/* The writer makes its commits beside readers that never pause, and they read on. */
START_TEST(test_a_writer_among_readers)
{
    drep_dataset *ds = make_file("fair", "native");
    atomic_int reads[READERS];
    pthread_t thread[READERS];
    int64_t end = now_ms() + BOUND_MS;
    int commits = 0;

    for (int i = 0; i < READERS; i++) {
        atomic_init(&reads[i], 0);
        thread[i] = begin(read_on, &reads[i]);
    }
    usleep(20000);
    for (; (commits < COMMITS || !all_reached(reads, READS)) && now_ms() < end; commits++) {
        write_all(ds, commits);
        ok(drep_commit(f));
    }
    stop = 1;
    for (int i = 0; i < READERS; i++)
        pthread_join(thread[i], NULL);
    ck_assert_int_eq(bad, 0);
    ck_assert_int_ge(commits, COMMITS);
    for (int i = 0; i < READERS; i++)
        ck_assert_int_ge(reads[i], READS);
    drep_dataset_close(ds);
    ok(drep_close(f));
}
END_TEST

static void *write_on(void *ctx)
{
    atomic_int *writes = ctx;
    drep_dataset *ds;

    bad += drep_dataset_open(f, "a", &ds) != 0;
    while (!stop && !bad) {
        write_all(ds, *writes);
        ++*writes;
    }
    drep_dataset_close(ds);
    return NULL;
}

/* A reader reads among writers that never pause, and each of them writes. */
START_TEST(test_a_reader_among_writers)
{
    drep_dataset *ds = make_file("fair-writers", "native");
    atomic_int writes[READERS];
    pthread_t thread[READERS];
    int64_t end = now_ms() + BOUND_MS;
    double v[LEN];
    int reads = 0;

    for (int i = 0; i < READERS; i++) {
        atomic_init(&writes[i], 0);
        thread[i] = begin(write_on, &writes[i]);
    }
    usleep(20000);
    for (; (reads < READS || !all_reached(writes, 1)) && now_ms() < end; reads++)
        ok(drep_read(ds, NULL, DREP_DOUBLE, v, NULL));
    stop = 1;
    for (int i = 0; i < READERS; i++)
        pthread_join(thread[i], NULL);
    ck_assert_int_eq(bad, 0);
    ck_assert_int_ge(reads, READS);
    for (int i = 0; i < READERS; i++)
        ck_assert_int_ge(writes[i], 1);
    drep_dataset_close(ds);
    ok(drep_close(f));
}
END_TEST

/* ---- callbacks ---- */

static atomic_int depth;

/* While a writer waits for this very call: whatever reads goes on, whatever writes is refused. */
static int use_file(void)
{
    drep_objinfo info = DREP_OBJINFO;
    char *text = NULL;

    if (depth > 0)
        return 0;
    depth++;
    usleep(1000);
    bad += drep_stat(f, "/a", &info) != 0;
    bad += drep_attr_read(f, "/", "text", NULL, &text) != 0;
    free(text);
    bad += drep_group_create(f, "/from-inside", 0) != DREP_ERR_ARG;
    bad += drep_commit(f) != DREP_ERR_ARG;
    depth--;
    return 0;
}

static int nosy_read(void *user, const drep_type *type, int64_t count, void *file, int64_t position,
                     void *state)
{
    return use_file() != 0 || xor_read(user, type, count, file, position, state);
}

static int see_link(const drep_linkinfo *link, void *ctx)
{
    drep_objinfo info = DREP_OBJINFO;

    (void)link;
    (void)ctx;
    usleep(1000);
    bad += drep_stat(f, "/", &info) != 0;
    return 0;
}

static int list_again(const drep_linkinfo *link, void *ctx)
{
    (void)link;
    bad += drep_list(f, "/", DREP_BY_CREATION, see_link, ctx) != 0;
    return 0;
}

static int one_commit(const drep_commitinfo *commit, void *ctx)
{
    drep_header h = DREP_HEADER;

    (void)commit;
    (void)ctx;
    bad += drep_header_get(f, &h) != 0;
    return 0;
}

static int one_chunk(const int64_t *start, void *ctx)
{
    double v[LEN];

    (void)start;
    bad += drep_read(ctx, NULL, DREP_DOUBLE, v, NULL) != 0;
    return 0;
}

START_TEST(test_callbacks_beside_a_writer)
{
    drep_dataset *ds;
    atomic_int writes;
    pthread_t writer;
    double v[LEN];
    int err = drep_register_datarep("nosy", nosy_read, xor_write, native_extent, NULL);

    ck_assert(err == 0 || err == DREP_ERR_DUP_DATAREP);
    depth = 1; /* when the file is made or opened there is none yet to use */
    ds = make_file("nosy", "nosy");
    ok(drep_attr_write_string(f, "/", "text", "some"));
    ok(drep_group_create(f, "group", 0));
    depth = 0;
    atomic_init(&writes, 0);
    writer = begin(write_on, &writes);
    for (int i = 0; i < 50; i++) {
        drep_xfer xfer = DREP_XFER(.threads = 1 + i % 3);

        ok(drep_read(ds, NULL, DREP_DOUBLE, v, &xfer));
        if (i % 10 == 0) {
            ok(drep_list(f, "/", DREP_BY_NAME, list_again, NULL));
            ok(drep_log(f, one_commit, NULL));
            ok(drep_dataset_chunks(ds, one_chunk, ds));
        }
    }
    stop = 1;
    pthread_join(writer, NULL);
    ck_assert_int_eq(bad, 0);
    drep_dataset_close(ds);
    depth = 1;
    ok(drep_close(f));
}
END_TEST

int main(void)
{
    Suite *s = suite_create("data fair");
    TCase *t = tcase_create("fair");

    tcase_set_timeout(t, 60);
    tcase_add_test(t, test_a_writer_among_readers);
    tcase_add_test(t, test_a_reader_among_writers);
    tcase_add_test(t, test_callbacks_beside_a_writer);
    suite_add_tcase(s, t);
    return run_suite(s);
}
