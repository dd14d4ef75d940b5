/* format.h - which format a file is of, by its first bytes or by its name. */
/* SPDX-License-Identifier: MIT */
#ifndef TOOLS_FLAT_FORMAT_H
#define TOOLS_FLAT_FORMAT_H

#include <stdbool.h>
#include <stddef.h>

enum flat_format { FLAT_NONE, FLAT_NPY, FLAT_NPZ, FLAT_CSV, FLAT_RAW };

/* By what a file begins with, or how its name ends. */
int flat_by_front(const char *front, size_t size);
int flat_by_name(const char *path);
bool flat_is_hdf5_name(const char *path);
bool flat_is_netcdf_name(const char *path); /* of those, for readers of netCDF-4 */
/* The gate of new Datarep files: outfile_permit(), and a name that every reader takes for a file of
 * HDF5, netCDF, NumPy or CSV is refused.  An exit code. */
int flat_permit(const char *command, const char *path, bool *excl, bool force);
/* Its part about names. */
int flat_permit_name(const char *command, const char *path);

#endif
