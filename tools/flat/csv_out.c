/* csv_out.c - datasets as a table in CSV.
 *
 * A table is formatted by all processors through stream.h, so a line must not depend on the one
 * before it.  It is verified by a sum of its bytes, as text does not tell all values apart. */
/* SPDX-License-Identifier: MIT */
#include "tools/flat/csv_out.h"
#include "base/vec.h"
#include "format/utf8.h"
#include "schema/paths.h"
#include "tools/flat/csv.h"
#include "tools/flat/csv_columns.h"
#include "tools/host/exit.h"
#include "tools/host/fail.h"
#include "tools/host/message.h"
#include "tools/text/cf.h"
#include "tools/text/print.h"
#include "tools/text/printer.h"
#include "tools/text/sink.h"
#include "tools/text/stream.h"
#include "tools/walk/blocks.h"
#include <errno.h>
#include <stdlib.h>
#include <string.h>

struct csv_out {
    struct outlet *outlet;
    struct printer printer;
    struct columns columns;
    struct sink sink;
    char delimiter;
    int64_t width; /* elements in a line */
};

/* ------------------------------------------------------------------- fields */

static void put_text(const struct csv_out *c, struct sink *s, const drep_type *type, const char *at)
{
    const char *text = at;
    size_t size = (size_t)drep_type_size(type);

    int pad = drep_type_string_pad(type);

    if (drep_type_kind(type) == DREP_KIND_VSTRING) {
        text = print_text(type, at, &size);
    } else if (pad == DREP_PAD_NULTERM) {
        size = strnlen(text, size);
    } else {
        while (size > 0 && text[size - 1] == (pad == DREP_PAD_SPACE ? ' ' : '\0'))
            size--;
    }
    csv_put(s, text, size, c->delimiter);
}

static void put_character(const struct csv_out *c, struct sink *s, const drep_type *type,
                          const char *at)
{
    uint32_t code = (unsigned char)*at;
    char text[4];
    wchar_t wide;

    if (drep_type_code(type) == DREP_CODE_WCHAR) {
        memcpy(&wide, at, sizeof wide);
        code = (uint32_t)wide;
    }
    csv_put(s, text, (size_t)(utf8_put(text, code) - text), c->delimiter);
}

/* Numbers and names as a dump has them; what that puts in quotes, without.  The sink is in
 * memory, so that what was printed can be seen. */
static void put_word(const struct csv_out *c, struct sink *s, const drep_type *type, const void *at)
{
    size_t start = s->len, size;
    char *text, *copy;

    print_value(&c->printer, s, type, at);
    text = s->buf + start;
    size = s->len - start;
    if (s->err || size == 0 || (*text != '"' && !memchr(text, c->delimiter, size)))
        return;
    if (size > 1 && text[0] == '"' && text[size - 1] == '"') {
        text++;
        size -= 2;
    }
    copy = malloc(size + 1);
    if (!copy) {
        s->err = ENOMEM;
        return;
    }
    memcpy(copy, text, size);
    s->len = start;
    csv_put(s, copy, size, c->delimiter);
    free(copy);
}

/* A complex number in the type of its parts. */
static void put_parts(const struct csv_out *c, struct sink *s, const drep_type *type,
                      const char *at)
{
    int64_t half = drep_type_size(type) / 2;
    int part;

    switch (drep_type_code(type)) {
    case DREP_CODE_COMPLEX4:
        part = DREP_CODE_FLOAT16;
        break;
    case DREP_CODE_COMPLEX32:
        part = DREP_CODE_FLOAT128;
        break;
    default:
        part = half == sizeof(float) ? DREP_CODE_FLOAT : DREP_CODE_DOUBLE;
    }
    put_word(c, s, drep_predefined(part), at);
    sink_char(s, c->delimiter);
    put_word(c, s, drep_predefined(part), at + half);
}

static void put_element(const struct csv_out *c, struct sink *s, const char *element)
{
    size_t i;

    for (i = 0; i < c->columns.len; i++) {
        const struct column *column = &c->columns.list[i];
        int kind = drep_type_kind(column->held), code = drep_type_code(column->held);
        const char *at = element + column->offset;

        if (i > 0)
            sink_char(s, c->delimiter);
        if (kind == DREP_KIND_STRING || kind == DREP_KIND_VSTRING)
            put_text(c, s, column->held, at);
        else if (code == DREP_CODE_CHAR || code == DREP_CODE_CHARACTER || code == DREP_CODE_WCHAR)
            put_character(c, s, column->held, at);
        else if (column->fields == 2)
            put_parts(c, s, column->held, at);
        else if (!column->cf || !cf_put_date(column->cf, &c->printer, s, column->held, at, true))
            put_word(c, s, column->held, at);
    }
}

static int put_header(struct csv_out *c, const char *path)
{
    const char *bare = strrchr(path, '/');
    char *name;
    size_t i;
    int k;

    if (c->outlet->f->no_header || c->width > 1)
        return 0;
    for (i = 0; i < c->columns.len; i++) {
        for (k = 0; k < c->columns.list[i].fields; k++) {
            name = columns_name(&c->columns.list[i], k, bare ? bare + 1 : path);
            if (!name)
                return tool_no_memory();
            if (i > 0 || k > 0)
                sink_char(&c->sink, c->delimiter);
            csv_put(&c->sink, name, strlen(name), c->delimiter);
            free(name);
        }
    }
    sink_char(&c->sink, '\n');
    return 0;
}

/* -------------------------------------------------------------------- lines */

static void put_lines(const struct csv_out *c, struct sink *s, const drep_type *type,
                      const char *elements, int64_t first, int64_t count)
{
    int64_t i, extent = drep_type_extent(type);

    for (i = 0; i < count && !s->err; i++) {
        put_element(c, s, elements + i * extent);
        sink_char(s, (first + i + 1) % c->width ? c->delimiter : '\n');
    }
}

static void put_piece(const struct stream *stream, struct sink *s, const drep_type *type,
                      const char *elements, int64_t first, int64_t count)
{
    put_lines(stream->ctx, s, type, elements, first, count);
}

/* held: what elements are read as. */
static int csv_begin(struct csv_out *c, struct outlet *outlet, const char *path,
                     const drep_type *held, int64_t width, int fd)
{
    const struct flat *f = outlet->f;
    size_t size = strlen(outlet->x->dst);
    int status;

    c->outlet = outlet;
    c->width = width;
    c->delimiter = f->delimiter                                                 ? f->delimiter
                   : size > 4 && strcmp(outlet->x->dst + size - 4, ".tsv") == 0 ? '\t'
                                                                                : ',';
    if (sink_init(&c->sink, fd))
        return tool_no_memory();
    c->sink.summed = !outlet->x->no_verify;
    c->sink.name = strcmp(outlet->x->dst, "-") == 0 ? NULL : outlet->x->dst;
    status = columns_init(&c->columns, outlet->name, held, held);
    return status ? status : put_header(c, path);
}

/* Gives a column its dates, if the dataset has times and numbers are not wanted. */
static void take_dates(struct csv_out *c, const char *path, struct column *column, struct cf *cf)
{
    if (!c->outlet->f->numbers && column->fields == 1 &&
        cf_read_time(cf, &c->printer, path, column->held))
        column->cf = cf;
}

static int end(struct csv_out *c, int status)
{
    columns_release(&c->columns);
    if (!status) {
        status = sink_close(&c->sink);
        c->outlet->sum = c->sink.sum;
        c->outlet->size = c->sink.flushed;
        return status;
    }
    sink_release(&c->sink);
    return status;
}

int csv_out(const struct extract *e, int fd)
{
    struct outlet *outlet = e->outlet;
    struct csv_out c = {0};
    struct stream stream = {.sink = &c.sink, .put = put_piece, .ctx = &c};
    int64_t dims[DREP_MAX_RANK];
    int rank = slice_shape(&e->slice, dims), err, status;
    drep_type *held = NULL;
    struct cf cf;

    if (rank > 2) {
        tool_say(outlet->name, e->path, "%d dimensions; a table has two: --root='%s[0]'", rank,
                 e->path);
        return TOOL_USAGE;
    }
    err = printer_init(&c.printer, outlet->file, false);
    c.printer.own = c.printer.precise = true;
    if (err)
        return tool_fail(outlet->name, e->path, err);
    err = printer_type(&c.printer, e->info.type, e->info.datarep_number, &held);
    status = err ? tool_fail(outlet->name, e->path, err)
                 : csv_begin(&c, outlet, e->path, held, rank == 2 && dims[1] > 0 ? dims[1] : 1, fd);
    if (!status && c.columns.len == 1 && !*c.columns.list[0].name)
        take_dates(&c, e->path, &c.columns.list[0], &cf);
    if (!status) {
        err = stream_run(&stream, e->dataset, &e->info, held, &e->slice);
        if (err && err != DREP_ERR_STOPPED)
            status = tool_fail(outlet->name, e->path, err);
        if (err == DREP_ERR_STOPPED && !c.sink.err)
            status = TOOL_IO;
    }
    status = err && !held ? status : end(&c, status);
    drep_type_free(held);
    printer_release(&c.printer);
    return status;
}

/* -------------------------------------------------------------------- groups */

struct csv_group {
    struct outlet *outlet;
    const char *path;
    char **name;
    drep_dataset **dataset;
    const drep_type **type;      /* that they are read as */
    struct cf *cf;               /* of each */
    size_t len, names, datasets; /* members; room */
    int64_t rows;
};

static int add_dataset(const drep_linkinfo *link, void *ctx)
{
    struct csv_group *g = ctx;

    if (link->link != DREP_LINK_HARD || link->kind != DREP_OBJ_DATASET)
        return 0;
    if (VEC_ROOM(g->name, g->len, g->names, 1) || VEC_ROOM(g->dataset, g->len, g->datasets, 1))
        return DREP_ERR_NOMEM;
    g->dataset[g->len] = NULL;
    g->name[g->len] = strdup(link->name);
    return g->name[g->len] ? (g->len++, 0) : DREP_ERR_NOMEM;
}

static void csv_group_release(struct csv_group *g)
{
    size_t i;

    for (i = 0; i < g->len; i++) {
        free(g->name[i]);
        if (g->dataset[i])
            drep_dataset_close(g->dataset[i]);
        if (g->type)
            drep_type_free((drep_type *)g->type[i]);
    }
    free(g->cf);
    free(g->name);
    free(g->dataset);
    free(g->type);
}

static int open_column(struct csv_group *g, const struct printer *p, size_t i)
{
    char *path = path_of_member(g->path, g->name[i]);
    drep_type *type;
    drep_dsinfo info = DREP_DSINFO;
    int err = path ? drep_dataset_open(g->outlet->file, path, &g->dataset[i]) : DREP_ERR_NOMEM;
    int status = 0;

    if (!err)
        err = drep_dataset_info(g->dataset[i], &info);
    if (!err && (info.rank != 1 || (i > 0 && info.dims[0] != g->rows))) {
        tool_say(g->outlet->name, path,
                 "the columns of a table have one dimension and are equally long");
        status = TOOL_USAGE;
    }
    if (!err && !status)
        err = printer_type(p, info.type, info.datarep_number, &type);
    if (err)
        status = tool_fail(g->outlet->name, path, err);
    if (!status) {
        g->type[i] = type;
        g->rows = info.dims[0];
    }
    free(path);
    return status;
}

/* The rows of all datasets side by side in one buffer. */
static int read_group_rows(struct csv_group *g, const drep_type *row, int64_t first, int64_t count,
                           char *buf)
{
    int64_t extent = drep_type_extent(row);
    drep_selection *sel = NULL;
    drep_type *strided;
    size_t i;
    int err = drep_select_box(1, &first, &count, NULL, NULL, &sel);

    for (i = 0; i < g->len && !err; i++) {
        err = drep_type_resized(0, extent, g->type[i], &strided);
        if (err)
            break;
        err = elements_read(g->dataset[i], sel, strided,
                            buf + drep_type_member_offset(row, (int64_t)i));
        drep_type_free(strided);
    }
    drep_selection_free(sel);
    return err ? tool_fail(g->outlet->name, g->path, err) : 0;
}

static int put_rows(struct csv_group *g, struct csv_out *c, const drep_type *row)
{
    int64_t extent = drep_type_extent(row), most = ((int64_t)1 << 20) / (extent + 1) + 1, at, n;
    char *buf = calloc((size_t)most, (size_t)extent + 1);
    struct sink lines = {0};
    int status = buf && sink_init(&lines, -1) == 0 ? 0 : tool_no_memory();

    for (at = 0; at < g->rows && !status && !c->sink.err; at += n) {
        n = g->rows - at < most ? g->rows - at : most;
        status = read_group_rows(g, row, at, n, buf);
        if (!status)
            put_lines(c, &lines, row, buf, at, n);
        if (drep_type_variable(row))
            drep_vlen_free(row, n, buf);
        if (!status && lines.err)
            status = tool_no_memory();
        sink_put(&c->sink, lines.buf, lines.len);
        lines.len = 0;
        if (!status)
            status = outlet_advance((uint64_t)n);
    }
    sink_release(&lines);
    free(buf);
    return status;
}

/* Columns that are whole datasets may be times. */
static int group_dates(struct csv_group *g, struct csv_out *c)
{
    size_t i, k;

    g->cf = calloc(g->len + 1, sizeof *g->cf);
    if (!g->cf)
        return tool_no_memory();
    for (i = 0; i < g->len; i++) {
        char *path = path_of_member(g->path, g->name[i]);

        if (!path)
            return tool_no_memory();
        for (k = 0; k < c->columns.len; k++)
            if (strcmp(c->columns.list[k].name, g->name[i]) == 0)
                take_dates(c, path, &c->columns.list[k], &g->cf[i]);
        free(path);
    }
    return 0;
}

static int put_group(struct csv_group *g, struct csv_out *c, int fd)
{
    drep_type *row = NULL;
    size_t i;
    int err, status = 0;

    g->type = calloc(g->len + 1, sizeof *g->type);
    if (!g->type)
        return tool_no_memory();
    for (i = 0; i < g->len && !status; i++)
        status = open_column(g, &c->printer, i);
    if (status)
        return status;
    err = drep_type_compound((int64_t)g->len, (const char *const *)g->name, NULL, g->type, 0, &row);
    if (err)
        return tool_fail(g->outlet->name, g->path, err);
    status = csv_begin(c, g->outlet, g->path, row, 1, fd);
    if (!status)
        status = group_dates(g, c);
    if (!status)
        status = put_rows(g, c, row);
    status = end(c, status);
    drep_type_free(row);
    return status;
}

int csv_out_group(struct outlet *outlet, const char *path, int fd)
{
    struct csv_group g = {.outlet = outlet, .path = path};
    struct csv_out c = {0};
    int status = 0, err = drep_list(outlet->file, path, DREP_BY_CREATION, add_dataset, &g);

    if (!err)
        err = printer_init(&c.printer, outlet->file, false);
    c.printer.own = c.printer.precise = true;
    if (err) {
        status = tool_fail(outlet->name, path, err);
    } else if (g.len == 0) {
        tool_say(outlet->name, path, "there are no datasets in this group");
        status = TOOL_USAGE;
    } else {
        status = put_group(&g, &c, fd);
    }
    csv_group_release(&g);
    printer_release(&c.printer);
    return status;
}
