/* verify.h - values that were written, and the same as they are read back.
 *
 * Bits are compared, not what they are worth: -0 is not 0, one NaN is not another, and texts
 * differ in their padding too. */
/* SPDX-License-Identifier: MIT */
#ifndef TOOLS_TEXT_VERIFY_H
#define TOOLS_TEXT_VERIFY_H

#include "tools/text/compare.h"

struct verify {
    struct printer printer;
    struct comparison how;
};

/* 0 or a DREP_ERR_... code; file: that references lead into. */
int verify_init(struct verify *v, drep_file *file);
void verify_release(struct verify *v);
/* Compares n elements of `type` in memory.  Gives the number of the first that differs, -1 if
 * none does; text then says ".part: A was written, B is read back". */
int64_t verify_compare(const struct verify *v, const drep_type *type, int64_t n, const void *ours,
                       const void *theirs, char *text, size_t size);
/* Like verify_compare(), for a difference that compare_element() found. */
void verify_text(const struct verify *v, const struct difference *gap, char *text, size_t size);

#endif
