/* exit.c - how a run ends: the exit code of each error of the library. */
/* SPDX-License-Identifier: MIT */
#include "tools/host/exit.h"
#include "base/err.h"
#include <stddef.h>

/* Why an error ends the run as it does, and what its reader may do about it. */
static const struct {
    int err;
    enum tool_exit code;
    const char *advice; /* %s is the file */
} errors[] = {
    {DREP_OK, TOOL_FINE, NULL},
    {DREP_ERR_NOMEM, TOOL_IO, NULL},
    {DREP_ERR_IO, TOOL_IO, NULL},
    {DREP_ERR_NO_SPACE, TOOL_IO, NULL},
    {DREP_ERR_NO_SUCH_FILE, TOOL_IO, NULL},
    {DREP_ERR_FILE_EXISTS, TOOL_IO, NULL},
    {DREP_ERR_ACCESS, TOOL_IO, NULL},
    {DREP_ERR_READ_ONLY, TOOL_IO, NULL},
    {DREP_ERR_FILE_IN_USE, TOOL_IO, "wait until that writer has closed it"},
    {DREP_ERR_FAILED, TOOL_IO, NULL},
    {DREP_ERR_TIMEOUT, TOOL_IO, NULL},
    {DREP_ERR_NOT_COMMITTED, TOOL_IO, NULL},
    {DREP_ERR_UNKNOWN, TOOL_IO, NULL},
    {DREP_ERR_STALE, TOOL_IO, "run the command again"},
    {DREP_ERR_ARG, TOOL_USAGE, NULL},
    {DREP_ERR_NOT_FOUND, TOOL_USAGE, "datarep ls -r %s lists what there is"},
    {DREP_ERR_EXISTS, TOOL_USAGE, NULL},
    {DREP_ERR_KIND, TOOL_USAGE, NULL},
    {DREP_ERR_NAME, TOOL_USAGE, NULL},
    {DREP_ERR_RANGE, TOOL_USAGE, NULL},
    {DREP_ERR_COUNT, TOOL_USAGE, NULL},
    {DREP_ERR_DIMS, TOOL_USAGE, NULL},
    {DREP_ERR_SYNTAX, TOOL_USAGE, NULL},
    {DREP_ERR_INFO_KEY, TOOL_USAGE, NULL},
    {DREP_ERR_INFO_VALUE, TOOL_USAGE, NULL},
    {DREP_ERR_FORMAT, TOOL_CORRUPT, "datarep check --deep %s lists the damage"},
    {DREP_ERR_CHECKSUM, TOOL_CORRUPT, "datarep check --deep %s lists the damage"},
    {DREP_ERR_TRUNCATE, TOOL_CORRUPT, "its end is missing: copy it again"},
};

/* A code that is not in the table is damage, or beyond what is supported. */
static size_t error_row(int err)
{
    size_t i, n = sizeof errors / sizeof *errors;

    for (i = 0; i < n && errors[i].err != err; i++)
        ;
    return i < n ? i : n;
}

int tool_exit_code(int err)
{
    size_t row = error_row(err);

    return row < sizeof errors / sizeof *errors ? (int)errors[row].code : TOOL_CORRUPT;
}

const char *exit_advice(int err)
{
    size_t row = error_row(err);

    return row < sizeof errors / sizeof *errors ? errors[row].advice : NULL;
}

int tool_worse(int a, int b)
{
    return a > b ? a : b;
}
