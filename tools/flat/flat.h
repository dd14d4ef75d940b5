/* flat.h - import and export of files without a tree of their own: NumPy's arrays and
 * archives, tables in CSV, bare elements. */
#ifndef TOOLS_FLAT_FLAT_H
#define TOOLS_FLAT_FLAT_H

#include "tools/cmd/exchange.h"
#include <stdint.h>

enum flat_format { FLAT_NONE, FLAT_NPY, FLAT_NPZ, FLAT_CSV, FLAT_RAW };

/* What was asked for besides struct exchange. */
struct flat {
    const struct exchange *x;
    const struct command *command;
    int format;

    /* Import. */
    const char *schema; /* makes the new file first */
    const char *into;   /* where it goes */
    bool update;        /* the target is there already */
    bool append;        /* behind what its dataset holds */
    bool columns;       /* a dataset for each column of a table */

    /* Raw files. */
    const char *type, *shape, *records, *to;
    int64_t offset;
    bool column_major;

    /* Tables. */
    char delimiter; /* 0: by the name of the file */
    bool no_header;
    const char *missing;
};

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
    {'i', "into", "PATH", "the dataset, or group, to put it in (named after SOURCE)", NULL},       \
        {'u', "update", NULL, "the target exists; fill what is there, or add to it", NULL},        \
        {'a', "append", NULL, "like -u, after the elements of the dataset", NULL},                 \
        {'s', "schema", "SCHEMA", "make the target from a schema and fill it; hdf5: its datareps", \
         "<schema>"},                                                                              \
        {FLAT_TYPE, "type", "TYPE", "raw, csv: datatype of an element", NULL},                     \
        {FLAT_SHAPE, "shape", "N,...", "raw: lengths, one of which may be *", NULL},               \
        {FLAT_OFFSET, "offset", "BYTES", "raw: where the first element begins", NULL},             \
        {FLAT_TO, "to", "NAME", "raw: representation of the new file (internal)", "<datarep>"},    \
        {FLAT_COLUMNS, "columns", NULL, "csv: a dataset for each column", NULL},                   \
    {                                                                                              \
        FLAT_MISSING, "missing", "TEXT", "csv: fields that mean no value (empty ones)", NULL       \
    }
#define FLAT_ROWS                                                                           \
    {FLAT_ORDER, "order", "C|F", "raw: rows or, as in Fortran, columns first", "C F"},      \
        {FLAT_RECORDS, "records", "HOW",                                                    \
         "raw: Fortran records: fortran, 4-little, 4-big, 8-little, 8-big",                 \
         "fortran 4-little 4-big 8-little 8-big"},                                          \
        {FLAT_DELIMITER, "delimiter", "C", "csv: between fields (, or tab in .tsv)", NULL}, \
    {                                                                                       \
        FLAT_NO_HEADER, "no-header", NULL, "csv: the first line holds no names", NULL       \
    }

/* Takes one of these options: true.  *status becomes non-zero if it is wrong, after saying
 * so. */
bool flat_option(struct flat *f, int option, int *status);
/* By what a file begins with, or how its name ends. */
int flat_by_front(const char *front, size_t size);
int flat_by_name(const char *path);
bool flat_is_hdf5_name(const char *path);

/* An exit code. */
int flat_import(const struct flat *f);
int flat_export(const struct flat *f);

#endif
