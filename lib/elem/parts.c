/* parts.c - what of a selection falls into which chunk. */
/* SPDX-License-Identifier: MIT */
#include "elem/parts.h"

#include "base/mem.h"
#include "chunk/record.h"
#include "elem/source.h"

#include <stdlib.h>

#define BATCH ((size_t)1 << 16)       /* pieces */
#define SHORT_MAX ((uint64_t)1 << 20) /* bytes of a chunk that is written short */

/* ---- boxes ---- */

/* Numbers the chunks that a box touches, dimension by dimension. Where the stride is larger than a
 * chunk, those between two selected indices are left out. */
static int cut_box(struct transfer *t)
{
    const struct object_rec *r = &t->ds->rec;

    t->nparts = 1;
    for (int d = 0; d < r->rank; d++) {
        const struct span_dim *s = &t->sel->dim[d];

        t->chunk0[d] = s->start / r->chunk[d];
        t->apart[d] = s->n > 1 && s->block == 1 && s->stride >= r->chunk[d];
        t->chunks[d] = t->apart[d] ? s->n : span_at(s, s->n - 1) / r->chunk[d] - t->chunk0[d] + 1;
        if (__builtin_mul_overflow(t->nparts, t->chunks[d], &t->nparts))
            return fail(DREP_ERR_LIMIT, "more than 2^63 chunks");
    }
    return 0;
}

/* Part number i of the box, by chunks in the order of the grid. p->n is 0 when nothing of the chunk
 * is selected. */
static void part_of_box(const struct transfer *t, int64_t i, struct chunk_part *p)
{
    const struct object_rec *r = &t->ds->rec;

    p->piece = NULL;
    p->n = 1;
    p->all = 1;
    for (int d = r->rank - 1; d >= 0; d--) {
        int64_t k = i % t->chunks[d], len = r->chunk[d], inside;
        int64_t c = t->apart[d] ? span_at(&t->sel->dim[d], k) / len : t->chunk0[d] + k;

        i /= t->chunks[d];
        p->coord[d] = (uint64_t)c;
        p->from[d] = c * len;
        p->len[d] = len;
        p->k0[d] = span_first(&t->sel->dim[d], c * len);
        p->k1[d] = span_first(&t->sel->dim[d], (c + 1) * len);
        p->n *= p->k1[d] - p->k0[d];
        inside = (int64_t)r->len[d] - c * len;
        p->all *= inside < len ? inside : len;
    }
}

/* ---- other selections ---- */

/* Part number i of a batch: the pieces of one chunk. */
static void part_of_pieces(const struct transfer *t, int64_t i, struct chunk_part *p)
{
    const struct object_rec *r = &t->ds->rec;
    int64_t number;

    p->piece = t->piece + t->group[i];
    p->npieces = t->group[i + 1] - t->group[i];
    p->n = 0;
    for (int64_t k = 0; k < p->npieces; k++)
        p->n += p->piece[k].n;
    p->all = 1;
    number = p->piece[0].chunk;
    if (r->layout == FMT_CONTIGUOUS) {
        int64_t left = dataset_count(t->ds) - number * (int64_t)r->slab;

        p->coord[0] = (uint64_t)number;
        p->all = left < (int64_t)r->slab ? left : (int64_t)r->slab;
    }
    for (int d = r->rank - 1; r->layout == FMT_CHUNKED && d >= 0; d--) {
        int64_t len = r->chunk[d], grid = ((int64_t)r->len[d] - 1) / len + 1, inside;

        p->coord[d] = (uint64_t)(number % grid);
        number /= grid;
        inside = (int64_t)r->len[d] - (int64_t)p->coord[d] * len;
        p->all *= inside < len ? inside : len;
    }
    if (t->sel->coords)
        p->all = INT64_MAX;
}

void part_of(const struct transfer *t, int64_t i, struct chunk_part *p)
{
    if (t->piece)
        part_of_pieces(t, i, p);
    else
        part_of_box(t, i, p);
}

bool chunk_takes_more(const drep_dataset *ds, const uint64_t *coord, int64_t extent)
{
    int d = ds->chunks.grows && ds->rec.layout == FMT_CHUNKED ? dimension_behind(&ds->rec) : -1;

    return d >= 0 && ds->fill_err == 0 && bytes_of(ds, extent) <= SHORT_MAX &&
           ds->rec.len[d] / ds->rec.chunk[d] <= coord[d];
}

bool part_writes_whole(const struct transfer *t, const struct chunk_part *p)
{
    const drep_dataset *ds = t->ds;

    if (t->from) /* a batch of pieces may happen to have all of a chunk that came in part */
        return p->n > 0 && source_whole(t, p->coord);
    if (p->n == 0 || p->n != p->all || writes_members(t))
        return false;
    if (ds->rec.layout != FMT_CHUNKED)
        return p->all == chunk_elements(ds);
    if (ds->rec.nfilters > 0 || ds->ft->type->variable)
        return !t->appending || p->n == chunk_elements(ds);
    return !chunk_takes_more(ds, p->coord, p->all);
}

/* Calls fn for the runs of a part, upwards in the chunk: gather, scatter and the reader of a
 * shuffled chunk rely on that order. */
int part_runs(struct part_mover *m, const struct chunk_part *p, run_fn *fn, flush_fn *flush,
              void *ctx)
{
    int err = 0;

    part_take(m, fn, flush, ctx);
    if (m->t->from && (err = source_elements(m, p->coord)))
        return err;
    if (m->stage || m->t->from) {
        fn = part_run;
        ctx = m;
    }
    if (!p->piece)
        err = selection_runs(m->t->sel, p->k0, p->k1, p->from, p->len, fn, ctx);
    for (int64_t i = 0; p->piece && !err && i < p->npieces; i++)
        err = fn(ctx, p->piece[i].at, 1, p->piece[i].n, p->piece[i].mem);
    return part_flush(m, err);
}

/* Pieces of points or unions that are collected until there are enough of them. */
struct piece_batch {
    struct transfer *t;
    parts_fn *fn;
    size_t n;
    int64_t mem;
    bool sorted;
};

/* Orders pieces by chunk, by place, and by number, so that of two writes of one element the last
 * one stays. */
static int by_chunk(const void *a, const void *b)
{
    const struct cut_run *x = a, *y = b;

    if (x->chunk != y->chunk)
        return x->chunk < y->chunk ? -1 : 1;
    if (x->at != y->at)
        return x->at < y->at ? -1 : 1;
    return (x->mem > y->mem) - (x->mem < y->mem); /* the last one written stays */
}

/* Sorts the batch, finds where the pieces of each chunk begin, and moves them. */
static int batch_end(struct piece_batch *b)
{
    struct transfer *t = b->t;

    if (b->n == 0)
        return 0;
    if (!b->sorted)
        qsort(t->piece, b->n, sizeof *t->piece, by_chunk);
    t->nparts = 0;
    for (size_t i = 0; i < b->n; i++)
        if (i == 0 || t->piece[i].chunk != t->piece[i - 1].chunk)
            t->group[t->nparts++] = (int64_t)i;
    t->group[t->nparts] = (int64_t)b->n;
    b->n = 0;
    b->sorted = true;
    return b->fn(t);
}

/* Adds a piece; moves the batch when it is full. */
static int batch_add(struct piece_batch *b, int64_t chunk, int64_t at, int64_t n)
{
    struct cut_run *p = b->t->piece + b->n;
    int err = 0;

    *p = (struct cut_run){chunk, at, n, b->mem};
    b->mem += n;
    if (b->n > 0 && by_chunk(p - 1, p) > 0)
        b->sorted = false;
    if (++b->n == BATCH)
        err = batch_end(b);
    return err;
}

/* Cuts neighbours of a contiguous dataset at the borders of slabs. */
static int add_flat(struct piece_batch *b, const int64_t *coord, int64_t n)
{
    const struct object_rec *r = &b->t->ds->rec;
    int64_t slab = (int64_t)r->slab, at = 0, now;
    int err = 0;

    for (int d = 0; d < r->rank; d++)
        at = at * (int64_t)r->len[d] + coord[d];
    for (; !err && n > 0; n -= now, at += now) {
        now = slab - at % slab < n ? slab - at % slab : n;
        err = batch_add(b, at / slab, at % slab, now);
    }
    return err;
}

/* Cuts neighbours in the last dimension at the borders of chunks. */
static int add_stretch(void *ctx, const int64_t *coord, int64_t n)
{
    struct piece_batch *b = ctx;
    const struct object_rec *r = &b->t->ds->rec;
    int64_t chunk = 0, at = 0, last, len, now;
    int err = 0, d;

    if (r->layout == FMT_CONTIGUOUS)
        return add_flat(b, coord, n);
    for (d = 0; d < r->rank - 1; d++) {
        chunk = chunk * (((int64_t)r->len[d] - 1) / r->chunk[d] + 1) + coord[d] / r->chunk[d];
        at = at * r->chunk[d] + coord[d] % r->chunk[d];
    }
    len = r->chunk[d];
    chunk *= ((int64_t)r->len[d] - 1) / len + 1;
    at *= len;
    for (last = coord[d]; !err && n > 0; n -= now, last += now) {
        now = len - last % len < n ? len - last % len : n;
        err = batch_add(b, chunk + last / len, at + last % len, now);
    }
    return err;
}

/* Takes pieces that are there already, as many whole chunks at a time as a batch has room for. */
static int parts_given(struct transfer *t, parts_fn *fn)
{
    int64_t at = 0, end, next;
    int err = 0;

    t->group = mem_array((uint64_t)t->given.n + 2, sizeof *t->group);
    if (!t->group)
        return DREP_ERR_NOMEM;
    for (; !err && at < t->given.n; at = end) {
        t->piece = t->given.piece + at;
        t->nparts = 0;
        for (end = at; end < t->given.n; end = next) {
            for (next = end;
                 next < t->given.n && t->given.piece[next].chunk == t->given.piece[end].chunk;)
                next++;
            if (end > at && next - at > (int64_t)BATCH)
                break;
            t->group[t->nparts++] = end - at;
        }
        t->group[t->nparts] = end - at;
        err = fn(t);
    }
    mem_free(t->group);
    t->group = NULL;
    t->piece = NULL;
    return err;
}

/* Cuts the selection into parts. A box has a number for each of its chunks; pieces of other
 * selections come batch by batch. */
int parts_each(struct transfer *t, parts_fn *fn)
{
    struct piece_batch b = {.t = t, .fn = fn, .sorted = true};
    size_t room = (uint64_t)t->sel->count < BATCH ? (size_t)t->sel->count : BATCH;
    int err;

    if (t->given.piece)
        return parts_given(t, fn);
    if (selection_is_box(t->sel)) {
        err = cut_box(t);
        return err ? err : fn(t);
    }
    t->piece = mem_array(room + 1, sizeof *t->piece);
    t->group = mem_array(room + 2, sizeof *t->group);
    err = !t->piece || !t->group ? DREP_ERR_NOMEM : 0;
    if (!err)
        err = selection_stretches(t->sel, add_stretch, &b);
    if (!err)
        err = batch_end(&b);
    mem_free(t->piece);
    mem_free(t->group);
    t->piece = NULL;
    t->group = NULL;
    return err;
}

int threads_for(const struct transfer *t, uint64_t bytes)
{
    return bytes < PARALLEL_MIN ? 1 : t->threads;
}

int name_chunk(const struct transfer *t, const struct chunk_part *p, int err)
{
    return fail_chunk(err, t->ds->chunks.rank, p->coord);
}

int part_done(const struct transfer *t, const struct chunk_part *p, int err)
{
    return err ? name_chunk(t, p, err) : part_moved(t, p->n);
}
