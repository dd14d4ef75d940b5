/* journal.h - which entries changed since the last commit, for ranks that compare their changes.
 *
 * The journal keeps keys alone: what counts is what their entries are when the ranks meet, not how
 * they came to be so.  Records of chunks, free space and the log are left out: these are the
 * business of the rank that writes them.  For the writer alone. */
/* SPDX-License-Identifier: MIT */
#ifndef TREE_JOURNAL_H
#define TREE_JOURNAL_H

#include "base/buf.h"
#include "space/store.h"

struct journal {
    struct buf keys; /* each a length of 2 bytes and a key */
    size_t last;     /* where the last one begins */
    size_t n;
    bool paused; /* what changes now is no concern of the other ranks */
    bool lost;   /* there was no memory for a key */
};

/* Note a key whose entry is about to change; never fails, see `lost`. */
void journal_note(struct journal *j, const uint8_t *key, size_t len);
/* Forget all: a commit was made. */
void journal_clear(struct journal *j);
void journal_release(struct journal *j);

/* One number for all noted entries as they are now, and how many there are.  Notes are sorted, and
 * each key stays once. */
int journal_digest(struct store *st, uint64_t *digest, uint64_t *n);
/* Call fn for each noted entry as it is now, by key, after journal_digest(); value NULL: it is
 * absent. */
typedef int journal_fn(void *ctx, const struct key *key, const struct buf *value);
int journal_each(struct store *st, journal_fn *fn, void *ctx);

#endif
