/* threads.c - threads that work through a list together.
 *
 * HDF5 itself runs under one lock; what needs none of it (inflating chunks, putting their
 * rows in place) is done here. */
/* SPDX-License-Identifier: MIT */
#include "tools/h5/threads.h"
#include <pthread.h>
#include <sched.h>
#include <stdint.h>
#include <stdlib.h>

#define THREADS_MAX 64

struct threads {
    pthread_mutex_t lock;
    pthread_cond_t work, done;
    pthread_t thread[THREADS_MAX];
    int others; /* besides the caller's */
    int end;
    uint64_t round; /* of work; a thread sleeps until it changes */
    threads_fn *fn;
    void *ctx;
    size_t n, next; /* items, the first that nobody has taken */
    int busy;       /* threads in this round */
};

struct thread_member {
    struct threads *all;
    int number;
};

/* Takes items until there are none; with the lock held, as on return. */
static void take_items(struct threads *t, int number)
{
    while (t->next < t->n) {
        size_t i = t->next++;

        pthread_mutex_unlock(&t->lock);
        t->fn(t->ctx, number, i);
        pthread_mutex_lock(&t->lock);
    }
}

static void *member_run(void *arg)
{
    struct thread_member me = *(struct thread_member *)arg;
    struct threads *t = me.all;
    uint64_t seen = 0;

    free(arg);
    pthread_mutex_lock(&t->lock);
    while (!t->end) {
        if (t->round == seen) {
            pthread_cond_wait(&t->work, &t->lock);
            continue;
        }
        seen = t->round;
        t->busy++;
        take_items(t, me.number);
        if (--t->busy == 0)
            pthread_cond_signal(&t->done);
    }
    pthread_mutex_unlock(&t->lock);
    return NULL;
}

static int processors(void)
{
    cpu_set_t set;

    return sched_getaffinity(0, sizeof set, &set) == 0 ? CPU_COUNT(&set) : 1;
}

struct threads *threads_new(int threads)
{
    struct threads *t = calloc(1, sizeof *t);
    int i;

    if (!t)
        return NULL;
    pthread_mutex_init(&t->lock, NULL);
    pthread_cond_init(&t->work, NULL);
    pthread_cond_init(&t->done, NULL);
    if (threads <= 0)
        threads = processors();
    for (i = 1; i < threads && i < THREADS_MAX; i++) {
        struct thread_member *m = malloc(sizeof *m);

        if (!m)
            break;
        *m = (struct thread_member){t, i};
        if (pthread_create(&t->thread[t->others], NULL, member_run, m) != 0) {
            free(m);
            break;
        }
        t->others++;
    }
    return t;
}

int threads_size(const struct threads *t)
{
    return t->others + 1;
}

void threads_run(struct threads *t, size_t n, threads_fn *fn, void *ctx)
{
    pthread_mutex_lock(&t->lock);
    t->fn = fn;
    t->ctx = ctx;
    t->n = n;
    t->next = 0;
    t->round++;
    if (n > 1)
        pthread_cond_broadcast(&t->work);
    take_items(t, 0);
    while (t->busy > 0)
        pthread_cond_wait(&t->done, &t->lock);
    t->n = t->next = 0;
    pthread_mutex_unlock(&t->lock);
}

void threads_free(struct threads *t)
{
    int i;

    if (!t)
        return;
    pthread_mutex_lock(&t->lock);
    t->end = 1;
    pthread_cond_broadcast(&t->work);
    pthread_mutex_unlock(&t->lock);
    for (i = 0; i < t->others; i++)
        pthread_join(t->thread[i], NULL);
    pthread_cond_destroy(&t->work);
    pthread_cond_destroy(&t->done);
    pthread_mutex_destroy(&t->lock);
    free(t);
}
