/* decimal.c - text to a binary128 or a pair of doubles and back, in integers alone, rounded once.
 *
 * A decimal number is D * 10^E with a whole D.  Long division gives its first 128 bits, and
 * whether anything follows: exact, whatever the length of the text.  What will be stored with
 * fewer than 112 bits is rounded to odd (the last bit set if anything is lost): rounding that
 * to the nearest with at least two bits less is the same as rounding the text itself. */
/* SPDX-License-Identifier: MIT */
#include "schema/number.h"
#include "format/byteorder.h"
#include <datarep.h>
#include <ctype.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define QUAD_BITS 113
#define QUAD_LEAST (-16382) /* exponent of the smallest normal number */
#define QUAD_MOST 16383

/* A number beyond 10^5000 or below 10^-5000 is beyond every binary128.  Within, a boundary
 * between two of them has fewer than 12,000 digits: those behind can only be "and more". */
#define POINT_MAX 5000
#define DIGITS_MAX 12000
#define BINARY_MAX 16590 /* powers of two of numbers that are within POINT_MAX */
#define WORDS 2048       /* of 32 bits: 10^(DIGITS_MAX + POINT_MAX), and a shift */

/* The exponent that stands for all numbers below 10^-POINT_MAX: beneath every binary128. */
#define TINY (-20000)
/* Formats that begin below this have numbers there, also subnormal ones, that are no longer read.
 */
#define TINY_LEAST (-16470)

/* 2^exponent times the 128 bits high:low, whose top bit is set and has the weight 1. */
struct exact {
    uint64_t high, low;
    int64_t exponent;
    bool negative, more; /* more: nonzero bits follow */
};

/* ------------------------------------------------------------ big integers */

struct big {
    size_t len; /* words in use, the last one not 0 */
    uint32_t word[WORDS];
};

/* b = b * factor + add; what is beyond WORDS cannot be, see there. */
static void big_multiply(struct big *b, uint32_t factor, uint32_t add)
{
    uint64_t carry = add;
    size_t i;

    for (i = 0; i < b->len; i++) {
        carry += (uint64_t)b->word[i] * factor;
        b->word[i] = (uint32_t)carry;
        carry >>= 32;
    }
    if (carry && b->len < WORDS)
        b->word[b->len++] = (uint32_t)carry;
}

static void big_power(struct big *b, int64_t tens)
{
    for (; tens >= 9; tens -= 9)
        big_multiply(b, 1000000000, 0);
    for (; tens > 0; tens--)
        big_multiply(b, 10, 0);
}

static int64_t big_bits(const struct big *b)
{
    return b->len ? 32 * (int64_t)b->len - __builtin_clz(b->word[b->len - 1]) : 0;
}

static void big_shift(struct big *b, int64_t by)
{
    size_t words = (size_t)by / 32, i;
    int bits = (int)(by % 32);

    if (bits)
        big_multiply(b, (uint32_t)1 << bits, 0);
    if (!words || words > WORDS - b->len)
        return;
    for (i = b->len; i > 0; i--)
        b->word[i - 1 + words] = b->word[i - 1];
    memset(b->word, 0, words * sizeof *b->word);
    b->len += words;
}

static bool big_less(const struct big *a, const struct big *b)
{
    size_t i;

    if (a->len != b->len)
        return a->len < b->len;
    for (i = a->len; i > 0; i--)
        if (a->word[i - 1] != b->word[i - 1])
            return a->word[i - 1] < b->word[i - 1];
    return false;
}

/* a -= b, which is not larger. */
static void big_subtract(struct big *a, const struct big *b)
{
    int64_t rest = 0;
    size_t i;

    for (i = 0; i < a->len; i++) {
        rest += (int64_t)a->word[i] - (i < b->len ? b->word[i] : 0);
        a->word[i] = (uint32_t)rest;
        rest >>= 32;
    }
    while (a->len && a->word[a->len - 1] == 0)
        a->len--;
}

/* ----------------------------------------------------------------- reading */

/* Moves num or den, both not 0, until num / den is from 1 to below 2; gives the power of two
 * that this took away. */
static int64_t align_top_bits(struct big *num, struct big *den)
{
    int64_t shift = big_bits(num) - big_bits(den);

    big_shift(shift > 0 ? den : num, llabs(shift));
    if (big_less(num, den)) {
        big_shift(num, 1);
        shift--;
    }
    return shift;
}

/* The first bits of num / den, which is below 2; num / den * 2^-bits is left. */
static void divide_bits(struct big *num, const struct big *den, int bits, uint64_t *high,
                        uint64_t *low)
{
    *high = *low = 0;
    for (int i = 0; i < bits; i++) {
        *high = *high << 1 | *low >> 63;
        *low <<= 1;
        if (!big_less(num, den)) {
            big_subtract(num, den);
            *low |= 1;
        }
        big_shift(num, 1);
    }
}

/* An exponent, held within what makes a difference. */
static int64_t read_exponent(const char *p)
{
    bool negative = *p == '-';
    int64_t value = 0;

    for (p += *p == '-' || *p == '+'; isdigit((unsigned char)*p); p++)
        if (value < (int64_t)1 << 50)
            value = 10 * value + (*p - '0');
    return negative ? -value : value;
}

/* The result of reading a text: out of range, zero, below any format, a number. */
enum said { SAID_NONE, SAID_ZERO, SAID_TINY, SAID_NUMBER };

/* num / den * 2^twos, and whether nonzero digits follow. */
struct ratio {
    struct big num, den;
    int64_t twos;
    bool more;
};

/* Digits, a point among them, and an exponent: number_is_real() has looked at the text. */
static enum said decimal_ratio(const char *p, struct ratio *out)
{
    int64_t point = 0, kept = 0;
    bool behind = false;

    for (; isdigit((unsigned char)*p) || *p == '.'; p++) {
        if (*p == '.') {
            behind = true;
            continue;
        }
        if (*p == '0' && kept == 0) { /* leading */
            point -= behind;
            continue;
        }
        point += !behind;
        if (kept < DIGITS_MAX) {
            big_multiply(&out->num, 10, (uint32_t)(*p - '0'));
            kept++;
        } else {
            out->more = out->more || *p != '0';
        }
    }
    if (kept == 0)
        return SAID_ZERO;
    if (*p)
        point += read_exponent(p + 1);
    if (point > POINT_MAX)
        return SAID_NONE;
    if (point < -POINT_MAX)
        return SAID_TINY;
    big_power(point > kept ? &out->num : &out->den, llabs(point - kept));
    return SAID_NUMBER;
}

static unsigned hex_value(char c)
{
    return (unsigned)(c <= '9' ? c - '0' : (c | 32) - 'a' + 10);
}

/* "p" and a power of two, or nothing; false if it is something else. */
static bool read_twos(const char *p, int64_t *exponent)
{
    if (*p == 'p' || *p == 'P') {
        p++;
        if (!isdigit((unsigned char)p[*p == '-' || *p == '+']))
            return false;
        *exponent += read_exponent(p);
        for (p++; isdigit((unsigned char)*p); p++)
            ;
    }
    return !*p;
}

/* Read the part after "0x": digits, a point among them, and an optional power of two. */
static enum said hex_ratio(const char *p, struct ratio *out)
{
    bool behind = false;

    for (; isxdigit((unsigned char)*p) || (*p == '.' && !behind); p++) {
        if (*p == '.') {
            behind = true;
        } else if (out->num.len > WORDS / 2) {
            out->more = out->more || *p != '0';
            out->twos += behind ? 0 : 4;
        } else {
            big_multiply(&out->num, 16, hex_value(*p));
            out->twos -= behind ? 4 : 0;
        }
    }
    if (!read_twos(p, &out->twos))
        return SAID_NONE;
    return out->num.len == 0 ? SAID_ZERO : SAID_NUMBER;
}

/* The text of a number that is no special one. */
static enum said read_ratio(const char *text, struct ratio *out)
{
    bool hex = number_is_hex(text);

    if (!hex && !number_is_real(text))
        return SAID_NONE;
    text += *text == '-' || *text == '+';
    out->num.len = 0;
    out->den.len = 1;
    out->den.word[0] = 1;
    out->twos = 0;
    out->more = false;
    return hex ? hex_ratio(text + 2, out) : decimal_ratio(text, out);
}

/* ---------------------------------------------------------------- rounding */

/* Drops the last `by` bits, of 1 to 128. */
static void drop_bits(struct exact *n, int64_t by, bool odd)
{
    uint64_t half, rest;
    int64_t i;
    bool up;

    for (half = rest = 0, i = 0; i < by; i++) {
        rest |= half;
        half = n->low & 1;
        n->low = n->low >> 1 | n->high << 63;
        n->high >>= 1;
    }
    rest |= n->more;
    if (odd) {
        n->low |= half | rest;
        return;
    }
    up = half && (rest || (n->low & 1));
    n->low += up;
    n->high += up && n->low == 0;
}

/* Rounds to binary128; `bits` as number_quad() has it. */
static bool pack_quad(struct exact *n, int bits, uint64_t *quad)
{
    bool odd = bits != NUMBER_HEX128 && bits <= QUAD_BITS - 2;
    int64_t keep = QUAD_BITS, below = QUAD_LEAST - n->exponent, by;

    if (bits == NUMBER_HEX128)
        keep = 109 + (n->exponent & 3);
    by = 128 - keep + (below > 0 ? below : 0);
    if (by > 128) { /* less than half of the smallest number */
        n->high = n->low = 0;
        n->more = true;
        by = 128;
    }
    drop_bits(n, by, odd);
    /* The significand's last bit to its place; rounding up may have made it a bit longer. */
    for (; keep < QUAD_BITS; keep++) {
        n->high = n->high << 1 | n->low >> 63;
        n->low <<= 1;
    }
    if (below > 0) {
        /* Subnormal; the smallest normal number has the bits that it should have. */
        quad[0] = n->high;
    } else {
        if (n->high >> 49) {
            n->high >>= 1;
            n->exponent++;
        }
        if (n->exponent > QUAD_MOST)
            return false;
        quad[0] = (n->high & (((uint64_t)1 << 48) - 1)) | (uint64_t)(n->exponent + QUAD_MOST) << 48;
    }
    quad[1] = n->low;
    return true;
}

static void store_quad(const uint64_t *quad, bool negative, void *out)
{
    uint64_t word[2];

    word[HOST_LITTLE ? 1 : 0] = quad[0] | (uint64_t)negative << 63;
    word[HOST_LITTLE ? 0 : 1] = quad[1];
    memcpy(out, word, sizeof word);
}

/* Reads a number that is none of the special ones; SAID_TINY is far below, and not zero. */
static enum said read_exact(const char *text, struct exact *n)
{
    struct ratio r;
    enum said said = read_ratio(text, &r);

    if (said == SAID_TINY) {
        n->high = (uint64_t)1 << 63;
        n->exponent = TINY;
        n->more = true;
    } else if (said == SAID_NUMBER) {
        n->exponent = align_top_bits(&r.num, &r.den) + r.twos;
        divide_bits(&r.num, &r.den, 128, &n->high, &n->low);
        n->more = r.more || r.num.len > 0;
    }
    return said;
}

/* Convert text to a binary128: to the nearest, or to odd where fewer than 112 `bits` will be
 * stored. False: not a number, or beyond the range. */
bool number_quad(const char *text, int bits, void *out)
{
    int which = number_special(text);
    uint64_t quad[2] = {0, 0};
    struct exact n = {.negative = *text == '-'};
    enum said said;

    if (which) {
        quad[0] = (uint64_t)0x7fff << 48 | (which == 1 ? (uint64_t)1 << 47 : 0);
        store_quad(quad, which == 3, out);
        return true;
    }
    said = read_exact(text, &n);
    if (said == SAID_NONE)
        return false;
    if (said != SAID_ZERO && !pack_quad(&n, bits, quad))
        return false;
    store_quad(quad, n.negative, out);
    return true;
}

/* ------------------------------------------------------------ beyond binary128 */

#define WIDE_BITS 113 /* of the significand, without the leading one */
#define WIDE_EXPONENT 32
#define WIDE_BIAS (((int64_t)1 << 31) - 1)

drep_scalar number_wide_scalar(void)
{
    return (drep_scalar){.cls = DREP_SCALAR_REAL,
                         .order = HOST_LITTLE ? DREP_LITTLE : DREP_BIG,
                         .size = NUMBER_WIDE_SIZE,
                         .is_signed = 1,
                         .format = DREP_FORMAT_CUSTOM,
                         .norm = DREP_NORM_IMPLIED,
                         .precision = WIDE_BITS + WIDE_EXPONENT + 1,
                         .sign_pos = WIDE_BITS + WIDE_EXPONENT,
                         .exp_pos = WIDE_BITS,
                         .exp_width = WIDE_EXPONENT,
                         .mant_width = WIDE_BITS,
                         .exp_base_log2 = 1,
                         .exp_bias = WIDE_BIAS};
}

static void store_wide(const struct exact *n, uint64_t exponent, void *out)
{
    const uint64_t word[] = {n->low, (n->high & (((uint64_t)1 << 49) - 1)) | exponent << 49,
                             exponent >> 15 | (uint64_t)n->negative << 17, 0};
    unsigned char *p = out;

    for (int i = 0; i < NUMBER_WIDE_SIZE; i++)
        p[HOST_LITTLE ? i : NUMBER_WIDE_SIZE - 1 - i] = (unsigned char)(word[i / 8] >> i % 8 * 8);
}

/* Rounds to the bits that the format keeps of this number, or to odd where those are at least two
 * less, and moves the leading bit to its place. */
static void round_wide(struct exact *n, struct wide_form form)
{
    bool odd = form.bits > 0 && form.bits <= WIDE_BITS - 1;
    int64_t below = !odd && form.least > n->exponent ? form.least - n->exponent : 0;
    int64_t keep = odd ? WIDE_BITS + 1 : form.bits;
    int64_t by;

    if (form.bits < 0) /* leading bits of the first digit may be 0 */
        keep = -form.bits - 3 + ((n->exponent + below) & 3);
    by = 128 - keep + below;
    if (by > 128) { /* less than half of the smallest number */
        n->high = n->low = 0;
        return;
    }
    drop_bits(n, (int64_t)by, odd);
    n->exponent += (int64_t)by - (127 - WIDE_BITS);
    for (; n->high >> (WIDE_BITS - 63); n->exponent++) { /* rounded up to one bit more */
        n->low = n->low >> 1 | n->high << 63;
        n->high >>= 1;
    }
    for (; (n->high || n->low) && !(n->high >> (WIDE_BITS - 64)); n->exponent--) {
        n->high = n->high << 1 | n->low >> 63;
        n->low <<= 1;
    }
}

/* The exponent field; numbers below the normal ones move down. False: out of range. */
static bool wide_exponent(struct exact *n, uint64_t *out)
{
    if (n->exponent < -WIDE_BIAS - WIDE_BITS || n->exponent > WIDE_BIAS)
        return false;
    *out = n->exponent > -WIDE_BIAS ? (uint64_t)(n->exponent + WIDE_BIAS) : 0;
    for (; n->exponent <= -WIDE_BIAS; n->exponent++) {
        if (n->low & 1)
            return false;
        n->low = n->low >> 1 | n->high << 63;
        n->high >>= 1;
    }
    return true;
}

bool number_wide(const char *text, struct wide_form form, void *out)
{
    int which = number_special(text);
    struct exact n = {.negative = *text == '-'};
    uint64_t exponent = 0;
    enum said said = which ? SAID_ZERO : read_exact(text, &n);

    if (said == SAID_NONE || (said == SAID_TINY && form.least < TINY_LEAST))
        return false;
    if (which) {
        exponent = ((uint64_t)1 << WIDE_EXPONENT) - 1;
        n.high = which == 1 ? (uint64_t)1 << (WIDE_BITS - 65) : 0;
        n.negative = which == 3;
    } else if (said != SAID_ZERO) {
        round_wide(&n, form);
        if ((n.high || n.low) && !wide_exponent(&n, &exponent))
            return false;
    }
    store_wide(&n, exponent, out);
    return true;
}

/* Subtract the nearest double from num / den * 2^twos, which may change its sign. */
static double take_double(struct ratio *r, bool *negative)
{
    int64_t top = align_top_bits(&r->num, &r->den) + r->twos;
    int64_t bits = top < -1022 ? 53 + top + 1022 : 53;
    double sign = *negative ? -1 : 1;
    uint64_t high, low;
    bool up;

    if (bits < 0 || top > 1023) {
        r->num.len = 0;
        return bits < 0 ? sign * 0.0 : sign * INFINITY;
    }
    divide_bits(&r->num, &r->den, (int)bits, &high, &low);
    r->twos = top - bits;
    up = big_less(&r->den, &r->num) || (!big_less(&r->num, &r->den) && (low & 1));
    if (up) { /* by 2 - num / den too far */
        struct big twice = r->den;

        big_shift(&twice, 1);
        big_subtract(&twice, &r->num);
        r->num = twice;
        *negative = !*negative;
    }
    return sign * ldexp((double)(low + up), (int)(r->twos + 1));
}

bool number_pair(const char *text, double out[2])
{
    bool negative = *text == '-';
    int which = number_special(text);
    struct ratio r;
    enum said said;

    out[1] = 0;
    if (which) {
        out[0] = which == 1 ? NAN : which == 3 ? -INFINITY : INFINITY;
        return true;
    }
    said = read_ratio(text, &r);
    out[0] = negative ? -0.0 : 0.0;
    if (said != SAID_NUMBER)
        return said != SAID_NONE;
    if (r.more) { /* one more digit says so */
        big_multiply(&r.num, 10, 1);
        big_multiply(&r.den, 10, 0);
    }
    out[0] = take_double(&r, &negative);
    if (isinf(out[0]))
        return false;
    if (r.num.len > 0)
        out[1] = take_double(&r, &negative) + 0.0; /* no -0 */
    return true;
}

/* ---------------------------------------------------------------- the inverse */

/* A number, its upper end and the lower half of its gap, all over `one`. */
struct gaps {
    struct big rest, upper, below, one;
};

static void big_bit(struct big *b, int64_t bit)
{
    b->len = 1;
    b->word[0] = 1;
    big_shift(b, bit);
}

/* a += b; what is beyond WORDS cannot be, see there. */
static void big_add(struct big *a, const struct big *b)
{
    uint64_t carry = 0;
    size_t i;

    for (i = 0; (i < b->len || carry) && i < WORDS; i++) {
        carry += i < a->len ? a->word[i] : 0;
        carry += i < b->len ? b->word[i] : 0;
        a->len = i < a->len ? a->len : i + 1;
        a->word[i] = (uint32_t)carry;
        carry >>= 32;
    }
}

static void next_place(struct gaps *g)
{
    big_multiply(&g->rest, 10, 0);
    big_multiply(&g->upper, 10, 0);
    big_multiply(&g->below, 10, 0);
}

/* Scale by a power of ten, and then to the first digit that is not 0. */
static int64_t scale_gaps(struct gaps *g)
{
    int64_t top = big_bits(&g->rest) - big_bits(&g->one);
    int64_t ten = (int64_t)floor((double)top * 0.30102999566398120);

    if (ten > 0)
        big_power(&g->one, ten);
    if (ten < 0) {
        big_power(&g->rest, -ten);
        big_power(&g->upper, -ten);
        big_power(&g->below, -ten);
    }
    for (; big_less(&g->one, &g->upper); ten++)
        big_multiply(&g->one, 10, 0);
    for (next_place(g); !big_less(&g->one, &g->upper); ten--)
        next_place(g);
    return ten;
}

/* Steele and White's way: digits until what is left is within the gap on either side.  No digit is
 * rounded up to 10: then the upper end would have reached the digit before. */
static int generate_digits(struct gaps *g, char digits[NUMBER_DIGITS])
{
    for (int n = 0; n < NUMBER_DIGITS; next_place(g)) {
        int digit = 0;
        bool low, high;

        for (; !big_less(&g->rest, &g->one); digit++) {
            big_subtract(&g->rest, &g->one);
            big_subtract(&g->upper, &g->one);
        }
        low = g->rest.len == 0 || big_less(&g->rest, &g->below);
        high = big_less(&g->one, &g->upper);
        if (low && high) { /* the nearer one */
            big_multiply(&g->rest, 2, 0);
            high = big_less(&g->one, &g->rest);
        }
        digits[n++] = (char)('0' + digit + high);
        if (low || high)
            return n;
    }
    return 0;
}

int number_digits(const uint32_t *word, size_t words, int64_t exponent, int64_t above,
                  int64_t below, char digits[NUMBER_DIGITS], int64_t *ten)
{
    int64_t least = exponent < below ? exponent : below;
    struct big gap;
    struct gaps g;

    for (; words > 0 && word[words - 1] == 0; words--)
        ;
    g.rest.len = words;
    memcpy(g.rest.word, word, words * sizeof *word);
    if (!words || least < -BINARY_MAX || exponent + big_bits(&g.rest) > BINARY_MAX)
        return 0;
    big_shift(&g.rest, exponent - least);
    g.upper = g.rest;
    big_bit(&gap, above - least);
    big_add(&g.upper, &gap);
    big_bit(&g.below, below - least);
    big_bit(&g.one, 0);
    if (least < 0) {
        big_shift(&g.one, -least);
    } else {
        big_shift(&g.rest, least);
        big_shift(&g.upper, least);
        big_shift(&g.below, least);
    }
    *ten = scale_gaps(&g);
    return generate_digits(&g, digits);
}
