/* plot.c - pictures as `datarep plot` works them out: the page only draws them.
 *
 * tools/plot decides what is a map, where ticks are and what they say; no other place does. */
/* SPDX-License-Identifier: MIT */
#include "base/error.h"
#include "tools/host/exit.h"
#include "tools/plot/axis.h"
#include "tools/plot/make.h"
#include "tools/plot/map.h"
#include "web/core/binding.h"
#include "web/core/said.h"

#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#define SIDE_MAX 4096                   /* pixels */
#define ELEMENTS_MAX (INT64_C(1) << 26) /* of a picture: a page has to answer */
#define COLORS 256                      /* of the scale, that the page is told */

/* The last picture; its arrays stay until the next one or web_plot_free(). */
static struct make made;
static bool made_printer;

EXPORT("web_plot_free") void web_plot_free(void)
{
    for (int i = 0; i < PLOT_LINES; i++) {
        series_close(&made.series[i]);
        operand_release(&made.operand[i]);
        free(made.plot.line[i].x);
        free(made.plot.line[i].low);
        free(made.plot.line[i].high);
    }
    free(made.plot.image.cell);
    free(made.plot.coast.point);
    if (made_printer)
        printer_release(&made.printer);
    made_printer = false;
    memset(&made, 0, sizeof made);
}

/* JSON has neither infinities nor NaN: null. */
static void put_number(double value)
{
    if (isfinite(value))
        out("%.17g", value);
    else
        out("null");
}

static void put_axis(const char *name, const struct plot_axis *axis)
{
    out(",\"%s\":{\"label\":", name);
    out_quoted(axis->label ? axis->label : "");
    out(",\"from\":");
    put_number(axis->from);
    out(",\"to\":");
    put_number(axis->to);
    out(",\"log\":%s,\"ticks\":[", axis->log ? "true" : "false");
    for (int i = 0; i < axis->ticks; i++) {
        out("%s{\"at\":", i ? "," : "");
        put_number(axis->tick[i].at);
        out(",\"text\":");
        out_quoted(axis->tick[i].text);
        out("}");
    }
    out("]}");
}

static void put_array(const char *name, const double *at)
{
    out(",\"%s\":%lu", name, (unsigned long)(uintptr_t)at);
}

static void put_plot(const struct plot *p)
{
    out("{\"title\":");
    out_quoted(p->title);
    out(",\"width\":%d,\"height\":%d,\"map\":%s", p->width, p->height, p->map ? "true" : "false");
    put_axis("x", &p->x);
    put_axis("y", &p->y);
    if (p->lines) {
        out(",\"line\":{\"n\":%zu,\"points\":%s", p->line[0].n,
            p->line[0].points ? "true" : "false");
        put_array("x", p->line[0].x);
        put_array("low", p->line[0].low);
        put_array("high", p->line[0].high);
        out("}");
    } else {
        put_axis("value", &p->value);
        out(",\"image\":{\"rows\":%d,\"columns\":%d", p->image.rows, p->image.columns);
        put_array("cells", p->image.cell);
        out("},\"colors\":[");
        for (int i = 0; i < COLORS; i++)
            out("%s%u", i ? "," : "", plot_color(p->colors, (double)i / (COLORS - 1)));
        out("]");
    }
    out(",\"note\":");
    out_quoted(said_text());
    out("}");
}

static int make_picture(const char *operand, double width, double height, double low, double high)
{
    int err;

    made = (struct make){.file_name = "",
                         .file = web_file,
                         .low = low,
                         .high = high,
                         .colors = "viridis",
                         .width = (int)width,
                         .height = (int)height,
                         .n = 1};
    err = printer_init(&made.printer, web_file, false);
    if (err)
        return said_fail(err);
    made_printer = true;
    if (operand_init(&made.operand[0], web_file, operand))
        return said_fail(DREP_ERR_NOMEM);
    if (series_open(&made.series[0], "", &made.printer, &made.operand[0], NULL))
        return DREP_ERR_ARG;
    if (slice_count(&made.series[0].slice) > ELEMENTS_MAX) {
        fail(DREP_ERR_LIMIT, "%lld elements are more than the limit of %lld of a picture",
             (long long)slice_count(&made.series[0].slice), (long long)ELEMENTS_MAX);
        return said_fail(DREP_ERR_LIMIT);
    }
    return 0;
}

/* The picture that `datarep plot FILE OPERAND` draws, of a line or of an image:
 *
 *   {"title", "width", "height", "map", "x": axis, "y": axis, "note",
 *    "line": {"n", "points", "x", "low", "high"}} or
 *   {..., "value": axis, "image": {"rows", "columns", "cells"}, "colors": [0xRRGGBB] from the
 *   least to the greatest value}
 *
 * low, high: limits of the values, NaN: as they are.  An axis is {"label", "from", "to", "log",
 * "ticks": [{"at", "text"}]}; x, low, high and cells are addresses of doubles, NaN where there is
 * none, until web_plot_free(). */
EXPORT("web_plot")
int web_plot(const char *operand, double width, double height, double low, double high)
{
    web_plot_free();
    said_begin();
    if (!(width >= 1 && height >= 1 && width <= SIDE_MAX && height <= SIDE_MAX))
        return fail(DREP_ERR_ARG, "a picture has 1 to %d pixels on each side", SIDE_MAX);
    if (make_picture(operand, width, height, low, high) || plot_make(&made)) {
        web_plot_free();
        return said_error();
    }
    out_begin();
    put_plot(&made.plot);
    return out_end();
}

/* The coastlines between two longitudes and two latitudes, of this file, which has them in GSHHG's
 * form: {"n": points, "points": address of pairs of doubles}, NaN where a line ends. */
EXPORT("web_coast") int web_coast(double west, double east, double south, double north)
{
    web_plot_free();
    said_begin();
    made.plot.x.from = west;
    made.plot.x.to = east;
    made.plot.y.from = south;
    made.plot.y.to = north;
    if (map_coast(&made.plot, "", web_file)) {
        web_plot_free();
        return said_error();
    }
    out_begin();
    out("{\"n\":%zu,\"points\":%lu}", made.plot.coast.n,
        (unsigned long)(uintptr_t)made.plot.coast.point);
    return out_end();
}
