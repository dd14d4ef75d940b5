/* type_out.h - HDF5's datatypes, made from ours. */
/* SPDX-License-Identifier: MIT */
#ifndef TOOLS_H5_TYPE_OUT_H
#define TOOLS_H5_TYPE_OUT_H

#include "tools/h5/job.h"
#include "tools/h5/note.h"

/* The HDF5 datatype for one of ours, as notes want it; 0 and j->why on failure.
 * named: of a named datatype, not of data. */
hid_t type_out_make(struct job *j, const drep_type *type, const struct notes *notes, int named);

#endif
