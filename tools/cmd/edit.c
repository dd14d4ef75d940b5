/* edit.c - `datarep edit`: attributes, names, links and dimensions of a file, changed in one
 * commit. */
/* SPDX-License-Identifier: MIT */
#include "tools/cmd/command.h"
#include "tools/cmd/edit_value.h"
#include "tools/host/exit.h"
#include "tools/host/fail.h"
#include "tools/host/message.h"
#include "tools/host/open.h"
#include "tools/text/array.h"
#include "tools/text/sink.h"
#include <datarep.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct edit {
    const char *file_name;
    drep_file *file;
    bool dry, shown; /* nothing is committed; each step is printed */
    struct printer printer;
    struct sink sink;
};

/* An operand: PATH, or PATH@NAME of an attribute; behind that ":TYPE" and "=VALUE" of a step that
 * takes them.  Malloc'ed in one piece. */
struct edit_operand {
    char *path, *name, *type, *value; /* NULL: not there */
};

struct edit_step {
    const char *verb;
    int operands;
    int (*run)(struct edit *e, struct edit_operand *at, const char *to);
    const char *usage;
};

/* Cuts `p` at the first of these characters; a backslash takes the meaning of the next character,
 * and goes.  Gives that character, '\0' at the end, and what is behind it. */
static char cut_at(char *p, const char *at, char **behind)
{
    char *to = p, found = '\0';

    while (*p && !strchr(at, *p)) {
        if (*p == '\\' && p[1])
            p++;
        *to++ = *p++;
    }
    found = *p;
    *behind = *p ? p + 1 : p;
    *to = '\0';
    return found;
}

/* Takes an operand apart.  Only with `valued` have ':' and '=' a meaning, behind the '@'. */
static bool take_apart(const char *operand, bool valued, struct edit_operand *out)
{
    char *rest, found;

    *out = (struct edit_operand){.path = strdup(operand)};
    if (!out->path)
        return false;
    found = cut_at(out->path, "@", &rest);
    if (!found)
        return true;
    out->name = rest;
    found = cut_at(out->name, valued ? ":=" : "", &rest);
    if (found == ':') {
        out->type = rest;
        rest = strchr(rest, '=');
        if (rest)
            *rest++ = '\0';
        out->value = rest;
    } else if (found == '=') {
        out->value = rest;
    }
    return true;
}

/* ---- steps ---- */

/* Begins the line of a step. */
static void begin_line(struct edit *e, const char *verb, const struct edit_operand *at)
{
    sink_text(&e->sink, verb);
    sink_char(&e->sink, ' ');
    sink_name(&e->sink, at->path);
    if (at->name) {
        sink_char(&e->sink, '@');
        sink_name(&e->sink, at->name);
    }
}

/* Prints the line of a step that changes a name or a place. */
static void put_names(struct edit *e, const char *verb, const struct edit_operand *at,
                      const char *to)
{
    if (!e->shown)
        return;
    begin_line(e, verb, at);
    sink_text(&e->sink, " -> ");
    sink_name(&e->sink, to);
    sink_char(&e->sink, '\n');
}

static void put_attr(struct edit *e, const struct edit_operand *at)
{
    struct array value;

    if (array_attr(&value, &e->printer, at->path, at->name)) {
        sink_text(&e->sink, "?");
        return;
    }
    print_type_text(&e->sink, value.shown, false);
    if (value.rank > 0)
        print_lengths(&e->sink, value.dims, value.rank);
    sink_char(&e->sink, ' ');
    array_put(&value, &e->printer, &e->sink);
    array_release(&value);
}

static bool has_attr(const struct edit *e, const struct edit_operand *at)
{
    drep_attrinfo info = DREP_ATTRINFO;
    int err = drep_attr_info(e->file, at->path, at->name, &info);

    drep_attrinfo_release(&info);
    return err != DREP_ERR_NOT_FOUND;
}

static int run_set(struct edit *e, struct edit_operand *at, const char *to)
{
    struct edit_value value = {at->path, at->name, at->type, at->value};
    int status;

    (void)to;
    if (!at->name || !at->value)
        return tool_usage("edit", "set takes PATH@NAME=VALUE or PATH@NAME:TYPE=VALUE");
    if (e->shown) {
        begin_line(e, "set", at);
        sink_text(&e->sink, ": ");
        if (has_attr(e, at))
            put_attr(e, at);
        else
            sink_text(&e->sink, "nothing");
    }
    status = edit_value_write(e->file, e->file_name, &value);
    if (!status && e->shown) {
        sink_text(&e->sink, " -> ");
        put_attr(e, at);
        sink_char(&e->sink, '\n');
    }
    return status;
}

/* True for the address of a dimension, where no link has that path. */
static bool is_dimension(const struct edit *e, const char *path)
{
    drep_objinfo info = DREP_OBJINFO;

    return strchr(path, '#') && drep_stat(e->file, path, &info) == 0 &&
           info.kind == DREP_OBJ_DIMENSION;
}

static int run_rm(struct edit *e, struct edit_operand *at, const char *to)
{
    int err;

    (void)to;
    if (e->shown) {
        begin_line(e, "rm", at);
        if (at->name && has_attr(e, at)) {
            sink_text(&e->sink, ": ");
            put_attr(e, at);
        }
        sink_char(&e->sink, '\n');
    }
    if (at->name)
        err = drep_attr_remove(e->file, at->path, at->name);
    else if (is_dimension(e, at->path))
        err = drep_dimension_remove(e->file, at->path);
    else
        err = drep_link_remove(e->file, at->path);
    return err ? tool_fail(e->file_name, at->path, err) : TOOL_FINE;
}

/* folder "/" name, malloc'ed. */
static char *path_joined(const char *folder, size_t len, const char *name)
{
    size_t size = len + strlen(name) + 2;
    char *path = malloc(size);

    if (path)
        snprintf(path, size, "%.*s%s%s", (int)len, folder, len && folder[len - 1] == '/' ? "" : "/",
                 name);
    return path;
}

static int link_moved(struct edit *e, const char *from, char *to)
{
    int err = to ? drep_link_move(e->file, from, to) : DREP_ERR_NOMEM;

    free(to);
    return err;
}

/* The last part of a path. */
static const char *last_of(const char *path)
{
    const char *slash = strrchr(path, '/');

    return slash ? slash + 1 : path;
}

static int run_rename(struct edit *e, struct edit_operand *at, const char *to)
{
    int err;

    if (strchr(to, '/') && !at->name)
        return tool_usage("edit", "rename takes a name, \"%s\" is a path: use mv", to);
    put_names(e, "rename", at, to);
    if (at->name)
        err = drep_attr_rename(e->file, at->path, at->name, to);
    else if (is_dimension(e, at->path))
        err = drep_dimension_rename(e->file, at->path, to);
    else
        err = link_moved(e, at->path,
                         path_joined(at->path, (size_t)(last_of(at->path) - at->path), to));
    return err ? tool_fail(e->file_name, at->path, err) : TOOL_FINE;
}

static int run_mv(struct edit *e, struct edit_operand *at, const char *to)
{
    int kind = 0, err;

    if (at->name || is_dimension(e, at->path))
        return tool_usage("edit", "mv moves objects; rename gives \"%s\" another name",
                          at->name ? at->name : at->path);
    put_names(e, "mv", at, to);
    err = drep_exists(e->file, to, &kind);
    if (!err)
        err = link_moved(e, at->path,
                         kind == DREP_OBJ_GROUP ? path_joined(to, strlen(to), last_of(at->path))
                                                : strdup(to));
    return err ? tool_fail(e->file_name, at->path, err) : TOOL_FINE;
}

/* Say that a path is no address, and which dimension of its name was meant, if there is one. */
static int dim_unaddressed(const struct edit *e, const char *path)
{
    const char *slash = strrchr(path, '/');
    int group = slash ? (int)(slash - path) : 0;
    char *meant = malloc(strlen(path) + 3);
    bool found;

    if (!meant)
        return tool_no_memory();
    sprintf(meant, "%.*s%s#%s", group, path, group ? "" : "/", last_of(path));
    found = is_dimension(e, meant);
    tool_say(e->file_name, NULL, "%s: not the address of a dimension, GROUP#NAME%s%s%s", path,
             found ? "; did you mean " : "", found ? meant : "", found ? "?" : "");
    free(meant);
    return tool_exit_code(DREP_ERR_NAME);
}

static int run_dim(struct edit *e, struct edit_operand *at, const char *to)
{
    bool unlimited = strcmp(to, "unlimited") == 0;
    int err;

    if (at->name || (!unlimited && strcmp(to, "fixed") != 0))
        return tool_usage("edit", "dim takes the address of a dimension, and unlimited or fixed");
    put_names(e, "dim", at, to);
    err = drep_dimension_set_unlimited(e->file, at->path, unlimited);
    if (err == DREP_ERR_NAME && !strchr(at->path, '#'))
        return dim_unaddressed(e, at->path);
    return err ? tool_fail(e->file_name, at->path, err) : TOOL_FINE;
}

static const struct edit_step steps[] = {
    {"dim", 2, run_dim, "dim ADDRESS unlimited|fixed"},   {"mv", 2, run_mv, "mv PATH PATH"},
    {"rename", 2, run_rename, "rename PATH[@NAME] NAME"}, {"rm", 1, run_rm, "rm PATH[@NAME]"},
    {"set", 1, run_set, "set PATH@NAME[:TYPE]=VALUE"},
};

static const struct edit_step *step_named(const char *verb)
{
    for (size_t i = 0; i < sizeof steps / sizeof *steps; i++)
        if (strcmp(steps[i].verb, verb) == 0)
            return &steps[i];
    return NULL;
}

/* ---- all of them ---- */

/* That each step has its operands, before anything is opened.  An exit code. */
static int steps_complete(char **word)
{
    while (*word) {
        const struct edit_step *step = step_named(*word);

        if (!step)
            return tool_usage("edit", "no step \"%s\": dim, mv, rename, rm or set", *word);
        for (int n = 1; n <= step->operands; n++)
            if (!word[n])
                return tool_usage("edit", "%s", step->usage);
        word += 1 + step->operands;
    }
    return TOOL_FINE;
}

static int run_steps(struct edit *e, char **word)
{
    int status = TOOL_FINE;

    while (!status && *word) {
        const struct edit_step *step = step_named(*word);
        struct edit_operand at;

        if (!take_apart(word[1], step->run == run_set, &at))
            return tool_no_memory();
        status = step->run(e, &at, step->operands > 1 ? word[2] : NULL);
        free(at.path);
        word += 1 + step->operands;
    }
    return status;
}

/* Runs the steps and commits, or leaves the file as it was.  An exit code. */
static int edit_file(struct edit *e, const char *plugins, char **words)
{
    int err, status = tool_open(e->file_name, DREP_RDWR, plugins, &e->file);

    if (status)
        return status;
    err = printer_init(&e->printer, e->file, false);
    if (err) {
        status = tool_fail(e->file_name, NULL, err);
    } else {
        status = sink_init(&e->sink, STDOUT_FILENO) ? tool_no_memory() : run_steps(e, words);
        printer_release(&e->printer);
    }
    if (!status && !e->dry) {
        err = drep_close(e->file);
        if (err)
            status = tool_fail(e->file_name, NULL, err);
        else
            e->file = NULL;
    }
    if (e->file)
        drep_abandon(e->file);
    if (!status)
        return sink_close(&e->sink);
    sink_release(&e->sink);
    return status;
}

static const struct option_row edit_option_rows[] = {
    {'n', "dry-run", NULL, "print what would change, and change nothing", NULL},
    {'v', "verbose", NULL, "print what changes", NULL},
    OPTION_ROW_PLUGINS,
    OPTION_ROW_LOCK_WAIT,
    OPTION_ROW_LIMIT,
    {0}};

static int edit_run(int argc, char **argv)
{
    struct options o = {.command = &edit_command, .argc = argc, .argv = argv};
    struct edit e = {.dry = false};
    const char *plugins = NULL;
    char **operands;
    int option, status;

    while ((option = option_next(&o)) > 0) {
        e.dry = e.dry || option == 'n';
        e.shown = e.shown || option == 'n' || option == 'v';
        if (option == OPTION_PLUGINS)
            plugins = optarg;
    }
    if (option < 0)
        return o.status;
    operands = option_operands(&o, 2, argc, argc > optind ? "which steps?" : "which file?");
    if (!operands)
        return o.status;
    e.file_name = operands[0];
    status = steps_complete(operands + 1);
    return status ? status : edit_file(&e, plugins, operands + 1);
}

const struct command edit_command = {
    .name = "edit",
    .run = edit_run,
    .summary = "change attributes, names, places and dimensions in a file",
    .usage = "[options] FILE STEP...",
    .about =
        "Does the steps in their order, all in one commit, or none of them:\n\n"
        "  set PATH@NAME=VALUE        write an attribute; in the type that it has\n"
        "  set PATH@NAME:TYPE=VALUE   of that type: INT, DOUBLE, vstring...\n"
        "  rm PATH@NAME               remove an attribute\n"
        "  rm PATH                    remove an object, a group with all below, a dimension\n"
        "  rename PATH@NAME NAME      rename an attribute\n"
        "  rename PATH NAME           rename an object or a dimension (/#time)\n"
        "  mv PATH PATH               move an object; into a group if there is one\n"
        "  dim ADDRESS unlimited      let datasets grow along a dimension (/#time)\n"
        "  dim ADDRESS fixed          or no longer\n\n"
        "A VALUE is a number, true or false, [1, 2], or a text.  A backslash takes the meaning\n"
        "of @, : and = within a PATH or NAME.",
    .options = edit_option_rows,
    .examples = "  datarep edit a.drep set /t2m@units=K set /t2m@scale_factor:FLOAT=0.5\n"
                "  datarep edit -n a.drep rename '/#time' t rename /time t dim '/#t' unlimited",
    .operands = "<drep> <path>..."};
