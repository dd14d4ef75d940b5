/* places.h - writing whole plain chunks in three steps: plan, put, record.
 *
 *     int err = places_begin(&p, ...);
 *
 *     while (!(err = places_next(&p, err)) && p.batch > 0)    records a batch, plans the next one
 *         err = pool_run(threads, places_shares(&p), ...);    calls places_put() for its pieces
 *     return places_end(&p, err);
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
    uint64_t each;         /* chunks that a thread takes at a time: 1, or places_share() */
    uint64_t piece;        /* bytes that are put at once: all that stand together, or fewer; */
    uint64_t unit;         /* pieces may be shorter, by whole units of so many bytes; 0: not */
    /* Private. */
    uint64_t most; /* chunks of a batch */
    struct step *step;
    uint64_t *sums; /* of the batch, chunk after chunk */
};

/* The caller has forgotten what the cache has of the chunks (chunks_forget()), unless that is where
 * they come from.  room, at, given, each, piece, unit are set after this, before the first
 * places_next().  places_end() also after an error. */
int places_begin(struct places *p, struct chunks *cs, const uint64_t *coords, uint64_t n,
                 uint64_t size);
/* Record the batch whose bytes are in the file, in grid order so that neighbours join one run; then
 * plan the next one.  p->batch is 0 after the last.  Bytes that are about to be overwritten,
 * and that an earlier operation of the transaction wrote, are noted for undo.  err: why the batch
 * could not be put; nothing is done then, and it is given back. */
int places_next(struct places *p, int err);
/* The coordinates of number i of the batch. */
static inline const uint64_t *places_coord(const struct places *p, uint64_t i)
{
    return p->coords + (p->first + i) * (uint64_t)p->cs->rank;
}
/* How many chunks that follow each other a thread should take at a time: few enough that all
 * threads have some, but at least a piece, and at most `most` bytes. */
uint64_t places_share(const struct places *p, int threads, uint64_t most);
/* The shares of a batch. */
static inline int64_t places_shares(const struct places *p)
{
    return (int64_t)((p->batch - 1) / p->each + 1);
}

/* Bytes [from, from + size) of n chunks that stand back to back from number i of the batch on. */
struct places_piece {
    uint64_t i, n, from, size;
};
/* Step to the next piece of a share; the first if *at is zeros.  False after the last. */
bool places_piece(const struct places *p, int64_t share, struct places_piece *at);
/* Write a piece and compute its checksums.  `from` is a multiple of FMT_SUM_BLOCK, and so is `size`
 * unless the piece ends with its chunk. */
int places_put(const struct places *p, const struct places_piece *at, const void *bytes);
/* Somebody else writes number i to the offset that is returned: its checksums. */
uint64_t places_given(const struct places *p, uint64_t i, const uint64_t *sums);
/* Free what has a place and no record; gives err back. */
int places_end(struct places *p, int err);

/* All three steps for payload in memory, chunk after chunk. */
int places_write(struct places *p, const void *payload);

#endif
