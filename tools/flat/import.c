/* import.c - import of arrays, tables and raw files: where they go, and one commit.
 *
 * One commit: the target is opened or made, its datasets are filled, and only then is it
 * committed.  A failure abandons the file, so that no target is left half filled. */
/* SPDX-License-Identifier: MIT */
#include "base/vec.h"
#include "schema/paths.h"
#include "tools/flat/csv.h"
#include "tools/flat/csv_columns.h"
#include "tools/flat/decimal.h"
#include "tools/flat/flat.h"
#include "tools/flat/format.h"
#include "tools/flat/load.h"
#include "tools/flat/npy_in.h"
#include "tools/flat/raw_in.h"
#include "tools/flat/recipe.h"
#include "tools/flat/zip.h"
#include "tools/host/exit.h"
#include "tools/host/fail.h"
#include "tools/host/input.h"
#include "tools/host/message.h"
#include "tools/host/open.h"
#include "tools/host/outfile.h"
#include "tools/host/stop.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct intake {
    const struct flat *f;
    const struct exchange *x;
    drep_file *file;
    char *path; /* of the dataset, or group */
    int fd;     /* of the source */
    bool left_out;
};

/* ------------------------------------------------------------------- target */

/* A raw file has a representation of its own to be told. */
static const char *target_datarep(const struct flat *f)
{
    return f->format == FLAT_RAW ? f->to : f->x->datarep;
}

static int make_from_schema(struct intake *in)
{
#if HAVE_YAML
    const struct exchange *x = in->x;
    const struct flat *f = in->f;
    struct recipe recipe;
    int err, status = recipe_read(&recipe, f->schema);

    if (status)
        return status;
    err = schema_make(recipe.schema, x->dst, x->excl ? DREP_RDWR | DREP_EXCL : DREP_RDWR,
                      target_datarep(f), recipe_say, &recipe, &in->file);
    recipe_release(&recipe);
    return tool_exit_code(err);
#else
    tool_say(in->f->schema, NULL, "built without libyaml, so without schemas");
    return TOOL_CORRUPT;
#endif
}

static int open_target(struct intake *in)
{
    const struct exchange *x = in->x;
    const char *datarep = target_datarep(in->f);
    int err;

    if (in->f->schema)
        return make_from_schema(in);
    if (in->f->update)
        return tool_open(x->dst, DREP_RDWR, NULL, &in->file);
    err = drep_create(x->dst, x->excl ? DREP_RDWR | DREP_EXCL : DREP_RDWR,
                      datarep ? datarep : "internal", NULL, &in->file);
    return err ? tool_fail(x->dst, NULL, err) : 0;
}

/* The target path: the --into option, or the file's name without its extension. */
static char *target_path(const struct flat *f)
{
    const struct exchange *x = f->x;
    const char *name = f->into, *slash = strrchr(x->src, '/'), *dot;
    size_t size;
    char *path;

    if (!name)
        name = strcmp(x->src, "-") == 0 ? "data" : slash ? slash + 1 : x->src;
    dot = f->into ? NULL : strrchr(name, '.');
    size = dot && dot > name ? (size_t)(dot - name) : strlen(name);
    path = malloc(size + 2);
    if (!path)
        return NULL;
    path[0] = '/';
    memcpy(path + 1, name + (*name == '/'), size - (*name == '/'));
    path[1 + size - (*name == '/')] = '\0';
    return path;
}

/* ------------------------------------------------------------------ one array */

/* An existing dataset, NULL where there is nothing yet. */
static int find_dataset(const struct intake *in, const char *path, drep_dataset **out)
{
    drep_objinfo info = DREP_OBJINFO;
    int err = drep_stat(in->file, path, &info);

    *out = NULL;
    if (err == DREP_ERR_NOT_FOUND)
        return 0;
    if (!err)
        err = drep_dataset_open(in->file, path, out);
    return err ? tool_fail(in->x->dst, path, err) : 0;
}

static int take_array(struct intake *in, struct source *s, const char *path)
{
    struct load_target t = {.name = in->x->dst, .path = path, .range = in->x->range};
    int status = find_dataset(in, path, &t.dataset);

    if (status)
        return status;
    if (t.dataset)
        status = load_fit(s, &t, in->f->append);
    else
        status = load_create(s, in->x, in->file, path, in->f->append, &t.dataset);
    if (!status)
        status = load_all(s, &t);
    if (t.dataset)
        drep_dataset_close(t.dataset);
    if (!status && s->rest && s->rest(s))
        in->left_out = true;
    if (!status && in->x->verbose)
        tool_say(s->file, NULL, "%s", path);
    return status;
}

static int take_npy(struct intake *in)
{
    struct source s;
    int status = source_npy(&s, in->x->src, in->fd);

    if (status)
        return status;
    status = take_array(in, &s, in->path);
    source_release(&s);
    return status;
}

/* --------------------------------------------------------------------- raw */

static int option_shape(const struct flat *x, struct raw_file *raw)
{
    const char *p = x->shape;
    char *end;
    bool open = false;

    raw->rank = -1;
    if (!p)
        return 0;
    for (raw->rank = 0; *p; raw->rank++) {
        if (raw->rank == DREP_MAX_RANK)
            return tool_usage(x->x->command, "--shape has at most %d dimensions", DREP_MAX_RANK);
        if (*p == '*' && !open) {
            open = true;
            raw->dims[raw->rank] = -1;
            end = (char *)p + 1;
        } else {
            raw->dims[raw->rank] = *p >= '0' && *p <= '9' ? strtoll(p, &end, 10) : -1;
            if (raw->dims[raw->rank] < 0 || raw->dims[raw->rank] > ((int64_t)1 << 62))
                return tool_usage(x->x->command, "--shape is lengths with commas between, not '%s'",
                                  x->shape);
        }
        if (*end && (*end != ',' || !end[1]))
            return tool_usage(x->x->command, "--shape is lengths with commas between, not '%s'",
                              x->shape);
        p = *end ? end + 1 : end;
    }
    return 0;
}

/* Options that were not given are taken from the dataset. */
static int raw_from_dataset(const struct intake *in, drep_dataset *dataset, struct raw_file *raw,
                            drep_type **type)
{
    drep_dsinfo info = DREP_DSINFO;
    int err = drep_dataset_info(dataset, &info);

    if (err)
        return tool_fail(in->x->dst, in->path, err);
    if (!raw->type)
        raw->type = *type = drep_type_ref(info.type);
    if (raw->rank < 0 && info.rank > 0) {
        raw->rank = info.rank;
        memcpy(raw->dims, info.dims, sizeof raw->dims);
        if (info.maxdims[0] == DREP_UNLIMITED)
            raw->dims[0] = -1;
    }
    return 0;
}

static int take_raw(struct intake *in)
{
    const struct flat *f = in->f;
    const struct exchange *x = in->x;
    struct raw_file raw = {.file = x->src,
                           .datarep = x->datarep ? x->datarep : "native",
                           .offset = f->offset,
                           .records = f->records,
                           .column_major = f->column_major};
    drep_dataset *dataset = NULL;
    drep_type *type = NULL;
    const char *why = NULL;
    struct source s;
    int status = option_shape(f, &raw);

    if (!status && f->type && decimal_parse(f->type, &type, &why))
        status = tool_usage(f->x->command, "--type=%s: %s", f->type, why);
    raw.type = type;
    if (!status)
        status = find_dataset(in, in->path, &dataset);
    if (!status && dataset)
        status = raw_from_dataset(in, dataset, &raw, &type);
    if (dataset)
        drep_dataset_close(dataset);
    if (!status && !raw.type)
        status = tool_usage(f->x->command, "which elements?  --type=DOUBLE, for example");
    if (!status)
        status = source_raw(&s, &raw, in->fd);
    if (!status) {
        status = f->type ? decimal_source(&s, f->type) : 0;
        if (!status)
            status = take_array(in, &s, in->path);
        source_release(&s);
    }
    drep_type_free(type);
    return status;
}

/* ------------------------------------------------------------------ tables */

/* The datasets of a group, as if they were members of a compound. */
struct dataset_group {
    const struct intake *in;
    const struct csv *header; /* append: the names of the columns; else NULL */
    size_t all;               /* datasets of the group, also those that are not taken */
    char **name;
    const drep_type **type;
    struct load_target *target;
    size_t len, room;
    int status;
};

/* True if a column has the name of the dataset, or of a part of it. */
static bool has_column(const struct dataset_group *g, const char *name)
{
    for (size_t i = 0; !g->in->f->no_header && i < g->header->fields; i++)
        if (columns_is_part(g->header->field[i].text, name))
            return true;
    return false;
}

/* A dataset that cannot grow needs no column of what is appended. */
static int find_growing(const struct dataset_group *g, const char *name, bool *grows)
{
    char *path = path_of_member(g->in->path, name);
    drep_dsinfo info = DREP_DSINFO;
    drep_dataset *dataset = NULL;
    int err = path ? drep_dataset_open(g->in->file, path, &dataset) : DREP_ERR_NOMEM;

    if (!err)
        err = drep_dataset_info(dataset, &info);
    *grows = !err && info.rank > 0 && info.maxdims[0] != info.dims[0];
    drep_dataset_close(dataset);
    free(path);
    return err;
}

static int group_add_dataset(const drep_linkinfo *link, void *ctx)
{
    struct dataset_group *g = ctx;
    bool grows = true;
    int err = 0;

    if (link->link != DREP_LINK_HARD || link->kind != DREP_OBJ_DATASET)
        return 0;
    g->all++;
    if (g->header && !has_column(g, link->name))
        err = find_growing(g, link->name, &grows);
    if (err || !grows)
        return err;
    if (VEC_ROOM(g->name, g->len, g->room, 1))
        return DREP_ERR_NOMEM;
    g->name[g->len] = strdup(link->name);
    return g->name[g->len] ? (g->len++, 0) : DREP_ERR_NOMEM;
}

static void dataset_group_release(struct dataset_group *g)
{
    size_t i;

    for (i = 0; i < g->len; i++) {
        free(g->name[i]);
        if (g->type)
            drep_type_free((drep_type *)g->type[i]);
        if (g->target && g->target[i].dataset)
            drep_dataset_close(g->target[i].dataset);
        if (g->target)
            free((char *)g->target[i].path);
    }
    free(g->name);
    free(g->type);
    free(g->target);
}

/* Room for targets and types of the names that are known. */
static int group_room(struct dataset_group *g)
{
    size_t i;

    g->type = calloc(g->len + 1, sizeof *g->type);
    g->target = calloc(g->len + 1, sizeof *g->target);
    if (!g->type || !g->target)
        return tool_no_memory();
    for (i = 0; i < g->len; i++) {
        g->target[i] = (struct load_target){.name = g->in->x->dst,
                                            .path = path_of_member(g->in->path, g->name[i]),
                                            .range = g->in->x->range};
        if (!g->target[i].path)
            return tool_no_memory();
    }
    return 0;
}

/* The datasets that the table is for: all of the group, or, to append, those that grow or have a
 * column. */
static int group_list(struct dataset_group *g, const struct csv_table *table)
{
    struct csv header = {0};
    int err, status = 0;

    if (g->in->f->append) {
        status = csv_open(&header, table->file, table->fd, table->delimiter);
        if (!status)
            status = csv_next(&header);
        g->header = &header;
    }
    err = status ? 0 : drep_list(g->in->file, g->in->path, DREP_BY_CREATION, group_add_dataset, g);
    g->header = NULL;
    csv_release(&header);
    return err ? tool_fail(g->in->x->dst, g->in->path, err) : status;
}

/* Without any datasets *row stays NULL: the columns become new ones. */
static int group_open(struct dataset_group *g, const struct csv_table *table, drep_type **row)
{
    drep_dsinfo info = DREP_DSINFO;
    size_t i;
    int err, status = group_list(g, table);

    if (status || (g->all == 0 && g->in->f->columns))
        return status;
    status = group_room(g);
    for (i = 0; i < g->len && !status; i++) {
        err = drep_dataset_open(g->in->file, g->target[i].path, &g->target[i].dataset);
        if (!err)
            err = drep_dataset_info(g->target[i].dataset, &info);
        if (err)
            status = tool_fail(g->in->x->dst, g->target[i].path, err);
        else
            g->type[i] = drep_type_ref(info.type);
    }
    if (status)
        return status;
    if (g->len == 0) {
        tool_say(g->in->x->dst, g->in->path, "%s",
                 g->all ? "no dataset in this group grows; one that does is made with "
                          "maxshape: [unlimited]"
                        : "there are no datasets in this group; --columns makes one for each "
                          "column");
        return TOOL_USAGE;
    }
    err = drep_type_compound((int64_t)g->len, (const char *const *)g->name, NULL, g->type, 0, row);
    return err ? tool_fail(g->in->x->dst, g->in->path, err) : 0;
}

/* A dataset for each member of what the table makes. */
static int group_make(struct dataset_group *g, const struct source *s)
{
    int64_t i, n = drep_type_members(s->stored);
    int status;

    g->name = calloc((size_t)n + 1, sizeof *g->name);
    if (!g->name)
        return tool_no_memory();
    for (i = 0; i < n; i++) {
        g->name[i] = strdup(drep_type_member_name(s->stored, i));
        if (!g->name[i])
            return tool_no_memory();
        g->len++;
        if (strchr(g->name[i], '/')) {
            tool_say(s->file, NULL, "column \"%s\" cannot be the name of a dataset", g->name[i]);
            return TOOL_USAGE;
        }
    }
    status = group_room(g);
    for (i = 0; i < n && !status; i++) {
        struct source one = *s;

        one.stored = (drep_type *)drep_type_member(s->stored, i);
        status = load_create(&one, g->in->x, g->in->file, g->target[i].path, g->in->f->append,
                             &g->target[i].dataset);
    }
    return status;
}

static int take_columns(struct intake *in, struct csv_table *table, bool exists)
{
    struct dataset_group g = {.in = in};
    drep_type *row = NULL;
    struct source s;
    size_t i;
    int status = exists ? group_open(&g, table, &row) : 0;

    exists = row != NULL;
    if (exists)
        table->type = row;
    else
        table->times = NULL;
    if (!status)
        status = source_csv(&s, table);
    if (!status) {
        if (drep_type_kind(s.stored) != DREP_KIND_COMPOUND)
            status = tool_usage(in->x->command, "--columns: the columns have no names");
        else if (!exists)
            status = group_make(&g, &s);
        for (i = 0; i < g.len && !status && exists; i++)
            status = load_fit(&s, &g.target[i], in->f->append);
        if (!status)
            status = load_columns(&s, g.target);
        if (!status && s.rest(&s))
            in->left_out = true;
        source_release(&s);
    }
    drep_type_free(row);
    dataset_group_release(&g);
    return status;
}

/* How a dataset that is there wants its rows. */
static int table_for(struct csv_table *table, const struct intake *in, drep_dataset *dataset,
                     drep_type **type)
{
    drep_dsinfo info = DREP_DSINFO;
    int err = drep_dataset_info(dataset, &info);

    if (err)
        return tool_fail(in->x->dst, in->path, err);
    if (info.rank < 1 || info.rank > 2) {
        tool_say(in->x->dst, in->path, "a table goes into one or two dimensions");
        return TOOL_USAGE;
    }
    if (!*type)
        table->type = *type = drep_type_ref(info.type);
    table->width = info.rank == 2 ? info.dims[1] : 0;
    table->number = info.datarep_number;
    return 0;
}

static char delimiter_of(const struct flat *f, const char *name)
{
    size_t size = strlen(name);

    if (f->delimiter)
        return f->delimiter;
    return size > 4 && strcmp(name + size - 4, ".tsv") == 0 ? '\t' : ',';
}

static int take_csv(struct intake *in)
{
    const struct flat *f = in->f;
    struct csv_table table = {.file = in->x->src,
                              .fd = in->fd,
                              .delimiter = delimiter_of(f, in->x->src),
                              .header = !f->no_header,
                              .into = in->file,
                              .missing = f->missing ? f->missing : ""};
    drep_objinfo object = DREP_OBJINFO;
    drep_dataset *dataset = NULL;
    drep_type *type = NULL;
    struct source s;
    int status = 0, err = drep_stat(in->file, in->path, &object);

    if (f->type && drep_type_parse(f->type, &type))
        return tool_usage(f->x->command, "--type=%s: %s", f->type, drep_error());
    table.type = type;
    if (!err) {
        table.times = in->file;
        table.path = in->path;
        table.group = object.kind == DREP_OBJ_GROUP;
    }
    if (f->columns || (!err && object.kind == DREP_OBJ_GROUP)) {
        status = take_columns(in, &table, !err);
        drep_type_free(type);
        return status;
    }
    status = find_dataset(in, in->path, &dataset);
    if (!status && dataset)
        status = table_for(&table, in, dataset, &type);
    if (dataset)
        drep_dataset_close(dataset);
    if (!status)
        status = source_csv(&s, &table);
    if (!status) {
        status = take_array(in, &s, in->path);
        source_release(&s);
    }
    drep_type_free(type);
    return status;
}

/* -------------------------------------------------------------- npz, and all */

static int take_member(void *ctx, const char *name, int fd)
{
    struct intake *in = ctx;
    size_t size = strlen(name);
    struct source s;
    char *path, *label;
    int status;

    if (size < 5 || strcmp(name + size - 4, ".npy") != 0) {
        tool_say(in->x->src, NULL, "warning: %s is not an array and is left out", name);
        in->left_out = true;
        return 0;
    }
    path = path_of_member(in->f->into ? in->path : "/", name);
    label = malloc(strlen(in->x->src) + size + 3);
    status = path && label ? 0 : tool_no_memory();
    if (!status) {
        path[strlen(path) - 4] = '\0';
        sprintf(label, "%s: %s", in->x->src, name);
        status = source_npy_member(&s, label, fd);
    }
    if (status == TOOL_DIFFERS) {
        tool_say(label, NULL, "warning: the array is left out");
        in->left_out = true;
        status = 0;
    } else if (!status) {
        status = take_array(in, &s, path);
        source_release(&s);
    }
    free(path);
    free(label);
    return status;
}

static int intake_by_format(struct intake *in)
{
    switch (in->f->format) {
    case FLAT_NPY:
        return take_npy(in);
    case FLAT_NPZ:
        return zip_each(in->x->src, in->fd, take_member, in);
    case FLAT_CSV:
        return take_csv(in);
    default:
        return take_raw(in);
    }
}

int flat_import(const struct flat *f)
{
    const struct exchange *x = f->x;
    struct intake in = {.f = f, .x = x, .fd = -1};
    int err, status = 0;

    if (f->update && (f->schema || x->excl))
        return tool_usage(f->x->command, "either the target is there (-u, -a), or it is made");
    stop_catch();
    outfile_from(x->src);
    in.path = target_path(f);
    if (!in.path)
        return tool_no_memory();
    in.fd = input_file(x->src);
    status = in.fd < 0 ? TOOL_IO : open_target(&in);
    if (!status)
        status = intake_by_format(&in);
    if (in.file && status) {
        drep_abandon(in.file);
    } else if (in.file) {
        err = drep_close(in.file);
        status = err ? tool_fail(x->dst, NULL, err) : 0;
    }
    if (in.fd > STDIN_FILENO)
        close(in.fd);
    free(in.path);
    return !status && in.left_out ? TOOL_DIFFERS : status;
}
