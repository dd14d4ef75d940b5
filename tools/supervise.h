/* supervise.h - work in a process of its own, which its parent outlives.
 *
 * For libraries that crash or hang on damaged files: the parent says so and takes away
 * what is half made, and signals reach an end in any case. */
#ifndef TOOLS_SUPERVISE_H
#define TOOLS_SUPERVISE_H

#include <limits.h>

/* What both processes see. */
struct supervised {
    /* A file that is not whole yet, "" if there is none: removed when the work dies. */
    char hidden[PATH_MAX];
};

typedef int supervise_fn(struct supervised *shared, void *ctx);

/* Runs work in a child process and gives its exit code.  Signals that ask for an end go to
 * the child, which is killed if it does not obey in time; if one ended it, the caller gets
 * TOOL_IO, takes away what it made and ends by stop_now().  *died is the signal that killed the
 * child of itself, 0: none. Where there can be no child the work is done here. */
int supervise(supervise_fn *work, void *ctx, int *died);

#endif
