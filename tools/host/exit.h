/* exit.h - how a run ends: exit codes, and what a user may do about an error.
 *
 * Nothing calls exit(): a subcommand gives its code back to main(). */
/* SPDX-License-Identifier: MIT */
#ifndef TOOLS_HOST_EXIT_H
#define TOOLS_HOST_EXIT_H

enum tool_exit {
    TOOL_FINE = 0,
    TOOL_DIFFERS = 1, /* differences, findings, things left out */
    TOOL_USAGE = 2,   /* the command line, a path or a schema is wrong */
    TOOL_IO = 3,      /* the system refuses: no such file, no space, no permission */
    TOOL_CORRUPT = 4  /* damaged, not a Datarep file, or beyond what is supported */
};

/* The exit code for a DREP_ERR_... code. */
int tool_exit_code(int err);
/* The worse of two exit codes. */
int tool_worse(int a, int b);
/* Advice for a DREP_ERR_... code, with %s for the file's name; NULL if there is none. */
const char *exit_advice(int err);

#endif
