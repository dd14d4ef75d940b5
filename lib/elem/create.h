/* create.h - creating datasets: layout, chunks and filters of a new one. */
/* SPDX-License-Identifier: MIT */
#ifndef ELEM_CREATE_H
#define ELEM_CREATE_H

#include "conv/ftype.h"
#include "file/file.h"

/* Chooses layout, chunks and filters of a dataset of this type, as a new one gets them. */
int dataset_plan(drep_file *f, const struct file_rep *rep, const drep_spec *spec,
                 const struct ftype *ft, struct object_rec *rec);

/* Chooses the lengths of chunks for the record's lengths and maxima, of at most `target` bytes. */
void chunk_choose(struct object_rec *rec, int64_t esize, int64_t target);

#endif
