/* cairo.c - the module datarep-plot.so: draws a picture through Cairo.
 *
 * A frame with ticks and texts around it, in it lines or an image with a scale at its
 * side; sizes are in pixels, or in points where there are none. */
/* SPDX-License-Identifier: MIT */
#include "tools/plot/plot.h"
#include <cairo-pdf.h>
#include <cairo-svg.h>
#include <cairo.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define FONT 12.0
#define TITLE_FONT 16.0
#define SMALL_FONT 10.0
#define GAP 8.0        /* between things */
#define TICK 4.0       /* length of a tick */
#define SCALE_WIDTH 16 /* of a colour scale */

/* Dark on white; lines by colours that most people can tell apart. */
#define INK 0x2b2b2b
#define QUIET 0x8a8a8a
#define GRID 0xe6e6e6
#define EMPTY 0xededed
static const unsigned line_colors[PLOT_LINES] = {0x0072b2, 0xd55e00, 0x009e73, 0xcc79a7,
                                                 0xe69f00, 0x56b4e9, 0x6a3d9a, 0x555555};

struct canvas {
    cairo_t *cairo;
    const struct plot *plot;
    double left, top, right, bottom; /* of the frame */
    double legend;                   /* height of the names above it */
};

static void set_color(cairo_t *c, unsigned color, double opacity)
{
    cairo_set_source_rgba(c, (color >> 16 & 255) / 255.0, (color >> 8 & 255) / 255.0,
                          (color & 255) / 255.0, opacity);
}

/* ---------------------------------------------------------------------- text */

static void set_font(cairo_t *c, double size, bool bold)
{
    cairo_select_font_face(c, "sans-serif", CAIRO_FONT_SLANT_NORMAL,
                           bold ? CAIRO_FONT_WEIGHT_BOLD : CAIRO_FONT_WEIGHT_NORMAL);
    cairo_set_font_size(c, size);
}

static double text_width(cairo_t *c, const char *text)
{
    cairo_text_extents_t e;

    cairo_text_extents(c, text, &e);
    return e.x_advance;
}

/* h: 0 begins at x, 0.5 in the middle, 1 ends there; v likewise for capital letters, from
 * their feet up. */
static void put_text(cairo_t *c, double x, double y, double h, double v, const char *text)
{
    cairo_text_extents_t e;

    cairo_text_extents(c, "H0", &e);
    cairo_move_to(c, x - h * text_width(c, text), y + v * e.height);
    cairo_show_text(c, text);
}

/* Reading upwards, its middle at x, y. */
static void put_upright(cairo_t *c, double x, double y, const char *text)
{
    cairo_save(c);
    cairo_translate(c, x, y);
    cairo_rotate(c, -M_PI / 2);
    put_text(c, 0, 0, 0.5, 0, text);
    cairo_restore(c);
}

static double widest(cairo_t *c, const struct plot_axis *axis)
{
    double most = 0, width;
    int i;

    for (i = 0; i < axis->ticks; i++) {
        width = text_width(c, axis->tick[i].text);
        most = width > most ? width : most;
    }
    return most;
}

/* -------------------------------------------------------------------- layout */

/* Makes a degree as long upwards as to the side, in the middle of the room that there is. */
static void fit_map(struct canvas *v)
{
    double across = fabs(v->plot->x.to - v->plot->x.from);
    double up = fabs(v->plot->y.to - v->plot->y.from);
    double width = v->right - v->left, height = v->bottom - v->top;

    if (!(across > 0 && up > 0))
        return;
    if (width / across > height / up) {
        width = fmax(height / up * across, 20);
        v->left += (v->right - v->left - width) / 2;
        v->right = v->left + width;
    } else {
        height = fmax(width / across * up, 20);
        v->top += (v->bottom - v->top - height) / 2;
        v->bottom = v->top + height;
    }
}

/* How much room is left for the frame. */
static void lay_out(struct canvas *v)
{
    const struct plot *p = v->plot;
    cairo_t *c = v->cairo;

    set_font(c, FONT, false);
    v->left = GAP + (*p->y.label ? FONT + GAP : 0) + widest(c, &p->y) + TICK + GAP;
    v->right = p->width - 2 * GAP;
    if (p->lines == 0)
        v->right -= SCALE_WIDTH + 2 * GAP + widest(c, &p->value) + TICK +
                    (*p->value.label ? FONT + GAP : 0);
    v->top = 2 * GAP + (*p->title ? TITLE_FONT : SMALL_FONT) + GAP;
    v->legend = p->lines > 1 ? FONT + GAP : 0;
    v->top += v->legend;
    v->bottom = p->height - (GAP + FONT + GAP + TICK + (*p->x.label ? FONT + GAP : 0));
    /* A picture that is too small for its texts still shows something. */
    if (v->right < v->left + 20)
        v->right = v->left + 20;
    if (v->bottom < v->top + 20)
        v->bottom = v->top + 20;
    if (p->map)
        fit_map(v);
    /* Whole pixels give sharp lines. */
    v->left = floor(v->left);
    v->top = floor(v->top);
    v->right = floor(v->right);
    v->bottom = floor(v->bottom);
}

static double x_of(const struct canvas *v, double value)
{
    return v->left + plot_place(&v->plot->x, value) * (v->right - v->left);
}

static double y_of(const struct canvas *v, double value)
{
    return v->bottom - plot_place(&v->plot->y, value) * (v->bottom - v->top);
}

/* The middle of the pixel: one pixel wide, not two half ones. */
static double sharp(double at)
{
    return floor(at) + 0.5;
}

static void put_rule(cairo_t *c, double x0, double y0, double x1, double y1)
{
    cairo_move_to(c, x0, y0);
    cairo_line_to(c, x1, y1);
    cairo_stroke(c);
}

static void put_grid(const struct canvas *v)
{
    const struct plot *p = v->plot;
    cairo_t *c = v->cairo;
    int i;

    set_color(c, GRID, 1);
    cairo_set_line_width(c, 1);
    for (i = 0; i < p->x.ticks; i++)
        put_rule(c, sharp(x_of(v, p->x.tick[i].at)), v->top, sharp(x_of(v, p->x.tick[i].at)),
                 v->bottom);
    for (i = 0; i < p->y.ticks; i++)
        put_rule(c, v->left, sharp(y_of(v, p->y.tick[i].at)), v->right,
                 sharp(y_of(v, p->y.tick[i].at)));
}

/* Ticks that stand too near to each other for their texts are named now and then. */
static int name_each(const struct canvas *v)
{
    const struct plot_axis *x = &v->plot->x;
    double room, need = widest(v->cairo, x) + 2 * GAP;

    if (x->ticks < 2)
        return 1;
    room = fabs(x_of(v, x->tick[1].at) - x_of(v, x->tick[0].at));
    return room >= need || room <= 0 ? 1 : (int)ceil(need / room);
}

static void put_frame(const struct canvas *v)
{
    const struct plot *p = v->plot;
    cairo_t *c = v->cairo;
    int i, each;
    double at;

    set_font(c, FONT, false);
    set_color(c, INK, 1);
    cairo_set_line_width(c, 1);
    cairo_rectangle(c, v->left + 0.5, v->top + 0.5, v->right - v->left, v->bottom - v->top);
    cairo_stroke(c);
    each = name_each(v);
    for (i = 0; i < p->x.ticks; i++) {
        at = sharp(x_of(v, p->x.tick[i].at));
        put_rule(c, at, v->bottom, at, v->bottom + TICK + 0.5);
        if (i % each == 0)
            put_text(c, fmin(at, p->width - 2 - text_width(c, p->x.tick[i].text) / 2),
                     v->bottom + TICK + GAP, 0.5, 1, p->x.tick[i].text);
    }
    for (i = 0; i < p->y.ticks; i++) {
        at = sharp(y_of(v, p->y.tick[i].at));
        put_rule(c, v->left - TICK, at, v->left + 0.5, at);
        put_text(c, v->left - TICK - GAP / 2, at, 1, 0.5, p->y.tick[i].text);
    }
    put_text(c, (v->left + v->right) / 2, v->bottom + TICK + FONT + 3 * GAP, 0.5, 0, p->x.label);
    put_upright(c, v->left - TICK - GAP - widest(c, &p->y) - GAP / 2, (v->top + v->bottom) / 2,
                p->y.label);
}

static void put_titles(const struct canvas *v)
{
    const struct plot *p = v->plot;
    cairo_t *c = v->cairo;
    double used, width, y = v->top - v->legend - GAP - 2;

    set_font(c, TITLE_FONT, true);
    set_color(c, INK, 1);
    put_text(c, v->left, y, 0, 0, p->title);
    used = v->left + text_width(c, p->title) + 2 * GAP;
    set_font(c, SMALL_FONT, false);
    width = text_width(c, p->source);
    /* The title takes the place of the source's name. */
    if (v->right - width < used)
        return;
    set_color(c, QUIET, 1);
    put_text(c, v->right, y, 1, 0, p->source);
}

/* --------------------------------------------------------------------- lines */

static bool is_drawable(const struct plot *p, double value)
{
    return isfinite(value) && (!p->y.log || value > 0);
}

/* The area between the least and the greatest value of each column. */
static void put_band(const struct canvas *v, const struct plot_line *line, unsigned color)
{
    cairo_t *c = v->cairo;
    size_t k;

    set_color(c, color, 0.85);
    cairo_set_line_width(c, 1.2);
    for (k = 0; k < line->n; k++) {
        if (!is_drawable(v->plot, line->low[k]) || line->low[k] == line->high[k])
            continue;
        put_rule(c, x_of(v, line->x[k]), y_of(v, line->low[k]), x_of(v, line->x[k]),
                 y_of(v, line->high[k]));
    }
}

static void put_curve(const struct canvas *v, const struct plot_line *line, unsigned color)
{
    cairo_t *c = v->cairo;
    bool drawing = false;
    double middle;
    size_t k;

    set_color(c, color, 1);
    cairo_set_line_width(c, 1.6);
    cairo_set_line_join(c, CAIRO_LINE_JOIN_ROUND);
    for (k = 0; k < line->n; k++) {
        middle = v->plot->y.log ? sqrt(line->low[k]) * sqrt(line->high[k])
                                : line->low[k] / 2 + line->high[k] / 2;
        if (!is_drawable(v->plot, middle)) {
            drawing = false;
            continue;
        }
        if (drawing)
            cairo_line_to(c, x_of(v, line->x[k]), y_of(v, middle));
        else
            cairo_move_to(c, x_of(v, line->x[k]), y_of(v, middle));
        drawing = true;
    }
    cairo_stroke(c);
}

/* One by one, and those that stand alone between gaps. */
static void put_points(const struct canvas *v, const struct plot_line *line, unsigned color)
{
    const struct plot *p = v->plot;
    cairo_t *c = v->cairo;
    size_t k;

    set_color(c, color, 1);
    for (k = 0; k < line->n; k++) {
        bool alone = (k == 0 || !is_drawable(p, line->low[k - 1])) &&
                     (k + 1 == line->n || !is_drawable(p, line->low[k + 1]));

        if (!is_drawable(p, line->low[k]) || (!line->points && !alone))
            continue;
        cairo_arc(c, x_of(v, line->x[k]), y_of(v, line->low[k]), line->points ? 3 : 1.5, 0,
                  2 * M_PI);
        cairo_fill(c);
    }
}

/* Names between the title and the frame, as many as there is room for. */
static void put_legend(const struct canvas *v)
{
    const struct plot *p = v->plot;
    cairo_t *c = v->cairo;
    double x = v->left, y = v->top - GAP - FONT / 3;
    const char *name;
    int i;

    set_font(c, FONT, false);
    cairo_set_line_width(c, 2.5);
    for (i = 0; i < p->lines; i++) {
        name = p->line[i].name ? p->line[i].name : "";
        if (x + 3 * GAP + text_width(c, name) > v->right)
            return;
        set_color(c, line_colors[i], 1);
        put_rule(c, x, y, x + 2 * GAP, y);
        set_color(c, INK, 1);
        put_text(c, x + 2.5 * GAP, y, 0, 0.5, name);
        x += 5 * GAP + text_width(c, name);
    }
}

static void put_lines(const struct canvas *v)
{
    const struct plot *p = v->plot;
    cairo_t *c = v->cairo;
    int i;

    put_grid(v);
    cairo_save(c);
    cairo_rectangle(c, v->left, v->top, v->right - v->left, v->bottom - v->top);
    cairo_clip(c);
    for (i = 0; i < p->lines; i++) {
        put_band(v, &p->line[i], line_colors[i]);
        put_curve(v, &p->line[i], line_colors[i]);
        put_points(v, &p->line[i], line_colors[i]);
    }
    cairo_restore(c);
    if (p->lines > 1)
        put_legend(v);
}

/* -------------------------------------------------------------------- images */

/* The cells as pixels; NULL without memory. */
static cairo_surface_t *cells_surface(const struct plot *p)
{
    const struct plot_image *m = &p->image;
    cairo_surface_t *s = cairo_image_surface_create(CAIRO_FORMAT_RGB24, m->columns, m->rows);
    unsigned char *pixels = cairo_image_surface_get_data(s);
    size_t stride = (size_t)cairo_image_surface_get_stride(s);
    unsigned color;
    double value;
    int x, y;

    if (!pixels)
        return s;
    cairo_surface_flush(s);
    for (y = 0; y < m->rows; y++)
        for (x = 0; x < m->columns; x++) {
            value = m->cell[(size_t)y * (size_t)m->columns + (size_t)x];
            color = isnan(value) || (p->value.log && value <= 0)
                        ? EMPTY
                        : plot_color(p->colors, plot_place(&p->value, value));
            memcpy(pixels + (size_t)y * stride + 4 * (size_t)x, &color, 4);
        }
    cairo_surface_mark_dirty(s);
    return s;
}

static void put_cells(const struct canvas *v)
{
    const struct plot_image *m = &v->plot->image;
    cairo_surface_t *s = cells_surface(v->plot);
    cairo_t *c = v->cairo;

    cairo_save(c);
    cairo_translate(c, v->left, v->top);
    cairo_scale(c, (v->right - v->left) / m->columns, (v->bottom - v->top) / m->rows);
    cairo_set_source_surface(c, s, 0, 0);
    /* Cells have edges; nothing is made up between them. */
    cairo_pattern_set_filter(cairo_get_source(c), CAIRO_FILTER_NEAREST);
    cairo_rectangle(c, 0, 0, m->columns, m->rows);
    cairo_fill(c);
    cairo_restore(c);
    cairo_surface_destroy(s);
}

static void stroke_coast(const struct canvas *v)
{
    const struct plot_coast *coast = &v->plot->coast;
    cairo_t *c = v->cairo;
    bool drawing = false;
    size_t i;

    for (i = 0; i < coast->n; i++) {
        if (isnan(coast->point[i].x)) {
            cairo_stroke(c);
            drawing = false;
            continue;
        }
        if (drawing)
            cairo_line_to(c, x_of(v, coast->point[i].x), y_of(v, coast->point[i].y));
        else
            cairo_move_to(c, x_of(v, coast->point[i].x), y_of(v, coast->point[i].y));
        drawing = true;
    }
    cairo_stroke(c);
}

/* Land and water, over the cells: dark lines with a light rim, to be seen on any colour. */
static void put_coast(const struct canvas *v)
{
    cairo_t *c = v->cairo;

    if (v->plot->coast.n == 0)
        return;
    cairo_save(c);
    cairo_rectangle(c, v->left, v->top, v->right - v->left, v->bottom - v->top);
    cairo_clip(c);
    cairo_set_line_join(c, CAIRO_LINE_JOIN_ROUND);
    set_color(c, 0xffffff, 0.45);
    cairo_set_line_width(c, 2);
    stroke_coast(v);
    set_color(c, INK, 1);
    cairo_set_line_width(c, 0.8);
    stroke_coast(v);
    cairo_restore(c);
}

static void draw_scale(const struct canvas *v)
{
    const struct plot *p = v->plot;
    cairo_t *c = v->cairo;
    double x = v->right + 2 * GAP, height = v->bottom - v->top, at;
    int i;

    for (i = 0; i < (int)height; i++) {
        set_color(c, plot_color(p->colors, (i + 0.5) / height), 1);
        cairo_rectangle(c, x, v->bottom - i - 1, SCALE_WIDTH, 1);
        cairo_fill(c);
    }
    set_color(c, INK, 1);
    set_font(c, FONT, false);
    cairo_set_line_width(c, 1);
    cairo_rectangle(c, x + 0.5, v->top + 0.5, SCALE_WIDTH, height);
    cairo_stroke(c);
    for (i = 0; i < p->value.ticks; i++) {
        at = sharp(v->bottom - plot_place(&p->value, p->value.tick[i].at) * height);
        put_rule(c, x + SCALE_WIDTH, at, x + SCALE_WIDTH + TICK, at);
        put_text(c, x + SCALE_WIDTH + TICK + GAP / 2, at, 0, 0.5, p->value.tick[i].text);
    }
    put_upright(c, x + SCALE_WIDTH + TICK + GAP + widest(c, &p->value) + FONT,
                (v->top + v->bottom) / 2, p->value.label);
}

/* --------------------------------------------------------------------- module */

struct cairo_stream {
    plot_write_fn *write;
    void *ctx;
};

static cairo_status_t stream_out(void *closure, const unsigned char *bytes, unsigned size)
{
    const struct cairo_stream *s = closure;

    return s->write(s->ctx, bytes, size) ? CAIRO_STATUS_WRITE_ERROR : CAIRO_STATUS_SUCCESS;
}

static cairo_surface_t *surface_new(const struct plot *p, const char *format,
                                    struct cairo_stream *out)
{
    if (strcmp(format, "svg") == 0)
        return cairo_svg_surface_create_for_stream(stream_out, out, p->width, p->height);
    if (strcmp(format, "pdf") == 0)
        return cairo_pdf_surface_create_for_stream(stream_out, out, p->width, p->height);
    return cairo_image_surface_create(CAIRO_FORMAT_RGB24, p->width, p->height);
}

static void draw_all(cairo_t *c, const struct plot *plot)
{
    struct canvas v = {.cairo = c, .plot = plot};

    set_color(c, 0xffffff, 1);
    cairo_paint(c);
    lay_out(&v);
    if (plot->lines > 0) {
        put_lines(&v);
    } else {
        put_cells(&v);
        put_coast(&v);
        draw_scale(&v);
    }
    put_frame(&v);
    put_titles(&v);
}

const char *datarep_plot_draw(const struct plot *plot, const char *format, plot_write_fn *write,
                              void *ctx)
{
    struct cairo_stream out = {write, ctx};
    cairo_surface_t *surface = surface_new(plot, format, &out);
    cairo_t *c = cairo_create(surface);
    cairo_status_t status;

    draw_all(c, plot);
    status = cairo_status(c);
    cairo_destroy(c);
    if (status == CAIRO_STATUS_SUCCESS && strcmp(format, "png") == 0)
        status = cairo_surface_write_to_png_stream(surface, stream_out, &out);
    cairo_surface_finish(surface);
    if (status == CAIRO_STATUS_SUCCESS)
        status = cairo_surface_status(surface);
    cairo_surface_destroy(surface);
    return status == CAIRO_STATUS_SUCCESS ? NULL : cairo_status_to_string(status);
}

int datarep_plot_interface(void)
{
    return DATAREP_PLOT_INTERFACE;
}
