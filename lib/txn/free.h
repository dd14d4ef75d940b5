/* free.h - the FREE entries of the tree and the pending list: free space as commits record it.
 *
 * A FREE entry names an extent and the commit that freed it (0: nobody can look at it any more).
 * What is freed while the entries are being written has none yet: the commit's pending list names
 * it, and the next commit makes entries of it.
 *
 * An extent may be reused when no commit that refers to it can be opened: not one in a slot, nor in
 * the log, nor one that a reader has locked. */
/* SPDX-License-Identifier: MIT */
#ifndef TXN_FREE_H
#define TXN_FREE_H

#include "space/space.h"

/* Before a transaction first changes anything: hand the entries to space, and make available what
 * nobody looks at.  Does nothing until the next commit. */
int free_begin(struct store *st);
/* Bring the FREE entries up to date for the commit under way, and stop changes of avail.  What is
 * freed from then on goes to `late` and `left`, which the pending list names. */
int free_publish(struct store *st);
/* Write entries early, between operations, when too many extents were freed. */
void free_relieve(struct store *st);

#endif
