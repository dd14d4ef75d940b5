/* scalar.h - how the bits of a real scalar make a value.
 *
 * The facts of every format stand in format/formats.def; here they are a table of structs.
 * The table is static so that a compiler that knows the format of a loop folds the fields
 * into it. */
/* SPDX-License-Identifier: MIT */
#ifndef SCALAR_SCALAR_H
#define SCALAR_SCALAR_H

#include "format/numbers.h"

#include <stdint.h>

/* Rules for infinities and NaNs.
 * IEEE: the largest exponent field.  ONES: all ones is a NaN, every other finite.
 * X87: as IEEE with a stored integer bit, which must be set (else the FPU refuses the
 * number: a NaN).  M68K: the same, but that bit does not matter, and is 0 in an infinity.
 * NONE: neither; infinities become the largest number, and so do NaNs.
 * VAX: exponent 0 is 0, or a reserved operand (a NaN) under a minus sign; no -0, no
 * subnormals.  CRAY: an exponent beyond the last is an infinity, which NaNs become too;
 * zero has no sign.  PAIR: the sum of two doubles, which have the rules of IEEE. */
enum real_specials {
    REAL_IEEE,
    REAL_ONES,
    REAL_X87,
    REAL_M68K,
    REAL_NONE,
    REAL_VAX,
    REAL_CRAY,
    REAL_PAIR
};

/* The fields of a real: of a line of formats.def, or of a custom scalar. */
struct real {
    uint16_t size, sign, exp_at, exp_width, sig_at, sig_width;
    uint8_t implied, log2_base, fraction;
    int64_t bias, first, last;
    enum real_specials specials;
};

/* Indexed by FMT_FORMAT_...; size 0 where the format is not a real. */
static const struct real reals[FMT_FORMAT_CUSTOM] = {
#define R(name, number, text, sizes, normal, type, complex, sgn, eat, ewidth, sat, swidth, imp, \
          base, frac, b, lowest, highest, spec)                                                 \
    [number] = {(sgn + 1) / 8, sgn,  eat, ewidth, sat,     swidth,     imp,                     \
                base,          frac, b,   lowest, highest, REAL_##spec},
#include "format/formats.def"
};

#endif
