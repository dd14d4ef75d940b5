/* kept.h - the commits that a damaged file keeps: which are whole, and which bytes they use.
 *
 * A commit is whole if all its metadata can be read: nodes, long values, blocks of sums, the
 * header.  Candidates come from the slots, and from the LOG entries of what those lead to.  The
 * payload that their records name holds bytes of the user: whatever they look like, no block in
 * there belongs to the file. */
/* SPDX-License-Identifier: MIT */
#ifndef TXN_KEPT_H
#define TXN_KEPT_H

#include "base/buf.h"
#include "base/idset.h"
#include "space/extents.h"
#include "space/store.h"
#include "tree/load.h"

struct kept_commit {
    uint64_t sequence;
    struct ref root;
    const struct slot *slot; /* NULL: it is known from a LOG entry */
    bool sure;               /* the slot's sum is right, or that of the slot whose log it is in */
    bool whole;
};

struct kept {
    struct store *st;
    struct kept_commit *commit;
    size_t n, room;
    struct extents runs;   /* payload that records of the commits name */
    struct extents blocks; /* their blocks */
    struct idset seen;     /* nodes, and whether all below them can be read */
    struct buf value;
};
void kept_release(struct kept *k);
/* Add the commit of a slot, which must stay where it is. */
int kept_add(struct kept *k, const struct slot *slot, bool sure);
/* Read all commits that were added, and those of their logs. */
int kept_read(struct kept *k);
/* The newest whole commit, sure ones first; else the newest one; NULL: there is none. */
const struct kept_commit *kept_choose(const struct kept *k);
/* True if some of these bytes are payload of a kept commit; or a block of one, too. */
bool kept_payload(const struct kept *k, uint64_t offset, uint64_t length);
bool kept_uses(const struct kept *k, uint64_t offset, uint64_t length);

/* Decode a damaged node as far as its entries are possible; *sure: only its header is damaged.
 * The block is the one that the reference means if it has, or claims to have, the reference's
 * checksum. */
int node_anyway(struct store *st, const struct ref *ref, int level, struct tree_node **out,
                int *sure);

#endif
