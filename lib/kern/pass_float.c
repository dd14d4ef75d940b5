/* pass_float.c - passes over the reals that machines compute with.
 *
 * The 16-bit formats are bit arithmetic.  Between binary32, binary64 and integers the
 * processor's float unit works, only where it gives the same bits as side.c, NaNs
 * included; it must be in its default state, which kernel.c asks before each run. */
/* SPDX-License-Identifier: MIT */
#include "kern/pass.h"
#include "kern/real.h"

#ifdef ISA_X86
#include <immintrin.h>
#endif

bool kern_float_default(void)
{
#if defined(__x86_64__)
    /* All exceptions masked; rounding, flush-to-zero and subnormals-are-zero clear. */
    return (__builtin_ia32_stmxcsr() & 0xffc0) == 0x1f80;
#elif defined(__aarch64__)
    uint64_t fpcr;

    __asm__("mrs %0, fpcr" : "=r"(fpcr));
    return (fpcr & 0x07ff9f00) == 0;
#else
    return false;
#endif
}

/* ------------------------------------------------------ bits and numbers */

INLINE uint32_t bits_of_float(float v)
{
    uint32_t bits;

    memcpy(&bits, &v, sizeof bits);
    return bits;
}

INLINE float float_of_bits(uint32_t bits)
{
    float v;

    memcpy(&v, &bits, sizeof v);
    return v;
}

INLINE uint64_t bits_of_double(double v)
{
    uint64_t bits;

    memcpy(&bits, &v, sizeof bits);
    return bits;
}

INLINE double double_of_bits(uint64_t bits)
{
    double v;

    memcpy(&v, &bits, sizeof v);
    return v;
}

INLINE uint32_t get4(const uint8_t *p, int64_t i)
{
    return (uint32_t)load_le(p + 4 * i, 4);
}

INLINE uint64_t get8(const uint8_t *p, int64_t i)
{
    return load_le(p + 8 * i, 8);
}

/* ------------------------------------- binary16 and bfloat16: bits alone */

/* a where yes, else b; without a branch, which would keep loops from becoming vectors. */
INLINE uint32_t choose(bool yes, uint32_t a, uint32_t b)
{
    uint32_t mask = -(uint32_t)yes;

    return (a & mask) | (b & ~mask);
}

INLINE uint64_t choose8(bool yes, uint64_t a, uint64_t b)
{
    uint64_t mask = -(uint64_t)yes;

    return (a & mask) | (b & ~mask);
}

/* The 16 bits nearest to a binary32 given as bits, and what that loses. */
struct narrowed {
    uint32_t bits;
    bool over, inexact, nan_lost;
};

INLINE struct narrowed to_bfloat(uint32_t v)
{
    uint32_t size = v & 0x7fffffff, low = v & 0xffff, round = v + 0x7fff + (v >> 16 & 1);
    bool nan = size > 0x7f800000, over = (size < 0x7f800000) & (size >= 0x7f7f8000);

    return (struct narrowed){.bits = choose(nan, v | 0x00400000, round) >> 16,
                             .over = over,
                             .inexact = !nan & !over & (low != 0),
                             .nan_lost = nan & (low != 0)};
}

INLINE struct narrowed to_half(uint32_t v)
{
    uint32_t size = v & 0x7fffffff, e = size >> 23, low = size & 0x1fff;
    uint32_t normal = ((size + 0xfff + (size >> 13 & 1)) >> 13) - (112 << 10);
    /* Below 2^-14 the significand moves right until its last bit is 2^-24. */
    uint32_t by = choose(e < 96, 31, choose(e < 113, 126 - e, 14));
    uint32_t sig = (size & 0x7fffff) | 0x800000, small = sig >> by;
    uint32_t rest = sig & ((1u << by) - 1), middle = 1u << (by - 1);
    bool nan = size > 0x7f800000, large = size >= 0x477ff000, over = large & (size < 0x7f800000);
    bool tiny = e < 113;
    uint32_t out;

    small += choose(rest == middle, small & 1, rest > middle);
    out = choose(tiny, small, choose(large, 0x7c00, normal));
    out = choose(nan, 0x7e00 | (size >> 13 & 0x3ff), out);
    return (struct narrowed){.bits = out | (v >> 16 & 0x8000),
                             .over = over,
                             .inexact = !large & (choose(tiny, rest, low) != 0) & (size != 0),
                             .nan_lost = nan & (low != 0)};
}

/* A binary64 as a binary32 whose last bit is set if anything was cut off: rounded to
 * binary16, both are the same.  What is far out of that range stays so. */
INLINE uint32_t cut_double(uint64_t v)
{
    uint64_t size = v & 0x7fffffffffffffff, e = size >> 52;
    uint32_t sign = (uint32_t)(v >> 32) & 0x80000000, sig = (uint32_t)(v >> 29) & 0x7fffff;
    uint32_t cut = (v & 0x1fffffff) != 0;
    uint32_t middle = (uint32_t)(e - 896) << 23 | sig | cut;

    uint32_t ends = choose(e > 1100, 0x71000000u, size != 0);

    ends = choose(e == 2047, 0x7f800000 | sig | cut, ends);
    return sign | choose((e >= 900) & (e <= 1100), middle, ends);
}

/* counts, or a clamp, cost another look at each value; turn: the result is big-endian. */
INLINE void narrow16(const struct kernel *k, uint8_t *restrict dst, const uint8_t *restrict src,
                     int64_t n, struct tally *t, enum scalar_sort to, enum scalar_sort from,
                     bool counts, bool turn)
{
    const bool clamp = k->plan.clamp;
    int64_t i, overflow = 0, inexact = 0, nan_lost = 0;

    for (i = 0; i < n; i++) {
        uint32_t v = from == F32 ? get4(src, i) : cut_double(get8(src, i));
        struct narrowed r = to == F16 ? to_half(v) : to_bfloat(v);

        if (counts) {
            overflow += r.over;
            inexact += r.inexact;
            nan_lost += r.nan_lost;
            r.bits -= r.over & clamp; /* an infinity, less one: the largest number */
        }
        store_le(dst + 2 * i, turn ? __builtin_bswap16((uint16_t)r.bits) : r.bits, 2);
    }
    if (counts) {
        t->overflow += overflow;
        t->refused += overflow;
        t->inexact += inexact;
        t->nan_lost += nan_lost;
    }
}

/* turn: the source is big-endian. */
INLINE void widen16(uint8_t *restrict dst, const uint8_t *restrict src, int64_t n,
                    enum scalar_sort to, enum scalar_sort from, bool turn)
{
    int64_t i;

    for (i = 0; i < n; i++) {
        uint16_t in = (uint16_t)load_le(src + 2 * i, 2);
        uint32_t h = turn ? __builtin_bswap16(in) : in, size = h & 0x7fff, v;
        uint32_t sign = (h & 0x8000) << 16;

        if (from == BF16) {
            v = h << 16;
            v |= (uint32_t)(size > 0x7f80) << 22;
        } else {
            uint32_t tiny = bits_of_float((float)(int32_t)size * 0x1p-24f);
            uint32_t special = 0x7f800000 | size << 13 | (uint32_t)(size > 0x7c00) << 22;

            v = choose(size < 0x7c00, (size << 13) + 0x38000000, special);
            v = choose(size < 0x400, tiny, v);
            v |= sign;
        }
        if (to == F32) {
            store_le(dst + 4 * i, v, 4);
        } else {
            uint64_t sig = (uint64_t)(v & 0x7fffffff) << 29;
            uint64_t up = (uint64_t)((v & 0x7fffffff) != 0) * (1023 - 127) +
                          (uint64_t)((v & 0x7fffffff) >= 0x7f800000) * (2047 - 255 - 1023 + 127);

            store_le(dst + 8 * i, (sig + (up << 52)) | (uint64_t)sign << 32, 8);
        }
    }
}

#define NARROW16(X) \
    X(F16, F32)     \
    X(F16, F64)     \
    X(BF16, F32)
#define X(to, from)                                                                     \
    VARIANTS(narrow_##to##_##from, narrow16(k, dst, src, n, t, to, from, false, false)) \
    VARIANTS(narrow_##to##_##from##_counts, narrow16(k, dst, src, n, t, to, from, true, false))
NARROW16(X)
#undef X

/* bfloat16 has subnormals that are binary32's: not for widening to binary64 here. */
#define WIDEN16(X) \
    X(F32, F16)    \
    X(F64, F16)    \
    X(F32, BF16)
#define X(to, from) \
    VARIANTS(widen_##to##_##from, (void)k; (void)t; widen16(dst, src, n, to, from, false))
WIDEN16(X)
#undef X

#ifdef KERN_FLOAT

/* ---------------------------------------------------- binary32, binary64 */

INLINE void widen(uint8_t *restrict dst, const uint8_t *restrict src, int64_t n)
{
    int64_t i;

    for (i = 0; i < n; i++)
        store_le(dst + 8 * i, bits_of_double((double)float_of_bits(get4(src, i))), 8);
}

/* binary64 to binary32. Counting converts back to see what was lost, so it is compiled only
 * where it is asked for. */
INLINE void narrow(const struct kernel *k, uint8_t *restrict dst, const uint8_t *restrict src,
                   int64_t n, struct tally *t, bool counts)
{
    const bool clamp = k->plan.clamp;
    int64_t i;
    int64_t overflow = 0, inexact = 0, nan_lost = 0;

    for (i = 0; i < n; i++) {
        uint64_t v = get8(src, i), size = v & 0x7fffffffffffffff, back;
        float f = (float)double_of_bits(v);
        uint32_t out = bits_of_float(f);

        if (counts) {
            bool nan = size > 0x7ff0000000000000, over;

            back = bits_of_double((double)f);
            over =
                (size < 0x7ff0000000000000) & ((back & 0x7fffffffffffffff) == 0x7ff0000000000000);
            overflow += over;
            inexact += !over & !nan & (back != v);
            nan_lost += nan & ((v & 0x1fffffff) != 0);
            out -= over & clamp; /* an infinity, less one: the largest number */
        }
        store_le(dst + 4 * i, out, 4);
    }
    if (counts) {
        t->overflow += overflow;
        t->refused += overflow;
        t->inexact += inexact;
        t->nan_lost += nan_lost;
    }
}

/* Counts what rounds to an infinity: a look, before the values are narrowed without one. */
INLINE void look_narrow(const uint8_t *restrict src, int64_t n, struct tally *t)
{
    int64_t i, overflow = 0;

    for (i = 0; i < n; i++) {
        int64_t size = (int64_t)(get8(src, i) & 0x7fffffffffffffff);

        overflow += (size >= 0x47effffff0000000) & (size < 0x7ff0000000000000);
    }
    t->overflow += overflow;
    t->refused += overflow;
}

/* At most a block; false: some are refused. */
INLINE bool narrow_block(const struct kernel *k, uint8_t *restrict dst, const uint8_t *restrict src,
                         int64_t n, bool turn)
{
    uint8_t turned[8 * CHECKED_BLOCK];
    struct tally t = {0, 0, 0, 0};

    if (turn)
        block_turn(turned, src, n);
    look_narrow(turn ? turned : src, n, &t);
    if (t.refused)
        return false;
    narrow(k, dst, turn ? turned : src, n, &t, false);
    return true;
}

INLINE int64_t narrow_checked(const struct kernel *k, uint8_t *restrict dst,
                              const uint8_t *restrict src, int64_t n, bool turn)
{
    int64_t i;

    for (i = 0; n - i >= CHECKED_BLOCK; i += CHECKED_BLOCK) {
        if (!narrow_block(k, dst + 4 * i, src + 8 * i, CHECKED_BLOCK, turn))
            return i;
    }
    return narrow_block(k, dst + 4 * i, src + 8 * i, n - i, turn) ? n : i;
}

CHECKED_VARIANTS(checked_f64_f32, narrow_checked(k, dst, src, n, false))
CHECKED_VARIANTS(checked_big_f64_f32, narrow_checked(k, dst, src, n, true))
VARIANTS(look_f64_f32, (void)k; (void)dst; look_narrow(src, n, t))
VARIANTS(f32_f64, (void)k; (void)t; widen(dst, src, n))
VARIANTS(f64_f32, narrow(k, dst, src, n, t, false))
VARIANTS(f64_f32_counts, narrow(k, dst, src, n, t, true))

/* ------------------------------------------------------ reals to integers */

INLINE double real_at(const uint8_t *p, int64_t i, enum scalar_sort sort)
{
    return sort == F32 ? (double)float_of_bits(get4(p, i)) : double_of_bits(get8(p, i));
}

/* Truncates; NaN gives 0, what is beyond the bounds the nearest of them. */
INLINE void to_int(const struct kernel *k, uint8_t *restrict dst, const uint8_t *restrict src,
                   int64_t n, struct tally *t, enum scalar_sort to, enum scalar_sort from,
                   bool counts)
{
    const double below = k->plan.below, above = k->plan.above;
    const int64_t low = k->plan.low, high = k->plan.high;
    int64_t i;
    int64_t overflow = 0, inexact = 0, nan = 0;

    for (i = 0; i < n; i++) {
        double d = real_at(src, i, from), in, back;
        bool under = d <= below, over = d >= above, whole = (d > below) & (d < above);
        uint64_t v;

        in = double_of_bits(choose8(whole, bits_of_double(d), 0));
        if (to == I32) {
            v = (uint64_t)(int64_t)(int32_t)in;
            back = (double)(int32_t)v;
        } else if (to == I64) {
            v = (uint64_t)(int64_t)in;
            back = (double)(int64_t)v;
        } else {
            v = (uint64_t)in;
            back = (double)v;
        }
        if (counts) {
            overflow += under | over;
            nan += d != d;
            inexact += back != in;
        }
        v = choose8(over, (uint64_t)high, choose8(under, (uint64_t)low, v));
        store_le(dst + i * (to == I32 ? 4 : 8), v, to == I32 ? 4 : 8);
    }
    if (counts) {
        t->overflow += overflow;
        t->refused += overflow + nan;
        t->inexact += inexact;
        t->nan_lost += nan;
    }
}

/* To the nearest whole number, ties to even, as the float unit rounds: from `whole` on (2^23, 2^52)
 * every number is one, and a sum with it keeps no fraction.  NaNs and infinities stay. */
INLINE void to_whole(uint8_t *restrict dst, const uint8_t *restrict src, int64_t n, struct tally *t,
                     enum scalar_sort sort)
{
    int64_t i, inexact = 0;

    for (i = 0; i < n; i++) {
        if (sort == F32) {
            uint32_t v = get4(src, i), sign = v & 0x80000000, size = v ^ sign;
            float sum = float_of_bits(size) + 0x1p23f;
            uint32_t near = bits_of_float(sum - 0x1p23f),
                     out = choose(size < 0x4b000000, near, size);

            inexact += out != size;
            store_le(dst + 4 * i, out | sign, 4);
        } else {
            uint64_t v = get8(src, i), sign = v & 0x8000000000000000, size = v ^ sign;
            double sum = double_of_bits(size) + 0x1p52;
            uint64_t near = bits_of_double(sum - 0x1p52);
            uint64_t out = choose8(size < 0x4330000000000000, near, size);

            inexact += out != size;
            store_le(dst + 8 * i, out | sign, 8);
        }
    }
    t->inexact += inexact;
}

VARIANTS(whole_f32, (void)k; to_whole(dst, src, n, t, F32))
VARIANTS(whole_f64, (void)k; to_whole(dst, src, n, t, F64))

#define TO_INTS(X) \
    X(I32, F32)    \
    X(I32, F64)    \
    X(I64, F32)    \
    X(I64, F64)    \
    X(U64, F32)    \
    X(U64, F64)
#define X(to, from)                                                        \
    VARIANTS(to_##to##_##from, to_int(k, dst, src, n, t, to, from, false)) \
    VARIANTS(to_##to##_##from##_counts, to_int(k, dst, src, n, t, to, from, true))
TO_INTS(X)
#undef X

/* ------------------------------------------------------ integers to reals */

/* True if v, rounded to d (a binary64 holds both), has another value. 2^63 and 2^64 are beyond
 * the integers that round up to them. */
INLINE bool rounded(uint64_t v, double d, enum scalar_sort from)
{
    if (from == U64)
        return d >= 18446744073709551616.0 || (uint64_t)d != v;
    return d >= 9223372036854775808.0 || (int64_t)d != (int64_t)v;
}

/* Integers to reals, which round where the significand is too short. */
INLINE void from_int(uint8_t *restrict dst, const uint8_t *restrict src, int64_t n, struct tally *t,
                     enum scalar_sort to, enum scalar_sort from, bool counts)
{
    int64_t i, inexact = 0;

    for (i = 0; i < n; i++) {
        uint64_t v = from == I32   ? (uint64_t)(int64_t)(int32_t)get4(src, i)
                     : from == U32 ? get4(src, i)
                                   : get8(src, i);
        float f;
        double d;

        if (to == F32) {
            f = from == I32   ? (float)(int32_t)v
                : from == U32 ? (float)(uint32_t)v
                : from == I64 ? (float)(int64_t)v
                              : (float)v;
            d = (double)f;
            store_le(dst + 4 * i, bits_of_float(f), 4);
        } else {
            d = from == I32   ? (double)(int32_t)v
                : from == U32 ? (double)(uint32_t)v
                : from == I64 ? (double)(int64_t)v
                              : (double)v;
            store_le(dst + 8 * i, bits_of_double(d), 8);
        }
        if (counts)
            inexact += rounded(v, d, from);
    }
    if (counts)
        t->inexact += inexact;
}

#define FROM_INTS(X) \
    X(F32, I32)      \
    X(F32, U32)      \
    X(F32, I64)      \
    X(F32, U64)      \
    X(F64, I32)      \
    X(F64, U32)      \
    X(F64, I64)      \
    X(F64, U64)
#define X(to, from)                                                                  \
    VARIANTS(from_##to##_##from, (void)k; from_int(dst, src, n, t, to, from, false)) \
    VARIANTS(from_##to##_##from##_counts, (void)k; from_int(dst, src, n, t, to, from, true))
FROM_INTS(X)
#undef X

/* ----------------------------------------------------------- double-double */

/* The sum, rounded once: what lies behind an infinity or a NaN says nothing. */
INLINE void from_pair(uint8_t *restrict dst, const uint8_t *restrict src, int64_t n)
{
    int64_t i;

    for (i = 0; i < n; i++) {
        uint64_t high = get8(src, 2 * i), low = get8(src, 2 * i + 1), sum;
        bool special = (high & 0x7ff0000000000000) == 0x7ff0000000000000;
        bool alone = !special & ((low & 0x7fffffffffffffff) == 0);

        low = choose8(special, 0, low);
        sum = bits_of_double(double_of_bits(high) + double_of_bits(low));
        store_le(dst + 8 * i, choose8(alone, high, sum), 8);
    }
}

VARIANTS(pair_f64, (void)k; (void)t; from_pair(dst, src, n))

#endif /* KERN_FLOAT */

INLINE void to_pair(uint8_t *restrict dst, const uint8_t *restrict src, int64_t n)
{
    int64_t i;

    for (i = 0; i < n; i++) {
        uint64_t v = get8(src, i);
        bool nan = (v & 0x7fffffffffffffff) > 0x7ff0000000000000;

        store_le(dst + 16 * i, nan ? v | 0x0008000000000000 : v, 8);
        store_le(dst + 16 * i + 8, 0, 8);
    }
}

VARIANTS(f64_pair, (void)k; (void)t; to_pair(dst, src, n))

#ifdef ISA_X86

/* The processor's own conversion rounds as told and raises nothing, whatever its state. */
TARGET_AVX512 INLINE void half_avx512(PASS_ARGS, bool counts, bool turn)
{
    const __m512i inf = _mm512_set1_epi32(0x7f800000), low = _mm512_set1_epi32(0x1fff);
    const __m512i most = _mm512_set1_epi32(0x7fffffff);
    const __m256i half_inf = _mm256_set1_epi16(0x7c00), half_most = _mm256_set1_epi16(0x7fff);

    for (; n > 0; n -= 16, src += 64, dst += 32) {
        __mmask16 some = (__mmask16)(n >= 16 ? 0xffffu : (1u << n) - 1);
        __m512i v = _mm512_maskz_loadu_epi32(some, src), size = _mm512_and_si512(v, most);
        __m256i half = _mm512_cvt_roundps_ph(_mm512_castsi512_ps(v),
                                             _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC);

        if (counts) {
            __m512i back = _mm512_castps_si512(_mm512_cvt_roundph_ps(half, _MM_FROUND_NO_EXC));
            __mmask16 nan = _mm512_cmpgt_epi32_mask(size, inf);
            __mmask16 end = _mm256_cmpeq_epi16_mask(_mm256_and_si256(half, half_most), half_inf);
            __mmask16 over = end & _mm512_cmplt_epi32_mask(size, inf);
            __mmask16 moved = _mm512_cmpneq_epi32_mask(back, v) & (__mmask16) ~(nan | over);

            t->overflow += __builtin_popcount(over);
            t->refused += __builtin_popcount(over);
            t->inexact += __builtin_popcount(moved);
            t->nan_lost += __builtin_popcount(nan & _mm512_test_epi32_mask(v, low));
            if (k->plan.clamp)
                half = _mm256_mask_sub_epi16(half, over, half, _mm256_set1_epi16(1));
        }
        if (turn)
            half = _mm256_or_si256(_mm256_slli_epi16(half, 8), _mm256_srli_epi16(half, 8));
        _mm256_mask_storeu_epi16(dst, some, half);
    }
}

TARGET_AVX512 static void f32_f16_avx512(PASS_ARGS)
{
    half_avx512(k, dst, src, n, t, false, false);
}

TARGET_AVX512 static void f32_f16_counts_avx512(PASS_ARGS)
{
    half_avx512(k, dst, src, n, t, true, false);
}

TARGET_AVX512 static void f32_big_f16_avx512(PASS_ARGS)
{
    half_avx512(k, dst, src, n, t, false, true);
}

/* Exact, and NaNs become quiet, as everywhere. */
TARGET_AVX512 INLINE void float_avx512(uint8_t *dst, const uint8_t *src, int64_t n, bool turn)
{
    for (; n > 0; n -= 16, src += 32, dst += 64) {
        __mmask16 some = (__mmask16)(n >= 16 ? 0xffffu : (1u << n) - 1);
        __m256i half = _mm256_maskz_loadu_epi16(some, src);

        if (turn)
            half = _mm256_or_si256(_mm256_slli_epi16(half, 8), _mm256_srli_epi16(half, 8));
        _mm512_mask_storeu_ps(dst, some, _mm512_cvt_roundph_ps(half, _MM_FROUND_NO_EXC));
    }
}

TARGET_AVX512 static void f16_f32_avx512(PASS_ARGS)
{
    (void)k, (void)t;
    float_avx512(dst, src, n, false);
}

TARGET_AVX512 static void f16_big_f32_avx512(PASS_ARGS)
{
    (void)k, (void)t;
    float_avx512(dst, src, n, true);
}

#endif

/* ------------------------------------------------------------ with a turn */

/* The pairs that files and memory meet in most, big-endian on one side: without a tile,
 * which gains a tenth. */
enum turned { LONG_TO_INT, INT_TO_LONG, UNSIGNED_TO_LONG, NARROW, WIDEN, LONG_TO_REAL };

INLINE void turned(uint8_t *restrict dst, const uint8_t *restrict src, int64_t n, enum turned what)
{
    int64_t i;

    for (i = 0; i < n; i++) {
        switch (what) {
        case LONG_TO_INT:
            store_le(dst + 4 * i, __builtin_bswap32((uint32_t)get8(src, i)), 4);
            break;
        case INT_TO_LONG:
            store_le(dst + 8 * i, (uint64_t)(int32_t)__builtin_bswap32(get4(src, i)), 8);
            break;
        case UNSIGNED_TO_LONG:
            store_le(dst + 8 * i, __builtin_bswap32(get4(src, i)), 8);
            break;
        case NARROW:
            store_le(dst + 4 * i,
                     __builtin_bswap32(bits_of_float((float)double_of_bits(get8(src, i)))), 4);
            break;
        case WIDEN:
            store_le(dst + 8 * i,
                     bits_of_double((double)float_of_bits(__builtin_bswap32(get4(src, i)))), 8);
            break;
        case LONG_TO_REAL:
            store_le(dst + 8 * i, bits_of_double((double)(int64_t)__builtin_bswap64(get8(src, i))),
                     8);
            break;
        }
    }
}

#define TURNED(X)                   \
    X(I32, I64, true, LONG_TO_INT)  \
    X(I64, I32, false, INT_TO_LONG) \
    X(U32, U64, true, LONG_TO_INT)  \
    X(U64, U32, false, UNSIGNED_TO_LONG)
#define TURNED_HARD(X)        \
    X(F32, F64, true, NARROW) \
    X(F64, F32, false, WIDEN) \
    X(F64, I64, false, LONG_TO_REAL)
/* 16 bits, to and from binary32. */
#define TURNED16(X)    \
    X(F16, F32, true)  \
    X(BF16, F32, true) \
    X(F32, F16, false) \
    X(F32, BF16, false)
INLINE void turned16(PASS_ARGS, enum scalar_sort to, enum scalar_sort from)
{
    if (from == F32)
        narrow16(k, dst, src, n, t, to, from, false, true);
    else
        widen16(dst, src, n, to, from, true);
}

#define X(to, from, turn_to) VARIANTS(turned_##to##_##from, turned16(k, dst, src, n, t, to, from))
TURNED16(X)
#undef X
#define X(to, from, turn_to, what) \
    VARIANTS(turned_##to##_##from, (void)k; (void)t; turned(dst, src, n, what))
TURNED(X)
#ifdef KERN_FLOAT
TURNED_HARD(X)
#endif
#undef X

pass_fn *pass_turned(enum scalar_sort dst, enum scalar_sort src, bool turn_to, enum isa isa)
{
#ifdef ISA_X86
    if (dst == F16 && src == F32 && turn_to && isa == ISA_AVX512)
        return f32_big_f16_avx512;
    if (dst == F32 && src == F16 && !turn_to && isa == ISA_AVX512)
        return f16_big_f32_avx512;
#endif
#define X(to, from, turn)                              \
    if (dst == to && src == from && turn_to == (turn)) \
        return VARIANT(turned_##to##_##from, isa);
    TURNED16(X)
#undef X
#define X(to, from, turn, what)                        \
    if (dst == to && src == from && turn_to == (turn)) \
        return VARIANT(turned_##to##_##from, isa);
    TURNED(X)
#ifdef KERN_FLOAT
    TURNED_HARD(X)
#endif
#undef X
    return NULL;
}

/* ----------------------------------------------------------------- choice */

static bool counted(enum scalar_sort dst, enum scalar_sort src)
{
    /* Exact, whatever the value. */
    return !((dst == F64 && (src == F32 || src == F16 || src == I32 || src == U32)) ||
             (dst == F32 && (src == F16 || src == BF16)));
}

pass_fn *pass_float(enum scalar_sort dst, enum scalar_sort src, bool counts, enum isa isa)
{
    counts = counts && counted(dst, src);
#ifdef ISA_X86
    if (dst == F16 && src == F32 && isa == ISA_AVX512)
        return counts ? f32_f16_counts_avx512 : f32_f16_avx512;
    if (dst == F32 && src == F16 && isa == ISA_AVX512)
        return f16_f32_avx512;
#endif
#define X(to, from)                                                 \
    if (dst == to && src == from)                                   \
        return counts ? VARIANT(narrow_##to##_##from##_counts, isa) \
                      : VARIANT(narrow_##to##_##from, isa);
    NARROW16(X)
#undef X
#define X(to, from)               \
    if (dst == to && src == from) \
        return VARIANT(widen_##to##_##from, isa);
    WIDEN16(X)
#undef X
#ifdef KERN_FLOAT
    if (dst == F64 && src == F32)
        return VARIANT(f32_f64, isa);
    if (dst == F32 && src == F64)
        return counts ? VARIANT(f64_f32_counts, isa) : VARIANT(f64_f32, isa);
#define X(to, from)               \
    if (dst == to && src == from) \
        return counts ? VARIANT(to_##to##_##from##_counts, isa) : VARIANT(to_##to##_##from, isa);
    TO_INTS(X)
#undef X
#define X(to, from)                                               \
    if (dst == to && src == from)                                 \
        return counts ? VARIANT(from_##to##_##from##_counts, isa) \
                      : VARIANT(from_##to##_##from, isa);
    FROM_INTS(X)
#undef X
#endif
    return NULL;
}

checked_fn *checked_float(enum scalar_sort dst, enum scalar_sort src, bool turn, enum isa isa)
{
#ifdef KERN_FLOAT
    if (dst == F32 && src == F64)
        return turn ? VARIANT(checked_big_f64_f32, isa) : VARIANT(checked_f64_f32, isa);
#endif
    (void)dst, (void)src, (void)turn, (void)isa;
    return NULL;
}

pass_fn *pass_float_look(enum scalar_sort dst, enum scalar_sort src, enum isa isa)
{
#ifdef KERN_FLOAT
    if (dst == F32 && src == F64)
        return VARIANT(look_f64_f32, isa);
#endif
    (void)dst, (void)src, (void)isa;
    return NULL;
}

pass_fn *pass_whole(enum scalar_sort src, enum isa isa)
{
#ifdef KERN_FLOAT
    return src == F32 ? VARIANT(whole_f32, isa) : VARIANT(whole_f64, isa);
#else
    (void)src, (void)isa;
    return NULL;
#endif
}

bool pass_float_hard(enum scalar_sort dst, enum scalar_sort src)
{
    return dst != F16 && dst != BF16 && src != F16 && src != BF16;
}

pass_fn *pass_pair(bool to_pair, enum isa isa)
{
    if (to_pair)
        return VARIANT(f64_pair, isa);
#ifdef KERN_FLOAT
    return VARIANT(pair_f64, isa);
#else
    return NULL;
#endif
}
