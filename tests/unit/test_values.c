/* test_values.c - what bytes mean in every scalar format, and which bytes a value becomes, by
 * the rows of tests/vectors/values.def.
 *
 * The value of a row goes through a real that holds every number of every format exactly: 114
 * bits of significand, 20 of exponent. */
/* SPDX-License-Identifier: MIT */
#include "tests/unit/bytes.h"

#include <datarep.h>
#include <stdbool.h>

enum { WIDE = 17, WIDE_SIG = 113, WIDE_BIAS = 524287 };

enum ways { READ, BOTH };

static const struct row {
    const char *format, *bytes, *value;
    enum ways ways;
} rows[] = {
#define X(format, bytes, value, ways) {format, bytes, value, ways},
#include "tests/vectors/values.def"
#undef X
};
enum { ROWS = sizeof rows / sizeof *rows };

static int size_of(const struct row *row)
{
    return (int)strlen(row->bytes) / 2;
}

static void bytes_of(const struct row *row, uint8_t *out)
{
    int i;

    for (i = 0; i < size_of(row); i++)
        ck_assert_int_eq(sscanf(row->bytes + 2 * i, "%2hhx", out + i), 1);
}

static drep_type *type_of(const char *format, const char *order, int size)
{
    drep_type *type;
    char text[64];

    snprintf(text, sizeof text, "scalar{%s,%s,%d}", format, order, size);
    ck_assert_msg(drep_type_parse(text, &type) == 0, "%s: %s", text, drep_error());
    return type;
}

static drep_type *wide_type(void)
{
    static const drep_scalar wide = {.cls = DREP_SCALAR_REAL,
                                     .order = DREP_BIG,
                                     .size = WIDE,
                                     .format = DREP_FORMAT_CUSTOM,
                                     .norm = DREP_NORM_IMPLIED,
                                     .precision = 8 * WIDE,
                                     .sign_pos = 133,
                                     .exp_pos = WIDE_SIG,
                                     .exp_width = 20,
                                     .mant_width = WIDE_SIG,
                                     .exp_base_log2 = 1,
                                     .exp_bias = WIDE_BIAS};
    drep_type *type;

    ck_assert_msg(drep_type_scalar(&wide, &type) == 0, "%s", drep_error());
    return type;
}

static void put_bit(uint8_t *wide, int at)
{
    wide[WIDE - 1 - at / 8] |= (uint8_t)(1 << at % 8);
}

static void put_exponent(uint8_t *wide, long e)
{
    int i;

    for (i = 0; i < 20; i++)
        if (e >> i & 1)
            put_bit(wide, WIDE_SIG + i);
}

/* The bytes that the wide type has for a value as values.def writes it. */
static void wide_of(const char *text, uint8_t *wide)
{
    const char *p = text + (*text == '-'), *digit;
    int at = WIDE_SIG, i;

    memset(wide, 0, WIDE);
    if (*text == '-')
        put_bit(wide, 133);
    if (strcmp(p, "inf") == 0 || strcmp(p, "nan") == 0) {
        put_exponent(wide, 0xfffff);
        if (*p == 'n')
            put_bit(wide, WIDE_SIG - 1);
        return;
    }
    if (strcmp(p, "0x0p+0") == 0)
        return;
    put_exponent(wide, strtol(strchr(p, 'p') + 1, NULL, 10) + WIDE_BIAS);
    for (digit = p + 4; p[3] == '.' && *digit != 'p'; digit++)
        for (i = 3; i >= 0; i--) {
            bool bit = (*digit <= '9' ? *digit - '0' : *digit - 'a' + 10) >> i & 1;

            ck_assert_msg(!bit || at > 0, "%s is too wide", text);
            at--;
            if (bit)
                put_bit(wide, at);
        }
}

static bool is_nan(const uint8_t *wide)
{
    uint8_t inf[WIDE];

    wide_of(wide[0] & 0x20 ? "-inf" : "inf", inf);
    return memcmp(wide, inf, 2) == 0 && (wide[2] & 0xfe) == (inf[2] & 0xfe) &&
           memcmp(wide, inf, WIDE) != 0;
}

START_TEST(test_bytes_to_value)
{
    uint8_t bytes[16], want[WIDE], got[WIDE];
    drep_type *wide = wide_type();
    int i;

    for (i = 0; i < ROWS; i++) {
        drep_type *type = type_of(rows[i].format, "big", size_of(&rows[i]));

        bytes_of(&rows[i], bytes);
        wide_of(rows[i].value, want);
        ck_assert_int_eq(drep_convert(wide, got, type, bytes, 1, NULL), 0);
        ck_assert_msg(is_nan(want) ? is_nan(got) : memcmp(got, want, WIDE) == 0,
                      "%s %s is not read as %s", rows[i].format, rows[i].bytes, rows[i].value);
        drep_type_free(type);
    }
    drep_type_free(wide);
}
END_TEST

START_TEST(test_value_to_bytes)
{
    uint8_t bytes[16], value[WIDE], got[16];
    drep_type *wide = wide_type();
    int i;

    for (i = 0; i < ROWS; i++) {
        drep_type *type = type_of(rows[i].format, "big", size_of(&rows[i]));

        bytes_of(&rows[i], bytes);
        wide_of(rows[i].value, value);
        if (rows[i].ways == BOTH && !is_nan(value)) {
            ck_assert_msg(drep_convert(type, got, wide, value, 1, NULL) == 0, "%s", drep_error());
            ck_assert_msg(memcmp(got, bytes, (size_t)size_of(&rows[i])) == 0,
                          "%s %s is not written for %s", rows[i].format, rows[i].bytes,
                          rows[i].value);
        }
        drep_type_free(type);
    }
    drep_type_free(wide);
}
END_TEST

/* From every format to every other in one step, by its own loop, and by way of the value. */
static void check_pair(const struct row *row, const drep_type *from, const char *format, int size)
{
    const drep_xfer xfer = DREP_XFER(.range = DREP_RANGE_CLAMP);
    uint8_t bytes[16], value[WIDE], got[16] = {0}, want[16] = {0};
    drep_type *to = type_of(format, "big", size), *wide = wide_type();

    bytes_of(row, bytes);
    wide_of(row->value, value);
    if (!is_nan(value)) {
        ck_assert_int_eq(drep_convert(to, got, from, bytes, 1, &xfer), 0);
        ck_assert_int_eq(drep_convert(to, want, wide, value, 1, &xfer), 0);
        ck_assert_msg(memcmp(got, want, (size_t)size) == 0, "%s %s (%s) to %s", row->format,
                      row->bytes, row->value, format);
    }
    drep_type_free(wide);
    drep_type_free(to);
}

START_TEST(test_every_format_to_every_other)
{
    int i, k;

    for (i = 0; i < ROWS; i++) {
        drep_type *from = type_of(rows[i].format, "big", size_of(&rows[i]));

        for (k = 0; k < ROWS; k++)
            if ((k == 0 || strcmp(rows[k].format, rows[k - 1].format) != 0) &&
                strcmp(rows[k].format, rows[i].format) != 0)
                check_pair(&rows[i], from, rows[k].format, size_of(&rows[k]));
        drep_type_free(from);
    }
}
END_TEST

/* The same scalars in little-endian order; the halves of a double-double keep their places. */
START_TEST(test_little_endian)
{
    uint8_t bytes[16], turned[16], a[WIDE], b[WIDE];
    drep_type *wide = wide_type();
    int i, k;

    for (i = 0; i < ROWS; i++) {
        int size = size_of(&rows[i]);
        int part = strcmp(rows[i].format, "double-double") == 0 ? size / 2 : size;
        drep_type *big = type_of(rows[i].format, "big", size);
        drep_type *little = type_of(rows[i].format, "little", size);

        bytes_of(&rows[i], bytes);
        for (k = 0; k < size; k++)
            turned[k / part * part + part - 1 - k % part] = bytes[k];
        ck_assert_int_eq(drep_convert(wide, a, big, bytes, 1, NULL), 0);
        ck_assert_int_eq(drep_convert(wide, b, little, turned, 1, NULL), 0);
        ck_assert_msg(memcmp(a, b, WIDE) == 0, "%s %s", rows[i].format, rows[i].bytes);
        drep_type_free(little);
        drep_type_free(big);
    }
    drep_type_free(wide);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("values");
    TCase *tc = tcase_create("values");

    tcase_set_timeout(tc, 60);
    tcase_add_test(tc, test_bytes_to_value);
    tcase_add_test(tc, test_value_to_bytes);
    tcase_add_test(tc, test_every_format_to_every_other);
    tcase_add_test(tc, test_little_endian);
    suite_add_tcase(suite, tc);
    return run_suite(suite);
}
