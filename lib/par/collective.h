/* collective.h - transfers that all ranks of a file make together.
 *
 * All ranks call these with their parts of one dataset.  `call` names the public function, `err` is
 * why this rank cannot take part: then all get that error.  The caller has begun an operation of
 * the store, or a reading call, unless there is an err. */
/* SPDX-License-Identifier: MIT */
#ifndef PAR_COLLECTIVE_H
#define PAR_COLLECTIVE_H

#include "elem/dataset.h"

/* The file becomes what it would be if one process had written all elements in one call.  No
 * element may be written by two ranks: DREP_ERR_NOT_SAME. */
int collective_write(drep_dataset *ds, const drep_selection *sel, const drep_type *type,
                     const void *buf, const drep_xfer *xfer, const char *call, int err);
/* Bring together what single ranks have written to a dataset (pending.h); they keep it until
 * pending_drop().  Inside an operation of the store. */
int collective_merge(drep_dataset *ds, const char *call);
/* Memory gets the elements that a single process would read, in whatever order ranks have written.
 * alone: the caller has the lock alone, which becomes that of a reader. */
int collective_read(drep_dataset *ds, const drep_selection *sel, const drep_type *type, void *buf,
                    const drep_xfer *xfer, const char *call, bool alone, int err);
/* The agreement with which both begin: all ranks give the same dataset. */
enum { COLLECTIVE_ARGS = 2 };
int collective_meet(const drep_dataset *ds, const char *name, int err);

#endif
