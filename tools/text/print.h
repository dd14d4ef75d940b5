/* print.h - one element as text: the value form of JSON, and the same for people. */
/* SPDX-License-Identifier: MIT */
#ifndef TOOLS_TEXT_PRINT_H
#define TOOLS_TEXT_PRINT_H

#include "tools/text/printer.h"
#include "tools/text/sink.h"

/* One element of a type that printer_type() gave. */
typedef void print_fn(const struct printer *p, struct sink *s, const drep_type *type,
                      const void *element);
print_fn print_value;
/* The bytes of a vstring in memory, of either form; no NUL need follow them. */
const char *print_text(const drep_type *type, const void *element, size_t *size);
/* Like print_value(), specialised for one type. */
print_fn *print_direct(const struct printer *p, const drep_type *type);

/* "compact", "contiguous" or "chunked"; "null" where there are no elements to lay out. */
const char *print_layout(const drep_dsinfo *info);
/* Lengths as a JSON list; an unlimited one is null. */
void print_lengths(struct sink *s, const int64_t *lengths, int n);
/* "shuffle", or "filter 40", or "hdf5:32015? zstd": HDF5's number, and the name in its message. */
void print_filter(struct sink *s, const drep_filter *filter);
/* " 4 5": a space and the value of each parameter that does not follow from the datatype. */
void print_filter_parameters(struct sink *s, const drep_filter *filter);
/* "datarep 1 internal": number and name. */
void print_datarep(struct sink *s, const drep_dsinfo *info);

/* A one-line datatype. */
void print_type_text(struct sink *s, const drep_type *type, bool json);

/* Say of an item that only a newer version can read (an attribute, a link, an object) what of it
 * is known here; `number` as in drep_objinfo.  The second is the reason alone. */
void print_unknown(struct sink *s, const char *what, int number, int flags);
const char *unknown_why(int number);

#endif
