/* value.h - self-described values: attributes and fill values (SPEC.md, 5.6).
 *
 * They are not in the file's representation: each carries the format and size of the predefined
 * types in it, all big-endian and packed, so that a reader that knows nothing of the representation
 * can show them. */
/* SPDX-License-Identifier: MIT */
#ifndef CONV_VALUE_H
#define CONV_VALUE_H

#include "conv/file_rep.h"
#include "conv/ftype.h"
#include "base/buf.h"
#include "format/record.h"

struct losses;

/* How values of predefined types are converted: made once a file, by whoever needs one first. */
struct value_plan;
struct value_cache {
    const struct file_rep *rep;
    _Atomic(struct value_plan *) plan[FMT_CODE_MAX + 1]; /* of each predefined type */
};
void value_cache_release(struct value_cache *cache);

/* Encodes `count` elements of type at buf: rows, items, heap. */
int value_pack(struct value_cache *cache, const drep_type *type, int64_t count, const void *buf,
               struct buf *out);
/* Does it hold `count` elements of this type?  Asked before memory is made for them. */
int value_check(const struct span *value, struct ftype *ft, int64_t count);
/* The rows of a value: at most `max` are stored, *n is their number. */
int value_encodings(const struct span *value, const drep_type *type, drep_encoding *rows, int max,
                    int *n);
/* The inverse of value_pack(), as elements of `want` with as many items in all, or with members by
 * name where ft is not laid out.  DREP_ERR_COUNT, DREP_ERR_VALUE_TOO_LARGE. */
int value_unpack(struct value_cache *cache, const struct span *value, struct ftype *ft,
                 int64_t count, const drep_type *want, void *buf);
/* The same by the options of a transfer, NULL: none; its report is added to.  Also
 * DREP_ERR_CONVERSION, and DREP_ERR_BUFFER if there is a buf_size. */
int value_unpack_into(struct value_cache *cache, const struct span *value, struct ftype *ft,
                      int64_t count, const drep_type *want, void *buf, const drep_xfer *xfer);
/* Free what a type that is kept for the life of a file knows of its values; may be NULL. */
void value_self_free(struct self_kept *kept);

/* Converts the one element of a value to the form in which the file stores it; `out` is all zeros
 * before.  For files with a table and types of fixed length. */
int value_stored(const struct file_rep *rep, const struct span *value, struct ftype *ft,
                 uint8_t *out);
/* Changes a fill value to what storing it in the file makes of it, so that elements which were
 * never written are what they would be if they had been.  In files of functions, and for types of
 * variable length, it stays as it is. */
int value_settle(const struct file_rep *rep, uint8_t *value, size_t len, struct ftype *ft,
                 int range, struct losses *report);
/* Replaces each reference in a value by what map() makes of it. */
int value_refs(struct buf *value, const drep_type *type, int64_t count,
               uint64_t (*map)(void *ctx, uint64_t id), void *ctx);

#endif
