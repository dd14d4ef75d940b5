/* record.h - runs: consecutive chunks that one record of the tree describes.
 *
 * The chunks of a plain run follow each other in a row of the grid, have one stored size, and stand
 * back to back in the file.  The record holds their place and the checksums of their 4 KiB blocks,
 * or references to blocks of checksums.  A run of filtered chunks has a row for each of them
 * (chunk/packed.h); where one of these is read, it is a run of its own with one checksum. */
/* SPDX-License-Identifier: MIT */
#ifndef CHUNK_RECORD_H
#define CHUNK_RECORD_H

#include "chunk/chunks.h"
#include "space/space.h"

#define ALIGNED_FROM (64 * FMT_SUM_BLOCK) /* bytes that are aligned unasked */

struct chunk_run {
    atomic_int uses;
    uint64_t object;
    int rank;
    uint64_t coord[FMT_RANK_MAX]; /* of the first chunk */
    struct chunk_rec rec;
    uint64_t *sum;   /* chunk after chunk; 0: absent */
    uint64_t *heap;  /* the memory they are in, NULL: they are in rec */
    size_t room;     /* checksums that fit there */
    uint64_t change; /* of the tree when it was read */
    struct buf refs; /* to the blocks of checksums that the tree has */
    struct buf tail;
    /* The rest is for open runs (chunk/run.h). */
    uint64_t space; /* bytes from rec.offset on that belong to the run */
    uint64_t used;  /* when, to choose the run to close */
    bool grows;     /* commits came between appends to its only chunk (chunk/room.h) */
    bool keeps;     /* its only chunk keeps the room behind it: it was appended to */
    bool in_tree;   /* the tree has a record for this key, maybe out of date */
    bool dirty;     /* it is out of date */
    bool opened;    /* by the operation, from the tree */
    bool captured;  /* changed by the operation; before that it was: */
    bool base_dirty;
    uint32_t base_run; /* 0: the run did not exist */
    uint64_t base_size, base_space;
    uint64_t *base_sum; /* NULL: the first ones of sum */
};

/* Bytes of all chunks of the run. */
static inline uint64_t run_bytes(const struct chunk_run *r)
{
    return r->rec.size * r->rec.run;
}
/* Number of blocks, and so of checksums, of `size` bytes. */
static inline uint64_t sums_of(uint64_t size)
{
    return size / FMT_SUM_BLOCK + (size % FMT_SUM_BLOCK != 0);
}
/* Alignment of so many bytes of payload.  A unit that was asked for (hint striping_unit) aligns all
 * that are not short, the default one only those beside which the gap before them is small. */
static inline uint64_t chunk_align(const struct store *st, uint64_t bytes)
{
    uint64_t unit = st->opts.unit;

    return bytes >= (unit > FMT_SUM_BLOCK ? FMT_SUM_BLOCK : ALIGNED_FROM) ? unit : FMT_ALIGN;
}
/* True if a chunk is in the run; *index: its number there. */
static inline bool run_covers(const struct chunk_run *r, uint64_t object, int rank,
                              const uint64_t *coord, uint32_t *index)
{
    uint64_t at;

    if (r->object != object || r->rank != rank)
        return false;
    if (rank > 1 && memcmp(r->coord, coord, (size_t)(rank - 1) * sizeof(*coord)) != 0)
        return false;
    at = chunk_last(rank, coord) - chunk_last(rank, r->coord); /* huge when before it */
    if (chunk_last(rank, coord) < chunk_last(rank, r->coord) || at >= r->rec.run)
        return false;
    *index = (uint32_t)at;
    return true;
}

/* Name a chunk by its grid coordinates in an error: `chunk (3,0): ...`. */
int fail_chunk(int err, int rank, const uint64_t *coord);

/* Bytes that the keys of all records of a dataset share. */
#define RECORDS_PREFIX ((size_t)FMT_KEY_HEAD)
void chunk_key(const struct chunks *cs, const uint64_t *coord, struct key *key);
void run_key(const struct chunk_run *r, struct key *key);
/* The inverse of chunk_key(), with the record that the entry holds. */
int chunk_entry(const struct chunks *cs, const struct key *key, const struct buf *value,
                uint64_t *coord, struct chunk_rec *rec);

/* Make a run of a record, with its checksums loaded; run_unload() releases it. */
int run_load(struct store *st, const struct chunk_rec *rec, struct chunk_run *r);
void run_unload(struct chunk_run *r);
/* Give up one reference to a run that was allocated. */
void run_unref(struct chunk_run *r);
/* Make room for so many checksums. */
int run_reserve(struct chunk_run *r, uint64_t sums);

/* Put a record into the tree, as part of the operation. */
int record_put(const struct chunks *cs, const uint64_t *coord, const struct chunk_rec *rec);
/* Put the record of a plain run into the tree, in place of any record with this key; r->refs are
 * those of its new blocks of checksums then. */
int run_store(struct store *st, struct chunk_run *r, enum keep keep);
/* Like run_store() for `n` chunks of `size` bytes with these checksums. */
int run_store_as(struct store *st, struct chunk_run *r, uint32_t n, uint64_t size,
                 const uint64_t *sums, enum keep keep);
/* Free blocks of checksums. */
void sums_free(struct store *st, const struct span *refs, enum keep keep);
/* Bytes of the blocks of checksums that a record names. */
uint64_t sums_bytes(const struct chunk_rec *rec);
/* Call fn for each chunk of a run of filtered ones, or once for a plain run. */
typedef int rows_fn(const uint64_t *coord, const struct chunk_rec *rec, void *ctx);
int rows_each(const struct chunks *cs, const uint64_t *coord, const struct chunk_rec *rec,
              rows_fn *fn, void *ctx);

/* Free all chunks of a removed dataset.  Open runs are closed, and the cache has forgotten them. */
int records_remove_all(struct chunks *cs);

#endif
