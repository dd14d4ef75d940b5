/* pool.h - the worker pool.
 *
 * One pool a process, made at first use, of as many threads as asked for at most.
 * pool_run() runs fn(ctx, 0) .. fn(ctx, n-1), in any order, the caller's thread
 * taking part; it returns when all have ended.  The result is the error of the
 * lowest index that failed, its message moved to the caller; after a failure
 * indices not yet begun are skipped.  Calls from inside a worker run serially. */
#ifndef BASE_POOL_H
#define BASE_POOL_H

#include <pthread.h>
#include <stdint.h>

typedef int pool_fn(void *ctx, int64_t i);

/* A lock that is only ever held for moments: who finds it taken looks again a few times
 * before he sleeps.  0, or an errno. */
int lock_init(pthread_mutex_t *lock);

int pool_cpus(void); /* processors this process may use */
int pool_run(int threads, int64_t n, pool_fn *fn, void *ctx);
/* Does a thread watch for a job just now, so that one of a few microseconds pays? */
int pool_awake(void);

/* Lets the functions of one pool_run() do a part of their work in the order of their
 * indices.  Each index calls pool_turn_wait(), works, and calls pool_turn_end(); one that
 * fails before it has waited calls pool_turn_end() alone.  Wait gives non-zero when an index
 * before failed: then there will be no turn, and its result does not matter. */
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
