/* chunked.c - elements of chunked datasets, and whatever selects single elements. */
/* SPDX-License-Identifier: MIT */
#include "elem/chunked.h"

#include "base/mem.h"
#include "base/pool.h"
#include "chunk/ahead.h"
#include "chunk/edit.h"
#include "chunk/places.h"
#include "chunk/read.h"
#include "chunk/work.h"
#include "elem/decoded.h"
#include "elem/fill.h"
#include "elem/source.h"
#include "elem/scatter.h"
#include "elem/single.h"
#include "space/fetch.h"

#include <string.h>

#define ONCE_MIN ((uint64_t)4 << 20) /* bytes of a dataset that a call reads without keeping it */
#define NEIGHBOURS 16                /* elements of a run whose shuffle is undone alone */
#define STAGED ((int64_t)16 << 10)   /* bytes of it before they are converted */
#define BATCH 1024                   /* chunks that are written at once */
#define SHARED_MIN ((uint64_t)64 << 10) /* bytes of a read that two threads may share, */
#define PART_MIN ((uint64_t)16 << 10)   /* if there are so many in each part; */
#define PIECES_MAX 8                    /* they cut it into so many pieces then */

/* ---- reading ---- */

/* Reads elements whose bytes are still shuffled. */
struct shuffled {
    struct transfer *t;
    struct conv *c;
    struct buf *room;
    const uint8_t *p;
    uint64_t size, unit;
};

/* Reads a run whose bytes are still shuffled: the runs are long, so undoing the shuffle for their
 * elements alone is cheaper than for the whole chunk. */
static int shuffled_run(void *ctx, int64_t at, int64_t step, int64_t n, int64_t mem)
{
    const struct shuffled *s = ctx;
    struct transfer *t = s->t;
    int64_t es = t->ds->esize, most = step == 1 ? STAGED / es + 1 : 1;
    int err = 0;

    if (step == 1 && s->c->copy) {
        chunk_unshuffle(s->p, s->size, s->unit, bytes_of(t->ds, at), bytes_of(t->ds, n),
                        plain_memory(t, mem));
        conv_count(s->c, n);
        return 0;
    }
    for (int64_t now; !err && n > 0; n -= now, at += now * step, mem += now) {
        now = n < most ? n : most;
        err = buf_reserve(s->room, bytes_of(t->ds, now));
        if (err)
            return err;
        chunk_unshuffle(s->p, s->size, s->unit, bytes_of(t->ds, at), bytes_of(t->ds, now),
                        s->room->p);
        err = conv_read(s->c, t->mem, mem, s->room->p, es, now);
    }
    return err;
}

/* True if every run has so many neighbours that a shuffle need not be undone for the whole chunk.
 */
static bool long_runs(const struct transfer *t)
{
    int64_t len[DREP_MAX_RANK];

    if (!selection_is_box(t->sel))
        return false;
    for (int d = 0; d < t->sel->rank; d++)
        len[d] = t->ds->rec.chunk[d];
    return selection_run_len(t->sel, len) >= NEIGHBOURS;
}

/* True if chunks that are read whole stay in the cache: all of them fit, and they are likely to be
 * read again.  Who has read all of a large local dataset is not, and memory that the system has to
 * clear takes a quarter of the time of decoding. */
static bool keeps_whole(const struct transfer *t)
{
    const drep_dataset *ds = t->ds;

    return ds->chunks.fits && !(ds->file->st->opts.style & STYLE_ONCE) &&
           (t->sel->count < dataset_count(ds) || bytes_of(ds, t->sel->count) < ONCE_MIN ||
            ds->file->st->io->round_trip > 0);
}

/* Reads a part of a chunk that is decoded whole. What the payload lacks at its end is fill; the
 * chunk stays in the cache where more of it is likely to be read. */
static int read_whole(struct part_mover *m, struct work *w, const struct chunk_part *p)
{
    struct transfer *t = m->t;
    struct conv *c = &m->c;
    drep_dataset *ds = t->ds;
    uint64_t full = ds->chunks.payload, size = 0, unit = 0;
    struct in_memory s = {t, c, NULL};
    const uint8_t *bytes = NULL;
    struct buf *b = work_buf(w);
    int cache = keeps_whole(t) || bytes_of(ds, p->n) < full;
    int err =
        chunk_shuffled(w, cache, long_runs(t) ? (uint64_t)ds->esize : 0, &bytes, &size, &unit);

    if (err)
        return err;
    if (unit != 0)
        return part_runs(m, p, shuffled_run, NULL, &(struct shuffled){t, c, b, bytes, size, unit});
    s.payload = (uint8_t *)(uintptr_t)bytes;
    if (size < full) { /* without variable parts, else it was refused */
        if ((err = buf_reserve(b, full)))
            return err;
        if (size > 0)
            memcpy(b->p, bytes, (size_t)size);
        if ((err = fill_bytes(ds, b->p + size, size, full - size)))
            return err;
        s.payload = b->p;
    }
    c->heap = size > full ? bytes + full : NULL;
    c->heap_size = size > full ? (size_t)(size - full) : 0;
    return part_runs(m, p, memory_run, NULL, &s);
}

/* True if the part is all of a chunk, and memory holds its elements as the chunk does. */
static bool part_is_straight(const struct transfer *t, const struct chunk_part *p)
{
    int64_t len[DREP_MAX_RANK], n = 1;

    if (!t->conv.copy || !selection_is_box(t->sel))
        return false;
    for (int d = 0; d < t->sel->rank; d++) {
        len[d] = t->ds->rec.chunk[d];
        n *= len[d];
    }
    return p->n == n && selection_run_len(t->sel, len) >= n;
}

static bool straight_pays(const struct part_mover *m, const struct work *w,
                          const struct chunk_part *p)
{
    return chunk_straight(w) && m->c.copy && !keeps_whole(m->t) && part_is_straight(m->t, p);
}

/* Where such a part goes. */
struct straight {
    struct part_mover *m;
    struct work *w;
};

/* Reads the only run of such a part to where it belongs. */
static int straight_run(void *ctx, int64_t at, int64_t step, int64_t n, int64_t mem)
{
    const struct straight *s = ctx;

    (void)at;
    (void)step;
    conv_count(&s->m->c, n);
    return chunk_read_straight(s->w, (uint8_t *)plain_memory(s->m->t, mem));
}

/* Reads the runs of one part by the cheapest way: from the decoded payload, from the fill value, or
 * from exactly the blocks that the runs touch. */
static int read_chunk(struct part_mover *m, struct work *w, const struct chunk_part *p)
{
    struct transfer *t = m->t;
    struct conv *c = &m->c;
    struct fill_reader f = {t, c, work_buf(w), false};
    struct gather g;
    uint64_t size;
    int whole, err;

    err = chunk_at(w, &t->ds->chunks, p->coord, &size, &whole);
    if (err)
        return err;
    if (whole && chunk_in_file(w) && single_pays(t, p, size))
        return single_read(m, w, p, size);
    if (whole && straight_pays(m, w, p))
        return part_runs(m, p, straight_run, NULL, &(struct straight){m, w});
    if (whole)
        return read_whole(m, w, p);
    if (size == 0)
        return part_runs(m, p, fill_run, NULL, &f);
    gather_init(&g, t, c, w, size);
    return part_runs(m, p, gather_run, gather_flush, &g);
}

/* One thread at a time works on a share: a part, or a piece of one where parts are fewer than
 * threads. */
struct chunk_share {
    struct transfer *t;
    int64_t first;  /* part */
    int64_t pieces; /* of each part; cut in */
    int dim;        /* this dimension, */
    int64_t len;    /* so many of the chunk's indices each */
    int threads;
};

/* Narrows a part of a box to what falls into this piece of the chunk. */
static void part_narrow(const struct chunk_share *s, int64_t piece, struct chunk_part *p)
{
    const struct span_dim *dim = &s->t->sel->dim[s->dim];
    int64_t low = p->from[s->dim] + piece * s->len, high = low + s->len;
    int64_t n = p->k1[s->dim] - p->k0[s->dim], k0, k1;

    if (p->n == 0)
        return;
    k0 = span_first(dim, low);
    k1 = piece + 1 < s->pieces ? span_first(dim, high) : p->k1[s->dim];
    p->k0[s->dim] = k0 > p->k0[s->dim] ? k0 : p->k0[s->dim];
    p->k1[s->dim] = k1 < p->k1[s->dim] ? k1 : p->k1[s->dim];
    k0 = p->k1[s->dim] - p->k0[s->dim];
    p->n = k0 > 0 ? p->n / n * k0 : 0;
}

/* True if the chunk of a part comes another way. */
static bool is_left_out(const struct transfer *t, const struct chunk_part *p)
{
    size_t low = 0, high = t->nleft_out;
    int64_t chunk = high > 0 ? chunk_number(&t->ds->rec, p->coord) : 0;

    while (low < high) {
        size_t mid = (low + high) / 2;

        if (t->left_out[mid] == chunk)
            return true;
        if (t->left_out[mid] < chunk)
            low = mid + 1;
        else
            high = mid;
    }
    return false;
}

/* Reads one share. The chunk is left before the part ends, so that its memory can serve the next
 * one. */
static int read_piece(const struct chunk_share *s, struct work *w, int64_t i)
{
    struct transfer *t = s->t;
    struct chunk_part p;
    struct part_mover m;
    int err;

    part_of(t, s->first + i / s->pieces, &p);
    if (s->pieces > 1)
        part_narrow(s, i % s->pieces, &p);
    if (p.n == 0 || is_left_out(t, &p))
        return 0;
    if ((err = part_begin(&m, t, p.n)))
        return err;
    err = read_chunk(&m, w, &p);
    chunk_leave(w);
    return part_done(t, &p, part_end(&m, err));
}

static int read_chunk_share(void *ctx, int64_t i)
{
    const struct chunk_share *s = ctx;
    struct store *st = s->t->ds->file->st;
    struct work *w = work_take(st);
    int err;

    if (!w)
        return DREP_ERR_NOMEM;
    err = read_piece(s, w, i);
    work_give(st, w);
    return err;
}

/* Reads n parts in this thread, with one set of buffers. */
static int read_alone(const struct chunk_share *s, int64_t n)
{
    struct store *st = s->t->ds->file->st;
    struct work *w = work_take(st);
    int err = !w ? DREP_ERR_NOMEM : 0;

    for (int64_t i = 0; !err && i < n; i++)
        err = read_piece(s, w, i);
    work_give(st, w);
    return err;
}

/* Notes the number of a run's first element in memory. */
static int note_memory(void *ctx, int64_t at, int64_t step, int64_t n, int64_t mem)
{
    (void)at;
    (void)step;
    (void)n;
    *(int64_t *)ctx = mem;
    return 0;
}

/* Gives where a part that is all of a chunk goes, if its bytes need no window on the way. */
static uint8_t *straight_memory(const struct transfer *t, const struct chunk_part *p)
{
    int64_t mem = 0;

    if (p->piece || !part_is_straight(t, p) || !direct_pays(t->ds, p->n))
        return NULL;
    selection_runs(t->sel, p->k0, p->k1, p->from, p->len, note_memory, &mem);
    return (uint8_t *)plain_memory(t, mem);
}

/* Tells chunks_stream() what a part wants of its chunk: the bytes from the first selected element
 * to the last one. */
static void part_wants(void *ctx, size_t i, struct chunk_want *out)
{
    const struct chunk_share *s = ctx;
    const drep_selection *sel = s->t->sel;
    int64_t first = 0, last = 0;
    struct chunk_part p;

    part_of(s->t, s->first + (int64_t)i, &p);
    memcpy(out->coord, p.coord, (size_t)s->t->ds->chunks.rank * sizeof *out->coord);
    out->low = out->high = 0;
    out->to = NULL;
    if (p.n == 0)
        return;
    for (int d = 0; !p.piece && d < sel->rank; d++) {
        first = first * p.len[d] + span_at(&sel->dim[d], p.k0[d]) - p.from[d];
        last = last * p.len[d] + span_at(&sel->dim[d], p.k1[d] - 1) - p.from[d];
    }
    for (int64_t k = 0; p.piece && k < p.npieces; k++) {
        first = k > 0 ? first : p.piece[0].at;
        last = p.piece[k].at + p.piece[k].n > last ? p.piece[k].at + p.piece[k].n - 1 : last;
    }
    out->low = bytes_of(s->t->ds, first);
    out->high = bytes_of(s->t->ds, last + 1);
    out->to = straight_memory(s->t, &p);
}

/* Reads parts whose chunks were fetched together. */
static int read_batch(void *ctx, int64_t first, int64_t n)
{
    struct chunk_share now = *(const struct chunk_share *)ctx;

    now.first = first;
    return now.threads <= 1 ? read_alone(&now, n)
                            : pool_run(now.threads, n * now.pieces, read_chunk_share, &now);
}

/* Estimates the bytes that must be moved or decoded. Filtered chunks count as enough for threads,
 * since decoding costs more than any move. */
static uint64_t effort(const struct transfer *t)
{
    const drep_dataset *ds = t->ds;
    uint64_t payload = ds->chunks.payload, parts = (uint64_t)t->nparts, run, blocks;
    int64_t len[DREP_MAX_RANK];

    if (t->ds->rec.nfilters > 0 || t->ds->ft->type->variable)
        return parts > 1 && payload >= FMT_SUM_BLOCK ? PARALLEL_MIN : 0;
    if (!selection_is_box(t->sel))
        return parts * FMT_SUM_BLOCK;
    for (int d = 0; d < t->sel->rank; d++)
        len[d] = ds->rec.chunk[d];
    run = bytes_of(ds, selection_run_len(t->sel, len));
    run = run < payload ? run : payload;
    blocks = bytes_of(ds, t->sel->count) / run * (run < FMT_SUM_BLOCK ? FMT_SUM_BLOCK : run);
    return parts < blocks / payload ? parts * payload : blocks;
}

/* Cuts parts between cells, which are what stays in memory: two threads never decode the same one.
 */
static void cut_parts(struct chunk_share *s)
{
    const struct object_rec *r = &s->t->ds->rec;
    uint64_t row = (uint64_t)s->t->ds->esize, cell = s->t->ds->chunks.cell;

    while (s->dim < r->rank - 1 && s->t->sel->dim[s->dim].n == 1)
        s->dim++;
    for (int d = s->dim + 1; d < r->rank; d++)
        row *= (uint64_t)r->chunk[d];
    s->len = row < cell ? (int64_t)(cell / row) : 1;
    s->pieces = (r->chunk[s->dim] - 1) / s->len + 1;
    if (s->pieces > PIECES_MAX) {
        s->len *= (s->pieces - 1) / PIECES_MAX + 1;
        s->pieces = (r->chunk[s->dim] - 1) / s->len + 1;
    }
}

/* Reads the parts, in several threads where there is much to do, or where a little has large
 * pieces. A part is one transfer of a user's functions and then is not cut. */
static int read_parts(struct transfer *t)
{
    struct chunk_share s = {.t = t, .pieces = 1};
    uint64_t bytes = effort(t);
    int threads = threads_for(t, bytes);

    /* A part is one transfer of a user's functions, which is not cut. */
    if (threads == 1 && t->threads > 1 && !conv_calls(&t->conv) && t->nparts > 0 &&
        t->ds->chunks.cell != 0 && selection_is_box(t->sel) && bytes >= SHARED_MIN &&
        bytes / (uint64_t)t->nparts >= PART_MIN) {
        threads = t->threads;
        cut_parts(&s);
    }
    s.threads = threads;
    if (fetch_on(t->ds->file->st))
        return chunks_stream(&t->ds->chunks, t->nparts, part_wants, read_batch, &s);
    return threads <= 1 ? read_alone(&s, t->nparts)
                        : pool_run(threads, t->nparts * s.pieces, read_chunk_share, &s);
}

/* Reads the selection part by part. */
int chunked_read(struct transfer *t)
{
    return parts_each(t, read_parts);
}

/* ---- writing unfiltered chunks ---- */

/* Chunks that are written whole, collected so that one plan places them side by side. */
struct whole_chunks {
    struct transfer *t;
    uint64_t n;
    int64_t part[BATCH];
    uint64_t *coord;
    struct places places;
};

/* A chunk whose elements memory holds as the file does. */
struct put_straight {
    struct part_mover *m;
    const struct places *to;
    const struct places_piece *at;
};

/* Writes the only run of such a part from where it is. */
static int put_run(void *ctx, int64_t at, int64_t step, int64_t n, int64_t mem)
{
    const struct put_straight *s = ctx;

    (void)at;
    (void)step;
    conv_count(&s->m->c, n);
    return places_put(s->to, s->at, plain_memory(s->m->t, mem));
}

/* Makes the payload of number i of the planned chunks, and puts it into the file. */
static int put_whole(void *ctx, int64_t i)
{
    const struct whole_chunks *b = ctx;
    const struct places *to = &b->places;
    const struct places_piece at = {.i = (uint64_t)i, .n = 1, .size = to->size};
    struct part_mover m;
    struct chunk_part p;
    struct work *w;
    struct buf *room;
    int err;

    part_of(b->t, b->part[to->first + at.i], &p);
    if (part_is_straight(b->t, &p)) {
        err = part_begin(&m, b->t, p.n);
        if (!err)
            err =
                part_end(&m, part_runs(&m, &p, put_run, NULL, &(struct put_straight){&m, to, &at}));
        return part_done(b->t, &p, err);
    }
    w = work_take(to->cs->st);
    if (!w)
        return DREP_ERR_NOMEM;
    room = work_buf(w);
    err = buf_reserve(room, at.size);
    if (!err)
        err = part_payload(b->t, &p, room->p, at.size);
    name_chunk(b->t, &p, err);
    if (!err)
        err = places_put(to, &at, room->p);
    work_give(to->cs->st, w);
    return err ? err : part_moved(b->t, p.n);
}

/* Writes the chunks collected so far. */
static int whole_flush(struct whole_chunks *b)
{
    struct chunks *cs = &b->t->ds->chunks;
    int threads = threads_for(b->t, b->n * cs->payload), err;
    uint64_t n = b->n;

    b->n = 0;
    if (n == 0)
        return 0;
    if (b->t->from)
        return source_place(b->t, b->coord, n, cs->payload);
    chunks_forget(cs, b->coord, n);
    err = places_begin(&b->places, cs, b->coord, n, cs->payload);
    while (!(err = places_next(&b->places, err)) && b->places.batch > 0)
        err = pool_run(threads, places_shares(&b->places), put_whole, b);
    return places_end(&b->places, err);
}

/* Patches a part of a chunk. */
static int patch_part(struct transfer *t, const struct chunk_part *p)
{
    struct buf b = {0};
    struct part_mover m;
    struct scatter s = {.m = &m, .coord = p->coord, .b = &b};
    int err = part_begin(&m, t, p->n);

    if (err)
        return err;
    err = part_end(&m, part_runs(&m, p, scatter_run, scatter_flush, &s));
    buf_release(&b);
    return part_done(t, p, err);
}

/* Writes the parts in the order of the grid. Whole chunks are collected; a part of a chunk first
 * flushes them, so that failures come in the order of the parts. */
static int write_parts(struct transfer *t)
{
    struct whole_chunks *b = mem_zalloc(1, sizeof *b);
    uint64_t rank = (uint64_t)t->ds->chunks.rank;
    struct chunk_part p;
    int err = 0;

    if (!b)
        return DREP_ERR_NOMEM;
    b->t = t;
    b->coord =
        mem_array((t->nparts < BATCH ? (uint64_t)t->nparts : BATCH) * rank + 1, sizeof *b->coord);
    if (!b->coord)
        err = DREP_ERR_NOMEM;
    for (int64_t i = 0; !err && i < t->nparts; i++) {
        part_of(t, i, &p);
        if (p.n == 0)
            continue;
        if (part_writes_whole(t, &p)) {
            memcpy(b->coord + b->n * rank, p.coord, (size_t)rank * sizeof *b->coord);
            b->part[b->n++] = i;
            if (b->n == BATCH)
                err = whole_flush(b);
            continue;
        }
        err = whole_flush(b);
        if (!err)
            err = patch_part(t, &p);
    }
    if (!err)
        err = whole_flush(b);
    mem_free(b->coord);
    mem_free(b);
    return err;
}

/* Writes the selection. Chunks that must be decoded go another way, since changing a part of one
 * means to encode all of it. */
int chunked_write(struct transfer *t)
{
    if (t->ds->rec.nfilters > 0 || t->ds->ft->type->variable)
        return decoded_write(t);
    return parts_each(t, write_parts);
}
