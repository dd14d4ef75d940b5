/* witness.h - witnesses: a few values of each type, stored by the functions of a representation.
 *
 * Another representation may be registered under the same name elsewhere.  So the header of a file
 * whose elements functions convert holds the stored bytes of 0, 1, the largest value and some more;
 * whoever opens it converts them back and compares. */
/* SPDX-License-Identifier: MIT */
#ifndef FILE_WITNESS_H
#define FILE_WITNESS_H

#include "chunk/chunks.h"
#include "conv/file_rep.h"

/* Stores witnesses of a predefined type in w, as many as the functions turn back into their
 * values. */
int witness_make(const struct file_rep *rep, int code, struct buf *w);
/* DREP_ERR_UNSUPPORTED_DATAREP: the functions at hand do not read them as these values. */
int witness_check(const struct file_rep *rep, int code, const struct buf *w);

#endif
