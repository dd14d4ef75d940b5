/* flat.h - import and export of files without a tree of their own: NumPy's arrays and
 * archives, tables in CSV, bare elements. */
/* SPDX-License-Identifier: MIT */
#ifndef TOOLS_FLAT_FLAT_H
#define TOOLS_FLAT_FLAT_H

#include "tools/flat/exchange.h"
#include <stdint.h>

/* Options besides those in struct exchange. */
struct flat {
    const struct exchange *x;
    int format; /* enum flat_format */

    /* Import. */
    const char *schema; /* makes the new file first */
    const char *into;   /* where it goes */
    bool update;        /* the target is there already */
    bool append;        /* behind what its dataset holds */
    bool columns;       /* a dataset for each column of a table */

    /* Raw files. */
    const char *type, *shape, *records, *to;
    int64_t offset;
    bool column_major;

    /* Tables. */
    char delimiter; /* 0: by the name of the file */
    bool no_header;
    bool numbers; /* export: times are numbers, not dates */
    const char *missing;
};

/* An exit code. */
int flat_import(const struct flat *f);
int flat_export(const struct flat *f);

#endif
