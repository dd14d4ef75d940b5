/* ahead_keys.h - the leaves of known keys, fetched by one vector where a round trip is dear. */
/* SPDX-License-Identifier: MIT */
#ifndef TREE_AHEAD_KEYS_H
#define TREE_AHEAD_KEYS_H

#include "space/store.h"

/* Fetch the leaves of `n` keys, which ascend: key() makes them.  This is advice: nothing fails. */
typedef void ahead_key_fn(void *ctx, size_t i, struct key *key);
void ahead_keys(struct store *st, size_t n, ahead_key_fn *key, void *ctx);

#endif
