/* unfinished.h - files that are not whole yet, taken away when the process ends at once. */
/* SPDX-License-Identifier: MIT */
#ifndef TOOLS_HOST_UNFINISHED_H
#define TOOLS_HOST_UNFINISHED_H

/* The command's own file that grows under this name; NULL: none any more. */
void unfinished_set(const char *path);
/* That name, or NULL. */
const char *unfinished_path(void);
/* Removes that file, and containers that the library has not given their names yet.  May be
 * called by a signal handler, and only before the process ends. */
void unfinished_remove(void);

#endif
