/* hyperslab.h - boxes as HDF5 selects them. */
/* SPDX-License-Identifier: MIT */
#ifndef TOOLS_H5_HYPERSLAB_H
#define TOOLS_H5_HYPERSLAB_H

#include "tools/h5/library.h"
#include "tools/walk/box.h"

/* Selects the box in an HDF5 dataspace; -1 on failure. */
int box_select_hdf5(const struct box *b, hid_t space);
/* A dataspace of a box alone, for HDF5's memory. */
hid_t box_space(const struct box *b);

/* Bytes of one block in memory, where chunks do not ask for more. */
#define BLOCK_SIZE (4 << 20)

#endif
