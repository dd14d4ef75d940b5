/* seal.h - filling in the checksums that were left out when payload was written. */
/* SPDX-License-Identifier: MIT */
#ifndef TXN_SEAL_H
#define TXN_SEAL_H

#include "chunk/chunks.h"

struct advance;

/* Fill in the absent checksums of a dataset; *blocks counts them up.  Makes operations of its own,
 * of one record each.  fn computes the sum of a row whose bytes are in another file, or leaves 0.
 */
typedef int seal_row_fn(const struct chunks *cs, const struct chunk_rec *row, uint64_t *sum,
                        void *ctx);
int chunks_seal(struct chunks *cs, seal_row_fn *fn, void *ctx, struct advance *advance,
                int64_t *blocks);

#endif
