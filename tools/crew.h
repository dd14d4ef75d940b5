/* crew.h - the same work on many pieces, on all processors. */
#ifndef TOOLS_CREW_H
#define TOOLS_CREW_H

typedef void crew_fn(void *ctx, int piece);

/* Calls fn for the pieces 0 to n - 1, each once, several at a time, and returns when all
 * are done.  Where no thread can be had the caller does all of it. */
void crew_run(int n, crew_fn *fn, void *ctx);

#endif
