/* registered.h - filters of HDF5 by their numbers: what they are, and where they can be had. */
/* SPDX-License-Identifier: MIT */
#ifndef TOOLS_H5_REGISTERED_H
#define TOOLS_H5_REGISTERED_H

#include "tools/h5/library.h"
#include <stddef.h>

/* True if the filter gives back the bytes that it was given, whatever its parameters. */
int registered_is_lossless(H5Z_filter_t id);
/* The first filter of these properties that HDF5 has no plugin for: true, and a sentence on it
 * that says where one can be had. */
int registered_missing(hid_t dcpl, char *text, size_t size);

#endif
