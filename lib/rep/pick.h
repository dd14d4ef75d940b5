/* pick.h - the kernel that converts items of one leaf and table to another's. */
/* SPDX-License-Identifier: MIT */
#ifndef REP_PICK_H
#define REP_PICK_H

#include "kern/kernel.h"
#include "rep/convert.h"

/* DREP_ERR_TYPE if no conversion exists between the two.  same_type: both sides are
 * the same predefined type (representation conversion), which allows what no value
 * conversion does (BYTES, CHAR). */
int kernel_pick(struct kernel *k, const struct rep_table *dst_table, const drep_type *dst_leaf,
                const struct rep_table *src_table, const drep_type *src_leaf,
                const struct rep_opts *opts);

#endif
