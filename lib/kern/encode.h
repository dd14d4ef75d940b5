/* encode.h - a number to the fields of a real: the one place that rounds.
 *
 * Each function returns what was lost as LOST_ bits.  Formats differ in what they have beyond
 * the finite numbers (enum real_specials): where an infinity or a NaN is missing, the largest
 * number or the format's own substitute stands for it. */
/* SPDX-License-Identifier: MIT */
#ifndef KERN_ENCODE_H
#define KERN_ENCODE_H

#include "kern/number.h"

INLINE void real_largest(struct fields *out, const struct real *f)
{
    int width = f->sig_width;

    out->exp = (uint64_t)f->last;
    out->hi = width > 64 ? ((uint64_t)1 << (width - 64)) - 1 : 0;
    out->lo = width >= 64 ? UINT64_MAX : ((uint64_t)1 << width) - 1;
    if (f->specials == REAL_ONES)
        out->lo--;
}

/* Encode an infinity; false where the format has none, after writing the largest number. */
INLINE bool real_infinity(struct fields *out, const struct real *f)
{
    out->hi = out->lo = 0;
    out->exp = real_exp_max(f);
    if (f->specials == REAL_IEEE || f->specials == REAL_M68K)
        return true;
    if (f->specials == REAL_X87) {
        out->lo = (uint64_t)1 << 63;
        return true;
    }
    if (f->specials == REAL_CRAY) {
        out->exp = (uint64_t)f->last + 1;
        out->lo = (uint64_t)1 << (f->sig_width - 1);
        return true;
    }
    real_largest(out, f);
    return false;
}

/* Encode a NaN: it keeps its sign and the upper bits of its payload where the format can, and is
 * quiet. */
INLINE int real_nan(struct fields *out, const struct real *f, const struct num *n)
{
    const uint64_t quiet = (uint64_t)1 << 63;
    uint64_t hi = n->hi | quiet, lo = n->lo, below;
    int width = f->sig_width;

    switch (f->specials) {
    case REAL_IEEE:
        below = width >= 64 ? lo & (UINT64_MAX >> (width & 63)) : lo | hi << (width & 63);
        out->exp = real_exp_max(f);
        out->hi = width > 64 ? hi >> (128 - width) : 0;
        out->lo = width > 64 ? hi << (width & 63) | lo >> (128 - width) : hi >> (64 - width);
        return below ? LOST_NAN : 0;
    case REAL_X87:
    case REAL_M68K:
        out->exp = real_exp_max(f);
        out->hi = 0;
        out->lo = quiet | hi >> 1;
        return lo || (hi & 1) ? LOST_NAN : 0;
    case REAL_ONES:
        out->exp = real_exp_max(f);
        out->hi = 0;
        out->lo = real_ones(f);
        return lo || (hi & ~quiet) ? LOST_NAN : 0;
    case REAL_VAX:
        out->exp = out->hi = out->lo = 0;
        out->neg = true;
        return lo || (hi & ~quiet) || n->neg ? LOST_NAN : 0;
    case REAL_CRAY:
    case REAL_NONE:
    case REAL_PAIR:
        break;
    }
    real_infinity(out, f);
    return LOST_NAN | LOST_NUMBER;
}

/* Exponent field for a top bit at 2^exp; *empty: bits of the significand that stay empty above
 * it. */
INLINE int64_t real_exponent(const struct real *f, int64_t exp, int *empty)
{
    int64_t up = exp + f->fraction;

    *empty = 0;
    if (f->log2_base == 1)
        return up + f->bias;
    up = (up + 3) >> 2;
    *empty = (int)(real_power(f, up + f->bias) - exp);
    return up + f->bias;
}

INLINE int real_overflow(struct fields *out, const struct real *f, bool clamp)
{
    if (clamp)
        real_largest(out, f);
    else
        real_infinity(out, f);
    return LOST_RANGE;
}

/* Encode a number below the smallest of a format that has nothing between it and 0. */
INLINE int real_underflow(struct fields *out, const struct real *f, const struct num *n)
{
    bool up = n->exp == real_power(f, f->first) - 1 && ((n->hi << 1) | n->lo | n->sticky) != 0;

    out->exp = up ? (uint64_t)f->first : 0;
    out->hi = out->lo = 0;
    out->neg = up && n->neg;
    return LOST_BITS;
}

/* True if the significand has a bit `at` or higher. */
INLINE bool reaches(const struct fields *s, int at)
{
    return at >= 64 ? s->hi >> (at - 64) != 0 : s->hi != 0 || s->lo >> at != 0;
}

INLINE void one_bit(struct fields *s, int at)
{
    s->hi = at >= 64 ? (uint64_t)1 << (at - 64) : 0;
    s->lo = at >= 64 ? 0 : (uint64_t)1 << at;
}

INLINE int real_encode_finite(struct fields *out, const struct real *f, const struct num *n,
                              bool clamp)
{
    const int width = f->sig_width + f->implied;
    int empty, lost;
    int64_t e = real_exponent(f, n->exp, &empty), below = 0;

    if (UNLIKELY(e < f->first)) {
        if (f->specials == REAL_VAX)
            return real_underflow(out, f, n);
        e = f->first;
        below = real_power(f, e) - n->exp;
        empty = 0;
    }
    if (UNLIKELY(e > f->last))
        return real_overflow(out, f, clamp);
    out->hi = n->hi;
    out->lo = n->lo;
    lost = shift_round(&out->hi, &out->lo, n->sticky, 128 - width + empty + below) ? LOST_BITS : 0;
    if (UNLIKELY(reaches(out, width))) { /* rounding carried into one bit more */
        e++;
        one_bit(out, width - f->log2_base);
    }
    if (UNLIKELY(e > f->last) ||
        (f->specials == REAL_ONES && UNLIKELY(e == f->last && out->lo == (real_ones(f) << 1 | 1))))
        return real_overflow(out, f, clamp);
    out->exp = (uint64_t)e;
    if (f->first == 1 && UNLIKELY(!reaches(out, width - 1)))
        out->exp = 0;
    if (f->specials == REAL_CRAY && UNLIKELY(!reaches(out, 0)))
        out->neg = false;
    if (f->implied && width > 64)
        out->hi &= ~((uint64_t)1 << (width - 65));
    else if (f->implied)
        out->lo &= ~((uint64_t)1 << (width - 1));
    return lost;
}

/* Encode a number; returns what was lost, as LOST_ bits. clamp: finite values beyond the range
 * become the largest number, not an infinity. */
INLINE int real_encode(struct fields *out, const struct real *f, const struct num *n, bool clamp)
{
    out->neg = n->neg;
    if (LIKELY(n->cls == NUM_FINITE))
        return real_encode_finite(out, f, n, clamp);
    if (n->cls == NUM_INF)
        return real_infinity(out, f) ? 0 : LOST_RANGE;
    if (n->cls == NUM_NAN)
        return real_nan(out, f, n);
    out->exp = out->hi = out->lo = 0;
    if (f->specials == REAL_VAX || f->specials == REAL_CRAY)
        out->neg = false;
    return 0;
}

#endif
