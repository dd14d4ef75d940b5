/* test_rep_pack.c - pack units, byte for byte.  E1-E13 where they say bytes, P1-P6. */
/* SPDX-License-Identifier: MIT */
#include "tests/unit/bytes.h"

#include <datarep.h>
#include <float.h>
#include <limits.h>
#include <stddef.h>
#include <wchar.h>

/* `in` packs to these bytes under external32; gives them in `packed`. */
static void packs_to(const drep_type *type, int64_t count, const void *in, const char *hex,
                     uint8_t *packed)
{
    int64_t position = 0, size = -1;
    size_t want_size;
    uint8_t *want = hex_bytes(hex, &want_size);

    ck_assert_int_eq(drep_pack_size("external32", count, type, &size), 0);
    ck_assert_int_eq(size, (int64_t)want_size);
    ck_assert_msg(drep_pack("external32", in, count, type, packed, size, &position) == 0, "%s",
                  drep_error());
    ck_assert_int_eq(position, size);
    ck_assert_msg(memcmp(packed, want, want_size) == 0, "%s", hex);
    free(want);
}

static void unpacks(const drep_type *type, int64_t count, const char *hex, void *out)
{
    int64_t position = 0;
    size_t size;
    uint8_t *in = hex_bytes(hex, &size);

    ck_assert_msg(drep_unpack("external32", in, (int64_t)size, &position, out, count, type) == 0,
                  "%s", drep_error());
    ck_assert_int_eq(position, (int64_t)size);
    free(in);
}

START_TEST(test_E5_integers)
{
    uint8_t packed[64];
    long in[2] = {1, -2}, back[2];
    unsigned long ones = 0xffffffffu, uback = 0;
    long long wide = LLONG_MIN, wide_back;

    packs_to(DREP_LONG, 2, in, "00000001 fffffffe", packed);
    unpacks(DREP_LONG, 2, "00000001 fffffffe", back);
    ck_assert(back[0] == 1 && back[1] == -2);
    in[0] = -2147483647L - 1;
    packs_to(DREP_LONG, 1, in, "80000000", packed);
    unpacks(DREP_LONG, 1, "80000000", back);
    ck_assert_int_eq(back[0], in[0]);
    packs_to(DREP_UNSIGNED_LONG, 1, &ones, "ffffffff", packed);
    unpacks(DREP_UNSIGNED_LONG, 1, "ffffffff", &uback);
    ck_assert_uint_eq(uback, 0xffffffffu);
    packs_to(DREP_LONG_LONG, 1, &wide, "8000000000000000", packed);
    unpacks(DREP_LONG_LONG, 1, "8000000000000000", &wide_back);
    ck_assert(wide_back == LLONG_MIN);
#if LONG_MAX > 0x7fffffff
    in[0] = 0x1122334455667788;
    packs_to(DREP_LONG, 1, in, "55667788", packed);
    unpacks(DREP_LONG, 1, "55667788", back);
    ck_assert_int_eq(back[0], 0x55667788);
#endif
}
END_TEST

START_TEST(test_E6_E8_reals)
{
    uint8_t packed[64];
    float f[2] = {1.0f, -0.15625f};
    double d = 1.5, back = 0;
    const volatile double e = -2.718281828459045; /* without excess precision */
    float _Complex c;
    float parts[2] = {1.0f, 2.0f};

    packs_to(DREP_FLOAT, 2, f, "3f800000 be200000", packed);
    packs_to(DREP_DOUBLE, 1, &d, "3ff8000000000000", packed);
    unpacks(DREP_DOUBLE, 1, "c005bf0a8b145769", &back);
    ck_assert(back == e);
    memcpy(&c, parts, sizeof c);
    packs_to(DREP_C_COMPLEX, 1, &c, "3f800000 40000000", packed);
}
END_TEST

#if LDBL_MANT_DIG == 64 || LDBL_MANT_DIG == 113
START_TEST(test_E7_long_doubles)
{
    uint8_t packed[16];
    long double v;
    static const struct {
        int by;
        const char *hex;
    } powers[] = {{-16400, "00000000400000000000000000000000"},
                  {-16445, "00000000000000000002000000000000"},
                  {16383, "7ffe0000000000000000000000000000"}};
    int i;

#if LDBL_MANT_DIG == 64
    v = 1 / 3.0L;
    packs_to(DREP_LONG_DOUBLE, 1, &v, "3ffd5555555555555556000000000000", packed);
#endif
    for (i = 0; i < 3; i++) {
        long double back = 0;

#ifdef __m68k__
        if (powers[i].by < -16382)
            continue; /* emulators get m68k's subnormals wrong */
#endif
        v = __builtin_ldexpl(1, powers[i].by);
        packs_to(DREP_LONG_DOUBLE, 1, &v, powers[i].hex, packed);
        unpacks(DREP_LONG_DOUBLE, 1, powers[i].hex, &back);
        ck_assert(back == v);
    }
    v = __builtin_infl();
    packs_to(DREP_LONG_DOUBLE, 1, &v, "7fff0000000000000000000000000000", packed);
    v = -0.0L;
    packs_to(DREP_LONG_DOUBLE, 1, &v, "80000000000000000000000000000000", packed);
    v = 1.5L;
    packs_to(DREP_LONG_DOUBLE, 1, &v, "3fff8000000000000000000000000000", packed);
}
END_TEST
#endif

START_TEST(test_E9_E10_booleans_and_characters)
{
    uint8_t packed[16];
    _Bool flags[2] = {1, 0};
    int32_t logical = -1, back = 7;
    wchar_t wide[2] = {L'A', 0x20ac};

    packs_to(DREP_C_BOOL, 2, flags, "01 00", packed);
    packs_to(drep_predefined(DREP_CODE_LOGICAL), 1, &logical, "00000001", packed);
    unpacks(drep_predefined(DREP_CODE_LOGICAL), 1, "00000100", &back);
    ck_assert_int_eq(back, 1);
    packs_to(DREP_CHAR, 3, "A\xe9z", "41 e9 7a", packed);
    packs_to(DREP_WCHAR, 2, wide, "0041 20ac", packed);
}
END_TEST

START_TEST(test_E11_a_nan_stays_one)
{
    double nan = __builtin_nan(""), back = 0;
    uint8_t packed[8];
    int64_t position = 0;

    ck_assert_int_eq(drep_pack("external32", &nan, 1, DREP_DOUBLE, packed, 8, &position), 0);
    position = 0;
    ck_assert_int_eq(drep_unpack("external32", packed, 8, &position, &back, 1, DREP_DOUBLE), 0);
    ck_assert(back != back);
}
END_TEST

/* E12: byte aligned, no padding; whatever the struct is like in memory. */
START_TEST(test_E12_structs)
{
    struct {
        char c;
        double d;
        int i;
    } in = {'A', 1.5, 7};
    const drep_type *members[] = {DREP_CHAR, DREP_DOUBLE, DREP_INT};
    uint8_t packed[64];
    drep_type *t, *far;

    ck_assert_int_eq(drep_type_struct(3, NULL, NULL, members, &t), 0);
    packs_to(t, 1, &in, "41 3ff8000000000000 00000007", packed);
    ck_assert_int_eq(drep_type_resized(0, 1024, t, &far), 0);
    packs_to(far, 1, &in, "41 3ff8000000000000 00000007", packed);
    drep_type_free(t);
    drep_type_free(far);
}
END_TEST

/* E3, C8: pair types are their members. */
START_TEST(test_C8_pairs)
{
    struct {
        double d;
        int i;
    } in = {1.5, 7};
    const drep_type *members[] = {DREP_DOUBLE, DREP_INT};
    uint8_t packed[64];
    drep_type *t;

    ck_assert_int_eq(drep_type_struct(2, NULL, NULL, members, &t), 0);
    packs_to(t, 1, &in, "3ff8000000000000 00000007", packed);
    drep_type_free(t);
}
END_TEST

START_TEST(test_E13_bytes)
{
    uint8_t packed[16];

    packs_to(DREP_BYTE, 4, "\x01\x02\x03\x04", "01 02 03 04", packed);
    packs_to(DREP_PACKED, 4, "\x01\x02\x03\x04", "01 02 03 04", packed);
}
END_TEST

/* P1-P3: related calls with one position; pieces may be taken out in another shape. */
START_TEST(test_P1_units_of_several_calls)
{
    uint8_t buffer[64];
    int ints[3] = {1, 2, 3}, got[2];
    double d = 2.5, back;
    int64_t position = 0;

    ck_assert_int_eq(drep_pack("native:s390x", ints, 3, DREP_INT, buffer, 64, &position), 0);
    ck_assert_int_eq(drep_pack("native:s390x", &d, 1, DREP_DOUBLE, buffer, 64, &position), 0);
    ck_assert_int_eq(position, 20);
    position = 0;
    ck_assert_int_eq(drep_unpack("native:s390x", buffer, 20, &position, got, 1, DREP_INT), 0);
    ck_assert_int_eq(drep_unpack("native:s390x", buffer, 20, &position, got, 2, DREP_INT), 0);
    ck_assert(got[0] == 2 && got[1] == 3);
    ck_assert_int_eq(drep_unpack("native:s390x", buffer, 20, &position, &back, 1, DREP_DOUBLE), 0);
    ck_assert(back == 2.5 && position == 20);
    /* Nothing is left. */
    ck_assert_int_eq(drep_unpack("native:s390x", buffer, 20, &position, got, 1, DREP_INT),
                     DREP_ERR_TRUNCATE);
    ck_assert_int_eq(position, 20);
}
END_TEST

START_TEST(test_P6_too_small_a_buffer_is_left_alone)
{
    uint8_t buffer[16];
    double in[3] = {1, 2, 3};
    int64_t position, i;

    for (position = 0; position <= 16; position++) {
        int64_t at = position;

        memset(buffer, 0xee, sizeof buffer);
        ck_assert_int_eq(drep_pack("external32", in, 3, DREP_DOUBLE, buffer, 16, &at),
                         DREP_ERR_BUFFER);
        ck_assert_int_eq(at, position);
        for (i = 0; i < 16; i++)
            ck_assert_int_eq(buffer[i], 0xee);
    }
}
END_TEST

/* P5: exact, for any type; a size that no number holds is an error. */
START_TEST(test_P5_sizes)
{
    int64_t size = -1;
    drep_type *t, *big;

    ck_assert_int_eq(drep_type_vector(3, 2, 5, DREP_LONG_DOUBLE, &t), 0);
    ck_assert_int_eq(drep_pack_size("external32", 10, t, &size), 0);
    ck_assert_int_eq(size, 10 * 6 * 16);
    ck_assert_int_eq(drep_pack_size("native:i386", 10, t, &size), 0);
    ck_assert_int_eq(size, 10 * 6 * 12);
    drep_type_free(t);
    ck_assert_int_eq(drep_type_contiguous((int64_t)1 << 58, DREP_DOUBLE, &big), 0);
    ck_assert_int_eq(drep_pack_size("external32", 1, big, &size), 0);
    ck_assert(size == (int64_t)1 << 61);
    size = 5;
    ck_assert_int_eq(drep_pack_size("external32", 4, big, &size), DREP_ERR_VALUE_TOO_LARGE);
    ck_assert_int_eq(drep_pack_size("external32", INT64_MAX, big, &size), DREP_ERR_VALUE_TOO_LARGE);
    ck_assert_int_eq(size, 5);
    drep_type_free(big);
    ck_assert_int_eq(drep_pack_size("external32", 0, DREP_INT, &size), 0);
    ck_assert_int_eq(size, 0);
}
END_TEST

/* What need not move may be converted where it lies. */
static void in_place(const char *datarep, const drep_type *type, int64_t count)
{
    int64_t bytes = count * drep_type_size(type), size = -1, position = 0, i;
    uint8_t *user = malloc((size_t)bytes), *packed = malloc((size_t)bytes);

    if (drep_pack_size(datarep, count, type, &size) == 0 && size == bytes) {
        for (i = 0; i < bytes; i++)
            user[i] = (uint8_t)(i * 37 + i / 256 + 1);
        ck_assert_int_eq(drep_pack(datarep, user, count, type, packed, size, &position), 0);
        position = 0;
        ck_assert_int_eq(drep_pack(datarep, user, count, type, user, size, &position), 0);
        ck_assert_msg(memcmp(user, packed, (size_t)bytes) == 0, "packed: %s", datarep);
        position = 0;
        ck_assert_int_eq(drep_unpack(datarep, packed, size, &position, user, count, type), 0);
        position = 0;
        ck_assert_int_eq(drep_unpack(datarep, packed, size, &position, packed, count, type), 0);
        ck_assert_msg(memcmp(user, packed, (size_t)bytes) == 0, "unpacked: %s", datarep);
    }
    free(user);
    free(packed);
}

START_TEST(test_packing_in_place)
{
    static const char *const names[] = {"external32", "internal", "native:s390x", "native:m68k",
                                        "native"};
    static const int64_t counts[] = {1, 7, 1000, 700000};
    const drep_type *fields[] = {DREP_INT32_T, DREP_FLOAT, DREP_DOUBLE};
    drep_type *all;
    int code;

    ck_assert_int_eq(drep_type_struct(3, NULL, NULL, fields, &all), 0);
    for (int i = 0; i < 5; i++)
        for (int n = 0; n < 4; n++) {
            for (code = 1; code <= DREP_CODE_MAX; code++)
                if (n < 3 || code == DREP_CODE_DOUBLE || code == DREP_CODE_INTEGER16)
                    in_place(names[i], drep_predefined(code), counts[n]);
            in_place(names[i], all, counts[n]);
        }
    drep_type_free(all);
}
END_TEST

START_TEST(test_bad_arguments)
{
    int64_t position = 0, size;
    uint8_t buffer[8];
    int in = 1;
    drep_type *t;

    ck_assert_int_eq(drep_pack("external32", &in, -1, DREP_INT, buffer, 8, &position),
                     DREP_ERR_COUNT);
    ck_assert_int_eq(drep_pack("external32", &in, 1, NULL, buffer, 8, &position), DREP_ERR_ARG);
    ck_assert_int_eq(drep_pack(NULL, &in, 1, DREP_INT, buffer, 8, &position), DREP_ERR_ARG);
    ck_assert_int_eq(drep_pack("external32", NULL, 1, DREP_INT, buffer, 8, &position),
                     DREP_ERR_ARG);
    ck_assert_int_eq(drep_pack("external32", &in, 1, DREP_INT, buffer, 8, NULL), DREP_ERR_ARG);
    position = 9;
    ck_assert_int_eq(drep_pack("external32", &in, 1, DREP_INT, buffer, 8, &position), DREP_ERR_ARG);
    ck_assert_int_eq(drep_pack_size("external32", 1, DREP_INT, NULL), DREP_ERR_ARG);
    /* Nothing to pack needs no buffers. */
    position = 0;
    ck_assert_int_eq(drep_pack("external32", NULL, 0, DREP_INT, NULL, 0, &position), 0);
    ck_assert_int_eq(drep_unpack("external32", NULL, 0, &position, NULL, 0, DREP_INT), 0);
    /* D4: refused by name. */
    ck_assert_int_eq(drep_type_sequence(DREP_INT, &t), 0);
    ck_assert_int_eq(drep_pack_size("external32", 1, t, &size), DREP_ERR_TYPE);
    drep_type_free(t);
    ck_assert_int_eq(drep_type_reference(DREP_REF_OBJECT, &t), 0);
    ck_assert_int_eq(drep_pack_size("external32", 1, t, &size), DREP_ERR_TYPE);
    drep_type_free(t);
}
END_TEST

/* A MiB and more is packed by threads: the bytes are those of one thread. */
START_TEST(test_threads_pack_the_same_bytes)
{
    enum { N = 300000 };
    static const char *const reps[] = {"external32", "native:m68k", "internal"};
    static const int64_t displs[] = {0, 8, 32};
    const drep_type *const types[] = {DREP_INT, DREP_DOUBLE, DREP_LONG_DOUBLE};
    drep_type *t, *members;
    int64_t size, at = 0, one = 0;
    uint8_t *in, *back, *packed, *same;

    ck_assert_int_eq(drep_type_struct(3, NULL, displs, types, &members), 0);
    ck_assert_int_eq(drep_type_resized(0, 48, members, &t), 0);
    drep_type_free(members);
    in = calloc(N, 48);
    back = calloc(N, 48);
    for (int i = 0; i < N; i++) {
        memcpy(in + 48 * i, &(int){i - 1000}, 4);
        memcpy(in + 48 * i + 8, &(double){i * 0.25}, 8);
        *(long double *)(void *)(in + 48 * i + 32) = i;
    }
    for (size_t r = 0; r < sizeof reps / sizeof *reps; r++) {
        drep_report report = DREP_REPORT;
        drep_xfer xfer = DREP_XFER(.threads = 4, .report = &report);

        ck_assert_int_eq(drep_pack_size(reps[r], N, t, &size), 0);
        packed = malloc((size_t)size);
        same = malloc((size_t)size);
        at = one = 0;
        ck_assert_int_eq(drep_pack(reps[r], in, N, t, same, size, &one), 0);
        ck_assert_int_eq(drep_pack_xfer(reps[r], in, N, t, packed, size, &at, &xfer), 0);
        ck_assert(at == size && memcmp(packed, same, (size_t)size) == 0);
        ck_assert_int_eq(report.items, 3 * N);
        at = 0;
        ck_assert_int_eq(drep_unpack_xfer(reps[r], packed, size, &at, back, N, t, &xfer), 0);
        at = 0;
        ck_assert_int_eq(drep_pack(reps[r], back, N, t, packed, size, &at), 0);
        ck_assert(memcmp(packed, same, (size_t)size) == 0);
        free(packed);
        free(same);
    }
    free(in);
    free(back);
    drep_type_free(t);
}
END_TEST

/* U+1F600 has no place in the two bytes of external32's WCHAR: this packed as f600, unseen. */
START_TEST(test_values_out_of_range_are_told)
{
    enum { N = 700000, AT = 654321 };
    wchar_t *in = calloc(N, sizeof *in);
    uint8_t *packed = malloc(2 * N);
    int64_t at = 0, items = 77;
    drep_report report = {.size = sizeof(drep_report), .items = items};
    drep_xfer xfer = DREP_XFER(.threads = 3, .report = &report);

    in[AT] = in[AT + 7] = 0x1f600;
    ck_assert_int_eq(drep_pack_xfer("external32", in, N, DREP_WCHAR, packed, 2 * N, &at, &xfer), 0);
    ck_assert_int_eq(packed[2 * AT] << 8 | packed[2 * AT + 1], 0xf600);
    ck_assert(report.items == N && report.overflow == 2 && report.first_overflow == AT);
    ck_assert(report.first_inexact == -1 && report.first_nan_lost == -1);
    xfer.range = DREP_RANGE_CLAMP;
    at = 0;
    ck_assert_int_eq(drep_pack_xfer("external32", in, N, DREP_WCHAR, packed, 2 * N, &at, &xfer), 0);
    ck_assert_int_ne(packed[2 * AT] << 8 | packed[2 * AT + 1], 0xf600);
    xfer.range = DREP_RANGE_STRICT;
    at = 4;
    ck_assert_int_eq(drep_pack_xfer("external32", in, N - 2, DREP_WCHAR, packed, 2 * N, &at, &xfer),
                     DREP_ERR_CONVERSION);
    ck_assert_int_eq(at, 4);
    ck_assert_ptr_nonnull(strstr(drep_error(), "654321"));
    xfer.range = 9;
    ck_assert_int_eq(drep_pack_xfer("external32", in, 1, DREP_WCHAR, packed, 2 * N, &at, &xfer),
                     DREP_ERR_ARG);
    xfer = DREP_XFER(.buf_size = 7);
    ck_assert_int_eq(drep_pack_xfer("external32", in, 2, DREP_WCHAR, packed, 2 * N, &at, &xfer),
                     DREP_ERR_BUFFER);
    at = 0;
    ck_assert_int_eq(drep_unpack_xfer("external32", packed, 2 * N, &at, in, 2, DREP_WCHAR, &xfer),
                     DREP_ERR_BUFFER);
    free(in);
    free(packed);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("rep_pack");
    TCase *tc = tcase_create("rep_pack");

    tcase_add_test(tc, test_E5_integers);
    tcase_add_test(tc, test_E6_E8_reals);
#if LDBL_MANT_DIG == 64 || LDBL_MANT_DIG == 113
    tcase_add_test(tc, test_E7_long_doubles);
#endif
    tcase_add_test(tc, test_E9_E10_booleans_and_characters);
    tcase_add_test(tc, test_E11_a_nan_stays_one);
    tcase_add_test(tc, test_E12_structs);
    tcase_add_test(tc, test_C8_pairs);
    tcase_add_test(tc, test_E13_bytes);
    tcase_add_test(tc, test_P1_units_of_several_calls);
    tcase_add_test(tc, test_P6_too_small_a_buffer_is_left_alone);
    tcase_add_test(tc, test_P5_sizes);
    tcase_add_test(tc, test_packing_in_place);
    tcase_add_test(tc, test_threads_pack_the_same_bytes);
    tcase_add_test(tc, test_values_out_of_range_are_told);
    tcase_add_test(tc, test_bad_arguments);
    suite_add_tcase(suite, tc);
    return run_suite(suite);
}
