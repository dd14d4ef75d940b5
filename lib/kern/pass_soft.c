/* pass_soft.c - passes by number.h: between any two scalars, and fast ones between the
 * pairs of formats that files are full of. */
/* SPDX-License-Identifier: MIT */
#include "kern/encode.h"
#include "kern/pass.h"
#include "kern/real.h"

#include <datarep.h>

INLINE void tally_add(struct tally *t, int lost)
{
    t->overflow += (lost & LOST_RANGE) != 0;
    t->inexact += (lost & LOST_BITS) != 0;
    t->nan_lost += (lost & LOST_NAN) != 0;
    t->refused += (lost & (LOST_RANGE | LOST_NUMBER)) != 0;
}

/* Any scalar to any other, one at a time through struct num: for pairs that have no faster pass.
 * What is lost is only counted in t; whether it is refused is the caller's question. */
void pass_general(PASS_ARGS)
{
    const struct side *to = &k->plan.dst, *from = &k->plan.src;
    /* Only integers lose their upper bits, and only to integers. */
    bool cut = to->kind == SIDE_INT && (from->kind == SIDE_REAL || from->kind == SIDE_PAIR);
    int range = k->range == DREP_RANGE_ROUND ? DREP_RANGE_ROUND
                : cut || k->plan.clamp       ? DREP_RANGE_CLAMP
                                             : DREP_RANGE_WRAP;
    struct num number;

    for (; n > 0; n--, dst += to->size, src += from->size) {
        side_unpack(&number, from, src);
        tally_add(t, side_pack(&number, to, dst, range));
    }
}

/* to_size: bytes from one scalar to the next, padding included. */
INLINE void soft(const struct kernel *k, uint8_t *restrict dst, const uint8_t *restrict src,
                 int64_t n, struct tally *t, const struct real *to, const struct real *from,
                 int to_size)
{
    const int from_size = k->plan.src.size;
    const bool clamp = k->plan.clamp;
    struct fields s;
    struct num number;
    struct tally sum = {0, 0, 0, 0};
    int64_t i;

    for (i = 0; i < n; i++, src += from_size, dst += to_size) {
        real_load(&s, from, src);
        real_decode(&number, from, &s);
        tally_add(&sum, real_encode(&s, to, &number, clamp));
        real_store(&s, to, dst, to_size);
    }
    t->overflow += sum.overflow;
    t->inexact += sum.inexact;
    t->nan_lost += sum.nan_lost;
    t->refused += sum.refused;
}

/* ------------------------------------------------------------- ordinary */

/* A scalar in two words, and what became of it. */
struct quad_words {
    uint64_t lo, hi;
    uint64_t odd, inexact; /* not ordinary: lo and hi mean nothing; rounded */
};

/* Converts zeros and normal numbers that stay in the inner range of the target: no
 * branch, so that loops of it become vector loops.  Significands of up to 64 bits. */
INLINE struct quad_words ordinary(uint64_t hi, uint64_t lo, const struct real *to,
                                  const struct real *from)
{
    const int width = to->sig_width + to->implied, top = to->sign & 63;
    uint64_t sign = word_bits(hi, lo, from->sign, 1);
    uint64_t e = word_bits(hi, lo, from->exp_at, from->exp_width);
    uint64_t m = word_bits(hi, lo, from->sig_at, from->sig_width), sig, q, part, half, shift;
    uint64_t zero = (uint64_t)(m == 0) & (uint64_t)(e == 0), keep = sign, carry, up, odd;
    int64_t exp = real_power(from, (int64_t)e), e2, empty = 0;
    struct quad_words out = {0, 0, 0, 0};

    sig = from->implied ? (uint64_t)1 << 63 | m << (63 - from->sig_width)
                        : m << (64 - from->sig_width);
    if (from->log2_base == 4) {
        shift = (uint64_t)(sig < (uint64_t)1 << 63) + (sig < (uint64_t)1 << 62) +
                (sig < (uint64_t)1 << 61);
        sig <<= shift;
        exp -= (int64_t)shift;
    }
    odd = (uint64_t)(sig >> 63 == 0) | (uint64_t)(e >= (uint64_t)from->last) |
          (uint64_t)(from->first == 1 && e == 0);
    e2 = exp + to->fraction;
    if (to->log2_base == 4) {
        /* Rounded up to a multiple of 4; the sum keeps the shift free of signs. */
        e2 = (int64_t)((uint64_t)(e2 + 3 + (1 << 20)) >> 2) - (1 << 18);
        empty = 4 * e2 - to->fraction - exp;
    }
    e2 += to->bias;
    odd |= (uint64_t)(e2 < to->first) | (uint64_t)(e2 >= to->last);
    if (width == 64) {
        q = sig;
    } else {
        /* Nothing falls off the end: sources that go to base 16 have at most 61 bits. */
        sig >>= (uint64_t)empty & 3;
        half = (uint64_t)1 << (63 - width);
        part = sig & (2 * half - 1);
        q = sig >> (64 - width);
        up = part == half ? q & 1 : (uint64_t)(part > half);
        q += up;
        carry = q >> (width & 63);
        q >>= carry * to->log2_base;
        e2 += (int64_t)carry;
        out.inexact = part != 0;
    }
    if (to->implied)
        q &= ~((uint64_t)1 << ((width - 1) & 63));
    if (to->specials == REAL_VAX || to->specials == REAL_CRAY)
        keep = 0;
    if (from->specials == REAL_VAX)
        zero &= ~sign; /* no -0: a reserved operand */
    zero = -zero;
    q &= ~zero;
    e2 = (int64_t)((uint64_t)e2 & ~zero);
    sign = (sign & ~zero) | (keep & zero);
    out.odd = odd & ~zero;
    out.inexact &= ~zero & ~-out.odd;
    out.lo = q;
    if (to->exp_at < 64)
        out.lo |= (uint64_t)e2 << (to->exp_at & 63) | sign << top;
    else
        out.hi = (uint64_t)e2 << (to->exp_at & 63) | sign << top;
    return out;
}

/* m scalars, at most 64.  Loads and stores of other widths stand apart, for the loop
 * between them to become one of vectors. */
INLINE void fast_block(const struct kernel *k, uint8_t *restrict dst, const uint8_t *restrict src,
                       int m, struct tally *t, const struct real *to, const struct real *from,
                       int to_size, int from_size, pass_fn *slow)
{
    uint64_t low[64], high[64], odd[64], any = 0, inexact = 0;
    int i;

    for (i = 0; i < m; i++)
        low[i] = load_le(src + i * from_size, from->size < 8 ? from->size : 8);
    for (i = 0; i < m && from->size > 8; i++)
        high[i] = load_le(src + i * from_size + 8, from->size - 8);
    for (i = 0; i < m; i++) {
        struct quad_words w = ordinary(from->size > 8 ? high[i] : 0, low[i], to, from);

        any |= w.odd;
        inexact += w.inexact;
        odd[i] = w.odd;
        low[i] = w.lo;
        high[i] = w.hi;
    }
    for (i = 0; i < m; i++)
        store_le(dst + i * to_size, low[i], to->size < 8 ? to->size : 8);
    for (i = 0; i < m && to->size > 8; i++)
        store_le(dst + i * to_size + 8, high[i], to_size - 8);
    t->inexact += (int64_t)inexact;
    for (i = 0; UNLIKELY(any) && i < m; i++)
        if (odd[i])
            slow(k, dst + i * to_size, src + i * from_size, 1, t);
}

/* Ordinary scalars a block at a time, then those of the block that are not. */
INLINE void fast(const struct kernel *k, uint8_t *restrict dst, const uint8_t *restrict src,
                 int64_t n, struct tally *t, const struct real *to, const struct real *from,
                 int to_size, int from_size, pass_fn *slow)
{
    for (; n >= 64; n -= 64, src += 64 * from_size, dst += 64 * to_size)
        fast_block(k, dst, src, 64, t, to, from, to_size, from_size, slow);
    fast_block(k, dst, src, (int)n, t, to, from, to_size, from_size, slow);
}

/* (to, from): mostly ordinary, and worth vectors. */
#define FAST(X)            \
    X(BINARY64, IBM_HEX64) \
    X(BINARY64, IBM_HEX32) \
    X(BINARY64, VAX_D)     \
    X(BINARY64, VAX_G)     \
    X(BINARY64, VAX_F)     \
    X(BINARY64, CRAY64)    \
    X(IBM_HEX64, BINARY64) \
    X(IBM_HEX32, BINARY64) \
    X(VAX_D, BINARY64)     \
    X(VAX_G, BINARY64)     \
    X(VAX_F, BINARY64)     \
    X(CRAY64, BINARY64)    \
    X(BINARY32, IBM_HEX32) \
    X(IBM_HEX32, BINARY32) \
    X(BINARY32, VAX_F)     \
    X(VAX_F, BINARY32)     \
    X(BINARY64, M68K)      \
    X(M68K, BINARY64)
/* Worth no more than constants. */
#define SOFT(X)            \
    X(BINARY64, BINARY32)  \
    X(BINARY32, BINARY64)  \
    X(BINARY64, BFLOAT16)  \
    X(BFLOAT16, BINARY64)  \
    X(BINARY64, BINARY128) \
    X(BINARY128, BINARY64) \
    X(BINARY32, FP8_E4M3)  \
    X(FP8_E4M3, BINARY32)  \
    X(BINARY64, FP8_E4M3)  \
    X(FP8_E4M3, BINARY64)  \
    X(BINARY32, FP8_E5M2)  \
    X(FP8_E5M2, BINARY32)  \
    X(BINARY64, FP8_E5M2)  \
    X(FP8_E5M2, BINARY64)

#define REAL(name) &reals[DREP_FORMAT_##name]
#define X(to, from)                                                                  \
    static void soft_##to##_##from(PASS_ARGS)                                        \
    {                                                                                \
        soft(k, dst, src, n, t, REAL(to), REAL(from), reals[DREP_FORMAT_##to].size); \
    }
FAST(X)
SOFT(X)
#undef X

#ifdef ISA_X86
#define X(to, from)                                                                      \
    VARIANTS(fast_##to##_##from,                                                         \
             fast(k, dst, src, n, t, REAL(to), REAL(from), reals[DREP_FORMAT_##to].size, \
                  reals[DREP_FORMAT_##from].size, soft_##to##_##from))
FAST(X)
#undef X
#endif

/* x87 is the one that comes in three sizes. */
static void soft_to_x87(PASS_ARGS)
{
    soft(k, dst, src, n, t, REAL(X87), REAL(BINARY64), k->plan.dst.size);
}

static void soft_from_x87(PASS_ARGS)
{
    soft(k, dst, src, n, t, REAL(BINARY64), REAL(X87), 8);
}

INLINE void from_x87(PASS_ARGS)
{
    if (k->plan.src.size == 16)
        fast(k, dst, src, n, t, REAL(BINARY64), REAL(X87), 8, 16, soft_from_x87);
    else if (k->plan.src.size == 12)
        fast(k, dst, src, n, t, REAL(BINARY64), REAL(X87), 8, 12, soft_from_x87);
    else
        fast(k, dst, src, n, t, REAL(BINARY64), REAL(X87), 8, 10, soft_from_x87);
}

INLINE void to_x87(PASS_ARGS)
{
    if (k->plan.dst.size == 16)
        fast(k, dst, src, n, t, REAL(X87), REAL(BINARY64), 16, 8, soft_to_x87);
    else if (k->plan.dst.size == 12)
        fast(k, dst, src, n, t, REAL(X87), REAL(BINARY64), 12, 8, soft_to_x87);
    else
        fast(k, dst, src, n, t, REAL(X87), REAL(BINARY64), 10, 8, soft_to_x87);
}

VARIANTS(fast_from_x87, from_x87(k, dst, src, n, t))
VARIANTS(fast_to_x87, to_x87(k, dst, src, n, t))

/* ------------------------------------------------- extended and binary128 */

static void turn_16(uint8_t *p)
{
    uint64_t low = load_le(p, 8), high = load_le(p + 8, 8);

    store_le(p, __builtin_bswap64(high), 8);
    store_le(p + 8, __builtin_bswap64(low), 8);
}

/* 64 bits of significand move into 112 and back, a block at a time as above; m68k differs
 * in where its exponent is, and in what exponent 0 means, which the soft way knows. */
INLINE void extended_to_quad(const struct kernel *k, uint8_t *restrict dst,
                             const uint8_t *restrict src, int m, struct tally *t,
                             const struct real *from, int from_size, bool turn)
{
    const int at = from->exp_at - 64;
    uint64_t low[64], high[64], odd[64], any = 0;
    int i;

    /* Vectors like to read whole words better than what matters of them. */
    for (i = 0; i < m; i++) {
        low[i] = load_le(src + i * from_size, 8);
        high[i] = load_le(src + i * from_size + 8, from_size == 16 ? 8 : from->size - 8);
    }
    for (i = 0; i < m; i++) {
        uint64_t sig = low[i], top = high[i] >> at & 0xffff;

        odd[i] = (uint64_t)(sig >> 63 == 0) | (uint64_t)(((top + 1) & 0x7fff) < 2);
        any |= odd[i];
        low[i] = sig << 49;
        high[i] = top << 48 | sig << 1 >> 16;
    }
    for (i = 0; i < m; i++) {
        store_le(dst + i * 16, turn ? __builtin_bswap64(high[i]) : low[i], 8);
        store_le(dst + i * 16 + 8, turn ? __builtin_bswap64(low[i]) : high[i], 8);
    }
    for (i = 0; UNLIKELY(any) && i < m; i++)
        if (odd[i]) {
            soft(k, dst + i * 16, src + i * from_size, 1, t, REAL(BINARY128), from, 16);
            if (turn)
                turn_16(dst + i * 16);
        }
}

INLINE void quad_to_extended(const struct kernel *k, uint8_t *restrict dst,
                             const uint8_t *restrict src, int m, struct tally *t,
                             const struct real *to, int to_size)
{
    const int at = to->exp_at - 64;
    const uint64_t half = (uint64_t)1 << 48;
    uint64_t low[64], high[64], odd[64], any = 0, inexact = 0;
    int i;

    for (i = 0; i < m; i++) {
        low[i] = load_le(src + i * 16, 8);
        high[i] = load_le(src + i * 16 + 8, 8);
    }
    for (i = 0; i < m; i++) {
        uint64_t top = high[i] >> 48, sig = (uint64_t)1 << 63 | high[i] << 15 | low[i] >> 49;
        uint64_t part = low[i] & (2 * half - 1), up = part + (sig & 1) > half;

        /* The largest exponent is left out too: rounding may leave it. */
        odd[i] = ((top + 2) & 0x7fff) < 3;
        any |= odd[i];
        inexact += (uint64_t)(part != 0) & ~odd[i];
        sig += up;
        low[i] = sig | (uint64_t)1 << 63;
        high[i] = (top + (uint64_t)(sig < up)) << at;
    }
    for (i = 0; i < m; i++)
        store_le(dst + i * to_size, low[i], 8);
    for (i = 0; i < m; i++)
        store_le(dst + i * to_size + 8, high[i], to_size - 8);
    t->inexact += (int64_t)inexact;
    for (i = 0; UNLIKELY(any) && i < m; i++)
        if (odd[i])
            soft(k, dst + i * to_size, src + i * 16, 1, t, to, REAL(BINARY128), to_size);
}

INLINE void to_quad(PASS_ARGS, const struct real *from, int from_size, bool turn)
{
    for (; n >= 64; n -= 64, src += 64 * from_size, dst += 64 * 16)
        extended_to_quad(k, dst, src, 64, t, from, from_size, turn);
    extended_to_quad(k, dst, src, (int)n, t, from, from_size, turn);
}

INLINE void from_quad(PASS_ARGS, const struct real *to, int to_size)
{
    for (; n >= 64; n -= 64, src += 64 * 16, dst += 64 * to_size)
        quad_to_extended(k, dst, src, 64, t, to, to_size);
    quad_to_extended(k, dst, src, (int)n, t, to, to_size);
}

INLINE void quad_of_x87(PASS_ARGS)
{
    if (k->plan.src.size == 16)
        to_quad(k, dst, src, n, t, REAL(X87), 16, false);
    else if (k->plan.src.size == 12)
        to_quad(k, dst, src, n, t, REAL(X87), 12, false);
    else
        to_quad(k, dst, src, n, t, REAL(X87), 10, false);
}

/* Formats of memory here to those that files hold most, without a tile and without counts. */
INLINE void big_quad_of_x87(PASS_ARGS)
{
    struct tally none = {0, 0, 0, 0};

    (void)t;
    to_quad(k, dst, src, n, &none, REAL(X87), 16, true);
}

INLINE void x87_from_quad(PASS_ARGS)
{
    if (k->plan.dst.size == 16)
        from_quad(k, dst, src, n, t, REAL(X87), 16);
    else if (k->plan.dst.size == 12)
        from_quad(k, dst, src, n, t, REAL(X87), 12);
    else
        from_quad(k, dst, src, n, t, REAL(X87), 10);
}

VARIANTS(quad_from_x87, quad_of_x87(k, dst, src, n, t))
VARIANTS(big_quad_from_x87, big_quad_of_x87(k, dst, src, n, t))
VARIANTS(quad_to_x87, x87_from_quad(k, dst, src, n, t))
VARIANTS(quad_from_m68k, to_quad(k, dst, src, n, t, REAL(M68K), 12, false))
VARIANTS(quad_to_m68k, from_quad(k, dst, src, n, t, REAL(M68K), 12))

/* ----------------------------------------------------------------- choice */

/* (to, from, pass) of the formats that have passes of their own beside those above. */
#define EXTENDED(X)                    \
    X(BINARY64, X87, fast_from_x87)    \
    X(X87, BINARY64, fast_to_x87)      \
    X(BINARY128, X87, quad_from_x87)   \
    X(X87, BINARY128, quad_to_x87)     \
    X(BINARY128, M68K, quad_from_m68k) \
    X(M68K, BINARY128, quad_to_m68k)

pass_fn *pass_soft(int dst, int src, enum isa isa)
{
#define X(to, from, pass)                                     \
    if (dst == DREP_FORMAT_##to && src == DREP_FORMAT_##from) \
        return VARIANT(pass, isa);
    EXTENDED(X)
#undef X
#ifdef ISA_X86
#define X(to, from)                                                                  \
    if (isa != ISA_PORTABLE && dst == DREP_FORMAT_##to && src == DREP_FORMAT_##from) \
        return VARIANT(fast_##to##_##from, isa);
    FAST(X)
#undef X
#endif
#define X(to, from)                                           \
    if (dst == DREP_FORMAT_##to && src == DREP_FORMAT_##from) \
        return soft_##to##_##from;
    FAST(X)
    SOFT(X)
#undef X
    return NULL;
}

pass_fn *pass_soft_turned(int dst, int src, int src_size, bool turn_to, enum isa isa)
{
    if (dst == DREP_FORMAT_BINARY128 && src == DREP_FORMAT_X87 && src_size == 16 && turn_to)
        return VARIANT(big_quad_from_x87, isa);
    return NULL;
}
