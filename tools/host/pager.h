/* pager.h - long output on a terminal, a screen at a time. */
/* SPDX-License-Identifier: MIT */
#ifndef TOOLS_HOST_PAGER_H
#define TOOLS_HOST_PAGER_H

#include <stdbool.h>

/* If standard output is a terminal, lets the program that DATAREP_PAGER or PAGER names, else less,
 * show it: from here on it goes there.  An empty name, `cat`, or no such program: it stays where it
 * is.  Whoever asks for colours asks before. */
bool pager_begin(void);
/* Waits until the user has seen enough. */
void pager_end(bool begun);

#endif
