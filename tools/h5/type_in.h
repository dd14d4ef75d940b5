/* type_in.h - what HDF5's datatypes are to us. */
/* SPDX-License-Identifier: MIT */
#ifndef TOOLS_H5_TYPE_IN_H
#define TOOLS_H5_TYPE_IN_H

#include "tools/h5/job.h"
#include "tools/h5/map.h"
#include "tools/h5/note.h"

/* Which byte orders to note: none unless asked for. */
enum { ORDER_SILENT, ORDER_STORED, ORDER_NAMED };
/* The map of an HDF5 datatype.  notes: gets what the container's datatype does not say,
 * may be NULL.  as: the container's datatype if it exists already, else NULL.
 * DREP_ERR_UNSUPPORTED with a reason where there is no counterpart; nothing to release
 * then. */
int map_from_hdf5(struct job *j, hid_t type, const drep_type *as, int orders, struct notes *notes,
                  struct map *out);
/* True if h5py takes a compound for a complex number: reals r and i of one type, side by side. */
int type_is_complex(hid_t type);
/* True if the numbers of an HDF5 datatype are big-endian, all that are longer than a byte and at
 * least one. */
int type_is_big(hid_t type);

#endif
