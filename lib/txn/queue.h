/* queue.h - waiting for the writer's lock.
 *
 * Waiters have numbers, and the lowest one tries next.  A number is a lock on one of the bytes
 * before the writer's: it is gone with its owner, however that ends, and nothing is stored.  An
 * opener that comes when somebody waits takes the next number, also if the lock is free at that
 * moment: so two programs that open and close the file again and again take turns. */
/* SPDX-License-Identifier: MIT */
#ifndef TXN_QUEUE_H
#define TXN_QUEUE_H

#include "space/store.h"

/* Take the writer's lock, waiting for as long as the store's options say.  DREP_ERR_FILE_IN_USE:
 * another writer had it all that time; DREP_ERR_UNSUPPORTED_OPERATION: there are no locks. */
int queue_lock_writer(struct store *st);

#endif
