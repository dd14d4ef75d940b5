/* named.h - which datatypes of an object's data and attributes are named ones. */
/* SPDX-License-Identifier: MIT */
#ifndef TOOLS_H5_NAMED_H
#define TOOLS_H5_NAMED_H

#include "tools/h5/job.h"

/* The datatypes of an object's data (attribute NULL) and attributes that are named ones. */
struct sharing {
    char *attribute; /* NULL: the data */
    uint64_t type;   /* import: our id of the named datatype; export: its address */
};
struct sharings {
    struct sharing *s;
    size_t n, room;
};
/* *shared: whether it is one that the container has too. */
int keep_sharing(struct job *j, struct sharings *all, hid_t type, const char *path,
                 const char *attribute, int *shared);
int sharings_write(struct job *j, const struct sharings *all, const char *path);
int sharings_read(struct job *j, const char *path, struct sharings *all);
uint64_t sharing_of(const struct sharings *all, const char *attribute);
void sharings_release(struct sharings *all);

#endif
