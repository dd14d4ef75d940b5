/* run_order.h - which chunks of a grid follow each other in a run of filtered ones.
 *
 * They count in row-major order over a suffix of the grid's dimensions, whose number stands in the
 * dataset's record and of which only the first may be unlimited (SPEC.md, section 8): so the chunks
 * of one time step are neighbours, and the last of a step and the first of the next are. */
/* SPDX-License-Identifier: MIT */
#ifndef CHUNK_RUN_ORDER_H
#define CHUNK_RUN_ORDER_H

#include "chunk/chunks.h"

/* Set wrap and grid from the record of a chunked dataset. */
void run_order_set(struct chunks *cs, const struct object_rec *rec);
/* Choose the suffix of a new dataset: as long as the steps of its first dimension have at most
 * FMT_NEAR_MAX chunks. */
uint8_t run_order_suffix(int rank, const uint64_t *max, const uint32_t *chunk);
/* True if rows count alike with these maxima in place of the record's. */
bool run_order_kept(const struct object_rec *rec, const uint64_t *max);
/* Count the chunks from a to b.  False: b is before a, or no run can hold both. */
bool run_order_distance(const struct chunks *cs, const uint64_t *a, const uint64_t *b, uint64_t *n);
/* Advance a coordinate by n chunks, at most FMT_PACKED_MAX. */
void run_order_step(const struct chunks *cs, uint64_t *coord, uint64_t n);
/* True if a run of so many chunks may begin here: inside the grid, no coordinate too large. */
bool run_order_fits(const struct chunks *cs, const uint64_t *coord, uint32_t n);

#endif
