/* piece.c - small elements whose conversion only moves bytes.
 *
 * Fields that are neighbours on both sides travel together, in pieces of the sizes that
 * a vector register is loaded and stored with.  A piece touches its own bytes and no
 * others: what lies between fields belongs to somebody else. */
/* SPDX-License-Identifier: MIT */
#include "kern/piece.h"

#include <string.h>

#ifdef ISA_X86
#include <immintrin.h>
#define TARGET_PIECE TARGET_AVX2
typedef __m128i vec16;
#elif defined(__aarch64__)
#include <arm_neon.h>
#define TARGET_PIECE
typedef uint8x16_t vec16;
#endif

/* ---------------------------------------------------------------- making */

void pieces_init(struct pieces *p)
{
    memset(p->n, 0, sizeof p->n);
    memset(p->gathers, 0, sizeof p->gathers);
    p->all = 0;
    p->packed = 0;
    p->full = false;
    p->span.size = p->span.to = p->span.from = 0;
}

static int class_of(int size)
{
    return size == 32 ? 0 : size == 16 ? 1 : size == 8 ? 2 : size == 4 ? 3 : size == 2 ? 4 : 5;
}

/* True if a piece of this size may begin at byte `at` of the span. It must not cut a unit, not
 * even between its halves of 16 bytes. */
static bool fits(const struct pieces *p, int at, int size)
{
    const bool *begins = p->span.begins;

    return at >= 0 && at + size <= p->span.size && begins[at] && begins[at + size] &&
           (size < 32 || begins[at + 16]);
}

static void emit(struct pieces *p, int at, int size)
{
    struct kern_piece *piece = &p->piece[p->all];
    int i, from;

    if (p->all == PIECES) {
        p->full = true;
        return;
    }
    *piece = (struct kern_piece){p->span.to + at, p->span.from + at, (uint8_t)size, {0}};
    for (i = 0; i < size; i++) {
        from = p->span.map[at + i];
        piece->mask[i] = (uint8_t)(from & 0x80 ? 0x80 : from - at - i / 16 * 16);
    }
    p->n[class_of(size)]++;
    p->all++;
}

/* Turns the span into pieces, the largest first; what is left over at the end goes with
 * some bytes before it, where that makes a piece of the same size. */
static void flush(struct pieces *p)
{
    int at = 0, size;

    while (at < p->span.size) {
        size = 32;
        while (!fits(p, at, size) &&
               !(at > 0 && fits(p, p->span.size - size, size) && p->span.size - size < at))
            size /= 2;
        if (fits(p, at, size)) {
            emit(p, at, size);
            at += size;
        } else {
            emit(p, p->span.size - size, size);
            at = p->span.size;
        }
    }
    p->span.size = 0;
}

static void add_unit(struct pieces *p, int32_t to, int32_t from, int unit, const uint8_t *map)
{
    int at, i;

    if (to != p->span.to + p->span.size || from != p->span.from + p->span.size ||
        p->span.size + unit > SPAN)
        flush(p);
    if (p->span.size == 0) {
        p->span.to = to;
        p->span.from = from;
        memset(p->span.begins, 0, sizeof p->span.begins);
    }
    at = p->span.size;
    for (i = 0; i < unit; i++)
        p->span.map[at + i] = map[i] & 0x80 ? 0x80 : (uint8_t)(at + map[i]);
    p->span.size += unit;
    p->span.begins[at] = p->span.begins[p->span.size] = true;
}

void pieces_add(struct pieces *p, int32_t to, int32_t from, int unit, int units, const uint8_t *map)
{
    for (; units > 0; units--, to += unit, from += unit)
        add_unit(p, to, from, unit, map);
}

static void sort_pieces(struct pieces *p)
{
    struct kern_piece sorted[PIECES];
    int at = 0, class, i;

    for (class = 0; class < PIECE_SIZES; class ++)
        for (i = 0; i < p->all; i++)
            if (class_of(p->piece[i].size) == class)
                sorted[at++] = p->piece[i];
    memcpy(p->piece, sorted, (size_t)p->all * sizeof sorted[0]);
}

/* An element byte by byte: where each of its bytes comes from. */
struct element {
    int32_t to, to_end, from, from_end; /* the bytes it touches */
    int32_t map[16 * GATHERS];          /* -1: nobody writes it, -2: zero */
};

static bool element_init(struct element *e, const struct pieces *p)
{
    int i, b;

    *e = (struct element){INT32_MAX, INT32_MIN, INT32_MAX, INT32_MIN, {0}};
    for (i = 0; i < p->all; i++) {
        const struct kern_piece *q = &p->piece[i];

        e->to = q->to < e->to ? q->to : e->to;
        e->to_end = q->to + q->size > e->to_end ? q->to + q->size : e->to_end;
        e->from = q->from < e->from ? q->from : e->from;
        e->from_end = q->from + q->size > e->from_end ? q->from + q->size : e->from_end;
    }
    if (p->all == 0 || e->to_end - e->to > 16 * GATHERS || e->from_end - e->from < 16)
        return false;
    for (b = 0; b < 16 * GATHERS; b++)
        e->map[b] = -1;
    for (i = 0; i < p->all; i++)
        for (b = 0; b < p->piece[i].size; b++) {
            const struct kern_piece *q = &p->piece[i];

            e->map[q->to - e->to + b] =
                q->mask[b] & 0x80 ? -2 : q->from - e->from + b / 16 * 16 + q->mask[b];
        }
    for (b = 0; b < e->to_end - e->to; b++)
        if (e->map[b] == -1)
            return false;
    return true;
}

/* The 16 bytes from byte `at` of an element on; false: they come from too many places. */
static bool kern_gather_init(struct kern_gather *g, const struct element *e, int at)
{
    int32_t from, last = e->from_end - e->from - 16, covered = -1, i, b;

    *g = (struct kern_gather){.to = e->to + at};
    memset(g->mask, 0x80, sizeof g->mask);
    for (;;) {
        from = INT32_MAX; /* the first byte that no place covers yet */
        for (b = 0; b < 16; b++)
            if (e->map[at + b] > covered && e->map[at + b] < from)
                from = e->map[at + b];
        if (from == INT32_MAX)
            return true;
        if (g->terms == GATHER_TERMS)
            return false;
        i = from < last ? from : last;
        for (b = 0; b < 16; b++)
            if (e->map[at + b] > covered && e->map[at + b] < i + 16)
                g->mask[g->terms][b] = (uint8_t)(e->map[at + b] - i);
        g->from[g->terms++] = e->from + i;
        covered = i + 15;
    }
}

/* Gathers, if the target's bytes are without a hole. */
static void make_gathers(struct pieces *p)
{
    struct kern_gather all[GATHERS];
    struct element e;
    int n = 0, terms, i, at = 0;

    if (!element_init(&e, p))
        return;
    for (n = 0; n < (e.to_end - e.to + 15) / 16; n++)
        if (!kern_gather_init(&all[n], &e, 16 * n))
            return;
    for (terms = 1; terms <= GATHER_TERMS; terms++)
        for (i = 0; i < n; i++)
            if (all[i].terms == terms) {
                p->gathers[terms - 1]++;
                p->gather[at++] = all[i];
            }
    p->packed = at == n ? e.to_end - e.to : 0;
}

bool pieces_end(struct pieces *p)
{
    flush(p);
    sort_pieces(p);
    if (!p->full && p->all > 1)
        make_gathers(p);
    return !p->full;
}

/* --------------------------------------------------------------- running */

#ifdef TARGET_PIECE

#ifdef ISA_X86
INLINE TARGET_PIECE vec16 shuffle16(const uint8_t *src, const uint8_t *mask)
{
    return _mm_shuffle_epi8(_mm_loadu_si128((const __m128i *)src),
                            _mm_loadu_si128((const __m128i *)mask));
}

INLINE TARGET_PIECE vec16 or16(vec16 a, vec16 b)
{
    return _mm_or_si128(a, b);
}

INLINE TARGET_PIECE void store16(uint8_t *dst, vec16 v)
{
    _mm_storeu_si128((__m128i *)dst, v);
}

INLINE TARGET_PIECE void move_piece(uint8_t *dst, const uint8_t *src, const struct kern_piece *p,
                                    int size)
{
    const __m128i mask = _mm_loadu_si128((const __m128i *)p->mask);
    __m256i wide;

    switch (size) {
    case 32:
        wide = _mm256_loadu_si256((const __m256i *)src);
        wide = _mm256_shuffle_epi8(wide, _mm256_loadu_si256((const __m256i *)p->mask));
        _mm256_storeu_si256((__m256i *)dst, wide);
        break;
    case 16:
        store16(dst, shuffle16(src, p->mask));
        break;
    case 8:
        _mm_storel_epi64((__m128i *)dst,
                         _mm_shuffle_epi8(_mm_loadl_epi64((const __m128i *)src), mask));
        break;
    case 4:
        _mm_storeu_si32(dst, _mm_shuffle_epi8(_mm_loadu_si32(src), mask));
        break;
    case 2:
        _mm_storeu_si16(dst, _mm_shuffle_epi8(_mm_loadu_si16(src), mask));
        break;
    default:
        *dst = p->mask[0] & 0x80 ? 0 : *src;
    }
}
#else
INLINE vec16 shuffle16(const uint8_t *src, const uint8_t *mask)
{
    return vqtbl1q_u8(vld1q_u8(src), vld1q_u8(mask));
}

INLINE vec16 or16(vec16 a, vec16 b)
{
    return vorrq_u8(a, b);
}

INLINE void store16(uint8_t *dst, vec16 v)
{
    vst1q_u8(dst, v);
}

INLINE void move_piece(uint8_t *dst, const uint8_t *src, const struct kern_piece *p, int size)
{
    uint8_t some[16] = {0};

    if (size >= 16) {
        store16(dst, shuffle16(src, p->mask));
    } else {
        memcpy(some, src, (size_t)size);
        store16(some, shuffle16(some, p->mask));
        memcpy(dst, some, (size_t)size);
    }
    if (size == 32)
        store16(dst + 16, shuffle16(src + 16, p->mask + 16));
}
#endif

/* All arguments but the first six and n are constants at most calls, so each call becomes a loop
 * of its own. */
INLINE TARGET_PIECE void run(const struct pieces *p, uint8_t *dst, const struct pace *dst_pace,
                             const uint8_t *src, const struct pace *src_pace, int64_t n, int n32,
                             int n16, int n8, int n4, int n2, int n1, bool listed)
{
    struct kern_piece piece[PIECES];
    const struct kern_piece *at;
    int64_t i;
    int k;

    /* A copy of ours: what dst points to might be the original. */
    memcpy(piece, p->piece, (size_t)(n32 + n16 + n8 + n4 + n2 + n1) * sizeof piece[0]);
    for (i = 0; i < n; i++) {
        uint8_t *to = dst + (listed ? pace_at(dst_pace, i) : 0);
        const uint8_t *from = src + (listed ? pace_at(src_pace, i) : 0);

        at = piece;
        for (k = 0; k < n32; k++, at++)
            move_piece(to + at->to, from + at->from, at, 32);
        for (k = 0; k < n16; k++, at++)
            move_piece(to + at->to, from + at->from, at, 16);
        for (k = 0; k < n8; k++, at++)
            move_piece(to + at->to, from + at->from, at, 8);
        for (k = 0; k < n4; k++, at++)
            move_piece(to + at->to, from + at->from, at, 4);
        for (k = 0; k < n2; k++, at++)
            move_piece(to + at->to, from + at->from, at, 2);
        for (k = 0; k < n1; k++, at++)
            move_piece(to + at->to, from + at->from, at, 1);
        if (!listed) {
            dst += dst_pace->stride;
            src += src_pace->stride;
        }
    }
}

/* Few pieces are worth a loop with constants: (of 32 bytes, 16, 8, 4). */
#define COUNTS4(X, n32, n16, n8) \
    X(n32, n16, n8, 0)           \
    X(n32, n16, n8, 1)           \
    X(n32, n16, n8, 2)
#define COUNTS8(X, n32, n16) \
    COUNTS4(X, n32, n16, 0)  \
    COUNTS4(X, n32, n16, 1)  \
    COUNTS4(X, n32, n16, 2)  \
    COUNTS4(X, n32, n16, 3)  \
    COUNTS4(X, n32, n16, 4)
#define COUNTS(X)    \
    COUNTS8(X, 0, 0) \
    COUNTS8(X, 0, 1) \
    COUNTS8(X, 0, 2) \
    COUNTS8(X, 1, 0)
#define COUNT(n32, n16, n8, n4) ((((n32)*3 + (n16)) * 5 + (n8)) * 3 + (n4))

TARGET_PIECE static void run_pieces(const struct pieces *p, uint8_t *dst,
                                    const struct pace *dst_pace, const uint8_t *src,
                                    const struct pace *src_pace, int64_t n)
{
    const int *m = p->n;
    bool few = m[0] < 2 && m[1] < 3 && m[2] < 5 && m[3] < 3;

    if (dst_pace->list || src_pace->list) {
        run(p, dst, dst_pace, src, src_pace, n, m[0], m[1], m[2], m[3], m[4], m[5], true);
        return;
    }
    switch (few ? COUNT(m[0], m[1], m[2], m[3]) : -1) {
#define X(n32, n16, n8, n4)                                                               \
    case COUNT(n32, n16, n8, n4):                                                         \
        if (m[4] + m[5] == 0)                                                             \
            run(p, dst, dst_pace, src, src_pace, n, n32, n16, n8, n4, 0, 0, false);       \
        else                                                                              \
            run(p, dst, dst_pace, src, src_pace, n, n32, n16, n8, n4, m[4], m[5], false); \
        break;
        COUNTS(X)
#undef X
    default:
        run(p, dst, dst_pace, src, src_pace, n, m[0], m[1], m[2], m[3], m[4], m[5], false);
    }
}

/* -------------------------------------------------------------- gathering */

INLINE TARGET_PIECE void gather(uint8_t *dst, const uint8_t *src, const struct kern_gather *g,
                                int terms)
{
    vec16 v = shuffle16(src + g->from[0], g->mask[0]);

    if (terms > 1)
        v = or16(v, shuffle16(src + g->from[1], g->mask[1]));
    if (terms > 2)
        v = or16(v, shuffle16(src + g->from[2], g->mask[2]));
    store16(dst + g->to, v);
}

/* The counts are constants, as far as the callers know them. */
INLINE TARGET_PIECE void gather_all(const struct pieces *p, uint8_t *dst, int64_t dst_stride,
                                    const uint8_t *src, int64_t src_stride, int64_t n, int ones,
                                    int twos, int threes)
{
    struct kern_gather own[GATHERS];
    const struct kern_gather *at;
    int64_t i;
    int k;

    memcpy(own, p->gather, (size_t)(ones + twos + threes) * sizeof own[0]);
    for (i = 0; i < n; i++, dst += dst_stride, src += src_stride) {
        at = own;
        for (k = 0; k < ones; k++, at++)
            gather(dst, src, at, 1);
        for (k = 0; k < twos; k++, at++)
            gather(dst, src, at, 2);
        for (k = 0; k < threes; k++, at++)
            gather(dst, src, at, 3);
    }
}

#define TERMS3(X, ones, twos) \
    X(ones, twos, 0)          \
    X(ones, twos, 1)
#define TERMS2(X, ones) TERMS3(X, ones, 0) TERMS3(X, ones, 1) TERMS3(X, ones, 2)
#define TERMS(X) TERMS2(X, 0) TERMS2(X, 1) TERMS2(X, 2)
#define TERM(ones, twos, threes) (((ones)*3 + (twos)) * 2 + (threes))

TARGET_PIECE static void run_gathers(const struct pieces *p, uint8_t *dst, int64_t dst_stride,
                                     const uint8_t *src, int64_t src_stride, int64_t n)
{
    const int *m = p->gathers;
    bool few = m[0] < 3 && m[1] < 3 && m[2] < 2;

    switch (few ? TERM(m[0], m[1], m[2]) : -1) {
#define X(ones, twos, threes)                                                   \
    case TERM(ones, twos, threes):                                              \
        gather_all(p, dst, dst_stride, src, src_stride, n, ones, twos, threes); \
        break;
        TERMS(X)
#undef X
    default:
        gather_all(p, dst, dst_stride, src, src_stride, n, m[0], m[1], m[2]);
    }
}

void pieces_run(const struct pieces *p, uint8_t *dst, struct pace dst_pace, const uint8_t *src,
                struct pace src_pace, int64_t n)
{
    int64_t most = 0;

    /* Stores past the end of an element must land in elements that are stored later. */
    if (p->packed && !dst_pace.list && !src_pace.list && dst_pace.stride == p->packed)
        most = n - (15 + p->packed) / p->packed;
    if (most > 0) {
        run_gathers(p, dst, dst_pace.stride, src, src_pace.stride, most);
        dst += most * dst_pace.stride;
        src += most * src_pace.stride;
        n -= most;
    }
    run_pieces(p, dst, &dst_pace, src, &src_pace, n);
}

bool pieces_known(enum isa isa)
{
#ifdef ISA_X86
    return isa != ISA_PORTABLE;
#else
    (void)isa;
    return true;
#endif
}

#else

bool pieces_known(enum isa isa)
{
    (void)isa;
    return false;
}

void pieces_run(const struct pieces *p, uint8_t *dst, struct pace dst_pace, const uint8_t *src,
                struct pace src_pace, int64_t n)
{
    (void)p, (void)dst, (void)dst_pace, (void)src, (void)src_pace, (void)n;
}

#endif
