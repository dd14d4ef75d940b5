/* workers.h - pieces of work on all processors, what came of them in order.
 *
 * Few pieces are under way at a time, each in a slot of its own: what a piece needs is kept
 * with the slot and used again, so memory does not grow with the number of pieces.
 *
 *     while (there is more && (slot = workers_slot(workers)) >= 0) {
 *         ... what to make, into the caller's things of that slot ...
 *         workers_push(workers);
 *     }
 *     err = workers_finish(workers); */
/* SPDX-License-Identifier: MIT */
#ifndef TOOLS_HOST_WORKERS_H
#define TOOLS_HOST_WORKERS_H

#define WORKERS_SLOTS 64

struct workers;
/* Several at a time, on any thread; each slot by one of them. */
typedef void workers_make_fn(void *ctx, int slot);
/* One at a time, in the order of pieces, each after it was made, on any thread.  Anything
 * but 0 is the end: no other piece is taken. */
typedef int workers_take_fn(void *ctx, int slot);

/* NULL: no memory.  each: slots for each thread, at least 2; the more there are, the longer the
 * caller goes on before it works too.  Threads start with the second piece that waits; where
 * none can be had the caller does all of it. */
struct workers *workers_new(int each, workers_make_fn *make, workers_take_fn *take, void *ctx);
/* The slot of the next piece, once it is free; meanwhile the caller works too.  -1: it is the
 * end, and workers_finish() says why. */
int workers_slot(struct workers *workers);
/* The piece in the slot that workers_slot() gave. */
void workers_push(struct workers *workers);
/* Returns when all pieces are taken, or it is the end and no thread is at any: 0, or what
 * take gave.  After 0 more may follow. */
int workers_finish(struct workers *workers);
/* Pieces that nobody waited for may be left out. */
void workers_free(struct workers *workers);

#endif
