/* record_out.h - bytes into records of equal length, framed as records.h says. */
/* SPDX-License-Identifier: MIT */
#ifndef TOOLS_FLAT_RECORD_OUT_H
#define TOOLS_FLAT_RECORD_OUT_H

#include "tools/flat/outlet.h"
#include "tools/flat/records.h"

struct record_out;

/* Records of `size` bytes each, written to fd.  "fortran" is 4-little.  Refuses, with an exit
 * code, what does not fit a record of IBM's without segments.  Released by record_out_close(). */
int record_out_open(struct record_out **out, const struct outlet *outlet, int fd,
                    const struct record_form *form, int64_t size);
/* The next bytes, of any number of records.  An exit code. */
int record_out_put(struct record_out *out, const char *bytes, int64_t size);
/* Writes what is left if status is 0, and releases.  An exit code. */
int record_out_close(struct record_out *out, int status);

#endif
