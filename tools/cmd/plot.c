/* plot.c - `datarep plot`: one picture of some numbers. */
/* SPDX-License-Identifier: MIT */
#include "tools/cmd/command.h"
#include "tools/cmd/hdf5.h"
#include "tools/host/color.h"
#include "tools/host/exit.h"
#include "tools/host/fail.h"
#include "tools/host/message.h"
#include "tools/host/module.h"
#include "tools/host/open.h"
#include "tools/host/outfile.h"
#include "tools/host/progress.h"
#include "tools/plot/axis.h"
#include "tools/plot/data.h"
#include "tools/plot/make.h"
#include "tools/plot/map.h"
#include "tools/plot/preview.h"
#include "tools/text/printer.h"
#include "tools/text/sink.h"
#include <dlfcn.h>
#include <errno.h>
#include <getopt.h>
#include <limits.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#define SIZE_MIN 120 /* pixels */
#define SIZE_MAX_PLOT 10000

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
static const char *picture_format(const char *name)
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
static int write_picture(const char *name, bool excl, const struct sink *picture)
{
    struct outfile file;
    struct sink out;
    int status = outfile_open(&file, name, excl);

    if (status)
        return status;
    if (sink_init(&out, file.fd)) {
        status = tool_no_memory();
    } else {
        out.name = file.fd == STDOUT_FILENO ? NULL : name;
        sink_put(&out, picture->buf, picture->len);
        status = sink_close(&out);
    }
    return tool_worse(status, outfile_close(&file, !status));
}

static int draw_picture(struct make *m)
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
    wrong = picture(&m->plot, picture_format(m->output), keep_bytes, &s);
    if (wrong || s.err) {
        tool_say(m->output, NULL, "%s", wrong ? wrong : strerror(s.err));
        status = TOOL_IO;
    } else {
        outfile_from(m->file_name);
        status = write_picture(m->output, m->excl, &s);
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

static int show_preview(struct make *m)
{
    struct sink s;

    if (sink_init(&s, STDOUT_FILENO))
        return tool_no_memory();
    s.color = color_wanted(m->color, STDOUT_FILENO) > 0;
    plot_preview(&m->plot, &s, m->width, color_utf8());
    return sink_close(&s);
}

/* --------------------------------------------------------------------- all */

/* Adds coastlines: of the file that --coast names, or of the system's. */
static int add_coast(struct make *m)
{
    const struct plot_axis *x = &m->plot.x, *y = &m->plot.y;
    const char *name = m->coast;
    drep_file *file = NULL;
    bool imported;
    int status;

    if (name && strcmp(name, "none") == 0)
        return 0;
    if (!name)
        name = map_coast_installed(fmin(fabs(x->to - x->from), fabs(y->to - y->from)));
    if (!name)
        return 0;
    status = hdf5_open(name, DREP_RDONLY, NULL, &file, &imported);
    if (!status)
        status = map_coast(&m->plot, name, file);
    drep_close(file);
    return status;
}

static int make_plot(struct make *m)
{
    int64_t bytes = 0;
    int i, status;

    for (i = 0; i < m->n; i++)
        bytes += slice_count(&m->series[i].slice) * (int64_t)sizeof(double);
    progress_begin("plot", PROGRESS_BYTES, (uint64_t)bytes);
    status = plot_make(m);
    progress_end();
    if (!status && m->plot.map && !m->preview)
        status = add_coast(m);
    if (status)
        return status;
    return m->preview ? show_preview(m) : draw_picture(m);
}

static int open_all(struct make *m, char **operands)
{
    int err = printer_init(&m->printer, m->file, false), status = 0;

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
    free(m->plot.coast.point);
    printer_release(&m->printer);
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
    OPTION_PREVIEW,
    OPTION_RAW,
    OPTION_COAST
};

static const struct option_row plot_option_rows[] = {
    {'o', "output", "FILE", "output file: .png, .svg or .pdf; -: PNG on stdout", "<file>"},
    OPTION_ROWS_REPLACE,
    {OPTION_PREVIEW, "preview", NULL, "draw with characters in the terminal", NULL},
    {OPTION_SIZE, "size", "WxH", "size of the picture in pixels (960x600)", NULL},
    {'w', "width", "COLUMNS", "width of a preview (the terminal's)", NULL},
    {OPTION_TITLE, "title", "TEXT", "title of the picture (the dataset's name)", NULL},
    {OPTION_MIN, "min", "X", "lower limit of the value axis", NULL},
    {OPTION_MAX, "max", "X", "upper limit of the value axis", NULL},
    {OPTION_LOG, "log", NULL, "use a logarithmic value axis", NULL},
    {OPTION_COLORS, "colors", "NAME", "colour map: viridis, balance, gray or heat (by the values)",
     "viridis balance gray heat"},
    {OPTION_X, "x", "PATH", "coordinates of the horizontal axis", "<path>"},
    {OPTION_Y, "y", "PATH", "coordinates of an image's rows", "<path>"},
    {OPTION_ORIGIN, "origin", "WHERE", "position of row 0 of an image: upper or lower",
     "upper lower"},
    {OPTION_COAST, "coast", "FILE",
     "coastlines of a map, in GSHHG's netCDF form, or none (the system's)", "<file>"},
    {OPTION_RAW, "raw", NULL, "show times as numbers, not as dates", NULL},
    {OPTION_MEMBER, "member", "NAME", "member of a compound to plot (a.b: nested)", NULL},
    OPTION_ROW_PLUGINS,
    OPTION_ROW_COLOR,
    OPTION_ROW_EXTERNAL,
    OPTION_ROW_LIMIT,
    {0}};

static int take_finite(double *out, const char *option, const char *text)
{
    char *end;
    double value = strtod(text, &end);

    if (end == text || *end || !isfinite(value))
        return tool_usage(plot_command.name, "--%s is a number, not '%s'", option, text);
    *out = value;
    return 0;
}

static int take_size(struct make *m, const char *text)
{
    int end = 0;

    m->sized = true;
    if (sscanf(text, "%dx%d%n", &m->width, &m->height, &end) == 2 && !text[end] &&
        m->width >= SIZE_MIN && m->width <= SIZE_MAX_PLOT && m->height >= SIZE_MIN &&
        m->height <= SIZE_MAX_PLOT)
        return 0;
    return tool_usage(plot_command.name, "--size is WIDTHxHEIGHT, each %d to %d, not '%s'",
                      SIZE_MIN, SIZE_MAX_PLOT, text);
}

static int take_columns(int *columns, const char *text)
{
    double value = 0;
    int status = take_finite(&value, "width", text);

    if (!status && (value < 20 || value > 1000))
        status = tool_usage(plot_command.name, "--width is 20 to 1000 columns, not '%s'", text);
    *columns = (int)value;
    return status;
}

static int take_words(struct make *m, int option)
{
    if (option == OPTION_COLORS && !plot_colors_find(m->colors = optarg))
        return tool_usage(plot_command.name, "--colors is viridis, balance, gray or heat, not '%s'",
                          optarg);
    if (option != OPTION_ORIGIN)
        return 0;
    m->origin_given = true;
    m->origin_upper = strcmp(optarg, "upper") == 0;
    if (m->origin_upper || strcmp(optarg, "lower") == 0)
        return 0;
    return tool_usage(plot_command.name, "--origin is upper or lower, not '%s'", optarg);
}

struct plot_options {
    struct make make;
    const char *plugins;
    bool force;
    int columns;
};

static int plot_option(struct plot_options *a, int option)
{
    struct make *m = &a->make;

    switch (option) {
    case 'o':
        m->output = optarg;
        return 0;
    case 'f':
        a->force = true;
        return 0;
    case 'n':
        m->excl = true;
        return 0;
    case 'w':
        return take_columns(&a->columns, optarg);
    case OPTION_PREVIEW:
        m->preview = true;
        return 0;
    case OPTION_RAW:
        m->raw = true;
        return 0;
    case OPTION_COAST:
        m->coast = optarg;
        return 0;
    case OPTION_SIZE:
        return take_size(m, optarg);
    case OPTION_TITLE:
        m->title = optarg;
        return 0;
    case OPTION_MIN:
        return take_finite(&m->low, "min", optarg);
    case OPTION_MAX:
        return take_finite(&m->high, "max", optarg);
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

/* Reject options that exclude each other; an exit code. */
static int check_plot_options(const struct make *m)
{
    const struct command *c = &plot_command;

    if (!m->preview && !m->output)
        return tool_usage(c->name, "where to?  -o FILE, or --preview");
    if (m->preview && m->output)
        return tool_usage(c->name, "either -o or --preview");
    if (m->output && !picture_format(m->output))
        return tool_usage(c->name, "'%s' ends neither in .png nor in .svg or .pdf", m->output);
    if (m->output && strcmp(m->output, "-") == 0 && isatty(STDOUT_FILENO))
        return tool_usage(c->name, "a PNG on a terminal: redirect the output, or use --preview");
    if (color_wanted(m->color, STDOUT_FILENO) < 0)
        return tool_usage(c->name, "--color is auto, always or never, not '%s'", m->color);
    return 0;
}

static int plot_run(int argc, char **argv)
{
    struct options o = {.command = &plot_command, .argc = argc, .argv = argv};
    struct plot_options a = {.make = {.width = 960, .height = 600, .low = NAN, .high = NAN}};
    struct make *m = &a.make;
    int option, status = 0;
    char **operands;

    while ((option = option_next(&o)) > 0 && !status)
        status = plot_option(&a, option);
    if (option < 0 || status)
        return status ? status : o.status;
    operands = option_operands(&o, 2, PLOT_LINES + 1, "which dataset?  FILE PATH");
    if (!operands)
        return o.status;
    status = check_plot_options(m);
    if (!status && m->output)
        status = outfile_permit(m->output, &m->excl, a.force, NULL);
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
        status = make_plot(m);
    close_all(m);
    return status;
}

const struct command plot_command = {
    .name = "plot",
    .run = plot_run,
    .summary = "plot datasets as lines or as an image",
    .usage = "-o PICTURE [options] FILE PATH[SLICE]...\n--preview [options] FILE PATH[SLICE]...",
    .about = "Draws one-dimensional datasets as lines, a two-dimensional one as an image.  Labels\n"
             "come from the attributes units and long_name; missing_value, _FillValue,\n"
             "valid_range, scale_factor, add_offset and units of time are applied as CF says.",
    .options = plot_option_rows,
    .examples = "  datarep plot sea.drep '/sst[0]' -o sst.png\n"
                "  datarep plot --preview log.drep /temperature",
    .operands = "<drep> <path>..."};
