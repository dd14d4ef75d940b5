/* column_major.h - boxes whose first dimension runs fastest, as Fortran has them. */
/* SPDX-License-Identifier: MIT */
#ifndef TOOLS_FLAT_COLUMN_MAJOR_H
#define TOOLS_FLAT_COLUMN_MAJOR_H

#include <datarep.h>

/* Elements of `type` in a box in memory, the first dimension fastest, given in row-major order:
 * to be the memory type of a transfer of a dataset's box.  A DREP_ERR_... code. */
int column_major_elements(const drep_type *type, int rank, const int64_t *count, drep_type **out);
/* Elements of `type` in a box in memory, the last dimension fastest, given first dimension
 * fastest: to be written to a file of columns.  Likewise. */
int column_major_order(const drep_type *type, int rank, const int64_t *count, drep_type **out);

#endif
