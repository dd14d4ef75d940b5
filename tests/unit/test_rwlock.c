/* test_rwlock.c - the lock of a file handle: who waits for whom, and who never does.
 *
 * (fail) is the library's; Check has a macro of that name. */
/* SPDX-License-Identifier: MIT */
#include "base/error.h"
#include "base/pool.h"
#include "base/rwlock.h"
#include "tests/unit/bytes.h"

#include <pthread.h>
#include <stdatomic.h>
#include <unistd.h>

static struct rwlock lock, other;
static atomic_int inside, writing, entered, bad, stop;

/* Wait for what other threads are to do, however long the machine takes to let them. */
static void until_writer_waits(void)
{
    bool waits = false;

    while (!waits) {
        pthread_mutex_lock(&lock.turn_lock);
        waits = lock.taken;
        pthread_mutex_unlock(&lock.turn_lock);
        usleep(100);
    }
}

static void until_line_has(int n)
{
    int found = -1;

    while (found != n) {
        found = 0;
        pthread_mutex_lock(&lock.turn_lock);
        for (const struct rw_waiter *w = lock.writers; w; w = w->link)
            found++;
        pthread_mutex_unlock(&lock.turn_lock);
        usleep(100);
    }
}

static void until_reader_waits(void)
{
    bool waits = false;

    while (!waits) {
        pthread_mutex_lock(&lock.entry_lock);
        waits = lock.waiting > 0;
        pthread_mutex_unlock(&lock.entry_lock);
        usleep(100);
    }
}

static pthread_t begin(void *(*fn)(void *), void *ctx)
{
    pthread_t thread;

    ck_assert_int_eq(pthread_create(&thread, NULL, fn, ctx), 0);
    return thread;
}

static void *write_once(void *ctx)
{
    bad += rwlock_write(&lock) != 0;
    entered++;
    if (ctx)
        *(int *)ctx = entered;
    rwlock_write_done(&lock);
    return NULL;
}

static void *read_once(void *ctx)
{
    (void)ctx;
    bad += rwlock_read(&lock) != 0;
    entered++;
    rwlock_read_done(&lock);
    return NULL;
}

static void setup(void)
{
    rwlock_init(&lock);
    rwlock_init(&other);
    entered = inside = writing = bad = stop = 0;
}

static void teardown(void)
{
    rwlock_release(&lock);
    rwlock_release(&other);
    ck_assert_int_eq(bad, 0);
}

/* One writer or many readers; writers that let readers in keep other writers out. */
static void *mixed(void *ctx)
{
    int number = *(int *)ctx;

    for (int i = 0; i < 3000; i++) {
        if ((i + number) % 4 != 0) {
            bad += rwlock_read(&lock) != 0;
            inside++;
            bad += writing == 1;
            inside--;
            rwlock_read_done(&lock);
            continue;
        }
        bad += rwlock_write(&lock) != 0;
        bad += writing++ != 0 || inside != 0;
        if (i % 3 == 0) {
            writing += 9;
            rwlock_share(&lock);
            bad += writing != 10;
            rwlock_unshare(&lock);
            writing -= 9;
            bad += inside != 0;
        }
        bad += --writing != 0;
        if (i % 5 == 0) {
            rwlock_write_to_read(&lock);
            bad += writing == 1;
            rwlock_read_done(&lock);
        } else {
            rwlock_write_done(&lock);
        }
    }
    return NULL;
}

START_TEST(test_exclusion)
{
    int number[6] = {0, 1, 2, 3, 4, 5};
    pthread_t thread[6];

    for (int i = 0; i < 6; i++)
        thread[i] = begin(mixed, &number[i]);
    for (int i = 0; i < 6; i++)
        pthread_join(thread[i], NULL);
    ck_assert_int_eq(writing, 0);
}
END_TEST

/* A waiting writer stops new readers, of other threads. */
START_TEST(test_a_waiting_writer_is_next)
{
    pthread_t writer, reader;

    ck_assert_int_eq(rwlock_read(&lock), 0);
    writer = begin(write_once, NULL);
    until_writer_waits();
    reader = begin(read_once, NULL);
    until_reader_waits();
    ck_assert_int_eq(entered, 0);
    rwlock_read_done(&lock);
    pthread_join(writer, NULL);
    pthread_join(reader, NULL);
    ck_assert_int_eq(entered, 2);
}
END_TEST

/* Writers go in the order in which they came, and readers between two of them. */
START_TEST(test_order_of_writers)
{
    int order[4] = {0};
    pthread_t thread[5];

    ck_assert_int_eq(rwlock_write(&lock), 0);
    for (int i = 0; i < 4; i++) {
        thread[i] = begin(write_once, &order[i]);
        until_line_has(i + 1);
    }
    thread[4] = begin(read_once, NULL);
    until_reader_waits();
    rwlock_write_done(&lock);
    for (int i = 0; i < 5; i++)
        pthread_join(thread[i], NULL);
    for (int i = 1; i < 4; i++)
        ck_assert_int_lt(order[i - 1], order[i]);
    ck_assert_int_le(order[0], 2); /* the reader was let in beside or before it */
    ck_assert_int_eq(entered, 5);
}
END_TEST

/* A thread that reads may read again while a writer waits, that lock and any other. */
START_TEST(test_nested_reads_do_not_wait)
{
    pthread_t writer;

    ck_assert_int_eq(rwlock_read(&lock), 0);
    writer = begin(write_once, NULL);
    until_writer_waits();
    for (int i = 0; i < 3; i++)
        ck_assert_int_eq(rwlock_read(&lock), 0);
    for (int i = 0; i < 3; i++)
        rwlock_read_done(&lock);
    ck_assert_int_eq(entered, 0);
    rwlock_read_done(&lock);
    pthread_join(writer, NULL);

    ck_assert_int_eq(rwlock_read(&lock), 0);
    writer = begin(write_once, NULL);
    until_writer_waits();
    ck_assert_int_eq(rwlock_read(&other), 0);
    ck_assert_int_eq(rwlock_read(&lock), 0);
    rwlock_read_done(&lock);
    rwlock_read_done(&lock);
    rwlock_read_done(&other);
    pthread_join(writer, NULL);
}
END_TEST

static int read_in_pool(void *ctx, int64_t i)
{
    int err = rwlock_read(&lock);

    (void)i;
    if (err == 0) {
        usleep(1000);
        rwlock_read_done(&lock);
    }
    return err == *(int *)ctx ? 0 : 1;
}

/* Nor do the workers that a reading thread waits for; those of one that writes are refused. */
START_TEST(test_workers_belong_to_their_caller)
{
    int want = 0;
    pthread_t writer;

    ck_assert_int_eq(rwlock_read(&lock), 0);
    writer = begin(write_once, NULL);
    until_writer_waits();
    ck_assert_int_eq(pool_run(4, 16, read_in_pool, &want), 0);
    ck_assert_int_eq(entered, 0);
    rwlock_read_done(&lock);
    pthread_join(writer, NULL);

    want = DREP_ERR_ARG;
    ck_assert_int_eq(rwlock_write(&lock), 0);
    ck_assert_int_eq(pool_run(4, 16, read_in_pool, &want), 0);
    rwlock_write_done(&lock);
    want = 0;
    ck_assert_int_eq(pool_run(4, 16, read_in_pool, &want), 0);
}
END_TEST

START_TEST(test_nobody_waits_for_itself)
{
    ck_assert_int_eq(rwlock_read(&lock), 0);
    ck_assert_int_eq(rwlock_write(&lock), DREP_ERR_ARG);
    rwlock_read_done(&lock);
    ck_assert_int_eq(rwlock_write(&lock), 0);
    ck_assert_int_eq(rwlock_write(&lock), DREP_ERR_ARG);
    ck_assert_int_eq(rwlock_read(&lock), DREP_ERR_ARG);
    rwlock_write_done(&lock);
    rwlock_read_done(&lock); /* nothing */
    ck_assert_int_eq(rwlock_write(&lock), 0);
    rwlock_write_done(&lock);
}
END_TEST

/* More locks than a thread's list has room for. */
static int writes_in_pool(void *ctx, int64_t i)
{
    (void)ctx;
    (void)i;
    return rwlock_writes(&lock) && !rwlock_writes(&other) ? 0 : DREP_ERR_ARG;
}

static void *writes_elsewhere(void *ctx)
{
    (void)ctx;
    return rwlock_writes(&lock) ? &lock : NULL;
}

/* Who holds it to write is this thread, with the workers of its calls, and no other. */
START_TEST(test_the_writer_is_known)
{
    pthread_t thread;
    void *other_writes;

    ck_assert(!rwlock_writes(&lock));
    ck_assert_int_eq(rwlock_read(&lock), 0);
    ck_assert(!rwlock_writes(&lock));
    rwlock_read_done(&lock);
    ck_assert_int_eq(rwlock_write(&lock), 0);
    ck_assert(rwlock_writes(&lock) && !rwlock_writes(&other));
    ck_assert_int_eq(pool_run(4, 64, writes_in_pool, NULL), 0);
    thread = begin(writes_elsewhere, NULL);
    ck_assert_int_eq(pthread_join(thread, &other_writes), 0);
    ck_assert_ptr_null(other_writes);
    rwlock_share(&lock); /* as a commit does while it waits */
    ck_assert(rwlock_writes(&lock));
    rwlock_unshare(&lock);
    rwlock_write_to_read(&lock);
    ck_assert(!rwlock_writes(&lock));
    rwlock_read_done(&lock);
}
END_TEST

START_TEST(test_many_locks)
{
    struct rwlock many[RW_HOLDS + 4];

    for (int i = 0; i < RW_HOLDS + 4; i++) {
        rwlock_init(&many[i]);
        ck_assert_int_eq(rwlock_read(&many[i]), 0);
    }
    for (int i = 0; i < RW_HOLDS + 4; i++)
        rwlock_read_done(&many[i]);
    for (int i = 0; i < RW_HOLDS + 4; i++) {
        ck_assert_int_eq(rwlock_write(&many[i]), 0);
        rwlock_write_done(&many[i]);
        rwlock_release(&many[i]);
    }
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("rwlock");
    TCase *tc = tcase_create("rwlock");

    tcase_set_timeout(tc, 60);
    tcase_add_checked_fixture(tc, setup, teardown);
    tcase_add_test(tc, test_exclusion);
    tcase_add_test(tc, test_a_waiting_writer_is_next);
    tcase_add_test(tc, test_order_of_writers);
    tcase_add_test(tc, test_nested_reads_do_not_wait);
    tcase_add_test(tc, test_workers_belong_to_their_caller);
    tcase_add_test(tc, test_nobody_waits_for_itself);
    tcase_add_test(tc, test_the_writer_is_known);
    tcase_add_test(tc, test_many_locks);
    suite_add_tcase(suite, tc);
    return run_suite(suite);
}
