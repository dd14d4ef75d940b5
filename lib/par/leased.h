/* leased.h - whole chunks that a rank writes alone, at once.
 *
 * Such a chunk is encoded, summed and written to space that the rank has leased (par/leases.h);
 * what is kept of it is where it stands.  When the ranks meet, rank 0 records it.  Of one chunk a
 * rank keeps either this or elements (pending.h). */
/* SPDX-License-Identifier: MIT */
#ifndef PAR_LEASED_H
#define PAR_LEASED_H

#include "chunk/work.h"
#include "par/shares.h"

/* True if a share is all of its chunk, and may be written so. */
bool leased_may(const struct transfer *t, const struct shares *s, const struct share *share,
                uint64_t *seen);
/* Write a chunk.  *elements: NULL, or what it holds if no lease has room for it. */
int leased_write(struct transfer *t, struct work *w, const struct shares *s,
                 const struct share *share, struct leased *out, const uint8_t **elements);
/* Load its elements, and fill around them. */
int leased_load(const drep_dataset *ds, struct work *w, const struct leased *l, struct buf *b);

/* The kept one of a chunk, or NULL. */
struct leased *leased_find(const struct pending *p, int64_t chunk);
/* Make room for these, so that leased_set() cannot fail. */
int leased_reserve(struct pending *p, const struct leased *l, size_t n);
/* Keep one in place of what is kept of its chunk. */
void leased_set(struct ranks *r, struct pending *p, const struct leased *l);
/* Forget what is kept of a chunk, if something is: its space is free. */
void leased_drop(struct ranks *r, struct pending *p, int64_t chunk);
/* One that is not kept: its space is free. */
void leased_release(struct ranks *r, struct leased *l);

#endif
