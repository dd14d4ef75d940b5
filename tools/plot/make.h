/* make.h - how `plot` works out a picture. */
#ifndef TOOLS_PLOT_MAKE_H
#define TOOLS_PLOT_MAKE_H

#include "tools/plot/plot.h"
#include "tools/text/printer.h"
#include "tools/text/sink.h"
#include "tools/walk/operand.h"

/* axis.c */

/* Fills in at most `most` ticks between the ends of the axis. */
void plot_ticks(struct plot_axis *axis, int most);
/* Moves the ends apart by a share of what is between. */
void plot_widen(struct plot_axis *axis, double share);
/* NULL if there is none of this name. */
const struct plot_colors *plot_colors_find(const char *name);

/* data.c */

/* One dataset's numbers. */
struct series {
    const char *file_name;
    struct printer *printer;
    drep_dataset *dataset;
    drep_dsinfo info;
    struct slice slice;
    const char *path, *member; /* member: "where.x" of compounds, or NULL */
    /* From attributes: numbers are scale * n + offset, and none where they are missing. */
    double scale, offset, missing[2];
    char *name, *units; /* for people; units may be NULL */
};
/* Opens what the operand names.  0, or an exit code after saying what is wrong. */
int series_open(struct series *s, const char *file_name, struct printer *printer,
                const struct operand *operand, const char *member);
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

/* What was asked for, and what comes of it. */
#define PLOT_TEXT 256
struct make {
    const char *file_name;
    drep_file *file;
    struct printer printer;
    struct operand operand[PLOT_LINES];
    struct series series[PLOT_LINES];
    int n;
    const char *x, *y; /* operands of coordinates */
    const char *member, *title, *output, *colors, *color;
    double low, high; /* range of values, NaN: as they are */
    bool log, preview, origin_given, origin_upper;
    int width, height;
    struct plot plot;
    char title_text[PLOT_TEXT], source[PLOT_TEXT], x_label[PLOT_TEXT], y_label[PLOT_TEXT],
        value_label[PLOT_TEXT];
};

/* make.c: works out m->plot from the series.  An exit code. */
int plot_make(struct make *m);

/* preview.c: prints the picture in characters, at most `columns` wide. */
void plot_preview(const struct plot *plot, struct sink *s, int columns, bool utf8);

#endif
