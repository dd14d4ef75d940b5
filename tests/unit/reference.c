/* reference.c - conversions of single items by arithmetic alone (reference.h). */
/* SPDX-License-Identifier: MIT */
#include "tests/unit/reference.h"

#ifdef HAVE_REFERENCE

#include <float.h>
#include <wchar.h>

/* ------------------------------------------------- the reference: reading */

const struct ref_format ref_formats[REF_FORMATS] = {
    {DREP_FORMAT_BINARY16, IEEE, 2, 5, 10, 15},
    {DREP_FORMAT_BFLOAT16, IEEE, 2, 8, 7, 127},
    {DREP_FORMAT_FP8_E4M3, E4M3, 1, 4, 3, 7},
    {DREP_FORMAT_FP8_E5M2, IEEE, 1, 5, 2, 15},
    {DREP_FORMAT_BINARY32, IEEE, 4, 8, 23, 127},
    {DREP_FORMAT_BINARY64, IEEE, 8, 11, 52, 1023},
    {DREP_FORMAT_BINARY128, IEEE, 16, 15, 112, 16383},
    {DREP_FORMAT_X87, X87, 10, 15, 64, 16383},
    {DREP_FORMAT_X87, X87, 12, 15, 64, 16383},
    {DREP_FORMAT_X87, X87, 16, 15, 64, 16383},
    {DREP_FORMAT_M68K, M68K, 12, 15, 64, 16383},
    {DREP_FORMAT_IBM_HEX32, HEX, 4, 7, 24, 64},
    {DREP_FORMAT_IBM_HEX64, HEX, 8, 7, 56, 64},
    {DREP_FORMAT_IBM_HEX128, HEX, 16, 7, 112, 64},
    {DREP_FORMAT_VAX_F, VAX, 4, 8, 23, 128},
    {DREP_FORMAT_VAX_D, VAX, 8, 8, 55, 128},
    {DREP_FORMAT_VAX_G, VAX, 8, 11, 52, 1024},
    {DREP_FORMAT_VAX_H, VAX, 16, 15, 112, 16384},
    {DREP_FORMAT_CRAY64, CRAY, 8, 15, 48, 16384},
    {DREP_FORMAT_DOUBLE_DOUBLE, PAIR, 16, 11, 52, 1023},
};

u128 ref_number(const uint8_t *le, int bytes)
{
    u128 n = 0;

    for (int i = bytes; i-- > 0;)
        n = n << 8 | le[i];
    return n;
}

void ref_bytes(uint8_t *le, int bytes, u128 n)
{
    for (int i = 0; i < bytes; i++, n >>= 8)
        le[i] = (uint8_t)n;
}

u128 ref_mask(int bits)
{
    return bits == 128 ? ~(u128)0 : (ONE << bits) - 1;
}

/* Sign, exponent and significand as they stand. */
struct parts {
    bool neg;
    int exp;
    u128 sig;
};

static struct parts parts_of(const struct ref_format *f, const uint8_t *le)
{
    u128 n = ref_number(le, f->kind == X87 ? 10 : f->bytes);
    struct parts p;

    if (f->id == DREP_FORMAT_IBM_HEX128)
        n = (n >> 120) << 112 | (n >> 64 & ref_mask(56)) << 56 | (n & ref_mask(56));
    else if (f->kind == M68K)
        n = (n >> 80) << 64 | (n & ref_mask(64));
    p.sig = n & ref_mask(f->sig_bits);
    p.exp = (int)(n >> f->sig_bits & ref_mask(f->exp_bits));
    p.neg = n >> (f->sig_bits + f->exp_bits) & 1;
    return p;
}

static void parts_put(const struct ref_format *f, struct parts p, uint8_t *le)
{
    u128 n = p.sig | (u128)p.exp << f->sig_bits | (u128)p.neg << (f->sig_bits + f->exp_bits);

    if (f->id == DREP_FORMAT_IBM_HEX128 && p.sig == 0 && p.exp == 0)
        n = (u128)p.neg << 127 | (u128)p.neg << 63;
    else if (f->id == DREP_FORMAT_IBM_HEX128)
        n = (u128)p.neg << 127 | (u128)p.exp << 120 | (p.sig >> 56) << 64 | (u128)p.neg << 63 |
            (u128)((p.exp - 14) & 127) << 56 | (p.sig & ref_mask(56));
    else if (f->kind == M68K)
        n = (n >> 64) << 80 | p.sig;
    ref_bytes(le, f->bytes, n);
}

struct ref_val ref_value(bool neg, u128 m, int e)
{
    return (struct ref_val){NUMBER, neg, m, e};
}

static struct ref_val read_parts(const struct ref_format *f, struct parts p)
{
    int top = (1 << f->exp_bits) - 1, s = f->sig_bits;
    struct ref_val nan = {NOT, p.neg, p.sig << (128 - s), 0}, inf = {INFINITE, p.neg, 0, 0};

    switch (f->kind) {
    case IEEE:
        if (p.exp == top)
            return p.sig ? nan : inf;
        return p.exp ? ref_value(p.neg, p.sig | ONE << s, p.exp - f->bias - s)
                     : ref_value(p.neg, p.sig, 1 - f->bias - s);
    case E4M3:
        nan.m = 0;
        if (p.exp == 15 && p.sig == 7)
            return nan;
        return p.exp ? ref_value(p.neg, p.sig | 8, p.exp - 10) : ref_value(p.neg, p.sig, -9);
    case X87:
        nan.m = p.sig << 65;
        if (p.exp == top)
            return p.sig == ONE << 63 ? inf : nan;
        if (p.exp && !(p.sig >> 63))
            return nan;
        return ref_value(p.neg, p.sig, (p.exp ? p.exp : 1) - f->bias - 63);
    case M68K:
        nan.m = p.sig << 65;
        if (p.exp == top)
            return p.sig << 65 ? nan : inf;
        return ref_value(p.neg, p.sig, p.exp - f->bias - 63);
    case HEX:
        return ref_value(p.neg, p.sig, 4 * (p.exp - f->bias) - s);
    case CRAY:
        return p.exp >= 24576 ? inf : ref_value(p.neg, p.sig, p.exp - f->bias - s);
    case VAX:
        nan.m = 0;
        nan.neg = false;
        if (p.exp == 0)
            return p.neg ? nan : ref_value(false, 0, 0);
        return ref_value(p.neg, p.sig | ONE << s, p.exp - f->bias - 1 - s);
    case PAIR:
        break;
    }
    return nan;
}

/* ------------------------------------------------ the reference: writing */

/* Number i of the format's numbers that are not negative, in ascending order. */
static struct parts nth(const struct ref_format *f, u128 i)
{
    int s = f->sig_bits;
    u128 each, low;

    switch (f->kind) {
    case X87:
        return (struct parts){false, (int)(i >> 63),
                              (i & ref_mask(63)) | (i >> 63 ? ONE << 63 : 0)};
    case M68K:
        if (i <= ref_mask(64))
            return (struct parts){false, 0, i};
        i -= ONE << 64;
        return (struct parts){false, 1 + (int)(i >> 63), ONE << 63 | (i & ref_mask(63))};
    case HEX:
    case CRAY:
        if (i <= ref_mask(s))
            return (struct parts){false, 0, i};
        low = f->kind == HEX ? ONE << (s - 4) : ONE << (s - 1);
        each = (ONE << s) - low;
        i -= ONE << s;
        return (struct parts){false, 1 + (int)(i / each), low + i % each};
    case VAX:
        if (i == 0)
            return (struct parts){false, 0, 0};
        i--;
        return (struct parts){false, 1 + (int)(i >> s), i & ref_mask(s)};
    default:
        return (struct parts){false, (int)(i >> s), i & ref_mask(s)};
    }
}

/* How many there are. */
u128 ref_count(const struct ref_format *f)
{
    int s = f->sig_bits;
    u128 top = ref_mask(f->exp_bits);

    switch (f->kind) {
    case E4M3:
        return 0x7f;
    case X87:
        return top << 63;
    case M68K:
        return (ONE << 64) + ((top - 1) << 63);
    case HEX:
        return (ONE << s) + top * (15 * (ONE << (s - 4)));
    case CRAY:
        return (ONE << s) + 24575 * (ONE << (s - 1));
    case VAX:
        return 1 + (top << s);
    default:
        return top << s;
    }
}

static u128 normal(u128 m, int *e)
{
    uint64_t high = (uint64_t)(m >> 64);
    int by = high ? __builtin_clzll(high) : 64 + __builtin_clzll((uint64_t)m);

    *e -= by;
    return m << by;
}

/* a against b, both not negative: -1, 0, 1. */
static int compare(u128 am, int ae, u128 bm, int be)
{
    if (am == 0 || bm == 0)
        return (am != 0) - (bm != 0);
    am = normal(am, &ae);
    bm = normal(bm, &be);
    if (ae != be)
        return ae < be ? -1 : 1;
    return am < bm ? -1 : am > bm;
}

struct ref_val ref_nth(const struct ref_format *f, u128 i)
{
    return read_parts(f, nth(f, i));
}

/* x against the middle of a and the number behind it; above: that one's m and e. */
static int against_middle(struct ref_val x, struct ref_val a, struct ref_val above)
{
    u128 m = above.m;
    int e = above.e;

    /* The sum, at the finer of the two units. */
    for (; e > a.e; e--)
        m <<= 1;
    for (; a.e > e; a.e--)
        a.m <<= 1;
    return compare(x.m, x.e + 1, a.m + m, e);
}

/* Index of the nearest, ties to even; *over if it lies beyond the last. */
static u128 nearest(const struct ref_format *f, struct ref_val x, int *lost)
{
    u128 low = 0, high = ref_count(f), middle, n = high;
    struct ref_val a, above;
    int side;
    bool even;

    while (high - low > 1) {
        middle = low + (high - low) / 2;
        a = ref_nth(f, middle);
        if (compare(a.m, a.e, x.m, x.e) <= 0)
            low = middle;
        else
            high = middle;
    }
    a = ref_nth(f, low);
    if (compare(a.m, a.e, x.m, x.e) == 0)
        return low;
    above = low + 1 < n ? ref_nth(f, low + 1) : ref_value(false, a.m + 1, a.e);
    side = against_middle(x, a, above);
    even = f->kind == VAX ? low == 0 || (low - 1) % 2 == 0 : low % 2 == 0;
    if (side > 0 || (side == 0 && !even))
        low++;
    *lost |= low == n ? OVER : INEXACT;
    return low;
}

static int write_nan(const struct ref_format *f, struct ref_val x, uint8_t *le)
{
    struct parts p = {x.neg, (1 << f->exp_bits) - 1, 0};
    u128 payload = x.m << 1;
    int lost = 0;

    switch (f->kind) {
    case IEEE:
        p.sig = (x.m | ONE << 127) >> (128 - f->sig_bits);
        lost = payload << (f->sig_bits - 1) ? LOST : 0;
        break;
    case X87:
    case M68K:
        p.sig = ONE << 63 | (x.m | ONE << 127) >> 65;
        lost = payload << 62 ? LOST : 0;
        break;
    case E4M3:
        p.sig = 7;
        lost = payload ? LOST : 0;
        break;
    case VAX:
        p = (struct parts){true, 0, 0};
        lost = payload || x.neg ? LOST : 0;
        break;
    case CRAY:
        p.exp = 24576;
        p.sig = ONE << 47;
        lost = LOST | TO_NUMBER;
        break;
    default:
        p = nth(f, ref_count(f) - 1);
        p.neg = x.neg;
        lost = LOST | TO_NUMBER;
    }
    parts_put(f, p, le);
    return lost;
}

static void write_infinity(const struct ref_format *f, bool neg, uint8_t *le)
{
    struct parts p = {neg, (1 << f->exp_bits) - 1, f->kind == X87 ? ONE << 63 : 0};

    if (f->kind == CRAY)
        p = (struct parts){neg, 24576, ONE << 47};
    parts_put(f, p, le);
}

static bool has_infinity(const struct ref_format *f)
{
    return f->kind != E4M3 && f->kind != HEX && f->kind != VAX;
}

static int ref_write_one(const struct ref_format *f, struct ref_val x, bool clamp, uint8_t *le)
{
    struct parts p;
    int lost = 0;
    u128 i;

    if (x.cls == NOT)
        return write_nan(f, x, le);
    if (x.cls == INFINITE && has_infinity(f)) {
        write_infinity(f, x.neg, le);
        return 0;
    }
    i = x.cls == INFINITE ? ref_count(f) : nearest(f, x, &lost);
    if (x.cls == INFINITE)
        lost = OVER;
    if (i == ref_count(f) && has_infinity(f) && !clamp) {
        write_infinity(f, x.neg, le);
        return lost;
    }
    p = nth(f, i == ref_count(f) ? i - 1 : i);
    p.neg = x.neg && !(i == 0 && (f->kind == VAX || f->kind == CRAY));
    parts_put(f, p, le);
    return lost;
}

/* The nearest binary64, and the nearest to the rest. */
static int write_pair(struct ref_val x, bool clamp, uint8_t *le)
{
    struct ref_val high, rest;
    int lost = ref_write_one(REF_BINARY64, x, clamp, le);
    int e;

    memset(le + 8, 0, 8);
    if (x.cls != NUMBER || lost == 0)
        return lost;
    if (lost & OVER) {
        if (clamp)
            ref_bytes(le + 8, 8, (u128)x.neg << 63 | 0x7c8ffffffffffffe);
        return lost;
    }
    high = read_parts(REF_BINARY64, parts_of(REF_BINARY64, le));
    if (high.m == 0)
        high.e = x.e;
    /* Both at one unit: x has at most 113 bits here and high is near. */
    e = x.e < high.e ? x.e : high.e;
    if (x.e - e > 127 || high.e - e > 127)
        return lost;
    x.m <<= x.e - e;
    high.m <<= high.e - e;
    rest = high.m > x.m ? ref_value(!x.neg, high.m - x.m, e) : ref_value(x.neg, x.m - high.m, e);
    lost = ref_write_one(REF_BINARY64, rest, clamp, le + 8);
    if ((ref_number(le + 8, 8) & ref_mask(63)) == 0)
        memset(le + 8, 0, 8);
    return lost;
}

/* Exact as long as the two are close. */
static struct ref_val read_pair(const uint8_t *le)
{
    struct ref_val a = read_parts(REF_BINARY64, parts_of(REF_BINARY64, le));
    struct ref_val b = read_parts(REF_BINARY64, parts_of(REF_BINARY64, le + 8));

    if (a.cls != NUMBER)
        return a;
    if (b.cls != NUMBER)
        return b;
    if (b.m == 0)
        return a;
    if (a.m == 0)
        return b;
    a.m <<= a.e - b.e;
    a.e = b.e;
    if (a.neg == b.neg)
        a.m += b.m;
    else if (a.m >= b.m)
        a.m -= b.m;
    else
        a = ref_value(b.neg, b.m - a.m, a.e);
    return a;
}

struct ref_val ref_read(const struct ref_format *f, const uint8_t *le)
{
    return f->kind == PAIR ? read_pair(le) : read_parts(f, parts_of(f, le));
}

int ref_write(const struct ref_format *f, struct ref_val x, bool clamp, uint8_t *le)
{
    return f->kind == PAIR ? write_pair(x, clamp, le) : ref_write_one(f, x, clamp, le);
}

/* --------------------------------------------------------------- samples */

static int below_of(int most, struct rnd *r)
{
    return (int)rnd_below(r, (uint64_t)most);
}

/* A scalar of the format: edges, any bits, or a common number. */
void ref_sample(const struct ref_format *f, struct rnd *r, int64_t i, uint8_t *le)
{
    u128 n = (u128)rnd_u64(r) << 64 | rnd_u64(r), all = ref_count(f);
    struct parts p;

    memset(le, 0, 16);
    if (f->kind == PAIR) {
        int e = 100 + below_of(1940, r), gap = 53 + below_of(20, r);

        ref_sample(REF_BINARY64, r, i, le);
        if (read_parts(REF_BINARY64, parts_of(REF_BINARY64, le)).cls != NUMBER || i % 3 == 0)
            return;
        ref_bytes(le, 8, (ref_number(le, 8) & ~(ref_mask(11) << 52)) | (u128)e << 52);
        ref_bytes(le + 8, 8, (rnd_u64(r) & ~(ref_mask(11) << 52)) | (u128)(e - gap) << 52);
        return;
    }
    switch (i % 4) {
    case 0: /* near the ends of the list */
        n = i % 8 ? rnd_below(r, 40) : all - 1 - rnd_below(r, 40);
        p = nth(f, n % all);
        break;
    case 1: /* few significant bits: ties and exact values */
        p = nth(f, n % all);
        p.sig &= ~ref_mask(below_of(f->sig_bits, r));
        break;
    case 2: /* around 1, where narrow ref_formats have numbers */
        p = nth(f, n % all);
        p.exp = f->bias + (f->kind == HEX ? below_of(8, r) - 4 : below_of(40, r) - 20);
        p.exp &= (int)ref_mask(f->exp_bits);
        break;
    default: /* anything, special and impossible */
        p = (struct parts){n & 1, (int)(n >> 1 & ref_mask(f->exp_bits)),
                           n >> 16 & ref_mask(f->sig_bits)};
        if (i % 16 == 3)
            p.exp = (int)ref_mask(f->exp_bits);
    }
    p.neg = rnd_u64(r) & 1;
    parts_put(f, p, le);
}

/* Where little-endian byte i of a scalar goes. */
static int place(int i, int bytes, int order, bool pair)
{
    int half = pair ? i / 8 * 8 : 0, n = pair ? 8 : bytes, at = i - half;

    if (order == DREP_LITTLE || n == 1)
        return half + at;
    return half + (order == DREP_BIG ? n - 1 - at : (n - 1 - at) ^ 1);
}

void ref_reorder(uint8_t *out, const uint8_t *le, int bytes, int order, bool pair)
{
    for (int i = 0; i < bytes; i++)
        out[place(i, bytes, order, pair)] = le[i];
}

/* ------------------------------------------------- items: how they lie */

/* By code: what an item is, its bytes under external32 (requirements E1) and internal,
 * and what its size on a machine goes by: its name says it, or long, wchar_t, a pointer,
 * long double.  Classes: Bytes, Int, Unsigned, booL, Real, compleX. */
static const struct {
    char cls;
    uint8_t external32, internal;
    char by;
} rows[DREP_CODE_MAX + 1] = {
    [DREP_CODE_BYTE] = {'B', 1, 1, 0},
    [DREP_CODE_PACKED] = {'B', 1, 1, 0},
    [DREP_CODE_CHAR] = {'B', 1, 1, 0},
    [DREP_CODE_SIGNED_CHAR] = {'I', 1, 1, 0},
    [DREP_CODE_UNSIGNED_CHAR] = {'U', 1, 1, 0},
    [DREP_CODE_SHORT] = {'I', 2, 2, 0},
    [DREP_CODE_UNSIGNED_SHORT] = {'U', 2, 2, 0},
    [DREP_CODE_INT] = {'I', 4, 4, 0},
    [DREP_CODE_UNSIGNED] = {'U', 4, 4, 0},
    [DREP_CODE_LONG] = {'I', 4, 8, 'l'},
    [DREP_CODE_UNSIGNED_LONG] = {'U', 4, 8, 'l'},
    [DREP_CODE_LONG_LONG] = {'I', 8, 8, 0},
    [DREP_CODE_UNSIGNED_LONG_LONG] = {'U', 8, 8, 0},
    [DREP_CODE_WCHAR] = {'U', 2, 4, 'w'},
    [DREP_CODE_FLOAT] = {'R', 4, 4, 0},
    [DREP_CODE_DOUBLE] = {'R', 8, 8, 0},
    [DREP_CODE_LONG_DOUBLE] = {'R', 16, 16, 'd'},
    [DREP_CODE_C_BOOL] = {'L', 1, 1, 0},
    [DREP_CODE_INT8_T] = {'I', 1, 1, 0},
    [DREP_CODE_INT16_T] = {'I', 2, 2, 0},
    [DREP_CODE_INT32_T] = {'I', 4, 4, 0},
    [DREP_CODE_INT64_T] = {'I', 8, 8, 0},
    [DREP_CODE_UINT8_T] = {'U', 1, 1, 0},
    [DREP_CODE_UINT16_T] = {'U', 2, 2, 0},
    [DREP_CODE_UINT32_T] = {'U', 4, 4, 0},
    [DREP_CODE_UINT64_T] = {'U', 8, 8, 0},
    [DREP_CODE_C_FLOAT_COMPLEX] = {'X', 8, 8, 0},
    [DREP_CODE_C_DOUBLE_COMPLEX] = {'X', 16, 16, 0},
    [DREP_CODE_C_LONG_DOUBLE_COMPLEX] = {'X', 32, 32, 'd'},
    [DREP_CODE_AINT] = {'I', 8, 8, 'p'},
    [DREP_CODE_COUNT] = {'I', 8, 8, 0},
    [DREP_CODE_OFFSET] = {'I', 8, 8, 0},
    [DREP_CODE_CXX_BOOL] = {'L', 1, 1, 0},
    [DREP_CODE_CXX_FLOAT_COMPLEX] = {'X', 8, 8, 0},
    [DREP_CODE_CXX_DOUBLE_COMPLEX] = {'X', 16, 16, 0},
    [DREP_CODE_CXX_LONG_DOUBLE_COMPLEX] = {'X', 32, 32, 'd'},
    [DREP_CODE_CHARACTER] = {'B', 1, 1, 0},
    [DREP_CODE_LOGICAL] = {'L', 4, 4, 0},
    [DREP_CODE_INTEGER] = {'I', 4, 4, 0},
    [DREP_CODE_REAL] = {'R', 4, 4, 0},
    [DREP_CODE_DOUBLE_PRECISION] = {'R', 8, 8, 0},
    [DREP_CODE_COMPLEX] = {'X', 8, 8, 0},
    [DREP_CODE_DOUBLE_COMPLEX] = {'X', 16, 16, 0},
    [DREP_CODE_LOGICAL1] = {'L', 1, 1, 0},
    [DREP_CODE_LOGICAL2] = {'L', 2, 2, 0},
    [DREP_CODE_LOGICAL4] = {'L', 4, 4, 0},
    [DREP_CODE_LOGICAL8] = {'L', 8, 8, 0},
    [DREP_CODE_LOGICAL16] = {'L', 16, 16, 0},
    [DREP_CODE_INTEGER1] = {'I', 1, 1, 0},
    [DREP_CODE_INTEGER2] = {'I', 2, 2, 0},
    [DREP_CODE_INTEGER4] = {'I', 4, 4, 0},
    [DREP_CODE_INTEGER8] = {'I', 8, 8, 0},
    [DREP_CODE_INTEGER16] = {'I', 16, 16, 0},
    [DREP_CODE_REAL2] = {'R', 2, 2, 0},
    [DREP_CODE_REAL4] = {'R', 4, 4, 0},
    [DREP_CODE_REAL8] = {'R', 8, 8, 0},
    [DREP_CODE_REAL16] = {'R', 16, 16, 0},
    [DREP_CODE_COMPLEX4] = {'X', 4, 4, 0},
    [DREP_CODE_COMPLEX8] = {'X', 8, 8, 0},
    [DREP_CODE_COMPLEX16] = {'X', 16, 16, 0},
    [DREP_CODE_COMPLEX32] = {'X', 32, 32, 0},
    [DREP_CODE_FLOAT16] = {'R', 2, 2, 0},
    [DREP_CODE_BFLOAT16] = {'R', 2, 2, 0},
    [DREP_CODE_FLOAT128] = {'R', 16, 16, 0},
    [DREP_CODE_FP8_E4M3] = {'R', 1, 1, 0},
    [DREP_CODE_FP8_E5M2] = {'R', 1, 1, 0},
    [DREP_CODE_UINT128_T] = {'U', 16, 16, 0},
    [DREP_CODE_INT128_T] = {'I', 16, 16, 0},
};

#define HERE_BIG (__BYTE_ORDER__ == __ORDER_BIG_ENDIAN__)
#if LDBL_MANT_DIG == 53
#define HERE_LONG_DOUBLE DREP_FORMAT_BINARY64
#elif LDBL_MANT_DIG == 113
#define HERE_LONG_DOUBLE DREP_FORMAT_BINARY128
#elif LDBL_MANT_DIG == 106
#define HERE_LONG_DOUBLE DREP_FORMAT_DOUBLE_DOUBLE
#else
#define HERE_LONG_DOUBLE DREP_FORMAT_X87
#endif

/* What tells machines apart, once structs are left out. */
static const struct machine {
    const char *name;
    int order;
    int of_long, of_wchar, of_pointer, of_long_double, long_double;
} machines[] = {
    {"native", HERE_BIG ? DREP_BIG : DREP_LITTLE, sizeof(long), sizeof(wchar_t), sizeof(void *),
     sizeof(long double), HERE_LONG_DOUBLE},
    {"native:s390x", DREP_BIG, 8, 4, 8, 16, DREP_FORMAT_BINARY128},
    {"native:i386", DREP_LITTLE, 4, 4, 4, 12, DREP_FORMAT_X87},
    {"native:m68k", DREP_BIG, 4, 4, 4, 12, DREP_FORMAT_M68K},
    {"native:ppc64el-ibm", DREP_LITTLE, 8, 4, 8, 16, DREP_FORMAT_DOUBLE_DOUBLE},
    {"native:powerpc", DREP_BIG, 4, 4, 4, 16, DREP_FORMAT_DOUBLE_DOUBLE},
    {"native:win64", DREP_LITTLE, 4, 2, 8, 16, DREP_FORMAT_X87},
    {"native:armhf", DREP_LITTLE, 4, 4, 4, 8, DREP_FORMAT_BINARY64},
};

const struct ref_format *ref_format_of(int id, int bytes)
{
    for (int i = 0; i < REF_FORMATS; i++)
        if (ref_formats[i].id == id && ref_formats[i].bytes == bytes)
            return &ref_formats[i];
    return NULL;
}

static const struct ref_format *real_of(int code, int bytes)
{
    switch (code) {
    case DREP_CODE_BFLOAT16:
        return ref_format_of(DREP_FORMAT_BFLOAT16, 2);
    case DREP_CODE_FP8_E4M3:
        return ref_format_of(DREP_FORMAT_FP8_E4M3, 1);
    case DREP_CODE_FP8_E5M2:
        return ref_format_of(DREP_FORMAT_FP8_E5M2, 1);
    }
    return ref_format_of(bytes == 2   ? DREP_FORMAT_BINARY16
                         : bytes == 4 ? DREP_FORMAT_BINARY32
                         : bytes == 8 ? DREP_FORMAT_BINARY64
                                      : DREP_FORMAT_BINARY128,
                         bytes);
}

static void item_init(struct ref_item *item, int code, int order, int bytes)
{
    static const char classes[] = "BIULR";
    char cls = rows[code].cls;

    *item = (struct ref_item){.parts = 1, .size = bytes, .order = order};
    if (cls == 'X') {
        item->parts = 2;
        item->size = bytes / 2;
        cls = 'R';
    }
    item->cls = (enum ref_class)(strchr(classes, cls) - classes);
    if (cls == 'R')
        item->real = real_of(code, item->size);
}

bool ref_item_of(struct ref_item *out, const char *datarep, int code)
{
    const struct machine *m = machines;
    int size = rows[code].internal;

    if (strcmp(datarep, "external32") == 0 || strcmp(datarep, "internal") == 0) {
        bool external32 = datarep[0] == 'e';

        item_init(out, code, external32 ? DREP_BIG : DREP_LITTLE,
                  external32 ? rows[code].external32 : size);
        return true;
    }
    while (m < machines + sizeof machines / sizeof machines[0] && strcmp(m->name, datarep) != 0)
        m++;
    if (m == machines + sizeof machines / sizeof machines[0])
        return false;
    switch (rows[code].by) {
    case 'l':
        size = m->of_long;
        break;
    case 'w':
        size = m->of_wchar;
        break;
    case 'p':
        size = m->of_pointer;
        break;
    case 'd':
        size = m->of_long_double * (rows[code].cls == 'X' ? 2 : 1);
    }
    item_init(out, code, m->order, size);
    if (rows[code].by == 'd')
        out->real = ref_format_of(m->long_double, out->size);
    return true;
}

/* ---------------------------------------------- items: one at a time */

static bool is_pair(const struct ref_item *item)
{
    return item->real && item->real->kind == PAIR;
}

static void scalar_get(const struct ref_item *item, const uint8_t *bytes, uint8_t *le)
{
    memset(le, 0, 16);
    for (int i = 0; i < item->size; i++)
        le[i] = bytes[place(i, item->size, item->order, is_pair(item))];
}

/* The integer, in all of 128 bits; of a boolean 0 or 1. */
static u128 integer_get(const struct ref_item *item, const uint8_t *le)
{
    int bits = item->bits ? item->bits : 8 * item->size;
    u128 n = ref_number(le, item->size) >> item->low & ref_mask(bits);

    if (item->cls == REF_BOOL)
        return n != 0;
    if (item->cls == REF_INT && n >> (bits - 1))
        n |= ~ref_mask(bits);
    return n;
}

static void scalar_convert(uint8_t *dst, const struct ref_item *to, const uint8_t *src,
                           const struct ref_item *from)
{
    uint8_t le[16], out[16] = {0};
    int bits = to->bits ? to->bits : 8 * to->size;

    scalar_get(from, src, le);
    if (to->cls == REF_BYTES)
        memcpy(out, le, 16);
    else if (to->cls != REF_REAL)
        ref_bytes(out, to->size, (integer_get(from, le) & ref_mask(bits)) << to->low);
    else if (to->real->id == from->real->id && to->size == from->size)
        memcpy(out, le, 16); /* only the order differs, and padding is zero */
    else
        ref_write(to->real, ref_read(from->real, le), false, out);
    if (to->cls == REF_REAL && to->real->kind == X87)
        memset(out + 10, 0, 6);
    if (to->cls == REF_REAL && to->real->kind == M68K)
        memset(out + 8, 0, 2);
    ref_reorder(dst, out, to->size, to->order, is_pair(to));
}

void ref_convert(uint8_t *dst, const struct ref_item *to, const uint8_t *src,
                 const struct ref_item *from)
{
    for (int i = 0; i < to->parts; i++)
        scalar_convert(dst + i * to->size, to, src + i * from->size, from);
}

static void scalar_random(const struct ref_item *item, struct rnd *r, uint8_t *le)
{
    int bits = item->bits ? item->bits : 8 * item->size;
    u128 n = (u128)rnd_u64(r) << 64 | rnd_u64(r);

    memset(le, 0, 16);
    if (item->cls == REF_REAL) {
        ref_sample(item->real, r, (int64_t)rnd_below(r, 48), le);
        return;
    }
    switch (rnd_below(r, 4)) {
    case 0: /* small, of either sign */
        n = (u128)0 - rnd_below(r, 2) * rnd_below(r, 200) + rnd_below(r, 200);
        break;
    case 1: /* the ends of some width */
        n = (ONE << rnd_below(r, 127)) - rnd_below(r, 2);
        break;
    case 2: /* one byte, wherever it is: E9 */
        n = (u128)(rnd_below(r, 256)) << (8 * rnd_below(r, 16));
        break;
    }
    ref_bytes(le, item->size, (n & ref_mask(bits)) << item->low);
}

void ref_random(const struct ref_item *item, struct rnd *r, uint8_t *out)
{
    uint8_t le[16];

    for (int i = 0; i < item->parts; i++, out += item->size) {
        scalar_random(item, r, le);
        ref_reorder(out, le, item->size, item->order, is_pair(item));
    }
}

#endif
