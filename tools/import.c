/* import.c - `datarep import`: an HDF5 file becomes a Datarep file. */
#include "module.h"
#include "tool.h"

static const char help[] =
    "Usage: datarep import [options] FILE.h5 FILE.drep\n"
    "Makes a Datarep file from an HDF5 file (netCDF-4 files are such).  What cannot be\n"
    "carried over is named on stderr and left out; the exit status is then 1.\n"
    "\n"
    "      --datarep=NAME   data representation of the new file (internal)\n"
    "      --root=GROUP     begin at this group of the source\n"
    "      --range=HOW      values that do not fit: strict (fail), clamp or wrap\n"
    "  -n, --no-clobber     fail if FILE.drep exists\n"
    "  -v, --verbose        name every object\n"
    "  -h, --help           this text\n";

int cmd_import(int argc, char **argv)
{
    return module_main(argc, argv, true, help);
}
