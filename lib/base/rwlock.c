/* rwlock.c - a lock for many readers or one writer that starves neither.
 *
 * Readers that meet no writer only count themselves in the state.  Everyone else yields for a
 * while and then sleeps, and the lock is handed over rather than left to whoever wakes first: the
 * writer that leaves counts the waiting readers in before it wakes them, and names the next writer.
 * Each sleeps under a mutex and a condition of its own: threads that were woken need time to run,
 * and nobody is to wait for them but who must (a shared condition makes a second broadcast wait for
 * the first). */
/* SPDX-License-Identifier: MIT */
#include "base/rwlock.h"

#include "base/clock.h"
#include "base/error.h"

#include <sched.h>
#include <stddef.h>

#define ACTIVE 1u /* a writer is alone */
#define BARRED 2u /* a writer waits for the readers inside to leave: new ones queue */
#define READER 4u /* each reader inside adds this */

/* How long a thread that has to wait yields before it sleeps, in nanoseconds.  The wait is mostly a
 * matter of microseconds, and often the other thread only lacks a processor.  A thread that sleeps
 * is woken into a queue behind threads that use up whole time slices: with four readers on two
 * processors a commit took ten times longer.  The limit is a time, because where processors are
 * scarce one yield lasts milliseconds, and a thread that yields has no place in the queue. */
#define PATIENCE 100000

static void waiter_init(struct rw_waiter *w)
{
    pthread_mutex_init(&w->lock, NULL);
    pthread_cond_init(&w->changed, NULL);
    w->go = false;
    w->link = NULL;
}

/* Behind those that wait already. */
static void waiter_queue(struct rw_waiter **at, struct rw_waiter *w)
{
    while (*at)
        at = &(*at)->link;
    *at = w;
}

static void waiter_sleep(struct rw_waiter *w)
{
    pthread_mutex_lock(&w->lock);
    while (!w->go)
        pthread_cond_wait(&w->changed, &w->lock);
    pthread_mutex_unlock(&w->lock);
    pthread_cond_destroy(&w->changed);
    pthread_mutex_destroy(&w->lock);
}

/* It may be gone when this returns. */
static void waiter_wake(struct rw_waiter *w)
{
    pthread_mutex_lock(&w->lock);
    w->go = true;
    pthread_cond_signal(&w->changed);
    pthread_mutex_unlock(&w->lock);
}

/* ---- what this thread holds ---- */

static _Thread_local struct rw_holds held;

void rw_holds_get(struct rw_holds *out)
{
    out->n = held.n;
    out->more = held.more;
    out->nwalks = held.nwalks;
    for (int i = 0; i < held.n; i++)
        out->at[i] = held.at[i];
    for (int i = 0; i < held.nwalks && i < RW_HOLDS; i++)
        out->walk[i] = held.walk[i];
}

void rw_holds_set(const struct rw_holds *holds)
{
    held.n = holds ? holds->n : 0;
    held.more = holds ? holds->more : 0;
    held.nwalks = holds ? holds->nwalks : 0;
    for (int i = 0; i < held.n; i++)
        held.at[i] = holds->at[i];
    for (int i = 0; i < held.nwalks && i < RW_HOLDS; i++)
        held.walk[i] = holds->walk[i];
}

static _Thread_local bool no_reads;

bool rwlock_no_reads(bool on)
{
    bool before = no_reads;

    no_reads = on;
    return before;
}

static struct rw_hold *hold_of(const struct rwlock *l)
{
    for (int i = 0; i < held.n; i++)
        if (held.at[i].lock == l)
            return &held.at[i];
    return NULL;
}

static void hold_add(struct rwlock *l, struct rw_hold *h, bool write)
{
    if (!h && held.n < RW_HOLDS) {
        h = &held.at[held.n++];
        *h = (struct rw_hold){l, 0, false};
    }
    if (!h)
        held.more += !write;
    else if (write)
        h->write = true;
    else
        h->reads++;
}

static void hold_end(struct rw_hold *h)
{
    if (h->reads == 0 && !h->write)
        *h = held.at[--held.n];
}

void rwlock_walk(struct rwlock *l)
{
    if (held.nwalks < RW_HOLDS)
        held.walk[held.nwalks] = l;
    held.nwalks++;
}

/* The walk that began last. */
void rwlock_walk_done(void)
{
    held.nwalks--;
}

bool rwlock_mine(const struct rwlock *l, bool walks)
{
    for (int i = 0; walks && i < held.nwalks && i < RW_HOLDS; i++)
        if (held.walk[i] == l)
            return true;
    return hold_of(l) != NULL;
}

/* Locks beyond RW_HOLDS are not listed, so a full list says nothing. */
bool rwlock_writes(const struct rwlock *l)
{
    const struct rw_hold *h = hold_of(l);

    return h ? h->write : held.n == RW_HOLDS;
}

/* ---- life ---- */

void rwlock_init(struct rwlock *l)
{
    atomic_init(&l->state, 0);
    pthread_mutex_init(&l->entry_lock, NULL);
    l->readers = NULL;
    l->waiting = 0;
    pthread_mutex_init(&l->turn_lock, NULL);
    pthread_cond_init(&l->drained, NULL);
    l->taken = false;
    l->writers = NULL;
}

void rwlock_release(struct rwlock *l)
{
    pthread_cond_destroy(&l->drained);
    pthread_mutex_destroy(&l->turn_lock);
    pthread_mutex_destroy(&l->entry_lock);
}

enum rw_use rwlock_renew(struct rwlock *l)
{
    unsigned s = atomic_load(&l->state);
    bool taken = l->taken;

    rwlock_init(l);
    if (s & ACTIVE || (taken && !(s & BARRED)))
        return RW_WRITTEN;
    return s != 0 || taken ? RW_READ : RW_IDLE;
}

/* ---- readers ---- */

/* True: counted among the readers, because none of these flags is set. */
static bool enter(struct rwlock *l, unsigned flags)
{
    unsigned s = atomic_load_explicit(&l->state, memory_order_relaxed);

    while (!(s & flags))
        if (atomic_compare_exchange_weak_explicit(&l->state, &s, s + READER, memory_order_acquire,
                                                  memory_order_relaxed))
            return true;
    return false;
}

static void wait_entry(struct rwlock *l, unsigned flags)
{
    struct rw_waiter me;

    for (int64_t end = now_ns() + PATIENCE; now_ns() < end;) {
        sched_yield();
        if (enter(l, flags))
            return;
    }
    pthread_mutex_lock(&l->entry_lock);
    if (enter(l, flags)) {
        pthread_mutex_unlock(&l->entry_lock);
        return;
    }
    waiter_init(&me);
    waiter_queue(&l->readers, &me);
    l->waiting++;
    pthread_mutex_unlock(&l->entry_lock);
    waiter_sleep(&me);
}

int rwlock_read(struct rwlock *l)
{
    unsigned flags = held.n > 0 ? ACTIVE : ACTIVE | BARRED;
    struct rw_hold *h = hold_of(l);

    if (h && (h->write || no_reads))
        return fail(DREP_ERR_ARG, "called inside a call that %s the same file",
                    h->write ? "writes" : "reads");
    if (!enter(l, flags))
        wait_entry(l, flags);
    hold_add(l, h, false);
    return 0;
}

void rwlock_read_done(struct rwlock *l)
{
    struct rw_hold *h = hold_of(l);
    unsigned s;

    if (h && h->reads > 0) {
        h->reads--;
        hold_end(h);
    } else if (held.more > 0) {
        held.more--;
    } else {
        return;
    }
    s = atomic_fetch_sub_explicit(&l->state, READER, memory_order_release) - READER;
    if (s == BARRED) {
        pthread_mutex_lock(&l->turn_lock);
        pthread_cond_signal(&l->drained);
        pthread_mutex_unlock(&l->turn_lock);
    }
}

/* ---- writers; those that name no lock are called under turn_lock ---- */

static void wait_turn(struct rwlock *l)
{
    struct rw_waiter me;

    if (!l->taken) {
        l->taken = true;
        return;
    }
    waiter_init(&me);
    waiter_queue(&l->writers, &me);
    pthread_mutex_unlock(&l->turn_lock);
    waiter_sleep(&me);
    pthread_mutex_lock(&l->turn_lock);
}

/* True: no reader was inside, and the writer is alone. */
static bool drained(struct rwlock *l)
{
    unsigned s = atomic_load_explicit(&l->state, memory_order_relaxed);

    while (s < READER)
        if (atomic_compare_exchange_weak_explicit(&l->state, &s, ACTIVE, memory_order_acquire,
                                                  memory_order_relaxed))
            return true;
    return false;
}

/* Wait until no reader is inside.  The caller has the turn and does not hold turn_lock.  Mostly
 * nobody is, and a look at the clock would take longer than all the rest. */
static void wait_alone(struct rwlock *l)
{
    if (drained(l))
        return;
    atomic_fetch_or_explicit(&l->state, BARRED, memory_order_relaxed);
    for (int64_t end = now_ns() + PATIENCE; now_ns() < end;) {
        if (drained(l))
            return;
        sched_yield();
    }
    pthread_mutex_lock(&l->turn_lock);
    while (!drained(l))
        pthread_cond_wait(&l->drained, &l->turn_lock);
    pthread_mutex_unlock(&l->turn_lock);
}

/* Ends being alone: those who waited are inside, with `mine` readers more. */
static void let_in(struct rwlock *l, unsigned mine, unsigned flags)
{
    struct rw_waiter *w, *next;

    pthread_mutex_lock(&l->entry_lock);
    w = l->readers;
    atomic_store_explicit(&l->state, (l->waiting + mine) * READER | flags, memory_order_release);
    l->readers = NULL;
    l->waiting = 0;
    pthread_mutex_unlock(&l->entry_lock);
    for (; w; w = next) {
        next = w->link;
        waiter_wake(w);
    }
}

/* And gives the turn to the writer that has waited longest. */
static void leave(struct rwlock *l, unsigned mine)
{
    struct rw_waiter *next = l->writers;

    let_in(l, mine, next ? BARRED : 0);
    if (!next) {
        l->taken = false;
        return;
    }
    l->writers = next->link;
    waiter_wake(next);
}

int rwlock_write(struct rwlock *l)
{
    struct rw_hold *h = hold_of(l);

    if (h)
        return fail(DREP_ERR_ARG, "called inside a call that %s the same file",
                    h->write ? "writes" : "reads");
    pthread_mutex_lock(&l->turn_lock);
    wait_turn(l);
    pthread_mutex_unlock(&l->turn_lock);
    wait_alone(l);
    hold_add(l, NULL, true);
    return 0;
}

/* The thread holds the lock to write no more; false: it never did. */
static void write_hold_end(struct rwlock *l)
{
    struct rw_hold *h = hold_of(l);

    if (h) {
        h->write = false;
        hold_end(h);
    }
}

void rwlock_write_done(struct rwlock *l)
{
    write_hold_end(l);
    pthread_mutex_lock(&l->turn_lock);
    leave(l, 0);
    pthread_mutex_unlock(&l->turn_lock);
}

void rwlock_write_to_read(struct rwlock *l)
{
    write_hold_end(l);
    pthread_mutex_lock(&l->turn_lock);
    leave(l, 1);
    pthread_mutex_unlock(&l->turn_lock);
    hold_add(l, NULL, false);
}

void rwlock_share(struct rwlock *l)
{
    pthread_mutex_lock(&l->turn_lock);
    let_in(l, 0, 0);
    pthread_mutex_unlock(&l->turn_lock);
}

void rwlock_unshare(struct rwlock *l)
{
    wait_alone(l);
}
