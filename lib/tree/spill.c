/* spill.c - dirty leaves out of memory: early, or because a commit wrote them.
 *
 * Leaves with a hint stay: they are about to change again.  A leaf written early goes to space
 * that no commit refers to, and its parent, which stays in memory, refers to it; if it changes
 * again, that space is free at once.  With drep_pack, where the commit puts all nodes into one
 * extent, leaves wait in a file beside instead. */
/* SPDX-License-Identifier: MIT */
#include "tree/spill.h"

#include "base/mem.h"
#include "space/space.h"
#include "tree/block.h"
#include "tree/encode.h"
#include "tree/hint.h"

#define BATCH 256

struct spill_batch {
    struct tree_node *leaf[BATCH];
    uint32_t at[BATCH];     /* in its parent */
    uint64_t offset[BATCH]; /* in the file */
    size_t n;
    size_t bytes;
};

static uint64_t leaf_bytes(const struct spill_batch *batch, size_t i)
{
    return round_up(batch->leaf[i]->bytes, FMT_ALIGN);
}

/* Free the places of the first n leaves of the batch. */
static void batch_unplace(struct store *st, const struct spill_batch *batch, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (!(batch->offset[i] & APART))
            space_free(st, batch->offset[i], leaf_bytes(batch, i), ANYWAY);
}

/* Place the leaves one after the other in the file beside. */
static int batch_place_apart(struct store *st, struct spill_batch *batch)
{
    uint64_t at = st->tree->apart_end;
    int err = 0;

    if (!st->tree->apart)
        err = st->io->ops->apart(st->io, &st->tree->apart);
    for (size_t i = 0; !err && i < batch->n; i++) {
        batch->offset[i] = at | APART;
        at += leaf_bytes(batch, i);
    }
    return err;
}

/* Place each leaf by itself, so that gaps left by earlier ones are used. */
static int batch_place(struct store *st, struct spill_batch *batch)
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

/* Write the leaves; those that are adjacent both in memory and in the file in one call. */
static int batch_store(struct store *st, const struct spill_batch *batch, const uint8_t *bytes)
{
    struct io *io = batch->offset[0] & APART ? st->tree->apart : st->io;
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

static int batch_write(struct store *st, struct spill_batch *batch)
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
        struct tree_node *n = batch->leaf[i];

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
        st->tree->apart_end += batch->bytes;
    else
        st->tree->spilled = true;
    for (size_t i = 0; i < batch->n; i++) {
        struct tree_node *n = batch->leaf[i];
        struct child c = {.ref = n->ref};

        child_set(n->parent, batch->at[i], &c);
        n->parent = NULL;
        n->dirty = 0;
        node_cache_put(&st->tree->nodes, n);
        node_unref(n);
        st->tree->leaves--;
    }
    batch->n = 0;
    batch->bytes = 0;
    return 0;
}

static int spill(struct store *st, struct tree_node *n, struct spill_batch *batch)
{
    for (uint32_t i = 0; i < n->n; i++) {
        struct child c = child_get(n, i);
        int err = 0;

        if (!c.node)
            continue;
        if (c.node->level) {
            err = spill(st, c.node, batch);
        } else if (!hint_of_leaf(st->tree, c.node)) {
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
    struct spill_batch batch = {.n = 0};
    struct tree *t = st->tree;
    int err = 0;

    if (t->node && t->node->level)
        err = spill(st, t->node, &batch);
    if (!err)
        err = batch_write(st, &batch);
    t->shape++;
    /* If writing failed, or hints keep most leaves, do not try again at every change. */
    if (err || t->leaves > t->leaves_max / 2)
        t->leaves_max *= 2;
}

/* ---- after a commit ---- */

/* Make a node, and all below it, clean. */
static void clean(struct store *st, struct tree_node *n)
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
    node_cache_put(&st->tree->nodes, n);
    node_unref(n);
}

void tree_clean(struct store *st)
{
    struct tree *t = st->tree;

    if (t->node) {
        t->root = t->node->ref;
        clean(st, t->node);
    }
    t->node = NULL;
    tree_drop_top(st->tree);
    t->leaves = 0;
    t->leaves_max = LEAVES_MAX;
    t->spilled = false;
    t->shape++;
    t->change++;
    st->opts.pack = 0; /* only the first commit of a file can write the whole tree at once */
    if (st->tree->apart) {
        st->tree->apart->ops->close(st->tree->apart);
        st->tree->apart = NULL;
    }
}
