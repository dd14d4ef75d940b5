/* export.c - `datarep export`: a Datarep file becomes an HDF5 file. */
#include "exchange.h"

static int run(int argc, char **argv)
{
    return exchange_run(&export_command, argc, argv);
}

static const struct option_row options[] = {OPTION_ROWS_EXCHANGE, {0}};

const struct command export_command = {
    .name = "export",
    .run = run,
    .summary = "write an HDF5 file",
    .usage = "[options] FILE.drep FILE.h5",
    .about = "Makes an HDF5 file from a Datarep file.  What cannot be carried over is named on\n"
             "stderr and left out; the exit status is then 1.",
    .options = options,
    .examples = "  datarep export sst.drep sst.h5\n"
                "  datarep export --root=/run1 all.drep run1.h5",
    .operands = "<drep> <hdf5>"};
