/* scale_out.h - dimension objects become the dimension scales of HDF5 and netCDF-4. */
/* SPDX-License-Identifier: MIT */
#ifndef TOOLS_H5_SCALE_OUT_H
#define TOOLS_H5_SCALE_OUT_H

#include "tools/h5/job.h"

/* Writes the attributes that say so or, while the file is read back (j->back), compares. */
int export_dimensions(struct job *j);

#endif
