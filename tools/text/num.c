/* num.c - integers of any width, and numbers as pairs of doubles.
 *
 * Integers of up to 128 bits are compared and printed exactly; other numbers are taken as the
 * sum of two doubles, which holds all formats up to binary128 but for its last bits. */
/* SPDX-License-Identifier: MIT */
#include "tools/text/num.h"
#include "format/byteorder.h"
#include "tools/text/printer.h"
#include "tools/text/real.h"
#include <math.h>
#include <string.h>

struct wide num_machine_int(const void *at, int64_t size, bool is_signed)
{
    struct wide w = {.is_signed = is_signed};
    uint64_t two[2];
    uint32_t u32;
    uint16_t u16;
    uint8_t u8;

    switch (size) {
    case 1:
        memcpy(&u8, at, 1);
        w.low = is_signed ? (uint64_t)(int8_t)u8 : u8;
        break;
    case 2:
        memcpy(&u16, at, 2);
        w.low = is_signed ? (uint64_t)(int16_t)u16 : u16;
        break;
    case 4:
        memcpy(&u32, at, 4);
        w.low = is_signed ? (uint64_t)(int32_t)u32 : u32;
        break;
    case 8:
        memcpy(&w.low, at, 8);
        break;
    default:
        memcpy(two, at, 16);
        w.low = two[HOST_LITTLE ? 0 : 1];
        w.high = two[HOST_LITTLE ? 1 : 0];
        return w;
    }
    w.high = is_signed && w.low >> 63 ? UINT64_MAX : 0;
    return w;
}

int num_code_format(const struct printer *p, const drep_type *type)
{
    return p->plain[drep_type_code(type)].format;
}

/* The value bits of an integer scalar, at most 128 (R5.21).  One of a format that has a name is
 * all value. */
static struct wide load_scalar_int(const drep_scalar *scalar, const void *at)
{
    bool custom = scalar->format == DREP_FORMAT_CUSTOM;
    unsigned bits = custom ? scalar->precision : 8u * scalar->size;
    unsigned offset = custom ? scalar->offset : 0, i, bit = 0;
    struct wide w = {.is_signed = custom ? scalar->cls == DREP_SCALAR_INT && scalar->is_signed
                                         : scalar->format == DREP_FORMAT_INT};

    for (i = 0; i < 128; i++) {
        if (i < bits)
            bit = real_bit(scalar, at, offset + i);
        else if (!w.is_signed)
            bit = 0;
        if (i < 64)
            w.low |= (uint64_t)bit << i;
        else
            w.high |= (uint64_t)bit << (i - 64);
    }
    return w;
}

struct wide num_int(const struct printer *p, const drep_type *type, const void *at)
{
    int code = drep_type_code(type);

    if (drep_type_kind(type) == DREP_KIND_SCALAR)
        return load_scalar_int(drep_type_scalar_desc(type), at);
    return num_machine_int(at, drep_type_size(type), p->plain[code].format == DREP_FORMAT_INT);
}

/* ------------------------------------------------------------ pairs of doubles */

/* The exact sum of two numbers, the first not smaller than the second. */
static struct double_pair two_sum(double a, double b)
{
    double sum = a + b;

    return (struct double_pair){sum, isfinite(sum) ? b - (sum - a) : 0};
}

struct double_pair num_of_int(struct wide w)
{
    bool negative = w.is_signed && w.high >> 63;
    double part[4], sign = negative ? -1 : 1;
    struct double_pair n = {0, 0}, step;
    int i;

    if (negative) {
        w.low = 0 - w.low;
        w.high = ~w.high + (w.low == 0);
    }
    part[0] = ldexp((double)(w.high >> 32), 96);
    part[1] = ldexp((double)(w.high & UINT32_MAX), 64);
    part[2] = ldexp((double)(w.low >> 32), 32);
    part[3] = (double)(w.low & UINT32_MAX);
    for (i = 0; i < 4; i++) {
        step = two_sum(n.value, n.rest + part[i]);
        n = step;
    }
    return (struct double_pair){sign * n.value, sign * n.rest};
}

struct double_pair num_of_real(int format, const void *at)
{
    double d, parts[3], pair[2];
    float f;
    uint16_t u16;
    uint8_t u8;
    bool turn;
    struct double_pair n;

    switch (format) {
    case DREP_FORMAT_BINARY64:
        memcpy(&d, at, sizeof d);
        return (struct double_pair){d, 0};
    case DREP_FORMAT_BINARY32:
        memcpy(&f, at, sizeof f);
        return (struct double_pair){(double)f, 0};
    case DREP_FORMAT_BINARY16:
    case DREP_FORMAT_BFLOAT16:
        memcpy(&u16, at, sizeof u16);
        return (struct double_pair){(double)real_narrow(format, u16), 0};
    case DREP_FORMAT_FP8_E4M3:
    case DREP_FORMAT_FP8_E5M2:
        memcpy(&u8, at, sizeof u8);
        return (struct double_pair){(double)real_narrow(format, u8), 0};
    case DREP_FORMAT_DOUBLE_DOUBLE:
        memcpy(pair, at, sizeof pair);
        turn = fabs(pair[1]) > fabs(pair[0]);
        if (!isfinite(pair[0]))
            return (struct double_pair){pair[0], 0};
        n = two_sum(pair[turn], pair[!turn]);
        return isfinite(n.value) ? n : (struct double_pair){pair[turn], pair[!turn]};
    default:
        real_quad_parts(at, parts);
        return two_sum(parts[0], parts[1]);
    }
}

/* A double as an integer, false if it is none of 128 bits. */
static bool wide_of(double value, struct wide *out)
{
    double size = fabs(value), high = floor(ldexp(size, -64));

    if (!(size < 0x1p128) || floor(size) != size)
        return false;
    out->high = (uint64_t)high;
    out->low = (uint64_t)(size - ldexp(high, 64));
    if (value < 0) {
        out->low = 0 - out->low;
        out->high = ~out->high + (out->low == 0);
    }
    return true;
}

bool num_same_int(struct wide w, int format, const void *at)
{
    struct double_pair have = num_of_int(w), n = num_of_real(format, at);
    struct wide value, rest, last = {0};
    double parts[3];

    /* As 128 bits they may be the same 2^128 apart. */
    if (!isfinite(n.value) || fabs(have.value - n.value) > 0x1p100)
        return false;
    parts[0] = n.value;
    parts[1] = n.rest;
    parts[2] = 0;
    if (format == DREP_FORMAT_BINARY128)
        real_quad_parts(at, parts);
    if (!wide_of(parts[0], &value) || !wide_of(parts[1], &rest) || !wide_of(parts[2], &last))
        return false;
    value.high += rest.high + last.high;
    value.low += rest.low;
    value.high += value.low < rest.low;
    value.low += last.low;
    value.high += value.low < last.low;
    return value.high == w.high && value.low == w.low;
}

/* ------------------------------------------------------------------ any number */

bool num_is(const struct printer *p, const drep_type *type)
{
    int kind = drep_type_kind(type);

    (void)p;
    return kind == DREP_KIND_PREDEFINED || kind == DREP_KIND_SCALAR || kind == DREP_KIND_ENUM ||
           kind == DREP_KIND_BOOLEAN;
}

bool num_fits(const struct printer *p, const drep_type *type)
{
    int format = drep_type_kind(type) == DREP_KIND_PREDEFINED ? num_code_format(p, type) : 0;

    if (format == 0 || printer_complex(p, drep_type_code(type)) || drep_type_size(type) > 8)
        return false;
    return format == DREP_FORMAT_INT || format == DREP_FORMAT_UINT || num_format(p, type) != 0;
}

int num_format(const struct printer *p, const drep_type *type)
{
    int format = drep_type_kind(type) == DREP_KIND_PREDEFINED ? num_code_format(p, type) : 0;
    const drep_format_info *f = drep_format_describe(format);

    if (drep_type_kind(type) == DREP_KIND_SCALAR &&
        drep_type_scalar_desc(type)->format == DREP_FORMAT_DOUBLE_DOUBLE)
        return DREP_FORMAT_DOUBLE_DOUBLE;
    return f && f->type ? format : 0;
}

const drep_scalar *num_own(const drep_type *type)
{
    const drep_scalar *s =
        drep_type_kind(type) == DREP_KIND_SCALAR ? drep_type_scalar_desc(type) : NULL;

    return s && s->cls == DREP_SCALAR_REAL && s->format != DREP_FORMAT_DOUBLE_DOUBLE ? s : NULL;
}

struct wide num_integer(const struct printer *p, const drep_type *type, const void *at)
{
    int kind = drep_type_kind(type), format;
    const drep_type *base =
        kind == DREP_KIND_ENUM || kind == DREP_KIND_BOOLEAN ? drep_type_member(type, 0) : type;
    struct wide w;

    format = drep_type_kind(base) == DREP_KIND_PREDEFINED ? num_code_format(p, base) : 0;
    if (format == 0 || format == DREP_FORMAT_INT || format == DREP_FORMAT_UINT)
        w = num_int(p, base, at);
    else
        w = num_machine_int(at, drep_type_size(base), false);
    /* Anything but zero is true. */
    if (kind == DREP_KIND_BOOLEAN || format == DREP_FORMAT_BOOL)
        w = (struct wide){.low = w.low || w.high};
    return w;
}

struct double_pair num_value(const struct printer *p, const drep_type *type, const void *at)
{
    int format = num_format(p, type);
    int64_t half = drep_type_size(type) / 2;
    const drep_scalar *own = num_own(type);
    struct double_pair a, b;
    struct real_number n;

    if (own) {
        real_load(&n, own, at);
        a.value = real_double(&n, &a.rest);
        return a;
    }
    if (!format)
        return num_of_int(num_integer(p, type, at));
    if (!printer_complex(p, drep_type_code(type)))
        return num_of_real(format, at);
    a = num_of_real(format, at);
    b = num_of_real(format, (const char *)at + half);
    /* hypot() has a second version since glibc 2.35: a command that names it runs with no older
     * one. */
    return (struct double_pair){(double)hypotl(a.value, b.value), 0};
}

double num_difference(struct double_pair a, struct double_pair b)
{
    double d = a.value - b.value;

    return isfinite(d) ? d + (a.rest - b.rest) : d;
}
