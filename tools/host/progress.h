/* progress.h - a bar on the terminal for work that takes longer than a second.
 *
 * It stands on the last line of stderr, only where that is a terminal, and goes when the
 * work is done; messages take its place (statusline.h) and it comes back below them. One
 * piece of work at a time, told of by one thread at a time. */
/* SPDX-License-Identifier: MIT */
#ifndef TOOLS_HOST_PROGRESS_H
#define TOOLS_HOST_PROGRESS_H

#include <stdint.h>

enum progress_unit { PROGRESS_BYTES, PROGRESS_ITEMS };

/* what: "import"; total in units, 0: not known.  Both may be told again later. */
void progress_begin(const char *what, enum progress_unit unit, uint64_t total);
/* More is done.  0, or DREP_ERR_STOPPED when a signal (stop.h) or a limit (limit.h) asks for an
 * end. */
int progress_add(uint64_t units);
/* Set the amount done in all; likewise. */
int progress_set(uint64_t units);
void progress_end(void);

#endif
