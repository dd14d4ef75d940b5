/* stored.c - walks over the elements of a dataset that are stored. */
/* SPDX-License-Identifier: MIT */
#include "whole/stored.h"

#include "base/advance.h"
#include "base/mem.h"
#include "chunk/each.h"
#include "chunk/record.h"
#include "chunk/read.h"
#include "chunk/target.h"
#include "elem/transfer.h"
#include "tree/walk.h"

#include <datarep.h>
#include <string.h>

#define ROOM (1 << 20) /* bytes of one read */

struct stored_walk {
    drep_dataset *ds;
    stored_box_fn *fn;
    void *ctx;
    stored_damage_fn *damaged; /* NULL: an error ends the walk */
    void *damaged_ctx;
    bool held;                      /* the caller holds the file; otherwise fn takes it itself */
    uint64_t room;                  /* elements of one part */
    uint64_t origin[DREP_MAX_RANK]; /* of the box that is walked over */
    uint64_t box[DREP_MAX_RANK];    /* its lengths */
    uint64_t inner[DREP_MAX_RANK];  /* its elements behind each dimension */
};

/* Cuts a box at the shape and hands it on. */
static int read_part(struct stored_walk *d, const uint64_t *start, const uint64_t *count)
{
    uint64_t n[DREP_MAX_RANK] = {0};

    for (int k = 0; k < d->ds->rec.rank; k++) {
        uint64_t len = d->ds->rec.len[k];

        if (start[k] >= len)
            return 0;
        n[k] = count[k] < len - start[k] ? count[k] : len - start[k];
    }
    return d->fn(start, n, d->ctx);
}

/* Cuts elements [a, b) of the box in row-major order into the largest boxes inside that begin at a
 * and fit. */
static int read_range(struct stored_walk *d, uint64_t a, uint64_t b)
{
    int rank = d->ds->rec.rank, err = 0;

    for (int k = rank; k-- > 0;)
        d->inner[k] = k == rank - 1 ? 1 : d->inner[k + 1] * d->box[k + 1];
    while (!err && a < b) {
        uint64_t start[DREP_MAX_RANK] = {0}, count[DREP_MAX_RANK] = {0}, rest = a, n = 1;
        int cut = 0;

        while (cut < rank &&
               (a % d->inner[cut] || d->inner[cut] > b - a || d->inner[cut] > d->room))
            cut++;
        for (int k = 0; k < rank; k++) {
            uint64_t at = rest / d->inner[k];

            rest %= d->inner[k];
            if (k == cut) {
                uint64_t left = (b - a) / d->inner[k], fit = d->room / d->inner[k];

                n = d->box[k] - at < left ? d->box[k] - at : left;
                n = n < fit ? n : fit;
            }
            start[k] = d->origin[k] + at;
            count[k] = k < cut ? 1 : k == cut ? n : d->box[k];
        }
        err = read_part(d, start, count);
        a += rank == 0 ? 1 : n * d->inner[cut];
    }
    return err;
}

/* Goes through the elements of the chunk at `coord` that `size` bytes hold, or of the slabs from
 * there on. */
static int read_chunk(struct stored_walk *d, const uint64_t *coord, uint64_t size)
{
    const struct object_rec *r = &d->ds->rec;
    uint64_t n = size / (uint64_t)d->ds->esize, all = 1;

    if (r->layout == FMT_CONTIGUOUS) {
        uint64_t count = (uint64_t)dataset_count(d->ds);

        if (count == 0 || coord[0] > (count - 1) / r->slab)
            return 0;
        count -= coord[0] * r->slab;
        memset(d->origin, 0, sizeof d->origin);
        memcpy(d->box, r->len, sizeof d->box);
        return read_range(d, coord[0] * r->slab, coord[0] * r->slab + (n < count ? n : count));
    }
    for (int k = 0; k < r->rank; k++) {
        if (r->len[k] == 0 || coord[k] > (r->len[k] - 1) / r->chunk[k])
            return 0;
        d->origin[k] = coord[k] * r->chunk[k];
        d->box[k] = r->chunk[k];
        all *= r->chunk[k];
    }
    /* All fixed parts are there, or reading says that they are not. */
    return read_range(d, 0, n < all && !d->ds->ft->type->variable ? n : all);
}

/* Like read_chunk(), for a filtered chunk, whose size only decoding tells. */
static int read_filtered(struct stored_walk *d, const uint64_t *coord)
{
    uint64_t size;
    int err = d->held ? 0 : read_begin(d->ds->file);

    if (!err)
        err = chunk_size(&d->ds->chunks, coord, &size);
    if (!d->held)
        err = read_done(d->ds->file, err);
    return err ? err : read_chunk(d, coord, size);
}

/* Goes through the chunks of one record. *budget bounds what is read: many records of a hostile
 * file may name the same bytes. */
static int read_run(struct stored_walk *d, uint64_t *coord, const struct chunk_rec *rec,
                    uint64_t *budget)
{
    uint64_t bytes = rec->size * rec->run;
    int last = d->ds->chunks.rank - 1, err = 0;
    uint64_t step = 1, n;

    if (rec->file && !d->ds->file->st->targets->allowed)
        return 0;
    if (!rec->file && bytes > *budget)
        return fail(DREP_ERR_FORMAT, "more payload than the file has bytes (R6.2)");
    *budget -= rec->file ? 0 : bytes;
    if (d->ds->rec.layout == FMT_CONTIGUOUS && rec->size == d->ds->chunks.payload)
        step = rec->size < ROOM ? ROOM / rec->size : 1; /* slabs that go together */
    for (uint64_t i = 0; !err && rec->size > 0 && i < rec->run; i += n) {
        n = step < rec->run - i ? step : rec->run - i;
        err = rec->filtered ? read_filtered(d, coord) : read_chunk(d, coord, n * rec->size);
        if (err && d->damaged)
            err = d->damaged(err, d->damaged_ctx);
        if (last >= 0)
            coord[last] += n;
    }
    return err;
}

/* Holds the file only from one record to the next, so that writers need not wait for the whole
 * walk. */
static int next_run(struct tree_walk *w, drep_file *f, struct key *key, struct buf *value)
{
    int err = read_begin(f);

    if (!err) {
        err = tree_next(w, key, value);
        read_done(f, 0);
    }
    return err;
}

struct budgeted {
    struct stored_walk *d;
    uint64_t *budget;
};

static int budgeted_run(const uint64_t *coord, const struct chunk_rec *rec, void *ctx)
{
    const struct budgeted *b = ctx;
    uint64_t at[DREP_MAX_RANK] = {0};

    memcpy(at, coord, (size_t)b->d->ds->chunks.rank * sizeof *at);
    return read_run(b->d, at, rec, b->budget);
}

static int read_runs(struct stored_walk *d, uint64_t *budget)
{
    const struct chunks *cs = &d->ds->chunks;
    struct budgeted b = {d, budget};
    struct buf value = {0};
    struct tree_walk w;
    struct key key;
    int err;

    key_make(&key, d->ds->id, FMT_TAG_CHUNK);
    tree_walk(&w, d->ds->file->st, &key, key.len);
    while (!(err = next_run(&w, d->ds->file, &key, &value))) {
        uint64_t coord[DREP_MAX_RANK] = {0};
        struct chunk_rec rec;

        if (chunk_entry(cs, &key, &value, coord, &rec) != 0)
            continue; /* has been found */
        if ((err = rows_each(cs, coord, &rec, budgeted_run, &b)))
            break;
    }
    buf_release(&value);
    return err == DREP_ERR_NOT_FOUND ? 0 : err;
}

/* Comes from chunk_each(), which also knows runs that are not in the tree yet. */
static int held_run(const uint64_t *coord, const struct chunk_rec *rec, void *ctx)
{
    uint64_t budget = UINT64_MAX;
    struct budgeted b = {ctx, &budget};

    return budgeted_run(coord, rec, &b);
}

static int stored_parts(struct stored_walk *d, uint64_t *budget)
{
    drep_dataset *ds = d->ds;
    int err = 0;

    if (dataset_count(ds) == 0 || ds->esize == 0)
        return 0;
    if (ds->rec.layout == FMT_COMPACT) {
        memcpy(d->box, ds->rec.len, sizeof d->box);
        err = read_range(d, 0, (uint64_t)dataset_count(ds));
    } else if (ds->rec.layout != FMT_LAYOUT_NULL) {
        err = d->held ? chunk_each(&ds->chunks, held_run, d) : read_runs(d, budget);
    }
    return err;
}

int stored_boxes(drep_dataset *ds, stored_box_fn *fn, void *ctx)
{
    uint64_t es = (uint64_t)(ds->esize > 0 ? ds->esize : 1), budget = UINT64_MAX;
    struct stored_walk d = {.ds = ds, .fn = fn, .ctx = ctx, .held = true};

    d.room = es > ROOM ? 1 : ROOM / es;
    return stored_parts(&d, &budget);
}

/* ---- for the check ---- */

struct stored_reading {
    struct stored_walk walk;
    struct advance *advance;
    void *buf; /* made by the first read: an element may be larger than what is stored */
};

/* Reads a box as the dataset's own type and throws it away: what cannot be converted is a finding.
 */
static int read_box(const uint64_t *start, const uint64_t *count, void *ctx)
{
    struct stored_reading *r = ctx;
    drep_dataset *ds = r->walk.ds;
    const drep_type *type = ds->ft->type;
    int64_t from[DREP_MAX_RANK] = {0}, n[DREP_MAX_RANK] = {0};
    drep_xfer xfer = {.range = DREP_RANGE_CLAMP};
    drep_selection *sel;
    int64_t elements;
    int err;

    for (int k = 0; k < ds->rec.rank; k++) {
        from[k] = (int64_t)start[k];
        n[k] = (int64_t)count[k];
    }
    if (!r->buf && !(r->buf = mem_array(r->walk.room * (uint64_t)type->prog.extent + 1, 1)))
        return fail_nomem();
    if ((err = drep_select_box(ds->rec.rank, from, n, NULL, NULL, &sel)))
        return err;
    elements = drep_selection_count(sel);
    memset(r->buf, 0, (size_t)(elements * type->prog.extent));
    if (!(err = read_begin(ds->file)))
        err = read_done(ds->file, dataset_read(ds, sel, type, r->buf, &xfer));
    drep_vlen_free(type, elements, r->buf);
    drep_selection_free(sel);
    return err ? err : advance_add(r->advance, elements * ds->esize);
}

int stored_read_all(drep_dataset *ds, uint64_t *budget, struct advance *advance,
                    stored_damage_fn *damaged, void *ctx)
{
    uint64_t extent = (uint64_t)ds->ft->type->prog.extent;
    struct stored_reading r = {
        .walk = {.ds = ds, .fn = read_box, .damaged = damaged, .damaged_ctx = ctx},
        .advance = advance};
    int err;

    r.walk.ctx = &r;
    r.walk.room = extent == 0 || extent > ROOM ? 1 : ROOM / extent;
    err = stored_parts(&r.walk, budget);
    mem_free(r.buf);
    return err;
}
