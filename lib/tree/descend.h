/* descend.h - from the root to the leaf where a key belongs.
 *
 * A descent carries the bounds that separators promise about the keys below; a node in the file
 * that breaks the promise is refused.  Levels fall by one at each step, so a hostile file cannot
 * lead in circles. */
/* SPDX-License-Identifier: MIT */
#ifndef TREE_DESCEND_H
#define TREE_DESCEND_H

#include "tree/tree.h"

/* The nodes on the way that nobody else holds for us, so that the bounds stay where they are.  The
 * tree itself holds the root and, below clean nodes, all interior ones. */
struct trail {
    struct tree_node *node[FMT_LEVEL_MAX + 1];
    int n;
    struct bounds b; /* of the leaf */
};
static inline void trail_release(struct trail *t)
{
    for (int i = 0; i < t->n; i++)
        node_unref(t->node[i]);
    t->n = 0;
}

/* Find the leaf where a key belongs or, with `below`, the leaf of the greatest key less than it.
 * leaf_done() gives the leaf back. */
int descend(struct store *st, const uint8_t *key, size_t len, int below, struct trail *t,
            struct tree_node **leaf);
/* Find the node above that leaf, and the leaf's number there, without reading the leaf. The trail
 * holds the node.  DREP_ERR_NOT_FOUND: the root is a leaf. */
int descend_above(struct store *st, const uint8_t *key, size_t len, struct trail *t,
                  struct tree_node **n, uint32_t *i);
/* A clean leaf is held; a dirty one cannot go while anybody reads. */
static inline void leaf_done(struct tree_node *leaf)
{
    if (!leaf->dirty)
        node_unref(leaf);
}

#endif
