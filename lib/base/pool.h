/* pool.h - the worker pool.
 *
 * One pool a process, made at first use, of as many threads as asked for at most.
 * pool_run() runs fn(ctx, 0) .. fn(ctx, n-1), in any order, the caller's thread
 * taking part; it returns when all have ended.  The result is the error of the
 * lowest index that failed, its message moved to the caller; after a failure
 * indices not yet begun are skipped.  Calls from inside a worker run serially. */
/* SPDX-License-Identifier: MIT */
#ifndef BASE_POOL_H
#define BASE_POOL_H

#include <pthread.h>
#include <stdint.h>

typedef int pool_fn(void *ctx, int64_t i);

/* Initialise a lock that is held for moments only: waiters spin briefly before they sleep. 0, or
 * an errno. */
int lock_init(pthread_mutex_t *lock);

int pool_cpus(void); /* processors this process may use */
int pool_run(int threads, int64_t n, pool_fn *fn, void *ctx);

/* Orders a part of the work of one pool_run() by index. Each index calls pool_turn_wait(),
 * works, and calls pool_turn_end(); an index that fails before it has waited calls
 * pool_turn_end() alone. Wait returns non-zero when an earlier index failed: then there is no
 * turn, and the result does not matter. */
struct pool_turns {
    pthread_mutex_t lock;
    pthread_cond_t moved;
    int64_t next, failed;
};
void pool_turns_init(struct pool_turns *t);
void pool_turns_release(struct pool_turns *t);
int pool_turn_wait(struct pool_turns *t, int64_t i);
void pool_turn_end(struct pool_turns *t, int64_t i, int err);

#endif
