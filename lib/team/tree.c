/* tree.c - patterns along the tree: broadcast, merge, gather, scatter and reductions.
 *
 * A frame on the way up has the error of its subtree, so that a failed merge is known to rank 0
 * without anybody waiting for bytes that do not come. */
/* SPDX-License-Identifier: MIT */
#include "team/wire.h"
#include "base/mem.h"

int wire_pass_down(struct team *t, const void *p, size_t size)
{
    int k, child, err = 0;

    /* The largest subtree first: its ranks have the longest way. */
    for (k = t->height; !err && k >= 0; k--)
        if ((child = tree_child(t, k)) >= 0)
            err = wire_send(t, child, FRAME_DOWN, 0, p, size);
    return err ? err : wire_flush(t);
}

static int bcast(struct team *t, struct buf *b)
{
    struct drep_message *m;
    int err;

    if (t->rank) {
        if ((err = wire_from_parent(t, &m)) != 0)
            return err;
        err = buf_set(b, frame_body(m), frame_size(m));
        mem_free(m);
        if (err)
            return team_kill(t, err);
    }
    return wire_pass_down(t, b->p, b->len);
}

int team_bcast(struct team *t, struct buf *b)
{
    int err = wire_begin(t, TEAM_BCAST);

    return err ? err : bcast(t, b);
}

/* -------------------------------------------------------------------- merge */

/* Merge what a child sent; *err is the subtree's error. */
static int merge_child(struct team *t, int child, struct buf *mine, team_merge_fn *merge, void *ctx,
                       int *err)
{
    struct drep_message *m;
    int lost = wire_from_child(t, child, &m);

    if (lost)
        return lost;
    if (!*err)
        *err = frame_note(m) ? frame_error(m) : merge(ctx, mine, frame_body(m), frame_size(m));
    mem_free(m);
    return 0;
}

/* Send the result of a subtree, or its error and message, to the parent. */
static int merge_up(struct team *t, const struct buf *mine, int err)
{
    int parent = tree_parent(t->rank),
        lost = err ? wire_send_error(t, parent, FRAME_UP, err, false)
                   : wire_send(t, parent, FRAME_UP, 0, mine->p, mine->len);

    return lost ? lost : err;
}

static int merge_tree(struct team *t, int err, struct buf *mine, team_merge_fn *merge, void *ctx)
{
    int k, child, lost;

    for (k = 0; (child = tree_child(t, k)) >= 0; k++)
        if ((lost = merge_child(t, child, mine, merge, ctx, &err)) != 0)
            return lost;
    return t->rank ? merge_up(t, mine, err) : err;
}

int team_merge(struct team *t, int err, struct buf *mine, team_merge_fn *merge, void *ctx)
{
    int dead = wire_begin(t, TEAM_MERGE);

    return dead ? dead : merge_tree(t, err, mine, merge, ctx);
}

/* ---------------------------------------------------------- gather, scatter */

int gather_take(struct team *t, int k, const uint8_t *p, size_t size, struct buf *sizes,
                struct buf *bytes)
{
    size_t head = 8 * (size_t)(tree_end(t, k) - tree_child(t, k));
    int err = 0;

    if (size < head)
        err = fail(DREP_ERR_FAILED, "%s: invalid frame of rank %d", t->call, tree_child(t, k));
    if (!err)
        err = buf_add(sizes, p, head);
    if (!err)
        err = buf_add(bytes, p + head, size - head);
    return team_kill(t, err);
}

static int gather_child(struct team *t, int k, struct buf *sizes, struct buf *bytes)
{
    struct drep_message *m;
    int err = wire_from_child(t, tree_child(t, k), &m);

    if (err)
        return err;
    err = gather_take(t, k, frame_body(m), frame_size(m), sizes, bytes);
    mem_free(m);
    return err;
}

int gather_own(struct team *t, const void *p, size_t size, struct buf *sizes, struct buf *bytes)
{
    uint8_t head[8];
    int err;

    store_u64(head, size);
    err = buf_add(sizes, head, 8);
    if (!err)
        err = buf_add(bytes, p, size);
    return team_kill(t, err);
}

void gathered(const struct team *t, const struct buf *sizes, uint64_t *offset)
{
    int r;

    offset[0] = 0;
    for (r = 0; r < t->size; r++)
        offset[r + 1] = offset[r] + load_u64(sizes->p + 8 * (size_t)r);
}

int team_gather(struct team *t, const void *p, size_t size, struct buf *all, uint64_t *offset)
{
    struct buf sizes = {0}, bytes = {0}, old;
    int k, err = wire_begin(t, TEAM_GATHER);

    if (err)
        return err;
    err = gather_own(t, p, size, &sizes, &bytes);
    for (k = 0; !err && tree_child(t, k) >= 0; k++)
        err = gather_child(t, k, &sizes, &bytes);
    if (!err && !t->rank) {
        gathered(t, &sizes, offset);
        old = *all;
        *all = bytes;
        bytes = old;
    } else if (!err) {
        if ((err = buf_add(&sizes, bytes.p, bytes.len)) != 0)
            team_kill(t, err);
        else
            err = wire_send(t, tree_parent(t->rank), FRAME_UP, 0, sizes.p, sizes.len);
    }
    buf_release(&sizes);
    buf_release(&bytes);
    return err;
}

/* Send a child the sizes of its subtree's ranks and their bytes.  offset[i] is that of this rank's
 * i-th successor. */
static int scatter_child(struct team *t, int k, const uint8_t *all, const uint64_t *offset)
{
    int from = tree_child(t, k) - t->rank, end = tree_end(t, k) - t->rank, i, err = 0;
    struct buf body = {0};
    uint8_t head[8];

    for (i = from; !err && i < end; i++) {
        store_u64(head, offset[i + 1] - offset[i]);
        err = buf_add(&body, head, 8);
    }
    if (!err)
        err = buf_add(&body, all + offset[from], (size_t)(offset[end] - offset[from]));
    err = err ? team_kill(t, err) : wire_send(t, t->rank + from, FRAME_DOWN, 0, body.p, body.len);
    buf_release(&body);
    return err;
}

static int scatter_tree(struct team *t, const uint8_t *all, const uint64_t *offset,
                        struct buf *part)
{
    int k, err = 0;

    for (k = t->height; !err && k >= 0; k--)
        if (tree_child(t, k) >= 0)
            err = scatter_child(t, k, all, offset);
    if (!err)
        err = wire_flush(t);
    if (!err)
        err = team_kill(t, buf_set(part, all + offset[0], (size_t)(offset[1] - offset[0])));
    return err;
}

/* The ranks of this rank's own subtree. */
static int subtree(const struct team *t)
{
    int k = 0;

    while (tree_child(t, k) >= 0)
        k++;
    return k ? tree_end(t, k - 1) - t->rank : 1;
}

/* Send on what the parent sent: the sizes of n ranks, and their bytes. */
static int scatter_on(struct team *t, const struct drep_message *m, size_t n, struct buf *part)
{
    const uint8_t *sizes = frame_body(m);
    uint64_t *at = mem_array((uint64_t)n + 1, sizeof *at);
    size_t i, rest = frame_size(m);
    int err = 0;

    if (!at)
        return team_kill(t, DREP_ERR_NOMEM);
    if (rest < 8 * n)
        err = fail(DREP_ERR_FAILED, "%s: invalid frame of rank %d", t->call, m->from);
    at[0] = 0;
    rest -= err ? rest : 8 * n;
    for (i = 0; !err && i < n; i++) {
        at[i + 1] = at[i] + load_u64(sizes + 8 * i);
        if (at[i + 1] > rest || at[i + 1] < at[i])
            err = fail(DREP_ERR_FAILED, "%s: invalid sizes of rank %d", t->call, m->from);
    }
    err = err ? team_kill(t, err) : scatter_tree(t, sizes + 8 * n, at, part);
    mem_free(at);
    return err;
}

int team_scatter(struct team *t, const uint8_t *all, const uint64_t *offset, struct buf *part)
{
    struct drep_message *m;
    int err = wire_begin(t, TEAM_SCATTER);

    if (err || !t->rank)
        return err ? err : scatter_tree(t, all, offset, part);
    if ((err = wire_from_parent(t, &m)) != 0)
        return err;
    err = scatter_on(t, m, (size_t)subtree(t), part);
    mem_free(m);
    return err;
}

/* --------------------------------------------------------------- reductions */

static int reduce_merge(void *ctx, struct buf *mine, const void *theirs, size_t size)
{
    enum team_op op = *(enum team_op *)ctx;
    const uint8_t *p = theirs;
    uint64_t a, b;
    size_t i;

    if (size != mine->len)
        return fail(DREP_ERR_FAILED, "%zu bytes to reduce, not %zu", size, mine->len);
    for (i = 0; i < size; i += 8) {
        a = load_u64(mine->p + i);
        b = load_u64(p + i);
        if (op == TEAM_SUM)
            store_u64(mine->p + i, a + b);
        else if (op == TEAM_MAX ? b > a : b < a)
            store_u64(mine->p + i, b);
    }
    return 0;
}

int team_reduce(struct team *t, enum team_op op, uint64_t *v, size_t n)
{
    struct buf b = {0};
    size_t i;
    int err = wire_begin(t, TEAM_MERGE);

    if (err)
        return err;
    if ((err = buf_room(&b, 8 * (uint64_t)n)) != 0)
        return team_kill(t, err);
    for (i = 0; i < n; i++)
        store_u64(b.p + 8 * i, v[i]);
    b.len = 8 * n;
    /* Unequal n are a bug of the caller, which all have to hear of. */
    err = team_kill(t, merge_tree(t, 0, &b, reduce_merge, &op));
    if (!err && (err = wire_begin(t, TEAM_BCAST)) == 0)
        err = bcast(t, &b);
    for (i = 0; !err && i < n; i++)
        v[i] = load_u64(b.p + 8 * i);
    buf_release(&b);
    return err;
}

int team_same(struct team *t, uint64_t hash, bool *same)
{
    uint64_t v[2] = {hash, ~hash}; /* the maximum of ~hash is ~ the minimum */
    int err = team_reduce(t, TEAM_MAX, v, 2);

    if (!err)
        *same = v[0] == ~v[1];
    return err;
}
