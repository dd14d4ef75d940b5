/* hard.c - the long doubles of all machines into each other, on this machine.
 *
 *   hard CASES          the lines of oracle.c; prints TAP
 *
 * Every line goes through the library in every order of bytes, and where one of its formats
 * is this machine's long double also from or to memory.  Then the compiler of this machine is
 * asked for a second opinion on what its own long double, double and float make of each
 * other. */
/* SPDX-License-Identifier: MIT */
#include "rep/convert.h"
#include "rep/rep.h"
#include "rep/encodings.h"

#include <float.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { CASES_MAX = 200000, LINE_MAX_LEN = 200 };

static int cases, failed;

static void result(bool right, const char *what)
{
    printf("%sok %d - %s\n", right ? "" : "not ", ++cases, what);
    failed += !right;
}

struct batch {
    char from[20], to[20];
    int from_format, to_format, from_size, to_size;
    int64_t n, over, inexact;
    uint8_t *in, *want;
    char *lost;
};

static int size_of(int format)
{
    return format == DREP_FORMAT_BINARY64 ? 8
           : format == DREP_FORMAT_X87    ? 10
           : format == DREP_FORMAT_M68K   ? 12
                                          : 16;
}

static void put_hex(uint8_t *p, const char *hex, int size)
{
    for (int i = 0; i < size; i++) {
        unsigned byte = 0;

        sscanf(hex + 2 * i, "%2x", &byte);
        p[i] = (uint8_t)byte;
    }
}

/* Bytes of n scalars from one order to the other; a pair's halves each by itself. */
static void reorder(uint8_t *p, int64_t n, int size, bool pair)
{
    int unit = pair ? size / 2 : size;

    for (int64_t i = 0; i < n * size; i += unit)
        for (int k = 0; k < unit / 2; k++) {
            uint8_t b = p[i + k];

            p[i + k] = p[i + unit - 1 - k];
            p[i + unit - 1 - k] = b;
        }
}

static void row_set(struct rep_table *t, int format, int order, int size)
{
    memset(t, 0, sizeof *t);
    t->row[DREP_CODE_LONG_DOUBLE] = (drep_encoding){
        DREP_CODE_LONG_DOUBLE, (uint8_t)format, (uint8_t)order, (uint8_t)size, 1, 0, 0};
}

static bool is_nan(int format, const uint8_t *p)
{
    int at = format == DREP_FORMAT_M68K ? 4 : format == DREP_FORMAT_X87 ? 2 : 1;
    bool top = (p[0] & 0x7f) == 0x7f, rest = false;

    if (format == DREP_FORMAT_BINARY64 || format == DREP_FORMAT_DOUBLE_DOUBLE)
        top = top && p[1] >= 0xf0;
    else
        top = top && p[1] == 0xff;
    for (int i = at; i < (format == DREP_FORMAT_DOUBLE_DOUBLE ? 8 : size_of(format)); i++)
        rest |= (i == at ? p[i] & (at == 1 ? 15 : 127) : p[i]) != 0;
    return top && rest;
}

/* Converts the batch between two tables; the result comes as big-endian bytes. */
static bool through(const struct batch *b, const struct rep_table *dst, const struct rep_table *src,
                    const char *what)
{
    const drep_encoding *d = &dst->row[DREP_CODE_LONG_DOUBLE],
                        *s = &src->row[DREP_CODE_LONG_DOUBLE];
    uint8_t *in = calloc((size_t)b->n + 1, 16), *out = malloc((size_t)b->n * 16 + 16);
    struct losses r = NO_LOSSES;
    struct rep_opts opts = {.range = DREP_RANGE_WRAP, .value_range = DREP_RANGE_WRAP, .report = &r};
    struct type_sizes dst_sizes, src_sizes;
    struct prog to, from;
    bool right = true;

    /* The padding of x87 and the rest of what is longer stand before the value, big-endian. */
    for (int64_t i = 0; i < b->n; i++)
        memcpy(in + i * s->size + (s->size - b->from_size), b->in + i * b->from_size,
               (size_t)b->from_size);
    if (s->order == DREP_LITTLE)
        reorder(in, b->n, s->size, s->format == DREP_FORMAT_DOUBLE_DOUBLE);
    memset(out, 0xa5, (size_t)b->n * 16);
    rep_table_sizes(dst, &dst_sizes);
    rep_table_sizes(src, &src_sizes);
    if (prog_build(&to, DREP_LONG_DOUBLE, &dst_sizes, PROG_PACKED) != 0 ||
        prog_build(&from, DREP_LONG_DOUBLE, &src_sizes, PROG_PACKED) != 0 ||
        rep_convert(out, &(struct rep_side){&to, dst, 0}, in, &(struct rep_side){&from, src, 0},
                    b->n, &opts, NULL) != 0) {
        printf("# %s\n", drep_error());
        return false;
    }
    prog_release(&to);
    prog_release(&from);
    if (d->order == DREP_LITTLE)
        reorder(out, b->n, d->size, d->format == DREP_FORMAT_DOUBLE_DOUBLE);
    for (int64_t i = 0; i < b->n && right; i++) {
        const uint8_t *got = out + i * d->size + (d->size - b->to_size);
        const uint8_t *want = b->want + i * b->to_size;

        right = b->lost[i] == 'n' ? is_nan(b->to_format, got)
                                  : memcmp(got, want, (size_t)b->to_size) == 0;
        if (!right) {
            printf("# %s, %s: value %lld: ", what, drep_format_name(b->to_format), (long long)i);
            for (int k = 0; k < b->from_size; k++)
                printf("%02x", b->in[i * b->from_size + k]);
            printf(" gave ");
            for (int k = 0; k < b->to_size; k++)
                printf("%02x", got[k]);
            printf(", not ");
            for (int k = 0; k < b->to_size; k++)
                printf("%02x", want[k]);
            printf("\n");
        }
    }
    if (right && (r.overflow != b->over || r.inexact != b->inexact || r.items != b->n)) {
        printf("# %s: the report says %lld of %lld out of range, %lld rounded, not %lld, %lld\n",
               what, (long long)r.overflow, (long long)r.items, (long long)r.inexact,
               (long long)b->over, (long long)b->inexact);
        right = false;
    }
    free(in);
    free(out);
    return right;
}

static void check(const struct batch *b)
{
    const struct rep_table *native = rep_native();
    const drep_encoding *own = &native->row[DREP_CODE_LONG_DOUBLE];
    struct rep_table dst, src;
    char what[200];
    bool right = true;

    for (int order = 0; order < 4; order++) {
        row_set(&dst, b->to_format, order / 2, b->to_size);
        row_set(&src, b->from_format, order % 2, b->from_size);
        right &= through(b, &dst, &src, "tables");
    }
    if (own->format == b->from_format) {
        row_set(&dst, b->to_format, DREP_BIG, b->to_size);
        right &= through(b, &dst, native, "from memory");
    }
    if (own->format == b->to_format) {
        row_set(&src, b->from_format, DREP_LITTLE, b->from_size);
        right &= through(b, native, &src, "to memory");
    }
    snprintf(what, sizeof what, "%s to %s: %lld values, %lld rounded, %lld out of range%s", b->from,
             b->to, (long long)b->n, (long long)b->inexact, (long long)b->over,
             own->format == b->from_format || own->format == b->to_format ? ", memory too" : "");
    result(right, what);
}

/* ------------------------------------------------------------ the compiler */

static uint64_t state = 7;

static uint64_t rnd(void)
{
    uint64_t z = state += 0x9e3779b97f4a7c15u;

    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9u;
    z = (z ^ z >> 27) * 0x94d049bb133111ebu;
    return z ^ z >> 31;
}

/* What the compiler does with numbers of its own, against drep_convert(). */
static void compilers_opinion(void)
{
    int64_t wrong = 0, n = 20000, compared = 0;

    for (int64_t i = 0; i < n; i++) {
        double d = ldexp((double)(int64_t)(rnd() >> 11), (int)(rnd() % 1000) - 500) +
                   (double)(int64_t)rnd();
        long double e =
            (long double)d + ldexpl((long double)(int64_t)rnd(), -60 - (int)(rnd() % 60));
        volatile long double widened = d;
        volatile double narrowed = (double)e;
        volatile float single = (float)d;
        long double to_long;
        double to_double;
        float to_float;
        drep_xfer xfer = DREP_XFER(.range = DREP_RANGE_WRAP);

        if (drep_convert(DREP_LONG_DOUBLE, &to_long, DREP_DOUBLE, &d, 1, &xfer) != 0 ||
            drep_convert(DREP_DOUBLE, &to_double, DREP_LONG_DOUBLE, &e, 1, &xfer) != 0 ||
            drep_convert(DREP_FLOAT, &to_float, DREP_DOUBLE, &d, 1, &xfer) != 0)
            wrong++;
        else
            wrong += to_long != widened || to_double != narrowed || to_float != single;
        compared += 3;
    }
    if (wrong > 0)
        printf("# %lld of %lld\n", (long long)wrong, (long long)compared);
    result(wrong == 0, "long double, double and float as the compiler converts them: 60000 values");
}

#if defined(__powerpc64__) && defined(__SIZEOF_IBM128__) && defined(__SIZEOF_FLOAT128__)
/* A machine with both formats: its own library between them. */
static void both_formats(void)
{
    struct rep_table pair, quad;
    struct rep_opts opts = {.range = DREP_RANGE_WRAP, .value_range = DREP_RANGE_WRAP};
    struct type_sizes sizes;
    struct prog prog;
    int64_t wrong = 0, n = 20000;

    row_set(&pair, DREP_FORMAT_DOUBLE_DOUBLE, DREP_LITTLE, 16);
    row_set(&quad, DREP_FORMAT_BINARY128, DREP_LITTLE, 16);
    rep_table_sizes(&pair, &sizes);
    if (prog_build(&prog, DREP_LONG_DOUBLE, &sizes, PROG_PACKED) != 0)
        n = -1;
    for (int64_t i = 0; i < n; i++) {
        double high = ldexp((double)(int64_t)(rnd() >> 11), (int)(rnd() % 800) - 400);
        __ibm128 a = (__ibm128)high + (__ibm128)ldexp(high, -54) * (double)(rnd() % 1000) / 1001,
                 back;
        __float128 b, got_b;
        __ibm128 got_a;

        memcpy(&got_a, &a, 16);
        b = (__float128)a;
        rep_convert(&got_b, &(struct rep_side){&prog, &quad, 0}, &a,
                    &(struct rep_side){&prog, &pair, 0}, 1, &opts, NULL);
        wrong += memcmp(&b, &got_b, 16) != 0;
        b += b * (__float128)1e-32;
        back = (__ibm128)b;
        rep_convert(&got_a, &(struct rep_side){&prog, &pair, 0}, &b,
                    &(struct rep_side){&prog, &quad, 0}, 1, &opts, NULL);
        wrong += memcmp(&back, &got_a, 16) != 0;
    }
    if (n > 0)
        prog_release(&prog);
    if (wrong != 0)
        printf("# %lld of %lld\n", (long long)wrong, (long long)(2 * n));
    result(n > 0 && wrong == 0,
           "__ibm128 and __float128 as this machine's own library converts them: 40000 values");
}
#endif

static bool add(struct batch *b, const char *from, const char *to, const char *in, const char *out,
                char lost)
{
    if (b->n == CASES_MAX)
        return false;
    if (b->n == 0) {
        snprintf(b->from, sizeof b->from, "%s", from);
        snprintf(b->to, sizeof b->to, "%s", to);
        b->from_format = drep_format_from_name(from);
        b->to_format = drep_format_from_name(to);
        b->from_size = size_of(b->from_format);
        b->to_size = size_of(b->to_format);
        b->over = b->inexact = 0;
    }
    put_hex(b->in + b->n * b->from_size, in, b->from_size);
    put_hex(b->want + b->n * b->to_size, out, b->to_size);
    b->lost[b->n++] = lost;
    b->over += lost == 'o';
    b->inexact += lost == 'x';
    return true;
}

int main(int argc, char **argv)
{
    struct batch b = {.n = 0};
    FILE *f = argc > 1 ? fopen(argv[1], "r") : NULL;
    char line[LINE_MAX_LEN], from[20], to[20], in[40], out[40], lost;

    b.in = malloc(CASES_MAX * 16);
    b.want = malloc(CASES_MAX * 16);
    b.lost = malloc(CASES_MAX);
    while (f != NULL && fgets(line, sizeof line, f) != NULL) {
        if (sscanf(line, "%19s %19s %39s %39s %c", from, to, in, out, &lost) != 5)
            continue;
        if (b.n > 0 && (strcmp(from, b.from) != 0 || strcmp(to, b.to) != 0)) {
            check(&b);
            b.n = 0;
        }
        if (!add(&b, from, to, in, out, lost))
            break;
    }
    if (b.n > 0)
        check(&b);
    result(f != NULL && cases == 20, "the oracle's lines are of twenty pairs");
    compilers_opinion();
#if defined(__powerpc64__) && defined(__SIZEOF_IBM128__) && defined(__SIZEOF_FLOAT128__)
    both_formats();
#endif
    if (f != NULL)
        fclose(f);
    free(b.in);
    free(b.want);
    free(b.lost);
    printf("1..%d\n", cases);
    return failed != 0;
}
