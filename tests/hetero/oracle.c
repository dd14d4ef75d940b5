/* oracle.c - what long doubles become in the formats of other machines, by MPFR.
 *
 *   oracle N SEED       N values of each format into every other one, one line each:
 *                       from to bytes bytes lost
 *
 * Bytes are hexadecimal, most significant first; a double-double is two binary64, the larger
 * first.  lost: "-" nothing, "x" rounded, "o" out of range, "n" a NaN, of which only that it
 * stays one is said.  Runs where MPFR is; hard.c holds every machine's library against it. */
/* SPDX-License-Identifier: MIT */
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#ifdef HAVE_MPFR
#include <mpfr.h>

enum kind { IEEE, EXTENDED, PAIR };
static const struct format {
    const char *name;
    enum kind kind;
    int bytes, digits, emin, emax; /* powers of two of the smallest normal number and the largest */
} formats[] = {
    {"binary64", IEEE, 8, 53, -1022, 1023},       {"x87", EXTENDED, 10, 64, -16382, 16383},
    {"m68k", EXTENDED, 12, 64, -16383, 16383},    {"binary128", IEEE, 16, 113, -16382, 16383},
    {"double-double", PAIR, 16, 53, -1022, 1023},
};
enum { FORMATS = sizeof formats / sizeof *formats, EXACT = 2400 };
#define BINARY64 (&formats[0])

static uint64_t state;

static uint64_t rnd(void)
{
    uint64_t z = state += 0x9e3779b97f4a7c15u;

    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9u;
    z = (z ^ z >> 27) * 0x94d049bb133111ebu;
    return z ^ z >> 31;
}

/* Below n. */
static int below(int n)
{
    return (int)(rnd() % (uint64_t)n);
}

/* ------------------------------------------------- numbers and their bytes */

static void put_number(uint8_t *p, int bytes, mpz_t z)
{
    size_t n = 0;
    uint8_t raw[32] = {0};

    mpz_export(raw, &n, 1, 1, 1, 0, z);
    memset(p, 0, (size_t)bytes);
    memcpy(p + (size_t)bytes - n, raw, n);
}

/* A finite x that the format holds exactly. */
static void encode(const struct format *f, mpfr_t x, uint8_t *p)
{
    mpz_t m, e;
    mpfr_exp_t exp;
    int last = f->emin - f->digits + 1; /* power of the last digit of what is subnormal */

    memset(p, 0, (size_t)f->bytes);
    if (!mpfr_zero_p(x)) {
        long field;

        mpz_init(m);
        mpz_init(e);
        exp = mpfr_get_z_2exp(m, x);
        mpz_abs(m, m);
        /* With its last digit at `digits` below the first, or at the format's last. */
        long at = (long)mpz_sizeinbase(m, 2) + (long)exp - f->digits;

        at = at < last ? last : at;
        if (exp >= at)
            mpz_mul_2exp(m, m, (mp_bitcnt_t)(exp - at));
        else
            mpz_fdiv_q_2exp(m, m, (mp_bitcnt_t)(at - exp));
        field = at - last + ((int)mpz_sizeinbase(m, 2) == f->digits);
        if (f->kind == IEEE) {
            mpz_fdiv_r_2exp(m, m, (mp_bitcnt_t)(f->digits - 1));
            mpz_set_si(e, field);
            mpz_mul_2exp(e, e, (mp_bitcnt_t)(f->digits - 1));
        } else {
            /* m68k counts from the exponent that x87 has for subnormal numbers. */
            mpz_set_si(e, f->bytes == 12 ? at - last : field);
            mpz_mul_2exp(e, e, f->bytes == 12 ? 80 : 64);
        }
        mpz_add(m, m, e);
        put_number(p, f->bytes, m);
        mpz_clear(m);
        mpz_clear(e);
    }
    if (mpfr_signbit(x))
        p[0] |= 0x80;
}

static void encode_infinity(const struct format *f, bool neg, uint8_t *p)
{
    memset(p, 0, (size_t)f->bytes);
    p[0] = (uint8_t)(neg << 7 | 0x7f);
    p[1] = f->bytes == 8 || f->kind == PAIR ? 0xf0 : 0xff;
    if (f->bytes == 10)
        p[2] = 0x80;
}

/* x rounded to the format; gives what was lost. */
static char round_to(const struct format *f, mpfr_t x, mpfr_t y)
{
    mpfr_exp_t low = mpfr_get_emin(), high = mpfr_get_emax();
    int inexact;

    mpfr_set_prec(y, f->digits);
    mpfr_set_emin(f->emin - f->digits + 2);
    mpfr_set_emax(f->emax + 1);
    inexact = mpfr_set(y, x, MPFR_RNDN);
    inexact = mpfr_check_range(y, inexact, MPFR_RNDN);
    inexact = mpfr_subnormalize(y, inexact, MPFR_RNDN);
    mpfr_set_emin(low);
    mpfr_set_emax(high);
    return mpfr_inf_p(y) ? 'o' : inexact ? 'x' : '-';
}

static char convert(const struct format *f, mpfr_t x, uint8_t *p)
{
    const struct format *part = f->kind == PAIR ? BINARY64 : f;
    mpfr_t y, rest;
    char lost;

    mpfr_init(y);
    mpfr_init2(rest, EXACT);
    memset(p, 0, 16);
    lost = round_to(part, x, y);
    if (lost == 'o')
        encode_infinity(f, mpfr_signbit(x), p);
    else
        encode(part, y, p);
    if (f->kind == PAIR && lost == 'x') {
        mpfr_sub(rest, x, y, MPFR_RNDN);
        lost = round_to(BINARY64, rest, y);
        if (!mpfr_zero_p(y))
            encode(BINARY64, y, p + 8);
    }
    mpfr_clear(y);
    mpfr_clear(rest);
    return lost;
}

/* ------------------------------------------------------------------ samples */

/* A random number of the format, in x: any exponent or one near an edge of some format, any
 * digits or few, or ones, or what lies at or beside a tie. */
static void sample(const struct format *f, mpfr_t x)
{
    static const int edges[] = {-16445, -16383, -1074, -1022, -969, -149, -126,
                                0,      53,     127,   1022,  1023, 16383};
    static const int ties[] = {24, 53, 64, 106, 107, 113};
    int exponent = below(2) ? edges[below(13)] + below(5) - 2
                            : f->emin - f->digits + below(f->emax - f->emin + f->digits + 1);
    int shape = below(6), tie = ties[below(6)];
    mpfr_t one;
    mpz_t m;

    mpz_init(m);
    mpfr_init2(one, EXACT);
    mpz_set_ui(m, 1);
    for (int i = 0; i < 2; i++) {
        mpz_mul_2exp(m, m, 60);
        mpz_add_ui(m, m, (unsigned long)(rnd() >> 4));
    }
    mpfr_set_z(x, m, MPFR_RNDN);
    if (shape == 1) /* one digit */
        mpfr_set_ui(x, 1, MPFR_RNDN);
    if (shape >= 2 && shape < 5) { /* 1 + 2^-tie and what is beside it */
        mpfr_set_ui_2exp(x, 1 + 2 * (unsigned long)below(2), -tie, MPFR_RNDN);
        mpfr_add_ui(x, x, 1, MPFR_RNDN);
        mpfr_set_si_2exp(one, below(3) - 1, -112 + below(3), MPFR_RNDN);
        mpfr_add(x, x, one, MPFR_RNDN);
    }
    if (shape == 5) { /* ones */
        mpfr_set_ui_2exp(x, 1, 1, MPFR_RNDN);
        mpfr_set_ui_2exp(one, 1, -tie + below(2), MPFR_RNDN);
        mpfr_sub(x, x, one, MPFR_RNDN);
    }
    mpfr_set_exp(x, exponent + 1);
    if (below(2))
        mpfr_neg(x, x, MPFR_RNDN);
    mpz_clear(m);
    mpfr_clear(one);
}

static void print_bytes(const uint8_t *p, int n)
{
    putchar(' ');
    for (int i = 0; i < n; i++)
        printf("%02x", p[i]);
}

static void line(const struct format *from, const uint8_t *a, const struct format *to,
                 const uint8_t *b, char lost)
{
    printf("%s %s", from->name, to->name);
    print_bytes(a, from->bytes);
    print_bytes(b, to->bytes);
    printf(" %c\n", lost);
}

static void specials(const struct format *from, const struct format *to)
{
    uint8_t a[16], b[16];

    for (int neg = 0; neg < 2; neg++) {
        memset(a, 0, 16);
        memset(b, 0, 16);
        a[0] = b[0] = (uint8_t)(neg << 7);
        line(from, a, to, b, '-');
        encode_infinity(from, neg, a);
        encode_infinity(to, neg, b);
        line(from, a, to, b, '-');
        for (int i = 0; i < 4; i++) { /* NaNs: quiet, and with three payloads */
            a[from->bytes == 12 ? 4 : 2] |= from->kind == EXTENDED ? 0xc0 : 8;
            a[1] |= 8;
            a[from->bytes == 16 && from->kind == PAIR ? 7 : from->bytes - 1] = (uint8_t)(i * 5);
            line(from, a, to, b, 'n');
        }
    }
}

int main(int argc, char **argv)
{
    int n = argc > 1 ? atoi(argv[1]) : 1000;
    mpfr_t x, y, exact;
    uint8_t a[16], b[16];

    state = argc > 2 ? strtoull(argv[2], NULL, 10) : 1;
    mpfr_set_emin(-40000);
    mpfr_set_emax(40000);
    mpfr_init2(x, EXACT);
    mpfr_init2(exact, EXACT);
    mpfr_init(y);
    for (int i = 0; i < FORMATS; i++)
        for (int k = 0; k < FORMATS; k++) {
            const struct format *from = &formats[i], *to = &formats[k];

            if (from == to)
                continue;
            specials(from, to);
            for (int c = 0; c < n;) {
                sample(from, x);
                /* What `from` holds of it; beyond its range there is nothing to begin with. */
                if (convert(from, x, a) == 'o')
                    continue;
                round_to(from->kind == PAIR ? BINARY64 : from, x, y);
                mpfr_set(exact, y, MPFR_RNDN);
                if (from->kind == PAIR) {
                    mpfr_sub(x, x, y, MPFR_RNDN);
                    round_to(BINARY64, x, y);
                    mpfr_add(exact, exact, y, MPFR_RNDN);
                }
                line(from, a, to, b, convert(to, exact, b));
                c++;
            }
        }
    mpfr_clear(x);
    mpfr_clear(y);
    mpfr_clear(exact);
    mpfr_free_cache();
    return fflush(stdout) != 0;
}

#else

int main(void)
{
    printf("without MPFR there is no oracle\n");
    return 1;
}

#endif
