/* commit.h - everything since the last commit becomes durable, or nothing does.
 *
 * The order makes it so: free space and log into the tree; nodes, lists and header to space that no
 * commit uses; sync; the slot; sync.  Until the slot is written the file is the last commit,
 * whatever happens.  An error before that leaves a transaction that can be tried again; from there
 * on nobody knows what reached the disk, and the handle refuses writes. */
/* SPDX-License-Identifier: MIT */
#ifndef TXN_COMMIT_H
#define TXN_COMMIT_H

#include "txn/txn.h"

/* True if the store was not changed since the last commit, and that one is whole in its slot. */
bool store_unchanged(const struct store *st);
/* header: the bytes of the header proper; split: those that stand in the slot (header_put).  Where
 * nothing was changed, no commit is made.  While it waits for the disk it shares the store's guard:
 * calls that read may run. */
int store_commit(struct store *st, const uint8_t *header, size_t size, size_t split);
/* A new file that is checked before anybody sees it: commits leave it without its name, and
 * store_close() removes it, until store_publish() gives it the name.  After an error of that the
 * name has the file that it had before, except where only making the name durable failed. */
void store_hold(struct store *st);
int store_publish(struct store *st);

#endif
