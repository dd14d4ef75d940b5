/* leases.h - the ranks of a file agree on leases (space/lease.h).
 *
 * Rank 0 grants leases when the file is opened, and each time that the ranks have met; the grant
 * travels with what it tells them anyhow.  They end when the ranks meet again: before rank 0 takes
 * space for all, it learns what they have used. */
/* SPDX-License-Identifier: MIT */
#ifndef PAR_LEASES_H
#define PAR_LEASES_H

#include "par/ranks.h"
#include "space/lease.h"

struct leases {
    struct lease own;           /* of this rank */
    struct extent_list dropped; /* space of former ones that is not wanted */
    /* Rank 0: */
    uint64_t *used;       /* bytes that each rank took when leases were used last; NULL: not yet */
    uint64_t grain;       /* the most that a rank took at once then, in whole blocks of 4 KiB */
    struct buf deal;      /* what each rank gets of free space, for the next scatter, */
    uint64_t *deal_at;    /* and where that begins */
    uint64_t first;       /* bytes of the first leases to come, 0: LEASE_MIN */
    uint64_t alone_from;  /* the end of allocated space when leases began */
    uint64_t taken_alone; /* bytes that the store took at most while they lasted */
};
int leases_new(struct ranks *r);
void leases_release(struct ranks *r);

enum { LEASE_GRANT = 24 }; /* bytes of a grant */

/* Rank 0: grant leases behind all that the file has; they begin here at once. */
void leases_grant(drep_file *f, struct ranks *r, uint8_t grant[LEASE_GRANT]);
/* Rank 0: also deal free space, of which a rank that has used more gets more; leases_deal()
 * follows.  Before any rank has used some, what rank 0 may need by itself is kept back. */
void leases_grant_free(drep_file *f, struct ranks *r, uint8_t grant[LEASE_GRANT]);
/* Rank 0, amidst a transaction: the former, and if a rank has written alone before the latter;
 * leases_deal() follows. */
void leases_grant_again(drep_file *f, struct ranks *r, uint8_t grant[LEASE_GRANT]);
/* The others: begin with what was granted; zeros: nothing. */
void leases_begin(struct ranks *r, const uint8_t grant[LEASE_GRANT]);
/* Collective: each rank gets what was dealt to it, if something was.  One without memory for it
 * does without; a failure of the team is found by the next call. */
void leases_deal(struct ranks *r, const uint8_t grant[LEASE_GRANT]);
/* True if rank 0 must learn of something before they end. */
bool leases_used(const struct ranks *r);
/* All leases end.  any: some rank has used one; then this is collective.  Lack of memory kills the
 * team. */
int leases_end(drep_file *f, bool any);
/* Collective: all leases end, whether some rank has used one or not. */
int leases_settle(drep_file *f);
/* Collective: grant leases with a message of its own. */
int leases_renew(drep_file *f);
/* Space for what this rank writes alone; false: no lease has room for it. */
bool leases_alloc(drep_file *f, uint64_t size, uint64_t align, uint64_t *offset);
/* Space that this rank has taken before is free again: at once, or when the ranks meet. */
void leases_free(struct ranks *r, uint64_t offset, uint64_t size);

#endif
