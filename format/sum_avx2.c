/* sum_avx2.c - the sum of bytes with AVX2. */
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
#define SUM_MOVED sum_avx2_moved
#include "format/sum_body.h"
#ifdef __clang__
#pragma clang attribute pop
#else
#pragma GCC pop_options
#endif
#endif
