/* mapping.c - the mappings of a virtual dataset.
 *
 * A mapping gives a selection of the virtual dataset the elements of a selection of a source, both
 * in row-major order.  Most take a box from a box.  Such elements are read at the source: libhdf5
 * looks at all mappings in each read. */
/* SPDX-License-Identifier: MIT */
#include "tools/h5/mapping.h"
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

void mapping_release(struct mapping *m)
{
    free(m->file);
    free(m->dataset);
    if (m->source > 0)
        H5Sclose(m->source);
    if (m->target > 0)
        H5Sclose(m->target);
}

int mapping_read(struct job *j, hid_t dcpl, size_t i, struct mapping *m)
{
    ssize_t file = H5Pget_virtual_filename(dcpl, i, NULL, 0);
    ssize_t dataset = H5Pget_virtual_dsetname(dcpl, i, NULL, 0);

    *m = (struct mapping){.source = H5Pget_virtual_srcspace(dcpl, i),
                          .target = H5Pget_virtual_vspace(dcpl, i)};
    if (file < 0 || dataset < 0 || m->source < 0 || m->target < 0)
        return job_fail_hdf5(j, "virtual dataset");
    m->file = calloc((size_t)file + 1, 1);
    m->dataset = calloc((size_t)dataset + 1, 1);
    if (!m->file || !m->dataset)
        return job_no_memory(j);
    H5Pget_virtual_filename(dcpl, i, m->file, (size_t)file + 1);
    H5Pget_virtual_dsetname(dcpl, i, m->dataset, (size_t)dataset + 1);
    return 0;
}

/* ------------------------------------------------------------------- their boxes */

/* Start and count of the target of mapping i, cut at the shape; false: they are unknown. */
static int read_bounds(hid_t dcpl, size_t i, int rank, const hsize_t *dims, int64_t *bounds)
{
    hsize_t first[H5S_MAX_RANK], last[H5S_MAX_RANK];
    hid_t space = H5Pget_virtual_vspace(dcpl, i);
    int d, known = space > 0 && H5Sget_simple_extent_ndims(space) == rank &&
                   H5Sget_select_type(space) == H5S_SEL_HYPERSLABS &&
                   H5Sget_select_bounds(space, first, last) >= 0;

    if (space > 0)
        H5Sclose(space);
    for (d = 0; known && d < rank; d++) {
        if (last[d] >= dims[d])
            last[d] = dims[d] - 1;
        known = dims[d] > 0 && first[d] <= last[d];
        bounds[d] = (int64_t)first[d];
        bounds[rank + d] = known ? (int64_t)(last[d] - first[d]) + 1 : 0;
    }
    return known;
}

/* The dimension along which the mappings follow each other; -1: none. */
static int find_order(const struct mappings *all)
{
    size_t i, step = 2 * (size_t)all->rank;
    int d;

    for (d = 0; d < all->rank; d++) {
        const int64_t *b = all->bounds;

        for (i = 1; i < all->n && b[step + (size_t)d] >= b[d] + b[all->rank + d]; i++)
            b += step;
        if (i >= all->n)
            return d;
    }
    return -1;
}

int mappings_read(struct job *j, hid_t dcpl, int rank, const hsize_t *dims, struct mappings *out)
{
    double whole = 1;
    struct box b;
    size_t i;
    int d;

    *out = (struct mappings){.rank = rank, .order = -1};
    if (rank <= 0 || H5Pget_virtual_count(dcpl, &out->n) < 0 || out->n == 0 ||
        out->n > MAPPINGS_MAX)
        return 0;
    out->bounds = calloc(out->n, 2 * (size_t)rank * sizeof *out->bounds);
    if (!out->bounds)
        return job_no_memory(j);
    for (i = 0; i < out->n; i++) {
        if (!read_bounds(dcpl, i, rank, dims, out->bounds + i * 2 * (size_t)rank)) {
            mappings_release(out);
            return 0;
        }
        mappings_box(out, i, &b);
        out->covered += (double)box_elements(&b);
    }
    for (d = 0; d < rank; d++)
        whole *= (double)dims[d];
    out->order = find_order(out);
    out->sparse = out->covered <= whole / 2;
    return 0;
}

void mappings_release(struct mappings *all)
{
    free(all->bounds);
    all->bounds = NULL;
}

void mappings_box(const struct mappings *all, size_t i, struct box *out)
{
    const int64_t *bounds = all->bounds + i * 2 * (size_t)all->rank;
    size_t size = (size_t)all->rank * sizeof *bounds;

    memset(out, 0, sizeof *out);
    out->rank = all->rank;
    memcpy(out->start, bounds, size);
    memcpy(out->count, bounds + all->rank, size);
}

size_t mappings_find(const struct mappings *all, int64_t at)
{
    size_t low = 0, high = all->n;

    while (low < high) {
        size_t mid = low + (high - low) / 2;
        const int64_t *b = all->bounds + mid * 2 * (size_t)all->rank + all->order;

        if (b[0] + b[all->rank] <= at)
            low = mid + 1;
        else
            high = mid;
    }
    return low;
}

/* ---------------------------------------------------------------------- one source */

int dataset_is_own(hid_t dset)
{
    hid_t dcpl = H5Dget_create_plist(dset);
    int own = dcpl > 0 && H5Pget_layout(dcpl) != H5D_VIRTUAL && H5Pget_external_count(dcpl) == 0;

    if (dcpl > 0)
        H5Pclose(dcpl);
    return own;
}

void direct_release(struct direct *d)
{
    if (d->dset > 0) {
        H5Sclose(d->space);
        H5Dclose(d->dset);
    }
    free(d->file);
    free(d->dataset);
    *d = (struct direct){.open = d->open, .ctx = d->ctx};
}

int direct_open(struct direct *d, const char *file, const char *dataset)
{
    if (d->dset > 0 && strcmp(d->file, file) == 0 && strcmp(d->dataset, dataset) == 0)
        return 1;
    direct_release(d);
    if (strchr(file, '%') || strchr(dataset, '%'))
        return 0;
    d->dset = d->open(d->ctx, file, dataset);
    d->absent = d->dset <= 0;
    if (d->absent)
        return 0;
    d->space = H5Dget_space(d->dset);
    d->rank = H5Sget_simple_extent_dims(d->space, d->dims, NULL);
    d->file = strdup(file);
    d->dataset = strdup(dataset);
    if (d->file && d->dataset && d->rank > 0 && dataset_is_own(d->dset))
        return 1;
    direct_release(d);
    return 0;
}

/* The box that a selection takes of a dataspace, inside or not; false: it is something else.  Of a
 * selection of everything HDF5 keeps no shape. */
static int selected_box(hid_t selection, hid_t space, struct box *b)
{
    hsize_t start[H5S_MAX_RANK], stride[H5S_MAX_RANK], count[H5S_MAX_RANK], block[H5S_MAX_RANK];
    hsize_t dims[H5S_MAX_RANK];
    int d, rank = H5Sget_simple_extent_dims(space, dims, NULL);
    int kind = H5Sget_select_type(selection);

    memset(b, 0, sizeof *b);
    b->rank = rank;
    for (d = 0; kind == H5S_SEL_ALL && d < rank; d++)
        b->count[d] = (int64_t)dims[d];
    if (rank <= 0 || kind == H5S_SEL_ALL)
        return rank > 0;
    if (kind != H5S_SEL_HYPERSLABS || H5Sget_simple_extent_ndims(selection) != rank ||
        H5Sis_regular_hyperslab(selection) <= 0 ||
        H5Sget_regular_hyperslab(selection, start, stride, count, block) < 0)
        return 0;
    for (d = 0; d < rank; d++) {
        if (count[d] == H5S_UNLIMITED || block[d] == H5S_UNLIMITED ||
            (count[d] > 1 && stride[d] != block[d]))
            return 0;
        b->start[d] = (int64_t)start[d];
        b->count[d] = (int64_t)(count[d] * block[d]);
    }
    return 1;
}

/* Pairs the dimensions of two boxes in their order, but for those with one index: elements are in
 * row-major order in both.  False: the boxes have different shapes. */
static int pair_dimensions(struct direct *d, const struct box *from, const struct box *to)
{
    int e, k = 0;

    for (e = 0; e < from->rank; e++) {
        d->along[e] = -1;
        d->shift[e] = from->start[e];
        if (from->count[e] == 1)
            continue;
        while (k < to->rank && to->count[k] == 1)
            k++;
        if (k == to->rank || to->count[k] != from->count[e])
            return 0;
        d->shift[e] -= to->start[k];
        d->along[e] = k++;
    }
    while (k < to->rank && to->count[k] == 1)
        k++;
    return k == to->rank;
}

/* Cuts the box b of the virtual dataset to what the source has. */
static void cut_box(const struct direct *d, const struct box *from, struct box *b)
{
    int e;

    for (e = 0; e < d->rank; e++) {
        int k = d->along[e] < 0 ? 0 : d->along[e];
        int64_t inside = (int64_t)d->dims[e] - from->start[e];

        inside = inside < 0 ? 0 : inside;
        if (d->along[e] >= 0 || inside == 0)
            b->count[k] = b->count[k] < inside ? b->count[k] : inside;
    }
}

int direct_find(struct job *j, hid_t dcpl, hid_t space, size_t i, struct box *b, struct direct *d)
{
    struct mapping m;
    struct box from, to;
    int ok = mapping_read(j, dcpl, i, &m) == 0 && selected_box(m.target, space, &to) &&
             direct_open(d, m.file, m.dataset) && selected_box(m.source, d->space, &from) &&
             pair_dimensions(d, &from, &to);
    size_t size = (size_t)b->rank * sizeof *b->start;

    ok = ok && memcmp(to.start, b->start, size) == 0 && memcmp(to.count, b->count, size) == 0;
    if (ok)
        cut_box(d, &from, b);
    mapping_release(&m);
    return ok;
}

void direct_box(const struct direct *d, const struct box *b, struct box *out)
{
    int e;

    memset(out, 0, sizeof *out);
    out->rank = d->rank;
    for (e = 0; e < d->rank; e++) {
        int k = d->along[e];

        out->start[e] = d->shift[e] + (k < 0 ? 0 : b->start[k]);
        out->count[e] = k < 0 ? 1 : b->count[k];
    }
}
