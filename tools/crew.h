/* crew.h - the same work on many pieces, on all processors, what came of it in order.
 *
 * Few pieces are under way at a time, each in a slot of its own: what a piece needs is kept
 * in the slot and used again, so memory does not grow with the number of pieces. */
#ifndef TOOLS_CREW_H
#define TOOLS_CREW_H

#define CREW_SLOTS 36

struct crew {
    int n; /* pieces, from 0 on */
    /* Several at a time, on any thread; each slot by one of them. */
    void (*make)(void *ctx, int piece, int slot);
    /* One at a time, in the order of pieces, each after it was made, on any thread.  Anything
     * but 0 is the end: no other piece is taken. */
    int (*take)(void *ctx, int piece, int slot);
    void *ctx;
};

/* Makes and takes all pieces, and returns when that is done: 0, or what take gave last.
 * Where no thread can be had the caller does all of it. */
int crew_run(const struct crew *crew);

#endif
