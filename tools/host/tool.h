/* tool.h - what all subcommands share: exit codes, messages, opening files.
 *
 * Messages go to stderr as `datarep: FILE: PATH: what (byte N); what to do`; stdout
 * carries results only.  A subcommand gives its exit code back to main(), nothing here
 * exits. */
#ifndef TOOLS_HOST_TOOL_H
#define TOOLS_HOST_TOOL_H

#include "tools/cmd/command.h"
#include <datarep.h>
#include <stdarg.h>

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

/* Prints the library's last message, with FILE and PATH in front where it does not
 * name them itself; path may be NULL.  Gives the exit code for err. */
int tool_fail(const char *file, const char *path, int err);
/* The same of drep_copy() from one open file into another; what it counts by number is named. */
int tool_fail_copy(const char *source, const char *target, drep_file *from, int err);
/* The same with a message of our own. */
void tool_say(const char *file, const char *path, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
/* Prints on stderr, with '?' for what would tell a terminal to do something. */
void tool_put(const char *format, va_list args);
void tool_print(const char *format, ...) __attribute__((format(printf, 1, 2)));
/* "/group" and "name" joined; malloc'ed, NULL without memory. */
char *tool_join(const char *group, const char *name);
/* Says so and gives TOOL_IO. */
int tool_no_memory(void);
/* Flushes stdout, of whoever prints by stdio; says what went wrong.  An exit code. */
int tool_flush(void);

/* The hints of whoever opens a file: the limits (limit.h) and directories of plugins (NULL:
 * none), for drep_info_free().  0, or a DREP_ERR_... code and *out NULL. */
int tool_info(const char *plugins, drep_info **out);
/* Opens a file for reading and warns about a damaged header slot.  "-": standard input.
 * plugins: directories of plugins, NULL for none.  0, or an exit code after the message
 * is printed; a file of another format is called by its name. */
int tool_open(const char *path, int amode, const char *plugins, drep_file **out);
/* The same of an earlier commit, which is the number in `commit` (NULL: the newest). */
int tool_open_commit(const char *path, int amode, const char *plugins, const char *commit,
                     drep_file **out);

#endif
