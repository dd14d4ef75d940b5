/* find.c - looking up one entry.
 *
 * Three ways to the leaf, the cheapest first: the finger of this thread (a clean tree), a hint (a
 * dirty one), the descent from the root. */
/* SPDX-License-Identifier: MIT */
#include "tree/find.h"

#include "base/error.h"
#include "tree/block.h"
#include "tree/descend.h"
#include "tree/hint.h"

#include <string.h>

/* ---- fingers ---- */

/* Take the finger of this thread for this kind of key; NULL: another thread uses it.  Kinds are
 * apart, because a program that walks over objects asks for a link, an object and a chunk in
 * turn. */
static struct finger *finger_take(const struct tree *t, const struct key *key)
{
    static _Thread_local char thread;
    uint64_t h = (uint64_t)(uintptr_t)&thread * UINT64_C(0x9e3779b97f4a7c15) >> 60;
    unsigned tag = key->len > FMT_KEY_TAG_AT ? key_tag(key->p) : 0;
    unsigned kind = tag == FMT_TAG_CHUNK  ? 3
                    : tag == FMT_TAG_LINK ? 2
                    : tag == FMT_TAG_ATTR ? 1
                                          : 0;
    struct finger *f = &t->finger[h << 2 | kind];

    return atomic_flag_test_and_set_explicit(&f->busy, memory_order_acquire) ? NULL : f;
}

static void finger_set(struct finger *f, uint64_t change, struct tree_node *leaf, uint32_t at,
                       const struct key *key)
{
    if (f->leaf != leaf) {
        node_ref(leaf);
        node_unref(f->leaf);
        f->leaf = leaf;
    }
    f->change = change;
    f->at = at;
    f->len = (uint32_t)key->len;
    memcpy(f->key, key->p, key->len);
}

/* Look for a key near the finger: 1, it is entry *at of the finger's leaf; 0, it is not in the
 * tree; -1, unknown: the key belongs to another leaf. */
static int finger_find(const struct finger *f, const struct key *key, uint32_t *at)
{
    int equal, order = key_compare(f->key, f->len, key->p, key->len);
    const struct mark *end;

    *at = f->at;
    if (order == 0)
        return 1;
    if (order < 0) {
        *at = node_find_behind(f->leaf, f->at, f->key, f->len, key->p, key->len, &equal);
        if (*at != UINT32_MAX)
            return equal;
    }
    /* The words of the first and the last key mostly tell, and stand beside the node. */
    end = &f->leaf->mark[order < 0 ? node_marks(f->leaf) : 0];
    if (words_compare(words_of(key->p, key->len), end->words) != (order < 0 ? -1 : 1))
        return -1;
    *at = node_find(f->leaf, key->p, key->len, &equal);
    return equal;
}

/* ---- looking up ---- */

/* Find the leaf of a key by a hint or by descending. */
static int leaf_of(struct store *st, const struct key *key, struct tree_node **leaf)
{
    struct trail t;
    int err;

    *leaf = hint_leaf(st->tree, key->p, key->len);
    if (*leaf)
        return 0;
    err = descend(st, key->p, key->len, 0, &t, leaf);
    if (!err)
        trail_release(&t);
    return err;
}

/* Slow path: find the entry of a key without a finger. */
static int search(struct store *st, const struct key *key, struct tree_node **leaf, uint32_t *at)
{
    int equal, err = leaf_of(st, key, leaf);

    if (err)
        return err;
    *at = node_find(*leaf, key->p, key->len, &equal);
    if (equal)
        return 0;
    leaf_done(*leaf);
    return DREP_ERR_NOT_FOUND;
}

static int seek(struct store *st, const struct key *key, struct tree_node **leaf, uint32_t *at)
{
    const struct tree *t = st->tree;
    struct finger *f = !t->node && key->len <= FINGER_KEY ? finger_take(t, key) : NULL;
    int err = 0, found = -1;

    if (f && f->leaf && f->change == t->change)
        found = finger_find(f, key, at);
    if (found > 0) {
        *leaf = f->leaf;
        node_ref(*leaf);
    } else {
        err = found == 0 ? DREP_ERR_NOT_FOUND : search(st, key, leaf, at);
    }
    if (f && !err && (*leaf)->block)
        finger_set(f, t->change, *leaf, *at, key);
    if (f)
        atomic_flag_clear_explicit(&f->busy, memory_order_release);
    return err;
}

int value_far(struct store *st, const struct tree_node *leaf, struct buf *far, const uint8_t **p,
              size_t *len)
{
    struct ref ref = {0, 0, 0};
    struct in in;
    int err;

    in_init(&in, *p, FMT_REF_SIZE);
    ref_get(&in, &ref);
    if (in.err || !ref.length)
        return fail_byte(DREP_ERR_FORMAT, leaf->ref.offset,
                         "node at byte %llu: impossible reference to a value (R4.14)",
                         (unsigned long long)leaf->ref.offset);
    err = block_load(st, &ref, FMT_VALUE, far, NULL);
    *p = far->p;
    *len = far->len;
    return err;
}

/* Give the value of entry i of a leaf in place, or read from its own block into *far. */
static int value_peek(struct store *st, const struct tree_node *leaf, uint32_t i, struct buf *far,
                      const uint8_t **p, size_t *len)
{
    *p = node_value(leaf, i, len);
    return *len & ITEM_FAR ? value_far(st, leaf, far, p, len) : 0;
}

int value_get(struct store *st, const struct tree_node *leaf, uint32_t i, struct buf *value)
{
    const uint8_t *p;
    size_t len;
    int err = value_peek(st, leaf, i, value, &p, &len);

    if (err || p == value->p)
        return err;
    return buf_set(value, p, len);
}

int tree_get(struct store *st, const struct key *key, struct buf *value)
{
    struct tree_node *leaf;
    uint32_t i;
    int err = seek(st, key, &leaf, &i);

    if (err)
        return err;
    if (value)
        err = value_get(st, leaf, i, value);
    leaf_done(leaf);
    return err;
}

int tree_peek(struct store *st, const struct key *key, struct peek *peek)
{
    struct tree_node *leaf;
    uint32_t i;
    int err = seek(st, key, &leaf, &i);

    if (err)
        return err;
    peek->far = (struct buf){0};
    err = value_peek(st, leaf, i, &peek->far, &peek->p, &peek->len);
    if (err) {
        buf_release(&peek->far);
        leaf_done(leaf);
        return err;
    }
    peek->held = leaf->dirty ? NULL : leaf;
    return 0;
}

void tree_peeked(struct peek *peek)
{
    node_unref(peek->held);
    if (peek->far.p)
        buf_release(&peek->far);
    peek->held = NULL;
}

int tree_floor(struct store *st, const struct key *key, size_t prefix, struct key *found,
               struct buf *value)
{
    struct tree_node *leaf;
    struct trail t;
    uint32_t i;
    int equal;
    int err = descend(st, key->p, key->len, 0, &t, &leaf);

    if (err)
        return err;
    i = node_find(leaf, key->p, key->len, &equal);
    if (!equal && i == 0 && t.b.low) {
        struct trail left;

        leaf_done(leaf);
        err = descend(st, t.b.low, t.b.low_len, 1, &left, &leaf);
        trail_release(&t);
        if (err)
            return err;
        t = left;
        i = leaf->n;
    }
    trail_release(&t);
    if (!equal && i-- == 0)
        err = DREP_ERR_NOT_FOUND;
    if (!err)
        node_key(leaf, i, found);
    if (!err && (found->len < prefix || memcmp(found->p, key->p, prefix) != 0))
        err = DREP_ERR_NOT_FOUND;
    else if (!err && value)
        err = value_get(st, leaf, i, value);
    leaf_done(leaf);
    return err;
}
