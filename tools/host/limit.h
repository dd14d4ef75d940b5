/* limit.h - what the files on the command line may cost: memory, processor time, output.
 *
 * A file decides none of this.  Each limit has a default (limits.def), and the option
 * --limit NAME=VALUE of every subcommand replaces it; the library enforces those that have a
 * hint (drep_limit_...), the command the others.
 *
 * Memory: the system refuses more than the limit (RLIMIT_DATA), and whoever asked for it fails
 * with DREP_ERR_NOMEM.  Time: a timer of the process notes that the time is up, limit_over()
 * tells so at the next object or block of output; if nobody asks for two more seconds, the
 * process ends where it is and what is not whole is removed (unfinished.h).  Output: counted by
 * limit_output(), or by the size of the file that is being made.
 *
 * Nothing is limited before limit_file() is called for the first time.  A child process calls
 * limit_child(): the system gives it the parent's memory limit, but not the timer. */
/* SPDX-License-Identifier: MIT */
#ifndef TOOLS_HOST_LIMIT_H
#define TOOLS_HOST_LIMIT_H

#include "base/handles.h"
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

enum limit {
#define X(id, name, unit, base, hint, text) LIMIT_##id,
#include "tools/host/limits.def"
#undef X
    LIMITS
};

#define LIMIT_NONE UINT64_MAX

/* Takes the argument of --limit, "NAME=VALUE".  0, or -1 with what is wrong in `why`. */
int limit_option(const char *text, char *why, size_t size);
/* One line a limit, for `datarep --help`. */
void limit_help(FILE *out);
/* The names with '=' behind them and spaces between, for completion. */
extern const char limit_words[];

/* A file of `size` bytes is going to be read: the defaults of memory, time and output grow with
 * it.  The first call puts the limits in force. */
void limit_file(uint64_t size);
/* Like limit_file(), by name; adds nothing for a file that is not regular. */
void limit_file_named(const char *path);
/* Before limit_file(): another library holds what a file holds, so many times more. */
void limit_copies(unsigned n);
/* A limit as it is now: bytes, seconds, a number; LIMIT_NONE: none. */
uint64_t limit_get(enum limit which);
/* In a child process: starts its timer, and from now on it has to make steps ahead. */
void limit_child(void);
/* A step of the work in a child process.  Without one the process ends after the time of the
 * limit "stall". */
void limit_beat(void);

/* The library's limits that --limit named, added to `info`.  0 or a DREP_ERR_... code. */
int limit_hints(drep_info *info);

/* The file and the object at hand, for the message when time is up; path may be NULL. */
void limit_object(const char *file, const char *path);
/* Count more bytes of output.  Where a file is being made (unfinished.h) its size counts. */
void limit_output(uint64_t bytes);

/* A pipe gave so many bytes.  0; or DREP_ERR_LIMIT when that is too much, which is said. */
int limit_input(const char *file, uint64_t bytes);

/* 0; or DREP_ERR_LIMIT when time or output are used up.  The first time it says so on stderr. */
int limit_over(void);
/* The signal that asked for an end (stop.h), or DREP_ERR_LIMIT as limit_over(); else 0. */
int limit_stopped(void);
/* Notes that a message about `err` was printed.  When memory was refused, limit_over() stops the
 * work from then on, and limit_spent() is true: one message is enough. */
void limit_said(int err);
bool limit_spent(int err);
/* The exit code of a run that ended with `status`. */
int limit_end(int status);
/* Which option raises the limit that the message of `err` is about; NULL: it is about none.
 * Valid until the next call. */
const char *limit_advice(int err, const char *message);

#endif
