/* family.h - HDF5 files that are several files: the names of their parts.
 *
 * HDF5's driver "family" cuts a file into members of equal size, whose names have a number where
 * the name of the whole has "%d"; its driver "multi", or "split", keeps metadata and elements
 * apart. */
/* SPDX-License-Identifier: MIT */
#ifndef TOOLS_HOST_FAMILY_H
#define TOOLS_HOST_FAMILY_H

#include <stdbool.h>
#include <stddef.h>

/* The name of member i of "name%d.h5", "name%05d.h5" and the like; false if that is no such name,
 * or `size` bytes are too few. */
bool family_member(const char *name, unsigned i, char *out, size_t size);
/* What a file is that is a part of an HDF5 file: "one file of an HDF5 family; import a%d.h5"; false
 * if it is none. */
bool family_part(const char *path, char *text, size_t size);

#endif
