/* open.h - opening the Datarep files that a command line names. */
/* SPDX-License-Identifier: MIT */
#ifndef TOOLS_HOST_OPEN_H
#define TOOLS_HOST_OPEN_H

#include "base/handles.h"
#include <stdbool.h>

/* From now on files may refer to others below their directories (hint drep_external). */
void tool_allow_external(void);
bool tool_external(void);
/* From now on a file that is opened for writing is waited for while another process writes to it
 * (hint drep_lock_wait).  False: not a number of seconds. */
bool tool_wait_for_lock(const char *seconds);
/* The hints of whoever opens a file: the limits (limit.h) and directories of plugins (NULL:
 * none), for drep_info_free().  0, or a DREP_ERR_... code and *out NULL. */
int tool_info(const char *plugins, drep_info **out);
/* Opens a file for reading and warns about a damaged header slot.  "-": standard input.
 * plugins: directories of plugins, NULL for none.  0, or an exit code after the message
 * is printed; a file of another format is called by its name. */
int tool_open(const char *path, int amode, const char *plugins, drep_file **out);
/* Like tool_open(), of an earlier commit, which is the number in `commit` (NULL: the newest). */
int tool_open_commit(const char *path, int amode, const char *plugins, const char *commit,
                     drep_file **out);

#endif
