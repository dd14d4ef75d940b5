/* preview.c - pictures made of characters. */
/* SPDX-License-Identifier: MIT */
#include "tools/plot/preview.h"
#include "tools/host/color.h"
#include "tools/plot/plot.h"
#include "tools/text/sink.h"
#include <math.h>
#include <stdio.h>
#include <string.h>

#define LINE_ROWS 10 /* of a curve */
#define LABEL 10     /* columns of the numbers at its side */

/* A number in at most LABEL - 1 columns, at the right. */
static void preview_number(struct sink *s, double value)
{
    char text[32];
    int digits;

    for (digits = 7; digits > 1; digits--) {
        snprintf(text, sizeof text, "%.*g", digits, value);
        if (strlen(text) < LABEL)
            break;
    }
    sink_spaces(s, LABEL - 1 - (int)strlen(text));
    sink_text(s, text);
}

static void preview_title(const struct plot *p, struct sink *s)
{
    sink_color(s, COLOR_DATASET);
    sink_text(s, p->title);
    sink_color(s, COLOR_END);
    sink_text(s, *p->title ? "  " : "");
    sink_color(s, COLOR_QUIET);
    sink_text(s, p->source);
    sink_color(s, COLOR_END);
    sink_char(s, '\n');
}

/* The line below: both ends of the axis with its name between them. */
static void put_axis(const struct plot_axis *x, struct sink *s, int width)
{
    char left[32] = "", right[32] = "";
    int room;

    if (!*x->end[0]) {
        snprintf(left, sizeof left, "%.7g", x->from);
        snprintf(right, sizeof right, "%.7g", x->to);
    } else if (strlen(x->label) + 2 > (size_t)width) {
        memcpy(left, x->end[0], sizeof x->end[0]);
        if (strlen(x->end[0]) + strlen(x->end[1]) < (size_t)width)
            memcpy(right, x->end[1], sizeof x->end[1]);
    }
    room = width - (int)(strlen(left) + strlen(right) + strlen(x->label));
    sink_spaces(s, LABEL);
    sink_text(s, left);
    if (room >= 2) {
        sink_spaces(s, room / 2);
        sink_text(s, x->label);
        sink_spaces(s, room - room / 2);
    } else {
        sink_spaces(s, width - (int)(strlen(left) + strlen(right)));
    }
    sink_text(s, right);
    sink_char(s, '\n');
}

/* -------------------------------------------------------------------- lines */

/* Values of a column that are no share of the y axis. */
#define NOTHING (-1.0) /* no point is there */
#define MISSING (-2.0) /* one is, without a number */

/* The greatest share of the y axis in this column. */
static double height_at(const struct plot *p, const struct plot_line *line, int column, int width)
{
    double greatest = NOTHING, share;
    bool missing = false;
    size_t k;
    int at;

    for (k = 0; k < line->n; k++) {
        share = plot_place(&p->x, line->x[k]);
        at = (int)(share * width);
        if ((at < width ? at : width - 1) != column)
            continue;
        missing = missing || isnan(line->high[k]);
        share = isnan(line->high[k]) ? NOTHING : plot_place(&p->y, line->high[k]);
        greatest = share > greatest ? fmin(share, 1) : greatest;
    }
    return greatest < 0 && missing ? MISSING : greatest;
}

/* Between points that are known it is a straight line. */
static void fill_gaps(double *height, int width)
{
    int before = -1, k, j;

    for (k = 0; k < width; k++) {
        if (height[k] == MISSING)
            before = -1;
        if (height[k] < 0)
            continue;
        for (j = before + 1; before >= 0 && j < k; j++)
            height[j] =
                height[before] + (height[k] - height[before]) * (j - before) / (double)(k - before);
        before = k;
    }
}

static void put_bar(struct sink *s, double height, int row, bool utf8)
{
    static const char *const eighths[] = {" ", "▁", "▂", "▃", "▄", "▅", "▆", "▇", "█"};
    double parts = (height * LINE_ROWS - row) * 8;
    int n = parts <= 0 ? 0 : parts >= 8 ? 8 : (int)ceil(parts);

    /* A value that exists is visible, however low it is. */
    if (height >= 0 && row == 0 && n == 0)
        n = 1;
    if (utf8)
        sink_text(s, eighths[n]);
    else
        sink_char(s, n == 0 ? ' ' : n < 4 ? '.' : n < 8 ? ':' : '#');
}

static void put_line(const struct plot *p, const struct plot_line *line, struct sink *s, int width,
                     bool utf8)
{
    double height[1024];
    bool gaps = line->points || line->n < (size_t)width;
    int k, row;

    for (k = 0; k < width; k++)
        height[k] = height_at(p, line, k, width);
    if (gaps)
        fill_gaps(height, width);
    for (row = LINE_ROWS - 1; row >= 0; row--) {
        if (row == LINE_ROWS - 1)
            preview_number(s, p->y.to);
        else if (row == 0)
            preview_number(s, p->y.from);
        else
            sink_spaces(s, LABEL - 1);
        sink_text(s, utf8 ? "┤" : "|");
        sink_color(s, COLOR_LINK);
        for (k = 0; k < width; k++)
            put_bar(s, height[k], row, utf8);
        sink_color(s, COLOR_END);
        sink_char(s, '\n');
    }
}

/* ------------------------------------------------------------------- images */

/* The share of the scale of the cells under one character, NaN: none has a value. */
static double share_at(const struct plot *p, int row, int rows, int column, int columns)
{
    const struct plot_image *m = &p->image;
    int top = row * m->rows / rows, bottom = (row + 1) * m->rows / rows;
    int left = column * m->columns / columns, right = (column + 1) * m->columns / columns, y, x;
    double sum = 0, value;
    long n = 0;

    for (y = top; y < bottom || y == top; y++)
        for (x = left; x < right || x == left; x++) {
            value = m->cell[(size_t)y * (size_t)m->columns + (size_t)x];
            if (isnan(value) || (p->value.log && value <= 0))
                continue;
            sum += value;
            n++;
        }
    return n ? fmin(fmax(plot_place(&p->value, sum / (double)n), 0), 1) : NAN;
}

/* Two cells, one above the other, in colours. */
static void put_colored(struct sink *s, const struct plot_colors *colors, double above,
                        double below)
{
    unsigned top = isnan(above) ? 0 : plot_color(colors, above);
    unsigned low = isnan(below) ? 0 : plot_color(colors, below);
    char code[64];

    snprintf(code, sizeof code, "\033[38;2;%u;%u;%u;48;2;%u;%u;%um", top >> 16, top >> 8 & 255,
             top & 255, low >> 16, low >> 8 & 255, low & 255);
    sink_color(s, code);
    sink_text(s, "▀");
}

static void put_shade(struct sink *s, double share, bool utf8)
{
    static const char *const blocks[] = {"░", "▒", "▓", "█"};
    static const char marks[] = ".:-=+*#%@";

    if (isnan(share))
        sink_char(s, ' ');
    else if (utf8)
        sink_text(s, blocks[share >= 1 ? 3 : (int)(share * 4)]);
    else
        sink_char(s, marks[share >= 1 ? 8 : (int)(share * 9)]);
}

/* Characters are about twice as high as wide. */
static int rows_of(const struct plot *p, int width)
{
    double ratio = (double)p->image.rows / (double)p->image.columns;
    int rows = (int)lrint(ratio * width / 2);

    rows = rows > 30 ? 30 : rows < 1 ? 1 : rows;
    return rows < (p->image.rows + 1) / 2 || p->image.rows >= rows ? rows : p->image.rows;
}

static void preview_scale(const struct plot *p, struct sink *s, bool utf8)
{
    int k;

    sink_spaces(s, LABEL);
    sink_format(s, "%.6g ", p->value.from);
    for (k = 0; k < 20; k++) {
        if (s->color && utf8)
            put_colored(s, p->colors, k / 19.0, k / 19.0);
        else
            put_shade(s, k / 19.0, utf8);
    }
    sink_color(s, COLOR_END);
    sink_format(s, " %.6g%s%s\n", p->value.to, *p->value.label ? " " : "", p->value.label);
}

static void put_image(const struct plot *p, struct sink *s, int width, bool utf8)
{
    int rows = rows_of(p, width), row, k;

    for (row = 0; row < rows; row++) {
        if (row == 0)
            preview_number(s, p->y.to);
        else if (row == rows - 1)
            preview_number(s, p->y.from);
        else
            sink_spaces(s, LABEL - 1);
        sink_text(s, utf8 ? "┤" : "|");
        for (k = 0; k < width; k++) {
            if (s->color && utf8)
                put_colored(s, p->colors, share_at(p, 2 * row, 2 * rows, k, width),
                            share_at(p, 2 * row + 1, 2 * rows, k, width));
            else
                put_shade(s, share_at(p, row, rows, k, width), utf8);
        }
        sink_color(s, COLOR_END);
        sink_char(s, '\n');
    }
}

void plot_preview(const struct plot *plot, struct sink *s, int columns, bool utf8)
{
    int width = columns - LABEL < 1000 ? columns - LABEL : 1000, i;

    preview_title(plot, s);
    for (i = 0; i < plot->lines; i++) {
        if (plot->lines > 1) {
            sink_spaces(s, LABEL);
            sink_text(s, plot->line[i].name ? plot->line[i].name : "");
            sink_char(s, '\n');
        }
        put_line(plot, &plot->line[i], s, width, utf8);
    }
    if (plot->lines == 0)
        put_image(plot, s, width, utf8);
    put_axis(&plot->x, s, width);
    if (plot->lines == 0)
        preview_scale(plot, s, utf8);
}
