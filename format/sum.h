/* sum.h - the sum of bytes, once for each instruction set.
 *
 * Inside format/ only: block.h is the interface.  sum_body.h makes the functions of one
 * set from xxhash.h; sum.c asks the processor which to call. */
#ifndef FORMAT_SUM_H
#define FORMAT_SUM_H

#include <stddef.h>
#include <stdint.h>

#if defined(__x86_64__) && (defined(__GNUC__) || defined(__clang__))
#define SUM_X86 1
#endif

struct sum_set {
    uint64_t (*of)(const void *p, size_t size);
    /* Sum with zeros for the eight bytes at `hole`; hole + 8 <= size. */
    uint64_t (*hole)(const void *p, size_t size, size_t hole);
    void (*blocks)(const void *p, size_t size, uint64_t *sums);
};

extern const struct sum_set sum_base;
#ifdef SUM_X86
extern const struct sum_set sum_avx2;
#endif

#endif
