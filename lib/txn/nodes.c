/* nodes.c - writing the dirty nodes of a commit, and its pending list.
 *
 * Nodes go to reserved extents and to the end of the file, both of which no commit refers to.
 * Until the slot is written, a failure only has to forget where they went. */
/* SPDX-License-Identifier: MIT */
#include "txn/nodes.h"

#include "base/error.h"
#include "tree/block.h"
#include "tree/encode.h"
#include "tree/load.h"
#include "tree/tree.h"

#include <string.h>

#define PIECE ((size_t)1 << 20) /* nodes are gathered into writes of this size */
#define END_FILE 16384          /* a shorter file is never longer than it must be */
#define END_SHARE 64            /* of the file's bytes, one that nodes may leave free */

/* Sum the bytes of the dirty nodes in memory.  They are a subtree at the root, as a change copies
 * the path to its leaf.  A child elsewhere is clean, or a spilled leaf: bring() places that one. */
static uint64_t dirty_bytes(const struct tree_node *n)
{
    uint64_t sum = round_up(n->bytes, FMT_ALIGN);

    for (uint32_t i = 0; n->level && i < n->n; i++) {
        struct child c = child_get(n, i);

        if (c.node)
            sum += dirty_bytes(c.node);
    }
    return sum;
}

/* Estimate the bytes of leaves that the FREE entries of this commit will change: one leaf for
 * each entry, or all of them. */
static uint64_t free_leaves(const struct space *sp)
{
    uint64_t changes = sp->freed.n + sp->pending.n + sp->ntouched + RESERVED;
    uint64_t entries = changes + extents_count(&sp->avail) + extents_count(&sp->kept) +
                       (sp->later.n - sp->later.head);
    uint64_t all = 2 * LEAF_MAX + 32 * entries;

    return changes < all / LEAF_MAX ? changes * LEAF_MAX : all;
}

/* Take space for a node or list out of the reserved extents; false: none has room. */
static bool take_place(struct extent *place, int n, uint64_t size, uint64_t *at)
{
    for (int i = 0; i < n; i++) {
        struct extent *e = &place[i];

        if (e->length < size)
            continue;
        *at = e->offset;
        e->offset += size;
        e->length -= size;
        return true;
    }
    return false;
}

/* Bytes of the dirty nodes that the reserved extents have no room for. */
static uint64_t without_place(const struct tree_node *n, struct extent *place, int places)
{
    uint64_t size = round_up(n->bytes, FMT_ALIGN), sum = 0, at;

    for (uint32_t i = 0; n->level && i < n->n; i++) {
        struct child c = child_get(n, i);

        if (c.node)
            sum += without_place(c.node, place, places);
    }
    return take_place(place, places, size, &at) ? sum : sum + size;
}

/* The unit in which nodes take space at the end of the file: a small share of it.  In a long file
 * several commits find room in one, so that chunks that are appended seldom have a node between
 * them, and what they free is one extent. */
static uint64_t end_unit(const struct store *st)
{
    uint64_t unit = FMT_ALIGN, end = st->space->end;

    if (!st->slot.sequence || st->space->onward || st->opts.pack || end < END_FILE)
        return unit;
    while (unit < LEAF_MAX && unit < end / END_SHARE)
        unit *= 2;
    return unit;
}

/* Reserve space at the end of the file for the nodes that have none.  Nodes grow a little from
 * commit to commit; in holes of their exact size their successors would never fit. */
static void reserve_end(struct node_writer *w)
{
    struct space *sp = w->st->space;
    struct extent place[RESERVED];
    uint64_t size;

    if (!w->st->tree->node || !w->st->slot.sequence || sp->onward)
        return;
    memcpy(place, w->place, sizeof(place));
    size = round_up(without_place(w->st->tree->node, place, w->n), end_unit(w->st));
    if (!size)
        return;
    w->place[w->n] = w->whole[w->n] = (struct extent){sp->end, size};
    w->n++;
    sp->end += size;
}

int nodes_reserve(struct node_writer *w)
{
    struct store *st = w->st;
    const struct space *sp = st->space;
    uint64_t want = st->tree->node ? dirty_bytes(st->tree->node) : 0;

    if (st->opts.pack) /* one extent, at the end */
        return 0;
    want += free_leaves(sp);
    while (w->n < RESERVED - 1 && want > 0) { /* the last one is for the end of the file */
        struct extent e;
        int err = space_reserve(st, want, &e);

        if (err)
            return err;
        if (e.length == 0)
            break;
        w->place[w->n] = e;
        w->whole[w->n++] = e;
        want -= e.length < want ? e.length : want;
    }
    reserve_end(w);
    return 0;
}

/* Cut what is left of the reserved extents off the end of the file. */
static void cut_end(struct node_writer *w)
{
    for (int i = w->n - 1; i >= 0; i--) {
        struct extent *e = &w->place[i];

        if (e->length && e->offset + e->length == w->st->space->end) {
            w->st->space->end = e->offset;
            e->length = 0;
            i = w->n; /* another one may end there */
        }
    }
}

/* Choose the place of a node.  It never fails: what the reserved extents have no room for goes to
 * the end of the file, as FREE entries are written by now and avail may not change. */
static uint64_t place(struct node_writer *w, uint64_t size)
{
    struct space *sp = w->st->space;
    uint64_t at, length;

    size = round_up(size, FMT_ALIGN);
    if (take_place(w->place, w->n, size, &at))
        return at;
    cut_end(w);
    at = sp->end;
    length = round_up(size, end_unit(w->st));
    if (length == size || w->n == RESERVED) {
        sp->end += size;
        return at;
    }
    sp->end += length;
    w->whole[w->n] = (struct extent){0};
    w->place[w->n++] = (struct extent){at + size, length - size};
    return at;
}

/* ---- nodes ---- */

static int flush(struct node_writer *w)
{
    struct io *io = w->st->io;
    int err = 0;

    if (w->out.len)
        err = io->ops->write_at(io, w->out.p, w->out.len, w->out_at);
    w->out.len = 0;
    return err;
}

/* Make room for bytes behind those gathered so far, which are written first if these do not follow
 * them in the file. */
static int gather_bytes(struct node_writer *w, uint64_t at, size_t size, uint8_t **p)
{
    int err = 0;

    if (w->out.len && (w->out_at + w->out.len != at || size > PIECE || w->out.len > PIECE - size))
        err = flush(w);
    if (!err)
        err = buf_reserve(&w->out, w->out.len + size);
    if (err)
        return err;
    if (w->out.len == 0)
        w->out_at = at;
    *p = w->out.p + w->out.len;
    w->out.len += size;
    return 0;
}

static int node_room(struct node_writer *w, uint32_t length, uint64_t *at, uint8_t **p)
{
    size_t size = (size_t)round_up(length, FMT_ALIGN);
    int err;

    *at = place(w, length);
    err = gather_bytes(w, *at, size, p);
    if (err)
        return err;
    memset(*p + length, 0, size - length);
    w->first = w->bytes == 0 || *at < w->first ? *at : w->first;
    w->last = *at + size > w->last ? *at + size : w->last;
    w->bytes += size;
    return 0;
}

/* Copy a leaf that waited apart into the file as it is: nothing in it says where it stands. */
static int bring(struct node_writer *w, struct child *c)
{
    struct ref from = {c->apart ? c->apart : c->ref.offset, c->ref.length, c->ref.checksum};
    struct block_head head;
    const char *why = "";
    uint64_t at;
    uint8_t *p;
    int err = node_room(w, from.length, &at, &p);

    if (!err)
        err = node_fetch(w->st, &from, p);
    if (!err && (block_get(&head, p, from.length, &why) || head.checksum != from.checksum))
        err = fail(DREP_ERR_IO, "a leaf that waited for the commit was lost: %s", why);
    if (err)
        return err;
    c->apart = from.offset;
    c->ref.offset = at;
    return 0;
}

/* Children come before parents, because a parent holds the checksums of its children. */
static int write_nodes(struct node_writer *w, struct tree_node *n)
{
    uint64_t at;
    uint8_t *p;
    int err = 0;

    for (uint32_t i = 0; n->level && !err && i < n->n; i++) {
        struct child c = child_get(n, i);

        if (c.node) {
            err = write_nodes(w, c.node);
            c.ref = c.node->ref;
        } else if (c.apart || c.ref.offset & APART) {
            err = bring(w, &c);
        } else {
            continue;
        }
        child_set(n, i, &c);
    }
    if (!err)
        err = node_room(w, (uint32_t)n->bytes, &at, &p);
    if (err)
        return err;
    n->ref = (struct ref){at, (uint32_t)n->bytes, 0};
    n->ref.checksum = node_encode(n, p, w->st->slot.uuid, store_next_sequence(w->st));
    return 0;
}

/* After a failed commit, leaves that waited apart stand there alone again. */
static void leave_apart(struct tree_node *n)
{
    for (uint32_t i = 0; n->level && i < n->n; i++) {
        struct child c = child_get(n, i);

        if (c.node)
            leave_apart(c.node);
        if (!c.apart)
            continue;
        c.ref.offset = c.apart;
        c.apart = 0;
        child_set(n, i, &c);
    }
}

int nodes_write(struct node_writer *w, struct ref *root)
{
    struct tree *t = w->st->tree;
    int err;

    *root = t->root;
    if (!t->node)
        return 0;
    err = write_nodes(w, t->node);
    *root = t->node->ref;
    return err;
}

void nodes_undo(struct store *st)
{
    if (st->tree->node)
        leave_apart(st->tree->node);
}

/* ---- the pending list ---- */

static void pending_entry(struct out *out, uint64_t offset, uint64_t length, uint64_t sequence)
{
    struct pending_rec r = {offset, length, sequence};

    if (length)
        pending_put(out, &r);
}

static uint64_t list_bytes(size_t entries)
{
    return round_up(FMT_BLOCK_HEAD + 24 * entries, FMT_ALIGN);
}

/* Find the place of a list of so many entries.  One of them may be an extent that the list uses
 * up and then need not name; but not if the list would become shorter by that, because then the
 * rest of the extent would need its name again. */
static uint64_t place_list(struct node_writer *w, size_t entries)
{
    uint64_t size = list_bytes(entries), at;

    for (int i = 0; i < w->n; i++) {
        struct extent *e = &w->place[i];

        if (e->length < size || (e->length == size && list_bytes(entries - 1) != size))
            continue;
        at = e->offset;
        e->offset += size;
        e->length -= size;
        return at;
    }
    at = w->st->space->end;
    w->st->space->end += size;
    return at;
}

/* Write the list with the nodes if it stands behind them. */
static int pending_write(struct node_writer *w, const struct buf *list, uint64_t at,
                         struct ref *ref)
{
    uint32_t count = (uint32_t)(list->len / 24);
    uint8_t *p;
    int err = 0;

    if (w->st->space->onward || list->len > FMT_VALUE_MAX) {
        err = flush(w);
        return err ? err : block_write(w->st, FMT_PENDING, count, list->p, list->len, at, ref);
    }
    err = gather_bytes(w, at, list->len + FMT_BLOCK_HEAD, &p);
    if (err)
        return err;
    ref->offset = at;
    block_compose(w->st, FMT_PENDING, count, list->p, list->len, p, ref);
    return 0;
}

/* Write the list: what was freed too late for the tree, and what is left of the reserved extents.
 */
int nodes_write_pending(struct node_writer *w, struct ref *ref)
{
    struct store *st = w->st;
    const struct space *sp = st->space;
    size_t entries = sp->late.n + sp->left.n;
    struct buf list = {0};
    struct out out;
    uint64_t at;
    int err;

    *ref = (struct ref){0, 0, 0};
    if (end_unit(st) == FMT_ALIGN)
        cut_end(w);
    for (int i = 0; i < w->n; i++)
        entries += w->place[i].length > 0;
    if (entries == 0)
        return flush(w);
    at = place_list(w, entries);
    buf_out(&list, &out);
    for (size_t i = 0; i < sp->late.n; i++)
        pending_entry(&out, sp->late.e[i].offset, sp->late.e[i].length, store_next_sequence(st));
    /* No commit refers to these: sequence 0 lets the next transaction use them at once. */
    for (size_t i = 0; i < sp->left.n; i++)
        pending_entry(&out, sp->left.e[i].offset, sp->left.e[i].length, 0);
    for (int i = 0; i < w->n; i++)
        pending_entry(&out, w->place[i].offset, w->place[i].length, 0);
    err = buf_done(&list, &out);
    if (!err)
        err = pending_write(w, &list, at, ref);
    buf_release(&list);
    return err ? err : flush(w);
}
