/* beneath.h - a file's path as seen from the directory of another. */
/* SPDX-License-Identifier: MIT */
#ifndef TOOLS_WALK_BENEATH_H
#define TOOLS_WALK_BENEATH_H

#include <limits.h>

/* Give the path of `file`, behind symbolic links, relative to the directory of `from`, which need
 * not be there.  -1 with errno: one of them cannot be found.  1: `file` is not in or below it. */
int path_beneath(const char *from, const char *file, char out[PATH_MAX]);

#endif
