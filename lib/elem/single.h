/* single.h - a few elements of variable length, out of a chunk that is not filtered.
 *
 * The fixed part and the contents of these elements are read, and nothing else of the chunk: a
 * chunk may hold 100,000 texts, of which one is wanted.  A reader that takes many of them one by
 * one gets whole chunks into the cache after a while. */
/* SPDX-License-Identifier: MIT */
#ifndef ELEM_SINGLE_H
#define ELEM_SINGLE_H

#include "chunk/work.h"
#include "elem/parts.h"

/* True if the part is read so.  stored: bytes of the chunk at hand, which lies in the file and not
 * in the cache, and is not filtered. */
bool single_pays(const struct transfer *t, const struct chunk_part *p, uint64_t stored);
int single_read(struct part_mover *m, struct work *w, const struct chunk_part *p, uint64_t stored);

#endif
