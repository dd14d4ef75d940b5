/* make.c - what the picture shows: lines or an image, its axes and its texts.
 *
 * Everything is decided here, in numbers and texts, so that a picture is drawn without the file. */
/* SPDX-License-Identifier: MIT */
#include "tools/plot/make.h"
#include "tools/host/exit.h"
#include "tools/host/fail.h"
#include "tools/host/message.h"
#include "tools/host/utf8.h"
#include "tools/plot/axis.h"
#include "tools/plot/data.h"
#include "tools/plot/dates.h"
#include "tools/plot/map.h"
#include "tools/text/printer.h"
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#define MARKED_MAX 60 /* so many points are marked one by one */
/* Numbers that differ by less of their size are one number. */
#define ROUNDING 1e-14
/* Pixels beside a map, for its scale and ticks, and above and below it. */
#define MAP_ASIDE 140
#define MAP_ABOVE 90

/* -------------------------------------------------------------------- texts */

/* "sea surface temperature (K)" */
static void put_label(char *text, const struct series *s)
{
    snprintf(text, PLOT_TEXT, s->units ? "%.120s (%.60s)" : "%.120s", s->name ? s->name : "",
             s->units);
}

/* The label of the values: their units; their name is the title unless --title is given. */
static void put_units(const struct make *m, char *text)
{
    const char *units = m->series[0].units;
    int i;

    for (i = 1; i < m->n; i++)
        if (!units || !m->series[i].units || strcmp(units, m->series[i].units) != 0)
            units = NULL;
    if (m->title && m->n == 1)
        put_label(text, &m->series[0]);
    else
        snprintf(text, PLOT_TEXT, "%s", units ? units : "");
}

/* The label of coordinates that are times: from when until when. */
static void put_dates(char *text, const struct series *s, double from, double to)
{
    char a[CF_TEXT], b[CF_TEXT];

    if (!cf_moment_text(&s->cf.time, from, a) || !cf_moment_text(&s->cf.time, to, b))
        return;
    snprintf(text, PLOT_TEXT, "%.100s (%.60s to %.60s)", s->name ? s->name : "time", a, b);
}

/* The name of a dimension, or which one it is. */
static void put_dimension(char *text, const struct series *s, int d)
{
    const char *path = s->info.dim_ids[d] ? printer_path(s->printer, s->info.dim_ids[d]) : NULL;

    if (path)
        snprintf(text, PLOT_TEXT, "%.200s", strchr(strrchr(path, '/'), '#') + 1);
    else if (s->info.rank == 1)
        snprintf(text, PLOT_TEXT, "index");
    else
        snprintf(text, PLOT_TEXT, "index of dimension %d", d);
}

/* Adds where a slice is along a dimension of which it has one index: ", 2001-01-16". */
static void put_place(struct make *m, const struct series *s, int d)
{
    size_t n = strlen(m->title_text);
    double low, high, at;
    struct series c;
    char text[CF_TEXT];

    if (!series_coordinates(s, d, &c))
        return;
    if (series_columns(&c, 1, &low, &high, &at) == 0 && !isnan(at)) {
        if (c.cf.time.known && !m->raw && cf_moment_text(&c.cf.time, at, text)) {
            snprintf(m->title_text + n, PLOT_TEXT - n, ", %s", text);
        } else if (map_axis_of(&c) != MAP_NO_AXIS) {
            map_degrees(text, sizeof text, at, map_axis_of(&c));
            snprintf(m->title_text + n, PLOT_TEXT - n, ", %s", text);
        } else {
            snprintf(m->title_text + n, PLOT_TEXT - n, c.units ? ", %.40s %g %.30s" : ", %.40s %g",
                     c.name ? c.name : "", at, c.units);
        }
    }
    series_close(&c);
}

/* The name of the dataset, and which part of it. */
static void make_title(struct make *m)
{
    const struct series *s = &m->series[0];
    int d;

    snprintf(m->title_text, PLOT_TEXT, "%.120s", s->name ? s->name : "");
    for (d = 0; d < s->slice.rank; d++)
        if (s->slice.single[d])
            put_place(m, s, d);
}

static void put_texts(struct make *m)
{
    const struct operand *o = &m->operand[0];

    if (m->title)
        snprintf(m->title_text, PLOT_TEXT, "%s", m->title);
    else if (m->n == 1)
        make_title(m);
    snprintf(m->source, PLOT_TEXT, m->n > 1 ? "%.120s" : "%.120s:%.80s%.40s", m->file_name, o->path,
             o->slice ? o->slice : "");
    m->plot.title = m->title_text;
    m->plot.source = m->source;
    m->plot.x.label = m->x_label;
    m->plot.y.label = m->y_label;
    m->plot.value.label = m->value_label;
}

/* --------------------------------------------------------------- coordinates */

/* The coordinates that were asked for, or those of the dimension.  1: there are some; 0:
 * none; else minus an exit code. */
static int find_coordinates(struct make *m, const struct series *s, int d, const char *asked,
                            struct series *out)
{
    static struct operand named[2]; /* they live as long as the series */
    struct operand *o = &named[asked && asked == m->y];
    int64_t mine[DREP_MAX_RANK];
    int which[DREP_MAX_RANK], status;

    if (!asked)
        return series_coordinates(s, d, out);
    if (operand_init(o, m->file, asked))
        return -tool_no_memory();
    status = series_open(out, m->file_name, &m->printer, o, NULL);
    if (status)
        return -status;
    if (series_shape(out, mine, which) == 1 && mine[0] == s->slice.count[d])
        return 1;
    tool_say(m->file_name, o->path, "not one coordinate for each of %lld",
             (long long)s->slice.count[d]);
    series_close(out);
    return -TOOL_USAGE;
}

/* The index of a cell's middle in the dataset. */
static double index_at(const struct series *s, int d, double place)
{
    return (double)s->slice.start[d] + place * (double)s->slice.step[d];
}

/* ------------------------------------------------------------------- lines */

/* Widens what is known of the range by these numbers. */
static void take_range(double *low, double *high, const double *values, size_t n, bool positive)
{
    size_t i;

    for (i = 0; i < n; i++) {
        if (isnan(values[i]) || (positive && values[i] <= 0))
            continue;
        *low = isnan(*low) || values[i] < *low ? values[i] : *low;
        *high = isnan(*high) || values[i] > *high ? values[i] : *high;
    }
}

/* Apply the options to the axis; widen an empty range. */
static int settle_range(struct make *m, struct plot_axis *axis, double low, double high)
{
    if (isnan(low) && isnan(m->low) && isnan(m->high)) {
        tool_say(m->file_name, m->operand[0].path, "there is no number to show");
        return TOOL_USAGE;
    }
    axis->log = m->log;
    /* A constant, but for errors of rounding. */
    if (high - low <= ROUNDING * fmax(fabs(low), fabs(high)))
        low = high;
    axis->from = isnan(m->low) ? low : m->low;
    axis->to = isnan(m->high) ? high : m->high;
    if (!(axis->from <= axis->to) || (axis->log && axis->from <= 0)) {
        tool_say(m->file_name, m->operand[0].path, "no number is between %g and %g", axis->from,
                 axis->to);
        return TOOL_USAGE;
    }
    return 0;
}

static bool line_alloc(struct plot_line *line, size_t n)
{
    line->n = n;
    line->x = calloc(n + 1, sizeof *line->x);
    line->low = calloc(n + 1, sizeof *line->low);
    line->high = calloc(n + 1, sizeof *line->high);
    return line->x && line->low && line->high;
}

/* x of every column: the mean of its coordinates, or its middle index; and from where to
 * where all of them are. */
static int line_places(struct make *m, const struct series *s, int d, struct plot_line *line,
                       double ends[2])
{
    double *low = calloc(line->n + 1, sizeof *low), *high = calloc(line->n + 1, sizeof *high);
    double share = (double)s->slice.count[d] / (double)line->n;
    double first = index_at(s, d, 0), last = index_at(s, d, (double)s->slice.count[d] - 1);
    struct series coordinates;
    size_t k;
    int found, status = 0;

    for (k = 0; k < line->n; k++)
        line->x[k] = index_at(s, d, ((double)k + 0.5) * share - 0.5);
    found = low && high ? find_coordinates(m, s, d, m->x, &coordinates) : -tool_no_memory();
    if (found > 0) {
        status = series_columns(&coordinates, line->n, low, high, line->x);
        take_range(&ends[0], &ends[1], low, line->n, false);
        take_range(&ends[0], &ends[1], high, line->n, false);
        put_label(m->x_label, &coordinates);
        if (coordinates.cf.time.known && !m->raw) {
            m->time_x = coordinates.cf.time;
            put_dates(m->x_label, &coordinates, ends[0], ends[1]);
        }
        series_close(&coordinates);
    } else {
        status = -found;
        m->plot.x.whole = true;
        put_dimension(m->x_label, s, d);
        take_range(&ends[0], &ends[1], &first, 1, false);
        take_range(&ends[0], &ends[1], &last, 1, false);
    }
    free(low);
    free(high);
    return status;
}

static int make_line(struct make *m, int i, size_t room, double ends[2])
{
    const struct series *s = &m->series[i];
    struct plot_line *line = &m->plot.line[i];
    int64_t lengths[DREP_MAX_RANK];
    int which[DREP_MAX_RANK], status;
    size_t n;

    series_shape(s, lengths, which);
    /* Twice as many points as columns still make a line. */
    n = lengths[0] <= (int64_t)(2 * room) ? (size_t)lengths[0] : room;
    if (!line_alloc(line, n))
        return tool_no_memory();
    line->name = s->name;
    line->points = n <= MARKED_MAX;
    /* The means are not drawn: they lie in x until that is filled in. */
    status = series_columns(s, n, line->low, line->high, line->x);
    return status ? status : line_places(m, s, which[0], line, ends);
}

static int make_lines(struct make *m, int width)
{
    struct plot *p = &m->plot;
    double low = NAN, high = NAN, ends[2] = {NAN, NAN};
    int i, status = 0;

    p->lines = m->n;
    for (i = 0; i < m->n && !status; i++) {
        status = make_line(m, i, (size_t)width, ends);
        take_range(&low, &high, p->line[i].low, p->line[i].n, m->log);
        take_range(&low, &high, p->line[i].high, p->line[i].n, m->log);
    }
    if (!status)
        status = settle_range(m, &p->y, low, high);
    if (status)
        return status;
    plot_widen(&p->y, isnan(m->low) && isnan(m->high) && !m->preview ? 0.05 : 0);
    p->x.from = isnan(ends[0]) ? 0 : ends[0];
    p->x.to = isnan(ends[1]) ? 1 : ends[1];
    plot_widen(&p->x, m->preview ? 0 : p->line[0].points ? 0.03 : 0.005);
    put_units(m, m->y_label);
    return 0;
}

/* ------------------------------------------------------------------ images */

/* The ends of an axis over `n` cells: half a cell beyond the first and the last. */
static void set_ends(struct plot_axis *axis, double first, double last, int64_t n)
{
    double half = n > 1 ? (last - first) / (double)(n - 1) / 2 : 0.5;

    axis->from = first - half;
    axis->to = last + half;
}

/* True if coordinates are nearly equidistant. */
static bool even(const double *at, size_t n)
{
    double step = n > 1 ? (at[n - 1] - at[0]) / (double)(n - 1) : 0, off;
    size_t k;

    for (k = 0; k < n; k++) {
        off = fabs(at[k] - (at[0] + (double)k * step));
        if (!(off <= 0.01 * fabs(at[n - 1] - at[0]) + 0.5 * fabs(step)))
            return false;
    }
    return n > 0 && (n == 1 || step != 0);
}

/* True if coordinates grow downwards by CF's attribute `positive`. */
static bool grows_down(const struct make *m, const struct series *coordinates)
{
    char *positive = NULL;
    bool down = drep_attr_read_string(m->file, coordinates->path, "positive", &positive) == 0 &&
                strcasecmp(positive, "down") == 0;

    free(positive);
    return down;
}

/* The axis along dimension d: coordinates where they are even, else indices. */
static int make_axis(struct make *m, int d, const char *asked, struct plot_axis *axis, char *label,
                     struct cf_time *time, int *map, bool *measured)
{
    const struct series *s = &m->series[0];
    int64_t count = s->slice.count[d];
    size_t n = count < 4096 ? (size_t)count : 4096;
    struct series c;
    double *at;
    int found = find_coordinates(m, s, d, asked, &c), status;

    *measured = false;
    set_ends(axis, index_at(s, d, 0), index_at(s, d, (double)(count - 1)), count);
    put_dimension(label, s, d);
    axis->whole = true;
    if (found <= 0)
        return -found;
    at = calloc(3 * n + 1, sizeof *at);
    status = at ? series_columns(&c, n, at + n, at + 2 * n, at) : tool_no_memory();
    if (!status && even(at, n)) {
        set_ends(axis, at[0], at[n - 1], (int64_t)n);
        put_label(label, &c);
        if (c.cf.time.known && !m->raw) {
            *time = c.cf.time;
            put_dates(label, &c, at[0], at[n - 1]);
        }
        *map = (int)map_axis_of(&c);
        m->down = grows_down(m, &c);
        axis->whole = false;
        *measured = true;
    } else if (!status) {
        tool_say(m->file_name, s->path,
                 "note: the coordinates of %s are not even; indices are shown", c.path);
    }
    free(at);
    series_close(&c);
    return status;
}

static void flip_rows(struct plot_image *image)
{
    size_t n = (size_t)image->columns, k;
    double *a = image->cell, *b = a + n * (size_t)(image->rows - 1), swap;

    for (; a < b; a += n, b -= n)
        for (k = 0; k < n; k++) {
            swap = a[k];
            a[k] = b[k];
            b[k] = swap;
        }
}

/* Row 0 is at the top, as matrices are written; where rows have coordinates, the greater
 * ones are, or those of the least depth. */
static void settle_rows(struct make *m, bool measured)
{
    struct plot_axis *y = &m->plot.y;
    bool upper = m->origin_given ? m->origin_upper : !measured || (y->from > y->to) != m->down;
    double swap;

    if (upper) {
        swap = y->from;
        y->from = y->to;
        y->to = swap;
    } else {
        flip_rows(&m->plot.image);
    }
}

/* The degrees say what the axes are.  A picture whose size is not asked for is as high as the map
 * needs. */
static void settle_map(struct make *m)
{
    struct plot *p = &m->plot;
    double across = fabs(p->x.to - p->x.from), up = fabs(p->y.to - p->y.from), height;

    p->map = true;
    *m->x_label = *m->y_label = '\0';
    height = (m->width - MAP_ASIDE) * up / across + MAP_ABOVE;
    if (!m->sized && isfinite(height))
        p->height = (int)fmin(fmax(height, m->height / 2), 2 * m->height);
}

/* Colours by the values, if none were asked for: those that diverge where they lie on both sides of
 * zero.  Diverging colours diverge from zero. */
static void settle_colors(struct make *m)
{
    struct plot_axis *value = &m->plot.value;
    double below = -value->from, above = value->to;

    if (!m->colors)
        m->colors =
            !value->log && fmin(below, above) >= fmax(below, above) / 3 ? "balance" : "viridis";
    if (strcmp(m->colors, "balance") == 0 && below > 0 && above > 0 && isnan(m->low) &&
        isnan(m->high)) {
        value->to = fmax(above, below);
        value->from = -value->to;
    }
}

static int make_image(struct make *m, int width, int height)
{
    const struct series *s = &m->series[0];
    struct plot *p = &m->plot;
    int64_t lengths[DREP_MAX_RANK];
    int which[DREP_MAX_RANK], status;
    double low = NAN, high = NAN;
    bool measured;
    size_t n;

    series_shape(s, lengths, which);
    p->image.rows = lengths[0] < height ? (int)lengths[0] : height;
    p->image.columns = lengths[1] < width ? (int)lengths[1] : width;
    n = (size_t)p->image.rows * (size_t)p->image.columns;
    p->image.cell = calloc(n + 1, sizeof *p->image.cell);
    if (!p->image.cell)
        return tool_no_memory();
    status = series_cells(s, p->image.rows, p->image.columns, p->image.cell);
    if (!status)
        status = make_axis(m, which[1], m->x, &p->x, m->x_label, &m->time_x, &m->map_x, &measured);
    if (!status)
        status = make_axis(m, which[0], m->y, &p->y, m->y_label, &m->time_y, &m->map_y, &measured);
    if (status)
        return status;
    settle_rows(m, measured);
    if (m->map_x == MAP_LONGITUDE && m->map_y == MAP_LATITUDE)
        settle_map(m);
    take_range(&low, &high, p->image.cell, n, m->log);
    status = settle_range(m, &p->value, low, high);
    if (!status && p->value.from == p->value.to)
        plot_widen(&p->value, 0);
    if (!status)
        settle_colors(m);
    put_units(m, m->value_label);
    return status;
}

/* --------------------------------------------------------------------- all */

/* Which kind of picture; an exit code. */
static int check_shapes(struct make *m, int *rank)
{
    int64_t lengths[DREP_MAX_RANK];
    int which[DREP_MAX_RANK], i, d;

    for (i = 0; i < m->n; i++) {
        struct series *s = &m->series[i];
        char text[200] = "";
        size_t n = 0;

        *rank = s->info.rank == DREP_NULL_SPACE ? 0 : series_shape(s, lengths, which);
        for (d = 2; d < *rank && n < sizeof text - 4; d++)
            n += (size_t)snprintf(text + n, sizeof text - n, "0,");
        if (*rank == 0 || *rank > 2 || (*rank == 2 && m->n > 1)) {
            tool_say(m->file_name, s->path,
                     *rank == 0   ? "one value is no picture; see: datarep dump"
                     : *rank == 2 ? "several datasets are lines, of one dimension each"
                                  : "has %d dimensions; choose two with a slice: '%s[%s:,:]'",
                     *rank, s->path, text);
            return TOOL_USAGE;
        }
        for (d = 0; d < *rank; d++)
            if (lengths[d] == 0) {
                tool_say(m->file_name, s->path, "has no elements");
                return TOOL_USAGE;
            }
    }
    return 0;
}

/* True if coordinates along dimension d of a series are times; *any: there are some. */
static bool has_times(const struct series *s, int d, bool *any)
{
    struct series c;
    bool times;

    *any = series_coordinates(s, d, &c);
    if (!*any)
        return false;
    times = c.cf.time.known;
    series_close(&c);
    return times;
}

/* Series of a few places over time are lines: turn the one series into one for each place.  Along
 * places nothing is measured, else it is an image.  An exit code. */
static int split_places(struct make *m, int *rank)
{
    struct series *s = &m->series[0];
    int64_t lengths[DREP_MAX_RANK];
    int which[DREP_MAX_RANK], status = 0, places, d;
    char name[PLOT_TEXT] = "";
    bool any;

    if (m->n != 1 || m->y || m->origin_given || series_shape(s, lengths, which) != 2 ||
        lengths[1] > PLOT_LINES || lengths[0] <= lengths[1] || !has_times(s, which[0], &any))
        return 0;
    d = which[1];
    (void)has_times(s, d, &any);
    if (any)
        return 0;
    places = (int)lengths[1];
    if (s->info.dim_ids[d])
        put_dimension(name, s, d);
    snprintf(m->title_text, PLOT_TEXT, "%.120s", s->name ? s->name : "");
    for (int k = 0; k < places && !status; k++) {
        if (k > 0)
            status =
                series_open(&m->series[k], m->file_name, &m->printer, &m->operand[0], m->member);
        if (status)
            break;
        m->n = k + 1;
        s = &m->series[k];
        s->slice.start[d] += k * s->slice.step[d];
        s->slice.count[d] = 1;
        s->slice.single[d] = true;
        free(s->name);
        if (asprintf(&s->name, *name ? "%.60s %lld" : "%s%lld", name,
                     (long long)s->slice.start[d]) < 0)
            s->name = NULL;
    }
    *rank = 1;
    return status;
}

static void clean_name(char **name)
{
    char *shown = *name ? utf8_shown(*name) : NULL;

    free(*name);
    *name = shown;
}

/* They come from the file, and some were cut in the middle of a character. */
static void clean_texts(struct make *m)
{
    utf8_clean(m->title_text, sizeof m->title_text);
    utf8_clean(m->source, sizeof m->source);
    utf8_clean(m->x_label, sizeof m->x_label);
    utf8_clean(m->y_label, sizeof m->y_label);
    utf8_clean(m->value_label, sizeof m->value_label);
}

int plot_make(struct make *m)
{
    int rank = 0, status = check_shapes(m, &rank), width, height;

    if (!status && rank == 2)
        status = split_places(m, &rank);
    if (status)
        return status;
    for (int i = 0; i < m->n; i++) /* lines and labels borrow them */
        clean_name(&m->series[i].name);
    put_texts(m);
    m->plot.width = m->width;
    m->plot.height = m->height;
    width = m->preview ? m->width : m->width * 4 / 5;
    height = m->preview ? m->width / 2 : m->height * 4 / 5;
    status = rank == 1 ? make_lines(m, width) : make_image(m, width, height);
    m->plot.colors = plot_colors_find(m->colors ? m->colors : "viridis");
    clean_texts(m);
    if (m->plot.map) {
        map_ticks(&m->plot.x, MAP_LONGITUDE, m->width / 80);
        map_ticks(&m->plot.y, MAP_LATITUDE, m->height / 60);
    } else {
        if (!dates_ticks(&m->plot.x, &m->time_x, m->width / 120))
            plot_ticks(&m->plot.x, m->width / 90);
        if (!dates_ticks(&m->plot.y, &m->time_y, m->height / 60))
            plot_ticks(&m->plot.y, m->height / 60);
    }
    plot_ticks(&m->plot.value, m->height / 60);
    return status;
}
