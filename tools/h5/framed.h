/* framed.h - registered filters of HDF5 that libhdf5 has not, decoded and encoded here. */
/* SPDX-License-Identifier: MIT */
#ifndef TOOLS_H5_FRAMED_H
#define TOOLS_H5_FRAMED_H

#include "tools/h5/library.h"
#include <datarep.h>
#include <stddef.h>
#include <stdint.h>

#define FRAMED_NAME "datarep " /* in front of the names under which libhdf5 knows them */

/* Tells libhdf5 about those filters whose compressors are built in. */
int framed_register(void);
/* Gives such a filter the name that files get; false: it is no such filter.  The name stays the
 * caller's. */
int framed_rename(H5Z_filter_t id, const char *name);
/* The container's filter that keeps the streams of one of HDF5; false: there is none. */
int framed_in(H5Z_filter_t id, size_t n, const unsigned *value, drep_filter *out);
/* The other way: parameters in value, which has room for 8, their number in *n.  chunk: bytes of
 * one.  0: it is no filter of HDF5's. */
H5Z_filter_t framed_out(const drep_filter *f, size_t chunk, size_t *n, unsigned *value);

#endif
