/* glue.h - what the Fortran module calls: C functions that take Fortran's array descriptors.
 *
 * The library knows memory as a datatype at an address; Fortran hands over a descriptor with an
 * address, lengths and strides in bytes.  memory_of() makes the first of the second, so that
 * sections are read and written where they are.  Shapes are reversed: Fortran's first dimension,
 * which varies fastest, is the last of the file.  Indices begin at 1 in Fortran, at 0 in the file.
 *
 * Every function returns 0 or a code of enum drep_err and leaves its message to drep_error().
 * Texts end with a NUL.  The descriptor of an optional argument that the program leaves out is
 * NULL. Threads: as the calls of <datarep.h> that they stand for. */
/* SPDX-License-Identifier: MIT */
#ifndef DATAREP_FORTRAN_GLUE_H
#define DATAREP_FORTRAN_GLUE_H

#include <datarep.h>

#include <ISO_Fortran_binding.h>

/* An open file, and an open dataset of one.  Copies of a handle in Fortran share the box, which is
 * released with the last of them. */
struct fortran_file {
    int users;
    drep_file *file;                     /* NULL: closed */
    char *path;                          /* as messages have it */
    struct fortran_file *next, **before; /* in the list of those that are open */
};
enum { RANK_UNKNOWN = -100 };
struct fortran_dataset {
    int users;
    int rank;              /* of drep_dsinfo, which never changes, or RANK_UNKNOWN */
    drep_dataset *dataset; /* NULL: closed */
    char *path;
    struct fortran_file *file; /* shared with it */
};

/* Ends an opening that gave `err`: releases the hints; if it gave a file, makes a box for that and
 * lists it.  After an error of its own the file is abandoned.  mode: what the program gave, for the
 * message; NULL: nothing. */
DREP_API int drep_fortran_file_keep(int err, drep_info *hints, drep_file *file, const char *path,
                                    const char *mode, struct fortran_file **out);
/* The access mode of "r", "rw" or NULL, which is "r"; 0, which every call refuses, for another. */
DREP_API int drep_fortran_mode(const char *mode);
/* The open file of a box, or NULL with the message set (DREP_ERR_ARG).  A box has a copy more, or
 * less: the last one closes the file. */
DREP_API drep_file *drep_fortran_file_handle(const struct fortran_file *box);
DREP_API void drep_fortran_file_share(struct fortran_file *box);
DREP_API int drep_fortran_file_release(struct fortran_file *box);
/* Begins an opening by a handle that has the box `old` (NULL: none): looks at the path, and makes
 * hints of "key=value key=value"; *out is NULL where text is.  DREP_ERR_ARG: the handle is the only
 * one of a file that it writes. */
DREP_API int drep_fortran_begin(const struct fortran_file *old, const char *path, const char *text,
                                drep_info **out);

#endif
