/* value.c - values and datatypes to try a data representation with.
 *
 * Small values exist in every representation of a type; edge values need not. */
/* SPDX-License-Identifier: MIT */
#include "tools/reps/value.h"
#include <float.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

uint64_t random_next(struct random *r)
{
    uint64_t x = r->state += 0x9e3779b97f4a7c15u;

    x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9u;
    x = (x ^ x >> 27) * 0x94d049bb133111ebu;
    return x ^ x >> 31;
}

int random_below(struct random *r, int n)
{
    return (int)(random_next(r) % (uint64_t)n);
}

/* ------------------------------------------------------------------ values */

static bool is_real(const drep_encoding *row)
{
    return drep_format_describe(row->format)->cls == DREP_SCALAR_REAL;
}

static bool is_complex(int code)
{
    return strstr(drep_code_name(code), "COMPLEX") != NULL;
}

static const int64_t small_int[] = {0, 1, 2, 3, 100, 127, -1, -2, -100, -128};
static const double small_real[] = {0, 1, -1, 0.5, -2.5, 3, -4, 96};
static const double edge_real[] = {
    -0.0,    1.0 / 3, DBL_MAX, -DBL_MAX, DBL_MIN,  DBL_MIN *DBL_EPSILON,
    FLT_MAX, FLT_MIN, 1e300,   -1e-300,  1e38,     -1e-40,
    65504,   448,     6e-8,    16777217, INFINITY, -INFINITY,
    NAN};
/* Bytes of edge integers, from the most significant down: the first, then the rest. */
static const uint8_t edge_int[][2] = {{0x7f, 0xff}, {0x80, 0}, {0xff, 0xff}, {0x7f, 0}, {1, 2}};

int value_count(const struct subject *s, int code, enum values kind)
{
    const drep_encoding *row = &s->native[code];
    bool is_signed = row->format == DREP_FORMAT_INT;

    if (kind == VALUES_RANDOM)
        return 200;
    if (is_real(row))
        return kind == VALUES_SMALL ? (int)(sizeof small_real / sizeof *small_real)
                                    : (int)(sizeof edge_real / sizeof *edge_real);
    if (row->format == DREP_FORMAT_BOOL)
        return kind == VALUES_SMALL ? 2 : 0;
    if (row->format == DREP_FORMAT_BYTES)
        return kind == VALUES_SMALL ? 256 : 0;
    if (row->format == DREP_FORMAT_CHAR || row->format == DREP_FORMAT_UNICODE)
        return kind == VALUES_SMALL ? 95 : 3;
    if (kind == VALUES_SMALL)
        return is_signed ? 10 : 6;
    return (int)(sizeof edge_int / sizeof *edge_int);
}

/* Byte number i of an item, the least significant is 0. */
static uint8_t *byte_of(const drep_encoding *row, void *item, int i)
{
    return (uint8_t *)item + (row->order == DREP_BIG ? row->size - 1 - i : i);
}

static void int_put(const drep_encoding *row, int64_t value, void *item)
{
    int i;

    for (i = 0; i < row->size; i++)
        *byte_of(row, item, i) = (uint8_t)(i < 8 ? value >> 8 * i : value < 0 ? -1 : 0);
}

static void real_put(int code, double re, double im, void *item)
{
    const drep_xfer wrap = DREP_XFER(.range = DREP_RANGE_WRAP);
    const double both[2] = {re, im};

    memset(item, 0, (size_t)drep_type_extent(drep_predefined(code)));
    drep_convert(drep_predefined(code), item,
                 is_complex(code) ? DREP_C_DOUBLE_COMPLEX : DREP_DOUBLE, both, 1, &wrap);
}

static double real_random(struct random *r)
{
    uint64_t bits = random_next(r);
    double value;

    if (random_below(r, 2))
        return (double)(int64_t)bits / (double)(1u << random_below(r, 31));
    memcpy(&value, &bits, sizeof value);
    return value;
}

void sample_put(const struct subject *s, int code, enum values kind, int i, struct random *r,
                void *item)
{
    const drep_encoding *row = &s->native[code];
    int n = value_count(s, code, kind), k;

    if (is_real(row) && kind == VALUES_RANDOM) {
        real_put(code, real_random(r), real_random(r), item);
    } else if (is_real(row)) {
        const double *list = kind == VALUES_SMALL ? small_real : edge_real;

        real_put(code, list[i % n], list[(i + 1) % n], item);
    } else if (row->format == DREP_FORMAT_BOOL) {
        int_put(row, kind == VALUES_RANDOM ? random_below(r, 2) : i % 2, item);
    } else if (row->format == DREP_FORMAT_BYTES) {
        int_put(row, kind == VALUES_RANDOM ? random_below(r, 256) : i, item);
    } else if (row->format == DREP_FORMAT_CHAR || row->format == DREP_FORMAT_UNICODE) {
        int_put(row,
                kind == VALUES_RANDOM ? ' ' + random_below(r, 95)
                : kind == VALUES_EDGE ? "\0\n\177"[i % 3]
                                      : ' ' + i % 95,
                item);
    } else if (kind == VALUES_SMALL) {
        int_put(row, small_int[i % n], item);
    } else {
        for (k = 0; k < row->size; k++)
            *byte_of(row, item, k) = kind == VALUES_RANDOM ? (uint8_t)random_next(r)
                                                           : edge_int[i % n][k < row->size - 1];
    }
}

/* Both parts of a complex, as doubles. */
static void real_get(int code, const void *item, double out[2])
{
    const drep_xfer wrap = DREP_XFER(.range = DREP_RANGE_WRAP);

    out[0] = out[1] = 0;
    drep_convert(is_complex(code) ? DREP_C_DOUBLE_COMPLEX : DREP_DOUBLE, out, drep_predefined(code),
                 item, 1, &wrap);
}

bool value_same(const struct subject *s, int code, const void *a, const void *b)
{
    const drep_encoding *row = &s->native[code];
    size_t parts = is_real(row) && is_complex(code) ? 2 : 1, part = row->size / parts, k;
    /* An x87 number has ten bytes, whatever it is kept in. */
    size_t used = row->format == DREP_FORMAT_X87 ? 10 : part;
    double x[2] = {0, 0}, y[2] = {0, 0};

    if (is_real(row)) {
        real_get(code, a, x);
        real_get(code, b, y);
    }
    for (k = 0; k < parts; k++) {
        if (isnan(x[k]) && isnan(y[k]))
            continue;
        if (memcmp((const char *)a + k * part, (const char *)b + k * part, used) != 0)
            return false;
    }
    return true;
}

const char *value_text(const struct subject *s, int code, const void *item, char text[80])
{
    const drep_encoding *row = &s->native[code];
    double d[2];
    int i, n = 0;

    if (is_real(row)) {
        real_get(code, item, d);
        if (is_complex(code))
            snprintf(text, 80, "(%.17g, %.17g)", d[0], d[1]);
        else
            snprintf(text, 80, "%.17g", d[0]);
        return text;
    }
    if (row->size <= 8) {
        uint64_t bits = 0;

        for (i = row->size - 1; i >= 0; i--)
            bits = bits << 8 | *byte_of(row, (void *)(uintptr_t)item, i);
        if (row->format == DREP_FORMAT_INT && row->size < 8 && bits >> (8 * row->size - 1))
            bits |= ~(uint64_t)0 << 8 * row->size;
        if (row->format == DREP_FORMAT_INT)
            snprintf(text, 80, "%lld", (long long)bits);
        else
            snprintf(text, 80, "%llu", (unsigned long long)bits);
        return text;
    }
    n = snprintf(text, 80, "0x");
    for (i = row->size - 1; i >= 0; i--)
        n +=
            snprintf(text + n, (size_t)(80 - n), "%02x", *byte_of(row, (void *)(uintptr_t)item, i));
    return text;
}

/* ------------------------------------------------------------------- types */

static int code_random(const struct subject *s, struct random *r)
{
    int code;

    do
        code = 1 + random_below(r, DREP_CODE_MAX);
    while (s->extent[code] == 0);
    return code;
}

/* Two to four members in any order in memory, with gaps. */
static int struct_random(const struct subject *s, struct random *r, int depth, drep_type **out)
{
    drep_type *member[4], *inner = NULL;
    int64_t blocklen[4], displ[4], at = 0, align;
    int n = 2 + random_below(r, 3), first = random_below(r, n), i, k, err;

    for (i = 0; i < n; i++) {
        member[i] = type_random(s, r, depth - 1);
        blocklen[i] = 1 + random_below(r, 2);
    }
    for (k = 0; k < n; k++) {
        i = (first + k) % n;
        align = drep_type_align(member[i]);
        at = (at + align - 1) / align * align + align * random_below(r, 2);
        displ[i] = at;
        at += blocklen[i] * drep_type_extent(member[i]);
    }
    at = (at + 15) / 16 * 16;
    err = drep_type_struct(n, blocklen, displ, (const drep_type *const *)member, &inner);
    if (!err)
        err = drep_type_resized(0, at, inner, out);
    for (i = 0; i < n; i++)
        drep_type_free(member[i]);
    drep_type_free(inner);
    return err;
}

void type_spare(drep_type *type)
{
    int i;

    for (i = 0; i < 10000; i++)
        drep_type_ref(type);
}

drep_type *type_random(const struct subject *s, struct random *r, int depth)
{
    drep_type *base, *out = NULL;
    int64_t displ[3];
    int i, err = 0;

    if (depth <= 0)
        return drep_type_ref(drep_predefined(code_random(s, r)));
    if (random_below(r, 2)) {
        err = struct_random(s, r, depth, &out);
    } else {
        base = type_random(s, r, depth - 1);
        for (i = 0; i < 3; i++)
            displ[i] = 3 * ((i + 1) % 3) + random_below(r, 2);
        switch (random_below(r, 4)) {
        case 0:
            err = drep_type_contiguous(1 + random_below(r, 4), base, &out);
            break;
        case 1:
            err = drep_type_vector(2, 1 + random_below(r, 2), 3, base, &out);
            break;
        case 2:
            err = drep_type_indexed_block(3, 1 + random_below(r, 2), displ, base, &out);
            break;
        default:
            err = drep_type_resized(0, 2 * drep_type_extent(base), base, &out);
        }
        drep_type_free(base);
    }
    if (err)
        return drep_type_ref(drep_predefined(code_random(s, r)));
    return out;
}

int64_t type_span(const drep_type *type, int64_t tiles)
{
    return (tiles - 1) * drep_type_extent(type) + drep_type_true_lb(type) +
           drep_type_true_extent(type);
}

void type_fill(const struct subject *s, const drep_type *type, int64_t tiles, enum values kind,
               struct random *r, uint8_t gap, void *buf)
{
    int64_t left = tiles * drep_type_items(type), i;
    drep_cursor cursor;
    drep_run run;

    memset(buf, gap, (size_t)type_span(type, tiles));
    for (drep_cursor_init(&cursor, type, 0); left > 0; left -= run.count) {
        int code, n;

        if (!drep_cursor_next(&cursor, left, &run))
            return;
        code = drep_type_code(run.type);
        n = value_count(s, code, kind);
        for (i = 0; i < run.count; i++)
            sample_put(s, code, n > 0 ? kind : VALUES_SMALL, random_below(r, n > 0 ? n : 2), r,
                       (char *)buf + run.offset + i * run.stride);
    }
}

void type_offsets(const struct subject *s, const drep_type *type, int64_t tiles, int64_t *offset)
{
    int64_t left = tiles * drep_type_items(type), i;
    drep_cursor cursor;
    drep_run run;

    *offset = 0;
    for (drep_cursor_init(&cursor, type, 0); left > 0; left -= run.count) {
        if (!drep_cursor_next(&cursor, left, &run))
            return;
        for (i = 0; i < run.count; i++, offset++)
            offset[1] = offset[0] + s->extent[drep_type_code(run.type)];
    }
}
