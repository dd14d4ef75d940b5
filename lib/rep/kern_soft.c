/* kern_soft.c - passes by number.h: between any two scalars, and fast ones between the
 * pairs of formats that files are full of. */
#include "rep/number.h"
#include "rep/rep.h"

INLINE void tally_add(struct tally *t, int lost)
{
    t->overflow += (lost & LOST_RANGE) != 0;
    t->inexact += (lost & LOST_BITS) != 0;
    t->nan_lost += (lost & LOST_NAN) != 0;
    t->refused += (lost & (LOST_RANGE | LOST_NUMBER)) != 0;
}

void pass_general(PASS_ARGS)
{
    const struct side *to = &k->plan.dst, *from = &k->plan.src;
    /* Only integers lose their upper bits, and only to integers. */
    bool cut = to->kind == SIDE_INT && (from->kind == SIDE_REAL || from->kind == SIDE_PAIR);
    int range = cut || k->plan.clamp ? DREP_RANGE_CLAMP : DREP_RANGE_WRAP;
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
struct words {
    uint64_t lo, hi;
    uint64_t odd, inexact; /* not ordinary: lo and hi mean nothing; rounded */
};

/* Converts zeros and normal numbers that stay in the inner range of the target: no
 * branch, so that loops of it become vector loops.  Significands of up to 64 bits. */
INLINE struct words ordinary(uint64_t hi, uint64_t lo, const struct real *to,
                             const struct real *from)
{
    const int width = to->sig_width + to->implied, top = to->sign & 63;
    uint64_t sign = word_bits(hi, lo, from->sign, 1);
    uint64_t e = word_bits(hi, lo, from->exp_at, from->exp_width);
    uint64_t m = word_bits(hi, lo, from->sig_at, from->sig_width), sig, q, part, half, shift;
    uint64_t zero = (uint64_t)(m == 0) & (uint64_t)(e == 0), keep = sign, carry, up, odd;
    int64_t exp = real_power(from, (int64_t)e), e2, empty = 0;
    struct words out = {0, 0, 0, 0};

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

/* Ordinary scalars a block at a time, then those of the block that are not. */
INLINE void fast(const struct kernel *k, uint8_t *restrict dst, const uint8_t *restrict src,
                 int64_t n, struct tally *t, const struct real *to, const struct real *from,
                 int to_size, int from_size, pass_fn *slow)
{
    uint64_t row[64], odd[64], any, inexact;
    int64_t i, m;

    for (; n > 0; n -= m, src += m * from_size, dst += m * to_size) {
        m = n < 64 ? n : 64;
        any = inexact = 0;
        /* Loads and stores of other widths stand apart, for the loop between them to
         * become one of vectors. */
        for (i = 0; i < m; i++)
            row[i] = load_le(src + i * from_size, from->size < 8 ? from->size : 8);
        for (i = 0; i < m; i++) {
            uint64_t hi = from->size > 8 ? load_le(src + i * from_size + 8, from->size - 8) : 0;
            struct words w = ordinary(hi, row[i], to, from);

            any |= w.odd;
            inexact += w.inexact;
            odd[i] = w.odd;
            row[i] = w.lo;
            if (to->size > 8)
                store_le(dst + i * to_size + 8, w.hi, to_size - 8);
        }
        for (i = 0; i < m; i++)
            store_le(dst + i * to_size, row[i], to->size < 8 ? to->size : 8);
        t->inexact += (int64_t)inexact;
        for (i = 0; UNLIKELY(any) && i < m; i++)
            if (odd[i])
                slow(k, dst + i * to_size, src + i * from_size, 1, t);
    }
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
    X(VAX_F, BINARY32)
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
X(BINARY64, M68K)
X(M68K, BINARY64)
#undef X

#ifdef ISA_X86
#define X(to, from)                                                                      \
    VARIANTS(fast_##to##_##from,                                                         \
             fast(k, dst, src, n, t, REAL(to), REAL(from), reals[DREP_FORMAT_##to].size, \
                  reals[DREP_FORMAT_##from].size, soft_##to##_##from))
FAST(X)
#undef X
#endif

/* Three words of 32 bits do not make vectors, but the branches are gone. */
static void fast_from_m68k(PASS_ARGS)
{
    fast(k, dst, src, n, t, REAL(BINARY64), REAL(M68K), 8, 12, soft_BINARY64_M68K);
}

static void fast_to_m68k(PASS_ARGS)
{
    fast(k, dst, src, n, t, REAL(M68K), REAL(BINARY64), 12, 8, soft_M68K_BINARY64);
}

/* x87 is the one that comes in three sizes. */
static void soft_to_x87(PASS_ARGS)
{
    soft(k, dst, src, n, t, REAL(X87), REAL(BINARY64), k->plan.dst.size);
}

static void soft_from_x87(PASS_ARGS)
{
    soft(k, dst, src, n, t, REAL(BINARY64), REAL(X87), 8);
}

static void fast_from_x87(PASS_ARGS)
{
    fast(k, dst, src, n, t, REAL(BINARY64), REAL(X87), 8, k->plan.src.size, soft_from_x87);
}

static void fast_to_x87(PASS_ARGS)
{
    if (k->plan.dst.size == 16)
        fast(k, dst, src, n, t, REAL(X87), REAL(BINARY64), 16, 8, soft_to_x87);
    else if (k->plan.dst.size == 12)
        fast(k, dst, src, n, t, REAL(X87), REAL(BINARY64), 12, 8, soft_to_x87);
    else
        fast(k, dst, src, n, t, REAL(X87), REAL(BINARY64), 10, 8, soft_to_x87);
}

/* ------------------------------------------------- extended and binary128 */

/* 64 bits of significand move into 112 and back; m68k differs in where its exponent is,
 * and in what exponent 0 means, which the soft way knows. */
INLINE void extended_to_quad(const struct kernel *k, uint8_t *restrict dst,
                             const uint8_t *restrict src, int64_t n, struct tally *t,
                             const struct real *from, int from_size)
{
    const int at = from->exp_at - 64;
    int64_t i;

    for (i = 0; i < n; i++, src += from_size, dst += 16) {
        uint64_t m = load_le(src, 8), top = load_le(src + 8, from->size - 8) >> at;

        if (UNLIKELY(!(m >> 63) || (top + 1) % 0x8000 < 2)) {
            soft(k, dst, src, 1, t, REAL(BINARY128), from, 16);
            continue;
        }
        store_le(dst, m << 49, 8);
        store_le(dst + 8, top << 48 | m << 1 >> 16, 8);
    }
}

INLINE void quad_to_extended(const struct kernel *k, uint8_t *restrict dst,
                             const uint8_t *restrict src, int64_t n, struct tally *t,
                             const struct real *to, int to_size)
{
    const int at = to->exp_at - 64;
    const uint64_t half = (uint64_t)1 << 48;
    int64_t i, inexact = 0;

    for (i = 0; i < n; i++, src += 16, dst += to_size) {
        uint64_t lo = load_le(src, 8), hi = load_le(src + 8, 8), top = hi >> 48, part, m, up;

        /* The largest exponent is left out too: rounding may leave it. */
        if (UNLIKELY((top + 2) % 0x8000 < 3)) {
            soft(k, dst, src, 1, t, to, REAL(BINARY128), to_size);
            continue;
        }
        part = lo & (2 * half - 1);
        m = (uint64_t)1 << 63 | hi << 15 | lo >> 49;
        up = part == half ? m & 1 : (uint64_t)(part > half);
        m += up;
        inexact += part != 0;
        top += m < up;
        store_le(dst, m | (uint64_t)1 << 63, 8);
        store_le(dst + 8, top << at, to_size - 8);
    }
    t->inexact += inexact;
}

static void extended_x87_quad(PASS_ARGS)
{
    if (k->plan.src.size == 16)
        extended_to_quad(k, dst, src, n, t, REAL(X87), 16);
    else
        extended_to_quad(k, dst, src, n, t, REAL(X87), k->plan.src.size);
}

static void quad_x87(PASS_ARGS)
{
    if (k->plan.dst.size == 16)
        quad_to_extended(k, dst, src, n, t, REAL(X87), 16);
    else if (k->plan.dst.size == 12)
        quad_to_extended(k, dst, src, n, t, REAL(X87), 12);
    else
        quad_to_extended(k, dst, src, n, t, REAL(X87), 10);
}

static void extended_m68k_quad(PASS_ARGS)
{
    extended_to_quad(k, dst, src, n, t, REAL(M68K), 12);
}

static void quad_m68k(PASS_ARGS)
{
    quad_to_extended(k, dst, src, n, t, REAL(M68K), 12);
}

/* ----------------------------------------------------------------- choice */

static const struct {
    uint8_t to, from;
    pass_fn *pass;
} extended[] = {
    {DREP_FORMAT_BINARY64, DREP_FORMAT_X87, fast_from_x87},
    {DREP_FORMAT_X87, DREP_FORMAT_BINARY64, fast_to_x87},
    {DREP_FORMAT_BINARY64, DREP_FORMAT_M68K, fast_from_m68k},
    {DREP_FORMAT_M68K, DREP_FORMAT_BINARY64, fast_to_m68k},
    {DREP_FORMAT_BINARY128, DREP_FORMAT_X87, extended_x87_quad},
    {DREP_FORMAT_BINARY128, DREP_FORMAT_M68K, extended_m68k_quad},
    {DREP_FORMAT_X87, DREP_FORMAT_BINARY128, quad_x87},
    {DREP_FORMAT_M68K, DREP_FORMAT_BINARY128, quad_m68k},
};

pass_fn *pass_soft(int dst, int src, enum isa isa)
{
    size_t i;

    for (i = 0; i < sizeof extended / sizeof extended[0]; i++)
        if (extended[i].to == dst && extended[i].from == src)
            return extended[i].pass;
#ifdef ISA_X86
#define X(to, from)                                                                  \
    if (isa != ISA_PORTABLE && dst == DREP_FORMAT_##to && src == DREP_FORMAT_##from) \
        return VARIANT(fast_##to##_##from, isa);
    FAST(X)
#undef X
#endif
    (void)isa;
#define X(to, from)                                           \
    if (dst == DREP_FORMAT_##to && src == DREP_FORMAT_##from) \
        return soft_##to##_##from;
    FAST(X)
    SOFT(X)
#undef X
    return NULL;
}
