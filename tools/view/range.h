/* range.h - the header Range of a request for data: one range of bytes. */
/* SPDX-License-Identifier: MIT */
#ifndef TOOLS_VIEW_RANGE_H
#define TOOLS_VIEW_RANGE_H

#include <stdbool.h>
#include <stdint.h>

/* True: bytes [*from, *from + *len) of a file of `size`, *len > 0.  False: the range is outside,
 * there are several, or it is no range. */
bool range_parse(const char *header, uint64_t size, uint64_t *from, uint64_t *len);

#endif
