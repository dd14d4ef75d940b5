/* npy_in.h - a .npy file as a source. */
/* SPDX-License-Identifier: MIT */
#ifndef TOOLS_FLAT_NPY_IN_H
#define TOOLS_FLAT_NPY_IN_H

#include "tools/flat/source.h"

/* The descriptor stays the caller's. */
int source_npy(struct source *out, const char *file, int fd);
/* Like source_npy(), of a member of an archive: TOOL_DIFFERS, after saying so, if it holds Python
 * objects, without which the other members can be read. */
int source_npy_member(struct source *out, const char *file, int fd);

#endif
