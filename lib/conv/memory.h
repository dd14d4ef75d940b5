/* memory.h - elements from memory to memory, with copies of what they point to.
 *
 * The first step of every conversion that ends in memory: options, reports, new memory for the
 * elements of sequences. */
/* SPDX-License-Identifier: MIT */
#ifndef CONV_MEMORY_H
#define CONV_MEMORY_H

#include "rep/convert.h"
#include "type/type.h"

/* What a transfer asks for; the report is filled in only if it wants one. */
void transfer_opts(struct rep_opts *opts, struct losses *report, const drep_xfer *xfer);

/* Begins the report of a sequence's contents, if one is wanted; NULL: none. */
struct losses *report_contents(struct losses *contents, const struct losses *whole);
/* Adds it: a sequence is one item, and where it lies in the transfer is `item`. */
void report_add_contents(struct losses *whole, const struct losses *contents, int64_t item);

/* `count` elements of one sequence fill *n whole elements of another, else DREP_ERR_COUNT. */
int sequence_count(const drep_type *from, int64_t count, const drep_type *to, int64_t *n);
/* New zeroed memory for n elements of a sequence. */
int sequence_alloc(const drep_type *base, int64_t n, void **data);

/* Fails: DREP_ERR_TYPE with both types in the message. */
int no_conversion(const drep_type *dst_leaf, const drep_type *src_leaf);
/* For rep_convert(): deep copies between two places of memory.  ctx: the options. */
int move_memory(void *ctx, const drep_type *dst_leaf, void *dst, const drep_type *src_leaf,
                const void *src);
/* Zeroes the pointers in `count` elements of a type that holds any, so that drep_vlen_free() may
 * follow a transfer that failed in the middle. */
void memory_clear(const drep_type *type, int64_t count, void *buf);
/* Zeroes all items of `count` elements: numbers 0, contents empty.  Gaps stay as they are. */
void memory_zero(const drep_type *type, int64_t count, void *buf);

#endif
