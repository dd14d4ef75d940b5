/* tree.c - finding entries, and walking over them in order.
 *
 * A descent carries what the separators on its way promise about the keys below; a node
 * that stands in the file and breaks the promise is refused.  Levels fall by one at each
 * step, so a file cannot lead in circles. */
#include "txn/inner.h"

#include "base/error.h"
#include "base/mem.h"

#include <string.h>

int tree_init(struct store *st)
{
    struct tree *t = &st->tree;

    t->hint = mem_zalloc(HINTS, sizeof(*t->hint));
    t->pin = mem_zalloc(PINS, sizeof(*t->pin));
    t->finger = mem_zalloc(FINGERS, sizeof(*t->finger));
    for (int i = 0; t->finger && i < FINGERS; i++)
        atomic_flag_clear(&t->finger[i].busy);
    t->leaves_max = LEAVES_MAX;
    t->change = 1;
    t->shape = 1;
    return t->hint && t->pin && t->finger ? 0 : DREP_ERR_NOMEM;
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
    for (int i = 0; t->finger && i < FINGERS; i++)
        node_unref(t->finger[i].leaf);
    tree_new_root(st);
    if (t->node)
        release(t->node);
    mem_free(t->hint);
    mem_free(t->pin);
    mem_free(t->finger);
    *t = (struct tree){0};
}

/* ---- descending ---- */

void bounds_narrow(struct bounds *b, const struct node *n, uint32_t i)
{
    /* The first separator may be lower than the bound that already holds. */
    if (i > 0 || (n->item[0].key_len && (!b->low || item_compare(n, 0, b->low, b->low_len) > 0))) {
        b->low = item_key(n, i);
        b->low_len = n->item[i].key_len;
    }
    if (i + 1 < n->n) {
        b->high = item_key(n, i + 1);
        b->high_len = n->item[i + 1].key_len;
    }
}

int bounds_check(const struct bounds *b, const struct node *n)
{
    const uint8_t *first, *last;
    size_t first_len, last_len;

    if (n->level && n->n == 1)
        return 0;
    first = node_first(n, &first_len);
    if (n->level) { /* the first separator may be short */
        first = item_key(n, 1);
        first_len = n->item[1].key_len;
    }
    last = node_last(n, &last_len);
    if ((b->low && key_compare(first, first_len, b->low, b->low_len) < 0) ||
        (b->high && key_compare(last, last_len, b->high, b->high_len) >= 0))
        return fail(DREP_ERR_FORMAT,
                    "node at byte %llu: its keys are outside the range of its parent",
                    (unsigned long long)n->ref.offset);
    return 0;
}

/* The nodes on the way to a leaf that nobody else holds for us, so that the bounds stay where
 * they are.  The root and, below what was read, all interior nodes are held by the tree. */
struct trail {
    struct node *node[FMT_LEVEL_MAX + 1];
    int n;
    struct bounds b;
};

static void trail_release(struct trail *t)
{
    for (int i = 0; i < t->n; i++)
        node_unref(t->node[i]);
    t->n = 0;
}

/* A node that stands in the file is held; a dirty one cannot go while anybody reads. */
static void leaf_done(struct node *leaf)
{
    if (!leaf->dirty)
        node_unref(leaf);
}

/* Gives the reference to a place that many threads may fill; what is there then is held by it. */
static struct node *leave(_Atomic(struct node *) *place, struct node *n)
{
    struct node *there = NULL;

    if (atomic_compare_exchange_strong(place, &there, n))
        return n;
    node_unref(n);
    return there;
}

/* *held: with a reference for us. */
static int root_get(struct store *st, struct node **out, int *held)
{
    struct node *top;
    struct tree *t = &st->tree;
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
    *held = top != NULL; /* that of another root stays */
    err = node_load(st, &t->root, -1, out);
    if (!err && !*held)
        *out = leave(&t->top, *out);
    return err;
}

void tree_new_root(struct store *st)
{
    node_unref(atomic_exchange(&st->tree.top, NULL));
}

/* A child that stands in the file, its keys seen to be within the bounds: once is enough
 * while it is found below the same node.  Interior ones stay with the node above: they are
 * few. */
static int child_load(struct store *st, const struct node *n, uint32_t i, const struct bounds *b,
                      struct node **out, int *held)
{
    struct child c = child_get(n, i);
    struct node *child;
    int err;

    *held = 0;
    if (c.node) {
        *out = c.node;
        return 0;
    }
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

/* The leaf where a key belongs, or (below) where the greatest key less than it does. */
static int descend(struct store *st, const uint8_t *key, size_t len, int below, struct trail *t,
                   struct node **leaf)
{
    struct node *n;
    int err, held;

    t->n = 0;
    t->b = (struct bounds){.low = NULL, .high = NULL};
    err = root_get(st, &n, &held);
    while (!err && n->level) {
        uint32_t i = node_child(n, key, len);
        struct node *kept = NULL;

        if (below && i > 0 && item_compare(n, i, key, len) == 0)
            i--;
        bounds_narrow(&t->b, n, i);
        if (held)
            t->node[t->n++] = n;
        if (n->kept)
            kept = atomic_load_explicit(&n->kept[i], memory_order_acquire);
        if (kept) {
            n = kept;
            held = 0;
        } else {
            err = child_load(st, n, i, &t->b, &n, &held);
        }
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

/* ---- fingers ---- */

/* One for each thread and kind of key, as far as they go; NULL: another thread has it.  What
 * belongs to one object stands together. */
static struct finger *finger_take(const struct tree *t, const struct key *key)
{
    static _Thread_local char thread;
    uint64_t h = (uint64_t)(uintptr_t)&thread * UINT64_C(0x9e3779b97f4a7c15) >> 60;
    unsigned tag = key->len > 8 ? key->p[8] : 0;
    unsigned kind = tag == FMT_TAG_CHUNK        ? 3
                    : tag == FMT_TAG_LINK       ? 2
                    : tag == FMT_TAG_LINK_ORDER ? 1
                                                : 0;
    struct finger *f = &t->finger[h << 2 | kind];

    return atomic_flag_test_and_set_explicit(&f->busy, memory_order_acquire) ? NULL : f;
}

static void finger_set(struct finger *f, uint64_t change, struct node *leaf, uint32_t at,
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

/* 1: it is entry *at of the finger's leaf; 0: it is not in the tree; -1: it is not known. */
static int finger_find(const struct finger *f, const struct key *key, uint32_t *at)
{
    int equal, order = key_compare(f->key, f->len, key->p, key->len);
    const uint8_t *end;
    size_t len;

    *at = f->at;
    if (order == 0)
        return 1;
    if (order < 0) {
        *at = node_find_behind(f->leaf, f->at, f->key, f->len, key->p, key->len, &equal);
        if (*at != UINT32_MAX)
            return equal;
    }
    end = order < 0 ? node_last(f->leaf, &len) : node_first(f->leaf, &len);
    if ((order < 0) != (key_compare(key->p, key->len, end, len) < 0))
        return -1;
    *at = node_find(f->leaf, key->p, key->len, &equal);
    return equal;
}

/* ---- looking up ---- */

/* The dirty leaf that a hint leads to, or the leaf that the way down does. */
static int leaf_of(struct store *st, const struct key *key, struct node **leaf)
{
    struct trail t;
    int err;

    *leaf = tree_hinted(st, key->p, key->len);
    if (*leaf)
        return 0;
    err = descend(st, key->p, key->len, 0, &t, leaf);
    if (!err)
        trail_release(&t);
    return err;
}

/* The leaf and the entry of a key, the long way. */
static int search(struct store *st, const struct key *key, struct node **leaf, uint32_t *at)
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

static int seek(struct store *st, const struct key *key, struct node **leaf, uint32_t *at)
{
    const struct tree *t = &st->tree;
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

/* The value of an entry: where it stands, or copied from its block. */
static int value_see(struct store *st, const struct node *leaf, uint32_t i, struct buf *far,
                     const uint8_t **p, size_t *len)
{
    struct ref ref = {0, 0, 0};
    struct in in;
    int err;

    *p = node_value(leaf, i, len);
    if (!(*len & ITEM_FAR))
        return 0;
    in_init(&in, *p, FMT_REF_SIZE);
    ref_get(&in, &ref);
    if (in.err || !ref.length)
        return fail(DREP_ERR_FORMAT, "node at byte %llu: impossible reference to a value",
                    (unsigned long long)leaf->ref.offset);
    err = block_load(st, &ref, FMT_VALUE, far, NULL);
    *p = far->p;
    *len = far->len;
    return err;
}

static int value_get(struct store *st, const struct node *leaf, uint32_t i, struct buf *value)
{
    const uint8_t *p;
    size_t len;
    int err = value_see(st, leaf, i, value, &p, &len);

    if (err || p == value->p)
        return err;
    return buf_set(value, p, len);
}

int tree_get(struct store *st, const struct key *key, struct buf *value)
{
    struct node *leaf;
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
    struct node *leaf;
    uint32_t i;
    int err = seek(st, key, &leaf, &i);

    if (err)
        return err;
    peek->far = (struct buf){0};
    err = value_see(st, leaf, i, &peek->far, &peek->p, &peek->len);
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
    struct node *leaf;
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

/* The leaf that the walk stood in, if nothing changed since; at its end also what comes
 * next (1 in *more). */
static struct node *pin_get(struct tree_walk *w, struct key *next, int *more)
{
    struct store *st = w->st;
    struct pin *pin = &st->tree.pin[w->stamp % PINS];
    struct node *leaf = NULL;

    if (!w->stamp)
        return NULL;
    pthread_mutex_lock(&st->lock);
    if (pin->stamp == w->stamp && pin->change == st->tree.change) {
        leaf = pin->leaf;
        if (!leaf->dirty)
            node_ref(leaf);
        *more = pin->has_high;
        if ((uint32_t)w->pos == leaf->n && pin->has_high) {
            next->len = pin->high.len;
            memcpy(next->p, pin->high.p, pin->high.len);
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
    pin->has_high = b->high != NULL;
    if (b->high) {
        pin->high.len = b->high_len;
        memcpy(pin->high.p, b->high, b->high_len);
    }
    pthread_mutex_unlock(&st->lock);
}

/* The leaf and the entry where the walk goes on; a new pin where it needs one.  *same: the
 * entry follows the one that w->at is the key of. */
static int walk_seek(struct tree_walk *w, struct node **out, uint32_t *at, int *same)
{
    struct key next;
    struct node *leaf;
    uint32_t i = (uint32_t)w->pos;
    int more = 0, equal, err;

    leaf = pin_get(w, &next, &more);
    *same = leaf != NULL && i > 0;
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
            pin_put(w, leaf, &t.b);
            trail_release(&t);
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

int tree_next(struct tree_walk *w, struct key *key, struct buf *value)
{
    struct node *leaf;
    uint32_t i;
    int same;
    int err = walk_seek(w, &leaf, &i, &same);

    if (err)
        return err;
    if (same) { /* in key, as w->at must not change before it is known to be taken */
        key->len = w->at.len;
        memcpy(key->p, w->at.p, w->at.len);
        node_next_key(leaf, i, key);
    } else {
        node_key(leaf, i, key);
    }
    if (key->len < w->prefix || memcmp(key->p, w->at.p, w->prefix) != 0)
        err = DREP_ERR_NOT_FOUND;
    else if (value)
        err = value_get(w->st, leaf, i, value);
    if (!err) {
        w->at.len = key->len;
        memcpy(w->at.p, key->p, key->len);
        w->after = 1;
        w->pos = (int)i + 1;
    }
    leaf_done(leaf);
    return err;
}
