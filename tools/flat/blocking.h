/* blocking.h - files whose records are framed in a way that is not read: what they look like. */
/* SPDX-License-Identifier: MIT */
#ifndef TOOLS_FLAT_BLOCKING_H
#define TOOLS_FLAT_BLOCKING_H

#include <stdint.h>

/* The framing that a file has throughout, in words that follow "it is"; NULL: none that is
 * known here.  A guess, for files that are no records of the form that was asked for: most of
 * these framings have no mark of their own. */
const char *blocking_of(int fd, int64_t size);

#endif
