/* copy_payload.c - the elements of one dataset into another that has none yet.
 *
 * Stored bytes go as they are where both files hold the type alike, in the same chunks and
 * through the same filters.  Same chunks in another representation are converted payload by
 * payload.  Other chunks are gathered: of variable-length types from payload to payload,
 * else box by box through the usual transfers.  The work follows what is stored: what no
 * chunk covers is fill on both sides. */
#include "whole/copy_payload.h"

#include "base/mem.h"
#include "base/pool.h"
#include "conv/refs.h"
#include "conv/transcode.h"
#include "elem/fill.h"
#include "elem/payload.h"
#include "elem/transfer.h"
#include "whole/stored.h"

#include <string.h>

#define BATCH_BYTES ((uint64_t)8 << 20) /* of payload in work */
#define SLOTS 64
#define EDGE_BYTES ((uint64_t)16 << 20) /* of a chunk that is held in memory as a whole */
#define BOX_BYTES ((uint64_t)8 << 20)

static uint64_t element_bytes(const drep_dataset *ds, uint64_t n)
{
    return n * (uint64_t)ds->esize;
}

static int carried(struct carry *c, uint64_t bytes)
{
    c->bytes += (int64_t)bytes;
    return c->progress != NULL ? c->progress((int64_t)bytes, c->ctx) : 0;
}

/* What a piece of work lost. */
static void add(drep_report *to, const drep_report *r)
{
    to->items += r->items;
    to->overflow += r->overflow;
    to->inexact += r->inexact;
    to->nan_lost += r->nan_lost;
}

/* ---- stored bytes as they are ---- */

static int carry_filtered(struct carry *c, const uint64_t *coord, const struct chunk_rec *rec)
{
    struct buf *b = &c->room[0];
    int err = chunk_stored(&c->from->chunks, rec, b);

    if (err == 0)
        err = chunk_write_stored(&c->to->chunks, coord, b, rec->skipped);
    return err == 0 ? carried(c, b->len) : err;
}

/* Some chunks of one record. */
struct plain {
    struct carry *c;
    uint64_t coord[DREP_MAX_RANK]; /* of the first */
};

static int plain_bytes(void *ctx, struct work *w, uint64_t i, uint64_t from, uint64_t size,
                       const uint8_t **p)
{
    const struct plain *plain = ctx;
    struct chunks *cs = &plain->c->from->chunks;
    uint64_t at[DREP_MAX_RANK] = {0}, have = 0;
    struct buf *b = work_buf(w);
    int err = buf_reserve(b, size);

    memcpy(at, plain->coord, (size_t)cs->rank * sizeof *at);
    if (cs->rank > 0)
        at[cs->rank - 1] += i;
    if (err == 0)
        err = chunk_read(cs, at, from, size, b->p, &have);
    if (err == 0 && have < size)
        err = fail(DREP_ERR_FORMAT, "a chunk is shorter than its record says");
    *p = b->p;
    return err;
}

#define ROW_CHUNKS 512 /* of one record at once */
#define PIECE ((uint64_t)256 << 10)

/* n chunks of one record, at plain->coord and behind it. */
static int carry_row(struct carry *c, struct plain *plain, uint64_t n, uint64_t size)
{
    const struct chunk_source from = {plain_bytes, plain, PIECE, c->threads};
    uint64_t *coords = (uint64_t *)(void *)c->room[1].p;
    int rank = c->from->chunks.rank;

    for (uint64_t i = 0; i < n; i++) {
        memcpy(coords + i * (uint64_t)rank, plain->coord, (size_t)rank * sizeof *coords);
        if (rank > 0)
            coords[(i + 1) * (uint64_t)rank - 1] += i;
    }
    return chunks_write(&c->to->chunks, coords, n, size, &from);
}

/* One chunk that has a heap, or would be filtered now. */
static int carry_one(struct carry *c, const uint64_t *coord, uint64_t size)
{
    struct buf *b = &c->room[0];
    uint64_t have = 0;
    int err = buf_reserve(b, size);

    if (err == 0)
        err = chunk_read(&c->from->chunks, coord, 0, size, b->p, &have);
    return err == 0 ? chunk_write(&c->to->chunks, coord, 1, b->p, have) : err;
}

/* Unfiltered chunks of one record, as far as they lie inside the shape. */
static int carry_plain(struct carry *c, const uint64_t *coord, const struct chunk_rec *rec)
{
    bool one = c->to->chunks.nfilters > 0 || c->from->ft->type->variable || rec->size == 0;
    int last = c->from->chunks.rank - 1, err;
    uint64_t left = run_inside(&c->from->rec, coord, rec);
    struct plain plain = {.c = c};

    memcpy(plain.coord, coord, (size_t)(last + 1) * sizeof *coord);
    err = buf_reserve(&c->room[1], ROW_CHUNKS * ((uint64_t)last + 2) * sizeof *coord);
    while (err == 0 && left > 0) {
        uint64_t now = one ? 1 : left < ROW_CHUNKS ? left : ROW_CHUNKS;

        err = one ? carry_one(c, plain.coord, rec->size) : carry_row(c, &plain, now, rec->size);
        if (err == 0)
            err = carried(c, now * rec->size);
        if (last >= 0)
            plain.coord[last] += now;
        left -= now;
    }
    return err;
}

static int carry_record(const uint64_t *coord, const struct chunk_rec *rec, void *ctx)
{
    struct carry *c = ctx;

    if (!chunk_inside(&c->from->rec, coord))
        return 0;
    return rec->filtered ? carry_filtered(c, coord, rec) : carry_plain(c, coord, rec);
}

static int refer(const struct carry *c, struct buf *b, uint64_t elements, struct buf *heap)
{
    struct refs refs = {.heap = heap->p, .heap_size = heap->len, .map = c->map, .ctx = c->map_ctx};

    if (c->map == NULL)
        return 0;
    return refs_map(&refs, &c->to->ft->stored, b->p, (int64_t)elements);
}

static int compact_source(struct carry *c, struct buf *b, size_t *fixed)
{
    struct key key;
    int err;

    key_make(&key, c->from->id, FMT_TAG_DATA);
    err = tree_get(c->from->file->st, &key, b);
    if (err != 0)
        return err;
    *fixed = b->len;
    if (c->from->ft->type->variable) /* checks the heap too */
        return compact_load(c->from, b, fixed);
    if (b->len > element_bytes(c->from, (uint64_t)dataset_count(c->from)) ||
        b->len % (uint64_t)c->from->esize != 0)
        return fail(DREP_ERR_FORMAT, "%zu bytes of payload", b->len);
    return 0;
}

/* ---- one chunk of the target, from those of the source that touch it ---- */

struct gather {
    struct carry *c;
    uint64_t coord[DREP_MAX_RANK]; /* of the target's chunk */
    struct buf payload, heap, source;
    bool any;
    drep_report report;
};

static void gather_release(struct gather *g)
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

/* Contents of variable length follow the elements. */
static void heap_take(struct transcoder *a, const struct buf *source, size_t fixed)
{
    static const uint8_t none[1];

    a->heap = source->p != NULL ? source->p + fixed : none;
    a->heap_size = source->len - fixed;
}

/* What one chunk of the source gives to the target's: rows of the box they share. */
static int gather_chunk(struct gather *g, const uint64_t *sc, const uint64_t *schunk,
                        const uint64_t *tchunk)
{
    struct carry *c = g->c;
    struct transcoder a;
    uint64_t low[DREP_MAX_RANK], n[DREP_MAX_RANK], at[DREP_MAX_RANK] = {0}, stored = 0;
    int rank = c->from->rec.rank, d;
    size_t fixed = 0;
    int err = c->from->rec.layout == FMT_COMPACT ? compact_source(c, &g->source, &fixed)
                                                 : chunk_size(&c->from->chunks, sc, &stored);

    if (err == DREP_ERR_NOT_FOUND || (err == 0 && c->from->rec.layout != FMT_COMPACT && !stored))
        return 0;
    if (err == 0 && c->from->rec.layout != FMT_COMPACT)
        err = chunk_load(c->from, sc, &g->source, &fixed);
    if (err != 0)
        return err;
    g->any = true;
    transcode_begin(&a, &c->across);
    heap_take(&a, &g->source, fixed);
    a.heap_out = &g->heap;
    for (d = 0; d < rank; d++) {
        uint64_t t0 = g->coord[d] * tchunk[d], s0 = sc[d] * schunk[d], end;

        low[d] = t0 > s0 ? t0 : s0;
        end = t0 + tchunk[d] < s0 + schunk[d] ? t0 + tchunk[d] : s0 + schunk[d];
        end = end < c->from->rec.len[d] ? end : c->from->rec.len[d];
        n[d] = end > low[d] ? end - low[d] : 0;
        if (n[d] == 0)
            return 0;
    }
    do {
        uint64_t s = 0, t = 0, row = rank > 0 ? n[rank - 1] : 1;

        for (d = 0; d < rank; d++) {
            s = s * schunk[d] + low[d] + at[d] - sc[d] * schunk[d];
            t = t * tchunk[d] + low[d] + at[d] - g->coord[d] * tchunk[d];
        }
        err = transcode_run(&a, g->payload.p + element_bytes(c->to, t), c->to->esize,
                            g->source.p + element_bytes(c->from, s), c->from->esize, (int64_t)row);
        for (d = rank - 1; err == 0 && d-- > 0;) {
            if (++at[d] < n[d])
                break;
            at[d] = 0;
        }
    } while (err == 0 && d >= 0);
    add(&g->report, &a.report);
    return err;
}

/* Fill, whose contents each element gets for itself at last. */
static int gather_begin(struct gather *g, uint64_t elements)
{
    drep_dataset *to = g->c->to;
    int err = buf_reserve(&g->payload, element_bytes(to, elements));

    if (err == 0)
        err = fill_bytes(to, g->payload.p, 0, element_bytes(to, elements));
    if (err == 0)
        err = buf_set(&g->heap, to->fill_heap.p, to->fill_heap.len);
    g->payload.len = (size_t)element_bytes(to, elements);
    g->any = false;
    return err;
}

/* The payload as it is to be stored, heap included. */
static int gather_end(struct gather *g, uint64_t elements)
{
    drep_dataset *to = g->c->to;
    size_t fixed = g->payload.len;
    int err = refer(g->c, &g->payload, elements, &g->heap);

    if (err == 0)
        err = heap_append(&g->payload, fixed, &g->heap);
    if (err == 0 && to->fill_heap.len > 0) {
        err = heap_renew(to, &g->payload, fixed, &g->heap);
        if (err == 0)
            err = heap_append(&g->payload, fixed, &g->heap);
    }
    return err;
}

/* Not stored at all: g->any is not set. */
static int gather_target(struct gather *g)
{
    struct carry *c = g->c;
    uint64_t first[DREP_MAX_RANK], end[DREP_MAX_RANK], sc[DREP_MAX_RANK], elements = 1;
    uint64_t schunk[DREP_MAX_RANK], tchunk[DREP_MAX_RANK];
    int rank = c->to->rec.rank, d, err;

    grid_of(c->from, schunk);
    grid_of(c->to, tchunk);
    for (d = 0; d < rank; d++) {
        uint64_t top = (g->coord[d] + 1) * tchunk[d];

        top = top < c->from->rec.len[d] ? top : c->from->rec.len[d];
        first[d] = sc[d] = g->coord[d] * tchunk[d] / schunk[d];
        end[d] = (top - 1) / schunk[d] + 1;
        elements *= tchunk[d];
    }
    err = gather_begin(g, elements);
    do {
        if (err == 0)
            err = gather_chunk(g, sc, schunk, tchunk);
        for (d = rank; err == 0 && d-- > 0;) {
            if (++sc[d] < end[d])
                break;
            sc[d] = first[d];
        }
    } while (err == 0 && d >= 0);
    return err == 0 && g->any ? gather_end(g, elements) : err;
}

/* ---- payload by payload, many at once ---- */

struct batch_item {
    struct carry *c;
    uint64_t coord[DREP_MAX_RANK];
    struct buf payload, heap; /* of the target */
    struct buf source;
    drep_report report;
};

struct batch {
    struct carry *c;
    struct batch_item slot[SLOTS];
    struct pool_turns turns;
    int n, most;
};

/* A whole payload, as far as it is stored: *elements of them. */
static int source_load(drep_dataset *ds, const uint64_t *coord, struct buf *b, uint64_t *elements,
                       size_t *fixed)
{
    uint64_t size = 0, have = 0;
    int err;

    if (ds->ft->type->variable) {
        err = chunk_load(ds, coord, b, fixed);
        *elements = *fixed / (uint64_t)ds->esize;
        return err;
    }
    err = chunk_size(&ds->chunks, coord, &size);
    if (err == 0 && size > ds->chunks.payload)
        err = fail(DREP_ERR_FORMAT, "a payload of %llu bytes, at most %llu are possible",
                   (unsigned long long)size, (unsigned long long)ds->chunks.payload);
    if (err == 0)
        err = buf_reserve(b, size);
    if (err == 0)
        err = chunk_read(&ds->chunks, coord, 0, size, b->p, &have);
    b->len = *fixed = (size_t)have;
    *elements = have / (uint64_t)ds->esize;
    return err;
}

/* n elements with their contents, behind one another in *out. */
static int convert(struct carry *c, const struct buf *source, size_t fixed, uint64_t n,
                   struct buf *out, struct buf *heap_out, drep_report *report)
{
    int err = buf_reserve(out, element_bytes(c->to, n));
    struct transcoder a;

    if (err != 0)
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
    transcode_begin(&a, &c->across);
    heap_take(&a, source, fixed);
    a.heap_out = heap_out;
    err = transcode_run(&a, out->p, c->to->esize, source->p, c->from->esize, (int64_t)n);
    *report = a.report;
    return err;
}

/* Elements outside the shape mean nothing, so they are not converted. */
static bool chunk_whole(const drep_dataset *ds, const uint64_t *coord)
{
    const struct object_rec *r = &ds->rec;

    for (int d = 0; r->layout == FMT_CHUNKED && d < r->rank; d++)
        if ((coord[d] + 1) * r->chunk[d] > r->len[d])
            return false;
    return true;
}

static int convert_edge(struct batch_item *s)
{
    struct gather g = {.c = s->c, .payload = s->payload, .heap = s->heap, .source = s->source};
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
    struct carry *c = s->c;
    uint64_t n = 0, left;
    size_t fixed = 0;
    int err = source_load(c->from, s->coord, &s->source, &n, &fixed);

    if (err == 0 && c->from->rec.layout == FMT_CONTIGUOUS) {
        left = (uint64_t)dataset_count(c->from) - s->coord[0] * c->from->rec.slab;
        n = n < left ? n : left;
    }
    if (err == 0)
        err = convert(c, &s->source, fixed, n, &s->payload, &s->heap, &s->report);
    if (err == 0)
        err = refer(c, &s->payload, n, &s->heap);
    return err == 0 ? heap_append(&s->payload, s->payload.len, &s->heap) : err;
}

static int make_item(void *ctx, int64_t i)
{
    struct batch *batch = ctx;
    struct batch_item *s = &batch->slot[i];
    struct carry *c = s->c = batch->c;

    s->report = (drep_report){0};
    if (c->same_elements && !c->from->ft->type->variable)
        return convert_chunk(s);
    /* What is stored of a chunk may be much less than the chunk. */
    if (chunk_whole(c->from, s->coord) ||
        (!c->from->ft->type->variable &&
         (c->from->chunks.payload > EDGE_BYTES || c->to->chunks.payload > EDGE_BYTES)))
        return convert_chunk(s);
    return convert_edge(s);
}

static int write_item(void *ctx, int64_t i)
{
    struct batch *b = ctx;
    struct batch_item *s = &b->slot[i];
    struct chunks *cs = &b->c->to->chunks;
    struct work *w = work_take(cs->st);
    int err = DREP_ERR_NOMEM;

    if (w != NULL)
        err = chunk_write_turn(w, cs, s->coord, s->payload.p, s->payload.len, &b->turns, i);
    else
        pool_turn_end(&b->turns, i, err);
    work_give(cs->st, w);
    return err;
}

/* Nothing is written while anything is read: both may be one file. */
static int batch_run(struct batch *b)
{
    struct carry *c = b->c;
    int err = pool_run(c->threads, b->n, make_item, b);

    if (err == 0) {
        pool_turns_init(&b->turns);
        err = pool_run(c->threads, b->n, write_item, b);
        pool_turns_release(&b->turns);
    }
    for (int i = 0; err == 0 && i < b->n; i++) {
        add(&c->report, &b->slot[i].report);
        err = carried(c, b->slot[i].payload.len);
    }
    b->n = 0;
    return err;
}

static int batch_record(const uint64_t *coord, const struct chunk_rec *rec, void *ctx)
{
    struct batch *b = ctx;
    const drep_dataset *ds = b->c->from;
    uint64_t run = run_inside(&ds->rec, coord, rec);
    int last = ds->chunks.rank - 1, err = 0;

    for (uint64_t k = 0; err == 0 && k < run; k++) {
        struct batch_item *s = &b->slot[b->n];

        memcpy(s->coord, coord, (size_t)ds->chunks.rank * sizeof *coord);
        if (last >= 0)
            s->coord[last] += k;
        if (++b->n == b->most)
            err = batch_run(b);
    }
    return err;
}

static int carry_payloads(struct carry *c)
{
    struct batch *b = mem_zalloc(1, sizeof *b);
    uint64_t each = c->from->chunks.payload > c->to->chunks.payload ? c->from->chunks.payload
                                                                    : c->to->chunks.payload;
    int err;

    if (b == NULL)
        return fail_nomem();
    b->c = c;
    b->most = each > 0 && each < BATCH_BYTES
                  ? (int)(BATCH_BYTES / each < SLOTS ? BATCH_BYTES / each : SLOTS)
                  : 1;
    if (b->most < c->threads && c->threads <= SLOTS)
        b->most = c->threads; /* two chunks a worker */
    err = chunk_each(&c->from->chunks, batch_record, b);
    if (err == 0 && b->n > 0)
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

static int carry_compact(struct carry *c)
{
    struct buf *b = &c->room[0], *out = &c->room[1], *heap = &c->room[2];
    drep_report report = {0};
    struct key key;
    size_t fixed;
    uint64_t n;
    int err = compact_source(c, b, &fixed);

    if (err != 0)
        return err == DREP_ERR_NOT_FOUND ? 0 : err;
    n = fixed / (uint64_t)c->from->esize;
    if (c->stored) {
        err = buf_set(out, b->p, b->len);
        heap->len = 0;
    } else {
        err = convert(c, b, fixed, n, out, heap, &report);
        if (err == 0)
            err = refer(c, out, n, heap);
        if (err == 0)
            err = heap_append(out, out->len, heap);
        add(&c->report, &report);
    }
    key_make(&key, c->to->id, FMT_TAG_DATA);
    if (err == 0)
        err = tree_put(c->to->file->st, &key, out->p, out->len);
    return err == 0 ? carried(c, out->len) : err;
}

/* ---- boxes ---- */

/* A box of elements. */
struct box {
    uint64_t from[DREP_MAX_RANK], len[DREP_MAX_RANK];
};

static uint64_t box_count(const struct box *b, int rank)
{
    uint64_t n = 1;

    for (int d = 0; d < rank; d++)
        n *= b->len[d];
    return n;
}

struct slice {
    struct carry *c;
    const uint8_t *src;
    uint8_t *dst;
    uint64_t n, each;
    drep_report report[SLOTS];
};

static int work_slice(void *ctx, int64_t i)
{
    struct slice *s = ctx;
    uint64_t at = (uint64_t)i * s->each, n = s->n - at < s->each ? s->n - at : s->each;
    struct transcoder a;
    int err;

    transcode_begin(&a, &s->c->across);
    err = transcode_run(&a, s->dst + at * (uint64_t)s->c->to->esize, s->c->to->esize,
                        s->src + at * (uint64_t)s->c->from->esize, s->c->from->esize, (int64_t)n);
    s->report[i] = a.report;
    return err;
}

/* n elements in memory, in as many slices as there are threads. */
static int convert_box(struct carry *c, const uint8_t *src, uint8_t *dst, uint64_t n)
{
    struct slice s = {.c = c, .src = src, .dst = dst, .n = n};
    int64_t slices = element_bytes(c->from, n) < (1 << 20) ? 1
                     : c->threads < SLOTS                  ? c->threads
                                                           : SLOTS;
    int err;

    slices = slices < 1 ? 1 : slices;
    s.each = (n + (uint64_t)slices - 1) / (uint64_t)slices;
    slices = (int64_t)((n + s.each - 1) / s.each);
    memset(dst, 0, (size_t)element_bytes(c->to, n));
    err = pool_run(c->threads, slices, work_slice, &s);
    for (int64_t i = 0; err == 0 && i < slices; i++)
        add(&c->report, &s.report[i]);
    return err;
}

static int carry_box(struct carry *c, const struct box *box)
{
    uint64_t n = box_count(box, c->from->rec.rank);
    struct buf *in = &c->room[0], *out = &c->room[1];
    int err = buf_reserve(in, element_bytes(c->from, n));

    if (err == 0)
        err = dataset_raw_box(c->from, box->from, box->len, in->p, c->threads, false);
    if (err == 0 && !c->same_elements) {
        err = buf_reserve(out, element_bytes(c->to, n));
        if (err == 0)
            err = convert_box(c, in->p, out->p, n);
    }
    if (c->same_elements)
        out = in;
    if (err == 0)
        err = refer(c, out, n, &(struct buf){0});
    if (err == 0)
        err = dataset_raw_box(c->to, box->from, box->len, out->p, c->threads, true);
    return err == 0 ? carried(c, element_bytes(c->to, n)) : err;
}

/* The lengths of boxes: whole chunks of the target, as many as fit, from the last dimension
 * on; of a chunk that is too large, and not filtered, a part. */
static void box_shape(const struct carry *c, uint64_t *len)
{
    const struct object_rec *r = &c->to->rec;
    int64_t es = c->from->esize > c->to->esize ? c->from->esize : c->to->esize;
    uint64_t room = BOX_BYTES / (uint64_t)es, n = 1;

    for (int d = 0; d < r->rank; d++) {
        len[d] = r->layout == FMT_CHUNKED ? r->chunk[d] : 1;
        len[d] = len[d] < r->len[d] ? len[d] : r->len[d];
        n = len[d] > 0 && n > UINT64_MAX / len[d] ? UINT64_MAX : n * len[d];
    }
    for (int d = 0; d < r->rank && n > room && r->nfilters == 0; d++) {
        uint64_t others = n / len[d];

        if (n == UINT64_MAX) /* too many to count: down to one row at a time */
            others = room;
        len[d] = others >= room ? 1 : room / others;
        n = 1;
        for (int k = 0; k < r->rank; k++)
            n = n > UINT64_MAX / len[k] ? UINT64_MAX : n * len[k];
    }
    for (int d = r->rank; d-- > 0 && n <= room;) {
        uint64_t step = len[d], more = room / n;

        more = more < (r->len[d] + step - 1) / step ? more : (r->len[d] + step - 1) / step;
        if (more < 1)
            break;
        n = n / len[d] * (len[d] * more);
        len[d] = len[d] * more < r->len[d] ? len[d] * more : r->len[d];
        if (len[d] < r->len[d])
            break;
    }
}

/* Is anything of this box stored in the source? */
static int box_stored(struct carry *c, const struct box *box, int *yes)
{
    const struct object_rec *r = &c->from->rec;
    uint64_t first[DREP_MAX_RANK], end[DREP_MAX_RANK], at[DREP_MAX_RANK], next;
    int last = r->rank - 1, err;

    *yes = 1;
    if (r->layout != FMT_CHUNKED || r->rank == 0)
        return 0;
    for (int d = 0; d < r->rank; d++) {
        first[d] = at[d] = box->from[d] / r->chunk[d];
        end[d] = (box->from[d] + box->len[d] - 1) / r->chunk[d] + 1;
    }
    for (;;) {
        int d = last;

        at[last] = first[last];
        err = chunk_next(&c->from->chunks, at, end[last] - first[last], &next);
        if (err != 0 || next != UINT64_MAX)
            return err;
        while (--d >= 0 && ++at[d] == end[d])
            at[d] = first[d];
        if (d < 0)
            break;
    }
    *yes = 0;
    return 0;
}

static int carry_boxes(struct carry *c, const uint64_t *shape)
{
    const struct object_rec *r = &c->to->rec;
    struct box box = {{0}, {0}};
    int err = 0;

    for (;;) {
        int stored, d;

        for (d = 0; d < r->rank; d++)
            box.len[d] = r->len[d] - box.from[d] < shape[d] ? r->len[d] - box.from[d] : shape[d];
        err = box_stored(c, &box, &stored);
        if (err == 0 && stored)
            err = carry_box(c, &box);
        for (d = r->rank; err == 0 && d-- > 0;) {
            box.from[d] += shape[d];
            if (box.from[d] < r->len[d])
                break;
            box.from[d] = 0;
        }
        if (err != 0 || d < 0)
            return err;
    }
}

/* The parts of what is stored, one after the other: of a sparse dataset. */
static int carry_part(const uint64_t *start, const uint64_t *count, void *ctx)
{
    struct box box = {{0}, {0}};
    struct carry *c = ctx;
    int rank = c->from->rec.rank;

    memcpy(box.from, start, (size_t)rank * sizeof *start);
    memcpy(box.len, count, (size_t)rank * sizeof *count);
    return carry_box(c, &box);
}

struct stored {
    uint64_t chunks;
};

static int count_record(const uint64_t *coord, const struct chunk_rec *rec, void *ctx)
{
    struct stored *t = ctx;

    (void)coord;
    t->chunks += rec->run;
    return 0;
}

/* Through boxes of the target's chunks, unless almost all of them would be empty. */
static int carry_dense(struct carry *c)
{
    const struct object_rec *r = &c->to->rec;
    uint64_t shape[DREP_MAX_RANK] = {0}, boxes = 1;
    struct stored t = {0};
    int err = 0;

    if (c->from->rec.layout == FMT_CONTIGUOUS || c->from->rec.layout == FMT_CHUNKED)
        err = chunk_each(&c->from->chunks, count_record, &t);
    if (err != 0 || (t.chunks == 0 && c->from->rec.layout != FMT_COMPACT))
        return err;
    box_shape(c, shape);
    for (int d = 0; d < r->rank; d++) {
        uint64_t n = (r->len[d] + shape[d] - 1) / shape[d];

        boxes = boxes > UINT64_MAX / n ? UINT64_MAX : boxes * n;
    }
    if (boxes / 16 <= t.chunks + 64)
        return carry_boxes(c, shape);
    return stored_boxes(c->from, carry_part, c);
}

/* ---- other chunks of a variable-length type ---- */

static int gather_store(struct gather *g)
{
    drep_dataset *to = g->c->to;
    struct key key;
    int err = gather_target(g);

    add(&g->c->report, &g->report);
    g->report = (drep_report){0};
    if (err != 0 || !g->any)
        return err;
    if (to->rec.layout == FMT_COMPACT) {
        key_make(&key, to->id, FMT_TAG_DATA);
        err = tree_put(to->file->st, &key, g->payload.p, g->payload.len);
    } else {
        err = chunk_write(&to->chunks, g->coord, 1, g->payload.p, g->payload.len);
    }
    return err == 0 ? carried(g->c, g->payload.len) : err;
}

/* All chunks of the target that this one of the source touches, but those that are there. */
static int gather_around(struct gather *g, const uint64_t *sc)
{
    struct carry *c = g->c;
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
        if (err == 0 && size == 0)
            err = gather_store(g);
        for (d = rank; err == 0 && d-- > 0;) {
            if (++g->coord[d] < end[d])
                break;
            g->coord[d] = first[d];
        }
    } while (err == 0 && d >= 0 && c->to->rec.layout != FMT_COMPACT);
    return err;
}

static int gather_record(const uint64_t *coord, const struct chunk_rec *rec, void *ctx)
{
    struct gather *g = ctx;
    uint64_t at[DREP_MAX_RANK] = {0}, run = run_inside(&g->c->from->rec, coord, rec);
    int last = g->c->from->chunks.rank - 1, err = 0;

    memcpy(at, coord, (size_t)g->c->from->chunks.rank * sizeof *at);
    for (uint64_t k = 0; err == 0 && k < run; k++) {
        err = gather_around(g, at);
        if (g->c->to->rec.layout == FMT_COMPACT)
            return err != 0 ? err : DREP_ERR_STOPPED; /* there is only one */
        if (last >= 0)
            at[last]++;
    }
    return err;
}

static int carry_gathered(struct carry *c)
{
    const uint64_t zero[DREP_MAX_RANK] = {0};
    struct gather g = {.c = c};
    int err = c->from->rec.layout == FMT_COMPACT ? gather_around(&g, zero)
                                                 : chunk_each(&c->from->chunks, gather_record, &g);

    gather_release(&g);
    return err == DREP_ERR_STOPPED ? 0 : err;
}

/* ---- entry ---- */

static bool same_grid(const struct object_rec *a, const struct object_rec *b)
{
    if (a->layout != b->layout || a->rank != b->rank)
        return false;
    if (a->layout == FMT_CONTIGUOUS)
        return a->slab == b->slab;
    for (int d = 0; a->layout == FMT_CHUNKED && d < a->rank; d++)
        if (a->chunk[d] != b->chunk[d])
            return false;
    return true;
}

static bool same_filters(const struct object_rec *a, const struct object_rec *b)
{
    if (a->nfilters != b->nfilters)
        return false;
    for (int i = 0; i < a->nfilters; i++) {
        const struct filter_rec *x = &a->filter[i], *y = &b->filter[i];

        if (x->id != y->id || x->nparams != y->nparams || x->name.len != y->name.len ||
            memcmp(x->param, y->param, x->nparams * sizeof *x->param) != 0 ||
            (x->name.len > 0 && memcmp(x->name.p, y->name.p, x->name.len) != 0))
            return false;
    }
    return true;
}

int dataset_carry(struct carry *c)
{
    const struct object_rec *a = &c->from->rec, *b = &c->to->rec;
    bool grid = same_grid(a, b);
    int err = 0;

    if (dataset_count(c->from) == 0 || c->from->esize == 0 || a->layout == FMT_LAYOUT_NULL)
        return 0;
    c->stored = c->same_elements && grid && c->map == NULL && same_filters(a, b);
    if (!c->same_elements || c->from->ft->type->variable)
        err = c->stored ? 0
                        : transcode_init(&c->across, &c->from->file->rep, c->from->ft,
                                         &c->to->file->rep, c->to->ft, c->range);
    if (err != 0)
        return err;
    if (a->layout == FMT_COMPACT && b->layout == FMT_COMPACT)
        err = carry_compact(c);
    else if (c->stored)
        err = chunk_each(&c->from->chunks, carry_record, c);
    else if (grid)
        err = carry_payloads(c);
    else if (c->from->ft->type->variable)
        err = carry_gathered(c);
    else
        err = carry_dense(c);
    return err;
}

void carry_release(struct carry *c)
{
    for (int i = 0; i < 3; i++)
        buf_release(&c->room[i]);
}
