/* create.c - creating datasets: layout, chunks and filters of a new one. */
/* SPDX-License-Identifier: MIT */
#include "elem/create.h"

#include "base/sized.h"
#include "chunk/filter.h"
#include "chunk/registry.h"
#include "chunk/run_order.h"
#include "conv/refs.h"
#include "elem/dataset.h"
#include "elem/fill.h"
#include "file/team.h"
#include "kern/losses.h"
#include "name/dimension.h"
#include "name/link.h"
#include "name/path.h"
#include "rep/encodings.h"

#include <datarep.h>
#include <stdio.h>
#include <string.h>

#define COMPACT_AUTO 2048      /* larger datasets are not compact unless asked for */
#define CHUNK_TARGET (1 << 20) /* bytes of a chunk that nobody chose, at most, */
#define CHUNK_LEAST (8 << 10)  /* and at least where a dimension may grow */

/* ---- shape and layout ---- */

/* Takes the shape from the spec into the record. */
static int spec_shape(const drep_spec *spec, struct object_rec *rec)
{
    if (spec->rank == DREP_NULL_SPACE) {
        rec->rank = FMT_RANK_NULL;
        return 0;
    }
    if (spec->rank < 0 || spec->rank > DREP_MAX_RANK || (spec->rank > 0 && !spec->dims))
        return fail(DREP_ERR_DIMS, "rank %d", spec->rank);
    rec->rank = (uint8_t)spec->rank;
    for (int d = 0; d < spec->rank; d++) {
        int64_t len = spec->dims[d], max = !spec->maxdims ? len : spec->maxdims[d];

        if (len < 0 || len > TYPE_SIZE_MAX ||
            (max != DREP_UNLIMITED && (max < len || max > TYPE_SIZE_MAX)))
            return fail(DREP_ERR_DIMS, "dimension %d: length %lld, maximum %lld", d, (long long)len,
                        (long long)max);
        rec->len[d] = (uint64_t)len;
        rec->dim[d] = 0;
        rec->max[d] = max == DREP_UNLIMITED ? FMT_UNLIMITED : (uint64_t)max;
        rec->has_max |= max != len;
    }
    return 0;
}

/* Takes the chunk from the chunked hints, which speak for arrays of their shape and item size. */
static bool chunk_from_hints(drep_file *f, struct object_rec *rec, int64_t esize)
{
    int64_t shape[DREP_MAX_RANK], item = 0, size[DREP_MAX_RANK];

    if (info_ints(f->hints.all, "chunked", shape, DREP_MAX_RANK) != rec->rank ||
        info_ints(f->hints.all, "chunked_size", size, DREP_MAX_RANK) != rec->rank)
        return false;
    if (info_ints(f->hints.all, "chunked_item", &item, 1) == 1 && item != esize)
        return false;
    for (int d = 0; d < rec->rank; d++)
        if ((uint64_t)shape[d] != rec->len[d] || size[d] < 1 || size[d] > UINT32_MAX)
            return false;
    for (int d = 0; d < rec->rank; d++)
        rec->chunk[d] = (uint32_t)size[d];
    return true;
}

/* The longest side of a chunk that may become shorter, of those that grow or of all; -1: none. */
static int longest_side(const struct object_rec *rec, bool grows)
{
    int longest = -1;

    for (int d = 0; d < rec->rank; d++)
        if (rec->chunk[d] > 1 && (!grows || rec->max[d] > rec->len[d]) &&
            (longest < 0 || rec->chunk[d] > rec->chunk[longest]))
            longest = d;
    return longest;
}

/* At most 1 MiB: what there is, in halves where that is more.  A dimension that grows is cut first,
 * down to single records, since each record that comes changes all chunks that it falls into;
 * the others near cubes.  What there is of small records is too little to know how many will come:
 * they get a chunk of 8 KiB, which few records do not waste, and many do not mind. */
void chunk_choose(struct object_rec *rec, int64_t esize, int64_t target)
{
    double bytes = (double)(esize > 0 ? esize : 1);
    int64_t least = target < CHUNK_LEAST ? target : CHUNK_LEAST;

    for (int d = 0; d < rec->rank; d++) {
        uint64_t len = rec->len[d];

        if (len == 0)
            len = 1;
        if (len > UINT32_MAX)
            len = UINT32_MAX;
        rec->chunk[d] = (uint32_t)len;
        bytes *= (double)len;
    }
    for (int d = rec->rank - 1; d >= 0; d--)
        if (rec->max[d] > rec->len[d])
            while (bytes < (double)least && rec->chunk[d] < rec->max[d] / 2 + 1 &&
                   rec->chunk[d] < UINT32_MAX / 2) {
                rec->chunk[d] *= 2;
                bytes *= 2;
            }
    while (bytes > (double)target) {
        int d = longest_side(rec, true);

        if (d < 0)
            d = longest_side(rec, false);
        if (d < 0)
            return;
        bytes /= (double)rec->chunk[d];
        rec->chunk[d] = rec->chunk[d] / 2 + rec->chunk[d] % 2;
        bytes *= (double)rec->chunk[d];
    }
}

/* Chooses the layout that nobody asked for: small datasets stand in the tree, those that grow or
 * are filtered in chunks, the others in slabs. */
static int choose_layout(drep_file *f, const struct file_rep *rep, const drep_spec *spec,
                         struct object_rec *rec, const struct ftype *ft)
{
    int64_t esize = ft->stored.extent, n = 1, bytes;
    int64_t max = f->hints.chunk_max;
    bool variable = ft->type->variable;
    bool grows_first = true, fixed;

    for (int d = 0; rec->rank != FMT_RANK_NULL && d < rec->rank; d++) {
        if (rec->len[d] != 0 && __builtin_mul_overflow(n, (int64_t)rec->len[d], &n))
            return fail(DREP_ERR_LIMIT, "more than 2^62 elements");
        grows_first &= d == 0 || rec->max[d] == rec->len[d];
    }
    fixed = !rec->has_max;
    if (__builtin_mul_overflow(n, esize, &bytes) || bytes > TYPE_SIZE_MAX)
        return fail(DREP_ERR_LIMIT, "more than 2^62 bytes");
    if (rec->rank == FMT_RANK_NULL) {
        rec->layout = FMT_LAYOUT_NULL;
        return 0;
    }
    rec->layout = (uint8_t)spec->layout;
    if (spec->layout == DREP_LAYOUT_AUTO)
        rec->layout = spec->chunk || spec->nfilters > 0 || !fixed ||
                              (rec->rank > 0 && chunk_from_hints(f, rec, esize))
                          ? FMT_CHUNKED
                      : bytes <= COMPACT_AUTO ? FMT_COMPACT
                      : variable              ? FMT_CHUNKED
                                              : FMT_CONTIGUOUS;
    if (rec->layout == FMT_COMPACT && (bytes > FMT_COMPACT_MAX || !fixed || spec->nfilters > 0))
        return fail(DREP_ERR_LIMIT, "compact datasets are fixed, unfiltered and at most %d bytes",
                    FMT_COMPACT_MAX);
    if (rec->layout == FMT_CONTIGUOUS && (!grows_first || spec->nfilters > 0 || variable))
        return fail(DREP_ERR_UNSUPPORTED_OPERATION,
                    "contiguous datasets grow along their first dimension only, without filters "
                    "and variable-length types");
    if (rec->layout == FMT_CONTIGUOUS) {
        rec->slab = slab_choose(esize, !file_rep_table(rep, true) || !file_rep_table(rep, false));
    } else if (rec->layout == FMT_CHUNKED && spec->chunk) {
        for (int d = 0; d < rec->rank; d++) {
            if (spec->chunk[d] < 1 || spec->chunk[d] > UINT32_MAX)
                return fail(DREP_ERR_DIMS, "chunk length %lld of dimension %d",
                            (long long)spec->chunk[d], d);
            rec->chunk[d] = (uint32_t)spec->chunk[d];
        }
    } else if (rec->layout == FMT_CHUNKED) {
        if (!chunk_from_hints(f, rec, esize))
            chunk_choose(rec, esize, spec->nfilters > 0 && max < CHUNK_TARGET ? max : CHUNK_TARGET);
    }
    if (rec->layout == FMT_CHUNKED)
        rec->suffix = run_order_suffix(rec->rank, rec->max, rec->chunk);
    return shape_wanted(rec, ft);
}

/* ---- filters ---- */

/* A compressor's level, or its default. */
static int filter_level(const drep_filter *want, int most, int standard, struct filter_rec *rec)
{
    if (want->level < -1 || want->level > most)
        return fail(DREP_ERR_ARG, "filter %s: level %d; 1 to %d are possible",
                    fmt_filter_name(want->id), want->level, most);
    rec->nparams = 1;
    rec->param[0] = (uint32_t)(want->level > 0 ? want->level : standard);
    return 0;
}

static bool has_levels(int id)
{
    switch (id) {
    case DREP_FILTER_SHUFFLE:
    case DREP_FILTER_BITSHUFFLE:
    case DREP_FILTER_DELTA:
    case DREP_FILTER_LZF:
    case DREP_FILTER_USER:
        return false;
    default:
        return true;
    }
}

/* The message names the filters that are there. */
static int no_filter(const char *name)
{
    bool gzip = strcmp(name, "gzip") == 0 || strcmp(name, "zlib") == 0;
    char there[256];
    size_t n = 0;

    there[0] = '\0';
    for (int id = 1; id < DREP_FILTER_USER; id++)
        if (fmt_filter_name(id) && filter_available(id) && n < sizeof there)
            n += (size_t)snprintf(there + n, sizeof there - n, "%s%s", n ? ", " : "",
                                  fmt_filter_name(id));
    return fail(DREP_ERR_UNSUPPORTED, "filter \"%s\" is not registered; %s%s are built in", name,
                gzip ? "it is called deflate here; " : "", there);
}

/* The parameters of a user's filter, or of HDF5's. */
static int given_params(const drep_filter *want, const char *name, struct filter_rec *rec)
{
    rec->nparams = (uint8_t)want->nparams;
    memcpy(rec->param, want->param, sizeof rec->param);
    rec->given = want->params;
    if (want->nparams > FILTER_NEAR && !want->params)
        return fail(DREP_ERR_ARG, "filter \"%s\": %d parameters, and params is NULL", name,
                    want->nparams);
    return 0;
}

/* A user's filter must be there when the dataset is created: its name and parameters stand in the
 * record. */
static int user_filter(const drep_file *f, const drep_filter *want, struct filter_rec *rec)
{
    size_t len = !want->name ? 0 : strlen(want->name);
    const struct user_filter *user;
    int err;

    if (len == 0 || len >= DREP_MAX_FILTER_NAME)
        return fail(DREP_ERR_NAME, "a filter's name has 1 to %d bytes", DREP_MAX_FILTER_NAME - 1);
    err = filter_resolve(want->name, info_str(f->hints.all, "drep_plugin_path"), &user);
    if (!err && !user)
        err = no_filter(want->name);
    rec->name = (struct span){(const uint8_t *)want->name, len};
    return err ? err : given_params(want, want->name, rec);
}

/* HDF5's filters need not be there: chunks may come as they are. */
static int hdf5_filter(const struct ftype *ft, const drep_filter *want, struct filter_rec *rec)
{
    size_t len = !want->name ? 0 : strlen(want->name);

    if (want->id - DREP_FILTER_HDF5 > UINT16_MAX)
        return fail(DREP_ERR_ARG, "filter %d: no number of HDF5", want->id);
    if (len > UINT8_MAX || text_check((const uint8_t *)want->name, len))
        return fail(DREP_ERR_NAME, "the name of a filter of HDF5 is text of at most %d bytes",
                    UINT8_MAX);
    if (want->level != 0 && want->level != 1)
        return fail(DREP_ERR_ARG, "HDF5 filter %d: level %d; 1: optional, 0: not",
                    want->id - DREP_FILTER_HDF5, want->level);
    if (ft->type->variable || type_refers(ft->type))
        return fail(DREP_ERR_TYPE,
                    "filters of HDF5 are not for elements with variable parts or references");
    rec->id = (uint16_t)(want->id - DREP_FILTER_HDF5);
    rec->flags = (uint8_t)(FMT_FILTER_HDF5 | (want->level ? FMT_FILTER_OPTIONAL : 0));
    rec->name = (struct span){(const uint8_t *)want->name, len};
    return given_params(want, want->name ? want->name : "?", rec);
}

/* The parameters of a stream as filters of HDF5 frame them: the caller's, or usual ones. */
static int framed_params(const drep_filter *want, uint32_t unit, struct filter_rec *rec)
{
    static const uint32_t none[FILTER_NEAR];
    const uint32_t bits[] = {unit, 0, 2, 0}, blosc[] = {unit, 5, 1, 1 /* lz4 */};
    const uint32_t *usual = want->id == FMT_FILTER_HDF5_BITSHUFFLE ? bits
                            : want->id == FMT_FILTER_BLOSC         ? blosc
                                                                   : none;
    int n = fmt_filter_params(rec->id);

    if (want->nparams != 0 && want->nparams != n)
        return fail(DREP_ERR_ARG, "filter %s: %d parameters; it has %d", fmt_filter_name(rec->id),
                    want->nparams, n);
    rec->nparams = (uint8_t)n;
    memcpy(rec->param, want->nparams ? want->param : usual, (size_t)n * sizeof *rec->param);
    if (want->id == FMT_FILTER_HDF5_BITSHUFFLE &&
        (rec->param[0] == 0 || rec->param[1] % 8 != 0 || rec->param[2] == 1 || rec->param[2] > 3))
        return fail(DREP_ERR_ARG, "filter hdf5-bitshuffle: parameters %u, %u, %u", rec->param[0],
                    rec->param[1], rec->param[2]);
    if (want->id == DREP_FILTER_BLOSC && want->nparams && (rec->param[0] == 0 || rec->param[2] > 2))
        return fail(DREP_ERR_ARG, "filter blosc: element size %u, shuffle %u", rec->param[0],
                    rec->param[2]);
    return 0;
}

/* Fills in the parameters that a filter's record carries, so that decoding needs nothing else. */
static int filter_wanted(const drep_file *f, const struct file_rep *rep, const struct ftype *ft,
                         const drep_filter *want, struct filter_rec *rec)
{
    const struct node *leaf = ft->stored.dense ? ft->stored.root : NULL;
    int64_t unit = leaf ? leaf->stride : ft->stored.extent;
    int err;

    memset(rec, 0, sizeof *rec);
    if (want->id >= DREP_FILTER_HDF5)
        return hdf5_filter(ft, want, rec);
    rec->id = (uint16_t)want->id;
    if (want->id == DREP_FILTER_USER && (err = user_filter(f, want, rec)))
        return err;
    if (!has_levels(want->id) && want->level != 0 && want->level != -1)
        return fail(DREP_ERR_ARG, "filter %s: level %d; it has none",
                    want->id == DREP_FILTER_USER ? want->name : fmt_filter_name(want->id),
                    want->level);
    if (want->id == DREP_FILTER_USER)
        return 0;
    if (unit > UINT32_MAX)
        return fail(DREP_ERR_LIMIT, "filters act on elements of less than 2^32 bytes");
    if (!filter_available(want->id))
        return fail(DREP_ERR_UNSUPPORTED, "filter %d (%s) is not built in", want->id,
                    !fmt_filter_name(want->id) ? "?" : fmt_filter_name(want->id));
    switch (want->id) {
    case FMT_FILTER_SHUFFLE:
    case FMT_FILTER_BITSHUFFLE:
        rec->nparams = 1;
        rec->param[0] = (uint32_t)unit;
        return 0;
    case FMT_FILTER_DELTA:
        if (!leaf || (unit != 1 && unit != 2 && unit != 4 && unit != 8))
            return fail(DREP_ERR_TYPE, "delta filters numbers of 1, 2, 4 or 8 bytes");
        rec->nparams = 2;
        rec->param[0] = (uint32_t)unit;
        rec->param[1] = leaf->leaf->code != 0 && rep->has_table &&
                        rep->table->row[leaf->leaf->code].order == DREP_LITTLE;
        return 0;
    case FMT_FILTER_DEFLATE:
        return filter_level(want, 12, 6, rec);
    case FMT_FILTER_ZSTD:
        return filter_level(want, 22, 3, rec);
    case FMT_FILTER_LZ4:
        return filter_level(want, 12, 1, rec);
    default:
        return framed_params(want, (uint32_t)unit, rec);
    }
}

/* Takes the filters from the spec. No handle creates filtered chunks that it could not read itself.
 */
static int choose_filters(const drep_file *f, const struct file_rep *rep, const drep_spec *spec,
                          struct object_rec *rec, const struct ftype *ft)
{
    int64_t max = f->hints.chunk_max;
    int misplaced, err;

    if (spec->nfilters > 0 && !spec->filters)
        return fail(DREP_ERR_ARG, "nfilters %d, but no filters", spec->nfilters);
    for (int i = 0; i < spec->nfilters; i++) {
        if ((err = sized_valid(SIZED_drep_filter, &spec->filters[i], "filters")) ||
            (err = filter_wanted(f, rep, ft, &spec->filters[i], &rec->filter[i])))
            return err;
    }
    rec->nfilters = (uint8_t)spec->nfilters;
    for (int i = 1; i < spec->nfilters; i++)
        if (filter_is_hdf5(&rec->filter[i]) != filter_is_hdf5(&rec->filter[0]))
            return fail(DREP_ERR_ARG, "filters of HDF5 beside others");
    misplaced = filters_misplaced(rec->filter, rec->nfilters);
    if (misplaced >= 0)
        return fail(DREP_ERR_ARG, "filter %s: not possible behind a user-defined one",
                    fmt_filter_name(rec->filter[misplaced].id));
    if (spec->nfilters > 0 && chunk_count(rec) * ft->stored.extent > max)
        return fail(DREP_ERR_LIMIT,
                    "a filtered chunk of %lld bytes is larger than the hint drep_chunk_max, %lld",
                    (long long)(chunk_count(rec) * ft->stored.extent), (long long)max);
    return 0;
}

int dataset_plan(drep_file *f, const struct file_rep *rep, const drep_spec *spec,
                 const struct ftype *ft, struct object_rec *rec)
{
    int err = sized_valid(SIZED_drep_spec, spec, "plan");

    if (!err)
        err = spec_shape(spec, rec);
    if (!err)
        err = choose_layout(f, rep, spec, rec, ft);
    return !err ? choose_filters(f, rep, spec, rec, ft) : err;
}

/* ---- the call ---- */

/* Finds or makes the dimensions that the spec names; each must hold the length of its axis.  made:
 * a bit for each axis whose dimension was made. */
static int named_dims(drep_file *f, const char *path, uint64_t group, const drep_spec *spec,
                      struct object_rec *rec, uint32_t *made)
{
    struct stored_object dim = {0};
    int err = 0;

    for (int d = 0; !err && d < spec->rank; d++) {
        const char *name = spec->dim_names[d];

        if (!name)
            continue;
        err = dimension_find(f, path, name, &dim);
        if (err == DREP_ERR_NOT_FOUND && !strpbrk(name, "/#")) { /* it is no address */
            err = dimension_make(f, group, name, rec->len[d], rec->max[d] == FMT_UNLIMITED, &dim);
            *made |= (uint32_t)1 << d;
        }
        if (!err)
            err = fail_in(dimension_grow(f, &dim, rec->len[d]), "dimension \"%s\"", name);
        rec->dim[d] = dim.id;
        rec->has_dims = 1;
    }
    object_release(&dim);
    return err;
}

/* At a commit of several ranks, dimensions that others have made by then count. */
static int note_implied(drep_file *f, const char *path, uint64_t group, const drep_spec *spec,
                        const struct object_rec *rec, uint32_t made)
{
    int err = 0;

    for (int d = 0; !err && file_shared(f) && d < spec->rank; d++)
        if (made >> d & 1)
            err = f->team->ops->implied(f, rec->dim[d], group, path, spec->dim_names[d]);
    return err;
}

/* Creates the object, its type's use, its dimensions and its first link. The bytes of its record
 * stay in scratch[0]. */
static int dataset_create(drep_file *f, const char *path, const drep_spec *spec, uint64_t *id)
{
    struct object_rec rec;
    struct buf fill = {0};
    const struct file_rep *rep = NULL;
    struct file_datarep *entry;
    struct ftype *ft = NULL;
    struct losses lost = {0};
    const char *name;
    uint32_t made = 0;
    uint64_t group;
    int err = path_parent(f, path, 0, &group, &name);

    memset(&rec, 0, offsetof(struct object_rec, len));
    rec.kind = FMT_DATASET;
    rec.changed = store_next_sequence(f->st);
    rec.fill = (uint8_t)spec->fill;
    if (!err)
        err = spec_shape(spec, &rec);
    if (!err)
        err = spec->datarep ? rep_add(f, spec->datarep, &entry) : rep_get_number(f, 0, &entry);
    if (!err)
        err = rep_resolved(f, entry, &rep);
    if (!err)
        err = rep_use(f, entry, spec->type);
    if (!err)
        err = spec->placed ? ftype_use_placed(f, spec->type, rep, &rec.type)
                           : ftype_use(f, spec->type, rep, &rec.type);
    if (!err)
        err = ftype_get(f, rec.type, rep, &ft);
    if (!err)
        rec.datarep = entry->number;
    if (!err)
        err = choose_layout(f, rep, spec, &rec, ft);
    if (!err)
        err = choose_filters(f, rep, spec, &rec, ft);
    if (!err && spec->dim_names)
        err = named_dims(f, path, group, spec, &rec, &made);
    if (!err && spec->fill == DREP_FILL_VALUE) {
        err = !spec->fill_value ? fail(DREP_ERR_ARG, "no fill value")
                                : value_pack(&f->values, spec->type, 1, spec->fill_value, &fill);
        if (!err)
            err = fail_in(fill_fits(f, ft, fill.len), "fill value");
        if (!err)
            err = value_settle(rep, fill.p, fill.len, ft, DREP_RANGE_WRAP, &lost);
        if (!err && lost.overflow > 0)
            err = fail(DREP_ERR_CONVERSION, "the fill value does not fit its type under %s",
                       rep->name);
        rec.fill_value = (struct span){fill.p, fill.len};
    }
    if (!err)
        err = object_link(f, group, name, &rec, id);
    if (!err)
        err = dimension_uses_add(f, *id, &rec);
    if (!err && made)
        err = note_implied(f, path, group, spec, &rec, made);
    if (!err)
        paths_note(f, path, *id);
    buf_release(&fill);
    return err;
}

/* Refuses what the caller cannot have meant: one half of two members that belong together. */
static int spec_check(const drep_spec *spec)
{
    bool array = spec->dims || spec->maxdims || spec->dim_names || spec->chunk;

    if (!spec->type)
        return fail(DREP_ERR_ARG, "a dataset needs a type");
    if (spec->fill_value && spec->fill != DREP_FILL_VALUE)
        return fail(DREP_ERR_ARG, "a fill_value, but fill is not DREP_FILL_VALUE");
    if (spec->filters && spec->nfilters == 0)
        return fail(DREP_ERR_ARG, "filters, but nfilters is 0");
    if (spec->rank == 0 && array)
        return fail(DREP_ERR_ARG, "dims, maxdims, dim_names or chunk, but rank is 0");
    if (spec->chunk && (spec->layout == DREP_COMPACT || spec->layout == DREP_CONTIGUOUS))
        return fail(DREP_ERR_ARG, "a chunk, but the layout is %s",
                    spec->layout == DREP_COMPACT ? "compact" : "contiguous");
    return 0;
}

int drep_dataset_create(drep_file *file, const char *path, const drep_spec *spec,
                        drep_dataset **out)
{
    drep_dataset *ds = NULL;
    drep_spec own;
    uint64_t id = 0;
    int err = fail_about(write_begin(file), path);

    if (err)
        return err;
    if (!path)
        err = fail(DREP_ERR_ARG, "a dataset needs a path");
    if (!err)
        err = sized_get(SIZED_drep_spec, spec, &own, "drep_dataset_create");
    if (!err)
        err = spec_check(&own);
    if (!err)
        err = dataset_create(file, path, &own, &id);
    if (!err && out)
        err = dataset_get_created(file, id, path, &file->op.scratch[0], &ds);
    if (!err && ds) {
        ds->trimmed = true;
        err = dataset_lend(file, ds);
    }
    if (path)
        fail_dataset(err, path);
    err = write_finish(file, err, !write_refused(err) && err != DREP_ERR_CONVERSION);
    if (!err && out)
        *out = ds;
    return err;
}
