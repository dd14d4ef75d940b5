/* workers.h - pieces of work on all processors, what came of them in order.
 *
 * Few pieces are under way at a time, each in a slot of its own: what a piece needs is kept
 * with the slot and used again, so memory does not grow with the number of pieces.
 *
 *     while (there is more && (slot = crew_slot(crew)) >= 0) {
 *         ... what to make, into the caller's things of that slot ...
 *         crew_push(crew);
 *     }
 *     err = crew_finish(crew); */
#ifndef TOOLS_HOST_WORKERS_H
#define TOOLS_HOST_WORKERS_H

#define CREW_SLOTS 64

struct crew;
/* Several at a time, on any thread; each slot by one of them. */
typedef void crew_make_fn(void *ctx, int slot);
/* One at a time, in the order of pieces, each after it was made, on any thread.  Anything
 * but 0 is the end: no other piece is taken. */
typedef int crew_take_fn(void *ctx, int slot);

/* NULL: no memory.  each: slots for each thread, at least 2; the more there are, the longer the
 * caller goes on before it works too.  Threads start with the second piece that waits; where
 * none can be had the caller does all of it. */
struct crew *crew_new(int each, crew_make_fn *make, crew_take_fn *take, void *ctx);
/* The slot of the next piece, once it is free; meanwhile the caller works too.  -1: it is the
 * end, and crew_finish() says why. */
int crew_slot(struct crew *crew);
/* The piece in the slot that crew_slot() gave. */
void crew_push(struct crew *crew);
/* Returns when all pieces are taken, or it is the end and no thread is at any: 0, or what
 * take gave.  After 0 more may follow. */
int crew_finish(struct crew *crew);
/* Pieces that nobody waited for may be left out. */
void crew_free(struct crew *crew);

#endif
