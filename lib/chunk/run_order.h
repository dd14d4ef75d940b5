/* run_order.h - which chunks of a grid follow each other in a run of filtered ones.
 *
 * They count in row-major order over the last dimensions of the grid, of which only the first may
 * be unlimited (SPEC.md, section 8): so the chunks of one time step are neighbours, and the last of
 * a step and the first of the next are. */
/* SPDX-License-Identifier: MIT */
#ifndef CHUNK_RUN_ORDER_H
#define CHUNK_RUN_ORDER_H

#include "chunk/chunks.h"

/* Set wrap and grid from the greatest length of each dimension and the length of a chunk. */
void run_order_set(struct chunks *cs, const uint64_t *max, const uint32_t *chunk);
/* Count the chunks from a to b.  False: b is before a, or no run can hold both. */
bool run_order_distance(const struct chunks *cs, const uint64_t *a, const uint64_t *b, uint64_t *n);
/* Advance a coordinate by n chunks, at most FMT_PACKED_MAX. */
void run_order_step(const struct chunks *cs, uint64_t *coord, uint64_t n);
/* True if a run of so many chunks may begin here: inside the grid, no coordinate too large. */
bool run_order_fits(const struct chunks *cs, const uint64_t *coord, uint32_t n);

#endif
