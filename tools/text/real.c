/* real.c - real numbers as the shortest text that reads back to the same value. */
/* SPDX-License-Identifier: MIT */
#include "tools/text/real.h"
#include "format/byteorder.h"
#include "schema/number.h"
#include "tools/text/shortest.h"
#include "tools/text/sink.h"
#include <datarep.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#if !HAVE_CXX
/* Without std::to_chars: as many digits as it takes. */
size_t shortest_float(char *text, float value)
{
    int digits, n = 0;

    for (digits = 1; digits <= 9; digits++) {
        n = snprintf(text, SHORTEST_MAX, "%.*g", digits, (double)value);
        if (strtof(text, NULL) == value)
            break;
    }
    return (size_t)n;
}

size_t shortest_double(char *text, double value)
{
    int digits, n = 0;

    for (digits = 1; digits <= 17; digits++) {
        n = snprintf(text, SHORTEST_MAX, "%.*g", digits, value);
        if (strtod(text, NULL) == value)
            break;
    }
    return (size_t)n;
}
#endif

static void put_word(struct sink *s, const char *word, bool json)
{
    if (json)
        sink_char(s, '"');
    sink_text(s, word);
    if (json)
        sink_char(s, '"');
}

static void put_non_finite(struct sink *s, bool nan, bool negative, bool json)
{
    put_word(s, nan ? "nan" : negative ? "-inf" : "inf", json);
}

/* Behind what was written at `text`: a decimal number looks like a real, "3" becomes "3.0". */
static void took_decimal(struct sink *s, char *text, size_t size)
{
    size_t i = 0;

    while (i < size && text[i] != '.' && text[i] != 'e')
        i++;
    if (i == size) {
        memcpy(text + size, ".0", 2);
        size += 2;
    }
    sink_took(s, size);
}

/* True if there is something behind the point, so that the text says so by itself. */
static bool has_fraction(double value)
{
    return fabs(value) < 9007199254740992.0 && (double)(int64_t)value != value;
}

void real_put_float(struct sink *s, float value, bool json)
{
    char *text = sink_room(s, SHORTEST_MAX + 2);

    if (text && has_fraction((double)value))
        sink_took(s, shortest_float(text, value));
    else if (text && isfinite(value))
        took_decimal(s, text, shortest_float(text, value));
    else
        put_non_finite(s, isnan(value), value < 0, json);
}

void real_put_double(struct sink *s, double value, bool json)
{
    char *text = sink_room(s, SHORTEST_MAX + 2);

    if (text && has_fraction(value))
        sink_took(s, shortest_double(text, value));
    else if (text && isfinite(value))
        took_decimal(s, text, shortest_double(text, value));
    else
        put_non_finite(s, isnan(value), value < 0, json);
}

/* Sign, exponent and fraction of a binary128. */
struct quad {
    uint64_t high, low; /* fraction: 48 and 64 bits */
    int exponent;       /* biased, 15 bits */
    bool negative;
};

static struct quad quad_load(const void *bytes)
{
    uint64_t word[2];
    struct quad q;

    memcpy(word, bytes, sizeof word);
    q.high = word[HOST_LITTLE ? 1 : 0];
    q.low = word[HOST_LITTLE ? 0 : 1];
    q.negative = q.high >> 63;
    q.exponent = (int)(q.high >> 48 & 0x7fff);
    q.high &= ((uint64_t)1 << 48) - 1;
    return q;
}

/* True if the shortest decimal of a double, which may be a rounded one, is the very value.  It has
 * at most 17 digits, so zeros behind them for so long are no accident. */
static bool decimal_is_exact(double value)
{
    char text[80], digits[SHORTEST_MAX + 1];
    const char *all = text, *d = digits;

    digits[shortest_double(digits, fabs(value))] = '\0';
    snprintf(text, sizeof text, "%.60e", fabs(value));
    for (d += strspn(d, "0."); *d && *d != 'e'; d++) {
        if (*d == '.')
            continue;
        if (*d != *all)
            return false;
        all += all[1] == '.' ? 2 : 1;
    }
    return all[strspn(all, "0.")] == 'e';
}

/* Put 0.digits * 10^ten as std::to_chars() does: with an exponent where that is shorter. */
static void put_decimal(struct sink *s, bool negative, const char *digits, int n, int64_t ten)
{
    int64_t power = ten - 1, size = llabs(power);
    int64_t scientific = n + (n > 1) + 2 + (size < 100 ? 2 : size < 1000 ? 3 : 4);
    int64_t fixed = power < 0 ? n + 1 - power : power < n ? n + 1 : ten;
    char text[2 * NUMBER_DIGITS + 16];
    int at = 0;

    if (negative)
        text[at++] = '-';
    if (fixed > scientific) {
        at += snprintf(text + at, sizeof text - (size_t)at, "%c%s%.*se%+03lld", *digits,
                       n > 1 ? "." : "", n - 1, digits + 1, (long long)power);
    } else if (power < 0) {
        at += snprintf(text + at, sizeof text - (size_t)at, "0.%.*s%.*s", (int)-power - 1,
                       "0000000000", n, digits);
    } else {
        for (int i = 0; i < n || i <= power + 1; i++) {
            text[at++] = i < n ? digits[i] : '0';
            if (i == power)
                text[at++] = '.';
        }
    }
    text[at] = '\0';
    sink_text(s, text);
}

/* ------------------------------------------------------ the sum of two doubles */

/* A number of 2^-1074: the least bit of the smallest double is the first of `limb`, and
 * there is room for the sum of the two largest. */
enum { SUM_LIMBS = 67 };
struct sum {
    uint32_t limb[SUM_LIMBS];
};

/* s += or -= m * 2^shift; it never falls below zero. */
static void sum_step(struct sum *s, uint64_t m, int shift, bool minus)
{
    int bit = shift % 32;
    uint64_t parts[] = {m << bit & UINT32_MAX, (m >> (32 - bit)) & UINT32_MAX,
                        bit ? m >> (64 - bit) : 0};
    uint64_t carry = 0, part;

    for (int i = shift / 32, k = 0; i < SUM_LIMBS && (k < 3 || carry); i++, k++) {
        part = (k < 3 ? parts[k] : 0) + carry;
        if (minus) {
            carry = s->limb[i] < part;
            s->limb[i] = (uint32_t)(s->limb[i] - part);
        } else {
            part += s->limb[i];
            s->limb[i] = (uint32_t)part;
            carry = part >> 32;
        }
    }
}

static void sum_add(struct sum *s, double value, bool minus)
{
    int exponent;
    double fraction = frexp(fabs(value), &exponent);
    int digits = exponent > -1021 ? 53 : exponent + 1074;

    if (value != 0)
        sum_step(s, (uint64_t)ldexp(fraction, digits), exponent - digits + 1074, minus);
}

static unsigned sum_bit(const struct sum *s, int at)
{
    return at < 0 ? 0 : s->limb[at / 32] >> at % 32 & 1;
}

/* The places of the first and the last bit that are set; false if there is none. */
static bool sum_ends(const struct sum *s, int *top, int *low)
{
    int high = SUM_LIMBS - 1, deep = 0;

    while (high >= 0 && !s->limb[high])
        high--;
    if (high < 0)
        return false;
    while (!s->limb[deep])
        deep++;
    *top = 32 * high + 31 - __builtin_clz(s->limb[high]);
    *low = 32 * deep + __builtin_ctz(s->limb[deep]);
    return true;
}

/* The 53 bits from `top` down, which are all. */
static double sum_double(const struct sum *s, int top)
{
    uint64_t m = 0;

    for (int i = 0; i < 53; i++)
        m = m << 1 | sum_bit(s, top - i);
    return ldexp((double)m, top - 52 - 1074);
}

static void sum_hex(struct sink *out, const struct sum *s, int top, int low, bool negative,
                    bool json)
{
    char text[8 * SUM_LIMBS + 32];
    int n = snprintf(text, sizeof text, "%s0x1%s", negative ? "-" : "", low < top ? "." : "");

    for (int at = top - 1; at >= low; at -= 4)
        text[n++] = "0123456789abcdef"[sum_bit(s, at) << 3 | sum_bit(s, at - 1) << 2 |
                                       sum_bit(s, at - 2) << 1 | sum_bit(s, at - 3)];
    snprintf(text + n, sizeof text - (size_t)n, "p%+d", top - 1074);
    put_word(out, text, json);
}

/* Power of two of half the gap between what the lesser double of a pair may be.  Where it is half a
 * unit of the greater one, what is not exact might be read as another pair. */
static int pair_gap(double great, double small)
{
    int exponent, top;
    double fraction = frexp(fabs(small), &exponent);

    frexp(great, &top);
    if (small == 0 || (fraction == 0.5 && exponent >= top - 53))
        return -1075;
    return exponent - 55 > -1075 ? exponent - 55 : -1075;
}

void real_put_pair(struct sink *s, const double pair[2], bool json, bool exact)
{
    bool second = fabs(pair[1]) > fabs(pair[0]);
    double great = pair[second], small = pair[!second], value;
    bool plain = json || exact; /* a double, or hexadecimal */
    bool negative = signbit(great);
    char digits[NUMBER_DIGITS];
    struct sum sum = {{0}};
    int top, low, gap, n;
    int64_t ten;

    if (!isfinite(pair[0]) || !isfinite(pair[1])) {
        value = isfinite(pair[0]) ? pair[1] : pair[0];
        put_non_finite(s, isnan(value), value < 0, json);
        return;
    }
    if (small == 0 && great != 0 && plain && (!exact || decimal_is_exact(great))) {
        real_put_double(s, great, json);
        return;
    }
    sum_add(&sum, great, false);
    sum_add(&sum, small, (signbit(small) != 0) != negative);
    if (!sum_ends(&sum, &top, &low)) {
        real_put_double(s, pair[0] == 0 ? pair[0] : 0.0, json);
        return;
    }
    gap = pair_gap(great, small);
    n = plain ? 0 : number_digits(sum.limb, SUM_LIMBS, -1074, gap, gap, digits, &ten);
    if (n > 0) {
        put_decimal(s, negative, digits, n, ten);
        return;
    }
    value = top - low < 53 && top - 1074 < 1024 ? sum_double(&sum, top) : 0;
    if (value != 0 && plain && (!exact || decimal_is_exact(value)))
        real_put_double(s, negative ? -value : value, json);
    else
        sum_hex(s, &sum, top, low, negative, json);
}

/* ------------------------------------------------------ reals by their description */

unsigned real_bit(const drep_scalar *scalar, const void *element, unsigned i)
{
    const unsigned char *at = element;
    unsigned byte = i / 8, size = scalar->size;

    if (scalar->order == DREP_BIG)
        byte = size - 1 - byte;
    else if (scalar->order == DREP_VAX && size > 1)
        /* Words from the most significant down, bytes inside little-endian. */
        byte = (size / 2 - 1 - byte / 2) * 2 + byte % 2;
    return at[byte < size ? byte : 0] >> (i % 8) & 1u;
}

/* The fields of a real; of a named format those of its line in formats.def. */
static drep_scalar fields_of(const drep_scalar *scalar)
{
    const drep_format_info *f = drep_format_describe(scalar->format);
    drep_scalar s = *scalar;

    if (s.format == DREP_FORMAT_CUSTOM || !f)
        return s;
    s.norm = f->implied ? DREP_NORM_IMPLIED : DREP_NORM_NONE;
    s.sign_pos = (uint16_t)f->sign_pos;
    s.exp_pos = (uint16_t)f->exp_pos;
    s.exp_width = (uint16_t)f->exp_width;
    s.mant_pos = (uint16_t)f->mant_pos;
    s.mant_width = (uint16_t)f->mant_width;
    s.exp_base_log2 = (uint8_t)f->base_log2;
    s.exp_bias = f->bias;
    return s;
}

static uint64_t field(const drep_scalar *s, const void *at, unsigned from, unsigned bits)
{
    uint64_t value = 0;

    for (unsigned i = bits; i > 0; i--)
        value = value << 1 | real_bit(s, at, from + i - 1);
    return value;
}

/* The power of two of the significand's last bit; false if it is beyond 62 bits. */
static bool last_bit(const drep_scalar *s, int64_t e, int64_t *out)
{
    bool whole = s->norm != DREP_NORM_IMPLIED && s->exp_base_log2 == 1; /* a bit before the point */
    const int64_t most = (int64_t)1 << 62;

    if (__builtin_sub_overflow(e, s->exp_bias, &e) ||
        __builtin_mul_overflow(e, (int64_t)s->exp_base_log2, &e) || e < -most || e > most)
        return false;
    *out = e - (s->mant_width - whole);
    return true;
}

static int top_bit(const struct real_number *m)
{
    return m->high ? 127 - __builtin_clzll(m->high) : 63 - __builtin_clzll(m->low);
}

static void shift_up(struct real_number *m)
{
    m->high = m->high << 1 | m->low >> 63;
    m->low <<= 1;
    m->exponent--;
}

static void shift_down(struct real_number *m)
{
    m->low = m->low >> 1 | m->high << 63;
    m->high >>= 1;
    m->exponent++;
}

/* The double that has exactly this value, if there is one.  m is odd. */
static bool magnitude_double(const struct real_number *m, double *out)
{
    int top = top_bit(m);

    if (top > 52 || m->exponent < -1074 || m->exponent > 1023 - top)
        return false;
    *out = ldexp((double)m->low, (int)m->exponent);
    return true;
}

/* A power of two beyond 64 bits: millions * MILLION + ones. */
struct power {
    int64_t millions, ones;
};
#define MILLION 1000000

static int power_text(char *text, size_t room, struct power p)
{
    p.millions += p.ones / MILLION;
    p.ones %= MILLION;
    if (p.millions > 0 && p.ones < 0)
        p.millions--, p.ones += MILLION;
    if (p.millions < 0 && p.ones > 0)
        p.millions++, p.ones -= MILLION;
    return p.millions ? snprintf(text, room, "p%+lld%06lld", (long long)p.millions,
                                 (long long)(p.ones < 0 ? -p.ones : p.ones))
                      : snprintf(text, room, "p%+lld", (long long)p.ones);
}

/* m is odd, and without its power of two, that of its leading bit. */
static void magnitude_hex(struct sink *s, struct real_number m, struct power power, bool json)
{
    int top = top_bit(&m), digits = (top + 3) / 4;
    char text[80];
    int n = snprintf(text, sizeof text, "%s0x1%s", m.negative ? "-" : "", top ? "." : "");

    while (top_bit(&m) < 127)
        shift_up(&m);
    shift_up(&m); /* the leading 1 is written */
    for (int i = 0; i < digits; i++) {
        text[n++] = "0123456789abcdef"[m.high >> 60];
        for (int k = 0; k < 4; k++)
            shift_up(&m);
    }
    power_text(text + n, sizeof text - (size_t)n, power);
    put_word(s, text, json);
}

/* Of a format: bits of the significand, in base 2^base_log2, and the power of two of the last bit
 * of its least numbers. */
struct resolution {
    int precision, base_log2;
    int64_t least;
};

/* The shortest decimal that reads back in the format; false: it is too long.  m is odd. */
static bool put_shortest(struct sink *s, const struct real_number *m, struct resolution r)
{
    const uint32_t word[] = {(uint32_t)m->low, (uint32_t)(m->low >> 32), (uint32_t)m->high,
                             (uint32_t)(m->high >> 32)};
    int64_t top = m->exponent + top_bit(m), into = top % r.base_log2, last, ten;
    char digits[NUMBER_DIGITS];
    bool first; /* of the numbers with this exponent: beneath it they are closer */
    int n;

    into += into < 0 ? r.base_log2 : 0;
    last = top - into + r.base_log2 - r.precision;
    first = into == 0 && top_bit(m) == 0 && last > r.least;
    last = last > r.least ? last : r.least;
    /* What the format does not hold, because it was never in it, is told all the same. */
    last = last < m->exponent ? last : m->exponent;
    n = number_digits(word, 4, m->exponent, last - 1, last - 1 - (first ? r.base_log2 : 0), digits,
                      &ten);
    if (n > 0)
        put_decimal(s, m->negative, digits, n, ten);
    return n > 0;
}

static void put_number(struct sink *s, const struct real_number *m, struct resolution r, bool json,
                       bool exact)
{
    const struct power power = {0, m->exponent + top_bit(m)};
    double value;

    if (json || exact) {
        if (magnitude_double(m, &value) && (!exact || decimal_is_exact(value)))
            real_put_double(s, m->negative ? -value : value, json);
        else
            magnitude_hex(s, *m, power, json);
    } else if (!put_shortest(s, m, r)) {
        magnitude_hex(s, *m, power, json);
    }
}

void real_put_quad(struct sink *s, const void *quad, bool json, bool exact)
{
    const struct resolution r = {.precision = 113, .base_log2 = 1, .least = -16494};
    struct quad q = quad_load(quad);
    struct real_number m = {.high = q.high, .low = q.low, .negative = q.negative};

    if (q.exponent == 0x7fff) {
        put_non_finite(s, q.high || q.low, q.negative, json);
    } else if (q.exponent == 0 && !q.high && !q.low) {
        real_put_double(s, q.negative ? -0.0 : 0.0, json);
    } else {
        m.high |= q.exponent ? (uint64_t)1 << 48 : 0;
        m.exponent = (q.exponent ? q.exponent : 1) - 16383 - 112;
        while (!(m.low & 1))
            shift_down(&m);
        put_number(s, &m, r, json, exact);
    }
}

/* Decode infinities, NaNs and other values that the highest or the lowest exponent marks; false:
 * it marks none. */
static bool load_special(const drep_scalar *s, uint64_t e, struct real_number *n)
{
    bool vax = s->format >= DREP_FORMAT_VAX_F && s->format <= DREP_FORMAT_VAX_H;
    bool fraction = n->high || n->low;

    if (vax ? e != 0 : s->norm != DREP_NORM_IMPLIED || e != ((uint64_t)1 << s->exp_width) - 1)
        return false;
    n->nan = vax ? n->negative : fraction;
    n->infinite = !vax && !fraction;
    n->negative = n->negative && !vax;
    n->high = n->low = 0;
    return true;
}

void real_load(struct real_number *n, const drep_scalar *scalar, const void *at)
{
    const drep_scalar s = fields_of(scalar);
    bool implied = s.norm == DREP_NORM_IMPLIED;
    uint64_t e = field(&s, at, s.exp_pos, s.exp_width);
    unsigned low = s.mant_width < 64 ? s.mant_width : 64;

    *n = (struct real_number){.low = field(&s, at, s.mant_pos, low),
                              .high = field(&s, at, s.mant_pos + 64u, s.mant_width - low),
                              .negative = field(&s, at, s.sign_pos, 1)};
    if (load_special(&s, e, n))
        return;
    if (implied && e > 0) {
        n->high |= s.mant_width >= 64 ? (uint64_t)1 << (s.mant_width - 64) : 0;
        n->low |= s.mant_width < 64 ? (uint64_t)1 << s.mant_width : 0;
    }
    if (!n->high && !n->low)
        return;
    if (!last_bit(&s, implied && e == 0 ? 1 : (int64_t)e, &n->exponent)) {
        n->beyond = true;
        return;
    }
    while (!(n->low & 1))
        shift_down(n);
}

/* The order of two that are neither zero nor special, without their signs. */
static int order_sizes(struct real_number a, struct real_number b)
{
    int64_t x = a.exponent + top_bit(&a), y = b.exponent + top_bit(&b);

    if (x != y)
        return x < y ? -1 : 1;
    while (top_bit(&a) < 127)
        shift_up(&a);
    while (top_bit(&b) < 127)
        shift_up(&b);
    if (a.high != b.high)
        return a.high < b.high ? -1 : 1;
    return a.low < b.low ? -1 : a.low > b.low;
}

int real_order(const struct real_number *a, const struct real_number *b)
{
    bool a_zero = !a->infinite && !a->high && !a->low;
    bool b_zero = !b->infinite && !b->high && !b->low;
    int order;

    if (a_zero || b_zero) {
        if (a_zero && b_zero)
            return 0;
        return a_zero ? (b->negative ? 1 : -1) : (a->negative ? -1 : 1);
    }
    if (a->negative != b->negative)
        return a->negative ? -1 : 1;
    if (a->infinite || b->infinite)
        order = a->infinite - b->infinite;
    else
        order = order_sizes(*a, *b);
    return a->negative ? -order : order;
}

int real_bits(const struct real_number *n)
{
    return n->high || n->low ? top_bit(n) + 1 : 0;
}

double real_double(const struct real_number *n, double *rest)
{
    double sign = n->negative ? -1 : 1, value = n->nan ? NAN : INFINITY;
    int64_t power = n->exponent + (n->high || n->low ? top_bit(n) : 0);
    uint64_t parts[] = {n->high >> 32, n->high & UINT32_MAX, n->low >> 32, n->low & UINT32_MAX};

    *rest = 0;
    if (n->nan || n->infinite || n->beyond || power > 1023)
        return sign * value;
    if (power < -1074)
        return sign * 0.0;
    value = 0;
    /* From the highest part down: each sum is rounded to the nearest, and the rest is exact. */
    for (int i = 0; i < 4; i++) {
        double part = *rest + ldexp((double)parts[i], 96 - 32 * i), sum = value + part;

        *rest = part - (sum - value);
        value = sum;
    }
    *rest = sign * ldexp(*rest, (int)n->exponent);
    return sign * ldexp(value, (int)n->exponent);
}

static struct resolution resolution_of(const drep_scalar *s)
{
    bool implied = s->norm == DREP_NORM_IMPLIED;
    struct resolution r = {.precision = s->mant_width + implied, .base_log2 = s->exp_base_log2};

    if (!last_bit(s, implied, &r.least))
        r.least = INT64_MIN / 2;
    return r;
}

/* A number whose power of two is beyond 62 bits. */
static void put_beyond(struct sink *sink, const drep_scalar *s, const void *at,
                       struct real_number m, bool json)
{
    bool implied = s->norm == DREP_NORM_IMPLIED;
    bool whole = !implied && s->exp_base_log2 == 1;
    int64_t e = (int64_t)field(s, at, s->exp_pos, s->exp_width);
    struct power p;

    m.exponent = 0;
    while (!(m.low & 1))
        shift_down(&m);
    p.millions = -(s->exp_bias / MILLION) * s->exp_base_log2;
    p.ones = ((implied && e == 0 ? 1 : e) - s->exp_bias % MILLION) * s->exp_base_log2;
    p.ones += m.exponent + top_bit(&m) - (s->mant_width - whole);
    magnitude_hex(sink, m, p, json);
}

void real_put_scalar(struct sink *sink, const drep_scalar *scalar, const void *at, bool json,
                     bool exact)
{
    const drep_scalar fields = fields_of(scalar);
    struct real_number n;

    real_load(&n, scalar, at);
    if (n.nan || n.infinite)
        put_non_finite(sink, n.nan, n.negative, json);
    else if (n.beyond)
        put_beyond(sink, &fields, at, n, json);
    else if (!n.high && !n.low)
        real_put_double(sink, n.negative ? -0.0 : 0.0, json);
    else
        put_number(sink, &n, resolution_of(&fields), json, exact);
}

void real_quad_parts(const void *quad, double parts[3])
{
    struct quad q = quad_load(quad);
    uint64_t top = (uint64_t)1 << 52 | q.high << 4 | q.low >> 60;
    int64_t low = (int64_t)(q.low & (((uint64_t)1 << 60) - 1));
    int exponent = q.exponent - 16383;
    double sign = q.negative ? -1 : 1;

    parts[1] = parts[2] = 0;
    if (q.exponent == 0x7fff) {
        parts[0] = q.high || q.low ? NAN : sign * INFINITY;
        return;
    }
    if (low > (int64_t)1 << 59) {
        top++;
        low -= (int64_t)1 << 60;
    }
    /* Subnormal numbers are nothing beside any double. */
    parts[0] = q.exponent ? sign * ldexp((double)top, exponent - 52) : sign * 0.0;
    if (!q.exponent || !isfinite(parts[0]))
        return;
    parts[1] = sign * ldexp((double)low, exponent - 112);
    parts[2] = sign * ldexp((double)(low - (int64_t)(double)low), exponent - 112);
}

float real_narrow(int format, unsigned bits)
{
    const drep_format_info *f = drep_format_describe(format);
    int fbits = f->mant_width, ebits = f->exp_width;
    unsigned fraction = bits & ((1u << fbits) - 1), ones = (1u << fbits) - 1;
    unsigned exponent = bits >> fbits & ((1u << ebits) - 1);
    bool negative = bits >> (fbits + ebits) & 1, top = exponent == (1u << ebits) - 1;
    float value;

    /* A format without infinities has one NaN; its largest exponent is of numbers too. */
    if (!f->ieee)
        value = top && fraction == ones ? NAN : 0;
    else
        value = !top ? 0 : fraction ? NAN : INFINITY;
    if (value == 0) {
        if (exponent)
            fraction |= 1u << fbits;
        value = ldexpf((float)fraction, (exponent ? (int)exponent : 1) - f->bias - fbits);
    }
    return negative ? -value : value;
}
