/* writeback.h - writing changes in the cache to the file.
 *
 * Changed chunks wait in the cache (chunk/edit.h).  They are written back when a commit comes; and
 * when they take nearly all of the cache, those used longest ago first, in grid order, by several
 * threads.  In the middle of an operation nothing is written back but what the operation itself
 * changed first: so taking it back finds the rest as it was. */
/* SPDX-License-Identifier: MIT */
#ifndef TXN_WRITEBACK_H
#define TXN_WRITEBACK_H

#include "chunk/chunks.h"

/* Make room for `bytes` bytes of changes (UINT64_MAX: nothing waits any more), before an operation
 * changes anything (first), or later in it.  *can 0: this dataset's chunks are too large to wait.
 */
int writeback_room(struct chunks *cs, uint64_t bytes, int first, int *can);
/* Write back all changes of one object (0: of all), before an operation changes anything or outside
 * of one. */
int writeback_all(struct store *st, uint64_t object);
/* True if changes wait. */
bool writeback_waits(const struct store *st);

#endif
