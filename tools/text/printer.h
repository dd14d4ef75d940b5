/* printer.h - how the elements of a file are read so that they can be printed or compared.
 *
 * Values are read through a datatype of the printer's choice (printer_type), in which
 * nothing is lost: a long double of any machine arrives as a binary128 or as the pair of
 * doubles that it is, an integer that is wider in the file than here in as many bits as it
 * needs, a text of variable length counted, as it may have NULs.  (Of complex pairs of doubles 113
 * bits arrive.) */
/* SPDX-License-Identifier: MIT */
#ifndef TOOLS_TEXT_PRINTER_H
#define TOOLS_TEXT_PRINTER_H

#include "schema/paths.h"
#include <datarep.h>
#include <pthread.h>
#include <stdbool.h>

struct print_search {
    pthread_mutex_t lock;
    bool done;
};

struct printer {
    drep_file *file;
    bool json;
    bool exact;   /* reals in decimal only where that is the very value */
    bool precise; /* reals that are no DOUBLE or FLOAT128 are read in the precision of their format,
                    so that they are printed in as many digits as it needs; for nothing else */
    bool own;     /* reals that no binary128 holds stay what they are: to be printed
                     or compared, by num_own(), and nothing else */
    int nreps, number[DREP_MAX_DATAREPS];         /* of the file's representations, ascending */
    const drep_scalar *custom[DREP_MAX_DATAREPS]; /* of each; borrowed from the file */
    int ncustom[DREP_MAX_DATAREPS];
    struct paths *paths;         /* of all objects, found when the first is asked for */
    struct print_search *search; /* whether they were looked for, by any thread */
    /* By code: how each of the file's representations holds it, by its place in number[] (NULL: one
     * without a table), behind them how a value holds it that is in none; and the formats by which
     * we know what it is. */
    drep_encoding *stored[DREP_MAX_DATAREPS + 1], plain[DREP_CODE_MAX + 1];
};

/* For printer_type(): elements that come from elsewhere than a file. */
#define PRINTER_NO_DATAREP (-1)

/* Place of a representation in number[] by its number; -1: the file has none of it. */
int printer_place(const struct printer *p, int number);

/* 0 or a DREP_ERR_... code. */
int printer_init(struct printer *p, drep_file *file, bool json);
void printer_release(struct printer *p);

/* Path of the object with this id, NULL if there is none. */
const char *printer_path(const struct printer *p, uint64_t id);

/* True if the predefined type with this code is a complex number. */
bool printer_complex(const struct printer *p, int code);

/* The datatype to read elements of `type` as (new reference).  datarep: the number of the
 * representation that holds them.  From then on values may be printed by several threads. */
int printer_type(const struct printer *p, const drep_type *type, int datarep, drep_type **out);
/* Likewise for an attribute or a fill value, which states its own rows. */
int printer_value_type(const struct printer *p, const drep_type *type, const drep_encoding *rows,
                       int n, drep_type **out);
#endif
