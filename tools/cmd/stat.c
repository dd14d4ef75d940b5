/* stat.c - `datarep stat`: where the bytes of a file are. */
/* SPDX-License-Identifier: MIT */
#include "tools/cmd/command.h"
#include "tools/host/exit.h"
#include "tools/host/fail.h"
#include "tools/host/open.h"
#include "tools/text/print.h"
#include "tools/text/sink.h"
#include "tools/walk/walk.h"
#include <inttypes.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define MOST_PIPES 1000 /* in one file; more are counted as one */

/* All datasets whose chunks go through the same filters. */
struct filter_usage {
    char *filters; /* "shuffle+zstd" */
    int64_t stored, payload, chunks;
};

struct stat_run {
    const char *file_name;
    bool json, objects;
    struct sink *sink;
    drep_file *file;
    struct filter_usage *pipe;
    size_t npipes;
    int64_t listed;
};

/* ------------------------------------------------------------------- the file */

static void put_usage(struct stat_run *r, const drep_usage *usage)
{
    const struct {
        const char *name, *meaning;
        int64_t value;
        bool bytes;
    } rows[] = {
        {"size", "the whole file", usage->file, true},
        {"slots", "header slots", usage->slots, true},
        {"nodes", "nodes of the tree", usage->nodes, true},
        {"blobs", "large values and lists", usage->blobs, true},
        {"sums", "checksums of payload", usage->sums, true},
        {"data", "payload", usage->data, true},
        {"free", "free, to be used again", usage->free, true},
        {"slack", "lost to alignment", usage->slack, true},
        {"objects", "objects", usage->objects, false},
        {"chunks", "stored chunks", usage->chunks, false},
        {"absent", "blocks of 4 KiB without a checksum; `datarep check --seal`", usage->absent,
         false},
    };
    struct sink *s = r->sink;
    size_t i;

    if (r->json) {
        sink_document(s, "file", r->file_name);
    } else {
        sink_name(s, r->file_name);
        sink_text(s, ":\n");
    }
    for (i = 0; i < sizeof rows / sizeof *rows; i++) {
        if (r->json)
            sink_format(s, ", \"%s\": %" PRId64, rows[i].name, rows[i].value);
        else if (rows[i].value || strcmp(rows[i].name, "absent") != 0)
            sink_format(s, "%16" PRId64 " %s %s\n", rows[i].value,
                        rows[i].bytes ? "bytes " : "      ", rows[i].meaning);
    }
}

/* -------------------------------------------------------------------- filters */

static int pipe_name(const drep_dsinfo *info, char **name)
{
    struct sink text;
    int i;

    if (sink_init(&text, -1))
        return DREP_ERR_NOMEM;
    for (i = 0; i < info->nfilters; i++) {
        if (i)
            sink_char(&text, '+');
        print_filter(&text, &info->filters[i]);
    }
    sink_put(&text, "", 1);
    *name = text.err ? NULL : strdup(text.buf);
    sink_release(&text);
    return *name ? 0 : DREP_ERR_NOMEM;
}

static int add_pipe(struct stat_run *r, const drep_dsinfo *info, const drep_objusage *u)
{
    struct filter_usage *more;
    char *name;
    size_t i = 0;
    int err = pipe_name(info, &name);

    if (err)
        return err;
    while (i < r->npipes && i + 1 < MOST_PIPES && strcmp(r->pipe[i].filters, name) != 0)
        i++;
    if (i == r->npipes) {
        more = realloc(r->pipe, (i + 1) * sizeof *more);
        if (!more) {
            free(name);
            return DREP_ERR_NOMEM;
        }
        r->pipe = more;
        r->pipe[r->npipes++] = (struct filter_usage){.filters = name};
    } else {
        free(name);
    }
    r->pipe[i].stored += u->data;
    r->pipe[i].payload += u->payload;
    r->pipe[i].chunks += u->chunks;
    return 0;
}

static void put_pipes(struct stat_run *r)
{
    struct sink *s = r->sink;
    size_t i;

    if (r->json)
        sink_text(s, ", \"filters\": [");
    for (i = 0; i < r->npipes; i++) {
        const struct filter_usage *p = &r->pipe[i];

        if (r->json) {
            sink_text(s, i ? ", {\"filters\": " : "{\"filters\": ");
            sink_quoted(s, p->filters, strlen(p->filters));
            sink_format(
                s, ", \"stored\": %" PRId64 ", \"payload\": %" PRId64 ", \"chunks\": %" PRId64 "}",
                p->stored, p->payload, p->chunks);
            continue;
        }
        sink_format(s, "%16" PRId64 " bytes  payload %s%s", p->stored,
                    *p->filters ? "through " : "without filters", p->filters);
        if (*p->filters && p->stored > 0)
            sink_format(s, ", %.2f:1", (double)p->payload / (double)p->stored);
        sink_format(s, ", chunks: %" PRId64 "\n", p->chunks);
    }
    if (r->json)
        sink_char(s, ']');
}

/* -------------------------------------------------------------------- objects */

static const char *stat_kind_name(int kind)
{
    static const char *const names[] = {"", "group", "dataset", "type", "dimension"};

    return kind >= DREP_OBJ_GROUP && kind <= DREP_OBJ_DIMENSION ? names[kind] : "object";
}

static void stat_object(struct stat_run *r, const struct walk_item *item, const drep_objusage *u)
{
    struct sink *s = r->sink;

    if (r->json) {
        sink_text(s, r->listed++ ? ", {\"path\": " : "{\"path\": ");
        sink_quoted(s, item->path, strlen(item->path));
        sink_format(s,
                    ", \"kind\": \"%s\", \"metadata\": %" PRId64 ", \"data\": %" PRId64
                    ", \"sums\": %" PRId64 ", \"payload\": %" PRId64 ", \"chunks\": %" PRId64 "}",
                    stat_kind_name(item->info.kind), u->metadata, u->data, u->sums, u->payload,
                    u->chunks);
        return;
    }
    if (r->listed++ == 0)
        sink_text(s, "        metadata             data          chunks     ratio  object\n");
    sink_format(s, "%16" PRId64 " %16" PRId64 " %15" PRId64, u->metadata, u->data, u->chunks);
    if (u->data > 0)
        sink_format(s, "  %8.2f  ", (double)u->payload / (double)u->data);
    else
        sink_text(s, "         -  ");
    sink_name(s, item->path);
    sink_char(s, '\n');
}

static int stat_one_object(struct walk *walk, const struct walk_item *item)
{
    struct stat_run *r = walk->ctx;
    drep_dataset *ds = NULL;
    drep_objusage usage = DREP_OBJUSAGE;
    drep_dsinfo *info;
    int err;

    if (item->link || (!r->objects && item->info.kind != DREP_OBJ_DATASET))
        return 0;
    err = drep_object_usage(r->file, item->path, &usage);
    if (!err && r->objects)
        stat_object(r, item, &usage);
    if (!err && usage.chunks > 0) {
        info = malloc(sizeof *info);
        if (info)
            *info = DREP_DSINFO;
        err = info ? drep_dataset_open(r->file, item->path, &ds) : DREP_ERR_NOMEM;
        if (!err)
            err = drep_dataset_info(ds, info);
        if (!err)
            err = add_pipe(r, info, &usage);
        drep_dataset_close(ds);
        free(info);
    }
    if (err)
        walk->status = tool_worse(walk->status, tool_fail(r->file_name, item->path, err));
    return r->sink->err ? DREP_ERR_STOPPED : 0;
}

static int stat_contents(struct stat_run *r)
{
    struct walk walk = {.file = r->file,
                        .file_name = r->file_name,
                        .depth = -1,
                        .enter = stat_one_object,
                        .ctx = r};

    if (r->json && r->objects)
        sink_text(r->sink, ", \"contents\": [");
    walk_run(&walk, "/");
    if (r->json && r->objects)
        sink_char(r->sink, ']');
    return walk.status;
}

static int stat_file(struct stat_run *r)
{
    drep_usage usage = DREP_USAGE;
    int err, status = tool_open(r->file_name, DREP_RDONLY | DREP_HEADER_ONLY, NULL, &r->file);

    if (status)
        return status;
    err = drep_usage_get(r->file, &usage);
    if (err) {
        status = tool_fail(r->file_name, NULL, err);
    } else {
        put_usage(r, &usage);
        status = stat_contents(r);
        put_pipes(r);
        if (r->json)
            sink_text(r->sink, "}\n");
    }
    while (r->npipes > 0)
        free(r->pipe[--r->npipes].filters);
    free(r->pipe);
    drep_close(r->file);
    return status;
}

enum { OPTION_JSON = OPTION_LONG };

static const struct option_row stat_option_rows[] = {
    {'r', "recursive", NULL, "also print the usage of each object", NULL},
    {OPTION_JSON, "json", NULL, "print JSON, one object per file", NULL},
    OPTION_ROW_LIMIT,
    {0}};

static int stat_run(int argc, char **argv)
{
    struct options o = {.command = &stat_command, .argc = argc, .argv = argv};
    int option, status = TOOL_FINE;
    bool json = false, objects = false;
    struct sink sink;
    char **files;

    while ((option = option_next(&o)) > 0) {
        json = json || option == OPTION_JSON;
        objects = objects || option == 'r';
    }
    if (option < 0)
        return o.status;
    files = option_operands(&o, 1, INT_MAX, "which file?");
    if (!files)
        return o.status;
    if (sink_init(&sink, STDOUT_FILENO))
        return tool_no_memory();
    for (; *files; files++) {
        struct stat_run r = {.file_name = *files, .json = json, .objects = objects, .sink = &sink};

        status = tool_worse(status, stat_file(&r));
    }
    return tool_worse(status, sink_close(&sink));
}

const struct command stat_command = {
    .name = "stat",
    .run = stat_run,
    .summary = "print the space usage of a file",
    .usage = "[options] FILE...",
    .about = "Prints the space usage of a file, the savings of filters, and the number of objects\n"
             "and chunks; with -r also the usage of each object.",
    .options = stat_option_rows,
    .examples = "  datarep stat -r a.drep\n"
                "  datarep stat --json *.drep | jq .free",
    .operands = "<drep>..."};
