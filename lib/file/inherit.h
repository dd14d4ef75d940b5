/* inherit.h - handles that came to this process by fork().
 *
 * Locks of files belong to open file descriptions, which a child shares with its parent: it can
 * neither hold one of its own through them nor give one up without taking it from the parent.  So
 * a handle that writes stays with the process that opened it.  One that reads gets a description
 * and a lock of its own at its first use, on the same commit, and a new store: what other threads
 * of the parent were doing in the old one at the time of the fork never ends here. */
/* SPDX-License-Identifier: MIT */
#ifndef FILE_INHERIT_H
#define FILE_INHERIT_H

#include "base/handles.h"

#include <stdatomic.h>
#include <stdbool.h>

struct inherit_state {
    atomic_uint forks; /* fork_count() of the process that the handle belongs to */
    int lost;          /* the error of every call: this process cannot use it */
    bool busy;         /* other threads were inside when the process was forked, */
    bool torn;         /* or changed what a new store does not bring back */
};

/* The handle belongs to this process. */
void file_born(drep_file *f);
/* The slow path of file_here(): the process was forked since the last call, or the handle is lost.
 */
int file_here_slow(drep_file *f);
/* For calls that only give something back: succeeds for a handle that nobody can use here, too,
 * unless its lists cannot be trusted. */
int file_settle(drep_file *f);
/* Before the handle is freed: is it another process's? */
bool file_inherited(drep_file *f);

#endif
