/* edit.c - changing entries.
 *
 * The order within a change: find the leaf, note the old entry for undo, reserve memory, change.
 * An error before the last step leaves the tree as it was; a note without its change is harmless,
 * as replaying it restores what is there. */
/* SPDX-License-Identifier: MIT */
#include "tree/edit.h"

#include "base/error.h"
#include "space/space.h"
#include "tree/block.h"
#include "tree/path.h"
#include "tree/spill.h"
#include "tree/split.h"
#include "tree/touched.h"
#include "tree/undo.h"

#include <assert.h>

static void free_value(struct store *st, const uint8_t *value)
{
    struct ref ref = {0, 0, 0};
    struct in in;

    in_init(&in, value, FMT_REF_SIZE);
    ref_get(&in, &ref);
    /* A hostile file may have an impossible reference: free nothing. */
    if (!in.err && ref.length && ref.offset < store_end(st) &&
        ref.length <= store_end(st) - ref.offset)
        space_free(st, ref.offset, ref.length, WITH_OP);
}

/* How to put an entry: noted for undo; not noted; or noted, and only if it is new. */
enum how { NOTED, UNDOING, ADDING };

/* Mark the dataset of an entry of elements that is about to change. */
static int touch(struct store *st, const uint8_t *key, bool sure)
{
    uint8_t tag = key_known(key);

    return (tag == FMT_TAG_CHUNK || tag == FMT_TAG_DATA) && key_object(key) != FMT_OBJECT_FILE
               ? touched_mark(st, key_object(key), sure)
               : 0;
}

static int put(struct store *st, const uint8_t *key, size_t len, const void *value,
               size_t value_len, enum how how)
{
    size_t size = value_len & ~(size_t)ITEM_FAR;
    struct tree_node *leaf;
    uint32_t i;
    int equal, err;

    for (;;) { /* until the longer value fits; a leaf of one entry may exceed node_full() */
        err = path_leaf(st, key, len, &leaf);
        if (err)
            return err;
        i = node_find(leaf, key, len, &equal);
        if (!equal || leaf->n == 1 ||
            leaf->bytes - item_value_len(leaf, i) + size <= node_full(leaf, i))
            break;
        err = leaf_split(st, leaf, i);
        if (err)
            return err;
    }
    if (equal && how == ADDING)
        return DREP_ERR_EXISTS;
    if (how != UNDOING)
        err = undo_note(st, key, len, equal ? item_value(leaf, i) : NULL,
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

        if (bytes <= node_full(leaf, i) && !(err = node_reserve(leaf, 1, len + size)))
            node_insert(leaf, i, key, len, value, value_len, bytes);
        else if (!err)
            err = node_insert_split(st, leaf, i, key, len, value, value_len, &leaf);
    }
    st->tree->change++;
    store_changed(st);
    return err;
}

static int del(struct store *st, const uint8_t *key, size_t len, enum how how)
{
    struct tree_node *leaf;
    uint32_t i;
    int equal;
    int err = path_leaf(st, key, len, &leaf);

    if (err)
        return err;
    i = node_find(leaf, key, len, &equal);
    if (!equal) {
        if (leaf->n == 0) /* an empty tree has no root */
            node_unlink(st, leaf);
        return DREP_ERR_NOT_FOUND;
    }
    if (how == NOTED) {
        err = undo_note(st, key, len, item_value(leaf, i), leaf->item[i].value_len);
        if (err)
            return err;
        if (leaf->item[i].value_len & ITEM_FAR)
            free_value(st, item_value(leaf, i));
    }
    node_remove(leaf, i);
    st->tree->change++;
    store_changed(st);
    if (leaf->n == 0)
        node_unlink(st, leaf);
    else
        node_merge(st, leaf);
    return 0;
}

int tree_put_raw(struct store *st, const uint8_t *key, size_t len, const void *value,
                 size_t value_len)
{
    tree_limit_leaves(st);
    return put(st, key, len, value, value_len, UNDOING);
}

int tree_del_raw(struct store *st, const uint8_t *key, size_t len)
{
    tree_limit_leaves(st);
    return del(st, key, len, UNDOING);
}

int tree_put_anyway(struct store *st, const struct key *key, const void *value, size_t len)
{
    int err = touch(st, key->p, true);

    assert(len <= FMT_INLINE_MAX);
    if (err)
        return err;
    tree_limit_leaves(st);
    return put(st, key->p, key->len, value, len, UNDOING);
}

/* Slow path: the value is too long for a leaf and goes to a block of its own. */
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

    if (!err)
        err = touch(st, key->p, false);
    if (err)
        return err;
    tree_limit_leaves(st);
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
    struct tree_node *leaf;
    uint32_t i;
    int equal, err = store_may_write(st);

    if (!err)
        err = path_leaf(st, key->p, key->len, &leaf);
    if (err)
        return err;
    i = node_find(leaf, key->p, key->len, &equal);
    if (!equal || leaf->item[i].value_len & ITEM_FAR)
        return DREP_ERR_NOT_FOUND;
    err = undo_note(st, key->p, key->len, item_value(leaf, i), leaf->item[i].value_len);
    if (err)
        return err;
    leaf->last = i;
    st->tree->change++;
    store_changed(st);
    *value = leaf->arena + leaf->item[i].at + key->len;
    *len = leaf->item[i].value_len;
    return 0;
}

int tree_del(struct store *st, const struct key *key)
{
    int err = store_may_write(st);

    if (!err)
        err = touch(st, key->p, false);
    if (err)
        return err;
    tree_limit_leaves(st);
    return del(st, key->p, key->len, NOTED);
}
