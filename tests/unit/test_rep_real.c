/* test_rep_real.c - every pair of real formats, in every order, against references.
 *
 * The first reference is arithmetic alone (reference.h), the second MPFR.  Neither shares a
 * table or a line with the library.  E6, E7, E11, C7. */
/* SPDX-License-Identifier: MIT */
#include "rep/convert.h"
#include "rep/pick.h"
#include "rep/rep.h"
#include "rep/encodings.h"
#include "tests/unit/reference.h"

#ifdef HAVE_MPFR
#include <mpfr.h>
#endif

#ifdef HAVE_REFERENCE

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
enum { RANDOM = 600 };
#else
enum { RANDOM = 6000 };
#endif

/* At least as many as the nine pairs of orders take. */
static int random_count(void)
{
    int n = sanitized_part(share_of(RANDOM));

    return n < 600 ? 600 : n;
}

static bool order_possible(const struct ref_format *f, int order)
{
    return order != DREP_VAX || f->bytes == 1 || f->bytes % 2 == 0;
}

/* ------------------------------------------------------------ comparing */

static void tables_of(struct rep_table *dst, const struct ref_format *to, int to_order,
                      struct rep_table *src, const struct ref_format *from, int from_order)
{
    memset(dst, 0, sizeof *dst);
    memset(src, 0, sizeof *src);
    dst->row[DREP_CODE_FLOAT] = (drep_encoding){
        DREP_CODE_FLOAT, (uint8_t)to->id, (uint8_t)to_order, (uint8_t)to->bytes, 1, 0, 0};
    src->row[DREP_CODE_DOUBLE] = (drep_encoding){
        DREP_CODE_DOUBLE, (uint8_t)from->id, (uint8_t)from_order, (uint8_t)from->bytes, 1, 0, 0};
    ck_assert_int_eq(rep_table_check(dst), 0);
    ck_assert_int_eq(rep_table_check(src), 0);
}

static int64_t first_of(int64_t known, int64_t i, bool now)
{
    return known < 0 && now ? i : known;
}

/* n values through the kernel and through the reference; src, want: little-endian. */
static int64_t by_reference, by_mpfr; /* values compared */

static void check_batch(const struct ref_format *to, int to_order, const struct ref_format *from,
                        int from_order, const uint8_t *values, int64_t n, int range)
{
    struct rep_table dst, src;
    struct losses got = NO_LOSSES, want = got;
    struct rep_opts opts = {.value_range = range, .report = &got};
    uint8_t *in = calloc((size_t)n, 16), *out = malloc((size_t)n * 16), le[16], one[16];
    int64_t refused = 0, bad, i;
    struct kernel k;

    by_reference += n;
    tables_of(&dst, to, to_order, &src, from, from_order);
    ck_assert_int_eq(kernel_pick(&k, &dst, DREP_FLOAT, &src, DREP_DOUBLE, &opts), 0);
    for (i = 0; i < n; i++)
        ref_reorder(in + i * from->bytes, values + 16 * i, from->bytes, from_order,
                    from->kind == PAIR);
    memset(out, 0xa5, (size_t)n * 16);
    bad = kernel_run(&k, out, to->bytes, in, from->bytes, n, 7);
    for (i = 0; i < n && !refused; i++) {
        struct ref_val x = ref_read(from, values + 16 * i);
        int lost = 0;

        if (to->id == from->id && to->bytes == from->bytes)
            memcpy(le, values + 16 * i, 16); /* only the order differs */
        else
            lost = ref_write(to, x, range == DREP_RANGE_CLAMP, le);
        want.overflow += (lost & OVER) != 0;
        want.inexact += (lost & INEXACT) != 0;
        want.nan_lost += (lost & LOST) != 0;
        want.first_overflow = first_of(want.first_overflow, 7 + i, lost & OVER);
        want.first_inexact = first_of(want.first_inexact, 7 + i, lost & INEXACT);
        want.first_nan_lost = first_of(want.first_nan_lost, 7 + i, lost & LOST);
        if (range == DREP_RANGE_STRICT && lost & (OVER | TO_NUMBER)) {
            refused = i + 1;
            memset(one, 0xa5, 16);
        } else {
            ref_reorder(one, le, to->bytes, to_order, to->kind == PAIR);
        }
        /* Check's own assertions are slow where they hold. */
        if (memcmp(out + i * to->bytes, one, (size_t)to->bytes) != 0)
            ck_abort_msg("%s/%d to %s/%d, range %d: value %lld", drep_format_name(from->id),
                         from_order, drep_format_name(to->id), to_order, range, (long long)i);
    }
    ck_assert_msg(bad == refused && memcmp(&got, &want, sizeof got) == 0,
                  "%s to %s, range %d: report %lld %lld %lld, not %lld %lld %lld; %lld, not %lld",
                  drep_format_name(from->id), drep_format_name(to->id), range,
                  (long long)got.overflow, (long long)got.inexact, (long long)got.nan_lost,
                  (long long)want.overflow, (long long)want.inexact, (long long)want.nan_lost,
                  (long long)bad, (long long)refused);
    free(in);
    free(out);
}

static void samples(const struct ref_format *f, struct rnd *r, uint8_t *values, int64_t n)
{
    for (int64_t i = 0; i < n; i++)
        ref_sample(f, r, i, values + 16 * i);
}

/* The pad bytes of what only changes its order must be zero, as they are in samples. */
START_TEST(test_every_pair_in_every_order)
{
    const int random = random_count();
    uint8_t *values = malloc((size_t)random * 16);
    struct rnd r;
    int a, b, order, step = 0;

    rnd_init(&r, 1);
    for (a = 0; a < REF_FORMATS; a++) {
        for (b = 0; b < REF_FORMATS; b++) {
            /* All values in one pair of orders, some in each of the nine. */
            samples(&ref_formats[a], &r, values, random);
            check_batch(&ref_formats[b], DREP_BIG, &ref_formats[a], DREP_LITTLE, values, random,
                        step++ % 2 ? DREP_RANGE_WRAP : DREP_RANGE_CLAMP);
            for (order = 0; order < 9; order++)
                if (order_possible(&ref_formats[a], order % 3) &&
                    order_possible(&ref_formats[b], order / 3))
                    check_batch(&ref_formats[b], order / 3, &ref_formats[a], order % 3,
                                values + 16 * 60 * order, 60, DREP_RANGE_WRAP);
            for (order = 0; order < 4; order++)
                check_batch(&ref_formats[b], DREP_LITTLE, &ref_formats[a], DREP_BIG,
                            values + 16 * (1 + order * 83), 200, DREP_RANGE_STRICT);
        }
    }
    free(values);
}
END_TEST

/* All 8- and 16-bit scalars into everything; and each value of theirs, and all middles
 * between neighbours, from binary64. */
START_TEST(test_small_formats_exhaustively)
{
    const int stride = 100 / sanitized_part(share_of(100));
    int a, b;
    int64_t i, n;

    for (a = 0; a < 4; a++) {
        const struct ref_format *f = &ref_formats[a];
        uint8_t *values = calloc(1 << 18, 16);

        n = 1 << (8 * f->bytes);
        for (i = 0; i < n; i++)
            ref_bytes(values + 16 * i, 16, (u128)i);
        for (b = a % stride; b < REF_FORMATS; b += stride)
            check_batch(&ref_formats[b], DREP_LITTLE, f, DREP_LITTLE, values, n, DREP_RANGE_WRAP);
        n = 0;
        for (i = 0; i + 1 < (int64_t)ref_count(f); i++) {
            struct ref_val x = ref_nth(f, (u128)i), y = ref_nth(f, (u128)i + 1);

            for (; y.e > x.e; y.e--)
                y.m <<= 1;
            for (int part = 0; part < 4; part++) {
                u128 m = (x.m << 2) + (y.m - x.m) * (unsigned)part;
                struct ref_val z = ref_value(i & 1, m, x.e - 2);

                if (ref_write(REF_BINARY64, z, false, values + 16 * n++) != 0)
                    ck_abort_msg("binary64 must hold this");
            }
        }
        check_batch(f, DREP_BIG, REF_BINARY64, DREP_LITTLE, values, n, DREP_RANGE_WRAP);
        for (i = 0; i < n; i++) {
            struct ref_val z = ref_read(REF_BINARY64, values + 16 * i);

            ref_write(&ref_formats[4], z, false, values + 16 * i);
        }
        check_batch(f, DREP_LITTLE, &ref_formats[4], DREP_BIG, values, n, DREP_RANGE_CLAMP);
        free(values);
    }
}
END_TEST

/* ----------------------------------------------------------------- MPFR */

#ifdef HAVE_MPFR

/* The exact value; a pair may be as wide apart as it likes. */
static void mpfr_read(mpfr_t out, const struct ref_format *f, const uint8_t *le)
{
    struct ref_val x;
    mpfr_t low;

    if (f->kind == PAIR) {
        mpfr_init2(low, 2400);
        mpfr_read(out, REF_BINARY64, le);
        mpfr_read(low, REF_BINARY64, le + 8);
        mpfr_add(out, out, low, MPFR_RNDN);
        mpfr_clear(low);
        return;
    }
    x = ref_read(f, le);
    mpfr_set_ui_2exp(out, (unsigned long)(x.m >> 64), x.e + 64, MPFR_RNDN);
    mpfr_init2(low, 64);
    mpfr_set_ui_2exp(low, (unsigned long)x.m, x.e, MPFR_RNDN);
    mpfr_add(out, out, low, MPFR_RNDN);
    if (x.neg)
        mpfr_neg(out, out, MPFR_RNDN);
    mpfr_clear(low);
}

/* x rounded by MPFR to the IEEE format must be what the library wrote. */
static void mpfr_check(const struct ref_format *to, mpfr_t x, const uint8_t *le)
{
    mpfr_exp_t low = mpfr_get_emin(), high = mpfr_get_emax();
    struct ref_val got = ref_read(to, le);
    mpfr_t want, value;
    int digits = to->sig_bits + (to->kind == IEEE), inexact;
    bool right;

    mpfr_init2(want, digits);
    mpfr_init2(value, 2400);
    mpfr_set_emin(2 - to->bias - to->sig_bits + (to->kind != IEEE));
    mpfr_set_emax(to->bias + 1);
    inexact = mpfr_set(want, x, MPFR_RNDN);
    inexact = mpfr_check_range(want, inexact, MPFR_RNDN);
    mpfr_subnormalize(want, inexact, MPFR_RNDN);
    mpfr_set_emin(low);
    mpfr_set_emax(high);
    if (got.cls == NUMBER) {
        mpfr_read(value, to, le);
        right = mpfr_equal_p(value, want);
    } else {
        right = got.cls == INFINITE && mpfr_inf_p(want);
    }
    if (!right || got.neg != (mpfr_signbit(x) != 0))
        ck_abort_msg("to %s, which MPFR rounds otherwise", drep_format_name(to->id));
    mpfr_clear(value);
    mpfr_clear(want);
}

/* A pair of any two binary64, not only of neighbours. */
static void sample_pair(struct rnd *r, int64_t i, uint8_t *le)
{
    uint8_t low[16];

    ref_sample(REF_BINARY64, r, i / 4 * 5 + 2, low);
    ref_sample(REF_BINARY64, r, i, le);
    memcpy(le + 8, low, 8);
    if (i % 2)
        ref_bytes(le, 8,
                  (ref_number(le, 8) & ~(ref_mask(11) << 52)) | (u128)(1 + (int)rnd_below(r, 2046))
                                                                    << 52);
}

START_TEST(test_against_mpfr)
{
    static const int targets[] = {0, 1, 3, 4, 5, 6, 9};
    struct rnd r;
    size_t t;
    int a;

    rnd_init(&r, 2);
    for (a = 0; a < REF_FORMATS; a++)
        for (t = 0; t < sizeof targets / sizeof targets[0]; t++) {
            const struct ref_format *from = &ref_formats[a], *to = &ref_formats[targets[t]];
            int64_t i, n = random_count() * 3;
            uint8_t *in = calloc((size_t)n, 16), *out = malloc((size_t)n * 16), le[16];
            struct rep_opts opts = {.value_range = DREP_RANGE_WRAP};
            struct rep_table dst, src;
            struct kernel k;
            mpfr_t x;

            mpfr_init2(x, 2400);
            tables_of(&dst, to, DREP_LITTLE, &src, from, DREP_LITTLE);
            ck_assert_int_eq(kernel_pick(&k, &dst, DREP_FLOAT, &src, DREP_DOUBLE, &opts), 0);
            for (i = 0; i < n; i++) {
                if (from->kind == PAIR)
                    sample_pair(&r, i, le);
                else
                    ref_sample(from, &r, i, le);
                memcpy(in + i * from->bytes, le, (size_t)from->bytes);
            }
            kernel_run(&k, out, to->bytes, in, from->bytes, n, 0);
            for (i = 0; i < n; i++) {
                const uint8_t *p = in + i * from->bytes;

                if (ref_read(from->kind == PAIR ? REF_BINARY64 : from, p).cls != NUMBER ||
                    (from->kind == PAIR && ref_read(REF_BINARY64, p + 8).cls != NUMBER))
                    continue;
                mpfr_read(x, from, p);
                mpfr_check(to, x, out + i * to->bytes);
                by_mpfr++;
            }
            mpfr_clear(x);
            free(in);
            free(out);
        }
    mpfr_free_cache();
}
END_TEST

#endif

static Suite *suite_make(void)
{
    Suite *suite = suite_create("rep_real");
    TCase *tc = tcase_create("rep_real");

    tcase_set_timeout(tc, 300);
    tcase_add_test(tc, test_every_pair_in_every_order);
    tcase_add_test(tc, test_small_formats_exhaustively);
#ifdef HAVE_MPFR
    tcase_add_test(tc, test_against_mpfr);
#else
    printf("skipped: the comparison with MPFR, which was not there at build time\n");
#endif
    suite_add_tcase(suite, tc);
    return suite;
}

int main(void)
{
    int failed = run_suite(suite_make());

    counted(by_reference, "reals converted as the reference converts them");
    counted(by_mpfr, "reals rounded as MPFR rounds them");
    return failed;
}

#else

int main(void)
{
    Suite *suite = suite_create("rep_real");

    printf("skipped: the references count in 128 bits, which this compiler does not have\n");
    return run_suite(suite);
}

#endif
