/* real.h - the fields of a real from and to its bytes, for formats that have a name.
 *
 * Scalars come as little-endian bytes; move.c puts them so. */
/* SPDX-License-Identifier: MIT */
#ifndef KERN_REAL_H
#define KERN_REAL_H

#include "format/byteorder.h"
#include "kern/number.h"

#include <string.h>

/* The sizes of machine words are one load or store each, which loops of them need to
 * become vector loops. */
INLINE uint64_t load_le(const uint8_t *p, int size)
{
    uint64_t v8 = 0;
    uint32_t v4;
    uint16_t v2;

    switch (size) {
    case 1:
        return *p;
    case 2:
        memcpy(&v2, p, 2);
        return LITTLE16(v2);
    case 4:
        memcpy(&v4, p, 4);
        return LITTLE32(v4);
    default:
        memcpy(&v8, p, (size_t)size);
        return LITTLE64(v8);
    }
}

INLINE void store_le(uint8_t *p, uint64_t v, int size)
{
    uint64_t v8 = LITTLE64(v);
    uint32_t v4 = LITTLE32((uint32_t)v);
    uint16_t v2 = LITTLE16((uint16_t)v);

    switch (size) {
    case 1:
        *p = (uint8_t)v;
        break;
    case 2:
        memcpy(p, &v2, 2);
        break;
    case 4:
        memcpy(p, &v4, 4);
        break;
    default:
        memcpy(p, &v8, (size_t)size);
    }
}

/* Scalars of 8 bytes in the other order. */
INLINE void block_turn(uint8_t *restrict dst, const uint8_t *restrict src, int64_t n)
{
    for (int64_t i = 0; i < n; i++)
        store_le(dst + 8 * i, __builtin_bswap64(load_le(src + 8 * i, 8)), 8);
}

/* Bits [at, at + width) of the little-endian scalar hi:lo. */
INLINE uint64_t word_bits(uint64_t hi, uint64_t lo, int at, int width)
{
    uint64_t v = at >= 64 ? hi >> (at & 63) : lo >> at | (at ? hi << (64 - at) : 0);

    return width < 64 ? v & (((uint64_t)1 << width) - 1) : v;
}

/* A scalar of a named format (f is one of reals[]). */
INLINE void real_load(struct fields *out, const struct real *f, const uint8_t *p)
{
    uint64_t lo = load_le(p, f->size < 8 ? f->size : 8);
    uint64_t hi = f->size > 8 ? load_le(p + 8, f->size - 8) : 0;

    out->neg = word_bits(hi, lo, f->sign, 1);
    out->exp = word_bits(hi, lo, f->exp_at, f->exp_width);
    out->lo = word_bits(hi, lo, f->sig_at, f->sig_width < 64 ? f->sig_width : 64);
    out->hi = f->sig_width > 64 ? word_bits(hi, lo, 64, f->sig_width - 64) : 0;
    if (f == &reals[FMT_FORMAT_IBM_HEX128]) {
        /* The low half has an exponent of its own, which says nothing new. */
        out->lo = (hi << 56) | (lo & (((uint64_t)1 << 56) - 1));
        out->hi = word_bits(hi, lo, 72, 48);
    }
}

/* `size` may be larger than the format: the rest is padding, zero. */
INLINE void real_store(const struct fields *in, const struct real *f, uint8_t *p, int size)
{
    uint64_t lo = in->lo, hi = in->hi;

    if (f->exp_at < 64)
        lo |= in->exp << f->exp_at | (uint64_t)in->neg << f->sign;
    else
        hi |= in->exp << (f->exp_at - 64) | (uint64_t)in->neg << (f->sign - 64);
    if (f == &reals[FMT_FORMAT_IBM_HEX128]) {
        uint64_t low = in->lo & (((uint64_t)1 << 56) - 1), low_exp = (in->exp - 14) & 127;

        hi = (uint64_t)in->neg << 63 | in->exp << 56 | in->hi << 8 | in->lo >> 56;
        lo = (uint64_t)in->neg << 63 | low_exp << 56 | low;
        if ((in->hi | in->lo) == 0)
            lo = hi = (uint64_t)in->neg << 63;
    }
    store_le(p, lo, f->size < 8 ? f->size : 8);
    if (f->size > 8)
        store_le(p + 8, hi, f->size - 8);
    if (size > f->size)
        memset(p + f->size, 0, (size_t)(size - f->size));
}

#endif
