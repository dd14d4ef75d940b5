/* real.h - real numbers as text.
 *
 * Values are taken from memory as the machine holds them: the narrow formats widen to
 * float exactly; everything wider than a double arrives as binary128, except that pairs of
 * doubles, whose sum may need two thousand bits, stay pairs. */
/* SPDX-License-Identifier: MIT */
#ifndef TOOLS_TEXT_REAL_H
#define TOOLS_TEXT_REAL_H

#include <datarep.h>
#include <stdbool.h>
#include <stdint.h>

#include "tools/text/sink.h"

/* json: NaN and infinities in quotes, likewise hexadecimal numbers. */
void real_put_float(struct sink *s, float value, bool json);
void real_put_double(struct sink *s, double value, bool json);
/* A binary128 in the machine's byte order: as the shortest decimal that reads back to it.
 * json: as a decimal number where a double holds it exactly, else in hexadecimal.  exact: as a
 * decimal only where that is the very value, so that it reads back whatever it is read as. */
void real_put_quad(struct sink *s, const void *quad, bool json, bool exact);

/* The sum of two doubles, all of it, in the same way. */
void real_put_pair(struct sink *s, const double pair[2], bool json, bool exact);

/* Bit i of a scalar, counted from the least significant of its ordered bytes. */
unsigned real_bit(const drep_scalar *scalar, const void *element, unsigned i);

/* A real of format vax-h or custom, or of any other with a line of fields: +-high:low * 2^exponent,
 * of at most 114 bits, the last of which is 1. */
struct real_number {
    uint64_t high, low; /* 0: zero, an infinity or no number */
    int64_t exponent;
    bool negative, infinite, nan;
    bool beyond; /* the power of two is beyond 62 bits; `exponent` is not known */
};
void real_load(struct real_number *n, const drep_scalar *scalar, const void *at);
/* Less than 0, 0 or greater than 0, of two that are numbers or infinite and not `beyond`. */
int real_order(const struct real_number *a, const struct real_number *b);
/* Bits from the first that is set to the last. */
int real_bits(const struct real_number *n);
/* Return the nearest double (but for numbers near the least), or infinity; *rest is the double
 * nearest to the difference. */
double real_double(const struct real_number *n, double *rest);

/* A real by its own description, in the same way: of format vax-h or custom.  A number
 * whose power of two is beyond 62 bits is always printed in hexadecimal. */
void real_put_scalar(struct sink *s, const drep_scalar *scalar, const void *at, bool json,
                     bool exact);

/* A binary128 as the sum of three doubles, the first the nearest one, the second what is nearest
 * to the rest; infinite where a double is, zero for what is subnormal. */
void real_quad_parts(const void *quad, double parts[3]);

/* True if a float of that precision and range of exponents holds all numbers of the format. */
static inline bool real_covers(const drep_format_info *f, int precision, int least, int greatest)
{
    /* Subnormal numbers go down to 2^(least - precision + 1). */
    return f->cls == DREP_SCALAR_REAL && f->precision <= precision && f->greatest <= greatest &&
           f->least - f->precision >= least - precision;
}

/* The value of a number in one of the narrow formats, by DREP_FORMAT_... (binary16,
 * bfloat16, fp8-e4m3, fp8-e5m2). */
float real_narrow(int format, unsigned bits);

#endif
