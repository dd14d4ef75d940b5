/* crew.c - a few threads for a moment: starting one costs less than a page of text. */
#include "crew.h"
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>

#define CREW_MAX 16

struct crew {
    crew_fn *fn;
    void *ctx;
    int n;
    atomic_int next;
};

static void *work(void *arg)
{
    struct crew *crew = arg;
    int piece;

    while ((piece = atomic_fetch_add(&crew->next, 1)) < crew->n)
        crew->fn(crew->ctx, piece);
    return NULL;
}

/* Processors that this process may use. */
static int processors(void)
{
    cpu_set_t set;
    int n = sched_getaffinity(0, sizeof set, &set) == 0 ? CPU_COUNT(&set) : 1;

    return n < CREW_MAX ? n : CREW_MAX;
}

void crew_run(int n, crew_fn *fn, void *ctx)
{
    struct crew crew = {.fn = fn, .ctx = ctx, .n = n};
    pthread_t thread[CREW_MAX];
    int most = processors(), more = 0;

    while (more + 1 < most && more + 1 < n && pthread_create(&thread[more], NULL, work, &crew) == 0)
        more++;
    work(&crew);
    while (more > 0)
        pthread_join(thread[--more], NULL);
}
