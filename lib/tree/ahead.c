/* ahead.c - nodes that are fetched together, where a round trip to the file is dear. */
/* SPDX-License-Identifier: MIT */
#include "tree/ahead.h"

#include "base/mem.h"
#include "space/fetch.h"
#include "tree/block.h"

#include <string.h>

#define FIRST 4  /* the first leaves of a stream: this part of what a round trip costs */
#define GROWTH 4 /* each time so many times as many */

bool ahead_has(struct store *st, const struct ref *ref)
{
    return ref->offset & APART || fetch_extent_waits(st, ref->offset) ||
           fetch_take(st, FETCH_META, NULL, ref->length, ref->offset);
}

bool ahead_node_there(struct store *st, const struct ref *ref)
{
    struct tree_node *n = node_cache_get(&st->tree->nodes, ref);

    if (!n)
        return ahead_has(st, ref);
    node_unref(n);
    return true;
}

void ahead_blocks(struct store *st, struct io_range *range, size_t n)
{
    fetch_insert(st, fetch_ranges(st, range, n));
}

/* Fetch the children of n from i on that are not there yet, up to `size` bytes; gives the first one
 * behind them. */
static uint32_t fetch_children(struct store *st, const struct tree_node *n, uint32_t i,
                               uint64_t size)
{
    struct io_range *range = mem_array(n->n, sizeof(*range));
    size_t many = 0;

    if (!range)
        return i;
    for (; i < n->n; i++) {
        struct child c = child_get(n, i);

        if (c.node || ahead_node_there(st, &c.ref))
            continue;
        if (c.ref.length > size)
            break;
        size -= c.ref.length;
        range[many++] = (struct io_range){c.ref.offset, c.ref.length, NULL};
    }
    ahead_blocks(st, range, many);
    mem_free(range);
    return i;
}

/* ---- streams of leaves ---- */

/* Move stream s to the front. */
static struct stream_ahead *stream_first(struct tree *t, int s)
{
    struct stream_ahead mine = t->stream[s];

    memmove(t->stream + 1, t->stream, (size_t)s * sizeof(mine));
    t->stream[0] = mine;
    return t->stream;
}

/* Bytes to fetch for leaf i of n, which is not there: GROWTH times what the stream fetched last if
 * it goes on here, else what a round trip would hardly notice. */
static uint64_t stream_size(struct store *st, const struct tree_node *n, uint32_t i)
{
    const struct fetch *f = st->fetch;
    struct tree *t = st->tree;
    struct stream_ahead *s;
    int k = 0;

    pthread_mutex_lock(&t->lock);
    while (k < STREAMS - 1 && !(t->stream[k].parent == n->ref.offset && t->stream[k].next == i) &&
           !(i == 0 && t->stream[k].ended))
        k++;
    s = stream_first(t, k);
    if ((s->parent == n->ref.offset && s->next == i) || (i == 0 && s->ended))
        s->size *= GROWTH;
    else
        s->size = st->io->round_trip / FIRST;
    s->size = s->size < FMT_NODE_MAX ? FMT_NODE_MAX : s->size > f->most ? f->most : s->size;
    s->parent = n->ref.offset;
    s->next = UINT32_MAX;
    s->ended = false;
    pthread_mutex_unlock(&t->lock);
    return s->size;
}

/* Note where the stream that began at leaf i of n goes on. */
static void stream_note(struct tree *t, const struct tree_node *n, uint32_t next)
{
    pthread_mutex_lock(&t->lock);
    for (int k = 0; k < STREAMS; k++) {
        if (t->stream[k].parent == n->ref.offset && t->stream[k].next == UINT32_MAX) {
            t->stream[k].next = next;
            t->stream[k].ended = next == n->n;
        }
    }
    pthread_mutex_unlock(&t->lock);
}

/* True if n is the root, and all leaves together cost no more than one round trip. */
static bool tree_is_small(const struct store *st, const struct tree_node *n)
{
    uint64_t size = 0;

    if (n->ref.offset != st->tree->root.offset)
        return false;
    for (uint32_t i = 0; i < n->n && size <= st->io->round_trip; i++)
        size += child_get(n, i).ref.length;
    return size <= st->io->round_trip;
}

void ahead_child(struct store *st, const struct tree_node *n, uint32_t i)
{
    struct child c = child_get(n, i);

    if (c.node || !n->ref.offset || ahead_node_there(st, &c.ref))
        return;
    if (n->level > 1 || tree_is_small(st, n))
        fetch_children(st, n, 0, st->fetch->most);
    else
        stream_note(st->tree, n, fetch_children(st, n, i, stream_size(st, n, i)));
}
