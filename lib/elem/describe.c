/* describe.c - what a dataset says of itself. */
/* SPDX-License-Identifier: MIT */
#include "elem/describe.h"

#include "base/error.h"
#include "base/mem.h"
#include "base/sized.h"
#include "chunk/each.h"
#include "chunk/filter.h"
#include "elem/dataset.h"
#include "name/object.h"
#include "tree/find.h"
#include "tree/touched.h"
#include "type/match.h"

#include <string.h>

/* Chunks of a dataset and the bytes that they take. */
struct stored_usage {
    drep_dsusage sum;
    int rank; /* of the grid */
    const drep_dataset *ds;
    struct run_before before;
};

static int add_chunk(const uint64_t *coord, const struct chunk_rec *rec, void *ctx)
{
    struct stored_usage *u = ctx;
    int64_t bytes;

    if (chunk_order_check(&u->before, u->rank, coord, rec) != 0 ||
        chunk_size_check(&u->ds->chunks, u->ds->esize, rec) != 0)
        return DREP_ERR_FORMAT;
    u->sum.chunks += rec->run;
    u->sum.undecoded += rec->kept & FMT_CHUNK_UNDECODED ? rec->run : 0;
    if (__builtin_mul_overflow(rec->run, rec->size, &bytes) ||
        __builtin_add_overflow(u->sum.bytes, bytes, &u->sum.bytes))
        return fail(DREP_ERR_FORMAT, "runs of chunks of more than 2^63 bytes (R2.14)");
    return 0;
}

/* Counts the stored chunks, or the value of a compact dataset as one. */
static int usage_of(drep_dataset *ds, struct stored_usage *u)
{
    struct buf value = {0};
    struct key key;
    int err;

    if (ds->rec.layout == FMT_CONTIGUOUS || ds->rec.layout == FMT_CHUNKED) {
        u->rank = ds->chunks.rank;
        u->ds = ds;
        return chunk_each_known(&ds->chunks, add_chunk, u);
    }
    key_make(&key, ds->id, FMT_TAG_DATA);
    err = tree_get(ds->file->st, &key, &value);
    if (!err) {
        u->sum = (drep_dsusage){.bytes = (int64_t)value.len, .chunks = 1};
    }
    buf_release(&value);
    return err == DREP_ERR_NOT_FOUND ? 0 : err;
}

void dataset_filters(const drep_dataset *ds, drep_filter *out)
{
    const struct object_rec *r = &ds->rec;
    const char *name = ds->filter_names;
    const uint32_t *params = ds->filter_params;

    memset(out, 0, r->nfilters * sizeof *out);
    for (int i = 0; i < r->nfilters; i++) {
        drep_filter *to = &out[i];

        to->id = r->filter[i].id;
        to->nparams = r->filter[i].nparams;
        memcpy(to->param, r->filter[i].param, sizeof to->param);
        to->params = params;
        params += to->nparams;
        if (filter_is_named(&r->filter[i])) {
            to->name = name;
            name += r->filter[i].name.len + 1;
        }
        if (filter_is_hdf5(&r->filter[i])) {
            to->id += DREP_FILTER_HDF5;
            to->level = !!(r->filter[i].flags & FMT_FILTER_OPTIONAL);
        } else if (to->id >= FMT_FILTER_DEFLATE && to->id < FMT_FILTER_USER &&
                   !FMT_FILTER_FRAMED(to->id)) {
            to->level = (int)to->param[0];
        }
    }
}

/* Counts rows that wait in memory: append.c has seen to it that the shape may have them. */
static void add_waiting(const struct waiting_rows *rows, drep_dsinfo *out)
{
    out->dims[rows->dim] += rows->n;
    out->count = 1;
    for (int d = 0; d < out->rank; d++)
        out->count *= out->dims[d];
}

/* Look it up in the tree: commits do not update the handle's copy of the record. */
static uint64_t changed_of(const drep_dataset *ds)
{
    struct store *st = ds->file->st;
    struct object_head head;

    if (ds->waiting.n > 0 || touched_is(st, ds->id))
        return store_next_sequence(st);
    return head_load(ds->file, ds->id, &head) == 0 ? head.changed : ds->rec.changed;
}

int drep_dataset_info(drep_dataset *dataset, drep_dsinfo *out)
{
    const struct object_rec *r;
    drep_dsinfo is;
    int err;

    if ((err = sized_check(SIZED_drep_dsinfo, out, "drep_dataset_info")) ||
        (err = dataset_check(dataset, "drep_dataset_info")) ||
        (err = read_begin_waiting(dataset->file)))
        return err;
    r = &dataset->rec;
    is = DREP_DSINFO;
    is.id = dataset->id;
    is.type = dataset->ft->type;
    is.datarep = dataset->rep->name;
    is.datarep_number = dataset->entry->number;
    is.rank = r->rank == FMT_RANK_NULL ? DREP_NULL_SPACE : r->rank;
    for (int d = 0; d < is.rank; d++) {
        is.dims[d] = (int64_t)r->len[d];
        is.maxdims[d] = r->max[d] == FMT_UNLIMITED ? DREP_UNLIMITED : (int64_t)r->max[d];
        is.dim_ids[d] = r->has_dims ? r->dim[d] : 0;
        is.chunk[d] = r->layout == FMT_CHUNKED ? r->chunk[d] : 0;
    }
    if (r->layout == FMT_CONTIGUOUS)
        is.chunk[0] = (int64_t)r->slab;
    is.count = dataset_count(dataset);
    if (dataset->waiting.n > 0)
        add_waiting(&dataset->waiting, &is);
    is.layout = r->layout;
    is.nfilters = r->nfilters;
    dataset_filters(dataset, is.filters);
    is.fill = r->fill;
    is.element_size = dataset->esize;
    is.changed = changed_of(dataset);
    sized_put(SIZED_drep_dsinfo, &is, out);
    return read_end(dataset->file, 0);
}

/* Only the record has the offsets: the type of a dataset lies in memory as this machine's compiler
 * would put it, whatever machine wrote the file. */
int drep_dataset_placed(drep_dataset *dataset, drep_type **type)
{
    int err;

    if (!type)
        return fail(DREP_ERR_ARG, "drep_dataset_placed: null argument");
    if ((err = dataset_check(dataset, "drep_dataset_placed")))
        return err;
    if ((err = read_begin(dataset->file)))
        return err;
    err = ftype_placed(dataset->file, dataset->rec.type, dataset->rep, type);
    return read_end(dataset->file, fail_dataset(err, dataset->path));
}

int drep_dataset_usage(drep_dataset *dataset, drep_dsusage *out)
{
    struct stored_usage u = {0};
    int err;

    if ((err = sized_check(SIZED_drep_dsusage, out, "drep_dataset_usage")) ||
        (err = dataset_check(dataset, "drep_dataset_usage")) ||
        (err = read_begin_stored(dataset->file)))
        return err;
    err = fail_dataset(usage_of(dataset, &u), dataset->path);
    if (!err)
        sized_put(SIZED_drep_dsusage, &u.sum, out);
    return read_end(dataset->file, err);
}

/* Reads the fill value, which carries its own layout, as an attribute does. */
static int fill_read(drep_dataset *ds, const drep_type *type, void *value)
{
    struct value_cache *values = &ds->file->values;
    struct ftype plain = {.type = NULL};
    int err;

    if (type == ds->ft->type || !type_matches(ds->ft->type, type))
        return value_unpack(values, &ds->rec.fill_value, ds->ft, 1, type, value);
    err = ftype_unplaced(ds->ft->type, &plain.type);
    if (!err)
        err = value_unpack(values, &ds->rec.fill_value, &plain, 1, type, value);
    drep_type_free(plain.type);
    return err;
}

int drep_dataset_fill(drep_dataset *dataset, const drep_type *type, void *value)
{
    const drep_type *own;
    int err;

    if (!value)
        return fail(DREP_ERR_ARG, "drep_dataset_fill: null argument");
    if ((err = dataset_check(dataset, "drep_dataset_fill")))
        return err;
    if ((err = read_begin(dataset->file)))
        return err;
    own = dataset->ft->type;
    if (!type)
        type = own;
    if (type->items != own->items && !type_matches(own, type))
        err =
            type_fail_two(DREP_ERR_TYPE,
                          "a fill value of type %s as %s: numbers of data items differ", own, type);
    else
        memset((char *)value + drep_type_true_lb(type), 0, (size_t)drep_type_true_extent(type));
    if (!err && dataset->rec.fill == FMT_FILL_VALUE)
        err = fill_read(dataset, type, value);
    return read_end(dataset->file, fail_dataset(err, dataset->path));
}

/* A default fill has no rows: it is zero, whatever stores it. */
int drep_dataset_fill_encodings(drep_dataset *dataset, drep_encoding *rows, int max, int *n)
{
    int found = 0, err;

    if (!n || (!rows && max > 0))
        return fail(DREP_ERR_ARG, "drep_dataset_fill_encodings: null argument");
    if ((err = dataset_check(dataset, "drep_dataset_fill_encodings")))
        return err;
    if ((err = read_begin(dataset->file)))
        return err;
    if (dataset->rec.fill == FMT_FILL_VALUE)
        err = value_encodings(&dataset->rec.fill_value, dataset->ft->type, rows, max, &found);
    if (!err)
        *n = found;
    return read_end(dataset->file, fail_dataset(err, dataset->path));
}

/* ---- filters by name ---- */

const char *drep_filter_name(int id)
{
    return fmt_filter_name(id);
}

int drep_filter_from_name(const char *name)
{
    return !name ? 0 : fmt_filter_from_name(name);
}

int drep_filter_available(int id)
{
    return filter_available(id);
}
