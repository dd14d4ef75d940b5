/* growing.h - the hidden name under which a new file of this process grows. */
/* SPDX-License-Identifier: MIT */
#ifndef TOOLS_HOST_GROWING_H
#define TOOLS_HOST_GROWING_H

/* Finds it among the descriptors of the process, as the library does not tell it.  known: one that
 * grows already, of the process that this is a child of; "": none.  hidden, of PATH_MAX bytes, is
 * left as it is where there is none. */
void growing_find(const char *known, char *hidden);

#endif
