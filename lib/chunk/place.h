/* place.h - finding space for new chunks.
 *
 * Slabs of a contiguous dataset should come to stand back to back, whatever the order and the
 * number of writes: so a stretch is reserved for them ahead, and a slab goes behind the one before
 * it where that is free.  Reservations outlive operations; what is not used is freed with the
 * transaction. */
/* SPDX-License-Identifier: MIT */
#ifndef CHUNK_PLACE_H
#define CHUNK_PLACE_H

#include "chunk/run.h"

/* All chunks that the dataset has are going to be written. */
#define AHEAD_ALL UINT64_MAX

/* Find space for `bytes` bytes of chunks, of `size` bytes each.  ahead: so many chunks, with these,
 * are going to be written and should stand back to back. */
int place_find(struct chunks *cs, const uint64_t *coord, uint64_t ahead, uint64_t bytes,
               uint64_t size, uint64_t *offset);
/* Slabs that have a place before they are written. */
struct foreseen {
    uint64_t first, end; /* which: none if these are equal */
    uint64_t offset;     /* of the first; the others stand behind it */
};
/* Where the first of n slabs are going to stand that are written next, whole and in order: reserves
 * what place_find() would for them.  Nothing was written there yet.  None: n is 0, some of
 * them are stored, or nobody can tell. */
struct foreseen place_foresee(struct chunks *cs, uint64_t slab, uint64_t n);
/* The transaction ends: give all reservations back. */
void place_end(struct store *st);

/* For streams (space_settle()): all chunks below `upto` are written and will not change, but for
 * space that is reserved; or all chunks of the dataset are. */
int place_settle(struct store *st, uint64_t upto);
int place_settle_all(struct store *st);

#endif
