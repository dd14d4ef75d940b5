/* file_rep.h - the representation of one file, as conversions see it.
 *
 * Elements in a file have sizes, alignments and formats of their own.  Either a table of encodings
 * describes them, and the engine of lib/rep converts, or a user's functions convert and the table
 * is missing.  lib/file/header.c fills this in when a header is read or made; nothing but the size
 * of staging changes while the file is open, so no lock guards it. */
/* SPDX-License-Identifier: MIT */
#ifndef CONV_FILE_REP_H
#define CONV_FILE_REP_H

#include "rep/rep.h"
#include "type/type.h"

struct file_rep {
    const struct datarep *datarep; /* NULL: the file was opened for its header only */
    char name[FMT_DATAREP_MAX + 1];
    struct type_sizes sizes;
    enum prog_layout layout;
    bool has_table;
    bool native_form;        /* has functions, but stores elements by the table */
    struct rep_table *table; /* of use where has_table or native_form; borrowed */
    int64_t staging;         /* hint cb_buffer_size */
};

/* The table by which elements are read or written; NULL: functions convert.  Without functions (a
 * table of no use then) only items without predefined datatypes are moved.  Where a representation
 * lacks one of its functions, that direction is native. */
static inline const struct rep_table *file_rep_table(const struct file_rep *rep, bool writing)
{
    if (rep->has_table || !rep->datarep)
        return rep->table;
    if (writing)
        return rep->native_form ? rep->table : !rep->datarep->write ? rep_native() : NULL;
    return rep->datarep->read ? NULL : rep->native_form ? rep->table : rep_native();
}

#endif
