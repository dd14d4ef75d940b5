/* json.c - the JSON form of a file, as SPEC.md, "JSON", has it. */
#include "dump.h"
#include "tool.h"
#include "walk.h"
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

static void put_string(struct sink *s, const char *text)
{
    sink_quoted(s, text, strlen(text));
}

/* A new line at this depth, after a comma where something stands before. */
static void put_line(struct sink *s, bool comma, int depth)
{
    sink_text(s, comma ? ",\n" : "\n");
    sink_spaces(s, depth + 1);
}

static void put_key(struct sink *s, const char *key)
{
    put_string(s, key);
    sink_text(s, ": ");
}

static void put_pair(struct sink *s, const char *key, const char *value)
{
    put_line(s, true, 0);
    put_key(s, key);
    put_string(s, value);
}

static void put_lengths(struct sink *s, const int64_t *lengths, int n)
{
    int d;

    sink_char(s, '[');
    for (d = 0; d < n; d++) {
        if (d)
            sink_text(s, ", ");
        if (lengths[d] == DREP_UNLIMITED)
            sink_text(s, "null");
        else
            sink_i64(s, lengths[d]);
    }
    sink_char(s, ']');
}

/* ------------------------------------------------------------------ header */

static void put_extents(struct dump *d)
{
    const drep_encoding *rows;
    struct sink *s = d->sink;
    int i, n, err = drep_header_types(d->file, &rows, &n);

    put_line(s, true, 0);
    put_key(s, "extents");
    sink_char(s, '{');
    if (err)
        dump_failed(d, NULL, err);
    for (i = 0; i < n && !err; i++) {
        if (i)
            sink_text(s, ", ");
        put_key(s, drep_code_name(rows[i].code));
        sink_u64(s, rows[i].size);
    }
    sink_char(s, '}');
}

static void put_hints(struct dump *d)
{
    struct sink *s = d->sink;
    drep_info *info = NULL;
    int i, n, err = drep_header_hints(d->file, &info);

    put_line(s, true, 0);
    put_key(s, "hints");
    sink_char(s, '{');
    if (err)
        dump_failed(d, NULL, err);
    n = err ? 0 : drep_info_count(info);
    for (i = 0; i < n; i++) {
        if (i)
            sink_text(s, ", ");
        put_key(s, drep_info_key(info, i));
        put_string(s, drep_info_get(info, drep_info_key(info, i)));
    }
    sink_char(s, '}');
    drep_info_free(info);
}

static void put_header(struct dump *d)
{
    const drep_header *h = &d->header;
    struct sink *s = d->sink;
    int i;

    sink_char(s, '{');
    put_key(s, "file");
    put_string(s, d->file_name);
    put_line(s, true, 0);
    sink_format(s, "\"format\": \"%d.%d\"", h->version_major, h->version_minor);
    put_pair(s, "datarep", h->datarep);
    put_pair(s, "form", h->form);
    put_line(s, true, 0);
    put_key(s, "uuid");
    sink_char(s, '"');
    for (i = 0; i < 16; i++)
        sink_format(s, "%02x", h->uuid[i]);
    sink_char(s, '"');
    put_line(s, true, 0);
    sink_format(s, "\"sequence\": %" PRIu64, h->sequence);
    put_line(s, true, 0);
    sink_format(s, "\"time\": \"%" PRId64 "\"", h->time);
    put_pair(s, "writer", h->writer);
    put_pair(s, "machine", h->machine);
    put_extents(d);
    put_hints(d);
}

/* ----------------------------------------------------------------- objects */

static void put_attribute(struct dump *d, const char *path, const char *name)
{
    struct sink *s = d->sink;
    struct values v;
    int err = values_attr(&v, &d->printer, path, name);

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
        put_lengths(s, v.dims, v.rank);
    sink_text(s, ", \"value\": ");
    values_put(&v, &d->printer, s);
    sink_char(s, '}');
    values_release(&v);
}

static void put_attributes(struct dump *d, const struct walk_item *item)
{
    struct sink *s = d->sink;
    char **names = NULL;
    int64_t i, n = 0;
    int err = item->info.attrs ? walk_attrs(d->file, item->path, &names, &n) : 0;

    if (err)
        dump_failed(d, item->path, err);
    put_line(s, true, item->depth);
    sink_text(s, "\"attributes\": {");
    for (i = 0; i < n; i++) {
        put_line(s, i > 0, item->depth + 1);
        put_key(s, names[i]);
        put_attribute(d, item->path, names[i]);
    }
    sink_char(s, '}');
    walk_attrs_free(names, n);
}

static void put_link(struct dump *d, const struct walk_item *item)
{
    static const char *const kinds[] = {"?", "hard", "soft", "external"};
    struct sink *s = d->sink;

    sink_text(s, "{\"kind\": \"link\", \"link\": ");
    put_string(s, kinds[item->link >= 1 && item->link <= 3 ? item->link : 0]);
    if (item->target_file) {
        sink_text(s, ", \"file\": ");
        put_string(s, item->target_file);
    }
    sink_text(s, ", \"target\": ");
    put_string(s, item->target);
    sink_char(s, '}');
}

static void put_filters(struct sink *s, const drep_dsinfo *info)
{
    int i, k;

    sink_char(s, '[');
    for (i = 0; i < info->nfilters; i++) {
        const drep_filter *f = &info->filters[i];

        sink_text(s, i ? ", {\"name\": " : "{\"name\": ");
        if (f->name)
            put_string(s, f->name);
        else if (drep_filter_name(f->id))
            put_string(s, drep_filter_name(f->id));
        else
            sink_format(s, "\"%d\"", f->id);
        sink_text(s, ", \"parameters\": [");
        for (k = 0; k < f->nparams; k++) {
            if (k)
                sink_text(s, ", ");
            sink_u64(s, f->param[k]);
        }
        sink_text(s, "]}");
    }
    sink_char(s, ']');
}

static void put_fill(struct dump *d, const char *path, drep_dataset *ds, const drep_dsinfo *info)
{
    struct values v;
    int err;

    if (info->fill != DREP_FILL_VALUE) {
        sink_text(d->sink, info->fill == DREP_FILL_NONE ? "\"none\"" : "null");
        return;
    }
    err = values_fill(&v, &d->printer, ds, info);
    if (err) {
        dump_failed(d, path, err);
        sink_text(d->sink, "null");
        return;
    }
    values_put(&v, &d->printer, d->sink);
    values_release(&v);
}

static void put_dimensions(struct dump *d, const drep_dsinfo *info)
{
    struct sink *s = d->sink;
    const char *path;
    int k;

    sink_char(s, '[');
    for (k = 0; k < info->rank; k++) {
        if (k)
            sink_text(s, ", ");
        path = info->dim_ids[k] ? print_path(&d->printer, info->dim_ids[k]) : NULL;
        if (path)
            put_string(s, path);
        else
            sink_text(s, "null");
    }
    sink_char(s, ']');
}

/* Type, shape and what else says how a dataset is stored. */
static void put_description(struct dump *d, const struct walk_item *item, drep_dataset *ds,
                            const drep_dsinfo *info)
{
    static const char *const layouts[] = {"null", "compact", "contiguous", "chunked"};
    bool null = info->rank == DREP_NULL_SPACE;
    struct sink *s = d->sink;

    sink_text(s, ", \"type\": ");
    print_type_text(s, info->type, true);
    put_line(s, true, item->depth);
    sink_text(s, "\"shape\": ");
    if (null)
        sink_text(s, "null, \"maxshape\": null");
    else
        put_lengths(s, info->dims, info->rank);
    if (!null) {
        sink_text(s, ", \"maxshape\": ");
        put_lengths(s, info->maxdims, info->rank);
    }
    sink_text(s, ", \"layout\": ");
    put_string(s, layouts[info->layout >= 1 && info->layout <= 3 && !null ? info->layout : 0]);
    sink_text(s, ", \"chunk\": ");
    if (!null && info->layout == DREP_CHUNKED)
        put_lengths(s, info->chunk, info->rank);
    else if (!null && info->layout == DREP_CONTIGUOUS)
        put_lengths(s, info->chunk, 1);
    else
        sink_text(s, "null");
    put_line(s, true, item->depth);
    sink_text(s, "\"filters\": ");
    put_filters(s, info);
    sink_text(s, ", \"fill\": ");
    put_fill(d, item->path, ds, info);
    sink_text(s, ", \"dimensions\": ");
    if (null)
        sink_text(s, "null");
    else
        put_dimensions(d, info);
    put_attributes(d, item);
}

struct data {
    struct dump *dump;
    struct nest nest;
};

static int put_block(void *ctx, const drep_type *type, const void *elements, int64_t count)
{
    struct data *data = ctx;

    nest_put(&data->nest, &data->dump->printer, data->dump->sink, type, elements, count);
    return data->dump->sink->err ? DREP_ERR_STOPPED : 0;
}

static void put_data(struct dump *d, const struct walk_item *item, drep_dataset *ds,
                     const drep_dsinfo *info)
{
    struct data data = {.dump = d};
    struct sink *s = d->sink;
    int64_t dims[DREP_MAX_RANK];
    struct slice slice;
    uint64_t before;
    drep_type *type;
    int err;

    put_line(s, true, item->depth);
    sink_text(s, "\"data\": ");
    if (info->rank == DREP_NULL_SPACE || !dump_slice(d, item->path, info, &slice)) {
        sink_text(s, "null");
        return;
    }
    nest_init(&data.nest, slice_shape(&slice, dims), dims, ",\n ");
    before = sink_total(s);
    err = print_type(&d->printer, info->type, true, &type);
    if (!err) {
        err = slice_read(ds, type, &slice, put_block, &data);
        drep_type_free(type);
    }
    if (err && err != DREP_ERR_STOPPED)
        dump_failed(d, item->path, err);
    if (err && sink_total(s) == before)
        sink_text(s, "null");
    else
        nest_end(&data.nest, s);
}

static void put_dataset(struct dump *d, const struct walk_item *item)
{
    drep_dataset *ds;
    drep_dsinfo info;
    int err = drep_dataset_open(d->file, item->path, &ds);

    if (err) {
        dump_failed(d, item->path, err);
        return;
    }
    err = drep_dataset_info(ds, &info);
    if (err)
        dump_failed(d, item->path, err);
    else
        put_description(d, item, ds, &info);
    if (!err && !d->header_only)
        put_data(d, item, ds, &info);
    drep_dataset_close(ds);
}

static void put_type(struct dump *d, const struct walk_item *item)
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
    put_attributes(d, item);
}

static int enter(struct walk *walk, const struct walk_item *item)
{
    static const char *const kinds[] = {"?", "group", "dataset", "type", "dimension"};
    struct dump *d = walk->ctx;
    struct sink *s = d->sink;
    int kind = item->info.kind;

    if (item->depth > 0) {
        put_line(s, item->index > 0, item->depth);
        put_key(s, item->name);
    }
    if (item->link) {
        put_link(d, item);
        return s->err;
    }
    sink_format(s, "{\"kind\": \"%s\", \"id\": %" PRIu64, kinds[kind >= 1 && kind <= 4 ? kind : 0],
                item->info.id);
    if (kind == DREP_OBJ_DATASET) {
        put_dataset(d, item);
    } else if (kind == DREP_OBJ_TYPE) {
        put_type(d, item);
    } else if (kind == DREP_OBJ_DIMENSION) {
        sink_format(s, ", \"length\": %" PRId64 ", \"unlimited\": %s", item->info.len,
                    item->info.unlimited ? "true" : "false");
        put_attributes(d, item);
    } else {
        put_attributes(d, item);
        put_line(s, true, item->depth);
        sink_text(s, "\"members\": {");
        return s->err;
    }
    sink_char(s, '}');
    return s->err;
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
                        .enter = enter,
                        .leave = leave,
                        .ctx = d};

    put_header(d);
    put_line(d->sink, true, 0);
    if (strcmp(d->path, "/") != 0) {
        put_key(d->sink, "path");
        put_string(d->sink, d->path);
        put_line(d->sink, true, 0);
    }
    if (d->slice) {
        put_key(d->sink, "selection");
        put_string(d->sink, d->slice);
        put_line(d->sink, true, 0);
    }
    put_key(d->sink, strcmp(d->path, "/") == 0 ? "root" : "object");
    walk_run(&walk, d->path);
    sink_text(d->sink, "}\n");
    d->status = tool_worse(d->status, walk.status);
}
