/* decimal.c - text to a binary128 or a pair of doubles, in integers alone and rounded once.
 *
 * A decimal number is D * 10^E with a whole D.  Long division gives its first 128 bits, and
 * whether anything follows: exact, whatever the length of the text.  What will be stored with
 * fewer than 112 bits is rounded to odd (the last bit set if anything is lost): rounding that
 * to the nearest with at least two bits less is the same as rounding the text itself. */
#include "schema/number.h"
#include "format/byteorder.h"
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
#define WORDS 2048 /* of 32 bits: 10^(DIGITS_MAX + POINT_MAX), and a shift */

/* 2^exponent times the 128 bits high:low, whose top bit is set and has the weight 1. */
struct exact {
    uint64_t high, low;
    long exponent;
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

static void big_power(struct big *b, long tens)
{
    for (; tens >= 9; tens -= 9)
        big_multiply(b, 1000000000, 0);
    for (; tens > 0; tens--)
        big_multiply(b, 10, 0);
}

static long big_bits(const struct big *b)
{
    return b->len ? 32 * (long)b->len - __builtin_clz(b->word[b->len - 1]) : 0;
}

static void big_shift(struct big *b, long by)
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
static long align(struct big *num, struct big *den)
{
    long shift = big_bits(num) - big_bits(den);

    big_shift(shift > 0 ? den : num, labs(shift));
    if (big_less(num, den)) {
        big_shift(num, 1);
        shift--;
    }
    return shift;
}

/* The first bits of num / den, which is below 2; num / den * 2^-bits is left. */
static void quotient(struct big *num, const struct big *den, int bits, uint64_t *high,
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
static long read_exponent(const char *p)
{
    bool negative = *p == '-';
    long value = 0;

    for (p += *p == '-' || *p == '+'; isdigit((unsigned char)*p); p++)
        if (value < 100000000)
            value = 10 * value + (*p - '0');
    return negative ? -value : value;
}

/* The result of reading a text: out of range, zero, below any format, a number. */
enum said { SAID_NONE, SAID_ZERO, SAID_TINY, SAID_NUMBER };

/* num / den * 2^twos, and whether nonzero digits follow. */
struct ratio {
    struct big num, den;
    long twos;
    bool more;
};

/* Digits, a point among them, and an exponent: number_is_real() has looked at the text. */
static enum said decimal_ratio(const char *p, struct ratio *out)
{
    long point = 0, kept = 0;
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
    big_power(point > kept ? &out->num : &out->den, labs(point - kept));
    return SAID_NUMBER;
}

static unsigned hex_value(char c)
{
    return (unsigned)(c <= '9' ? c - '0' : (c | 32) - 'a' + 10);
}

/* "p" and a power of two, or nothing; false if it is something else. */
static bool read_twos(const char *p, long *exponent)
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
static void drop(struct exact *n, long by, bool odd)
{
    uint64_t half, rest;
    long i;
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
static bool pack(struct exact *n, int bits, uint64_t *quad)
{
    bool odd = bits != NUMBER_HEX128 && bits <= QUAD_BITS - 2;
    long keep = QUAD_BITS, below = QUAD_LEAST - n->exponent, by;

    if (bits == NUMBER_HEX128)
        keep = 109 + (n->exponent & 3);
    by = 128 - keep + (below > 0 ? below : 0);
    if (by > 128) { /* less than half of the smallest number */
        n->high = n->low = 0;
        n->more = true;
        by = 128;
    }
    drop(n, by, odd);
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

static void store(const uint64_t *quad, bool negative, void *out)
{
    uint64_t word[2];

    word[HOST_LITTLE ? 1 : 0] = quad[0] | (uint64_t)negative << 63;
    word[HOST_LITTLE ? 0 : 1] = quad[1];
    memcpy(out, word, sizeof word);
}

/* Convert text to a binary128: to the nearest, or to odd where fewer than 112 `bits` will be
 * stored. False: not a number, or beyond the range. */
bool number_quad(const char *text, int bits, void *out)
{
    int which = number_special(text);
    uint64_t quad[2] = {0, 0};
    struct exact n = {.negative = *text == '-'};
    struct ratio r;
    enum said said;

    if (which) {
        quad[0] = (uint64_t)0x7fff << 48 | (which == 1 ? (uint64_t)1 << 47 : 0);
        store(quad, which == 3, out);
        return true;
    }
    said = read_ratio(text, &r);
    if (said == SAID_NONE)
        return false;
    if (said == SAID_TINY) {
        n.high = (uint64_t)1 << 63;
        n.exponent = -20000;
        n.more = true;
    } else if (said == SAID_NUMBER) {
        n.exponent = align(&r.num, &r.den) + r.twos;
        quotient(&r.num, &r.den, 128, &n.high, &n.low);
        n.more = r.more || r.num.len > 0;
    }
    if (said != SAID_ZERO && !pack(&n, bits, quad))
        return false;
    store(quad, n.negative, out);
    return true;
}

/* Subtract the nearest double from num / den * 2^twos, which may change its sign. */
static double take_double(struct ratio *r, bool *negative)
{
    long top = align(&r->num, &r->den) + r->twos;
    long bits = top < -1022 ? 53 + top + 1022 : 53;
    double sign = *negative ? -1 : 1;
    uint64_t high, low;
    bool up;

    if (bits < 0 || top > 1023) {
        r->num.len = 0;
        return bits < 0 ? sign * 0.0 : sign * INFINITY;
    }
    quotient(&r->num, &r->den, (int)bits, &high, &low);
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
