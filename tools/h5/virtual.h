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
/* True if a dataset has its elements itself, not in raw files or sources of its own. */
int virtual_own(hid_t dset);
/* The dataset that a mapping takes its elements from.  {0} before the first use; the same one
 * serves mapping after mapping, so that neighbours with one source open it once. */
struct direct {
    hid_t dset, space; /* dset <= 0: none is open */
    char *file, *dataset;
    int64_t shift[DREP_MAX_RANK]; /* from an index of the virtual dataset to one of the source */
};
/* True if mapping i takes exactly box b, which is virtual_box()'s, from one box of a dataset that
 * has its elements itself: then they are read there, without a look at all mappings.  b becomes
 * what the source has of it, maybe nothing: of a source that is too small HDF5 reads other
 * elements. */
int virtual_direct(struct job *j, const struct h5_source *s, size_t i, struct box *b,
                   struct direct *d);
void direct_release(struct direct *d);
/* True if along some dimension each mapping begins behind the one before it. */
int virtual_apart(const struct h5_source *s, size_t n);
/* The number of its mappings if at least half of it is covered by none of them; else 0. */
size_t virtual_sparse(const struct h5_source *s);

#endif
