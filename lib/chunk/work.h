/* work.h - what one thread needs while it moves chunks: buffers, compressors, the chunk at hand.
 *
 * A thread takes a struct work and gives it back; those not in use wait in a list, so that nothing
 * is allocated for each chunk. */
/* SPDX-License-Identifier: MIT */
#ifndef CHUNK_WORK_H
#define CHUNK_WORK_H

#include "space/store.h"

struct work;
struct buf;

/* NULL if there is no memory. */
struct work *work_take(struct store *st);
void work_give(struct store *st, struct work *w);
/* All blocks that will be read are lent (space/fetch.h) until work_give(): no others are read along
 * with them. */
void work_fetched(struct work *w);
/* A buffer of the caller's own, which keeps its contents from call to call. */
struct buf *work_buf(struct work *w);

#endif
