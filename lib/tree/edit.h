/* edit.h - changing entries.
 *
 * A change is noted for undo first, and either happens or fails before it began.  Keys and values
 * are copied.  One thread at a time, and no reader meanwhile. */
/* SPDX-License-Identifier: MIT */
#ifndef TREE_EDIT_H
#define TREE_EDIT_H

#include "space/store.h"

/* Insert or replace. */
int tree_put(struct store *st, const struct key *key, const void *value, size_t len);
/* Insert; DREP_ERR_EXISTS without a message when present. */
int tree_add(struct store *st, const struct key *key, const void *value, size_t len);
/* Give a value that stands in its leaf, to be changed in place before the next call; it is noted as
 * changed already.  DREP_ERR_NOT_FOUND without a message when absent or in a block. */
int tree_edit(struct store *st, const struct key *key, uint8_t **value, size_t *len);
/* DREP_ERR_NOT_FOUND when absent. */
int tree_del(struct store *st, const struct key *key);

/* ---- past the operation: nothing is noted ---- */

/* For replaying notes: an entry as it stands in its leaf, value_len with ITEM_FAR. */
int tree_put_raw(struct store *st, const uint8_t *key, size_t len, const void *value,
                 size_t value_len);
int tree_del_raw(struct store *st, const uint8_t *key, size_t len);
/* For what must stay when the operation is taken back. */
int tree_put_anyway(struct store *st, const struct key *key, const void *value, size_t len);

#endif
