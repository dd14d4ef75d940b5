/* copy.h - copies of objects, for callers that copy one after the other. */
/* SPDX-License-Identifier: MIT */
#ifndef WHOLE_COPY_H
#define WHOLE_COPY_H

#include "base/handles.h"

#include <stdbool.h>

/* True if paths of other files mean the same in both files. */
bool copy_one_directory(const drep_file *a, const drep_file *b);

/* Like drep_copy(), where chunks that are in other files stay there if they can, with each
 * dataset's own representation; fn gives the path in `to` of a dimension that the caller copied
 * before, or NULL. */
typedef const char *copy_dimension_fn(uint64_t id, void *ctx);
int object_copy(drep_file *from, const char *path, drep_file *to, const char *new_path,
                copy_dimension_fn *fn, void *ctx);

#endif
