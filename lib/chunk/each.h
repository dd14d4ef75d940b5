/* each.h - looking at all stored chunks of a dataset, and at one record. */
/* SPDX-License-Identifier: MIT */
#ifndef CHUNK_EACH_H
#define CHUNK_EACH_H

#include "chunk/chunks.h"

/* Call fn for each plain run and each filtered chunk of the dataset in the order of keys.  Changes
 * that wait in the cache are not among them. */
typedef int chunk_each_fn(const uint64_t *coord, const struct chunk_rec *rec, void *ctx);
int chunk_each(struct chunks *cs, chunk_each_fn *fn, void *ctx);
/* Like chunk_each(), but skip records that a newer version wrote: for callers that only count. */
int chunk_each_known(struct chunks *cs, chunk_each_fn *fn, void *ctx);
/* Give the last coordinate of the first chunk stored in [coord, coord + n); UINT64_MAX: none. */
int chunk_next(struct chunks *cs, const uint64_t *coord, uint64_t n, uint64_t *next);
/* Give the place of the payload in the file if chunks [0, n) are one plain run of at least so many
 * bytes; else DREP_ERR_UNSUPPORTED_OPERATION with the reason. */
int chunk_run_offset(struct chunks *cs, uint64_t n, uint64_t bytes, uint64_t *offset);
/* Read the stored bytes of a filtered chunk, verified. */
int chunk_stored(struct chunks *cs, const struct chunk_rec *rec, struct buf *out);
/* Check a stored plain chunk against its checksums. */
int chunk_sums_check(struct chunks *cs, const uint64_t *coord);
/* Count the absent checksums of one plain run, or filtered chunk's payload; verify the others;
 * decode filters. */
enum chunk_depth { CHUNK_COUNT, CHUNK_SUMS, CHUNK_DECODE };
int chunk_verify(struct chunks *cs, const uint64_t *coord, const struct chunk_rec *rec,
                 enum chunk_depth depth, uint64_t *absent);

#endif
