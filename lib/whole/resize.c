/* resize.c - changing the shape of a dataset.
 *
 * What a file holds outside the shape means nothing, so a dataset may only grow over
 * places that hold nothing or fill.  Shrinking leaves them so: chunks outside go, and the
 * cut-off part of a chunk that stays is overwritten.  What another writer left is cleared
 * when a handle grows the dataset for the first time. */
/* SPDX-License-Identifier: MIT */
#include "base/error.h"
#include "base/mem.h"
#include "base/vec.h"
#include "chunk/each.h"
#include "chunk/packed.h"
#include "chunk/patch.h"
#include "chunk/read.h"
#include "chunk/write.h"
#include "conv/heap.h"
#include "elem/fill.h"
#include "elem/payload.h"
#include "file/team.h"
#include "name/dimension.h"
#include "tree/journal.h"
#include "txn/writeback.h"
#include "whole/resize.h"

#include <datarep.h>
#include <string.h>

/* Runs of chunks that lie, or reach, outside `keep` elements a dimension. */
struct outside {
    int rank;                     /* of the grid */
    uint64_t unit[DREP_MAX_RANK]; /* elements of a chunk */
    uint64_t keep[DREP_MAX_RANK];
    uint64_t *runs; /* each: coordinates of the first, how many */
    size_t n, room;
};

/* Notes the runs first: removing chunks changes the tree that the walk is in. */
static int note_run(const uint64_t *coord, const struct chunk_rec *rec, void *ctx)
{
    struct outside *o = ctx;
    size_t width = (size_t)o->rank + 1;
    bool inside = true;

    for (int d = 0; d < o->rank; d++) {
        uint64_t last = coord[d] + (d == o->rank - 1 ? rec->run - 1 : 0);

        /* Whole chunks up to this number are kept. */
        inside &= last >= coord[d] && last < o->keep[d] / o->unit[d];
    }
    if (inside)
        return 0;
    if (VEC_ROOM(o->runs, o->n * width, o->room, width) != 0)
        return DREP_ERR_NOMEM;
    memcpy(o->runs + o->n * width, coord, (size_t)o->rank * sizeof *coord);
    o->runs[o->n * width + (size_t)o->rank] = rec->run;
    o->n++;
    return 0;
}

/* ---- one chunk that is cut ---- */

/* Elements of a slab from number `from` on become fill. What is fill already is not written, so
 * that clearing costs no space. */
static int clear_slab(drep_dataset *ds, uint64_t slab, uint64_t from)
{
    uint64_t size = 0, offset = from * (uint64_t)ds->esize, have = 0;
    struct buf b = {0};
    size_t bytes;
    int err = chunk_size(&ds->chunks, &slab, &size);

    if (err || size <= offset)
        return err;
    bytes = (size_t)(size - offset);
    err = buf_reserve(&b, 2 * bytes);
    if (!err)
        err = chunk_read(&ds->chunks, &slab, offset, bytes, b.p, &have);
    if (!err)
        err = fill_bytes(ds, b.p + bytes, offset, bytes);
    if (!err && memcmp(b.p, b.p + bytes, bytes) != 0)
        err = chunk_patch(
            &ds->chunks, &slab,
            &(struct patch){offset, bytes, b.p + bytes, ds->fill, (size_t)ds->esize, NULL});
    buf_release(&b);
    return err;
}

/* Calls fn for each range of the `stored` elements of a chunk outside `inside` elements a
 * dimension. */
typedef int range_fn(void *ctx, uint64_t at, uint64_t n);
static int outside_ranges(const struct outside *o, const uint64_t *inside, uint64_t stored,
                          range_fn *fn, void *ctx)
{
    int last = o->rank - 1, err = 0;
    uint64_t width = o->unit[last];

    for (uint64_t row = 0; !err && row * width < stored; row++) {
        uint64_t left = row, from = inside[last], end = stored - row * width;

        end = end < width ? end : width;

        for (int d = last - 1; d >= 0; d--) {
            if (left % o->unit[d] >= inside[d])
                from = 0;
            left /= o->unit[d];
        }
        if (from < end)
            err = fn(ctx, row * width + from, end - from);
    }
    return err;
}

struct clearing {
    drep_dataset *ds;
    struct buf *b;    /* the payload */
    struct buf *heap; /* its new heap */
    struct buf fill;  /* room for one range */
    bool changed;
};

/* Overwrites a range of the payload in memory. */
static int clear_range(void *ctx, uint64_t at, uint64_t n)
{
    struct clearing *c = ctx;
    size_t es = (size_t)c->ds->esize, bytes = (size_t)n * es;
    uint8_t *p = c->b->p + at * es;
    int err = buf_reserve(&c->fill, bytes);

    if (err)
        return err;
    if (c->ds->ft->type->variable) /* without contents, until the heap is new */
        memset(c->fill.p, 0, bytes);
    else if ((err = fill_bytes(c->ds, c->fill.p, 0, bytes)))
        return err;
    if (memcmp(p, c->fill.p, bytes) != 0) {
        memcpy(p, c->fill.p, bytes);
        c->changed = true;
    }
    return 0;
}

/* Writes fill with variable parts: each element gets contents of its own, since contents are never
 * shared. */
static int fill_range(void *ctx, uint64_t at, uint64_t n)
{
    struct clearing *c = ctx;
    drep_dataset *ds = c->ds;
    size_t es = (size_t)ds->esize;
    uint8_t *p = c->b->p + at * es;
    int err = fill_bytes(ds, p, 0, n * es);

    return err ? err
               : heap_move(&ds->ft->stored, p, (int64_t)n, ds->fill_heap.p, ds->fill_heap.len, 0,
                           c->heap);
}

/* Clears what is stored of a chunk outside, and renews its heap without the contents that went.
 * Elements that are not stored are fill, however many the file says that a chunk has. */
static int clear_chunk(drep_dataset *ds, const struct outside *o, const uint64_t *coord,
                       const uint64_t *inside)
{
    struct buf b = {0}, heap = {0};
    struct clearing c = {.ds = ds, .b = &b, .heap = &heap};
    bool variable = ds->ft->type->variable;
    int err = chunk_read_all(&ds->chunks, coord, &b);
    size_t fixed = b.len < ds->chunks.payload ? b.len : (size_t)ds->chunks.payload;
    uint64_t stored = ds->esize > 0 ? fixed / (uint64_t)ds->esize : 0;

    if (!err)
        err = outside_ranges(o, inside, stored, clear_range, &c);
    if (!err && variable)
        err = heap_renew(ds, &b, fixed, &heap);
    if (!err && variable && stored && (ds->fill || ds->fill_err != 0)) {
        err = outside_ranges(o, inside, stored, fill_range, &c);
        c.changed = true;
    }
    if (!err && c.changed) {
        if (variable)
            err = heap_append(&b, fixed, &heap);
        if (!err)
            err = chunk_write(&ds->chunks, coord, 1, b.p, b.len);
    }
    buf_release(&b);
    buf_release(&heap);
    buf_release(&c.fill);
    return err;
}

/* ---- all of them ---- */

/* Removes a chunk that lies outside; clears the cut-off part of one that stays. */
static int trim_chunk(drep_dataset *ds, const struct outside *o, const uint64_t *coord)
{
    uint64_t inside[DREP_MAX_RANK];
    bool cut = false;

    for (int d = 0; d < o->rank; d++) {
        uint64_t whole = o->keep[d] / o->unit[d], rest = o->keep[d] % o->unit[d];

        if (coord[d] > whole || (coord[d] == whole && rest == 0))
            return chunk_remove(&ds->chunks, coord);
        inside[d] = coord[d] < whole ? o->unit[d] : rest;
        cut |= coord[d] == whole;
    }
    if (!cut)
        return 0;
    if (ds->rec.layout == FMT_CONTIGUOUS)
        return clear_slab(ds, coord[0], inside[0]);
    return clear_chunk(ds, o, coord, inside);
}

/* Afterwards nothing but fill is stored outside of keep[] elements a dimension, so that the dataset
 * may grow again. */
static int trim(drep_dataset *ds, const uint64_t *keep)
{
    struct outside o = {.rank = ds->chunks.rank};
    size_t width = (size_t)o.rank + 1;
    int err;

    for (int d = 0; d < o.rank; d++) {
        o.unit[d] = ds->rec.layout == FMT_CONTIGUOUS ? ds->rec.slab : ds->rec.chunk[d];
        o.keep[d] = keep[d];
    }
    if (ds->rec.layout == FMT_CONTIGUOUS)
        for (int d = 1; d < ds->rec.rank; d++)
            o.keep[0] *= keep[d];
    err = chunk_each(&ds->chunks, note_run, &o);
    for (size_t i = 0; !err && i < o.n; i++) {
        uint64_t *coord = o.runs + i * width;

        for (uint64_t left = coord[o.rank]; !err && left > 0; left--) {
            err = trim_chunk(ds, &o, coord);
            coord[o.rank - 1]++;
        }
    }
    mem_free(o.runs);
    return err ? err : packed_flush(ds->chunks.st, ds->id);
}

/* ---- the shape ---- */

static int dims_check(const drep_dataset *ds, const int64_t *dims)
{
    const struct object_rec *r = &ds->rec;
    bool same = true;

    if (r->rank == FMT_RANK_NULL || r->rank == 0)
        return fail(DREP_ERR_DIMS, "a dataset without dimensions has no length to change");
    for (int d = 0; d < r->rank; d++) {
        if (dims[d] < 0 || (uint64_t)dims[d] > r->max[d])
            return fail(DREP_ERR_DIMS, "dimension %d: length %lld, maximum %lld", d,
                        (long long)dims[d], (long long)r->max[d]);
        same &= (uint64_t)dims[d] == r->len[d];
        if (d > 0 && r->layout == FMT_CONTIGUOUS && (uint64_t)dims[d] != r->len[d])
            return fail(DREP_ERR_DIMS,
                        "only the first dimension of a contiguous dataset can change");
    }
    if (!same && r->layout != FMT_CONTIGUOUS && r->layout != FMT_CHUNKED)
        return fail(DREP_ERR_UNSUPPORTED_OPERATION, "a compact dataset cannot be resized");
    return 0;
}

/* The dimensions that the dataset refers to grow with it. */
static int grow_dimensions(drep_file *f, const struct object_rec *rec)
{
    struct stored_object dim;
    int err = 0;

    if (!rec->has_dims)
        return 0;
    memset(&dim, 0, sizeof dim);
    for (int d = 0; !err && d < rec->rank; d++) {
        if (rec->dim[d] == 0)
            continue;
        err = object_load(f, rec->dim[d], &dim);
        if (!err)
            err = fail_in(dimension_grow(f, &dim, rec->len[d]), "dimension %d", d);
    }
    object_release(&dim);
    return err;
}

int shape_change(drep_dataset *ds, const int64_t *dims, struct stored_object *o)
{
    uint64_t keep[DREP_MAX_RANK];
    bool shrinks = false;
    int err = dataset_alive(ds);

    if (!err)
        err = dims_check(ds, dims);
    if (!err)
        err = object_load(ds->file, ds->id, o);
    for (int d = 0; !err && d < ds->rec.rank; d++) {
        uint64_t len = (uint64_t)dims[d];

        keep[d] = len < ds->rec.len[d] ? len : ds->rec.len[d];
        shrinks |= len < ds->rec.len[d];
        o->rec.len[d] = len;
        o->rec.has_max |= len != o->rec.max[d];
    }
    if (!err)
        err = shape_wanted(&o->rec, ds->ft);
    if (!err && (shrinks || !ds->trimmed) &&
        (ds->rec.layout == FMT_CHUNKED || ds->rec.layout == FMT_CONTIGUOUS)) {
        err = writeback_all(ds->file->st, ds->id);
        if (!err)
            err = trim(ds, keep);
        /* What HDF5 has behind the end is what HDF5 would read, where nobody can look. */
        if (err == DREP_ERR_UNSUPPORTED && !shrinks && ds->rec.nfilters &&
            filter_is_hdf5(&ds->rec.filter[0]))
            err = 0;
    }
    if (!err)
        err = grow_dimensions(ds->file, &o->rec);
    o->rec.changed = store_next_sequence(ds->file->st);
    if (!err)
        err = object_store(ds->file, ds->id, &o->rec);
    return err;
}

void shape_exchange(drep_dataset *ds, struct stored_object *o)
{
    struct stored_object old = {.id = ds->id, .rec = ds->rec, .bytes = ds->rec_bytes};

    ds->rec_bytes = o->bytes;
    ds->rec = o->rec;
    memcpy(ds->chunks.filter, ds->rec.filter, sizeof ds->rec.filter); /* names point into it */
    chunks_reshape(ds->file, &ds->rec, &ds->chunks);
    if (ds->rec.layout == FMT_CONTIGUOUS)
        ds->chunks.reserve = (uint64_t)(dataset_count(ds) * ds->esize);
    *o = old;
}

void append_goes_on(drep_dataset *ds)
{
    drep_dataset **at = &ds->file->tails.stopped;

    if (!ds->stopped)
        return;
    while (*at != ds)
        at = &(*at)->next_stopped;
    *at = ds->next_stopped;
    ds->stopped = false;
    dataset_put(ds);
}

int drep_dataset_resize(drep_dataset *dataset, const int64_t *dims)
{
    struct stored_object o = {0};
    bool reshaped = false;
    int err;

    if (!dims)
        return fail(DREP_ERR_ARG, "drep_dataset_resize: null argument");
    if ((err = dataset_check(dataset, "drep_dataset_resize")))
        return err;
    if ((err = write_begin(dataset->file)))
        return fail_about(err, dataset->path);
    err = shape_change(dataset, dims, &o);
    if (!err) {
        shape_exchange(dataset, &o);
        reshaped = true;
        if (file_shared(dataset->file))
            err = dataset->file->team->ops->resized(dataset, o.rec.len);
    }
    fail_dataset(err, dataset->path);
    err = operation_end(dataset->file, err);
    if (!err) {
        dataset->trimmed = true;
        append_goes_on(dataset);
    } else if (reshaped) {
        shape_exchange(dataset, &o); /* as the file is again */
    }
    object_release(&o);
    return operation_done(dataset->file, err);
}
