/* check.h - looking at everything that the open commit refers to.
 *
 * The check knows blocks, keys and space, and claims every byte that something refers to.  What
 * an entry means it asks a function of the room above, which claims payload in turn. */
/* SPDX-License-Identifier: MIT */
#ifndef TXN_CHECK_H
#define TXN_CHECK_H

#include "base/handles.h"
#include "space/store.h"

/* Called for every entry, with the offset of its node, to check the record. */
typedef int store_entry_fn(const struct key *key, const uint8_t *value, size_t len, uint64_t where,
                           void *ctx);
/* Called for allocated bytes that nothing refers to, if nothing is damaged. */
typedef int store_gap_fn(uint64_t offset, uint64_t length, void *ctx);
/* Walk everything reachable: nodes (kinds, order, bounds, checksums), lists, space (overlaps,
 * leaks). Findings go to fn; a non-zero return of any function ends the check and is given back. */
int store_check(struct store *st, drep_finding_fn *fn, void *fn_ctx, store_entry_fn *each_leaf,
                store_gap_fn *gap, void *leaf_ctx, int64_t *findings, drep_usage *usage);
/* Called from each_leaf: claim the payload and the checksums that a record uses; and count the
 * absent ones. */
int store_check_claim(struct store *st, uint64_t offset, uint64_t length, const char *what);
void store_check_absent(struct store *st, uint64_t n);

#endif
