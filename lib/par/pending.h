/* pending.h - what a rank has written alone, until the ranks meet.
 *
 * Whole chunks go to the file at once (leased.h).  Other elements are kept as the file will store
 * them, with the runs of chunks that they belong to; of an element of which some members were
 * written the others are zeros, and the owner of the chunk completes it.  The next commit, or the
 * next write to the dataset by all ranks, brings those of all ranks together (collective.h).  A
 * rank may write an element again: the last one counts. */
/* SPDX-License-Identifier: MIT */
#ifndef PAR_PENDING_H
#define PAR_PENDING_H

#include "par/shares.h"

/* Keep what a write selects. */
int pending_add(drep_dataset *ds, const drep_selection *sel, const drep_type *type, const void *buf,
                const drep_xfer *xfer);
/* True if something of the dataset is kept. */
bool pending_has(const drep_dataset *ds);
/* Get the kept elements of a dataset, each once, and its leased chunks; *elements is where the
 * numbers of runs count. */
int pending_shares(const drep_dataset *ds, struct shares *s, char **elements);
/* Of a chunk: forget what is kept of it, because a higher rank has written all of it; or keep its
 * elements, no more where they stand in the file. */
void pending_lose(drep_dataset *ds, int64_t chunk);
int pending_bring_back(drep_dataset *ds, int64_t chunk);
/* True if chunks of the dataset stand in the file. */
bool pending_has_leased(const drep_dataset *ds);
/* Let a converter of kept elements find what they refer to. */
void pending_contents(const drep_dataset *ds, struct conv *c);
/* The shape of the dataset has changed: elements outside of it are gone. */
int pending_reshape(const drep_dataset *ds);
/* Forget what is kept of a dataset, and its marks, because rank 0 has it now. */
void pending_drop(const drep_dataset *ds);
/* Forget what is kept of datasets that this rank has removed; leases have not ended. */
int pending_removed(drep_file *f);

#endif
