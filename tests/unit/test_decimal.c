/* test_decimal.c - numbers in text against MPFR: whatever format they end in, they were
 * rounded once.
 *
 * The texts are random ones of any length, and for each format the exact middles between
 * two of its neighbours, with digits far behind them that tip the balance. */
/* SPDX-License-Identifier: MIT */
#include "tests/unit/bytes.h"

#include <datarep.h>
#include <math.h>

#if HAVE_MPFR
#define MPFR_USE_INTMAX_T
#include "schema/number.h"
#include <mpfr.h>

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
enum { RANDOM = 300 };
#else
enum { RANDOM = 4000 };
#endif

/* How a format rounds: its precision, and the exponents of its smallest normal and its
 * largest number. */
static const struct format {
    const char *type;
    int bits; /* as number_quad() takes it */
    int precision;
    int least, most;
    bool subnormal; /* has numbers below */
    bool hex;       /* the leading digit is of base 16 */
    struct wide_form wide;
} formats[] = {
    {"scalar{binary16,little,2}", 11, 11, -14, 15, true, false, {0, 0}},
    {"scalar{bfloat16,big,2}", 8, 8, -126, 127, true, false, {0, 0}},
    {"scalar{fp8-e5m2,little,1}", 3, 3, -14, 15, true, false, {0, 0}},
    {"scalar{binary32,big,4}", 24, 24, -126, 127, true, false, {0, 0}},
    {"scalar{binary64,little,8}", 53, 53, -1022, 1023, true, false, {0, 0}},
    {"scalar{x87,little,16}", 64, 64, -16382, 16383, true, false, {0, 0}},
    {"scalar{m68k,big,12}", 64, 64, -16383, 16383, true, false, {0, 0}},
    {"scalar{binary128,big,16}", 113, 113, -16382, 16383, true, false, {0, 0}},
    {"scalar{vax-f,vax,4}", 24, 24, -128, 126, false, false, {0, 0}},
    {"scalar{vax-d,vax,8}", 56, 56, -128, 126, false, false, {0, 0}},
    {"scalar{vax-h,vax,16}", 113, 113, -16382, 16382, false, false, {0, 0}},
    {"scalar{cray64,big,8}", 48, 48, -8000, 8000, false, false, {0, 0}},
    {"scalar{ibm-hex32,big,4}", 24, 24, -250, 250, false, true, {0, 0}},
    {"scalar{ibm-hex64,big,8}", 56, 56, -250, 250, false, true, {0, 0}},
    {"scalar{ibm-hex128,big,16}", NUMBER_HEX128, 112, -250, 250, false, true, {0, 0}},
    {"scalar{vax-h,vax,16}", 0, 113, -16384, 16382, false, false, {113, -16384}},
    {"scalar{custom,real,big,16,signed=1,norm=0,pad=0/0,precision=128,offset=0,sign=127,"
     "exp=113/14,sig=0/113,base=2,bias=4000}",
     0,
     114,
     -3999,
     12382,
     true,
     false,
     {114, -3999}},
    {"scalar{custom,real,little,16,signed=1,norm=1,pad=0/0,precision=128,offset=0,sign=127,"
     "exp=113/14,sig=0/113,base=2,bias=8000}",
     0,
     113,
     -7990,
     8000,
     false,
     false,
     {113, -8000}},
    {"scalar{custom,real,big,16,signed=1,norm=2,pad=0/0,precision=128,offset=0,sign=127,"
     "exp=113/14,sig=0/113,base=16,bias=8000}",
     0,
     113,
     -12000,
     12000,
     false,
     true,
     {-113, -32004}},
    {"scalar{custom,real,big,10,signed=1,norm=0,pad=0/0,precision=80,offset=0,sign=79,"
     "exp=64/15,sig=0/64,base=2,bias=16300}",
     0,
     65,
     -16299,
     16466,
     true,
     false,
     {65, -16299}},
};
enum { FORMATS = sizeof formats / sizeof *formats };

/* The exact value of a binary128. */
static void from_quad(mpfr_t out, const void *bytes)
{
    const uint16_t one = 1;
    bool little = *(const unsigned char *)&one == 1;
    uint64_t word[2], high, low;
    int exponent;
    mpfr_t piece;

    mpfr_init2(piece, 64);
    memcpy(word, bytes, sizeof word);
    high = word[little ? 1 : 0];
    low = word[little ? 0 : 1];
    exponent = (int)(high >> 48 & 0x7fff);
    high = (high & 0xffffffffffff) | (uint64_t)(exponent != 0) << 48;
    mpfr_set_uj_2exp(out, high, 64, MPFR_RNDN);
    mpfr_set_uj(piece, low, MPFR_RNDN);
    mpfr_add(out, out, piece, MPFR_RNDN);
    mpfr_mul_2si(out, out, (exponent ? exponent : 1) - 16383 - 112, MPFR_RNDN);
    mpfr_setsign(out, out, word[little ? 1 : 0] >> 63, MPFR_RNDN);
    mpfr_clear(piece);
}

/* The exact value of what number_wide() made. */
static void from_wide(mpfr_t out, const unsigned char *bytes)
{
    const uint16_t one = 1;
    bool little = *(const unsigned char *)&one == 1;
    int64_t exponent = 0;

    mpfr_set_zero(out, 1);
    for (int bit = 144; bit >= 0; bit--) {
        int byte = little ? bit / 8 : NUMBER_WIDE_SIZE - 1 - bit / 8;
        int set = bytes[byte] >> bit % 8 & 1;

        if (bit >= 113) {
            exponent = exponent << 1 | set;
            continue;
        }
        if (bit == 112)
            mpfr_set_si(out, exponent != 0, MPFR_RNDN);
        mpfr_mul_2si(out, out, 1, MPFR_RNDN);
        mpfr_add_si(out, out, set, MPFR_RNDN);
    }
    mpfr_mul_2si(out, out, (long)((exponent ? exponent : 1) - INT32_MAX - 113), MPFR_RNDN);
    if (bytes[little ? 18 : NUMBER_WIDE_SIZE - 1 - 18] >> 1 & 1)
        mpfr_neg(out, out, MPFR_RNDN);
}

static int precision_at(const struct format *f, const char *text)
{
    mpfr_t about;
    long top;

    if (!f->hex)
        return f->precision;
    mpfr_init2(about, 200);
    mpfr_strtofr(about, text, NULL, 0, MPFR_RNDZ);
    top = mpfr_zero_p(about) ? 0 : mpfr_get_exp(about) - 1;
    mpfr_clear(about);
    return f->precision - 3 + (int)(top & 3);
}

/* What one rounding gives; false: beyond the format. */
static bool wanted(const struct format *f, const char *text, mpfr_t out)
{
    int precision = precision_at(f, text), ternary;
    mpfr_exp_t least = mpfr_get_emin(), most = mpfr_get_emax();

    mpfr_set_prec(out, precision);
    mpfr_set_emin(f->subnormal ? f->least - precision + 2 : least);
    mpfr_set_emax(f->most + 1);
    ternary = mpfr_strtofr(out, text, NULL, 0, MPFR_RNDN);
    if (f->subnormal)
        mpfr_subnormalize(out, ternary, MPFR_RNDN);
    mpfr_set_emin(least);
    mpfr_set_emax(most);
    return !mpfr_inf_p(out);
}

static bool given(const struct format *f, const char *text, mpfr_t out)
{
    drep_xfer strict = DREP_XFER(.range = DREP_RANGE_STRICT);
    const drep_scalar wide_scalar = number_wide_scalar();
    unsigned char quad[NUMBER_WIDE_SIZE], stored[17];
    bool wide = f->wide.bits != 0;
    drep_type *type, *held;
    bool fine;

    if (!(wide ? number_wide(text, f->wide, quad) : number_quad(text, f->bits, quad)))
        return false;
    ck_assert_int_eq(drep_type_parse(f->type, &type), 0);
    if (wide)
        ck_assert_int_eq(drep_type_scalar(&wide_scalar, &held), 0);
    else
        held = drep_type_ref(DREP_FLOAT128);
    fine = drep_convert(type, stored, held, quad, 1, &strict) == 0;
    if (fine) {
        ck_assert_int_eq(drep_convert(held, quad, type, stored, 1, NULL), 0);
        wide ? from_wide(out, quad) : from_quad(out, quad);
    }
    drep_type_free(held);
    drep_type_free(type);
    return fine;
}

static void check_text(const struct format *f, const char *text)
{
    mpfr_t want, got;
    bool fits, fine;

    mpfr_init2(want, 114);
    mpfr_init2(got, 114);
    fits = wanted(f, text, want);
    fine = given(f, text, got);
    /* A format without a signed zero has lost the sign that MPFR keeps. */
    if (fine != fits || (fits && mpfr_cmp(want, got) != 0))
        ck_abort_msg("%s: %.200s", f->type, text);
    mpfr_clear(want);
    mpfr_clear(got);
}

/* Within the range of a format that ends abruptly, else beyond both ends. */
static long random_exponent(const struct format *f, struct rnd *r)
{
    int from = f->subnormal ? f->least - f->precision - 4 : f->least + 8;
    int to = f->subnormal ? f->most + 4 : f->most - 8;

    if (rnd_below(r, 2))
        return (long)rnd_below(r, 40) - 20;
    return from + (long)rnd_below(r, (uint64_t)(to - from));
}

static void random_decimal(const struct format *f, struct rnd *r, char *text)
{
    long tens = (long)((double)random_exponent(f, r) * 0.30103), i;
    size_t digits = 1 + rnd_below(r, rnd_below(r, 20) ? 40 : 800), n = 0;

    if (!f->subnormal && labs(tens) * 10 > labs((long)f->most) * 3 - 20)
        tens = 0;
    if (rnd_below(r, 2))
        text[n++] = '-';
    for (i = 0; i < (long)digits; i++) {
        text[n++] = (char)('0' + (i ? rnd_below(r, 10) : 1 + rnd_below(r, 9)));
        if (i == 0)
            text[n++] = '.';
    }
    sprintf(text + n, "e%ld", tens);
}

START_TEST(test_random_decimals)
{
    char text[1024];
    struct rnd r;
    int f, i;

    rnd_init(&r, 11);
    for (f = 0; f < FORMATS; f++) {
        for (i = 0; i < RANDOM; i++) {
            random_decimal(&formats[f], &r, text);
            check_text(&formats[f], text);
        }
    }
    mpfr_free_cache();
}
END_TEST

/* Random hexadecimal digits, up to far more than any format has. */
START_TEST(test_random_hexadecimals)
{
    static const char digit[] = "0123456789abcdef";
    char text[128];
    struct rnd r;
    int f, i;

    rnd_init(&r, 12);
    for (f = 0; f < FORMATS; f++) {
        for (i = 0; i < RANDOM; i++) {
            size_t digits = 1 + rnd_below(&r, 40), n, k;

            n = (size_t)sprintf(text, "%s0x%c.", i % 2 ? "-" : "", digit[1 + rnd_below(&r, 15)]);
            for (k = 0; k < digits; k++)
                text[n++] = digit[rnd_below(&r, 16)];
            sprintf(text + n, "p%+ld", random_exponent(&formats[f], &r) - 2);
            check_text(&formats[f], text);
        }
    }
    mpfr_free_cache();
}
END_TEST

/* The exact decimal digits of a number, with an exponent. */
static char *exact_text(const mpfr_t x)
{
    mpfr_exp_t point;
    /* More digits than any has: what follows are zeros. */
    char *digits = mpfr_get_str(NULL, &point, 10, 12500, x, MPFR_RNDN), *text, *end;

    for (end = digits + strlen(digits); end > digits + 1 && end[-1] == '0'; end--)
        ;
    *end = '\0';
    text = malloc((size_t)(end - digits) + 64);
    sprintf(text, "%s.%se%ld", digits[0] == '-' ? "-0" : "0", digits + (digits[0] == '-'),
            (long)point);
    mpfr_free_str(digits);
    return text;
}

/* One more digit behind a text with an exponent: just above, or one unit less: just below. */
static void check_around(const struct format *f, const char *text)
{
    const char *e = strchr(text, 'e');
    size_t size = (size_t)(e - text);
    char *near = malloc(size + 13000);

    check_text(f, text);
    sprintf(near, "%.*s0000000000000000001%s", (int)size, text, e);
    check_text(f, near);
    memcpy(near, text, size);
    near[size - 1]--; /* the last digit is not 0 */
    sprintf(near + size, "99999999999999999999999%s", e);
    check_text(f, near);
    /* So far behind that it is no longer among the digits that are looked at. */
    memcpy(near, text, size);
    memset(near + size, '0', 12500);
    sprintf(near + size + 12500, "1%s", e);
    check_text(f, near);
    free(near);
}

START_TEST(test_middles)
{
    struct rnd r;
    mpfr_t x;
    int f, i;

    rnd_init(&r, 13);
    for (f = 0; f < FORMATS; f++) {
        for (i = 0; i < RANDOM / 100; i++) {
            long top = random_exponent(&formats[f], &r);
            int bits = formats[f].precision + 1, k;
            char *text;

            if (formats[f].hex)
                bits += (int)(top & 3) - 3;
            if (formats[f].subnormal && top < formats[f].least)
                bits -= (int)(formats[f].least - top);
            if (bits < 1)
                continue;
            mpfr_init2(x, bits);
            mpfr_set_ui(x, 1, MPFR_RNDN);
            for (k = 1; k < bits; k++) {
                mpfr_mul_2si(x, x, 1, MPFR_RNDN);
                mpfr_add_ui(x, x, k == bits - 1 ? 1 : rnd_below(&r, 2), MPFR_RNDN);
            }
            mpfr_mul_2si(x, x, top - bits + 1, MPFR_RNDN);
            text = exact_text(x);
            check_around(&formats[f], text);
            free(text);
            mpfr_clear(x);
        }
    }
    mpfr_free_cache();
}
END_TEST

/* ---- pairs of doubles ---- */

/* The double nearest to x, and the rest of x. */
static double nearest(mpfr_t x)
{
    double d = mpfr_get_d(x, MPFR_RNDN);

    if (isfinite(d))
        mpfr_sub_d(x, x, d, MPFR_RNDN);
    return d;
}

static void check_pair(const char *text)
{
    double want[2], got[2] = {7, 7};
    bool fine = number_pair(text, got);
    mpfr_t x;

    mpfr_init2(x, 60000); /* all of these texts, or far more than two doubles and a digit */
    mpfr_strtofr(x, text, NULL, 0, MPFR_RNDN);
    want[0] = nearest(x);
    want[1] = isfinite(want[0]) ? nearest(x) : 0;
    if (fine != isfinite(want[0]) || (fine && (got[0] != want[0] || got[1] != want[1])))
        ck_abort_msg("%.200s: %a + %a, not %a + %a", text, got[0], got[1], want[0], want[1]);
    mpfr_clear(x);
}

static double random_double(struct rnd *r, int least, int most)
{
    double m = ldexp((double)(rnd_u64(r) >> (11 + rnd_below(r, 40))), -53);

    return ldexp(rnd_below(r, 2) ? m : -m, least + (int)rnd_below(r, (uint64_t)(most - least)));
}

/* Pairs as dump writes them, however far apart, and texts in between and behind. */
START_TEST(test_pairs)
{
    static const struct format like = {"", 0, 106, -1022, 1023, true, false, {0, 0}};
    static const char *const texts[] = {"0.1",
                                        "1e308",
                                        "1.7976931348623157e308",
                                        "1.7976931348623159e308",
                                        "1e309",
                                        "1e-400",
                                        "5e-324",
                                        "2.4703282292062327e-324",
                                        "2.4703282292062328e-324",
                                        "-1e-320",
                                        "1e-5001",
                                        "0x1.fffffffffffff8p+1023",
                                        "0x1.fffffffffffff7ffffffffffffcp+1023",
                                        "0x1p-1075",
                                        "0x1.8p-1074",
                                        "0x1p-99999999",
                                        "-0x1.0000000000001p+3",
                                        "123456789012345678901234567890",
                                        "0x1.00000000000008p+0",
                                        "0x1.000000000000080000000000000000000000000000000001p+0"};
    char text[4096];
    double pair[2];
    struct rnd r;
    mpfr_t x;
    int i;

    rnd_init(&r, 14);
    for (i = 0; i < (int)(sizeof texts / sizeof *texts); i++)
        check_pair(texts[i]);
    for (i = 0; i < RANDOM; i++) {
        random_decimal(&like, &r, text);
        check_pair(text);
    }
    mpfr_init2(x, 2400);
    for (i = 0; i < RANDOM; i++) {
        double high = random_double(&r, -1000, 1000);
        double low = random_double(&r, -1074, 1000);

        mpfr_set_d(x, high, MPFR_RNDN);
        mpfr_add_d(x, x, low, MPFR_RNDN);
        mpfr_snprintf(text, sizeof text, "%Ra", x);
        check_pair(text);
        ck_assert(number_pair(text, pair));
        mpfr_sub_d(x, x, pair[0], MPFR_RNDN);
        if (fabs(low) < fabs(high))
            ck_assert(mpfr_get_d(x, MPFR_RNDN) == pair[1] && mpfr_cmp_d(x, pair[1]) == 0);
    }
    mpfr_clear(x);
    ck_assert(number_pair("-.inf", pair) && pair[0] == -INFINITY && pair[1] == 0);
    ck_assert(number_pair(".nan", pair) && isnan(pair[0]) && pair[1] == 0);
    ck_assert(number_pair("-0", pair) && pair[0] == 0 && signbit(pair[0]) && !signbit(pair[1]));
    ck_assert(!number_pair("", pair) && !number_pair("0x1.8q", pair) && !number_pair("1e", pair));
    mpfr_free_cache();
}
END_TEST

/* What strtod() has to say, for the formats that are read with it. */
START_TEST(test_edges)
{
    static const char *const quads[] = {"0x1p-16494",
                                        "0x1p-16495",
                                        "0x1.8p-16495",
                                        "0x1.0000000000000000000000000001p-16495",
                                        "1e-4966",
                                        "1e-5001",
                                        "1e-999999999999",
                                        "0x1p-99999999999",
                                        "3.3621031431120935062626778173217526e-4932",
                                        "1.18973149535723176508575932662800701e+4932",
                                        "1.18973149535723176508575932662800702e+4932",
                                        "1.1897314953572317650857593266280071e+4932",
                                        "1e4933",
                                        "1e5001",
                                        "1e999999999999",
                                        "0.1",
                                        "00000.1000",
                                        ".1",
                                        "1.",
                                        "123456789012345678901234567890123456789012345678",
                                        "0.000000000000000000000000000000000000000000000001"};
    unsigned char quad[16];
    double d;
    float f;
    size_t i;

    for (i = 0; i < sizeof quads / sizeof *quads; i++)
        check_text(&formats[7], quads[i]);
    ck_assert(number_quad("-0e999999", 64, quad) && number_quad(".nan", 64, quad) &&
              number_quad("-.inf", 64, quad) && number_quad("0x0p0", 64, quad));
    ck_assert(!number_quad("", 64, quad) && !number_quad(".", 64, quad) &&
              !number_quad("1e", 64, quad) && !number_quad("0x", 64, quad) &&
              !number_quad("0x1p", 64, quad) && !number_quad("1.5x", 64, quad) &&
              !number_quad("0x1.8q", 64, quad) && !number_quad("1e5 ", 64, quad) &&
              !number_quad("0x1.8.1", 64, quad) && !number_quad("0x1p1.5", 64, quad));
    ck_assert(number_double("0x1.8p+1", &d) && d == 3 && !number_double("1e309", &d));
    /* Twice rounded this is the even neighbour. */
    ck_assert(number_float("1.000000059604644775390626", &f) && f == 0x1.000002p+0f);
    ck_assert(number_double("1e-400", &d) && d == 0 && !signbit(d));
}
END_TEST

static Suite *suite_make(void)
{
    Suite *suite = suite_create("decimal");
    TCase *tc = tcase_create("decimal");

    tcase_set_timeout(tc, 300);
    tcase_add_test(tc, test_random_decimals);
    tcase_add_test(tc, test_random_hexadecimals);
    tcase_add_test(tc, test_middles);
    tcase_add_test(tc, test_pairs);
    tcase_add_test(tc, test_edges);
    suite_add_tcase(suite, tc);
    return suite;
}

int main(void)
{
    return run_suite(suite_make());
}

#else

int main(void)
{
    Suite *suite = suite_create("decimal");

    printf("skipped: needs MPFR as the reference\n");
    return run_suite(suite);
}

#endif
