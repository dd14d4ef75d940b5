/* side.c - scalars of any description to numbers and back.
 *
 * The general form of number.h: descriptions are looked at while running.  It is the
 * reference of the fast forms, and does what they leave. */
/* SPDX-License-Identifier: MIT */
#include "kern/side.h"

#include "base/error.h"
#include "kern/encode.h"
#include "kern/real.h"

#include <datarep.h>

/* Beyond any exponent of a real format; keeps sums of exponents far from overflow. */
#define BIAS_MAX ((int64_t)1 << 40)

/* ------------------------------------------------------------- any bits */

/* Bits [at, at + width) of a little-endian scalar, width at most 128. */
static void bits_get(const uint8_t *p, int at, int width, uint64_t *hi, uint64_t *lo)
{
    int i;

    *hi = *lo = 0;
    for (i = 0; i < width; i++) {
        uint64_t bit = p[(at + i) / 8] >> ((at + i) % 8) & 1;

        if (i < 64)
            *lo |= bit << i;
        else
            *hi |= bit << (i - 64);
    }
}

static void bits_put(uint8_t *p, int at, int width, uint64_t hi, uint64_t lo)
{
    int i;

    for (i = 0; i < width; i++) {
        uint64_t bit = i < 64 ? lo >> i & 1 : hi >> (i - 64) & 1;
        uint8_t mask = (uint8_t)(1u << ((at + i) % 8));

        p[(at + i) / 8] = (uint8_t)(bit ? p[(at + i) / 8] | mask : p[(at + i) / 8] & ~mask);
    }
}

/* Zero, but for padding that is ones. */
static void clear(uint8_t *p, const struct side *side)
{
    int bits = side->size * 8, top = side->offset + side->precision, i;

    memset(p, 0, side->size);
    for (i = 0; side->low_pad == 1 && i < side->offset; i++)
        bits_put(p, i, 1, 0, 1);
    for (i = top; side->high_pad == 1 && i < bits; i++)
        bits_put(p, i, 1, 0, 1);
}

/* ------------------------------------------------------------- integers */

/* Unpack an integer into sign and magnitude, which all targets can be packed from. */
static void int_unpack(struct num *n, const struct side *side, const uint8_t *p)
{
    int width = side->precision;
    bool neg;

    if (side->offset == 0 && width == 8 * side->size) {
        n->lo = load_le(p, width < 64 ? width / 8 : 8);
        n->hi = width > 64 ? load_le(p + 8, (width - 64) / 8) : 0;
    } else {
        bits_get(p, side->offset, width, &n->hi, &n->lo);
    }
    neg = side->is_signed && (width > 64 ? n->hi >> (width - 65) : n->lo >> (width - 1)) != 0;
    if (neg) {
        /* Sign-extended, then the magnitude. */
        if (width < 64)
            n->lo |= UINT64_MAX << width;
        if (width <= 64)
            n->hi = UINT64_MAX;
        else if (width < 128)
            n->hi |= UINT64_MAX << (width - 64);
        n->lo = ~n->lo + 1;
        n->hi = ~n->hi + (n->lo == 0);
    }
    n->neg = neg;
    n->sticky = false;
    n->cls = NUM_FINITE;
    n->exp = 127;
    num_normalise(n);
}

/* The magnitude's integer part; false: it does not fit 128 bits. */
static bool int_part(const struct num *n, uint64_t *hi, uint64_t *lo, bool *fraction)
{
    int by;

    *hi = n->hi;
    *lo = n->lo;
    *fraction = n->sticky;
    if (n->exp > 127)
        return false;
    if (n->exp < 0) {
        *hi = *lo = 0;
        *fraction = true;
        return true;
    }
    by = 127 - (int)n->exp;
    if (by >= 64) {
        *fraction |= *lo != 0 || (by > 64 && *hi << (128 - by) != 0);
        *lo = *hi >> (by - 64);
        *hi = 0;
    } else if (by) {
        *fraction |= *lo << (64 - by) != 0;
        *lo = *lo >> by | *hi << (64 - by);
        *hi >>= by;
    }
    return true;
}

static bool above(uint64_t ahi, uint64_t alo, uint64_t bhi, uint64_t blo)
{
    return ahi > bhi || (ahi == bhi && alo > blo);
}

/* Largest magnitude of an integer of this side, above or below zero. */
static void int_limit(const struct side *side, bool neg, uint64_t *hi, uint64_t *lo)
{
    int bits = side->precision - side->is_signed;

    *hi = bits > 64 ? UINT64_MAX >> (128 - bits) : 0;
    *lo = bits >= 64 ? UINT64_MAX : ((uint64_t)1 << bits) - 1;
    if (neg && !side->is_signed)
        *hi = *lo = 0;
    else if (neg && ++*lo == 0)
        ++*hi;
}

/* The magnitude's nearest integer, ties to even; false: it does not fit 128 bits. */
static bool int_nearest(const struct num *n, uint64_t *hi, uint64_t *lo, bool *fraction)
{
    *hi = n->hi;
    *lo = n->lo;
    *fraction = n->sticky;
    if (n->exp > 127)
        return false;
    if (n->exp < 127)
        *fraction = shift_round(hi, lo, n->sticky, 127 - n->exp);
    return true;
}

/* WRAP: beyond the range keep the lower bits, which only integers have.  ROUND: to the nearest,
 * else towards zero. */
static int int_pack(const struct num *n, const struct side *side, uint8_t *p, int range)
{
    uint64_t hi = 0, lo = 0, most_hi, most_lo;
    bool fraction = false, neg = n->neg, fits;
    int lost = 0;

    if (n->cls == NUM_NAN) {
        lost = LOST_NAN | LOST_NUMBER;
    } else if (n->cls != NUM_ZERO) {
        int_limit(side, neg, &most_hi, &most_lo);
        fits =
            n->cls == NUM_FINITE && (range == DREP_RANGE_ROUND ? int_nearest(n, &hi, &lo, &fraction)
                                                               : int_part(n, &hi, &lo, &fraction));
        if (!fits || above(hi, lo, most_hi, most_lo)) {
            lost = LOST_RANGE | (range == DREP_RANGE_ROUND && fraction ? LOST_BITS : 0);
            if (!fits || range != DREP_RANGE_WRAP) {
                hi = most_hi;
                lo = most_lo;
            }
        } else if (fraction) {
            lost = LOST_BITS;
        }
    }
    if (neg) {
        lo = ~lo + 1;
        hi = ~hi + (lo == 0);
    }
    if (side->offset == 0 && side->precision == 8 * side->size) {
        store_le(p, lo, side->size < 8 ? side->size : 8);
        if (side->size > 8)
            store_le(p + 8, hi, side->size - 8);
        return lost;
    }
    clear(p, side);
    bits_put(p, side->offset, side->precision, hi, lo);
    return lost;
}

/* ---------------------------------------------------------------- reals */

static void real_get(struct fields *s, const struct side *side, const uint8_t *p)
{
    const struct real *f = &side->real;
    uint64_t hi, neg;

    if (side->named) {
        real_load(s, side->format, p);
        return;
    }
    bits_get(p, f->sign, 1, &hi, &neg);
    bits_get(p, f->exp_at, f->exp_width, &hi, &s->exp);
    bits_get(p, f->sig_at, f->sig_width, &s->hi, &s->lo);
    s->neg = neg != 0;
}

static void real_put(const struct fields *s, const struct side *side, uint8_t *p)
{
    const struct real *f = &side->real;

    if (side->named) {
        real_store(s, side->format, p, side->size);
        return;
    }
    clear(p, side);
    bits_put(p, f->sign, 1, 0, s->neg);
    bits_put(p, f->exp_at, f->exp_width, 0, s->exp);
    bits_put(p, f->sig_at, f->sig_width, s->hi, s->lo);
}

/* ----------------------------------------------------------- double-double */

/* h of a, shifted right by `by` > 0; what falls off makes it sticky. */
static void shift_sticky(struct num *n, int64_t by)
{
    uint64_t off;

    if (by >= 128) {
        n->sticky |= (n->hi | n->lo) != 0;
        n->hi = n->lo = 0;
        return;
    }
    if (by >= 64) {
        off = n->lo | (by > 64 ? n->hi << (128 - by) : 0);
        n->lo = n->hi >> (by - 64);
        n->hi = 0;
    } else {
        off = n->lo << (64 - by);
        n->lo = n->lo >> by | n->hi << (64 - by);
        n->hi >>= by;
    }
    n->sticky |= off != 0;
}

/* a += b, both finite or zero.  What lies below 128 bits is kept as sticky. */
static void num_add(struct num *a, struct num b)
{
    struct num big = *a;
    uint64_t lo;
    bool carry;

    if (b.cls == NUM_ZERO)
        return;
    if (a->cls == NUM_ZERO || b.exp > a->exp ||
        (b.exp == a->exp && above(b.hi, b.lo, a->hi, a->lo))) {
        big = b;
        b = *a;
    }
    *a = big;
    if (b.cls == NUM_ZERO)
        return;
    /* Make room for the carry; both have far fewer than 127 significant bits. */
    shift_sticky(a, 1);
    a->exp++;
    if (a->exp > b.exp)
        shift_sticky(&b, a->exp - b.exp);
    if (a->neg == b.neg) {
        lo = a->lo + b.lo;
        carry = lo < a->lo;
        a->hi += b.hi + carry;
        a->lo = lo;
    } else {
        /* A sticky part of b takes one from the last bit and leaves a sticky rest. */
        lo = a->lo - b.lo - b.sticky;
        carry = b.sticky ? a->lo <= b.lo : a->lo < b.lo;
        a->hi -= b.hi + carry;
        a->lo = lo;
    }
    a->sticky |= b.sticky;
    if ((a->hi | a->lo) == 0) {
        a->cls = NUM_ZERO;
        a->neg = false;
        return;
    }
    num_normalise(a);
}

static void pair_unpack(struct num *n, const uint8_t *p)
{
    const struct real *f = &reals[DREP_FORMAT_BINARY64];
    struct fields s;
    struct num low;

    real_load(&s, f, p);
    real_decode(n, f, &s);
    if (n->cls == NUM_INF || n->cls == NUM_NAN)
        return;
    real_load(&s, f, p + 8);
    real_decode(&low, f, &s);
    if (low.cls == NUM_INF || low.cls == NUM_NAN)
        *n = low;
    else
        num_add(n, low);
}

/* The nearest binary64, then the nearest to what is left. */
static int pair_pack(const struct num *n, uint8_t *p, bool clamp)
{
    const struct real *f = &reals[DREP_FORMAT_BINARY64];
    struct fields s = {0};
    struct num rest = *n, high;
    int lost;

    lost = real_encode(&s, f, n, clamp);
    real_store(&s, f, p, 8);
    memset(p + 8, 0, 8);
    if (n->cls != NUM_FINITE)
        return lost;
    if (lost & LOST_RANGE) {
        if (clamp) /* the largest pair: all ones below the first's last bit */
            store_le(p + 8, (uint64_t)n->neg << 63 | 0x7c8ffffffffffffe, 8);
        return lost;
    }
    real_decode(&high, f, &s);
    high.neg = !high.neg;
    num_add(&rest, high);
    if (rest.cls == NUM_ZERO && !rest.sticky)
        return 0;
    lost = rest.cls == NUM_ZERO ? LOST_BITS : real_encode(&s, f, &rest, clamp);
    if (rest.cls == NUM_FINITE && (s.exp || reaches(&s, 0)))
        real_store(&s, f, p + 8, 8);
    return lost;
}

/* ------------------------------------------------------------ either side */

void side_unpack(struct num *n, const struct side *side, const uint8_t *p)
{
    struct fields s;
    int i;

    switch (side->kind) {
    case SIDE_INT:
        int_unpack(n, side, p);
        break;
    case SIDE_BOOL:
        for (i = 0; i < side->size && p[i] == 0; i++)
            ;
        *n = (struct num){.hi = (uint64_t)1 << 63, .cls = i < side->size ? NUM_FINITE : NUM_ZERO};
        break;
    case SIDE_PAIR:
        pair_unpack(n, p);
        break;
    case SIDE_REAL:
        real_get(&s, side, p);
        real_decode(n, side->named ? side->format : &side->real, &s);
        break;
    }
}

int side_pack(const struct num *n, const struct side *side, uint8_t *p, int range)
{
    struct fields s = {0};
    int lost = 0;

    switch (side->kind) {
    case SIDE_INT:
        return int_pack(n, side, p, range);
    case SIDE_BOOL:
        memset(p, 0, side->size);
        p[0] = n->cls != NUM_ZERO;
        break;
    case SIDE_PAIR:
        return pair_pack(n, p, range == DREP_RANGE_CLAMP);
    case SIDE_REAL:
        lost =
            real_encode(&s, side->named ? side->format : &side->real, n, range == DREP_RANGE_CLAMP);
        real_put(&s, side, p);
        break;
    }
    return lost;
}

/* ---------------------------------------------------------- descriptions */

static bool inside(int at, int width, int size)
{
    return width >= 1 && at + width <= 8 * size;
}

/* Check and take over the fields of a custom real. Bounds of widths and bias keep all later sums
 * of exponents inside 64 bits. */
static int custom_real(struct side *side, const drep_scalar *c)
{
    bool implied = c->norm == DREP_NORM_IMPLIED;
    int base = c->exp_base_log2 ? c->exp_base_log2 : 1;
    int64_t most = (int64_t)(((uint64_t)1 << (c->exp_width & 63)) - 1);

    if (!inside(c->sign_pos, 1, c->size) || !inside(c->exp_pos, c->exp_width, c->size) ||
        !inside(c->mant_pos, c->mant_width, c->size))
        return fail(DREP_ERR_TYPE, "a real's sign, exponent or significand exceeds its %d bytes",
                    c->size);
    if (c->exp_width > 32 || c->mant_width > 113)
        return fail(DREP_ERR_TYPE, "exponents have at most 32 bits, significands 113");
    if (base == 4 ? implied || c->mant_width < 4 : base != 1 || (implied && c->exp_width < 2))
        return fail(DREP_ERR_TYPE, "no real has this base and this leading bit");
    if (c->exp_bias > BIAS_MAX || c->exp_bias < -BIAS_MAX)
        return fail(DREP_ERR_TYPE, "the exponent's bias %lld is too large", (long long)c->exp_bias);
    side->kind = SIDE_REAL;
    side->real = (struct real){.size = c->size,
                               .sign = c->sign_pos,
                               .exp_at = c->exp_pos,
                               .exp_width = c->exp_width,
                               .sig_at = c->mant_pos,
                               .sig_width = c->mant_width,
                               .implied = implied,
                               .log2_base = (uint8_t)base,
                               .fraction = base == 4,
                               .bias = c->exp_bias,
                               .first = implied,
                               .last = most - implied,
                               .specials = implied ? REAL_IEEE : REAL_NONE};
    return 0;
}

static int custom_side(struct side *side, const drep_scalar *c)
{
    if (c->size < 1 || c->size > 32)
        return fail(DREP_ERR_TYPE, "a scalar has 1 to 32 bytes, not %d", c->size);
    side->precision = c->precision;
    side->offset = c->offset;
    side->low_pad = c->low_pad;
    side->high_pad = c->high_pad;
    if (!inside(c->offset, c->precision, c->size))
        return fail(DREP_ERR_TYPE, "%d bits from bit %d exceed a scalar of %d bytes", c->precision,
                    c->offset, c->size);
    if (c->cls == DREP_SCALAR_REAL)
        return custom_real(side, c);
    if (c->cls != DREP_SCALAR_INT)
        return fail(DREP_ERR_TYPE, "raw bits have no numeric value");
    if (c->precision > 128)
        return fail(DREP_ERR_TYPE, "integers of more than 128 bits are not converted");
    side->kind = SIDE_INT;
    side->is_signed = c->is_signed != 0;
    return 0;
}

/* Describe a side from a format and size, or from a custom description. Everything that the
 * other functions assume is checked here once. */
int side_init(struct side *side, int format, int size, const drep_scalar *custom)
{
    struct side s = {.size = (uint8_t)size, .precision = (uint16_t)(8 * size)};
    int err = 0;

    if (custom && custom->format != DREP_FORMAT_CUSTOM && custom->cls == DREP_SCALAR_REAL)
        format = custom->format;
    switch (format) {
    case DREP_FORMAT_INT:
    case DREP_FORMAT_UINT:
    case DREP_FORMAT_UNICODE:
        s.kind = SIDE_INT;
        s.is_signed = format == DREP_FORMAT_INT;
        if (size < 1 || size > 16)
            err = fail(DREP_ERR_TYPE, "integers of %d bytes are not converted", size);
        break;
    case DREP_FORMAT_BOOL:
        s.kind = SIDE_BOOL;
        break;
    case DREP_FORMAT_DOUBLE_DOUBLE:
        s.kind = SIDE_PAIR;
        break;
    case DREP_FORMAT_CUSTOM:
        err = custom ? custom_side(&s, custom) : fail(DREP_ERR_TYPE, "a scalar is not described");
        break;
    default:
        if (format < 0 || format >= DREP_FORMAT_CUSTOM || reals[format].size == 0)
            return fail(DREP_ERR_TYPE, "the format \"%s\" is not numeric",
                        drep_format_name(format) ? drep_format_name(format) : "?");
        s.kind = SIDE_REAL;
        s.named = true;
        s.format = &reals[format];
        if (size < s.format->size)
            err = fail(DREP_ERR_TYPE, "%s does not fit %d bytes", drep_format_name(format), size);
        break;
    }
    if (err)
        return err;
    *side = s;
    return 0;
}

static const struct real *side_real(const struct side *side)
{
    return side->named ? side->format : &side->real;
}

static bool int_holds(const struct side *dst, const struct side *src)
{
    int have = dst->precision - dst->is_signed, need = src->precision - src->is_signed;

    return have >= need && (dst->is_signed || !src->is_signed);
}

static bool real_holds(const struct real *dst, const struct side *src)
{
    const struct real *f = side_real(src);
    int width = dst->sig_width + dst->implied;
    bool full =
        dst->specials == REAL_IEEE || dst->specials == REAL_X87 || dst->specials == REAL_M68K;

    if (src->kind == SIDE_INT)
        return dst->log2_base == 1 && width >= src->precision &&
               real_power(dst, dst->last) >= src->precision;
    if (src->kind != SIDE_REAL || !full)
        return false;
    /* The fraction of a NaN is one bit narrower where the integer bit is stored. */
    return width - !dst->implied >= f->sig_width + f->implied &&
           real_power(dst, dst->last) >= real_power(f, f->last) &&
           real_power(dst, dst->first) - width <=
               real_power(f, f->first) - f->sig_width - f->implied;
}

bool side_holds(const struct side *dst, const struct side *src)
{
    if (dst->kind == SIDE_BOOL)
        return true;
    if (src->kind == SIDE_BOOL)
        return dst->kind != SIDE_INT || dst->precision > 1;
    if (dst->kind == SIDE_INT)
        return src->kind == SIDE_INT && int_holds(dst, src);
    return dst->kind == SIDE_REAL && real_holds(side_real(dst), src);
}

bool side_reaches(const struct side *dst, const struct side *src)
{
    if (side_holds(dst, src))
        return true;
    if (src->kind != SIDE_INT)
        return false;
    /* Rounding may lead to the next power of 2. */
    return dst->kind == SIDE_PAIR ||
           (dst->kind == SIDE_REAL &&
            real_power(side_real(dst), side_real(dst)->last) > src->precision);
}

int rep_sample(int format, int size, enum rep_sample which, uint8_t *out)
{
    static const struct num samples[] = {
        [REP_ZERO] = {.cls = NUM_ZERO},
        [REP_ONE] = {.cls = NUM_FINITE, .hi = (uint64_t)1 << 63},
        [REP_MINUS] = {.cls = NUM_FINITE, .hi = (uint64_t)5 << 61, .exp = 1, .neg = true},
        [REP_LARGEST] = {.cls = NUM_FINITE, .hi = (uint64_t)1 << 63, .exp = INT32_MAX},
        [REP_NAN] = {.cls = NUM_NAN, .hi = (uint64_t)1 << 63},
    };
    struct side side;
    int err = side_init(&side, format, size, NULL);

    if (err)
        return err;
    side_pack(&samples[which], &side, out, DREP_RANGE_CLAMP);
    return 0;
}
