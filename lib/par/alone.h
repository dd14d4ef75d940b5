/* alone.h - what one rank may do alone with a dataset of a file that ranks share. */
/* SPDX-License-Identifier: MIT */
#ifndef PAR_ALONE_H
#define PAR_ALONE_H

#include "elem/dataset.h"
#include "elem/select.h"

/* DREP_ERR_NOT_COMMITTED: its elements are known to rank 0 alone. */
int alone_known(const drep_dataset *ds);
/* Likewise, or the rank has written to it alone, which only drep_read() and drep_read_box() know.
 */
int alone_readable(const drep_dataset *ds);
/* DREP_ERR_NOT_COMMITTED: an element refers to an object that has a provisional id, which will be
 * that of another object. sel NULL: all elements. */
int alone_refs(const drep_dataset *ds, const drep_selection *sel, const drep_type *type,
               const void *buf);
/* DREP_ERR_UNSUPPORTED_OPERATION: elements are written by all ranks together. */
int alone_writable(const drep_dataset *ds);
#endif
