/* thread_team.c - queues of messages between threads, and faults. */
/* SPDX-License-Identifier: MIT */
#include "tests/unit/thread_team.h"
#include "base/clock.h"
#include "base/mem.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct thread_letter {
    struct thread_letter *next;
    struct drep_message *m;
};

struct start {
    struct thread_team *all;
    int rank;
    thread_body *body;
    void *ctx;
};

/* splitmix64 */
static uint64_t next_random(uint64_t *state)
{
    uint64_t z = *state += 0x9e3779b97f4a7c15u;

    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9u;
    z = (z ^ z >> 27) * 0x94d049bb133111ebu;
    return z ^ z >> 31;
}

/* Wake a rank that waits or sleeps. */
static void wake(struct thread_team *all, struct thread_rank *r)
{
    r->waits = r->asleep = false;
    all->busy++;
    pthread_cond_signal(&r->wake);
}

/* Nobody runs: let time pass to the earliest deadline. */
static void jump(struct thread_team *all)
{
    struct thread_rank *r, *next = NULL;
    int i;

    for (i = 0; i < all->size; i++) {
        r = &all->rank[i];
        if ((r->waits || r->asleep) && (!next || r->deadline < next->deadline))
            next = r;
    }
    if (!next)
        return;
    all->deadlock |= next->deadline == INT64_MAX;
    wake(all, next);
}

/* Under the lock: wait until somebody wakes this rank. */
static void rest(struct thread_team *all, struct thread_rank *me, bool asleep, int64_t deadline)
{
    me->deadline = deadline;
    me->waits = !asleep;
    me->asleep = asleep;
    if (--all->busy == 0)
        jump(all);
    while (me->waits || me->asleep)
        pthread_cond_wait(&me->wake, &all->lock);
}

/* The fault of this send, if it is the one.  0: send. */
static int injected(struct thread_rank *me)
{
    struct thread_team *all = me->all;

    if (me->max_delay_us)
        usleep((useconds_t)(next_random(&me->seed) % (uint64_t)me->max_delay_us));
    if (me->sends++ < me->at || me->fault == RANK_WELL)
        return 0;
    if (me->fault == RANK_DIES) {
        me->dead = true;
        return (fail)(DREP_ERR_STOPPED, "dead");
    }
    if (me->sends != me->at + 1)
        return 0;
    if (me->fault == RANK_STOPS) {
        pthread_mutex_lock(&all->lock);
        rest(all, me, true, now_ns() + all->timeout * 2);
        pthread_mutex_unlock(&all->lock);
        return 0;
    }
    return me->fault == NO_MEMORY ? fail_nomem() : (fail)(DREP_ERR_IO, "send failed");
}

static int send_letter(void *ctx, int to, struct drep_message *m)
{
    struct thread_rank *me = ctx;
    struct thread_team *all = me->all;
    struct thread_rank *other = &all->rank[to];
    struct thread_letter *letter;
    int err = injected(me);

    if (err || !(letter = malloc(sizeof *letter))) {
        mem_free(m);
        return err ? err : fail_nomem();
    }
    me->bytes += (int64_t)m->size;
    *letter = (struct thread_letter){.m = m};
    pthread_mutex_lock(&all->lock);
    *other->tail = letter;
    other->tail = &letter->next;
    if (other->waits)
        wake(all, other);
    pthread_mutex_unlock(&all->lock);
    return 0;
}

static int recv_letter(void *ctx, struct drep_message **m, int64_t deadline)
{
    struct thread_rank *me = ctx;
    struct thread_team *all = me->all;
    struct thread_letter *letter;
    bool deadlock;

    if (me->dead)
        return (fail)(DREP_ERR_STOPPED, "dead");
    pthread_mutex_lock(&all->lock);
    if (!me->head)
        rest(all, me, false, deadline);
    if ((letter = me->head) != NULL && (me->head = letter->next) == NULL)
        me->tail = &me->head;
    deadlock = all->deadlock;
    pthread_mutex_unlock(&all->lock);
    if (!letter)
        return deadlock ? (fail)(DREP_ERR_FAILED, "deadlock") : DREP_ERR_TIMEOUT;
    *m = letter->m;
    free(letter);
    return 0;
}

drep_transport thread_transport(const struct thread_team *all, int rank)
{
    return DREP_TRANSPORT(.rank = rank, .ranks = all->size, .timeout_ns = all->timeout,
                          .send = send_letter, .receive = recv_letter);
}

void thread_team_init(struct thread_team *all, int size, int64_t timeout)
{
    int r;

    *all = (struct thread_team){.size = size, .timeout = timeout};
    pthread_mutex_init(&all->lock, NULL);
    all->rank = calloc((size_t)size, sizeof *all->rank);
    if (!all->rank)
        abort();
    for (r = 0; r < size; r++) {
        all->rank[r].all = all;
        all->rank[r].number = r;
        all->rank[r].seed = (uint64_t)r;
        all->rank[r].tail = &all->rank[r].head;
        pthread_cond_init(&all->rank[r].wake, NULL);
    }
}

static void *run(void *arg)
{
    struct start *s = arg;
    struct team t;
    drep_transport transport = thread_transport(s->all, s->rank);

    team_init(&t, &transport, &s->all->rank[s->rank]);
    s->body(&t, s->ctx);
    team_release(&t);
    pthread_mutex_lock(&s->all->lock);
    if (--s->all->busy == 0)
        jump(s->all);
    pthread_mutex_unlock(&s->all->lock);
    return NULL;
}

void thread_team_run(struct thread_team *all, thread_body *body, void *ctx)
{
    pthread_t *thread = calloc((size_t)all->size, sizeof *thread);
    struct start *start = calloc((size_t)all->size, sizeof *start);
    int r;

    if (!thread || !start)
        abort();
    all->busy = all->size;
    for (r = 0; r < all->size; r++) {
        start[r] = (struct start){all, r, body, ctx};
        if (pthread_create(&thread[r], NULL, run, &start[r]))
            abort();
    }
    for (r = 0; r < all->size; r++)
        pthread_join(thread[r], NULL);
    free(start);
    free(thread);
}

void thread_team_release(struct thread_team *all)
{
    struct thread_letter *letter, *next;
    int r;

    for (r = 0; r < all->size; r++) {
        for (letter = all->rank[r].head; letter; letter = next) {
            next = letter->next;
            mem_free(letter->m);
            free(letter);
        }
        pthread_cond_destroy(&all->rank[r].wake);
    }
    pthread_mutex_destroy(&all->lock);
    free(all->rank);
    *all = (struct thread_team){0};
}
