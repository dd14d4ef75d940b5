/* source.c - a dataset of HDF5, as import reads it.
 *
 * libhdf5 trusts a dataset's header, so the header is checked before its properties are read. */
/* SPDX-License-Identifier: MIT */
#include "tools/h5/source.h"
#include "tools/h5/chunk.h"
#include "tools/h5/encoding.h"
#include "tools/h5/header.h"
#include "tools/h5/hyperslab.h"
#include "tools/h5/job.h"
#include "tools/h5/map.h"
#include "tools/h5/measure.h"
#include "tools/h5/note.h"
#include "tools/h5/object.h"
#include "tools/h5/registered.h"
#include "tools/h5/type_in.h"
#include "tools/h5/type_note.h"
#include "tools/walk/box.h"
#include <datarep.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

int source_shape(struct job *j, struct h5_source *s)
{
    H5S_class_t cls = H5Sget_simple_extent_type(s->space);
    int d;

    if (cls == H5S_NULL) {
        s->rank = DREP_NULL_SPACE;
        return 0;
    }
    s->rank = H5Sget_simple_extent_dims(s->space, s->dims, s->maxdims);
    if (s->rank < 0)
        return job_fail_hdf5(j, "dataspace");
    for (d = 0; d < s->rank; d++)
        if (s->dims[d] > INT64_MAX / 4)
            return job_fail(j, DREP_ERR_UNSUPPORTED, "a dimension beyond 2^61");
    return 0;
}

void source_close(struct h5_source *s)
{
    measure_free(s->measure);
    mappings_release(&s->mappings);
    map_release(&s->map);
    notes_release(&s->notes);
    if (s->dcpl > 0)
        H5Pclose(s->dcpl);
    if (s->space > 0)
        H5Sclose(s->space);
    if (s->type > 0)
        H5Tclose(s->type);
    if (s->dset > 0)
        H5Dclose(s->dset);
}

#define KEPT_MAPPINGS 100000

void source_keep_open(struct job *j, const struct h5_object *o, hid_t dset, hid_t dcpl)
{
    struct kept_open *k = &j->kept_open;
    size_t i, n = 0;

    if (H5Pget_layout(dcpl) != H5D_VIRTUAL || k->n == sizeof k->key / sizeof *k->key ||
        H5Pget_virtual_count(dcpl, &n) < 0 || n > KEPT_MAPPINGS - k->mappings)
        return;
    for (i = 0; i < k->n; i++)
        if (k->key[i] == o->key)
            return;
    if (H5Iinc_ref(dset) < 0)
        return;
    k->key[k->n] = o->key;
    k->dset[k->n++] = dset;
    k->mappings += n;
}

void sources_close(struct job *j)
{
    while (j->kept_open.n > 0)
        H5Dclose(j->kept_open.dset[--j->kept_open.n]);
}

/* Chunks that HDF5's cache would not hold, it decompresses for every part that is read;
 * and raw files are looked for beside the file.  Only opening by name says such things. */
static hid_t reopen_dataset(struct job *j, const struct h5_object *o, hid_t dset, hid_t dcpl,
                            hid_t type)
{
    hsize_t chunk[H5S_MAX_RANK], size = H5Tget_size(type);
    hid_t dapl = 0, again;
    char *path;
    int rank;

    if (H5Pget_layout(dcpl) == H5D_CHUNKED) {
        rank = H5Pget_chunk(dcpl, H5S_MAX_RANK, chunk);
        size = chunk_memory((size_t)size, rank, chunk);
        if (size > BLOCK_SIZE / 4 && size < SIZE_MAX) {
            dapl = H5Pcreate(H5P_DATASET_ACCESS);
            H5Pset_chunk_cache(dapl, 521, (size_t)size + 1, 1.0);
        }
    } else if (H5Pget_external_count(dcpl) > 0) {
        dapl = H5Pcreate(H5P_DATASET_ACCESS);
        H5Pset_efile_prefix(dapl, "${ORIGIN}");
    }
    if (dapl <= 0)
        return dset;
    /* Properties of access hold from the first opening on. */
    H5Dclose(dset);
    path = job_source(j, o);
    again = path ? H5Dopen2(j->h, path, dapl) : -1;
    free(path);
    H5Pclose(dapl);
    return again > 0 ? again : H5Oopen_by_addr(j->h, (haddr_t)o->key);
}

static int source_begin(struct job *j, const struct h5_object *o, struct h5_source *s)
{
    hid_t dset = H5Oopen_by_addr(j->h, (haddr_t)o->key);

    memset(s, 0, sizeof *s);
    s->dset = dset;
    if (dset <= 0)
        return 0;
    s->dcpl = dataset_plist(j, dset);
    if (s->dcpl <= 0)
        return DREP_ERR_UNSUPPORTED;
    source_keep_open(j, o, dset, s->dcpl);
    s->type = H5Dget_type(dset);
    if (s->type <= 0)
        return 0;
    s->dset = reopen_dataset(j, o, dset, s->dcpl, s->type);
    s->space = s->dset > 0 ? H5Dget_space(s->dset) : -1;
    return 0;
}

static int64_t file_extent(const struct job *j, const struct h5_source *s, const drep_type *type)
{
    int64_t size = 0;

    return drep_type_file_extent(type, s->datarep ? s->datarep : j->o->datarep, &size) ? 0 : size;
}

/* True if all items have the same size in the container, so that there is room for them where
 * they lie in HDF5's file. */
static int keeps_offsets(const struct job *j, const struct h5_source *s, const struct map *m)
{
    size_t i;

    if (m->kind != MAP_FLAT || m->variable)
        return 0;
    for (i = 0; i < m->nparts; i++)
        if (!keeps_offsets(j, s, &m->parts[i]))
            return 0;
    return m->nparts > 0 || file_extent(j, s, m->type) == (int64_t)m->hsize;
}

int64_t source_stored_size(const struct job *j, const struct h5_source *s)
{
    int64_t size = s->placed ? (int64_t)s->map.hsize : file_extent(j, s, s->map.type);

    if (size <= 0)
        size = drep_type_extent(s->map.type);
    return size > 0 ? size : 1;
}

/* The representation of a dataset where it is not the file's.  What nobody here can decode is not
 * converted, whatever was asked for. */
static const char *choose_datarep(const struct job *j, const struct h5_source *s)
{
    char why[sizeof j->why];
    int big = type_is_big(s->type);

    if (j->o->big_datarep && big)
        return j->o->big_datarep;
    if (s->layout != H5D_CHUNKED || !registered_missing(s->dcpl, why, sizeof why))
        return NULL;
    return big ? "external32" : strcmp(j->o->datarep, "internal") != 0 ? "internal" : NULL;
}

int source_open(struct job *j, const struct h5_object *o, struct h5_source *out)
{
    drep_type *stated = NULL;
    struct h5_source s;
    int err = source_begin(j, o, &s);

    if (!err && (s.dset <= 0 || s.type <= 0 || s.space <= 0 || s.dcpl <= 0))
        err = job_fail_hdf5(j, "dataset");
    if (!err)
        err = source_shape(j, &s);
    if (!err) {
        s.layout = H5Pget_layout(s.dcpl);
        if (s.layout == H5D_CHUNKED && H5Pget_chunk(s.dcpl, H5S_MAX_RANK, s.chunk) < 0)
            err = job_fail_hdf5(j, "chunks");
    }
    if (!err)
        s.datarep = choose_datarep(j, &s);
    if (!err)
        err = encodings_use(j, s.datarep, s.datarep ? -1 : 0);
    if (!err)
        err = type_note_read(j, s.dset, NULL, s.type, &stated);
    if (!err)
        err = map_from_hdf5(j, s.type, stated, j->o->exact ? ORDER_STORED : ORDER_SILENT, &s.notes,
                            &s.map);
    s.placed = !err && !stated && s.map.nparts > 0 && keeps_offsets(j, &s, &s.map);
    drep_type_free(stated);
    if (!err && s.layout == H5D_CHUNKED && s.rank > 0) {
        s.measure = measure_new(j, s.dset, s.dcpl, s.rank, s.chunk);
        err = s.measure ? 0 : job_no_memory(j);
    }
    if (!err && s.layout == H5D_VIRTUAL)
        err = mappings_read(j, s.dcpl, s.rank, s.dims, &s.mappings);
    if (err)
        source_close(&s);
    else
        *out = s;
    return err;
}
