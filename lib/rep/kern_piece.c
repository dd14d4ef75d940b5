/* kern_piece.c - small elements whose conversion only moves bytes.
 *
 * Fields that are neighbours on both sides travel together, in pieces of the sizes that
 * a vector register is loaded and stored with.  A piece touches its own bytes and no
 * others: what lies between fields belongs to somebody else. */
#include "rep/kern.h"

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
    p->all = 0;
    p->full = false;
    p->span.size = 0;
}

static int class_of(int size)
{
    return size == 32 ? 0 : size == 16 ? 1 : size == 8 ? 2 : size == 4 ? 3 : size == 2 ? 4 : 5;
}

/* The largest piece that begins the span and cuts no unit, also not between its halves
 * of 16 bytes. */
static int first_piece(const struct pieces *p)
{
    const bool *begins = p->span.begins;
    int size = 32;

    while (size > p->span.size || !begins[size] || (size == 32 && !begins[16]))
        size /= 2;
    return size;
}

/* Turns the beginning of the span into a piece. */
static void emit(struct pieces *p)
{
    int size = first_piece(p), i;
    struct piece *piece = &p->piece[p->all];

    p->full = p->full || p->all == PIECES;
    if (!p->full) {
        *piece = (struct piece){p->span.to, p->span.from, (uint8_t)size, {0}};
        for (i = 0; i < size; i++)
            piece->mask[i] = (uint8_t)(p->span.map[i] & 0x80 ? 0x80 : p->span.map[i] - i / 16 * 16);
        p->n[class_of(size)]++;
        p->all++;
    }
    p->span.to += size;
    p->span.from += size;
    p->span.size -= size;
    memmove(p->span.begins, p->span.begins + size, (size_t)(SPAN + 1 - size));
    memmove(p->span.map, p->span.map + size, (size_t)(SPAN - size));
    for (i = 0; i < p->span.size; i++)
        if (!(p->span.map[i] & 0x80))
            p->span.map[i] = (uint8_t)(p->span.map[i] - size);
}

static void flush(struct pieces *p)
{
    while (p->span.size)
        emit(p);
}

static void add_unit(struct pieces *p, int32_t to, int32_t from, int unit, const uint8_t *map)
{
    int at, i;

    if (to != p->span.to + p->span.size || from != p->span.from + p->span.size)
        flush(p);
    while (p->span.size + unit > SPAN)
        emit(p);
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

bool pieces_end(struct pieces *p)
{
    struct piece sorted[PIECES];
    int at = 0, class, i;

    flush(p);
    for (class = 0; class < PIECE_SIZES; class ++)
        for (i = 0; i < p->all; i++)
            if (class_of(p->piece[i].size) == class)
                sorted[at++] = p->piece[i];
    memcpy(p->piece, sorted, (size_t)p->all * sizeof sorted[0]);
    return !p->full;
}

/* --------------------------------------------------------------- running */

#ifdef TARGET_PIECE

#ifdef ISA_X86
INLINE TARGET_PIECE void move_piece(uint8_t *dst, const uint8_t *src, const struct piece *p,
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
        _mm_storeu_si128((__m128i *)dst,
                         _mm_shuffle_epi8(_mm_loadu_si128((const __m128i *)src), mask));
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
INLINE void move_piece(uint8_t *dst, const uint8_t *src, const struct piece *p, int size)
{
    uint8_t wide[16];
    vec16 v;

    if (size == 32) {
        vec16 low = vqtbl1q_u8(vld1q_u8(src), vld1q_u8(p->mask));
        vec16 high = vqtbl1q_u8(vld1q_u8(src + 16), vld1q_u8(p->mask + 16));

        vst1q_u8(dst, low);
        vst1q_u8(dst + 16, high);
        return;
    }
    memcpy(wide, src, (size_t)size);
    v = vqtbl1q_u8(size == 16 ? vld1q_u8(src) : vld1q_u8(wide), vld1q_u8(p->mask));
    if (size == 16)
        vst1q_u8(dst, v);
    else
        vst1q_u8(wide, v);
    if (size < 16)
        memcpy(dst, wide, (size_t)size);
}
#endif

/* Every argument but the first six and n is a constant, as far as the callers know it. */
INLINE TARGET_PIECE void run(const struct pieces *p, uint8_t *dst, const struct pace *dst_pace,
                             const uint8_t *src, const struct pace *src_pace, int64_t n, int n32,
                             int n16, int n8, int n4, int n2, int n1, bool listed)
{
    struct piece piece[PIECES];
    const struct piece *at;
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
#define COUNTS8(X, n32, n16) COUNTS4(X, n32, n16, 0) COUNTS4(X, n32, n16, 1) COUNTS4(X, n32, n16, 2)
#define COUNTS(X)    \
    COUNTS8(X, 0, 0) \
    COUNTS8(X, 0, 1) COUNTS8(X, 0, 2) COUNTS8(X, 1, 0) COUNTS8(X, 1, 1)
#define COUNT(n32, n16, n8, n4) (((n32)*3 + (n16)) * 9 + (n8)*3 + (n4))

TARGET_PIECE void pieces_run(const struct pieces *p, uint8_t *dst, struct pace dst_pace,
                             const uint8_t *src, struct pace src_pace, int64_t n)
{
    const int *m = p->n;
    bool listed = dst_pace.list || src_pace.list;
    bool few = m[0] < 3 && m[1] < 3 && m[2] < 3 && m[3] < 3 && m[4] + m[5] == 0;

    if (listed) {
        run(p, dst, &dst_pace, src, &src_pace, n, m[0], m[1], m[2], m[3], m[4], m[5], true);
        return;
    }
    switch (few ? COUNT(m[0], m[1], m[2], m[3]) : -1) {
#define X(n32, n16, n8, n4)                                                       \
    case COUNT(n32, n16, n8, n4):                                                 \
        run(p, dst, &dst_pace, src, &src_pace, n, n32, n16, n8, n4, 0, 0, false); \
        break;
        COUNTS(X)
#undef X
    default:
        run(p, dst, &dst_pace, src, &src_pace, n, m[0], m[1], m[2], m[3], m[4], m[5], false);
    }
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
