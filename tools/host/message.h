/* message.h - messages to the user.
 *
 * They go to stderr as `datarep: FILE: PATH: what (byte N); what to do`; stdout carries
 * results only.  Failures of the library are said by fail.h in the same form. */
/* SPDX-License-Identifier: MIT */
#ifndef TOOLS_HOST_MESSAGE_H
#define TOOLS_HOST_MESSAGE_H

/* Prints a message of our own; file and path may be NULL. */
void tool_say(const char *file, const char *path, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
/* Prints on stderr, as drep_escape() has it. */
void tool_print(const char *format, ...) __attribute__((format(printf, 1, 2)));
/* Prints `datarep COMMAND: message` and where help is; gives TOOL_USAGE. */
int tool_usage(const char *command, const char *format, ...) __attribute__((format(printf, 2, 3)));
/* Flushes stdout, of whoever prints by stdio; says what went wrong.  An exit code. */
int tool_flush(void);

#endif
