/* join.h - chunks of elements of variable length, brought together from pieces.
 *
 * Each rank converted its elements into a heap of its own.  Here these become one heap, with the
 * contents in the order of the elements in the chunk, which is the heap that one process makes when
 * it writes all of them. */
/* SPDX-License-Identifier: MIT */
#ifndef PAR_JOIN_H
#define PAR_JOIN_H

#include "par/pieces.h"

/* Bring a chunk together in *b, whose contents go: `fixed` bytes of elements, then their heap.
 * GROUND_NONE: what no rank writes is zeros; GROUND_STORED: `stored` has it, elements and heap.
 * DREP_ERR_NOT_SAME: two ranks write one element; with drep_overlap=last the higher
 * one's counts. */
int chunk_join(struct transfer *t, const struct piece *piece, size_t n, enum ground ground,
               const struct buf *stored, uint64_t fixed, struct buf *b);

#endif
