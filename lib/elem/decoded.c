/* decoded.c - writing chunks that are decoded whole: filtered ones, and those with heaps. */
/* SPDX-License-Identifier: MIT */
#include "elem/decoded.h"

#include "base/pool.h"
#include "chunk/edit.h"
#include "chunk/packed.h"
#include "chunk/plan.h"
#include "chunk/read.h"
#include "chunk/work.h"
#include "chunk/write.h"
#include "conv/heap.h"
#include "elem/fill.h"
#include "elem/payload.h"
#include "elem/source.h"
#include "elem/scatter.h"
#include "txn/writeback.h"

#include <string.h>

#define UNDO_MAX ((uint64_t)8 << 20)   /* bytes of earlier changes that an operation may note */
#define WASTE_MIN ((size_t)64 << 10)   /* of a heap, below which it is left alone */
#define EDITS 256                      /* parts that are changed at once, */
#define EDIT_BYTES ((uint64_t)8 << 20) /* and bytes of their chunks */
#define LOOK_MAX ((int64_t)1 << 16)    /* parts that are looked at before an operation begins */

/* ---- whole chunks ---- */

struct blanking {
    uint8_t *payload;
    int64_t size; /* of an element */
};

static int blank_run(void *ctx, int64_t at, int64_t step, int64_t n, int64_t mem)
{
    const struct blanking *b = ctx;

    (void)mem;
    for (int64_t i = 0; i < n; i++)
        memset(b->payload + (at + i * step) * b->size, 0, (size_t)b->size);
    return 0;
}

/* Puts the fill value, with contents of its own, where the dataset does not reach: it may grow. */
static int fill_outside(struct transfer *t, const struct chunk_part *p, uint8_t *payload,
                        struct buf *heap)
{
    drep_dataset *ds = t->ds;
    struct part_mover plain = {.t = t};
    struct blanking blank = {payload, ds->esize};
    int err = fill_bytes(ds, payload, 0, ds->chunks.payload);

    if (!err)
        err = part_runs(&plain, p, blank_run, NULL, &blank);
    return err ? err
               : heap_move(&ds->ft->stored, payload, chunk_elements(ds), ds->fill_heap.p,
                           ds->fill_heap.len, 0, heap);
}

/* Builds the payload of a chunk of which all is written, with its own heap. */
static int make_payload(struct transfer *t, const struct chunk_part *p, struct buf *b)
{
    drep_dataset *ds = t->ds;
    uint64_t full = ds->chunks.payload;
    struct buf heap = {0};
    struct part_mover m;
    struct in_memory s = {NULL, &m.c, NULL};
    int err = buf_reserve(b, full);

    if (err)
        return err;
    b->len = (size_t)full;
    if (!ds->ft->type->variable)
        return part_payload(t, p, b->p, full);
    memset(b->p, 0, (size_t)full);
    if (bytes_of(ds, p->n) < full && ds->fill && ds->fill_err == 0)
        err = fill_outside(t, p, b->p, &heap);
    if (!err)
        err = part_begin(&m, t, p->n);
    if (err) {
        buf_release(&heap);
        return err;
    }
    m.c.heap_out = &heap;
    s.t = m.t;
    s.payload = b->p;
    err = part_runs(&m, p, memory_run, NULL, &s);
    if (!err)
        err = heap_append(b, (size_t)full, &heap);
    err = part_end(&m, err);
    buf_release(&heap);
    return err;
}

/* True for parts that change a chunk. */
static bool changes_chunk(const struct transfer *t, const struct chunk_part *p)
{
    return p->n > 0 && !part_writes_whole(t, p);
}

struct encoding {
    struct transfer *t;
    struct pool_turns turns;
};

/* Encodes and writes one whole chunk. Threads encode in any order and write in turn, so that the
 * file does not depend on the number of threads. */
static int encode_part(void *ctx, int64_t i)
{
    struct encoding *e = ctx;
    struct transfer *t = e->t;
    struct chunks *cs = &t->ds->chunks;
    struct chunk_part p;
    struct work *w;
    struct buf *b;
    int err;

    part_of(t, i, &p);
    w = part_writes_whole(t, &p) ? work_take(cs->st) : NULL;
    if (!w) {
        err = part_writes_whole(t, &p) ? DREP_ERR_NOMEM : 0;
        if (!err && pool_turn_wait(&e->turns, i))
            return fail(DREP_ERR_STOPPED, "an earlier chunk failed");
        pool_turn_end(&e->turns, i, err);
        return err;
    }
    if (t->from) {
        err = source_place_one(t, p.coord);
        pool_turn_end(&e->turns, i, err);
        work_give(cs->st, w);
        return name_chunk(t, &p, err);
    }
    b = work_buf(w);
    err = make_payload(t, &p, b);
    chunk_forget(cs, p.coord);
    if (err)
        pool_turn_end(&e->turns, i, err);
    else
        err = chunk_write_turn(w, cs, p.coord, b->p, b->len, &e->turns, i);
    work_give(cs->st, w);
    return part_done(t, &p, err);
}

/* ---- parts of chunks ---- */

/* A chunk that is changed where the cache holds it. */
struct chunk_edit {
    struct part_mover m;
    struct work *w;
    struct buf *b;
    size_t *waste;
};

/* Changes a run in memory. First the old bytes are noted, so that the operation can be taken back;
 * contents that the run replaces count as waste of the heap. */
static int edit_run(void *ctx, int64_t at, int64_t step, int64_t n, int64_t mem)
{
    struct chunk_edit *e = ctx;
    drep_dataset *ds = e->m.t->ds;
    int64_t es = ds->esize, each = step == 1 || step * es <= 64 ? n : 1;
    uint8_t *p = e->b->p + at * es;
    int err = 0;

    for (int64_t i = 0; !err && i < n; i += each)
        err = chunk_note(e->w, bytes_of(ds, at + i * step), bytes_of(ds, (each - 1) * step + 1));
    if (!err && ds->ft->type->variable)
        *e->waste += (size_t)conv_weight(&e->m.c, p, step * es, n);
    return err ? err : conv_write(&e->m.c, e->m.t->mem, mem, p, step * es, n);
}

/* Gives the chunk a new heap: each element has contents of its own, and nothing that is not
 * referred to stays.  `stored`: it comes from the file, which says nothing of elements outside the
 * shape; where nothing was stored they are fill, for the dataset to grow. */
static int edit_renew_heap(struct chunk_edit *e, const struct chunk_part *p, bool stored)
{
    drep_dataset *ds = e->m.t->ds;
    size_t fixed = (size_t)ds->chunks.payload;
    struct buf heap = {0};
    int err = chunk_note(e->w, 0, e->b->len);

    if (!err && stored)
        err = payload_sweep(ds, p->coord, e->b);
    if (!err)
        err = heap_renew(ds, e->b, fixed, &heap);
    if (!err)
        err = heap_append(e->b, fixed, &heap);
    *e->waste = 0;
    buf_release(&heap);
    return err;
}

/* Changes the runs of a part. New contents are appended to the heap; when more than half of it is
 * waste, it is renewed. */
static int edit_runs(struct chunk_edit *e, const struct chunk_part *p)
{
    drep_dataset *ds = e->m.t->ds;
    size_t full = (size_t)ds->chunks.payload;
    struct buf heap = {0};
    bool shared;
    int err = payload_complete(ds, e->b, &shared);

    if (!err && shared)
        err = edit_renew_heap(e, p, false);
    e->m.c.heap_out = &heap;
    e->m.c.heap_base = !err ? e->b->len - full : 0;
    if (!err)
        err = part_runs(&e->m, p, edit_run, NULL, e);
    if (!err && heap.len > 0)
        err = heap_append(e->b, e->b->len, &heap);
    if (!err && *e->waste > WASTE_MIN && *e->waste > (e->b->len - full) / 2)
        err = edit_renew_heap(e, p, true);
    buf_release(&heap);
    return err;
}

/* Changes one chunk in the cache, where it waits for more changes until the operation or the cache
 * settles it. */
static int edit_part(struct transfer *t, const struct chunk_part *p)
{
    struct chunks *cs = &t->ds->chunks;
    struct chunk_edit e = {.w = work_take(cs->st)};
    int err;

    if (!e.w)
        return DREP_ERR_NOMEM;
    if ((err = part_begin(&e.m, t, p->n))) {
        work_give(cs->st, e.w);
        return err;
    }
    err = chunk_edit(e.w, cs, p->coord, 0, &e.b, &e.waste);
    if (!err)
        err = edit_runs(&e, p);
    if (!err)
        chunk_edited(e.w);
    chunk_leave(e.w);
    err = part_end(&e.m, err);
    work_give(cs->st, e.w);
    return part_done(t, p, err);
}

/* Reads, changes and writes one chunk: for files whose cache is smaller than that. */
static int rewrite_part(struct transfer *t, const struct chunk_part *p)
{
    drep_dataset *ds = t->ds;
    struct buf b = {0}, heap = {0};
    struct part_mover m;
    struct in_memory s = {NULL, &m.c, NULL};
    size_t fixed = 0;
    int err = part_begin(&m, t, p->n);

    if (err)
        return err;
    err = chunk_load(ds, p->coord, &b, &fixed);
    if (!err && ds->ft->type->variable)
        err = heap_renew(ds, &b, fixed, &heap);
    m.c.heap_out = &heap;
    s.t = m.t;
    s.payload = b.p;
    if (!err)
        err = part_runs(&m, p, memory_run, NULL, &s);
    if (!err)
        err = heap_append(&b, fixed, &heap);
    if (!err)
        err = chunk_write(&ds->chunks, p->coord, 1, b.p, b.len);
    err = part_end(&m, err);
    buf_release(&b);
    buf_release(&heap);
    return part_done(t, p, err);
}

/* ---- all parts ---- */

/* Numbers of the parts that are changed at once. */
struct edit_batch {
    struct transfer *t;
    int64_t *part;
};

static int edit_one(void *ctx, int64_t i)
{
    const struct edit_batch *s = ctx;
    struct chunk_part p;

    part_of(s->t, s->part[i], &p);
    return edit_part(s->t, &p);
}

/* Makes room, before anything is changed, for what this batch will keep in memory. *can: chunks may
 * wait in the cache. *threads: how many shall change them. */
static int look_ahead(struct transfer *t, int *can, int *threads)
{
    drep_dataset *ds = t->ds;
    uint64_t more = 0, undo = 0, payload = ds->chunks.payload;
    int64_t seen = 0;
    struct chunk_part p;

    if (t->nparts > LOOK_MAX)
        more = UINT64_MAX;
    for (int64_t i = 0; more != UINT64_MAX && i < t->nparts; i++) {
        bool changed;

        part_of(t, i, &p);
        seen += p.n;
        changed = p.n > 0 && chunk_is_changed(&ds->chunks, p.coord);
        if (changed)
            undo += part_writes_whole(t, &p) ? payload : 3 * bytes_of(ds, p.n);
        else if (changes_chunk(t, &p) && more <= UINT64_MAX / 2 - payload)
            more += payload;
    }
    if (seen < t->sel->count) /* there are batches to come */
        more = UINT64_MAX;
    /* Chunks that must be decoded are worth it. */
    *threads = more > 0 && payload >= FMT_SUM_BLOCK ? t->threads
                                                    : threads_for(t, bytes_of(ds, t->sel->count));
    return writeback_room(&ds->chunks, undo > UNDO_MAX ? UINT64_MAX : more, !t->begun, can);
}

/* Changes parts of chunks, as many at a time as there is room for. */
static int edit_parts(struct transfer *t, int can, int threads)
{
    drep_dataset *ds = t->ds;
    uint64_t payload = ds->chunks.payload;
    int64_t most = (int64_t)(EDIT_BYTES / payload), n = 0, part[EDITS];
    struct edit_batch batch = {t, part};
    struct chunk_part p;
    int err = 0, ignored;

    most = most < threads ? threads : most;
    most = most > EDITS ? EDITS : most;
    for (int64_t i = 0; !err && i <= t->nparts; i++) {
        if (i < t->nparts)
            part_of(t, i, &p);
        if (i < t->nparts && changes_chunk(t, &p) && !can)
            err = rewrite_part(t, &p);
        else if (i < t->nparts && changes_chunk(t, &p))
            part[n++] = i;
        if (!err && n > 0 && (n == most || i == t->nparts)) {
            err = writeback_room(&ds->chunks, (uint64_t)n * payload, 0, &ignored);
            if (!err)
                err = pool_run(threads, n, edit_one, &batch);
            n = 0;
        }
    }
    return err;
}

/* Writes one batch of parts: whole chunks first, which need no room in the cache, then the others.
 */
static int write_encoded_batch(struct transfer *t)
{
    struct encoding e = {.t = t};
    int can = 0, threads = 1, err = look_ahead(t, &can, &threads);

    t->begun = true;
    if (err)
        return err;
    pool_turns_init(&e.turns);
    err = pool_run(t->threads, t->nparts, encode_part, &e);
    pool_turns_release(&e.turns);
    return err ? err : edit_parts(t, can, threads);
}

/* Writes the selection batch by batch. The records are complete then: handles change only when
 * nothing can fail any more. */
int decoded_write(struct transfer *t)
{
    int err = parts_each(t, write_encoded_batch);

    return err ? err : packed_flush(t->ds->chunks.st, t->ds->id);
}
