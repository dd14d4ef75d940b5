/* places.h - writing whole plain chunks in three steps: plan, put, record.
 *
 *     places_begin()
 *     while places_next() finds a batch:    decides where its chunks go
 *         places_put()                      writes and sums their bytes, in any thread
 *         places_record()                   enters them, when all bytes are in the file
 *     places_end()
 *
 * Where a chunk stands depends on the order of these calls and on what one plan holds.  So a caller
 * goes through its chunks in grid order, and before it changes a part of one (chunk_patch(),
 * chunk_edit()) it ends what it has begun.  If anything fails, the operation is taken back as a
 * whole (txn/op.h); no byte that a commit refers to is touched.
 *
 * Only places_put() may run in several threads, of which each writes chunks of its own; all else
 * runs in the one that holds the file alone. */
/* SPDX-License-Identifier: MIT */
#ifndef CHUNK_PLACES_H
#define CHUNK_PLACES_H

#include "chunk/chunks.h"

struct step; /* what is planned for a chunk (plan.h) */

struct places {
    struct chunks *cs;
    const uint64_t *coords; /* of n chunks of `size` bytes each, in grid order: rank numbers each */
    uint64_t n, size;
    uint64_t room;         /* n = 1: bytes that the chunk may grow to, if more than size */
    uint64_t at;           /* n = 1: allocated space where it is written already, or 0 */
    bool given;            /* somebody else writes the payload: places_given() in place of put */
    uint64_t first, batch; /* the chunks that are planned */
    /* Private. */
    uint64_t most; /* chunks of a batch */
    struct step *step;
    uint64_t *sums; /* of the batch, chunk after chunk */
};

/* The caller has forgotten what the cache has of the chunks (chunks_forget()), unless that is where
 * they come from.  room, at, given are set after this, before the
 * first places_next().  places_end() also after an error. */
int places_begin(struct places *p, struct chunks *cs, const uint64_t *coords, uint64_t n,
                 uint64_t size);
/* Plan the next batch; p->batch is 0 when there is none.  Bytes that are about to be overwritten,
 * and that an earlier operation of the transaction wrote, are noted for undo. */
int places_next(struct places *p);
/* The coordinates of number i of the batch. */
static inline const uint64_t *places_coord(const struct places *p, uint64_t i)
{
    return p->coords + (p->first + i) * (uint64_t)p->cs->rank;
}
/* Where it will stand. */
uint64_t places_offset(const struct places *p, uint64_t i);
/* Count the chunks from number i on, before `end`, that stand back to back in the file. */
uint64_t places_joined(const struct places *p, uint64_t i, uint64_t end);
/* How many chunks that follow each other a thread should take at a time: few enough that all
 * threads have some, but at least `least` bytes, and at most `most`. */
uint64_t places_share(const struct places *p, int threads, uint64_t least, uint64_t most);
/* Write bytes [from, from + size) of the chunks that stand back to back from number i on; `from` is
 * a multiple of FMT_SUM_BLOCK, and so is `size` unless the bytes end with their chunk. */
int places_put(const struct places *p, uint64_t i, uint64_t from, const void *bytes, uint64_t size);
/* Somebody else writes number i to the offset that is returned: its checksums. */
uint64_t places_given(const struct places *p, uint64_t i, const uint64_t *sums);
/* Record the batch in grid order, so that neighbours join one run. */
int places_record(struct places *p);
/* Free what has a place and no record; gives err back. */
int places_end(struct places *p, int err);

/* All three steps for payload in memory, chunk after chunk. */
int places_write(struct places *p, const void *payload);

#endif
