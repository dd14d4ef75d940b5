/* transfer.c - reading and writing the elements of datasets.
 *
 * A transfer is cut into parts, one a slab or chunk.  Each part is read, verified and
 * converted while it is in the processor's cache; parts of a read run in the worker
 * pool.  A write runs inside one operation of the store: when an element fails, nothing
 * of it stays. */
#include "base/pool.h"
#include "data/data.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define PARALLEL_MIN (4 << 20) /* bytes below which threads do not pay */
#define SPAN_MAX (1 << 20)     /* bytes read at once for elements that lie apart */
#define FILL_PIECE (64 << 10)  /* bytes of fill that are converted at once */
#define PATCHES_MAX 16         /* points for which a whole chunk is not rewritten */

/* One read or write. */
struct transfer {
    drep_dataset *ds;
    struct drep_selection all;
    const struct drep_selection *sel;
    struct conv conv; /* what each part starts from */
    char *mem;
    bool writing;
    int threads;
    const drep_xfer *xfer;

    /* Chunks that the box touches, dimension by dimension: the first and how many. */
    int64_t chunk0[DREP_MAX_RANK], chunks[DREP_MAX_RANK];
    bool apart[DREP_MAX_RANK]; /* no two selected indices fall into one chunk */
    int64_t *point, *group;    /* points by chunk; where each chunk's begin */
    int64_t nparts;
    int64_t run_at, run_n, run_mem; /* contiguous: the flat range in work */

    pthread_mutex_t lock; /* of what follows */
    struct buf *spare;    /* staging buffers not in use */
    int nspare;
};

#define SPARE_MAX 64

static struct buf staging_take(struct transfer *t)
{
    struct buf b = {0};

    pthread_mutex_lock(&t->lock);
    if (t->nspare > 0)
        b = t->spare[--t->nspare];
    pthread_mutex_unlock(&t->lock);
    return b;
}

static void staging_give(struct transfer *t, struct buf b)
{
    pthread_mutex_lock(&t->lock);
    if (t->nspare < SPARE_MAX)
        t->spare[t->nspare++] = b;
    else
        buf_release(&b);
    pthread_mutex_unlock(&t->lock);
}

/* A part's own converter, and its report taken back. */
static void part_begin(struct transfer *t, struct conv *c)
{
    *c = t->conv;
    c->report = (drep_report){.first_overflow = -1, .first_inexact = -1, .first_nan_lost = -1};
    if (c->opts.report != NULL)
        c->opts.report = &c->report;
}

static void part_end(struct transfer *t, const struct conv *c)
{
    if (t->xfer == NULL || t->xfer->report == NULL)
        return;
    pthread_mutex_lock(&t->lock);
    conv_report(c, t->xfer);
    pthread_mutex_unlock(&t->lock);
}

static uint64_t bytes_of(const drep_dataset *ds, int64_t n)
{
    return (uint64_t)n * (uint64_t)ds->esize;
}

/* ---- elements that lie in memory: compact data and whole chunks ---- */

struct scatter {
    struct transfer *t;
    struct conv *c;
    uint8_t *payload;
};

static int scatter_run(void *ctx, int64_t at, int64_t step, int64_t n, int64_t mem)
{
    struct scatter *s = ctx;
    int64_t es = s->t->ds->esize;
    uint8_t *p = s->payload + at * es;

    return s->t->writing ? conv_write(s->c, s->t->mem, mem, p, step * es, n)
                         : conv_read(s->c, s->t->mem, mem, p, step * es, n);
}

/* ---- compact ---- */

/* Before anything of a payload's heap is followed. */
static int heap_check(const drep_dataset *ds, const struct buf *b, size_t fixed)
{
    if (!ds->ft->type->variable || ds->esize == 0)
        return 0;
    return conv_heap_check(NULL, PROG_PACKED, &ds->ft->stored, b->p,
                           (int64_t)(fixed / (size_t)ds->esize), b->p + fixed, b->len - fixed);
}

/* The whole payload: what is stored, then fill; heap and its size beside it. */
static int compact_load(drep_dataset *ds, struct buf *b, size_t *fixed)
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
        return heap_check(ds, b, *fixed);
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

static int box_runs(struct transfer *t, struct scatter *s)
{
    int64_t k0[DREP_MAX_RANK], k1[DREP_MAX_RANK], from[DREP_MAX_RANK], len[DREP_MAX_RANK];

    for (int d = 0; d < t->sel->rank; d++) {
        k0[d] = from[d] = 0;
        k1[d] = t->sel->dim[d].n;
        len[d] = (int64_t)t->ds->rec.len[d];
    }
    return selection_runs(t->sel, k0, k1, from, len, scatter_run, s);
}

static int point_runs(struct transfer *t, struct scatter *s)
{
    int rank = t->sel->rank, err = 0;

    for (int64_t i = 0; err == 0 && i < t->sel->npoints; i++) {
        int64_t at = 0;

        for (int d = 0; d < rank; d++)
            at = at * (int64_t)t->ds->rec.len[d] + t->sel->coords[i * rank + d];
        err = scatter_run(s, at, 1, 1, i);
    }
    return err;
}

int heap_renew(drep_dataset *ds, struct buf *b, size_t fixed, struct buf *heap)
{
    heap->len = 0;
    return conv_heap_move(ds->file, &ds->ft->stored, b->p,
                          ds->esize > 0 ? (int64_t)(fixed / (size_t)ds->esize) : 0, b->p + fixed,
                          b->len - fixed, heap, 0);
}

int heap_append(struct buf *b, size_t fixed, const struct buf *heap)
{
    int err = buf_reserve(b, fixed + heap->len);

    if (err == 0 && heap->len > 0)
        memcpy(b->p + fixed, heap->p, heap->len);
    b->len = fixed + heap->len;
    return err;
}

static int compact_part(struct transfer *t, struct conv *c, struct buf *b, struct buf *heap)
{
    drep_dataset *ds = t->ds;
    struct scatter s = {t, c, NULL};
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
    err = t->sel->coords != NULL ? point_runs(t, &s) : box_runs(t, &s);
    if (err != 0 || !t->writing)
        return err;
    if ((err = heap_append(b, fixed, heap)) != 0)
        return err;
    if (b->len > FMT_VALUE_MAX)
        return fail(DREP_ERR_LIMIT, "a compact dataset of %zu bytes", b->len);
    key_make(&key, ds->id, FMT_TAG_DATA);
    return tree_put(ds->file->st, &key, b->p, b->len);
}

static int compact_run(struct transfer *t)
{
    struct buf b = {0}, heap = {0};
    struct conv c;
    int err;

    part_begin(t, &c);
    err = compact_part(t, &c, &b, &heap);
    part_end(t, &c);
    buf_release(&b);
    buf_release(&heap);
    return err;
}

/* ---- contiguous: flat ranges over slabs ---- */

/* Where element number `at` of the transfer lies, when bytes are the same on both
 * sides. */
static char *plain_memory(const struct transfer *t, int64_t at)
{
    const struct prog *mem = &t->conv.mem->prog;

    if (t->conv.raw)
        return t->mem + at * t->ds->esize;
    return t->mem + mem->origin + at * t->conv.stored->items * mem->root->stride;
}

/* Reads elements [at, at + n) of one slab into buf, fill included. */
static int slab_load(drep_dataset *ds, uint64_t slab, int64_t at, int64_t n, uint8_t *buf)
{
    uint64_t have = 0, size = bytes_of(ds, n), offset = bytes_of(ds, at);
    int err = chunk_read(&ds->chunks, &slab, offset, size, buf, &have);

    if (err == 0 && have < size)
        err = fill_bytes(ds, buf + have, offset + have, size - have);
    return err;
}

/* Changes bytes of a chunk without variable parts. */
static int payload_patch(drep_dataset *ds, const uint64_t *coord, uint64_t offset, uint64_t size,
                         const void *bytes)
{
    uint64_t have = 0;
    int err = ds->fill_err != 0 ? chunk_size(&ds->chunks, coord, &have) : 0;

    if (err == 0 && ds->fill_err != 0 && have < ds->chunks.payload)
        err = fill_bytes(ds, NULL, 0, 0); /* says why there is none */
    return err != 0
               ? err
               : chunk_patch(&ds->chunks, coord, offset, size, bytes, ds->fill, (size_t)ds->esize);
}

/* Part i of a flat range: what of it lies in slab number i from its first. */
static int flat_read_part(void *ctx, int64_t i)
{
    struct transfer *t = ctx;
    drep_dataset *ds = t->ds;
    int64_t slab_n = (int64_t)ds->rec.slab, first = t->run_at / slab_n + i;
    int64_t from = first * slab_n > t->run_at ? first * slab_n : t->run_at;
    int64_t end =
        (first + 1) * slab_n < t->run_at + t->run_n ? (first + 1) * slab_n : t->run_at + t->run_n;
    int64_t mem = t->run_mem + from - t->run_at, n = end - from;
    struct buf b;
    struct conv c;
    int err;

    if (t->conv.copy) {
        if (t->conv.opts.report != NULL) {
            part_begin(t, &c);
            c.report.items = n * c.stored->items;
            part_end(t, &c);
        }
        return slab_load(ds, (uint64_t)first, from - first * slab_n, n,
                         (uint8_t *)plain_memory(t, mem));
    }
    part_begin(t, &c);
    b = staging_take(t);
    err = buf_reserve(&b, bytes_of(ds, n));
    if (err == 0)
        err = slab_load(ds, (uint64_t)first, from - first * slab_n, n, b.p);
    if (err == 0)
        err = conv_read(&c, t->mem, mem, b.p, ds->esize, n);
    staging_give(t, b);
    part_end(t, &c);
    return err;
}

static int flat_read(struct transfer *t, int64_t at, int64_t n, int64_t mem)
{
    int64_t slab_n = (int64_t)t->ds->rec.slab;
    int64_t parts = (at + n - 1) / slab_n - at / slab_n + 1;

    t->run_at = at;
    t->run_n = n;
    t->run_mem = mem;
    return pool_run(bytes_of(t->ds, n) < PARALLEL_MIN ? 1 : t->threads, parts, flat_read_part, t);
}

/* Bytes that slab number `slab` has in the dataset as it is now. */
static int64_t slab_len(const drep_dataset *ds, int64_t slab)
{
    int64_t left = dataset_count(ds) - slab * (int64_t)ds->rec.slab;

    return left < (int64_t)ds->rec.slab ? left : (int64_t)ds->rec.slab;
}

/* Writes one whole slab or a part of it. */
static int slab_write(struct transfer *t, struct conv *c, int64_t slab, int64_t at, int64_t n,
                      int64_t mem)
{
    drep_dataset *ds = t->ds;
    uint64_t coord = (uint64_t)slab;
    const uint8_t *bytes;
    struct buf b = {0};
    int err = 0;

    if (t->conv.copy) {
        bytes = (const uint8_t *)plain_memory(t, mem);
    } else {
        b = staging_take(t);
        if ((err = buf_reserve(&b, bytes_of(ds, n))) == 0) {
            if (header_layout(ds->file) == PROG_STRUCT)
                memset(b.p, 0, (size_t)bytes_of(ds, n)); /* gaps are zeros */
            err = conv_write(c, t->mem, mem, b.p, ds->esize, n);
        }
        bytes = b.p;
    }
    if (err == 0)
        err = n == slab_len(ds, slab)
                  ? chunk_write(&ds->chunks, &coord, 1, bytes, bytes_of(ds, n))
                  : payload_patch(ds, &coord, bytes_of(ds, at), bytes_of(ds, n), bytes);
    if (!t->conv.copy)
        staging_give(t, b);
    return err;
}

static int flat_write(struct transfer *t, struct conv *c, int64_t at, int64_t n, int64_t mem)
{
    drep_dataset *ds = t->ds;
    int64_t slab_n = (int64_t)ds->rec.slab;
    int err = 0;

    while (err == 0 && n > 0) {
        int64_t slab = at / slab_n, in = at % slab_n, now = slab_n - in;

        /* Whole slabs of plain bytes go in one call. */
        if (t->conv.copy && in == 0 && n >= slab_n) {
            uint64_t coord = (uint64_t)slab;

            now = n / slab_n * slab_n;
            err = chunk_write(&ds->chunks, &coord, (uint64_t)(now / slab_n), plain_memory(t, mem),
                              bytes_of(ds, slab_n));
        } else {
            now = now < n ? now : n;
            err = slab_write(t, c, slab, in, now, mem);
        }
        at += now;
        mem += now;
        n -= now;
    }
    return err;
}

/* Elements `step` apart: near ones through the range that holds them, far ones one by
 * one. */
static int flat_strided(struct transfer *t, struct conv *c, int64_t at, int64_t step, int64_t n,
                        int64_t mem)
{
    drep_dataset *ds = t->ds;
    int64_t slab_n = (int64_t)ds->rec.slab, es = ds->esize;
    struct buf b = staging_take(t);
    int err = 0;

    while (err == 0 && n > 0) {
        int64_t slab = at / slab_n, in = at % slab_n;
        int64_t now = step * es > 4096 ? 1 : (slab_n - in + step - 1) / step;
        int64_t span;
        uint64_t coord = (uint64_t)slab;

        now = now < n ? now : n;
        now = now < SPAN_MAX / (step * es) + 1 ? now : SPAN_MAX / (step * es) + 1;
        span = (now - 1) * step + 1;
        if ((err = buf_reserve(&b, bytes_of(ds, span))) != 0)
            break;
        if (!t->writing || now > 1)
            err = slab_load(ds, coord, in, span, b.p);
        else
            memset(b.p, 0, (size_t)es); /* gaps are zeros */
        if (err == 0 && t->writing)
            err = conv_write(c, t->mem, mem, b.p, step * es, now);
        else if (err == 0)
            err = conv_read(c, t->mem, mem, b.p, step * es, now);
        if (err == 0 && t->writing)
            err = payload_patch(ds, &coord, bytes_of(ds, in), bytes_of(ds, span), b.p);
        at += now * step;
        mem += now;
        n -= now;
    }
    staging_give(t, b);
    return err;
}

struct flat {
    struct transfer *t;
    struct conv *c;
};

static int flat_run(void *ctx, int64_t at, int64_t step, int64_t n, int64_t mem)
{
    struct flat *f = ctx;

    if (step != 1 && n > 1)
        return flat_strided(f->t, f->c, at, step, n, mem);
    return f->t->writing ? flat_write(f->t, f->c, at, n, mem) : flat_read(f->t, at, n, mem);
}

static int contiguous_run(struct transfer *t)
{
    int64_t k0[DREP_MAX_RANK], k1[DREP_MAX_RANK], from[DREP_MAX_RANK], len[DREP_MAX_RANK];
    int rank = t->sel->rank, err = 0;
    struct conv c;
    struct flat f = {t, &c};

    part_begin(t, &c);
    for (int64_t i = 0; err == 0 && t->sel->coords != NULL && i < t->sel->npoints; i++) {
        int64_t at = 0;

        for (int d = 0; d < rank; d++)
            at = at * (int64_t)t->ds->rec.len[d] + t->sel->coords[i * rank + d];
        err = flat_run(&f, at, 1, 1, i);
    }
    if (t->sel->coords == NULL) {
        for (int d = 0; d < rank; d++) {
            k0[d] = from[d] = 0;
            k1[d] = t->sel->dim[d].n;
            len[d] = (int64_t)t->ds->rec.len[d];
        }
        err = selection_runs(t->sel, k0, k1, from, len, flat_run, &f);
    }
    part_end(t, &c);
    return err;
}

/* ---- chunked ---- */

/* What of the selection falls into one chunk. */
struct part {
    uint64_t coord[DREP_MAX_RANK];
    int64_t k0[DREP_MAX_RANK], k1[DREP_MAX_RANK];
    int64_t from[DREP_MAX_RANK], len[DREP_MAX_RANK];
    int64_t n;            /* selected elements */
    bool covered;         /* all that the dataset has of this chunk */
    const int64_t *point; /* their numbers, when they are points */
};

/* The points of chunk number i. */
static void part_of_points(const struct transfer *t, int64_t i, struct part *p)
{
    p->point = t->point + t->group[i];
    p->n = t->group[i + 1] - t->group[i];
    p->covered = false;
    for (int d = 0; d < t->sel->rank; d++) {
        p->len[d] = t->ds->rec.chunk[d];
        p->coord[d] = (uint64_t)(t->sel->coords[p->point[0] * t->sel->rank + d] / p->len[d]);
        p->from[d] = (int64_t)p->coord[d] * p->len[d];
    }
}

/* Part number i of the box, by chunks in grid order.  n 0: nothing selected in it. */
static void part_of(const struct transfer *t, int64_t i, struct part *p)
{
    const struct object_rec *r = &t->ds->rec;

    p->point = NULL;
    p->n = 1;
    p->covered = true;
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
        p->covered &= p->k1[d] - p->k0[d] == (inside < len ? inside : len);
    }
}

/* Calls fn for the runs of a part. */
static int part_runs(const struct transfer *t, const struct part *p, run_fn *fn, void *ctx)
{
    int rank = t->sel->rank, err = 0;

    if (p->point == NULL)
        return selection_runs(t->sel, p->k0, p->k1, p->from, p->len, fn, ctx);
    for (int64_t i = 0; err == 0 && i < p->n; i++) {
        const int64_t *coord = t->sel->coords + p->point[i] * rank;
        int64_t at = 0;

        for (int d = 0; d < rank; d++)
            at = at * p->len[d] + coord[d] - p->from[d];
        err = fn(ctx, at, 1, 1, p->point[i]);
    }
    return err;
}

int chunk_load(drep_dataset *ds, const uint64_t *coord, struct buf *b, size_t *fixed)
{
    uint64_t full = ds->chunks.payload, size = full, have = 0;
    int err = 0;

    if (ds->ft->type->variable)
        err = chunk_size(&ds->chunks, coord, &size);
    if (err == 0 && size != 0 && size < full)
        err = fail(DREP_ERR_FORMAT, "a payload of %llu bytes, at least %llu expected",
                   (unsigned long long)size, (unsigned long long)full);
    if (size < full)
        size = full;
    if (err == 0)
        err = buf_reserve(b, size + ds->fill_heap.len);
    if (err == 0)
        err = chunk_read(&ds->chunks, coord, 0, size, b->p, &have);
    if (err != 0)
        return err;
    *fixed = (size_t)full;
    b->len = (size_t)size;
    if (have >= full)
        return heap_check(ds, b, *fixed);
    if ((err = fill_bytes(ds, b->p + have, have, full - have)) != 0)
        return err;
    if (ds->fill_heap.len > 0)
        memcpy(b->p + *fixed, ds->fill_heap.p, ds->fill_heap.len);
    b->len = *fixed + ds->fill_heap.len;
    return 0;
}

/* Single runs of an unfiltered chunk, when little of it is wanted. */
struct direct {
    struct transfer *t;
    struct conv *c;
    const struct part *p;
    struct buf *b;
};

static int direct_run(void *ctx, int64_t at, int64_t step, int64_t n, int64_t mem)
{
    struct direct *d = ctx;
    drep_dataset *ds = d->t->ds;
    int64_t now;
    int err = 0;

    for (; err == 0 && n > 0; n -= now, at += now * step, mem += now) {
        uint64_t size, have = 0, offset = bytes_of(ds, at);

        now = step * ds->esize > 4096 ? 1 : SPAN_MAX / (step * ds->esize) + 1;
        now = now < n ? now : n;
        size = bytes_of(ds, (now - 1) * step + 1);
        if ((err = buf_reserve(d->b, size)) != 0)
            break;
        err = chunk_read(&ds->chunks, d->p->coord, offset, size, d->b->p, &have);
        if (err == 0 && have < size)
            err = fill_bytes(ds, d->b->p + have, offset + have, size - have);
        if (err == 0)
            err = conv_read(d->c, d->t->mem, mem, d->b->p, step * ds->esize, now);
    }
    return err;
}

/* Single points of such a chunk. */
static int patch_run(void *ctx, int64_t at, int64_t step, int64_t n, int64_t mem)
{
    struct direct *d = ctx;
    drep_dataset *ds = d->t->ds;
    uint64_t size = bytes_of(ds, n);
    int err = buf_reserve(d->b, size);

    (void)step; /* points have none */
    if (err != 0)
        return err;
    memset(d->b->p, 0, (size_t)size); /* gaps are zeros */
    err = conv_write(d->c, d->t->mem, mem, d->b->p, ds->esize, n);
    return err != 0 ? err : payload_patch(ds, d->p->coord, bytes_of(ds, at), size, d->b->p);
}

/* A chunk that is not stored: as many elements of fill as are selected. */
static int fill_run(void *ctx, int64_t at, int64_t step, int64_t n, int64_t mem)
{
    struct direct *d = ctx;
    int64_t es = d->t->ds->esize, room = es < FILL_PIECE ? FILL_PIECE / es : 1;
    int err = 0;

    (void)at;
    (void)step;
    for (int64_t now; err == 0 && n > 0; n -= now, mem += now) {
        now = n < room ? n : room;
        err = conv_read(d->c, d->t->mem, mem, d->b->p, es, now);
    }
    return err;
}

static int fill_in(struct direct *d)
{
    drep_dataset *ds = d->t->ds;
    int64_t n = ds->esize < FILL_PIECE ? FILL_PIECE / ds->esize : 1;
    int err;

    n = d->p->n < n ? d->p->n : n;
    if ((err = buf_reserve(d->b, bytes_of(ds, n))) != 0)
        return err;
    if ((err = fill_bytes(ds, d->b->p, 0, bytes_of(ds, n))) != 0)
        return err;
    d->c->heap = ds->fill_heap.p;
    d->c->heap_size = ds->fill_heap.len;
    return part_runs(d->t, d->p, fill_run, d);
}

static int chunk_in(struct transfer *t, struct conv *c, const struct part *p, struct buf *b)
{
    drep_dataset *ds = t->ds;
    struct scatter s = {t, c, NULL};
    struct direct d = {t, c, p, b};
    bool variable = ds->ft->type->variable;
    uint64_t size = 1;
    size_t fixed;
    int err;

    if (ds->rec.nfilters == 0 && !variable && bytes_of(ds, p->n) < ds->chunks.payload / 2)
        return part_runs(t, p, direct_run, &d);
    /* No memory for a chunk of which there may be nothing. */
    if ((variable || ds->chunks.payload > SPAN_MAX) &&
        (err = chunk_size(&ds->chunks, p->coord, &size)) != 0)
        return err;
    if (size == 0)
        return fill_in(&d);
    if ((err = chunk_load(ds, p->coord, b, &fixed)) != 0)
        return err;
    c->heap = b->p + fixed;
    c->heap_size = b->len - fixed;
    s.payload = b->p;
    return part_runs(t, p, scatter_run, &s);
}

static int chunk_out(struct transfer *t, struct conv *c, const struct part *p, struct buf *b,
                     struct buf *heap)
{
    drep_dataset *ds = t->ds;
    struct scatter s = {t, c, NULL};
    struct direct d = {t, c, p, b};
    size_t fixed = (size_t)ds->chunks.payload; /* if memory can hold it */
    int err = 0;

    if (p->point != NULL && p->n <= PATCHES_MAX && ds->rec.nfilters == 0 && !ds->ft->type->variable)
        return part_runs(t, p, patch_run, &d);
    heap->len = 0;
    if (p->covered && ds->ft->type->variable) {
        if ((err = buf_reserve(b, ds->chunks.payload)) == 0)
            memset(b->p, 0, fixed);
    } else if (p->covered) {
        if ((err = buf_reserve(b, ds->chunks.payload)) == 0 && ds->fill_err == 0)
            err = fill_bytes(ds, b->p, 0, fixed);
        else if (err == 0)
            memset(b->p, 0, fixed);
    } else {
        err = chunk_load(ds, p->coord, b, &fixed);
        if (err == 0 && ds->ft->type->variable)
            err = heap_renew(ds, b, fixed, heap);
    }
    if (err != 0)
        return err;
    c->heap_out = heap;
    s.payload = b->p;
    err = part_runs(t, p, scatter_run, &s);
    if (err == 0)
        err = heap_append(b, fixed, heap);
    if (err == 0)
        err = chunk_write(&ds->chunks, p->coord, 1, b->p, b->len);
    return err;
}

static int name_chunk(const struct transfer *t, const struct part *p, int err)
{
    char text[DREP_MAX_RANK * 21 + 1];
    size_t at = 0;

    if (err == 0)
        return 0;
    text[0] = '\0';
    for (int d = 0; d < t->ds->rec.rank; d++)
        at += (size_t)snprintf(text + at, sizeof text - at, "%s%llu", d > 0 ? "," : "",
                               (unsigned long long)p->coord[d]);
    return fail_in(err, "chunk (%s)", text);
}

static int chunk_part(void *ctx, int64_t i)
{
    struct transfer *t = ctx;
    struct buf b, heap = {0};
    struct part p;
    struct conv c;
    int err;

    if (t->point != NULL)
        part_of_points(t, i, &p);
    else
        part_of(t, i, &p);
    if (p.n == 0)
        return 0;
    b = staging_take(t);
    part_begin(t, &c);
    err = t->writing ? chunk_out(t, &c, &p, &b, &heap) : chunk_in(t, &c, &p, &b);
    part_end(t, &c);
    buf_release(&heap);
    staging_give(t, b);
    return name_chunk(t, &p, err);
}

static int chunked_box(struct transfer *t)
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
    if (t->writing || bytes_of(t->ds, t->sel->count) < PARALLEL_MIN)
        return pool_run(1, t->nparts, chunk_part, t);
    return pool_run(t->threads, t->nparts, chunk_part, t);
}

static int by_chunk(const void *a, const void *b, void *ctx)
{
    const struct transfer *t = ctx;
    int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;
    int rank = t->sel->rank;

    for (int d = 0; d < rank; d++) {
        int64_t i = t->sel->coords[x * rank + d] / t->ds->rec.chunk[d];
        int64_t k = t->sel->coords[y * rank + d] / t->ds->rec.chunk[d];

        if (i != k)
            return i < k ? -1 : 1;
    }
    return (x > y) - (x < y); /* in their own order: the last one written stays */
}

static bool same_chunk(const struct transfer *t, int64_t x, int64_t y)
{
    int rank = t->sel->rank;

    for (int d = 0; d < rank; d++)
        if (t->sel->coords[x * rank + d] / t->ds->rec.chunk[d] !=
            t->sel->coords[y * rank + d] / t->ds->rec.chunk[d])
            return false;
    return true;
}

/* Points are gathered by the chunks that they fall into: a part each. */
static int chunked_points(struct transfer *t)
{
    int64_t n = t->sel->npoints;
    int err = 0;

    t->point = mem_array((uint64_t)n, sizeof *t->point);
    t->group = mem_array((uint64_t)n + 1, sizeof *t->group);
    if (t->point == NULL || t->group == NULL)
        err = fail(DREP_ERR_NOMEM, "out of memory");
    for (int64_t i = 0; err == 0 && i < n; i++)
        t->point[i] = i;
    if (err == 0) {
        qsort_r(t->point, (size_t)n, sizeof *t->point, by_chunk, t);
        for (int64_t i = 0; i < n; i++)
            if (i == 0 || !same_chunk(t, t->point[i - 1], t->point[i]))
                t->group[t->nparts++] = i;
        t->group[t->nparts] = n;
        err = pool_run(t->writing || bytes_of(t->ds, n) < PARALLEL_MIN ? 1 : t->threads, t->nparts,
                       chunk_part, t);
    }
    mem_free(t->point);
    mem_free(t->group);
    return err;
}

static int chunked_run(struct transfer *t)
{
    return t->sel->coords != NULL ? chunked_points(t) : chunked_box(t);
}

/* ---- entry ---- */

static int items_check(const drep_dataset *ds, const drep_type *mem, int64_t n)
{
    int64_t items;

    if (__builtin_mul_overflow(n, ds->ft->stored.items, &items))
        return fail(DREP_ERR_COUNT, "more than 2^63 data items");
    if (items > 0 && (mem->items == 0 || items % mem->items != 0))
        return fail(DREP_ERR_COUNT,
                    "the selection's %lld data items do not fill whole elements of %lld items",
                    (long long)items, (long long)mem->items);
    return 0;
}

/* The null dataspace has no elements to select. */
static int null_check(struct transfer *t)
{
    if (t->sel != &t->all && t->sel->count > 0)
        return fail(DREP_ERR_RANGE, "a selection in the null dataspace");
    t->all.count = 0;
    t->sel = &t->all;
    return 0;
}

/* The transfer itself.  A read that fails in the middle keeps nothing of variable
 * length. */
static int run_layout(struct transfer *t)
{
    drep_dataset *ds = t->ds;
    const drep_type *mem = t->conv.mem;
    int64_t tiles = mem->items > 0 ? t->sel->count * ds->ft->stored.items / mem->items : 0;
    int err;

    if (!t->writing)
        conv_clear(mem, tiles, t->mem);
    err = ds->rec.layout == FMT_COMPACT      ? compact_run(t)
          : ds->rec.layout == FMT_CONTIGUOUS ? contiguous_run(t)
                                             : chunked_run(t);
    if (err != 0 && !t->writing)
        drep_vlen_free(mem, tiles, t->mem);
    return err;
}

/* ---- all of a small dataset: nothing has to be planned ---- */

static int small_write(drep_dataset *ds, struct conv *c, const char *mem, int64_t n)
{
    struct buf *b = &ds->file->scratch[1];
    size_t size = bytes_of(ds, n);
    struct key key;
    int err = buf_reserve(b, size);

    if (err != 0)
        return err;
    if (c->layout == PROG_STRUCT)
        memset(b->p, 0, size); /* gaps are zeros */
    if ((err = conv_write(c, mem, 0, b->p, ds->esize, n)) != 0)
        return err;
    key_make(&key, ds->id, FMT_TAG_DATA);
    return tree_put(ds->file->st, &key, b->p, size);
}

/* *whole: it was all there, and is read. */
static int small_read(drep_dataset *ds, struct conv *c, char *mem, int64_t n, bool *whole)
{
    struct peek peek;
    struct key key;
    int err;

    key_make(&key, ds->id, FMT_TAG_DATA);
    *whole = false;
    err = tree_peek(ds->file->st, &key, &peek);
    if (err != 0)
        return err == DREP_ERR_NOT_FOUND ? 0 : err;
    *whole = peek.len == bytes_of(ds, n);
    if (*whole)
        err = conv_read(c, mem, 0, peek.p, ds->esize, n);
    tree_peeked(&peek);
    return err;
}

/* *done: 0 if it is no such transfer. */
static int small_run(drep_dataset *ds, const drep_selection *sel, const drep_type *type, char *mem,
                     const drep_xfer *xfer, bool writing, bool *done)
{
    int64_t n = dataset_count(ds);
    struct conv c;
    int err;

    *done = false;
    if (ds->rec.layout != FMT_COMPACT || sel != NULL || ds->ft->type->variable || n == 0 ||
        ds->esize == 0 || mem == NULL || (type != NULL && type != ds->ft->type) ||
        (xfer != NULL && xfer->report != NULL))
        return 0;
    err = dataset_alive(ds);
    if (err == 0)
        err = conv_init(&c, ds->file, ds->ft, type, xfer, writing);
    if (err != 0)
        return err;
    *done = true;
    return writing ? small_write(ds, &c, mem, n) : small_read(ds, &c, mem, n, done);
}

static int run_planned(drep_dataset *ds, const drep_selection *sel, const drep_type *type,
                       char *mem, const drep_xfer *xfer, bool writing)
{
    struct transfer *t = mem_zalloc(1, sizeof *t);
    struct buf spare[SPARE_MAX];
    int err = 0;

    if (t == NULL)
        return fail(DREP_ERR_NOMEM, "out of memory");
    t->ds = ds;
    t->mem = mem;
    t->writing = writing;
    t->xfer = xfer;
    t->spare = spare;
    pthread_mutex_init(&t->lock, NULL);
    t->threads = xfer != NULL && xfer->threads > 0 ? xfer->threads : (int)ds->file->hint_threads;
    if (t->threads <= 0)
        t->threads = pool_cpus();
    if (ds->file->rep != NULL && ds->file->rep->flags & DREP_REP_SERIAL)
        t->threads = 1;
    if (sel == NULL)
        selection_all(&t->all, ds->rec.rank == FMT_RANK_NULL ? 0 : ds->rec.rank, ds->rec.len);
    t->sel = sel == NULL ? &t->all : sel;
    err = dataset_alive(ds);
    if (err == 0)
        err = ds->rec.rank == FMT_RANK_NULL ? null_check(t)
                                            : selection_check(t->sel, ds->rec.rank, ds->rec.len);
    if (err == 0)
        err = items_check(ds, type == NULL ? ds->ft->type : type, t->sel->count);
    if (err == 0 && t->sel->count > 0 && mem == NULL)
        err = fail(DREP_ERR_ARG, "no buffer");
    if (err == 0)
        err = conv_init(&t->conv, ds->file, ds->ft, type, xfer, writing);
    if (err == 0 && t->sel->count > 0 && ds->esize > 0)
        err = run_layout(t);
    while (t->nspare > 0)
        buf_release(&t->spare[--t->nspare]);
    pthread_mutex_destroy(&t->lock);
    mem_free(t);
    return err;
}

static int run(drep_dataset *ds, const drep_selection *sel, const drep_type *type, char *mem,
               const drep_xfer *xfer, bool writing)
{
    bool done;
    int err = small_run(ds, sel, type, mem, xfer, writing, &done);

    if (err == 0 && !done)
        err = run_planned(ds, sel, type, mem, xfer, writing);
    return fail_in(err, "dataset \"%s\"", ds->path);
}

static void report_clear(const drep_xfer *xfer)
{
    if (xfer != NULL && xfer->report != NULL)
        *xfer->report =
            (drep_report){.first_overflow = -1, .first_inexact = -1, .first_nan_lost = -1};
}

int drep_read(drep_dataset *dataset, const drep_selection *sel, const drep_type *type, void *buf,
              const drep_xfer *xfer)
{
    int err;

    if (dataset == NULL)
        return fail(DREP_ERR_ARG, "drep_read: no dataset");
    report_clear(xfer);
    if ((err = read_begin(dataset->file)) != 0)
        return err;
    return read_end(dataset->file, run(dataset, sel, type, buf, xfer, false));
}

int drep_write(drep_dataset *dataset, const drep_selection *sel, const drep_type *type,
               const void *buf, const drep_xfer *xfer)
{
    int err;

    if (dataset == NULL)
        return fail(DREP_ERR_ARG, "drep_write: no dataset");
    report_clear(xfer);
    if ((err = write_begin(dataset->file)) != 0)
        return err;
    err = run(dataset, sel, type, (char *)(uintptr_t)buf, xfer, true);
    return write_end_data(dataset->file, err);
}

/* ---- stored elements as they are, for views ---- */

/* The box of `n` elements of one row from flat index `at` on. */
static void row_box(const drep_dataset *ds, int64_t at, int64_t n, struct drep_selection *box)
{
    int rank = ds->rec.rank;

    box->rank = rank;
    box->count = n;
    for (int d = rank - 1; d >= 0; d--) {
        int64_t len = (int64_t)ds->rec.len[d];

        box->dim[d] = (struct span_dim){at % len, 1, 1, d == rank - 1 ? n : 1};
        at /= len;
    }
}

int dataset_raw(drep_dataset *ds, int64_t at, int64_t n, void *buf, bool writing)
{
    int rank = ds->rec.rank, err = 0;
    int64_t row = rank > 0 && rank != FMT_RANK_NULL ? (int64_t)ds->rec.len[rank - 1] : 1;
    struct transfer *t;
    struct buf spare[SPARE_MAX];

    if ((err = dataset_alive(ds)) != 0)
        return fail_in(err, "dataset \"%s\"", ds->path);
    if (at < 0 || at > dataset_count(ds) || n > dataset_count(ds) - at)
        return fail(DREP_ERR_RANGE, "dataset \"%s\": elements from %lld on, it has %lld", ds->path,
                    (long long)at, (long long)dataset_count(ds));
    t = mem_zalloc(1, sizeof *t);
    if (t == NULL)
        return fail(DREP_ERR_NOMEM, "out of memory");
    t->ds = ds;
    t->sel = &t->all;
    t->writing = writing;
    t->spare = spare;
    t->threads = 1;
    t->conv = (struct conv){.file = ds->file,
                            .ft = ds->ft,
                            .mem = ds->ft->type,
                            .stored = &ds->ft->stored,
                            .raw = true,
                            .copy = true};
    pthread_mutex_init(&t->lock, NULL);
    for (t->mem = buf; err == 0 && n > 0;) {
        int64_t now = row - at % row < n ? row - at % row : n;

        row_box(ds, at, now, &t->all);
        err = ds->rec.layout == FMT_COMPACT      ? compact_run(t)
              : ds->rec.layout == FMT_CONTIGUOUS ? contiguous_run(t)
                                                 : chunked_run(t);
        at += now;
        n -= now;
        t->mem += now * ds->esize;
    }
    while (t->nspare > 0)
        buf_release(&t->spare[--t->nspare]);
    pthread_mutex_destroy(&t->lock);
    mem_free(t);
    return fail_in(err, "dataset \"%s\"", ds->path);
}
