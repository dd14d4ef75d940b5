/* assemble.c - elements of a virtual dataset, read at their sources.
 *
 * H5Dread() looks at all mappings of a virtual dataset, however few elements it reads.  Where no
 * two mappings overlap and each takes a box from a box, the elements of a box are those of the few
 * sources that it meets, and the fill value.  What is not so simple is left to H5Dread(): a source
 * that is smaller than its selection, strides, and files that the environment has HDF5 look for
 * elsewhere. */
/* SPDX-License-Identifier: MIT */
#include "tools/h5/assemble.h"
#include "tools/h5/hyperslab.h"
#include "tools/h5/virtual_out.h"
#include <stdlib.h>
#include <string.h>

int assembly_begin(struct assembly *a, struct job *j, hid_t dset, const struct map *map)
{
    hsize_t dims[H5S_MAX_RANK];
    H5D_fill_value_t defined;
    int rank, err;

    *a = (struct assembly){.j = j,
                           .space = H5Dget_space(dset),
                           .dcpl = H5Dget_create_plist(dset),
                           .map = map,
                           .direct = {.open = virtual_out_source, .ctx = j}};
    rank = H5Sget_simple_extent_dims(a->space, dims, NULL);
    err = mappings_read(a->j, a->dcpl, rank, dims, &a->mappings);
    if (err || a->mappings.order < 0 || a->map->kind != MAP_FLAT || a->map->variable ||
        getenv("HDF5_VDS_PREFIX") || H5Pfill_value_defined(a->dcpl, &defined) < 0 ||
        defined == H5D_FILL_VALUE_UNDEFINED)
        return err;
    a->fill = calloc(1, a->map->hsize + 1);
    if (!a->fill)
        return job_no_memory(a->j);
    if (H5Pget_fill_value(a->dcpl, a->map->mem, a->fill) < 0) {
        free(a->fill);
        a->fill = NULL;
    }
    return 0;
}

void assembly_end(struct assembly *a)
{
    if (!a->map)
        return;
    mappings_release(&a->mappings);
    direct_release(&a->direct);
    H5Sclose(a->space);
    H5Pclose(a->dcpl);
    free(a->fill);
    a->fill = NULL;
}

/* The part of box b that is in `with`, false: there is none. */
static int intersect(const struct box *b, const struct box *with, struct box *out)
{
    int d;

    *out = (struct box){.rank = b->rank};
    for (d = 0; d < b->rank; d++) {
        int64_t end = b->start[d] + b->count[d], other = with->start[d] + with->count[d];

        out->start[d] = b->start[d] > with->start[d] ? b->start[d] : with->start[d];
        out->count[d] = (end < other ? end : other) - out->start[d];
        if (out->count[d] <= 0)
            return 0;
    }
    return 1;
}

/* Reads a part of box b, which is inside the box of the mapping at hand. */
static int read_part(struct assembly *a, const struct box *b, const struct box *part, hid_t dxpl,
                     void *h)
{
    struct box there, at = *part;
    int d, whole = box_elements(part) == box_elements(b), ok;
    hid_t mem;

    direct_box(&a->direct, part, &there);
    for (d = 0; d < b->rank; d++)
        at.start[d] -= b->start[d];
    mem = box_space(whole ? &there : b);
    ok = (whole || box_select_hdf5(&at, mem) >= 0) &&
         box_select_hdf5(&there, a->direct.space) >= 0 &&
         H5Dread(a->direct.dset, a->map->mem, mem, a->direct.space, dxpl, h) >= 0;
    H5Sclose(mem);
    return ok;
}

/* Puts the fill value into all elements of a box. */
static void fill_box(const struct assembly *a, const struct box *b, uint8_t *h)
{
    size_t all = (size_t)box_elements(b) * a->map->hsize, n = a->map->hsize;

    memcpy(h, a->fill, n);
    for (; n < all; n *= 2)
        memcpy(h + n, h, n < all - n ? n : all - n);
}

int assembly_read(struct assembly *a, const struct box *b, hid_t dxpl, void *h)
{
    int order = a->mappings.order, met, ok = a->fill != NULL;
    struct box whole, cut, part;
    size_t i;

    if (!ok)
        return 0;
    fill_box(a, b, h);
    for (i = mappings_find(&a->mappings, b->start[order]); ok && i < a->mappings.n; i++) {
        mappings_box(&a->mappings, i, &whole);
        if (whole.start[order] >= b->start[order] + b->count[order])
            break;
        met = intersect(b, &whole, &part);
        cut = whole;
        ok =
            !met || (direct_find(a->j, a->dcpl, a->space, i, &cut, &a->direct) &&
                     box_elements(&cut) == box_elements(&whole) && read_part(a, b, &part, dxpl, h));
    }
    return ok;
}
