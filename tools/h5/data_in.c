/* data_in.c - the elements of an HDF5 dataset go into a container's.
 *
 * Memory holds one block, however large the dataset is: some chunks, or 4 MiB; of strings
 * and sequences as much as may be read at once, else fewer elements. */
/* SPDX-License-Identifier: MIT */
#include "tools/h5/data_in.h"
#include "tools/h5/arena.h"
#include "tools/h5/chunk.h"
#include "tools/h5/hyperslab.h"
#include "tools/h5/interface.h"
#include "tools/h5/job.h"
#include "tools/h5/map.h"
#include "tools/h5/measure.h"
#include "tools/h5/note.h"
#include "tools/h5/null.h"
#include "tools/h5/object.h"
#include "tools/h5/pin.h"
#include "tools/h5/pin_mapped.h"
#include "tools/h5/raw_chunk.h"
#include "tools/h5/reference.h"
#include "tools/h5/registered.h"
#include "tools/h5/source.h"
#include "tools/h5/threads.h"
#include "tools/h5/type_out.h"
#include "tools/h5/unread.h"
#include "tools/h5/values.h"
#include "tools/h5/virtual.h"
#include "tools/walk/box.h"
#include <datarep.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Some of a block may be there: other sources, other raw files.  A large dataset of which
 * nothing is must not take a call for each element. */
#define HALVED_MAX 2000

/* State of the loop over a dataset's blocks. */
struct filler {
    struct job *j;
    const struct h5_object *o;
    const struct h5_source *s;
    drep_dataset *ds;
    int64_t dims[DREP_MAX_RANK];
    int64_t step[DREP_MAX_RANK]; /* of a block */
    void *h, *d;                 /* one block in either memory */
    hid_t dxpl;
    struct arena arena;
    struct unread unread; /* elements that HDF5 could not give */
    char where[240];      /* the first chunk of them; "" if that is not known */
    int halved;           /* blocks without chunks that it could not give, tried again in parts */
    void *beyond;         /* HDF5's fill value, which a block holds before it is read; NULL: none */
    void *none;           /* a fill value: blocks of nothing else are not stored; NULL: all are */
    struct nulls nulls;
    struct origins origins;
    struct direct direct; /* the source of the mapping under way, */
    int directly;         /* which is read itself */
    drep_report lost;

    int as_stored; /* chunks go over as they are: */
    struct raw_chunks raw;
    struct bare_edge bare;
    int64_t untried;          /* those that were not decoded first, */
    int64_t undecoded;        /* and those that nobody here could decode */
    int missing;              /* HDF5 lacks filters: it cannot read what we cannot decode */
    int pinned;               /* chunks stay where they are (pin.c) */
    int unseen;               /* likewise, and are not even read */
    int64_t copied;           /* chunks that could not */
    struct mapped_pin mapped; /* of a virtual dataset */

    /* Chunks that we decode ourselves. */
    struct decoding *decoding; /* NULL: HDF5 does */
    struct stored *stored;
    size_t nstored, stored_room;
    uint8_t *chunk; /* one decoded chunk a thread */
    size_t chunk_size;
    const struct box *block;
};

static void add_report(drep_report *sum, const drep_report *r)
{
    sum->overflow += r->overflow;
    sum->inexact += r->inexact;
    sum->nan_lost += r->nan_lost;
}

/* ------------------------------------------------------------- through HDF5 */

/* True if the elements equal the fill value, so that nothing need be stored. */
static int is_none(const struct filler *f, const struct box *b, const void *d)
{
    size_t size = f->s->map.dsize, all = (size_t)box_elements(b) * size;
    const uint8_t *bytes = d;

    return f->none && memcmp(bytes, f->none, size) == 0 &&
           memcmp(bytes, bytes + size, all - size) == 0;
}

/* Writes the elements of a box, which lie at d one behind the other. */
static int write_box(struct filler *f, const struct box *b, const void *d)
{
    struct job *j = f->j;
    drep_report report = DREP_REPORT;
    drep_xfer xfer = DREP_XFER(.range = j->o->range, .threads = j->o->threads, .report = &report);
    drep_selection *sel = NULL;
    int err = 0, none = is_none(f, b, d);

    if (b->rank > 0 && !none)
        err = drep_select_box(b->rank, b->start, b->count, NULL, NULL, &sel);
    if (!err && !none)
        err = drep_write(f->ds, sel, f->s->map.held, d, &xfer);
    if (err)
        job_fail_drep(j, err);
    add_report(&f->lost, &report);
    f->copied += f->mapped.ds && !none;
    drep_selection_free(sel);
    j->totals.bytes += (uint64_t)box_elements(b) * f->s->map.dsize;
    job_progress(j, (uint64_t)box_elements(b) * f->s->map.hsize);
    return err;
}

static int write_block_in(struct filler *f, const struct box *b)
{
    struct value_move mv = {.j = f->j, .ref = ref_in, .path = f->o->path};
    size_t n = (size_t)box_elements(b);
    int err = 0;

    if (f->d != f->h)
        err = move_in(&mv, &f->s->map, n, f->h, f->d);
    nulls_note(&f->nulls, &f->s->map, b, f->dims, n, f->h);
    if (!err)
        err = write_box(f, b, f->d);
    move_release(&mv);
    return err;
}

/* Reads a block from where its elements are; gives what H5Dread() gives. */
static herr_t read_elements(struct filler *f, const struct box *b, hid_t mem)
{
    const struct h5_source *s = f->s;
    struct box there;
    hid_t from;
    herr_t status;

    if (!f->directly)
        return (f->beyond && H5Dfill(f->beyond, s->map.mem, f->h, s->map.mem, mem) < 0) ||
                       box_select_hdf5(b, s->space) < 0
                   ? -1
                   : H5Dread(s->dset, s->map.mem, mem, s->space, f->dxpl, f->h);
    direct_box(&f->direct, b, &there);
    from = box_space(&there);
    status = box_select_hdf5(&there, f->direct.space) < 0
                 ? -1
                 : H5Dread(f->direct.dset, s->map.mem, from, f->direct.space, f->dxpl, f->h);
    H5Sclose(from);
    return status;
}

/* Notes the chunk that a box is of, and where it is stored. */
static void note_where(struct filler *f, const struct box *b)
{
    const struct h5_source *s = f->s;
    hsize_t at[H5S_MAX_RANK], size;
    haddr_t address;
    unsigned mask;
    size_t len = 0;
    int d;

    if (s->layout != H5D_CHUNKED || b->rank <= 0)
        return;
    for (d = 0; d < b->rank; d++) {
        hsize_t start = (hsize_t)b->start[d], end = start + (hsize_t)b->count[d];

        at[d] = start - start % s->chunk[d];
        if (end - at[d] > s->chunk[d])
            return;
    }
    if (H5Dget_chunk_info_by_coord(s->dset, at, &mask, &address, &size) < 0 ||
        address == HADDR_UNDEF)
        return;
    for (d = 0; d < b->rank && len < sizeof f->where; d++)
        len += (size_t)snprintf(f->where + len, sizeof f->where - len, "%s%llu",
                                d ? "," : " (first in the chunk at (", (unsigned long long)at[d]);
    if (len < sizeof f->where)
        len += (size_t)snprintf(f->where + len, sizeof f->where - len, "), byte %llu)",
                                (unsigned long long)address);
    if (len >= sizeof f->where)
        *f->where = 0;
}

/* 1 if HDF5 gave the block, 0 if it could not. */
static int read_block(struct filler *f, const struct box *b)
{
    const struct h5_source *s = f->s;
    hid_t mem;
    int ok;

    if (s->measure && !measure_box(s->measure, b, f->unread.elements == 0)) {
        if (!f->unread.elements)
            note_where(f, b);
        return 0;
    }
    mem = box_space(b);
    arena_begin(&f->arena, (size_t)box_elements(b));
    ok = read_elements(f, b, mem) >= 0;
    /* Before HDF5 forgets. */
    if (!ok && !f->unread.elements) {
        job_fail_hdf5(f->j, "data");
        if (!registered_missing(s->dcpl, f->j->why, sizeof f->j->why))
            note_where(f, b);
    }
    H5Sclose(mem);
    return ok;
}

static int fill_block(struct filler *f, const struct box *block, int several);

static int fill_halves(struct filler *f, const struct box *block)
{
    struct box b;
    int err = 0;

    box_halves(&b, block);
    while (!err && box_next(&b))
        err = fill_block(f, &b, 0);
    return err;
}

/* Each chunk of a block alone: one of them may be damaged. */
static int fill_chunks(struct filler *f, const struct box *block)
{
    int64_t chunk[DREP_MAX_RANK];
    struct box b;
    int d, err = 0;

    for (d = 0; d < block->rank; d++)
        chunk[d] = (int64_t)f->s->chunk[d];
    box_init(&b, block->rank, block->count, chunk);
    memcpy(b.base, block->start, sizeof b.base);
    while (!err && box_next(&b))
        err = fill_block(f, &b, 0);
    return err;
}

/* Moves a block through HDF5. */
static int fill_block(struct filler *f, const struct box *block, int several)
{
    int err = job_stopped(f->j);

    if (err)
        return err;
    if (read_block(f, block)) {
        err = write_block_in(f, block);
        arena_release(&f->arena);
        return err;
    }
    arena_release(&f->arena);
    if (f->arena.refused && box_elements(block) > 1)
        return fill_halves(f, block);
    if (several && f->s->layout == H5D_CHUNKED)
        return fill_chunks(f, block);
    if (f->s->layout != H5D_CHUNKED && box_elements(block) > 1 && f->halved++ < HALVED_MAX)
        return fill_halves(f, block);
    job_progress(f->j, (uint64_t)box_elements(block) * f->s->map.hsize);
    return unread_add(f->j, &f->unread, block);
}

/* ------------------------------------------------------ chunks as they are stored */

static int stored_add(struct filler *f, const struct box *b)
{
    struct stored *c;
    struct stored *all = f->stored;

    if (f->nstored == f->stored_room) {
        size_t room = f->stored_room ? 2 * f->stored_room : 16;

        all = realloc(f->stored, room * sizeof *all);
        if (!all)
            return job_no_memory(f->j);
        memset(all + f->stored_room, 0, (room - f->stored_room) * sizeof *all);
        f->stored = all;
        f->stored_room = room;
    }
    c = &all[f->nstored++];
    c->bare = &f->bare;
    c->box = *b;
    c->there = c->good = 0;
    return 0;
}

/* Rows of a decoded chunk go to their place in the block. */
static void place_rows(const struct filler *f, const struct stored *c, const uint8_t *chunk)
{
    const struct box *b = f->block;
    size_t es = f->s->map.dsize, row = (size_t)c->box.count[b->rank - 1] * es;
    int64_t step[DREP_MAX_RANK];
    struct box rows;
    int d;

    for (d = 0; d < b->rank; d++)
        step[d] = d == b->rank - 1 ? c->box.count[d] : 1;
    box_init(&rows, b->rank, c->box.count, step);
    while (box_next(&rows)) {
        size_t from = 0, to = 0;

        for (d = 0; d < b->rank; d++) {
            from = from * (size_t)f->s->chunk[d] + (size_t)rows.start[d];
            to = to * (size_t)b->count[d] + (size_t)(c->box.start[d] - b->start[d] + rows.start[d]);
        }
        memcpy((uint8_t *)f->d + to * es, chunk + from * es, row);
    }
}

static void decode_one(void *ctx, int thread, size_t i)
{
    struct filler *f = ctx;
    struct stored *c = &f->stored[i];
    uint8_t *chunk = f->chunk + (size_t)thread * f->chunk_size;

    if (!c->good)
        return;
    c->good = decode_chunk(f->decoding, thread, c->bytes, c->size, c->skipped, chunk);
    if (c->good == DECODE_WHOLE)
        place_rows(f, c, chunk);
}

/* A chunk that HDF5 must not read. */
static int leave_out(struct filler *f, const struct box *b)
{
    if (!f->unread.elements) {
        job_fail(f->j, DREP_ERR_UNSUPPORTED, "a chunk holds less than chunks do");
        note_where(f, b);
    }
    job_progress(f->j, (uint64_t)box_elements(b) * f->s->map.hsize);
    return unread_add(f->j, &f->unread, b);
}

/* The chunks of a block that could be decoded, one by one; HDF5 tries the others. */
static int write_each(struct filler *f)
{
    const struct box *block = f->block;
    struct box one;
    size_t i;
    int err = 0;

    for (i = 0; !err && i < f->nstored; i++) {
        struct stored *c = &f->stored[i];

        if (!c->there) {
            job_progress(f->j, (uint64_t)box_elements(&c->box) * f->s->map.hsize);
            continue;
        }
        one = c->box;
        f->block = &one;
        if (c->good == DECODE_SHORT) {
            err = leave_out(f, &one);
        } else if (c->good && decode_chunk(f->decoding, 0, c->bytes, c->size, c->skipped,
                                           f->chunk) == DECODE_WHOLE) {
            place_rows(f, c, f->chunk);
            err = write_box(f, &one, f->d);
        } else {
            err = fill_block(f, &one, 0);
        }
    }
    f->block = block;
    return err;
}

/* Reads the chunks of a block as they are stored, into f->stored. */
static int read_stored(struct filler *f, const struct box *block)
{
    int64_t chunk[DREP_MAX_RANK];
    struct box b;
    int d, err = job_stopped(f->j);

    f->nstored = 0;
    f->block = block;
    for (d = 0; d < block->rank; d++)
        chunk[d] = (int64_t)f->s->chunk[d];
    box_init(&b, block->rank, block->count, chunk);
    memcpy(b.base, block->start, sizeof b.base);
    while (!err && box_next(&b)) {
        err = stored_add(f, &b);
        if (!err)
            err = stored_read(f->j, f->s->dset, f->chunk_size, &f->stored[f->nstored - 1]);
    }
    return err;
}

static int fill_stored_block(struct filler *f, const struct box *block)
{
    size_t i, good = 0;
    int err = read_stored(f, block);

    if (err)
        return err;
    threads_run(f->j->threads, f->nstored, decode_one, f);
    for (i = 0; i < f->nstored; i++)
        good += f->stored[i].good == DECODE_WHOLE;
    return good == f->nstored ? write_box(f, block, f->d) : write_each(f);
}

/* Decodes a chunk for nothing but to know that it can be decoded. */
static void try_one(void *ctx, int thread, size_t i)
{
    struct filler *f = ctx;
    struct stored *c = &f->stored[i];

    if (c->good)
        c->good = decode_chunk(f->decoding, thread, c->bytes, c->size, c->skipped, NULL);
}

/* pin_stored() and pin_block(): the chunk must be copied. */
#define PIN_COPY (-1)

/* Leaves a stored chunk where it is, `size` bytes of it. */
static int pin_stored(struct filler *f, const struct stored *c, size_t size, uint32_t skipped,
                      unsigned flags)
{
    const struct box *b = &c->box;
    hsize_t at[H5S_MAX_RANK], all;
    haddr_t address;
    unsigned mask;
    int d, done = 0, err;

    for (d = 0; d < b->rank; d++)
        at[d] = (hsize_t)b->start[d];
    if (H5Dget_chunk_info_by_coord(f->s->dset, at, &mask, &address, &all) < 0 ||
        address == HADDR_UNDEF)
        return PIN_COPY;
    err = pin_chunk(f->j, &f->j->pinned.own, f->ds, b->start, address, c->bytes, size, skipped,
                    flags, &done);
    if (err)
        return err;
    if (done)
        job_progress(f->j, (uint64_t)box_elements(b) * f->s->map.hsize);
    return done ? 0 : PIN_COPY;
}

/* Leaves a stretch of a contiguous dataset where it is. */
static int pin_block(struct filler *f, const struct box *b)
{
    uint64_t at = 0;
    size_t size = f->s->map.dsize;
    int d, done = 0, err = job_stopped(f->j);

    if (err)
        return err;
    for (d = 0; d < b->rank; d++)
        at = at * f->s->dims[d] + (uint64_t)b->start[d];
    if (!f->unseen && !read_block(f, b))
        return PIN_COPY;
    err = pin_chunk(f->j, &f->j->pinned.own, f->ds, b->start, H5Dget_offset(f->s->dset) + at * size,
                    f->unseen ? NULL : f->h, (size_t)box_elements(b) * size, 0, 0, &done);
    arena_release(&f->arena);
    if (err)
        return err;
    if (done)
        job_progress(f->j, (uint64_t)box_elements(b) * f->s->map.hsize);
    f->copied += !done;
    return done ? 0 : PIN_COPY;
}

/* Leaves a chunk where the index of HDF5 says that it is, without reading it. */
static int pin_unseen(struct filler *f, const struct box *b)
{
    hsize_t at[H5S_MAX_RANK], all = 0;
    haddr_t address = HADDR_UNDEF;
    unsigned mask = 0, flags;
    uint32_t skipped = 0;
    size_t size;
    int d, done = 0, err = job_stopped(f->j);

    for (d = 0; d < b->rank; d++)
        at[d] = (hsize_t)b->start[d];
    if (!err && H5Dget_chunk_info_by_coord(f->s->dset, at, &mask, &address, &all) < 0)
        return job_fail_hdf5(f->j, "chunks");
    if (err || address == HADDR_UNDEF)
        return err;
    size = (size_t)all;
    if (!raw_chunk_in(&f->raw, NULL, &size, mask, &skipped))
        return fill_block(f, b, 0);
    flags = raw_chunk_filtered(&f->raw, skipped) ? DREP_STORED_UNDECODED : 0;
    err = pin_chunk(f->j, &f->j->pinned.own, f->ds, b->start, address, NULL, size, skipped, flags,
                    &done);
    f->untried += done && flags;
    return err || done ? err : fill_block(f, b, 0);
}

/* Makes a chunk the container's, where it is or with its bytes. */
static int put_raw_chunk(struct filler *f, const struct stored *c, size_t size, uint32_t skipped,
                         int tried)
{
    int filtered = raw_chunk_filtered(&f->raw, skipped), err = PIN_COPY;
    unsigned flags = (tried ? c->good != DECODE_WHOLE : filtered) ? DREP_STORED_UNDECODED : 0;

    if (f->pinned) {
        err = pin_stored(f, c, size, skipped, flags);
        f->copied += err == PIN_COPY;
    }
    if (err == PIN_COPY) {
        err = drep_write_stored(f->ds, c->box.start, c->bytes, (int64_t)size, skipped, flags);
        /* It cannot be a chunk of these filters: HDF5 says what is wrong with it. */
        if (err == DREP_ERR_ARG || err == DREP_ERR_LIMIT)
            return fill_block(f, &c->box, 0);
        if (err)
            return job_fail_drep(f->j, err);
        f->j->totals.bytes += (uint64_t)box_elements(&c->box) * f->s->map.dsize;
        job_progress(f->j, (uint64_t)box_elements(&c->box) * f->s->map.hsize);
    }
    f->untried += !err && flags && !tried;
    f->undecoded += !err && flags && tried;
    return err;
}

/* Carries a chunk over under the filters of HDF5, also one that nobody can decode for want of a
 * filter. */
static int carry_chunk(struct filler *f, const struct stored *c)
{
    int tried = f->decoding != NULL, whole = !tried || c->good == DECODE_WHOLE;
    size_t size = c->size;
    uint32_t skipped;

    if (!c->read || (!whole && !f->missing) ||
        !raw_chunk_in(&f->raw, c->bytes, &size, c->skipped, &skipped))
        return fill_block(f, &c->box, 0);
    return put_raw_chunk(f, c, size, skipped, tried);
}

/* Carries one chunk over as it is stored; through HDF5 where that is not possible. */
static int copy_raw_chunk_in(struct filler *f, const struct stored *c)
{
    const struct box *b = &c->box;
    uint32_t skipped = 0;
    size_t size = c->size;
    int err = job_stopped(f->j);

    if (err)
        return err;
    if (!c->there) {
        job_progress(f->j, (uint64_t)box_elements(b) * f->s->map.hsize);
        return 0;
    }
    if (f->raw.pipeline)
        return carry_chunk(f, c);
    if (c->excess || c->good != DECODE_WHOLE ||
        !raw_chunk_in(&f->raw, c->bytes, &size, c->skipped, &skipped))
        return fill_block(f, b, 0);
    return put_raw_chunk(f, c, size, skipped, f->decoding != NULL);
}

/* Threads decode the chunks of a block, and throw the result away; then they go over. */
static int copy_raw_block(struct filler *f, const struct box *block)
{
    size_t i;
    int err = read_stored(f, block);

    if (!err && f->decoding)
        threads_run(f->j->threads, f->nstored, try_one, f);
    for (i = 0; !err && i < f->nstored; i++)
        err = copy_raw_chunk_in(f, &f->stored[i]);
    return err;
}

/* ------------------------------------------------------------------- the loops */

static int pin_or_fill(struct filler *f, const struct box *b)
{
    int err = pin_block(f, b);

    return err == PIN_COPY ? fill_block(f, b, 0) : err;
}

/* All blocks of a region of the dataset. */
static int fill_region(struct filler *f, const struct box *region)
{
    struct box b;
    int d, err = 0;

    box_init(&b, region->rank, region->count, f->step);
    for (d = 0; d < region->rank; d++)
        b.base[d] = region->start[d];
    while (!err && box_next(&b))
        err = f->pinned && f->s->layout == H5D_CONTIGUOUS ? pin_or_fill(f, &b)
              : f->unseen                                 ? pin_unseen(f, &b)
              : f->as_stored                              ? copy_raw_block(f, &b)
              : f->decoding                               ? fill_stored_block(f, &b)
                                                          : fill_block(f, &b, 1);
    return err;
}

/* The stored chunks only.  HDF5 finds the k-th by counting, so a well-filled grid is
 * asked by coordinate instead. */
static int fill_sparse(struct filler *f, hsize_t stored, double cells)
{
    const struct h5_source *s = f->s;
    int64_t dims[DREP_MAX_RANK], chunk[DREP_MAX_RANK];
    hsize_t i, at[H5S_MAX_RANK], size;
    unsigned mask;
    haddr_t address;
    struct box b;
    int d, err = 0, by_index = (double)stored * (double)stored < cells;

    for (d = 0; d < s->rank; d++) {
        dims[d] = (int64_t)s->dims[d];
        chunk[d] = (int64_t)s->chunk[d];
    }
    box_init(&b, s->rank, dims, chunk);
    for (i = 0; !err && (by_index ? i < stored : box_next(&b)); i++) {
        if (by_index) {
            if (H5Dget_chunk_info(s->dset, s->space, i, at, &mask, &address, &size) < 0)
                return job_fail_hdf5(f->j, "chunks");
            for (d = 0; d < s->rank; d++) {
                b.start[d] = (int64_t)at[d];
                b.count[d] = dims[d] - b.start[d] < chunk[d] ? dims[d] - b.start[d] : chunk[d];
                if (b.count[d] <= 0)
                    return job_fail(f->j, DREP_ERR_UNSUPPORTED, "a chunk outside the dataset");
            }
        } else {
            for (d = 0; d < s->rank; d++)
                at[d] = (hsize_t)b.start[d];
            if (H5Dget_chunk_info_by_coord(s->dset, at, &mask, &address, &size) < 0)
                return job_fail_hdf5(f->j, "chunks");
            if (address == HADDR_UNDEF)
                continue;
        }
        err = fill_region(f, &b);
    }
    return err;
}

/* Leaves a cell of the container's grid, which the mapping at hand covers, in its source. */
static int pin_cell(struct filler *f, const struct box *cell)
{
    int done = 0, err = job_stopped(f->j);

    if (err)
        return err;
    if (!pin_mapped_fits(&f->mapped, cell))
        return PIN_COPY;
    if (f->mapped.contiguous && !read_block(f, cell))
        return PIN_COPY;
    err = pin_mapped_cell(&f->mapped, cell, f->h, (size_t)box_elements(cell) * f->s->map.dsize,
                          &done);
    arena_release(&f->arena);
    if (err)
        return err;
    if (done)
        job_progress(f->j, (uint64_t)box_elements(cell) * f->s->map.hsize);
    return done ? 0 : PIN_COPY;
}

/* The elements of a mapping, cell by cell. */
static int pin_mapping(struct filler *f, const struct box *b)
{
    const int64_t *chunk = f->mapped.info->chunk;
    int64_t dims[DREP_MAX_RANK];
    struct box grid, cell, part;
    int d, whole, err = 0;

    memset(&cell, 0, sizeof cell);
    for (d = 0; d < b->rank; d++) {
        cell.base[d] = b->start[d] - b->start[d] % chunk[d];
        dims[d] = b->start[d] + b->count[d] - cell.base[d];
    }
    box_init(&grid, b->rank, dims, chunk);
    memcpy(grid.base, cell.base, sizeof grid.base);
    while (!err && box_next(&grid)) {
        part = grid;
        for (d = 0, whole = 1; d < b->rank; d++) {
            int64_t end = b->start[d] + b->count[d], all = grid.start[d] + chunk[d];

            part.start[d] = grid.start[d] > b->start[d] ? grid.start[d] : b->start[d];
            part.count[d] = (end < all ? end : all) - part.start[d];
            whole &= part.start[d] == grid.start[d] && (end >= all || end == f->dims[d]);
        }
        err = whole ? pin_cell(f, &part) : PIN_COPY;
        if (err == PIN_COPY)
            err = fill_block(f, &part, 0);
    }
    return err;
}

/* True if the source of a simple mapping cannot be opened: origins_trace() has said so, and HDF5
 * would give the fill value for its elements. */
static int is_absent(const struct filler *f)
{
    return f->s->mappings.order >= 0 && !f->directly && f->direct.absent && f->none;
}

/* Elements that no source covers are fill and are not read.  HDF5 looks at all mappings of a
 * virtual dataset in each read, so simple mappings that do not overlap are read at their source. */
static int fill_mapped(struct filler *f)
{
    const struct h5_source *s = f->s;
    struct virtual_opener opener;
    struct box b;
    size_t i;
    int err = 0;

    virtual_opener_init(&opener, f->j, s->dset);
    f->direct = (struct direct){.open = virtual_source, .ctx = &opener};
    for (i = 0; !err && i < s->mappings.n; i++) {
        mappings_box(&s->mappings, i, &b);
        f->directly =
            s->mappings.order >= 0 && direct_find(f->j, s->dcpl, s->space, i, &b, &f->direct);
        if (is_absent(f))
            job_progress(f->j, (uint64_t)box_elements(&b) * s->map.hsize);
        else if (box_elements(&b) > 0)
            err = f->mapped.ds && f->directly ? pin_mapping(f, &b) : fill_region(f, &b);
    }
    f->directly = 0;
    f->untried += f->mapped.untried;
    f->undecoded += f->mapped.undecoded;
    pin_mapped_end(&f->mapped);
    direct_release(&f->direct);
    return err;
}

/* Leaves out the rows of a contiguous dataset that lie behind the end of the file: a damaged
 * one can have any number of them. */
static int cut_rows(struct filler *f, int64_t *dims)
{
    struct box gone = {.rank = f->s->rank};
    const struct h5_source *s = f->s;
    haddr_t begin = H5Dget_offset(s->dset);
    hsize_t end, all = H5Dget_storage_size(s->dset), row;
    int64_t rows;
    int d;

    if (s->layout != H5D_CONTIGUOUS || s->rank == 0 || begin == HADDR_UNDEF ||
        H5Pget_external_count(s->dcpl) > 0 || H5Fget_filesize(f->j->h, &end) < 0)
        return 0;
    row = all / (hsize_t)dims[0];
    if (row == 0 || (begin <= end && all <= end - begin))
        return 0;
    rows = begin < end ? (int64_t)((end - begin) / row) : 0;
    for (d = 0; d < s->rank; d++)
        gone.count[d] = dims[d];
    gone.start[0] = rows;
    gone.count[0] = dims[0] - rows;
    dims[0] = rows;
    job_fail(f->j, DREP_ERR_UNSUPPORTED, "they lie beyond the end of the file");
    return unread_add(f->j, &f->unread, &gone);
}

/* Blocks follow our chunks; where HDF5's are larger, one of those after the other. */
static int fill_dataset(struct filler *f)
{
    const struct h5_source *s = f->s;
    int64_t dims[DREP_MAX_RANK], outer[DREP_MAX_RANK];
    hsize_t stored = 0;
    double cells = 1;
    struct box b;
    int d, err = 0;

    /* HDF5 reads wrong elements from a source that is too small. */
    if (f->mapped.ds || s->mappings.sparse || (s->mappings.order >= 0 && f->origins.n > 0))
        return fill_mapped(f);
    for (d = 0; d < s->rank; d++) {
        int64_t chunk = s->layout == H5D_CHUNKED ? (int64_t)s->chunk[d] : 1;

        dims[d] = (int64_t)s->dims[d];
        outer[d] = f->step[d] > chunk ? f->step[d] : chunk;
        cells *= chunk ? (double)((dims[d] - 1) / chunk + 1) : 1;
    }
    if (s->layout == H5D_CHUNKED && H5Dget_num_chunks(s->dset, s->space, &stored) >= 0 &&
        (double)stored < cells)
        return fill_sparse(f, stored, cells);
    err = cut_rows(f, dims);
    box_init(&b, s->rank, dims, outer);
    while (!err && box_next(&b))
        err = fill_region(f, &b);
    return err;
}

/* ------------------------------------------------------------------ what there is */

/* For HDF5 a dataset whose index of chunks is damaged has no storage: reading it shows that. */
static int has_data(const struct h5_source *s)
{
    int external = H5Pget_external_count(s->dcpl) > 0;
    hsize_t stored;

    if (s->rank < 0 || H5Sget_simple_extent_npoints(s->space) == 0)
        return 0;
    if (s->layout == H5D_CHUNKED && H5Dget_num_chunks(s->dset, s->space, &stored) < 0)
        return 1;
    return external || s->layout == H5D_VIRTUAL || H5Dget_storage_size(s->dset) > 0;
}

/* What such elements hold; nothing where no file is made of them. */
static const char *held(const struct filler *f, const char *value)
{
    return f->j->o->partial ? value : "";
}

/* Elements that are not there, of a virtual dataset or one in raw files. */
static int say_absent(struct filler *f, struct notes *r)
{
    int virtual = f->s->layout == H5D_VIRTUAL;
    size_t i;
    int err = 0;

    for (i = 0; !err && i < f->origins.n; i++) {
        const struct absent *a = &f->origins.absent[i];

        if (a->elements)
            job_say(f->j, HDF5_LOST, "values", f->o->path,
                    "%lld elements could not be read%s: %s%s", (long long)a->elements,
                    held(f, virtual ? " and hold the fill value" : " and hold zeros"),
                    virtual ? "virtual source: " : "", a->why);
        else
            job_say(f->j, HDF5_LOST, "values", f->o->path,
                    "elements of a virtual source are missing; their number is unknown: %s",
                    a->why);
        err = unread_note_some(f->j, a->elements ? a->elements : -1, a->why, r);
    }
    return err;
}

/* Says what was not read, and marks it. */
static int mark_unread(struct filler *f, struct notes *r)
{
    /* A raw file that is not there is the reason, whatever HDF5 says. */
    int raw = f->s->layout != H5D_VIRTUAL && f->origins.n > 0, err = 0;
    char why[sizeof f->j->why];

    f->j->incomplete += f->unread.elements > 0 || f->origins.n > 0;
    if (f->unread.elements) {
        snprintf(why, sizeof why, "%s", raw ? f->origins.absent[0].why : f->j->why);
        job_say(f->j, HDF5_LOST, "values", f->o->path, "%lld elements could not be read%s%s: %s",
                (long long)f->unread.elements, held(f, " and hold the fill value"), f->where, why);
        err = unread_note(f->j, &f->unread, why, r);
    }
    if (!err && (!f->unread.elements || !raw))
        err = say_absent(f, r);
    return err;
}

/* Chunks that may be damaged: they are marked, and "datarep check" counts them. */
static void say_undecoded(struct filler *f)
{
    char why[sizeof f->j->why] = "a source of a virtual dataset has filters that are not here";

    if (f->untried)
        job_say(f->j, HDF5_UNTRIED, "values", f->o->path,
                "%lld chunks are not decoded: whether they can be is not known",
                (long long)f->untried);
    if (!f->undecoded)
        return;
    registered_missing(f->s->dcpl, why, sizeof why);
    job_say(f->j, HDF5_UNREAD, "values", f->o->path,
            "%lld chunks go over as they are, and cannot be decoded: %s", (long long)f->undecoded,
            why);
}

/* Bytes from which on it is said that a virtual import has copied them. */
#define COPIED_SAID ((hsize_t)64 << 10)

/* Why a container cannot refer to the elements where they are. */
static const char *copied_why(const struct filler *f)
{
    const struct h5_source *s = f->s;

    if (s->map.variable)
        return "its elements have variable length";
    if (s->layout == H5D_VIRTUAL)
        return "it is a virtual dataset whose mappings are not boxes of plain datasets side by "
               "side";
    if (H5Pget_external_count(s->dcpl) > 0)
        return "it is in raw files";
    if (!map_is_copy(s->type, &s->map))
        return "its elements are converted";
    return s->layout == H5D_CHUNKED ? "its filters or chunks are not those of a container"
                                    : "the representation stores its elements in another way";
}

static void say_copied(struct filler *f)
{
    const struct h5_source *s = f->s;

    /* HDF5's size has neither contents of variable length nor those of sources. */
    if (!f->j->o->pinned || (!s->map.variable && s->layout != H5D_VIRTUAL &&
                             H5Dget_storage_size(s->dset) < COPIED_SAID))
        return;
    if (!f->pinned)
        job_say(f->j, HDF5_STORED, "values", f->o->path, "copied: %s", copied_why(f));
    else if (f->copied)
        job_say(f->j, HDF5_STORED, "values", f->o->path,
                "%lld chunks are copied: no container can refer to them", (long long)f->copied);
}

/* ------------------------------------------------------------------- one dataset */

static int source_has_chunks(const struct h5_source *s, const drep_dsinfo *info)
{
    int d;

    if (s->layout != H5D_CHUNKED || info->layout != DREP_CHUNKED || s->rank <= 0)
        return 0;
    for (d = 0; d < s->rank; d++)
        if ((int64_t)s->chunk[d] != info->chunk[d])
            return 0;
    return 1;
}

/* Chunks are decoded here if their elements are and chunks stay as they are. */
static int decode_here(struct filler *f, const drep_dsinfo *info)
{
    const struct h5_source *s = f->s;
    size_t size = chunk_memory(s->map.dsize, s->rank, s->chunk);

    if (!source_has_chunks(s, info) || !map_is_copy(s->type, &s->map))
        return 0;
    if (size == 0 || size > (256 << 20))
        return 0;
    f->chunk_size = size;
    bare_edge_read(&f->bare, s->dset, s->dcpl);
    f->as_stored = raw_chunks_match(&f->raw, s->dcpl, info, f->ds, &s->map, f->j->o->pinned);
    f->pinned = f->as_stored && f->j->o->pinned;
    f->missing = f->raw.pipeline && registered_missing(s->dcpl, f->j->why, sizeof f->j->why);
    if (f->as_stored && f->j->o->no_decode)
        return 0;
    if (!f->j->threads)
        f->j->threads = threads_new(f->j->o->threads);
    if (!f->j->threads)
        return job_no_memory(f->j);
    f->decoding = decoding_new(s->dcpl, s->map.dsize, size, threads_size(f->j->threads),
                               f->as_stored && f->raw.pipeline);
    if (!f->decoding || f->as_stored)
        return f->decoding || !f->as_stored ? 0 : job_no_memory(f->j);
    f->chunk = malloc(size * (size_t)threads_size(f->j->threads));
    return f->chunk ? 0 : job_no_memory(f->j);
}

/* Elements of a block, and the shape of it. */
static int block_shape(struct filler *f, const drep_dsinfo *info, int64_t *elements)
{
    const struct h5_source *s = f->s;
    size_t size = s->map.hsize > s->map.dsize ? s->map.hsize : s->map.dsize;
    int64_t n = 1, most = BLOCK_SIZE, all = 1;
    int d;

    if (s->map.variable)
        most = BLOCK_SIZE / 4;
    else if (f->decoding && (int64_t)f->chunk_size * 4 * threads_size(f->j->threads) > most)
        most = (int64_t)f->chunk_size * 2 * threads_size(f->j->threads);
    most = size ? most / (int64_t)size : most;
    for (d = 0; d < s->rank; d++) {
        f->dims[d] = (int64_t)s->dims[d];
        f->step[d] = info->layout == DREP_CHUNKED ? info->chunk[d] : 1;
        if (__builtin_mul_overflow(n, f->step[d], &n))
            return job_no_memory(f->j);
        if (__builtin_mul_overflow(all, f->dims[d], &all))
            all = INT64_MAX;
    }
    if (f->decoding || (!f->as_stored && !f->pinned))
        box_grow(s->rank, f->dims, most, f->step);
    /* Small datasets are many, and memory is overwritten when it is given out. */
    *elements = n > most ? n : most;
    *elements = *elements > all ? all : *elements;
    return size && (uint64_t)*elements > SIZE_MAX / size ? job_no_memory(f->j) : 0;
}

/* A small file can say that a virtual dataset, or one in raw files, is of any size: what is
 * not there takes no space here either. */
static int find_none(struct filler *f, const drep_dsinfo *info)
{
    const struct h5_source *s = f->s;
    int err;

    if (s->map.kind != MAP_FLAT || s->map.dsize == 0 || info->fill == DREP_FILL_NONE ||
        (s->layout != H5D_VIRTUAL && H5Pget_external_count(s->dcpl) <= 0))
        return 0;
    f->none = malloc(s->map.dsize);
    if (!f->none)
        return job_no_memory(f->j);
    err = drep_dataset_fill(f->ds, s->map.held, f->none);
    return err ? job_fail_drep(f->j, err) : 0;
}

/* HDF5 leaves some elements of a virtual dataset that lie beyond their source as memory was. */
static int find_beyond(struct filler *f)
{
    const struct h5_source *s = f->s;

    if (s->layout != H5D_VIRTUAL || s->map.variable || f->origins.n == 0)
        return 0;
    f->beyond = calloc(1, s->map.hsize + 1);
    if (!f->beyond)
        return job_no_memory(f->j);
    if (H5Pget_fill_value(s->dcpl, s->map.mem, f->beyond) < 0) {
        free(f->beyond); /* it has none */
        f->beyond = NULL;
    }
    return 0;
}

static int fill(struct filler *f, const drep_dsinfo *info)
{
    const struct map *m = &f->s->map;
    int64_t n = 1;
    int same = 0, err = decode_here(f, info);

    if (!err && pin_wanted(f->j, f->s) && map_is_copy(f->s->type, m) &&
        drep_stored_as(f->ds, m->held, &same) == 0)
        f->pinned = same;
    f->mapped =
        (struct mapped_pin){.j = f->j, .s = f->s, .ds = f->ds, .info = info, .direct = &f->direct};
    if (pin_mapped_begin(&f->mapped))
        f->pinned = 1;
    /* A user block moves addresses in some versions: these are compared. */
    f->unseen = f->pinned && f->j->o->headers && f->j->pinned.own.base == 0 &&
                f->s->layout != H5D_VIRTUAL && f->bare.rank == 0;
    if (!err)
        err = find_none(f, info);
    if (!err)
        err = find_beyond(f);
    if (!err)
        err = block_shape(f, info, &n);
    if (err)
        return err;
    f->dxpl = arena_transfer(&f->arena);
    f->h = malloc((size_t)n * m->hsize + 1);
    f->d = m->kind == MAP_FLAT ? f->h : calloc((size_t)n + 1, m->dsize);
    err = f->h && f->d ? fill_dataset(f) : job_no_memory(f->j);
    if (f->d != f->h)
        free(f->d);
    free(f->h);
    H5Pclose(f->dxpl);
    return err;
}

static void filler_release(struct filler *f)
{
    size_t i;

    nulls_release(&f->nulls);
    unread_release(&f->unread);
    origins_release(&f->origins);
    for (i = 0; i < f->stored_room; i++)
        free(f->stored[i].bytes);
    free(f->stored);
    free(f->chunk);
    free(f->none);
    free(f->beyond);
    decoding_free(f->decoding);
    raw_chunks_release(&f->raw);
    drep_dataset_close(f->ds);
}

/* True if the bytes in the container are those of HDF5: its datatype is the one that
 * export would make. */
static int source_is_copy(struct job *j, const struct h5_source *s)
{
    hid_t own = type_out_make(j, s->map.type, &s->notes, 0);
    int same = own > 0 && H5Tequal(own, s->type) > 0 && map_is_copy(s->type, &s->map);

    if (own > 0)
        H5Tclose(own);
    return same;
}

/* A dataset whose elements were read in part, or not at all, for j->why. */
static int leave_rest(struct filler *f, int err, struct notes *r)
{
    char why[sizeof f->j->why];

    snprintf(why, sizeof why, "%s", f->j->why);
    err = job_skip(f->j, err, "values", f->o->path, "its elements are not read");
    if (err)
        return err;
    f->j->incomplete++;
    return unread_note_some(f->j, -1, why, r);
}

int import_data(struct job *j, const struct h5_object *o, struct h5_source *s, struct notes *r)
{
    struct filler f = {.j = j, .o = o, .s = s};
    drep_dsinfo info = DREP_DSINFO;
    int err;

    if (j->lean)
        return 0;
    /* Also of one without elements: it may have none for want of its sources. */
    err = s->layout == H5D_VIRTUAL || has_data(s) ? origins_trace(j, s, &f.origins) : 0;
    /* What the file lacks fails the import, whatever else is read. */
    if (!err && has_data(s) && (f.origins.n == 0 || j->o->partial)) {
        err = drep_dataset_open(j->d, o->path, &f.ds);
        if (!err)
            err = drep_dataset_info(f.ds, &info);
        err = err ? job_fail_drep(j, err) : fill(&f, &info);
    }
    err = err ? leave_rest(&f, err, r) : mark_unread(&f, r);
    if (!err && f.ds) {
        job_say_losses(j, o->path, &f.lost);
        say_copied(&f);
        say_undecoded(&f);
        err = nulls_write(j, &f.nulls, NULL, o->path, r);
        j->totals.copied += source_is_copy(j, s);
    }
    filler_release(&f);
    return err;
}
