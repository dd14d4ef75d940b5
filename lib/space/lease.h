/* lease.h - space that several holders allocate without asking each other.
 *
 * While leases last, nobody else allocates behind `base`.  The stretches there belong to the
 * holders in turn: the first one of each, then the second one of each, later ones longer.  So a
 * holder computes which are its own, and takes as many as it needs.  Before these it uses what it
 * was given of the free bytes below `base`.  When the leases end, the store of the file claims what
 * the holders have used, and the rest is free (space.h). */
/* SPDX-License-Identifier: MIT */
#ifndef SPACE_LEASE_H
#define SPACE_LEASE_H

#include "space/list.h"

#include <stdbool.h>

/* All lengths are multiples of LEASE_MIN, so that no two holders write into one page. */
#define LEASE_MIN ((uint64_t)64 << 10)
#define LEASE_MAX ((uint64_t)64 << 20)
#define LEASE_REACH ((uint64_t)1 << 42) /* bytes behind base, of all holders */

struct lease {
    int holder, holders; /* number of this one, from 0, and how many there are */
    uint64_t base;       /* 0: no leases */
    uint64_t next;       /* offset of the next stretches, one of each holder */
    uint64_t length;     /* of each of these */
    uint64_t largest;    /* allocation since lease_begin(), in bytes */
    bool later;          /* the first stretches are behind us */
    struct extents taken;
    struct extents free; /* part of taken */
};

/* Begin leases at `base`, a multiple of 4 KiB, with holder and holders set; the first stretch has
 * `first` bytes, a multiple of LEASE_MIN up to LEASE_MAX. */
void lease_begin(struct lease *l, uint64_t base, uint64_t first);
/* Add bytes below `base` that the store has dealt to this holder (space_deal()).  DREP_ERR_NOMEM:
 * they are not added. */
int lease_give(struct lease *l, uint64_t offset, uint64_t size);
/* End the leases and forget what was taken. */
void lease_end(struct lease *l);
/* Allocate `size` bytes, rounded up to FMT_ALIGN, at a multiple of `align`.  False: both
 * together exceed LEASE_MAX, LEASE_REACH is used up, or memory is short. */
bool lease_alloc(struct lease *l, uint64_t size, uint64_t align, uint64_t *offset);
/* Free allocated bytes.  Without memory they stay allocated. */
void lease_free(struct lease *l, uint64_t offset, uint64_t size);
/* True if a byte is in a stretch that was taken. */
bool lease_has(const struct lease *l, uint64_t offset);
/* True if something is allocated. */
bool lease_in_use(const struct lease *l);
/* List what is allocated. */
int lease_used(const struct lease *l, struct extent_list *used);

#endif
