/* read.h - reading chunks.
 *
 * What is filtered or has a heap is decoded as a whole, through the cache; but a shuffle may be
 * left in place there, so that only what is wanted of the chunk is unshuffled.  Everything else is
 * read in 4 KiB blocks, exactly those that are touched, and pieces that are likely to be asked for
 * again are cached.
 *
 * A thread reads chunk by chunk: chunk_at(), any of the calls below, chunk_leave(). */
/* SPDX-License-Identifier: MIT */
#ifndef CHUNK_READ_H
#define CHUNK_READ_H

#include "chunk/chunks.h"
#include "chunk/work.h"

/* Begin to read one chunk.  *size: bytes of its payload, 0: nothing is stored; *whole: it is
 * decoded as a whole, by chunk_payload(), and *size is not known before; else by chunk_window(). */
int chunk_at(struct work *w, struct chunks *cs, const uint64_t *coord, uint64_t *size, int *whole);
/* True if the chunk at hand lies in the file as it is: not filtered, and not in the cache. */
bool chunk_in_file(const struct work *w);
/* Take the plain chunks that follow in the row, back to back in the file, for one with the chunk at
 * hand: their number, at most `most`, in *n, and the bytes of all of them in *size.  The calls
 * below may go on beyond the first one then. */
void chunk_stretch(struct work *w, uint64_t most, uint64_t *n, uint64_t *size);
/* Give all of it, verified; keep: it will be asked for again.  Valid until chunk_leave(). */
int chunk_payload(struct work *w, int keep, const uint8_t **p, uint64_t *size);
/* Like chunk_payload(), but a shuffle may be left in place if elements of `each` bytes are whole
 * ones of its: *unit is their size, and chunk_unshuffle() gives bytes [offset, offset + n),
 * multiples of it; *unit is 0 if nothing is left shuffled. */
int chunk_shuffled(struct work *w, int keep, uint64_t each, const uint8_t **p, uint64_t *size,
                   uint64_t *unit);
void chunk_unshuffle(const uint8_t *p, uint64_t size, uint64_t unit, uint64_t offset, uint64_t n,
                     void *out);
/* Give bytes [low, high) of a plain payload at *p, verified; only the 4 KiB blocks named by
 * `blocks`, from the one at low on, have their contents.  low: a multiple of 4096; if cs->cell is
 * set, all is inside one piece.  wanted: how many of the bytes the caller wants.  *have: bytes that
 * are stored; where they are fewer than asked for, *p may be written to. */
int chunk_window(struct work *w, uint64_t low, uint64_t high, uint64_t blocks, uint64_t wanted,
                 uint8_t **p, uint64_t *have);
/* Read bytes of a plain payload straight into buf. */
int chunk_bytes(struct work *w, uint64_t offset, uint64_t size, void *buf, uint64_t *have);
/* True if the chunk at hand, though it has a record of its own, is stored as its payload is and not
 * in the cache: chunk_read_straight() then reads all of it, cs->payload bytes, verified. */
bool chunk_straight(const struct work *w);
int chunk_read_straight(struct work *w, uint8_t *to);
void chunk_leave(struct work *w);

/* Read bytes [offset, offset + size) of one chunk's payload, verified.  *have: bytes from the start
 * of the range that exist; the rest of buf is untouched.  A chunk that is not stored: *have = 0. */
int chunk_read(struct chunks *cs, const uint64_t *coord, uint64_t offset, uint64_t size, void *buf,
               uint64_t *have);
/* Like chunk_read(), beyond the end of the chunk too: into those that stand back to back with it.
 */
int chunk_read_on(struct chunks *cs, const uint64_t *coord, uint64_t offset, uint64_t size,
                  void *buf, uint64_t *have);
/* Read the whole payload, as far as it is stored. */
int chunk_read_all(struct chunks *cs, const uint64_t *coord, struct buf *b);
/* Give the length of the whole payload, 0 if absent. */
int chunk_size(struct chunks *cs, const uint64_t *coord, uint64_t *size);

/* ---- for changing a chunk in memory (chunk/edit.h) ---- */

/* Make the cache entry of the chunk at hand, loaded or (empty) without bytes. */
int chunk_load_entry(struct work *w, int empty);
/* Undo a shuffle that was left in place in its entry. */
int chunk_plain_entry(struct work *w);
/* Decode a filtered record, past the cache. */
int chunk_decode(struct work *w, const struct chunks *cs, const struct chunk_rec *rec,
                 struct buf *out);

#endif
