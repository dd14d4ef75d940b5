/* shuffle_body.h - the loops of one instruction set; included once per shuffle*.c.
 *
 * The includer defines SHUFFLE(name), the names of the functions, and SHUFFLE_LANES, the
 * 16-byte lanes of its vectors; 0: no vectors.
 *
 * A block is 16 elements (in each lane) by up to 16 bytes.  It is transposed by exchanges
 * of one kind: interleaving two registers takes the top bit of the place within a register
 * out into the register's number, and that bit of the number in as the lowest of the place.
 * Four turns bring the number of the byte outside and that of the element inside, or back. */
#include "base/isa.h"
#include "chunk/shuffle.h"

#include <string.h>

#ifndef SHUFFLE
#define SHUFFLE(name) shuffle_base_##name
#define SHUFFLE_LANES 0
#endif

#ifdef __clang__
#define UNROLL _Pragma("clang loop unroll(full)")
#else
#define UNROLL _Pragma("GCC unroll 16")
#endif

/* ---- elements one by one: what is left of a block, and where there are no vectors ---- */

/* Bytes [at, at + width) of n elements of s bytes to planes `apart` bytes apart. */
INLINE void split_some(uint8_t *out, size_t apart, const uint8_t *in, size_t n, size_t s, size_t at,
                       size_t width)
{
    const size_t tile = 256;

    for (size_t from = 0; from < n; from += tile) {
        size_t end = n - from < tile ? n : from + tile;

        for (size_t b = 0; b < width; b++)
            for (size_t i = from; i < end; i++)
                out[b * apart + i] = in[i * s + at + b];
    }
}

INLINE void join_some(uint8_t *out, const uint8_t *in, size_t apart, size_t n, size_t s, size_t at,
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

/* ---- blocks ---- */

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

/* The way back writes 16 bytes of each element, upwards, so that what is too much is
 * overwritten by the next element. */
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

/* How many elements of n go in whole blocks without touching what lies behind the last. */
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

/* Gives how many elements were done, from the first on. */
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

/* ---- bytes ---- */

/* Bytes [at, at + width) of n elements, width at most 16. */
static void split(uint8_t *out, size_t apart, const uint8_t *in, size_t n, size_t s, size_t at,
                  size_t width)
{
    size_t done = split_blocks(out, apart, in, n, s, at, width);

    split_some(out + done, apart, in + done * s, n - done, s, at, width);
}

static void join(uint8_t *out, const uint8_t *in, size_t apart, size_t n, size_t s, size_t at,
                 size_t width)
{
    size_t done = join_blocks(out, in, apart, n, s, at, width);

    join_some(out + done * s, in + done, apart, n - done, s, at, width);
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
