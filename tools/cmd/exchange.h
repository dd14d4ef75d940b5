/* exchange.h - the command line of import and export.
 *
 * Both directions share most options; EXCHANGE_ROWS and FLAT_ROWS are the rows of them for a
 * table of options, FLAT_IMPORT_ROWS those of import alone. */
/* SPDX-License-Identifier: MIT */
#ifndef TOOLS_CMD_EXCHANGE_H
#define TOOLS_CMD_EXCHANGE_H

#include "tools/cmd/command.h"
#include "tools/flat/flat.h"

/* Options whatever the other format. */
enum { EXCHANGE_ROOT = OPTION_LONG, EXCHANGE_RANGE, EXCHANGE_REPORT, EXCHANGE_JSON, EXCHANGE_OWN };
#define EXCHANGE_ROWS                                                                             \
    {EXCHANGE_ROOT, "root", "PATH", "only this object of the source", NULL},                      \
        {EXCHANGE_RANGE, "range", "HOW",                                                          \
         "values that do not fit: strict (fail), round, clamp, wrap", "strict round clamp wrap"}, \
        {EXCHANGE_REPORT, "report", "FILE",                                                       \
         "write a report of differences, annotations and losses", "<file>"},                      \
        {EXCHANGE_JSON, "json", NULL, "print the report as JSON; without --report on stdout",     \
         NULL},                                                                                   \
        OPTION_ROWS_REPLACE,                                                                      \
    {                                                                                             \
        'v', "verbose", NULL, "print every object and its whole report", NULL                     \
    }

/* Options of what is not HDF5. */
enum {
    FLAT_TYPE = EXCHANGE_OWN + 100,
    FLAT_SHAPE,
    FLAT_OFFSET,
    FLAT_ORDER,
    FLAT_RECORDS,
    FLAT_TO,
    FLAT_COLUMNS,
    FLAT_DELIMITER,
    FLAT_NO_HEADER,
    FLAT_MISSING
};
/* Options of import alone, and of both. */
#define FLAT_IMPORT_ROWS                                                                           \
    {'i', "into", "PATH", "target dataset or group (named after SOURCE)", NULL},                   \
        {'u', "update", NULL, "update an existing target: fill or add datasets", NULL},            \
        {'a', "append", NULL, "like -u, but append to the elements of the dataset", NULL},         \
        {'s', "schema", "SCHEMA", "make the target from a schema and fill it; hdf5: its datareps", \
         "<schema>"},                                                                              \
        {FLAT_TYPE, "type", "TYPE", "raw, csv: datatype of an element", NULL},                     \
        {FLAT_SHAPE, "shape", "N,...", "raw: lengths, one of which may be *", NULL},               \
        {FLAT_OFFSET, "offset", "BYTES", "raw: offset of the first element", NULL},                \
        {FLAT_TO, "to", "NAME", "raw: representation of the new file (internal)", "<datarep>"},    \
        {FLAT_COLUMNS, "columns", NULL, "csv: a dataset for each column", NULL},                   \
    {                                                                                              \
        FLAT_MISSING, "missing", "TEXT", "csv: text of missing values (empty)", NULL               \
    }
#define FLAT_ROWS                                                                            \
    {FLAT_ORDER, "order", "C|F", "raw: row-major or column-major, as in Fortran", "C F"},    \
        {FLAT_RECORDS, "records", "HOW",                                                     \
         "raw: fortran, 4-little, 4-big, 8-little, 8-big; of IBM: V, VB, VBS",               \
         "fortran 4-little 4-big 8-little 8-big V VB VBS"},                                  \
        {FLAT_DELIMITER, "delimiter", "C", "csv: field separator (, or tab in .tsv)", NULL}, \
    {                                                                                        \
        FLAT_NO_HEADER, "no-header", NULL, "csv: the first line holds no names", NULL        \
    }

/* Takes an option that both have: true.  *status becomes non-zero if it is wrong, after
 * saying so. */
bool exchange_option(struct exchange *x, int option, int *status);
/* Refuses, with an exit code, a target or report that is the source or that may not be replaced
 * (outfile_permit()), and standard output unless it is all the same where the bytes go.  updates:
 * the target is to be there; also: as for outfile_permit(). */
int exchange_names(struct exchange *x, bool anywhere, bool updates, const char *also);
/* Takes one of these options: true.  *status becomes non-zero if it is wrong, after saying
 * so. */
bool flat_option(struct flat *f, int option, int *status);

#endif
