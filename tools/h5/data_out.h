/* data_out.h - the elements of a container's dataset go into an HDF5 one. */
/* SPDX-License-Identifier: MIT */
#ifndef TOOLS_H5_DATA_OUT_H
#define TOOLS_H5_DATA_OUT_H

#include "tools/h5/job.h"

/* Writes them or, while the file is read back (j->back), compares. */
int export_data(struct job *j, const struct h5_object *o);

#endif
