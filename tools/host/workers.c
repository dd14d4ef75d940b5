/* workers.c - a few threads for a while: starting one costs less than a page of text. */
/* SPDX-License-Identifier: MIT */
#include "tools/host/workers.h"
#include <pthread.h>
#include <sched.h>
#include <stdbool.h>
#include <stdlib.h>

#define WORKERS_MAX (WORKERS_SLOTS / 2)

struct workers {
    workers_make_fn *make;
    workers_take_fn *take;
    void *ctx;
    int slots, most; /* slots in use, threads besides the caller */
    int threads;
    pthread_t thread[WORKERS_MAX];
    pthread_mutex_t lock;   /* for all that follows */
    pthread_cond_t changed; /* a piece came, a slot was freed, or it is the end */
    long pushed, begun, taken;
    int busy;    /* threads that make, or take */
    bool taking; /* one of them does */
    bool over;   /* nothing will come any more */
    bool made[WORKERS_SLOTS];
    int err;
};

/* Processors that this process may use. */
static int processors(void)
{
    cpu_set_t set;
    int n = sched_getaffinity(0, sizeof set, &set) == 0 ? CPU_COUNT(&set) : 1;

    return n < WORKERS_MAX ? n : WORKERS_MAX;
}

struct workers *workers_new(int each, workers_make_fn *make, workers_take_fn *take, void *ctx)
{
    struct workers *c = calloc(1, sizeof *c);

    if (!c)
        return NULL;
    c->make = make;
    c->take = take;
    c->ctx = ctx;
    c->most = processors() - 1;
    c->slots = each * (c->most + 1);
    if (c->slots > WORKERS_SLOTS)
        c->slots = WORKERS_SLOTS;
    pthread_mutex_init(&c->lock, NULL);
    pthread_cond_init(&c->changed, NULL);
    return c;
}

/* Takes what is made and comes next, unless another thread is at it. */
static void take_slot(struct workers *c)
{
    int slot, err;

    while (!c->taking && !c->err && c->made[slot = (int)(c->taken % c->slots)]) {
        c->taking = true;
        pthread_mutex_unlock(&c->lock);
        err = c->take(c->ctx, slot);
        pthread_mutex_lock(&c->lock);
        c->made[slot] = false;
        c->taking = false;
        c->taken++;
        c->err = err;
        pthread_cond_broadcast(&c->changed);
    }
}

/* Makes the next piece that waits; false: there is none. */
static bool make_slot(struct workers *c)
{
    int slot = (int)(c->begun % c->slots);

    if (c->begun == c->pushed || c->err)
        return false;
    c->begun++;
    c->busy++;
    pthread_mutex_unlock(&c->lock);
    c->make(c->ctx, slot);
    pthread_mutex_lock(&c->lock);
    c->made[slot] = true;
    take_slot(c);
    c->busy--;
    if (c->err)
        pthread_cond_broadcast(&c->changed);
    return true;
}

static void *worker_run(void *arg)
{
    struct workers *c = arg;

    pthread_mutex_lock(&c->lock);
    while (!c->over)
        if (!make_slot(c))
            pthread_cond_wait(&c->changed, &c->lock);
    pthread_mutex_unlock(&c->lock);
    return NULL;
}

int workers_slot(struct workers *c)
{
    int slot;

    pthread_mutex_lock(&c->lock);
    while (!c->err && c->pushed - c->taken >= c->slots)
        if (!make_slot(c))
            pthread_cond_wait(&c->changed, &c->lock);
    slot = c->err ? -1 : (int)(c->pushed % c->slots);
    pthread_mutex_unlock(&c->lock);
    return slot;
}

void workers_push(struct workers *c)
{
    pthread_mutex_lock(&c->lock);
    c->pushed++;
    if (c->threads < c->most && c->pushed - c->begun > 1 &&
        pthread_create(&c->thread[c->threads], NULL, worker_run, c) == 0)
        c->threads++;
    if (c->threads > 0)
        pthread_cond_signal(&c->changed);
    pthread_mutex_unlock(&c->lock);
}

int workers_finish(struct workers *c)
{
    int err;

    pthread_mutex_lock(&c->lock);
    while (c->err ? c->busy > 0 : c->taken < c->pushed)
        if (!make_slot(c))
            pthread_cond_wait(&c->changed, &c->lock);
    err = c->err;
    pthread_mutex_unlock(&c->lock);
    return err;
}

void workers_free(struct workers *c)
{
    if (!c)
        return;
    pthread_mutex_lock(&c->lock);
    c->over = true;
    pthread_cond_broadcast(&c->changed);
    pthread_mutex_unlock(&c->lock);
    while (c->threads > 0)
        pthread_join(c->thread[--c->threads], NULL);
    pthread_cond_destroy(&c->changed);
    pthread_mutex_destroy(&c->lock);
    free(c);
}
