/* export.c - `datarep export`: a Datarep file becomes an HDF5 file. */
#include "module.h"
#include "tool.h"

static const char help[] =
    "Usage: datarep export [options] FILE.drep FILE.h5\n"
    "Makes an HDF5 file from a Datarep file.  What cannot be carried over is named on\n"
    "stderr and left out; the exit status is then 1.\n"
    "\n"
    "      --root=GROUP     begin at this group of the source\n"
    "      --range=HOW      values that do not fit: strict (fail), clamp or wrap\n"
    "  -n, --no-clobber     fail if FILE.h5 exists\n"
    "  -v, --verbose        name every object\n"
    "  -h, --help           this text\n";

int cmd_export(int argc, char **argv)
{
    return module_main(argc, argv, false, help);
}
