/* some.h - which bytes of a stored element are those of some of its members.
 *
 * Ranges as they travel between ranks: ascending, not empty, with something between two of them. */
/* SPDX-License-Identifier: MIT */
#ifndef CONV_SOME_H
#define CONV_SOME_H

#include "type/type.h"

#include <stdbool.h>

enum { SOME_RANGE = 16 }; /* bytes of a range: where it begins, its length, 8 bytes each */

struct some {
    uint8_t *range;
    size_t n; /* 0: all members */
};

/* The items of a layout. */
int some_of(const struct prog *stored, const struct type_sizes *sizes, struct some *out);
/* Those of both, in a new one. */
int some_unite(const struct some *a, const struct some *b, struct some *out);
void some_release(struct some *s);
static inline size_t some_size(const struct some *s)
{
    return s ? s->n * SOME_RANGE : 0;
}
/* NULL: all members. */
bool some_same(const struct some *a, const struct some *b);
/* True if they have bytes in common. */
bool some_meet(const struct some *a, const struct some *b);
/* True if these are ranges, inside an element of `size` bytes. */
bool some_valid(const struct some *s, uint64_t size);
/* Copies these bytes of an element of `size` bytes; NULL: all of it. */
void some_copy(const struct some *s, uint8_t *to, const uint8_t *from, size_t size);
/* Bytes of an item of this leaf in the file. */
int64_t stored_size(const struct type_sizes *sizes, const drep_type *leaf);

#endif
