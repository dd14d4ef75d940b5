/* seal.h - filling in the checksums that were left out when payload was written. */
/* SPDX-License-Identifier: MIT */
#ifndef TXN_SEAL_H
#define TXN_SEAL_H

#include "chunk/chunks.h"

/* Fill in the absent checksums of a dataset; *blocks counts them up.  Makes operations of its own,
 * of one record each. */
int chunks_seal(struct chunks *cs, int64_t *blocks);

#endif
