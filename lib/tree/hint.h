/* hint.h - the dirty leaves changed last, by the bounds of their keys.
 *
 * A change finds its leaf here without going down from the root.  A hint holds while the tree's
 * shape does: no split, merge or spill since.  What is changed in turn (a link, an object, a chunk)
 * has keys of different kinds, so each kind remembers the hint that served it last.  For the writer
 * alone. */
/* SPDX-License-Identifier: MIT */
#ifndef TREE_HINT_H
#define TREE_HINT_H

#include "tree/tree.h"

/* The hint that leads to the leaf of a key; HINTS: none does. */
unsigned hint_search(const struct tree *t, struct key_words w, const uint8_t *key, size_t len);
/* Remember a leaf; w: of a key in it. */
void hint_add(struct tree *t, struct tree_node *leaf, const struct bounds *b, struct key_words w);
/* True if a hint leads to this leaf. */
bool hint_of_leaf(const struct tree *t, const struct tree_node *leaf);

/* The slot of `served` for a kind of key: keys changed in turn have different tags, or belong to
 * the root and to something else. */
static inline unsigned hint_kind(struct key_words w)
{
    return (unsigned)(w.second >> 56 << 1 | (w.first == FMT_OBJECT_ROOT)) % HINT_KINDS;
}

static inline bool hint_inside(const struct leaf_hint *h, struct key_words w, const uint8_t *key,
                               size_t len)
{
    const struct bounds *b = &h->bounds;
    int low = words_compare(w, h->low), high = words_compare(w, h->high);

    return (low > 0 || (low == 0 && (!b->low || key_compare(key, len, b->low, b->low_len) >= 0))) &&
           (high < 0 ||
            (high == 0 && (!b->high || key_compare(key, len, b->high, b->high_len) < 0)));
}

static inline bool hint_leads(const struct tree *t, unsigned i, struct key_words w,
                              const uint8_t *key, size_t len)
{
    return t->hint[i].shape == t->shape && hint_inside(&t->hint[i], w, key, len);
}

static inline unsigned hint_find(const struct tree *t, struct key_words w, const uint8_t *key,
                                 size_t len)
{
    unsigned i = t->served[hint_kind(w)];

    if (!t->node)
        return HINTS;
    return hint_leads(t, i, w, key, len) ? i : hint_search(t, w, key, len);
}

/* The dirty leaf where a key belongs, if a hint leads there; NULL. */
static inline struct tree_node *hint_leaf(const struct tree *t, const uint8_t *key, size_t len)
{
    unsigned i = hint_find(t, words_of(key, len), key, len);

    return i < HINTS ? t->hint[i].leaf : NULL;
}

#endif
