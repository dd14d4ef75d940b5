/* blocks.h - the elements of a selection in row-major order, in blocks of bounded size.
 *
 * A dataset is never in memory as a whole: a block is as many whole rows, planes, ... as
 * fit, and ends where a row of chunks does if one fits. */
/* SPDX-License-Identifier: MIT */
#ifndef TOOLS_WALK_BLOCKS_H
#define TOOLS_WALK_BLOCKS_H

#include "tools/walk/slice.h"

struct blocks {
    const struct slice *slice;
    const drep_xfer *xfer; /* how blocks_read() reads; NULL: the defaults */
    int64_t first;         /* number of the block's first element in the selection */
    int64_t len;           /* elements in the block */
    int64_t most;          /* elements in the largest */
    int64_t at[DREP_MAX_RANK], count[DREP_MAX_RANK]; /* in selected elements */
    int split;           /* the dimension in which blocks follow each other, -1: one block */
    int64_t rows, chunk; /* of it in a full block; in a chunk */
};

/* extent: bytes of an element in memory; variable: it has more that is not counted.  The
 * slice must outlive it. */
void blocks_init(struct blocks *b, const struct slice *slice, const drep_dsinfo *info,
                 int64_t extent, bool variable);
/* Steps to the next block, at first to the first one; false behind the last. */
bool blocks_next(struct blocks *b);
/* Like drep_read() and drep_attr_read() for text, in which no number changes: DREP_ERR_CONVERSION
 * for complex numbers that even the widest of memory (COMPLEX32) round. */
int elements_read(drep_dataset *dataset, const drep_selection *selection, const drep_type *type,
                  void *buf);
int attribute_read(drep_file *file, const char *path, const char *name, const drep_type *type,
                   void *buf);
/* Reads the block, as b->xfer says or, without it, like elements_read(); buf has room for b->most
 * elements. */
int blocks_read(const struct blocks *b, drep_dataset *dataset, const drep_type *type, void *buf);

/* Called with each block; non-zero stops. */
typedef int blocks_fn(void *ctx, const drep_type *type, const void *elements, int64_t first,
                      int64_t count);
/* Reads all of them as `type`.  A DREP_ERR_... code of the reading, or what fn gave. */
int blocks_each(drep_dataset *dataset, const drep_dsinfo *info, const drep_type *type,
                const struct slice *slice, blocks_fn *fn, void *ctx);

#endif
