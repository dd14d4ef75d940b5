/* variable.c - variables and their datasets: how one is described, made, and taken back.
 *
 * A variable has a dataset from the moment at which its definition is complete.  A pending one is
 * made with the attributes that wait for it; all are made in their order, so that numbers are the
 * same when the file is opened again.  An unwritten dataset whose fill value changes is unmade. */
/* SPDX-License-Identifier: MIT */
#include "netcdf/attributes.h"
#include <stdlib.h>
#include <string.h>

enum {
    DEFLATE = 1,
    SHUFFLE = 2,
    FLETCHER32 = 3,
    BLOSC = 32001,
    LZF = 32000,
    LZ4 = 32004,
    BITSHUFFLE = 32008,
    ZSTD = 32015
};

/* Filters by HDF5's number, and how many parameters ours takes at its creation. */
static const struct filter_pair {
    unsigned theirs;
    int ours, nparams;
} filter_pairs[] = {
    {DEFLATE, DREP_FILTER_DEFLATE, 0},
    {ZSTD, DREP_FILTER_ZSTD, 0},
    {LZ4, DREP_FILTER_HDF5_LZ4, 1},
    {LZ4, DREP_FILTER_LZ4, 0},
    {LZF, DREP_FILTER_LZF, 0},
    {BLOSC, DREP_FILTER_BLOSC, 4},
    {BITSHUFFLE, DREP_FILTER_HDF5_BITSHUFFLE, 4},
    {BITSHUFFLE, DREP_FILTER_BITSHUFFLE, 0},
};

struct nc_filter *variable_filter(struct nc_variable *v, unsigned id)
{
    int i;

    for (i = 0; i < v->nfilters; i++)
        if (v->filter[i].id == id)
            return &v->filter[i];
    return NULL;
}

/* Those with which a program may define a variable. */
int variable_filter_known(unsigned id)
{
    switch (id) {
    case SHUFFLE:
    case FLETCHER32:
        return 1;
    case DEFLATE:
        return drep_filter_available(DREP_FILTER_DEFLATE);
    case ZSTD:
        return drep_filter_available(DREP_FILTER_ZSTD);
    case LZ4:
        return drep_filter_available(DREP_FILTER_HDF5_LZ4);
    default:
        return 0;
    }
}

/* ------------------------------------------------------------------ description */

static void add_filter(struct nc_variable *v, unsigned id, size_t nparams, const uint32_t *params)
{
    struct nc_filter *f = &v->filter[v->nfilters];
    size_t i;

    if (v->nfilters == FILTERS_MAX)
        return;
    *f = (struct nc_filter){.id = id, .nparams = nparams < 8 ? nparams : 8};
    for (i = 0; i < f->nparams; i++)
        f->param[i] = params[i];
    v->nfilters++;
}

static void describe_filter(struct nc_variable *v, const drep_filter *from)
{
    unsigned hdf5 = from->id >= DREP_FILTER_HDF5 ? (unsigned)from->id - DREP_FILTER_HDF5 : 0;
    uint32_t level = (uint32_t)from->level;
    size_t i;

    if (from->id == DREP_FILTER_SHUFFLE || hdf5 == SHUFFLE) {
        v->shuffle = 1;
        return;
    }
    if (hdf5 == FLETCHER32) {
        v->fletcher32 = 1;
        return;
    }
    if (hdf5) {
        add_filter(v, hdf5, (size_t)from->nparams, from->params ? from->params : from->param);
        return;
    }
    for (i = 0; i < sizeof filter_pairs / sizeof *filter_pairs; i++) {
        const struct filter_pair *pair = &filter_pairs[i];

        if (pair->ours != from->id)
            continue;
        if (pair->theirs == DEFLATE || pair->theirs == ZSTD)
            add_filter(v, pair->theirs, 1, &level);
        else
            add_filter(v, pair->theirs, (size_t)pair->nparams, from->param);
        return;
    }
}

/* Numbers of one byte have no order. */
static int describe_order(struct door *door, const struct nc_variable *v, const drep_dsinfo *info)
{
    const drep_encoding *rows;
    int i, n = 0, code = drep_type_code(info->type), order = -1;

    if (!type_atomic_name(v->type) || v->type == NC_STRING || type_bytes(door, v->type) == 1)
        return NC_ENDIAN_NATIVE;
    if (drep_type_kind(info->type) == DREP_KIND_SCALAR)
        order = drep_type_scalar_desc(info->type)->order;
    else if (drep_header_types(door->file, info->datarep_number, &rows, &n) == 0)
        for (i = 0; i < n; i++)
            if (rows[i].code == code)
                order = rows[i].order;
    return order == DREP_BIG      ? NC_ENDIAN_BIG
           : order == DREP_LITTLE ? NC_ENDIAN_LITTLE
                                  : NC_ENDIAN_NATIVE;
}

/* Shape, storage and filters as the dataset has them. */
static void take_storage(struct door *door, struct nc_variable *v, const drep_dsinfo *info)
{
    int d, k;

    for (d = 0; d < v->rank; d++) {
        v->shape[d] = info->dims[d];
        v->chunk[d] = info->layout == DREP_CHUNKED ? info->chunk[d] : 0;
    }
    v->shuffle = v->fletcher32 = v->nfilters = 0;
    for (k = 0; k < info->nfilters; k++)
        describe_filter(v, &info->filters[k]);
    /* Compact is what a small dataset is by itself, and what R does not know: it is contiguous. */
    v->storage = info->layout == DREP_CHUNKED ? NC_CHUNKED : NC_CONTIGUOUS;
    v->endian = describe_order(door, v, info);
    v->no_fill = info->fill == DREP_FILL_NONE;
}

int variable_describe(struct door *door, struct nc_variable *v)
{
    drep_dsinfo info = DREP_DSINFO;
    int d, err = drep_dataset_info(v->dataset, &info);

    if (err)
        return door_error(err);
    if (info.rank < 0)
        return NC_EBADDIM;
    v->type = type_of(door, info.type);
    if (v->type == NC_NAT)
        return NC_EBADTYPE;
    v->rank = info.rank;
    for (d = 0; d < v->rank; d++)
        v->dim[d] = door_dimension_of(door, info.dim_ids[d]);
    take_storage(door, v, &info);
    return 0;
}

/* -------------------------------------------------------------------- the spec */

struct plan {
    drep_spec spec;
    int64_t dims[DREP_MAX_RANK], maxdims[DREP_MAX_RANK], chunk[DREP_MAX_RANK];
    char *names[DREP_MAX_RANK];
    drep_filter filters[FILTERS_MAX + 1];
};

static void plan_release(struct plan *p)
{
    int d;

    for (d = 0; d < p->spec.rank; d++)
        free(p->names[d]);
}

static void plan_filters(const struct nc_variable *v, struct plan *p)
{
    int i, n = 0;
    size_t k;

    if (v->shuffle)
        p->filters[n++].id = DREP_FILTER_SHUFFLE;
    for (i = 0; i < v->nfilters; i++)
        for (k = 0; k < sizeof filter_pairs / sizeof *filter_pairs; k++) {
            const struct nc_filter *f = &v->filter[i];

            if (filter_pairs[k].theirs != f->id)
                continue;
            p->filters[n].id = filter_pairs[k].ours;
            if (f->id == DEFLATE || f->id == ZSTD)
                p->filters[n].level = f->nparams ? (int)f->param[0] : -1;
            else if (f->nparams >= (size_t)filter_pairs[k].nparams)
                p->filters[n].nparams = filter_pairs[k].nparams;
            memcpy(p->filters[n].param, f->param, sizeof f->param);
            n++;
            break;
        }
    if (n && v->rank) {
        p->spec.filters = p->filters;
        p->spec.nfilters = n;
    }
}

/* A filtered chunk has at most 16 MiB, so that every reader takes it (drep_limit_chunk): the
 * longest lengths are halved. */
static void plan_chunk(const struct nc_variable *v, size_t element, struct plan *p)
{
    int64_t most = (int64_t)((16 << 20) / (element ? element : 1));

    memcpy(p->chunk, v->chunk, (size_t)v->rank * sizeof *p->chunk);
    p->spec.chunk = p->chunk;
    while (p->spec.nfilters) {
        int64_t n = 1;
        int d, longest = 0;

        for (d = 0; d < v->rank; d++) {
            n = n > most ? n : n * p->chunk[d];
            if (p->chunk[d] > p->chunk[longest])
                longest = d;
        }
        if (n <= most || p->chunk[longest] == 1)
            return;
        p->chunk[longest] = (p->chunk[longest] + 1) / 2;
    }
}

static int host_is_little(void)
{
    const uint16_t one = 1;

    return *(const uint8_t *)&one;
}

/* Names of dimensions are their addresses; NULL for a preview. */
static int plan_make(struct door *door, const struct nc_variable *v, int named, struct plan *p)
{
    const void *fill = v->fill ? v->fill : type_default_fill(door, v->type);
    int d;

    *p = (struct plan){.spec = DREP_SPEC(.type = type_memory(door, v->type), .rank = v->rank)};
    for (d = 0; d < v->rank; d++) {
        const struct nc_dimension *of = &door->dimensions[v->dim[d]];

        p->dims[d] = of->unlimited ? 0 : (int64_t)of->len;
        p->maxdims[d] = of->unlimited ? DREP_UNLIMITED : (int64_t)of->len;
        if (named && of->id &&
            !(p->names[d] = door_address(door->groups[of->group].path, of->name)))
            return NC_ENOMEM;
    }
    if (v->rank) {
        p->spec.dims = p->dims;
        p->spec.maxdims = p->maxdims;
        p->spec.dim_names = named ? (const char *const *)p->names : NULL;
    }
    plan_filters(v, p);
    if (v->storage == NC_CHUNKED && v->rank)
        p->spec.layout = DREP_CHUNKED;
    else if (v->storage >= 0 && !p->spec.nfilters && !drep_type_variable(p->spec.type))
        p->spec.layout = v->storage == NC_COMPACT ? DREP_COMPACT : DREP_CONTIGUOUS;
    if (v->has_chunk && p->spec.layout == DREP_CHUNKED)
        plan_chunk(v, type_bytes(door, v->type), p);
    if (v->no_fill) {
        p->spec.fill = DREP_FILL_NONE;
    } else if (fill) {
        p->spec.fill = DREP_FILL_VALUE;
        p->spec.fill_value = fill;
    }
    if (v->endian == (host_is_little() ? NC_ENDIAN_BIG : NC_ENDIAN_LITTLE))
        p->spec.datarep = host_is_little() ? "external32" : "internal";
    return 0;
}

int variable_preview(struct door *door, struct nc_variable *v, drep_dsinfo *info)
{
    drep_file *scratch = NULL;
    drep_dataset *dataset = NULL;
    struct plan p;
    int err = type_seal(door, v->type);

    if (err)
        return err;
    err = plan_make(door, v, 0, &p);
    if (!err)
        err = door_error(drep_create(":memory:", DREP_RDWR, NULL, NULL, &scratch));
    if (!err)
        err = door_error(drep_dataset_create(scratch, "/x", &p.spec, &dataset));
    if (!err)
        err = door_error(drep_dataset_info(dataset, info));
    drep_dataset_close(dataset);
    drep_abandon(scratch);
    plan_release(&p);
    return err;
}

/* A text that nobody filled is "". */
int variable_read_fill(struct door *door, struct nc_variable *v, nc_type memory, void *fill)
{
    const drep_type *type = memory == NC_CHAR ? NULL : type_memory(door, memory);
    int err = drep_dataset_fill(v->dataset, type, fill);

    if (!err && memory == NC_STRING && !*(char **)fill && !(*(char **)fill = strdup("")))
        return NC_ENOMEM;
    return door_error(err);
}

/* ------------------------------------------------------------------- making it */

/* netCDF's fletcher32 is a sum that every chunk of ours has anyway; export needs to know. */
static int note_fletcher32(struct door *door, const char *path)
{
    const char *line = REMARK_FLETCHER32;
    drep_type *text = NULL;
    int64_t one = 1;
    int err = drep_type_vstring(&text);

    if (!err)
        err = drep_attr_write(door->file, path, NOTE_REMARKS, text, 1, &one, &line);
    drep_type_free(text);
    return door_error(err);
}

static int settle_variable(struct door *door, const struct nc_group *g, struct nc_variable *v)
{
    int fletcher32 = v->fletcher32, storage = v->storage;
    drep_dsinfo info = DREP_DSINFO;
    char *path = door_join(g->path, v->name);
    struct plan p;
    int err = type_seal(door, v->type);

    if (!path || err) {
        free(path);
        return err ? err : NC_ENOMEM;
    }
    err = plan_make(door, v, 1, &p);
    if (!err)
        err = door_error(drep_dataset_create(door->file, path, &p.spec, &v->dataset));
    plan_release(&p);
    if (!err)
        err = quantize_note(v);
    if (!err)
        err = attributes_write(door, path, &v->attributes);
    if (!err && fletcher32)
        err = note_fletcher32(door, path);
    if (!err)
        err = door_error(drep_dataset_info(v->dataset, &info));
    if (err && v->dataset) {
        drep_dataset_close(v->dataset);
        v->dataset = NULL;
        drep_link_remove(door->file, path);
    }
    free(path);
    if (err)
        return err;
    take_storage(door, v, &info);
    v->fletcher32 = fletcher32;
    if (storage == NC_COMPACT)
        v->storage = NC_COMPACT;
    return 0;
}

int variable_settle(struct door *door)
{
    int g, i, err = type_settle(door);

    for (g = 0; g < door->ngroups; g++)
        for (i = 0; !err && i < door->groups[g].nvariables; i++) {
            struct nc_variable *v = &door->groups[g].variables[i];

            if (!v->dataset)
                err = settle_variable(door, &door->groups[g], v);
            if (!err)
                v->defined = 1;
        }
    return err;
}

int variable_unmake(struct door *door, struct nc_group *group, struct nc_variable *v)
{
    char *path = door_join(group->path, v->name);
    int err = path ? attributes_read(door, path, &v->attributes) : NC_ENOMEM;

    if (!err) {
        drep_dataset_close(v->dataset);
        v->dataset = NULL;
        v->has_chunk = v->storage == NC_CHUNKED;
        err = door_error(drep_link_remove(door->file, path));
    }
    free(path);
    return err;
}
