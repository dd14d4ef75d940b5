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

#include "base/handles.h"
#include "schema/paths.h"
#include <pthread.h>
#include <stdbool.h>

struct print_search {
    pthread_mutex_t lock;
    bool done;
};

/* How a representation of the file holds the predefined types. */
struct printer_rep {
    int number;
    const drep_scalar *custom; /* borrowed from the file */
    int ncustom;
    bool table;            /* else it is made of functions */
    drep_encoding *stored; /* by code; NULL: none is in use */
};

struct printer {
    drep_file *file;
    bool json;
    bool exact;   /* reals in decimal only where that is the very value */
    bool precise; /* reals that are no DOUBLE or FLOAT128 are read in the precision of their format,
                    so that they are printed in as many digits as it needs; for nothing else */
    bool own;     /* reals that no binary128 holds stay what they are: to be printed
                     or compared, by num_own(), and nothing else */
    struct printer_rep *rep; /* the file's representations, numbers ascending */
    int nreps;
    const drep_encoding *own_rows; /* by code: how a value holds it that is in none of them */
    struct paths *paths;           /* of all objects, found when the first is asked for */
    struct print_search *search;   /* whether they were looked for, by any thread */
    drep_encoding *plain;          /* by code: the formats by which we know what it is */
};

/* For printer_type(): elements that come from elsewhere than a file. */
#define PRINTER_NO_DATAREP (-1)

/* A representation of the file by its number; NULL: there is none. */
const struct printer_rep *printer_rep(const struct printer *p, int number);

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
