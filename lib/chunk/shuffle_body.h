/* shuffle_body.h - the shuffle filters of one instruction set; included once per shuffle*.c.
 *
 * The includer defines SHUFFLE(name), the names of the functions, and SHUFFLE_LANES, the 16-byte
 * lanes of its vectors; 0: no vectors. */
/* SPDX-License-Identifier: MIT */
#include "chunk/shuffle.h"
#include "chunk/shuffle_blocks.h"

#include <string.h>

#ifndef SHUFFLE
#define SHUFFLE(name) shuffle_base_##name
#endif

/* ---- elements one by one: what is left of a block, and where there are no vectors ---- */

/* Bytes [at, at + width) of n elements of s bytes to planes `apart` bytes apart. */
INLINE void split_bytes(uint8_t *out, size_t apart, const uint8_t *in, size_t n, size_t s,
                        size_t at, size_t width)
{
    const size_t tile = 256;

    for (size_t from = 0; from < n; from += tile) {
        size_t end = n - from < tile ? n : from + tile;

        for (size_t b = 0; b < width; b++)
            for (size_t i = from; i < end; i++)
                out[b * apart + i] = in[i * s + at + b];
    }
}

INLINE void join_bytes(uint8_t *out, const uint8_t *in, size_t apart, size_t n, size_t s, size_t at,
                       size_t width)
{
    const size_t tile = 256;

    for (size_t from = 0; from < n; from += tile) {
        size_t end = n - from < tile ? n : from + tile;

        for (size_t i = from; i < end; i++)
            for (size_t b = 0; b < width; b++)
                out[i * s + at + b] = in[b * apart + i];
    }
}

/* ---- bytes ---- */

/* Bytes [at, at + width) of n elements, width at most 16. */
static void split(uint8_t *out, size_t apart, const uint8_t *in, size_t n, size_t s, size_t at,
                  size_t width)
{
    size_t done = split_blocks(out, apart, in, n, s, at, width);

    split_bytes(out + done, apart, in + done * s, n - done, s, at, width);
}

static void join(uint8_t *out, const uint8_t *in, size_t apart, size_t n, size_t s, size_t at,
                 size_t width)
{
    size_t done = join_blocks(out, in, apart, n, s, at, width);

    join_bytes(out + done * s, in + done, apart, n - done, s, at, width);
}

/* The first byte of the group of at most 16 that begins at `at`: the last one moves back
 * over bytes already done, so that it is whole. */
INLINE size_t group(size_t s, size_t at)
{
    return s > 16 && s - at < 16 ? s - 16 : at;
}

INLINE size_t width_of(size_t s)
{
    return s < 16 ? s : 16;
}

void SHUFFLE(bytes)(uint8_t *out, const uint8_t *in, size_t n, size_t s)
{
    if (s == 1)
        memcpy(out, in, n);
    for (size_t at = 0; s > 1 && at < s; at += 16)
        split(out + group(s, at) * n, n, in, n, s, group(s, at), width_of(s));
}

void SHUFFLE(join)(uint8_t *out, const uint8_t *in, size_t apart, size_t n, size_t s)
{
    if (s == 1)
        memcpy(out, in, n);
    for (size_t at = 0; s > 1 && at < s; at += 16)
        join(out, in + group(s, at) * apart, apart, n, s, group(s, at), width_of(s));
}

/* ---- bits ---- */

#define PLANES 16384 /* bytes of planes held at once: each row is then written by the line */

INLINE uint64_t word_get(const uint8_t *p)
{
    uint64_t v;

    memcpy(&v, p, 8);
#if __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
    v = __builtin_bswap64(v);
#endif
    return v;
}

INLINE void word_put(uint8_t *p, uint64_t v)
{
#if __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
    v = __builtin_bswap64(v);
#endif
    memcpy(p, &v, 8);
}

/* Each 8 bytes as an 8x8 matrix of bits, transposed: bit k of byte j becomes bit j of
 * byte k. */
INLINE void transpose(uint8_t *p, size_t words)
{
    for (size_t i = 0; i < words; i++) {
        uint64_t x = word_get(p + 8 * i), t;

        t = (x ^ (x >> 7)) & 0x00aa00aa00aa00aaULL;
        x ^= t ^ (t << 7);
        t = (x ^ (x >> 14)) & 0x0000cccc0000ccccULL;
        x ^= t ^ (t << 14);
        t = (x ^ (x >> 28)) & 0x00000000f0f0f0f0ULL;
        x ^= t ^ (t << 28);
        word_put(p + 8 * i, x);
    }
}

/* Plane b of the bytes is eight rows of bits, one byte for eight elements. */
void SHUFFLE(bits)(uint8_t *out, const uint8_t *in, size_t n, size_t s)
{
    size_t row = n / 8, tile = PLANES / width_of(s) / 64 * 64;
    uint8_t plane[PLANES];

    for (size_t i = 0; i < n; i += tile) {
        size_t now = n - i < tile ? n - i : tile;

        for (size_t at = 0; at < s; at += 16) {
            size_t first = group(s, at), width = width_of(s);

            if (s == 1)
                memcpy(plane, in + i, now);
            else
                split(plane, now, in + i * s, now, s, first, width);
            transpose(plane, width * now / 8);
            for (size_t b = 0; b < width; b++)
                split(out + (first + b) * n + i / 8, row, plane + b * now, now / 8, 8, 0, 8);
        }
    }
}

void SHUFFLE(unbits)(uint8_t *out, const uint8_t *in, size_t n, size_t s)
{
    size_t row = n / 8, tile = PLANES / width_of(s) / 64 * 64;
    uint8_t plane[PLANES];

    for (size_t i = 0; i < n; i += tile) {
        size_t now = n - i < tile ? n - i : tile;

        for (size_t at = 0; at < s; at += 16) {
            size_t first = group(s, at), width = width_of(s);

            for (size_t b = 0; b < width; b++)
                join(plane + b * now, in + (first + b) * n + i / 8, row, now / 8, 8, 0, 8);
            transpose(plane, width * now / 8);
            if (s == 1)
                memcpy(out + i, plane, now);
            else
                join(out + i * s, plane, now, now, s, first, width);
        }
    }
}
