/* move.c - kernels that only put bytes in another order.
 *
 * Where units divide 16 bytes, any order (and any zeroed padding) is one byte shuffle
 * of a vector; elsewhere loads, byte swaps and stores of one unit at a time. */
/* SPDX-License-Identifier: MIT */
#include "kern/piece.h"

#include "format/numbers.h"

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

/* Load a unit of 1, 2, 4 or 8 bytes as a number of this machine. */
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

/* Move one unit. It is read whole before it is written: dst may be src. */
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

/* to, from: NULL, or where the items lie. */
INLINE void strided(uint8_t *dst, int64_t ds, const int64_t *to, const uint8_t *src, int64_t ss,
                    const int64_t *from, int64_t n, enum move_op op, int unit, int units)
{
    int64_t i;
    int u;

    for (i = 0; i < n; i++) {
        uint8_t *d = dst + (to ? to[i] : i * ds);
        const uint8_t *s = src + (from ? from[i] : i * ss);

        for (u = 0; u < units; u++)
            unit_move(d + u * unit, s + u * unit, op, unit);
    }
}

INLINE void paced(uint8_t *dst, struct pace to, const uint8_t *src, struct pace from, int64_t n,
                  enum move_op op, int unit, int units)
{
    if (!to.list && !from.list)
        strided(dst, to.stride, NULL, src, from.stride, NULL, n, op, unit, units);
    else if (!to.list)
        strided(dst, to.stride, NULL, src, 0, from.list, n, op, unit, units);
    else
        strided(dst, 0, to.list, src, from.stride, from.list, n, op, unit, units);
}

static void paced_any(const struct move *m, uint8_t *dst, struct pace to, const uint8_t *src,
                      struct pace from, int64_t n)
{
    int64_t i;
    int at;

    for (i = 0; i < n; i++) {
        uint8_t *d = dst + pace_at(&to, i);
        const uint8_t *s = src + pace_at(&from, i);

        if (m->op == MOVE_COPY) {
            if (d != s)
                memcpy(d, s, m->size);
            continue;
        }
        for (at = 0; at < m->size; at += m->unit)
            unit_mask(d + at, s + at, m->mask, m->unit);
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

static void paced_portable(const struct move *m, uint8_t *dst, struct pace to, const uint8_t *src,
                           struct pace from, int64_t n)
{
    int unit = m->unit;

    /* A copy has no units: take the item as one, or as halves. */
    if (m->op == MOVE_COPY)
        unit = m->size == 32 ? 16 : m->size;
    switch (SHAPE(m->op, unit, m->size / unit)) {
#define X(op, unit_, units)                             \
    case SHAPE(op, unit_, units):                       \
        paced(dst, to, src, from, n, op, unit_, units); \
        break;
        SHAPES(X)
#undef X
    default:
        paced_any(m, dst, to, src, from, n);
    }
}

/* Back to back: the units of all items are one row. */
static void dense_portable(const struct move *m, uint8_t *dst, const uint8_t *src, int64_t size)
{
    int64_t n = size / m->unit;

    switch (SHAPE(m->op, m->unit, 1)) {
#define X(op, unit_)                                                  \
    case SHAPE(op, unit_, 1):                                         \
        strided(dst, unit_, NULL, src, unit_, NULL, n, op, unit_, 1); \
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

/* Targets of this many bytes will not be read back from the cache: stores that bypass it save
 * reading the target first. */
enum { STREAM = 8 << 20 };

/* Bytes to move until dst is a multiple of 64; -1: units do not end there, or it does not pay. */
static int64_t stream_head(const struct move *m, const uint8_t *dst, const uint8_t *src,
                           int64_t size)
{
    int64_t head = -(intptr_t)dst & 63;

    return size < STREAM || dst == src || head % m->unit ? -1 : head;
}

/* On Intel's processors streams go through four pages at a time, 128 bytes in each, in
 * turn: that keeps more of the memory's banks busy than one page after the other, which
 * others like better. */
enum { PAGE = 4096, PAGES = 4 };

static bool pages_in_turn(void)
{
    return __builtin_cpu_is("intel");
}

/* Byte i of a stream, by the order in which it is taken. */
INLINE int stream_at(int i, bool in_turn)
{
    return in_turn ? i / 128 % PAGES * PAGE + i / 128 / PAGES * 128 + i % 128 : i;
}

INLINE TARGET_AVX2 int64_t stream_by_32(const struct move *m, uint8_t *dst, const uint8_t *src,
                                        int64_t size, bool in_turn)
{
    const __m256i mask = _mm256_broadcastsi128_si256(_mm_loadu_si128((const __m128i *)m->mask));
    int64_t done;
    int i, at;

    for (done = 0; size - done >= PAGES * PAGE; done += PAGES * PAGE)
        for (i = 0; i < PAGES * PAGE; i += 32) {
            __m256i v;

            at = stream_at(i, in_turn);
            v = _mm256_loadu_si256((const __m256i *)(src + done + at));
            _mm256_stream_si256((__m256i *)(dst + done + at), _mm256_shuffle_epi8(v, mask));
        }
    _mm_sfence();
    return done;
}

INLINE TARGET_AVX512 int64_t stream_by_64(const struct move *m, uint8_t *dst, const uint8_t *src,
                                          int64_t size, bool in_turn)
{
    const __m512i mask = _mm512_broadcast_i32x4(_mm_loadu_si128((const __m128i *)m->mask));
    int64_t done;
    int i, at;

    for (done = 0; size - done >= PAGES * PAGE; done += PAGES * PAGE)
        for (i = 0; i < PAGES * PAGE; i += 64) {
            __m512i v;

            at = stream_at(i, in_turn);
            v = _mm512_loadu_si512(src + done + at);
            _mm512_stream_si512((__m512i *)(dst + done + at), _mm512_shuffle_epi8(v, mask));
        }
    _mm_sfence();
    return done;
}

TARGET_AVX2 static void dense_avx2(const struct move *m, uint8_t *dst, const uint8_t *src,
                                   int64_t size)
{
    const __m256i mask = _mm256_broadcastsi128_si256(_mm_loadu_si128((const __m128i *)m->mask));
    int64_t done = stream_head(m, dst, src, size);
    __m256i a, b;

    if (done >= 0) {
        dense_portable(m, dst, src, done);
        done += pages_in_turn() ? stream_by_32(m, dst + done, src + done, size - done, true)
                                : stream_by_32(m, dst + done, src + done, size - done, false);
        dst += done, src += done, size -= done;
    }
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
    int64_t done = stream_head(m, dst, src, size);
    __m512i a, b;

    if (done >= 0) {
        dense_portable(m, dst, src, done);
        done += pages_in_turn() ? stream_by_64(m, dst + done, src + done, size - done, true)
                                : stream_by_64(m, dst + done, src + done, size - done, false);
        dst += done, src += done, size -= done;
    }
    for (; size >= 128; size -= 128, dst += 128, src += 128) {
        a = _mm512_loadu_si512(src);
        b = _mm512_loadu_si512(src + 64);
        _mm512_storeu_si512(dst, _mm512_shuffle_epi8(a, mask));
        _mm512_storeu_si512(dst + 64, _mm512_shuffle_epi8(b, mask));
    }
    dense_avx2(m, dst, src, size);
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

/* Bytes ahead that are asked for while rows are moved: the processor sees no row coming
 * until it is there. */
enum { AHEAD = 2048 };

/* Rows of `size` bytes, neither a few nor very many. */
INLINE TARGET_AVX2 void rows_by_32(const struct move *m, const struct kern_rows *r, int64_t size,
                                   bool stream)
{
    const __m256i mask = _mm256_broadcastsi128_si256(_mm_loadu_si128((const __m128i *)m->mask));
    int64_t row, ahead, at;
    __m256i a, b;

    for (row = 0; row < r->rows; row++) {
        uint8_t *dst = r->dst + pace_at(&r->dst_pace, row), *next_dst;
        const uint8_t *src = r->src + pace_at(&r->src_pace, row), *next_src;

        ahead = row + 1 + AHEAD / size < r->rows ? row + 1 + AHEAD / size : row;
        next_dst = r->dst + pace_at(&r->dst_pace, ahead);
        next_src = r->src + pace_at(&r->src_pace, ahead);
        for (at = 0; at <= size - 64; at += 64) {
            _mm_prefetch((const char *)next_src + at, _MM_HINT_T0);
            a = _mm256_loadu_si256((const __m256i *)(src + at));
            b = _mm256_loadu_si256((const __m256i *)(src + at + 32));
            if (stream) {
                _mm256_stream_si256((__m256i *)(dst + at), _mm256_shuffle_epi8(a, mask));
                _mm256_stream_si256((__m256i *)(dst + at + 32), _mm256_shuffle_epi8(b, mask));
                continue;
            }
            _mm_prefetch((const char *)next_dst + at, _MM_HINT_T0);
            _mm256_storeu_si256((__m256i *)(dst + at), _mm256_shuffle_epi8(a, mask));
            _mm256_storeu_si256((__m256i *)(dst + at + 32), _mm256_shuffle_epi8(b, mask));
        }
        if (at <= size - 32) {
            a = _mm256_loadu_si256((const __m256i *)(src + at));
            _mm256_storeu_si256((__m256i *)(dst + at), _mm256_shuffle_epi8(a, mask));
            at += 32;
        }
        if (at < size && m->op == MOVE_COPY)
            memcpy(dst + at, src + at, (size_t)(size - at));
        else if (at < size)
            dense_portable(m, dst + at, src + at, size - at);
    }
}

TARGET_AVX2 static void rows_avx2(const struct move *m, const struct kern_rows *r, int64_t size)
{
    /* Bypass the cache for many whole lines. */
    bool stream = size * r->rows >= STREAM && !r->dst_pace.list &&
                  ((uintptr_t)r->dst | (uint64_t)r->dst_pace.stride | (uint64_t)size) % 64 == 0;

    if (!stream) {
        rows_by_32(m, r, size, false);
        return;
    }
    rows_by_32(m, r, size, true);
    _mm_sfence();
}

#endif

/* ------------------------------------------------------------- interface */

#ifdef ISA_X86
static bool divides_16(const struct move *m)
{
    return 16 % m->unit == 0;
}
#endif

static void move_run(const struct move *m, uint8_t *dst, int64_t ds, const uint8_t *src, int64_t ss,
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
        paced_portable(m, dst, (struct pace){ds, NULL}, src, (struct pace){ss, NULL}, n);
}

static void one_by_one(const struct move *m, const struct kern_rows *r)
{
    int64_t row;

    for (row = 0; row < r->rows; row++)
        move_run(m, r->dst + pace_at(&r->dst_pace, row), r->dst_step,
                 r->src + pace_at(&r->src_pace, row), r->src_step, r->per);
}

/* Short rows of items back to back, as elements in pieces. */
static void in_pieces(const struct move *m, const struct kern_rows *r)
{
    static const uint8_t copy[1] = {0};
    bool bytes = m->op == MOVE_COPY;
    struct pieces p;

    pieces_init(&p);
    pieces_add(&p, 0, 0, bytes ? 1 : m->unit, (int)r->per * m->size / (bytes ? 1 : m->unit),
               bytes ? copy : m->mask);
    pieces_end(&p);
    pieces_run(&p, r->dst, r->dst_pace, r->src, r->src_pace, r->rows);
}

enum {
    ROW_PIECES = 128, /* bytes of a row that is taken in pieces, */
    ROWS_PIECES = 8,  /* where there are as many */
    ROW_LONG = 4096,  /* bytes of a row that is a move of its own */
    ROW_APART = 8     /* items apart from each other that are taken one by one over all rows */
};

/* True if a loop handles items of this sort wherever they lie. */
static bool shaped(const struct move *m)
{
    if (m->op == MOVE_COPY)
        return m->size <= 32 && (m->size & (m->size - 1)) == 0;
    return m->op != MOVE_MASK;
}

void move_rows(const struct move *m, const struct kern_rows *r)
{
    bool whole = r->per == 1 || (r->dst_step == m->size && r->src_step == m->size);
    bool simple = whole && (m->op == MOVE_COPY || 16 % m->unit == 0);
    bool apart = r->per == 1 || (!whole && r->per <= ROW_APART && r->rows > r->per);
    int64_t size = r->per * m->size, i;

    if (r->rows == 1 || (r->per == 1 && shaped(m)))
        simple = false;
    if (simple && size <= ROW_PIECES && r->rows >= ROWS_PIECES && pieces_known(m->isa))
        in_pieces(m, r);
#ifdef ISA_X86
    else if (simple && size < ROW_LONG && m->isa != ISA_PORTABLE)
        rows_avx2(m, r, size);
#endif
    else if (r->rows == 1 || !apart)
        one_by_one(m, r);
    else
        for (i = 0; i < r->per; i++)
            paced_portable(m, r->dst + i * r->dst_step, r->dst_pace, r->src + i * r->src_step,
                           r->src_pace, r->rows);
}

/* Map byte `at` of memory to its little-endian place; its own inverse. One byte has one place
 * in any order: in VAX order it is no half of a word. */
static int place(int order, int unit, int at)
{
    if (order == FMT_ORDER_LITTLE || unit == 1)
        return at;
    if (order == FMT_ORDER_BIG)
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
    if (same_mask(m, unit, FMT_ORDER_LITTLE, unit)) {
        m->op = MOVE_COPY;
    } else if (unit % 2 == 0 && same_mask(m, 2, FMT_ORDER_BIG, unit)) {
        m->op = MOVE_REVERSE; /* VAX order to big-endian: the bytes of each word */
        m->unit = 2;
    } else if ((16 % unit == 0 || unit == 10 || unit == 12) &&
               same_mask(m, unit, FMT_ORDER_BIG, unit)) {
        m->op = MOVE_REVERSE;
    } else if ((unit == 4 || unit == 8 || unit == 16) && same_mask(m, unit, FMT_ORDER_VAX, unit)) {
        m->op = MOVE_WORDS;
    }
    for (i = unit; i < 16; i++)
        m->mask[i] = m->mask[i - unit] & 0x80 ? 0x80 : (uint8_t)(m->mask[i - unit] + unit);
}
