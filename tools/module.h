/* module.h - the HDF5 module: found, loaded and run. */
#ifndef TOOLS_MODULE_H
#define TOOLS_MODULE_H

#include "hdf5.h"
#include <stdbool.h>

/* The command lines of import and export: loads the module and converts; what it says
 * goes to stderr.  Gives an exit code. */
int module_main(int argc, char **argv, bool import, const char *help);

#endif
