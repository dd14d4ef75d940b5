/* raw_out.h - a dataset as bare elements. */
/* SPDX-License-Identifier: MIT */
#ifndef TOOLS_FLAT_RAW_OUT_H
#define TOOLS_FLAT_RAW_OUT_H

#include "tools/flat/outlet.h"

/* Into a file of that name or, in records, that descriptor.  Reads it back if `verify`. */
int raw_out(const struct extract *extract, const char *name, int fd, bool verify);

#endif
