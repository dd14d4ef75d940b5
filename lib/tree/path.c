/* path.c - copy on write: a dirty path from the root to a leaf.
 *
 * Freeing the clean node's space at once is safe: the last commit refers to it, so space keeps it
 * untouched until no reader can look at that commit (space/space.h).  A leaf that waits apart was
 * never in the file. */
/* SPDX-License-Identifier: MIT */
#include "tree/path.h"

#include "base/mem.h"
#include "space/space.h"
#include "tree/block.h"
#include "tree/load.h"

/* Make a dirty copy of a clean node, and free the clean one's space. */
static int own(struct store *st, const struct ref *ref, int level, const struct bounds *b,
               struct tree_node *parent, struct tree_node **out)
{
    struct tree_node *clean, *copy;
    int err = node_load(st, ref, level, &clean);

    if (err)
        return err;
    err = bounds_check(b, clean);
    copy = err ? NULL : node_copy(clean);
    node_unref(clean);
    if (!copy)
        return err ? err : DREP_ERR_NOMEM;
    if (copy->level)
        node_open_left(copy);
    else
        st->tree->leaves++;
    copy->parent = parent;
    if (!(ref->offset & APART))
        space_free(st, ref->offset, ref->length, ANYWAY);
    store_changed(st);
    *out = copy;
    return 0;
}

int path_own_child(struct store *st, struct tree_node *parent, uint32_t i, const struct bounds *b,
                   struct tree_node **out)
{
    struct child c = child_get(parent, i);
    int err;

    if (c.node) {
        *out = c.node;
        return 0;
    }
    err = own(st, &c.ref, parent->level - 1, b, parent, &c.node);
    if (err)
        return err;
    c.ref = (struct ref){0, 0, 0};
    child_set(parent, i, &c);
    *out = c.node;
    return 0;
}

static int own_root(struct store *st, struct tree_node **out)
{
    struct tree *t = st->tree;
    struct bounds all = {.low = NULL, .high = NULL};
    int err = 0;

    if (t->node) {
        *out = t->node;
        return 0;
    }
    if (t->root.length) {
        err = own(st, &t->root, -1, &all, NULL, &t->node);
    } else {
        t->node = node_new(0);
        err = t->node ? 0 : DREP_ERR_NOMEM;
        t->leaves += t->node != NULL;
    }
    if (err)
        return err;
    t->root = (struct ref){0, 0, 0};
    *out = t->node;
    return 0;
}

int path_own(struct store *st, const uint8_t *key, size_t len, struct tree_node **out)
{
    struct bounds b = {.low = NULL, .high = NULL};
    struct tree_node *n;
    int err = own_root(st, &n);

    while (!err && n->level) {
        uint32_t i = node_child(n, key, len);

        bounds_narrow(&b, n, i);
        err = path_own_child(st, n, i, &b, &n);
    }
    if (err)
        return err;
    hint_add(st->tree, n, &b, words_of(key, len));
    *out = n;
    return 0;
}
