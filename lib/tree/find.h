/* find.h - looking up one entry.
 *
 * Any number of threads may look up at once, as long as nobody changes the tree. */
/* SPDX-License-Identifier: MIT */
#ifndef TREE_FIND_H
#define TREE_FIND_H

#include "base/buf.h"
#include "space/store.h"

struct tree_node;

/* Copy the value of a key; DREP_ERR_NOT_FOUND without a message when absent.  value NULL: only
 * look. */
int tree_get(struct store *st, const struct key *key, struct buf *value);

/* Like tree_get() without a copy: the value stays valid until tree_peeked(); the tree must not
 * change before. */
struct peek {
    const uint8_t *p;
    size_t len;
    void *held;
    struct buf far;
};
int tree_peek(struct store *st, const struct key *key, struct peek *peek);
void tree_peeked(struct peek *peek);

/* Find the entry with the greatest key <= `key` that begins with the first `prefix` bytes of key.
 */
int tree_floor(struct store *st, const struct key *key, size_t prefix, struct key *found,
               struct buf *value);

/* For tree/walk.c: read a value from the block that *p refers to into *far; and copy that of entry
 * i of a leaf. */
int value_far(struct store *st, const struct tree_node *leaf, struct buf *far, const uint8_t **p,
              size_t *len);
int value_get(struct store *st, const struct tree_node *leaf, uint32_t i, struct buf *value);

#endif
