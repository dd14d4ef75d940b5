/* describe.c - the facts of a scalar format.
 *
 * Everything comes from format/formats.def: a format that gets a line there is described
 * without a change of this file. */
/* SPDX-License-Identifier: MIT */
#include "format/numbers.h"
#include "scalar/scalar.h"

#include <datarep.h>
#include <stddef.h>

/* DREP_SCALAR_... by the class of a format. */
enum {
    OF_BYTES = DREP_SCALAR_BITS,
    OF_CHAR = DREP_SCALAR_BITS,
    OF_INT = DREP_SCALAR_INT,
    OF_UINT = DREP_SCALAR_INT,
    OF_BOOL = DREP_SCALAR_INT,
    OF_WCHAR = DREP_SCALAR_INT
};

/* The public header repeats the numbers, as it includes nothing of ours. */
#define X(ident, number, text, class, bytes, normal, code, pair) \
    _Static_assert(DREP_FORMAT_##ident == (number), "DREP_FORMAT_" #ident " is not " #number);
#include "format/formats.def"

/* Indexed by number: printing looks a format up for each element. */
static const drep_format_info infos[DREP_FORMAT_CUSTOM + 1] = {
#define X(ident, number, text, class, bytes, normal, code, pair) \
    [number] = {.format = number,                                \
                .name = text,                                    \
                .cls = OF_##class,                               \
                .size = normal,                                  \
                .sizes = bytes,                                  \
                .type = FMT_CODE_##code,                         \
                .complex = FMT_CODE_##pair},
#define R(ident, number, text, bytes, normal, code, pair, sign, exp_at, exp_bits, sig_at, \
          sig_bits, hidden, base, point, excess, first, last, rule)                       \
    [number] = {.format = number,                                                         \
                .name = text,                                                             \
                .cls = DREP_SCALAR_REAL,                                                  \
                .size = normal,                                                           \
                .sizes = bytes,                                                           \
                .type = FMT_CODE_##code,                                                  \
                .complex = FMT_CODE_##pair,                                               \
                .vax = REAL_##rule == REAL_VAX,                                           \
                .ieee = REAL_##rule == REAL_IEEE,                                         \
                .precision = sig_bits + hidden,                                           \
                .sign_pos = sign,                                                         \
                .exp_pos = exp_at,                                                        \
                .exp_width = exp_bits,                                                    \
                .mant_pos = sig_at,                                                       \
                .mant_width = sig_bits,                                                   \
                .implied = hidden,                                                        \
                .base_log2 = base,                                                        \
                .fraction = point,                                                        \
                .bias = excess,                                                           \
                .least = base * (first - excess) - point,                                 \
                .greatest = base * (last - excess) - point},
#include "format/formats.def"
};

const drep_format_info *drep_format_describe(int format)
{
    return format > 0 && format <= DREP_FORMAT_CUSTOM && infos[format].name ? &infos[format] : NULL;
}

const char *drep_format_name(int format)
{
    return fmt_format_name(format);
}

int drep_format_from_name(const char *name)
{
    return name ? fmt_format_from_name(name) : 0;
}
