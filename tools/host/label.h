/* label.h - what a file on the command line is called.
 *
 * "-" is standard input: messages say so, and the library, which was given something else in its
 * place, has a third name for it in its own messages. */
/* SPDX-License-Identifier: MIT */
#ifndef TOOLS_HOST_LABEL_H
#define TOOLS_HOST_LABEL_H

/* How messages name a file: "standard input" for "-". */
const char *label_of(const char *file);
/* How the library names it in its messages. */
const char *label_in_library(const char *file);
/* The library reads standard input by this name; it is copied. */
void label_set_library(const char *name);

#endif
