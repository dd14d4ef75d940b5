/* lease.h - space that each rank of a team takes without asking.
 *
 * Behind `base`, which all ranks know, nobody else writes until the ranks meet again.  There the
 * ranks have leases in turn: the first one of each rank, then the second one of each, longer ones
 * later.  So each rank can tell which are its own; it takes as many as it needs.  Before that it
 * uses what it was given of the space that was free already.  When the ranks meet, what they used
 * becomes allocated space, and the rest free (space.h). */
/* SPDX-License-Identifier: MIT */
#ifndef SPACE_LEASE_H
#define SPACE_LEASE_H

#include "space/list.h"

#include <stdbool.h>

/* Lengths of leases are multiples of the first, so that no two ranks write into one page. */
#define LEASE_MIN ((uint64_t)64 << 10)
#define LEASE_MAX ((uint64_t)64 << 20)
#define LEASE_REACH ((uint64_t)1 << 42) /* bytes behind base, of all ranks */

struct lease {
    int rank, ranks;
    uint64_t base;    /* 0: there are none */
    uint64_t next;    /* where the next leases of all ranks begin */
    uint64_t length;  /* of each of these */
    uint64_t largest; /* that was taken of them at once */
    bool later;       /* they are not the first */
    struct extents taken;
    struct extents free; /* of what was taken */
};

/* Begin leases at `base`, a multiple of 4 KiB; the first one has `first` bytes, a multiple of
 * LEASE_MIN up to LEASE_MAX. */
void lease_begin(struct lease *l, uint64_t base, uint64_t first);
/* Take bytes that rank 0 has dealt to this rank, before `base`. */
int lease_give(struct lease *l, uint64_t offset, uint64_t size);
/* There are none from here on. */
void lease_end(struct lease *l);
/* Take `size` bytes at a multiple of `align`.  False: no lease holds them, or memory is short. */
bool lease_alloc(struct lease *l, uint64_t size, uint64_t align, uint64_t *offset);
/* Give bytes of a lease back. */
void lease_free(struct lease *l, uint64_t offset, uint64_t size);
/* True if a byte is in a lease that was taken. */
bool lease_has(const struct lease *l, uint64_t offset);
/* True if some of it is in use. */
bool lease_in_use(const struct lease *l);
/* List what was taken and not given back. */
int lease_used(const struct lease *l, struct extent_list *used);

#endif
