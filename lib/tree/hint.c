/* hint.c - the dirty leaves changed last, by the bounds of their keys. */
/* SPDX-License-Identifier: MIT */
#include "tree/hint.h"

void hint_add(struct tree *t, struct tree_node *leaf, const struct bounds *b, struct key_words w)
{
    struct leaf_hint *h = &t->hint[t->next_hint % HINTS];

    t->served[hint_kind(w)] = (uint8_t)(t->next_hint++ % HINTS);
    *h = (struct leaf_hint){.leaf = leaf,
                            .shape = t->shape,
                            .low = {0, 0},
                            .high = {UINT64_MAX, UINT64_MAX},
                            .bounds = *b};
    if (b->low)
        h->low = words_of(b->low, b->low_len);
    if (b->high)
        h->high = words_of(b->high, b->high_len);
}

/* HINTS: none leads there. */
unsigned hint_search(const struct tree *t, struct key_words w, const uint8_t *key, size_t len)
{
    unsigned i = 0;

    while (i < HINTS && !hint_leads(t, i, w, key, len))
        i++;
    return i;
}

bool hint_of_leaf(const struct tree *t, const struct tree_node *leaf)
{
    for (int i = 0; i < HINTS; i++) {
        if (t->hint[i].leaf == leaf && t->hint[i].shape == t->shape)
            return true;
    }
    return false;
}
