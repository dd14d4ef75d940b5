/* rwlock.h - a lock for many readers or one writer that starves neither.
 *
 * A waiting writer stops new readers; when it is done, all readers that waited meanwhile go
 * before the next writer; writers go in the order in which they came.  POSIX leaves the order
 * open, and most systems let readers pass waiting writers for ever.
 *
 * Nested use is decided here, by a list of the locks that each thread holds:
 *   - A thread that holds any of these locks and reads (again the same, or another) does not
 *     queue behind waiting writers: they may be waiting for that very thread.
 *   - A thread that reads or writes and asks for the same lock to write, or writes and asks for
 *     it to read, would wait for itself: DREP_ERR_ARG.
 * The functions of a pool_run() count as part of the call that started it. */
/* SPDX-License-Identifier: MIT */
#ifndef BASE_RWLOCK_H
#define BASE_RWLOCK_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>

struct rw_waiter {
    pthread_mutex_t lock;
    pthread_cond_t changed;
    bool go;
    struct rw_waiter *link;
};

struct rwlock {
    atomic_uint state; /* readers inside, and two flags: rwlock.c */
    pthread_mutex_t entry_lock;
    struct rw_waiter *readers; /* that wait for the writer to leave */
    unsigned waiting;          /* how many */
    pthread_mutex_t turn_lock;
    pthread_cond_t drained;    /* the last reader left */
    bool taken;                /* some writer is inside, or next */
    struct rw_waiter *writers; /* behind it, the longest first */
};

void rwlock_init(struct rwlock *l);
void rwlock_release(struct rwlock *l);
/* In a child process: makes the lock anew, and says what it was when the process was forked. */
enum rw_use { RW_IDLE, RW_READ, RW_WRITTEN };
enum rw_use rwlock_renew(struct rwlock *l);
/* DREP_ERR_ARG as above; read_done without a read, as after a fork inside one, does nothing. */
int rwlock_read(struct rwlock *l);
void rwlock_read_done(struct rwlock *l);
int rwlock_write(struct rwlock *l);
void rwlock_write_done(struct rwlock *l);
/* The writer lets readers in but keeps other writers out, and is alone again. */
void rwlock_share(struct rwlock *l);
void rwlock_unshare(struct rwlock *l);
/* The writer becomes a reader, with no other writer in between. */
void rwlock_write_to_read(struct rwlock *l);

/* Around functions of the user's that run without the lock, in the middle of a call that goes on
 * with it.  Does nothing but make rwlock_mine() true. */
void rwlock_walk(struct rwlock *l);
void rwlock_walk_done(void);
/* Is this thread, or the one that it works for, inside a call that holds the lock; or (walks
 * too) that will take it again? */
bool rwlock_mine(const struct rwlock *l, bool walks);

/* True if this thread, or the one that it works for, holds the lock to write. */
bool rwlock_writes(const struct rwlock *l);

/* Around functions of the user's in the middle of work that a read may wait for: inside them a
 * lock that the thread holds cannot be read again.  Gives what was in force before. */
bool rwlock_no_reads(bool on);

/* The locks that a thread holds: what pool_run() hands to its workers. */
enum { RW_HOLDS = 16 };
struct rw_holds {
    int n;
    int more; /* reads beyond those listed */
    int nwalks;
    const struct rwlock *walk[RW_HOLDS]; /* further ones are not listed */
    struct rw_hold {
        struct rwlock *lock;
        unsigned reads;
        bool write;
    } at[RW_HOLDS];
};
void rw_holds_get(struct rw_holds *out);
void rw_holds_set(const struct rw_holds *holds); /* NULL: none */

#endif
