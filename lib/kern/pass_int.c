/* pass_int.c - passes over integers: resizing, bounds, truth; and EBCDIC.
 *
 * Each loop is written once, over sizes and signs that its callers give as constants. */
/* SPDX-License-Identifier: MIT */
#include "kern/pass.h"
#include "kern/real.h"

INLINE uint64_t extend(uint64_t v, int size)
{
    return size == 1   ? (uint64_t)(int8_t)v
           : size == 2 ? (uint64_t)(int16_t)v
           : size == 4 ? (uint64_t)(int32_t)v
                       : v;
}

/* Scalar i of a row of little-endian integers, extended to 64 bits. */
INLINE uint64_t get(const uint8_t *p, int64_t i, int size, bool is_signed)
{
    uint64_t v = load_le(p + i * size, size);

    return is_signed ? extend(v, size) : v;
}

INLINE void resize(uint8_t *restrict dst, const uint8_t *restrict src, int64_t n, int to, int from,
                   bool is_signed)
{
    int64_t i;

    for (i = 0; i < n; i++)
        store_le(dst + i * to, get(src, i, from, is_signed), to);
}

/* Counts what is outside low..high, and writes it clamped, unless clamp is false. */
INLINE void bounds(const struct kernel *k, uint8_t *restrict dst, const uint8_t *restrict src,
                   int64_t n, struct tally *t, int size, bool is_signed, bool clamp)
{
    const int64_t low = k->plan.low, high = k->plan.high;
    const uint64_t top = (uint64_t)high;
    int64_t i, out = 0;

    for (i = 0; i < n; i++) {
        uint64_t v = get(src, i, size, is_signed);
        bool under = is_signed && (int64_t)v < low;
        bool over = is_signed ? (int64_t)v > high : v > top;

        out += under | over;
        if (clamp)
            store_le(dst + i * size, over ? top : under ? (uint64_t)low : v, size);
    }
    t->overflow += out;
    t->refused += out;
}

/* At most a block; false: some are refused. */
INLINE bool resize_block(const struct kernel *k, uint8_t *restrict dst, const uint8_t *restrict src,
                         int64_t n, int to, int from, bool is_signed, bool turn)
{
    uint8_t turned[8 * CHECKED_BLOCK];
    struct tally t = {0, 0, 0, 0};

    if (turn)
        block_turn(turned, src, n);
    bounds(k, dst, turn ? turned : src, n, &t, from, is_signed, false);
    if (t.refused)
        return false;
    resize(dst, turn ? turned : src, n, to, from, is_signed);
    return true;
}

/* Blocks of a constant length become vectors; the first-level cache has what was looked at. */
INLINE int64_t resize_checked(const struct kernel *k, uint8_t *restrict dst,
                              const uint8_t *restrict src, int64_t n, int to, int from,
                              bool is_signed, bool turn)
{
    int64_t i;

    for (i = 0; n - i >= CHECKED_BLOCK; i += CHECKED_BLOCK) {
        if (!resize_block(k, dst + i * to, src + i * from, CHECKED_BLOCK, to, from, is_signed,
                          turn))
            return i;
    }
    return resize_block(k, dst + i * to, src + i * from, n - i, to, from, is_signed, turn) ? n : i;
}

INLINE void truth(uint8_t *restrict dst, const uint8_t *restrict src, int64_t n, int size)
{
    int64_t i;

    for (i = 0; i < n; i++)
        dst[i] = get(src, i, size, false) != 0;
}

#define UNUSED_KT (void)k, (void)t

/* ------------------------------------------------------------- constants */

/* Narrowing does not look at the sign. */
#define RESIZES(X) \
    X(2, 1, true)  \
    X(4, 1, true)  \
    X(8, 1, true)  \
    X(4, 2, true)  \
    X(8, 2, true)  \
    X(8, 4, true)  \
    X(2, 1, false) \
    X(4, 1, false) \
    X(8, 1, false) \
    X(4, 2, false) \
    X(8, 2, false) \
    X(8, 4, false) \
    X(1, 2, false) \
    X(1, 4, false) \
    X(2, 4, false) \
    X(1, 8, false) \
    X(2, 8, false) \
    X(4, 8, false)

#define X(to, from, sign) \
    VARIANTS(resize_##to##_##from##_##sign, UNUSED_KT; resize(dst, src, n, to, from, sign))
RESIZES(X)
#undef X

#define SORTS(X) \
    X(1, true)   \
    X(1, false)  \
    X(2, true)   \
    X(2, false)  \
    X(4, true)   \
    X(4, false)  \
    X(8, true)   \
    X(8, false)

#define X(size, sign)                                                            \
    VARIANTS(clamp_##size##_##sign, bounds(k, dst, src, n, t, size, sign, true)) \
    VARIANTS(look_##size##_##sign, bounds(k, dst, src, n, t, size, sign, false))
SORTS(X)
#undef X

VARIANTS(truth_1, UNUSED_KT; truth(dst, src, n, 1))
VARIANTS(truth_2, UNUSED_KT; truth(dst, src, n, 2))
VARIANTS(truth_4, UNUSED_KT; truth(dst, src, n, 4))
VARIANTS(truth_8, UNUSED_KT; truth(dst, src, n, 8))

#define NARROWS(X) \
    X(1, 2, true)  \
    X(1, 4, true)  \
    X(1, 8, true)  \
    X(2, 4, true)  \
    X(2, 8, true)  \
    X(4, 8, true)  \
    X(1, 2, false) \
    X(1, 4, false) \
    X(1, 8, false) \
    X(2, 4, false) \
    X(2, 8, false) \
    X(4, 8, false)

#define X(to, from, sign)                            \
    CHECKED_VARIANTS(checked_##to##_##from##_##sign, \
                     resize_checked(k, dst, src, n, to, from, sign, false))
NARROWS(X)
#undef X

CHECKED_VARIANTS(checked_big_long, resize_checked(k, dst, src, n, 4, 8, true, true))

static int sort_size(enum scalar_sort s)
{
    return 1 << (s / 2);
}

static bool sort_signed(enum scalar_sort s)
{
    return s % 2 == 0;
}

pass_fn *pass_resize(enum scalar_sort dst, enum scalar_sort src, enum isa isa)
{
    int to = sort_size(dst), from = sort_size(src);
    bool sign = to > from && sort_signed(src);

#define X(to_, from_, sign_)                         \
    if (to == to_ && from == from_ && sign == sign_) \
        return VARIANT(resize_##to_##_##from_##_##sign_, isa);
    RESIZES(X)
#undef X
    return NULL;
}

checked_fn *checked_resize(enum scalar_sort dst, enum scalar_sort src, bool turn, enum isa isa)
{
    int to = sort_size(dst), from = sort_size(src);
    bool sign = sort_signed(src);

    if (turn)
        return src == I64 && to == 4 ? VARIANT(checked_big_long, isa) : NULL;

#define X(to_, from_, sign_)                         \
    if (to == to_ && from == from_ && sign == sign_) \
        return VARIANT(checked_##to_##_##from_##_##sign_, isa);
    NARROWS(X)
#undef X
    return NULL;
}

pass_fn *pass_bounds(enum scalar_sort src, bool clamp, enum isa isa)
{
    int size = sort_size(src);
    bool sign = sort_signed(src);

#define X(size_, sign_)                 \
    if (size == size_ && sign == sign_) \
        return clamp ? VARIANT(clamp_##size_##_##sign_, isa) : VARIANT(look_##size_##_##sign_, isa);
    SORTS(X)
#undef X
    return NULL;
}

pass_fn *pass_truth(int size, enum isa isa)
{
    switch (size) {
    case 1:
        return VARIANT(truth_1, isa);
    case 2:
        return VARIANT(truth_2, isa);
    case 4:
        return VARIANT(truth_4, isa);
    case 8:
        return VARIANT(truth_8, isa);
    default:
        return NULL;
    }
}

/* --------------------------------------------------------- apart in memory */

INLINE uint64_t swap(uint64_t v, int size)
{
    return size == 1   ? v
           : size == 2 ? __builtin_bswap16((uint16_t)v)
           : size == 4 ? __builtin_bswap32((uint32_t)v)
                       : __builtin_bswap64(v);
}

INLINE void resize_apart(uint8_t *dst, int64_t ds, const uint8_t *src, int64_t ss, int64_t n,
                         int to, int from, bool is_signed, bool swap_to, bool swap_from)
{
    int64_t i;

    for (i = 0; i < n; i++, dst += ds, src += ss) {
        uint64_t v = load_le(src, from);

        if (swap_from)
            v = swap(v, from);
        if (is_signed)
            v = extend(v, from);
        store_le(dst, swap_to ? swap(v, to) : v, to);
    }
}

bool resize_strided(const struct kernel *k, uint8_t *dst, int64_t ds, const uint8_t *src,
                    int64_t ss, int64_t n)
{
    const struct pass_plan *p = &k->plan;
    int to = p->width[1], from = p->width[0];
    bool sign = to > from && p->src.is_signed;
    bool turn_to = p->store.op == MOVE_REVERSE, turn_from = p->load.op == MOVE_REVERSE;

    if (p->parts != 1 || turn_to == turn_from || (p->stores && !turn_to) ||
        (p->loads && !turn_from))
        return false;

#define X(to_, from_, sign_)                                                   \
    if (to == to_ && from == from_ && sign == sign_) {                         \
        if (turn_to)                                                           \
            resize_apart(dst, ds, src, ss, n, to_, from_, sign_, true, false); \
        else                                                                   \
            resize_apart(dst, ds, src, ss, n, to_, from_, sign_, false, true); \
        return true;                                                           \
    }
    RESIZES(X)
#undef X
    return false;
}

/* ---------------------------------------------------------------- EBCDIC */

/* Code page 037 to ISO 8859-1; a permutation of the 256 bytes. */
static const uint8_t from_ebcdic[256] = {
    0x00, 0x01, 0x02, 0x03, 0x9c, 0x09, 0x86, 0x7f, 0x97, 0x8d, 0x8e, 0x0b, 0x0c, 0x0d, 0x0e, 0x0f,
    0x10, 0x11, 0x12, 0x13, 0x9d, 0x85, 0x08, 0x87, 0x18, 0x19, 0x92, 0x8f, 0x1c, 0x1d, 0x1e, 0x1f,
    0x80, 0x81, 0x82, 0x83, 0x84, 0x0a, 0x17, 0x1b, 0x88, 0x89, 0x8a, 0x8b, 0x8c, 0x05, 0x06, 0x07,
    0x90, 0x91, 0x16, 0x93, 0x94, 0x95, 0x96, 0x04, 0x98, 0x99, 0x9a, 0x9b, 0x14, 0x15, 0x9e, 0x1a,
    0x20, 0xa0, 0xe2, 0xe4, 0xe0, 0xe1, 0xe3, 0xe5, 0xe7, 0xf1, 0xa2, 0x2e, 0x3c, 0x28, 0x2b, 0x7c,
    0x26, 0xe9, 0xea, 0xeb, 0xe8, 0xed, 0xee, 0xef, 0xec, 0xdf, 0x21, 0x24, 0x2a, 0x29, 0x3b, 0xac,
    0x2d, 0x2f, 0xc2, 0xc4, 0xc0, 0xc1, 0xc3, 0xc5, 0xc7, 0xd1, 0xa6, 0x2c, 0x25, 0x5f, 0x3e, 0x3f,
    0xf8, 0xc9, 0xca, 0xcb, 0xc8, 0xcd, 0xce, 0xcf, 0xcc, 0x60, 0x3a, 0x23, 0x40, 0x27, 0x3d, 0x22,
    0xd8, 0x61, 0x62, 0x63, 0x64, 0x65, 0x66, 0x67, 0x68, 0x69, 0xab, 0xbb, 0xf0, 0xfd, 0xfe, 0xb1,
    0xb0, 0x6a, 0x6b, 0x6c, 0x6d, 0x6e, 0x6f, 0x70, 0x71, 0x72, 0xaa, 0xba, 0xe6, 0xb8, 0xc6, 0xa4,
    0xb5, 0x7e, 0x73, 0x74, 0x75, 0x76, 0x77, 0x78, 0x79, 0x7a, 0xa1, 0xbf, 0xd0, 0xdd, 0xde, 0xae,
    0x5e, 0xa3, 0xa5, 0xb7, 0xa9, 0xa7, 0xb6, 0xbc, 0xbd, 0xbe, 0x5b, 0x5d, 0xaf, 0xa8, 0xb4, 0xd7,
    0x7b, 0x41, 0x42, 0x43, 0x44, 0x45, 0x46, 0x47, 0x48, 0x49, 0xad, 0xf4, 0xf6, 0xf2, 0xf3, 0xf5,
    0x7d, 0x4a, 0x4b, 0x4c, 0x4d, 0x4e, 0x4f, 0x50, 0x51, 0x52, 0xb9, 0xfb, 0xfc, 0xf9, 0xfa, 0xff,
    0x5c, 0xf7, 0x53, 0x54, 0x55, 0x56, 0x57, 0x58, 0x59, 0x5a, 0xb2, 0xd4, 0xd6, 0xd2, 0xd3, 0xd5,
    0x30, 0x31, 0x32, 0x33, 0x34, 0x35, 0x36, 0x37, 0x38, 0x39, 0xb3, 0xdb, 0xdc, 0xd9, 0xda, 0x9f,
};

void pass_from_ebcdic(PASS_ARGS)
{
    int64_t i;

    UNUSED_KT;
    for (i = 0; i < n; i++)
        dst[i] = from_ebcdic[src[i]];
}

void pass_to_ebcdic(PASS_ARGS)
{
    uint8_t to[256];
    int64_t i;

    UNUSED_KT;
    for (i = 0; i < 256; i++)
        to[from_ebcdic[i]] = (uint8_t)i;
    for (i = 0; i < n; i++)
        dst[i] = to[src[i]];
}
