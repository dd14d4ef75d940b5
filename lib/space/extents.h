/* extents.h - a set of bytes, held as sorted extents that never touch.
 *
 * Extents that meet become one.  It is an array of pages of extents, so a change moves a
 * page and not everything, and a search for room skips a page by its longest extent. */
/* SPDX-License-Identifier: MIT */
#ifndef SPACE_EXTENTS_H
#define SPACE_EXTENTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct extent {
    uint64_t offset, length;
};

struct extents_page;
struct extents {
    struct extents_page **page;
    size_t n, room;
};

static inline uint64_t round_up(uint64_t v, uint64_t align)
{
    return (v + align - 1) / align * align;
}

void extents_release(struct extents *x); /* leaves it empty */

/* Adds bytes; *whole (may be NULL) is the extent they are part of now.  Bytes that are
 * there already: DREP_ERR_FORMAT without a message; DREP_ERR_NOMEM. */
int extents_add(struct extents *x, uint64_t offset, uint64_t length, struct extent *whole);
/* Takes bytes out that one extent holds (all of them: an assertion). */
int extents_take(struct extents *x, uint64_t offset, uint64_t length);
/* The extent that holds the byte; false: it is not in the set. */
bool extents_find(const struct extents *x, uint64_t offset, struct extent *out);
/* The first extent that ends behind the byte; false: there is none. */
bool extents_behind(const struct extents *x, uint64_t offset, struct extent *out);
bool extents_hold(const struct extents *x, uint64_t offset, uint64_t length);
/* The lowest aligned offset with room for `size`; false: there is none. */
bool extents_fit(const struct extents *x, uint64_t size, uint64_t align, uint64_t *offset);
/* The longest extent; false: the set is empty. */
bool extents_longest(const struct extents *x, struct extent *out);
/* The last extent; false: the set is empty. */
bool extents_last(const struct extents *x, struct extent *out);
size_t extents_count(const struct extents *x);

#endif
