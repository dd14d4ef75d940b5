/* ls.c - `datarep ls`: one line an object, or a tree. */
/* SPDX-License-Identifier: MIT */
#include "tools/cmd/command.h"
#include "tools/cmd/ls_tree.h"
#include "tools/host/color.h"
#include "tools/host/exit.h"
#include "tools/host/fail.h"
#include "tools/host/message.h"
#include "tools/host/open.h"
#include "tools/host/progress.h"
#include "tools/host/utf8.h"
#include "tools/text/extremes.h"
#include "tools/text/print.h"
#include "tools/text/printer.h"
#include "tools/text/sink.h"
#include "tools/walk/walk.h"
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct ls {
    const char *file_name;
    drep_file *file;
    bool lengthy, extremes, json, raw;
    bool any;               /* an object was printed */
    struct ls_tree *tree;   /* or NULL */
    struct printer printer; /* of extremes and of a tree's dimensions */
    struct sink sink;
    int status;
};

static void ls_lengths(struct sink *s, const int64_t *lengths, const int64_t *most, int n)
{
    int k;

    sink_char(s, '[');
    for (k = 0; k < n; k++) {
        if (k)
            sink_text(s, ", ");
        sink_i64(s, lengths[k]);
        if (most && most[k] == DREP_UNLIMITED)
            sink_text(s, "/unlimited");
        else if (most && most[k] != lengths[k])
            sink_format(s, "/%" PRId64, most[k]);
    }
    sink_char(s, ']');
}

static int ls_storage(struct sink *s, drep_dataset *ds, const drep_dsinfo *info)
{
    double logical = (double)info->count * (double)info->element_size;
    drep_dsusage usage = DREP_DSUSAGE;
    int i, err = drep_dataset_usage(ds, &usage);

    if (err)
        return err;

    if (info->layout == DREP_COMPACT)
        sink_text(s, "  compact");
    if (info->layout == DREP_CONTIGUOUS)
        sink_text(s, "  contiguous");
    if (info->layout == DREP_CHUNKED) {
        sink_text(s, "  chunk ");
        ls_lengths(s, info->chunk, NULL, info->rank);
    }
    for (i = 0; i < info->nfilters; i++) {
        sink_text(s, i ? "+" : "  ");
        print_filter(s, &info->filters[i]);
    }
    sink_format(s, "  %" PRId64 " bytes", usage.bytes);
    if (usage.bytes > 0 && info->nfilters > 0)
        sink_format(s, " (%.2f:1)", logical / (double)usage.bytes);
    return 0;
}

/* ---- as JSON ---- */

static void ls_json_key(struct sink *s, const char *key)
{
    sink_format(s, ", \"%s\": ", key);
}

static void ls_json_text(struct sink *s, const char *key, const char *text)
{
    ls_json_key(s, key);
    sink_quoted(s, text, strlen(text));
}

static void ls_filters_json(struct sink *s, const drep_dsinfo *info)
{
    struct sink text;

    sink_text(s, ", \"filters\": [");
    for (int i = 0; i < info->nfilters; i++) {
        if (sink_init(&text, -1)) {
            s->err = ENOMEM;
            return;
        }
        print_filter(&text, &info->filters[i]);
        sink_text(s, i ? ", " : "");
        sink_quoted(s, text.buf, text.len);
        sink_release(&text);
    }
    sink_char(s, ']');
}

static int ls_dataset_json(struct ls *ls, drep_dataset *ds, const drep_dsinfo *info)
{
    drep_dsusage usage = DREP_DSUSAGE;
    struct sink *s = &ls->sink;
    int err = 0;

    ls_json_key(s, "type");
    print_type_text(s, info->type, true);
    if (info->rank == DREP_NULL_SPACE) {
        sink_text(s, ", \"shape\": null");
        return 0;
    }
    ls_json_key(s, "shape");
    print_lengths(s, info->dims, info->rank);
    ls_json_key(s, "maxshape");
    print_lengths(s, info->maxdims, info->rank);
    ls_json_text(s, "datarep", info->datarep);
    ls_json_text(s, "layout", print_layout(info));
    if (info->layout == DREP_CHUNKED) {
        ls_json_key(s, "chunk");
        print_lengths(s, info->chunk, info->rank);
    }
    ls_filters_json(s, info);
    if (ls->lengthy && !(err = drep_dataset_usage(ds, &usage)))
        sink_format(s, ", \"bytes\": %" PRId64, usage.bytes);
    return err;
}

/* ---- as text ---- */

/* In a tree, the units of a dataset, if it has a text for them. */
static void ls_units(struct ls *ls, const char *path)
{
    char *units = NULL, shown[256];

    if (drep_attr_read_string(ls->file, path, "units", &units) == 0 && *units) {
        (void)drep_escape(shown, sizeof shown, units, strlen(units));
        sink_format(&ls->sink, " [%s]", shown);
    }
    free(units);
}

static void ls_type_and_shape(struct ls *ls, const struct walk_item *item, const drep_dsinfo *info)
{
    struct sink *s = &ls->sink;

    if (ls->tree) {
        ls_tree_shape(s, &ls->printer, info);
        sink_char(s, ' ');
        print_type_text(s, info->type, false);
        ls_units(ls, item->path);
        return;
    }
    sink_char(s, ' ');
    print_type_text(s, info->type, false);
    sink_char(s, ' ');
    if (info->rank == DREP_NULL_SPACE)
        sink_text(s, "null");
    else
        ls_lengths(s, info->dims, info->maxdims, info->rank);
}

static int ls_dataset(struct ls *ls, const struct walk_item *item)
{
    struct sink *s = &ls->sink;
    drep_dataset *ds;
    drep_dsinfo info = DREP_DSINFO;
    int err = drep_dataset_open(ls->file, item->path, &ds);

    if (err)
        return err;
    err = drep_dataset_info(ds, &info);
    if (!err && ls->json) {
        err = ls_dataset_json(ls, ds, &info);
        if (!err && ls->extremes)
            err = extremes_put(&ls->printer, s, ds, &info, ls->raw ? NULL : item->path);
    } else if (!err) {
        ls_type_and_shape(ls, item, &info);
        if (ls->lengthy && info.rank != DREP_NULL_SPACE) {
            if (info.datarep_number != 0) {
                sink_text(s, "  ");
                print_datarep(s, &info);
            }
            err = ls_storage(s, ds, &info);
        }
        if (!err && ls->extremes)
            err = extremes_put(&ls->printer, s, ds, &info, ls->raw ? NULL : item->path);
    }
    drep_dataset_close(ds);
    return err;
}

static int ls_type(struct ls *ls, const struct walk_item *item)
{
    drep_type *type;
    int err = drep_type_open(ls->file, item->path, &type);

    if (err)
        return err;
    if (ls->json) {
        ls_json_key(&ls->sink, "type");
        print_type_text(&ls->sink, type, true);
    } else {
        sink_char(&ls->sink, ' ');
        print_type_text(&ls->sink, type, false);
    }
    drep_type_free(type);
    return 0;
}

/* Print a line for an item of a newer version. */
static void ls_unknown(struct sink *s, const char *what, const drep_objinfo *info)
{
    print_unknown(s, what, info->number, info->flags);
}

static void ls_link(struct sink *s, const struct walk_item *item)
{
    if (item->link == DREP_LINK_UNKNOWN) {
        ls_unknown(s, "link", &item->info);
        return;
    }
    if (item->link == DREP_LINK_HARD)
        sink_text(s, "hard link -> ");
    else if (item->link == DREP_LINK_SOFT)
        sink_text(s, "soft link -> ");
    else
        sink_text(s, "external link -> ");
    if (item->target_file) {
        sink_name(s, item->target_file);
        sink_char(s, ':');
    }
    sink_name(s, item->target);
}

static int ls_object(struct ls *ls, const struct walk_item *item)
{
    struct sink *s = &ls->sink;

    switch (item->info.kind) {
    case DREP_OBJ_DATASET:
        sink_text(s, ls->tree ? "" : "dataset");
        return ls_dataset(ls, item);
    case DREP_OBJ_TYPE:
        sink_text(s, "type");
        return ls_type(ls, item);
    case DREP_OBJ_UNKNOWN:
        ls_unknown(s, "object", &item->info);
        return 0;
    case DREP_OBJ_DIMENSION:
        sink_format(s, "dimension %" PRId64 "%s", item->info.len,
                    item->info.unlimited ? "/unlimited" : "");
        return 0;
    default:
        sink_text(s, "group");
        if (ls->lengthy)
            sink_format(s, " of %" PRId64, item->info.members);
        return 0;
    }
}

/* A link, or what a newer version wrote. */
static void ls_link_json(struct sink *s, const struct walk_item *item)
{
    static const char *const kinds[] = {
        [DREP_LINK_HARD] = "hard link",
        [DREP_LINK_SOFT] = "soft link",
        [DREP_LINK_EXTERNAL] = "external link",
    };

    if (item->link == DREP_LINK_UNKNOWN) {
        ls_json_text(s, "kind", "unknown link");
        sink_format(s, ", \"number\": %d", item->info.number);
        return;
    }
    ls_json_text(s, "kind", kinds[item->link]);
    if (item->target_file)
        ls_json_text(s, "file", item->target_file);
    ls_json_text(s, "target", item->target);
}

static int ls_item_json(struct ls *ls, const struct walk_item *item)
{
    struct sink *s = &ls->sink;

    sink_text(s, ls->any ? ",\n {\"path\": " : "\n {\"path\": ");
    sink_quoted(s, item->path, strlen(item->path));
    ls->any = true;
    if (item->link) {
        ls_link_json(s, item);
        return 0;
    }
    switch (item->info.kind) {
    case DREP_OBJ_DATASET:
        ls_json_text(s, "kind", "dataset");
        return ls_dataset(ls, item);
    case DREP_OBJ_TYPE:
        ls_json_text(s, "kind", "type");
        return ls_type(ls, item);
    case DREP_OBJ_UNKNOWN:
        ls_json_text(s, "kind", "unknown object");
        sink_format(s, ", \"number\": %d", item->info.number);
        return 0;
    case DREP_OBJ_DIMENSION:
        ls_json_text(s, "kind", "dimension");
        sink_format(s, ", \"length\": %" PRId64 ", \"unlimited\": %s", item->info.len,
                    item->info.unlimited ? "true" : "false");
        return 0;
    default:
        ls_json_text(s, "kind", "group");
        sink_format(s, ", \"members\": %" PRId64, item->info.members);
        return 0;
    }
}

/* One object of a tree.  Dimensions stand in the shapes that they give. */
static int ls_tree_enter(struct walk *walk, const struct walk_item *item)
{
    struct ls *ls = walk->ctx;
    struct sink *s = &ls->sink;
    bool group = !item->link && item->info.kind == DREP_OBJ_GROUP;
    int err = 0;

    if (!item->link && item->info.kind == DREP_OBJ_DIMENSION && item->depth > 0)
        return 0;
    ls_tree_lead(ls->tree, s, item);
    sink_color(s, color_of(item->link ? 0 : item->info.kind));
    if (item->depth == 0)
        sink_name(s, strcmp(item->path, "/") == 0 ? ls->file_name : item->path);
    else
        sink_name(s, item->name);
    sink_text(s, group && item->depth ? "/" : "");
    sink_color(s, COLOR_END);
    sink_text(s, group ? "" : " ");
    if (item->link)
        ls_link(s, item);
    else if (!group)
        err = ls_object(ls, item);
    sink_char(s, '\n');
    if (err)
        ls->status = tool_worse(ls->status, tool_fail(ls->file_name, item->path, err));
    return s->err;
}

static int ls_enter(struct walk *walk, const struct walk_item *item)
{
    struct ls *ls = walk->ctx;
    struct sink *s = &ls->sink;
    uint64_t begun = sink_total(s);
    int err = 0;

    /* The group that was asked for is not a line; anything else is. */
    if (item->depth == 0 && !item->link && item->info.kind == DREP_OBJ_GROUP)
        return 0;
    if (ls->json) {
        err = ls_item_json(ls, item);
        sink_char(s, '}');
        if (err)
            ls->status = tool_worse(ls->status, tool_fail(ls->file_name, item->path, err));
        return s->err;
    }
    sink_color(s, color_of(item->link ? 0 : item->info.kind));
    sink_name(s, item->path);
    sink_color(s, COLOR_END);
    begun = sink_total(s) - begun - strlen(item->path) + utf8_columns(item->path);
    sink_spaces(s, begun < 24 ? (int)(25 - begun) : 1);
    if (item->link)
        ls_link(s, item);
    else
        err = ls_object(ls, item);
    sink_char(s, '\n');
    if (err)
        ls->status = tool_worse(ls->status, tool_fail(ls->file_name, item->path, err));
    return s->err;
}

/* An exit code. */
static int list(struct ls *ls, const char *path, int depth, bool color)
{
    struct walk walk = {
        .file = ls->file, .file_name = ls->file_name, .depth = depth, .enter = ls_enter, .ctx = ls};
    bool printing = ls->extremes || ls->tree;
    drep_objinfo info = DREP_OBJINFO;
    int err = drep_stat(ls->file, path, &info);

    if (err)
        return tool_fail(ls->file_name, path, err);
    if (ls->tree)
        walk.enter = ls_tree_enter;
    err = printing ? printer_init(&ls->printer, ls->file, false) : 0;
    ls->printer.own = true;
    if (err)
        return tool_fail(ls->file_name, NULL, err);
    if (sink_init(&ls->sink, STDOUT_FILENO)) {
        if (printing)
            printer_release(&ls->printer);
        return tool_no_memory();
    }
    ls->sink.color = color && !ls->json;
    ls->printer.json = ls->json;
    if (ls->json) {
        sink_document(&ls->sink, "file", ls->file_name);
        sink_text(&ls->sink, ", \"objects\": [");
    }
    if (ls->extremes)
        progress_begin("reading", PROGRESS_BYTES, walk_bytes(ls->file, path));
    walk_run(&walk, path);
    progress_end();
    if (ls->json)
        sink_text(&ls->sink, ls->any ? "\n]}\n" : "]}\n");
    if (printing)
        printer_release(&ls->printer);
    ls->status = tool_worse(ls->status, walk.status);
    return tool_worse(ls->status, sink_close(&ls->sink));
}

enum { OPTION_JSON = OPTION_LONG, OPTION_RAW };

static const struct option_row ls_option_rows[] = {
    {'r', "recursive", NULL, "also list nested groups", NULL},
    {'t', "tree", NULL, "print a tree of all groups, with names of dimensions and units", NULL},
    {'l', "long", NULL,
     "also print chunk shape, filters, stored bytes and\n"
     "compression ratio",
     NULL},
    {'m', "minmax", NULL, "also print the least and greatest value; reads all values", NULL},
    {OPTION_RAW, "raw", NULL, "-m: numbers as stored, without scale, missing values and dates",
     NULL},
    {OPTION_JSON, "json", NULL, "print JSON", NULL},
    OPTION_ROW_PLUGINS,
    OPTION_ROW_COMMIT,
    OPTION_ROW_COLOR,
    OPTION_ROW_EXTERNAL,
    OPTION_ROW_LIMIT,
    {0}};

struct arguments {
    const char *plugins, *commit, *color;
    int depth;
    bool tree;
};

static void ls_option(struct ls *ls, struct arguments *a, int option)
{
    if (option == 'r' || option == 't')
        a->depth = -1;
    a->tree = a->tree || option == 't';
    if (option == OPTION_COMMIT)
        a->commit = optarg;
    if (option == OPTION_PLUGINS)
        a->plugins = optarg;
    if (option == OPTION_COLOR)
        a->color = optarg ? optarg : "always";
    ls->lengthy = ls->lengthy || option == 'l';
    ls->extremes = ls->extremes || option == 'm';
    ls->raw = ls->raw || option == OPTION_RAW;
    ls->json = ls->json || option == OPTION_JSON;
}

static int ls_run(int argc, char **argv)
{
    struct options o = {.command = &ls_command, .argc = argc, .argv = argv};
    struct arguments a = {.depth = 1};
    struct ls ls = {.lengthy = false};
    int option, status, color;
    char **operands;

    while ((option = option_next(&o)) > 0)
        ls_option(&ls, &a, option);
    if (option < 0)
        return o.status;
    operands = option_operands(&o, 1, 2, "which file?");
    if (!operands)
        return o.status;
    color = color_wanted(a.color, STDOUT_FILENO);
    if (color < 0)
        return tool_usage(o.command->name, "--color is auto, always or never, not '%s'", a.color);
    ls.file_name = operands[0];
    status = tool_open_commit(ls.file_name, DREP_RDONLY | (ls.extremes ? 0 : DREP_HEADER_ONLY),
                              a.plugins, a.commit, &ls.file);
    if (status)
        return status;
    if (a.tree && !ls.json && !(ls.tree = calloc(1, sizeof *ls.tree)))
        status = tool_no_memory();
    if (!status)
        status = list(&ls, operands[1] ? operands[1] : "/", a.depth, color);
    free(ls.tree);
    drep_close(ls.file);
    return status;
}

const struct command ls_command = {
    .name = "ls",
    .run = ls_run,
    .summary = "list objects, one line each or as a tree",
    .usage = "[options] FILE [PATH]",
    .about = "Lists the members of a group, one line each: path, kind, type, shape.  -m applies\n"
             "missing_value, _FillValue, valid_range, scale_factor, add_offset and units of time.",
    .options = ls_option_rows,
    .examples = "  datarep ls -t a.drep\n"
                "  datarep ls -lm a.drep /grid",
    .operands = "<drep> <path>"};
