/* walk.c - walking over entries in the order of their keys.
 *
 * A pin keeps the leaf of a walk, with the version of the tree.  There are few pins for all walks:
 * a walk whose pin was taken by another one descends again, and loses nothing but time. */
/* SPDX-License-Identifier: MIT */
#include "tree/walk.h"

#include "base/error.h"
#include "base/mem.h"
#include "tree/descend.h"
#include "tree/find.h"

#include <string.h>

void tree_walk(struct tree_walk *w, struct store *st, const struct key *from, size_t prefix)
{
    w->st = st;
    w->at.len = from->len;
    memcpy(w->at.p, from->p, from->len);
    w->prefix = prefix;
    w->after = 0;
    w->stamp = 0;
    w->pos = 0;
}

/* Take the pinned leaf, if nothing changed since.  At its end *next is the first key behind it;
 * *more: there is one. */
static struct tree_node *pin_get(struct tree_walk *w, struct key *next, int *more)
{
    struct store *st = w->st;
    struct tree_node *leaf = NULL;
    struct pin *pin;

    if (!w->stamp)
        return NULL;
    pthread_mutex_lock(&st->tree->lock);
    pin = &st->tree->pin[w->stamp % PINS];
    if (pin->stamp == w->stamp && pin->change == st->tree->change) {
        leaf = pin->leaf;
        if (!leaf->dirty)
            node_ref(leaf);
        *more = pin->has_high;
        if ((uint32_t)w->pos == leaf->n && pin->has_high) {
            next->len = pin->high.len;
            memcpy(next->p, pin->high.p, pin->high.len);
        }
    }
    pthread_mutex_unlock(&st->tree->lock);
    return leaf;
}

static int pin_put(struct tree_walk *w, struct tree_node *leaf, const struct bounds *b)
{
    struct store *st = w->st;
    struct pin *pin;

    pthread_mutex_lock(&st->tree->lock);
    if (!st->tree->pin)
        st->tree->pin = mem_zalloc(PINS, sizeof(*st->tree->pin));
    if (!st->tree->pin) {
        pthread_mutex_unlock(&st->tree->lock);
        return DREP_ERR_NOMEM;
    }
    w->stamp = ++st->tree->next_stamp;
    pin = &st->tree->pin[w->stamp % PINS];
    node_unref(pin->leaf);
    node_ref(leaf);
    pin->leaf = leaf;
    pin->stamp = w->stamp;
    pin->change = st->tree->change;
    pin->has_high = b->high != NULL;
    if (b->high) {
        pin->high.len = b->high_len;
        memcpy(pin->high.p, b->high, b->high_len);
    }
    pthread_mutex_unlock(&st->tree->lock);
    return 0;
}

/* Find the entry where the walk goes on, and pin its leaf.  *same: the entry follows the one with
 * key w->at in the same leaf. */
static int walk_seek(struct tree_walk *w, struct tree_node **out, uint32_t *at, int *same)
{
    struct key next;
    struct tree_node *leaf;
    uint32_t i = (uint32_t)w->pos;
    int more = 0, equal, err;

    leaf = pin_get(w, &next, &more);
    *same = leaf && i > 0;
    if (leaf && i < leaf->n) {
        *out = leaf;
        *at = i;
        return 0;
    }
    *same = 0;
    if (leaf) {
        leaf_done(leaf);
        if (!more)
            return DREP_ERR_NOT_FOUND;
    } else {
        next.len = w->at.len;
        memcpy(next.p, w->at.p, w->at.len);
    }
    for (int after = leaf ? 0 : w->after;; after = 0) {
        struct trail t;

        err = descend(w->st, next.p, next.len, 0, &t, &leaf);
        if (err)
            return err;
        i = node_find(leaf, next.p, next.len, &equal);
        if (equal && after)
            i++;
        if (i < leaf->n) {
            err = pin_put(w, leaf, &t.b);
            trail_release(&t);
            if (err) {
                leaf_done(leaf);
                return err;
            }
            *out = leaf;
            *at = i;
            return 0;
        }
        leaf_done(leaf);
        if (t.b.high) {
            next.len = t.b.high_len;
            memcpy(next.p, t.b.high, t.b.high_len);
        }
        more = t.b.high != NULL;
        trail_release(&t);
        if (!more)
            return DREP_ERR_NOT_FOUND;
    }
}

/* Find the next entry and its key.  It is decoded into *key: w->at must stay as it is if the walk
 * ends here. */
static int walk_key(struct tree_walk *w, struct tree_node **leaf, uint32_t *i, struct key *key)
{
    int same, err = walk_seek(w, leaf, i, &same);

    if (err)
        return err;
    if (same) {
        key->len = w->at.len;
        memcpy(key->p, w->at.p, w->at.len);
        node_next_key(*leaf, *i, key);
    } else {
        node_key(*leaf, *i, key);
    }
    if (!w->after || key_compare(key->p, key->len, w->at.p, w->at.len) > 0)
        return 0;
    /* A walk that went back could go on for ever, as the tree may grow meanwhile. */
    err = fail_byte(DREP_ERR_FORMAT, (*leaf)->ref.offset,
                    "node at byte %llu: a key is not greater than the one before (R4.16)",
                    (unsigned long long)(*leaf)->ref.offset);
    leaf_done(*leaf);
    return err;
}

static bool inside(const struct tree_walk *w, const struct key *key)
{
    return key->len >= w->prefix && memcmp(key->p, w->at.p, w->prefix) == 0;
}

/* The walk goes on behind entry i, whose key this is. */
static void walk_on(struct tree_walk *w, uint32_t i, const struct key *key)
{
    w->at.len = key->len;
    memcpy(w->at.p, key->p, key->len);
    w->after = 1;
    w->pos = (int)i + 1;
}

int tree_next(struct tree_walk *w, struct key *key, struct buf *value)
{
    struct tree_node *leaf;
    uint32_t i;
    int err = walk_key(w, &leaf, &i, key);

    if (err)
        return err;
    if (!inside(w, key))
        err = DREP_ERR_NOT_FOUND;
    else if (value)
        err = value_get(w->st, leaf, i, value);
    if (!err)
        walk_on(w, i, key);
    leaf_done(leaf);
    return err;
}

/* Go on from the entry with key *key to the next one, number i, with its value; false: the walk
 * ends before that one, and *key stays.  Neighbours mostly share the prefix of the walk. */
static bool step(const struct tree_walk *w, const struct tree_node *leaf, uint32_t i,
                 struct key *key, const uint8_t **value, size_t *len)
{
    struct entry e;

    if (!leaf->block) {
        if (leaf->item[i].key_len < w->prefix || memcmp(item_key(leaf, i), w->at.p, w->prefix) != 0)
            return false;
        node_next_key(leaf, i, key);
        *value = node_value(leaf, i, len);
        return true;
    }
    e = node_entry(leaf, i);
    if (e.shared < w->prefix && (e.shared + e.suffix_len < w->prefix ||
                                 memcmp(e.suffix, w->at.p + e.shared, w->prefix - e.shared) != 0))
        return false;
    key_follow(&e, key);
    *value = e.value;
    *len = e.value_len | (e.far ? ITEM_FAR : 0);
    return true;
}

int tree_count(struct tree_walk *w, int64_t *n)
{
    struct tree_node *leaf;
    const uint8_t *value;
    struct key key;
    uint32_t first, i;
    size_t len;
    int err = walk_key(w, &leaf, &i, &key);

    if (err)
        return err;
    if (!inside(w, &key)) {
        leaf_done(leaf);
        return DREP_ERR_NOT_FOUND;
    }
    first = i++;
    while (i < leaf->n && step(w, leaf, i, &key, &value, &len))
        i++;
    *n += i - first;
    walk_on(w, i - 1, &key);
    leaf_done(leaf);
    return 0;
}

int tree_each(struct tree_walk *w, tree_entry_fn *fn, void *ctx)
{
    struct buf far = {0};
    const uint8_t *value;
    struct tree_node *leaf;
    struct key key;
    uint32_t i;
    size_t len;
    int err = walk_key(w, &leaf, &i, &key);

    if (err)
        return err;
    if (!inside(w, &key))
        err = DREP_ERR_NOT_FOUND;
    else
        value = node_value(leaf, i, &len);
    while (!err) {
        if (len & ITEM_FAR)
            err = value_far(w->st, leaf, &far, &value, &len);
        if (!err)
            err = fn(ctx, &key, value, len);
        i++;
        if (err || i == leaf->n || !step(w, leaf, i, &key, &value, &len))
            break;
    }
    if (!err || err == TREE_ENOUGH) {
        walk_on(w, i - 1, &key);
        err = 0;
    }
    buf_release(&far);
    leaf_done(leaf);
    return err;
}

int tree_space(struct store *st, unsigned from, uint8_t *space)
{
    struct tree_walk w;
    struct key key;
    int err;

    if (from > UINT8_MAX)
        return DREP_ERR_NOT_FOUND;
    key_make_in(&key, (uint8_t)from, 0, 0);
    tree_walk(&w, st, &key, 0);
    err = tree_next(&w, &key, NULL);
    if (!err)
        *space = key_space(key.p);
    return err;
}
