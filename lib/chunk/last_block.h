/* last_block.h - last blocks of chunks that grow, kept in memory.
 *
 * The checksum of a 4 KiB block needs all of its bytes, so what is appended to a block needs those
 * before it.  A program that appends and commits by turns wrote them itself a moment ago.  Kept
 * bytes are used only where they have the checksum that the chunk's record states: nobody has to
 * drop them when the chunk moves, shrinks or is taken back. */
/* SPDX-License-Identifier: MIT */
#ifndef CHUNK_LAST_BLOCK_H
#define CHUNK_LAST_BLOCK_H

#include "space/store.h"

struct last_block;
struct last_blocks {
    struct last_block *slot; /* NULL: none is kept */
};

/* Keep the block of `size` bytes that was written at `offset`; `sum`: its checksum, 0: it has none.
 * The caller holds the store alone. */
void last_block_keep(struct store *st, uint64_t offset, const uint8_t *p, size_t size,
                     uint64_t sum);
/* Give the bytes of the block at `offset` if they are kept and have this length and checksum. */
bool last_block_take(const struct store *st, uint64_t offset, size_t size, uint64_t sum,
                     uint8_t *p);

#endif
