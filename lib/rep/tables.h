/* tables.h - the built-in tables, inside this room. */
/* SPDX-License-Identifier: MIT */
#ifndef REP_TABLES_H
#define REP_TABLES_H

#include "rep/encodings.h"
#include "rep/rep.h"

/* The i-th built-in table and its name ("native", ..., "native:m68k"); NULL behind the
 * last. */
const struct rep_table *table_builtin(int i, char name[FMT_DATAREP_MAX + 1]);

/* Scalars in an item of a predefined type (2 of a complex), and their class (enum
 * fmt_class; a complex's parts are reals). */
int table_parts(int code);
int table_class(int code);

#endif
