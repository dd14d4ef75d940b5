/* sum_avx2.c - the sum of bytes with AVX2.
 *
 * Blocks that are summed where they do not stay are moved in the same pass: XXH3 waits for its
 * multiplications, so the stores cost next to nothing. */
/* SPDX-License-Identifier: MIT */
#include "format/sum.h"

#ifdef SUM_X86
/* Include what xxhash.h includes first, so that only its own functions get the target. */
#include <immintrin.h>
#include <stdlib.h>
#include <string.h>
#ifdef __clang__
#pragma clang attribute push(__attribute__((target("avx2"))), apply_to = function)
#else
#pragma GCC push_options
#pragma GCC target("avx2")
#endif
#define XXH_VECTOR 2 /* XXH_AVX2 */
#define SUM sum_avx2
#define SUM_HOLE sum_avx2_hole
#define SUM_BLOCKS sum_avx2_blocks
#include "format/sum_body.h"

enum {
    STRIPE = 64,
    STRIPES = 16,            /* between two scrambles: the secret moves on by eight bytes each */
    LAST = 192 - STRIPE - 7, /* where the secret stands for the last stripe, */
    SCRAMBLE = 192 - STRIPE, /* a scramble, */
    MERGE = 11               /* and the end */
};

#define ALWAYS static inline __attribute__((always_inline))

/* One half of a stripe: four of the eight accumulators. */
ALWAYS __m256i half(__m256i acc, __m256i v, const uint8_t *secret)
{
    __m256i key = _mm256_xor_si256(v, _mm256_loadu_si256((const __m256i *)(const void *)secret));
    __m256i product = _mm256_mul_epu32(key, _mm256_srli_epi64(key, 32));

    return _mm256_add_epi64(acc, _mm256_add_epi64(product, _mm256_shuffle_epi32(v, 0x4e)));
}

/* A stripe is loaded whole before it is stored. */
ALWAYS void stripe_moved(__m256i acc[2], uint8_t *to, const uint8_t *from, const uint8_t *secret)
{
    const __m256i v = _mm256_loadu_si256((const void *)from);
    const __m256i w = _mm256_loadu_si256((const void *)(from + STRIPE / 2));

    _mm256_storeu_si256((void *)to, v);
    _mm256_storeu_si256((void *)(to + STRIPE / 2), w);
    acc[0] = half(acc[0], v, secret);
    acc[1] = half(acc[1], w, secret + STRIPE / 2);
}

ALWAYS __m256i scramble(__m256i acc, const uint8_t *secret)
{
    const __m256i prime = _mm256_set1_epi32((int)XXH_PRIME32_1);
    __m256i v = _mm256_xor_si256(acc, _mm256_srli_epi64(acc, 47)), high;

    v = _mm256_xor_si256(v, _mm256_loadu_si256((const __m256i *)(const void *)secret));
    high = _mm256_mul_epu32(_mm256_srli_epi64(v, 32), prime);
    return _mm256_add_epi64(_mm256_mul_epu32(v, prime), _mm256_slli_epi64(high, 32));
}

/* XXH3-64 of a block, which goes to `to`. */
static uint64_t block_moved(uint8_t *to, const uint8_t *from)
{
    _Alignas(32) uint64_t sum[8] = {XXH_PRIME32_3, XXH_PRIME64_1, XXH_PRIME64_2, XXH_PRIME64_3,
                                    XXH_PRIME64_4, XXH_PRIME32_2, XXH_PRIME64_5, XXH_PRIME32_1};
    __m256i acc[2] = {_mm256_load_si256((const void *)sum),
                      _mm256_load_si256((const void *)(sum + 4))};
    const uint8_t *end = from + FMT_SUM_BLOCK, *secret = XXH3_kSecret;

    for (;;) {
        for (int i = 0; i < STRIPES - 1; i++, from += STRIPE, to += STRIPE)
            stripe_moved(acc, to, from, secret + i * 8);
        if (from + STRIPE == end)
            break;
        stripe_moved(acc, to, from, secret + (STRIPES - 1) * 8);
        from += STRIPE;
        to += STRIPE;
        acc[0] = scramble(acc[0], secret + SCRAMBLE);
        acc[1] = scramble(acc[1], secret + SCRAMBLE + STRIPE / 2);
    }
    stripe_moved(acc, to, from, secret + LAST);
    _mm256_store_si256((void *)sum, acc[0]);
    _mm256_store_si256((void *)(sum + 4), acc[1]);
    return XXH3_mergeAccs(sum, secret + MERGE, FMT_SUM_BLOCK * XXH_PRIME64_1);
}

void sum_avx2_moved(void *to, const void *from, size_t size, uint64_t *sums)
{
    uint8_t *q = to;
    const uint8_t *p = from;

    for (; size > 0; size -= FMT_SUM_BLOCK, p += FMT_SUM_BLOCK, q += FMT_SUM_BLOCK) {
        uint64_t sum = block_moved(q, p);

        *sums++ = sum ? sum : 1;
    }
}
#ifdef __clang__
#pragma clang attribute pop
#else
#pragma GCC pop_options
#endif
#endif
