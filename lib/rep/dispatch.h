/* dispatch.h - transfers through conversion functions, over packed items. */
/* SPDX-License-Identifier: MIT */
#ifndef REP_DISPATCH_H
#define REP_DISPATCH_H

#include "rep/rep.h"

/* Moves `items` data items between userbuf, from `position` on, and the packed bytes
 * at filebuf, in calls of at most `staging` bytes of whole items (at least one item a
 * call); userbuf and type are passed through unchanged.  sizes: what the extent function
 * said of the types in `type`; NULL: it is asked.  A registered write function is given
 * zeros to write over, so bytes that it leaves out are zeros.  Null functions take native
 * form.  DREP_ERR_CONVERSION naming the function's code; *done: items of the calls
 * that succeeded (may be NULL).  *used: bytes of filebuf they took. */
int rep_read_items(const struct datarep *rep, const struct type_sizes *sizes, void *userbuf,
                   const drep_type *type, int64_t position, int64_t items, const void *filebuf,
                   int64_t staging, int64_t *done, int64_t *used);
int rep_write_items(const struct datarep *rep, const struct type_sizes *sizes, const void *userbuf,
                    const drep_type *type, int64_t position, int64_t items, void *filebuf,
                    int64_t staging, int64_t *done, int64_t *used);

#endif
