/* plan.h - picks the passes of a kernel for a pair of encodings. */
#ifndef KERN_PLAN_H
#define KERN_PLAN_H

#include "kern/kernel.h"

/* How the items of one side lie in their bytes. */
struct enc {
    int cls;                        /* enum fmt_class; a complex is REAL, twice */
    int parts, format, order, size; /* size: of one part */
    const drep_scalar *custom;
};

/* Fills in how a zeroed kernel with `report` and `range` set converts.  same: both sides are one
 * type, only the representation changes, which allows what no value conversion does (BYTES,
 * CHAR).  DREP_ERR_TYPE where there is no conversion. */
int kernel_plan(struct kernel *k, const struct enc *dst, const struct enc *src, bool same);

#endif
