/* pool.h - the worker pool.
 *
 * One pool a process, made at first use, of as many threads as asked for at most.
 * pool_run() runs fn(ctx, 0) .. fn(ctx, n-1), in any order, the caller's thread
 * taking part; it returns when all have ended.  The result is the error of the
 * lowest index that failed, its message moved to the caller; after a failure
 * indices not yet begun are skipped.  Calls from inside a worker run serially. */
#ifndef BASE_POOL_H
#define BASE_POOL_H

#include <stdint.h>

typedef int pool_fn(void *ctx, int64_t i);

int pool_cpus(void); /* processors this process may use */
int pool_run(int threads, int64_t n, pool_fn *fn, void *ctx);

#endif
