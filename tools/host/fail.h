/* fail.h - failures of the library, and of malloc(), told to the user.
 *
 * Above limit.h: a failure may mean that a limit was reached, which is then said once, with the
 * option that raises it. */
/* SPDX-License-Identifier: MIT */
#ifndef TOOLS_HOST_FAIL_H
#define TOOLS_HOST_FAIL_H

#include "base/handles.h"

/* Prints the library's last message, with FILE and PATH in front where it does not
 * name them itself; path may be NULL.  Gives the exit code for err. */
int tool_fail(const char *file, const char *path, int err);
/* Like tool_fail(), of drep_copy() from one open file into another: objects that the message
 * counts by number are named. */
int tool_fail_copy(const char *source, const char *target, drep_file *from, int err);
/* A message of the library about that file, without its name at the front. */
const char *tool_unnamed(const char *file, const char *message);
/* Says so and gives TOOL_IO. */
int tool_no_memory(void);

#endif
