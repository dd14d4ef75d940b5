/* contiguous.c - elements of datasets whose chunks are slabs of one sequence. */
/* SPDX-License-Identifier: MIT */
#include "elem/contiguous.h"

#include "base/mem.h"
#include "base/pool.h"
#include "base/vec.h"
#include "chunk/ahead.h"
#include "chunk/edit.h"
#include "chunk/patch.h"
#include "chunk/read.h"
#include "chunk/work.h"
#include "chunk/places.h"
#include "elem/chunked.h"
#include "elem/source.h"
#include "elem/scatter.h"
#include "space/fetch.h"

#include <string.h>

#define FAR_RUN ((uint64_t)256 << 10)    /* bytes that are fetched, far away */
#define RUNS_MOST ((uint64_t)1 << 20)    /* short runs whose slabs are listed first, */
#define SLAB_MOST ((uint64_t)64 << 10)   /* and bytes of such a slab */
#define LONG_RUN ((uint64_t)4 << 20)     /* bytes that threads share, */
#define SHARE ((uint64_t)1 << 20)        /* so many at a time */
#define MANY 64                          /* slabs of a box that is written, */
#define SPARSE 4                         /* of which it changes one in so many, or more */
#define PIECE ((uint64_t)256 << 10)      /* converted, summed and written while in the cache */
#define JOINED_BYTES ((uint64_t)8 << 20) /* slabs that one thread writes, piece by piece */
#define SHARES 4                         /* of a box for each thread, so that all end together */

/* ---- reading ---- */

/* Reads flat runs that come upwards, slab by slab. */
struct flat_reader {
    struct part_mover m;
    struct work *w;
    struct gather g;
    struct fill_reader f;
    int64_t slab, n; /* slabs at hand: the first, -1: none; and how many */
    uint64_t size;
    int64_t low, high; /* slabs from low to high - 1 are read, the others left out */
};

/* Begins to read with buffers of the store; reader_end() gives them back, also after an error. */
static int reader_begin(struct flat_reader *r, struct transfer *t)
{
    int64_t slab = (int64_t)t->ds->rec.slab, n = t->sel->count;
    int err = part_begin(&r->m, t, n < slab ? n : slab);

    if (err)
        return err;
    r->slab = -1;
    r->low = 0;
    r->high = INT64_MAX;
    r->w = work_take(t->ds->file->st);
    if (!r->w)
        return part_end(&r->m, DREP_ERR_NOMEM);
    r->f = (struct fill_reader){r->m.t, &r->m.c, work_buf(r->w), false};
    return 0;
}

/* Ends the part of the slab at hand; gives err back. */
static int leave_slab(struct flat_reader *r, int err)
{
    if (r->slab < 0)
        return err;
    err = part_flush(&r->m, err);
    chunk_leave(r->w);
    r->slab = -1;
    return err;
}

static int reader_end(struct flat_reader *r, int err)
{
    struct store *st = r->m.t->ds->file->st;

    err = part_end(&r->m, leave_slab(r, err));
    work_give(st, r->w);
    return err;
}

/* Slabs that go together: not too many where the caller is asked whether the read goes on. */
static uint64_t stretch_most(const struct flat_reader *r, int64_t slab)
{
    const struct transfer *t = r->m.t;
    uint64_t left = (uint64_t)(r->high - slab);
    uint64_t few = t->advance ? SHARE / t->ds->chunks.payload + 1 : left;

    return few < left ? few : left;
}

/* Moves to another slab, and takes those that stand behind it in the file with it; but what a part
 * takes of one slab is one transfer of a user's functions. A slab that is not stored reads as fill.
 */
static int enter_slab(struct flat_reader *r, int64_t slab)
{
    uint64_t coord = (uint64_t)slab, n = 1;
    int whole, err = leave_slab(r, 0);

    if (!err)
        err = chunk_at(r->w, &r->m.t->ds->chunks, &coord, &r->size, &whole);
    if (err)
        return err;
    if (!r->m.stage)
        chunk_stretch(r->w, stretch_most(r, slab), &n, &r->size);
    r->slab = slab;
    r->n = (int64_t)n;
    gather_init(&r->g, r->m.t, &r->m.c, r->w, r->size);
    if (r->size == 0)
        part_take(&r->m, fill_run, NULL, &r->f);
    else
        part_take(&r->m, gather_run, gather_flush, &r->g);
    return 0;
}

/* Cuts a run at the borders of slabs and skips slabs that other threads read. */
static int read_flat(void *ctx, int64_t at, int64_t step, int64_t n, int64_t mem)
{
    struct flat_reader *r = ctx;
    int64_t slab_n = (int64_t)r->m.t->ds->rec.slab, now;
    int err = 0;

    for (; !err && n > 0; n -= now, at += now * step, mem += now) {
        int64_t slab = at / slab_n, in = at % slab_n, len = slab_n;
        bool left_out = slab < r->low || slab >= r->high;

        if (!left_out && (r->slab < 0 || slab < r->slab || slab >= r->slab + r->n))
            err = enter_slab(r, slab);
        if (err)
            return err;
        if (!left_out) {
            in = at - r->slab * slab_n;
            len = r->n * slab_n;
        }
        now = (len - in - 1) / step + 1;
        now = now < n ? now : n;
        if (!left_out && !(err = part_run(&r->m, in, step, now, mem)))
            err = part_moved(r->m.t, now);
    }
    return err;
}

/* A long run, or a box that is shared between threads. */
struct flat_work {
    struct transfer *t;
    int64_t at, n, mem;
    int64_t share; /* elements of a long run that a thread takes at a time, whole slabs */
    int dim;       /* of the box that is cut */
    int64_t shares;
};

/* Reads what share number i of the dataset holds of a long run. */
static int read_stretch(void *ctx, int64_t i)
{
    const struct flat_work *f = ctx;
    int64_t share = f->at / f->share + i;
    int64_t from = share * f->share > f->at ? share * f->share : f->at;
    int64_t to = (share + 1) * f->share < f->at + f->n ? (share + 1) * f->share : f->at + f->n;
    struct flat_reader r;
    int err = reader_begin(&r, f->t);

    if (err)
        return err;
    err = read_flat(&r, from, 1, to - from, f->mem + from - f->at);
    return reader_end(&r, err);
}

/* Takes a long run, which is cut into shares. */
static void flat_take(struct flat_work *f, int64_t at, int64_t n, int64_t mem)
{
    uint64_t slab = f->t->ds->chunks.payload;

    f->at = at;
    f->n = n;
    f->mem = mem;
    f->share = (int64_t)f->t->ds->rec.slab * (int64_t)(slab < SHARE ? SHARE / slab : 1);
}

/* Shares one long run between threads. */
static int read_long(void *ctx, int64_t at, int64_t step, int64_t n, int64_t mem)
{
    struct flat_work *f = ctx;

    (void)step; /* a long run has none */
    flat_take(f, at, n, mem);
    return pool_run(f->t->threads, (at + n - 1) / f->share - at / f->share + 1, read_stretch, f);
}

/* Tells chunks_stream() what a long run wants of its slabs. */
static void slab_wanted(void *ctx, size_t i, struct chunk_want *out)
{
    const struct flat_work *f = ctx;
    const drep_dataset *ds = f->t->ds;
    int64_t slab_n = (int64_t)ds->rec.slab, first = (f->at / slab_n + (int64_t)i) * slab_n;
    int64_t from = first > f->at ? first : f->at, end = f->at + f->n;
    int64_t to = first + slab_n < end ? first + slab_n : end;

    out->coord[0] = (uint64_t)(f->at / slab_n) + i;
    out->low = bytes_of(ds, from - first);
    out->high = bytes_of(ds, to - first);
    out->to = f->t->conv.copy && direct_pays(ds, f->n)
                  ? (uint8_t *)plain_memory(f->t, f->mem + from - f->at)
                  : NULL;
}

/* Reads the elements of a long run in n slabs, counted from its first one. */
static int read_fetched_slabs(void *ctx, int64_t first, int64_t n)
{
    struct flat_work f = *(const struct flat_work *)ctx;
    int64_t slab = (int64_t)f.t->ds->rec.slab, end = f.at + f.n;
    int64_t from = (f.at / slab + first) * slab, to = from + n * slab;

    from = from > f.at ? from : f.at;
    to = to < end ? to : end;
    f.mem += from - f.at;
    f.at = from;
    f.n = to - from;
    return pool_run(f.t->threads, (to - 1) / f.share - from / f.share + 1, read_stretch, &f);
}

/* Reads one long run where a round trip is dear. */
static int read_long_far(void *ctx, int64_t at, int64_t step, int64_t n, int64_t mem)
{
    struct flat_work *f = ctx;
    int64_t slab = (int64_t)f->t->ds->rec.slab;

    (void)step; /* a long run has none */
    flat_take(f, at, n, mem);
    return chunks_stream(&f->t->ds->chunks, (at + n - 1) / slab - at / slab + 1, slab_wanted,
                         read_fetched_slabs, f);
}

/* Fills in the arguments of selection_runs() for the whole dataset as one block. */
static void whole_box(const struct transfer *t, int64_t *k0, int64_t *k1, int64_t *from,
                      int64_t *len)
{
    for (int d = 0; d < t->sel->rank; d++) {
        k0[d] = from[d] = 0;
        k1[d] = t->sel->dim[d].n;
        len[d] = (int64_t)t->ds->rec.len[d];
    }
}

/* Reads share number i of a box, cut in one dimension. */
static int read_share(void *ctx, int64_t i)
{
    const struct flat_work *f = ctx;
    int64_t k0[DREP_MAX_RANK], k1[DREP_MAX_RANK], from[DREP_MAX_RANK], len[DREP_MAX_RANK];
    int64_t n = f->t->sel->rank > 0 ? f->t->sel->dim[f->dim].n : 1;
    struct flat_reader r;
    int err = reader_begin(&r, f->t);

    if (err)
        return err;
    whole_box(f->t, k0, k1, from, len);
    if (f->t->sel->rank > 0) {
        k0[f->dim] = n / f->shares * i + (i < n % f->shares ? i : n % f->shares);
        k1[f->dim] = k0[f->dim] + n / f->shares + (i < n % f->shares);
    }
    err = selection_runs(f->t->sel, k0, k1, from, len, read_flat, &r);
    return reader_end(&r, err);
}

/* A share of the slabs of a box. They are cut nowhere else: what a box takes of a slab is one
 * transfer of a user's functions. */
struct slab_work {
    struct transfer *t;
    int64_t first, slabs, shares; /* slabs of the box: the first, how many; cut into */
    int dim;                      /* the first dimension with more than one index, in which */
    int64_t base, unit;           /* index i begins at element base + i * unit */
};

/* Reads what a box holds of the slabs from r->low to r->high - 1. */
static int read_slabs_of(const struct slab_work *f, struct flat_reader *r)
{
    int64_t k0[DREP_MAX_RANK], k1[DREP_MAX_RANK], from[DREP_MAX_RANK], len[DREP_MAX_RANK];
    const struct drep_selection *sel = f->t->sel;
    int64_t slab_n = (int64_t)f->t->ds->rec.slab;

    whole_box(f->t, k0, k1, from, len);
    if (sel->rank > 0) { /* the indices of which these slabs hold something */
        k0[f->dim] = span_first(&sel->dim[f->dim], (r->low * slab_n - f->base) / f->unit);
        k1[f->dim] = span_first(&sel->dim[f->dim], (r->high * slab_n - f->base - 1) / f->unit + 1);
    }
    return selection_runs(sel, k0, k1, from, len, read_flat, r);
}

/* Reads share number i of the slabs. */
static int read_slabs(void *ctx, int64_t i)
{
    const struct slab_work *f = ctx;
    struct flat_reader r;
    int err = reader_begin(&r, f->t);

    if (err)
        return err;
    r.low = f->first + f->slabs * i / f->shares;
    r.high = f->first + f->slabs * (i + 1) / f->shares;
    return reader_end(&r, read_slabs_of(f, &r));
}

/* Finds the slabs of a box. */
static void slabs_of_box(struct slab_work *f)
{
    const struct drep_selection *sel = f->t->sel;
    int64_t slab_n = (int64_t)f->t->ds->rec.slab, low = 0, high = 0;

    while (f->dim < sel->rank - 1 && sel->dim[f->dim].n == 1)
        f->dim++;
    for (int d = 0; d < sel->rank; d++) {
        int64_t len = (int64_t)f->t->ds->rec.len[d];

        low = low * len + span_at(&sel->dim[d], 0);
        high = high * len + span_at(&sel->dim[d], sel->dim[d].n - 1);
        f->base = f->base * len + (d < f->dim ? span_at(&sel->dim[d], 0) : 0);
        f->unit *= d > f->dim ? len : 1;
    }
    f->first = low / slab_n;
    f->slabs = high / slab_n - f->first + 1;
}

/* Reads a box through a user's functions, with whole slabs for each thread. */
static int read_box_called(struct transfer *t)
{
    struct slab_work f = {.t = t, .shares = 1, .unit = 1};
    int threads = threads_for(t, bytes_of(t->ds, t->sel->count));

    slabs_of_box(&f);
    if (threads > 1)
        f.shares = f.slabs < SHARES * threads ? f.slabs : SHARES * threads;
    return pool_run(threads, f.shares, read_slabs, &f);
}

/* ---- boxes of short runs where a round trip is dear ---- */

/* The slabs that hold elements of a box, upwards. */
struct listed {
    struct slab_work box;
    int64_t *slab;
    size_t n, room;
};

/* Lists the slabs of a run. */
static int list_slabs(void *ctx, int64_t at, int64_t step, int64_t n, int64_t mem)
{
    struct listed *l = ctx;
    int64_t slab_n = (int64_t)l->box.t->ds->rec.slab, now;

    (void)mem;
    for (; n > 0; n -= now, at += now * step) {
        int64_t slab = at / slab_n;

        now = (slab_n - at % slab_n - 1) / step + 1;
        if (l->n > 0 && l->slab[l->n - 1] == slab)
            continue;
        if (VEC_ROOM(l->slab, l->n, l->room, 1))
            return DREP_ERR_NOMEM;
        l->slab[l->n++] = slab;
    }
    return 0;
}

static void listed_wanted(void *ctx, size_t i, struct chunk_want *out)
{
    const struct listed *l = ctx;

    out->coord[0] = (uint64_t)l->slab[i];
    out->low = 0;
    out->high = l->box.t->ds->chunks.payload;
    out->to = NULL;
}

static int read_listed(void *ctx, int64_t first, int64_t n)
{
    const struct listed *l = ctx;
    struct flat_reader r;
    int err = reader_begin(&r, l->box.t);

    if (err)
        return err;
    work_fetched(r.w);
    r.low = l->slab[first];
    r.high = l->slab[first + n - 1] + 1;
    return reader_end(&r, read_slabs_of(&l->box, &r));
}

/* Reads a box of short runs: exactly the slabs that hold some of it are fetched. */
static int read_box_far(struct transfer *t)
{
    int64_t k0[DREP_MAX_RANK], k1[DREP_MAX_RANK], from[DREP_MAX_RANK], len[DREP_MAX_RANK];
    struct listed l = {.box = {.t = t, .shares = 1, .unit = 1}};
    int err;

    slabs_of_box(&l.box);
    whole_box(t, k0, k1, from, len);
    err = selection_runs(t->sel, k0, k1, from, len, list_slabs, &l);
    if (!err)
        err = chunks_stream(&t->ds->chunks, (int64_t)l.n, listed_wanted, read_listed, &l);
    mem_free(l.slab);
    return err;
}

/* Reads a box: long runs slab by slab, many short ones by cutting the box. */
static int read_box(struct transfer *t)
{
    int64_t k0[DREP_MAX_RANK], k1[DREP_MAX_RANK], from[DREP_MAX_RANK], len[DREP_MAX_RANK];
    struct flat_work f = {.t = t, .shares = 1};
    uint64_t run, bytes;
    int threads;

    if (conv_calls(&t->conv))
        return read_box_called(t);
    whole_box(t, k0, k1, from, len);
    run = bytes_of(t->ds, selection_run_len(t->sel, len));
    bytes = bytes_of(t->ds, t->sel->count);
    if (fetch_on(t->ds->file->st) && run >= FAR_RUN)
        return selection_runs(t->sel, k0, k1, from, len, read_long_far, &f);
    if (fetch_on(t->ds->file->st) && t->ds->chunks.payload <= SLAB_MOST && bytes / run <= RUNS_MOST)
        return read_box_far(t);
    if (t->threads > 1 && run >= LONG_RUN)
        return selection_runs(t->sel, k0, k1, from, len, read_long, &f);
    if (run < FMT_SUM_BLOCK) /* what must be read */
        bytes = bytes / run * FMT_SUM_BLOCK;
    threads = threads_for(t, bytes);
    while (f.dim < t->sel->rank - 1 && t->sel->dim[f.dim].n == 1)
        f.dim++;
    if (threads > 1 && t->sel->rank > 0)
        f.shares =
            t->sel->dim[f.dim].n < SHARES * threads ? t->sel->dim[f.dim].n : SHARES * threads;
    return pool_run(threads, f.shares, read_share, &f);
}

/* ---- writing ---- */

/* Writes flat runs that come upwards: whole slabs at once, the others by patches. */
struct flat_writer {
    struct transfer *t;
    struct part_mover m; /* of slabs that are written in part */
    struct scatter s;
    struct buf b;
    uint64_t coord; /* of the slab that s is in */
    int64_t mem;    /* whole slabs: number of the first element, */
    int64_t group;  /* slabs that move together, 0: each alone; */
    int64_t moved;  /* the last of these groups that was looked at, -1: none */
};

/* Whole slabs that are written. */
struct slab_writer {
    const struct flat_writer *f;
    struct places places;
};

/* Makes a piece of the slabs.  Where memory already holds the stored bytes, they are not copied. */
static int slab_piece(const struct slab_writer *s, struct buf *b, const struct places_piece *at,
                      const void **bytes)
{
    const struct flat_writer *f = s->f;
    drep_dataset *ds = f->t->ds;
    int64_t es = ds->esize, n = (int64_t)at->size / es;
    int64_t slab = (int64_t)(s->places.first + at->i);
    int64_t mem = f->mem + slab * (int64_t)ds->rec.slab + (int64_t)at->from / es;
    struct conv c;
    int err = 0;

    if (!f->t->conv.copy && (err = buf_reserve(b, at->size)))
        return err;
    conv_begin(f->t, &c);
    if (f->t->conv.copy) {
        *bytes = plain_memory(f->t, mem);
        conv_count(&c, n);
    } else {
        if (prog_gaps(&ds->ft->stored))
            memset(b->p, 0, (size_t)at->size); /* gaps are zeros */
        err = conv_write(&c, f->t->mem, mem, b->p, es, n);
        *bytes = b->p;
    }
    conv_end(f->t, &c);
    return err;
}

/* Puts a thread's share. */
static int put_slabs(void *ctx, int64_t share)
{
    const struct slab_writer *s = ctx;
    struct store *st = s->places.cs->st;
    struct places_piece at = {0};
    struct work *w = work_take(st);
    int err = w ? 0 : DREP_ERR_NOMEM;
    const void *bytes;

    while (!err && places_piece(&s->places, share, &at)) {
        err = slab_piece(s, work_buf(w), &at, &bytes);
        if (!err)
            err = places_put(&s->places, &at, bytes);
        if (!err)
            err = part_moved(s->f->t, (int64_t)at.size / s->f->t->ds->esize);
    }
    work_give(st, w);
    return err;
}

/* Writes n whole slabs of `len` elements each. */
static int write_slabs(struct flat_writer *f, int64_t slab, int64_t n, int64_t len, int64_t mem)
{
    drep_dataset *ds = f->t->ds;
    uint64_t es = (uint64_t)ds->esize, size = bytes_of(ds, len);
    struct slab_writer s = {.f = f};
    struct places *p = &s.places;
    uint64_t *coords = mem_array((uint64_t)n, sizeof *coords);
    int threads = threads_for(f->t, bytes_of(ds, n * len)), err;

    if (!coords)
        return DREP_ERR_NOMEM;
    for (int64_t i = 0; i < n; i++)
        coords[i] = (uint64_t)(slab + i);
    f->mem = mem;
    if (f->t->from) {
        err = source_place(f->t, coords, (uint64_t)n, size);
        mem_free(coords);
        return err;
    }
    chunks_forget(&ds->chunks, coords, (uint64_t)n);
    err = places_begin(p, &ds->chunks, coords, (uint64_t)n, size);
    /* Pieces are whole elements, converted, summed and written while they are in the cache; but a
     * slab is one transfer of a user's functions. */
    if (PIECE % es == 0 && !conv_calls(&f->t->conv)) {
        p->piece = PIECE;
        p->unit = FMT_SUM_BLOCK % es == 0 ? FMT_SUM_BLOCK : 0;
        p->each = places_share(p, threads, p->unit ? JOINED_BYTES : 0);
    }
    while (!(err = places_next(p, err)) && p->batch > 0)
        err = pool_run(threads, places_shares(p), put_slabs, &s);
    mem_free(coords);
    return places_end(p, err);
}

/* Number of elements that a slab has in the dataset as it is now. */
static int64_t slab_len(const drep_dataset *ds, int64_t slab)
{
    int64_t left = dataset_count(ds) - slab * (int64_t)ds->rec.slab;

    return left < (int64_t)ds->rec.slab ? left : (int64_t)ds->rec.slab;
}

/* Moves the group of a slab that is about to be patched. */
static int move_group(struct flat_writer *f, int64_t slab)
{
    drep_dataset *ds = f->t->ds;
    int64_t full = dataset_count(ds) / (int64_t)ds->rec.slab, first, n;

    f->moved = slab / f->group;
    first = f->moved * f->group;
    n = full - first < f->group ? full - first : f->group;
    return slab < full ? slabs_move(&ds->chunks, (uint64_t)slab, (uint64_t)first, (uint64_t)n,
                                    f->t->from != NULL)
                       : 0;
}

/* Patches a run of one slab; runs of the slab before are flushed first. */
static int write_part(struct flat_writer *f, int64_t slab, int64_t in, int64_t step, int64_t n,
                      int64_t mem)
{
    int err = 0;

    if (f->coord != (uint64_t)slab)
        err = part_flush(&f->m, 0);
    f->coord = (uint64_t)slab;
    if (!err && f->t->from)
        err = source_elements(&f->m, &f->coord);
    if (!err && f->group > 0 && slab / f->group != f->moved)
        err = move_group(f, slab);
    if (!err)
        err = part_run(&f->m, in, step, n, mem);
    return err ? err : part_moved(f->t, n);
}

/* Cuts a run at the borders of slabs and takes whole slabs together. The last slab of the dataset
 * counts as whole when all its elements are written. */
static int write_flat(void *ctx, int64_t at, int64_t step, int64_t n, int64_t mem)
{
    struct flat_writer *f = ctx;
    drep_dataset *ds = f->t->ds;
    int64_t slab_n = (int64_t)ds->rec.slab, now;
    int err = 0;

    for (; !err && n > 0; n -= now, at += now * step, mem += now) {
        int64_t slab = at / slab_n, in = at % slab_n, len = slab_len(ds, slab);

        now = (slab_n - in - 1) / step + 1;
        now = now < n ? now : n;
        if (step > 1 || in > 0 || now < len || writes_members(f->t)) {
            err = write_part(f, slab, in, step, now, mem);
            continue;
        }
        err = part_flush(&f->m, 0);
        if (len == slab_n)
            now = n / slab_n * slab_n;
        if (!err)
            err = write_slabs(f, slab, len == slab_n ? now / slab_n : 1, len, mem);
    }
    return err;
}

/* Slabs that move together when a box changes them. If it touches every fourth slab or more, those
 * between them go along: a column that is written must not cut the dataset into pages. */
static int64_t group_of(const struct transfer *t, const int64_t *len)
{
    int64_t first = 0, last = 0, slab = (int64_t)t->ds->rec.slab;
    uint64_t payload = t->ds->chunks.payload;

    for (int d = 0; d < t->sel->rank; d++) {
        first = first * len[d] + span_at(&t->sel->dim[d], 0);
        last = last * len[d] + span_at(&t->sel->dim[d], t->sel->dim[d].n - 1);
    }
    if (payload == 0 || payload >= SHARE || last - first < MANY * slab)
        return 0;
    return (last - first) / (t->sel->count / selection_run_len(t->sel, len)) <= SPARSE * slab
               ? (int64_t)(SHARE / payload)
               : 0;
}

/* Writes a box in this thread; the workers encode and sum whole slabs. */
static int write_box(struct transfer *t)
{
    int64_t k0[DREP_MAX_RANK], k1[DREP_MAX_RANK], from[DREP_MAX_RANK], len[DREP_MAX_RANK];
    struct flat_writer *f = mem_zalloc(1, sizeof *f);
    int64_t slab = (int64_t)t->ds->rec.slab, n = t->sel->count;
    int err = !f ? DREP_ERR_NOMEM : part_begin(&f->m, t, n < slab ? n : slab);

    if (err) {
        mem_free(f);
        return err;
    }
    f->t = t;
    f->s = (struct scatter){.m = &f->m, .coord = &f->coord, .b = &f->b};
    part_take(&f->m, scatter_run, scatter_flush, &f->s);
    whole_box(t, k0, k1, from, len);
    f->moved = -1;
    f->group = group_of(t, len);
    err = selection_runs(t->sel, k0, k1, from, len, write_flat, f);
    err = part_end(&f->m, part_flush(&f->m, err));
    buf_release(&f->b);
    mem_free(f);
    return err;
}

/* Moves the selection. Points and unions go the way of chunked datasets, with slabs for chunks. */
int contiguous_run(struct transfer *t)
{
    if (!selection_is_box(t->sel))
        return t->writing ? chunked_write(t) : chunked_read(t);
    return t->writing ? write_box(t) : read_box(t);
}
