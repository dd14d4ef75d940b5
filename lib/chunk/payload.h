/* payload.h - moving payload between memory and the file, and checking it against its checksums.
 *
 * Every 4 KiB block of plain payload has a checksum, and so has every filtered chunk as a whole; 0
 * stands for one that was left out.  Large transfers go in pieces: a piece is summed while it is in
 * the processor's cache, so memory is read once. */
/* SPDX-License-Identifier: MIT */
#ifndef CHUNK_PAYLOAD_H
#define CHUNK_PAYLOAD_H

#include "chunk/record.h"

#define PIECE_BYTES ((size_t)256 << 10)

/* Count the bytes of the first piece, of `size` bytes of a chunk, that is overwritten at once.
 * Pieces end where blocks end, so that no block is summed twice. */
static inline uint64_t piece_at(uint64_t offset, uint64_t size)
{
    uint64_t piece = PIECE_BYTES - offset % FMT_SUM_BLOCK;

    return piece < size ? piece : size;
}

/* Write n chunks of `size` bytes from p to `offset`, and compute their checksums. */
int payload_write(struct store *st, const uint8_t *p, uint64_t n, uint64_t size, uint64_t offset,
                  uint64_t *sums);
/* Like payload_write() for one chunk, whose first `have` bytes are in the file as they are. */
int payload_append(struct store *st, const uint8_t *p, uint64_t have, uint64_t size,
                   uint64_t offset, uint64_t *sums);
/* Overwrite part of a chunk of an open run in place, and update its checksums.  noted: keep the old
 * bytes for undo. */
int payload_patch(struct store *st, struct chunk_run *r, uint32_t index, uint64_t offset,
                  uint64_t size, const uint8_t *p, int noted);

/* Keep the bytes of a chunk of an open run for undo: somebody else is going to overwrite them.
 * given: the file may not have those bytes yet that the checksums are of, so nothing is verified.
 */
int payload_note(struct store *st, const struct chunk_run *r, uint32_t index, bool given);
/* Compute the checksums of a chunk's payload, or leave them out. */
void payload_sums(const struct store *st, const uint8_t *p, size_t size, uint64_t *sums);

/* Read whole chunks from index on into p; NULL: only verify them. */
int payload_read(struct store *st, const struct chunk_run *r, uint32_t index, uint32_t n,
                 uint8_t *p);
/* Read part of one chunk, which must lie inside. */
int payload_read_part(struct store *st, const struct chunk_run *r, uint32_t index, uint64_t offset,
                      uint64_t size, uint8_t *p);
/* Read bytes [from, to) of one chunk: both multiples of 4096, or `to` the chunk's end. */
int payload_blocks(struct store *st, const struct chunk_run *r, uint32_t index, uint64_t from,
                   uint64_t to, uint8_t *p);
/* Read the stored bytes of a filtered chunk. */
int payload_filtered(struct store *st, const struct chunk_rec *rec, int verify, struct buf *out);

/* Copy bytes of the file to another place. */
int payload_copy(struct store *st, uint64_t from, uint64_t size, uint64_t to);
/* Likewise a chunk with the checksums of its blocks, of which absent ones are computed; or all are
 * left out.  Nothing is verified: a wrong checksum stays wrong. */
int payload_copy_summed(struct store *st, uint64_t from, uint64_t size, uint64_t to,
                        uint64_t *sums);
/* Read bytes as they are, not verified. */
int payload_raw(const struct store *st, void *p, size_t size, uint64_t offset);

/* Count the absent checksums of a run; compute them from the file. */
uint64_t payload_absent(const struct chunk_run *r);
int payload_seal(struct store *st, struct chunk_run *r);

#endif
