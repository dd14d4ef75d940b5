/* test_golden.c - the table of every known machine against bytes its compiler made.
 *
 * D7, D10: native:NAME must read vectors/golden.def to the right values on any machine,
 * and write those values back to the same bytes.  Values pass through binary128, which
 * holds all of them exactly; what they must be stands here as hexadecimal constants. */
/* SPDX-License-Identifier: MIT */
#include "rep/convert.h"
#include "rep/rep.h"
#include "rep/encodings.h"
#include "tests/unit/bytes.h"

#include <stddef.h>

static const struct image {
    const char *machine, *array, *hex;
} images[] = {
#define IMAGE(machine, array, hex) {#machine, #array, hex},
#include "tests/vectors/golden.def"
#undef IMAGE
};
enum { IMAGES = sizeof images / sizeof images[0] };

/* 0, -0, 1, -2.5, 0.1, pi, max, min, smallest, infinities; as C's %a, the first digit 1. */
#define ENDS "inf", "-inf"
static const struct expected {
    int format;
    const char *value[11];
} expected[] = {
    {DREP_FORMAT_BINARY32,
     {"0", "-0", "0x1p0", "-0x1.4p1", "0x1.99999ap-4", "0x1.921fb6p1", "0x1.fffffep127", "0x1p-126",
      "0x1p-149", ENDS}},
    {DREP_FORMAT_BINARY64,
     {"0", "-0", "0x1p0", "-0x1.4p1", "0x1.999999999999ap-4", "0x1.921fb54442d18p1",
      "0x1.fffffffffffffp1023", "0x1p-1022", "0x1p-1074", ENDS}},
    {DREP_FORMAT_BINARY128,
     {"0", "-0", "0x1p0", "-0x1.4p1", "0x1.999999999999999999999999999ap-4",
      "0x1.921fb54442d18469898cc51701b8p1", "0x1.ffffffffffffffffffffffffffffp16383", "0x1p-16382",
      "0x1p-16494", ENDS}},
    {DREP_FORMAT_X87,
     {"0", "-0", "0x1p0", "-0x1.4p1", "0x1.999999999999999ap-4", "0x1.921fb54442d1846ap1",
      "0x1.fffffffffffffffep16383", "0x1p-16382", "0x1p-16445", ENDS}},
    {DREP_FORMAT_M68K,
     {"0", "-0", "0x1p0", "-0x1.4p1", "0x1.999999999999999ap-4", "0x1.921fb54442d1846ap1",
      "0x1.fffffffffffffffep16383", "0x1p-16383", "0x1p-16446", ENDS}},
    /* gcc's pi is one unit below the nearest. */
    {DREP_FORMAT_DOUBLE_DOUBLE,
     {"0", "-0", "0x1p0", "-0x1.4p1", "0x1.999999999999999999999999998p-4",
      "0x1.921fb54442d18469898cc517018p1", "0x1.fffffffffffff7ffffffffffff8p1023", "0x1p-969",
      "0x1p-1074", ENDS}},
};

static const struct rep_opts opts = {.value_range = DREP_RANGE_STRICT};

static const struct rep_table *machine_table(const char *id)
{
    char name[DREP_MAX_DATAREP_STRING];
    const struct datarep *rep;
    char *c;

    snprintf(name, sizeof name, "native:%s", id);
    for (c = name; *c; c++)
        if (*c == '_')
            *c = '-';
    rep = rep_find(name);
    ck_assert_msg(rep && rep->table && rep->table->structs, "%s", name);
    return rep->table;
}

/* Big-endian binary128 of such a text. */
static void binary128(const char *text, uint8_t out[16])
{
    int neg = *text == '-', exponent = 0, digits = 0, i, up;
    uint8_t bits[128] = {0};
    uint32_t top;

    memset(out, 0, 16);
    text += neg;
    if (strcmp(text, "inf") == 0) {
        memcpy(out, "\x7f\xff", 2);
    } else if (strcmp(text, "0") != 0) {
        text += 3;
        bits[0] = 1;
        if (*text == '.')
            for (text++; *text != 'p'; text++, digits++)
                for (i = 0; i < 4; i++)
                    bits[1 + 4 * digits + i] =
                        (uint8_t)(strchr("0123456789abcdef", *text) - "0123456789abcdef") >>
                            (3 - i) &
                        1;
        exponent = atoi(text + 1);
        /* Bit 0 is the leading one; a subnormal has it further down. */
        up = exponent < -16382 ? -16382 - exponent : 0;
        top = up ? 0 : (uint32_t)(exponent + 16383);
        for (i = up ? 0 : 1; i + up < 113; i++)
            if (i + up > 0 && bits[i])
                out[2 + (i + up - 1) / 8] |= (uint8_t)(0x80 >> (i + up - 1) % 8);
        out[0] = (uint8_t)(top >> 8);
        out[1] = (uint8_t)top;
    }
    if (neg)
        out[0] |= 0x80;
}

static int64_t values; /* of the images, read and written back */

static void convert(void *dst, const struct rep_table *to, const drep_type *dst_type,
                    const void *src, const struct rep_table *from, const drep_type *src_type,
                    int64_t n)
{
    struct type_sizes to_sizes, from_sizes;
    struct prog dst_prog, src_prog;
    int err;

    rep_table_sizes(to, &to_sizes);
    rep_table_sizes(from, &from_sizes);
    ck_assert_int_eq(prog_build(&dst_prog, dst_type, &to_sizes, PROG_PACKED), 0);
    ck_assert_int_eq(prog_build(&src_prog, src_type, &from_sizes, PROG_PACKED), 0);
    err = rep_convert(dst, &(struct rep_side){&dst_prog, to, 0}, src,
                      &(struct rep_side){&src_prog, from, 0}, n, &opts, NULL);
    ck_assert_msg(err == 0, "%s", drep_error());
    prog_release(&dst_prog);
    prog_release(&src_prog);
}

static const struct rep_table *external32(void)
{
    return rep_find("external32")->table;
}

/* Reads and writes back n reals whose values are `value`; the last may be a NaN. */
static void check_reals(const struct image *im, int code, int n, const char *const *value, bool nan)
{
    const struct rep_table *t = machine_table(im->machine);
    size_t size = t->row[code].size, bytes;
    uint8_t *image = hex_bytes(im->hex, &bytes), got[16 * 12], want[16], back[16 * 12];
    int i, all = n + nan;

    ck_assert_uint_ge(bytes, size * (size_t)all);
    convert(got, external32(), DREP_FLOAT128, image, t, drep_predefined(code), all);
    for (i = 0; i < n; i++) {
        binary128(value[i], want);
        ck_assert_msg(memcmp(got + 16 * i, want, 16) == 0, "%s %s[%d]", im->machine, im->array, i);
    }
    ck_assert(!nan ||
              ((got[16 * n] & 0x7f) == 0x7f && got[16 * n + 1] == 0xff && got[16 * n + 2] != 0));
    memset(back, 0xaa, sizeof back);
    convert(back, t, drep_predefined(code), got, external32(), DREP_FLOAT128, all);
    ck_assert_msg(memcmp(back, image, size * (size_t)n) == 0, "%s %s", im->machine, im->array);
    values += all;
    if (nan) {
        convert(got, external32(), DREP_FLOAT128, back + size * (size_t)n, t, drep_predefined(code),
                1);
        ck_assert((got[0] & 0x7f) == 0x7f && got[1] == 0xff && got[2] != 0);
    }
    free(image);
}

static const char *const *values_of(int format)
{
    size_t i;

    for (i = 0; i < sizeof expected / sizeof expected[0]; i++)
        if (expected[i].format == format)
            return expected[i].value;
    ck_abort_msg("format %d", format);
    return NULL;
}

START_TEST(test_reals_of_every_machine)
{
    static const struct {
        const char *array;
        int code;
    } kinds[] = {{"float", DREP_CODE_FLOAT},
                 {"double", DREP_CODE_DOUBLE},
                 {"ldouble", DREP_CODE_LONG_DOUBLE}};
    int i, k, seen = 0;

    for (i = 0; i < IMAGES; i++)
        for (k = 0; k < 3; k++)
            if (strcmp(images[i].array, kinds[k].array) == 0) {
                int format = machine_table(images[i].machine)->row[kinds[k].code].format;

                check_reals(&images[i], kinds[k].code, 11, values_of(format), true);
                seen++;
            }
    ck_assert_int_eq(seen, 3 * 22);
}
END_TEST

START_TEST(test_other_reals)
{
    static const char *const half[] = {"0", "0x1p0", "-0x1.4p1", "0x1.998p-4", "0x1.ffcp15"};
    /* 0.1 was written as a double. */
    static const char *const quad[] = {"0", "0x1p0", "-0x1.4p1", "0x1.999999999999ap-4",
                                       "0x1.921fb54442d18469898cc51701b8p1"};
    static const char *const complex[] = {"0x1p0", "0x1p1", "-0x1p-1", "-0x1p-2"};
    int i, seen = 0;

    for (i = 0; i < IMAGES; i++) {
        if (strcmp(images[i].array, "f16") == 0)
            check_reals(&images[i], DREP_CODE_FLOAT16, 5, half, false);
        else if (strcmp(images[i].array, "f128") == 0)
            check_reals(&images[i], DREP_CODE_FLOAT128, 5, quad, false);
        else if (strcmp(images[i].array, "dcomplex") == 0)
            check_reals(&images[i], DREP_CODE_DOUBLE, 4, complex, false);
        else
            continue;
        seen++;
    }
    ck_assert_int_ge(seen, 22 + 5 + 8);
}
END_TEST

/* Big-endian 128-bit integers. */
static void check_ints(const struct image *im, int code, int n, const int64_t *value)
{
    const struct rep_table *t = machine_table(im->machine);
    size_t size = t->row[code].size, bytes;
    uint8_t *image = hex_bytes(im->hex, &bytes), got[16 * 8], want[16], back[16 * 8];
    int i, b;

    ck_assert_uint_ge(bytes, size * (size_t)n);
    convert(got, external32(), drep_predefined(DREP_CODE_INTEGER16), image, t,
            drep_predefined(code), n);
    for (i = 0; i < n; i++) {
        for (b = 0; b < 16; b++)
            want[b] = (uint8_t)(value[i] >> (b < 8 ? 63 : 8 * (15 - b)));
        ck_assert_msg(memcmp(got + 16 * i, want, 16) == 0, "%s %s[%d]", im->machine, im->array, i);
    }
    memset(back, 0xaa, sizeof back);
    convert(back, t, drep_predefined(code), got, external32(), drep_predefined(DREP_CODE_INTEGER16),
            n);
    ck_assert_msg(memcmp(back, image, size * (size_t)n) == 0, "%s %s", im->machine, im->array);
    values += n;
    free(image);
}

static void check_same_code(const struct image *im, int code, int n, const char *external)
{
    const struct rep_table *t = machine_table(im->machine);
    size_t size = t->row[code].size, bytes, want_bytes;
    uint8_t *image = hex_bytes(im->hex, &bytes), *want = hex_bytes(external, &want_bytes);
    uint8_t got[64], back[64];

    convert(got, external32(), drep_predefined(code), image, t, drep_predefined(code), n);
    ck_assert_msg(memcmp(got, want, want_bytes) == 0, "%s %s", im->machine, im->array);
    convert(back, t, drep_predefined(code), got, external32(), drep_predefined(code), n);
    ck_assert_msg(memcmp(back, image, size * (size_t)n) == 0, "%s %s", im->machine, im->array);
    values += n;
    free(image);
    free(want);
}

START_TEST(test_integers_of_every_machine)
{
    int i, seen = 0;

    for (i = 0; i < IMAGES; i++) {
        const struct image *im = &images[i];
        bool wide = machine_table(im->machine)->row[DREP_CODE_LONG].size == 8;

        seen++;
        if (strcmp(im->array, "short") == 0)
            check_ints(im, DREP_CODE_SHORT, 6,
                       (const int64_t[]){0, 1, -1, INT16_MAX, INT16_MIN, 0x0102});
        else if (strcmp(im->array, "int") == 0)
            check_ints(im, DREP_CODE_INT, 6,
                       (const int64_t[]){0, 1, -1, INT32_MAX, INT32_MIN, 0x01020304});
        else if (strcmp(im->array, "long") == 0)
            check_ints(im, DREP_CODE_LONG, 6,
                       (const int64_t[]){0, 1, -1, wide ? INT64_MAX : INT32_MAX,
                                         wide ? INT64_MIN : INT32_MIN, 0x01020304});
        else if (strcmp(im->array, "llong") == 0)
            check_ints(im, DREP_CODE_LONG_LONG, 6,
                       (const int64_t[]){0, 1, -1, INT64_MAX, INT64_MIN, 0x0102030405060708});
        else if (strcmp(im->array, "i128") == 0)
            check_same_code(im, DREP_CODE_INTEGER16, 3,
                            "00000000000000000000000000000001 ffffffffffffffffffffffffffffffff"
                            "0102030405060708090a0b0c0d0e0f10");
        else if (strcmp(im->array, "ulong") == 0 && !wide)
            check_same_code(im, DREP_CODE_UNSIGNED_LONG, 3, "00000000 00000001 ffffffff");
        else if (strcmp(im->array, "wchar") == 0)
            check_same_code(im, DREP_CODE_WCHAR, 2, "0041 20ac");
        else if (strcmp(im->array, "bool") == 0)
            check_same_code(im, DREP_CODE_C_BOOL, 3, "00 01 01");
        else
            seen--;
    }
    ck_assert_int_ge(seen, 22 * 7);
}
END_TEST

/* The struct of golden.def as this test holds it: the long double as binary128. */
struct mixed {
    char c;
    int16_t s;
    int32_t i;
    int64_t l, q;
    float f;
    double d;
    uint8_t e[16];
    uint8_t b;
};

static void struct_types(drep_type **machine, drep_type **here)
{
    const drep_type *theirs[] = {DREP_CHAR,   DREP_SHORT,       DREP_INT,
                                 DREP_LONG,   DREP_LONG_LONG,   DREP_FLOAT,
                                 DREP_DOUBLE, DREP_LONG_DOUBLE, DREP_C_BOOL};
    const drep_type *ours[] = {DREP_CHAR,  DREP_INT16_T, DREP_INT32_T,  DREP_INT64_T, DREP_INT64_T,
                               DREP_FLOAT, DREP_DOUBLE,  DREP_FLOAT128, DREP_C_BOOL};
    const int64_t at[] = {
        offsetof(struct mixed, c), offsetof(struct mixed, s), offsetof(struct mixed, i),
        offsetof(struct mixed, l), offsetof(struct mixed, q), offsetof(struct mixed, f),
        offsetof(struct mixed, d), offsetof(struct mixed, e), offsetof(struct mixed, b)};
    drep_type *t;

    ck_assert_int_eq(drep_type_struct(9, NULL, NULL, theirs, machine), 0);
    ck_assert_int_eq(drep_type_struct(9, NULL, at, ours, &t), 0);
    ck_assert_int_eq(drep_type_resized(0, sizeof(struct mixed), t, here), 0);
    drep_type_free(t);
}

static void check_mixed(const struct mixed *m, const char *tenth)
{
    uint8_t want[16];
    const uint16_t order = 1;
    const volatile float f = 1e10f; /* without excess precision */
    const volatile double d = 1e100;

    ck_assert(m[0].c == 'a' && m[0].s == -2 && m[0].i == 3 && m[0].l == -4 && m[0].q == 5);
    ck_assert(m[0].f == 0.5f && m[0].d == -0.25 && m[0].b == 1);
    ck_assert(m[1].c == 'z' && m[1].s == 0x0102 && m[1].i == 0x01020304 && m[1].l == 7);
    ck_assert(m[1].q == -8 && m[1].f == f && m[1].d == d && m[1].b == 0);
    for (int i = 0; i < 2; i++) {
        binary128(i ? "-0x1.4p1" : tenth, want);
        for (int b = 0; b < 16; b++)
            ck_assert_int_eq(m[i].e[*(const uint8_t *)&order ? 15 - b : b], want[b]);
    }
}

START_TEST(test_structs_of_every_machine)
{
    drep_type *machine, *here;
    int i, seen = 0;

    struct_types(&machine, &here);
    for (i = 0; i < IMAGES; i++) {
        const struct rep_table *t = machine_table(images[i].machine);
        struct mixed m[2];
        struct type_sizes sizes;
        struct prog prog;
        size_t bytes;
        uint8_t *image, back[512] = {0};

        if (strcmp(images[i].array, "struct") != 0)
            continue;
        image = hex_bytes(images[i].hex, &bytes);
        rep_table_sizes(t, &sizes);
        ck_assert_int_eq(prog_build(&prog, machine, &sizes, PROG_STRUCT), 0);
        ck_assert_int_le(2 * prog.extent, (int64_t)bytes);
        ck_assert_int_lt((int64_t)bytes - 2 * prog.extent, 16);
        ck_assert_int_eq(rep_convert(m, &(struct rep_side){&here->prog, rep_native(), 0}, image,
                                     &(struct rep_side){&prog, t, 0}, 18, &opts, NULL),
                         0);
        check_mixed(m, values_of(t->row[DREP_CODE_LONG_DOUBLE].format)[4]);
        ck_assert_int_eq(rep_convert(back, &(struct rep_side){&prog, t, 0}, m,
                                     &(struct rep_side){&here->prog, rep_native(), 0}, 18, &opts,
                                     NULL),
                         0);
        ck_assert_msg(memcmp(back, image, bytes) == 0, "%s", images[i].machine);
        values += 18;
        prog_release(&prog);
        free(image);
        seen++;
    }
    ck_assert_int_eq(seen, 22);
    drep_type_free(machine);
    drep_type_free(here);
}
END_TEST

/* On a machine of the list, native is its table; elsewhere it has no name. */
START_TEST(test_this_machine_is_known)
{
    char name[DREP_MAX_DATAREP_STRING];

    if (*rep_native_name() == 0)
        return;
    snprintf(name, sizeof name, "native:%s", rep_native_name());
    ck_assert_int_eq(
        memcmp(rep_find(name)->table->row, rep_native()->row, sizeof rep_native()->row), 0);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("golden");
    TCase *tc = tcase_create("golden");
    int failed;

    tcase_add_test(tc, test_reals_of_every_machine);
    tcase_add_test(tc, test_other_reals);
    tcase_add_test(tc, test_integers_of_every_machine);
    tcase_add_test(tc, test_structs_of_every_machine);
    tcase_add_test(tc, test_this_machine_is_known);
    suite_add_tcase(suite, tc);
    failed = run_suite(suite);
    counted(values, "golden values of 22 machines, read and written back");
    return failed;
}
