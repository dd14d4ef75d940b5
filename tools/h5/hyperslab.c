/* hyperslab.c - boxes as HDF5 selects them. */
/* SPDX-License-Identifier: MIT */
#include "tools/h5/hyperslab.h"

int box_select_hdf5(const struct box *b, hid_t space)
{
    hsize_t start[H5S_MAX_RANK], count[H5S_MAX_RANK];
    int d;

    if (b->rank == 0)
        return H5Sselect_all(space);
    for (d = 0; d < b->rank; d++) {
        start[d] = (hsize_t)b->start[d];
        count[d] = (hsize_t)b->count[d];
    }
    return H5Sselect_hyperslab(space, H5S_SELECT_SET, start, NULL, count, NULL);
}

/* HDF5 is slow between shapes that differ, even if the elements are as many. */
hid_t box_space(const struct box *b)
{
    hsize_t count[H5S_MAX_RANK];
    int d;

    for (d = 0; d < b->rank; d++)
        count[d] = (hsize_t)b->count[d];
    return b->rank ? H5Screate_simple(b->rank, count, NULL) : H5Screate(H5S_SCALAR);
}
