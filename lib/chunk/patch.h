/* patch.h - writing parts of chunks, and removing chunks.
 *
 * A part of a plain chunk that the open transaction wrote is changed where it stands.  A chunk of a
 * commit moves as a whole, once, and belongs to the transaction from then on. */
/* SPDX-License-Identifier: MIT */
#ifndef CHUNK_PATCH_H
#define CHUNK_PATCH_H

#include "chunk/chunks.h"

/* Replace bytes of one existing or absent chunk; `fill` (one stored element, NULL: zeros) stands
 * for bytes that did not exist. */
int chunk_patch(struct chunks *cs, const uint64_t *coord, uint64_t offset, uint64_t size,
                const void *buf, const void *fill, size_t fill_size);
int chunk_remove(struct chunks *cs, const uint64_t *coord);
/* Free all chunks of a removed dataset. */
int chunk_remove_all(struct chunks *cs);

#endif
