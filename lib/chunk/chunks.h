/* chunks.h - the chunks of one dataset, as this room sees them.
 *
 * A dataset's payload is a grid of chunks.  Each is found by its coordinates; those of a contiguous
 * dataset are slabs, numbered from 0 (rank 1).  A chunk is filtered (it went through the dataset's
 * filters, and is stored and decoded as a whole) or plain.  A payload is a fixed part, which may be
 * followed by a heap for elements of variable length. */
/* SPDX-License-Identifier: MIT */
#ifndef CHUNK_CHUNKS_H
#define CHUNK_CHUNKS_H

#include "base/buf.h"
#include "space/store.h"

#include <stdatomic.h>

struct lent_records;

/* How a filtered chunk is encoded; rows of one record agree in it. */
struct coding {
    uint32_t skipped; /* filters that were not applied */
    uint8_t flags;    /* FMT_CHUNK_UNDECODED or 0 */
};
static inline struct coding coding_of(const struct chunk_rec *rec)
{
    return (struct coding){rec->skipped, rec->kept & FMT_CHUNK_UNDECODED};
}
static inline bool coding_same(struct coding a, struct coding b)
{
    return a.skipped == b.skipped && a.flags == b.flags;
}

struct chunks {
    struct store *st;
    uint64_t object;
    int rank;         /* of the grid: contiguous 1, chunked the dataset's */
    uint64_t payload; /* bytes of the fixed part of a full chunk */
    uint64_t reserve; /* contiguous: bytes of the whole dataset, to reserve one run */
    uint64_t cell;    /* bytes of the pieces in which plain chunks are cached: whole elements, whole
                         4 KiB blocks, at most 64; 0: they are not cached */
    int wrap;         /* number of last coordinates that carry into the one before (run_order.h) */
    uint64_t grid[FMT_RANK_MAX]; /* chunks along each of these; the others have no bound here */
    int fits;                    /* all of it fits into the cache */
    int grows;                   /* plain: what is appended stands behind the last chunk's end */
    bool appended;               /* by the write under way: more is to come behind it */
    int slabs;                   /* contiguous: no chunk can be filtered */
    int variable;                /* payload may be followed by a heap */
    bool external;               /* unfiltered chunks may be in other files */
    struct lent_records *lent;   /* records of another store (chunk/lent.h), or NULL */
    atomic_uint singles;         /* KiB that readers of single elements with heaps have saved */
    int nfilters;
    struct filter_rec filter[FMT_FILTERS_MAX];
    const char *name; /* for messages; borrowed */
    /* Check a whole payload from the file against its type; may be NULL. */
    int (*check)(const struct chunks *cs, const uint64_t *coord, const struct buf *payload);
};

/* True if chunks are decoded as a whole, through the cache. */
static inline bool chunks_whole(const struct chunks *cs)
{
    return cs->nfilters || cs->variable || cs->external;
}

/* The last coordinate: chunks of one row of the grid differ in it alone. */
static inline uint64_t chunk_last(int rank, const uint64_t *coord)
{
    return rank ? coord[rank - 1] : 0;
}
/* True if two chunks are in one row of the grid. */
static inline bool chunk_same_row(int rank, const uint64_t *a, const uint64_t *b)
{
    return rank < 2 || memcmp(a, b, (size_t)(rank - 1) * sizeof(*a)) == 0;
}

#endif
