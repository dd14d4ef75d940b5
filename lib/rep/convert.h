/* convert.h - the engine: data items from one typemap and table to another.
 *
 * Both sides are typemaps tiled over memory, so packed bytes, elements of a file and a user's
 * buffer are all alike to it. */
/* SPDX-License-Identifier: MIT */
#ifndef REP_CONVERT_H
#define REP_CONVERT_H

#include "kern/losses.h"
#include "rep/rep.h"

struct rep_side {
    const struct prog *prog;
    const struct rep_table *table;
    int64_t position; /* data item of the tiled typemap to begin with */
};

/* Converts one-item leaves (of variable length, texts); the engine only finds them.
 * dst, src: addresses of the two items; type: the leaf on the memory side. */
struct rep_var {
    int (*move)(void *ctx, const drep_type *dst_leaf, void *dst, const drep_type *src_leaf,
                const void *src);
    /* NULL, or for a row of vstrings on both sides, which are many; adds to *moved. */
    int (*texts)(void *ctx, uint8_t *dst, int64_t dst_step, const drep_type *src_leaf,
                 const uint8_t *src, int64_t src_step, int64_t n, int64_t *moved);
    void *ctx;
    int64_t item; /* the engine's: number of the item that is moved, as in the report */
};

struct rep_opts {
    int range;             /* DREP_RANGE_..., but not DEFAULT; for equal types */
    int value_range;       /* for items whose types differ */
    struct losses *report; /* NULL, or counts are added; first_* as base + item */
    int64_t base;          /* number of this call's first item in the transfer */
    struct rep_var *var;   /* NULL: DREP_ERR_TYPE at such a leaf */
};

/* Converts `items` data items.  Leaf by leaf through kernels picked once by pair of
 * encodings; runs of equal leaves go in one call.  DREP_ERR_TYPE where a pair has no
 * conversion, DREP_ERR_CONVERSION under STRICT and ROUND, naming the item; items before it
 * have been written, *done says how many (done may be NULL). */
int rep_convert(void *dst, const struct rep_side *dst_side, const void *src,
                const struct rep_side *src_side, int64_t items, const struct rep_opts *opts,
                int64_t *done);
/* Add losses to a report that a caller gets. */
void losses_report(const struct losses *losses, drep_report *to);
/* The error of a kernel that stopped at this item. */
struct kernel;
int rep_refused(const struct kernel *k, int64_t item);

#endif
