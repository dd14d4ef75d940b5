/* split.c - keeping dirty nodes neither too full nor too empty.
 *
 * A split inserts the separator into the parent first, which may split that one too; only when
 * nothing can fail any more do items move.  Every step changes `shape`, so hints and pins notice.
 */
/* SPDX-License-Identifier: MIT */
#include "tree/split.h"

#include "base/error.h"
#include "tree/path.h"

#include <string.h>

/* Bytes of an entry on average from which on a leaf is filled: of a leaf with many short entries a
 * search reads more than it needs. */
#define LONG_ITEM 512u

size_t node_full(const struct tree_node *n, uint32_t i)
{
    bool filled = n->bytes > LEAF_MAX && i < n->n;

    return n->level || filled ? FMT_NODE_MAX : LEAF_MAX;
}

/* ---- where to split ---- */

/* A split of a full node: items from k on move to a new node at its right; the new item goes
 * there if `right` is set. */
struct cut {
    uint32_t k;
    int right;
};

/* Choose the split for an insertion before item i.  Keys that arrive in order should leave full
 * nodes behind, wherever in the tree that is: the room goes to where the next key is expected. */
static struct cut choose_cut(const struct tree_node *n, uint32_t i, size_t cost)
{
    int near = n->last != UINT32_MAX && i + 8 > n->last && i < n->last + 8;
    size_t total = 0, tail = 0, sum = 0;
    uint32_t k;

    if (i == n->n)
        return (struct cut){n->n, 1};
    for (k = 0; k < n->n; k++) {
        size_t bytes = node_item_bytes(n, k);

        total += bytes;
        tail += k >= i ? bytes : 0;
    }
    if (near && i && tail <= node_full(n, i) / 8)
        return (struct cut){i, 1};
    if (near && total - tail + cost < node_full(n, i) - FMT_BLOCK_HEAD)
        return (struct cut){i, 0};
    for (k = 0; k + 1 < n->n && sum < total / 2; k++)
        sum += node_item_bytes(n, k);
    return (struct cut){k, i > k};
}

/* Length of the shortest prefix of `high` that is greater than `low`. */
static size_t separator(const uint8_t *low, size_t low_len, const uint8_t *high, size_t high_len)
{
    size_t i = 0;

    while (i < low_len && i < high_len && low[i] == high[i])
        i++;
    return i < high_len ? i + 1 : high_len;
}

/* ---- joining ---- */

/* Append all items of `right`, whose separator is item i of the parent, to `left`. */
static int join(struct store *st, struct tree_node *left, struct tree_node *right, uint32_t i)
{
    struct tree_node *parent = left->parent;
    size_t bytes = right->used - right->waste + parent->item[i].key_len;

    if (node_reserve(left, right->n, bytes))
        return DREP_ERR_NOMEM;
    if (right->level) {
        struct child c = child_get(right, 0);

        /* The separator from the parent replaces the empty first key. */
        node_insert(
            left, left->n, item_key(parent, i), parent->item[i].key_len, &c, sizeof(c),
            node_grown(left, left->n, item_key(parent, i), parent->item[i].key_len, sizeof(c)));
        if (c.node)
            c.node->parent = left;
        node_move(right, 1, left);
        node_remove(right, 0);
    } else {
        node_move(right, 0, left);
        st->tree->leaves--;
    }
    node_remove(parent, i);
    node_unref(right);
    st->tree->shape++;
    return 0;
}

/* Fill the leaf at the left of a leaf that keys in order leave behind: while it grew, less was
 * copied for each of its changes.  Only an optimisation: errors are ignored. */
static void leave_behind(struct store *st, struct tree_node *leaf)
{
    struct bounds any = {.low = NULL, .high = NULL};
    uint32_t i = node_index(leaf);
    struct tree_node *left;
    struct child c;

    if (i == 0 || leaf->bytes / LONG_ITEM < leaf->n)
        return;
    c = child_get(leaf->parent, i - 1);
    if (leaf->bytes + (c.node ? c.node->bytes : c.ref.length) > FMT_NODE_MAX)
        return;
    if (path_own_child(st, leaf->parent, i - 1, &any, &left) == 0)
        join(st, left, leaf, i);
}

/* ---- splitting ---- */

/* Put a new root above the root, so that the old one can be split. */
static int raise_root(struct store *st)
{
    struct tree *t = st->tree;
    struct child c = {.node = t->node};
    struct tree_node *root;

    if (t->node->level == FMT_LEVEL_MAX)
        return fail(DREP_ERR_LIMIT, "the tree has more than %d levels", FMT_LEVEL_MAX + 1);
    root = node_new(t->node->level + 1);
    if (!root || node_reserve(root, 2, 2 * sizeof(c) + FMT_KEY_MAX)) {
        node_unref(root);
        return DREP_ERR_NOMEM;
    }
    node_insert(root, 0, (const uint8_t *)"", 0, &c, sizeof(c),
                node_grown(root, 0, (const uint8_t *)"", 0, sizeof(c)));
    t->node->parent = root;
    t->node = root;
    t->shape++;
    return 0;
}

/* Split n without inserting an item; both nodes have room for one more of `extra` bytes then. */
static int split(struct store *st, struct tree_node *n, struct cut cut, const uint8_t *sep,
                 size_t sep_len, size_t extra, struct tree_node **out)
{
    struct tree_node *right = node_new(n->level);
    struct child c = {.node = right};
    uint32_t items = n->n - cut.k;
    size_t moved = 0;
    int err = 0;

    for (uint32_t i = cut.k; i < n->n; i++)
        moved += n->item[i].key_len + item_value_len(n, i);
    /* Appending: the new leaf will be filled from its end like this one. */
    if (cut.k == n->n && !n->level) {
        items = n->n;
        moved = n->used - n->waste;
    }
    if (!right || node_reserve(right, items + 1, moved + extra) || node_reserve(n, 1, extra))
        err = DREP_ERR_NOMEM;
    if (!err && !n->parent)
        err = raise_root(st);
    if (!err)
        err = node_insert_split(st, n->parent, node_index(n) + 1, sep, sep_len, &c, sizeof(c),
                                &right->parent);
    if (err) {
        node_unref(right);
        return err;
    }
    node_move(n, cut.k, right);
    if (!right->level)
        st->tree->leaves++;
    st->tree->shape++;
    *out = right;
    return 0;
}

/* The function recurses once for each level, upwards. */
int node_insert_split(struct store *st, struct tree_node *n, uint32_t i, const uint8_t *key,
                      size_t len, const void *value, size_t value_len, struct tree_node **where)
{
    size_t extra = len + (value_len & ~(size_t)ITEM_FAR), bytes;
    uint8_t sep[FMT_KEY_MAX];
    int err;

    while ((bytes = node_grown(n, i, key, len, value_len)) > node_full(n, i)) {
        size_t cost = entry_size(len, n->level ? FMT_REF_SIZE : value_len & ~(size_t)ITEM_FAR);
        struct cut cut = choose_cut(n, i, cost);
        bool behind = !n->level && cut.right && cut.k == i;
        const uint8_t *low = i == cut.k && !cut.right ? key : item_key(n, cut.k - 1);
        size_t low_len = i == cut.k && !cut.right ? len : n->item[cut.k - 1].key_len;
        const uint8_t *high = i == cut.k && cut.right ? key : item_key(n, cut.k);
        size_t high_len = i == cut.k && cut.right ? len : n->item[cut.k].key_len;
        /* Keys of interior nodes are separators already. */
        size_t sep_len = n->level ? high_len : separator(low, low_len, high, high_len);
        struct tree_node *right;

        memcpy(sep, high, sep_len); /* the item may move in its arena */
        err = split(st, n, cut, sep, sep_len, extra, &right);
        if (err)
            return err;
        /* The first key of an interior node is empty; but it must not become so before a smaller
         * item is in front of it. */
        if (right->level && !(cut.right && i == cut.k))
            node_open_left(right);
        if (behind)
            leave_behind(st, n);
        if (cut.right) {
            n = right;
            i -= cut.k;
        }
    }
    err = node_reserve(n, 1, extra);
    if (err)
        return err;
    node_insert(n, i, key, len, value, value_len, bytes);
    if (n->level && i == 0)
        node_open_left(n);
    *where = n;
    return 0;
}

int leaf_split(struct store *st, struct tree_node *leaf, uint32_t i)
{
    /* The last value grows while it takes keys in order; those before it are done. */
    bool growing = i + 1 == leaf->n;
    struct cut cut = {growing ? i : leaf->n / 2, 0};
    const uint8_t *high = item_key(leaf, cut.k);
    uint8_t sep[FMT_KEY_MAX];
    size_t sep_len = separator(item_key(leaf, cut.k - 1), leaf->item[cut.k - 1].key_len, high,
                               leaf->item[cut.k].key_len);
    struct tree_node *right;
    int err;

    memcpy(sep, high, sep_len);
    err = split(st, leaf, cut, sep, sep_len, 0, &right);
    if (!err && growing)
        leave_behind(st, leaf);
    return err;
}

/* ---- merging ---- */

static void collapse_root(struct store *st)
{
    struct tree *t = st->tree;

    while (t->node && t->node->level && t->node->n == 1) {
        struct tree_node *old = t->node;
        struct child c = child_get(old, 0);

        t->node = c.node;
        if (c.node)
            c.node->parent = NULL;
        else
            t->root = c.ref;
        node_unref(old);
    }
}

void node_unlink(struct store *st, struct tree_node *n)
{
    struct tree *t = st->tree;

    t->shape++;
    while (n->n == 0) {
        struct tree_node *parent = n->parent;

        if (!n->level)
            t->leaves--;
        if (!parent) {
            t->node = NULL;
            t->root = (struct ref){0, 0, 0};
            node_unref(n);
            return;
        }
        node_remove(parent, node_index(n));
        node_unref(n);
        n = parent;
    }
    collapse_root(st);
}

void node_merge(struct store *st, struct tree_node *n)
{
    struct bounds any = {.low = NULL, .high = NULL};

    while (n->parent && n->bytes < node_full(n, n->n) / 4) {
        struct tree_node *parent = n->parent;
        uint32_t i = node_index(n);
        uint32_t other = i + 1 < parent->n ? i + 1 : i - 1;
        struct tree_node *sibling;
        struct child c;

        if (parent->n < 2)
            break;
        c = child_get(parent, other);
        if (n->bytes + (c.node ? c.node->bytes : c.ref.length) > node_full(n, n->n) / 4 * 3)
            break;
        if (path_own_child(st, parent, other, &any, &sibling))
            break;
        if (other > i ? join(st, n, sibling, other) : join(st, sibling, n, i))
            break;
        n = parent;
    }
    collapse_root(st);
}
