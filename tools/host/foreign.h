/* foreign.h - what a file is that is not ours. */
/* SPDX-License-Identifier: MIT */
#ifndef TOOLS_HOST_FOREIGN_H
#define TOOLS_HOST_FOREIGN_H

#include <stdbool.h>
#include <stdio.h>

/* "an HDF5 file; use: datarep import", by its first bytes; NULL: nobody knows. */
const char *foreign_front(const char *front, size_t size);
/* Like foreign_front(), reading the start of a file. */
const char *foreign_name(FILE *f);
/* HDF5 begins at 0, or behind a user block of 512, 1024, 2048, ... bytes. */
bool foreign_is_hdf5(FILE *f);
/* Classic netCDF: CDF-1, CDF-2 or CDF-5. */
bool foreign_is_netcdf(const char *front, size_t size);

#endif
