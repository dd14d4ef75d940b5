/* main.c - `datarep`: finds the subcommand and runs it. */
#include "tool.h"
#include <stdio.h>
#include <string.h>

static const struct {
    const char *name;
    tool_fn *run;
    const char *summary;
} commands[] = {
    {"check", cmd_check, "verify references and checksums"},
    {"create", cmd_create, "make a file from a schema"},
    {"dump", cmd_dump, "print a file or a part of it, as text, JSON or a schema"},
    {"export", cmd_export, "write an HDF5 file"},
    {"import", cmd_import, "read an HDF5 file"},
    {"ls", cmd_ls, "list objects, one line each"},
    {"reps", cmd_reps, "list data representations and how they hold datatypes"},
    {"stat", cmd_stat, "say where the bytes of a file are"},
};

static int put_help(FILE *out)
{
    size_t i;

    fputs("Usage: datarep COMMAND [options] FILE...\n\n", out);
    for (i = 0; i < sizeof commands / sizeof *commands; i++)
        fprintf(out, "  %-8s %s\n", commands[i].name, commands[i].summary);
    fputs("\n"
          "  -V, --version  version, filters, kernels\n"
          "  -h, --help     this text; `datarep COMMAND --help` for one command\n"
          "\n"
          "Exit status: 0 fine, 1 differences or findings, 2 wrong usage, 3 input/output error,\n"
          "4 damaged or unsupported.\n",
          out);
    return fflush(out) ? TOOL_IO : TOOL_FINE;
}

int main(int argc, char **argv)
{
    const char *name = argc > 1 ? argv[1] : "";
    size_t i;

    if (strcmp(name, "--version") == 0 || strcmp(name, "-V") == 0)
        return printf("%s\n", drep_version()) < 0 || fflush(stdout) ? TOOL_IO : TOOL_FINE;
    if (strcmp(name, "--help") == 0 || strcmp(name, "-h") == 0)
        return put_help(stdout);
    if (!*name) {
        put_help(stderr);
        return TOOL_USAGE;
    }
    for (i = 0; i < sizeof commands / sizeof *commands; i++)
        if (strcmp(name, commands[i].name) == 0)
            return commands[i].run(argc - 1, argv + 1);
    tool_say(NULL, NULL, "unknown command '%s'; `datarep --help` lists them", name);
    return TOOL_USAGE;
}
