/* array.h - the entries of one dataset. */
/* SPDX-License-Identifier: MIT */
#ifndef TOOLS_REFS_ARRAY_H
#define TOOLS_REFS_ARRAY_H

#include "tools/refs/writer.h"

/* Lengths of a group's datasets that name no dimension there: number N is that of phony_dim_N. */
struct phony {
    int64_t *len;
    size_t n, room;
};

/* Writes the dataset at `path`, which may be a soft link, or leaves it out.  A DREP_ERR_... code.
 */
int array_write(struct refs_writer *w, const char *path, struct phony *phony);

#endif
