/* diff.c - `datarep diff`: where two files differ, and by how much.
 *
 * Objects are paired by path, each pair once: a file may link to one object in several places, and
 * hostile links may lead in circles. */
/* SPDX-License-Identifier: MIT */
#include "tools/cmd/diff.h"
#include "schema/members.h"
#include "schema/paths.h"
#include "tools/cmd/command.h"
#include "tools/cmd/diff_data.h"
#include "tools/cmd/diff_say.h"
#include "tools/cmd/hdf5.h"
#include "tools/host/color.h"
#include "tools/host/exit.h"
#include "tools/host/fail.h"
#include "tools/host/message.h"
#include "tools/host/progress.h"
#include "tools/text/printer.h"
#include "tools/text/sink.h"
#include "tools/walk/walk.h"
#include <errno.h>
#include <getopt.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define DIFF_DEPTH 512 /* deeper groups are not compared: damaged files go in circles */

/* ------------------------------------------------------------------ objects */

static void compare_objects(struct diff *d, const char *a_path, const char *b_path);

static const char *link_name(int link)
{
    static const char *const names[] = {"?", "hard link", "soft link", "external link"};

    return names[link >= 1 && link <= 3 ? link : 0];
}

static void compare_targets(struct diff *d, const char *path, const struct member *a,
                            const struct member *b)
{
    if (!(d->parts & DIFF_LINKS))
        return;
    if (a->target_file && b->target_file && strcmp(a->target_file, b->target_file) != 0)
        diff_say(d, path, "file", a->target_file, b->target_file);
    if (strcmp(a->target, b->target) != 0)
        diff_say(d, path, "target", a->target, b->target);
}

/* Members of the same name. */
static void compare_members(struct diff *d, const char *a_group, const char *b_group,
                            const struct member *a, const struct member *b)
{
    char *a_path = path_of_member(a_group, a->name), *b_path = path_of_member(b_group, b->name);
    int err;

    if (!a_path || !b_path)
        d->status = tool_worse(d->status, tool_no_memory());
    else if ((err = member_later(d->a.file, a_path, a)))
        diff_failed(d, &d->a, a_path, err);
    else if ((err = member_later(d->b.file, b_path, b)))
        diff_failed(d, &d->b, b_path, err);
    else if (a->link != b->link)
        diff_say(d, a_path, "", link_name(a->link), link_name(b->link));
    else if (a->link == DREP_LINK_HARD)
        compare_objects(d, a_path, b_path);
    else
        compare_targets(d, a_path, a, b);
    free(a_path);
    free(b_path);
}

static void say_single(struct diff *d, const char *group, const struct member *m, bool in_a)
{
    char *path = m->kind == DREP_OBJ_DIMENSION ? strdup(m->target) : path_of_member(group, m->name);

    if (path)
        diff_say(d, path, "", in_a ? path : NULL, in_a ? NULL : path);
    free(path);
}

/* Both lists are in the order of names. */
static void compare_lists(struct diff *d, const char *a_path, const char *b_path,
                          const struct members *a, const struct members *b)
{
    size_t i = 0, k = 0;
    int order;

    while ((i < a->len || k < b->len) && !d->sink.err) {
        order = i == a->len ? 1 : k == b->len ? -1 : strcmp(a->list[i].name, b->list[k].name);
        if (order < 0)
            say_single(d, a_path, &a->list[i], true);
        else if (order > 0)
            say_single(d, a_path, &b->list[k], false);
        else if (a->list[i].kind == DREP_OBJ_DIMENSION && b->list[k].kind == DREP_OBJ_DIMENSION)
            compare_objects(d, a->list[i].target, b->list[k].target);
        else
            compare_members(d, a_path, b_path, &a->list[i], &b->list[k]);
        i += order <= 0;
        k += order >= 0;
    }
}

typedef int list_fn(struct members *out, drep_file *file, const char *path, int order);

static void compare_listed(struct diff *d, const char *a_path, const char *b_path, list_fn *list)
{
    struct members a = {0}, b = {0};
    int err = list(&a, d->a.file, a_path, DREP_BY_NAME);

    if (err)
        diff_failed(d, &d->a, a_path, err);
    err = list(&b, d->b.file, b_path, DREP_BY_NAME);
    if (err)
        diff_failed(d, &d->b, b_path, err);
    compare_lists(d, a_path, b_path, &a, &b);
    members_release(&a);
    members_release(&b);
}

static void compare_groups(struct diff *d, const char *a_path, const char *b_path)
{
    if (d->parts & DIFF_DIMENSIONS)
        compare_listed(d, a_path, b_path, dimensions_list);
    compare_listed(d, a_path, b_path, members_list);
}

static void compare_types(struct diff *d, const char *a_path, const char *b_path)
{
    drep_type *a, *b;
    char *x = NULL, *y = NULL;
    int err = drep_type_open(d->a.file, a_path, &a);

    if (err) {
        diff_failed(d, &d->a, a_path, err);
        return;
    }
    err = drep_type_open(d->b.file, b_path, &b);
    if (err) {
        diff_failed(d, &d->b, b_path, err);
        drep_type_free(a);
        return;
    }
    if (drep_type_print(a, &x) == 0 && drep_type_print(b, &y) == 0 && strcmp(x, y) != 0 &&
        (d->parts & DIFF_TYPES))
        diff_say(d, a_path, "type", x, y);
    free(x);
    free(y);
    drep_type_free(a);
    drep_type_free(b);
}

static void compare_dimensions(struct diff *d, const char *path, const drep_objinfo *a,
                               const drep_objinfo *b)
{
    char x[32], y[32];

    snprintf(x, sizeof x, "%" PRId64 "%s", a->len, a->unlimited ? "/unlimited" : "");
    snprintf(y, sizeof y, "%" PRId64 "%s", b->len, b->unlimited ? "/unlimited" : "");
    if (strcmp(x, y) != 0)
        diff_say(d, path, "length", x, y);
}

/* An object that has several names is compared once; under the others it must be the same
 * object on both sides.  True if that is all there is to do. */
static bool compared_before(struct diff *d, const char *a_path, const drep_objinfo *a,
                            const drep_objinfo *b)
{
    const char *before = NULL;
    char id[32];

    if (a->links <= 1 && b->links <= 1)
        return false;
    snprintf(id, sizeof id, "%" PRIu64, b->id);
    if (paths_add(&d->met, a->id, id, &before)) {
        d->status = tool_worse(d->status, tool_no_memory());
        return true;
    }
    if (!before || strcmp(before, id) == 0)
        return before != NULL;
    if (d->parts & DIFF_LINKS)
        diff_say(d, a_path, "", "another name of an object seen before", "another object");
    return false;
}

static const char *diff_kind_name(int kind)
{
    static const char *const names[] = {"?", "group", "dataset", "type", "dimension"};

    return names[kind >= 1 && kind <= 4 ? kind : 0];
}

static void compare_objects(struct diff *d, const char *a_path, const char *b_path)
{
    drep_objinfo a = DREP_OBJINFO, b = DREP_OBJINFO;
    int err = drep_stat(d->a.file, a_path, &a);

    if (err) {
        diff_failed(d, &d->a, a_path, err);
        return;
    }
    err = drep_stat(d->b.file, b_path, &b);
    if (err) {
        diff_failed(d, &d->b, b_path, err);
        return;
    }
    if (a.kind != b.kind) {
        diff_say(d, a_path, "", diff_kind_name(a.kind), diff_kind_name(b.kind));
        return;
    }
    if (compared_before(d, a_path, &a, &b))
        return;
    d->objects++;
    if (d->parts & DIFF_ATTRIBUTES)
        diff_attributes(d, a_path, b_path);
    if (a.kind == DREP_OBJ_DATASET)
        diff_datasets(d, a_path, b_path);
    if (a.kind == DREP_OBJ_TYPE)
        compare_types(d, a_path, b_path);
    if (a.kind == DREP_OBJ_DIMENSION)
        compare_dimensions(d, a_path, &a, &b);
    if (a.kind == DREP_OBJ_GROUP && d->depth++ < DIFF_DEPTH)
        compare_groups(d, a_path, b_path);
    d->depth -= a.kind == DREP_OBJ_GROUP;
}

/* -------------------------------------------------------------------- files */

static int side_open(struct diff_side *side, const char *name, const char *path,
                     const char *plugins, bool header_only)
{
    drep_objinfo info = DREP_OBJINFO;
    int err, status;

    side->name = name;
    status = hdf5_open(name, DREP_RDONLY | (header_only ? DREP_HEADER_ONLY : 0), plugins,
                       &side->file, &side->foreign);
    if (status)
        return status;
    err = printer_init(&side->printer, side->file, false);
    side->printer.own = true;
    if (!err)
        err = operand_init(&side->operand, side->file, path);
    if (err)
        return tool_fail(name, NULL, err);
    err = drep_stat(side->file, side->operand.path, &info);
    if (err)
        return operand_missing(name, side->file, side->operand.path, err);
    if (side->operand.slice && info.kind != DREP_OBJ_DATASET) {
        tool_say(name, side->operand.path, "%s: only datasets have elements", side->operand.slice);
        return TOOL_USAGE;
    }
    return 0;
}

static void side_close(struct diff_side *side)
{
    operand_release(&side->operand);
    printer_release(&side->printer);
    if (side->file)
        drep_close(side->file);
}

static void diff_begin_progress(const struct diff *d)
{
    if (!isatty(STDERR_FILENO) || !(d->parts & DIFF_VALUES))
        return;
    progress_begin("diff", PROGRESS_BYTES,
                   d->a.operand.slice ? 0 : walk_bytes(d->a.file, d->a.operand.path));
}

static void compare_files(struct diff *d)
{
    drep_header a = DREP_HEADER, b = DREP_HEADER;

    if ((d->parts & DIFF_STORAGE) && drep_header_get(d->a.file, &a) == 0 &&
        drep_header_get(d->b.file, &b) == 0 && strcmp(a.datarep, b.datarep) != 0)
        diff_say(d, "/", "data representation", a.datarep, b.datarep);
    compare_objects(d, d->a.operand.path, d->b.operand.path);
}

/* The printers of both are those of their side from here on. */
static int diff_report(struct diff *d)
{
    int status;

    if (d->a.foreign || d->b.foreign)
        d->parts &= ~(unsigned)DIFF_TYPES;
    d->a.printer.json = d->b.printer.json = d->json;
    d->how.a = &d->a.printer;
    d->how.b = &d->b.printer;
    diff_begin_progress(d);
    diff_begin(d);
    compare_files(d);
    progress_end();
    paths_release(&d->met);
    status = tool_worse(d->status, d->found > 0 ? TOOL_DIFFERS : TOOL_FINE);
    return tool_worse(status, diff_end(d));
}

/* ------------------------------------------------------------- command line */

enum {
    OPTION_ABS = OPTION_LONG,
    OPTION_REL,
    OPTION_ULP,
    OPTION_NAN,
    OPTION_IGNORE,
    OPTION_STORAGE,
    OPTION_VALUES,
    OPTION_JSON
};

static const struct {
    const char *name;
    unsigned part;
} ignorable[] = {
    {"attributes", DIFF_ATTRIBUTES}, {"types", DIFF_TYPES},           {"fill", DIFF_FILL},
    {"maxshape", DIFF_MAXSHAPE},     {"dimensions", DIFF_DIMENSIONS}, {"links", DIFF_LINKS},
    {"values", DIFF_VALUES}};

static const struct option_row diff_option_rows[] = {
    {OPTION_ABS, "abs", "X", "numbers may differ by X", NULL},
    {OPTION_REL, "rel", "X", "numbers may differ by X times the greater magnitude", NULL},
    {OPTION_ULP, "ulp", "N", "reals may differ by N ULP of the coarser format", NULL},
    {OPTION_NAN, "nan", "HOW", "whether NaN equals NaN: equal (the default), differ",
     "equal differ"},
    {OPTION_IGNORE, "ignore", "LIST",
     "do not compare: attributes, types (if values can be\n"
     "compared), fill, maxshape, dimensions, links, values",
     "attributes types fill maxshape dimensions links values"},
    {'H', "header", NULL, "omit the values of datasets", NULL},
    {OPTION_STORAGE, "storage", NULL,
     "also compare representation, layout, chunks, filters,\n"
     "and the attributes hdf5:... of import",
     NULL},
    {OPTION_VALUES, "values", NULL,
     "compare what numbers mean by the CF conventions: what is\n"
     "missing, scaled numbers, times; ignore types and fill",
     NULL},
    {'n', "list", "N", "list up to N differing elements per dataset", NULL},
    {'q', "quiet", NULL, "print at most one line", NULL},
    {OPTION_JSON, "json", NULL, "print JSON", NULL},
    OPTION_ROW_PLUGINS,
    OPTION_ROW_COLOR,
    OPTION_ROW_EXTERNAL,
    OPTION_ROW_LIMIT,
    {0}};

struct diff_options {
    struct diff d;
    const char *plugins, *color;
};

/* Keeps a number that is not negative; false after saying what is wrong. */
static bool take_tolerance(double *out, const char *option, const char *text)
{
    char *end;
    double value = strtod(text, &end);

    if (end != text && !*end && value >= 0) {
        *out = value;
        return true;
    }
    tool_usage(diff_command.name, "--%s is a number from 0 on, not '%s'", option, text);
    return false;
}

static bool take_ignored(struct diff *d, char *list)
{
    char *word;
    size_t i, n = sizeof ignorable / sizeof *ignorable;

    while ((word = strsep(&list, ","))) {
        for (i = 0; i < n && strcmp(ignorable[i].name, word) != 0; i++)
            ;
        if (i == n) {
            tool_usage(diff_command.name, "--ignore: there is no '%s'", word);
            return false;
        }
        d->parts &= ~ignorable[i].part;
    }
    return true;
}

static bool take_nan(struct diff *d, const char *how)
{
    d->how.nan_differs = strcmp(how, "differ") == 0;
    if (d->how.nan_differs || strcmp(how, "equal") == 0)
        return true;
    tool_usage(diff_command.name, "--nan is equal or differ, not '%s'", how);
    return false;
}

static bool diff_option(struct diff_options *a, int option)
{
    struct diff *d = &a->d;
    double number;

    switch (option) {
    case OPTION_ABS:
        return take_tolerance(&d->how.abs, "abs", optarg);
    case OPTION_REL:
        return take_tolerance(&d->how.rel, "rel", optarg);
    case OPTION_ULP:
        return take_tolerance(&d->how.ulp, "ulp", optarg);
    case OPTION_NAN:
        return take_nan(d, optarg);
    case OPTION_IGNORE:
        return take_ignored(d, optarg);
    case 'n':
        if (!take_tolerance(&number, "list", optarg))
            return false;
        d->listed = number < 1e15 ? (int64_t)number : (int64_t)1e15;
        return true;
    case OPTION_PLUGINS:
        a->plugins = optarg;
        return true;
    case OPTION_COLOR:
        a->color = optarg ? optarg : "always";
        return true;
    default:
        d->parts |= option == OPTION_STORAGE ? DIFF_STORAGE : 0;
        d->parts &= option == 'H' ? ~(unsigned)DIFF_VALUES : ~0u;
        d->quiet = d->quiet || option == 'q';
        d->json = d->json || option == OPTION_JSON;
        d->meant = d->meant || option == OPTION_VALUES;
        if (d->meant)
            d->parts &= ~(unsigned)(DIFF_TYPES | DIFF_FILL);
        return true;
    }
}

static int diff_run(int argc, char **argv)
{
    struct options o = {.command = &diff_command, .argc = argc, .argv = argv};
    struct diff_options a = {
        .d = {.how = {.abs = -1, .rel = -1, .ulp = -1}, .parts = ~(unsigned)DIFF_STORAGE}};
    struct diff *d = &a.d;
    int option, status, color;
    char **operands;
    bool header;

    while ((option = option_next(&o)) > 0)
        if (!diff_option(&a, option))
            return TOOL_USAGE;
    if (option < 0)
        return o.status;
    operands = option_operands(&o, 2, 4, "which files?  A B");
    if (!operands)
        return o.status;
    color = color_wanted(a.color, STDOUT_FILENO);
    if (color < 0)
        return tool_usage(o.command->name, "--color is auto, always or never, not '%s'", a.color);
    header = !(d->parts & DIFF_VALUES);
    status = side_open(&d->a, operands[0], operands[2], a.plugins, header);
    if (!status)
        status =
            side_open(&d->b, operands[1], operands[2] && operands[3] ? operands[3] : operands[2],
                      a.plugins, header);
    if (!status && sink_init(&d->sink, STDOUT_FILENO))
        status = tool_no_memory();
    d->sink.color = color && !d->json;
    if (!status)
        status = diff_report(d);
    side_close(&d->a);
    side_close(&d->b);
    return status;
}

const struct command diff_command = {
    .name = "diff",
    .run = diff_run,
    .summary = "compare two files",
    .usage = "[options] A B [PATH[SLICE] [PATH[SLICE]]]",
    .about = "Compares objects, attributes and values of two files, across data\n"
             "representations; either may be an HDF5 file.  PATH: only that object; a second\n"
             "PATH is that of B.  Exit status: 0 equal, 1 different.",
    .options = diff_option_rows,
    .examples = "  datarep diff --rel=1e-6 old.drep new.drep\n"
                "  datarep diff a.drep a.h5 /grid/sst",
    .operands = "<drep> <drep> <path> <path>"};
