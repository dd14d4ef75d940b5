/* tree.c - finding entries, and walking over them in order.
 *
 * A descent carries what the separators on its way promise about the keys below; a node
 * that stands in the file and breaks the promise is refused.  Levels fall by one at each
 * step, so a file cannot lead in circles. */
#include "store/inner.h"

#include "base/error.h"
#include "base/mem.h"

#include <string.h>

int tree_init(struct store *st)
{
    struct tree *t = &st->tree;

    t->hint = mem_zalloc(HINTS, sizeof(*t->hint));
    t->pin = mem_zalloc(PINS, sizeof(*t->pin));
    t->leaves_max = LEAVES_MAX;
    t->change = 1;
    t->shape = 1;
    return t->hint && t->pin ? 0 : DREP_ERR_NOMEM;
}

/* Frees a dirty subtree; its depth is that of the levels. */
static void release(struct node *n)
{
    for (uint32_t i = 0; n->level && i < n->n; i++) {
        struct child c = child_get(n, i);

        if (c.node)
            release(c.node);
    }
    node_unref(n);
}

void tree_release(struct store *st)
{
    struct tree *t = &st->tree;

    for (int i = 0; t->pin && i < PINS; i++)
        node_unref(t->pin[i].leaf);
    if (t->node)
        release(t->node);
    mem_free(t->hint);
    mem_free(t->pin);
    *t = (struct tree){0};
}

/* ---- descending ---- */

static void set_low(struct bounds *b, const struct node *n, uint32_t i)
{
    b->has_low = 1;
    b->low_len = n->item[i].key_len;
    memcpy(b->low, item_key(n, i), b->low_len);
}

void bounds_narrow(struct bounds *b, const struct node *n, uint32_t i)
{
    /* The first separator may be lower than the bound that already holds. */
    if (i > 0 ||
        (n->item[0].key_len && (!b->has_low || item_compare(n, 0, b->low, b->low_len) > 0)))
        set_low(b, n, i);
    if (i + 1 < n->n) {
        b->has_high = 1;
        b->high_len = n->item[i + 1].key_len;
        memcpy(b->high, item_key(n, i + 1), b->high_len);
    }
}

int bounds_check(const struct bounds *b, const struct node *n)
{
    uint32_t first = n->level ? 1 : 0; /* the first separator may be short */

    if (n->n <= first)
        return 0;
    if ((b->has_low && item_compare(n, first, b->low, b->low_len) < 0) ||
        (b->has_high && item_compare(n, n->n - 1, b->high, b->high_len) >= 0))
        return fail(DREP_ERR_FORMAT,
                    "node at byte %llu: its keys lie outside those of the node above",
                    (unsigned long long)n->ref.offset);
    return 0;
}

static int root_get(struct store *st, struct node **out)
{
    struct tree *t = &st->tree;

    if (t->node) {
        node_ref(t->node);
        *out = t->node;
        return 0;
    }
    if (!t->root.length)
        return DREP_ERR_NOT_FOUND;
    return node_load(st, &t->root, -1, out);
}

/* The leaf where a key belongs, or (below) where the greatest key less than it does. */
static int descend(struct store *st, const uint8_t *key, size_t len, int below, struct bounds *b,
                   struct node **leaf)
{
    struct node *n;
    int err = root_get(st, &n);

    if (err)
        return err;
    b->has_low = 0;
    b->has_high = 0;
    while (n->level) {
        uint32_t i = node_child(n, key, len);
        struct child c;
        struct node *next;

        if (below && i > 0 && item_compare(n, i, key, len) == 0)
            i--;
        bounds_narrow(b, n, i);
        c = child_get(n, i);
        if (c.node) {
            next = c.node;
            node_ref(next);
        } else {
            err = node_load(st, &c.ref, n->level - 1, &next);
            if (!err && (err = bounds_check(b, next)) != 0)
                node_unref(next);
        }
        node_unref(n);
        if (err)
            return err;
        n = next;
    }
    *leaf = n;
    return 0;
}

/* Copies the value of item i, from its block if it has one. */
static int value_get(struct store *st, const struct node *leaf, uint32_t i, struct buf *value)
{
    struct ref ref = {0, 0, 0};
    struct in in;

    if (!(leaf->item[i].value_len & ITEM_FAR))
        return buf_set(value, item_value(leaf, i), item_value_len(leaf, i));
    in_init(&in, item_value(leaf, i), FMT_REF_SIZE);
    ref_get(&in, &ref);
    if (in.err || !ref.length)
        return fail(DREP_ERR_FORMAT, "node at byte %llu: impossible reference to a value",
                    (unsigned long long)leaf->ref.offset);
    return block_load(st, &ref, FMT_VALUE, value, NULL);
}

int tree_get(struct store *st, const struct key *key, struct buf *value)
{
    struct bounds b;
    struct node *leaf;
    uint32_t i;
    int equal;
    int err = descend(st, key->p, key->len, 0, &b, &leaf);

    if (err)
        return err;
    i = node_find(leaf, key->p, key->len, &equal);
    if (!equal)
        err = DREP_ERR_NOT_FOUND;
    else if (value)
        err = value_get(st, leaf, i, value);
    node_unref(leaf);
    return err;
}

int tree_floor(struct store *st, const struct key *key, size_t prefix, struct key *found,
               struct buf *value)
{
    struct bounds b;
    struct node *leaf;
    uint32_t i;
    int equal;
    int err = descend(st, key->p, key->len, 0, &b, &leaf);

    if (err)
        return err;
    i = node_find(leaf, key->p, key->len, &equal);
    if (!equal && i == 0 && b.has_low) {
        struct bounds left;

        node_unref(leaf);
        err = descend(st, b.low, b.low_len, 1, &left, &leaf);
        if (err)
            return err;
        i = leaf->n;
    }
    if (!equal && i-- == 0)
        err = DREP_ERR_NOT_FOUND;
    else if (leaf->item[i].key_len < prefix || memcmp(item_key(leaf, i), key->p, prefix) != 0)
        err = DREP_ERR_NOT_FOUND;
    else if (value)
        err = value_get(st, leaf, i, value);
    if (!err) {
        found->len = leaf->item[i].key_len;
        memcpy(found->p, item_key(leaf, i), found->len);
    }
    node_unref(leaf);
    return err;
}

/* ---- walking ---- */

void tree_walk(struct tree_walk *w, struct store *st, const struct key *from, size_t prefix)
{
    w->st = st;
    w->at.len = from->len;
    memcpy(w->at.p, from->p, from->len);
    w->prefix = prefix;
    w->after = 0;
    w->stamp = 0;
    w->leaf = NULL;
    w->pos = 0;
}

/* The leaf that the walk stood in, if nothing changed since. */
static struct node *pin_get(struct tree_walk *w, struct bounds *b)
{
    struct store *st = w->st;
    struct pin *pin = &st->tree.pin[w->stamp % PINS];
    struct node *leaf = NULL;

    if (!w->stamp)
        return NULL;
    pthread_mutex_lock(&st->lock);
    if (pin->stamp == w->stamp && pin->change == st->tree.change) {
        leaf = pin->leaf;
        node_ref(leaf);
        if ((uint32_t)w->pos == leaf->n) { /* only then it is asked for */
            b->has_high = pin->bounds.has_high;
            b->high_len = pin->bounds.high_len;
            memcpy(b->high, pin->bounds.high, b->has_high ? b->high_len : 0);
        }
    }
    pthread_mutex_unlock(&st->lock);
    return leaf;
}

static void pin_put(struct tree_walk *w, struct node *leaf, const struct bounds *b)
{
    struct store *st = w->st;
    struct pin *pin;

    pthread_mutex_lock(&st->lock);
    w->stamp = ++st->tree.next_stamp;
    pin = &st->tree.pin[w->stamp % PINS];
    node_unref(pin->leaf);
    node_ref(leaf);
    pin->leaf = leaf;
    pin->stamp = w->stamp;
    pin->change = st->tree.change;
    pin->bounds.has_high = b->has_high;
    pin->bounds.high_len = b->high_len;
    if (b->has_high)
        memcpy(pin->bounds.high, b->high, b->high_len);
    pthread_mutex_unlock(&st->lock);
}

/* The leaf and the item where the walk goes on; a new pin where it needs one. */
static int walk_seek(struct tree_walk *w, struct node **out, uint32_t *at)
{
    struct bounds b;
    struct node *leaf;
    uint32_t i = (uint32_t)w->pos;
    int pinned, equal, err;

    b.has_high = 0;
    leaf = pin_get(w, &b);
    pinned = leaf != NULL;
    if (!leaf) {
        err = descend(w->st, w->at.p, w->at.len, 0, &b, &leaf);
        if (err)
            return err;
        i = node_find(leaf, w->at.p, w->at.len, &equal);
        if (equal && w->after)
            i++;
    }
    while (i == leaf->n) {
        struct bounds next;

        node_unref(leaf);
        pinned = 0;
        if (!b.has_high)
            return DREP_ERR_NOT_FOUND;
        err = descend(w->st, b.high, b.high_len, 0, &next, &leaf);
        if (err)
            return err;
        i = node_find(leaf, b.high, b.high_len, &equal);
        b = next;
    }
    if (!pinned)
        pin_put(w, leaf, &b);
    *out = leaf;
    *at = i;
    return 0;
}

int tree_next(struct tree_walk *w, struct key *key, struct buf *value)
{
    struct node *leaf;
    uint32_t i;
    int err = walk_seek(w, &leaf, &i);

    if (err)
        return err;
    if (leaf->item[i].key_len < w->prefix || memcmp(item_key(leaf, i), w->at.p, w->prefix) != 0)
        err = DREP_ERR_NOT_FOUND;
    else if (value)
        err = value_get(w->st, leaf, i, value);
    if (!err) {
        w->at.len = leaf->item[i].key_len;
        memcpy(w->at.p, item_key(leaf, i), w->at.len);
        w->after = 1;
        w->pos = (int)i + 1;
        key->len = w->at.len;
        memcpy(key->p, w->at.p, w->at.len);
    }
    node_unref(leaf);
    return err;
}
