/* hdf5_crew.c - threads that work through a list together.
 *
 * HDF5 itself runs under one lock; what needs none of it (inflating chunks, putting their
 * rows in place) is done here. */
#include <pthread.h>
#include <sched.h>
#include <stdlib.h>

#include "tools/hdf5_parts.h"

#define THREADS_MAX 64

struct crew {
    pthread_mutex_t lock;
    pthread_cond_t work, done;
    pthread_t thread[THREADS_MAX];
    int threads; /* besides the caller's */
    int end;
    uint64_t round; /* of work; a thread sleeps until it changes */
    crew_fn *fn;
    void *ctx;
    size_t n, next; /* items, the first that nobody has taken */
    int busy;       /* threads in this round */
};

struct member {
    struct crew *crew;
    int number;
};

/* Takes items until there are none; with the lock held, as on return. */
static void take_items(struct crew *c, int number)
{
    while (c->next < c->n) {
        size_t i = c->next++;

        pthread_mutex_unlock(&c->lock);
        c->fn(c->ctx, number, i);
        pthread_mutex_lock(&c->lock);
    }
}

static void *member_run(void *arg)
{
    struct member me = *(struct member *)arg;
    struct crew *c = me.crew;
    uint64_t seen = 0;

    free(arg);
    pthread_mutex_lock(&c->lock);
    while (!c->end) {
        if (c->round == seen) {
            pthread_cond_wait(&c->work, &c->lock);
            continue;
        }
        seen = c->round;
        c->busy++;
        take_items(c, me.number);
        if (--c->busy == 0)
            pthread_cond_signal(&c->done);
    }
    pthread_mutex_unlock(&c->lock);
    return NULL;
}

static int processors(void)
{
    cpu_set_t set;

    return sched_getaffinity(0, sizeof set, &set) == 0 ? CPU_COUNT(&set) : 1;
}

struct crew *crew_new(int threads)
{
    struct crew *c = calloc(1, sizeof *c);
    int i;

    if (!c)
        return NULL;
    pthread_mutex_init(&c->lock, NULL);
    pthread_cond_init(&c->work, NULL);
    pthread_cond_init(&c->done, NULL);
    if (threads <= 0)
        threads = processors();
    for (i = 1; i < threads && i < THREADS_MAX; i++) {
        struct member *m = malloc(sizeof *m);

        if (!m)
            break;
        *m = (struct member){c, i};
        if (pthread_create(&c->thread[c->threads], NULL, member_run, m) != 0) {
            free(m);
            break;
        }
        c->threads++;
    }
    return c;
}

int crew_size(const struct crew *c)
{
    return c->threads + 1;
}

void crew_run(struct crew *c, size_t n, crew_fn *fn, void *ctx)
{
    pthread_mutex_lock(&c->lock);
    c->fn = fn;
    c->ctx = ctx;
    c->n = n;
    c->next = 0;
    c->round++;
    if (n > 1)
        pthread_cond_broadcast(&c->work);
    take_items(c, 0);
    while (c->busy > 0)
        pthread_cond_wait(&c->done, &c->lock);
    c->n = c->next = 0;
    pthread_mutex_unlock(&c->lock);
}

void crew_free(struct crew *c)
{
    int i;

    if (!c)
        return;
    pthread_mutex_lock(&c->lock);
    c->end = 1;
    pthread_cond_broadcast(&c->work);
    pthread_mutex_unlock(&c->lock);
    for (i = 0; i < c->threads; i++)
        pthread_join(c->thread[i], NULL);
    pthread_cond_destroy(&c->work);
    pthread_cond_destroy(&c->done);
    pthread_mutex_destroy(&c->lock);
    free(c);
}
