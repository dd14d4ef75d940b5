/* reps.c - `datarep reps`: the data representations that this command knows. */
#include "reps_check.h"
#include "sink.h"
#include "tool.h"
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const char help[] =
    "Usage: datarep reps [options] [NAME...]\n"
    "Lists the data representations; with NAMEs, how each holds every datatype: bytes,\n"
    "alignment inside a struct, order of bytes, format.\n"
    "\n"
    "      --check          try whether NAMEs keep the rules of a data representation\n"
    "      --plugin=FILE    load this plugin first\n"
    "      --plugins=DIRS   look for plugins there\n"
    "      --json           as JSON, with tables\n"
    "  -h, --help           this text\n";

struct reps {
    struct sink sink;
    bool json, tables;
    int shown;
    int status;
};

static const char *order_name(int order)
{
    return order == DREP_BIG ? "big" : order == DREP_LITTLE ? "little" : "vax";
}

static void put_row(struct reps *r, const drep_encoding *row, bool comma)
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

static int put_table(struct reps *r, const char *name)
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
        put_row(r, &rows[i], i > 0);
    if (r->json)
        sink_char(s, '}');
    return 0;
}

static int show(const char *name, const char *form, void *ctx)
{
    struct reps *r = ctx;
    struct sink *s = &r->sink;
    int err = 0;

    if (r->json) {
        sink_text(s, r->shown ? ",\n {\"name\": " : "[\n {\"name\": ");
        sink_quoted(s, name, strlen(name));
        sink_text(s, ", \"form\": ");
        sink_quoted(s, form, strlen(form));
        err = put_table(r, name);
        sink_char(s, '}');
    } else {
        sink_name(s, name);
        sink_format(s, " (%s)\n", form);
        if (r->tables)
            err = put_table(r, name);
    }
    r->shown++;
    if (err)
        r->status = tool_worse(r->status, tool_fail(NULL, name, err));
    return s->err;
}

/* Shows one by its name, found in a walk over all. */
struct wanted {
    struct reps *reps;
    const char *name;
    bool found;
};

static int show_wanted(const char *name, const char *form, void *ctx)
{
    struct wanted *w = ctx;

    if (strcmp(name, w->name) != 0)
        return 0;
    w->found = true;
    return show(name, form, w->reps);
}

static void show_all(struct reps *r, int argc, char **argv)
{
    int err = 0, i;

    r->tables = argc > 0;
    if (argc == 0)
        err = drep_datarep_walk(show, r);
    for (i = 0; i < argc; i++) {
        struct wanted w = {.reps = r, .name = argv[i]};
        drep_datarep rep;

        /* A plugin's name is in the list once somebody asked for it. */
        (void)drep_datarep_get(argv[i], &rep);
        err = drep_datarep_walk(show_wanted, &w);
        if (err || w.found)
            continue;
        tool_say(NULL, NULL, "unknown data representation \"%s\"", argv[i]);
        r->status = tool_worse(r->status, TOOL_USAGE);
    }
    if (err && err != DREP_ERR_STOPPED)
        r->status = tool_worse(r->status, tool_fail(NULL, NULL, err));
    if (r->json)
        sink_text(&r->sink, r->shown ? "\n]\n" : "[]\n");
}

/* Exit code. */
static int load(int option, const char *what)
{
    int err = option == 'p' ? drep_plugin_load(what) : drep_plugin_path(what);

    return err ? tool_fail(NULL, NULL, err) : TOOL_FINE;
}

int cmd_reps(int argc, char **argv)
{
    static const struct option longs[] = {
        {"json", no_argument, NULL, 'j'},         {"check", no_argument, NULL, 'c'},
        {"plugin", required_argument, NULL, 'p'}, {"plugins", required_argument, NULL, 'P'},
        {"help", no_argument, NULL, 'h'},         {NULL, 0, NULL, 0}};
    struct reps r = {.json = false};
    bool check = false;
    int option, status;

    while ((option = tool_option(argc, argv, ":h", longs)) != -1) {
        if (option == 'h')
            return tool_help(help);
        if (option == '?')
            return TOOL_USAGE;
        if (option == 'p' || option == 'P') {
            status = load(option, optarg);
            if (status)
                return status;
        }
        check = check || option == 'c';
        r.json = r.json || option == 'j';
    }
    if (check && optind == argc)
        return tool_usage(argv[0], "--check which data representation?");
    if (check)
        return reps_check(argv + optind, argc - optind, r.json);
    if (sink_init(&r.sink, STDOUT_FILENO)) {
        tool_say(NULL, NULL, "out of memory");
        return TOOL_IO;
    }
    show_all(&r, argc - optind, argv + optind);
    if (r.shown == 0 && r.status) {
        sink_release(&r.sink);
        return r.status;
    }
    return tool_worse(r.status, sink_close(&r.sink));
}
