/* command.c - help, options and suggestions from a subcommand's table.
 *
 * Help, getopt's tables and suggestions are made of the same rows, so an option that is listed is
 * one that is understood. */
/* SPDX-License-Identifier: MIT */
#include "tools/cmd/command.h"
#include "schema/suggest.h"
#include "tools/host/exit.h"
#include "tools/host/fail.h"
#include "tools/host/limit.h"
#include "tools/host/message.h"
#include "tools/host/open.h"
#include <getopt.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define ROWS_MAX 40

/* -------------------------------------------------------------------- help */

/* "--json", "--root=GROUP", "--color[=WHEN]"; gives its length. */
static int help_left(char *text, size_t size, const struct option_row *row)
{
    if (!row->arg)
        return snprintf(text, size, "--%s", row->name);
    if (*row->arg == '[')
        return snprintf(text, size, "--%s[=%s", row->name, row->arg + 1);
    return snprintf(text, size, "--%s=%s", row->name, row->arg);
}

static void help_row(FILE *out, const struct option_row *row, int width)
{
    const char *line = row->help, *end;
    char left[80];

    help_left(left, sizeof left, row);
    if (row->id < OPTION_LONG)
        fprintf(out, "  -%c, %-*s", row->id, width, left);
    else
        fprintf(out, "      %-*s", width, left);
    for (; line; line = *end ? end + 1 : NULL) {
        end = line + strcspn(line, "\n");
        fprintf(out, "%*s%.*s\n", line == row->help ? 0 : 6 + width, "", (int)(end - line), line);
    }
}

static void command_help(FILE *out, const struct command *command)
{
    static const struct option_row help = {'h', "help", NULL, "print this text", NULL};
    const struct option_row *row;
    const char *form = command->usage;
    char left[80];
    int length, width = 8;
    size_t n;

    for (; form; form = form[n] ? form + n + 1 : NULL) {
        n = strcspn(form, "\n");
        fprintf(out, "%s datarep %s %.*s\n", form == command->usage ? "Usage:" : "      ",
                command->name, (int)n, form);
    }
    fprintf(out, "%s\n\n", command->about);
    for (row = command->options; row->name; row++) {
        length = help_left(left, sizeof left, row);
        width = length > width ? length : width;
    }
    for (row = command->options; row->name; row++)
        help_row(out, row, width + 2);
    help_row(out, &help, width + 2);
    fprintf(out, "\nExamples:\n%s\n", command->examples);
}

/* ------------------------------------------------------------ wrong usage */

/* A long option that nobody knows, as it was typed. */
static int unknown_long(const struct command *command, const char *typed)
{
    const struct option_row *row;
    char word[80];
    struct suggestion meant = {.word = word};

    snprintf(word, sizeof word, "%.*s", (int)strcspn(typed + 2, "="), typed + 2);
    for (row = command->options; row->name; row++)
        suggest_word(&meant, row->name);
    suggest_word(&meant, "help");
    if (meant.best[0])
        return tool_usage(command->name, "unknown option '--%s'; did you mean '--%s'?", word,
                          meant.best);
    return tool_usage(command->name, "unknown option '--%s'", word);
}

static int refuse_option(const struct options *o, int option)
{
    const char *typed = o->argv[optind - 1];

    if (option == ':')
        return tool_usage(o->command->name, "option '%s' needs an argument", typed);
    if (optopt && strncmp(typed, "--", 2) == 0)
        return tool_usage(o->command->name, "option '%.*s' takes no argument",
                          (int)strcspn(typed, "="), typed);
    if (optopt)
        return tool_usage(o->command->name, "unknown option '-%c'", optopt);
    return unknown_long(o->command, typed);
}

static int print_help(const struct command *command)
{
    command_help(stdout, command);
    return tool_flush();
}

/* ---------------------------------------------------------------- walking */

/* The tables for getopt_long(). */
struct tables {
    struct option longs[ROWS_MAX + 2];
    char shorts[3 * ROWS_MAX + 4];
};

static int argument_kind(const struct option_row *row)
{
    if (!row->arg)
        return no_argument;
    return *row->arg == '[' ? optional_argument : required_argument;
}

static void tables_fill(struct tables *t, const struct command *command)
{
    const struct option_row *row = command->options;
    size_t n = 0, at = 0;
    int kind;

    if (command->first_ends)
        t->shorts[at++] = '+';
    t->shorts[at++] = ':';
    t->shorts[at++] = 'h';
    for (; row->name && n < ROWS_MAX; row++) {
        kind = argument_kind(row);
        t->longs[n++] = (struct option){row->name, kind, NULL, row->id};
        if (row->id >= OPTION_LONG)
            continue;
        t->shorts[at++] = (char)row->id;
        if (kind == required_argument)
            t->shorts[at++] = ':';
    }
    t->longs[n++] = (struct option){"help", no_argument, NULL, 'h'};
    t->longs[n] = (struct option){NULL, 0, NULL, 0};
    t->shorts[at] = '\0';
}

/* Directories of plugins are absolute paths for the library; who names them to a command
 * means those that are here.  The list stays until the end; NULL: no memory. */
static char *absolute_dirs(const char *dirs)
{
    static char *list;
    char *here = getcwd(NULL, 0), *more;
    size_t n;

    free(list);
    list = strdup("");
    for (; list && *dirs; dirs += n + (dirs[n] == ':')) {
        n = strcspn(dirs, ":");
        if (n == 0)
            continue;
        if (asprintf(&more, "%s%s%s%s%.*s", list, *list ? ":" : "",
                     *dirs == '/' || !here ? "" : here, *dirs == '/' ? "" : "/", (int)n, dirs) < 0)
            more = NULL;
        free(list);
        list = more;
    }
    free(here);
    return list;
}

/* The options of all subcommands are taken here. */
static int next_option(struct options *o)
{
    struct tables tables;
    char why[200];
    int option;

    tables_fill(&tables, o->command);
    opterr = 0;
    for (;;) {
        option = getopt_long(o->argc, o->argv, tables.shorts, tables.longs, NULL);
        if (option == OPTION_EXTERNAL) {
            tool_allow_external();
        } else if (option == OPTION_LOCK_WAIT) {
            if (tool_wait_for_lock(optarg))
                continue;
            o->status = tool_usage(o->command->name, "--lock-wait: '%s' is not a number of seconds",
                                   optarg);
            return 0;
        } else if (option != OPTION_LIMIT) {
            return option;
        } else if (limit_option(optarg, why, sizeof why) != 0) {
            o->status = tool_usage(o->command->name, "%s", why);
            return 0;
        }
    }
}

int option_next(struct options *o)
{
    int option = next_option(o);

    if (option == 0)
        return -1;
    if (option == -1)
        return 0;
    if (option == 'h')
        o->status = print_help(o->command);
    else if (option == ':' || option == '?')
        o->status = refuse_option(o, option);
    else if (option != OPTION_PLUGINS || (optarg = absolute_dirs(optarg)))
        return option;
    else
        o->status = tool_no_memory();
    return -1;
}

char **option_operands(struct options *o, int least, int most, const char *missing)
{
    int n = o->argc - optind;

    if (n >= least && n <= most)
        return o->argv + optind;
    o->status = tool_usage(o->command->name, "%s", n < least ? missing : "too many arguments");
    return NULL;
}
