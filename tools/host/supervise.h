/* supervise.h - work in a process of its own, which its parent outlives.
 *
 * For libraries that crash or hang on damaged files: the parent says so and takes away
 * what is half made, and signals reach an end in any case. */
/* SPDX-License-Identifier: MIT */
#ifndef TOOLS_HOST_SUPERVISE_H
#define TOOLS_HOST_SUPERVISE_H

#include <limits.h>
#include <stdbool.h>
#include <stddef.h>

/* Memory that both processes share. */
struct supervised {
    /* A file that is not whole yet, "" if there is none: removed when the work dies. */
    char hidden[PATH_MAX];
    /* The object in hand, cut if it is longer; for messages. */
    char object[512];
    int parent; /* a pipe that ends with the parent; -1: none */
};

typedef int supervise_fn(struct supervised *shared, void *ctx);
/* True if the work may have made a file of this name: a child that was led astray could have any
 * other one removed. */
typedef bool supervise_owns_fn(const char *path);

/* To be called by the work once: from here on it ends when its parent does, even if it hangs.
 * Makes a thread, so a process that locks itself in does that before. */
void supervise_watch(struct supervised *shared);

/* Runs work in a child process and gives its exit code.  Signals that ask for an end go to
 * the child, which is killed if it does not obey in time; if one ended it, the caller gets
 * TOOL_IO, takes away what it made and ends by stop_now().  *died is the signal that killed the
 * child of itself, 0: none; `object` becomes the object that it had in hand then.  Where there
 * can be no child the work is done here. */
int supervise(supervise_fn *work, void *ctx, supervise_owns_fn *owns, int *died, char *object,
              size_t object_size);

#endif
