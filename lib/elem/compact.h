/* compact.h - elements that stand in the tree: small datasets. */
/* SPDX-License-Identifier: MIT */
#ifndef ELEM_COMPACT_H
#define ELEM_COMPACT_H

#include "elem/transfer.h"

int compact_run(struct transfer *t);
/* Puts a payload in place of the old one; compact_store() appends a heap to it first. */
int compact_put(drep_dataset *ds, const struct buf *b);
int compact_store(drep_dataset *ds, struct buf *b, size_t fixed, const struct buf *heap);
/* All of a dataset of fixed length, in its own type: nothing has to be planned.  *done: it was;
 * else less is stored and compact_run() completes it. */
int compact_whole(drep_dataset *ds, struct conv *c, char *mem, bool writing, bool *done);

#endif
