/* parts.h - what of a selection falls into which chunk.
 *
 * A box is cut dimension by dimension.  Points and unions become pieces, which are sorted by chunk;
 * a batch of them at a time, so that memory stays bounded whatever is selected. */
/* SPDX-License-Identifier: MIT */
#ifndef ELEM_PARTS_H
#define ELEM_PARTS_H

#include "elem/mover.h"

#define PARALLEL_MIN ((uint64_t)1 << 20) /* bytes to be moved below which threads do not pay */

/* A piece of a selection that is no box: n neighbours of one chunk. */
struct cut_run {
    int64_t chunk; /* its number in the grid, row-major */
    int64_t at;    /* element in it */
    int64_t n;
    int64_t mem; /* number of the first in the transfer */
};

/* A part: what of the selection falls into one chunk. */
struct chunk_part {
    uint64_t coord[DREP_MAX_RANK];
    int64_t k0[DREP_MAX_RANK], k1[DREP_MAX_RANK];
    int64_t from[DREP_MAX_RANK], len[DREP_MAX_RANK];
    int64_t n;   /* selected elements */
    int64_t all; /* elements that the dataset has of this chunk; points may be the same ones
                    twice: then more */
    const struct cut_run *piece; /* when they are not of a box */
    int64_t npieces;
};

/* Part number i; of a box n may be 0. */
void part_of(const struct transfer *t, int64_t i, struct chunk_part *p);
/* True for the last chunk along a dimension that grows, if it is plain and has room for more: it
 * is stored as far as it is used, and grows in its place (chunk/room.h).  extent: its elements
 * inside the shape.  A large one is stored whole, which is written at once. */
bool chunk_takes_more(const drep_dataset *ds, const uint64_t *coord, int64_t extent);
/* True if a write of the part makes its chunk, and keeps nothing of it: what the dataset has of the
 * chunk is written, all members of it.  A contiguous dataset's last slab is as long as the dataset,
 * and a chunk that takes more is stored short, so both are written like parts; while rows are
 * appended, so is the last chunk with filters or a heap, which the cache keeps decoded. */
bool part_writes_whole(const struct transfer *t, const struct chunk_part *p);
/* Calls fn for its runs, upwards in the chunk, then flush. */
int part_runs(struct part_mover *m, const struct chunk_part *p, run_fn *fn, flush_fn *flush,
              void *ctx);
/* Cuts the selection into parts and calls fn with t->nparts of them at a time. */
typedef int parts_fn(struct transfer *t);
int parts_each(struct transfer *t, parts_fn *fn);
/* Threads for parts that must move so many bytes in all. */
int threads_for(const struct transfer *t, uint64_t bytes);
/* Puts the chunk's coordinates in front of a message. */
int name_chunk(const struct transfer *t, const struct chunk_part *p, int err);
/* The end of a part: likewise, and without an error its elements count as moved. */
int part_done(const struct transfer *t, const struct chunk_part *p, int err);

#endif
