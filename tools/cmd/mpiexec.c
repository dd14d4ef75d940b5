/* mpiexec.c - `datarep mpiexec`: programs under MPI get data representations that work.
 *
 * The library libdatarep-mpiio-MPI.so is put into the launcher by LD_PRELOAD, and by that into the
 * ranks.  Of the launcher's own arguments nothing is looked at; those of this command come first.
 */
/* SPDX-License-Identifier: MIT */
#include "base/error.h"
#include "tools/cmd/command.h"
#include "tools/cmd/preload.h"
#include "tools/host/exit.h"
#include "tools/host/fail.h"
#include "tools/host/message.h"
#include "tools/host/module.h"
#include <limits.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { OPTION_MPI = OPTION_LONG };

/* Whose launcher it is, by the names that theirs have behind symbolic links. */
static const struct launcher {
    const char *name, *mpi;
} launchers[] = {{"mpich", "mpich"},     {"hydra", "mpich"},     {"openmpi", "openmpi"},
                 {"orterun", "openmpi"}, {"prterun", "openmpi"}, {"prun", "openmpi"}};

static const char *mpi_of(const char *path)
{
    char real[PATH_MAX];
    const char *name = realpath(path, real) ? strrchr(real, '/') : NULL;
    size_t i;

    for (i = 0; name && i < sizeof launchers / sizeof *launchers; i++)
        if (strstr(name, launchers[i].name))
            return launchers[i].mpi;
    return NULL;
}

/* Open MPI gives ranks on other machines only the variables that it is told of. */
static char **launcher_arguments(int argc, char **argv, const char *launcher, bool names_variable)
{
    char **args = calloc((size_t)argc + 4, sizeof *args);
    int n = 0, i;

    if (!args)
        return NULL;
    args[n++] = (char *)(uintptr_t)launcher;
    if (names_variable) {
        args[n++] = (char *)(uintptr_t) "-x";
        args[n++] = (char *)(uintptr_t) "LD_PRELOAD";
    }
    for (i = 0; i < argc; i++)
        args[n++] = argv[i];
    return args;
}

static int launcher_run(const char *asked, int argc, char **argv)
{
    char launcher[32] = "mpiexec", file[64], library[PATH_MAX] = "", path[PATH_MAX];
    const char *mpi = asked;
    char **args;
    int status, err;

    if (asked)
        snprintf(launcher, sizeof launcher, "mpiexec.%s", asked);
    status = preload_find(launcher, "", path);
    if (status)
        return status;
    if (!mpi && !(mpi = mpi_of(path))) {
        tool_say(path, NULL, "is it MPICH's or Open MPI's? --mpi=mpich or --mpi=openmpi says so");
        return PRELOAD_FAILED;
    }
    snprintf(file, sizeof file, "libdatarep-mpiio-%s.so", mpi);
    err = module_shared(file, library, sizeof library);
    if (err) {
        tool_say(NULL, NULL, "%s%s", fail_text(),
                 err == DREP_ERR_NO_SUCH_FILE ? ": the package is not installed, or this is built "
                                                "without that MPI"
                                              : "");
        return PRELOAD_FAILED;
    }
    args = launcher_arguments(argc, argv, launcher, strcmp(mpi, "openmpi") == 0);
    if (!args)
        return tool_no_memory();
    status = preload_run(path, library, args);
    free(args);
    return status;
}

static const struct option_row mpiexec_option_rows[] = {
    {OPTION_MPI, "mpi", "NAME", "the MPI: mpich or openmpi (by whose mpiexec is in $PATH)",
     "mpich openmpi"},
    {0}};

/* The arguments that are this command's: what follows is the launcher's, options too. */
static int own_arguments(int argc, char **argv)
{
    int n = 1;

    while (n < argc) {
        if (strcmp(argv[n], "-h") == 0 || strncmp(argv[n], "--help", 6) == 0 ||
            strncmp(argv[n], "--mpi=", 6) == 0)
            n++;
        else if (strcmp(argv[n], "--mpi") == 0)
            n += n + 1 < argc ? 2 : 1;
        else
            break;
    }
    return n;
}

static int mpiexec_run(int argc, char **argv)
{
    int own = own_arguments(argc, argv), option;
    struct options o = {.command = &mpiexec_command, .argc = own, .argv = argv};
    const char *mpi = NULL;

    while ((option = option_next(&o)) > 0)
        mpi = optarg;
    if (option < 0)
        return o.status;
    if (mpi && strcmp(mpi, "mpich") != 0 && strcmp(mpi, "openmpi") != 0)
        return tool_usage("mpiexec", "--mpi is mpich or openmpi, not '%s'", mpi);
    if (own < argc && strcmp(argv[own], "--") == 0)
        own++;
    if (own >= argc)
        return tool_usage("mpiexec", "which program?");
    return launcher_run(mpi, argc - own, argv + own);
}

const struct command mpiexec_command = {
    .name = "mpiexec",
    .run = mpiexec_run,
    .summary = "run MPI programs with data representations that work",
    .usage = "[--mpi NAME] [--] ARGUMENT_OF_MPIEXEC...",
    .about = "Runs a program under MPI so that MPI_Register_datarep, and views that are "
             "\"external32\",\n"
             "\"internal\" or registered, do what the standard says.  The program stays as it is.",
    .options = mpiexec_option_rows,
    .examples = "  datarep mpiexec -n 4 ./simulation\n"
                "  datarep mpiexec --mpi=openmpi -n 2 python3 sum.py",
    .operands = "<program> <file>...",
    .first_ends = true};
