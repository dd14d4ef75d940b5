/* number.c - numbers in text.  Independent of the locale as long as the program has not
 * set one, as the command has not. */
#include "schema/number.h"
#include <ctype.h>
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

static bool machine_is_little(void)
{
    const uint16_t one = 1;

    return *(const unsigned char *)&one == 1;
}

/* ---------------------------------------------------------------- integers */

static int digit_value(char c)
{
    if (c >= '0' && c <= '9')
        return c - '0';
    if (c >= 'a' && c <= 'f')
        return c - 'a' + 10;
    if (c >= 'A' && c <= 'F')
        return c - 'A' + 10;
    return 99;
}

/* n = n * base + digit; false beyond 128 bits. */
static bool add_digit(struct integer *n, unsigned base, unsigned digit)
{
    uint64_t part[4] = {n->low & 0xffffffff, n->low >> 32, n->high & 0xffffffff, n->high >> 32};
    uint64_t carry = digit;
    int i;

    for (i = 0; i < 4; i++) {
        carry += part[i] * base;
        part[i] = carry & 0xffffffff;
        carry >>= 32;
    }
    n->low = part[1] << 32 | part[0];
    n->high = part[3] << 32 | part[2];
    return carry == 0;
}

bool number_integer(const char *text, struct integer *out)
{
    struct integer n = {.negative = *text == '-'};
    unsigned base = 10;
    int digit;

    if (*text == '-' || *text == '+')
        text++;
    if (text[0] == '0' && (text[1] == 'x' || text[1] == 'o')) {
        base = text[1] == 'x' ? 16 : 8;
        text += 2;
    }
    if (!*text)
        return false;
    for (; *text; text++) {
        digit = digit_value(*text);
        if (digit >= (int)base || !add_digit(&n, base, (unsigned)digit))
            return false;
    }
    *out = n;
    return true;
}

uint64_t number_low(const struct integer *n)
{
    return n->negative ? 0 - n->low : n->low;
}

uint64_t number_high(const struct integer *n)
{
    return n->negative ? ~n->high + (n->low == 0) : n->high;
}

/* The magnitude that `size` bytes hold on this side of zero. */
static bool fits(const struct integer *n, int64_t size, bool is_signed)
{
    int bits = (int)size * 8 - (is_signed ? 1 : 0);
    uint64_t high = n->high, low = n->low;

    if (n->negative && !is_signed)
        return high == 0 && low == 0;
    /* The most negative number has one more than the largest. */
    if (n->negative && (high || low)) {
        high -= low == 0;
        low--;
    }
    if (bits >= 128)
        return true;
    if (bits > 64)
        return high >> (bits - 64) == 0;
    return high == 0 && (bits == 64 || low >> bits == 0);
}

bool number_store(const struct integer *n, int64_t size, bool is_signed, void *out)
{
    uint64_t low = number_low(n), high = number_high(n);
    unsigned char *bytes = out;
    int64_t i, at;

    if (size > 16 || !fits(n, size, is_signed))
        return false;
    for (i = 0; i < size; i++) {
        at = machine_is_little() ? i : size - 1 - i;
        bytes[at] = (unsigned char)((i < 8 ? low >> (8 * i) : high >> (8 * (i - 8))) & 0xff);
    }
    return true;
}

bool number_is_integer(const char *text)
{
    struct integer n;

    return number_integer(text, &n);
}

/* ------------------------------------------------------------------- reals */

static const char *skip_digits(const char *p)
{
    while (isdigit((unsigned char)*p))
        p++;
    return p;
}

/* nan and inf in their spellings: 1 NaN, 2 infinity, 3 minus infinity, 0 neither. */
static int special(const char *text)
{
    bool negative = *text == '-';

    if (*text == '-' || *text == '+')
        text++;
    if (*text == '.')
        text++;
    if (strcasecmp(text, "nan") == 0)
        return 1;
    if (strcasecmp(text, "inf") == 0)
        return negative ? 3 : 2;
    return 0;
}

bool number_is_real(const char *text)
{
    const char *p = text + (*text == '-' || *text == '+'), *q;

    if (special(text))
        return strchr(text, '.') != NULL;
    q = skip_digits(p);
    if (*q == '.')
        q = skip_digits(q + 1);
    if (q == p || (q == p + 1 && *p == '.'))
        return false;
    if (*q == 'e' || *q == 'E') {
        p = q + 1 + (q[1] == '-' || q[1] == '+');
        q = skip_digits(p);
        if (q == p)
            return false;
    }
    return *q == '\0';
}

/* A hexadecimal real, or a decimal one; strtod() takes more than that. */
static bool has_number(const char *text)
{
    const char *p = text + (*text == '-' || *text == '+');

    return number_is_real(text) || (p[0] == '0' && p[1] == 'x' && isxdigit((unsigned char)p[2]));
}

bool number_double(const char *text, double *out)
{
    int which = special(text);
    char *end;
    double value;

    if (which) {
        *out = which == 1 ? (double)NAN : which == 2 ? (double)INFINITY : -(double)INFINITY;
        return true;
    }
    if (!has_number(text))
        return false;
    value = strtod(text, &end);
    if (*end || !isfinite(value))
        return false;
    *out = value;
    return true;
}

bool number_float(const char *text, float *out)
{
    char *end;
    double d;
    float value;

    if (!number_double(text, &d))
        return false;
    if (!isfinite(d)) {
        *out = (float)d;
        return true;
    }
    value = strtof(text, &end);
    if (*end || !isfinite(value))
        return false;
    *out = value;
    return true;
}

/* ----------------------------------------------------------------- binary128 */

/* magnitude x 2^exponent, magnitude != 0, to a binary128; false if it does not fit
 * without rounding or overflow. */
static bool quad_pack(uint64_t high, uint64_t low, int exponent, bool negative, uint64_t *out)
{
    int top;

    /* The leading 1 goes to bit 112. */
    for (top = 127; !((top >= 64 ? high >> (top - 64) : low >> top) & 1); top--)
        ;
    exponent += top;
    for (; top < 112; top++) {
        high = high << 1 | low >> 63;
        low <<= 1;
    }
    for (; top > 112; top--) {
        if (low & 1)
            return false;
        low = low >> 1 | high << 63;
        high >>= 1;
    }
    if (exponent > 16383)
        return false;
    for (; exponent < -16382; exponent++) {
        if (low & 1)
            return false;
        low = low >> 1 | high << 63;
        high >>= 1;
    }
    /* A number that kept its leading 1 is normal. */
    if (high >> 48)
        high = (high & (((uint64_t)1 << 48) - 1)) | (uint64_t)(exponent + 16383) << 48;
    out[0] = high | (uint64_t)negative << 63;
    out[1] = low;
    return true;
}

static void quad_store(const uint64_t *quad, void *out)
{
    uint64_t word[2];

    word[machine_is_little() ? 1 : 0] = quad[0];
    word[machine_is_little() ? 0 : 1] = quad[1];
    memcpy(out, word, sizeof word);
}

static bool quad_from_double(double value, uint64_t *quad)
{
    int exponent;
    double mantissa;

    quad[0] = signbit(value) ? (uint64_t)1 << 63 : 0;
    quad[1] = 0;
    if (isnan(value) || isinf(value)) {
        quad[0] |= (uint64_t)0x7fff << 48 | (isnan(value) ? (uint64_t)1 << 47 : 0);
        return true;
    }
    if (value == 0)
        return true;
    mantissa = frexp(fabs(value), &exponent);
    return quad_pack(0, (uint64_t)ldexp(mantissa, 53), exponent - 53, signbit(value), quad);
}

/* "-0x1.8p+1", exactly. */
static bool quad_from_hex(const char *text, uint64_t *quad)
{
    struct integer n = {.negative = *text == '-'};
    bool point = false;
    long exponent = 0, power;
    char *end;

    text += *text == '-' || *text == '+';
    for (text += 2; isxdigit((unsigned char)*text) || (*text == '.' && !point); text++) {
        if (*text == '.') {
            point = true;
            continue;
        }
        if (!add_digit(&n, 16, (unsigned)digit_value(*text)))
            return false;
        exponent -= point ? 4 : 0;
    }
    if (*text == 'p' || *text == 'P') {
        errno = 0;
        power = strtol(text + 1, &end, 10);
        if (end == text + 1 || errno || power > 40000 || power < -40000)
            return false;
        exponent += power;
        text = end;
    }
    if (*text || exponent < -100000)
        return false;
    quad[0] = n.negative ? (uint64_t)1 << 63 : 0;
    quad[1] = 0;
    return (n.high == 0 && n.low == 0) || quad_pack(n.high, n.low, (int)exponent, n.negative, quad);
}

bool number_quad(const char *text, void *out)
{
    const char *p = text + (*text == '-' || *text == '+');
    uint64_t quad[2];
    double value;

    if (p[0] == '0' && p[1] == 'x') {
        if (!quad_from_hex(text, quad))
            return false;
    } else if (!number_double(text, &value) || !quad_from_double(value, quad)) {
        return false;
    }
    quad_store(quad, out);
    return true;
}
