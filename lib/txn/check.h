/* check.h - looking at everything that the open commit refers to. */
#ifndef TXN_CHECK_H
#define TXN_CHECK_H

#include "space/store.h"

/* Walks everything reachable: nodes (kinds, order, separators, sums), lists, space
 * (overlaps, leaks).  each_leaf is called for every entry so that data/ can check
 * records.  Findings go to fn; stops only when fn gives non-zero. */
typedef int store_entry_fn(const struct key *key, const uint8_t *value, size_t len, uint64_t where,
                           void *ctx);
/* Told of allocated bytes that nothing refers to, where nothing is damaged. */
typedef int store_gap_fn(uint64_t offset, uint64_t length, void *ctx);
int store_check(struct store *st, drep_finding_fn *fn, void *fn_ctx, store_entry_fn *each_leaf,
                store_gap_fn *gap, void *leaf_ctx, int64_t *findings, drep_usage *usage);
/* data/ tells the check which payload and sums a chunk record uses. */
int store_check_claim(struct store *st, uint64_t offset, uint64_t length, const char *what);
/* ... and the store how many sums of it are absent. */
void store_check_absent(struct store *st, uint64_t n);

#endif
