/* library.h - libhdf5, as the module sees it.
 *
 * Later versions of HDF5 offer the calls of 1.10 under this name. */
/* SPDX-License-Identifier: MIT */
#ifndef TOOLS_H5_LIBRARY_H
#define TOOLS_H5_LIBRARY_H

#define H5_USE_110_API
#include <hdf5.h>
#if __has_include(<H5FDdevelop.h>)
#include <H5FDdevelop.h>
#endif

#endif
