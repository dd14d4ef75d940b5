/* sum.c - the sum that covers every byte of a file: XXH3-64, seed 0.
 *
 * The functions compiled here use what the compiler may assume of every processor; on
 * x86-64 that is SSE2, so AVX2 is chosen at run time and doubles the speed (AVX-512 gains
 * nothing more: the additions wait for each other). */
#define SUM_SET sum_base
#include "format/sum_body.h"

#include "format/block.h"

static const struct sum_set *sum_best(void)
{
#ifdef SUM_X86
    if (__builtin_cpu_supports("avx2"))
        return &sum_avx2;
#endif
    return &sum_base;
}

uint64_t sum_of(const void *p, size_t size)
{
    return sum_best()->of(p, size);
}

uint64_t sum_with_hole(const void *p, size_t size, size_t hole)
{
    return sum_best()->hole(p, size, hole);
}

uint64_t sum_stored(const void *p, size_t size)
{
    uint64_t sum = sum_of(p, size);

    return sum ? sum : 1;
}

void sum_blocks(const void *p, size_t size, uint64_t *sums)
{
    sum_best()->blocks(p, size, sums);
}
