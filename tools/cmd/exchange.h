/* exchange.h - import and export through the HDF5 module.
 *
 * The module runs in a process of its own: libhdf5 crashes on some damaged files, and
 * then somebody must say so and take away what is half made. */
#ifndef TOOLS_CMD_EXCHANGE_H
#define TOOLS_CMD_EXCHANGE_H

#include "tools/cmd/command.h"
#include <datarep.h>

struct exchange {
    const char *src, *dst;
    const char *root, *report;
    const char *datarep; /* import */
    drep_filter filters[DREP_MAX_FILTERS];
    int nfilters; /* -1: those of the source */
    int range, threads;
    bool excl, exact, outside, json, verbose;
    bool quiet;     /* say what is lost, and nothing else */
    bool no_verify; /* export: what is written is not read back */
};

/* The options of both directions. */
enum { EXCHANGE_ROOT = OPTION_LONG, EXCHANGE_RANGE, EXCHANGE_REPORT, EXCHANGE_JSON, EXCHANGE_OWN };
#define EXCHANGE_ROWS                                                                            \
    {EXCHANGE_ROOT, "root", "PATH", "begin at this object of the source", NULL},                 \
        {EXCHANGE_RANGE, "range", "HOW", "values that do not fit: strict (fail), clamp or wrap", \
         "strict clamp wrap"},                                                                   \
        {EXCHANGE_REPORT, "report", "FILE",                                                      \
         "write there all that is stored otherwise, annotated or lost", "<file>"},               \
        {EXCHANGE_JSON, "json", NULL, "the report as JSON; without --report on stdout", NULL},   \
        {'n', "no-clobber", NULL, "fail if the target exists", NULL},                            \
    {                                                                                            \
        'v', "verbose", NULL, "name every object and all that is said of it", NULL               \
    }

/* Takes an option that both have: true.  *status becomes non-zero if it is wrong, after
 * saying so. */
bool exchange_option(struct exchange *x, const struct command *command, int option, int *status);
/* Refuses, with an exit code, a target that is the source; and standard output, unless it
 * is all the same where the bytes go. */
int exchange_names(const struct exchange *x, const struct command *command, bool anywhere);
/* As tool_open(); but an HDF5 file is imported into a container without a name in $TMPDIR,
 * and that opened: *imported. */
int exchange_open(const char *path, int amode, const char *plugins, drep_file **out,
                  bool *imported);
/* Gives an exit code. */
int exchange_run(const struct exchange *x, bool import);

#endif
