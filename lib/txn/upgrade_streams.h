/* upgrade_streams.h - filtered chunks of draft 4, whose streams began with a length.
 *
 * Part of txn/upgrade.h: it goes with that. */
/* SPDX-License-Identifier: MIT */
#ifndef TXN_UPGRADE_STREAMS_H
#define TXN_UPGRADE_STREAMS_H

#include "base/buf.h"
#include "format/record.h"
#include "space/store.h"

/* Clear what is no flag of a filter any more in an OBJECT record of draft 4. */
void upgrade_filter_flags(uint8_t *object, size_t size);
/* Make the CHUNK record `value` of the dataset with this OBJECT record of draft 4 one of today in
 * *out; out->len 0: it needs no change.  A row that loses its length is shown to be shorter where
 * it stands; what must be encoded anew is written behind the end of the file.  Damaged rows stay
 * as they are, for readers to find. */
int upgrade_streams(struct store *st, const struct span *object, const struct span *value,
                    struct buf *out);

#endif
