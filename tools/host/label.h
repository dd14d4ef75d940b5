/* label.h - what a file on the command line is called.
 *
 * "-" is standard input: messages say so, and the library, which was given something else in its
 * place, has a third name for it in its own messages. */
/* SPDX-License-Identifier: MIT */
#ifndef TOOLS_HOST_LABEL_H
#define TOOLS_HOST_LABEL_H

/* Take a URL of the command line over, before anything shows it: gives the text by which it goes
 * from now on, without its user part and query, and overwrites the argument for whoever lists
 * processes. Any other argument is given back. */
char *label_argument(char *argument);
/* The whole URL that goes by a name, for whoever opens it; any other name is given back. */
const char *label_opened(const char *file);
/* How messages and output name a file: "standard input" for "-". */
const char *label_of(const char *file);
/* How the library names it in its messages. */
const char *label_in_library(const char *file);
/* The library reads standard input by this name; it is copied. */
void label_set_library(const char *name);

#endif
