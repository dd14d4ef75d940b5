/* dump_json.c - the JSON form of a file, as SPEC.md, "JSON", has it, in one piece or with
 * one line an object. */
/* SPDX-License-Identifier: MIT */
#include "schema/filter.h"
#include "schema/members.h"
#include "schema/value.h"
#include "tools/cmd/dump.h"
#include "tools/cmd/dump_state.h"
#include "tools/host/exit.h"
#include "tools/text/array.h"
#include "tools/text/nesting.h"
#include "tools/text/print.h"
#include "tools/text/printer.h"
#include "tools/text/sink.h"
#include "tools/text/stream.h"
#include "tools/walk/walk.h"
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

static void json_string(struct sink *s, const char *text)
{
    sink_quoted(s, text, strlen(text));
}

/* A new line at this depth, after a comma where something stands before. */
static void json_line(const struct dump *d, bool comma, int depth)
{
    if (comma)
        sink_char(d->sink, ',');
    if (!d->lines) {
        sink_char(d->sink, '\n');
        sink_spaces(d->sink, depth + 1);
    } else if (comma) {
        sink_char(d->sink, ' ');
    }
}

static void json_key(struct sink *s, const char *key)
{
    json_string(s, key);
    sink_text(s, ": ");
}

static void json_pair(const struct dump *d, const char *key, const char *value)
{
    json_line(d, true, 0);
    json_key(d->sink, key);
    json_string(d->sink, value);
}

/* ------------------------------------------------------------------ header */

static void json_extents(struct dump *d, int datarep)
{
    const drep_encoding *rows;
    struct sink *s = d->sink;
    int i, n, err = drep_header_types(d->file, datarep, &rows, &n);

    json_key(s, "extents");
    sink_char(s, '{');
    if (err)
        dump_failed(d, NULL, err);
    for (i = 0; i < n && !err; i++) {
        if (i)
            sink_text(s, ", ");
        json_key(s, drep_code_name(rows[i].code));
        sink_u64(s, rows[i].size);
    }
    sink_char(s, '}');
}

/* Put the representations other than the default one. */
static void json_datareps(struct dump *d)
{
    drep_repinfo *reps;
    struct sink *s = d->sink;
    int i, n, err = file_datareps(d->file, &reps, &n);

    json_line(d, true, 0);
    json_key(s, "datareps");
    sink_char(s, '[');
    if (err)
        dump_failed(d, NULL, err);
    for (i = 1; !err && i < n; i++) {
        json_line(d, i > 1, 1);
        sink_format(s, "{\"number\": %d, \"datarep\": ", reps[i].number);
        json_string(s, reps[i].name);
        sink_format(s, ", \"form\": \"%s\", \"machine\": ", reps[i].form);
        json_string(s, reps[i].machine);
        sink_text(s, ", ");
        json_extents(d, reps[i].number);
        sink_char(s, '}');
    }
    free(reps);
    sink_char(s, ']');
}

static void json_hints(struct dump *d)
{
    struct sink *s = d->sink;
    drep_info *info = NULL;
    int i, n, err = drep_header_hints(d->file, &info);

    json_line(d, true, 0);
    json_key(s, "hints");
    sink_char(s, '{');
    if (err)
        dump_failed(d, NULL, err);
    n = err ? 0 : drep_info_count(info);
    for (i = 0; i < n; i++) {
        if (i)
            sink_text(s, ", ");
        json_key(s, drep_info_key(info, i));
        json_string(s, drep_info_get(info, drep_info_key(info, i)));
    }
    sink_char(s, '}');
    drep_info_free(info);
}

static void json_header(struct dump *d)
{
    const drep_header *h = &d->header;
    struct sink *s = d->sink;
    int i;

    sink_char(s, '{');
    json_key(s, "file");
    json_string(s, d->file_name);
    json_line(d, true, 0);
    sink_format(s, "\"format\": \"%d.%d\"", h->version_major, h->version_minor);
    json_pair(d, "datarep", h->datarep);
    json_pair(d, "form", h->form);
    json_line(d, true, 0);
    json_key(s, "uuid");
    sink_char(s, '"');
    for (i = 0; i < 16; i++)
        sink_format(s, "%02x", h->uuid[i]);
    sink_char(s, '"');
    json_line(d, true, 0);
    sink_format(s, "\"sequence\": %" PRIu64, h->sequence);
    json_line(d, true, 0);
    sink_format(s, "\"time\": \"%" PRId64 "\"", h->time);
    json_pair(d, "writer", h->writer);
    json_pair(d, "machine", h->machine);
    json_line(d, true, 0);
    json_extents(d, 0);
    json_datareps(d);
    json_hints(d);
}

/* ----------------------------------------------------------------- objects */

/* Put an item of a newer version: only its numbers are known here. */
static void json_unknown(struct sink *s, int number, int flags)
{
    sink_format(s, ", \"number\": %d, \"flags\": %d, \"note\": \"%s\"", number, flags,
                unknown_why(number));
}

static void json_attribute(struct dump *d, const char *path, const char *name)
{
    struct sink *s = d->sink;
    struct array v;
    int err = array_attr(&v, &d->printer, path, name);

    if (err == DREP_ERR_UNSUPPORTED && v.number >= 0) {
        sink_text(s, "{\"kind\": \"unknown\"");
        json_unknown(s, v.number, v.flags);
        sink_char(s, '}');
        return;
    }
    if (err) {
        dump_failed(d, path, err);
        sink_text(s, "null");
        return;
    }
    sink_text(s, "{\"type\": ");
    print_type_text(s, v.shown, true);
    sink_text(s, ", \"shape\": ");
    if (v.rank == DREP_NULL_SPACE)
        sink_text(s, "null");
    else
        print_lengths(s, v.dims, v.rank);
    sink_text(s, ", \"value\": ");
    array_put(&v, &d->printer, s);
    sink_char(s, '}');
    array_release(&v);
}

static void json_attributes(struct dump *d, const struct walk_item *item)
{
    struct sink *s = d->sink;
    char **names = NULL;
    int64_t i, n = 0;
    int err = item->info.attrs ? attrs_list(d->file, item->path, true, &names, &n) : 0;

    if (err)
        dump_failed(d, item->path, err);
    json_line(d, true, item->depth);
    sink_text(s, "\"attributes\": {");
    for (i = 0; i < n; i++) {
        json_line(d, i > 0, item->depth + 1);
        json_key(s, names[i]);
        json_attribute(d, item->path, names[i]);
    }
    sink_char(s, '}');
    attrs_free(names, n);
}

static void json_link(struct dump *d, const struct walk_item *item)
{
    static const char *const kinds[] = {"?", "hard", "soft", "external"};
    struct sink *s = d->sink;

    sink_text(s, d->lines ? "" : "{");
    sink_text(s, "\"kind\": \"link\", \"link\": ");
    if (item->link == DREP_LINK_UNKNOWN) {
        json_string(s, "unknown");
        json_unknown(s, item->info.number, item->info.flags);
        return;
    }
    json_string(s, kinds[item->link >= 1 && item->link <= 3 ? item->link : 0]);
    if (item->target_file) {
        sink_text(s, ", \"file\": ");
        json_string(s, item->target_file);
    }
    sink_text(s, ", \"target\": ");
    json_string(s, item->target);
}

/* What HDF5's message says beside number and parameters. */
static void json_hdf5(struct sink *s, const drep_filter *f)
{
    sink_text(s, ", \"hdf5\": {\"name\": ");
    json_string(s, f->name ? f->name : "");
    sink_format(s, ", \"optional\": %s}", f->level ? "true" : "false");
}

static void json_filters(struct sink *s, const drep_dsinfo *info)
{
    int i, k;

    sink_char(s, '[');
    for (i = 0; i < info->nfilters; i++) {
        const drep_filter *f = &info->filters[i];
        drep_filter named = *f;
        char name[FILTER_TEXT];

        named.level = 0; /* "optional" says it */
        filter_text(&named, name);
        sink_text(s, i ? ", {\"name\": " : "{\"name\": ");
        json_string(s, name);
        sink_text(s, ", \"parameters\": [");
        for (k = 0; k < f->nparams; k++) {
            if (k)
                sink_text(s, ", ");
            sink_u64(s, f->params[k]);
        }
        sink_char(s, ']');
        if (f->id >= DREP_FILTER_HDF5)
            json_hdf5(s, f);
        sink_char(s, '}');
    }
    sink_char(s, ']');
}

static void json_fill(struct dump *d, const char *path, drep_dataset *ds, const drep_dsinfo *info)
{
    struct array v;
    int err;

    if (info->fill != DREP_FILL_VALUE) {
        sink_text(d->sink, info->fill == DREP_FILL_NONE ? "\"none\"" : "null");
        return;
    }
    err = array_fill(&v, &d->printer, ds, info);
    if (err) {
        dump_failed(d, path, err);
        sink_text(d->sink, "null");
        return;
    }
    array_put(&v, &d->printer, d->sink);
    array_release(&v);
}

/* A dimension by its address: that of its group, `#`, its name.  A `/` stands before the `#` where
 * the group's last name has a `#` itself, or a link could be meant. */
static void json_dimension(struct sink *s, const char *address)
{
    const char *last = strrchr(address, '/'), *name = last ? strchr(last, '#') : NULL;
    size_t group = name ? (size_t)(name - address) : 0;

    if (!name) { /* the file says that something else is one, which check finds */
        sink_text(s, "null");
        return;
    }
    while (group > 0 && address[group - 1] == '/')
        group--;
    sink_text(s, "{\"group\": ");
    sink_quoted(s, group ? address : "/", group ? group : 1);
    sink_text(s, ", \"dimension\": ");
    json_string(s, name + 1);
    sink_char(s, '}');
}

static void json_dimensions(struct dump *d, const drep_dsinfo *info)
{
    struct sink *s = d->sink;
    const char *path;
    int k;

    sink_char(s, '[');
    for (k = 0; k < info->rank; k++) {
        if (k)
            sink_text(s, ", ");
        path = info->dim_ids[k] ? printer_path(&d->printer, info->dim_ids[k]) : NULL;
        if (path)
            json_dimension(s, path);
        else
            sink_text(s, "null");
    }
    sink_char(s, ']');
}

/* Type, shape and what else says how a dataset is stored. */
static void json_description(struct dump *d, const struct walk_item *item, drep_dataset *ds,
                             const drep_dsinfo *info)
{
    bool null = info->rank == DREP_NULL_SPACE;
    struct sink *s = d->sink;

    sink_text(s, ", \"type\": ");
    print_type_text(s, info->type, true);
    sink_format(s, ", \"datarep\": %d", info->datarep_number);
    json_line(d, true, item->depth);
    sink_text(s, "\"shape\": ");
    if (null)
        sink_text(s, "null, \"maxshape\": null");
    else
        print_lengths(s, info->dims, info->rank);
    if (!null) {
        sink_text(s, ", \"maxshape\": ");
        print_lengths(s, info->maxdims, info->rank);
    }
    sink_text(s, ", \"layout\": ");
    json_string(s, print_layout(info));
    sink_text(s, ", \"chunk\": ");
    if (!null && info->layout == DREP_CHUNKED)
        print_lengths(s, info->chunk, info->rank);
    else if (!null && info->layout == DREP_CONTIGUOUS)
        print_lengths(s, info->chunk, 1);
    else
        sink_text(s, "null");
    json_line(d, true, item->depth);
    sink_text(s, "\"filters\": ");
    json_filters(s, info);
    sink_text(s, ", \"fill\": ");
    json_fill(d, item->path, ds, info);
    sink_text(s, ", \"dimensions\": ");
    if (null)
        sink_text(s, "null");
    else
        json_dimensions(d, info);
    json_attributes(d, item);
}

struct data {
    const struct printer *printer;
    struct nesting nest;
};

/* State of the stream in json_values(). */
static void json_piece(const struct stream *stream, struct sink *s, const drep_type *type,
                       const char *elements, int64_t first, int64_t count)
{
    const struct data *data = stream->ctx;

    nesting_put(&data->nest, data->printer, s, type, elements, first, count);
}

/* Lists as deep as the selection; with `lines` an entry of the first dimension a line. */
static void json_values(struct dump *d, const char *path, drep_dataset *ds, const drep_dsinfo *info,
                        const struct slice *slice, bool lines)
{
    struct data data = {.printer = &d->printer,
                        .nest = {.between = d->lines ? ", " : ",\n ", .lines = lines}};
    struct stream stream = {.sink = d->sink, .put = json_piece, .ctx = &data};
    drep_type *type;
    int err = dump_type(&d->printer, info, slice, &type);

    data.nest.rank = slice_shape(slice, data.nest.dims);
    if (!err) {
        err = stream_run(&stream, ds, info, type, slice);
        drep_type_free(type);
    }
    if (err && err != DREP_ERR_STOPPED)
        dump_failed(d, path, err);
    if (err && !stream.any)
        sink_text(d->sink, "null");
    else
        nesting_end(&data.nest, d->sink, stream.any);
}

static void json_data(struct dump *d, const struct walk_item *item, drep_dataset *ds,
                      const drep_dsinfo *info)
{
    struct slice slice;

    json_line(d, true, item->depth);
    sink_text(d->sink, "\"data\": ");
    if (info->rank == DREP_NULL_SPACE || !dump_slice(d, item->path, info, &slice))
        sink_text(d->sink, "null");
    else
        json_values(d, item->path, ds, info, &slice, false);
}

static void json_dataset(struct dump *d, const struct walk_item *item)
{
    drep_dataset *ds;
    drep_dsinfo info = DREP_DSINFO;
    int err = drep_dataset_open(d->file, item->path, &ds);

    if (err) {
        dump_failed(d, item->path, err);
        return;
    }
    err = dump_describe(d, ds, &info);
    if (err)
        dump_failed(d, item->path, err);
    else
        json_description(d, item, ds, &info);
    if (!err && !d->header_only)
        json_data(d, item, ds, &info);
    drep_dataset_close(ds);
}

static void json_type(struct dump *d, const struct walk_item *item)
{
    drep_type *type;
    int err = drep_type_open(d->file, item->path, &type);

    sink_text(d->sink, ", \"type\": ");
    if (err) {
        dump_failed(d, item->path, err);
        sink_text(d->sink, "null");
    } else {
        print_type_text(d->sink, type, true);
        drep_type_free(type);
    }
    json_attributes(d, item);
}

/* The further datasets with coordinates of a dimension, without those that were removed. */
static void json_scales(struct dump *d, const struct walk_item *item)
{
    uint64_t *ids = NULL;
    int n = 0, put = 0, err = drep_dimension_scales(d->file, item->path, NULL, 0, &n);

    if (!err && n > 0) {
        ids = calloc((size_t)n, sizeof *ids);
        err = ids ? drep_dimension_scales(d->file, item->path, ids, n, &n) : DREP_ERR_NOMEM;
    }
    if (err)
        dump_failed(d, item->path, err);
    sink_text(d->sink, ", \"scales\": [");
    for (int i = 0; !err && i < n; i++) {
        const char *path = printer_path(&d->printer, ids[i]);

        if (!path)
            continue;
        sink_text(d->sink, put++ ? ", " : "");
        json_string(d->sink, path);
    }
    sink_char(d->sink, ']');
    free(ids);
}

/* The path with which a line begins. */
static void json_path(const struct dump *d, const struct walk_item *item)
{
    sink_char(d->sink, '{');
    json_key(d->sink, "path");
    json_string(d->sink, item->path);
    sink_text(d->sink, ", ");
}

static void json_object_end(const struct dump *d)
{
    sink_text(d->sink, d->lines ? "}\n" : "}");
}

static int json_enter(struct walk *walk, const struct walk_item *item)
{
    static const char *const kinds[] = {"unknown", "group", "dataset", "type", "dimension"};
    struct dump *d = walk->ctx;
    struct sink *s = d->sink;
    int kind = item->info.kind;

    if (d->lines) {
        json_path(d, item);
    } else if (item->depth > 0) {
        json_line(d, item->index > 0, item->depth);
        json_key(s, item->name);
    }
    if (item->link) {
        json_link(d, item);
        json_object_end(d);
        return s->err;
    }
    sink_format(s, "%s\"kind\": \"%s\"", d->lines ? "" : "{",
                kinds[kind >= 1 && kind <= 4 ? kind : 0]);
    if (item->info.id != 0) /* else not even the object is known */
        sink_format(s, ", \"id\": %" PRIu64, item->info.id);
    if (kind == DREP_OBJ_UNKNOWN) {
        json_unknown(s, item->info.number, item->info.flags);
        if (item->info.id != 0)
            json_attributes(d, item);
    } else if (kind == DREP_OBJ_DATASET) {
        json_dataset(d, item);
    } else if (kind == DREP_OBJ_TYPE) {
        json_type(d, item);
    } else if (kind == DREP_OBJ_DIMENSION) {
        sink_format(s, ", \"length\": %" PRId64 ", \"unlimited\": %s", item->info.len,
                    item->info.unlimited ? "true" : "false");
        json_scales(d, item);
        json_attributes(d, item);
    } else {
        json_attributes(d, item);
        if (!d->lines) {
            json_line(d, true, item->depth);
            sink_text(s, "\"dimensions\": {");
            return s->err;
        }
    }
    json_object_end(d);
    return s->err;
}

static int members(struct walk *walk, const struct walk_item *item)
{
    struct dump *d = walk->ctx;

    sink_char(d->sink, '}');
    json_line(d, true, item->depth);
    sink_text(d->sink, "\"members\": {");
    return d->sink->err;
}

static int leave(struct walk *walk, const struct walk_item *item)
{
    struct dump *d = walk->ctx;

    (void)item;
    sink_text(d->sink, "}}");
    return d->sink->err;
}

void dump_json(struct dump *d)
{
    struct walk walk = {.file = d->file,
                        .file_name = d->file_name,
                        .depth = -1,
                        .enter = json_enter,
                        .members = members,
                        .leave = leave,
                        .ctx = d};
    bool whole = strcmp(d->operand.path, "/") == 0;

    json_header(d);
    json_line(d, true, 0);
    if (!whole) {
        json_key(d->sink, "path");
        json_string(d->sink, d->operand.path);
        json_line(d, true, 0);
    }
    if (d->operand.slice) {
        json_key(d->sink, "selection");
        json_string(d->sink, d->operand.slice);
        json_line(d, true, 0);
    }
    json_key(d->sink, whole ? "root" : "object");
    walk_run(&walk, d->operand.path);
    sink_text(d->sink, "}\n");
    d->status = tool_worse(d->status, walk.status);
}

/* The values of the one dataset that was asked for; false if it is something else. */
static bool json_one_dataset(struct dump *d)
{
    struct slice slice;
    drep_objinfo info = DREP_OBJINFO;
    drep_dsinfo ds_info = DREP_DSINFO;
    drep_dataset *ds;

    if (d->header_only || drep_stat(d->file, d->operand.path, &info) ||
        info.kind != DREP_OBJ_DATASET)
        return false;
    if (operand_open(&d->operand, d->file_name, d->file, &ds, &ds_info, &slice))
        return false;
    if (ds_info.rank != DREP_NULL_SPACE && slice_count(&slice) > 0) {
        json_values(d, d->operand.path, ds, &ds_info, &slice, true);
        sink_char(d->sink, '\n');
    }
    drep_dataset_close(ds);
    return true;
}

void dump_jsonl(struct dump *d)
{
    struct walk walk = {
        .file = d->file, .file_name = d->file_name, .depth = -1, .enter = json_enter, .ctx = d};

    d->lines = true;
    if (json_one_dataset(d))
        return;
    json_header(d);
    sink_text(d->sink, "}\n");
    walk_run(&walk, d->operand.path);
    d->status = tool_worse(d->status, walk.status);
}
