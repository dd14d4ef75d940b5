/* edit.h - changing a chunk in the cache.
 *
 * Chunks that are decoded as a whole are changed in memory: many small writes cost one encoding.
 * Their entries become dirty, and are written back when a commit comes or memory runs short
 * (txn/writeback.c).  Other threads may change other chunks meanwhile. */
/* SPDX-License-Identifier: MIT */
#ifndef CHUNK_EDIT_H
#define CHUNK_EDIT_H

#include "chunk/chunks.h"
#include "chunk/work.h"

/* Take one chunk to be changed, until chunk_leave(): its payload, empty if it is not stored, or
 * (fresh) empty because all of it will be replaced.  *waste: bytes of its heap that nothing refers
 * to. */
int chunk_edit(struct work *w, struct chunks *cs, const uint64_t *coord, int fresh,
               struct buf **payload, size_t **waste);
/* Note bytes that are about to be overwritten, so that the operation can be taken back. */
int chunk_note(struct work *w, uint64_t offset, uint64_t size);
/* The changes are complete. */
void chunk_edited(struct work *w);

/* True if the chunk has changes that are not written back. */
bool chunk_is_changed(struct chunks *cs, const uint64_t *coord);
/* Drop what the cache has of this chunk, changes too (until the operation is taken back). */
void chunk_forget(struct chunks *cs, const uint64_t *coord);
/* Call chunk_forget() for n chunks. */
void chunks_forget(struct chunks *cs, const uint64_t *coords, uint64_t n);

#endif
