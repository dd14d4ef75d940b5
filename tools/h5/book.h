/* book.h - the attributes by which netCDF-4 keeps its books in HDF5 files.
 *
 * They are no attributes of the user: import makes notes of them (schema/note.h), and export writes
 * those that still fit their object and no others, since libnetcdf does not open files in which
 * they contradict the dimensions. */
/* SPDX-License-Identifier: MIT */
#ifndef TOOLS_H5_BOOK_H
#define TOOLS_H5_BOOK_H

#include "tools/h5/object.h"

struct job;

/* Whether an attribute of an HDF5 file is one of them. */
int book_is(const char *name);
/* The name in HDF5 of a note that import made of one, in `name`; NULL: another attribute. */
const char *book_name(const char *name);
/* Whether the note at `path` still fits: versions belong to the root, the numbers of dimensions are
 * written if all dimensions of the file have one, and a list of coordinates if it names the
 * dimensions of its dataset in their order. */
int book_fits(struct job *j, const struct h5_object *o, const char *path, const char *name);

#endif
