/* byte_ranges.h - which bytes of a stored element are those of some of its members.
 *
 * A set of bytes as ranges: ascending, not empty, with something between two of them, so that equal
 * sets are equal bytes.  They are kept as a message has them. */
/* SPDX-License-Identifier: MIT */
#ifndef CONV_BYTE_RANGES_H
#define CONV_BYTE_RANGES_H

#include "type/type.h"

#include <stdbool.h>

enum { BYTE_RANGE = 16 }; /* bytes of a range: where it begins, its length, 8 bytes each */

struct byte_ranges {
    uint8_t *range;
    size_t n; /* 0: all members */
};

/* The bytes of all items of a layout. */
int byte_ranges_of(const struct prog *stored, const struct type_sizes *sizes,
                   struct byte_ranges *out);
/* The bytes of either, in a new set. */
int byte_ranges_unite(const struct byte_ranges *a, const struct byte_ranges *b,
                      struct byte_ranges *out);
void byte_ranges_release(struct byte_ranges *s);
static inline size_t byte_ranges_size(const struct byte_ranges *s)
{
    return s ? s->n * BYTE_RANGE : 0;
}
/* NULL: all members. */
bool byte_ranges_same(const struct byte_ranges *a, const struct byte_ranges *b);
/* True if they have bytes in common. */
bool byte_ranges_meet(const struct byte_ranges *a, const struct byte_ranges *b);
/* True if a set that came in a message is one, inside an element of `size` bytes. */
bool byte_ranges_valid(const struct byte_ranges *s, uint64_t size);
/* Copy these bytes of an element of `size` bytes; NULL: all of it. */
void byte_ranges_copy(const struct byte_ranges *s, uint8_t *to, const uint8_t *from, size_t size);
/* Bytes of an item of this leaf in the file. */
int64_t stored_size(const struct type_sizes *sizes, const drep_type *leaf);

#endif
