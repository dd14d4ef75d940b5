/* log.h - the LOG entries of the tree: the commits before this one that can still be opened.
 *
 * Each commit drops the entries that are beyond drep_keep and adds one for the commit before it. */
/* SPDX-License-Identifier: MIT */
#ifndef TXN_LOG_H
#define TXN_LOG_H

#include "space/store.h"

typedef struct drep_commitinfo drep_commitinfo; /* of datarep.h */

/* Update the LOG entries for the commit under way. */
int log_update(struct store *st);
/* Give the earliest commit in the log; UINT64_MAX: none. */
int log_oldest(struct store *st, uint64_t *oldest);
/* Look up a commit; DREP_ERR_NOT_FOUND without a message. */
int log_find(struct store *st, uint64_t sequence, struct log_rec *rec);
/* DREP_ERR_NOT_FOUND, with the message for a commit that was asked for. */
int log_lacks(uint64_t sequence, uint64_t newest);

/* The commits that can be opened, the oldest first.  Start with {0}; release it. */
struct log_list {
    drep_commitinfo *commit;
    size_t n, room;
};
/* List what the open commit's log has, and that commit itself. */
int log_read(struct store *st, struct log_list *list);
void log_list_release(struct log_list *list);

#endif
