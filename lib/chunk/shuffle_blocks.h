/* shuffle_blocks.h - bytes of elements to planes and back, a block of vectors at a time.
 *
 * A block is 16 elements (in each lane) by up to 16 bytes.  It is transposed by exchanges of one
 * kind: interleaving two registers moves the top bit of the position within a register into the
 * register's number, and that bit of the number into the lowest bit of the position.  Four turns
 * bring the number of the byte outside and that of the element inside, or back.  Both functions at
 * the end give the number of elements they did, from the first on; without vectors 0. */
/* SPDX-License-Identifier: MIT */
#ifndef CHUNK_SHUFFLE_BLOCKS_H
#define CHUNK_SHUFFLE_BLOCKS_H

#include "chunk/shuffle_lanes.h"

#if SHUFFLE_LANES > 0

/* A block of elements of 2^log bytes, constant, stored back to back. */
INLINE void split_block(uint8_t *out, size_t apart, const uint8_t *in, size_t log)
{
    size_t n = (size_t)1 << log;
    vec r[16];

    UNROLL
    for (size_t i = 0; i < n; i++)
        r[i] = load(in + 16 * i, 16 * n);
    UNROLL
    for (size_t t = 0; t < 4; t++)
        turn(r, n, (size_t)1 << (log - 1 - t % log));
    UNROLL
    for (size_t i = 0; i < n; i++) {
        size_t plane = 0;

        UNROLL
        for (size_t t = 4 - log; t < 4; t++)
            plane |= (i >> (log - 1 - t % log) & 1) << (3 - t);
        memcpy(out + plane * apart, &r[i], WIDTH);
    }
}

INLINE void join_block(uint8_t *out, const uint8_t *in, size_t apart, size_t log)
{
    size_t n = (size_t)1 << log;
    vec r[16];

    UNROLL
    for (size_t i = 0; i < n; i++)
        memcpy(&r[i], in + i * apart, WIDTH);
    UNROLL
    for (size_t t = 0; t < log; t++)
        turn(r, n, (size_t)1 << (log - 1 - t));
    UNROLL
    for (size_t l = 0; l < SHUFFLE_LANES; l++)
        UNROLL
    for (size_t i = 0; i < n; i++)
        store_lane(out + 16 * (n * l + i), r[i], l);
}

/* Any 16 bytes of the elements of a block, of which `width` are wanted. */
INLINE void split_any(uint8_t *out, size_t apart, const uint8_t *in, size_t s, size_t width)
{
    vec r[16];

    UNROLL
    for (size_t i = 0; i < 16; i++)
        r[i] = load(in + i * s, 16 * s);
    UNROLL
    for (size_t t = 0; t < 4; t++)
        turn(r, 16, (size_t)8 >> t);
    for (size_t b = 0; b < width; b++)
        memcpy(out + b * apart, &r[b], WIDTH);
}

/* The inverse writes 16 bytes of each element, upwards: the next element overwrites the
 * surplus. */
INLINE void join_any(uint8_t *out, const uint8_t *in, size_t apart, size_t s, size_t width)
{
    vec r[16];

    memset(r, 0, sizeof(r));
    for (size_t b = 0; b < width; b++)
        memcpy(&r[b], in + b * apart, WIDTH);
    UNROLL
    for (size_t t = 0; t < 4; t++)
        turn(r, 16, (size_t)8 >> t);
    UNROLL
    for (size_t l = 0; l < SHUFFLE_LANES; l++)
        UNROLL
    for (size_t i = 0; i < 16; i++)
        store_lane(out + (16 * l + i) * s, r[i], l);
}

/* Number of elements, of n, that whole blocks hold without touching bytes behind the last. */
INLINE size_t in_blocks(size_t n, size_t s, size_t at)
{
    size_t blocks = n / BLOCK;

    while (blocks > 0 && (blocks * BLOCK - 1) * s + at + 16 > n * s)
        blocks--;
    return blocks * BLOCK;
}

INLINE size_t split_log(uint8_t *out, size_t apart, const uint8_t *in, size_t n, size_t log)
{
    size_t i = 0;

    for (; n - i >= BLOCK; i += BLOCK)
        split_block(out + i, apart, in + (i << log), log);
    return i;
}

INLINE size_t join_log(uint8_t *out, const uint8_t *in, size_t apart, size_t n, size_t log)
{
    size_t i = 0;

    for (; n - i >= BLOCK; i += BLOCK)
        join_block(out + (i << log), in + i, apart, log);
    return i;
}

INLINE size_t split_blocks(uint8_t *out, size_t apart, const uint8_t *in, size_t n, size_t s,
                           size_t at, size_t width)
{
    size_t done;

    if (s == 2 || s == 4 || s == 8 || s == 16)
        return s == 2   ? split_log(out, apart, in, n, 1)
               : s == 4 ? split_log(out, apart, in, n, 2)
               : s == 8 ? split_log(out, apart, in, n, 3)
                        : split_log(out, apart, in, n, 4);
    done = in_blocks(n, s, at);
    for (size_t i = 0; i < done; i += BLOCK)
        split_any(out + i, apart, in + i * s + at, s, width);
    return done;
}

INLINE size_t join_blocks(uint8_t *out, const uint8_t *in, size_t apart, size_t n, size_t s,
                          size_t at, size_t width)
{
    size_t done;

    if (s == 2 || s == 4 || s == 8 || s == 16)
        return s == 2   ? join_log(out, in, apart, n, 1)
               : s == 4 ? join_log(out, in, apart, n, 2)
               : s == 8 ? join_log(out, in, apart, n, 3)
                        : join_log(out, in, apart, n, 4);
    /* Too much would be written over bytes that are there already. */
    if (s > 16 && width < 16)
        return 0;
    done = in_blocks(n, s, at);
    for (size_t i = 0; i < done; i += BLOCK)
        join_any(out + i * s + at, in + i, apart, s, width);
    return done;
}

#else

INLINE size_t split_blocks(uint8_t *out, size_t apart, const uint8_t *in, size_t n, size_t s,
                           size_t at, size_t width)
{
    (void)out, (void)apart, (void)in, (void)n, (void)s, (void)at, (void)width;
    return 0;
}

INLINE size_t join_blocks(uint8_t *out, const uint8_t *in, size_t apart, size_t n, size_t s,
                          size_t at, size_t width)
{
    (void)out, (void)in, (void)apart, (void)n, (void)s, (void)at, (void)width;
    return 0;
}

#endif

#endif
