/* dump.c - `datarep dump`: prints a file, or one object of it. */
/* SPDX-License-Identifier: MIT */
#include "tools/cmd/dump.h"
#include "schema/suggest.h"
#include "tools/cmd/command.h"
#include "tools/cmd/dump_raw.h"
#include "tools/cmd/dump_state.h"
#include "tools/host/color.h"
#include "tools/host/exit.h"
#include "tools/host/fail.h"
#include "tools/host/message.h"
#include "tools/host/open.h"
#include "tools/host/pager.h"
#include "tools/host/progress.h"
#include "tools/text/printer.h"
#include "tools/text/sink.h"
#include "tools/walk/walk.h"
#include <errno.h>
#include <getopt.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* ------------------------------------------------------------ what to show */

typedef void form_fn(struct dump *d);

/* Check that the object and its selected elements exist.  An exit code. */
static int check_object(struct dump *d, form_fn *form)
{
    const char *path = d->operand.path;
    drep_objinfo info = DREP_OBJINFO;
    struct slice slice;
    drep_dsinfo ds_info = DREP_DSINFO;
    drep_dataset *ds;
    int status, err = drep_stat(d->file, path, &info);

    if (err)
        return operand_missing(d->file_name, d->file, path, err);
    if (!d->operand.slice && form != dump_raw)
        return 0;
    status = operand_open(&d->operand, d->file_name, d->file, &ds, &ds_info, &slice);
    if (!status)
        drep_dataset_close(ds);
    return status;
}

/* Without a terminal nobody waits for the first line. */
static void dump_begin_progress(const struct dump *d)
{
    if (d->header_only || isatty(STDOUT_FILENO) || !isatty(STDERR_FILENO))
        return;
    progress_begin("dump", PROGRESS_BYTES,
                   d->operand.slice ? 0 : walk_bytes(d->file, d->operand.path));
}

static int dump_open(struct dump *d, const char *object, form_fn *form)
{
    int status, err;

    d->header = DREP_HEADER;
    err = drep_header_get(d->file, &d->header);
    if (!err)
        err = printer_init(&d->printer, d->file, form != dump_text);
    if (err)
        return tool_fail(d->file_name, NULL, err);
    d->printer.own = true;
    d->printer.precise = form == dump_text;
    status = operand_init(&d->operand, d->file, object) ? tool_no_memory() : 0;
    d->operand.members = true;
    if (!status)
        status = check_object(d, form);
    if (!status) {
        dump_begin_progress(d);
        form(d);
        progress_end();
        status = sink_close(d->sink);
    } else {
        sink_release(d->sink);
    }
    operand_release(&d->operand);
    printer_release(&d->printer);
    return tool_worse(d->status, status);
}

/* ------------------------------------------------------------- command line */

enum {
    OPTION_JSON = OPTION_LONG,
    OPTION_JSONL,
    OPTION_YAML,
    OPTION_RAW,
    OPTION_AS,
    OPTION_NUMBERS
};

static const struct option_row dump_option_rows[] = {
    {'H', "header", NULL, "omit the values of datasets", NULL},
    {'a', "all", NULL, "show the notes of converters, too", NULL},
    {OPTION_JSON, "json", NULL, "print JSON", NULL},
    {OPTION_JSONL, "jsonl", NULL,
     "print JSON, one line per object; for a dataset, one line\n"
     "per index of its first dimension",
     NULL},
    {OPTION_YAML, "yaml", NULL, "print a schema that makes the same file", NULL},
    {OPTION_RAW, "raw", NULL, "print the bytes of one dataset in this machine's form", NULL},
    {OPTION_AS, "as", "NAME",
     "print bytes in this data representation (native:s390x;\n"
     "stored: as in the file); without --raw also the values",
     "stored <datarep>"},
    {OPTION_NUMBERS, "numbers", NULL, "text: print times as numbers, not as dates", NULL},
    {'w', "width", "COLUMNS", "width of a line (80); 0: one line per row of values", NULL},
    OPTION_ROW_PLUGINS,
    OPTION_ROW_COMMIT,
    OPTION_ROW_COLOR,
    OPTION_ROW_EXTERNAL,
    OPTION_ROW_LIMIT,
    {0}};

struct dump_options {
    struct dump dump;
    form_fn *form;
    const char *plugins, *color, *commit;
};

/* False after saying what is wrong with it. */
static bool take_width(struct dump_options *a, const char *text)
{
    char *end;
    long width;

    errno = 0;
    width = strtol(text, &end, 10);
    if (end != text && !*end && !errno && width >= 0 && width <= INT_MAX) {
        a->dump.width = (int)width;
        return true;
    }
    tool_usage(dump_command.name, "--width is a number of columns, not '%s'", text);
    return false;
}

/* false after saying what is wrong with it. */
static bool take_form(struct dump_options *a, form_fn *form)
{
    if (a->form != dump_text && a->form != form) {
        tool_usage(dump_command.name, "one of --json, --jsonl, --yaml and --raw");
        return false;
    }
    a->form = form;
    return true;
}

static bool dump_option(struct dump_options *a, int option)
{
    switch (option) {
    case 'H':
        a->dump.header_only = true;
        return true;
    case 'a':
        a->dump.notes = true;
        return true;
    case 'w':
        return take_width(a, optarg);
    case OPTION_JSON:
        return take_form(a, dump_json);
    case OPTION_JSONL:
        return take_form(a, dump_jsonl);
    case OPTION_YAML:
        return take_form(a, dump_yaml);
    case OPTION_RAW:
        return take_form(a, dump_raw);
    case OPTION_NUMBERS:
        a->dump.numbers = true;
        return true;
    case OPTION_AS:
        a->dump.as = optarg;
        return true;
    case OPTION_PLUGINS:
        a->plugins = optarg;
        return true;
    case OPTION_COMMIT:
        a->commit = optarg;
        return true;
    default:
        a->color = optarg ? optarg : "always";
        return true;
    }
}

/* --as: a representation that is known.  An exit code. */
static int check_as(const char *name)
{
    struct suggestion meant = {.word = name};
    drep_datarep rep = DREP_DATAREP;

    if (!name || strcmp(name, "stored") == 0 || drep_datarep_get(name, &rep) == 0)
        return 0;
    suggest_datareps(&meant);
    if (meant.best[0])
        return tool_usage(dump_command.name, "unknown data representation '%s'; did you mean '%s'?",
                          name, meant.best);
    return tool_usage(dump_command.name,
                      "unknown data representation '%s'; `datarep reps` lists them", name);
}

/* Reject options that exclude each other; an exit code. */
static int check_dump_options(const struct dump_options *a, const char *path)
{
    const struct command *c = &dump_command;

    if (a->form == dump_yaml && path)
        return tool_usage(c->name, "--yaml prints a whole file, not a PATH");
#if !HAVE_YAML
    if (a->form == dump_yaml)
        return tool_usage(c->name, "built without libyaml");
#endif
    if (a->form == dump_raw && !path)
        return tool_usage(c->name, "--raw of which dataset?  FILE PATH");
    if (a->form == dump_raw && a->dump.header_only)
        return tool_usage(c->name, "--raw has no header");
    if (a->form == dump_raw && isatty(STDOUT_FILENO))
        return tool_usage(c->name, "bytes on a terminal: redirect the output");
    if (a->dump.as && a->form != dump_raw && a->form != dump_text)
        return tool_usage(c->name, "--as goes with --raw or text");
    return check_as(a->dump.as);
}

static int dump_run(int argc, char **argv)
{
    struct options o = {.command = &dump_command, .argc = argc, .argv = argv};
    struct sink sink;
    struct dump_options a = {.dump = {.sink = &sink, .width = 80}, .form = dump_text};
    struct dump *d = &a.dump;
    int option, status, color;
    char **operands;

    while ((option = option_next(&o)) > 0)
        if (!dump_option(&a, option))
            return TOOL_USAGE;
    if (option < 0)
        return o.status;
    operands = option_operands(&o, 1, 2, "which file?");
    if (!operands)
        return o.status;
    color = color_wanted(a.color, STDOUT_FILENO);
    if (color < 0)
        return tool_usage(o.command->name, "--color is auto, always or never, not '%s'", a.color);
    status = check_dump_options(&a, operands[1]);
    if (status)
        return status;
    d->file_name = operands[0];
    status = tool_open_commit(d->file_name, DREP_RDONLY | (d->header_only ? DREP_HEADER_ONLY : 0),
                              a.plugins, a.commit, &d->file);
    if (status)
        return status;
    pager_begin();
    status = sink_init(&sink, STDOUT_FILENO) ? tool_no_memory() : 0;
    sink.color = color && a.form == dump_text;
    if (!status)
        status = dump_open(d, operands[1], a.form);
    pager_end();
    drep_close(d->file);
    return status;
}

const struct command dump_command = {
    .name = "dump",
    .run = dump_run,
    .summary = "print a file or a part of it, as text, JSON or a schema",
    .usage = "[options] FILE [PATH[SLICE][.MEMBER]]",
    .about = "Prints a file's header, its objects and their values.  PATH: only that object;\n"
             "SLICE selects part of a dataset in NumPy's notation or by coordinates, MEMBER one\n"
             "member of its structs: '/t[0:3].value', '/t[:].position.x'.",
    .options = dump_option_rows,
    .examples = "  datarep dump a.drep '/grid/sst[0,10:20,::2]'\n"
                "  datarep dump a.drep '/t2m[time=2026-01-05:2026-02-01, lat=40:60]'",
    .operands = "<drep> <path>"};
