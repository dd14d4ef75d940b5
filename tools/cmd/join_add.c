/* join_add.c - a variable of one source joins the new file: by rows that name its chunks, or by its
 * elements.
 *
 * A chunk of the source can be one of the new file where both have one shape, one encoding and one
 * list of filters, and where it begins at a multiple of its length.  Chunks without filters are
 * cut, if the elements of the smaller one lie in a row. */
/* SPDX-License-Identifier: MIT */
#include "tools/cmd/join.h"
#include "tools/host/exit.h"
#include "tools/host/fail.h"
#include "tools/host/limit.h"
#include "tools/host/message.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define BLOCK ((int64_t)4 << 20)

/* --------------------------------------------------------------------- elements */

/* Copies a box of the source's elements. */
static int copy_box(struct join_job *j, const struct join_source *s, const struct join_variable *v,
                    drep_dataset *ds, const struct box *b)
{
    const drep_type *type = v->info.type;
    drep_xfer xfer = DREP_XFER(.range = DREP_RANGE_STRICT);
    int64_t n = box_elements(b), to[DREP_MAX_RANK];
    void *room = calloc((size_t)n + 1, (size_t)drep_type_extent(type));
    int err = room ? 0 : DREP_ERR_NOMEM;

    memcpy(to, b->start, sizeof to);
    to[v->dim] += j->length;
    if (!err)
        err = drep_read_box(ds, b->start, b->count, type, room, NULL);
    if (err) {
        free(room);
        return tool_fail(s->name, v->path, err);
    }
    err = drep_write_box(v->ds, to, b->count, type, room, &xfer);
    if (drep_type_variable(type))
        drep_vlen_free(type, n, room);
    free(room);
    j->copied += n * drep_type_size(type);
    return err ? tool_fail(j->target, v->path, err) : 0;
}

static int copy_part(struct join_job *j, const struct join_source *s, const struct join_variable *v,
                     drep_dataset *ds, const struct box *part)
{
    int64_t step[DREP_MAX_RANK];
    struct box b;
    int status = 0;

    for (int d = 0; d < part->rank; d++) {
        if (part->count[d] == 0)
            return 0;
        step[d] = 1;
    }
    box_grow(part->rank, part->count, BLOCK / (drep_type_extent(v->info.type) + 1) + 1, step);
    box_init(&b, part->rank, part->count, step);
    memcpy(b.base, part->start, sizeof b.base);
    while (!status && box_next(&b)) {
        if (limit_stopped())
            return TOOL_IO;
        status = copy_box(j, s, v, ds, &b);
    }
    return status;
}

/* ------------------------------------------------------------------------- rows */

/* How the chunks of a source fit the new file's. */
struct fit {
    const drep_dsinfo *from, *to;
    int64_t shape[DREP_MAX_RANK]; /* of the source's chunks */
    bool cut;                     /* those of the new file are parts of them */
    bool linear;                  /* the source has no chunks */
    int filter[DREP_MAX_FILTERS]; /* the new file's for each of the source's */
    char why[300];                /* not "": why they do not */
};

/* A filter of HDF5 with the same streams as one of ours becomes that. */
static drep_filter plain_filter(const drep_filter *f)
{
    drep_filter is = *f;

    if (f->id == DREP_FILTER_HDF5 + 1 || f->id == DREP_FILTER_HDF5 + 2) {
        is.id = f->id == DREP_FILTER_HDF5 + 1 ? DREP_FILTER_DEFLATE : DREP_FILTER_SHUFFLE;
        is.name = NULL;
        is.param[0] = f->nparams > 0 ? f->params[0] : 0;
    }
    return is;
}

static bool same_filter(const drep_filter *ours, const drep_filter *theirs)
{
    const drep_filter x = plain_filter(ours), y = plain_filter(theirs), *a = &x, *b = &y;

    if (a->id != b->id || ((!a->name) != (!b->name)) || (a->name && strcmp(a->name, b->name) != 0))
        return false;
    /* Streams of these do not depend on the level. */
    if (a->id == DREP_FILTER_DEFLATE || a->id == DREP_FILTER_ZSTD || a->id == DREP_FILTER_LZ4)
        return true;
    if (a->id == DREP_FILTER_SHUFFLE)
        return a->param[0] == b->param[0];
    return a->nparams == b->nparams &&
           (a->nparams == 0 ||
            memcmp(a->params, b->params, (size_t)a->nparams * sizeof *a->params) == 0);
}

/* Pairs filters in their order; chunks of the source skip those that it lacks. */
static bool pair_filters(struct fit *f)
{
    int at = 0;

    for (int i = 0; i < f->from->nfilters; i++, at++) {
        while (at < f->to->nfilters && !same_filter(&f->from->filters[i], &f->to->filters[at]))
            at++;
        if (at == f->to->nfilters)
            return false;
        f->filter[i] = at;
    }
    return true;
}

static uint32_t skipped_there(const struct fit *f, uint32_t skipped)
{
    uint32_t all = f->to->nfilters < 32 ? (1u << f->to->nfilters) - 1 : UINT32_MAX;

    for (int i = 0; i < f->from->nfilters; i++)
        if (!(skipped >> i & 1))
            all &= ~(1u << f->filter[i]);
    return all;
}

/* True if the elements of each chunk of the new file lie in a row in one of the source's. */
static bool lies_in_a_row(const struct fit *f)
{
    const int64_t *part = f->to->chunk;
    int d = f->to->rank - 1;

    while (d > 0 && part[d] == f->shape[d])
        d--;
    if (f->shape[d] % part[d] != 0 && f->shape[d] < f->from->dims[d])
        return false;
    for (d--; d >= 0; d--)
        if (part[d] != 1)
            return false;
    return true;
}

static bool fit_grid(struct fit *f)
{
    bool same = f->from->layout == DREP_CHUNKED;

    f->linear = f->from->layout == DREP_CONTIGUOUS;
    for (int d = 0; d < f->to->rank; d++) {
        f->shape[d] = f->linear ? f->from->dims[d] : f->from->chunk[d];
        same = same && f->shape[d] == f->to->chunk[d];
    }
    f->cut = !same;
    return same || (f->from->layout != DREP_COMPACT && f->from->nfilters == 0 && lies_in_a_row(f));
}

static void shape_text(int rank, const int64_t *shape, char *text, size_t size)
{
    size_t len = 0;

    for (int d = 0; d < rank && len < size; d++)
        len +=
            (size_t)snprintf(text + len, size - len, "%s%lld", d ? "," : "", (long long)shape[d]);
}

static int fit_begin(const struct join_job *j, const struct join_variable *v, drep_dataset *ds,
                     const drep_dsinfo *info, struct fit *f)
{
    const int64_t chunk = v->info.chunk[v->dim];
    size_t size = (size_t)drep_type_extent(v->info.type);
    void *fill = calloc(1, size + 1);
    bool same_fill;
    char a[80], b[80];
    int alike = 0, err = fill ? drep_stored_alike(v->ds, ds, &alike) : DREP_ERR_NOMEM;

    *f = (struct fit){.from = info, .to = &v->info};
    if (!err)
        err = drep_dataset_fill(ds, v->info.type, fill);
    same_fill = !err && memcmp(fill, v->fill, size) == 0;
    free(fill);
    if (err)
        return err;
    if (!same_fill) {
        /* Chunks may be stored short, and none is stored where all elements are fill. */
        snprintf(f->why, sizeof f->why, "the fill value is not that of %s", j->source[0]);
    } else if (!alike) {
        snprintf(f->why, sizeof f->why, "elements are stored in another representation");
    } else if (!pair_filters(f)) {
        snprintf(f->why, sizeof f->why, "filters are not those of %s", j->source[0]);
    } else if (info->layout == DREP_COMPACT) {
        snprintf(f->why, sizeof f->why, "it is compact, a part of its file's index");
    } else if (!fit_grid(f)) {
        shape_text(info->rank, f->shape, a, sizeof a);
        shape_text(info->rank, v->info.chunk, b, sizeof b);
        snprintf(f->why, sizeof f->why, "chunks of %s cannot be rows among chunks of %s", a, b);
    } else if (j->length % chunk != 0) {
        snprintf(f->why, sizeof f->why,
                 "it begins at index %lld of the new file, which is no multiple of the chunks' "
                 "length, %lld",
                 (long long)j->length, (long long)chunk);
    }
    return 0;
}

/* Bytes from the beginning of the source's chunk to an element. */
static int64_t offset_in_chunk(const struct fit *f, const int64_t *start)
{
    int64_t n = 0;

    for (int d = 0; d < f->to->rank && !f->linear; d++)
        n = n * f->shape[d] + start[d] % f->shape[d];
    return n * f->to->element_size;
}

/* The bytes of a cell, a chunk of the new file inside the source; *bytes 0: there are none, and
 * they are fill. */
static int find_bytes(struct fit *f, drep_dataset *ds, const struct box *cell, drep_stored *at)
{
    int64_t skip, want = box_elements(cell) * f->to->element_size;
    int err = drep_stored_at(ds, cell->start, at);

    if (err && err != DREP_ERR_NOT_FOUND)
        return err;
    if (!err && !f->cut)
        return 0;
    skip = offset_in_chunk(f, cell->start);
    if (err || at->bytes <= skip) {
        at->bytes = 0;
    } else {
        at->offset += skip;
        at->bytes = at->bytes - skip < want ? at->bytes - skip : want;
    }
    if (f->linear && at->bytes > 0 && at->bytes < want)
        snprintf(f->why, sizeof f->why, "its bytes are not in a row");
    return 0;
}

static int refuse_misfit(const struct join_source *s, const struct join_variable *v,
                         const struct box *cell, const char *why)
{
    char at[DREP_MAX_RANK * 21 + 3];

    shape_text(cell->rank, cell->start, at, sizeof at);
    tool_say(s->name, v->path,
             "the chunk at (%s) cannot stay in its file: %s; --copy copies what cannot stay, and "
             "without --virtual all is copied",
             at, why);
    return TOOL_DIFFERS;
}

/* Names the bytes of one cell, or copies its elements. */
static int add_cell(struct join_job *j, struct join_source *s, struct join_variable *v,
                    drep_dataset *ds, struct fit *f, const struct box *cell)
{
    drep_stored at = DREP_STORED;
    int64_t to[DREP_MAX_RANK];
    uint32_t number;
    int status, err = find_bytes(f, ds, cell, &at);

    if (err)
        return tool_fail(s->name, v->path, err);
    if (*f->why) {
        status = j->copy ? copy_part(j, s, v, ds, cell) : refuse_misfit(s, v, cell, f->why);
        *f->why = 0;
        return status;
    }
    if (at.bytes == 0)
        return 0;
    if ((status = join_source_number(j, s, at.external ? at.number : 0, &number)))
        return status;
    memcpy(to, cell->start, sizeof to);
    to[v->dim] += j->length;
    err = drep_write_external(v->ds, to, number, at.offset, at.bytes, skipped_there(f, at.skipped),
                              at.flags | DREP_STORED_DEFERRED);
    j->rows += !err;
    return err ? tool_fail(s->name, v->path, err) : 0;
}

static int add_rows(struct join_job *j, struct join_source *s, struct join_variable *v,
                    drep_dataset *ds, const drep_dsinfo *info)
{
    struct fit f;
    struct box b;
    int status = 0, err = fit_begin(j, v, ds, info, &f);

    if (err)
        return tool_fail(s->name, v->path, err);
    box_init(&b, info->rank, info->dims, v->info.chunk);
    if (*f.why && !j->copy) {
        box_next(&b);
        return refuse_misfit(s, v, &b, f.why);
    }
    if (*f.why) {
        struct box all = {.rank = info->rank};

        memcpy(all.count, info->dims, sizeof all.count);
        if (j->verbose)
            tool_say(s->name, v->path, "copied: %s", f.why);
        return copy_part(j, s, v, ds, &all);
    }
    while (!status && box_next(&b))
        status = limit_stopped() ? TOOL_IO : add_cell(j, s, v, ds, &f, &b);
    return status;
}

int join_append(struct join_job *j, struct join_source *s, struct join_variable *v,
                drep_dataset *ds, const drep_dsinfo *info)
{
    struct box all = {.rank = info->rank};

    if (info->count == 0)
        return 0;
    if (v->rows)
        return add_rows(j, s, v, ds, info);
    memcpy(all.count, info->dims, sizeof all.count);
    return copy_part(j, s, v, ds, &all);
}
