/* arena.h - memory for the strings and sequences that HDF5 reads. */
/* SPDX-License-Identifier: MIT */
#ifndef TOOLS_H5_ARENA_H
#define TOOLS_H5_ARENA_H

#include "tools/h5/library.h"
#include <stddef.h>

/* Memory for the strings and sequences that HDF5 reads, given up all at once. */
struct arena {
    struct slab *slabs;
    size_t total, limit;
    int refused; /* reading failed because the limit was reached */
};
/* How to read into it; to be closed. */
hid_t arena_transfer(struct arena *a);
/* Before so many elements are read: one may have contents of any size, more only some MiB. */
void arena_begin(struct arena *a, size_t elements);
void arena_release(struct arena *a);

#endif
