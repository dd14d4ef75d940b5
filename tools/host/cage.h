/* cage.h - what a process may still do that reads a file which nobody trusts.
 *
 * A library that reads such a file may be led to open others, or be taken over.  Before that
 * the process gives up what it does not need, for ever and for all its threads:
 *
 *   Landlock (Linux 5.13): opens nothing for writing and, for reading, only what is below the
 *   paths of the rules; makes, renames and removes files in one directory alone.
 *
 *   System-call filter (seccomp): runs no program, makes no process, opens no socket, does not
 *   touch other processes, mounts, modules, keys.
 *
 * A kernel that offers less refuses nothing else; the caller's own checks then stand alone. */
/* SPDX-License-Identifier: MIT */
#ifndef TOOLS_HOST_CAGE_H
#define TOOLS_HOST_CAGE_H

#include <stddef.h>

#define CAGE_PATHS 64

struct cage {
    const char *read[CAGE_PATHS]; /* files and directories to be read; NULL entries are skipped */
    size_t nread;
    const char *make; /* a directory where files get and lose their names; NULL: none */
};

/* Adds a path to be read, if there is room. */
void cage_read(struct cage *c, const char *path);
/* Locks the calling process in.  To be called while it has one thread. */
void cage_enter(const struct cage *c);
/* What this kernel offers, as words: "Landlock 4, system-call filter", or "". */
void cage_offers(char *text, size_t size);

#endif
