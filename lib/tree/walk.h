/* walk.h - walking over entries in the order of their keys.
 *
 * A walk remembers its last key, so the tree may change between calls.  It also leaves a pin in its
 * leaf, which spares the descent while nothing changes. */
/* SPDX-License-Identifier: MIT */
#ifndef TREE_WALK_H
#define TREE_WALK_H

#include "base/buf.h"
#include "space/store.h"

struct tree_walk {
    struct store *st;
    struct key at;
    size_t prefix;
    int after;      /* the next key must be > at, not only >= */
    uint64_t stamp; /* of the pin */
    int pos;        /* the next entry of its leaf */
};

/* Start at the first key >= from; the walk ends where keys do not begin with the first `prefix`
 * bytes of it. */
void tree_walk(struct tree_walk *w, struct store *st, const struct key *from, size_t prefix);
/* DREP_ERR_NOT_FOUND without a message at the end.  value may be NULL. */
int tree_next(struct tree_walk *w, struct key *key, struct buf *value);

/* Called for each entry, whose value stands in the tree until the call returns: 0 to go on,
 * TREE_ENOUGH to stop behind this entry, else an error. */
#define TREE_ENOUGH (-1)
typedef int tree_entry_fn(void *ctx, const struct key *key, const uint8_t *value, size_t len);
/* Like tree_next() for several entries: calls fn for the next ones, not beyond the leaf of the
 * first.  fn must not change the tree.  After an error the walk stands where it stood. */
int tree_each(struct tree_walk *w, tree_entry_fn *fn, void *ctx);
/* Like tree_each(), but add the number of entries to *n without reading their values. */
int tree_count(struct tree_walk *w, int64_t *n);

/* Find the first space of keys, from `from` on (256: none), that has an entry; DREP_ERR_NOT_FOUND
 * without a message: there is none.  An object may have entries in any of them. */
int tree_space(struct store *st, unsigned from, uint8_t *space);

#endif
