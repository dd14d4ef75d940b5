/* test_utf8.c - UTF-8 and byte order: every code point there and back, every pair of bytes against
 * Unicode's table 3-7, numbers against their bytes. */
/* SPDX-License-Identifier: MIT */
#include "tests/unit/bytes.h"

#include "format/byteorder.h"
#include "format/utf8.h"

#include <stdbool.h>

START_TEST(test_every_code_point)
{
    char text[4];
    uint32_t back;

    for (uint32_t code = 0; code <= 0x10ffff; code++) {
        size_t n = (size_t)(utf8_put(text, code) - text);
        bool surrogate = code >= 0xd800 && code <= 0xdfff;

        back = 0;
        ck_assert_uint_eq(n, code < 0x80 ? 1 : code < 0x800 ? 2 : code < 0x10000 ? 3 : 4);
        ck_assert_uint_eq(utf8_next(text, n, &back), surrogate ? 0 : n);
        ck_assert_uint_eq(back, surrogate ? 0 : code);
        if (n > 1)
            ck_assert_uint_eq(utf8_next(text, n - 1, &back), 0);
    }
}
END_TEST

/* The second bytes that may stand behind a first one. */
START_TEST(test_first_and_second_bytes)
{
    for (unsigned a = 0x80; a < 0x100; a++)
        for (unsigned b = 0; b < 0x100; b++) {
            uint8_t text[4] = {(uint8_t)a, (uint8_t)b, 0x80, 0x80};
            unsigned low = a == 0xe0 ? 0xa0 : a == 0xf0 ? 0x90 : 0x80;
            unsigned high = a == 0xed ? 0x9f : a == 0xf4 ? 0x8f : 0xbf;
            size_t n = a < 0xc2 || a > 0xf4 ? 0 : a < 0xe0 ? 2 : a < 0xf0 ? 3 : 4;
            uint32_t code;

            ck_assert_uint_eq(utf8_next(text, 4, &code), b >= low && b <= high ? n : 0);
        }
}
END_TEST

START_TEST(test_numbers_and_their_bytes)
{
    static const uint8_t bytes[] = {0, 0x81, 0x23, 0x45, 0x67, 0x89, 0xab, 0xcd, 0xef};
    const uint8_t *p = bytes + 1; /* not aligned */
    uint64_t one = 1, little = LITTLE64(UINT64_C(0xefcdab8967452381));
    uint8_t to[9] = {0};

    ck_assert_uint_eq(load_u16(p), 0x8123);
    ck_assert_uint_eq(load_u32(p), 0x81234567);
    ck_assert_uint_eq(load_u64(p), UINT64_C(0x8123456789abcdef));
    store_u16(to + 1, 0x8123);
    ck_assert_mem_eq(to, bytes, 3);
    store_u32(to + 1, 0x81234567);
    ck_assert_mem_eq(to, bytes, 5);
    store_u64(to + 1, UINT64_C(0x8123456789abcdef));
    ck_assert_mem_eq(to, bytes, 9);
    ck_assert_mem_eq(&little, p, 8);
    ck_assert_uint_eq(((const uint8_t *)&one)[HOST_LITTLE ? 0 : 7], 1);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("utf8");
    TCase *tc = tcase_create("utf8");

    tcase_add_test(tc, test_every_code_point);
    tcase_add_test(tc, test_first_and_second_bytes);
    tcase_add_test(tc, test_numbers_and_their_bytes);
    suite_add_tcase(suite, tc);
    return run_suite(suite);
}
