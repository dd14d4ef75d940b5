/* packed.h - data items back to back, as conversion functions see them in a file.
 *
 * Between the items of a user's buffer, laid out by a typemap, and the same items without a gap
 * under another representation.  Items are numbered through the tiled typemap, so a transfer may
 * begin anywhere; the packed bytes begin with its first item. */
/* SPDX-License-Identifier: MIT */
#ifndef REP_PACKED_H
#define REP_PACKED_H

#include "rep/convert.h"
#include "rep/rep.h"

/* Bytes of one item of a leaf.  DREP_ERR_TYPE if it has none. */
int packed_leaf_size(const struct type_sizes *sizes, const drep_type *leaf, int64_t *size);
/* Bytes that items [position, position + items) take. */
int packed_size(const struct type_sizes *sizes, const drep_type *type, int64_t position,
                int64_t items, int64_t *size);

struct packed_items {
    const drep_type *type; /* of the user's buffer */
    int64_t position, items;
    void *user, *file;
};
/* Converts them by the engine; reading: to the user's buffer.  opts NULL: values out of range are
 * wrapped.  *done as rep_convert() has it. */
int packed_convert(const struct rep_table *table, const struct packed_items *p, bool reading,
                   const struct rep_opts *opts, int64_t *done);

#endif
