/* test_pool.c - the worker pool: every index once, the lowest error, no nesting, forks.
 *
 * (fail) is the library's; Check has a macro of that name. */
/* SPDX-License-Identifier: MIT */
#include "base/error.h"
#include "base/pool.h"
#include "tests/unit/bytes.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <sys/wait.h>
#include <unistd.h>

enum { N = 500 };

struct work {
    atomic_int times[N], now, most;
    int64_t fail_from; /* indices from here on fail */
    int64_t fail_every;
    bool nested;
};

static int inner(void *ctx, int64_t i)
{
    /* A call inside a worker stays in its thread. */
    return pthread_equal(*(pthread_t *)ctx, pthread_self()) && i >= 0 ? 0 : 99;
}

static int work(void *ctx, int64_t i)
{
    struct work *w = ctx;
    pthread_t self = pthread_self();
    int now = ++w->now, most = w->most, err = 0;

    while (now > most && !atomic_compare_exchange_weak(&w->most, &most, now))
        ;
    w->times[i]++;
    if (w->nested)
        err = pool_run(4, 5, inner, &self);
    if (i % 50 == 0)
        usleep(500);
    w->now--;
    if (!err && i >= w->fail_from && i % w->fail_every == 0)
        err = (fail)(DREP_ERR_LIMIT, "index %d", (int)i);
    return err;
}

START_TEST(test_every_index_once)
{
    static const int threads[] = {0, 1, 2, 3, 16};
    int t, i;

    for (t = 0; t < 5; t++) {
        struct work w = {.fail_from = N, .fail_every = 1, .nested = t == 3};

        ck_assert_int_eq(pool_run(threads[t], N, work, &w), 0);
        for (i = 0; i < N; i++)
            ck_assert_int_eq(w.times[i], 1);
        ck_assert_int_le(w.most, threads[t] > 1 ? threads[t] : 1);
    }
    ck_assert_int_eq(pool_run(4, 0, work, NULL), 0);
    ck_assert_int_ge(pool_cpus(), 1);
}
END_TEST

START_TEST(test_lowest_error_and_its_message)
{
    int round, i;

    for (round = 0; round < 50; round++) {
        struct work w = {.fail_from = 100, .fail_every = 7};
        int after = 0;

        (fail)(DREP_ERR_ARG, "before");
        ck_assert_int_eq(pool_run(4, N, work, &w), DREP_ERR_LIMIT);
        ck_assert_str_eq(drep_error(), "index 105");
        for (i = 0; i <= 105; i++)
            ck_assert_int_eq(w.times[i], 1);
        for (; i < N; i++)
            after += w.times[i];
        ck_assert_int_lt(after, N - 106);
    }
}
END_TEST

static void *caller(void *ctx)
{
    struct work w = {.fail_from = N, .fail_every = 1};
    int i;

    for (i = 0; i < 10; i++)
        if (pool_run(3, N, work, &w))
            return ctx;
    return w.times[N - 1] == 10 ? NULL : ctx;
}

START_TEST(test_callers_share_the_pool)
{
    static int failed;
    pthread_t thread[4];
    void *result;
    int i;

    for (i = 0; i < 4; i++)
        ck_assert_int_eq(pthread_create(&thread[i], NULL, caller, &failed), 0);
    for (i = 0; i < 4; i++) {
        pthread_join(thread[i], &result);
        ck_assert_ptr_null(result);
    }
}
END_TEST

static int count_one(void *ctx, int64_t i)
{
    atomic_int *times = ctx;

    times[i]++;
    return 0;
}

/* Jobs that come while workers watch, fall asleep and sleep. */
START_TEST(test_small_jobs)
{
    atomic_int times[3] = {0};
    struct rnd r;
    int round;

    rnd_init(&r, 5);
    for (round = 0; round < 6000; round++) {
        ck_assert_int_eq(pool_run(2 + round % 3, 3, count_one, times), 0);
        for (int i = 0; i < 3; i++)
            ck_assert_int_eq(times[i], round + 1);
        if (rnd_below(&r, 4) == 0)
            usleep((useconds_t)rnd_below(&r, 120));
    }
}
END_TEST

/* The child has none of the parent's threads, and makes its own. */
START_TEST(test_fork)
{
    struct work w = {.fail_from = N, .fail_every = 1};
    int status = -1;
    pid_t child;

    ck_assert_int_eq(pool_run(4, N, work, &w), 0);
    child = fork();
    ck_assert_int_ge(child, 0);
    if (child == 0) {
        alarm(20);
        _exit(pool_run(4, N, work, &w) == 0 && w.times[7] == 2 ? 0 : 1);
    }
    ck_assert_int_eq(waitpid(child, &status, 0), child);
    ck_assert(WIFEXITED(status) && WEXITSTATUS(status) == 0);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("pool");
    TCase *tc = tcase_create("pool");

    tcase_set_timeout(tc, 60);
    tcase_add_test(tc, test_every_index_once);
    tcase_add_test(tc, test_lowest_error_and_its_message);
    tcase_add_test(tc, test_callers_share_the_pool);
    tcase_add_test(tc, test_small_jobs);
#ifndef __SANITIZE_THREAD__
    tcase_add_test(tc, test_fork);
#endif
    suite_add_tcase(suite, tc);
    return run_suite(suite);
}
