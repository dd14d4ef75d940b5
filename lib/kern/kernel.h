/* kernel.h - what a kernel is made of, and running it.
 *
 * A kernel that only reorders bytes is one move.  Every other one is a short list of
 * passes over a tile of scalars that stays in the first-level cache: load (gather, and
 * make little-endian), one to three passes, store (put in order, scatter).  A pass
 * knows two kinds of scalar and nothing of strides or byte order, so that a few dozen
 * of them, each compiled for several instruction sets, serve every pair of encodings. */
/* SPDX-License-Identifier: MIT */
#ifndef KERN_KERNEL_H
#define KERN_KERNEL_H

#include "kern/losses.h"
#include "kern/move.h"
#include "kern/side.h"

/* Counts of losses; refused: those that only DREP_RANGE_WRAP and DREP_RANGE_CLAMP allow. */
struct tally {
    int64_t overflow, inexact, nan_lost, refused;
};

/* n scalars from src to dst, little-endian, back to back, apart. */
struct kernel;
typedef void pass_fn(const struct kernel *k, uint8_t *dst, const uint8_t *src, int64_t n,
                     struct tally *t);
#define PASS_ARGS \
    const struct kernel *k, uint8_t *dst, const uint8_t *src, int64_t n, struct tally *t

/* Likewise, but scalars that the target cannot hold are refused: n or, if there are any, the number
 * of those before the block of CHECKED_BLOCK in which the first one is; of that nothing is written.
 */
enum { CHECKED_BLOCK = 64 };
typedef int64_t checked_fn(const struct kernel *k, uint8_t *dst, const uint8_t *src, int64_t n);

enum { PASSES_MAX = 4 };
struct pass_plan {
    int npass; /* 0: one move, `load` */
    uint8_t parts;
    bool loads, stores;  /* load and store do more than copy */
    bool strict, counts; /* stop at what is refused; count what is lost */
    bool exact;          /* strict: refuse what is rounded, too */
    bool clamp;
    bool turned;         /* pass[1] does all of it where both sides are dense */
    bool fpu;            /* needs kern_float_default(); else pass_general does it all */
    checked_fn *checked; /* one loop for all passes if both sides are dense, or NULL */
    pass_fn *pass[PASSES_MAX];
    bool look[PASSES_MAX];         /* the pass only looks and writes nothing */
    uint8_t width[PASSES_MAX + 1]; /* bytes of a scalar before and after each */
    struct move load, store;
    int64_t low, high;   /* integers: what the target can hold, in the source's type */
    double below, above; /* reals to integers: the first that are beyond */
    struct side dst, src;
};

/* A kernel converts rows of items. The sides do not overlap, except that in place (dst == src,
 * equal distances) is allowed when sizes are equal. Returns 0, or which item was refused,
 * counted from 1 through the rows: the items before it have been written, and nothing after
 * them. */
typedef int64_t kernel_run_fn(const struct kernel *k, const struct kern_rows *r);
struct kernel {
    kernel_run_fn *run;
    int range;
    struct losses *report; /* NULL: nobody counts */
    bool lossless;         /* no value can be refused or reported */
    struct pass_plan plan; /* the passes */
};
/* The three ways to run: one move; one resizing pass; passes over tiles. */
kernel_run_fn run_move, run_resize, run_passes;
/* True if the losses of one or more items make the kernel stop. */
static inline bool kernel_refuses(const struct pass_plan *p, const struct tally *t)
{
    return p->strict && (t->refused || (p->exact && t->inexact));
}
int64_t kernel_rows(const struct kernel *k, const struct kern_rows *r);
/* Run one row, numbered from `base` on. */
static inline int64_t kernel_run(const struct kernel *k, void *dst, int64_t dst_stride,
                                 const void *src, int64_t src_stride, int64_t n, int64_t base)
{
    return kernel_rows(k, &(struct kern_rows){.dst = dst,
                                              .src = src,
                                              .dst_step = dst_stride,
                                              .src_step = src_stride,
                                              .per = n,
                                              .rows = 1,
                                              .base = base,
                                              .step = 1});
}
/* Describe a kernel that only moves bytes: units of an item, each of `unit` bytes that come from
 * byte `from` of the source's unit on, reordered by `map`. False: it does more. */
struct byte_moves {
    int unit, units, from, from_unit;
    uint8_t map[16];
};
bool kernel_bytes(const struct kernel *k, struct byte_moves *out);

#endif
