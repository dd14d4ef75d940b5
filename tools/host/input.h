/* input.h - a container that comes through standard input.
 *
 * A container is read here and there, a pipe only once: what comes through one is kept in
 * memory, or when it is more than a little, in a file without a name in $TMPDIR. */
/* SPDX-License-Identifier: MIT */
#ifndef TOOLS_HOST_INPUT_H
#define TOOLS_HOST_INPUT_H

#include <datarep.h>
#include <limits.h>
#include <stdbool.h>

/* Opens standard input as drep_open() opens a file.  *front (16 bytes) gets the first
 * bytes of it and *size how many there are, so that other formats can be told apart.
 * -1 after saying what the system refused; else 0 or a DREP_ERR_... code. */
int input_open(int amode, const drep_info *info, char *front, size_t *size, drep_file **out);

/* Opens any file, "-": standard input, so that it can be read here and there: a pipe is
 * first read into a file without a name.  The descriptor, or -1 after saying what the system
 * refused. */
int input_file(const char *file);

/* Standard input for what opens files by name; *made: it is a copy in $TMPDIR, which the
 * caller removes.  -1 after saying what the system refused. */
int input_named(char name[PATH_MAX], bool *made);

#endif
