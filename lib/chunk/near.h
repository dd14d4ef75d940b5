/* near.h - which chunks of a grid follow each other in a run of filtered ones.
 *
 * They count in row-major order over the last dimensions of the grid, of which only the first may
 * be unlimited (SPEC.md, section 8): so the chunks of one time step are neighbours, and the last of
 * a step and the first of the next are. */
#ifndef CHUNK_NEAR_H
#define CHUNK_NEAR_H

#include "chunk/chunks.h"

/* Set wrap and grid: `max` elements a dimension at most, `chunk` of them in a chunk. */
void near_set(struct chunks *cs, const uint64_t *max, const uint32_t *chunk);
/* The number of chunks from a up to b; false: b is not behind a, or so far that no run holds
 * both. */
bool near_distance(const struct chunks *cs, const uint64_t *a, const uint64_t *b, uint64_t *n);
/* Go n chunks on, at most FMT_PACKED_MAX. */
void near_step(const struct chunks *cs, uint64_t *coord, uint64_t n);
/* True if a run of so many chunks may begin here: inside the grid, no coordinate too large. */
bool near_fits(const struct chunks *cs, const uint64_t *coord, uint32_t n);

#endif
