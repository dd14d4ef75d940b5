/* test_requirements.c - the rules of bytes: external32, packing, what cannot be held.
 *
 * Each test is named after the rules that it tries literally, with the bytes that the
 * standard (MPI 5.0, 14.5.2) asks for. */
/* SPDX-License-Identifier: MIT */
#include "data_help.h"

#include <complex.h>
#include <float.h>
#include <limits.h>
#include <math.h>
#include <wchar.h>

/* `count` elements are these bytes under external32, and their size is known before. */
static void packs_to(const drep_type *type, int64_t count, const void *from, const char *hex)
{
    size_t size;
    uint8_t *want = hex_bytes(hex, &size), got[256];
    int64_t position = 0, need;

    memset(got, 0xee, sizeof got);
    ok(drep_pack_size("external32", count, type, &need));
    ck_assert_int_eq(need, (int64_t)size);
    ok(drep_pack("external32", from, count, type, got, sizeof got, &position));
    ck_assert_int_eq(position, need);
    ck_assert_mem_eq(got, want, size);
    ck_assert_int_eq(got[size], 0xee);
    free(want);
}

static void unpacks_from(const char *hex, void *to, int64_t count, const drep_type *type)
{
    size_t size;
    uint8_t *from = hex_bytes(hex, &size);
    int64_t position = 0;

    ok(drep_unpack("external32", from, (int64_t)size, &position, to, count, type));
    ck_assert_int_eq(position, (int64_t)size);
    free(from);
}

/* Bytes and back, the same memory. */
static void both_ways(const drep_type *type, int64_t count, const void *value, const char *hex)
{
    uint8_t back[256] = {0};

    packs_to(type, count, value, hex);
    unpacks_from(hex, back, count, type);
    ck_assert_mem_eq(back, value, (size_t)(count * drep_type_extent(type)));
}

/* ------------------------------------------------------------------ lengths */

START_TEST(test_E1_E2_lengths)
{
    static const struct {
        int64_t length;
        const char *names;
    } rows[] = {
        {1, "PACKED BYTE CHAR UNSIGNED_CHAR SIGNED_CHAR C_BOOL CXX_BOOL INT8_T UINT8_T CHARACTER "
            "INTEGER1 LOGICAL1"},
        {2, "WCHAR SHORT UNSIGNED_SHORT INT16_T UINT16_T INTEGER2 REAL2 LOGICAL2"},
        {4, "INT UNSIGNED LONG UNSIGNED_LONG FLOAT INT32_T UINT32_T LOGICAL INTEGER REAL INTEGER4 "
            "REAL4 LOGICAL4 COMPLEX4"},
        {8, "LONG_LONG UNSIGNED_LONG_LONG DOUBLE INT64_T UINT64_T AINT COUNT OFFSET "
            "DOUBLE_PRECISION INTEGER8 REAL8 LOGICAL8 C_COMPLEX C_FLOAT_COMPLEX CXX_FLOAT_COMPLEX "
            "COMPLEX COMPLEX8"},
        {16, "LONG_DOUBLE INTEGER16 REAL16 LOGICAL16 C_DOUBLE_COMPLEX CXX_DOUBLE_COMPLEX "
             "DOUBLE_COMPLEX COMPLEX16"},
        {32, "C_LONG_DOUBLE_COMPLEX CXX_LONG_DOUBLE_COMPLEX COMPLEX32"}};
    int n = 0;

    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        char names[400], *name, *rest;

        snprintf(names, sizeof names, "%s", rows[i].names);
        for (name = strtok_r(names, " ", &rest); name; name = strtok_r(NULL, " ", &rest), n++) {
            int code = drep_code_from_name(name);
            int64_t extent, size;

            ck_assert_msg(code > 0, "there is no %s", name);
            ok(drep_type_file_extent(drep_predefined(code), "external32", &extent));
            ck_assert_msg(extent == rows[i].length, "%s: %lld", name, (long long)extent);
            ok(drep_pack_size("external32", 5, drep_predefined(code), &size));
            ck_assert_int_eq(size, 5 * extent);
        }
    }
    ck_assert_int_eq(n, 62);
}
END_TEST

/* ----------------------------------------------------------------- integers */

START_TEST(test_E5_vectors)
{
    const long pair[] = {1, -2};
    const unsigned long all = 0xffffffffu;
    const long lowest = -2147483647L - 1;
    long got = 0;
    unsigned long ugot = 0;

    both_ways(DREP_LONG, 2, pair, "00000001 fffffffe");
    both_ways(DREP_LONG, 1, &lowest, "80000000");
    both_ways(DREP_UNSIGNED_LONG, 1, &all, "ffffffff");
#if LONG_MAX > 0x7fffffff
    const long wide = 0x1122334455667788, negative = -0x1122334455667788;

    /* The least significant bytes stay, without an error, and are extended. */
    packs_to(DREP_LONG, 1, &wide, "55667788");
    unpacks_from("55667788", &got, 1, DREP_LONG);
    ck_assert_int_eq(got, 0x55667788);
    packs_to(DREP_LONG, 1, &negative, "aa998878");
    unpacks_from("aa998878", &got, 1, DREP_LONG);
    ck_assert_int_eq(got, (int32_t)0xaa998878u);
    unpacks_from("aa998878", &ugot, 1, DREP_UNSIGNED_LONG);
    ck_assert_uint_eq(ugot, 0xaa998878u);
#endif
    (void)got;
    (void)ugot;
}
END_TEST

START_TEST(test_E5_every_width_is_big_endian)
{
    const int8_t i8[] = {1, -2, INT8_MIN};
    const int16_t i16[] = {0x0102, -2, INT16_MIN};
    const int32_t i32[] = {0x01020304, -2, INT32_MIN};
    const int64_t i64[] = {0x0102030405060708, -2, INT64_MIN};
    const uint64_t u64[] = {UINT64_MAX, 1};
    const short s = -2;
    const unsigned u = 0x80000000u;

    both_ways(DREP_INT8_T, 3, i8, "01 fe 80");
    both_ways(DREP_SIGNED_CHAR, 3, i8, "01 fe 80");
    both_ways(DREP_INT16_T, 3, i16, "0102 fffe 8000");
    both_ways(DREP_INT32_T, 3, i32, "01020304 fffffffe 80000000");
    both_ways(DREP_INT64_T, 3, i64, "0102030405060708 fffffffffffffffe 8000000000000000");
    both_ways(DREP_LONG_LONG, 3, i64, "0102030405060708 fffffffffffffffe 8000000000000000");
    both_ways(DREP_OFFSET, 3, i64, "0102030405060708 fffffffffffffffe 8000000000000000");
    both_ways(DREP_UINT64_T, 2, u64, "ffffffffffffffff 0000000000000001");
    both_ways(DREP_SHORT, 1, &s, "fffe");
    both_ways(DREP_UNSIGNED, 1, &u, "80000000");
}
END_TEST

/* -------------------------------------------------------------------- reals */

START_TEST(test_E6_reals_are_big_endian_ieee)
{
    const float f[] = {1.5f, -2.5f, FLT_MAX, -0.0f, INFINITY};
    const double d[] = {1.5, -2.5, DBL_MAX, 4.9406564584124654e-324, -INFINITY};
    const double one[] = {1, -2, 0.5};
    uint8_t wide[3 * 32];
    drep_type *r16;

    both_ways(DREP_FLOAT, 5, f, "3fc00000 c0200000 7f7fffff 80000000 7f800000");
    both_ways(DREP_DOUBLE, 5, d,
              "3ff8000000000000 c004000000000000 7fefffffffffffff 0000000000000001 "
              "fff0000000000000");
    /* The bias of 16 bytes is 16383: 1 is 3fff, not 2710 as an old misprint would have it. */
    ok(drep_type_dup(drep_predefined(DREP_CODE_REAL16), &r16));
    ok(drep_convert(r16, wide, DREP_DOUBLE, one, 3, NULL));
    packs_to(r16, 3, wide,
             "3fff0000000000000000000000000000 c0000000000000000000000000000000 "
             "3ffe0000000000000000000000000000");
    drep_type_free(r16);
    ok(drep_convert(DREP_FLOAT16, wide, DREP_DOUBLE, one, 3, NULL));
    both_ways(DREP_FLOAT16, 3, wide, "3c00 c000 3800");
}
END_TEST

START_TEST(test_E7_long_double_vectors)
{
    const long double some[] = {1.5L, -0.0L, INFINITY};
    long double back[3] = {0};

    packs_to(DREP_LONG_DOUBLE, 3, some,
             "3fff8000000000000000000000000000 80000000000000000000000000000000 "
             "7fff0000000000000000000000000000");
    unpacks_from("3fff8000000000000000000000000000 80000000000000000000000000000000 "
                 "7fff0000000000000000000000000000",
                 back, 3, DREP_LONG_DOUBLE);
    for (int i = 0; i < 3; i++) {
        ck_assert(back[i] == some[i]);
        ck_assert_int_eq(signbit(back[i]) != 0, signbit(some[i]) != 0);
    }
#if LDBL_MANT_DIG == 64
    const struct {
        long double value;
        const char *hex;
    } x87[] = {{1 / 3.0L, "3ffd5555555555555556000000000000"},
               {ldexpl(1, -16400), "00000000400000000000000000000000"},
               {ldexpl(1, -16445), "00000000000000000002000000000000"},
               {ldexpl(1, 16383), "7ffe0000000000000000000000000000"}};

    for (size_t i = 0; i < sizeof x87 / sizeof *x87; i++) {
        packs_to(DREP_LONG_DOUBLE, 1, &x87[i].value, x87[i].hex);
        unpacks_from(x87[i].hex, back, 1, DREP_LONG_DOUBLE);
        ck_assert(back[0] == x87[i].value);
    }
#endif
}
END_TEST

START_TEST(test_E8_complex_is_real_then_imaginary)
{
    const float complex f[] = {1.5f - 2.5f * I};
    const double complex d[] = {1.5 - 2.5 * I};
    const long double complex l[] = {1.5L - 2.5L * I};

    both_ways(DREP_C_FLOAT_COMPLEX, 1, f, "3fc00000 c0200000");
    both_ways(DREP_C_COMPLEX, 1, f, "3fc00000 c0200000");
    both_ways(drep_predefined(DREP_CODE_COMPLEX), 1, f, "3fc00000 c0200000");
    both_ways(DREP_C_DOUBLE_COMPLEX, 1, d, "3ff8000000000000 c004000000000000");
    both_ways(drep_predefined(DREP_CODE_DOUBLE_COMPLEX), 1, d, "3ff8000000000000 c004000000000000");
    packs_to(DREP_C_LONG_DOUBLE_COMPLEX, 1, l,
             "3fff8000000000000000000000000000 c0004000000000000000000000000000");
}
END_TEST

START_TEST(test_E11_nan_stays_nan)
{
    const float f = NAN;
    const double d = NAN;
    const long double l = NAN;
    uint8_t bytes[32];
    int64_t at = 0, from = 0;
    long double l2 = 0;
    double d2 = 0;
    float f2 = 0;

    ok(drep_pack("external32", &f, 1, DREP_FLOAT, bytes, sizeof bytes, &at));
    ok(drep_pack("external32", &d, 1, DREP_DOUBLE, bytes, sizeof bytes, &at));
    ok(drep_pack("external32", &l, 1, DREP_LONG_DOUBLE, bytes, sizeof bytes, &at));
    ck_assert_int_eq(at, 28);
    ck_assert((bytes[0] & 0x7f) == 0x7f && bytes[1] >= 0x80);
    ck_assert((bytes[4] & 0x7f) == 0x7f && bytes[5] > 0xf0);
    ck_assert((bytes[12] & 0x7f) == 0x7f && bytes[13] == 0xff && bytes[14]);
    ok(drep_unpack("external32", bytes, at, &from, &f2, 1, DREP_FLOAT));
    ok(drep_unpack("external32", bytes, at, &from, &d2, 1, DREP_DOUBLE));
    ok(drep_unpack("external32", bytes, at, &from, &l2, 1, DREP_LONG_DOUBLE));
    ck_assert(isnan(f2) && isnan(d2) && isnan(l2));
}
END_TEST

/* ------------------------------------------------------ logicals, characters */

/* Any byte of a logical makes it true, in memory and in the file; true is the host's. */
START_TEST(test_E9_every_byte_of_a_logical_counts)
{
    static const int codes[] = {DREP_CODE_C_BOOL,   DREP_CODE_CXX_BOOL, DREP_CODE_LOGICAL,
                                DREP_CODE_LOGICAL1, DREP_CODE_LOGICAL2, DREP_CODE_LOGICAL4,
                                DREP_CODE_LOGICAL8, DREP_CODE_LOGICAL16};

    for (size_t i = 0; i < sizeof codes / sizeof *codes; i++) {
        const drep_type *type = drep_predefined(codes[i]);
        size_t size = (size_t)drep_type_size(type);
        uint8_t item[16] = {0}, truth[16] = {0}, bytes[16], back[16];
        int64_t extent, at = 0;

        ok(drep_type_file_extent(type, "external32", &extent));
        ok(drep_pack("external32", item, 1, type, bytes, sizeof bytes, &at));
        for (int64_t b = 0; b < extent; b++)
            ck_assert_int_eq(bytes[b], 0);
        /* What a byte of 1 at the least significant place is read as, is true here. */
        bytes[extent - 1] = 1;
        at = 0;
        ok(drep_unpack("external32", bytes, extent, &at, truth, 1, type));
        for (size_t b = 0; b < size; b++) {
            memset(item, 0, sizeof item);
            item[b] = 4;
            at = 0;
            ok(drep_pack("external32", item, 1, type, bytes, sizeof bytes, &at));
            ck_assert_msg(bytes[extent - 1] == 1, "%s: byte %zu", drep_code_name(codes[i]), b);
        }
        for (int64_t b = 0; b < extent; b++) {
            memset(bytes, 0, sizeof bytes);
            bytes[b] = 4;
            at = 0;
            ok(drep_unpack("external32", bytes, extent, &at, back, 1, type));
            ck_assert_mem_eq(back, truth, size);
        }
    }
    both_ways(DREP_C_BOOL, 2, (const bool[]){true, false}, "01 00");
    both_ways(drep_predefined(DREP_CODE_LOGICAL), 2, (const int[]){1, 0}, "00000001 00000000");
    /* The standard's own example: 00000100 is true. */
    packs_to(drep_predefined(DREP_CODE_LOGICAL), 1, &(int){0x100}, "00000001");
}
END_TEST

START_TEST(test_E10_characters)
{
    const wchar_t wide[] = {L'A', 0xe9, 0x20ac};
    uint8_t latin[256], bytes[256], back[256];
    int64_t at = 0;

    for (int i = 0; i < 256; i++)
        latin[i] = (uint8_t)i;
    ok(drep_pack("external32", latin, 256, DREP_CHAR, bytes, 256, &at));
    ck_assert_mem_eq(bytes, latin, 256);
    at = 0;
    ok(drep_unpack("external32", bytes, 256, &at, back, 256, drep_predefined(DREP_CODE_CHARACTER)));
    ck_assert_mem_eq(back, latin, 256);
    both_ways(DREP_WCHAR, 3, wide, "0041 00e9 20ac");
}
END_TEST

/* What two bytes cannot hold follows the policy: refused, the nearest, or counted. */
START_TEST(test_E10_C7_beyond_two_bytes)
{
    const wchar_t wide[] = {L'a', (wchar_t)0x1f600, L'b'};
    const int64_t dims[] = {3};
    drep_xfer xfer = DREP_XFER(.range = DREP_RANGE_STRICT);
    drep_file *f = new_file(":memory:", "external32");
    drep_dataset *ds = new_dataset(f, "/w", DREP_WCHAR, 1, dims);
    drep_report report = DREP_REPORT;
    wchar_t back[3];

    fails(drep_write(ds, NULL, NULL, wide, &xfer), DREP_ERR_CONVERSION);
    xfer = DREP_XFER(.range = DREP_RANGE_CLAMP, .report = &report);
    ok(drep_write(ds, NULL, NULL, wide, &xfer));
    ck_assert_int_eq(report.overflow, 1);
    ck_assert_int_eq(report.first_overflow, 1);
    ok(drep_read(ds, NULL, NULL, back, NULL));
    ck_assert(back[0] == L'a' && back[2] == L'b' && back[1] <= 0xffff);
    drep_dataset_close(ds);
    drep_abandon(f);
}
END_TEST

/* ------------------------------------------------------------------- layout */

START_TEST(test_E12_no_padding)
{
    const struct {
        char c;
        double d;
        int i;
    } value = {'A', 1.5, 7};
    const drep_type *const members[] = {DREP_CHAR, DREP_DOUBLE, DREP_INT};
    const int64_t strided[] = {1, 0, 2, 0, 3};
    drep_type *type;

    ok(drep_type_struct(3, NULL, NULL, members, &type));
    ck_assert_int_eq(drep_type_extent(type), (int64_t)sizeof value);
    packs_to(type, 1, &value, "41 3ff8000000000000 00000007");
    drep_type_free(type);
    ok(drep_type_vector(3, 1, 2, DREP_INT64_T, &type));
    packs_to(type, 1, strided, "0000000000000001 0000000000000002 0000000000000003");
    drep_type_free(type);
}
END_TEST

/* MPI's pair types, made of their members as C lays them out. */
START_TEST(test_E3_C8_bytes_of_pairs)
{
    const struct {
        long double l;
        int i;
    } widest = {1.5L, 7};
    const struct {
        short s;
        int i;
    } pair = {-2, 7};
    drep_type *type;

    ok(drep_type_struct(2, NULL, NULL, (const drep_type *const[]){DREP_LONG_DOUBLE, DREP_INT},
                        &type));
    packs_to(type, 1, &widest, "3fff8000000000000000000000000000 00000007");
    drep_type_free(type);
    ok(drep_type_struct(2, NULL, NULL, (const drep_type *const[]){DREP_SHORT, DREP_INT}, &type));
    packs_to(type, 1, &pair, "fffe 00000007");
    drep_type_free(type);
}
END_TEST

START_TEST(test_E13_bytes_are_never_converted)
{
    static const char *const names[] = {"external32", "internal", "native", "native:s390x",
                                        "small"};
    uint8_t raw[256], out[256], back[256];

    register_datareps();
    for (int i = 0; i < 256; i++)
        raw[i] = (uint8_t)(255 - i);
    for (size_t n = 0; n < sizeof names / sizeof *names; n++)
        for (int code = DREP_CODE_BYTE; code <= DREP_CODE_PACKED; code++) {
            int64_t at = 0;

            ok(drep_pack(names[n], raw, 256, drep_predefined(code), out, 256, &at));
            ck_assert_mem_eq(out, raw, 256);
            at = 0;
            ok(drep_unpack(names[n], out, 256, &at, back, 256, drep_predefined(code)));
            ck_assert_mem_eq(back, raw, 256);
        }
}
END_TEST

/* Written as one type, read as a compatible one, or laid out otherwise in memory. */
START_TEST(test_E14_exchange)
{
    const int values[] = {1, -2, 300000, INT_MIN};
    int32_t same[4];
    int spread[8] = {0};
    uint8_t bytes[16];
    int64_t at = 0;
    drep_type *f90, *every_other;

    ok(drep_type_f90_integer(9, &f90));
    ok(drep_type_vector(4, 1, 2, DREP_INT, &every_other));
    ok(drep_pack("external32", values, 4, DREP_INT, bytes, 16, &at));
    at = 0;
    ok(drep_unpack("external32", bytes, 16, &at, same, 4, DREP_INT32_T));
    ck_assert_mem_eq(same, values, sizeof same);
    at = 0;
    memset(same, 0, sizeof same);
    ok(drep_unpack("external32", bytes, 16, &at, same, 4, f90));
    ck_assert_mem_eq(same, values, sizeof same);
    at = 0;
    ok(drep_unpack("external32", bytes, 16, &at, spread, 1, every_other));
    for (int i = 0; i < 8; i++)
        ck_assert_int_eq(spread[i], i % 2 ? 0 : values[i / 2]);
    drep_type_free(every_other);
    drep_type_free(f90);
}
END_TEST

/* ------------------------------------------------------------------ packing */

START_TEST(test_P1_P4_P6_units)
{
    const long numbers[] = {1, 2, 3};
    const double real = 1.5;
    long back[3] = {0};
    double real2 = 0;
    uint8_t out[32];
    int64_t at = 3, from = 3, start;

    /* One behind the other, from any byte on; no header in front of either. */
    memset(out, 0xee, sizeof out);
    ok(drep_pack("external32", numbers, 3, DREP_LONG, out, sizeof out, &at));
    ck_assert_int_eq(at, 15);
    start = at;
    ok(drep_pack("external32", &real, 1, DREP_DOUBLE, out, sizeof out, &at));
    ck_assert_int_eq(at, 23);
    ck_assert_mem_eq(out, "\xee\xee\xee\0\0\0\1\0\0\0\2\0\0\0\3\x3f\xf8\0\0\0\0\0\0\xee", 24);
    ok(drep_unpack("external32", out, at, &from, back, 3, DREP_LONG));
    ck_assert_int_eq(from, start);
    ok(drep_unpack("external32", out, at, &from, &real2, 1, DREP_DOUBLE));
    ck_assert_int_eq(from, 23);
    ck_assert_mem_eq(back, numbers, sizeof back);
    ck_assert(real2 == 1.5);
    /* The second by itself. */
    ok(drep_unpack("external32", out, at, &start, &real2, 1, DREP_DOUBLE));
}
END_TEST

START_TEST(test_P2_P3_in_pieces)
{
    int values[10], back[12];
    uint8_t bytes[40];
    int64_t at = 0;

    for (int i = 0; i < 10; i++)
        values[i] = i * i - 5;
    ok(drep_pack("external32", values, 10, DREP_INT, bytes, sizeof bytes, &at));
    at = 0;
    memset(back, 0x77, sizeof back);
    for (int i = 0, n = 1; i < 10; i += n, n = n == 4 ? 3 : n * 2) {
        ok(drep_unpack("external32", bytes, 40, &at, back + i, n, DREP_INT));
        ck_assert_int_eq(at, 4 * (i + n));
        ck_assert_int_eq(back[i + n], 0x77777777); /* exactly the items asked for */
    }
    ck_assert_mem_eq(back, values, sizeof values);
    /* More than there is: nothing is read, the position stays. */
    at = 36;
    fails(drep_unpack("external32", bytes, 40, &at, back, 2, DREP_INT), DREP_ERR_TRUNCATE);
    ck_assert_int_eq(at, 36);
}
END_TEST

START_TEST(test_P5_P6_sizes)
{
    const int value = 1;
    uint8_t out[4] = {9, 9, 9, 9};
    int64_t size = 7, at = 1;
    drep_type *pair;

    ok(drep_type_struct(2, NULL, NULL, (const drep_type *const[]){DREP_LONG_DOUBLE, DREP_CHAR},
                        &pair));
    ok(drep_pack_size("external32", 10, pair, &size));
    ck_assert_int_eq(size, 170);
    drep_type_free(pair);
    ok(drep_pack_size("external32", (int64_t)1 << 50, DREP_LONG, &size));
    ck_assert_int_eq(size, (int64_t)4 << 50);
    size = 7;
    fails(drep_pack_size("external32", (int64_t)1 << 61, DREP_DOUBLE, &size),
          DREP_ERR_VALUE_TOO_LARGE);
    ck_assert_int_eq(size, 7);
    /* A buffer that is too small: nothing is written. */
    fails(drep_pack("external32", &value, 1, DREP_INT, out, 4, &at), DREP_ERR_BUFFER);
    ck_assert_int_eq(at, 1);
    ck_assert_mem_eq(out, "\11\11\11\11", 4);
    fails(drep_pack("External32", &value, 1, DREP_INT, out, 4, &at), DREP_ERR_UNSUPPORTED_DATAREP);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("requirements");
    TCase *tc = tcase_create("all");

    tcase_add_test(tc, test_E1_E2_lengths);
    tcase_add_test(tc, test_E5_vectors);
    tcase_add_test(tc, test_E5_every_width_is_big_endian);
    tcase_add_test(tc, test_E6_reals_are_big_endian_ieee);
    tcase_add_test(tc, test_E7_long_double_vectors);
    tcase_add_test(tc, test_E8_complex_is_real_then_imaginary);
    tcase_add_test(tc, test_E11_nan_stays_nan);
    tcase_add_test(tc, test_E9_every_byte_of_a_logical_counts);
    tcase_add_test(tc, test_E10_characters);
    tcase_add_test(tc, test_E10_C7_beyond_two_bytes);
    tcase_add_test(tc, test_E12_no_padding);
    tcase_add_test(tc, test_E3_C8_bytes_of_pairs);
    tcase_add_test(tc, test_E13_bytes_are_never_converted);
    tcase_add_test(tc, test_E14_exchange);
    tcase_add_test(tc, test_P1_P4_P6_units);
    tcase_add_test(tc, test_P2_P3_in_pieces);
    tcase_add_test(tc, test_P5_P6_sizes);
    suite_add_tcase(suite, tc);
    return run_suite(suite);
}
