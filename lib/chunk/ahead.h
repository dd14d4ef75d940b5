/* ahead.h - the chunks of one transfer, fetched together where a round trip to the file is dear.
 *
 * One vector brings the leaves that name the chunks, another one their bytes and the blocks of
 * checksums that plain chunks need.  All of it is advice (space/fetch.h): nothing here fails. */
/* SPDX-License-Identifier: MIT */
#ifndef CHUNK_AHEAD_H
#define CHUNK_AHEAD_H

#include "chunk/chunks.h"

struct fetching;

/* Give chunk number i of those that will be read, in the order of the grid, and the bytes
 * [*low, *high) of its payload that are wanted if it is plain; *high 0: nothing is. */
typedef void chunk_want_fn(void *ctx, size_t i, uint64_t *coord, uint64_t *low, uint64_t *high);

#define AHEAD_CHUNKS ((size_t)1024) /* that are looked at together */

/* Plan to fetch what is stored of the first chunks (space/fetch.h).  Gives how many of n it looked
 * at; the caller reads those and goes on with the next ones. */
size_t chunks_ahead(struct chunks *cs, size_t n, chunk_want_fn *want, void *ctx,
                    struct fetching *out);

/* Reads `n` chunks that were fetched, the first of them number `first`. */
typedef int chunk_batch_fn(void *ctx, int64_t first, int64_t n);

/* Fetch chunks number 0 to n - 1 and read them by `read`, while those that follow are under way:
 * want() gets its ctx and numbers from 0, too. */
int chunks_stream(struct chunks *cs, int64_t n, chunk_want_fn *want, chunk_batch_fn *read,
                  void *ctx);

#endif
