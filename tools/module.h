/* module.h - the HDF5 module: found, loaded and run. */
#ifndef TOOLS_MODULE_H
#define TOOLS_MODULE_H

#include "hdf5.h"
#include <stdbool.h>

/* Loads the module and converts; what it says goes to stderr.  Gives an exit code.
 * The callbacks of *options are set here. */
int module_run(struct hdf5_options *options, bool import);
/* The shared part of import's and export's command lines. */
int module_main(int argc, char **argv, bool import, const char *help);

#endif
