/* preload.h - running a program with a library in it that it does not know.
 *
 * The dynamic linker loads what LD_PRELOAD names into every program that it starts.  It starts no
 * program that is linked statically, and heeds nobody where the program has rights that its caller
 * has not (setuid, setgid, capabilities): both are said, as the program would just do without. */
/* SPDX-License-Identifier: MIT */
#ifndef TOOLS_CMD_PRELOAD_H
#define TOOLS_CMD_PRELOAD_H

#include <limits.h>

/* Statuses that are not the program's, as env(1) has them. */
enum {
    PRELOAD_FAILED = 125,  /* before the program was looked at */
    PRELOAD_REFUSED = 126, /* it is there and cannot be run so */
    PRELOAD_MISSING = 127
};

/* Finds a program as shells do, by $PATH unless its name has a slash, and checks that `library` can
 * be loaded into it.  0 and its path, or a status, after saying. */
int preload_find(const char *program, const char *library, char path[PATH_MAX]);
/* Runs the program at `path` in the place of this process, with the library behind those that
 * LD_PRELOAD names already.  A status, after saying why it does not run. */
int preload_run(const char *path, const char *library, char **argv);

#endif
