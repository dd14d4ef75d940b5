/* path.h - copy on write: a dirty path from the root to a leaf.
 *
 * A clean node is never changed.  Before a change, the nodes from the root to the leaf are copied
 * into memory, and the space of the clean ones is freed; it stays untouched until no commit refers
 * to it (space/space.h).  Dirty nodes know their parent, and belong to it. */
/* SPDX-License-Identifier: MIT */
#ifndef TREE_PATH_H
#define TREE_PATH_H

#include "tree/hint.h"

/* Find the dirty leaf where a key belongs, going down from the root. */
int path_own(struct store *st, const uint8_t *key, size_t len, struct tree_node **out);
/* Make child i of a dirty node dirty. */
int path_own_child(struct store *st, struct tree_node *parent, uint32_t i, const struct bounds *b,
                   struct tree_node **out);

/* Find the dirty leaf where a key belongs, by a hint if one leads there. */
static inline int path_leaf(struct store *st, const uint8_t *key, size_t len,
                            struct tree_node **out)
{
    struct tree *t = st->tree;
    struct key_words w = words_of(key, len);
    unsigned i = hint_find(t, w, key, len);

    if (i == HINTS)
        return path_own(st, key, len, out);
    t->served[hint_kind(w)] = (uint8_t)i;
    *out = t->hint[i].leaf;
    return 0;
}

#endif
