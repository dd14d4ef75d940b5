/* target.h - other files that chunks take their payload from.
 *
 * Entries of tag FILES name them; a target is opened at its first use and stays open.  Its size and
 * the digest of its head must be those of the entry, and every row has a sum, so a target that
 * changed is an error that names it, never other values.  The opener must allow targets; they are
 * regular files in or below the directory of the container. */
/* SPDX-License-Identifier: MIT */
#ifndef CHUNK_TARGET_H
#define CHUNK_TARGET_H

#include "base/buf.h"
#include "format/target.h"
#include "space/store.h"

#include <pthread.h>

struct target;
struct targets {
    pthread_mutex_t lock; /* of the list */
    struct target *first;
    bool allowed;
    int dir; /* of the container; -1: it is in none; borrowed */
};
int targets_init(struct targets *t);
void targets_release(struct targets *t);
/* Allow targets in or below `dir`, a descriptor that must stay open as long as the store. -1: the
 * container is in no directory, and opening a target fails. */
void targets_allow(struct store *st, int dir);
/* True if entries name other files. */
bool targets_any(struct store *st);

/* Replace `out` by bytes of target `number`; NULL: only check that it is there and has them.
 * DREP_ERR_UNSUPPORTED_OPERATION (not allowed), DREP_ERR_FORMAT (no such entry, or bytes outside
 * the file that it names), DREP_ERR_CHECKSUM (it is another file now), and the errors of opening
 * and reading. */
int target_read(struct store *st, uint32_t number, uint64_t offset, uint64_t size, struct buf *out);
/* Check that the target's time is the one of its entry, for a row without a sum.
 * DREP_ERR_CHECKSUM, and the errors of target_read(). */
int target_unchanged(struct store *st, uint32_t number);
/* Name the target in an error: `file "x.h5": ...`. */
int target_fail_in(struct store *st, uint32_t number, int err);
/* Find the entry for a file by its relative path, or add one, in the operation under way. */
int target_add(struct store *st, const char *path, uint32_t *number);
/* Find or add in `to` the entry that `from` has for a file, without opening it. */
int target_adopt(struct store *from, uint32_t number, struct store *to, uint32_t *out);
/* Get the entry of a number; its texts are in `value`.  DREP_ERR_FORMAT: there is none. */
int target_entry(struct store *st, uint32_t number, struct buf *value, struct target_rec *rec);
/* Call fn for each entry, by number, until it returns non-zero. */
typedef int target_fn(uint32_t number, const struct target_rec *rec, void *ctx);
int targets_each(struct store *st, target_fn *fn, void *ctx);

#endif
