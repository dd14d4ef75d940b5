/* limit.c - the loops that the limits are made of, for the best instructions at hand. */
/* SPDX-License-Identifier: MIT */
#include "bench.h"

#include <string.h>

#if defined(__x86_64__) && defined(__GNUC__) && !defined(__clang__)
#pragma GCC target("avx2")
#pragma GCC optimize("O3")
#endif

#define XXH_INLINE_ALL
#include <xxhash.h>

uint64_t bench_sums(const void *p, size_t size)
{
    uint64_t all = 0;

    for (size_t at = 0; at < size; at += 4096)
        all ^= XXH3_64bits((const char *)p + at, size - at < 4096 ? size - at : 4096);
    return all;
}

void bench_swap64(void *dst, const void *src, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        uint64_t v;

        memcpy(&v, (const char *)src + 8 * i, 8);
        v = __builtin_bswap64(v);
        memcpy((char *)dst + 8 * i, &v, 8);
    }
}
