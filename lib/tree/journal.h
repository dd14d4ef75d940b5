/* journal.h - which entries changed since the last commit.
 *
 * The journal keeps keys alone: whoever asks sees the entries as they are then, not how they came
 * to be so.  Two stores that began at one commit and have equal digests hold the same entries.
 * Records of chunks, free space and the log are left out: they say where a store put something, not
 * what it holds.  For the writer alone. */
/* SPDX-License-Identifier: MIT */
#ifndef TREE_JOURNAL_H
#define TREE_JOURNAL_H

#include "base/buf.h"
#include "space/store.h"

struct journal {
    struct buf keys; /* each a length of 2 bytes and a key */
    size_t last;     /* where the last one begins */
    size_t n;
    bool paused; /* changes are not noted */
    bool lost;   /* there was no memory for a key */
};

/* Keep a journal of a store from here on, until journal_end() or store_close(). */
int journal_begin(struct store *st);
void journal_end(struct store *st);
/* Note a key whose entry is about to change; never fails, see `lost`. */
void journal_note(struct journal *j, const uint8_t *key, size_t len);
/* Forget all: a commit was made. */
void journal_clear(struct journal *j);

/* Digest all noted entries as they are now, and count them.  Sorts the notes and keeps each key
 * once.  DREP_ERR_NOMEM: memory was short here, or when a key was noted. */
int journal_digest(struct store *st, uint64_t *digest, uint64_t *n);
/* Call fn for each noted entry as it is now, by key, after journal_digest(); value NULL: it is
 * absent. */
typedef int journal_fn(void *ctx, const struct key *key, const struct buf *value);
int journal_each(struct store *st, journal_fn *fn, void *ctx);

#endif
