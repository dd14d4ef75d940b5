/* load.h - clean nodes: read from the file, or found in the cache.
 *
 * A node comes with one reference for the caller, who gives it back by node_unref(). */
/* SPDX-License-Identifier: MIT */
#ifndef TREE_LOAD_H
#define TREE_LOAD_H

#include "tree/tree.h"

/* Find a node in the cache, or read it; level -1: any. */
int node_load(struct store *st, const struct ref *ref, int level, struct tree_node **out);
/* Read a node past the cache. */
int node_read(struct store *st, const struct ref *ref, int level, struct tree_node **out);
/* Read its bytes as they stand in the file, unchecked. */
int node_fetch(struct store *st, const struct ref *ref, uint8_t *block);

#endif
