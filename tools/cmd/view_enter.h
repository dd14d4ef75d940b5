/* view_enter.h - how a browser gets the code of `datarep view`.
 *
 * Not in an argument, which other users of the machine see, nor in a URL, which histories keep: the
 * browser opens a file that only this user can read, and the form in it posts the code. */
/* SPDX-License-Identifier: MIT */
#ifndef TOOLS_CMD_VIEW_ENTER_H
#define TOOLS_CMD_VIEW_ENTER_H

#include <limits.h>

/* Makes the file, in $XDG_RUNTIME_DIR or the directory for temporary files; 0, or an exit code
 * after saying.  Whoever called removes it. */
int view_enter_file(char path[PATH_MAX], int port, const char *code);
/* Has the desktop open it in a browser (xdg-open).  0, or an errno. */
int view_enter_browser(const char *path);

#endif
