/* copy_chunks.c - a dataset's elements into another: payload by payload. */
/* SPDX-License-Identifier: MIT */
#include "base/buf.h"
#include "base/error.h"
#include "base/mem.h"
#include "base/pool.h"
#include "chunk/each.h"
#include "chunk/read.h"
#include "chunk/work.h"
#include "chunk/work_state.h"
#include "chunk/write.h"
#include "conv/refs.h"
#include "elem/fill.h"
#include "elem/payload.h"
#include "tree/edit.h"
#include "tree/find.h"
#include "whole/copy_payload.h"

#include <string.h>

#define BATCH_BYTES ((uint64_t)8 << 20) /* of payload in work */
#define SLOTS 64
#define EDGE_BYTES ((uint64_t)16 << 20) /* of a chunk that is held in memory as a whole */

/* Changes references in converted elements to the ids that objects have in the target. */
static int map_refs(const struct payload_copy *c, struct buf *b, uint64_t elements,
                    struct buf *heap)
{
    struct refs refs = {.heap = heap->p, .heap_size = heap->len, .map = c->map, .ctx = c->map_ctx};

    return !c->map ? 0 : refs_map(&refs, &c->to->ft->stored, b->p, (int64_t)elements);
}

/* Loads the value of a compact dataset as far as it is stored. */
static int compact_source(struct payload_copy *c, struct buf *b, size_t *fixed)
{
    struct key key;
    int err;

    key_make(&key, c->from->id, FMT_TAG_DATA);
    err = tree_get(c->from->file->st, &key, b);
    if (err)
        return err;
    *fixed = b->len;
    if (c->from->ft->type->variable) /* checks the heap too */
        return compact_load(c->from, b, fixed);
    if (b->len > element_bytes(c->from, (uint64_t)dataset_count(c->from)) ||
        b->len % (uint64_t)c->from->esize != 0)
        return fail(DREP_ERR_FORMAT, "%zu bytes of payload (R8.9)", b->len);
    return 0;
}

/* ---- one chunk of the target, from those of the source that touch it ---- */

struct chunk_gather {
    struct payload_copy *c;
    uint64_t coord[DREP_MAX_RANK]; /* of the target's chunk */
    struct buf payload, heap, source;
    bool any;
    struct losses report;
};

static void gather_release(struct chunk_gather *g)
{
    buf_release(&g->payload);
    buf_release(&g->heap);
    buf_release(&g->source);
}

static void grid_of(const drep_dataset *ds, uint64_t *chunk)
{
    for (int d = 0; d < ds->rec.rank; d++)
        chunk[d] = ds->rec.layout == FMT_CHUNKED ? ds->rec.chunk[d] : ds->rec.len[d];
}

/* Gives the transcoder the heap behind the elements of `source`. */
static void heap_take(struct transcoder *a, const struct buf *source, size_t fixed)
{
    static const uint8_t none[1];

    a->heap = source->p ? source->p + fixed : none;
    a->heap_size = source->len - fixed;
}

/* Loads a whole payload as far as it is stored: *elements of them. */
static int source_load(drep_dataset *ds, const uint64_t *coord, struct buf *b, uint64_t *elements,
                       size_t *fixed)
{
    int err;

    if (ds->ft->type->variable) {
        err = chunk_load(ds, coord, b, fixed);
    } else {
        err = chunk_read_all(&ds->chunks, coord, b);
        *fixed = b->len;
    }
    *elements = *fixed / (uint64_t)ds->esize;
    return err;
}

/* Converts what one chunk of the source gives to the target's: rows of the box that they share, as
 * far as they are stored; the rest of the target's is fill already. */
static int gather_chunk(struct chunk_gather *g, const uint64_t *sc, const uint64_t *schunk,
                        const uint64_t *tchunk)
{
    struct payload_copy *c = g->c;
    struct transcoder a;
    uint64_t low[DREP_MAX_RANK], n[DREP_MAX_RANK], at[DREP_MAX_RANK] = {0}, stored = 0;
    bool compact = c->from->rec.layout == FMT_COMPACT;
    int rank = c->from->rec.rank, d;
    bool single = rank > 0 && c->cut && c->cut->dim[rank - 1].stride > 1; /* no rows */
    size_t fixed = 0;
    int err;

    for (d = 0; d < rank; d++) {
        uint64_t t0 = g->coord[d] * tchunk[d], s0 = target_index(c, d, sc[d] * schunk[d]);
        uint64_t end = target_index(c, d, (sc[d] + 1) * schunk[d]);

        low[d] = t0 > s0 ? t0 : s0;
        end = t0 + tchunk[d] < end ? t0 + tchunk[d] : end;
        end = end < c->to->rec.len[d] ? end : c->to->rec.len[d];
        n[d] = end > low[d] ? end - low[d] : 0;
        if (n[d] == 0)
            return 0;
    }
    err =
        compact ? compact_source(c, &g->source, &fixed) : chunk_size(&c->from->chunks, sc, &stored);
    if (err == DREP_ERR_NOT_FOUND || (!err && !compact && !stored))
        return 0;
    if (!err && !compact)
        err = source_load(c->from, sc, &g->source, &stored, &fixed);
    if (err)
        return err;
    if (compact)
        stored = fixed / (uint64_t)c->from->esize;
    g->any = true;
    transcode_begin(&a, &c->transcoder);
    heap_take(&a, &g->source, fixed);
    a.heap_out = &g->heap;
    do {
        uint64_t s = 0, t = 0, row = rank > 0 && !single ? n[rank - 1] : 1;

        for (d = 0; d < rank; d++) {
            s = s * schunk[d] + source_index(c, d, low[d] + at[d]) - sc[d] * schunk[d];
            t = t * tchunk[d] + low[d] + at[d] - g->coord[d] * tchunk[d];
        }
        if (s < stored)
            err = transcode_run(&a, g->payload.p + element_bytes(c->to, t), c->to->esize,
                                g->source.p + element_bytes(c->from, s), c->from->esize,
                                (int64_t)(row < stored - s ? row : stored - s));
        for (d = single ? rank : rank - 1; !err && d-- > 0;) {
            if (++at[d] < n[d])
                break;
            at[d] = 0;
        }
    } while (!err && d >= 0);
    losses_add(&g->report, &a.report);
    return err;
}

/* Begins a payload of fill; chunk_gather_end() gives each element contents of its own. */
static int gather_begin(struct chunk_gather *g, uint64_t elements)
{
    drep_dataset *to = g->c->to;
    int err = buf_reserve(&g->payload, element_bytes(to, elements));

    if (!err)
        err = fill_bytes(to, g->payload.p, 0, element_bytes(to, elements));
    if (!err)
        err = buf_set(&g->heap, to->fill_heap.p, to->fill_heap.len);
    g->payload.len = (size_t)element_bytes(to, elements);
    g->any = false;
    return err;
}

/* Completes the payload as it is to be stored, heap included. */
static int chunk_gather_end(struct chunk_gather *g, uint64_t elements)
{
    drep_dataset *to = g->c->to;
    size_t fixed = g->payload.len;
    int err = map_refs(g->c, &g->payload, elements, &g->heap);

    if (!err)
        err = heap_append(&g->payload, fixed, &g->heap);
    if (!err && to->fill_heap.len > 0) {
        err = heap_renew(to, &g->payload, fixed, &g->heap);
        if (!err)
            err = heap_append(&g->payload, fixed, &g->heap);
    }
    return err;
}

/* Builds one chunk of the target. g->any stays false when nothing of it is stored. */
static int gather_target(struct chunk_gather *g)
{
    struct payload_copy *c = g->c;
    uint64_t first[DREP_MAX_RANK], end[DREP_MAX_RANK], sc[DREP_MAX_RANK], elements = 1;
    uint64_t schunk[DREP_MAX_RANK], tchunk[DREP_MAX_RANK];
    int rank = c->to->rec.rank, d, err;

    grid_of(c->from, schunk);
    grid_of(c->to, tchunk);
    for (d = 0; d < rank; d++) {
        uint64_t top = (g->coord[d] + 1) * tchunk[d];

        top = top < c->to->rec.len[d] ? top : c->to->rec.len[d];
        first[d] = sc[d] = source_index(c, d, g->coord[d] * tchunk[d]) / schunk[d];
        end[d] = source_index(c, d, top - 1) / schunk[d] + 1;
        elements *= tchunk[d];
    }
    err = gather_begin(g, elements);
    do {
        if (!err)
            err = gather_chunk(g, sc, schunk, tchunk);
        for (d = rank; !err && d-- > 0;) {
            if (++sc[d] < end[d])
                break;
            sc[d] = first[d];
        }
    } while (!err && d >= 0);
    return !err && g->any ? chunk_gather_end(g, elements) : err;
}

/* ---- payload by payload, many at once ---- */

/* One chunk in work, with memory that the next batch uses again. */
struct batch_item {
    struct payload_copy *c;
    uint64_t coord[DREP_MAX_RANK];
    struct buf payload, heap; /* of the target */
    struct buf source;
    struct losses report;
};

struct payload_batch {
    struct payload_copy *c;
    struct batch_item slot[SLOTS];
    struct pool_turns turns;
    int n, most;
};

/* Converts n elements with their contents, one behind the other. */
static int convert_elements(struct payload_copy *c, const struct buf *source, size_t fixed,
                            uint64_t n, struct buf *out, struct buf *heap_out,
                            struct losses *report)
{
    int err = buf_reserve(out, element_bytes(c->to, n));
    struct transcoder a;

    if (err)
        return err;
    out->len = (size_t)element_bytes(c->to, n);
    heap_out->len = 0;
    if (out->len == 0)
        return 0;
    if (c->same_elements && !c->from->ft->type->variable) {
        memcpy(out->p, source->p, out->len);
        return 0;
    }
    memset(out->p, 0, out->len); /* gaps are zeros */
    transcode_begin(&a, &c->transcoder);
    heap_take(&a, source, fixed);
    a.heap_out = heap_out;
    err = transcode_run(&a, out->p, c->to->esize, source->p, c->from->esize, (int64_t)n);
    *report = a.report;
    return err;
}

/* True if the chunk lies inside the shape: elements outside mean nothing, so they are not
 * converted. */
static bool chunk_whole(const drep_dataset *ds, const uint64_t *coord)
{
    const struct object_rec *r = &ds->rec;

    for (int d = 0; r->layout == FMT_CHUNKED && d < r->rank; d++)
        if ((coord[d] + 1) * r->chunk[d] > r->len[d])
            return false;
    return true;
}

/* Converts a chunk at the edge of the shape element by element. */
static int convert_edge(struct batch_item *s)
{
    struct chunk_gather g = {
        .c = s->c, .payload = s->payload, .heap = s->heap, .source = s->source};
    int err;

    memcpy(g.coord, s->coord, sizeof g.coord);
    err = gather_target(&g);
    s->payload = g.payload;
    s->heap = g.heap;
    s->source = g.source;
    s->report = g.report;
    return err;
}

static int convert_chunk(struct batch_item *s)
{
    struct payload_copy *c = s->c;
    uint64_t n = 0, left;
    size_t fixed = 0;
    int err = source_load(c->from, s->coord, &s->source, &n, &fixed);

    if (!err && c->from->rec.layout == FMT_CONTIGUOUS) {
        left = (uint64_t)dataset_count(c->from) - s->coord[0] * c->from->rec.slab;
        n = n < left ? n : left;
    }
    if (!err)
        err = convert_elements(c, &s->source, fixed, n, &s->payload, &s->heap, &s->report);
    if (!err)
        err = map_refs(c, &s->payload, n, &s->heap);
    return !err ? heap_append(&s->payload, s->payload.len, &s->heap) : err;
}

/* Makes the payload of one chunk of the target; runs in several threads. */
static int make_item(void *ctx, int64_t i)
{
    struct payload_batch *batch = ctx;
    struct batch_item *s = &batch->slot[i];
    struct payload_copy *c = s->c = batch->c;

    s->report = (struct losses){0};
    if (c->same_elements && !c->from->ft->type->variable)
        return convert_chunk(s);
    /* What is stored of a chunk may be much less than the chunk. */
    if (chunk_whole(c->from, s->coord) ||
        (!c->from->ft->type->variable &&
         (c->from->chunks.payload > EDGE_BYTES || c->to->chunks.payload > EDGE_BYTES)))
        return convert_chunk(s);
    return convert_edge(s);
}

/* Encodes and writes one payload; threads encode in any order and write in turn. */
static int write_item(void *ctx, int64_t i)
{
    struct payload_batch *b = ctx;
    struct batch_item *s = &b->slot[i];
    struct chunks *cs = &b->c->to->chunks;
    struct work *w = work_take(cs->st);
    int err = DREP_ERR_NOMEM;

    if (w)
        err = chunk_write_turn(w, cs, s->coord, s->payload.p, s->payload.len, &b->turns, i);
    else
        pool_turn_end(&b->turns, i, err);
    work_give(cs->st, w);
    return err;
}

/* Nothing is written while anything is read: both may be one file. */
static int batch_run(struct payload_batch *b)
{
    struct payload_copy *c = b->c;
    int err = pool_run(c->threads, b->n, make_item, b);

    if (!err) {
        pool_turns_init(&b->turns);
        err = pool_run(c->threads, b->n, write_item, b);
        pool_turns_release(&b->turns);
    }
    for (int i = 0; !err && i < b->n; i++) {
        losses_add(&c->report, &b->slot[i].report);
        err = copy_whole_progress(c, b->slot[i].payload.len);
    }
    b->n = 0;
    return err;
}

static int batch_record(const uint64_t *coord, const struct chunk_rec *rec, void *ctx)
{
    struct payload_batch *b = ctx;
    const drep_dataset *ds = b->c->from;
    uint64_t run = run_inside(&ds->rec, coord, rec);
    int last = ds->chunks.rank - 1, err = 0;

    for (uint64_t k = 0; !err && k < run; k++) {
        struct batch_item *s = &b->slot[b->n];

        memcpy(s->coord, coord, (size_t)ds->chunks.rank * sizeof *coord);
        if (last >= 0)
            s->coord[last] += k;
        if (++b->n == b->most)
            err = batch_run(b);
    }
    return err;
}

int copy_chunks(struct payload_copy *c)
{
    struct payload_batch *b = mem_zalloc(1, sizeof *b);
    uint64_t each = c->from->chunks.payload > c->to->chunks.payload ? c->from->chunks.payload
                                                                    : c->to->chunks.payload;
    int err;

    if (!b)
        return fail_nomem();
    b->c = c;
    b->most = each > 0 && each < BATCH_BYTES
                  ? (int)(BATCH_BYTES / each < SLOTS ? BATCH_BYTES / each : SLOTS)
                  : 1;
    if (b->most < c->threads && c->threads <= SLOTS)
        b->most = c->threads; /* two chunks a worker */
    err = chunk_each(&c->from->chunks, batch_record, b);
    if (!err && b->n > 0)
        err = batch_run(b);
    for (int i = 0; i < SLOTS; i++) {
        struct batch_item *s = &b->slot[i];

        buf_release(&s->payload);
        buf_release(&s->heap);
        buf_release(&s->source);
    }
    mem_free(b);
    return err;
}

/* ---- compact to compact ---- */

int copy_compact(struct payload_copy *c)
{
    struct buf *b = &c->room[0], *out = &c->room[1], *heap = &c->room[2];
    struct losses report = {0};
    struct key key;
    size_t fixed;
    uint64_t n;
    int err = compact_source(c, b, &fixed);

    if (err)
        return err == DREP_ERR_NOT_FOUND ? 0 : err;
    n = fixed / (uint64_t)c->from->esize;
    if (c->stored) {
        err = buf_set(out, b->p, b->len);
        heap->len = 0;
    } else {
        err = convert_elements(c, b, fixed, n, out, heap, &report);
        if (!err)
            err = map_refs(c, out, n, heap);
        if (!err)
            err = heap_append(out, out->len, heap);
        losses_add(&c->report, &report);
    }
    key_make(&key, c->to->id, FMT_TAG_DATA);
    if (!err)
        err = tree_put(c->to->file->st, &key, out->p, out->len);
    return !err ? copy_whole_progress(c, out->len) : err;
}

/* ---- other chunks of a variable-length type ---- */

static int gather_store(struct chunk_gather *g)
{
    drep_dataset *to = g->c->to;
    struct key key;
    int err = gather_target(g);

    losses_add(&g->c->report, &g->report);
    g->report = (struct losses){0};
    if (err || !g->any)
        return err;
    if (to->rec.layout == FMT_COMPACT) {
        key_make(&key, to->id, FMT_TAG_DATA);
        err = tree_put(to->file->st, &key, g->payload.p, g->payload.len);
    } else {
        err = chunk_write(&to->chunks, g->coord, 1, g->payload.p, g->payload.len);
    }
    return !err ? copy_whole_progress(g->c, g->payload.len) : err;
}

/* Builds all chunks of the target that this one of the source touches, but those that are there. */
static int gather_around(struct chunk_gather *g, const uint64_t *sc)
{
    struct payload_copy *c = g->c;
    uint64_t schunk[DREP_MAX_RANK], tchunk[DREP_MAX_RANK];
    uint64_t first[DREP_MAX_RANK], end[DREP_MAX_RANK], size = 0;
    int rank = c->to->rec.rank, d, err = 0;

    grid_of(c->from, schunk);
    grid_of(c->to, tchunk);
    for (d = 0; d < rank; d++) {
        uint64_t top = (sc[d] + 1) * schunk[d];

        top = top < c->to->rec.len[d] ? top : c->to->rec.len[d];
        first[d] = g->coord[d] = sc[d] * schunk[d] / tchunk[d];
        end[d] = (top - 1) / tchunk[d] + 1;
    }
    do {
        if (c->to->rec.layout != FMT_COMPACT)
            err = chunk_size(&c->to->chunks, g->coord, &size);
        if (!err && size == 0)
            err = gather_store(g);
        for (d = rank; !err && d-- > 0;) {
            if (++g->coord[d] < end[d])
                break;
            g->coord[d] = first[d];
        }
    } while (!err && d >= 0 && c->to->rec.layout != FMT_COMPACT);
    return err;
}

static int gather_run_around(const uint64_t *coord, const struct chunk_rec *rec, void *ctx)
{
    struct chunk_gather *g = ctx;
    uint64_t at[DREP_MAX_RANK] = {0}, run = run_inside(&g->c->from->rec, coord, rec);
    int last = g->c->from->chunks.rank - 1, err = 0;

    memcpy(at, coord, (size_t)g->c->from->chunks.rank * sizeof *at);
    for (uint64_t k = 0; !err && k < run; k++) {
        err = gather_around(g, at);
        if (g->c->to->rec.layout == FMT_COMPACT)
            return err ? err : DREP_ERR_STOPPED; /* there is only one */
        if (last >= 0)
            at[last]++;
    }
    return err;
}

/* Builds all chunks of the target. */
static int gather_grid(struct chunk_gather *g)
{
    const drep_dataset *to = g->c->to;
    uint64_t tchunk[DREP_MAX_RANK];
    int d, err;

    grid_of(to, tchunk);
    do {
        err = gather_store(g);
        for (d = to->rec.rank; !err && d-- > 0;) {
            if (++g->coord[d] <= (to->rec.len[d] - 1) / tchunk[d])
                break;
            g->coord[d] = 0;
        }
    } while (!err && d >= 0);
    return err;
}

int copy_gathered(struct payload_copy *c)
{
    const uint64_t zero[DREP_MAX_RANK] = {0};
    struct chunk_gather g = {.c = c};
    int err = c->cut ? gather_grid(&g)
              : c->from->rec.layout == FMT_COMPACT
                  ? gather_around(&g, zero)
                  : chunk_each(&c->from->chunks, gather_run_around, &g);

    gather_release(&g);
    return err == DREP_ERR_STOPPED ? 0 : err;
}
