/* beyond.h - what a damaged file holds beyond the commit that is taken, as objects of their own.
 *
 * A block found by a search may be older than it looks, or bytes of a user that look like one.  So
 * what it says never changes an object of the commit: each object of which it says something else
 * is there once more, under the name by which it was known, in a group /lost+found.  Soft and
 * external links are there, too; more names of objects and groups without content are only told. */
/* SPDX-License-Identifier: MIT */
#ifndef TXN_BEYOND_H
#define TXN_BEYOND_H

#include "base/handles.h"
#include "space/store.h"

/* Add what `found` says and the tree of `st`, which has commit `sequence`, does not.  *first: the
 * number of the first object added; unchanged if none is.  fn is told of each; non-zero ends it. */
int beyond_adopt(struct store *st, struct store *found, uint64_t sequence, drep_finding_fn *fn,
                 void *ctx, uint64_t *first);

#endif
