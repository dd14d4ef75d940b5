/* undo.h - how to take the operation under way back.
 *
 * An operation is all or nothing.  Before it changes an entry of the tree, or overwrites payload in
 * place, it notes here what was there before; txn/op.c replays the notes from the last to the
 * first.  Entries of objects that the operation itself makes need no note: all of them go.  Space
 * that it allocated and freed is noted in struct space.
 *
 * Notes stay in memory up to a limit, and then move to free space of the file.  Nothing here has to
 * be durable: a crash loses the whole transaction.  For the writer alone. */
/* SPDX-License-Identifier: MIT */
#ifndef TREE_UNDO_H
#define TREE_UNDO_H

#include "base/buf.h"
#include "space/space.h"

#define UNDO_MAX ((size_t)2 << 20)

struct undo {
    struct buf entries;      /* notes of entries; the last one ends at its end */
    size_t limit;            /* bytes of them to keep in memory */
    size_t most;             /* the limit of this operation: it grows where the file is full */
    struct extent_list away; /* earlier notes, in the file */
    struct buf image;        /* bytes overwritten in place, each with its place behind it */
    uint64_t next_object;    /* the store's numbers when the operation began */
    uint32_t next_type;
    int dirty;
};

/* Start and end the notes of an operation. */
void undo_begin(struct store *st);
void undo_end(struct store *st);
void undo_release(struct undo *u);

/* Note what an entry was; value NULL: it was absent.  value_len as in its leaf, with ITEM_FAR. */
int undo_note(struct store *st, const uint8_t *key, size_t len, const uint8_t *value,
              size_t value_len);
/* Note payload of the open transaction that is about to be overwritten in place. */
int undo_image(struct store *st, uint64_t offset, const void *old, size_t size);
/* True if the operation made this key's object. */
bool undo_is_new(const struct store *st, const uint8_t *key);
/* True while the operation has changed no entry. */
bool undo_untouched(const struct store *st);

/* Take the last note of an entry: *there 0 if it was absent.  Valid until the next call;
 * DREP_ERR_NOT_FOUND when no note is left. */
struct undo_entry {
    const uint8_t *key, *value;
    size_t key_len, value_len;
    bool there;
};
int undo_last(struct store *st, struct undo_entry *e);
/* Write all overwritten payload back. */
int undo_images(struct store *st);

#endif
