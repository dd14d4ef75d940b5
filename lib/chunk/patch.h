/* patch.h - writing parts of chunks, and removing chunks.
 *
 * A part of a plain chunk that the open transaction wrote is changed where it stands.  A chunk of a
 * commit moves as a whole, once, and belongs to the transaction from then on. */
/* SPDX-License-Identifier: MIT */
#ifndef CHUNK_PATCH_H
#define CHUNK_PATCH_H

#include "chunk/chunks.h"

struct given_payload;

/* Bytes [offset, offset + size) of a chunk, and what stands for bytes that did not exist. */
struct patch {
    uint64_t offset, size;
    const uint8_t *p;
    const uint8_t *fill; /* one stored element; NULL: zeros */
    size_t fill_size;
    struct given_payload *given; /* somebody else writes the bytes (patch_given.h): no p */
};
/* Replace bytes of one existing or absent chunk. */
int chunk_patch(struct chunks *cs, const uint64_t *coord, const struct patch *patch);
/* Slabs [first, first + n) are about to be changed here and there: if `slab`, one of them, would
 * move, and all of them are stored whole, they move together and stay back to back.  Where they
 * cannot, nothing is done, and each moves when it is patched.  given: somebody else writes them. */
int slabs_move(struct chunks *cs, uint64_t slab, uint64_t first, uint64_t n, bool given);
int chunk_remove(struct chunks *cs, const uint64_t *coord);
/* Free all chunks of a removed dataset. */
int chunk_remove_all(struct chunks *cs);

#endif
