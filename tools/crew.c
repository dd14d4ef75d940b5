/* crew.c - a few threads for a moment: starting one costs less than a page of text. */
#include "crew.h"
#include <pthread.h>
#include <sched.h>
#include <stdbool.h>

#define CREW_MAX (CREW_SLOTS / 2 - 2)

struct run {
    const struct crew *crew;
    int slots;
    pthread_mutex_t lock; /* for all that follows */
    pthread_cond_t freed; /* a slot was, or it is the end */
    int next;             /* the first piece that nobody has begun */
    int taken;            /* pieces that were taken */
    bool taking;          /* some thread does */
    bool made[CREW_SLOTS];
    int err;
};

/* The next piece to make, once it has a slot; -1: there is none. */
static int begin(struct run *r)
{
    int piece = r->next;

    if (piece >= r->crew->n)
        return -1;
    r->next++;
    while (!r->err && piece - r->taken >= r->slots)
        pthread_cond_wait(&r->freed, &r->lock);
    return r->err ? -1 : piece;
}

/* Takes what is made and comes next, unless another thread is at it. */
static void take(struct run *r)
{
    int slot, err;

    while (!r->taking && !r->err && r->made[slot = r->taken % r->slots]) {
        r->taking = true;
        pthread_mutex_unlock(&r->lock);
        err = r->crew->take(r->crew->ctx, r->taken, slot);
        pthread_mutex_lock(&r->lock);
        r->made[slot] = false;
        r->taking = false;
        r->taken++;
        r->err = err;
        pthread_cond_broadcast(&r->freed);
    }
}

static void *work(void *arg)
{
    struct run *r = arg;
    int piece;

    pthread_mutex_lock(&r->lock);
    while ((piece = begin(r)) >= 0) {
        pthread_mutex_unlock(&r->lock);
        r->crew->make(r->crew->ctx, piece, piece % r->slots);
        pthread_mutex_lock(&r->lock);
        r->made[piece % r->slots] = true;
        take(r);
    }
    pthread_mutex_unlock(&r->lock);
    return NULL;
}

/* Processors that this process may use. */
static int processors(void)
{
    cpu_set_t set;
    int n = sched_getaffinity(0, sizeof set, &set) == 0 ? CPU_COUNT(&set) : 1;

    return n < CREW_MAX ? n : CREW_MAX;
}

int crew_run(const struct crew *crew)
{
    struct run r = {.crew = crew,
                    .lock = PTHREAD_MUTEX_INITIALIZER,
                    .freed = PTHREAD_COND_INITIALIZER};
    pthread_t thread[CREW_MAX];
    int most = processors(), more = 0;

    r.slots = 2 * most + 2;
    while (more + 1 < most && more + 1 < crew->n &&
           pthread_create(&thread[more], NULL, work, &r) == 0)
        more++;
    work(&r);
    while (more > 0)
        pthread_join(thread[--more], NULL);
    return r.err;
}
