/* cut.h - taking chunks out of a run.
 *
 * The rest of the run becomes records of its own.  Payload stays where it is, except that chunks
 * whose size is no multiple of a unit of space may have to move, because two records cannot share a
 * unit. */
/* SPDX-License-Identifier: MIT */
#ifndef CHUNK_CUT_H
#define CHUNK_CUT_H

#include "chunk/run.h"

/* Remove n chunks from f->index on (filtered: one), and free their space. */
int run_remove(struct chunks *cs, struct run_hit *f, uint32_t n);

#endif
