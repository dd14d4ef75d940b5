/* hidden.h - files that grow under a hidden name until they are whole.
 *
 * Such a file is called .drep-0123456789abcdef.tmp, beside the one that it will become, and whoever
 * makes it holds an exclusive lock on byte HIDDEN_LOCK, which for a container is the writer's.  A
 * process that is killed leaves the file, but no lock: so the next one that makes a file in this
 * directory can tell that nobody writes to it, and removes it. */
/* SPDX-License-Identifier: MIT */
#ifndef BASE_HIDDEN_H
#define BASE_HIDDEN_H

#include <stdbool.h>
#include <stdint.h>

#define HIDDEN_LOCK (((uint64_t)1 << 62) - 1)
#define HIDDEN_NAME sizeof(".drep-0123456789abcdef.tmp")

/* True for names of that form, without a directory. */
bool hidden_is(const char *name);
/* Make a file with a new name of that form in a directory, open for reading and writing, and lock
 * it where there are locks.  Gives its descriptor; -1: errno says why. */
int hidden_make(int dir, unsigned perm, char name[HIDDEN_NAME]);
/* The lock is not needed any more: the file has got its name. */
void hidden_unlock(int fd);
/* Remove what killed processes of this user have left in a directory: regular files with such names
 * whose lock is free.  Nothing is removed on file systems whose locks other machines may not see.
 * Looks at HIDDEN_MOST entries at most, and fails for nothing. */
#define HIDDEN_MOST 4096
void hidden_sweep(int dir);

#endif
