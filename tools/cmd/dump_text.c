/* dump_text.c - the form of a file for people: a line an object, attributes under it, values
 * in rows with the index of their first element behind them.  Objects of one kind stand together
 * while nothing is under them, else a blank line is between them. */
/* SPDX-License-Identifier: MIT */
#include "schema/members.h"
#include "schema/value.h"
#include "tools/cmd/dump.h"
#include "tools/cmd/dump_ahead.h"
#include "tools/cmd/dump_raw.h"
#include "tools/cmd/dump_state.h"
#include "tools/host/color.h"
#include "tools/host/exit.h"
#include "tools/host/fail.h"
#include "tools/text/array.h"
#include "tools/text/cf.h"
#include "tools/text/print.h"
#include "tools/text/printer.h"
#include "tools/text/sink.h"
#include "tools/text/stream.h"
#include "tools/walk/walk.h"
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

/* ------------------------------------------------------------------ header */

static void text_extents(struct dump *d, int datarep)
{
    const drep_encoding *rows;
    struct sink *s = d->sink;
    int i, n, err = drep_header_types(d->file, datarep, &rows, &n);

    if (err) {
        dump_failed(d, NULL, err);
        return;
    }
    sink_text(s, "extents:");
    for (i = 0; i < n; i++) {
        sink_text(s, i ? ", " : " ");
        sink_format(s, "%s %d", drep_code_name(rows[i].code), rows[i].size);
    }
    sink_char(s, '\n');
}

/* Print the representations other than the default one. */
static void text_datareps(struct dump *d)
{
    drep_repinfo *reps;
    struct sink *s = d->sink;
    int i, n, err = file_datareps(d->file, &reps, &n);

    if (err)
        dump_failed(d, NULL, err);
    for (i = 1; !err && i < n; i++) {
        sink_format(s, "datarep %d: ", reps[i].number);
        sink_name(s, reps[i].name);
        sink_format(s, ", form %s, machine ", reps[i].form);
        sink_quoted(s, reps[i].machine, strlen(reps[i].machine));
        sink_text(s, ", ");
        text_extents(d, reps[i].number);
    }
    free(reps);
}

static void text_hints(struct dump *d)
{
    struct sink *s = d->sink;
    drep_info *info = NULL;
    const char *key, *value;
    int i, err = drep_header_hints(d->file, &info);

    if (err) {
        dump_failed(d, NULL, err);
        return;
    }
    for (i = 0; i < drep_info_count(info); i++) {
        key = drep_info_key(info, i);
        value = drep_info_get(info, key);
        sink_text(s, i ? ", " : "hints: ");
        sink_name(s, key);
        sink_char(s, '=');
        sink_quoted(s, value, strlen(value));
    }
    if (i > 0)
        sink_char(s, '\n');
    drep_info_free(info);
}

static void text_header(struct dump *d)
{
    const drep_header *h = &d->header;
    struct sink *s = d->sink;
    int i;

    sink_text(s, "file: ");
    sink_name(s, d->file_name);
    sink_format(s, "\nformat: Datarep %d.%d\ndatarep: ", h->version_major, h->version_minor);
    sink_name(s, h->datarep);
    sink_format(s, ", form %s\n", h->form);
    text_extents(d, 0);
    text_datareps(d);
    text_hints(d);
    sink_text(s, "uuid: ");
    for (i = 0; i < 16; i++)
        sink_format(s, "%02x", h->uuid[i]);
    sink_format(s, "\ncommit: %" PRIu64 ", ", h->sequence);
    sink_time(s, h->time);
    sink_text(s, "\nwriter: ");
    sink_quoted(s, h->writer, strlen(h->writer));
    sink_text(s, ", machine ");
    sink_quoted(s, h->machine, strlen(h->machine));
    sink_char(s, '\n');
}

/* -------------------------------------------------------------- attributes */

static void text_shape(struct sink *s, const int64_t *dims, int rank)
{
    int k;

    sink_char(s, '[');
    for (k = 0; k < rank; k++) {
        if (k)
            sink_text(s, ", ");
        sink_i64(s, dims[k]);
    }
    sink_char(s, ']');
}

/* Print an item of a newer version by its numbers; it is no damage. */
static void text_unknown(struct sink *s, const char *what, int number, int flags)
{
    print_unknown(s, what, number, flags);
    sink_char(s, '\n');
}

static void text_attribute(struct dump *d, const char *path, const char *name)
{
    struct sink *s = d->sink;
    struct array v;
    int err = array_attr(&v, &d->printer, path, name);

    if (err == DREP_ERR_UNSUPPORTED && v.number >= 0) {
        sink_text(s, "  ");
        sink_name(s, name);
        sink_text(s, ": ");
        text_unknown(s, "attribute", v.number, v.flags);
        return;
    }
    if (err) {
        dump_failed(d, path, err);
        return;
    }
    sink_text(s, "  ");
    sink_name(s, name);
    sink_text(s, ": ");
    print_type_text(s, v.shown, false);
    if (v.rank > 0) {
        sink_char(s, ' ');
        text_shape(s, v.dims, v.rank);
    }
    sink_text(s, " = ");
    array_put(&v, &d->printer, s);
    sink_char(s, '\n');
    array_release(&v);
}

static void text_attributes(struct dump *d, const struct walk_item *item)
{
    char **names = NULL;
    int64_t i, n = 0;
    int err = item->info.attrs ? attrs_list(d->file, item->path, d->notes, &names, &n) : 0;

    if (err)
        dump_failed(d, item->path, err);
    if (n > 0)
        d->bare = 0;
    for (i = 0; i < n; i++)
        text_attribute(d, item->path, names[i]);
    attrs_free(names, n);
}

/* -------------------------------------------------------------------- data */

struct text_rows {
    const struct printer *printer;
    const struct slice *slice;
    int width;
    const struct cf *cf; /* elements are times; NULL: they are not, or numbers are wanted */
};

/* Position in the dataset of the elements, counted in output order. */
struct text_place {
    const struct slice *slice;
    int64_t at[DREP_MAX_RANK]; /* in selected elements */
};

static void place_set(struct text_place *p, const struct slice *slice, int64_t number)
{
    int d;

    p->slice = slice;
    for (d = slice->rank - 1; d >= 0; d--) {
        p->at[d] = number % slice->count[d];
        number /= slice->count[d];
    }
}

/* To the next one; true where a new row begins. */
static bool place_step(struct text_place *p)
{
    int d, last = p->slice->rank - 1;

    for (d = last; d >= 0; d--) {
        if (++p->at[d] < p->slice->count[d])
            break;
        p->at[d] = 0;
    }
    return d < last || last < 0;
}

/* "  # [0,5]"; gives its length. */
static size_t place_print(const struct text_place *p, char *text)
{
    size_t n = 4;
    int d;

    memcpy(text, "  # ", 4);
    for (d = 0; d < p->slice->rank; d++) {
        text[n++] = d ? ',' : '[';
        n += sink_digits(text + n, p->slice->start[d] + p->at[d] * p->slice->step[d]);
    }
    text[n++] = ']';
    return n;
}

#define PLACE_MAX (8 + DREP_MAX_RANK * 21)
#define INDENT 4

struct text_line {
    struct sink *s;
    size_t begun;          /* in the sink, behind the indent */
    char place[PLACE_MAX]; /* of its first value, to be put at its end */
    size_t place_len;
    bool open;
};

static void line_end(struct text_line *line)
{
    if (!line->open)
        return;
    sink_put(line->s, line->place, line->place_len);
    sink_char(line->s, '\n');
    line->open = false;
}

static void line_begin(struct text_line *line, const struct text_place *at)
{
    sink_put(line->s, "    ", INDENT);
    line->begun = line->s->len;
    line->place_len = place_print(at, line->place);
    line->open = true;
}

/* The value that begins at `value`, behind a comma, made the line too long: the line ends
 * before it, and it begins another. */
static void line_break(struct text_line *line, size_t value, const struct text_place *at)
{
    size_t size = line->s->len - value, more = line->place_len + 1 + INDENT - 2;
    char *text;

    if (!sink_room(line->s, more))
        return;
    text = line->s->buf + value - 2;
    memmove(text + 2 + more, text + 2, size);
    memcpy(text, line->place, line->place_len);
    text += line->place_len;
    *text = '\n';
    memset(text + 1, ' ', INDENT);
    sink_took(line->s, more);
    line->begun = value + more;
    line->place_len = place_print(at, line->place);
}

/* State of the stream in text_dataset_rows(); its sinks are in memory. */
static void text_piece(const struct stream *stream, struct sink *s, const drep_type *type,
                       const char *elements, int64_t first, int64_t count)
{
    const struct text_rows *rows = stream->ctx;
    int64_t i, extent = drep_type_extent(type);
    print_fn *put = print_direct(rows->printer, type);
    struct text_line line = {.s = s};
    struct text_place at;
    size_t value;
    bool row = false;

    place_set(&at, rows->slice, first);
    for (i = 0; i < count && !s->err; i++, row = place_step(&at)) {
        if (row)
            line_end(&line);
        if (line.open)
            sink_put(s, ", ", 2);
        else
            line_begin(&line, &at);
        value = s->len;
        if (!rows->cf ||
            !cf_put_date(rows->cf, rows->printer, s, type, elements + i * extent, false))
            put(rows->printer, s, type, elements + i * extent);
        if (rows->width > 0 && value > line.begun &&
            s->len - line.begun + INDENT + line.place_len > (size_t)rows->width)
            line_break(&line, value, &at);
    }
    line_end(&line);
}

static void text_dataset_rows(struct dump *d, const char *path, drep_dataset *ds,
                              const drep_dsinfo *info, const struct slice *slice)
{
    struct text_rows rows = {.printer = &d->printer, .slice = slice, .width = d->width};
    struct stream stream = {.sink = d->sink, .put = text_piece, .ctx = &rows};
    drep_type *type;
    int err = dump_type(&d->printer, info, slice, &type);
    struct cf cf;

    if (!err && !d->numbers && !slice->member && cf_read_time(&cf, &d->printer, path, type))
        rows.cf = &cf;
    if (!err) {
        err = stream_run(&stream, ds, info, type, slice);
        drep_type_free(type);
    }
    if (err && err != DREP_ERR_STOPPED)
        dump_failed(d, path, err);
}

/* A dataset without dimensions: its value stands on the line. */
static void text_scalar(struct dump *d, const char *path, drep_dataset *ds, const drep_dsinfo *info)
{
    struct array v;
    struct cf cf;
    int err = array_dataset(&v, &d->printer, ds, info);

    if (err) {
        sink_char(d->sink, '\n');
        dump_failed(d, path, err);
        return;
    }
    sink_char(d->sink, ' ');
    if (d->numbers || !cf_read_time(&cf, &d->printer, path, v.type) ||
        !cf_put_date(&cf, &d->printer, d->sink, v.type, v.buf, false))
        array_put(&v, &d->printer, d->sink);
    sink_char(d->sink, '\n');
    array_release(&v);
}

static int text_element(void *ctx, const drep_type *type, const void *elements, int64_t first,
                        int64_t count)
{
    struct dump *d = ctx;

    (void)first;
    (void)count;
    print_value(&d->printer, d->sink, type, elements);
    return 0;
}

/* One member of it. */
static void text_member(struct dump *d, const char *path, drep_dataset *ds, const drep_dsinfo *info,
                        const struct slice *slice)
{
    drep_type *type = NULL;
    int err = dump_type(&d->printer, info, slice, &type);

    sink_char(d->sink, ' ');
    if (!err)
        err = blocks_each(ds, info, type, slice, text_element, d);
    sink_char(d->sink, '\n');
    drep_type_free(type);
    if (err)
        dump_failed(d, path, err);
}

static void text_data(struct dump *d, const char *path, drep_dataset *ds, const drep_dsinfo *info)
{
    struct sink *s = d->sink;
    struct slice slice;

    if (info->rank == DREP_NULL_SPACE || !dump_slice(d, path, info, &slice))
        return;
    if (d->as && dump_bytes(d, path, ds, info, &slice))
        return;
    sink_text(s, "  data =");
    if (slice_count(&slice) == 0) {
        sink_text(s, " []\n");
    } else if (slice.rank == 0 && slice.member) {
        text_member(d, path, ds, info, &slice);
    } else if (slice.rank == 0) {
        text_scalar(d, path, ds, info);
    } else {
        sink_char(s, '\n');
        text_dataset_rows(d, path, ds, info, &slice);
    }
}

/* ---------------------------------------------------------------- datasets */

/* A dimension in the root group by its name alone. */
static void text_dimension_name(struct sink *s, const char *path)
{
    sink_name(s, strncmp(path, "/#", 2) == 0 ? path + 2 : path);
}

static void text_space(struct dump *d, const drep_dsinfo *info)
{
    struct sink *s = d->sink;
    const char *dimension;
    int k;

    if (info->rank == DREP_NULL_SPACE) {
        sink_text(s, " null");
        return;
    }
    sink_text(s, " [");
    for (k = 0; k < info->rank; k++) {
        if (k)
            sink_text(s, ", ");
        dimension = info->dim_ids[k] ? printer_path(&d->printer, info->dim_ids[k]) : NULL;
        if (dimension) {
            text_dimension_name(s, dimension);
            sink_text(s, ": ");
        }
        sink_i64(s, info->dims[k]);
        if (info->maxdims[k] == DREP_UNLIMITED)
            sink_text(s, "/unlimited");
        else if (info->maxdims[k] != info->dims[k])
            sink_format(s, "/%" PRId64, info->maxdims[k]);
    }
    sink_char(s, ']');
}

static void text_fill(struct dump *d, const char *path, drep_dataset *ds, const drep_dsinfo *info)
{
    struct array v;
    int err;

    if (info->fill == DREP_FILL_NONE)
        sink_text(d->sink, ", no fill");
    if (info->fill != DREP_FILL_VALUE)
        return;
    err = array_fill(&v, &d->printer, ds, info);
    if (err) {
        dump_failed(d, path, err);
        return;
    }
    sink_text(d->sink, ", fill ");
    array_put(&v, &d->printer, d->sink);
    array_release(&v);
}

static void text_storage(struct dump *d, const char *path, drep_dataset *ds,
                         const drep_dsinfo *info)
{
    struct sink *s = d->sink;
    int i;

    if (info->rank == DREP_NULL_SPACE)
        return;
    if (info->layout == DREP_COMPACT)
        sink_text(s, ", compact");
    if (info->layout == DREP_CONTIGUOUS)
        sink_text(s, ", contiguous");
    if (info->layout == DREP_CHUNKED) {
        sink_text(s, ", chunk ");
        text_shape(s, info->chunk, info->rank);
    }
    for (i = 0; i < info->nfilters; i++) {
        sink_text(s, ", ");
        print_filter(s, &info->filters[i]);
        print_filter_parameters(s, &info->filters[i]);
    }
    text_fill(d, path, ds, info);
}

static void text_dataset(struct dump *d, const struct walk_item *item)
{
    struct sink *s = d->sink;
    drep_dataset *ds;
    drep_dsinfo info = DREP_DSINFO;
    int err = drep_dataset_open(d->file, item->path, &ds);

    sink_text(s, "dataset");
    if (err) {
        sink_char(s, '\n');
        dump_failed(d, item->path, err);
        return;
    }
    err = dump_describe(d, ds, &info);
    if (!err) {
        sink_char(s, ' ');
        print_type_text(s, info.type, false);
        text_space(d, &info);
        if (info.datarep_number != 0) {
            sink_text(s, ", ");
            print_datarep(s, &info);
        }
        text_storage(d, item->path, ds, &info);
    }
    sink_char(s, '\n');
    if (err)
        dump_failed(d, item->path, err);
    text_attributes(d, item);
    if (!err && !d->header_only) {
        d->bare = 0;
        text_data(d, item->path, ds, &info);
    }
    drep_dataset_close(ds);
}

/* ----------------------------------------------------------------- objects */

static void text_type(struct dump *d, const struct walk_item *item)
{
    drep_type *type;
    int err = drep_type_open(d->file, item->path, &type);

    sink_text(d->sink, "type ");
    if (err) {
        dump_failed(d, item->path, err);
    } else {
        print_type_text(d->sink, type, false);
        drep_type_free(type);
    }
    sink_char(d->sink, '\n');
    text_attributes(d, item);
}

static void text_link(struct sink *s, const struct walk_item *item)
{
    static const char *const kinds[] = {"?", "hard", "soft", "external"};

    if (item->link == DREP_LINK_UNKNOWN) {
        text_unknown(s, "link", item->info.number, item->info.flags);
        return;
    }
    sink_format(s, "%s link -> ", kinds[item->link >= 1 && item->link <= 3 ? item->link : 0]);
    if (item->target_file) {
        sink_name(s, item->target_file);
        sink_char(s, ':');
    }
    sink_name(s, item->target);
    sink_char(s, '\n');
}

static void text_object(struct dump *d, const struct walk_item *item)
{
    struct sink *s = d->sink;
    int kind = item->link ? -item->link : item->info.kind;

    if (sink_total(s) > 0 && kind != d->bare)
        sink_char(s, '\n');
    d->bare = kind;
    sink_color(s, color_of(item->link ? 0 : item->info.kind));
    sink_name(s, item->path);
    sink_color(s, COLOR_END);
    sink_text(s, ": ");
    if (item->link) {
        text_link(s, item);
        return;
    }
    switch (item->info.kind) {
    case DREP_OBJ_DATASET:
        text_dataset(d, item);
        break;
    case DREP_OBJ_TYPE:
        text_type(d, item);
        break;
    case DREP_OBJ_DIMENSION:
        sink_format(s, "dimension %" PRId64 "%s\n", item->info.len,
                    item->info.unlimited ? "/unlimited" : "");
        text_attributes(d, item);
        break;
    case DREP_OBJ_UNKNOWN:
        text_unknown(s, "object", item->info.number, item->info.flags);
        text_attributes(d, item);
        break;
    default:
        sink_text(s, "group\n");
        text_attributes(d, item);
    }
}

static int text_enter(struct walk *walk, const struct walk_item *item)
{
    struct dump *d = walk->ctx;

    text_object(d, item);
    return d->sink->err;
}

static int enter_ahead(struct walk *walk, const struct walk_item *item)
{
    return ahead_add(walk->ctx, item);
}

static int walk_ahead(struct dump *d, struct walk *walk)
{
    struct ahead *a = ahead_new(d, text_object);
    int err;

    if (!a)
        return -1;
    walk->enter = enter_ahead;
    walk->ctx = a;
    err = walk_run(walk, d->operand.path);
    if (!err)
        err = ahead_flush(a);
    ahead_free(a);
    return err;
}

void dump_text(struct dump *d)
{
    struct walk walk = {
        .file = d->file, .file_name = d->file_name, .depth = -1, .enter = text_enter, .ctx = d};
    int err = 0;

    if (strcmp(d->operand.path, "/") == 0)
        text_header(d);
    /* Values take all processors one dataset after the other. */
    if (d->header_only)
        err = walk_ahead(d, &walk);
    else
        walk_run(&walk, d->operand.path);
    if (err < 0)
        d->status = tool_worse(d->status, tool_no_memory());
    d->status = tool_worse(d->status, walk.status);
}
