/* sum_body.h - the functions of one instruction set; included once per sum*.c.
 *
 * SUM, SUM_HOLE, SUM_BLOCKS and SUM_MOVED name the functions, XXH_VECTOR (if the includer defines
 * it) the set.  Everything of xxhash.h becomes static here. */
/* SPDX-License-Identifier: MIT */
#include "format/numbers.h"
#include "format/sum.h"

#include <string.h>

#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wconversion"
#pragma GCC diagnostic ignored "-Wshadow"
#pragma GCC diagnostic ignored "-Wunused-function"
#define XXH_INLINE_ALL
#include <xxhash.h>
#pragma GCC diagnostic pop

uint64_t SUM(const void *p, size_t size)
{
    return XXH3_64bits(p, size);
}

uint64_t SUM_HOLE(const void *p, size_t size, size_t hole)
{
    static const uint8_t zeros[8];
    const uint8_t *bytes = p;
    XXH3_state_t state;

    XXH3_64bits_reset(&state);
    XXH3_64bits_update(&state, bytes, hole);
    XXH3_64bits_update(&state, zeros, sizeof(zeros));
    XXH3_64bits_update(&state, bytes + hole + sizeof(zeros), size - hole - sizeof(zeros));
    return XXH3_64bits_digest(&state);
}

void SUM_BLOCKS(const void *p, size_t size, uint64_t *sums)
{
    const uint8_t *bytes = p;

    while (size > 0) {
        size_t n = size < FMT_SUM_BLOCK ? size : FMT_SUM_BLOCK;
        uint64_t sum = XXH3_64bits(bytes, n);

        *sums++ = sum ? sum : 1;
        bytes += n;
        size -= n;
    }
}

/* A block is moved while it is in the processor's nearest cache; what it may overlap was summed
 * before. */
void SUM_MOVED(void *to, const void *from, size_t size, uint64_t *sums)
{
    const uint8_t *p = from;
    uint8_t *q = to;

    for (; size > 0; size -= FMT_SUM_BLOCK, p += FMT_SUM_BLOCK, q += FMT_SUM_BLOCK) {
        SUM_BLOCKS(p, FMT_SUM_BLOCK, sums++);
        memmove(q, p, FMT_SUM_BLOCK);
    }
}
