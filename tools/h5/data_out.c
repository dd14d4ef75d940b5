/* data_out.c - the elements of a container's dataset go into an HDF5 one, or are compared
 * with what is in it.
 *
 * They are read as HDF5's file has them, so that HDF5 converts nothing, in blocks that
 * bound memory. */
/* SPDX-License-Identifier: MIT */
#include "tools/h5/data_out.h"
#include "tools/h5/arena.h"
#include "tools/h5/assemble.h"
#include "tools/h5/chunk.h"
#include "tools/h5/drain.h"
#include "tools/h5/hyperslab.h"
#include "tools/h5/interface.h"
#include "tools/h5/job.h"
#include "tools/h5/map.h"
#include "tools/h5/null.h"
#include "tools/h5/measure.h"
#include "tools/h5/netcdf.h"
#include "tools/h5/object.h"
#include "tools/h5/raw_chunk.h"
#include "tools/h5/reference.h"
#include "tools/h5/type_note.h"
#include "tools/h5/type_out.h"
#include "tools/h5/values.h"
#include "tools/h5/verify.h"
#include "tools/walk/box.h"
#include "tools/walk/unread.h"
#include <datarep.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

struct emptier {
    struct job *j;
    const struct h5_object *o;
    const struct drain *s;
    hid_t dset, space;
    int sparse;    /* chunks that hold nothing but the fill value are left out */
    int all;       /* all elements are written, also those that hold the fill value */
    int as_stored; /* chunks go over without being decoded: */
    struct raw_chunks raw;
    struct bare_edge bare;
    struct decoding *decoding; /* tells chunks that hold less than HDF5 asks for */
    struct stored stored;      /* one of HDF5's, read back */
    struct nulls nulls;
    struct assembly assembly;    /* of a virtual dataset that is read back */
    void *d, *h;                 /* one block in either memory */
    uint8_t *fill;               /* one element */
    int64_t step[DREP_MAX_RANK]; /* of a block */
    struct arena arena;          /* reading back */
    hid_t dxpl;
    int err; /* of one chunk */
    drep_report lost;
};

/* Bytes equal to the fill value's need not be stored. */
static int is_fill(const struct emptier *e, int64_t n)
{
    size_t size = e->s->map.dsize;
    const uint8_t *p = e->d;

    if (!e->sparse || memcmp(p, e->fill, size) != 0)
        return 0;
    /* Equal to itself shifted by one element: all elements equal the first. */
    return memcmp(p, p + size, (size_t)(n - 1) * size) == 0;
}

static int write_block_out(struct emptier *e, const struct box *b, int64_t n)
{
    struct job *j = e->j;
    struct value_move mv = {.j = j, .ref = ref_out, .path = e->o->path};
    hid_t mem;
    int err = e->h != e->d ? move_out(&mv, &e->s->map, (size_t)n, e->d, e->h) : 0;

    if (!err)
        nulls_apply(&e->nulls, &e->s->map, b, e->s->info.dims, (size_t)n, e->h);
    if (!err) {
        mem = box_space(b);
        if (box_select_hdf5(b, e->space) < 0 ||
            H5Dwrite(e->dset, e->s->map.mem, mem, e->space, H5P_DEFAULT, e->h) < 0) {
            job_fail_hdf5(j, e->o->path);
            err = DREP_ERR_IO;
        }
        H5Sclose(mem);
    }
    move_release(&mv);
    return err;
}

/* The elements of a dataset, for messages. */
static struct verified place_of(const struct emptier *e, const struct box *b)
{
    return (struct verified){.path = e->o->path,
                             .what = "",
                             .name = "",
                             .rank = b ? b->rank : 0,
                             .start = b ? b->start : NULL,
                             .count = b ? b->count : NULL};
}

/* Reads the elements of a block as HDF5 has them in its file. */
static int read_ours(struct emptier *e, const struct box *b)
{
    drep_report report = DREP_REPORT;
    drep_xfer xfer =
        DREP_XFER(.range = e->j->o->range, .threads = e->j->o->threads, .report = &report);
    drep_selection *sel = NULL;
    int err = 0;

    if (b->rank)
        err = drep_select_box(b->rank, b->start, b->count, NULL, NULL, &sel);
    if (!err)
        err = drep_read(e->s->ds, sel, e->s->map.held, e->d, &xfer);
    drep_selection_free(sel);
    e->lost.overflow += report.overflow;
    e->lost.inexact += report.inexact;
    e->lost.nan_lost += report.nan_lost;
    return err ? job_fail_drep(e->j, err) : 0;
}

/* 1 if HDF5 gave the block, 0 if it could not. */
static int read_theirs(struct emptier *e, const struct box *b)
{
    hid_t mem;
    int ok;

    if (assembly_read(&e->assembly, b, e->dxpl, e->h))
        return 1;
    mem = box_space(b);
    arena_begin(&e->arena, (size_t)box_elements(b));
    ok = box_select_hdf5(b, e->space) >= 0 &&
         H5Dread(e->dset, e->s->map.mem, mem, e->space, e->dxpl, e->h) >= 0;
    if (!ok)
        job_fail_hdf5(e->j, "data");
    H5Sclose(mem);
    return ok;
}

/* Reads the block back and compares it: in halves if it holds too much at once. */
static int check_block(struct emptier *e, const struct box *b)
{
    struct verified at = place_of(e, b);
    int64_t n = box_elements(b);
    struct box half;
    int err = job_stopped(e->j), there = !err && read_theirs(e, b);

    if (!err && !there && e->arena.refused && n > 1) {
        arena_release(&e->arena);
        box_halves(&half, b);
        while (!err && box_next(&half))
            err = check_block(e, &half);
        return err;
    }
    if (!err && !there)
        err = verify_failed(e->j, &at, "it is not read back");
    if (!err)
        err = read_ours(e, b);
    if (!err) {
        err = verify_elements(e->j, &at, &e->s->map, (size_t)n, e->d, e->h);
        if (drep_type_variable(e->s->map.held))
            drep_vlen_free(e->s->map.held, n, e->d);
    }
    arena_release(&e->arena);
    job_progress(e->j, (uint64_t)n * e->s->map.hsize);
    return err;
}

static int export_block(struct emptier *e, const struct box *b)
{
    int64_t n = box_elements(b);
    int err = job_stopped(e->j);

    if (!err)
        err = read_ours(e, b);
    if (err)
        return err;
    if (!is_fill(e, n))
        err = write_block_out(e, b, n);
    if (drep_type_variable(e->s->map.held))
        drep_vlen_free(e->s->map.held, n, e->d);
    e->j->totals.bytes += (uint64_t)n * e->s->map.dsize;
    job_progress(e->j, (uint64_t)n * e->s->map.hsize);
    return err;
}

/* The blocks of a part of the dataset. */
static int export_region(struct emptier *e, const int64_t *start, const int64_t *dims)
{
    struct box b;
    int err = 0;

    box_init(&b, e->s->info.rank, dims, e->step);
    memcpy(b.base, start, (size_t)e->s->info.rank * sizeof *start);
    while (!err && box_next(&b))
        err = e->j->back ? check_block(e, &b) : export_block(e, &b);
    return err;
}

/* True if a chunk may go over as it is.  One that leaves out its last elements, as the container
 * allows under its own filters, HDF5 would fill up with what lies behind it in memory; and one that
 * is filtered it would not decode where it takes chunks for bare. */
static int is_whole(const struct emptier *e, int bare, size_t size, unsigned skipped)
{
    if (size > 0 && bare && (skipped != e->bare.all || size != e->raw.size))
        return 0;
    return size == 0 || e->raw.pipeline ||
           decode_chunk(e->decoding, 0, e->raw.bytes, size, skipped, NULL) == DECODE_WHOLE;
}

/* Carries one chunk over as it is stored. */
static int copy_raw_chunk_out(struct emptier *e, const struct box *b)
{
    hsize_t at[H5S_MAX_RANK];
    unsigned skipped = 0;
    size_t size = 0;
    int d, bare = bare_edge_has(&e->bare, b->start), err = job_stopped(e->j);

    if (err)
        return err;
    err = raw_chunk_out(&e->raw, e->s->ds, b->start, bare, &size, &skipped);
    if (err)
        return job_fail_drep(e->j, err);
    if (!is_whole(e, bare, size, skipped))
        return export_region(e, b->start, b->count);
    for (d = 0; d < b->rank; d++)
        at[d] = (hsize_t)b->start[d];
    if (bare)
        skipped = 0; /* as HDF5 writes them */
    if (size > 0 && H5Dwrite_chunk(e->dset, H5P_DEFAULT, skipped, at, size, e->raw.bytes) < 0) {
        job_fail_hdf5(e->j, e->o->path);
        return DREP_ERR_IO;
    }
    e->j->totals.bytes += (uint64_t)box_elements(b) * e->s->map.dsize;
    job_progress(e->j, (uint64_t)box_elements(b) * e->s->map.hsize);
    return 0;
}

/* Compares the bytes of a chunk that went over as it is; false: it must be decoded, as it was
 * written in another way. */
static int check_carried(struct emptier *e, const struct box *b, int *err)
{
    struct stored *c = &e->stored;
    unsigned skipped = 0;
    size_t size = 0;
    int same;

    c->box = *b;
    c->bare = &e->bare;
    *err = raw_chunk_out(&e->raw, e->s->ds, b->start, bare_edge_has(&e->bare, b->start), &size,
                         &skipped);
    *err = *err ? job_fail_drep(e->j, *err) : stored_read(e->j, e->dset, e->raw.most, c);
    same = !*err && c->there == (size > 0) &&
           (!c->there || (c->good && c->size == size && c->skipped == skipped &&
                          memcmp(c->bytes, e->raw.bytes, size) == 0));
    if (same)
        job_progress(e->j, (uint64_t)box_elements(b) * e->s->map.hsize);
    return same;
}

static int export_chunk(const int64_t *start, void *ctx)
{
    struct emptier *e = ctx;
    struct box b = {.rank = e->s->info.rank};
    int d;

    for (d = 0; d < b.rank; d++) {
        if (start[d] >= e->s->info.dims[d])
            return 0;
        b.start[d] = start[d];
        b.count[d] = e->s->info.dims[d] - start[d];
        if (b.count[d] > e->s->info.chunk[d])
            b.count[d] = e->s->info.chunk[d];
    }
    if (e->as_stored && !e->j->back)
        e->err = copy_raw_chunk_out(e, &b);
    else if (!e->as_stored || (e->j->o->verify && !e->raw.pipeline) ||
             !check_carried(e, &b, &e->err))
        e->err = e->err ? e->err : export_region(e, b.start, b.count);
    return e->err;
}

/* Elements of our chunks that are not stored are fill: they are compared with those that a source
 * gives. */
static int check_cell(struct emptier *e, const struct box *cell, const struct box *mapped)
{
    int64_t start[DREP_MAX_RANK], count[DREP_MAX_RANK], end, size = 0;
    int d, err = drep_read_stored(e->s->ds, cell->start, NULL, 0, &size, NULL);

    if (err || size > 0)
        return err ? job_fail_drep(e->j, err) : 0;
    for (d = 0; d < cell->rank; d++) {
        start[d] = cell->start[d] > mapped->start[d] ? cell->start[d] : mapped->start[d];
        end = cell->start[d] + cell->count[d];
        if (end > mapped->start[d] + mapped->count[d])
            end = mapped->start[d] + mapped->count[d];
        count[d] = end - start[d];
    }
    return export_region(e, start, count);
}

static int check_absent(struct emptier *e)
{
    const struct mappings *all = &e->assembly.mappings;
    const drep_dsinfo *info = &e->s->info;
    int64_t dims[DREP_MAX_RANK];
    struct box b, mapped;
    size_t i;
    int d, err = 0;

    for (i = 0; !err && i < all->n; i++) {
        mappings_box(all, i, &mapped);
        /* The cells of the grid that the mapping meets. */
        for (d = 0; d < info->rank; d++) {
            mapped.base[d] = mapped.start[d] - mapped.start[d] % info->chunk[d];
            dims[d] = mapped.start[d] + mapped.count[d] - mapped.base[d];
        }
        box_init(&b, info->rank, dims, info->chunk);
        memcpy(b.base, mapped.base, sizeof b.base);
        while (!err && box_next(&b))
            err = check_cell(e, &b, &mapped);
    }
    return err;
}

/* True if HDF5's file has no chunks that the container does not have. */
static int same_number(const struct emptier *e)
{
    hsize_t n = 0;

    return H5Dget_num_chunks(e->dset, e->space, &n) >= 0 && n == (hsize_t)e->s->usage.chunks;
}

/* Chunk by chunk where many are not stored, else in larger blocks. */
static int export_all_blocks(struct emptier *e)
{
    static const int64_t origin[DREP_MAX_RANK];
    const drep_dsinfo *info = &e->s->info;
    double cells = 1;
    int d, err;

    for (d = 0; d < info->rank && info->layout == DREP_CHUNKED; d++)
        cells *= (double)((info->dims[d] - 1) / info->chunk[d] + 1);
    if (e->as_stored && e->j->back && !same_number(e))
        e->as_stored = 0;
    if (!e->as_stored &&
        (e->all || info->layout != DREP_CHUNKED || (double)e->s->usage.chunks >= cells ||
         (e->assembly.map && !e->assembly.mappings.bounds)))
        return export_region(e, origin, info->dims);
    err = drep_dataset_chunks(e->s->ds, export_chunk, e);
    if (err && !e->err)
        return job_fail_drep(e->j, err);
    return err || !e->assembly.map ? err : check_absent(e);
}

/* No memory for a chunk.  Where the library would not decode it either, that limit is the reason:
 * it is what all exports say of such a chunk. */
static int no_memory_for_chunk(const struct emptier *e)
{
    const drep_dsinfo *info = &e->s->info;
    int64_t limit;
    size_t size = chunk_memory_of((size_t)info->element_size, info);
    drep_info *hints;

    if (info->layout != DREP_CHUNKED || info->nfilters == 0 || drep_get_info(e->j->d, &hints))
        return job_no_memory(e->j);
    limit = strtoll(drep_info_get(hints, "drep_limit_chunk"), NULL, 10);
    drep_info_free(hints);
    if (limit >= 0 && size <= (size_t)limit)
        return job_no_memory(e->j);
    return job_fail(e->j, DREP_ERR_LIMIT,
                    "dataset \"%s\": a filtered chunk of %zu bytes; drep_limit_chunk is %lld",
                    e->o->path, size, (long long)limit);
}

static int export_blocks(struct emptier *e, int64_t most)
{
    const drep_dsinfo *info = &e->s->info;
    int64_t n = 1;
    int d, err = 0;

    for (d = 0; d < info->rank; d++) {
        e->step[d] = info->layout == DREP_CHUNKED ? info->chunk[d] : 1;
        n *= e->step[d];
    }
    if (!e->as_stored)
        box_grow(info->rank, info->dims, most, e->step);
    n = n > most ? n : most;
    n = n > info->count ? info->count : n;
    if ((uint64_t)n > SIZE_MAX / (e->s->map.dsize + e->s->map.hsize + 1))
        return no_memory_for_chunk(e);
    /* Zeroed, so that gaps between members compare equal. */
    e->d = calloc((size_t)n + 1, e->s->map.dsize);
    e->h = e->s->map.kind == MAP_FLAT && !nulls_any(&e->nulls) && !e->j->back
               ? e->d
               : calloc((size_t)n + 1, e->s->map.hsize);
    e->fill = calloc(1, e->s->map.dsize + 1);
    if (!e->d || !e->h || !e->fill)
        err = no_memory_for_chunk(e);
    if (!err && e->sparse && info->fill == DREP_FILL_VALUE)
        err = drain_fill(e->j, e->s, e->fill);
    if (!err)
        err = export_all_blocks(e);
    free(e->fill);
    if (e->h != e->d)
        free(e->h);
    free(e->d);
    return err;
}

/* Elements that import has not read are missing here, too. */
static void say_unread_before(struct job *j, const char *path, const struct notes *notes)
{
    struct unread_mark mark;
    char text[2000];
    size_t i;

    for (i = 0; i < notes->n; i++) {
        if (!unread_parse(notes->line[i], &mark))
            continue;
        unread_text(&mark, text, sizeof text);
        job_say(j, HDF5_LOST, "values", path, "%s", text);
    }
}

/* True if the bytes in HDF5 are those in the container: its datatype is the one that the
 * container's makes by itself. */
static int drain_is_copy(struct job *j, const struct drain *s)
{
    hid_t own = type_out_make(j, s->info.type, NULL, 0);
    int same = own > 0 && H5Tequal(own, s->file) > 0 && map_is_copy(s->file, &s->map);

    if (own > 0)
        H5Tclose(own);
    return same;
}

static int verify_fill(struct emptier *e, hid_t dcpl)
{
    const struct drain *s = e->s;
    struct verified at = place_of(e, NULL);
    struct value_move mv = {.j = e->j, .path = e->o->path};
    hid_t scalar = H5Screate(H5S_SCALAR);
    void *d = move_alloc(&mv, s->map.dsize), *h = move_alloc(&mv, s->map.hsize);
    int err = d && h ? drain_fill(e->j, s, d) : DREP_ERR_NOMEM;

    at.what = "fill value";
    if (!err && H5Pget_fill_value(dcpl, s->map.mem, h) < 0) {
        err = verify_failed(e->j, &at, "it is not read back");
    } else if (!err) {
        err = verify_elements(e->j, &at, &s->map, 1, d, h);
        if (s->map.variable)
            H5Dvlen_reclaim(s->map.mem, scalar, H5P_DEFAULT, h);
    }
    if (d)
        drep_vlen_free(s->map.held, 1, d);
    H5Sclose(scalar);
    move_release(&mv);
    return err;
}

/* Compares what HDF5 says of the dataset before any element. */
static int check_dataset(struct emptier *e, hid_t dcpl)
{
    const struct drain *s = e->s;
    struct verified at = place_of(e, NULL);
    hid_t type = H5Dget_type(e->dset);
    drep_dsinfo all = s->info;
    int longer = 0, err = verify_type(e->j, &at, s->file, type);

    at.rank = s->info.rank;
    if (!err)
        netcdf_lengths(e->j, &all, &longer);
    if (!err)
        err = verify_shape(e->j, &at, all.dims, e->space);
    if (!err)
        err = type_note_check(e->j, &at, e->dset, NULL, s->file, s->info.type);
    if (!err && s->info.fill == DREP_FILL_VALUE && !(longer && s->map.variable) &&
        !has_references(&s->map))
        err = verify_fill(e, dcpl);
    if (type > 0)
        H5Tclose(type);
    return err;
}

/* True if the file's fill value is not that of the container's elements, or libhdf5 cannot read it
 * from the file: one of variable length beside chunks that are there it would write first. */
static int writes_all(struct job *j, const struct drain *s, int *longer)
{
    drep_dsinfo whole = s->info;

    netcdf_lengths(j, &whole, longer);
    if (s->info.fill != DREP_FILL_VALUE)
        return *longer;
    return s->map.variable && (*longer || s->usage.bytes > 0);
}

int export_data(struct job *j, const struct h5_object *o)
{
    struct emptier e = {.j = j, .o = o};
    struct drain s;
    hid_t dcpl;
    int64_t most;
    int longer, none, virtual, err = drain_open(j, o, &s);

    if (err)
        return err;
    if (!j->back)
        say_unread_before(j, o->path, &s.object_notes);
    e.all = writes_all(j, &s, &longer);
    none = s.info.rank == DREP_NULL_SPACE || s.info.count == 0 || (s.usage.bytes == 0 && !e.all);
    if (none && !j->back) {
        drain_close(&s);
        return 0;
    }
    e.s = &s;
    e.dset = H5Oopen_by_addr(j->h, (haddr_t)o->made);
    e.space = H5Dget_space(e.dset);
    dcpl = H5Dget_create_plist(e.dset);
    e.dxpl = arena_transfer(&e.arena);
    if (j->back)
        err = check_dataset(&e, dcpl);
    e.sparse = H5Pget_layout(dcpl) == H5D_CHUNKED && s.map.kind == MAP_FLAT && !s.map.variable &&
               s.info.fill != DREP_FILL_NONE && !e.all;
    most =
        (int64_t)((s.map.variable ? BLOCK_SIZE / 4 : BLOCK_SIZE) / (s.map.dsize ? s.map.dsize : 1));
    if (!err)
        err = nulls_read(j, &s.object_notes, &s.notes, NULL, &e.nulls);
    virtual = j->back && H5Pget_layout(dcpl) == H5D_VIRTUAL;
    /* Its sources may hold elements that are fill here. */
    none &= !virtual || s.info.count == 0;
    if (!err && !none && virtual)
        err = assembly_begin(&e.assembly, j, e.dset, &s.map);
    bare_edge_read(&e.bare, e.dset, dcpl);
    /* What a chunk has behind the dataset's end would be seen in a longer one. */
    e.as_stored = !err && !none && !longer && !nulls_any(&e.nulls) &&
                  raw_chunks_match(&e.raw, dcpl, &s.info, s.ds, &s.map, 0);
    if (e.as_stored && !j->back)
        e.decoding = decoding_new(dcpl, s.map.dsize, e.raw.size, 1, e.raw.pipeline);
    e.as_stored &= j->back || e.decoding;
    /* A virtual dataset has its elements elsewhere: they are compared, not written. */
    if (!err && !none && (j->back || H5Pget_layout(dcpl) != H5D_VIRTUAL))
        err = export_blocks(&e, most > 0 ? most : 1);
    assembly_end(&e.assembly);
    raw_chunks_release(&e.raw);
    decoding_free(e.decoding);
    free(e.stored.bytes);
    nulls_release(&e.nulls);
    H5Pclose(e.dxpl);
    H5Pclose(dcpl);
    H5Sclose(e.space);
    H5Dclose(e.dset);
    if (!err && !j->back) {
        job_say_losses(j, o->path, &e.lost);
        j->totals.copied += drain_is_copy(j, &s);
    }
    drain_close(&s);
    return err;
}
