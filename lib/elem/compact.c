/* compact.c - elements that stand in the tree: small datasets. */
/* SPDX-License-Identifier: MIT */
#include "elem/compact.h"

#include "elem/mover.h"
#include "elem/payload.h"
#include "elem/source.h"
#include "tree/edit.h"
#include "tree/find.h"

#include <string.h>

/* Hands the runs of a box to the mover; the whole dataset is one block. */
static int box_runs(struct part_mover *m)
{
    const struct transfer *t = m->t;
    int64_t k0[DREP_MAX_RANK], k1[DREP_MAX_RANK], from[DREP_MAX_RANK], len[DREP_MAX_RANK];

    for (int d = 0; d < t->sel->rank; d++) {
        k0[d] = from[d] = 0;
        k1[d] = t->sel->dim[d].n;
        len[d] = (int64_t)t->ds->rec.len[d];
    }
    return selection_runs(t->sel, k0, k1, from, len, part_run, m);
}

/* Counts the elements of points and unions as they come. */
struct stretches {
    struct part_mover *m;
    int64_t mem;
};

static int stretch(void *ctx, const int64_t *coord, int64_t n)
{
    struct stretches *x = ctx;
    const struct transfer *t = x->m->t;
    int64_t at = 0;

    for (int d = 0; d < t->sel->rank; d++)
        at = at * (int64_t)t->ds->rec.len[d] + coord[d];
    x->mem += n;
    return part_run(x->m, at, 1, n, x->mem - n);
}

int compact_put(drep_dataset *ds, const struct buf *b)
{
    struct key key;

    if (b->len > FMT_VALUE_MAX)
        return fail(DREP_ERR_LIMIT, "a compact dataset of %zu bytes", b->len);
    key_make(&key, ds->id, FMT_TAG_DATA);
    return tree_put(ds->file->st, &key, b->p, b->len);
}

int compact_store(drep_dataset *ds, struct buf *b, size_t fixed, const struct buf *heap)
{
    int err = heap_append(b, fixed, heap);

    return err ? err : compact_put(ds, b);
}

/* Moves the elements of the selection in a copy of the payload, which a write then puts in place of
 * the old one. */
static int compact_part(struct part_mover *m, struct buf *b, struct buf *heap)
{
    struct transfer *t = m->t;
    struct conv *c = &m->c;
    drep_dataset *ds = t->ds;
    struct in_memory s = {t, c, NULL};
    struct stretches other = {m, 0};
    size_t fixed;
    int err = compact_load(ds, b, &fixed);

    if (err)
        return err;
    if (t->writing && ds->ft->type->variable && (err = heap_renew(ds, b, fixed, heap)))
        return err;
    c->heap = b->p + fixed;
    c->heap_size = b->len - fixed;
    c->heap_out = heap;
    s.payload = b->p;
    part_take(m, memory_run, NULL, &s);
    if (t->from && (err = source_elements(m, &(uint64_t){0})))
        return err;
    err = selection_is_box(t->sel) ? box_runs(m) : selection_stretches(t->sel, stretch, &other);
    err = part_flush(m, err);
    if (err || !t->writing)
        return err;
    return compact_store(ds, b, fixed, heap);
}

/* Moves a selection of a compact dataset: one part. */
int compact_run(struct transfer *t)
{
    struct buf b = {0}, heap = {0};
    struct part_mover m;
    int err = part_begin(&m, t, t->sel->count);

    if (!err)
        err = part_end(&m, compact_part(&m, &b, &heap));
    buf_release(&b);
    buf_release(&heap);
    return err;
}

/* ---- all of it ---- */

/* Writes all elements into scratch memory of the operation and from there into the tree. */
static int write_whole(drep_dataset *ds, struct conv *c, const char *mem, int64_t n)
{
    struct buf *b = &ds->file->op.scratch[1];
    size_t size = (size_t)bytes_of(ds, n); /* compact: small */
    struct key key;
    int err = buf_reserve(b, size);

    if (err)
        return err;
    if (prog_gaps(c->stored))
        memset(b->p, 0, size); /* gaps are zeros */
    if ((err = conv_write(c, mem, 0, b->p, ds->esize, n)))
        return err;
    key_make(&key, ds->id, FMT_TAG_DATA);
    return tree_put(ds->file->st, &key, b->p, size);
}

/* Converts all elements from where they stand in the tree. *done: they were all stored. */
static int read_compact(drep_dataset *ds, struct conv *c, char *mem, int64_t n, bool *done)
{
    struct peek peek;
    struct key key;
    int err;

    key_make(&key, ds->id, FMT_TAG_DATA);
    *done = false;
    err = tree_peek(ds->file->st, &key, &peek);
    if (err)
        return err == DREP_ERR_NOT_FOUND ? 0 : err;
    *done = peek.len == bytes_of(ds, n);
    if (*done)
        err = conv_read(c, mem, 0, peek.p, ds->esize, n);
    tree_peeked(&peek);
    return err;
}

int compact_whole(drep_dataset *ds, struct conv *c, char *mem, bool writing, bool *done)
{
    int64_t n = dataset_count(ds);

    if (!writing)
        return read_compact(ds, c, mem, n, done);
    *done = true;
    return write_whole(ds, c, mem, n);
}
