/* join.c - chunks of elements of variable length, brought together from pieces. */
/* SPDX-License-Identifier: MIT */
#include "par/join.h"

#include "base/mem.h"
#include "conv/heap.h"
#include "elem/fill.h"
#include "elem/payload.h"

#include <string.h>

struct joining {
    drep_dataset *ds;
    const struct piece *piece;
    int64_t room;             /* elements of the chunk */
    uint32_t *origin;         /* of each: 0, or 1 + number of its piece */
    uint32_t now;             /* the piece that is placed */
    const struct buf *stored; /* what the file has, or NULL */
    uint64_t fixed;
    enum ground ground;
    bool last; /* a piece may replace others */
    uint8_t *elements;
};

/* Copy a run to where it belongs; its references still lead into the heap of its piece. */
static int join_run(void *ctx, int64_t at, int64_t step, int64_t n, const uint8_t *from)
{
    const struct joining *j = ctx;
    size_t size = (size_t)j->ds->esize;

    for (; n > 0; n--, at += step, from += size) {
        uint32_t *origin = &j->origin[at];

        if (*origin && *origin != j->now && !j->last)
            return overlap_error(j->ds, j->piece->chunk, at, j->piece[*origin - 1].from,
                                 j->piece[j->now - 1].from);
        *origin = j->now;
        memcpy(j->elements + (size_t)at * size, from, size);
    }
    return 0;
}

/* Give n elements of one origin contents in the new heap. */
static int move_stretch(const struct joining *j, int64_t at, int64_t n, struct buf *heap)
{
    const drep_dataset *ds = j->ds;
    const struct piece *p = &j->piece[j->origin[at] - 1];

    return heap_move(&ds->ft->stored, j->elements + bytes_of(ds, at), n, p->heap, p->heap_size, 0,
                     heap);
}

/* Make n elements that nobody writes the fill value, or the stored ones, with contents of their
 * own. */
static int fill_stretch(const struct joining *j, int64_t at, int64_t n, struct buf *heap)
{
    const drep_dataset *ds = j->ds;
    uint8_t *p = j->elements + bytes_of(ds, at);
    int err;

    if (j->stored) {
        memcpy(p, j->stored->p + bytes_of(ds, at), (size_t)bytes_of(ds, n));
        return heap_move(&ds->ft->stored, p, n, j->stored->p + j->fixed,
                         j->stored->len - (size_t)j->fixed, 0, heap);
    }
    err = fill_bytes(ds, p, 0, bytes_of(ds, n));
    return err ? err
               : heap_move(&ds->ft->stored, p, n, ds->fill_heap.p, ds->fill_heap.len, 0, heap);
}

/* Walk the stretches that are written, or those that are not, upwards in the chunk. */
static int each_stretch(const struct joining *j, bool written, struct buf *heap)
{
    int err = 0;

    for (int64_t at = 0, end; !err && at < j->room; at = end) {
        for (end = at + 1; end < j->room && j->origin[end] == j->origin[at];)
            end++;
        if ((j->origin[at] != 0) == written)
            err =
                written ? move_stretch(j, at, end - at, heap) : fill_stretch(j, at, end - at, heap);
    }
    return err;
}

/* ---- some members of elements ---- */

/* Elements whose members come from several pieces. */
struct weaving {
    drep_dataset *ds;
    const struct piece *piece;
    uint8_t *elements, *copy; /* of one element */
    struct buf heap;          /* of all that was placed, be it replaced or not */
};

static int weave_run(void *ctx, int64_t at, int64_t step, int64_t n, const uint8_t *from)
{
    struct weaving *w = ctx;
    const struct piece *p = w->piece;
    size_t size = (size_t)w->ds->esize;
    int err = 0;

    for (; !err && n > 0; n--, at += step, from += size) {
        memset(w->copy, 0, size);
        byte_ranges_copy(&p->ranges, w->copy, from, size);
        err = heap_move(&w->ds->ft->stored, w->copy, 1, p->heap, p->heap_size, 0, &w->heap);
        byte_ranges_copy(&p->ranges, w->elements + (size_t)at * size, w->copy, size);
    }
    return err;
}

/* What nobody writes comes first. */
static int weave_ground(struct weaving *w, const struct joining *j)
{
    const drep_dataset *ds = j->ds;
    uint64_t size = bytes_of(ds, j->room);
    int err = 0;

    if (j->stored) {
        memcpy(w->elements, j->stored->p, (size_t)size);
        return heap_move(&ds->ft->stored, w->elements, j->room, j->stored->p + j->fixed,
                         j->stored->len - (size_t)j->fixed, 0, &w->heap);
    }
    if (j->ground == GROUND_FILL && ds->fill && ds->fill_err == 0)
        err = fill_bytes(ds, w->elements, 0, size);
    return err ? err
               : heap_move(&ds->ft->stored, w->elements, j->room, ds->fill_heap.p,
                           ds->fill_heap.len, 0, &w->heap);
}

/* Place one piece after the other; then all contents move to a heap in the order of elements. */
static int weave(struct transfer *t, const struct joining *j, size_t n, struct buf *heap)
{
    drep_dataset *ds = t->ds;
    struct taken taken = {.clash = -1, .elements = j->room, .members = !t->conv.raw};
    struct weaving w = {.ds = ds, .elements = j->elements};
    int err = 0;

    w.copy = mem_alloc((uint64_t)ds->esize);
    err = w.copy ? weave_ground(&w, j) : fail_nomem();
    for (size_t i = 0; !err && i < n; i++) {
        w.piece = &j->piece[i];
        if (!j->last)
            err = taken_piece(&taken, ds, j->piece, i, -1);
        if (!err)
            err = piece_runs(ds, w.piece, j->room, weave_run, &w);
    }
    if (!err)
        err = heap_move(&ds->ft->stored, w.elements, j->room, w.heap.p, w.heap.len, 0, heap);
    taken_release(&taken);
    mem_free(w.copy);
    buf_release(&w.heap);
    return err;
}

static bool has_members(const struct piece *piece, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (piece[i].ranges.n > 0)
            return true;
    return false;
}

/* ---- a chunk ---- */

/* Place all pieces, and give each element contents of its own. */
static int join(struct joining *j, size_t n, struct buf *heap)
{
    int err = 0;

    j->origin = mem_zalloc((uint64_t)j->room + 1, sizeof *j->origin);
    if (!j->origin)
        return fail_nomem();
    for (size_t i = 0; !err && i < n; i++) {
        j->now = (uint32_t)i + 1;
        err = piece_runs(j->ds, &j->piece[i], j->room, join_run, j);
    }
    /* The fill comes first in the heap, as in a chunk that one process writes. */
    if (!err && (j->stored || (j->ground == GROUND_FILL && j->ds->fill && j->ds->fill_err == 0)))
        err = each_stretch(j, false, heap);
    if (!err)
        err = each_stretch(j, true, heap);
    mem_free(j->origin);
    return err;
}

int chunk_join(struct transfer *t, const struct piece *piece, size_t n, enum ground ground,
               const struct buf *stored, uint64_t fixed, struct buf *b)
{
    drep_dataset *ds = t->ds;
    struct joining j = {.ds = ds,
                        .piece = piece,
                        .ground = ground,
                        .stored = ground == GROUND_STORED ? stored : NULL,
                        .fixed = fixed,
                        .room = (int64_t)(fixed / (uint64_t)ds->esize),
                        .last = ranks_of(ds->file)->last};
    struct buf heap = {0};
    int err = buf_reserve(b, fixed);

    if (!err) {
        memset(b->p, 0, (size_t)fixed);
        j.elements = b->p;
        err = has_members(piece, n) ? weave(t, &j, n, &heap) : join(&j, n, &heap);
    }
    if (!err)
        err = heap_append(b, (size_t)fixed, &heap);
    buf_release(&heap);
    return err;
}
