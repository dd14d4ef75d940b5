/* number.h - a scalar taken apart: the one form that every format unpacks to.
 *
 * A number is a sign, a power of two and 128 bits of significand; what lay below
 * them is remembered in one sticky bit, so that packing rounds once, to nearest
 * even, whatever the two formats are.  Everything is integer arithmetic on bytes:
 * no floating-point unit, its modes or its long double has a say.
 *
 * Scalars come as little-endian bytes (move.c puts them so).  The functions
 * are inlined where a format is known at compile time: side.c makes the general
 * ones, pass_soft.c the fast ones. */
#ifndef KERN_NUMBER_H
#define KERN_NUMBER_H

#include "format/byteorder.h"
#include "kern/kern.h"
#include "scalar/scalar.h"

#include <string.h>

/* The value is +-0.h * 2^(exp + 1), h = hi:lo with its top bit set, and a little more
 * if sticky.  A NaN's h is its fraction field, left-aligned: quiet bit and payload. */
enum num_class { NUM_ZERO, NUM_FINITE, NUM_INF, NUM_NAN };
struct num {
    uint64_t hi, lo;
    int64_t exp; /* of the top bit */
    enum num_class cls;
    bool neg, sticky;
};

/* What packing lost: it was out of range; it was rounded; a NaN lost payload or sign;
 * a NaN became a number. */
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

/* Sets class and fraction of a special; false: the fields are a finite number. */
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

/* --------------------------------------------------------------- encode */

INLINE void real_largest(struct fields *out, const struct real *f)
{
    int width = f->sig_width;

    out->exp = (uint64_t)f->last;
    out->hi = width > 64 ? ((uint64_t)1 << (width - 64)) - 1 : 0;
    out->lo = width >= 64 ? UINT64_MAX : ((uint64_t)1 << width) - 1;
    if (f->specials == REAL_ONES)
        out->lo--;
}

/* Gives false where the format has no infinity, after writing the largest number. */
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

/* A NaN keeps its sign and the upper bits of its payload where it can, and is quiet. */
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

/* The exponent field that puts the top bit at 2^exp, and how many bits of the
 * significand then stay empty above it. */
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

/* Below the smallest number of a format that has nothing between it and 0. */
INLINE int real_underflow(struct fields *out, const struct real *f, const struct num *n)
{
    bool up = n->exp == real_power(f, f->first) - 1 && ((n->hi << 1) | n->lo | n->sticky) != 0;

    out->exp = up ? (uint64_t)f->first : 0;
    out->hi = out->lo = 0;
    out->neg = up && n->neg;
    return LOST_BITS;
}

/* Does the significand have a bit `at` or higher? */
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

/* What it lost, as LOST_ bits.  clamp: finite values beyond the range become the
 * largest number, not an infinity. */
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

/* ------------------------------------------------- scalars of a named format */

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
    if (f == &reals[DREP_FORMAT_IBM_HEX128]) {
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
    if (f == &reals[DREP_FORMAT_IBM_HEX128]) {
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

/* ------------------------------------------------------- the general form */

/* DREP_ERR_TYPE, with the reason, for what is no number or cannot be held. */
int side_init(struct side *side, int format, int size, const drep_scalar *custom);
void side_unpack(struct num *n, const struct side *side, const uint8_t *p);
/* range: DREP_RANGE_...; gives LOST_ bits. */
int side_pack(const struct num *n, const struct side *side, uint8_t *p, int range);
/* Every value of `src` fits `dst`, NaNs with all they carry. */
bool side_holds(const struct side *dst, const struct side *src);
/* Every value of `src` lies in the range of `dst`, though it may be rounded. */
bool side_reaches(const struct side *dst, const struct side *src);

#endif
