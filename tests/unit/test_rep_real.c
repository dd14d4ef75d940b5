/* test_rep_real.c - every pair of real formats, in every order, against references.
 *
 * The first reference is arithmetic alone: it knows how to read a format (SPEC.md, 5.2)
 * and finds what to write by searching among all its numbers for the nearest.  The second
 * is MPFR.  Neither shares a table or a line with the library.  E6, E7, E11, C7. */
#include "rep/rep.h"
#include "tests/unit/bytes.h"

#ifdef HAVE_MPFR
#include <mpfr.h>
#endif

#ifdef __SIZEOF_INT128__

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
enum { RANDOM = 600 };
#else
enum { RANDOM = 6000 };
#endif

__extension__ typedef unsigned __int128 u128;
#define ONE ((u128)1)

/* ------------------------------------------------- the reference: reading */

enum kind { IEEE, E4M3, X87, M68K, HEX, CRAY, VAX, PAIR };
static const struct format {
    int id;
    enum kind kind;
    int bytes, exp_bits, sig_bits, bias;
} formats[] = {
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
enum { FORMATS = sizeof formats / sizeof formats[0] };
#define BINARY64 (&formats[5])

enum cls { NUMBER, INFINITE, NOT };
/* m * 2^e; of a NaN m is its fraction, left-aligned. */
struct val {
    enum cls cls;
    bool neg;
    u128 m;
    int e;
};

static u128 number_of(const uint8_t *le, int bytes)
{
    u128 n = 0;

    for (int i = bytes; i-- > 0;)
        n = n << 8 | le[i];
    return n;
}

static void bytes_of(uint8_t *le, int bytes, u128 n)
{
    for (int i = 0; i < bytes; i++, n >>= 8)
        le[i] = (uint8_t)n;
}

static u128 mask(int bits)
{
    return bits == 128 ? ~(u128)0 : (ONE << bits) - 1;
}

/* Sign, exponent and significand as they stand. */
struct parts {
    bool neg;
    int exp;
    u128 sig;
};

static struct parts parts_of(const struct format *f, const uint8_t *le)
{
    u128 n = number_of(le, f->kind == X87 ? 10 : f->bytes);
    struct parts p;

    if (f->id == DREP_FORMAT_IBM_HEX128)
        n = (n >> 120) << 112 | (n >> 64 & mask(56)) << 56 | (n & mask(56));
    else if (f->kind == M68K)
        n = (n >> 80) << 64 | (n & mask(64));
    p.sig = n & mask(f->sig_bits);
    p.exp = (int)(n >> f->sig_bits & mask(f->exp_bits));
    p.neg = n >> (f->sig_bits + f->exp_bits) & 1;
    return p;
}

static void parts_put(const struct format *f, struct parts p, uint8_t *le)
{
    u128 n = p.sig | (u128)p.exp << f->sig_bits | (u128)p.neg << (f->sig_bits + f->exp_bits);

    if (f->id == DREP_FORMAT_IBM_HEX128 && p.sig == 0 && p.exp == 0)
        n = (u128)p.neg << 127 | (u128)p.neg << 63;
    else if (f->id == DREP_FORMAT_IBM_HEX128)
        n = (u128)p.neg << 127 | (u128)p.exp << 120 | (p.sig >> 56) << 64 | (u128)p.neg << 63 |
            (u128)((p.exp - 14) & 127) << 56 | (p.sig & mask(56));
    else if (f->kind == M68K)
        n = (n >> 64) << 80 | p.sig;
    bytes_of(le, f->bytes, n);
}

static struct val val_of(bool neg, u128 m, int e)
{
    return (struct val){NUMBER, neg, m, e};
}

static struct val read_parts(const struct format *f, struct parts p)
{
    int top = (1 << f->exp_bits) - 1, s = f->sig_bits;
    struct val nan = {NOT, p.neg, p.sig << (128 - s), 0}, inf = {INFINITE, p.neg, 0, 0};

    switch (f->kind) {
    case IEEE:
        if (p.exp == top)
            return p.sig ? nan : inf;
        return p.exp ? val_of(p.neg, p.sig | ONE << s, p.exp - f->bias - s)
                     : val_of(p.neg, p.sig, 1 - f->bias - s);
    case E4M3:
        nan.m = 0;
        if (p.exp == 15 && p.sig == 7)
            return nan;
        return p.exp ? val_of(p.neg, p.sig | 8, p.exp - 10) : val_of(p.neg, p.sig, -9);
    case X87:
        nan.m = p.sig << 65;
        if (p.exp == top)
            return p.sig == ONE << 63 ? inf : nan;
        if (p.exp && !(p.sig >> 63))
            return nan;
        return val_of(p.neg, p.sig, (p.exp ? p.exp : 1) - f->bias - 63);
    case M68K:
        nan.m = p.sig << 65;
        if (p.exp == top)
            return p.sig << 65 ? nan : inf;
        return val_of(p.neg, p.sig, p.exp - f->bias - 63);
    case HEX:
        return val_of(p.neg, p.sig, 4 * (p.exp - f->bias) - s);
    case CRAY:
        return p.exp >= 24576 ? inf : val_of(p.neg, p.sig, p.exp - f->bias - s);
    case VAX:
        nan.m = 0;
        nan.neg = false;
        if (p.exp == 0)
            return p.neg ? nan : val_of(false, 0, 0);
        return val_of(p.neg, p.sig | ONE << s, p.exp - f->bias - 1 - s);
    case PAIR:
        break;
    }
    return nan;
}

/* ------------------------------------------------ the reference: writing */

/* Number i of the format's numbers that are not negative, in ascending order. */
static struct parts nth(const struct format *f, u128 i)
{
    int s = f->sig_bits;
    u128 each, low;

    switch (f->kind) {
    case X87:
        return (struct parts){false, (int)(i >> 63), (i & mask(63)) | (i >> 63 ? ONE << 63 : 0)};
    case M68K:
        if (i <= mask(64))
            return (struct parts){false, 0, i};
        i -= ONE << 64;
        return (struct parts){false, 1 + (int)(i >> 63), ONE << 63 | (i & mask(63))};
    case HEX:
    case CRAY:
        if (i <= mask(s))
            return (struct parts){false, 0, i};
        low = f->kind == HEX ? ONE << (s - 4) : ONE << (s - 1);
        each = (ONE << s) - low;
        i -= ONE << s;
        return (struct parts){false, 1 + (int)(i / each), low + i % each};
    case VAX:
        if (i == 0)
            return (struct parts){false, 0, 0};
        i--;
        return (struct parts){false, 1 + (int)(i >> s), i & mask(s)};
    default:
        return (struct parts){false, (int)(i >> s), i & mask(s)};
    }
}

/* How many there are. */
static u128 count_of(const struct format *f)
{
    int s = f->sig_bits;
    u128 top = mask(f->exp_bits);

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

enum { OVER = 1, INEXACT = 2, LOST = 4, TO_NUMBER = 8 };

static struct val value_at(const struct format *f, u128 i)
{
    return read_parts(f, nth(f, i));
}

/* x against the middle of a and the number behind it; above: that one's m and e. */
static int against_middle(struct val x, struct val a, struct val above)
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
static u128 nearest(const struct format *f, struct val x, int *lost)
{
    u128 low = 0, high = count_of(f), middle, n = high;
    struct val a, above;
    int side;
    bool even;

    while (high - low > 1) {
        middle = low + (high - low) / 2;
        a = value_at(f, middle);
        if (compare(a.m, a.e, x.m, x.e) <= 0)
            low = middle;
        else
            high = middle;
    }
    a = value_at(f, low);
    if (compare(a.m, a.e, x.m, x.e) == 0)
        return low;
    above = low + 1 < n ? value_at(f, low + 1) : val_of(false, a.m + 1, a.e);
    side = against_middle(x, a, above);
    even = f->kind == VAX ? low == 0 || (low - 1) % 2 == 0 : low % 2 == 0;
    if (side > 0 || (side == 0 && !even))
        low++;
    *lost |= low == n ? OVER : INEXACT;
    return low;
}

static int write_nan(const struct format *f, struct val x, uint8_t *le)
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
        p = nth(f, count_of(f) - 1);
        p.neg = x.neg;
        lost = LOST | TO_NUMBER;
    }
    parts_put(f, p, le);
    return lost;
}

static void write_infinity(const struct format *f, bool neg, uint8_t *le)
{
    struct parts p = {neg, (1 << f->exp_bits) - 1, f->kind == X87 ? ONE << 63 : 0};

    if (f->kind == CRAY)
        p = (struct parts){neg, 24576, ONE << 47};
    parts_put(f, p, le);
}

static bool has_infinity(const struct format *f)
{
    return f->kind != E4M3 && f->kind != HEX && f->kind != VAX;
}

static int write_one(const struct format *f, struct val x, bool clamp, uint8_t *le)
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
    i = x.cls == INFINITE ? count_of(f) : nearest(f, x, &lost);
    if (x.cls == INFINITE)
        lost = OVER;
    if (i == count_of(f) && has_infinity(f) && !clamp) {
        write_infinity(f, x.neg, le);
        return lost;
    }
    p = nth(f, i == count_of(f) ? i - 1 : i);
    p.neg = x.neg && !(i == 0 && (f->kind == VAX || f->kind == CRAY));
    parts_put(f, p, le);
    return lost;
}

/* The nearest binary64, and the nearest to the rest. */
static int write_pair(struct val x, bool clamp, uint8_t *le)
{
    struct val high, rest;
    int lost = write_one(BINARY64, x, clamp, le);
    int e;

    memset(le + 8, 0, 8);
    if (x.cls != NUMBER || lost == 0)
        return lost;
    if (lost & OVER) {
        if (clamp)
            bytes_of(le + 8, 8, (u128)x.neg << 63 | 0x7c8ffffffffffffe);
        return lost;
    }
    high = read_parts(BINARY64, parts_of(BINARY64, le));
    if (high.m == 0)
        high.e = x.e;
    /* Both at one unit: x has at most 113 bits here and high is near. */
    e = x.e < high.e ? x.e : high.e;
    if (x.e - e > 127 || high.e - e > 127)
        return lost;
    x.m <<= x.e - e;
    high.m <<= high.e - e;
    rest = high.m > x.m ? val_of(!x.neg, high.m - x.m, e) : val_of(x.neg, x.m - high.m, e);
    lost = write_one(BINARY64, rest, clamp, le + 8);
    if ((number_of(le + 8, 8) & mask(63)) == 0)
        memset(le + 8, 0, 8);
    return lost;
}

/* Exact as long as the two are close. */
static struct val read_pair(const uint8_t *le)
{
    struct val a = read_parts(BINARY64, parts_of(BINARY64, le));
    struct val b = read_parts(BINARY64, parts_of(BINARY64, le + 8));

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
        a = val_of(b.neg, b.m - a.m, a.e);
    return a;
}

static struct val read_any(const struct format *f, const uint8_t *le)
{
    return f->kind == PAIR ? read_pair(le) : read_parts(f, parts_of(f, le));
}

static int write_any(const struct format *f, struct val x, bool clamp, uint8_t *le)
{
    return f->kind == PAIR ? write_pair(x, clamp, le) : write_one(f, x, clamp, le);
}

/* --------------------------------------------------------------- samples */

static int below_of(int most, struct rnd *r)
{
    return (int)rnd_below(r, (uint64_t)most);
}

/* A scalar of the format: edges, any bits, or a common number. */
static void sample(const struct format *f, struct rnd *r, int64_t i, uint8_t *le)
{
    u128 n = (u128)rnd_u64(r) << 64 | rnd_u64(r), all = count_of(f);
    struct parts p;

    memset(le, 0, 16);
    if (f->kind == PAIR) {
        int e = 100 + below_of(1940, r), gap = 53 + below_of(20, r);

        sample(BINARY64, r, i, le);
        if (read_parts(BINARY64, parts_of(BINARY64, le)).cls != NUMBER || i % 3 == 0)
            return;
        bytes_of(le, 8, (number_of(le, 8) & ~(mask(11) << 52)) | (u128)e << 52);
        bytes_of(le + 8, 8, (rnd_u64(r) & ~(mask(11) << 52)) | (u128)(e - gap) << 52);
        return;
    }
    switch (i % 4) {
    case 0: /* near the ends of the list */
        n = i % 8 ? rnd_below(r, 40) : all - 1 - rnd_below(r, 40);
        p = nth(f, n % all);
        break;
    case 1: /* few significant bits: ties and exact values */
        p = nth(f, n % all);
        p.sig &= ~mask(below_of(f->sig_bits, r));
        break;
    case 2: /* around 1, where narrow formats have numbers */
        p = nth(f, n % all);
        p.exp = f->bias + (f->kind == HEX ? below_of(8, r) - 4 : below_of(40, r) - 20);
        p.exp &= (int)mask(f->exp_bits);
        break;
    default: /* anything, special and impossible */
        p = (struct parts){n & 1, (int)(n >> 1 & mask(f->exp_bits)), n >> 16 & mask(f->sig_bits)};
        if (i % 16 == 3)
            p.exp = (int)mask(f->exp_bits);
    }
    p.neg = rnd_u64(r) & 1;
    parts_put(f, p, le);
}

static void reorder(uint8_t *out, const uint8_t *le, int bytes, int order, bool pair)
{
    for (int i = 0; i < bytes; i++) {
        int half = pair ? i / 8 * 8 : 0, n = pair ? 8 : bytes, at = i - half;

        out[half + (order == DREP_LITTLE ? at
                    : order == DREP_BIG  ? n - 1 - at
                                         : (n - 1 - at) ^ 1)] = le[i];
    }
}

static bool order_possible(const struct format *f, int order)
{
    return order != DREP_VAX || f->bytes % 2 == 0;
}

/* ------------------------------------------------------------ comparing */

static void tables_of(struct rep_table *dst, const struct format *to, int to_order,
                      struct rep_table *src, const struct format *from, int from_order)
{
    memset(dst, 0, sizeof *dst);
    memset(src, 0, sizeof *src);
    dst->row[DREP_CODE_FLOAT] = (drep_encoding){
        DREP_CODE_FLOAT, (uint8_t)to->id, (uint8_t)to_order, (uint8_t)to->bytes, 1, 0, 0};
    src->row[DREP_CODE_DOUBLE] = (drep_encoding){
        DREP_CODE_DOUBLE, (uint8_t)from->id, (uint8_t)from_order, (uint8_t)from->bytes, 1, 0, 0};
    ck_assert_int_eq(rep_table_check(dst), 0);
    ck_assert_int_eq(rep_table_check(src), 0);
}

static int64_t first_of(int64_t known, int64_t i, bool now)
{
    return known < 0 && now ? i : known;
}

/* n values through the kernel and through the reference; src, want: little-endian. */
static void check_batch(const struct format *to, int to_order, const struct format *from,
                        int from_order, const uint8_t *values, int64_t n, int range)
{
    struct rep_table dst, src;
    drep_report got = {0, 0, 0, 0, -1, -1, -1}, want = got;
    struct rep_opts opts = {.value_range = range, .report = &got, .base = 7};
    uint8_t *in = calloc((size_t)n, 16), *out = malloc((size_t)n * 16), le[16], one[16];
    int64_t refused = 0, bad, i;
    struct kernel k;

    tables_of(&dst, to, to_order, &src, from, from_order);
    ck_assert_int_eq(kernel_pick(&k, &dst, DREP_FLOAT, &src, DREP_DOUBLE, &opts), 0);
    for (i = 0; i < n; i++)
        reorder(in + i * from->bytes, values + 16 * i, from->bytes, from_order, from->kind == PAIR);
    memset(out, 0xa5, (size_t)n * 16);
    bad = k.run(&k, out, to->bytes, in, from->bytes, n);
    for (i = 0; i < n && !refused; i++) {
        struct val x = read_any(from, values + 16 * i);
        int lost = 0;

        if (to->id == from->id && to->bytes == from->bytes)
            memcpy(le, values + 16 * i, 16); /* only the order differs */
        else
            lost = write_any(to, x, range == DREP_RANGE_CLAMP, le);
        want.overflow += (lost & OVER) != 0;
        want.inexact += (lost & INEXACT) != 0;
        want.nan_lost += (lost & LOST) != 0;
        want.first_overflow = first_of(want.first_overflow, 7 + i, lost & OVER);
        want.first_inexact = first_of(want.first_inexact, 7 + i, lost & INEXACT);
        want.first_nan_lost = first_of(want.first_nan_lost, 7 + i, lost & LOST);
        if (range == DREP_RANGE_STRICT && lost & (OVER | TO_NUMBER)) {
            refused = i + 1;
            memset(one, 0xa5, 16);
        } else {
            reorder(one, le, to->bytes, to_order, to->kind == PAIR);
        }
        /* Check's own assertions are slow where they hold. */
        if (memcmp(out + i * to->bytes, one, (size_t)to->bytes) != 0)
            ck_abort_msg("%s/%d to %s/%d, range %d: value %lld", drep_format_name(from->id),
                         from_order, drep_format_name(to->id), to_order, range, (long long)i);
    }
    ck_assert_msg(bad == refused && memcmp(&got, &want, sizeof got) == 0,
                  "%s to %s, range %d: report %lld %lld %lld, not %lld %lld %lld; %lld, not %lld",
                  drep_format_name(from->id), drep_format_name(to->id), range,
                  (long long)got.overflow, (long long)got.inexact, (long long)got.nan_lost,
                  (long long)want.overflow, (long long)want.inexact, (long long)want.nan_lost,
                  (long long)bad, (long long)refused);
    free(in);
    free(out);
}

static void samples(const struct format *f, struct rnd *r, uint8_t *values, int64_t n)
{
    for (int64_t i = 0; i < n; i++)
        sample(f, r, i, values + 16 * i);
}

/* The pad bytes of what only changes its order must be zero, as they are in samples. */
START_TEST(test_every_pair_in_every_order)
{
    uint8_t *values = malloc(RANDOM * 16);
    struct rnd r;
    int a, b, order, step = 0;

    rnd_init(&r, 1);
    for (a = 0; a < FORMATS; a++) {
        for (b = 0; b < FORMATS; b++) {
            /* All values in one pair of orders, some in each of the nine. */
            samples(&formats[a], &r, values, RANDOM);
            check_batch(&formats[b], DREP_BIG, &formats[a], DREP_LITTLE, values, RANDOM,
                        step++ % 2 ? DREP_RANGE_WRAP : DREP_RANGE_CLAMP);
            for (order = 0; order < 9; order++)
                if (order_possible(&formats[a], order % 3) &&
                    order_possible(&formats[b], order / 3))
                    check_batch(&formats[b], order / 3, &formats[a], order % 3,
                                values + 16 * 60 * order, 60, DREP_RANGE_WRAP);
            for (order = 0; order < 4; order++)
                check_batch(&formats[b], DREP_LITTLE, &formats[a], DREP_BIG,
                            values + 16 * (1 + order * 83), 200, DREP_RANGE_STRICT);
        }
    }
    free(values);
}
END_TEST

/* All 8- and 16-bit scalars into everything; and each value of theirs, and all middles
 * between neighbours, from binary64. */
START_TEST(test_small_formats_exhaustively)
{
    int a, b;
    int64_t i, n;

    for (a = 0; a < 4; a++) {
        const struct format *f = &formats[a];
        uint8_t *values = calloc(1 << 18, 16);

        n = 1 << (8 * f->bytes);
        for (i = 0; i < n; i++)
            bytes_of(values + 16 * i, 16, (u128)i);
        for (b = 0; b < FORMATS; b++)
            check_batch(&formats[b], DREP_LITTLE, f, DREP_LITTLE, values, n, DREP_RANGE_WRAP);
        n = 0;
        for (i = 0; i + 1 < (int64_t)count_of(f); i++) {
            struct val x = value_at(f, (u128)i), y = value_at(f, (u128)i + 1);

            for (; y.e > x.e; y.e--)
                y.m <<= 1;
            for (int part = 0; part < 4; part++) {
                u128 m = (x.m << 2) + (y.m - x.m) * (unsigned)part;
                struct val z = val_of(i & 1, m, x.e - 2);

                if (write_one(BINARY64, z, false, values + 16 * n++) != 0)
                    ck_abort_msg("binary64 must hold this");
            }
        }
        check_batch(f, DREP_BIG, BINARY64, DREP_LITTLE, values, n, DREP_RANGE_WRAP);
        for (i = 0; i < n; i++) {
            struct val z = read_any(BINARY64, values + 16 * i);

            write_any(&formats[4], z, false, values + 16 * i);
        }
        check_batch(f, DREP_LITTLE, &formats[4], DREP_BIG, values, n, DREP_RANGE_CLAMP);
        free(values);
    }
}
END_TEST

/* ----------------------------------------------------------------- MPFR */

#ifdef HAVE_MPFR

/* The exact value; a pair may be as wide apart as it likes. */
static void mpfr_read(mpfr_t out, const struct format *f, const uint8_t *le)
{
    struct val x;
    mpfr_t low;

    if (f->kind == PAIR) {
        mpfr_init2(low, 2400);
        mpfr_read(out, BINARY64, le);
        mpfr_read(low, BINARY64, le + 8);
        mpfr_add(out, out, low, MPFR_RNDN);
        mpfr_clear(low);
        return;
    }
    x = read_any(f, le);
    mpfr_set_ui_2exp(out, (unsigned long)(x.m >> 64), x.e + 64, MPFR_RNDN);
    mpfr_init2(low, 64);
    mpfr_set_ui_2exp(low, (unsigned long)x.m, x.e, MPFR_RNDN);
    mpfr_add(out, out, low, MPFR_RNDN);
    if (x.neg)
        mpfr_neg(out, out, MPFR_RNDN);
    mpfr_clear(low);
}

/* x rounded by MPFR to the IEEE format must be what the library wrote. */
static void mpfr_check(const struct format *to, mpfr_t x, const uint8_t *le)
{
    mpfr_exp_t low = mpfr_get_emin(), high = mpfr_get_emax();
    struct val got = read_any(to, le);
    mpfr_t want, value;
    int digits = to->sig_bits + (to->kind == IEEE), inexact;
    bool right;

    mpfr_init2(want, digits);
    mpfr_init2(value, 2400);
    mpfr_set_emin(2 - to->bias - to->sig_bits + (to->kind != IEEE));
    mpfr_set_emax(to->bias + 1);
    inexact = mpfr_set(want, x, MPFR_RNDN);
    inexact = mpfr_check_range(want, inexact, MPFR_RNDN);
    mpfr_subnormalize(want, inexact, MPFR_RNDN);
    mpfr_set_emin(low);
    mpfr_set_emax(high);
    if (got.cls == NUMBER) {
        mpfr_read(value, to, le);
        right = mpfr_equal_p(value, want);
    } else {
        right = got.cls == INFINITE && mpfr_inf_p(want);
    }
    if (!right || got.neg != (mpfr_signbit(x) != 0))
        ck_abort_msg("to %s, which MPFR rounds otherwise", drep_format_name(to->id));
    mpfr_clear(value);
    mpfr_clear(want);
}

/* A pair of any two binary64, not only of neighbours. */
static void sample_pair(struct rnd *r, int64_t i, uint8_t *le)
{
    uint8_t low[16];

    sample(BINARY64, r, i / 4 * 5 + 2, low);
    sample(BINARY64, r, i, le);
    memcpy(le + 8, low, 8);
    if (i % 2)
        bytes_of(le, 8,
                 (number_of(le, 8) & ~(mask(11) << 52)) | (u128)(1 + below_of(2046, r)) << 52);
}

START_TEST(test_against_mpfr)
{
    static const int targets[] = {0, 1, 3, 4, 5, 6, 9};
    struct rnd r;
    size_t t;
    int a;

    rnd_init(&r, 2);
    for (a = 0; a < FORMATS; a++)
        for (t = 0; t < sizeof targets / sizeof targets[0]; t++) {
            const struct format *from = &formats[a], *to = &formats[targets[t]];
            int64_t i, n = RANDOM * 3;
            uint8_t *in = calloc((size_t)n, 16), *out = malloc((size_t)n * 16), le[16];
            struct rep_opts opts = {.value_range = DREP_RANGE_WRAP};
            struct rep_table dst, src;
            struct kernel k;
            mpfr_t x;

            mpfr_init2(x, 2400);
            tables_of(&dst, to, DREP_LITTLE, &src, from, DREP_LITTLE);
            ck_assert_int_eq(kernel_pick(&k, &dst, DREP_FLOAT, &src, DREP_DOUBLE, &opts), 0);
            for (i = 0; i < n; i++) {
                if (from->kind == PAIR)
                    sample_pair(&r, i, le);
                else
                    sample(from, &r, i, le);
                memcpy(in + i * from->bytes, le, (size_t)from->bytes);
            }
            k.run(&k, out, to->bytes, in, from->bytes, n);
            for (i = 0; i < n; i++) {
                const uint8_t *p = in + i * from->bytes;

                if (read_any(from->kind == PAIR ? BINARY64 : from, p).cls != NUMBER ||
                    (from->kind == PAIR && read_any(BINARY64, p + 8).cls != NUMBER))
                    continue;
                mpfr_read(x, from, p);
                mpfr_check(to, x, out + i * to->bytes);
            }
            mpfr_clear(x);
            free(in);
            free(out);
        }
    mpfr_free_cache();
}
END_TEST

#endif

static Suite *suite_make(void)
{
    Suite *suite = suite_create("rep_real");
    TCase *tc = tcase_create("rep_real");

    tcase_set_timeout(tc, 300);
    tcase_add_test(tc, test_every_pair_in_every_order);
    tcase_add_test(tc, test_small_formats_exhaustively);
#ifdef HAVE_MPFR
    tcase_add_test(tc, test_against_mpfr);
#else
    printf("skipped: the comparison with MPFR, which was not there at build time\n");
#endif
    suite_add_tcase(suite, tc);
    return suite;
}

int main(void)
{
    return run_suite(suite_make());
}

#else

int main(void)
{
    Suite *suite = suite_create("rep_real");

    printf("skipped: the references count in 128 bits, which this compiler does not have\n");
    return run_suite(suite);
}

#endif
