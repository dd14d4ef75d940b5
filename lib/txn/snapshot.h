/* snapshot.h - which commit a handle looks at: the slots, the locks of readers, the log.
 *
 * A reader locks the number of its commit, and a writer reuses no space that this commit or a later
 * one refers to.  So whoever holds a lock on any commit may look at all later ones too: they can be
 * chosen in peace. */
/* SPDX-License-Identifier: MIT */
#ifndef TXN_SNAPSHOT_H
#define TXN_SNAPSHOT_H

#include "base/buf.h"
#include "space/store.h"

/* Choose the commit to look at and load its header; write: take the writer's lock. */
int snapshot_open(struct store *st, int write, uint64_t sequence);
/* The same for reading, at the commit of a slot that a process has read and keeps: the file is not
 * asked, which may show this process less. */
int snapshot_open_at(struct store *st, const struct slot *slot);
/* Take the writer's lock, and note in st->locked whether it is held; waits as the options say.
 * Without locks, by option or of the system, it succeeds and holds none.  DREP_ERR_FILE_IN_USE. */
int snapshot_lock_writer(struct store *st);
/* Choose the newest commit, or `sequence` if it is in a slot, without looking at it. */
int snapshot_choose(struct store *st, uint64_t sequence, int write, struct slot *out);
/* Look at a commit: forget everything that was read of another one. */
void snapshot_look_at(struct store *st, const struct slot *slot);
int snapshot_load_header(struct store *st);
/* Set the header from its part in the slot and the rest. */
int snapshot_set_header(struct store *st, const struct slot *slot, const struct buf *rest);
/* Look at the commit that `old` describes, under a lock of our own; DREP_ERR_STALE: it is not kept
 * any more. */
int snapshot_reopen(struct store *st, const struct slot *old, int damaged);

/* A reader moves to the newest commit; *moved 0: it was there.  What it looked at before is in *old
 * until store_refresh_end() gives it up (keep) or goes back to it.  Nobody else may use the store
 * meanwhile. */
struct snapshot {
    struct slot slot;
    struct buf header;
    int damaged, locked;
};
int store_refresh(struct store *st, struct snapshot *old, int *moved);
void store_refresh_end(struct store *st, struct snapshot *old, int keep);

#endif
