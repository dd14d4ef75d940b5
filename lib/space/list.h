/* list.h - growing arrays of extents, in the order in which they were added.
 *
 * An extent_list collects what was freed.  A later_list also keeps the commit that freed each
 * extent, because readers may look at older commits until the extent is reused. */
/* SPDX-License-Identifier: MIT */
#ifndef SPACE_LIST_H
#define SPACE_LIST_H

#include "space/extents.h"

struct extent_list {
    struct extent *e;
    size_t n, room;
};

/* Add an extent; it merges with the last one if they are adjacent. */
int extent_list_add(struct extent_list *l, uint64_t offset, uint64_t length);
/* Add an extent without merging. */
int extent_list_push(struct extent_list *l, uint64_t offset, uint64_t length);
/* Sort by offset and merge adjacent extents. */
void extent_list_sort(struct extent_list *l);
void extent_list_release(struct extent_list *l);

struct later {
    uint64_t offset, length;
    uint64_t sequence; /* the commit that freed it */
};
struct later_list {
    struct later *e; /* in use: head <= i < n */
    size_t head, n, room;
};

int later_add(struct later_list *l, uint64_t offset, uint64_t length, uint64_t sequence);
/* Sort by ascending sequence number. */
void later_sort(struct later_list *l);
void later_release(struct later_list *l);

#endif
