/* external_sum.h - the sums of rows whose bytes are in other files.
 *
 * Another file that is a container has sums for the stored bytes of its chunks: a row that is
 * exactly one of them takes its sum, and no payload is read.  The bytes of other rows are read. */
/* SPDX-License-Identifier: MIT */
#ifndef ELEM_EXTERNAL_SUM_H
#define ELEM_EXTERNAL_SUM_H

#include "chunk/chunks.h"
#include "file/file.h"

/* Give the sum that the other file has for a row; 0: it has none.  The caller holds f alone. */
int external_known_sum(drep_file *f, const struct chunk_rec *row, uint64_t *sum);
/* Give the sum of a row: the one that the other file has, or that of its bytes. */
int external_sum(drep_file *f, const struct chunk_rec *row, uint64_t *sum);

#endif
