/* test_scalar.c - the table of scalar formats: what it says is what the conversions do. */
/* SPDX-License-Identifier: MIT */
#include "kern/side.h"
#include "scalar/scalar.h"
#include "tests/unit/bytes.h"

#include <math.h>
#include <string.h>

/* Leading bytes, big-endian; the rest is 00, of the largest number ff.  From the definitions of
 * the formats, not from the table. */
static const struct sample {
    int format, size;
    const char *one, *minus, *largest, *nan;
    int len;
} samples[] = {
    {DREP_FORMAT_BINARY16, 2, "\x3c\x00", "\xc1\x00", "\x7b\xff", "\x7e\x00", 2},
    {DREP_FORMAT_BFLOAT16, 2, "\x3f\x80", "\xc0\x20", "\x7f\x7f", "\x7f\xc0", 2},
    {DREP_FORMAT_FP8_E4M3, 1, "\x38", "\xc2", "\x7e", "\x7f", 1},
    {DREP_FORMAT_FP8_E5M2, 1, "\x3c", "\xc1", "\x7b", "\x7e", 1},
    {DREP_FORMAT_BINARY32, 4, "\x3f\x80", "\xc0\x20", "\x7f\x7f", "\x7f\xc0", 2},
    {DREP_FORMAT_BINARY64, 8, "\x3f\xf0", "\xc0\x04", "\x7f\xef", "\x7f\xf8", 2},
    {DREP_FORMAT_BINARY128, 16, "\x3f\xff\x00", "\xc0\x00\x40", "\x7f\xfe\xff", "\x7f\xff\x80", 3},
    {DREP_FORMAT_X87, 10, "\x3f\xff\x80", "\xc0\x00\xa0", "\x7f\xfe\xff", "\x7f\xff\xc0", 3},
    {DREP_FORMAT_IBM_HEX32, 4, "\x41\x10", "\xc1\x28", "\x7f\xff", "\x7f\xff", 2},
    {DREP_FORMAT_VAX_F, 4, "\x40\x80", "\xc1\x20", "\x7f\xff", "\x80\x00", 2},
    {DREP_FORMAT_CRAY64, 8, "\x40\x01\x80", "\xc0\x02\xa0", "\x5f\xff\xff", "\x60\x00\x80", 3},
};

static void check_sample(const struct sample *s, enum rep_sample which, const char *lead, int rest)
{
    uint8_t little[16], want[16];

    memset(want, rest, sizeof want);
    memcpy(want, lead, (size_t)s->len);
    ck_assert_int_eq(rep_sample(s->format, s->size, which, little), 0);
    for (int i = 0; i < s->size; i++)
        ck_assert_msg(little[s->size - 1 - i] == want[i], "%s, sample %d, byte %d: %02x, not %02x",
                      drep_format_name(s->format), which, i, little[s->size - 1 - i], want[i]);
}

START_TEST(test_samples_are_the_formats_own)
{
    static const char zero[16];

    for (size_t i = 0; i < sizeof samples / sizeof *samples; i++) {
        const struct sample *s = &samples[i];
        /* What has no NaN stores its largest number. */
        int nan = s->format == DREP_FORMAT_IBM_HEX32 ? 0xff : 0;

        check_sample(s, REP_ZERO, zero, 0);
        check_sample(s, REP_ONE, s->one, 0);
        check_sample(s, REP_MINUS, s->minus, 0);
        check_sample(s, REP_LARGEST, s->largest, 0xff);
        check_sample(s, REP_NAN, s->nan, nan);
    }
}
END_TEST

START_TEST(test_every_format_is_described)
{
    int known = 0;

    ck_assert_ptr_null(drep_format_describe(0));
    ck_assert_ptr_null(drep_format_describe(-1));
    ck_assert_ptr_null(drep_format_describe(256));
    for (int format = 1; format < 256; format++) {
        const drep_format_info *f = drep_format_describe(format);

        ck_assert_int_eq(f != NULL, drep_format_name(format) != NULL);
        if (f == NULL)
            continue;
        known++;
        ck_assert_int_eq(f->format, format);
        ck_assert_str_eq(f->name, drep_format_name(format));
        ck_assert_int_eq(drep_format_from_name(f->name), format);
        ck_assert(f->sizes != 0);
        ck_assert(f->size == 0 || (f->sizes >> (f->size - 1) & 1));
        ck_assert(f->cls == DREP_SCALAR_REAL || f->precision == 0);
        if (f->type != 0)
            ck_assert_int_eq(drep_type_size(drep_predefined(f->type)), f->size);
    }
    ck_assert_int_gt(known, 20);
}
END_TEST

/* The largest number, 1 and its neighbour, through the conversion to binary64, whose frexp()
 * says where their bits are. */
START_TEST(test_precision_and_range_are_those_of_conversions)
{
    for (int format = 1; format < DREP_FORMAT_CUSTOM; format++) {
        const drep_format_info *f = drep_format_describe(format);
        drep_scalar s = {.cls = DREP_SCALAR_REAL, .format = (uint8_t)format, .is_signed = 1};
        uint8_t bytes[16];
        drep_type *type;
        double d, next;
        int exponent;

        /* Those that a double holds. */
        if (f == NULL || f->cls != DREP_SCALAR_REAL || f->precision > 53 || f->greatest > 1023)
            continue;
        s.size = (uint8_t)f->size;
        s.order = f->vax ? DREP_VAX : DREP_BIG;
        ck_assert_int_eq(drep_type_scalar(&s, &type), 0);
        d = HUGE_VAL;
        ck_assert_int_eq(
            drep_convert(type, bytes, DREP_DOUBLE, &d, 1, &DREP_XFER(.range = DREP_RANGE_CLAMP)),
            0);
        ck_assert_int_eq(drep_convert(DREP_DOUBLE, &d, type, bytes, 1, NULL), 0);
        if (isfinite(d)) {
            frexp(d, &exponent);
            ck_assert_msg(exponent - 1 == f->greatest, "%s: greatest %d, not %d", f->name,
                          exponent - 1, f->greatest);
        }
        /* 1 and one unit of the last place are kept, half a unit is not.  In base 16 the three
         * leading bits of 1 are zero. */
        d = 1 + ldexp(1, 1 - f->precision + (f->base_log2 - 1));
        ck_assert_int_eq(drep_convert(type, bytes, DREP_DOUBLE, &d, 1, NULL), 0);
        ck_assert_int_eq(drep_convert(DREP_DOUBLE, &next, type, bytes, 1, NULL), 0);
        ck_assert_msg(next == d, "%s has fewer bits than %d", f->name, f->precision);
        d = 1 + ldexp(1, -f->precision + (f->base_log2 - 1));
        if (f->precision < 53) {
            ck_assert_int_eq(drep_convert(type, bytes, DREP_DOUBLE, &d, 1, NULL), 0);
            ck_assert_int_eq(drep_convert(DREP_DOUBLE, &next, type, bytes, 1, NULL), 0);
            ck_assert_msg(next != d, "%s has more bits than %d", f->name, f->precision);
        }
        drep_type_free(type);
    }
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("scalar");
    TCase *tc = tcase_create("scalar");

    tcase_add_test(tc, test_samples_are_the_formats_own);
    tcase_add_test(tc, test_every_format_is_described);
    tcase_add_test(tc, test_precision_and_range_are_those_of_conversions);
    suite_add_tcase(suite, tc);
    return run_suite(suite);
}
