/* watch.h - waking up when a writer of a file closes it.
 *
 * A lock of a file cannot be waited for with a limit of time.  A writer that ends closes its
 * descriptor, however it ends, and the system tells that (inotify): a waiter looks at the lock
 * then. Nothing depends on it: where the system tells nothing, as of other machines that mount the
 * same file system, a pause takes its time. */
/* SPDX-License-Identifier: MIT */
#ifndef IO_WATCH_H
#define IO_WATCH_H

#include <stdint.h>

/* Watch the file at `path`: a descriptor for watch_pause(), to be closed; -1: it cannot be watched.
 */
int watch_open(const char *path);
/* Wait until a writer has closed the file since the last call, or for `ns` nanoseconds.  watch -1:
 * for that long. */
void watch_pause(int watch, int64_t ns);

#endif
