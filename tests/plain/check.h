/* check.h - what the unit tests use of Check, where Check is not to be had.
 *
 * Debian has it for its own machines only; the tests of the others are built with this
 * header and check.c in its place.  Same names, same summary line; nothing more than the
 * tests need.  A failed assertion leaves the test by longjmp(), as in Check. */
/* SPDX-License-Identifier: MIT */
#ifndef TESTS_PLAIN_CHECK_H
#define TESTS_PLAIN_CHECK_H

#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct Suite Suite;
typedef struct TCase TCase;
typedef struct SRunner SRunner;
typedef void plain_fn(int i);
typedef void plain_fixture_fn(void);

enum print_output { CK_SILENT, CK_MINIMAL, CK_NORMAL, CK_VERBOSE };
enum fork_status { CK_FORK, CK_NOFORK };

Suite *suite_create(const char *name);
TCase *tcase_create(const char *name);
void suite_add_tcase(Suite *suite, TCase *tc);
void tcase_set_timeout(TCase *tc, double seconds); /* CK_TIMEOUT_MULTIPLIER times as long */
void tcase_add_checked_fixture(TCase *tc, plain_fixture_fn *setup, plain_fixture_fn *teardown);
/* Once for all tests of the case, in the process of the runner; nothing may fail there. */
void tcase_add_unchecked_fixture(TCase *tc, plain_fixture_fn *setup, plain_fixture_fn *teardown);
void plain_add(TCase *tc, plain_fn *fn, const char *name, int from, int to);
SRunner *srunner_create(Suite *suite);
void srunner_add_suite(SRunner *runner, Suite *suite);
void srunner_set_fork_status(SRunner *runner, enum fork_status status);
void srunner_run_all(SRunner *runner, enum print_output how);
int srunner_ntests_failed(const SRunner *runner);
void srunner_free(SRunner *runner);

#define tcase_add_test(tc, fn) plain_add(tc, fn, #fn, 0, 1)
#define tcase_add_loop_test(tc, fn, from, to) plain_add(tc, fn, #fn, from, to)
#define START_TEST(name) static void name(int _i __attribute__((unused)))
#define END_TEST

/* Reports a failure and ends the test. */
void plain_fail(const char *file, int line, const char *format, ...)
    __attribute__((format(printf, 3, 4), noreturn));

#define ck_abort_msg(...) plain_fail(__FILE__, __LINE__, __VA_ARGS__)
#define mark_point() ((void)0)
#define ck_abort() ck_abort_msg("Failed")
#define ck_assert_msg(expr, ...) ((expr) ? (void)0 : plain_fail(__FILE__, __LINE__, __VA_ARGS__))
#define ck_assert(expr) ck_assert_msg(expr, "Assertion '%s' failed", #expr)

#define PLAIN_COMPARE(type, format, x, op, y)                                                      \
    do {                                                                                           \
        type plain_x = (x);                                                                        \
        type plain_y = (y);                                                                        \
        ck_assert_msg(plain_x op plain_y,                                                          \
                      "Assertion '%s' failed: %s == " format ", %s == " format, #x " " #op " " #y, \
                      #x, plain_x, #y, plain_y);                                                   \
    } while (0)
#define ck_assert_int_eq(x, y) PLAIN_COMPARE(intmax_t, "%jd", x, ==, y)
#define ck_assert_int_ne(x, y) PLAIN_COMPARE(intmax_t, "%jd", x, !=, y)
#define ck_assert_int_lt(x, y) PLAIN_COMPARE(intmax_t, "%jd", x, <, y)
#define ck_assert_int_le(x, y) PLAIN_COMPARE(intmax_t, "%jd", x, <=, y)
#define ck_assert_int_gt(x, y) PLAIN_COMPARE(intmax_t, "%jd", x, >, y)
#define ck_assert_int_ge(x, y) PLAIN_COMPARE(intmax_t, "%jd", x, >=, y)
#define ck_assert_uint_eq(x, y) PLAIN_COMPARE(uintmax_t, "%ju", x, ==, y)
#define ck_assert_uint_ne(x, y) PLAIN_COMPARE(uintmax_t, "%ju", x, !=, y)
#define ck_assert_uint_lt(x, y) PLAIN_COMPARE(uintmax_t, "%ju", x, <, y)
#define ck_assert_uint_le(x, y) PLAIN_COMPARE(uintmax_t, "%ju", x, <=, y)
#define ck_assert_uint_gt(x, y) PLAIN_COMPARE(uintmax_t, "%ju", x, >, y)
#define ck_assert_uint_ge(x, y) PLAIN_COMPARE(uintmax_t, "%ju", x, >=, y)
#define ck_assert_double_eq(x, y) PLAIN_COMPARE(double, "%.17g", x, ==, y)
#define ck_assert_double_le(x, y) PLAIN_COMPARE(double, "%.17g", x, <=, y)
#define ck_assert_ptr_eq(x, y) \
    PLAIN_COMPARE(void *, "%p", (void *)(uintptr_t)(x), ==, (void *)(uintptr_t)(y))
#define ck_assert_ptr_ne(x, y) \
    PLAIN_COMPARE(void *, "%p", (void *)(uintptr_t)(x), !=, (void *)(uintptr_t)(y))
#define ck_assert_ptr_null(x) ck_assert_msg((x) == NULL, "Assertion '%s == NULL' failed", #x)
#define ck_assert_ptr_nonnull(x) ck_assert_msg((x) != NULL, "Assertion '%s != NULL' failed", #x)

#define PLAIN_TEXTS(x, op, y)                                                                     \
    do {                                                                                          \
        const char *plain_x = (x), *plain_y = (y);                                                \
        ck_assert_msg(plain_x &&plain_y &&strcmp(plain_x, plain_y) op 0,                          \
                      "Assertion '%s' failed: %s == \"%s\", %s == \"%s\"", #x " " #op " " #y, #x, \
                      plain_x ? plain_x : "(null)", #y, plain_y ? plain_y : "(null)");            \
    } while (0)
#define ck_assert_str_eq(x, y) PLAIN_TEXTS(x, ==, y)
#define ck_assert_str_ne(x, y) PLAIN_TEXTS(x, !=, y)
#define ck_assert_mem_eq(x, y, size) \
    ck_assert_msg(memcmp(x, y, size) == 0, "Assertion '%s == %s' failed", #x, #y)

#endif
