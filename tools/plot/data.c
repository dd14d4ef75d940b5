/* data.c - numbers of a dataset, reduced to what a picture has room for. */
/* SPDX-License-Identifier: MIT */
#include "tools/plot/data.h"
#include "tools/host/exit.h"
#include "tools/host/fail.h"
#include "tools/host/message.h"
#include "tools/host/progress.h"
#include "tools/plot/plot.h"
#include "tools/text/cf.h"
#include "tools/text/num.h"
#include "tools/text/printer.h"
#include "tools/walk/blocks.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---------------------------------------------------------------- attributes */

/* An attribute's text, malloc'ed, or NULL. */
static char *attribute_text(const struct series *s, const char *name)
{
    char *out = NULL;

    if (drep_attr_read_string(s->printer->file, s->path, name, &out))
        return NULL;
    if (*out)
        return out;
    free(out);
    return NULL;
}

static void read_attributes(struct series *s)
{
    cf_read(&s->cf, s->printer, s->path, s->info.type);
    s->units = attribute_text(s, "units");
    s->name = attribute_text(s, "long_name");
    if (!s->name && (s->name = attribute_text(s, "standard_name")))
        for (char *c = s->name; *c; c++)
            *c = *c == '_' ? ' ' : *c;
    if (!s->name)
        s->name = strdup(strrchr(s->path, '/') + 1);
}

/* ------------------------------------------------------------------- opening */

int series_open(struct series *s, const char *file_name, struct printer *printer,
                struct operand *operand, const char *member)
{
    int status;

    *s = (struct series){
        .file_name = file_name, .printer = printer, .path = operand->path, .member = member};
    status = operand_open(operand, file_name, printer->file, &s->dataset, &s->info, &s->slice);
    if (!status)
        read_attributes(s);
    return status;
}

void series_close(struct series *s)
{
    if (s->dataset)
        drep_dataset_close(s->dataset);
    free(s->name);
    free(s->units);
    free(s->own_path);
    *s = (struct series){0};
}

int series_shape(const struct series *s, int64_t *lengths, int *which)
{
    int d, rank = 0;

    for (d = 0; d < s->slice.rank; d++) {
        if (s->slice.single[d])
            continue;
        lengths[rank] = s->slice.count[d];
        which[rank++] = d;
    }
    return rank;
}

/* ------------------------------------------------------------------- numbers */

/* How numbers are found in elements as they are read. */
struct series_reader {
    const struct series *series;
    drep_type *type;         /* of an element */
    const drep_type *number; /* of the number in it */
    int64_t offset, extent;
    bool direct; /* elements are doubles */
};

/* The member of a compound by a path of names; adds where it begins.  NULL if there is
 * none. */
static const drep_type *find_member(const drep_type *type, const char *path, int64_t *offset)
{
    size_t n = strcspn(path, ".");
    int64_t i, members = drep_type_kind(type) == DREP_KIND_COMPOUND ? drep_type_members(type) : 0;
    const char *name;

    for (i = 0; i < members; i++) {
        name = drep_type_member_name(type, i);
        if (!name || strlen(name) != n || strncmp(name, path, n) != 0)
            continue;
        *offset += drep_type_member_offset(type, i);
        type = drep_type_member(type, i);
        return path[n] ? find_member(type, path + n + 1, offset) : type;
    }
    return NULL;
}

static int no_number(const struct series_reader *r)
{
    const struct series *s = r->series;
    char *text = NULL;

    if (s->member && !r->number)
        tool_say(s->file_name, s->path, "its elements have no member \"%s\"", s->member);
    else if (drep_type_print(r->number, &text) == 0 &&
             drep_type_kind(r->number) == DREP_KIND_COMPOUND)
        tool_say(s->file_name, s->path, "elements are %s; choose one with --member", text);
    else
        tool_say(s->file_name, s->path, "elements are %s, not numbers", text ? text : "?");
    free(text);
    return TOOL_USAGE;
}

/* 0, or an exit code after saying what is wrong. */
static int reader_init(struct series_reader *r, const struct series *s)
{
    int err;

    *r = (struct series_reader){.series = s};
    err = printer_type(s->printer, s->info.type, s->info.datarep_number, &r->type);
    if (err)
        return tool_fail(s->file_name, s->path, err);
    r->number = s->member ? find_member(r->type, s->member, &r->offset) : r->type;
    if (!r->number || !num_is(s->printer, r->number)) {
        err = no_number(r);
        drep_type_free(r->type);
        return err;
    }
    /* Types that the library converts to double are read as double, which is faster. */
    r->direct = !s->member && num_fits(s->printer, r->number);
    if (r->direct) {
        drep_type_free(r->type);
        r->type = drep_type_ref(DREP_DOUBLE);
        r->number = r->type;
    }
    r->extent = drep_type_extent(r->type);
    return 0;
}

static void reader_release(struct series_reader *r)
{
    drep_type_free(r->type);
}

/* The number of an element; NaN where it has none. */
static double number_at(const struct series_reader *r, const char *element)
{
    const struct series *s = r->series;
    struct double_pair value = {0};

    if (r->direct)
        memcpy(&value.value, element, sizeof value.value);
    else
        value = num_value(s->printer, r->number, element + r->offset);
    return cf_missing(&s->cf, value) ? NAN : cf_number(&s->cf, value.value);
}

/* ------------------------------------------------------------------- columns */

struct column_sums {
    struct series_reader reader;
    int64_t count; /* elements in all */
    size_t n;
    double *low, *high, *sum;
    int64_t *known; /* numbers in each */
};

static int add_columns(void *ctx, const drep_type *type, const void *elements, int64_t first,
                       int64_t count)
{
    struct column_sums *c = ctx;
    const char *element = elements;
    double value;
    int64_t i;
    size_t k;

    (void)type;
    for (i = 0; i < count; i++, element += c->reader.extent) {
        value = number_at(&c->reader, element);
        if (!isfinite(value))
            continue;
        k = (size_t)((double)(first + i) * (double)c->n / (double)c->count);
        k = k < c->n ? k : c->n - 1;
        c->low[k] = c->known[k] && c->low[k] <= value ? c->low[k] : value;
        c->high[k] = c->known[k] && c->high[k] >= value ? c->high[k] : value;
        c->sum[k] += value;
        c->known[k]++;
    }
    return progress_add((uint64_t)(count * c->reader.extent));
}

/* Blocks of the whole series; an exit code. */
static int read_all(const struct series *s, const struct series_reader *r, blocks_fn *fn, void *ctx)
{
    int err = blocks_each(s->dataset, &s->info, r->type, &s->slice, fn, ctx);

    return err ? tool_fail(s->file_name, s->path, err) : 0;
}

int series_columns(const struct series *s, size_t n, double *low, double *high, double *mean)
{
    struct column_sums c = {.count = slice_count(&s->slice), .n = n, .low = low, .high = high};
    int status = reader_init(&c.reader, s);
    size_t k;

    if (status)
        return status;
    c.sum = mean;
    c.known = calloc(n + 1, sizeof *c.known);
    for (k = 0; k < n; k++)
        mean[k] = 0;
    status = c.known ? read_all(s, &c.reader, add_columns, &c) : tool_no_memory();
    for (k = 0; k < n && !status; k++) {
        mean[k] = c.known[k] ? mean[k] / (double)c.known[k] : NAN;
        if (!c.known[k])
            low[k] = high[k] = NAN;
    }
    free(c.known);
    reader_release(&c.reader);
    return status;
}

/* --------------------------------------------------------------------- cells */

struct cells {
    struct series_reader reader;
    int64_t height, width; /* of the matrix */
    int rows, columns;     /* of cells */
    double *sum;
    int64_t *known;
};

static int add_cells(void *ctx, const drep_type *type, const void *elements, int64_t first,
                     int64_t count)
{
    struct cells *c = ctx;
    const char *element = elements;
    int64_t i, row = first / c->width, column = first % c->width;
    double value;
    size_t k;

    (void)type;
    for (i = 0; i < count; i++, element += c->reader.extent) {
        value = number_at(&c->reader, element);
        if (isfinite(value)) {
            k = (size_t)((double)row * c->rows / (double)c->height) * (size_t)c->columns +
                (size_t)((double)column * c->columns / (double)c->width);
            c->sum[k] += value;
            c->known[k]++;
        }
        if (++column == c->width) {
            column = 0;
            row++;
        }
    }
    return progress_add((uint64_t)(count * c->reader.extent));
}

int series_cells(const struct series *s, int rows, int columns, double *cell)
{
    struct cells c = {.rows = rows, .columns = columns, .sum = cell};
    size_t k, n = (size_t)rows * (size_t)columns;
    int64_t lengths[DREP_MAX_RANK];
    int which[DREP_MAX_RANK], status = reader_init(&c.reader, s);

    if (status)
        return status;
    series_shape(s, lengths, which);
    c.height = lengths[0];
    c.width = lengths[1];
    c.known = calloc(n + 1, sizeof *c.known);
    for (k = 0; k < n; k++)
        cell[k] = 0;
    status = c.known ? read_all(s, &c.reader, add_cells, &c) : tool_no_memory();
    for (k = 0; k < n && !status; k++)
        cell[k] = c.known[k] ? cell[k] / (double)c.known[k] : NAN;
    free(c.known);
    reader_release(&c.reader);
    return status;
}

/* --------------------------------------------------------------- coordinates */

bool series_coordinates(const struct series *s, int d, struct series *out)
{
    const char *dimension = printer_path(s->printer, s->info.dim_ids[d]);
    struct operand operand = {.slice = NULL};
    int status;

    if (!dimension || drep_dimension_coordinate(s->printer->file, dimension, &operand.path))
        return false;
    status = series_open(out, s->file_name, s->printer, &operand, NULL);
    if (status) {
        free(operand.path);
        return false;
    }
    out->own_path = operand.path;
    /* It must reach as far as what it is to measure. */
    if (out->info.rank != 1 || !num_is(s->printer, out->info.type) ||
        out->info.dims[0] < s->info.dims[d]) {
        series_close(out);
        return false;
    }
    out->slice.start[0] = s->slice.start[d];
    out->slice.count[0] = s->slice.count[d];
    out->slice.step[0] = s->slice.step[d];
    return true;
}
