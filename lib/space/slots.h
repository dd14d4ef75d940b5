/* slots.h - the two header slots, which say where the newest commit is.
 *
 * Commits write the slots in turn, so the other one is whole while one is being written.  A slot
 * is believed when its checksum is right; the one with the greater sequence number is in force. */
/* SPDX-License-Identifier: MIT */
#ifndef SPACE_SLOTS_H
#define SPACE_SLOTS_H

#include "space/store.h"

struct slots {
    enum slot_state state[2];
    struct slot slot[2];
    const char *why[2]; /* why a slot is not valid, or malformed behind a right checksum */
    int damaged;        /* slot A is, and the slot at the end has taken its place */
    int cut;            /* slot A says that the state stands at the end, and it does not */
    uint64_t file_size;
};

/* Read both slots; what lies behind the end of the file counts as zeros.  The state of a file that
 * was written as a stream stands in a slot at its end: that one takes the place of slot A. */
int slots_read(struct io *io, struct slots *s);
/* Like slots_read() for the first look at the file: where a round trip is dear, keep what stands
 * behind the slots too. */
int slots_read_first(struct store *st, struct slots *s);
/* DREP_ERR_VERSION: the slot is of another draft or version of the format. */
int refuse_version(const struct slot *slot);
/* Choose the slot in force, or the slot of commit `sequence` if there is one.  *damaged: 0, or 1 or
 * 2 for the slot that is damaged. */
int slots_choose(const struct slots *s, uint64_t sequence, int *which, int *damaged);
/* 0; DREP_ERR_UNSUPPORTED names the first unknown feature that makes the file read-only. */
int slot_known(const struct slot *slot);
/* Check that this version can read, or write, what the slot describes. */
int slot_check(const struct slot *slot, uint64_t file_size, int write);
/* True if commit `sequence` is in a slot. */
bool slots_hold(const struct slots *s, uint64_t sequence);
/* True if a slot is neither valid nor empty. */
bool slots_damaged(const struct slots *s);

/* Write the slot of a commit; the first one writes the empty slot B too, so that no later commit
 * needs space for it.  DREP_ERR_NO_SPACE: the commit is not there, and can be tried again.  After
 * any other failure the slot's contents are unknown, and the handle refuses writes. */
int slots_write(struct store *st, const struct slot *slot);
/* Write slot A of a stream, which refers to its end, and the empty slot B. */
int slots_begin_stream(struct store *st);
/* Make the state that was opened durable in its slot, once, before anything else is written to the
 * file.  The state of a file that was written as a stream moves from its end to slot A. */
int slots_secure(struct store *st);

/* Tell damage from a snapshot that the writer has overwritten: for a reader without a lock, an
 * error of a read becomes DREP_ERR_STALE if its commit is in no slot any more.  Every other error
 * is given back. */
int store_stale(struct store *st, int err);

#endif
