/* regions.h - memory for what the caches keep.
 *
 * A region is memory for some pieces of one size, in large pages: the processor finds its way to
 * those much faster than to a small page for each leaf, and a page that was never used costs as
 * much as to decode half of it. */
/* SPDX-License-Identifier: MIT */
#ifndef BASE_REGIONS_H
#define BASE_REGIONS_H

#include <pthread.h>
#include <stddef.h>
#include <stdint.h>

/* Bytes from which on what is unused goes back to the system at once. */
#define REGION_LARGE ((size_t)32 << 10)
#define REGION_UNIT ((uint64_t)4096) /* pieces of whole units stand at multiples of one */

struct region;

struct regions {
    pthread_mutex_t lock;
    struct region *with_room; /* regions with an unused piece */
    size_t grown, grown_size; /* pieces of the newest region of large ones, and their size */
    int closing;
};
int regions_init(struct regions *m);
/* All pieces were given back. */
void regions_release(struct regions *m);
/* All of them are about to be given back: what is unused need not go back to the system piece
 * by piece. */
void regions_closing(struct regions *m, int closing);
/* A piece of exactly so many bytes, that many from the last one and at a page's start where they
 * are whole pages, and the region that it belongs to; NULL without a message: the system has no
 * memory for it.  Any number of threads. */
void *region_take(struct regions *m, size_t size, struct region **from);
void region_give(struct region *from, void *p);

#endif
