/* plot.h - a picture: what the command works out and the module datarep-plot.so draws.
 *
 * Everything is decided before drawing: numbers are reduced to what the picture has room
 * for, axes have their ticks and texts.  The module knows nothing of files. */
/* SPDX-License-Identifier: MIT */
#ifndef TOOLS_PLOT_PLOT_H
#define TOOLS_PLOT_PLOT_H

#include <math.h>
#include <stdbool.h>
#include <stddef.h>

/* Grows with the structs below: the command refuses a module that answers another. */
#define DATAREP_PLOT_INTERFACE 3

#define PLOT_TICKS 24
#define PLOT_LINES 8

struct plot_axis {
    const char *label;
    double from, to; /* at its two ends; from > to: upside down */
    bool log;        /* decades */
    bool whole;      /* indices: no tick is between two */
    char end[2][24]; /* of dates: both ends, which its label says too; else empty */
    int ticks;
    struct plot_tick {
        double at;
        char text[24];
    } tick[PLOT_TICKS];
};

/* Points from left to right; where they are too many, what lies in each column. */
struct plot_line {
    const char *name;
    size_t n;
    double *x, *low, *high; /* low is high where a column has one point; NaN: none */
    bool points;            /* few enough to be marked one by one */
};

struct plot_image {
    int columns, rows;
    double *cell; /* row by row from the top; NaN: no value */
};

/* A colour scale: stops from the least to the greatest value, 0xRRGGBB. */
struct plot_colors {
    const char *name;
    int n;
    unsigned stop[12];
};

/* Lines over a map; a point that is NaN ends one. */
struct plot_point {
    double x, y;
};
struct plot_coast {
    struct plot_point *point;
    size_t n, room;
};

struct plot {
    int width, height; /* pixels */
    const char *title, *source;
    struct plot_axis x, y;
    int lines; /* 0: an image */
    struct plot_line line[PLOT_LINES];
    struct plot_image image;
    struct plot_axis value; /* of an image: its scale */
    const struct plot_colors *colors;
    bool map; /* both axes are degrees: a degree is as long on one as on the other */
    struct plot_coast coast;
};

/* Where a value stands on an axis, 0 to 1 from its beginning. */
static inline double plot_place(const struct plot_axis *axis, double value)
{
    double range = axis->to - axis->from;

    if (axis->log)
        return log(value / axis->from) / log(axis->to / axis->from);
    /* From one end of all doubles to the other it is no double. */
    if (!isfinite(range))
        return (value / 2 - axis->from / 2) / (axis->to / 2 - axis->from / 2);
    return (value - axis->from) / range;
}

/* The colour of a share of the scale, 0 to 1. */
static inline unsigned plot_color(const struct plot_colors *colors, double share)
{
    double at = fmin(fmax(share, 0), 1) * (colors->n - 1), part;
    int k = (int)at < colors->n - 1 ? (int)at : colors->n - 2, shift;
    unsigned color = 0, a, b;

    part = at - k;
    for (shift = 0; shift < 24; shift += 8) {
        a = colors->stop[k] >> shift & 255;
        b = colors->stop[k + 1] >> shift & 255;
        color |= (unsigned)lrint(a + part * ((double)b - a)) << shift;
    }
    return color;
}

/* Takes the bytes of the picture; non-zero stops. */
typedef int plot_write_fn(void *ctx, const unsigned char *bytes, unsigned size);
/* The functions that the module exports.  format: "png", "svg", "pdf".  NULL, or why it cannot be
 * drawn (a constant string). */
const char *datarep_plot_draw(const struct plot *plot, const char *format, plot_write_fn *write,
                              void *ctx);
int datarep_plot_interface(void);

#endif
