/* write.h - writing whole chunks.
 *
 * If anything fails the operation is taken back as a whole (txn/op.h).  Callers that have plain
 * chunks in another form, or write them by several threads, use places.h. */
/* SPDX-License-Identifier: MIT */
#ifndef CHUNK_WRITE_H
#define CHUNK_WRITE_H

#include "chunk/chunks.h"
#include "chunk/work.h"

struct pool_turns;

/* Replace the whole payload of n consecutive chunks (n > 1 only plain, `size` bytes each, back to
 * back in buf).  The old payload is freed at commit. */
int chunk_write(struct chunks *cs, const uint64_t *coord, uint64_t n, const void *buf,
                uint64_t size);

/* Write one chunk that is filtered or has a heap, as number i of those that many threads encode:
 * only its place is found in turn.  The cache is not looked at. */
int chunk_write_turn(struct work *w, struct chunks *cs, const uint64_t *coord, const void *buf,
                     uint64_t size, struct pool_turns *turns, int64_t i);
/* Encode a payload by the filters; *out is valid until w is used again. */
int chunk_encode(struct work *w, const struct chunks *cs, const void *buf, uint64_t size,
                 struct span *out, uint32_t *skipped);
/* Write one filtered chunk from bytes that are encoded already. */
int chunk_write_stored(struct chunks *cs, const uint64_t *coord, const struct buf *stored,
                       struct coding coding);
/* Make a chunk the bytes of another file that `to` names (chunk/packed.h). */
int chunk_point(struct chunks *cs, const uint64_t *coord, const struct chunk_rec *to);

#endif
