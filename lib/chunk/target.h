/* target.h - other files that chunks take their payload from.
 *
 * Entries of tag FILES name them; a target is opened at its first use and stays open.  Its size and
 * the digest of its head must be those of the entry.  A row has a sum, or else the target's time
 * must be that of the entry, so a target that changed is an error that names it, never other
 * values.  The opener must allow targets; they are regular files in or below the directory of the
 * container. */
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
    bool allowed;     /* some are */
    bool paths;       /* those that paths name */
    int dir;          /* of the container; -1: it is in none; borrowed */
    char *url;        /* of the container; NULL: it is behind none */
    drep_info *hints; /* for opening URLs; NULL: none is opened */
    /* Numbers of targets whose version, as the caller says, is not that of their entry. */
    struct target_numbers {
        uint32_t *p;
        size_t n, room;
    } outdated;
};
int targets_init(struct targets *t);
void targets_release(struct targets *t);
/* Allow targets in or below `dir`, a descriptor that must stay open as long as the store. -1: the
 * container is in no directory, and opening a target fails. */
void targets_allow(struct store *st, int dir);
/* Allow targets behind URLs, as far as the hint drep_external_urls does, and, where those in a
 * directory are allowed, beneath the folder of the container's own URL (NULL: it has none).  Both
 * are copied; without memory for that nothing is allowed. */
void targets_allow_urls(struct store *st, const char *url, const drep_info *hints);
/* True if entries name other files. */
bool targets_any(struct store *st);

/* Replace `out` by bytes of target `number`; NULL: only check that it is there and has them.
 * DREP_ERR_UNSUPPORTED_OPERATION (not allowed), DREP_ERR_FORMAT (no such entry, or bytes outside
 * the file that it names), DREP_ERR_CHECKSUM (it is another file now), and the errors of opening
 * and reading. */
int target_read(struct store *st, uint32_t number, uint64_t offset, uint64_t size, struct buf *out);
/* Check that the target's time is now the one of its entry, and its version not said to be another,
 * for a row without a sum; bytes that were read before the call are those of the entry then.
 * DREP_ERR_CHECKSUM, and the errors of target_read(). */
int target_unchanged(struct store *st, uint32_t number);
/* Note which version the target has now.  DREP_ERR_FORMAT: no such entry. */
int target_version(struct store *st, uint32_t number, const struct span *version);

/* The sums that a target stores for ranges of its own bytes, sorted by offset; at most so many are
 * collected. */
#define TARGET_SUMS_MAX ((size_t)1 << 18)
struct target_sum {
    uint64_t offset, size, sum;
};
struct target_sums {
    struct target_sum *p;
    size_t n, room;
};
/* Collect the sums of a target.  `io` opens it a second time; the function closes it. */
typedef int target_sums_fn(struct io *io, struct target_sums *out, void *ctx);
/* Give the sum that the target stores for exactly the bytes of a row; 0: none.  fn is called at the
 * first row of an open target; if it fails, the target has no sums.  Callers hold the store alone.
 * Errors of target_read(), DREP_ERR_NOMEM. */
int target_known_sum(struct store *st, const struct chunk_rec *row, target_sums_fn *fn, void *ctx,
                     uint64_t *sum);

/* Rows may name the same bytes of targets again: together at most so many times the bytes that all
 * targets have (R8.48).  Raise a budget by the share of one target. */
#define TARGET_TIMES 16
void target_budget(const struct target_rec *rec, uint64_t *bytes);
/* Name the target in an error: `file "x.h5": ...`. */
int target_fail_in(struct store *st, uint32_t number, int err);
/* Find the entry for a file by its relative path, or add one, in the operation under way.  The
 * version may be empty: any that is known already will do. */
int target_add(struct store *st, const char *path, const struct span *version, uint32_t *number);
/* Find or add in `to` the entry that `from` has for a file, without opening it. */
int target_adopt(struct store *from, uint32_t number, struct store *to, uint32_t *out);
/* Get the entry of a number; its texts are in `value`.  DREP_ERR_FORMAT: there is none. */
int target_entry(struct store *st, uint32_t number, struct buf *value, struct target_rec *rec);
/* Call fn for each entry, by number, until it returns non-zero. */
typedef int target_fn(uint32_t number, const struct target_rec *rec, void *ctx);
int targets_each(struct store *st, target_fn *fn, void *ctx);

#endif
