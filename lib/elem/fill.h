/* fill.h - the fill value: what elements are that were never written.
 *
 * A handle keeps one stored element of it, made once through the file's functions or table.  Most
 * datasets need none: their fill is zero, and that is zero bytes. */
/* SPDX-License-Identifier: MIT */
#ifndef ELEM_FILL_H
#define ELEM_FILL_H

#include "elem/dataset.h"

/* DREP_ERR_LIMIT: an element of the type, as stored or in memory, is longer than the opener allows
 * a fill value to make it, or much longer than the `len` bytes that state the value (SIZE_MAX:
 * nothing states it). */
int fill_fits(const drep_file *f, const struct ftype *ft, size_t len);
/* Makes the handle's fill. */
int fill_make(drep_dataset *ds);
/* Stored elements of the fill value, from byte `offset` of the pattern on. */
int fill_bytes(const drep_dataset *ds, uint8_t *buf, uint64_t offset, uint64_t size);

#endif
