/* import.c - `datarep import`: an HDF5 file becomes a Datarep file. */
#include "exchange.h"

static int run(int argc, char **argv)
{
    return exchange_run(&import_command, argc, argv);
}

static const struct option_row options[] = {{OPTION_DATAREP, "datarep", "NAME",
                                             "data representation of the new file (internal)",
                                             "<datarep>"},
                                            OPTION_ROWS_EXCHANGE,
                                            {0}};

const struct command import_command = {
    .name = "import",
    .run = run,
    .summary = "read an HDF5 file",
    .usage = "[options] FILE.h5 FILE.drep",
    .about = "Makes a Datarep file from an HDF5 file (netCDF-4 files are such).  What cannot be\n"
             "carried over is named on stderr and left out; the exit status is then 1.",
    .options = options,
    .examples = "  datarep import sst.nc sst.drep\n"
                "  datarep import --datarep=external32 --root=/run1 all.h5 run1.drep",
    .operands = "<hdf5> <drep>"};
