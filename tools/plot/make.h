/* make.h - how `plot` works out a picture. */
/* SPDX-License-Identifier: MIT */
#ifndef TOOLS_PLOT_MAKE_H
#define TOOLS_PLOT_MAKE_H

#include "tools/plot/data.h"
#include "tools/plot/plot.h"

/* The options of `plot`, and the picture worked out from them. */
#define PLOT_TEXT 256
struct make {
    const char *file_name;
    drep_file *file;
    struct printer printer;
    struct operand operand[PLOT_LINES];
    struct series series[PLOT_LINES];
    int n;
    const char *x, *y;                                            /* operands of coordinates */
    const char *member, *title, *output, *colors, *color, *coast; /* colors NULL: by the values */
    bool down;        /* the coordinates of rows grow downwards, as depth does */
    double low, high; /* range of values, NaN: as they are */
    bool log, preview, raw, excl, origin_given, origin_upper, sized;
    struct cf_time time_x, time_y; /* of the coordinates */
    int map_x, map_y;              /* enum map_axis: what the coordinates are */
    int width, height;
    struct plot plot;
    char title_text[PLOT_TEXT], source[PLOT_TEXT], x_label[PLOT_TEXT], y_label[PLOT_TEXT],
        value_label[PLOT_TEXT];
};

/* Works out m->plot from the series.  An exit code. */
int plot_make(struct make *m);

#endif
