/* merge.h - the changes of all ranks become one: rank 0's part. */
/* SPDX-License-Identifier: MIT */
#ifndef PAR_MERGE_H
#define PAR_MERGE_H

#include "par/changes.h"

/* Enter the changes of n groups of ranks into the tree of rank 0, inside an operation; the first
 * are rank 0's own, which are there.  The new objects in the list get their ids.
 * DREP_ERR_NOT_SAME: they contradict each other. */
int merge_changes(drep_file *f, struct changes *all, size_t n);
/* DREP_ERR_NOT_SAME: a rank has written elements of an object that another has removed or made
 * smaller since the last commit. `own` is its id on rank `rank`, whose changes are `of`; NULL: it
 * has none. *id is that of the merged file. */
int merge_written(drep_file *f, struct changes *all, size_t n, const struct changes *of, int rank,
                  uint64_t own, uint64_t *id);

#endif
