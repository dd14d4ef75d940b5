/* assemble.h - ranks that have changed different things bring their changes together.
 *
 * Rank 0 has all changes in its tree then, in an operation that stays open until it is known that
 * the commit can be made; the other ranks know which objects theirs have become. */
/* SPDX-License-Identifier: MIT */
#ifndef PAR_ASSEMBLE_H
#define PAR_ASSEMBLE_H

#include "par/foreign.h"

/* The message of each rank about its changes has a digest of the entries and their number, digests
 * of hints, representations and their witnesses, and whether the rank has used a lease; then follow
 * the ids that settle_waiting() gives. */
enum {
    DIGEST_HINTS = 16,
    DIGEST_REPS = 24,
    DIGEST_WITNESSES = 32,
    DIGEST_LEASES = 40,
    DIGEST_SIZE = 48
};

struct assembled {
    bool stays;                /* handles are used after the commit: ids are wanted */
    bool merging;              /* an operation is open */
    bool different;            /* the ranks' changes are: rank 0 has all in one operation */
    struct id_pairs ids;       /* of this rank's new objects, in the merged file */
    struct buf waiting;        /* ids of datasets that some rank has written to alone */
    struct foreign_list known; /* those datasets, where ids are not this rank's */
    int failed;                /* an error of this rank that others do not know of yet */
};

/* Collective.  On rank 0, `told` is what the ranks have told.  alike: this rank's entries are those
 * of rank 0; none: it has none. */
int assemble(drep_file *f, bool alike, bool none, const struct team_said *told,
             struct assembled *a);
/* End the operation: rank 0 keeps what it did unless `err`, which is given back. */
int assembled_end(drep_file *f, struct assembled *a, int err);
void assembled_release(struct assembled *a);

#endif
