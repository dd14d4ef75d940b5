/* pool.c - worker threads that wait for jobs.
 *
 * A job lives on the stack of the thread that called pool_run(): that thread works
 * too and leaves only when no worker is inside the job any more.  Workers block all
 * signals, are never joined, and are forgotten in a forked child.
 *
 * To wake a thread costs as much as to read a hundred kilobytes.  So a worker without a job
 * watches for the next one a little while before it sleeps, where a processor is free for
 * that, and so does a caller for the end of his job: small jobs that follow each other
 * closely wake nobody. */
/* SPDX-License-Identifier: MIT */
#include "base/pool.h"

#include "base/clock.h"
#include "base/error.h"
#include "base/fork.h"
#include "base/rwlock.h"

#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <time.h>
#include <unistd.h>

enum { THREADS_MAX = 256 };

#ifdef PTHREAD_ADAPTIVE_MUTEX_INITIALIZER_NP
#define POOL_LOCK PTHREAD_ADAPTIVE_MUTEX_INITIALIZER_NP
#else
#define POOL_LOCK PTHREAD_MUTEX_INITIALIZER
#endif

#define WATCH_NS ((int64_t)100000) /* that a worker watches before it sleeps */
#define LEAVE_NS ((int64_t)100000) /* that a caller does */

struct pool_job {
    pool_fn *fn;
    void *ctx;
    int64_t next, n;   /* indices from next on are not begun */
    atomic_int inside; /* threads at work; changes under the lock */
    int most;          /* how many may be */
    int64_t failed;    /* lowest index that failed; n: none */
    int err;
    struct fail_state message;
    struct rw_holds holds; /* locks of the caller */
    struct pool_job *link;
};

static struct {
    pthread_mutex_t lock;
    pthread_cond_t work, left; /* a job came; a thread left a job */
    struct pool_job *jobs;
    int threads;
    int asleep;          /* workers that wait for `work` */
    atomic_int watching; /* that watch for it; changes under the lock */
    int eyes;            /* how many may */
    atomic_uint posted;  /* jobs so far */
} pool = {.lock = POOL_LOCK, .work = PTHREAD_COND_INITIALIZER, .left = PTHREAD_COND_INITIALIZER};

/* Set in workers, and in a caller while it works: nested calls run serially. */
static _Thread_local bool working;

int pool_cpus(void)
{
    cpu_set_t set;
    long n;

    if (sched_getaffinity(0, sizeof set, &set) == 0)
        return CPU_COUNT(&set);
    n = sysconf(_SC_NPROCESSORS_ONLN);
    return n < 1 ? 1 : n > THREADS_MAX ? THREADS_MAX : (int)n;
}

/* ---- locks ---- */

int lock_init(pthread_mutex_t *lock)
{
    pthread_mutexattr_t attr;
    int err = pthread_mutexattr_init(&attr);

    if (err)
        return err;
#ifdef PTHREAD_ADAPTIVE_MUTEX_INITIALIZER_NP
    pthread_mutexattr_settype(&attr, PTHREAD_MUTEX_ADAPTIVE_NP);
#endif
    err = pthread_mutex_init(lock, &attr);
    pthread_mutexattr_destroy(&attr);
    return err;
}

/* ---- watching ---- */

/* Pause, and offer the processor to another thread. */
static void moment(void)
{
    for (int i = 0; i < 16; i++) {
#if defined(__x86_64__) || defined(__i386__)
        __builtin_ia32_pause();
#elif defined(__aarch64__)
        __asm__ volatile("yield");
#else
        atomic_signal_fence(memory_order_seq_cst);
#endif
    }
    sched_yield();
}

/* Watch for a job newer than those posted; the lock is held on entry and on return, not between.
 * False: none came, or enough threads watch already. */
static bool watch(void)
{
    unsigned seen = atomic_load(&pool.posted);
    int64_t end;

    if (pool.watching >= pool.eyes)
        return false;
    pool.watching++;
    pthread_mutex_unlock(&pool.lock);
    end = now_ns() + WATCH_NS;
    while (atomic_load_explicit(&pool.posted, memory_order_relaxed) == seen && now_ns() < end)
        moment();
    pthread_mutex_lock(&pool.lock);
    pool.watching--;
    return atomic_load(&pool.posted) != seen;
}

/* Wait until no worker is inside the job; the lock is held on entry and on return. */
static void wait_workers_out(struct pool_job *job)
{
    if (job->inside > 0 && pool.eyes > 0) {
        int64_t end;

        pthread_mutex_unlock(&pool.lock);
        end = now_ns() + LEAVE_NS;
        while (atomic_load_explicit(&job->inside, memory_order_relaxed) > 0 && now_ns() < end)
            moment();
        pthread_mutex_lock(&pool.lock);
    }
    while (job->inside > 0)
        pthread_cond_wait(&pool.left, &pool.lock);
}

/* ---- jobs ---- */

/* Work on a job until all its indices are taken. The lock is held on entry and on return. */
static void job_work(struct pool_job *job)
{
    struct fail_state message;
    int64_t i;
    int err;

    job->inside++;
    while (job->next < job->n) {
        i = job->next++;
        pthread_mutex_unlock(&pool.lock);
        err = job->fn(job->ctx, i);
        if (err)
            fail_save(&message);
        pthread_mutex_lock(&pool.lock);
        if (!err)
            continue;
        job->next = job->n;
        if (i < job->failed) {
            job->failed = i;
            job->err = err;
            job->message = message;
        }
    }
    if (--job->inside == 0)
        pthread_cond_broadcast(&pool.left);
}

static struct pool_job *job_waiting(void)
{
    struct pool_job *job;

    for (job = pool.jobs; job; job = job->link)
        if (job->next < job->n && job->inside < job->most)
            return job;
    return NULL;
}

static void *worker(void *unused)
{
    struct pool_job *job;

    (void)unused;
    working = true;
    pthread_mutex_lock(&pool.lock);
    for (;;) {
        job = job_waiting();
        if (job) {
            rw_holds_set(&job->holds);
            job_work(job);
            rw_holds_set(NULL);
        }
        if (job || watch())
            continue;
        pool.asleep++;
        pthread_cond_wait(&pool.work, &pool.lock);
        pool.asleep--;
    }
    return NULL;
}

/* After a fork neither the threads nor the holder of the lock exist. */
static void pool_after_fork(void)
{
    lock_init(&pool.lock);
    pthread_cond_init(&pool.work, NULL);
    pthread_cond_init(&pool.left, NULL);
    pool.jobs = NULL;
    pool.threads = 0;
    pool.asleep = 0;
    pool.watching = 0;
}

static struct fork_hook fork_hook;

/* Start threads until there are `want`. Fewer are no error: the caller works too. */
static void pool_grow(int want)
{
    pthread_attr_t attr;
    pthread_t thread;
    sigset_t all, old;

    if (pool.threads >= want)
        return;
    pool.eyes = pool_cpus() - 1;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &old);
    pthread_attr_init(&attr);
    pthread_attr_setdetachstate(&attr, PTHREAD_CREATE_DETACHED);
    while (pool.threads < want && pthread_create(&thread, &attr, worker, NULL) == 0)
        pool.threads++;
    pthread_attr_destroy(&attr);
    pthread_sigmask(SIG_SETMASK, &old, NULL);
}

/* Share the work: the threads of the pool help with it. */
static int pool_share(int threads, int64_t n, pool_fn *fn, void *ctx)
{
    struct pool_job job = {.fn = fn, .ctx = ctx, .n = n, .failed = n, .most = threads};
    struct pool_job **at;

    rw_holds_get(&job.holds);
    working = true;
    fork_watch(&fork_hook, pool_after_fork);
    pthread_mutex_lock(&pool.lock);
    pool_grow(threads - 1);
    for (at = &pool.jobs; *at; at = &(*at)->link) /* behind the others: workers help the oldest */
        ;
    *at = &job;
    atomic_fetch_add(&pool.posted, 1);
    if (pool.asleep > 0 && pool.watching < threads - 1)
        pthread_cond_broadcast(&pool.work);
    job_work(&job);
    wait_workers_out(&job);
    for (at = &pool.jobs; *at != &job; at = &(*at)->link)
        ;
    *at = job.link;
    pthread_mutex_unlock(&pool.lock);
    working = false;

    if (job.err)
        fail_restore(&job.message);
    return job.err;
}

/* A job has room for a message: it is made only where there is one. */
int pool_run(int threads, int64_t n, pool_fn *fn, void *ctx)
{
    int err = 0;

    if (threads > THREADS_MAX)
        threads = THREADS_MAX;
    if (threads > n)
        threads = (int)n;
    if (threads > 1 && !working)
        return pool_share(threads, n, fn, ctx);
    for (int64_t i = 0; !err && i < n; i++)
        err = fn(ctx, i);
    return err;
}

/* ---- turns ---- */

void pool_turns_init(struct pool_turns *t)
{
    pthread_mutex_init(&t->lock, NULL);
    pthread_cond_init(&t->moved, NULL);
    t->next = 0;
    t->failed = INT64_MAX;
}

void pool_turns_release(struct pool_turns *t)
{
    pthread_cond_destroy(&t->moved);
    pthread_mutex_destroy(&t->lock);
}

/* Indices are handed out in ascending order, so all earlier ones are running or done. */
int pool_turn_wait(struct pool_turns *t, int64_t i)
{
    int gone;

    pthread_mutex_lock(&t->lock);
    while (t->next != i && t->failed > i)
        pthread_cond_wait(&t->moved, &t->lock);
    gone = t->failed < i;
    pthread_mutex_unlock(&t->lock);
    return gone;
}

void pool_turn_end(struct pool_turns *t, int64_t i, int err)
{
    pthread_mutex_lock(&t->lock);
    if (err && i < t->failed)
        t->failed = i;
    if (!err && t->next == i)
        t->next = i + 1;
    pthread_cond_broadcast(&t->moved);
    pthread_mutex_unlock(&t->lock);
}
