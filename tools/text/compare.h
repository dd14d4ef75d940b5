/* compare.h - two elements, each as its own file's printer reads it: whether they are the
 * same, where they are not, and by how much.
 *
 * Values are compared, not bytes: numbers by what they are worth whatever their width and
 * format, texts whatever their padding, references by the path that they lead to. */
/* SPDX-License-Identifier: MIT */
#ifndef TOOLS_TEXT_COMPARE_H
#define TOOLS_TEXT_COMPARE_H

#include "tools/text/printer.h"

struct comparison {
    const struct printer *a, *b;
    /* Accepted differences: by value, by share of the greater one, by steps of the coarser
     * format; negative: nothing. */
    double abs, rel, ulp;
    bool nan_differs; /* NaN is not the same as NaN */
    bool exact;       /* between elements of one type: only equal bits are the same; but for what
                         strings of variable length and references lead to */
};

/* The part of two elements in which they differ first, and how much in any. */
struct difference {
    char part[200]; /* ".where.x[2]", "" for the whole element */
    const drep_type *a_type, *b_type;
    const void *a, *b;
    double abs, rel; /* the greatest between numbers; 0 where none differ */
};

/* True if values of the two types can be compared at all. */
bool compare_alike(const struct comparison *c, const drep_type *a, const drep_type *b);
/* A datatype in which both files' elements can be read, so that equal ones have equal
 * bytes (new reference); NULL: each must be read as its own. */
drep_type *compare_common(const struct comparison *c, const drep_type *a, const drep_type *b);
/* Elements of alike types.  True if they differ; *gap then says where. */
bool compare_element(const struct comparison *c, const drep_type *a_type, const void *a,
                     const drep_type *b_type, const void *b, struct difference *gap);

#endif
