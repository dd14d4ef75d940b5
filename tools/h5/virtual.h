/* virtual.h - the files that hold a dataset's elements. */
/* SPDX-License-Identifier: MIT */
#ifndef TOOLS_H5_VIRTUAL_H
#define TOOLS_H5_VIRTUAL_H

#include "tools/h5/source.h"

struct absent {
    int64_t elements;
    char *why;
};
struct origins {
    struct absent *absent; /* what the dataset lacks */
    size_t n, room;
};
/* Follows virtual and raw storage to its files.  An error, with j->why, forbids reading the
 * dataset; origins_release() is due in any case. */
int origins_trace(struct job *j, const struct h5_source *s, struct origins *out);
void origins_release(struct origins *o);

/* Opens the sources of a virtual dataset: an open_source_fn whose ctx is this. */
struct virtual_opener {
    struct job *j;
    hid_t dset;
    char dir[PATH_MAX]; /* of the file that names the sources, with a slash at its end */
};
void virtual_opener_init(struct virtual_opener *o, struct job *j, hid_t dset);
hid_t virtual_source(void *ctx, const char *file, const char *dataset);

#endif
