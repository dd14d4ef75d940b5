/* number.h - a scalar taken apart: the one form that every format unpacks to.
 *
 * A number is a sign, a power of two and 128 bits of significand; what lay below
 * them is remembered in one sticky bit, so that packing rounds once, to nearest
 * even, whatever the two formats are.  Everything is integer arithmetic on bytes:
 * no floating-point unit, its modes or its long double has a say.
 *
 * Here are numbers and the way from a real's fields to one; encode.h is the inverse, real.h
 * takes the fields from bytes.  All is inlined where a format is known at compile time:
 * side.c makes the general functions of it, pass_soft.c the fast ones. */
/* SPDX-License-Identifier: MIT */
#ifndef KERN_NUMBER_H
#define KERN_NUMBER_H

#include "base/isa.h"
#include "scalar/scalar.h"

#include <stdbool.h>

/* The value is +-0.h * 2^(exp + 1), h = hi:lo with its top bit set, and a little more
 * if sticky.  A NaN's h is its fraction field, left-aligned: quiet bit and payload. */
enum num_class { NUM_ZERO, NUM_FINITE, NUM_INF, NUM_NAN };
struct num {
    uint64_t hi, lo;
    int64_t exp; /* of the top bit */
    enum num_class cls;
    bool neg, sticky;
};

/* Losses of packing: out of range; rounded; a NaN lost payload or sign; a NaN became a number. */
enum { LOST_RANGE = 1, LOST_BITS = 2, LOST_NAN = 4, LOST_NUMBER = 8 };

/* The fields of a real, not yet in their places. */
struct fields {
    uint64_t hi, lo; /* significand, right-aligned */
    uint64_t exp;
    bool neg;
};

/* ------------------------------------------------------------- 128 bits */

INLINE void shift_left(uint64_t *hi, uint64_t *lo, int by)
{
    if (by >= 64) {
        *hi = *lo << (by - 64);
        *lo = 0;
    } else if (by) {
        *hi = *hi << by | *lo >> (64 - by);
        *lo <<= by;
    }
}

/* hi:lo, whose top bit is set, becomes its upper 128 - by bits, rounded to nearest,
 * ties to even; by >= 1.  True if that lost anything. */
INLINE bool shift_round(uint64_t *hi, uint64_t *lo, bool sticky, int64_t by)
{
    uint64_t h = *hi, l = *lo, half, rest, up;

    if (by > 128) {
        *hi = *lo = 0;
        return true;
    }
    if (by > 64) {
        half = h >> (by - 65) & 1;
        rest = (h & (((uint64_t)1 << (by - 65)) - 1)) | l | sticky;
        *lo = by == 128 ? 0 : h >> (by & 63);
        *hi = 0;
    } else {
        half = l >> (by - 1) & 1;
        rest = (l & (((uint64_t)1 << (by - 1)) - 1)) | sticky;
        *lo = by == 64 ? h : l >> by | h << (64 - by);
        *hi = by == 64 ? 0 : h >> by;
    }
    up = half & ((rest != 0) | *lo);
    *lo += up;
    *hi += up & (*lo == 0);
    return (half | rest) != 0;
}

INLINE void num_normalise(struct num *n)
{
    int by;

    if (UNLIKELY(n->hi == 0)) {
        if (n->lo == 0) {
            n->cls = NUM_ZERO;
            return;
        }
        n->hi = n->lo;
        n->lo = 0;
        n->exp -= 64;
    }
    by = __builtin_clzll(n->hi);
    n->exp -= by;
    shift_left(&n->hi, &n->lo, by);
}

/* --------------------------------------------------------------- decode */

INLINE int64_t real_power(const struct real *f, int64_t e)
{
    return f->log2_base * (e - f->bias) - f->fraction;
}

INLINE uint64_t real_exp_max(const struct real *f)
{
    return ((uint64_t)1 << f->exp_width) - 1;
}

/* The largest significand of at most 64 bits. */
INLINE uint64_t real_ones(const struct real *f)
{
    return UINT64_MAX >> (64 - f->sig_width);
}

/* Decode a special: class and fraction. False: the fields are a finite number. */
INLINE bool real_special(struct num *n, const struct real *f, const struct fields *in)
{
    struct fields s = *in;
    bool whole = true; /* the integer bit, where it is stored */

    switch (f->specials) {
    case REAL_NONE:
    case REAL_PAIR:
        return false;
    case REAL_CRAY:
        if (LIKELY(in->exp <= (uint64_t)f->last))
            return false;
        n->cls = NUM_INF;
        return true;
    case REAL_VAX:
        if (LIKELY(in->exp != 0))
            return false;
        n->cls = in->neg ? NUM_NAN : NUM_ZERO;
        n->neg = false;
        n->hi = n->lo = 0;
        return true;
    case REAL_ONES:
        if (LIKELY(in->exp != real_exp_max(f) || in->lo != real_ones(f)))
            return false;
        n->cls = NUM_NAN;
        n->hi = n->lo = 0;
        return true;
    case REAL_IEEE:
        if (LIKELY(in->exp != real_exp_max(f)))
            return false;
        shift_left(&s.hi, &s.lo, 128 - f->sig_width);
        break;
    case REAL_X87:
    case REAL_M68K:
        whole = in->lo >> 63;
        if (LIKELY(in->exp != real_exp_max(f)) &&
            (f->specials == REAL_M68K || LIKELY(whole || in->exp == 0)))
            return false;
        s.hi = in->lo << 1;
        s.lo = 0;
        break;
    }
    n->hi = s.hi;
    n->lo = s.lo;
    n->cls = (s.hi | s.lo) == 0 && (whole || f->specials == REAL_M68K) ? NUM_INF : NUM_NAN;
    return true;
}

INLINE void real_decode(struct num *n, const struct real *f, const struct fields *in)
{
    n->neg = in->neg;
    n->sticky = false;
    n->exp = 0;
    if (real_special(n, f, in))
        return;
    n->cls = NUM_FINITE;
    n->hi = in->hi;
    n->lo = in->lo;
    shift_left(&n->hi, &n->lo, 128 - f->sig_width - f->implied);
    n->exp = real_power(f, (int64_t)in->exp);
    if (f->implied && LIKELY(in->exp != 0)) {
        n->hi |= (uint64_t)1 << 63;
        return;
    }
    if (f->first == 1 && in->exp == 0)
        n->exp = real_power(f, 1);
    num_normalise(n);
}

#endif
