/* edit.c - changing the tree: copy on write, splits and merges.
 *
 * What changes is first copied into memory with all nodes above it; those stay there until
 * a commit (or, when there are many, until leaves are written early).  Every change either
 * happens or fails before it began: memory is reserved first. */
#include "txn/inner.h"

#include "base/error.h"
#include "base/mem.h"

#include <assert.h>
#include <string.h>

static size_t full(const struct node *n)
{
    return n->level ? FMT_NODE_MAX : LEAF_MAX;
}

/* ---- copy on write ---- */

/* A dirty copy of a node that stands in the file, whose space is free from now on. */
static int own(struct store *st, const struct ref *ref, int level, const struct bounds *b,
               struct node *parent, struct node **out)
{
    struct node *clean, *copy;
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
        st->tree.leaves++;
    copy->parent = parent;
    if (!(ref->offset & APART))
        space_free(st, ref->offset, ref->length, ANYWAY);
    st->dirty = 1;
    *out = copy;
    return 0;
}

static int own_child(struct store *st, struct node *parent, uint32_t i, const struct bounds *b,
                     struct node **out)
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

static int own_root(struct store *st, struct node **out)
{
    struct tree *t = &st->tree;
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

/* Which hint served keys of this kind last: what is changed in turn has different tags, or
 * belongs to the root and to something else. */
static unsigned kind_of(struct words w)
{
    return (unsigned)(w.second >> 56 << 1 | (w.first == FMT_OBJECT_ROOT)) % HINT_KINDS;
}

static void hint_keep(struct store *st, struct node *leaf, const struct bounds *b, struct words w)
{
    struct tree *t = &st->tree;
    struct hint *h = &t->hint[t->next_hint % HINTS];

    t->served[kind_of(w)] = (uint8_t)(t->next_hint++ % HINTS);
    *h = (struct hint){.leaf = leaf,
                       .shape = t->shape,
                       .low = {0, 0},
                       .high = {UINT64_MAX, UINT64_MAX},
                       .bounds = *b};
    if (b->low)
        h->low = words_of(b->low, b->low_len);
    if (b->high)
        h->high = words_of(b->high, b->high_len);
}

static inline int inside(const struct hint *h, struct words w, const uint8_t *key, size_t len)
{
    const struct bounds *b = &h->bounds;
    int low = words_compare(w, h->low), high = words_compare(w, h->high);

    return (low > 0 || (low == 0 && (!b->low || key_compare(key, len, b->low, b->low_len) >= 0))) &&
           (high < 0 ||
            (high == 0 && (!b->high || key_compare(key, len, b->high, b->high_len) < 0)));
}

static inline int leads(const struct tree *t, unsigned i, struct words w, const uint8_t *key,
                        size_t len)
{
    return t->hint[i].shape == t->shape && inside(&t->hint[i], w, key, len);
}

/* HINTS: none leads there. */
static unsigned hint_search(const struct tree *t, struct words w, const uint8_t *key, size_t len)
{
    unsigned i = 0;

    while (i < HINTS && !leads(t, i, w, key, len))
        i++;
    return i;
}

static inline unsigned hint_find(const struct tree *t, struct words w, const uint8_t *key,
                                 size_t len)
{
    unsigned i = t->served[kind_of(w)];

    if (!t->node)
        return HINTS;
    return leads(t, i, w, key, len) ? i : hint_search(t, w, key, len);
}

struct node *tree_hinted(const struct store *st, const uint8_t *key, size_t len)
{
    const struct tree *t = &st->tree;
    unsigned i = hint_find(t, words_of(key, len), key, len);

    return i < HINTS ? t->hint[i].leaf : NULL;
}

static int leaf_own(struct store *st, const uint8_t *key, size_t len, struct node **out)
{
    struct bounds b = {.low = NULL, .high = NULL};
    struct node *n;
    int err = own_root(st, &n);

    while (!err && n->level) {
        uint32_t i = node_child(n, key, len);

        bounds_narrow(&b, n, i);
        err = own_child(st, n, i, &b, &n);
    }
    if (err)
        return err;
    hint_keep(st, n, &b, words_of(key, len));
    *out = n;
    return 0;
}

/* The dirty leaf where a key belongs. */
static inline int leaf_for(struct store *st, const uint8_t *key, size_t len, struct node **out)
{
    struct tree *t = &st->tree;
    struct words w = words_of(key, len);
    unsigned i = hint_find(t, w, key, len);

    if (i == HINTS)
        return leaf_own(st, key, len, out);
    t->served[kind_of(w)] = (uint8_t)i;
    *out = t->hint[i].leaf;
    return 0;
}

/* ---- splitting ---- */

/* Where a full node is cut: items from k on go to a new node at its right; the new item
 * belongs to that one if right is set. */
struct cut {
    uint32_t k;
    int right;
};

/* Keys that come in order leave full nodes behind them, wherever in the tree that is: what
 * comes next gets the room, what stood behind goes its own way. */
static struct cut choose_cut(const struct node *n, uint32_t i, size_t cost)
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
    if (near && i && tail <= full(n) / 8)
        return (struct cut){i, 1};
    if (near && total - tail + cost < full(n) - FMT_BLOCK_HEAD)
        return (struct cut){i, 0};
    for (k = 0; k + 1 < n->n && sum < total / 2; k++)
        sum += node_item_bytes(n, k);
    return (struct cut){k, i > k};
}

static int insert_item(struct store *st, struct node *n, uint32_t i, const uint8_t *key, size_t len,
                       const void *value, size_t value_len, struct node **where);

/* How many first bytes of a key tell it from a lesser one. */
static size_t separator(const uint8_t *low, size_t low_len, const uint8_t *high, size_t high_len)
{
    size_t i = 0;

    while (i < low_len && i < high_len && low[i] == high[i])
        i++;
    return i < high_len ? i + 1 : high_len;
}

/* A node above the root, so that the root can be cut. */
static int raise_root(struct store *st)
{
    struct tree *t = &st->tree;
    struct child c = {.node = t->node};
    struct node *root;

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

/* Cuts n, which gets no item for it; there is room in both for one more of `extra` bytes. */
static int split(struct store *st, struct node *n, struct cut cut, const uint8_t *sep,
                 size_t sep_len, size_t extra, struct node **out)
{
    struct node *right = node_new(n->level);
    struct child c = {.node = right};
    uint32_t items = n->n - cut.k;
    size_t moved = 0;
    int err = 0;

    for (uint32_t i = cut.k; i < n->n; i++)
        moved += n->item[i].key_len + item_value_len(n, i);
    /* Behind a leaf that was filled from its end another one will be. */
    if (cut.k == n->n && !n->level) {
        items = n->n;
        moved = n->used - n->waste;
    }
    if (!right || node_reserve(right, items + 1, moved + extra) || node_reserve(n, 1, extra))
        err = DREP_ERR_NOMEM;
    if (!err && !n->parent)
        err = raise_root(st);
    if (!err)
        err = insert_item(st, n->parent, node_index(n) + 1, sep, sep_len, &c, sizeof(c),
                          &right->parent);
    if (err) {
        node_unref(right);
        return err;
    }
    node_move(n, cut.k, right);
    if (!right->level)
        st->tree.leaves++;
    st->tree.shape++;
    *out = right;
    return 0;
}

/* Puts a new item in before item i of n, cutting n if it is full; *where: the node that
 * holds it.  Goes up one level at each call of itself. */
static int insert_item(struct store *st, struct node *n, uint32_t i, const uint8_t *key, size_t len,
                       const void *value, size_t value_len, struct node **where)
{
    size_t extra = len + (value_len & ~(size_t)ITEM_FAR), bytes;
    uint8_t sep[FMT_KEY_MAX];
    int err;

    while ((bytes = node_grown(n, i, key, len, value_len)) > full(n)) {
        size_t cost = entry_size(len, n->level ? FMT_REF_SIZE : value_len & ~(size_t)ITEM_FAR);
        struct cut cut = choose_cut(n, i, cost);
        const uint8_t *low = i == cut.k && !cut.right ? key : item_key(n, cut.k - 1);
        size_t low_len = i == cut.k && !cut.right ? len : n->item[cut.k - 1].key_len;
        const uint8_t *high = i == cut.k && cut.right ? key : item_key(n, cut.k);
        size_t high_len = i == cut.k && cut.right ? len : n->item[cut.k].key_len;
        /* Keys of interior nodes are separators already. */
        size_t sep_len = n->level ? high_len : separator(low, low_len, high, high_len);
        struct node *right;

        memcpy(sep, high, sep_len); /* the item may move */
        err = split(st, n, cut, sep, sep_len, extra, &right);
        if (err)
            return err;
        /* The first key becomes empty, but not before what goes in front of it is there. */
        if (right->level && !(cut.right && i == cut.k))
            node_open_left(right);
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

/* ---- merging ---- */

static void collapse_root(struct store *st)
{
    struct tree *t = &st->tree;

    while (t->node && t->node->level && t->node->n == 1) {
        struct node *old = t->node;
        struct child c = child_get(old, 0);

        t->node = c.node;
        if (c.node)
            c.node->parent = NULL;
        else
            t->root = c.ref;
        node_unref(old);
    }
}

/* Takes an empty node out, and those above that become empty by it. */
static void unlink_node(struct store *st, struct node *n)
{
    struct tree *t = &st->tree;

    t->shape++;
    while (n->n == 0) {
        struct node *parent = n->parent;

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

/* Appends all of `right`, whose separator is item i of the parent, to `left`. */
static int join(struct store *st, struct node *left, struct node *right, uint32_t i)
{
    struct node *parent = left->parent;
    size_t bytes = right->used - right->waste + parent->item[i].key_len;

    if (node_reserve(left, right->n, bytes))
        return DREP_ERR_NOMEM;
    if (right->level) {
        struct child c = child_get(right, 0);

        /* The separator takes the place of the empty first key. */
        node_insert(
            left, left->n, item_key(parent, i), parent->item[i].key_len, &c, sizeof(c),
            node_grown(left, left->n, item_key(parent, i), parent->item[i].key_len, sizeof(c)));
        if (c.node)
            c.node->parent = left;
        node_move(right, 1, left);
        node_remove(right, 0);
    } else {
        node_move(right, 0, left);
        st->tree.leaves--;
    }
    node_remove(parent, i);
    node_unref(right);
    st->tree.shape++;
    return 0;
}

/* Joins a node that became small with a neighbour if both fit into one with room to spare.
 * Only an optimisation, so failures are nobody's business. */
static void merge(struct store *st, struct node *n)
{
    struct bounds any = {.low = NULL, .high = NULL};

    while (n->parent && n->bytes < full(n) / 4) {
        struct node *parent = n->parent;
        uint32_t i = node_index(n);
        uint32_t other = i + 1 < parent->n ? i + 1 : i - 1;
        struct node *sibling;
        struct child c;

        if (parent->n < 2)
            break;
        c = child_get(parent, other);
        if (n->bytes + (c.node ? c.node->bytes : c.ref.length) > full(n) / 4 * 3)
            break;
        if (own_child(st, parent, other, &any, &sibling))
            break;
        if (other > i ? join(st, n, sibling, other) : join(st, sibling, n, i))
            break;
        n = parent;
    }
    collapse_root(st);
}

/* ---- entries ---- */

static void free_value(struct store *st, const uint8_t *value)
{
    struct ref ref = {0, 0, 0};
    struct in in;

    in_init(&in, value, FMT_REF_SIZE);
    ref_get(&in, &ref);
    /* An impossible reference of a hostile file leads nowhere. */
    if (!in.err && ref.length && ref.offset < store_end(st) &&
        ref.length <= store_end(st) - ref.offset)
        space_free(st, ref.offset, ref.length, WITH_OP);
}

/* How an entry is put: noted for the operation, not noted, or noted if it is new. */
enum how { NOTED, UNDOING, ADDING };

/* Cuts a leaf in which a longer value of entry i does not fit. */
static int split_half(struct store *st, struct node *leaf)
{
    struct cut half = {leaf->n / 2, 0};
    const uint8_t *high = item_key(leaf, half.k);
    uint8_t sep[FMT_KEY_MAX];
    size_t sep_len = separator(item_key(leaf, half.k - 1), leaf->item[half.k - 1].key_len, high,
                               leaf->item[half.k].key_len);
    struct node *right;

    memcpy(sep, high, sep_len);
    return split(st, leaf, half, sep, sep_len, 0, &right);
}

static int put(struct store *st, const uint8_t *key, size_t len, const void *value,
               size_t value_len, enum how how)
{
    size_t size = value_len & ~(size_t)ITEM_FAR;
    struct node *leaf;
    uint32_t i;
    int equal, err;

    for (;;) { /* until a longer value fits; a leaf of one entry may be longer */
        err = leaf_for(st, key, len, &leaf);
        if (err)
            return err;
        i = node_find(leaf, key, len, &equal);
        if (!equal || leaf->n == 1 || leaf->bytes - item_value_len(leaf, i) + size <= LEAF_MAX)
            break;
        err = split_half(st, leaf);
        if (err)
            return err;
    }
    if (equal && how == ADDING)
        return DREP_ERR_EXISTS;
    if (how != UNDOING)
        err = op_note(st, key, len, equal ? item_value(leaf, i) : NULL,
                      equal ? leaf->item[i].value_len : 0);
    if (!err && equal)
        err = node_reserve(leaf, 0, len + size);
    if (err)
        return err;
    if (equal) {
        if (how == NOTED && (leaf->item[i].value_len & ITEM_FAR))
            free_value(st, item_value(leaf, i));
        node_replace(leaf, i, value, value_len);
        leaf->last = i;
    } else {
        size_t bytes = node_grown(leaf, i, key, len, value_len);

        if (bytes <= LEAF_MAX && (err = node_reserve(leaf, 1, len + size)) == 0)
            node_insert(leaf, i, key, len, value, value_len, bytes);
        else if (!err)
            err = insert_item(st, leaf, i, key, len, value, value_len, &leaf);
    }
    st->tree.change++;
    st->dirty = 1;
    return err;
}

static int del(struct store *st, const uint8_t *key, size_t len, enum how how)
{
    struct node *leaf;
    uint32_t i;
    int equal;
    int err = leaf_for(st, key, len, &leaf);

    if (err)
        return err;
    i = node_find(leaf, key, len, &equal);
    if (!equal) {
        if (leaf->n == 0) /* a tree without entries has no root */
            unlink_node(st, leaf);
        return DREP_ERR_NOT_FOUND;
    }
    if (how == NOTED) {
        err = op_note(st, key, len, item_value(leaf, i), leaf->item[i].value_len);
        if (err)
            return err;
        if (leaf->item[i].value_len & ITEM_FAR)
            free_value(st, item_value(leaf, i));
    }
    node_remove(leaf, i);
    st->tree.change++;
    st->dirty = 1;
    if (leaf->n == 0)
        unlink_node(st, leaf);
    else
        merge(st, leaf);
    return 0;
}

/* Leaves stay few in memory; nobody may hold one here. */
static void few_leaves(struct store *st)
{
    if (st->tree.leaves > st->tree.leaves_max)
        tree_spill(st);
}

int tree_put_raw(struct store *st, const uint8_t *key, size_t len, const void *value,
                 size_t value_len)
{
    few_leaves(st);
    return put(st, key, len, value, value_len, UNDOING);
}

int tree_del_raw(struct store *st, const uint8_t *key, size_t len)
{
    few_leaves(st);
    return del(st, key, len, UNDOING);
}

int tree_put_anyway(struct store *st, const struct key *key, const void *value, size_t len)
{
    assert(len <= FMT_INLINE_MAX);
    few_leaves(st);
    return put(st, key->p, key->len, value, len, UNDOING);
}

/* A value that is too long for a leaf goes to a block of its own. */
static int put_far(struct store *st, const struct key *key, const void *value, size_t len,
                   enum how how)
{
    uint8_t bytes[FMT_REF_SIZE];
    struct ref ref;
    struct out out;
    uint64_t offset;
    int err;

    if (len > FMT_VALUE_MAX)
        return fail(DREP_ERR_LIMIT, "a value of %zu bytes is larger than %u", len, FMT_VALUE_MAX);
    err = space_alloc(st, len + FMT_BLOCK_HEAD, FMT_ALIGN, WITH_OP, &offset);
    if (err)
        return err;
    err = block_write(st, FMT_VALUE, 0, value, len, offset, &ref);
    if (!err) {
        out_init(&out, bytes, sizeof(bytes));
        ref_put(&out, &ref);
        err = put(st, key->p, key->len, bytes, FMT_REF_SIZE | ITEM_FAR, how);
    }
    if (err)
        space_free(st, offset, len + FMT_BLOCK_HEAD, WITH_OP);
    return err;
}

static int put_any(struct store *st, const struct key *key, const void *value, size_t len,
                   enum how how)
{
    int err = store_may_write(st);

    if (err)
        return err;
    few_leaves(st);
    return len <= FMT_INLINE_MAX ? put(st, key->p, key->len, value, len, how)
                                 : put_far(st, key, value, len, how);
}

int tree_put(struct store *st, const struct key *key, const void *value, size_t len)
{
    return put_any(st, key, value, len, NOTED);
}

int tree_add(struct store *st, const struct key *key, const void *value, size_t len)
{
    return put_any(st, key, value, len, ADDING);
}

int tree_edit(struct store *st, const struct key *key, uint8_t **value, size_t *len)
{
    struct node *leaf;
    uint32_t i;
    int equal, err = store_may_write(st);

    if (!err)
        err = leaf_for(st, key->p, key->len, &leaf);
    if (err)
        return err;
    i = node_find(leaf, key->p, key->len, &equal);
    if (!equal || leaf->item[i].value_len & ITEM_FAR)
        return DREP_ERR_NOT_FOUND;
    err = op_note(st, key->p, key->len, item_value(leaf, i), leaf->item[i].value_len);
    if (err)
        return err;
    leaf->last = i;
    st->tree.change++;
    st->dirty = 1;
    *value = leaf->arena + leaf->item[i].at + key->len;
    *len = leaf->item[i].value_len;
    return 0;
}

int tree_del(struct store *st, const struct key *key)
{
    int err = store_may_write(st);

    if (err)
        return err;
    few_leaves(st);
    return del(st, key->p, key->len, NOTED);
}

/* ---- writing leaves early ---- */

#define BATCH 256

struct batch {
    struct node *leaf[BATCH];
    uint32_t at[BATCH];     /* in its parent */
    uint64_t offset[BATCH]; /* in the file */
    size_t n;
    size_t bytes;
};

static uint64_t leaf_bytes(const struct batch *batch, size_t i)
{
    return round_up(batch->leaf[i]->bytes, FMT_ALIGN);
}

/* The first n leaves of the batch are not written after all. */
static void batch_unplace(struct store *st, const struct batch *batch, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (!(batch->offset[i] & APART))
            space_free(st, batch->offset[i], leaf_bytes(batch, i), ANYWAY);
}

/* One after the other beside the file, until the commit. */
static int batch_place_apart(struct store *st, struct batch *batch)
{
    uint64_t at = st->apart_end;
    int err = 0;

    if (!st->apart)
        err = st->io->ops->apart(st->io, &st->apart);
    for (size_t i = 0; !err && i < batch->n; i++) {
        batch->offset[i] = at | APART;
        at += leaf_bytes(batch, i);
    }
    return err;
}

/* In the file each leaf finds a place of its own, so that those which earlier ones have left
   are used. */
static int batch_place(struct store *st, struct batch *batch)
{
    if (st->opts.pack && st->io->ops->apart)
        return batch_place_apart(st, batch);
    for (size_t i = 0; i < batch->n; i++) {
        int err = space_alloc(st, leaf_bytes(batch, i), FMT_ALIGN, ANYWAY, &batch->offset[i]);

        if (err) {
            batch_unplace(st, batch, i);
            return err;
        }
    }
    return 0;
}

/* Their bytes stand one after the other; those that do so where they go are written at once. */
static int batch_store(struct store *st, const struct batch *batch, const uint8_t *bytes)
{
    struct io *io = batch->offset[0] & APART ? st->apart : st->io;
    size_t at = 0, len;
    int err = 0;

    for (size_t i = 0; !err && i < batch->n; at += len) {
        uint64_t offset = batch->offset[i];

        for (len = 0; i < batch->n && batch->offset[i] == offset + len; i++)
            len += (size_t)leaf_bytes(batch, i);
        err = io->ops->write_at(io, bytes + at, len, offset & ~APART);
    }
    return err;
}

static int batch_write(struct store *st, struct batch *batch)
{
    size_t at = 0;
    uint8_t *bytes;
    int err;

    if (batch->n == 0)
        return 0;
    bytes = mem_zalloc(batch->bytes, 1);
    if (!bytes)
        return DREP_ERR_NOMEM;
    err = batch_place(st, batch);
    if (err) {
        mem_free(bytes);
        return err;
    }
    for (size_t i = 0; i < batch->n; i++) {
        struct node *n = batch->leaf[i];

        n->ref = (struct ref){batch->offset[i], (uint32_t)n->bytes, 0};
        n->ref.checksum = node_encode(n, bytes + at, st->slot.uuid, store_next_sequence(st));
        at += (size_t)leaf_bytes(batch, i);
    }
    err = batch_store(st, batch, bytes);
    mem_free(bytes);
    if (err) {
        batch_unplace(st, batch, batch->n);
        return err;
    }
    if (batch->offset[0] & APART)
        st->apart_end += batch->bytes;
    else
        st->tree.spilled = 1;
    for (size_t i = 0; i < batch->n; i++) {
        struct node *n = batch->leaf[i];
        struct child c = {.ref = n->ref};

        child_set(n->parent, batch->at[i], &c);
        n->parent = NULL;
        n->dirty = 0;
        node_cache_put(&st->nodes, n);
        node_unref(n);
        st->tree.leaves--;
    }
    batch->n = 0;
    batch->bytes = 0;
    return 0;
}

static int hinted(const struct store *st, const struct node *n)
{
    for (int i = 0; i < HINTS; i++) {
        if (st->tree.hint[i].leaf == n && st->tree.hint[i].shape == st->tree.shape)
            return 1;
    }
    return 0;
}

static int spill(struct store *st, struct node *n, struct batch *batch)
{
    for (uint32_t i = 0; i < n->n; i++) {
        struct child c = child_get(n, i);
        int err = 0;

        if (!c.node)
            continue;
        if (c.node->level) {
            err = spill(st, c.node, batch);
        } else if (!hinted(st, c.node)) {
            if (batch->n == BATCH)
                err = batch_write(st, batch);
            if (err)
                return err;
            batch->leaf[batch->n] = c.node;
            batch->at[batch->n++] = i;
            batch->bytes += (size_t)round_up(c.node->bytes, FMT_ALIGN);
        }
        if (err)
            return err;
    }
    return 0;
}

void tree_spill(struct store *st)
{
    struct batch batch = {.n = 0};
    struct tree *t = &st->tree;
    int err = space_begin(st);

    if (!err && t->node && t->node->level)
        err = spill(st, t->node, &batch);
    if (!err)
        err = batch_write(st, &batch);
    t->shape++;
    /* What cannot be written now is tried again when there is much more of it. */
    if (err || t->leaves > t->leaves_max / 2)
        t->leaves_max *= 2;
}

/* ---- after a commit ---- */

/* The node stands in the file now, and so does everything below it. */
static void clean(struct store *st, struct node *n)
{
    for (uint32_t i = 0; n->level && i < n->n; i++) {
        struct child c = child_get(n, i);

        if (!c.node && !c.apart)
            continue;
        if (c.node)
            clean(st, c.node);
        c.node = NULL;
        c.apart = 0;
        child_set(n, i, &c);
    }
    n->dirty = 0;
    n->parent = NULL;
    node_cache_put(&st->nodes, n);
    node_unref(n);
}

void tree_clean(struct store *st)
{
    struct tree *t = &st->tree;

    if (t->node) {
        t->root = t->node->ref;
        clean(st, t->node);
    }
    t->node = NULL;
    tree_new_root(st);
    t->leaves = 0;
    t->leaves_max = LEAVES_MAX;
    t->spilled = 0;
    t->shape++;
    t->change++;
    st->opts.pack = 0; /* only a whole tree can be in one extent */
    if (st->apart) {
        st->apart->ops->close(st->apart);
        st->apart = NULL;
    }
}
