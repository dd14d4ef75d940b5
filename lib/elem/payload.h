/* payload.h - whole payloads: the elements of a chunk or of a compact dataset, fill included.
 *
 * A payload is its elements, back to back, and behind them the heap that they refer to; `fixed` is
 * the number of bytes before the heap.  What a file stores may be less than a payload: the rest is
 * fill. */
/* SPDX-License-Identifier: MIT */
#ifndef ELEM_PAYLOAD_H
#define ELEM_PAYLOAD_H

#include "elem/dataset.h"

/* Holds a payload from the file against its type, before anything of its heap is followed. */
int payload_check(const struct chunks *cs, const uint64_t *coord, const struct buf *payload);
/* Before all of a payload is followed: elements outside the shape that refer to what their heap has
 * not become empty ones.  chunk_load() has done so. */
int payload_sweep(const drep_dataset *ds, const uint64_t *coord, struct buf *payload);

/* Loads the payload of a chunk, or of a compact dataset. */
int chunk_load(drep_dataset *ds, const uint64_t *coord, struct buf *b, size_t *fixed);
int compact_load(drep_dataset *ds, struct buf *b, size_t *fixed);
/* Completes a payload with fill; *shared: its variable parts are one content. */
int payload_complete(drep_dataset *ds, struct buf *b, bool *shared);

/* A payload that is about to change gets a heap of its own, which holds only what its elements
 * still refer to; heap_append() puts it behind them at last. */
int heap_renew(drep_dataset *ds, struct buf *b, size_t fixed, struct buf *heap);
int heap_append(struct buf *b, size_t fixed, const struct buf *heap);

#endif
