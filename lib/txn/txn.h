/* txn.h - where an open container stands between two commits.
 *
 * What the slot and the header say of the commit in force, and how the next one will be published.
 * snapshot.c and commit.c own it; the writer changes it, and readers only while nobody else uses
 * the store. */
/* SPDX-License-Identifier: MIT */
#ifndef TXN_TXN_H
#define TXN_TXN_H

#include "base/buf.h"
#include "space/store.h"

struct txn {
    struct buf header;  /* the header proper of the commit in force */
    int damaged;        /* 1 or 2: that slot is */
    uint64_t older_end; /* of the commit in the other slot */
    struct ref older;   /* its root, if it is the commit before; else of no length */
    uint64_t older_log; /* the earliest commit in its log, UINT64_MAX: none; 0: not known */
    bool unsynced;      /* the slot in force may be that of a writer that was killed before its
                           last sync */
    bool created;       /* a new file, not published yet */
    bool held;          /* nor by a commit: store_publish() does it */
    bool borrowed;      /* io belongs to another store */
    bool old_freed;     /* the lists of the last commit are freed already */
};

/* The whole header proper, valid until the next commit. */
const uint8_t *store_header(const struct store *st, size_t *size);
int store_damaged_slot(const struct store *st); /* 0, or 1 or 2: that slot is damaged */

#endif
