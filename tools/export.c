/* export.c - `datarep export`: a Datarep file becomes an HDF5 file. */
#include "exchange.h"
#include "tool.h"
#include <getopt.h>

static int run(int argc, char **argv)
{
    struct exchange x = {.range = DREP_RANGE_STRICT, .nfilters = -1};
    struct options o = {.command = &export_command, .argc = argc, .argv = argv};
    int option, status = 0;
    char **files;

    while ((option = option_next(&o)) > 0)
        if (exchange_option(&x, &export_command, option, &status) && status)
            return status;
    if (option < 0)
        return o.status;
    files = option_operands(&o, 2, 2, "which files?  SOURCE TARGET");
    if (!files)
        return o.status;
    x.src = files[0];
    x.dst = files[1];
    return exchange_run(&x, false);
}

static const struct option_row options[] = {EXCHANGE_ROWS, {0}};

const struct command export_command = {
    .name = "export",
    .run = run,
    .summary = "write an HDF5 file",
    .usage = "[options] FILE.drep FILE.h5",
    .about = "Makes an HDF5 file from a Datarep file, with what import kept of the HDF5 file that\n"
             "it came from.  What cannot be carried over is named on stderr and left out; the\n"
             "exit status is then 1.",
    .options = options,
    .examples = "  datarep export sst.drep sst.h5\n"
                "  datarep export --root=/run1 all.drep run1.h5",
    .operands = "<drep> <hdf5>"};
