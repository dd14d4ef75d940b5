/* compact.c - elements that stand in the tree: small datasets. */
#include "elem/transfer.h"

#include <string.h>

/* Before anything of a payload's heap is followed. */
static int payload_check(const drep_dataset *ds, const struct buf *b, size_t fixed)
{
    if (!ds->ft->type->variable || ds->esize == 0)
        return 0;
    return heap_check(NULL, PROG_PACKED, &ds->ft->stored, b->p,
                      (int64_t)(fixed / (size_t)ds->esize), b->p + fixed, b->len - fixed);
}

/* The whole payload: what is stored, then fill; heap and its size beside it. */
int compact_load(drep_dataset *ds, struct buf *b, size_t *fixed)
{
    uint64_t full = bytes_of(ds, dataset_count(ds));
    struct key key;
    size_t have;
    int err;

    key_make(&key, ds->id, FMT_TAG_DATA);
    b->len = 0;
    err = tree_get(ds->file->st, &key, b);
    if (err != 0 && err != DREP_ERR_NOT_FOUND)
        return err;
    have = err == 0 ? b->len : 0;
    *fixed = (size_t)full; /* if memory can hold it */
    if (have > full && !ds->ft->type->variable)
        return fail(DREP_ERR_FORMAT, "%zu bytes of payload for %llu", have,
                    (unsigned long long)full);
    if (have >= full)
        return payload_check(ds, b, *fixed);
    if (ds->ft->type->variable && have > 0)
        return fail(DREP_ERR_FORMAT, "%zu bytes of payload, %llu expected", have,
                    (unsigned long long)full);
    if (have % (size_t)ds->esize != 0)
        return fail(DREP_ERR_FORMAT, "%zu bytes of payload are no whole elements", have);
    if ((err = buf_reserve(b, full + ds->fill_heap.len)) != 0)
        return err;
    if ((err = fill_bytes(ds, b->p + have, have, full - have)) != 0)
        return err;
    if (ds->fill_heap.len > 0)
        memcpy(b->p + *fixed, ds->fill_heap.p, ds->fill_heap.len);
    b->len = *fixed + ds->fill_heap.len;
    return 0;
}

static int box_runs(struct mover *m)
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

struct stretches {
    struct mover *m;
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

static int compact_part(struct mover *m, struct buf *b, struct buf *heap)
{
    struct transfer *t = m->t;
    struct conv *c = &m->c;
    drep_dataset *ds = t->ds;
    struct in_memory s = {t, c, NULL};
    struct stretches other = {m, 0};
    struct key key;
    size_t fixed;
    int err = compact_load(ds, b, &fixed);

    if (err != 0)
        return err;
    if (t->writing && ds->ft->type->variable && (err = heap_renew(ds, b, fixed, heap)) != 0)
        return err;
    c->heap = b->p + fixed;
    c->heap_size = b->len - fixed;
    c->heap_out = heap;
    s.payload = b->p;
    part_take(m, memory_run, NULL, &s);
    err = selection_is_box(t->sel) ? box_runs(m) : selection_stretches(t->sel, stretch, &other);
    err = part_flush(m, err);
    if (err != 0 || !t->writing)
        return err;
    if ((err = heap_append(b, fixed, heap)) != 0)
        return err;
    if (b->len > FMT_VALUE_MAX)
        return fail(DREP_ERR_LIMIT, "a compact dataset of %zu bytes", b->len);
    key_make(&key, ds->id, FMT_TAG_DATA);
    return tree_put(ds->file->st, &key, b->p, b->len);
}

int compact_run(struct transfer *t)
{
    struct buf b = {0}, heap = {0};
    struct mover m;
    int err = part_begin(&m, t, t->sel->count);

    if (err == 0)
        err = part_end(&m, compact_part(&m, &b, &heap));
    buf_release(&b);
    buf_release(&heap);
    return err;
}
