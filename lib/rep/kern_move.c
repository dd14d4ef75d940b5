/* kern_move.c - kernels that only put bytes in another order.
 *
 * Where units divide 16 bytes, any order (and any zeroed padding) is one byte shuffle
 * of a vector; elsewhere loads, byte swaps and stores of one unit at a time. */
#include "rep/kern.h"

#include <string.h>

#ifdef ISA_X86
#include <immintrin.h>
#endif

/* ------------------------------------------------------------- one unit */

INLINE uint64_t swap_words(uint64_t v, int size)
{
    if (size == 4)
        return (uint32_t)v << 16 | (uint32_t)v >> 16;
    v = v << 32 | v >> 32;
    return (v & 0x0000ffff0000ffff) << 16 | (v >> 16 & 0x0000ffff0000ffff);
}

/* One unit of 1, 2, 4 or 8 bytes, as a number of this machine. */
INLINE uint64_t unit_get(const uint8_t *p, int size)
{
    uint16_t v2;
    uint32_t v4;
    uint64_t v8;

    switch (size) {
    case 1:
        return *p;
    case 2:
        memcpy(&v2, p, 2);
        return v2;
    case 4:
        memcpy(&v4, p, 4);
        return v4;
    default:
        memcpy(&v8, p, 8);
        return v8;
    }
}

INLINE void unit_put(uint8_t *p, uint64_t v, int size)
{
    uint16_t v2 = (uint16_t)v;
    uint32_t v4 = (uint32_t)v;

    switch (size) {
    case 1:
        *p = (uint8_t)v;
        break;
    case 2:
        memcpy(p, &v2, 2);
        break;
    case 4:
        memcpy(p, &v4, 4);
        break;
    default:
        memcpy(p, &v, 8);
    }
}

INLINE uint64_t unit_turn(uint64_t v, enum move_op op, int size)
{
    if (op == MOVE_WORDS)
        return swap_words(v, size);
    if (op == MOVE_COPY || size == 1)
        return v;
    return size == 2   ? __builtin_bswap16((uint16_t)v)
           : size == 4 ? __builtin_bswap32((uint32_t)v)
                       : __builtin_bswap64(v);
}

/* Everything is read before anything is written: dst may be src. */
INLINE void unit_move(uint8_t *dst, const uint8_t *src, enum move_op op, int unit)
{
    uint64_t low, high;

    if (unit <= 8) {
        unit_put(dst, unit_turn(unit_get(src, unit), op, unit), unit);
        return;
    }
    low = unit_turn(unit_get(src, 8), op, 8);
    high = unit_turn(unit_get(src + 8, unit - 8), op, unit - 8);
    unit_put(dst, op == MOVE_COPY ? low : high, op == MOVE_COPY ? 8 : unit - 8);
    unit_put(dst + (op == MOVE_COPY ? 8 : unit - 8), op == MOVE_COPY ? high : low,
             op == MOVE_COPY ? unit - 8 : 8);
}

static void unit_mask(uint8_t *dst, const uint8_t *src, const uint8_t *mask, int unit)
{
    uint8_t out[32];
    int i;

    for (i = 0; i < unit; i++)
        out[i] = mask[i] & 0x80 ? 0 : src[mask[i]];
    memcpy(dst, out, (size_t)unit);
}

/* ---------------------------------------------------------------- loops */

INLINE void strided(uint8_t *dst, int64_t ds, const uint8_t *src, int64_t ss, int64_t n,
                    enum move_op op, int unit, int units)
{
    int64_t i;
    int u;

    for (i = 0; i < n; i++, dst += ds, src += ss)
        for (u = 0; u < units; u++)
            unit_move(dst + u * unit, src + u * unit, op, unit);
}

static void strided_any(const struct move *m, uint8_t *dst, int64_t ds, const uint8_t *src,
                        int64_t ss, int64_t n)
{
    int64_t i;
    int at;

    for (i = 0; i < n; i++, dst += ds, src += ss) {
        if (m->op == MOVE_COPY) {
            if (dst != src)
                memcpy(dst, src, m->size);
            continue;
        }
        for (at = 0; at < m->size; at += m->unit)
            unit_mask(dst + at, src + at, m->mask, m->unit);
    }
}

#define SHAPE(op, unit, units) ((op)*1024 + (unit)*8 + (units))

/* The shapes worth a loop of their own: (op, unit, units in an item). */
#define SHAPES(X)          \
    X(MOVE_COPY, 1, 1)     \
    X(MOVE_COPY, 2, 1)     \
    X(MOVE_COPY, 4, 1)     \
    X(MOVE_COPY, 8, 1)     \
    X(MOVE_COPY, 16, 1)    \
    X(MOVE_COPY, 16, 2)    \
    X(MOVE_REVERSE, 2, 1)  \
    X(MOVE_REVERSE, 4, 1)  \
    X(MOVE_REVERSE, 8, 1)  \
    X(MOVE_REVERSE, 16, 1) \
    X(MOVE_REVERSE, 2, 2)  \
    X(MOVE_REVERSE, 4, 2)  \
    X(MOVE_REVERSE, 8, 2)  \
    X(MOVE_REVERSE, 16, 2) \
    X(MOVE_REVERSE, 2, 4)  \
    X(MOVE_REVERSE, 8, 4)  \
    X(MOVE_WORDS, 4, 1)    \
    X(MOVE_WORDS, 8, 1)    \
    X(MOVE_WORDS, 16, 1)

static void strided_portable(const struct move *m, uint8_t *dst, int64_t ds, const uint8_t *src,
                             int64_t ss, int64_t n)
{
    int unit = m->unit;

    /* A copy has no units: take the item as one, or as halves. */
    if (m->op == MOVE_COPY)
        unit = m->size == 32 ? 16 : m->size;
    switch (SHAPE(m->op, unit, m->size / unit)) {
#define X(op, unit_, units)                             \
    case SHAPE(op, unit_, units):                       \
        strided(dst, ds, src, ss, n, op, unit_, units); \
        break;
        SHAPES(X)
#undef X
    default:
        strided_any(m, dst, ds, src, ss, n);
    }
}

/* Back to back: the units of all items are one row. */
static void dense_portable(const struct move *m, uint8_t *dst, const uint8_t *src, int64_t size)
{
    int64_t n = size / m->unit;

    switch (SHAPE(m->op, m->unit, 1)) {
#define X(op, unit_)                                      \
    case SHAPE(op, unit_, 1):                             \
        strided(dst, unit_, src, unit_, n, op, unit_, 1); \
        break;
        X(MOVE_REVERSE, 2)
        X(MOVE_REVERSE, 4)
        X(MOVE_REVERSE, 8)
        X(MOVE_REVERSE, 10)
        X(MOVE_REVERSE, 12)
        X(MOVE_REVERSE, 16)
        X(MOVE_WORDS, 4)
        X(MOVE_WORDS, 8)
        X(MOVE_WORDS, 16)
#undef X
    default:
        for (; size > 0; size -= m->unit, dst += m->unit, src += m->unit)
            unit_mask(dst, src, m->mask, m->unit);
    }
}

#ifdef ISA_X86

/* From this many bytes on, what is written will not be read back from the cache, and
 * stores that go around it save reading the target first. */
enum { STREAM = 8 << 20 };

/* How many bytes to take before dst is at a multiple of 64; -1: units end elsewhere, or
 * it is not worth it. */
static int64_t stream_head(const struct move *m, const uint8_t *dst, const uint8_t *src,
                           int64_t size)
{
    int64_t head = -(intptr_t)dst & 63;

    return size < STREAM || dst == src || head % m->unit ? -1 : head;
}

/* Streams go through four pages at a time, 128 bytes in each, in turn: that keeps more
 * of the memory's banks busy than one page after the other. */
enum { PAGE = 4096, PAGES = 4 };

TARGET_AVX2 static void dense_avx2(const struct move *m, uint8_t *dst, const uint8_t *src,
                                   int64_t size)
{
    const __m256i mask = _mm256_broadcastsi128_si256(_mm_loadu_si128((const __m128i *)m->mask));
    int64_t head = stream_head(m, dst, src, size);
    __m256i a, b;
    int i, at;

    if (head > 0) {
        dense_portable(m, dst, src, head);
        dst += head, src += head, size -= head;
    }
    for (; head >= 0 && size >= PAGES * PAGE; size -= PAGES * PAGE) {
        for (i = 0; i < PAGE * PAGES; i += 32) {
            at = i / 128 % PAGES * PAGE + i / 128 / PAGES * 128 + i % 128;
            a = _mm256_loadu_si256((const __m256i *)(src + at));
            _mm256_stream_si256((__m256i *)(dst + at), _mm256_shuffle_epi8(a, mask));
        }
        dst += PAGES * PAGE, src += PAGES * PAGE;
    }
    if (head >= 0)
        _mm_sfence();
    for (; size >= 64; size -= 64, dst += 64, src += 64) {
        a = _mm256_loadu_si256((const __m256i *)src);
        b = _mm256_loadu_si256((const __m256i *)(src + 32));
        _mm256_storeu_si256((__m256i *)dst, _mm256_shuffle_epi8(a, mask));
        _mm256_storeu_si256((__m256i *)(dst + 32), _mm256_shuffle_epi8(b, mask));
    }
    dense_portable(m, dst, src, size);
}

TARGET_AVX512 static void dense_avx512(const struct move *m, uint8_t *dst, const uint8_t *src,
                                       int64_t size)
{
    const __m512i mask = _mm512_broadcast_i32x4(_mm_loadu_si128((const __m128i *)m->mask));
    int64_t head = stream_head(m, dst, src, size);
    __m512i a, b;
    __mmask64 rest;
    int i, at;

    if (head > 0) {
        dense_portable(m, dst, src, head);
        dst += head, src += head, size -= head;
    }
    for (; head >= 0 && size >= PAGES * PAGE; size -= PAGES * PAGE) {
        for (i = 0; i < PAGE * PAGES; i += 64) {
            at = i / 128 % PAGES * PAGE + i / 128 / PAGES * 128 + i % 128;
            a = _mm512_loadu_si512(src + at);
            _mm512_stream_si512((__m512i *)(dst + at), _mm512_shuffle_epi8(a, mask));
        }
        dst += PAGES * PAGE, src += PAGES * PAGE;
    }
    if (head >= 0)
        _mm_sfence();
    for (; size >= 128; size -= 128, dst += 128, src += 128) {
        a = _mm512_loadu_si512(src);
        b = _mm512_loadu_si512(src + 64);
        _mm512_storeu_si512(dst, _mm512_shuffle_epi8(a, mask));
        _mm512_storeu_si512(dst + 64, _mm512_shuffle_epi8(b, mask));
    }
    for (; size > 0; size -= 64, dst += 64, src += 64) {
        rest = size >= 64 ? ~(__mmask64)0 : ((__mmask64)1 << size) - 1;
        a = _mm512_maskz_loadu_epi8(rest, src);
        _mm512_mask_storeu_epi8(dst, rest, _mm512_shuffle_epi8(a, mask));
    }
}

/* Items of 16 or 32 bytes, any order within 16. */
TARGET_AVX2 static void strided_avx2(const struct move *m, uint8_t *dst, int64_t ds,
                                     const uint8_t *src, int64_t ss, int64_t n)
{
    const __m128i mask = _mm_loadu_si128((const __m128i *)m->mask);
    __m128i a, b;

    for (; n > 0; n--, dst += ds, src += ss) {
        a = _mm_loadu_si128((const __m128i *)src);
        if (m->size == 32) {
            b = _mm_loadu_si128((const __m128i *)(src + 16));
            _mm_storeu_si128((__m128i *)(dst + 16), _mm_shuffle_epi8(b, mask));
        }
        _mm_storeu_si128((__m128i *)dst, _mm_shuffle_epi8(a, mask));
    }
}

#endif

/* ------------------------------------------------------------- interface */

#ifdef ISA_X86
static bool divides_16(const struct move *m)
{
    return 16 % m->unit == 0;
}
#endif

void move_run(const struct move *m, uint8_t *dst, int64_t ds, const uint8_t *src, int64_t ss,
              int64_t n)
{
    bool dense = (ds == m->size && ss == m->size) || n == 1;

    if (m->op == MOVE_COPY && dst == src)
        return;
    if (dense && m->op == MOVE_COPY) {
        memcpy(dst, src, (size_t)(n * m->size));
        return;
    }
#ifdef ISA_X86
    if (dense && divides_16(m) && m->isa == ISA_AVX512) {
        dense_avx512(m, dst, src, n * m->size);
        return;
    }
    if (dense && divides_16(m) && m->isa == ISA_AVX2) {
        dense_avx2(m, dst, src, n * m->size);
        return;
    }
    if (m->op == MOVE_MASK && divides_16(m) && m->size % 16 == 0 && m->isa != ISA_PORTABLE) {
        strided_avx2(m, dst, ds, src, ss, n);
        return;
    }
#endif
    if (dense)
        dense_portable(m, dst, src, n * m->size);
    else
        strided_portable(m, dst, ds, src, ss, n);
}

/* Which little-endian byte stands at byte `at` of memory, and (its own inverse) back. */
static int place(int order, int unit, int at)
{
    if (order == DREP_LITTLE)
        return at;
    if (order == DREP_BIG)
        return unit - 1 - at;
    return unit - 2 - at / 2 * 2 + at % 2;
}

static bool same_mask(const struct move *m, int unit, int order, int whole)
{
    int i;

    for (i = 0; i < whole; i++)
        if (m->mask[i] != i / unit * unit + place(order, unit, i % unit))
            return false;
    return true;
}

void move_init(struct move *m, int unit, int units, int dst_order, int src_order, uint32_t keep)
{
    int i, le;

    *m = (struct move){.op = MOVE_MASK,
                       .unit = (uint8_t)unit,
                       .size = (uint8_t)(unit * units),
                       .isa = (uint8_t)isa_get()};
    for (i = 0; i < unit; i++) {
        le = place(dst_order, unit, i);
        m->mask[i] = keep >> le & 1 ? (uint8_t)place(src_order, unit, le) : 0x80;
    }
    if (same_mask(m, unit, DREP_LITTLE, unit)) {
        m->op = MOVE_COPY;
    } else if (unit % 2 == 0 && same_mask(m, 2, DREP_BIG, unit)) {
        m->op = MOVE_REVERSE; /* VAX order to big-endian: the bytes of each word */
        m->unit = 2;
    } else if ((16 % unit == 0 || unit == 10 || unit == 12) && same_mask(m, unit, DREP_BIG, unit)) {
        m->op = MOVE_REVERSE;
    } else if ((unit == 4 || unit == 8 || unit == 16) && same_mask(m, unit, DREP_VAX, unit)) {
        m->op = MOVE_WORDS;
    }
    for (i = unit; i < 16; i++)
        m->mask[i] = m->mask[i - unit] & 0x80 ? 0x80 : (uint8_t)(m->mask[i - unit] + unit);
}
