/* op.h - all or nothing for one operation.
 *
 * Between begin and end, changes of the tree, of payload and of space can be taken back as one.
 * Taking back restores: open runs and cache entries from their own notes, entries of the tree and
 * overwritten payload from struct undo, space from struct space_op, and the numbers given out.  It
 * leaves alone what does not depend on the operation: leaves written early, reservations. */
/* SPDX-License-Identifier: MIT */
#ifndef TXN_OP_H
#define TXN_OP_H

#include "space/store.h"

/* Operations do not nest. */
int store_op_begin(struct store *st);
/* keep 0: take everything since begin back; its space is free at once. */
int store_op_end(struct store *st, int keep);

#endif
