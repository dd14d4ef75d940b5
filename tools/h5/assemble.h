/* assemble.h - elements of a virtual dataset, read at their sources. */
/* SPDX-License-Identifier: MIT */
#ifndef TOOLS_H5_ASSEMBLE_H
#define TOOLS_H5_ASSEMBLE_H

#include "tools/h5/map.h"
#include "tools/h5/mapping.h"

/* A virtual dataset of an exported file, which is read back. */
struct assembly {
    struct job *j;
    hid_t space, dcpl;
    const struct map *map; /* NULL: it is no virtual dataset */
    struct mappings mappings;
    struct direct direct;
    uint8_t *fill; /* HDF5's; NULL: elements are not read at their sources */
};
int assembly_begin(struct assembly *a, struct job *j, hid_t dset, const struct map *map);
void assembly_end(struct assembly *a);
/* Reads a box into h, which has its shape, as H5Dread() would; false: that must do it.  Elements
 * without a source are fill. */
int assembly_read(struct assembly *a, const struct box *b, hid_t dxpl, void *h);

#endif
