/* shuffle_lanes.h - the vectors that shuffle_blocks.h is written in: registers of SHUFFLE_LANES
 * lanes of 16 bytes.
 *
 * Included once per shuffle*.c, which defines SHUFFLE_LANES; 0: the machine has no such vectors.
 * GCC and clang turn these shuffles of constants into one instruction each. */
/* SPDX-License-Identifier: MIT */
#ifndef CHUNK_SHUFFLE_LANES_H
#define CHUNK_SHUFFLE_LANES_H

#include "base/isa.h"

#include <stddef.h>
#include <stdint.h>
#include <string.h>

#ifndef SHUFFLE_LANES
#define SHUFFLE_LANES 0
#endif

#ifdef __clang__
#define UNROLL _Pragma("clang loop unroll(full)")
#else
#define UNROLL _Pragma("GCC unroll 16")
#endif

#if SHUFFLE_LANES > 0

#define WIDTH ((size_t)16 * SHUFFLE_LANES)
#define BLOCK WIDTH /* elements */
typedef uint8_t lane __attribute__((vector_size(16)));
typedef uint8_t vec __attribute__((vector_size(16 * SHUFFLE_LANES)));

INLINE vec low(vec a, vec b)
{
#if SHUFFLE_LANES == 1
    return __builtin_shufflevector(a, b, 0, 16, 1, 17, 2, 18, 3, 19, 4, 20, 5, 21, 6, 22, 7, 23);
#else
    return __builtin_shufflevector(a, b, 0, 32, 1, 33, 2, 34, 3, 35, 4, 36, 5, 37, 6, 38, 7, 39, 16,
                                   48, 17, 49, 18, 50, 19, 51, 20, 52, 21, 53, 22, 54, 23, 55);
#endif
}

INLINE vec high(vec a, vec b)
{
#if SHUFFLE_LANES == 1
    return __builtin_shufflevector(a, b, 8, 24, 9, 25, 10, 26, 11, 27, 12, 28, 13, 29, 14, 30, 15,
                                   31);
#else
    return __builtin_shufflevector(a, b, 8, 40, 9, 41, 10, 42, 11, 43, 12, 44, 13, 45, 14, 46, 15,
                                   47, 24, 56, 25, 57, 26, 58, 27, 59, 28, 60, 29, 61, 30, 62, 31,
                                   63);
#endif
}

INLINE lane load_lane(const uint8_t *p)
{
    lane v;

    memcpy(&v, p, sizeof(v));
    return v;
}

/* Sixteen bytes for each lane, `apart` bytes apart. */
INLINE vec load(const uint8_t *p, size_t apart)
{
#if SHUFFLE_LANES == 1
    (void)apart;
    return load_lane(p);
#else
    return __builtin_shufflevector(load_lane(p), load_lane(p + apart), 0, 1, 2, 3, 4, 5, 6, 7, 8, 9,
                                   10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20, 21, 22, 23, 24, 25,
                                   26, 27, 28, 29, 30, 31);
#endif
}

INLINE void store_lane(uint8_t *p, vec v, size_t number)
{
#if SHUFFLE_LANES == 1
    lane l = v;

    (void)number;
#else
    lane l = number == 0 ? __builtin_shufflevector(v, v, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12,
                                                   13, 14, 15)
                         : __builtin_shufflevector(v, v, 16, 17, 18, 19, 20, 21, 22, 23, 24, 25, 26,
                                                   27, 28, 29, 30, 31);
#endif
    memcpy(p, &l, sizeof(l));
}

/* One turn: registers whose numbers differ in `bit` alone are interleaved. */
INLINE void turn(vec *r, size_t n, size_t bit)
{
    UNROLL
    for (size_t i = 0; i < n; i++) {
        if (!(i & bit)) {
            vec a = r[i], b = r[i | bit];

            r[i] = low(a, b);
            r[i | bit] = high(a, b);
        }
    }
}

#endif
#endif
