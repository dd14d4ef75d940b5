/* split.h - keeping dirty nodes neither too full nor too empty.
 *
 * Every change of the shape either happens or fails before it began: memory is reserved first. */
/* SPDX-License-Identifier: MIT */
#ifndef TREE_SPLIT_H
#define TREE_SPLIT_H

#include "tree/tree.h"

/* Bytes that n may have with an item put before, or in place of, item i: a leaf stays short while
 * keys in order are put at its end, and may be full of long values later. */
size_t node_full(const struct tree_node *n, uint32_t i);
/* Insert an item before item i of n, splitting n and the nodes above it where they are full;
 * *where: the node that holds it then. */
int node_insert_split(struct store *st, struct tree_node *n, uint32_t i, const uint8_t *key,
                      size_t len, const void *value, size_t value_len, struct tree_node **where);
/* Split a leaf of several items, to make room for a longer value of item i. */
int leaf_split(struct store *st, struct tree_node *leaf, uint32_t i);
/* Unlink an empty node, and the nodes above that become empty by it. */
void node_unlink(struct store *st, struct tree_node *n);
/* Merge a node that became small with a neighbour.  Only an optimisation: errors are ignored. */
void node_merge(struct store *st, struct tree_node *n);

#endif
