/* pool.c - worker threads that wait for jobs.
 *
 * A job lives on the stack of the thread that called pool_run(): that thread works
 * too and leaves only when no worker is inside the job any more.  Workers block all
 * signals, are never joined, and are forgotten in a forked child. */
#include "base/pool.h"

#include "base/error.h"

#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdbool.h>
#include <unistd.h>

enum { THREADS_MAX = 256 };

struct job {
    pool_fn *fn;
    void *ctx;
    int64_t next, n;  /* indices from next on are not begun */
    int inside, most; /* threads at work, and how many may be */
    int64_t failed;   /* lowest index that failed; n: none */
    int err;
    struct fail_state message;
    struct job *link;
};

static struct {
    pthread_mutex_t lock;
    pthread_cond_t work, left; /* a job came; a thread left a job */
    struct job *jobs;
    int threads;
} pool = {PTHREAD_MUTEX_INITIALIZER, PTHREAD_COND_INITIALIZER, PTHREAD_COND_INITIALIZER, NULL, 0};

/* Set in workers, and in a caller while it works: what they call runs serially. */
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

/* Works on a job until none of its indices is left.  The lock is held on entry and
 * on return. */
static void job_work(struct job *job)
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

static struct job *job_waiting(void)
{
    struct job *job;

    for (job = pool.jobs; job; job = job->link)
        if (job->next < job->n && job->inside < job->most)
            return job;
    return NULL;
}

static void *worker(void *unused)
{
    struct job *job;

    (void)unused;
    working = true;
    pthread_mutex_lock(&pool.lock);
    for (;;) {
        job = job_waiting();
        if (job)
            job_work(job);
        else
            pthread_cond_wait(&pool.work, &pool.lock);
    }
    return NULL;
}

/* The threads are gone in a forked child, and so is whoever held the lock. */
static void forget(void)
{
    pthread_mutex_init(&pool.lock, NULL);
    pthread_cond_init(&pool.work, NULL);
    pthread_cond_init(&pool.left, NULL);
    pool.jobs = NULL;
    pool.threads = 0;
}

static void watch_fork(void)
{
    pthread_atfork(NULL, NULL, forget);
}

/* Makes threads until there are `want`; fewer are no error, the caller works too. */
static void grow(int want)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_attr_t attr;
    pthread_t thread;
    sigset_t all, old;

    if (pool.threads >= want)
        return;
    pthread_once(&once, watch_fork);
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &old);
    pthread_attr_init(&attr);
    pthread_attr_setdetachstate(&attr, PTHREAD_CREATE_DETACHED);
    while (pool.threads < want && pthread_create(&thread, &attr, worker, NULL) == 0)
        pool.threads++;
    pthread_attr_destroy(&attr);
    pthread_sigmask(SIG_SETMASK, &old, NULL);
}

static int run_serially(int64_t n, pool_fn *fn, void *ctx)
{
    int64_t i;
    int err;

    for (i = 0; i < n; i++) {
        err = fn(ctx, i);
        if (err)
            return err;
    }
    return 0;
}

int pool_run(int threads, int64_t n, pool_fn *fn, void *ctx)
{
    struct job job = {.fn = fn, .ctx = ctx, .n = n, .failed = n};
    struct job **at;

    if (threads > THREADS_MAX)
        threads = THREADS_MAX;
    if (threads > n)
        threads = (int)n;
    if (threads <= 1 || working)
        return run_serially(n, fn, ctx);

    job.most = threads;
    working = true;
    pthread_mutex_lock(&pool.lock);
    grow(threads - 1);
    job.link = pool.jobs;
    pool.jobs = &job;
    pthread_cond_broadcast(&pool.work);
    job_work(&job);
    while (job.inside > 0)
        pthread_cond_wait(&pool.left, &pool.lock);
    for (at = &pool.jobs; *at != &job; at = &(*at)->link)
        ;
    *at = job.link;
    pthread_mutex_unlock(&pool.lock);
    working = false;

    if (job.err)
        fail_restore(&job.message);
    return job.err;
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

/* Indices are given out upwards, so every one before is at work or done. */
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
