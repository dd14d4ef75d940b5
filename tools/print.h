/* print.h - one element as text: the value form of JSON, and the same for people.
 *
 * Values are read through a datatype of the printer's choice (print_type), in which
 * nothing is lost: a long double of any machine arrives as a binary128, an integer that
 * is wider in the file than here in as many bits as it needs. */
#ifndef TOOLS_PRINT_H
#define TOOLS_PRINT_H

#include "sink.h"
#include <datarep.h>

struct printer {
    drep_file *file;
    bool json;
    /* By code: how the file holds it, and the formats by which we know what it is. */
    drep_encoding stored[DREP_CODE_MAX + 1], plain[DREP_CODE_MAX + 1];
};

/* 0 or a DREP_ERR_... code; nothing to release. */
int print_init(struct printer *p, drep_file *file, bool json);

/* The datatype to read elements of `type` as (new reference).  in_dataset: they are held
 * in the file's representation; attributes and fill values are not. */
int print_type(const struct printer *p, const drep_type *type, bool in_dataset, drep_type **out);
/* One element of a type that print_type() gave. */
void print_value(const struct printer *p, struct sink *s, const drep_type *type,
                 const void *element);
/* A one-line datatype. */
void print_type_text(struct sink *s, const drep_type *type, bool json);

#endif
