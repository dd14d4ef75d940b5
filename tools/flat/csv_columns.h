/* csv_columns.h - the columns that elements of a datatype make.
 *
 * Members of compounds are columns by their names: `a`, inside one another `a.b`, elements of
 * an array `m[0]` or `m[1,2]`; a complex number is two, `z.real` and `z.imag`. */
/* SPDX-License-Identifier: MIT */
#ifndef TOOLS_FLAT_CSV_COLUMNS_H
#define TOOLS_FLAT_CSV_COLUMNS_H

#include "tools/flat/source.h"
#include <stddef.h>

#define COLUMNS_MAX 100000

struct column {
    char *name;            /* "" for an element that has no parts */
    const drep_type *type; /* borrowed from `type` and `held` */
    const drep_type *held;
    int64_t offset;      /* in an element of `held` */
    int fields;          /* 2: complex */
    const struct cf *cf; /* times; NULL: it has none; borrowed */
};

struct columns {
    struct column *list;
    size_t len, room;
    size_t fields; /* in a record */
};

/* held: a datatype of the same parts, where elements are in memory; may be `type`.  0, or an
 * exit code after saying what cannot be in a table. */
int columns_init(struct columns *out, const char *file, const drep_type *type,
                 const drep_type *held);
void columns_release(struct columns *columns);
/* The name of a field of a column, malloc'ed; bare: what stands for "". */
char *columns_name(const struct column *column, int field, const char *bare);
/* True if a column of this name is of the member `name` of a compound, or of a part of it. */
bool columns_is_part(const char *column, const char *name);

/* The options of a table. */
struct csv_table {
    const char *file;
    int fd; /* of a regular file; the caller's */
    char delimiter;
    bool header;           /* the first record has the names of the columns */
    const char *missing;   /* fields without quotes that have no value; "": empty ones */
    const drep_type *type; /* of an element, NULL: told by the fields, and said */
    const char *column;    /* for an element without parts: which column; NULL: the only one */
    int64_t width;         /* elements in a record, 0: one */
    const drep_file *into; /* where the values will be stored, */
    int number;            /* in this representation of it; */
    const char *datarep;   /* NULL: in one that is known by this name; NULL: this machine's */
    drep_file *times;      /* that has the dataset at `path`, or the columns' in that group, whose
                              times may be given as dates; NULL: none does */
    const char *path;
    bool group;
};
/* Rows become elements of a compound.  Without names and type, numbers alone become two
 * dimensions. */
int source_csv(struct source *out, const struct csv_table *table);

#endif
