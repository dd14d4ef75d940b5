/* pager.h - long output on a terminal, a screen at a time. */
/* SPDX-License-Identifier: MIT */
#ifndef TOOLS_HOST_PAGER_H
#define TOOLS_HOST_PAGER_H

/* If standard output is a terminal, lets the program that DATAREP_PAGER or PAGER names, else less,
 * show it: from here on it goes there.  An empty name, or `cat`: it stays where it is.  Whoever
 * asks for colours asks before. */
void pager_begin(void);
/* Waits until the user has seen enough, if there is one. */
void pager_end(void);

#endif
