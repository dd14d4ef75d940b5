/* decimal.c - packed and zoned decimals of mainframes in raw files. */
/* SPDX-License-Identifier: MIT */
#include "tools/flat/decimal.h"
#include "format/byteorder.h"
#include "tools/flat/retype.h"
#include "tools/host/exit.h"
#include "tools/host/fail.h"
#include "tools/host/message.h"
#include <ctype.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { DIGITS_MAX = 38, DIGITS_64 = 18 };

/* 128 bits, two's complement: not every machine has such a type. */
struct decimal_wide {
    uint64_t low, high;
};

static void wide_add_digit(struct decimal_wide *w, int digit)
{
    uint64_t low = (w->low & UINT32_MAX) * 10 + (uint64_t)digit;
    uint64_t middle = (w->low >> 32) * 10 + (low >> 32);

    w->low = middle << 32 | (low & UINT32_MAX);
    w->high = w->high * 10 + (middle >> 32);
}

static void wide_negate(struct decimal_wide *w)
{
    w->low = ~w->low + 1;
    w->high = ~w->high + (w->low == 0);
}

/* As INT64_T (the value fits) or INT128_T of this machine. */
static void wide_put(const struct decimal_wide *w, bool whole, uint8_t *to)
{
    const uint64_t words[] = {HOST_LITTLE ? w->low : w->high, HOST_LITTLE ? w->high : w->low};

    if (whole)
        memcpy(to, words, sizeof words);
    else
        memcpy(to, &w->low, sizeof w->low);
}

/* ---- datatypes ---- */

/* The word that begins here, with its parenthesis: "packed" or "zoned"; 0: none. */
static size_t decimal_word(const char *text, const char *at)
{
    if (at > text && (isalnum((unsigned char)at[-1]) || at[-1] == '_'))
        return 0;
    return strncmp(at, "packed(", 7) == 0 ? 7 : strncmp(at, "zoned(", 6) == 0 ? 6 : 0;
}

/* One or two digits; NULL: there are none. */
static const char *small_number(const char *at, int *value)
{
    int n = 0;

    for (*value = 0; n < 2 && isdigit((unsigned char)at[n]); n++)
        *value = *value * 10 + (at[n] - '0');
    return n > 0 ? at + n : NULL;
}

/* Reads "9,2)" behind the word.  Gives what follows, NULL if these are no digits. */
static const char *decimal_digits(const char *at, int *precision, int *scale)
{
    *scale = 0;
    at = small_number(at, precision);
    if (!at || *precision < 1 || *precision > DIGITS_MAX)
        return NULL;
    if (*at == ',' && (!(at = small_number(at + 1, scale)) || *scale > *precision))
        return NULL;
    return *at == ')' ? at + 1 : NULL;
}

int decimal_parse(const char *text, drep_type **out, const char **why)
{
    size_t size = 8 * strlen(text) + 1, n = 0; /* "zoned(1)" is 21 bytes longer as opaque */
    char *plain = malloc(size);
    const char *at = text;
    int err = plain ? 0 : DREP_ERR_NOMEM;

    while (!err && *at) {
        size_t word = decimal_word(text, at);
        int precision, scale;
        const char *next = word ? decimal_digits(at + word, &precision, &scale) : at + 1;

        if (!next) {
            *why = "decimals are packed(p,s) or zoned(p,s), p 1 to 38 and s at most p";
            free(plain);
            return DREP_ERR_ARG;
        }
        if (word)
            n += (size_t)snprintf(plain + n, size - n, "opaque(%d,\"%.*s\")",
                                  *at == 'p' ? precision / 2 + 1 : precision, (int)(next - at), at);
        else
            plain[n++] = *at;
        at = next;
    }
    if (!err) {
        plain[n] = '\0';
        err = drep_type_parse(plain, out);
    }
    *why = err ? drep_error() : NULL;
    free(plain);
    return err;
}

/* The digits of an opaque type that stands for a decimal; 0: another one. */
static int decimal_of(const drep_type *type, bool *packed)
{
    const char *tag = drep_type_kind(type) == DREP_KIND_OPAQUE ? drep_type_opaque_tag(type) : NULL;
    size_t word = tag ? decimal_word(tag, tag) : 0;
    int precision, scale;

    if (!word || !decimal_digits(tag + word, &precision, &scale))
        return 0;
    *packed = *tag == 'p';
    return precision;
}

/* An integer in place of a decimal. */
static int integer_for(const drep_type *leaf, drep_type **out, void *any)
{
    bool packed;
    int digits = decimal_of(leaf, &packed);

    *(bool *)any |= digits > 0;
    *out = drep_type_ref(
        digits == 0 ? leaf
                    : drep_predefined(digits > DIGITS_64 ? DREP_CODE_INT128_T : DREP_CODE_INT64_T));
    return 0;
}

/* ---- values ---- */

/* True if the half byte is a sign: A, C, E and F are plus, B and D minus. */
static bool sign_of(int half, bool *minus)
{
    *minus = half == 0xb || half == 0xd;
    return half >= 0xa;
}

/* The number of the byte that is wrong, from 1; 0: none. */
static int take_packed(const uint8_t *p, int digits, struct decimal_wide *value)
{
    int n = digits / 2 + 1;
    bool minus = false;

    *value = (struct decimal_wide){0, 0};
    for (int i = 0; i < 2 * n - 1; i++) {
        int half = i % 2 ? p[i / 2] & 15 : p[i / 2] >> 4;

        if (half > 9 || (i == 0 && digits % 2 == 0 && half > 0))
            return i / 2 + 1;
        wide_add_digit(value, half);
    }
    if (!sign_of(p[n - 1] & 15, &minus))
        return n;
    if (minus)
        wide_negate(value);
    return 0;
}

/* The digit of the last byte, with its sign: a zone of EBCDIC or ASCII, or ASCII's letters for
 * EBCDIC's characters "{A-I" and "}J-R"; -1: none of these. */
static int last_digit(uint8_t c, bool *minus)
{
    *minus = (c >= 'J' && c <= 'R') || c == '}' || (c >= 'p' && c <= 'y');
    if (c == '{' || c == '}')
        return 0;
    if (c >= 'A' && c <= 'I')
        return c - 'A' + 1;
    if (c >= 'J' && c <= 'R')
        return c - 'J' + 1;
    if ((c & 15) > 9)
        return -1;
    return c >> 4 == 3 || c >> 4 == 7 || sign_of(c >> 4, minus) ? c & 15 : -1;
}

static int take_zoned(const uint8_t *p, int digits, struct decimal_wide *value)
{
    bool minus = false;
    int last;

    *value = (struct decimal_wide){0, 0};
    for (int i = 0; i < digits - 1; i++) {
        if ((p[i] & 15) > 9 || (p[i] >> 4 != 0xf && p[i] >> 4 != 3))
            return i + 1;
        wide_add_digit(value, p[i] & 15);
    }
    last = last_digit(p[digits - 1], &minus);
    if (last < 0)
        return digits;
    wide_add_digit(value, last);
    if (minus)
        wide_negate(value);
    return 0;
}

/* ---- the source ---- */

/* The first byte that is wrong in an element, and its decimal; byte 0: none is. */
struct wrong {
    const drep_type *type;
    int64_t byte; /* from 1 */
};

/* Makes one element of memory of one of the file; both lie as this machine has them. */
static void take_element(const drep_type *from, const uint8_t *src, const drep_type *to,
                         uint8_t *dst, struct wrong *wrong)
{
    int64_t i, n = 1, step, other;
    bool packed;
    int digits = decimal_of(from, &packed), bad;
    struct decimal_wide value;

    if (digits > 0) {
        bad = packed ? take_packed(src, digits, &value) : take_zoned(src, digits, &value);
        if (bad)
            *wrong = (struct wrong){from, bad};
        else
            wide_put(&value, digits > DIGITS_64, dst);
        return;
    }
    switch (drep_type_kind(from)) {
    case DREP_KIND_COMPOUND:
    case DREP_KIND_STRUCT:
        n = drep_type_members(from);
        for (i = 0; i < n && !wrong->byte; i++)
            take_element(drep_type_member(from, i), src + drep_type_member_offset(from, i),
                         drep_type_member(to, i), dst + drep_type_member_offset(to, i), wrong);
        return;
    case DREP_KIND_ARRAY:
        step = drep_type_extent(drep_type_member(from, 0));
        other = drep_type_extent(drep_type_member(to, 0));
        for (int d = 0; d < drep_type_array_rank(from); d++)
            n *= drep_type_array_dims(from)[d];
        for (i = 0; i < n && !wrong->byte; i++)
            take_element(drep_type_member(from, 0), src + i * step, drep_type_member(to, 0),
                         dst + i * other, wrong);
        return;
    default:
        memcpy(dst, src, (size_t)drep_type_extent(from));
    }
}

static int say_wrong(const struct source *s, const struct wrong *wrong, int64_t element,
                     const int64_t *start, const int64_t *count)
{
    char index[400] = "";
    size_t used = 0;

    for (int d = 0; d < s->rank; d++) { /* row-major, or the first dimension fastest */
        int64_t inside = 1;

        for (int k = s->column_major ? 0 : d + 1; k < (s->column_major ? d : s->rank); k++)
            inside *= count[k];
        used += (size_t)snprintf(index + used, sizeof index - used, "%s%" PRId64, d ? "," : "",
                                 start[d] + (inside ? element / inside % count[d] : 0));
    }
    tool_say(s->file, NULL, "element [%s]: byte %" PRId64 " of it is no digit or sign of %s", index,
             wrong->byte, drep_type_opaque_tag(wrong->type));
    return TOOL_CORRUPT;
}

static int read_decimals(struct source *s, const int64_t *start, const int64_t *count, void *buf)
{
    struct source *inner = s->own;
    const drep_type *from = inner->type;
    int64_t i, n = 1, step = drep_type_extent(from), other = drep_type_extent(s->type);
    struct wrong wrong = {NULL, 0};
    uint8_t *bytes;
    int status;

    for (int d = 0; d < s->rank; d++)
        n *= count[d];
    bytes = calloc((size_t)n + 1, (size_t)step);
    if (!bytes)
        return tool_no_memory();
    status = inner->read(inner, start, count, bytes);
    for (i = 0; !status && i < n; i++) {
        take_element(from, bytes + i * step, s->type, (uint8_t *)buf + i * other, &wrong);
        if (wrong.byte)
            status = say_wrong(s, &wrong, i, start, count);
    }
    free(bytes);
    return status;
}

static bool rest_decimals(struct source *s)
{
    struct source *inner = s->own;

    return inner->rest && inner->rest(inner);
}

static void release_decimals(struct source *s)
{
    source_release(s->own);
    free(s->own);
}

int decimal_source(struct source *s, const char *text)
{
    struct source *inner, made = *s;
    bool any = false;
    int err = retype(s->type, integer_for, &any, &made.type);

    if (err || !any) {
        drep_type_free(err ? NULL : made.type);
        return err ? tool_fail(s->file, NULL, err) : 0;
    }
    inner = malloc(sizeof *inner);
    made.note = strdup(text);
    err = retype(s->stored, integer_for, &any, &made.stored);
    if (!inner || !made.note || err) {
        drep_type_free(made.type);
        drep_type_free(err ? NULL : made.stored);
        free(made.note);
        free(inner);
        return err ? tool_fail(s->file, NULL, err) : tool_no_memory();
    }
    *inner = *s;
    made.note_name = "decimal";
    made.read = read_decimals;
    made.rest = rest_decimals;
    made.release = release_decimals;
    made.own = inner;
    *s = made;
    return 0;
}
