/* verify.h - what an exported file is compared with. */
/* SPDX-License-Identifier: MIT */
#ifndef TOOLS_H5_VERIFY_H
#define TOOLS_H5_VERIFY_H

#include "tools/h5/values.h"

/* Position of compared elements. */
struct verified {
    const char *path;
    const char *what; /* "" or "attribute " and the like */
    const char *name; /* of the attribute */
    int rank;
    const int64_t *start, *count; /* of the box; start NULL: zeros */
};
/* Compares n elements that HDF5 gave, in its memory, with ours; DREP_ERR_CONVERSION with a
 * message if they differ.  Puts ours the way that HDF5 has references. */
int verify_elements(struct job *j, const struct verified *at, const struct map *m, size_t n,
                    void *ours, const void *theirs);
int verify_type(struct job *j, const struct verified *at, hid_t made, hid_t read);
int verify_shape(struct job *j, const struct verified *at, const int64_t *dims, hid_t space);
/* Compares the bytes of an attribute that export made by itself. */
int verify_made(struct job *j, hid_t object, const struct verified *at, hid_t mem,
                const void *value, size_t n);
int verify_failed(struct job *j, const struct verified *at, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

#endif
