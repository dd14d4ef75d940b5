/* spill.h - dirty leaves out of memory: early, or because a commit wrote them.
 *
 * A large transaction would keep every leaf that it changes in memory.  So leaves are written to
 * fresh space when they are many, and become clean; a later change copies them again.  No commit
 * refers to them before the next one. */
/* SPDX-License-Identifier: MIT */
#ifndef TREE_SPILL_H
#define TREE_SPILL_H

#include "tree/tree.h"

/* Write dirty leaves if they are too many.  The caller holds none. */
void tree_spill(struct store *st);
static inline void tree_limit_leaves(struct store *st)
{
    if (st->tree->leaves > st->tree->leaves_max)
        tree_spill(st);
}
/* After a commit: all nodes are in the file and clean. */
void tree_clean(struct store *st);

#endif
