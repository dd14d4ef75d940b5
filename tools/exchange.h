/* exchange.h - the command lines of import and export, which the HDF5 module runs. */
#ifndef TOOLS_EXCHANGE_H
#define TOOLS_EXCHANGE_H

#include "command.h"

/* The options of both; import has --datarep before them. */
enum { OPTION_DATAREP = OPTION_LONG, OPTION_ROOT, OPTION_RANGE };
#define OPTION_ROWS_EXCHANGE                                                                   \
    {OPTION_ROOT, "root", "GROUP", "begin at this group of the source", NULL},                 \
        {OPTION_RANGE, "range", "HOW", "values that do not fit: strict (fail), clamp or wrap", \
         "strict clamp wrap"},                                                                 \
        {'n', "no-clobber", NULL, "fail if the target exists", NULL},                          \
    {                                                                                          \
        'v', "verbose", NULL, "name every object", NULL                                        \
    }

/* Loads the module and converts; what it says goes to stderr.  Gives an exit code. */
int exchange_run(const struct command *command, int argc, char **argv);

#endif
