/* sum.c - the sum that covers every byte of a file: XXH3-64, seed 0.
 *
 * The functions compiled here use what the compiler may assume of every processor; on
 * x86-64 that is SSE2, so AVX2 is chosen at run time and doubles the speed (AVX-512 gains
 * nothing more: the additions wait for each other). */
/* SPDX-License-Identifier: MIT */
#define SUM sum_base
#define SUM_HOLE sum_base_hole
#define SUM_BLOCKS sum_base_blocks
#define SUM_MOVED sum_base_moved
#include "format/sum_body.h"

#include "format/block.h"

#ifdef SUM_X86
#define CHOOSE(set, ...) \
    (__builtin_cpu_supports("avx2") ? sum_avx2##set(__VA_ARGS__) : sum_base##set(__VA_ARGS__))
#else
#define CHOOSE(set, ...) sum_base##set(__VA_ARGS__)
#endif

uint64_t sum_of(const void *p, size_t size)
{
    return CHOOSE(, p, size);
}

uint64_t sum_with_hole(const void *p, size_t size, size_t hole)
{
    return CHOOSE(_hole, p, size, hole);
}

uint64_t sum_stored(const void *p, size_t size)
{
    uint64_t sum = sum_of(p, size);

    return sum ? sum : 1;
}

void sum_blocks(const void *p, size_t size, uint64_t *sums)
{
    CHOOSE(_blocks, p, size, sums);
}

void sum_blocks_moved(void *to, const void *from, size_t size, uint64_t *sums)
{
    CHOOSE(_moved, to, from, size, sums);
}
