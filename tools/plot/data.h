/* data.h - numbers of a dataset, reduced to what a picture has room for. */
/* SPDX-License-Identifier: MIT */
#ifndef TOOLS_PLOT_DATA_H
#define TOOLS_PLOT_DATA_H

#include "tools/text/cf.h"
#include "tools/text/printer.h"
#include "tools/text/operand.h"
#include <datarep.h>

/* One dataset's numbers. */
struct series {
    const char *file_name;
    struct printer *printer;
    drep_dataset *dataset;
    drep_dsinfo info;
    struct slice slice;
    char *own_path;            /* of coordinates: what `path` is, to be freed; else NULL */
    const char *path, *member; /* member: "where.x" of compounds, or NULL */
    struct cf cf;              /* what the numbers mean */
    char *name, *units;        /* for people; units may be NULL */
};
/* Opens what the operand names.  0, or an exit code after saying what is wrong. */
int series_open(struct series *s, const char *file_name, struct printer *printer,
                struct operand *operand, const char *member);
void series_close(struct series *s);
/* The dimensions that are left: their lengths, and which ones they are. */
int series_shape(const struct series *s, int64_t *lengths, int *which);

/* Each gives 0, or an exit code after saying what is wrong. */

/* The numbers in `n` columns of about as many elements: the least and the greatest of
 * each (low, high), or their mean.  Arrays of n; NaN: no number. */
int series_columns(const struct series *s, size_t n, double *low, double *high, double *mean);
/* The means of a matrix's numbers in rows by columns cells. */
int series_cells(const struct series *s, int rows, int columns, double *cell);

/* The coordinates of dimension d, if a dataset has them: opened as a series, cut as the
 * dimension is.  False if there are none. */
bool series_coordinates(const struct series *s, int d, struct series *out);

#endif
