/* ahead.h - the chunks of one transfer, fetched together where a round trip to the file is dear.
 *
 * One vector brings the leaves that name the chunks, another one their bytes and the blocks of
 * checksums that plain chunks need.  All of it is advice (space/fetch.h): nothing here fails. */
/* SPDX-License-Identifier: MIT */
#ifndef CHUNK_AHEAD_H
#define CHUNK_AHEAD_H

#include "chunk/chunks.h"

/* The part of a chunk that is to be read. */
struct chunk_want {
    uint64_t coord[FMT_RANK_MAX];
    uint64_t low, high; /* bytes of its payload, if it is plain; high 0: nothing */
    uint8_t *to;        /* where they end up unchanged and may be put at once, or NULL */
};
/* Give what is wanted of chunk number i of those that will be read, in the order of the grid. */
typedef void chunk_want_fn(void *ctx, size_t i, struct chunk_want *out);

/* Reads `n` chunks that were fetched, the first of them number `first`. */
typedef int chunk_batch_fn(void *ctx, int64_t first, int64_t n);

/* Fetch chunks number 0 to n - 1 and read them by `read`, while those that follow are under way:
 * want() gets its ctx and numbers from 0, too. */
int chunks_stream(struct chunks *cs, int64_t n, chunk_want_fn *want, chunk_batch_fn *read,
                  void *ctx);

#endif
