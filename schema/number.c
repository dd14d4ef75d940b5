/* number.c - integers, binary32 and binary64 in text.  Independent of the locale as long as
 * the program has not set one, as the command has not. */
/* SPDX-License-Identifier: MIT */
#include "schema/number.h"
#include "format/byteorder.h"
#include <ctype.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

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
static bool integer_fits(const struct integer *n, int64_t size, bool is_signed)
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

    if (size > 16 || !integer_fits(n, size, is_signed))
        return false;
    for (i = 0; i < size; i++) {
        at = HOST_LITTLE ? i : size - 1 - i;
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

int number_special(const char *text)
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

    if (number_special(text))
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

bool number_is_hex(const char *text)
{
    const char *p = text + (*text == '-' || *text == '+');

    return p[0] == '0' && p[1] == 'x' && isxdigit((unsigned char)p[2]);
}

/* strtod() takes more than that. */
static bool has_number(const char *text)
{
    return number_is_real(text) || number_is_hex(text);
}

bool number_double(const char *text, double *out)
{
    int which = number_special(text);
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
