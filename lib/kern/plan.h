/* plan.h - picks the passes of a kernel for a pair of encodings.
 *
 * The pair alone decides, never the pair of types: all types that share an encoding share its
 * kernels. */
/* SPDX-License-Identifier: MIT */
#ifndef KERN_PLAN_H
#define KERN_PLAN_H

#include "kern/kernel.h"

/* The encoding of the items of one side. */
struct enc {
    int cls;                        /* enum fmt_class; a complex is REAL, twice */
    int parts, format, order, size; /* size: of one part */
    const drep_scalar *custom;
};

/* Choose the passes of a zeroed kernel with `report` and `range` set. same: both sides are one
 * type and only the representation changes, which allows what no value conversion does (BYTES,
 * CHAR). DREP_ERR_TYPE where there is no conversion. */
int kernel_plan(struct kernel *k, const struct enc *dst, const struct enc *src, bool same);

#endif
