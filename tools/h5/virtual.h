/* virtual.h - the files that hold a dataset's elements. */
/* SPDX-License-Identifier: MIT */
#ifndef TOOLS_H5_VIRTUAL_H
#define TOOLS_H5_VIRTUAL_H

#include "tools/h5/source.h"
#include "tools/walk/box.h"

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

/* The smallest box around mapping i of a virtual dataset, inside its shape; false: none is known.
 */
int virtual_box(const struct h5_source *s, size_t i, struct box *out);
/* The number of its mappings if at least half of it is covered by none of them; else 0. */
size_t virtual_sparse(const struct h5_source *s);

#endif
