/* test_kernel.c - kernels: every instruction set, stride and alignment gives the same
 * bytes; integers, booleans, characters and descriptions against plain arithmetic.
 * E5, E9, E10, E13, C7, D2, D12. */
/* SPDX-License-Identifier: MIT */
#include "rep/convert.h"
#include "rep/pick.h"
#include "rep/rep.h"
#include "rep/encodings.h"
#include "tests/unit/bytes.h"

#ifdef __x86_64__
#include <immintrin.h>
#endif

static struct rnd r;

/* One row of a table; the codes of the two sides differ, so that values are converted. */
struct shape {
    int code, format, order, size;
};

static void table_of(struct rep_table *t, const struct shape *s)
{
    memset(t, 0, sizeof *t);
    t->row[s->code] = (drep_encoding){
        (uint16_t)s->code, (uint8_t)s->format, (uint8_t)s->order, (uint8_t)s->size, 1, 0, 0};
    ck_assert_msg(rep_table_check(t) == 0, "%s", drep_error());
}

static int pick(struct kernel *k, const struct shape *to, const struct shape *from, int range,
                struct losses *report)
{
    struct rep_opts opts = {.range = range, .value_range = range, .report = report};
    struct rep_table dst, src;

    table_of(&dst, to);
    table_of(&src, from);
    return kernel_pick(k, &dst, drep_predefined(to->code), &src, drep_predefined(from->code),
                       &opts);
}

/* ------------------------------------------- one answer, however it is got */

#define REAL(format, order, size)                           \
    {                                                       \
        DREP_CODE_DOUBLE, DREP_FORMAT_##format, order, size \
    }
#define INTEGER(code, format, order, size)                  \
    {                                                       \
        DREP_CODE_##code, DREP_FORMAT_##format, order, size \
    }
#define PARTS(format, order, size)                           \
    {                                                        \
        DREP_CODE_COMPLEX, DREP_FORMAT_##format, order, size \
    }
static const struct shape shapes[] = {
    REAL(BINARY16, DREP_LITTLE, 2),
    REAL(BINARY16, DREP_BIG, 2),
    REAL(BFLOAT16, DREP_BIG, 2),
    REAL(FP8_E4M3, DREP_LITTLE, 1),
    REAL(BINARY32, DREP_LITTLE, 4),
    REAL(BINARY32, DREP_BIG, 4),
    REAL(BINARY64, DREP_LITTLE, 8),
    REAL(BINARY64, DREP_BIG, 8),
    REAL(BINARY64, DREP_VAX, 8),
    REAL(BINARY128, DREP_BIG, 16),
    REAL(X87, DREP_LITTLE, 16),
    REAL(X87, DREP_LITTLE, 12),
    REAL(X87, DREP_BIG, 10),
    REAL(M68K, DREP_BIG, 12),
    REAL(DOUBLE_DOUBLE, DREP_BIG, 16),
    REAL(IBM_HEX32, DREP_BIG, 4),
    REAL(IBM_HEX64, DREP_BIG, 8),
    REAL(VAX_F, DREP_VAX, 4),
    REAL(VAX_D, DREP_VAX, 8),
    REAL(VAX_G, DREP_VAX, 8),
    REAL(CRAY64, DREP_BIG, 8),
    INTEGER(SIGNED_CHAR, INT, DREP_LITTLE, 1),
    INTEGER(UNSIGNED_CHAR, UINT, DREP_LITTLE, 1),
    INTEGER(SHORT, INT, DREP_BIG, 2),
    INTEGER(UNSIGNED_SHORT, UINT, DREP_LITTLE, 2),
    INTEGER(INT, INT, DREP_BIG, 4),
    INTEGER(INT, INT, DREP_VAX, 4),
    INTEGER(UNSIGNED, UINT, DREP_LITTLE, 4),
    INTEGER(LONG, INT, DREP_LITTLE, 8),
    INTEGER(LONG, INT, DREP_BIG, 8),
    INTEGER(UNSIGNED_LONG, UINT, DREP_BIG, 8),
    INTEGER(INTEGER16, INT, DREP_BIG, 16),
    INTEGER(INT, INT, DREP_BIG, 3),
    INTEGER(C_BOOL, BOOL, DREP_LITTLE, 1),
    INTEGER(LOGICAL, BOOL, DREP_BIG, 4),
    INTEGER(LOGICAL16, BOOL, DREP_BIG, 16),
};
enum { SHAPES = sizeof shapes / sizeof shapes[0] };
static const struct shape complexes[] = {
    PARTS(BINARY32, DREP_BIG, 8),   PARTS(BINARY32, DREP_LITTLE, 8),
    PARTS(BINARY64, DREP_BIG, 16),  PARTS(X87, DREP_LITTLE, 32),
    PARTS(BINARY128, DREP_BIG, 32), PARTS(BINARY16, DREP_BIG, 4),
    PARTS(VAX_F, DREP_VAX, 8),      PARTS(M68K, DREP_BIG, 24),
    PARTS(IBM_HEX64, DREP_BIG, 16), PARTS(DOUBLE_DOUBLE, DREP_LITTLE, 32),
};
enum { COMPLEXES = sizeof complexes / sizeof complexes[0], MOST = 300, ROOM = MOST * 100 + 64 };

/* Runs n items at these strides and offsets; what lies between items stays as it was. */
static void check_layout(const struct kernel *k, const struct shape *to, const struct shape *from,
                         const uint8_t *items, const uint8_t *want, int64_t n, int64_t from_gap,
                         int64_t to_gap, int from_at, int to_at)
{
    static uint8_t in[ROOM], out[ROOM], expect[ROOM];
    int from_size = from->size, to_size = to->size;
    int64_t i, from_stride = from_size + from_gap, to_stride = to_size + to_gap;

    memset(out, 0x5a, sizeof out);
    memset(expect, 0x5a, sizeof expect);
    for (i = 0; i < n; i++) {
        memcpy(in + from_at + i * from_stride, items + i * from_size, (size_t)from_size);
        memcpy(expect + to_at + i * to_stride, want + i * to_size, (size_t)to_size);
    }
    if (kernel_run(k, out + to_at, to_stride, in + from_at, from_stride, n, 0) != 0)
        ck_abort_msg("refused");
    if (memcmp(out, expect, sizeof out) != 0)
        ck_abort_msg("%s to %s: %lld items, strides %lld and %lld, offsets %d and %d",
                     drep_format_name(from->format), drep_format_name(to->format), (long long)n,
                     (long long)from_stride, (long long)to_stride, from_at, to_at);
}

static void check_in_place(const struct kernel *k, const struct shape *to, const struct shape *from,
                           const uint8_t *items, const uint8_t *want, int64_t n, int64_t gap)
{
    static uint8_t both[ROOM], expect[ROOM];
    int size = to->size;
    int64_t i;

    memset(both, 0x5a, sizeof both);
    memset(expect, 0x5a, sizeof expect);
    for (i = 0; i < n; i++) {
        memcpy(both + 1 + i * (size + gap), items + i * size, (size_t)size);
        memcpy(expect + 1 + i * (size + gap), want + i * size, (size_t)size);
    }
    kernel_run(k, both + 1, size + gap, both + 1, size + gap, n, 0);
    if (memcmp(both, expect, sizeof both) != 0)
        ck_abort_msg("%s to %s in place, gap %lld", drep_format_name(from->format),
                     drep_format_name(to->format), (long long)gap);
}

/* Rows at regular distances, or listed, of one side or both, shuffled. */
static void row_places(int64_t *list, struct pace *pace, int64_t rows, int64_t size, int kind)
{
    int64_t i, k, t;

    pace->stride = size + (kind == 1 ? 8 : kind == 2 ? 3 : 0);
    pace->list = kind == 3 ? list : NULL;
    for (i = 0; i < rows; i++)
        list[i] = i * (size + 5);
    for (i = rows - 1; i > 0; i--) {
        k = (int64_t)rnd_below(&r, (uint64_t)i + 1);
        t = list[i];
        list[i] = list[k];
        list[k] = t;
    }
}

/* The first per * rows items as rows: as each item alone. */
static void check_rows(const struct kernel *k, const struct shape *to, const struct shape *from,
                       const uint8_t *items, const uint8_t *want, int64_t per, int64_t rows)
{
    static uint8_t in[2 * ROOM], out[2 * ROOM], expect[2 * ROOM];
    int from_size = from->size, to_size = to->size;
    int64_t from_list[MOST], to_list[MOST], row, i;
    struct kern_rows places = {.dst = out + 7, .src = in + 3, .per = per, .rows = rows};

    places.dst_step = to_size + (rnd_below(&r, 3) ? 0 : 6);
    places.src_step = from_size + (rnd_below(&r, 3) ? 0 : 2);
    row_places(from_list, &places.src_pace, rows, per * places.src_step, (int)rnd_below(&r, 4));
    row_places(to_list, &places.dst_pace, rows, per * places.dst_step, (int)rnd_below(&r, 4));
    memset(out, 0x5a, sizeof out);
    memset(expect, 0x5a, sizeof expect);
    for (row = 0; row < rows; row++)
        for (i = 0; i < per; i++) {
            memcpy(in + 3 + pace_at(&places.src_pace, row) + i * places.src_step,
                   items + (row * per + i) * from_size, (size_t)from_size);
            memcpy(expect + 7 + pace_at(&places.dst_pace, row) + i * places.dst_step,
                   want + (row * per + i) * to_size, (size_t)to_size);
        }
    if (kernel_rows(k, &places) != 0)
        ck_abort_msg("refused");
    if (memcmp(out, expect, sizeof out) != 0)
        ck_abort_msg("%s to %s: %lld rows of %lld", drep_format_name(from->format),
                     drep_format_name(to->format), (long long)rows, (long long)per);
}

static void check_pair(const struct shape *to, const struct shape *from)
{
    static const int64_t rows_of[][2] = {{1, 300}, {2, 9},   {3, 100}, {4, 60},  {5, 4},
                                         {9, 33},  {16, 16}, {60, 5},  {130, 2}, {150, 2}};
    static uint8_t items[MOST * 32], want[MOST * 32], other[MOST * 32];
    static const int64_t counts[] = {1, 2, 7, 64, 65, MOST};
    static const int64_t gaps[] = {0, 1, 8, 40};
    struct losses known, report;
    struct kernel k;
    int64_t i;
    int isa;

    rnd_fill(&r, items, sizeof items);
    for (i = 0; i < 40 * from->size; i++)
        items[i] = 0; /* zeros are common, and special somewhere */
    isa_limit(ISA_PORTABLE);
    known = NO_LOSSES;
    ck_assert_int_eq(pick(&k, to, from, DREP_RANGE_WRAP, &known), 0);
    /* One at a time: no loop, no vector. */
    for (i = 0; i < MOST; i++)
        kernel_run(&k, want + i * to->size, to->size, items + i * from->size, from->size, 1, i);
    for (isa = ISA_PORTABLE; isa < ISAS; isa++) {
        isa_limit((enum isa)isa);
        report = NO_LOSSES;
        ck_assert_int_eq(pick(&k, to, from, DREP_RANGE_WRAP, &report), 0);
        kernel_run(&k, other, to->size, items, from->size, MOST, 0);
        if (memcmp(&report, &known, sizeof report) != 0 ||
            memcmp(other, want, (size_t)(MOST * to->size)) != 0)
            ck_abort_msg("%s to %s: the report of instruction set %d",
                         drep_format_name(from->format), drep_format_name(to->format), isa);
        ck_assert_int_eq(pick(&k, to, from, DREP_RANGE_WRAP, NULL), 0);
        for (i = 0; i < 6; i++)
            check_layout(&k, to, from, items, want, counts[i], gaps[rnd_below(&r, 4)],
                         gaps[rnd_below(&r, 4)], (int)rnd_below(&r, 16), (int)rnd_below(&r, 16));
        for (i = 0; i < 10; i++)
            check_rows(&k, to, from, items, want, rows_of[i][0], rows_of[i][1]);
        check_layout(&k, to, from, items, want, MOST, 0, 0, 1, 3);
        check_layout(&k, to, from, items, want, MOST, 0, 0, 0, 0);
        if (to->size == from->size) {
            check_in_place(&k, to, from, items, want, MOST, 0);
            check_in_place(&k, to, from, items, want, MOST, 5);
        }
    }
    isa_limit(ISAS);
}

static int other_code(const struct shape *s, struct shape *out)
{
    *out = *s;
    switch (s->code) {
    case DREP_CODE_DOUBLE:
        return out->code = DREP_CODE_FLOAT;
    case DREP_CODE_COMPLEX:
        return out->code = DREP_CODE_C_DOUBLE_COMPLEX;
    case DREP_CODE_LONG:
        return out->code = DREP_CODE_LONG_LONG;
    default:
        return out->code;
    }
}

START_TEST(test_every_variant_stride_and_alignment)
{
    struct shape from;
    int a, b;

    for (a = 0; a < SHAPES; a++)
        for (b = 0; b < SHAPES; b++) {
            other_code(&shapes[a], &from);
            check_pair(&shapes[b], &from);
        }
    for (a = 0; a < COMPLEXES; a++)
        for (b = 0; b < COMPLEXES; b++) {
            other_code(&complexes[a], &from);
            check_pair(&complexes[b], &from);
        }
}
END_TEST

/* Beyond the size from which stores go around the cache. */
START_TEST(test_large_moves)
{
    static const struct shape big[] = {REAL(BINARY64, DREP_BIG, 8), REAL(BINARY16, DREP_BIG, 2),
                                       REAL(X87, DREP_LITTLE, 16)};
    static const struct shape little[] = {
        REAL(BINARY64, DREP_LITTLE, 8), REAL(BINARY16, DREP_LITTLE, 2), REAL(X87, DREP_LITTLE, 16)};
    enum { SIZE = 9 << 20 };
    uint8_t *in = malloc(SIZE + 64), *out = malloc(SIZE + 64), *want = malloc(SIZE + 64);
    struct kernel k;
    int i, isa, at;

    rnd_fill(&r, in, SIZE + 64);
    for (i = 0; i < 3; i++)
        for (at = 0; at < 20; at += 6) {
            int64_t n = (SIZE - 40) / big[i].size;

            isa_limit(ISA_PORTABLE);
            ck_assert_int_eq(pick(&k, &big[i], &little[i], DREP_RANGE_WRAP, NULL), 0);
            memset(want, 1, SIZE + 64);
            kernel_run(&k, want + at, big[i].size, in + 1, big[i].size, n, 0);
            for (isa = ISA_AVX2; isa < ISAS; isa++) {
                isa_limit((enum isa)isa);
                ck_assert_int_eq(pick(&k, &big[i], &little[i], DREP_RANGE_WRAP, NULL), 0);
                memset(out, 1, SIZE + 64);
                kernel_run(&k, out + at, big[i].size, in + 1, big[i].size, n, 0);
                ck_assert_int_eq(memcmp(out, want, SIZE + 64), 0);
            }
        }
    isa_limit(ISAS);
    free(in);
    free(out);
    free(want);
}
END_TEST

/* ------------------------------------------------------------- integers */

#ifdef __SIZEOF_INT128__

__extension__ typedef __int128 i128;
__extension__ typedef unsigned __int128 u128;

/* Byte i from the top of a stored integer. */
static int int_place(const struct shape *s, int i)
{
    if (s->order == DREP_BIG || s->size == 1)
        return i;
    return s->order == DREP_LITTLE ? s->size - 1 - i : i ^ 1;
}

static i128 int_read(const struct shape *s, const uint8_t *p, bool *huge)
{
    u128 v = 0;
    bool is_signed = s->format == DREP_FORMAT_INT;

    for (int i = 0; i < s->size; i++)
        v = v << 8 | p[int_place(s, i)];
    if (is_signed && s->size < 16 && v >> (8 * s->size - 1))
        v |= ~(u128)0 << (8 * s->size);
    *huge = !is_signed && s->size == 16 && v >> 127;
    return (i128)v;
}

static void int_write(const struct shape *s, u128 v, uint8_t *p)
{
    for (int i = s->size; i-- > 0; v >>= 8)
        p[int_place(s, i)] = (uint8_t)v;
}

/* What v becomes; true if it does not fit. */
static bool int_fit(const struct shape *s, i128 v, bool huge, int range, u128 *out)
{
    bool is_signed = s->format == DREP_FORMAT_INT;
    int bits = 8 * s->size - is_signed;
    u128 high = bits == 128 ? ~(u128)0 : ((u128)1 << bits) - 1;
    i128 low = is_signed ? -(i128)high - 1 : 0;
    bool over = huge ? bits < 128 : v >= 0 && (u128)v > high, under = !huge && v < low;

    *out = (u128)v;
    if (range == DREP_RANGE_CLAMP && (over || under))
        *out = over ? high : (u128)low;
    return over || under;
}

static void int_sample(const struct shape *s, uint8_t *p)
{
    rnd_fill(&r, p, (size_t)s->size);
    if (rnd_below(&r, 2)) /* small, of either sign */
        int_write(s, (u128)(i128)((int64_t)rnd_u64(&r) >> rnd_below(&r, 64)), p);
}

static void check_ints(const struct shape *to, const struct shape *from, int range)
{
    enum { N = 500 };
    uint8_t in[N * 16], out[N * 16], one[16];
    struct losses report, want;
    int64_t i, bad, refused = 0;
    struct kernel k;

    for (i = 0; i < N; i++)
        int_sample(from, in + i * from->size);
    report = NO_LOSSES;
    want = NO_LOSSES;
    ck_assert_int_eq(pick(&k, to, from, range, &report), 0);
    memset(out, 0x77, sizeof out);
    bad = kernel_run(&k, out, to->size, in, from->size, N, 0);
    for (i = 0; i < N; i++) {
        bool huge, lost;
        i128 v = int_read(from, in + i * from->size, &huge);
        u128 got;

        lost = int_fit(to, v, huge, range, &got);
        if (lost && !refused) {
            want.overflow++;
            if (want.first_overflow < 0)
                want.first_overflow = i;
            if (range >= DREP_RANGE_STRICT)
                refused = i + 1;
        }
        int_write(to, got, one);
        if (refused)
            memset(one, 0x77, 16);
        if (memcmp(out + i * to->size, one, (size_t)to->size) != 0)
            ck_abort_msg("%d/%d/%d to %d/%d/%d, range %d, item %lld", from->format, from->order,
                         from->size, to->format, to->order, to->size, range, (long long)i);
    }
    ck_assert_int_eq(bad, refused);
    ck_assert_int_eq(memcmp(&report, &want, sizeof want), 0);
}

/* VAX order has words of 16 bits, and single bytes. */
static bool has_order(const struct shape *s)
{
    return s->order != DREP_VAX || s->size == 1 || s->size % 2 == 0;
}

/* E5 and D12, for every size up to 16 bytes, also the odd ones. */
START_TEST(test_integers_of_all_sizes)
{
    static const uint8_t sizes[] = {1, 2, 3, 4, 5, 7, 8, 12, 16};
    static const int codes[2][2] = {{DREP_CODE_INT, DREP_CODE_LONG},
                                    {DREP_CODE_UNSIGNED, DREP_CODE_UNSIGNED_LONG}};
    int a, b, c, range;

    for (a = 0; a < 9; a++)
        for (b = 0; b < 9; b++)
            for (c = 0; c < 36; c++) {
                struct shape to = {codes[c & 1][0], c & 1 ? DREP_FORMAT_UINT : DREP_FORMAT_INT,
                                   c / 4 % 3, sizes[a]};
                struct shape from = {codes[c >> 1 & 1][1],
                                     c >> 1 & 1 ? DREP_FORMAT_UINT : DREP_FORMAT_INT, c / 12,
                                     sizes[b]};

                if (!has_order(&to) || !has_order(&from))
                    continue;
                for (range = DREP_RANGE_WRAP; range <= DREP_RANGE_ROUND; range++)
                    check_ints(&to, &from, range);
            }
}
END_TEST

/* One item of many is refused: those before it are converted, and nothing after it. */
static void check_refused_at(const struct shape *to, const struct shape *from, int64_t n,
                             int64_t at)
{
    enum { ITEMS = 300 };
    uint8_t in[ITEMS * 16], out[ITEMS * 16 + 1], all[ITEMS * 16];
    size_t done = (size_t)(at * to->size);
    bool big = from->order == DREP_BIG;
    struct kernel k;

    memset(in, 0, sizeof in);
    memset(out, 0x77, sizeof out);
    memset(all, 0, sizeof all);
    for (int64_t i = 0; i < n; i++) /* small integers, or tiny reals, not all alike */
        in[i * from->size + (big ? from->size - 1 : 0)] = (uint8_t)(i % 100);
    ck_assert_int_eq(pick(&k, to, from, DREP_RANGE_STRICT, NULL), 0);
    ck_assert_int_eq(kernel_run(&k, all, to->size, in, from->size, n, 0), 0);
    /* 0x7fe0...: no integer of fewer bytes, and no binary32. */
    in[at * from->size + (big ? 0 : from->size - 1)] = 0x7f;
    in[at * from->size + (big ? 1 : from->size - 2)] = 0xe0;
    ck_assert_int_eq(kernel_run(&k, out, to->size, in, from->size, n, 0), at + 1);
    ck_assert_int_eq(memcmp(out, all, done), 0);
    for (size_t i = done; i < sizeof out; i++)
        ck_assert_int_eq(out[i], 0x77);
}

START_TEST(test_what_is_refused_ends_a_row)
{
    static const struct shape pairs[][2] = {
        {INTEGER(INT, INT, 0, 4), INTEGER(LONG, INT, 0, 8)},
        {INTEGER(UNSIGNED, UINT, 0, 4), INTEGER(LONG, INT, 0, 8)},
        {INTEGER(INT, INT, 0, 2), INTEGER(UNSIGNED_LONG, UINT, 0, 8)},
        {INTEGER(INT, INT, 0, 1), INTEGER(INT, INT, 0, 4)},
        {INTEGER(INT, INT, 0, 1), INTEGER(INT, INT, 0, 2)},
        {REAL(BINARY32, 0, 4), REAL(BINARY64, 0, 8)},
        {PARTS(BINARY32, 0, 8), PARTS(BINARY64, 0, 16)},
    };

    for (size_t i = 0; i < sizeof pairs / sizeof *pairs; i++)
        for (int64_t n = 1; n <= 300; n += n < 4 ? 1 : 37)
            for (int64_t at = 0; at < n; at++) {
                struct shape to = pairs[i][0], from = pairs[i][1];

                to.order = from.order = DREP_LITTLE;
                check_refused_at(&to, &from, n, at);
                from.order = DREP_BIG;
                check_refused_at(&to, &from, n, at);
            }
}
END_TEST

/* Items of one byte, or of two parts of one byte: their order is no order. */
static void check_one_byte(struct shape s, int to, int from)
{
    struct shape dst = s, src = s;
    int size = s.size;
    uint8_t in[256], out[256];
    struct kernel k;
    int i;

    dst.order = to, src.order = from;
    for (i = 0; i < 256; i++)
        in[i] = (uint8_t)(s.code == DREP_CODE_LOGICAL ? i % 2 : i);
    memset(out, 0x5a, sizeof out);
    ck_assert_msg(pick(&k, &dst, &src, DREP_RANGE_STRICT, NULL) == 0, "%s", drep_error());
    ck_assert_int_eq(kernel_run(&k, out, size, in, size, 256 / size, 0), 0);
    if (memcmp(in, out, sizeof in) != 0)
        ck_abort_msg("%s of %d bytes, order %d to %d", drep_format_name(s.format), size, from, to);
}

START_TEST(test_one_byte_has_no_order)
{
    static const struct shape formats[] = {
        INTEGER(BYTE, BYTES, 0, 1),
        INTEGER(SIGNED_CHAR, INT, 0, 1),
        INTEGER(UNSIGNED_CHAR, UINT, 0, 1),
        INTEGER(LOGICAL, BOOL, 0, 1),
        INTEGER(LOGICAL, INT, 0, 1),
        INTEGER(CHAR, CHAR, 0, 1),
        INTEGER(CHAR, EBCDIC, 0, 1),
        INTEGER(WCHAR, UNICODE, 0, 1),
        REAL(FP8_E4M3, 0, 1),
        REAL(FP8_E5M2, 0, 1),
        PARTS(FP8_E4M3, 0, 2),
        PARTS(FP8_E5M2, 0, 2),
    };
    size_t i;
    int to, from;

    for (i = 0; i < sizeof formats / sizeof formats[0]; i++)
        for (to = DREP_BIG; to <= DREP_VAX; to++)
            for (from = DREP_BIG; from <= DREP_VAX; from++)
                check_one_byte(formats[i], to, from);
}
END_TEST

/* Reals and integers through binary64, which C can say too: WRAP and CLAMP cut a fraction off,
 * STRICT refuses it, ROUND rounds it as rint() does. */
static void check_real_int(const struct shape *to, double given, int range)
{
    const double d = range == DREP_RANGE_ROUND ? __builtin_rint(given) : given;
    const struct shape from = {DREP_CODE_DOUBLE, DREP_FORMAT_BINARY64, DREP_LITTLE, 8};
    bool is_signed = to->format == DREP_FORMAT_INT;
    int bits = 8 * to->size - is_signed;
    double above = __builtin_ldexp(1, bits), below = is_signed ? -above - 1 : -1;
    bool over = d >= above, under = is_signed && bits > 52 ? d < -above : d <= below, nan = d != d;
    bool exact = range == DREP_RANGE_ROUND ? d == given || nan
                                           : over || under || nan || d == __builtin_trunc(d);
    uint8_t in[8], out[16], want[16];
    struct losses report;
    struct kernel k;
    int64_t bad;
    uint64_t image;
    u128 v;

    memcpy(&image, &given, 8);
    for (int i = 0; i < 8; i++)
        in[i] = (uint8_t)(image >> (8 * i));
    v = over    ? (bits == 128 ? ~(u128)0 : ((u128)1 << bits) - 1)
        : under ? (is_signed ? ~(u128)0 << bits : 0)
        : nan   ? 0
        : d < 0 ? (u128)(i128)d
                : (u128)d;
    int_write(to, v, want);
    report = NO_LOSSES;
    ck_assert_int_eq(pick(&k, to, &from, range, &report), 0);
    memset(out, 0x77, 16);
    bad = kernel_run(&k, out, to->size, in, 8, 1, 0);
    if (range >= DREP_RANGE_STRICT &&
        (over || under || nan || (range == DREP_RANGE_STRICT && !exact))) {
        memset(want, 0x77, 16);
        ck_assert_int_eq(bad, 1);
    } else {
        ck_assert_int_eq(bad, 0);
    }
    ck_assert_msg(memcmp(out, want, (size_t)to->size) == 0, "%a to %d bytes, range %d", given,
                  to->size, range);
    ck_assert_int_eq(report.overflow, over || under);
    ck_assert_int_eq(report.nan_lost, nan);
    ck_assert_int_eq(report.inexact, !exact);
}

START_TEST(test_reals_to_integers)
{
    static const uint8_t sizes[] = {1, 2, 3, 4, 8, 16};
    int s, i, range;

    for (s = 0; s < 12; s++)
        for (range = DREP_RANGE_WRAP; range <= DREP_RANGE_ROUND; range++)
            for (i = 0; i < 400; i++) {
                struct shape to = {s & 1 ? DREP_CODE_UNSIGNED : DREP_CODE_INT,
                                   s & 1 ? DREP_FORMAT_UINT : DREP_FORMAT_INT, i % 2, sizes[s / 2]};
                double edge = __builtin_ldexp(1, (int)rnd_below(&r, 130));
                double d = i % 4 == 0   ? edge
                           : i % 4 == 1 ? edge - 1
                           : i % 4 == 2 ? (double)rnd_u64(&r) / 65536.0 / edge
                                        : edge * 1.3;

                if (i == 5)
                    d = __builtin_nan("");
                if (i == 6)
                    d = __builtin_inf();
                check_real_int(&to, i % 8 < 4 ? d : -d, range);
            }
}
END_TEST

START_TEST(test_integers_to_reals)
{
    static const struct shape to[] = {{DREP_CODE_DOUBLE, DREP_FORMAT_BINARY64, DREP_LITTLE, 8},
                                      {DREP_CODE_DOUBLE, DREP_FORMAT_BINARY32, DREP_LITTLE, 4}};
    static const uint8_t sizes[] = {1, 2, 4, 8, 16};
    int s, i, t;

    for (s = 0; s < 10; s++)
        for (i = 0; i < 2000; i++)
            for (t = 0; t < 2; t++) {
                struct shape from = {s & 1 ? DREP_CODE_UNSIGNED : DREP_CODE_INT,
                                     s & 1 ? DREP_FORMAT_UINT : DREP_FORMAT_INT, i % 2,
                                     sizes[s / 2]};
                uint8_t in[16], out[8];
                struct losses report;
                struct kernel k;
                double want, got;
                float f;
                bool huge;
                i128 v;

                int_sample(&from, in);
                v = int_read(&from, in, &huge);
                want = t ? (huge ? (double)(float)(u128)v : (double)(float)v)
                         : (huge ? (double)(u128)v : (double)v);
                report = NO_LOSSES;
                ck_assert_int_eq(pick(&k, &to[t], &from, DREP_RANGE_WRAP, &report), 0);
                ck_assert_int_eq(kernel_run(&k, out, to[t].size, in, from.size, 1, 0), 0);
                memcpy(&got, out, 8);
                memcpy(&f, out, 4);
#if __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
                continue;
#endif
                if (t)
                    got = (double)f;
                if (got != want)
                    ck_abort_msg("%d bytes to %s", from.size, t ? "binary32" : "binary64");
                /* Exact only if the way back gives the same. */
                if (from.size < 16)
                    ck_assert_int_eq(report.inexact, (i128)want != v);
            }
}
END_TEST

#endif

/* --------------------------------------------- booleans, characters, bytes */

START_TEST(test_E9_any_nonzero_byte_is_true)
{
    const struct shape to = {DREP_CODE_LOGICAL, DREP_FORMAT_BOOL, DREP_LITTLE, 4};
    struct shape from = {DREP_CODE_LOGICAL, DREP_FORMAT_BOOL, DREP_BIG, 4};
    uint8_t in[16] = {0}, out[4];
    struct kernel k;
    int size, at;

    for (size = 1; size <= 16; size++) {
        from.size = size;
        ck_assert_int_eq(pick(&k, &to, &from, DREP_RANGE_STRICT, NULL), 0);
        for (at = -1; at < size; at++) {
            memset(in, 0, sizeof in);
            if (at >= 0)
                in[at] = (uint8_t)(1 << at % 8);
            ck_assert_int_eq(kernel_run(&k, out, 4, in, size, 1, 0), 0);
            ck_assert(out[0] == (at >= 0) && out[1] == 0 && out[2] == 0 && out[3] == 0);
        }
    }
    /* The same encoding on both sides too: 2 is no bool of C. */
    ck_assert_int_eq(pick(&k, &(struct shape){DREP_CODE_C_BOOL, DREP_FORMAT_BOOL, 0, 1},
                          &(struct shape){DREP_CODE_C_BOOL, DREP_FORMAT_BOOL, 0, 1}, 0, NULL),
                     0);
    ck_assert_int_eq(kernel_run(&k, out, 1, "\x80", 1, 1, 0), 0);
    ck_assert_int_eq(out[0], 1);
}
END_TEST

START_TEST(test_booleans_and_numbers)
{
    const struct shape boolean = {DREP_CODE_C_BOOL, DREP_FORMAT_BOOL, 0, 1};
    const struct shape real = {DREP_CODE_DOUBLE, DREP_FORMAT_BINARY64, DREP_BIG, 8};
    const struct shape integer = {DREP_CODE_INT, DREP_FORMAT_INT, DREP_BIG, 4};
    uint8_t out[8];
    struct kernel k;

    ck_assert_int_eq(pick(&k, &real, &boolean, DREP_RANGE_STRICT, NULL), 0);
    kernel_run(&k, out, 8, "\x40", 1, 1, 0);
    ck_assert_int_eq(memcmp(out, "\x3f\xf0\0\0\0\0\0\0", 8), 0);
    ck_assert_int_eq(pick(&k, &integer, &boolean, DREP_RANGE_STRICT, NULL), 0);
    kernel_run(&k, out, 4, "\x40", 1, 1, 0);
    ck_assert_int_eq(memcmp(out, "\0\0\0\1", 4), 0);
    ck_assert_int_eq(pick(&k, &boolean, &integer, DREP_RANGE_STRICT, NULL), 0);
    kernel_run(&k, out, 1, "\0\0\1\0", 4, 1, 0);
    ck_assert_int_eq(out[0], 1);
    ck_assert_int_eq(pick(&k, &boolean, &real, DREP_RANGE_STRICT, NULL), 0);
    kernel_run(&k, out, 1, "\x80\0\0\0\0\0\0\0", 8, 1, 0); /* -0 */
    ck_assert_int_eq(out[0], 0);
    kernel_run(&k, out, 1, "\0\0\0\0\0\0\0\1", 8, 1, 0);
    ck_assert_int_eq(out[0], 1);
}
END_TEST

/* E10: ISO 8859-1 is kept; EBCDIC is code page 037 and its own inverse's inverse. */
START_TEST(test_E10_characters)
{
    const struct shape latin = {DREP_CODE_CHAR, DREP_FORMAT_CHAR, 0, 1};
    const struct shape ebcdic = {DREP_CODE_CHAR, DREP_FORMAT_EBCDIC, 0, 1};
    uint8_t all[256], there[256], back[256];
    struct kernel k;
    int i;

    for (i = 0; i < 256; i++)
        all[i] = (uint8_t)i;
    ck_assert_int_eq(pick(&k, &latin, &latin, 0, NULL), 0);
    kernel_run(&k, there, 1, all, 1, 256, 0);
    ck_assert_int_eq(memcmp(there, all, 256), 0);
    ck_assert_int_eq(pick(&k, &ebcdic, &latin, 0, NULL), 0);
    kernel_run(&k, there, 1, all, 1, 256, 0);
    ck_assert_int_eq(there['A'], 0xc1);
    ck_assert_int_eq(there['0'], 0xf0);
    ck_assert_int_eq(there[' '], 0x40);
    ck_assert_int_eq(there['['], 0xba);
    ck_assert_int_eq(there[0xe9], 0x51);
    ck_assert_int_eq(pick(&k, &latin, &ebcdic, 0, NULL), 0);
    kernel_run(&k, back, 1, there, 1, 256, 0);
    ck_assert_int_eq(memcmp(back, all, 256), 0);
}
END_TEST

/* C7: what two bytes do not hold follows the range. */
START_TEST(test_C7_wide_characters)
{
    const struct shape two = {DREP_CODE_WCHAR, DREP_FORMAT_UNICODE, DREP_BIG, 2};
    const struct shape four = {DREP_CODE_WCHAR, DREP_FORMAT_UNICODE, DREP_LITTLE, 4};
    const uint8_t in[8] = {0xac, 0x20, 0, 0, 0x00, 0xf6, 0x01, 0x00};
    struct losses report;
    uint8_t out[8];
    struct kernel k;

    report = NO_LOSSES;
    ck_assert_int_eq(pick(&k, &two, &four, DREP_RANGE_WRAP, &report), 0);
    ck_assert_int_eq(kernel_run(&k, out, 2, in, 4, 2, 0), 0);
    ck_assert_int_eq(memcmp(out, "\x20\xac\xf6\x00", 4), 0);
    ck_assert(report.overflow == 1 && report.first_overflow == 1);
    ck_assert_int_eq(pick(&k, &two, &four, DREP_RANGE_CLAMP, NULL), 0);
    ck_assert_int_eq(kernel_run(&k, out, 2, in, 4, 2, 0), 0);
    ck_assert_int_eq(memcmp(out, "\x20\xac\xff\xff", 4), 0);
    ck_assert_int_eq(pick(&k, &two, &four, DREP_RANGE_STRICT, NULL), 0);
    ck_assert_int_eq(kernel_run(&k, out, 2, in, 4, 2, 0), 2);
    ck_assert_int_eq(pick(&k, &four, &two, DREP_RANGE_STRICT, NULL), 0);
    ck_assert_int_eq(kernel_run(&k, out, 4, "\x20\xac\xff\xff", 2, 2, 0), 0);
    ck_assert_int_eq(memcmp(out, "\xac\x20\0\0\xff\xff\0\0", 8), 0);
}
END_TEST

/* E13, and what has no conversion at all. */
START_TEST(test_E13_bytes_and_impossible_pairs)
{
    static const int pairs[][2] = {
        {DREP_CODE_BYTE, DREP_CODE_UNSIGNED_CHAR}, {DREP_CODE_INT, DREP_CODE_BYTE},
        {DREP_CODE_CHAR, DREP_CODE_SIGNED_CHAR},   {DREP_CODE_WCHAR, DREP_CODE_INT},
        {DREP_CODE_CHAR, DREP_CODE_WCHAR},         {DREP_CODE_DOUBLE, DREP_CODE_C_DOUBLE_COMPLEX},
        {DREP_CODE_COMPLEX, DREP_CODE_FLOAT},      {DREP_CODE_CHAR, DREP_CODE_BYTE}};
    const struct rep_opts opts = {.range = DREP_RANGE_WRAP};
    const struct rep_table *native = rep_native(), *e32 = rep_find("external32")->table;
    struct kernel k;
    uint8_t out[4];
    size_t i;

    for (i = 0; i < sizeof pairs / sizeof pairs[0]; i++)
        ck_assert_int_eq(kernel_pick(&k, native, drep_predefined(pairs[i][0]), e32,
                                     drep_predefined(pairs[i][1]), &opts),
                         DREP_ERR_TYPE);
    ck_assert_int_eq(kernel_pick(&k, native, DREP_BYTE, e32, DREP_BYTE, &opts), 0);
    ck_assert(k.lossless);
    kernel_run(&k, out, 1, "\x80\xff\x00\x01", 1, 4, 0);
    ck_assert_int_eq(memcmp(out, "\x80\xff\x00\x01", 4), 0);
    ck_assert_int_eq(kernel_pick(&k, native, DREP_PACKED, e32, DREP_BYTE, &opts), 0);
    ck_assert_int_eq(
        kernel_pick(&k, native, drep_predefined(DREP_CODE_CHARACTER), e32, DREP_CHAR, &opts), 0);
}
END_TEST

/* ---------------------------------------------------------- descriptions */

static drep_type *scalar_type(const drep_scalar *s)
{
    drep_type *t;

    ck_assert_msg(drep_type_scalar(s, &t) == 0, "%s", drep_error());
    return t;
}

/* D2: a described scalar that is what a named format is behaves as that format. */
START_TEST(test_D2_descriptions_of_known_formats)
{
    static const struct {
        int format;
        drep_scalar s;
    } known[] = {
        {DREP_FORMAT_BINARY32,
         {.cls = DREP_SCALAR_REAL,
          .size = 4,
          .precision = 32,
          .sign_pos = 31,
          .exp_pos = 23,
          .exp_width = 8,
          .mant_width = 23,
          .exp_base_log2 = 1,
          .exp_bias = 127}},
        {DREP_FORMAT_BINARY128,
         {.cls = DREP_SCALAR_REAL,
          .size = 16,
          .precision = 128,
          .sign_pos = 127,
          .exp_pos = 112,
          .exp_width = 15,
          .mant_width = 112,
          .exp_base_log2 = 1,
          .exp_bias = 16383}},
        {DREP_FORMAT_IBM_HEX64,
         {.cls = DREP_SCALAR_REAL,
          .size = 8,
          .precision = 64,
          .sign_pos = 63,
          .exp_pos = 56,
          .exp_width = 7,
          .mant_width = 56,
          .norm = DREP_NORM_NONE,
          .exp_base_log2 = 4,
          .exp_bias = 64}},
    };
    const struct rep_opts opts = {.value_range = DREP_RANGE_WRAP};
    static uint8_t values[4000 * 8], a[4000 * 16], b[4000 * 16], c[4000 * 8], d[4000 * 8];
    const struct rep_table *native = rep_native();
    struct rep_table named;
    struct kernel k;
    size_t i;

    rnd_fill(&r, values, sizeof values);
    for (i = 0; i < 3; i++) {
        drep_scalar s = known[i].s;
        drep_type *t;

        s.format = DREP_FORMAT_CUSTOM;
        s.order = DREP_BIG;
        t = scalar_type(&s);
        table_of(&named, &(struct shape){DREP_CODE_FLOAT, known[i].format, DREP_BIG, s.size});
        ck_assert_int_eq(kernel_pick(&k, native, t, native, DREP_DOUBLE, &opts), 0);
        kernel_run(&k, a, s.size, values, 8, 4000, 0);
        ck_assert_int_eq(kernel_pick(&k, &named, DREP_FLOAT, native, DREP_DOUBLE, &opts), 0);
        kernel_run(&k, b, s.size, values, 8, 4000, 0);
        ck_assert_int_eq(memcmp(a, b, (size_t)(4000 * s.size)), 0);
        ck_assert_int_eq(kernel_pick(&k, native, DREP_DOUBLE, native, t, &opts), 0);
        kernel_run(&k, c, 8, values, s.size, 2000 * 8 / s.size, 0);
        ck_assert_int_eq(kernel_pick(&k, native, DREP_DOUBLE, &named, DREP_FLOAT, &opts), 0);
        kernel_run(&k, d, 8, values, s.size, 2000 * 8 / s.size, 0);
        ck_assert_int_eq(memcmp(c, d, 8 * (size_t)(2000 * 8 / s.size)), 0);
        drep_type_free(t);
    }
}
END_TEST

/* A 20-bit signed integer from bit 2 of three bytes, ones above, zeros below. */
START_TEST(test_D2_integers_inside_padding)
{
    const drep_scalar s = {.cls = DREP_SCALAR_INT,
                           .order = DREP_LITTLE,
                           .size = 3,
                           .is_signed = 1,
                           .format = DREP_FORMAT_CUSTOM,
                           .low_pad = 0,
                           .high_pad = 1,
                           .precision = 20,
                           .offset = 2};
    const struct rep_opts strict = {.value_range = DREP_RANGE_STRICT};
    const struct rep_opts clamp = {.value_range = DREP_RANGE_CLAMP};
    const struct rep_table *native = rep_native();
    const int32_t in[] = {0, 1, -1, 524287, -524288, 524288, -600000};
    drep_type *t = scalar_type(&s);
    uint8_t out[3 * 7];
    int32_t back[7];
    struct kernel k;
    int i;

    ck_assert_int_eq(kernel_pick(&k, native, t, native, DREP_INT32_T, &strict), 0);
    ck_assert_int_eq(kernel_run(&k, out, 3, in, 4, 7, 0), 6);
    ck_assert_int_eq(memcmp(out, "\x00\x00\xc0\x04\x00\xc0\xfc\xff\xff", 9), 0);
    ck_assert_int_eq(kernel_pick(&k, native, t, native, DREP_INT32_T, &clamp), 0);
    ck_assert_int_eq(kernel_run(&k, out, 3, in, 4, 7, 0), 0);
    ck_assert_int_eq(kernel_pick(&k, native, DREP_INT32_T, native, t, &strict), 0);
    ck_assert_int_eq(kernel_run(&k, back, 4, out, 3, 7, 0), 0);
    for (i = 0; i < 7; i++)
        ck_assert_int_eq(back[i], in[i] > 524287 ? 524287 : in[i] < -524288 ? -524288 : in[i]);
    /* The same scalar is copied, under whatever table. */
    ck_assert_int_eq(kernel_pick(&k, rep_find("external32")->table, t, native, t, &strict), 0);
    ck_assert(k.lossless);
    drep_type_free(t);
}
END_TEST

/* ------------------------------------------------------- the machine's mood */

#ifdef __x86_64__

/* Rounding up, subnormals flushed: what a program linked with -ffast-math leaves behind,
 * and worse.  The same bytes must come out. */
START_TEST(test_float_environment_does_not_matter)
{
    static const struct shape from[] = {REAL(BINARY64, DREP_LITTLE, 8),
                                        REAL(BINARY32, DREP_LITTLE, 4),
                                        {DREP_CODE_DOUBLE, DREP_FORMAT_DOUBLE_DOUBLE, 1, 16},
                                        {DREP_CODE_LONG, DREP_FORMAT_INT, DREP_LITTLE, 8}};
    static const struct shape to[] = {{DREP_CODE_FLOAT, DREP_FORMAT_BINARY64, 0, 8},
                                      {DREP_CODE_FLOAT, DREP_FORMAT_BINARY32, 0, 4},
                                      {DREP_CODE_FLOAT, DREP_FORMAT_BINARY16, 0, 2},
                                      {DREP_CODE_FLOAT, DREP_FORMAT_BFLOAT16, 0, 2},
                                      {DREP_CODE_INT, DREP_FORMAT_INT, 0, 8}};
    static uint8_t in[3000 * 16], a[3000 * 8], b[3000 * 8];
    unsigned csr = _mm_getcsr();
    struct kernel k;
    int i, j, isa;

    rnd_fill(&r, in, sizeof in);
    for (i = 0; i < 3000; i += 3) /* subnormals, of binary64 and of binary32 */
        in[8 * i + 7] = in[8 * i + 3] = (uint8_t)(in[8 * i + 7] & 0x80),
                   in[8 * i + 6] = (uint8_t)(in[8 * i + 6] & 0x0f);
    for (isa = 0; isa < ISAS; isa++)
        for (i = 0; i < 4; i++)
            for (j = 0; j < 5; j++) {
                isa_limit((enum isa)isa);
                ck_assert_int_eq(pick(&k, &to[j], &from[i], DREP_RANGE_CLAMP, NULL), 0);
                kernel_run(&k, a, to[j].size, in, from[i].size, 3000, 0);
                _mm_setcsr(csr | 0x8040 | 0x4000);
                kernel_run(&k, b, to[j].size, in, from[i].size, 3000, 0);
                _mm_setcsr(csr);
                ck_assert_msg(memcmp(a, b, (size_t)(3000 * to[j].size)) == 0, "%s to %s",
                              drep_format_name(from[i].format), drep_format_name(to[j].format));
            }
    isa_limit(ISAS);
}
END_TEST

#endif

START_TEST(test_lossless_says_so)
{
    struct kernel k;

    ck_assert_int_eq(pick(&k, &(struct shape){DREP_CODE_FLOAT, DREP_FORMAT_BINARY64, 0, 8},
                          &(struct shape){DREP_CODE_DOUBLE, DREP_FORMAT_BINARY32, 0, 4}, 0, NULL),
                     0);
    ck_assert(k.lossless);
    ck_assert_int_eq(pick(&k, &(struct shape){DREP_CODE_FLOAT, DREP_FORMAT_BINARY64, 0, 8},
                          &(struct shape){DREP_CODE_LONG, DREP_FORMAT_INT, 0, 4}, 0, NULL),
                     0);
    ck_assert(k.lossless);
    ck_assert_int_eq(pick(&k, &(struct shape){DREP_CODE_FLOAT, DREP_FORMAT_BINARY64, 0, 8},
                          &(struct shape){DREP_CODE_LONG, DREP_FORMAT_INT, 0, 8}, 0, NULL),
                     0);
    ck_assert(!k.lossless);
    ck_assert_int_eq(pick(&k, &(struct shape){DREP_CODE_LONG, DREP_FORMAT_INT, 0, 4},
                          &(struct shape){DREP_CODE_LONG, DREP_FORMAT_INT, 1, 8}, 0, NULL),
                     0);
    ck_assert(!k.lossless);
    ck_assert_int_eq(pick(&k, &(struct shape){DREP_CODE_FLOAT, DREP_FORMAT_BINARY128, 0, 16},
                          &(struct shape){DREP_CODE_DOUBLE, DREP_FORMAT_X87, 1, 16}, 0, NULL),
                     0);
    ck_assert(k.lossless);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("kernel");
    TCase *tc = tcase_create("kernel");

    rnd_init(&r, 11);
    tcase_set_timeout(tc, 300);
    tcase_add_test(tc, test_every_variant_stride_and_alignment);
    tcase_add_test(tc, test_large_moves);
#ifdef __SIZEOF_INT128__
    tcase_add_test(tc, test_integers_of_all_sizes);
    tcase_add_test(tc, test_what_is_refused_ends_a_row);
    tcase_add_test(tc, test_one_byte_has_no_order);
    tcase_add_test(tc, test_reals_to_integers);
    tcase_add_test(tc, test_integers_to_reals);
#endif
    tcase_add_test(tc, test_E9_any_nonzero_byte_is_true);
    tcase_add_test(tc, test_booleans_and_numbers);
    tcase_add_test(tc, test_E10_characters);
    tcase_add_test(tc, test_C7_wide_characters);
    tcase_add_test(tc, test_E13_bytes_and_impossible_pairs);
    tcase_add_test(tc, test_D2_descriptions_of_known_formats);
    tcase_add_test(tc, test_D2_integers_inside_padding);
#ifdef __x86_64__
    tcase_add_test(tc, test_float_environment_does_not_matter);
#endif
    tcase_add_test(tc, test_lossless_says_so);
    suite_add_tcase(suite, tc);
    return run_suite(suite);
}
