/* descend.c - from the root to the leaf where a key belongs.
 *
 * Clean nodes need no lock: once a node is reachable it never changes.  Interior nodes stay
 * attached to the node above (`kept`), because they are few and every descent needs them. */
/* SPDX-License-Identifier: MIT */
#include "tree/descend.h"

#include "space/fetch.h"
#include "tree/ahead.h"
#include "tree/load.h"

/* Store a reference where many threads may store theirs; the first one wins, and its node is
 * returned, held by the place. */
static struct tree_node *leave(_Atomic(struct tree_node *) *place, struct tree_node *n)
{
    struct tree_node *there = NULL;

    if (atomic_compare_exchange_strong(place, &there, n))
        return n;
    node_unref(n);
    return there;
}

/* Get the root; *held: with a reference for the caller. */
static int root_get(struct store *st, struct tree_node **out, int *held)
{
    struct tree_node *top;
    struct tree *t = st->tree;
    int err;

    *held = 0;
    if (t->node) {
        *out = t->node;
        return 0;
    }
    if (!t->root.length)
        return DREP_ERR_NOT_FOUND;
    top = atomic_load_explicit(&t->top, memory_order_acquire);
    if (top && top->ref.offset == t->root.offset && top->ref.checksum == t->root.checksum) {
        *out = top;
        return 0;
    }
    *held = top != NULL; /* another root's node is cached there: leave it */
    err = node_load(st, &t->root, -1, out);
    if (!err && !*held)
        *out = leave(&t->top, *out);
    return err;
}

/* Load child i of n, and check once that its keys lie within the bounds: `under` remembers the
 * node below which that was seen.  Interior children are attached to n. */
static int child_load(struct store *st, const struct tree_node *n, uint32_t i,
                      const struct bounds *b, struct tree_node **out, int *held)
{
    struct child c = child_get(n, i);
    struct tree_node *child;
    int err;

    *held = 0;
    if (c.node) {
        *out = c.node;
        return 0;
    }
    if (fetch_on(st))
        ahead_child(st, n, i);
    err = node_load(st, &c.ref, n->level - 1, &child);
    if (err)
        return err;
    if (n->dirty || !n->ref.offset ||
        atomic_load_explicit(&child->under, memory_order_relaxed) != n->ref.offset) {
        err = bounds_check(b, child);
        if (err) {
            node_unref(child);
            return err;
        }
        atomic_store_explicit(&child->under, n->dirty ? 0 : n->ref.offset, memory_order_relaxed);
    }
    *held = !n->kept;
    *out = n->kept ? leave(&n->kept[i], child) : child;
    return 0;
}

/* Step from n to its child i; the node is added to the trail if nobody else holds it. */
static int step_down(struct store *st, struct trail *t, uint32_t i, struct tree_node **n, int *held)
{
    struct tree_node *kept = NULL;

    bounds_narrow(&t->b, *n, i);
    if (*held)
        t->node[t->n++] = *n;
    if ((*n)->kept)
        kept = atomic_load_explicit(&(*n)->kept[i], memory_order_acquire);
    if (!kept)
        return child_load(st, *n, i, &t->b, n, held);
    *n = kept;
    *held = 0;
    return 0;
}

int descend_above(struct store *st, const uint8_t *key, size_t len, struct trail *t,
                  struct tree_node **n, uint32_t *i)
{
    int err, held;

    t->n = 0;
    t->b = (struct bounds){.low = NULL, .high = NULL};
    err = root_get(st, n, &held);
    while (!err && (*n)->level > 1)
        err = step_down(st, t, node_child(*n, key, len), n, &held);
    if (!err && held)
        t->node[t->n++] = *n;
    if (!err && !(*n)->level)
        err = DREP_ERR_NOT_FOUND;
    if (err) {
        trail_release(t);
        return err;
    }
    *i = node_child(*n, key, len);
    return 0;
}

/* The leaf where a key belongs, or (below) where the greatest key less than it does. */
int descend(struct store *st, const uint8_t *key, size_t len, int below, struct trail *t,
            struct tree_node **leaf)
{
    struct tree_node *n;
    int err, held;

    t->n = 0;
    t->b = (struct bounds){.low = NULL, .high = NULL};
    err = root_get(st, &n, &held);
    while (!err && n->level) {
        uint32_t i = node_child(n, key, len);

        if (below && i > 0 && item_compare(n, i, key, len) == 0)
            i--;
        err = step_down(st, t, i, &n, &held);
    }
    if (err) {
        trail_release(t);
        return err;
    }
    if (!held && !n->dirty)
        node_ref(n);
    *leaf = n;
    return 0;
}
