/* sum.h - the sum of bytes, once for each instruction set.
 *
 * Inside format/ only: block.h is the interface.  sum_body.h makes the functions of one
 * set from xxhash.h; sum.c asks the processor which to call. */
/* SPDX-License-Identifier: MIT */
#ifndef FORMAT_SUM_H
#define FORMAT_SUM_H

#include <stddef.h>
#include <stdint.h>

#if defined(__x86_64__) && (defined(__GNUC__) || defined(__clang__))
#define SUM_X86 1
#endif

uint64_t sum_base(const void *p, size_t size);
/* Sum with zeros for the eight bytes at `hole`; hole + 8 <= size. */
uint64_t sum_base_hole(const void *p, size_t size, size_t hole);
void sum_base_blocks(const void *p, size_t size, uint64_t *sums);
void sum_base_moved(void *to, const void *from, size_t size, uint64_t *sums);
#ifdef SUM_X86
uint64_t sum_avx2(const void *p, size_t size);
uint64_t sum_avx2_hole(const void *p, size_t size, size_t hole);
void sum_avx2_blocks(const void *p, size_t size, uint64_t *sums);
void sum_avx2_moved(void *to, const void *from, size_t size, uint64_t *sums);
#endif

#endif
