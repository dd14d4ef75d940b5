/* hdf5.h - import and export through the HDF5 module.
 *
 * The module runs in a process of its own: libhdf5 crashes on some damaged files, and
 * then somebody must say so and take away what is half made. */
/* SPDX-License-Identifier: MIT */
#ifndef TOOLS_CMD_HDF5_H
#define TOOLS_CMD_HDF5_H

#include "tools/flat/exchange.h"

/* As tool_open(); but an HDF5 file is imported into a container without a name in $TMPDIR,
 * and that opened: *imported. */
int hdf5_open(const char *path, int amode, const char *plugins, drep_file **out, bool *imported);
/* Like hdf5_open(), but the chunks of an HDF5 or netCDF file stay in it and are not read: only its
 * headers are.  The container, which may open `path`, is made in the directory of `beside` and has
 * no name when it is open.  `path` must be in or below that directory. */
int hdf5_open_beside(const char *path, const char *beside, const char *plugins, drep_file **out,
                     bool *imported);
/* Gives an exit code. */
int hdf5_run(const struct exchange *x, bool import);

#endif
