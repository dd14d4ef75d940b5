/* import.h - an HDF5 or netCDF-4 file becomes a container. */
/* SPDX-License-Identifier: MIT */
#ifndef TOOLS_H5_IMPORT_H
#define TOOLS_H5_IMPORT_H

#include "tools/h5/job.h"

int import_all(struct job *j);

#endif
