/* ahead.h - nodes that are fetched together, where a round trip to the file is dear.
 *
 * Interior nodes are few, and every descent needs them: the children of an interior node are
 * fetched at once, and so are all leaves of a small tree.  Leaves that are read in turn are fetched
 * ahead, each time more of them.  All of it is advice (space/fetch.h): nothing here fails. */
/* SPDX-License-Identifier: MIT */
#ifndef TREE_AHEAD_H
#define TREE_AHEAD_H

#include "tree/tree.h"

/* Child i of n is about to be loaded, and fetch_on(). */
void ahead_child(struct store *st, const struct tree_node *n, uint32_t i);

/* Fetch blocks; the array is changed. */
void ahead_blocks(struct store *st, struct io_range *range, size_t n);
/* True if a block need not be fetched: it was, or the metadata extent will bring it. */
bool ahead_has(struct store *st, const struct ref *ref);
/* Likewise for a node, which may be in the cache too. */
bool ahead_node_there(struct store *st, const struct ref *ref);

#endif
