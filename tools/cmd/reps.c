/* reps.c - `datarep reps`: the data representations that this command knows. */
/* SPDX-License-Identifier: MIT */
#include "schema/suggest.h"
#include "tools/cmd/command.h"
#include "tools/flat/recipe.h"
#include "tools/host/exit.h"
#include "tools/host/fail.h"
#include "tools/host/message.h"
#include "tools/reps/check.h"
#include "tools/text/sink.h"
#include <datarep.h>
#include <getopt.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct reps_listing {
    struct sink sink;
    bool json, tables;
    int shown;
    int status;
};

static const char *order_name(int order)
{
    return order == DREP_BIG ? "big" : order == DREP_LITTLE ? "little" : "vax";
}

static void table_row(struct reps_listing *r, const drep_encoding *row, bool comma)
{
    const char *format = drep_format_name(row->format), *name = drep_code_name(row->code);
    struct sink *s = &r->sink;

    if (r->json)
        sink_format(s,
                    "%s\n  \"%s\": {\"size\": %d, \"align\": %d, \"order\": \"%s\", "
                    "\"format\": \"%s\"}",
                    comma ? "," : "", name, row->size, row->align, order_name(row->order), format);
    else
        sink_format(s, "  %-26s %3d %3d  %-6s  %s\n", name, row->size, row->align,
                    order_name(row->order), format);
}

static int put_table(struct reps_listing *r, const char *name)
{
    drep_encoding rows[DREP_CODE_MAX];
    struct sink *s = &r->sink;
    int i, n, err = drep_datarep_table(name, rows, DREP_CODE_MAX, &n);

    if (err)
        return err;
    if (r->json)
        sink_text(s, ", \"types\": {");
    else if (n > 0)
        sink_format(s, "  %-26s %3s %3s  %-6s  %s\n", "type", "size", "al", "order", "format");
    for (i = 0; i < n && i < DREP_CODE_MAX; i++)
        table_row(r, &rows[i], i > 0);
    if (r->json)
        sink_char(s, '}');
    return 0;
}

/* The properties that distinguish the tables of machines. */
static int put_summary(struct reps_listing *r, const char *name)
{
    drep_encoding rows[DREP_CODE_MAX];
    const drep_encoding *whole = NULL, *real = NULL;
    int i, n, align = 1, err = drep_datarep_table(name, rows, DREP_CODE_MAX, &n);

    for (i = 0; !err && i < n && i < DREP_CODE_MAX; i++) {
        whole = rows[i].code == DREP_CODE_LONG ? &rows[i] : whole;
        real = rows[i].code == DREP_CODE_LONG_DOUBLE ? &rows[i] : real;
        align = rows[i].align > align ? rows[i].align : align;
    }
    if (!whole || !real)
        return err;
    sink_format(&r->sink, ": %s-endian, LONG %d bytes, LONG_DOUBLE %s in %d, aligned to %d",
                order_name(whole->order), whole->size, drep_format_name(real->format), real->size,
                align);
    return 0;
}

static int show_datarep(const char *name, const char *form, void *ctx)
{
    struct reps_listing *r = ctx;
    struct sink *s = &r->sink;
    int err = 0;

    if (r->json) {
        sink_text(s, r->shown ? ",\n {\"name\": " : "\n {\"name\": ");
        sink_quoted(s, name, strlen(name));
        sink_text(s, ", \"form\": ");
        sink_quoted(s, form, strlen(form));
        err = put_table(r, name);
        sink_char(s, '}');
    } else {
        sink_name(s, name);
        sink_format(s, " (%s)", form);
        if (!r->tables && strcmp(form, "code") != 0)
            err = put_summary(r, name);
        sink_char(s, '\n');
        if (r->tables)
            err = put_table(r, name);
    }
    r->shown++;
    if (err)
        r->status = tool_worse(r->status, tool_fail(NULL, name, err));
    return s->err;
}

/* Shows one by its name, found in a walk over all. */
struct reps_search {
    struct reps_listing *reps;
    const char *name;
    bool found;
};

static int show_wanted(const char *name, const char *form, void *ctx)
{
    struct reps_search *w = ctx;

    if (strcmp(name, w->name) != 0)
        return 0;
    w->found = true;
    return show_datarep(name, form, w->reps);
}

static int unknown_datarep(const char *name)
{
    struct suggestion meant = {.word = name};

    suggest_datareps(&meant);
    if (meant.best[0])
        tool_say(NULL, NULL, "unknown data representation '%s'; did you mean '%s'?", name,
                 meant.best);
    else
        tool_say(NULL, NULL, "unknown data representation '%s'; `datarep reps` lists them", name);
    return TOOL_USAGE;
}

static void show_all(struct reps_listing *r, int argc, char **argv)
{
    int err = 0, i;

    r->tables = argc > 0;
    if (r->json)
        sink_text(&r->sink, "{\"version\": 1, \"datareps\": [");
    if (argc == 0)
        err = drep_datarep_walk(show_datarep, r);
    for (i = 0; i < argc; i++) {
        struct reps_search w = {.reps = r, .name = argv[i]};
        drep_datarep rep = DREP_DATAREP;

        /* A plugin's name is in the list once somebody asked for it. */
        (void)drep_datarep_get(argv[i], &rep);
        err = drep_datarep_walk(show_wanted, &w);
        if (err || w.found)
            continue;
        r->status = tool_worse(r->status, unknown_datarep(argv[i]));
    }
    if (err && err != DREP_ERR_STOPPED)
        r->status = tool_worse(r->status, tool_fail(NULL, NULL, err));
    if (r->json)
        sink_text(&r->sink, r->shown ? "\n]}\n" : "]}\n");
}

enum { OPTION_CHECK = OPTION_LONG, OPTION_PLUGIN, OPTION_JSON };

/* Makes more representations known, before any is asked for.  An exit code. */
static int load(int option, const char *what)
{
    char own[DREP_MAX_DATAREP_STRING];
    int err;

    if (option == 's')
        return recipe_datarep(what, own, sizeof own);
    err = option == OPTION_PLUGIN ? drep_plugin_load(what) : drep_plugin_path(what);
    return err ? tool_fail(NULL, NULL, err) : TOOL_FINE;
}

static const struct option_row reps_option_rows[] = {
    {'s', "schema", "SCHEMA", "declare the representations of this schema first", "<schema>"},
    {OPTION_CHECK, "check", NULL, "check the rules for NAMEs", NULL},
    {OPTION_PLUGIN, "plugin", "FILE", "load this plugin first", "<file>"},
    OPTION_ROW_PLUGINS,
    {OPTION_JSON, "json", NULL, "print JSON, with tables", NULL},
    OPTION_ROW_LIMIT,
    {0}};

static int reps_run(int argc, char **argv)
{
    struct options o = {.command = &reps_command, .argc = argc, .argv = argv};
    struct reps_listing r = {.json = false};
    bool check = false;
    int option, status;
    char **names;

    while ((option = option_next(&o)) > 0) {
        if (option == OPTION_PLUGIN || option == OPTION_PLUGINS || option == 's') {
            status = load(option, optarg);
            if (status)
                return status;
        }
        check = check || option == OPTION_CHECK;
        r.json = r.json || option == OPTION_JSON;
    }
    if (option < 0)
        return o.status;
    names = option_operands(&o, check, INT_MAX, "--check which data representation?");
    if (!names)
        return o.status;
    if (check)
        return reps_check(names, argc - optind, r.json);
    if (sink_init(&r.sink, STDOUT_FILENO))
        return tool_no_memory();
    show_all(&r, argc - optind, names);
    if (r.shown == 0 && r.status) {
        sink_release(&r.sink);
        return r.status;
    }
    return tool_worse(r.status, sink_close(&r.sink));
}

const struct command reps_command = {
    .name = "reps",
    .run = reps_run,
    .summary = "list and check data representations",
    .usage = "[options] [NAME...]",
    .about = "Lists the data representations; with NAMEs, the encoding of every datatype: bytes,\n"
             "alignment inside a struct, byte order, format.",
    .options = reps_option_rows,
    .examples = "  datarep reps -s legacy.yaml cray\n"
                "  datarep reps --plugin=./mine.so --check mine",
    .operands = "<datarep>..."};
