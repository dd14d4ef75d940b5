/* plot.c - `datarep plot`: one picture of some numbers. */
#include "color.h"
#include "module.h"
#include "plot_make.h"
#include "progress.h"
#include "tool.h"
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <getopt.h>
#include <limits.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#define SIZE_MIN 120 /* pixels */
#define SIZE_MAX_PLOT 10000
#define MARKED_MAX 60 /* so many points are marked one by one */
#define TEXT_MAX 256
#define SCALE_LEVELS 256

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
    char title_text[TEXT_MAX], source[TEXT_MAX], x_label[TEXT_MAX], y_label[TEXT_MAX],
        value_label[TEXT_MAX];
};

/* -------------------------------------------------------------------- texts */

/* "sea surface temperature (K)" */
static void put_label(char *text, const struct series *s)
{
    snprintf(text, TEXT_MAX, s->units ? "%.120s (%.60s)" : "%.120s", s->name ? s->name : "",
             s->units);
}

/* What numbers are measured in; their name is the title unless another was asked for. */
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
        snprintf(text, TEXT_MAX, "%s", units ? units : "");
}

/* The name of a dimension, or which one it is. */
static void put_dimension(char *text, const struct series *s, int d)
{
    const char *path = s->info.dim_ids[d] ? print_path(s->printer, s->info.dim_ids[d]) : NULL;

    if (path)
        snprintf(text, TEXT_MAX, "%.200s", strrchr(path, '/') + 1);
    else if (s->info.rank == 1)
        snprintf(text, TEXT_MAX, "index");
    else
        snprintf(text, TEXT_MAX, "index of dimension %d", d);
}

static void put_texts(struct make *m)
{
    const struct operand *o = &m->operand[0];

    if (m->title)
        snprintf(m->title_text, TEXT_MAX, "%s", m->title);
    else if (m->n == 1)
        snprintf(m->title_text, TEXT_MAX, "%s", m->series[0].name ? m->series[0].name : "");
    snprintf(m->source, TEXT_MAX, m->n > 1 ? "%.120s" : "%.120s:%.80s%.40s", m->file_name, o->path,
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

/* What was asked for instead of what there is; a range that is none is made one. */
static int settle_range(struct make *m, struct plot_axis *axis, double low, double high)
{
    if (isnan(low) && isnan(m->low) && isnan(m->high)) {
        tool_say(m->file_name, m->operand[0].path, "there is no number to show");
        return TOOL_USAGE;
    }
    axis->log = m->log;
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
        series_close(&coordinates);
    } else {
        status = -found;
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

/* Whether coordinates go up, or down, by the same step, nearly. */
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

/* The axis along dimension d: coordinates where they are even, else indices. */
static int make_axis(struct make *m, int d, const char *asked, struct plot_axis *axis, char *label,
                     bool *measured)
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
    if (found <= 0)
        return -found;
    at = calloc(3 * n + 1, sizeof *at);
    status = at ? series_columns(&c, n, at + n, at + 2 * n, at) : tool_no_memory();
    if (!status && even(at, n)) {
        set_ends(axis, at[0], at[n - 1], (int64_t)n);
        put_label(label, &c);
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
 * ones are. */
static void settle_rows(struct make *m, bool measured)
{
    struct plot_axis *y = &m->plot.y;
    bool upper = m->origin_given ? m->origin_upper : !measured || y->from > y->to;
    double swap;

    if (upper) {
        swap = y->from;
        y->from = y->to;
        y->to = swap;
    } else {
        flip_rows(&m->plot.image);
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
        status = make_axis(m, which[1], m->x, &p->x, m->x_label, &measured);
    if (!status)
        status = make_axis(m, which[0], m->y, &p->y, m->y_label, &measured);
    if (status)
        return status;
    settle_rows(m, measured);
    take_range(&low, &high, p->image.cell, n, m->log);
    status = settle_range(m, &p->value, low, high);
    if (!status && p->value.from == p->value.to)
        plot_widen(&p->value, 0);
    /* What diverges does so from zero. */
    if (!status && strcmp(m->colors, "balance") == 0 && p->value.from < 0 && p->value.to > 0 &&
        isnan(m->low) && isnan(m->high)) {
        p->value.to = fmax(p->value.to, -p->value.from);
        p->value.from = -p->value.to;
    }
    put_units(m, m->value_label);
    return status;
}

/* ------------------------------------------------------------------ output */

typedef const char *draw_fn(const struct plot *plot, const char *format, plot_write_fn *write,
                            void *ctx);

static int keep_bytes(void *ctx, const unsigned char *bytes, unsigned size)
{
    struct sink *s = ctx;

    sink_put(s, (const char *)bytes, size);
    return s->err;
}

/* "png", "svg" or "pdf" by the end of the name; NULL for another. */
static const char *format_of(const char *name)
{
    static const char *const formats[] = {"png", "svg", "pdf"};
    const char *dot = strrchr(name, '.');
    size_t i;

    if (strcmp(name, "-") == 0)
        return formats[0];
    for (i = 0; dot && i < sizeof formats / sizeof *formats; i++)
        if (strcasecmp(dot + 1, formats[i]) == 0)
            return formats[i];
    return NULL;
}

/* Nothing appears before the picture is whole. */
static int write_picture(const char *name, const struct sink *picture)
{
    struct sink out;
    int fd = STDOUT_FILENO, status;

    if (strcmp(name, "-") != 0)
        fd = open(name, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
    if (fd < 0 || sink_init(&out, fd)) {
        tool_say(name, NULL, "%s", strerror(errno));
        return TOOL_IO;
    }
    sink_put(&out, picture->buf, picture->len);
    status = sink_close(&out);
    if (fd != STDOUT_FILENO && close(fd) != 0 && !status) {
        tool_say(name, NULL, "%s", strerror(errno));
        status = TOOL_IO;
    }
    return status;
}

static int draw(struct make *m)
{
    void *module = module_load("plot", DATAREP_PLOT_INTERFACE);
    draw_fn *picture = NULL;
    const char *wrong;
    struct sink s;
    int status;

    if (!module)
        return TOOL_CORRUPT;
    *(void **)&picture = dlsym(module, "datarep_plot_draw");
    if (!picture || sink_init(&s, -1))
        return tool_no_memory();
    wrong = picture(&m->plot, format_of(m->output), keep_bytes, &s);
    if (wrong || s.err) {
        tool_say(m->output, NULL, "%s", wrong ? wrong : strerror(s.err));
        status = TOOL_IO;
    } else {
        status = write_picture(m->output, &s);
    }
    sink_release(&s);
    return status;
}

static int columns_of_terminal(void)
{
    struct winsize size;

    if (ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 0)
        return size.ws_col;
    return 80;
}

static int show(struct make *m)
{
    struct sink s;

    if (sink_init(&s, STDOUT_FILENO))
        return tool_no_memory();
    s.color = color_wanted(m->color, STDOUT_FILENO) > 0;
    plot_preview(&m->plot, &s, m->width, color_utf8());
    return sink_close(&s);
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

static int make(struct make *m)
{
    int rank = 0, status = check_shapes(m, &rank), width, height;
    int64_t bytes = 0;
    int i;

    if (status)
        return status;
    for (i = 0; i < m->n; i++)
        bytes += slice_count(&m->series[i].slice) * (int64_t)sizeof(double);
    progress_begin("plot", PROGRESS_BYTES, (uint64_t)bytes);
    put_texts(m);
    m->plot.width = m->width;
    m->plot.height = m->height;
    m->plot.colors = plot_colors_find(m->colors);
    width = m->preview ? m->width : m->width * 4 / 5;
    height = m->preview ? m->width / 2 : m->height * 4 / 5;
    status = rank == 1 ? make_lines(m, width) : make_image(m, width, height);
    progress_end();
    if (status)
        return status;
    plot_ticks(&m->plot.x, m->width / 90);
    plot_ticks(&m->plot.y, m->height / 60);
    plot_ticks(&m->plot.value, m->height / 60);
    return m->preview ? show(m) : draw(m);
}

static int open_all(struct make *m, char **operands)
{
    int err = print_init(&m->printer, m->file, false), status = 0;

    if (err)
        return tool_fail(m->file_name, NULL, err);
    for (; *operands && !status; operands++, m->n++) {
        if (operand_init(&m->operand[m->n], m->file, *operands))
            return tool_no_memory();
        status =
            series_open(&m->series[m->n], m->file_name, &m->printer, &m->operand[m->n], m->member);
    }
    return status;
}

static void close_all(struct make *m)
{
    int i;

    for (i = 0; i < PLOT_LINES; i++) {
        series_close(&m->series[i]);
        operand_release(&m->operand[i]);
        free(m->plot.line[i].x);
        free(m->plot.line[i].low);
        free(m->plot.line[i].high);
    }
    free(m->plot.image.cell);
    print_release(&m->printer);
    drep_close(m->file);
}

/* ------------------------------------------------------------- command line */

enum {
    OPTION_SIZE = OPTION_LONG,
    OPTION_TITLE,
    OPTION_MIN,
    OPTION_MAX,
    OPTION_LOG,
    OPTION_COLORS,
    OPTION_X,
    OPTION_Y,
    OPTION_ORIGIN,
    OPTION_MEMBER,
    OPTION_PREVIEW
};

static const struct option_row options[] = {
    {'o', "output", "FILE", "the picture: .png, .svg or .pdf; -: PNG on stdout", "<file>"},
    {OPTION_PREVIEW, "preview", NULL, "in characters, in the terminal", NULL},
    {OPTION_SIZE, "size", "WxH", "pixels of a picture (960x600)", NULL},
    {'w', "width", "COLUMNS", "of a preview (the terminal's)", NULL},
    {OPTION_TITLE, "title", "TEXT", "instead of the dataset's name", NULL},
    {OPTION_MIN, "min", "X", "least value of the scale", NULL},
    {OPTION_MAX, "max", "X", "greatest value of the scale", NULL},
    {OPTION_LOG, "log", NULL, "a logarithmic scale of values", NULL},
    {OPTION_COLORS, "colors", "NAME", "of an image: viridis, balance, gray or heat",
     "viridis balance gray heat"},
    {OPTION_X, "x", "PATH", "coordinates from left to right", "<path>"},
    {OPTION_Y, "y", "PATH", "coordinates of an image's rows", "<path>"},
    {OPTION_ORIGIN, "origin", "WHERE", "where row 0 of an image is: upper or lower", "upper lower"},
    {OPTION_MEMBER, "member", "NAME", "this member of compounds (a.b: of a member)", NULL},
    OPTION_ROW_PLUGINS,
    OPTION_ROW_COLOR,
    {0}};

static int take_number(double *out, const char *option, const char *text)
{
    char *end;
    double value = strtod(text, &end);

    if (end == text || *end || !isfinite(value))
        return command_usage(&plot_command, "--%s is a number, not '%s'", option, text);
    *out = value;
    return 0;
}

static int take_size(struct make *m, const char *text)
{
    int end = 0;

    if (sscanf(text, "%dx%d%n", &m->width, &m->height, &end) == 2 && !text[end] &&
        m->width >= SIZE_MIN && m->width <= SIZE_MAX_PLOT && m->height >= SIZE_MIN &&
        m->height <= SIZE_MAX_PLOT)
        return 0;
    return command_usage(&plot_command, "--size is WIDTHxHEIGHT, each %d to %d, not '%s'", SIZE_MIN,
                         SIZE_MAX_PLOT, text);
}

static int take_columns(int *columns, const char *text)
{
    double value = 0;
    int status = take_number(&value, "width", text);

    if (!status && (value < 20 || value > 1000))
        status = command_usage(&plot_command, "--width is 20 to 1000 columns, not '%s'", text);
    *columns = (int)value;
    return status;
}

static int take_words(struct make *m, int option)
{
    if (option == OPTION_COLORS && !plot_colors_find(m->colors = optarg))
        return command_usage(&plot_command, "--colors is viridis, balance, gray or heat, not '%s'",
                             optarg);
    if (option != OPTION_ORIGIN)
        return 0;
    m->origin_given = true;
    m->origin_upper = strcmp(optarg, "upper") == 0;
    if (m->origin_upper || strcmp(optarg, "lower") == 0)
        return 0;
    return command_usage(&plot_command, "--origin is upper or lower, not '%s'", optarg);
}

struct asked {
    struct make make;
    const char *plugins;
    int columns;
};

static int take(struct asked *a, int option)
{
    struct make *m = &a->make;

    switch (option) {
    case 'o':
        m->output = optarg;
        return 0;
    case 'w':
        return take_columns(&a->columns, optarg);
    case OPTION_PREVIEW:
        m->preview = true;
        return 0;
    case OPTION_SIZE:
        return take_size(m, optarg);
    case OPTION_TITLE:
        m->title = optarg;
        return 0;
    case OPTION_MIN:
        return take_number(&m->low, "min", optarg);
    case OPTION_MAX:
        return take_number(&m->high, "max", optarg);
    case OPTION_LOG:
        m->log = true;
        return 0;
    case OPTION_X:
        m->x = optarg;
        return 0;
    case OPTION_Y:
        m->y = optarg;
        return 0;
    case OPTION_MEMBER:
        m->member = optarg;
        return 0;
    case OPTION_PLUGINS:
        a->plugins = optarg;
        return 0;
    case OPTION_COLOR:
        m->color = optarg ? optarg : "always";
        return 0;
    default:
        return take_words(m, option);
    }
}

/* What does not go together; an exit code. */
static int check_asked(const struct make *m)
{
    const struct command *c = &plot_command;

    if (!m->preview && !m->output)
        return command_usage(c, "where to?  -o FILE, or --preview");
    if (m->preview && m->output)
        return command_usage(c, "either -o or --preview");
    if (m->output && !format_of(m->output))
        return command_usage(c, "'%s' ends neither in .png nor in .svg or .pdf", m->output);
    if (m->output && strcmp(m->output, "-") == 0 && isatty(STDOUT_FILENO))
        return command_usage(c, "a PNG on a terminal: redirect the output, or use --preview");
    if (color_wanted(m->color, STDOUT_FILENO) < 0)
        return command_usage(c, "--color is auto, always or never, not '%s'", m->color);
    return 0;
}

static int run(int argc, char **argv)
{
    struct options o = {.command = &plot_command, .argc = argc, .argv = argv};
    struct asked a = {
        .make = {.width = 960, .height = 600, .low = NAN, .high = NAN, .colors = "viridis"}};
    struct make *m = &a.make;
    int option, status = 0;
    char **operands;

    while ((option = option_next(&o)) > 0 && !status)
        status = take(&a, option);
    if (option < 0 || status)
        return status ? status : o.status;
    operands = option_operands(&o, 2, PLOT_LINES + 1, "which dataset?  FILE PATH");
    if (!operands)
        return o.status;
    status = check_asked(m);
    if (status)
        return status;
    if (m->preview)
        m->width = a.columns ? a.columns : columns_of_terminal();
    m->file_name = operands[0];
    status = tool_open(m->file_name, DREP_RDONLY, a.plugins, &m->file);
    if (status)
        return status;
    status = open_all(m, operands + 1);
    if (!status)
        status = make(m);
    close_all(m);
    return status;
}

const struct command plot_command = {
    .name = "plot",
    .run = run,
    .summary = "draw numbers as lines or as an image",
    .usage = "-o PICTURE [options] FILE PATH[SLICE]...\n--preview [options] FILE PATH[SLICE]...",
    .about = "Draws one dimension as a line, also several of them, two as an image.  Units and\n"
             "names come from the attributes units and long_name; missing_value, _FillValue,\n"
             "scale_factor and add_offset mean what they mean in netCDF.",
    .options = options,
    .examples = "  datarep plot sea.drep '/sst[0]' -o sst.png\n"
                "  datarep plot --preview log.drep /temperature",
    .operands = "<drep> <path>..."};
