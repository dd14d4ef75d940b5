/* refs.h - references to other objects inside stored elements.
 *
 * A reference is the number of an object.  When objects are copied their numbers change, and every
 * reference in attributes, fill values and elements changes with them. */
/* SPDX-License-Identifier: MIT */
#ifndef CONV_REFS_H
#define CONV_REFS_H

#include "type/type.h"

struct refs {
    uint8_t *heap; /* behind the elements */
    size_t heap_size;
    const struct type_sizes *sizes; /* of a self-described value; NULL: of a dataset */
    uint64_t (*map)(void *ctx, uint64_t id);
    void *ctx;
};

/* Does an element of this type hold references? */
bool type_refers(const drep_type *type);
/* Find the greatest id that elements in memory refer to, also those in their sequences; 0: none. */
uint64_t refs_greatest(const drep_type *type, int64_t count, const void *buf);
/* Replaces each reference in n stored elements and their contents, once, by what map() makes of it.
 * The elements have passed heap_check(). */
int refs_map(const struct refs *r, const struct prog *stored, uint8_t *elems, int64_t n);

#endif
