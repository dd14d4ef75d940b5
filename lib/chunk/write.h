/* write.h - writing whole chunks: the plan applied.
 *
 * Payload is summed and written by several threads at once, and recorded when all of it is in the
 * file.  If anything fails the operation is taken back as a whole (txn/op.h); nothing that a commit
 * refers to was touched. */
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

/* Like chunk_write() for n plain chunks anywhere, in grid order, coords: rank numbers each.  fn
 * gives bytes [from, from + size) of number i, valid until it is called again with the same work;
 * it is asked for `piece` bytes at a time (a multiple of 4096; or all of them), by so many threads
 * at once.  joined: it gives several chunks that follow each other at once, up to a piece. */
typedef int chunk_bytes_fn(void *ctx, struct work *w, uint64_t i, uint64_t from, uint64_t size,
                           const uint8_t **p);
/* Somebody else writes the payload of number i to `offset`: give its checksums. */
typedef int chunk_placed_fn(void *ctx, uint64_t i, uint64_t offset, uint64_t *sums);
struct chunk_source {
    chunk_bytes_fn *fn;
    chunk_placed_fn *placed; /* not NULL: in place of fn, with one thread */
    void *ctx;
    uint64_t piece;
    uint64_t unit; /* pieces may be shorter, by whole units of so many bytes; 0: they may not */
    int threads;
    bool joined;
};
int chunks_write(struct chunks *cs, const uint64_t *coords, uint64_t n, uint64_t size,
                 const struct chunk_source *from);

/* Write one chunk that is filtered or has a heap, as number i of those that many threads encode:
 * only its place is found in turn.  The cache is not looked at. */
int chunk_write_turn(struct work *w, struct chunks *cs, const uint64_t *coord, const void *buf,
                     uint64_t size, struct pool_turns *turns, int64_t i);
/* Encode a payload by the filters; *out is valid until w is used again. */
int chunk_encode(struct work *w, const struct chunks *cs, const void *buf, uint64_t size,
                 struct span *out, uint32_t *skipped);
/* Write one filtered chunk from bytes that are encoded already. */
int chunk_write_stored(struct chunks *cs, const uint64_t *coord, const struct buf *stored,
                       uint32_t skipped);
/* Make a chunk the bytes of another file that `to` names (chunk/packed.h). */
int chunk_point(struct chunks *cs, const uint64_t *coord, const struct chunk_rec *to);
/* Write one plain payload, past the cache, with room to grow to `room` bytes. */
int chunk_write_plain(struct chunks *cs, const uint64_t *coord, const void *buf, uint64_t size,
                      uint64_t room);
/* Like chunk_write_plain() without more room, where somebody else writes the payload; at: he has
 * done so, in allocated space, 0: he will. */
int chunk_place_plain(struct chunks *cs, const uint64_t *coord, uint64_t size, uint64_t at,
                      chunk_placed_fn *placed, void *ctx);

#endif
