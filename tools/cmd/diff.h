/* diff.h - one run of `diff`: both sides, what is compared, what was found. */
/* SPDX-License-Identifier: MIT */
#ifndef TOOLS_CMD_DIFF_H
#define TOOLS_CMD_DIFF_H

#include "tools/text/compare.h"
#include "tools/text/sink.h"
#include "tools/walk/blocks.h"
#include "tools/text/operand.h"
#include "tools/walk/walk.h"

/* Parts of the comparison that --ignore leaves out, and those that are compared only if asked
 * for. */
enum diff_part {
    DIFF_ATTRIBUTES = 1,
    DIFF_TYPES = 2, /* datatypes may differ as long as values can be compared */
    DIFF_FILL = 4,
    DIFF_MAXSHAPE = 8,
    DIFF_DIMENSIONS = 16, /* names of dimensions */
    DIFF_LINKS = 32,      /* that links lead to the same */
    DIFF_VALUES = 64,
    DIFF_STORAGE = 128 /* representation, layout, chunk, filters */
};

struct diff_side {
    const char *name; /* of the file, for people */
    drep_file *file;
    struct operand operand; /* where to begin */
    struct printer printer;
    bool foreign; /* came from HDF5 */
};

/* Differences between the values of one dataset or attribute. */
struct diff_values {
    int64_t count, of;       /* elements that differ; compared */
    struct difference first; /* the texts below are its values */
    char *a, *b;
    int64_t first_at, abs_at; /* numbers of the elements */
    double abs, rel;          /* the greatest, and the greatest share */
};

struct diff {
    struct diff_side a, b;
    struct comparison how;
    unsigned parts; /* enum diff_part: compared */
    bool json, quiet;
    bool meant;     /* numbers are compared by what they mean */
    int64_t listed; /* differing elements to be listed of each dataset */
    struct sink sink;
    struct paths met;               /* objects of A that were compared, with their paths in B */
    int64_t objects, values, found; /* compared; differences */
    int depth;
    int status;
};

#endif
