/* decimal.h - packed and zoned decimals of mainframes in raw files.
 *
 * packed(p,s): COBOL's COMP-3, PL/I's FIXED DECIMAL: p / 2 + 1 bytes of digits, the last half byte
 * is the sign.  zoned(p,s): DISPLAY, PICTURE: p bytes, one digit each, the sign in the zone of the
 * last; EBCDIC or ASCII.  p is 1 to 38 digits, s of them (0 if it is not given) behind the point.
 * They are stored as integers, without the point: INT64_T up to 18 digits, else INT128_T. */
/* SPDX-License-Identifier: MIT */
#ifndef TOOLS_FLAT_DECIMAL_H
#define TOOLS_FLAT_DECIMAL_H

#include "tools/flat/source.h"

/* Parses a datatype that may hold decimals: they become opaque bytes with a tag.  Errors of
 * drep_type_parse(), with the reason in *why. */
int decimal_parse(const char *text, drep_type **out, const char **why);

/* Makes a source of elements with decimals, as decimal_parse() gave them, one of integers; another
 * stays as it is.  `text` is kept as the attribute "decimal" of a new dataset.  An exit code after
 * saying; the source is the caller's still. */
int decimal_source(struct source *s, const char *text);

#endif
