/* main.c - `datarep`: finds the subcommand and runs it. */
/* SPDX-License-Identifier: MIT */
#include "schema/suggest.h"
#include "tools/cmd/complete.h"
#include "tools/cmd/table.h"
#include "tools/cmd/version.h"
#include "tools/host/exit.h"
#include "tools/host/label.h"
#include "tools/host/limit.h"
#include "tools/host/message.h"
#include "tools/host/stop.h"
#include <signal.h>
#include <string.h>

static void put_help(FILE *out)
{
    size_t i;

    fputs("Usage: datarep COMMAND [options] FILE...\n\n", out);
    for (i = 0; commands[i]; i++)
        fprintf(out, "  %-8s %s\n", commands[i]->name, commands[i]->summary);
    fputs("\nResource limits; `none` lifts a limit:\n\n", out);
    limit_help(out);
    fputs("\n"
          "  -V, --version  print versions, filters, data representations, the commit\n"
          "  -h, --help     print this text; `datarep COMMAND --help` for a command\n"
          "\n"
          "Exit status: 0 success, 1 differences or findings, 2 usage error, 3 system error,\n"
          "4 damaged or unsupported.\n",
          out);
}

static int unknown_command(const char *name)
{
    struct suggestion meant = {.word = name};
    size_t i;

    for (i = 0; commands[i]; i++)
        suggest_word(&meant, commands[i]->name);
    if (meant.best[0])
        tool_say(NULL, NULL, "unknown command '%s'; did you mean '%s'?", name, meant.best);
    else
        tool_say(NULL, NULL, "unknown command '%s'; `datarep --help` lists them", name);
    return TOOL_USAGE;
}

static int run_command(int argc, char **argv)
{
    const struct command *command = command_find(argv[0]);

    return command ? command->run(argc, argv) : unknown_command(argv[0]);
}

/* `datarep help [COMMAND]`, `datarep --help`. */
static int help_for(const char *name)
{
    char word[] = "--help", *argv[] = {(char *)name, word, NULL};

    if (name)
        return run_command(2, argv);
    put_help(stdout);
    return tool_flush();
}

static bool is_either(const char *word, const char *a, const char *b)
{
    return strcmp(word, a) == 0 || strcmp(word, b) == 0;
}

int main(int argc, char **argv)
{
    const char *name = argc > 1 ? argv[1] : "";
    int status;

    /* A file that may not grow is an error of the call that writes, as a full disk is: a signal
     * would end the command before it removes what it began. */
    signal(SIGXFSZ, SIG_IGN);
    if (is_either(name, "--version", "-V"))
        return version_print();
    if (is_either(name, "--help", "-h"))
        return help_for(NULL);
    if (strcmp(name, "help") == 0)
        return help_for(argv[2]);
    if (strcmp(name, "__complete") == 0)
        return complete(argc - 1, argv + 1);
    if (!*name) {
        put_help(stderr);
        return TOOL_USAGE;
    }
    /* Of a program for netCDF or MPI, and of texts that `edit` writes, nothing is taken away. */
    for (int i = 2;
         i < argc && !is_either(name, "netcdf", "edit") && !is_either(name, "mpiexec", ""); i++)
        argv[i] = label_argument(argv[i]);
    status = limit_end(run_command(argc - 1, argv + 1));
    stop_now();
    return status;
}
