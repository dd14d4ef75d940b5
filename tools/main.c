/* main.c - `datarep`: finds the subcommand and runs it. */
#include "tool.h"
#include <errno.h>
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

/* What was printed has to be there: a full disk is no success. */
static int flushed(void)
{
    if (fflush(stdout) == 0 && !ferror(stdout))
        return TOOL_FINE;
    if (errno != EPIPE)
        tool_say(NULL, NULL, "standard output: %s", strerror(errno));
    return TOOL_IO;
}

static void put_help(FILE *out)
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
}

int main(int argc, char **argv)
{
    const char *name = argc > 1 ? argv[1] : "";
    size_t i;

    if (strcmp(name, "--version") == 0 || strcmp(name, "-V") == 0) {
        printf("%s\n", drep_version());
        return flushed();
    }
    if (strcmp(name, "--help") == 0 || strcmp(name, "-h") == 0) {
        put_help(stdout);
        return flushed();
    }
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
