/* nesting.h - elements as lists nested as deep as their rank. */
/* SPDX-License-Identifier: MIT */
#ifndef TOOLS_TEXT_NESTING_H
#define TOOLS_TEXT_NESTING_H

#include "tools/text/print.h"

/* Elements are numbered in row-major order. */
struct nesting {
    int rank;
    int64_t dims[DREP_MAX_RANK];
    const char *between; /* what stands between the rows of the last dimension */
    bool lines;          /* the outermost list is one line an entry, without brackets */
};
/* Prints the elements number `first` and after, with all that stands before them. */
void nesting_put(const struct nesting *nest, const struct printer *p, struct sink *s,
                 const drep_type *type, const void *elements, int64_t first, int64_t count);
/* Ends the lists; prints what is empty when no element was put. */
void nesting_end(const struct nesting *nest, struct sink *s, bool any);

#endif
