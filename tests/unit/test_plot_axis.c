/* test_plot_axis.c - ticks of pictures: no two have one text, indices have whole numbers. */
/* SPDX-License-Identifier: MIT */
#include "tests/unit/bytes.h"
#include "tools/plot/axis.h"
#include <math.h>
#include <string.h>

/* The text of each tick says where it is, and no other's text does. */
static void check_axis(double from, double to, bool whole)
{
    struct plot_axis axis = {.from = from, .to = to, .whole = whole};
    double off, step;

    plot_ticks(&axis, 9);
    ck_assert_int_ge(axis.ticks, 2);
    step = axis.tick[1].at - axis.tick[0].at;
    for (int k = 0; k < axis.ticks; k++) {
        off = fabs(strtod(axis.tick[k].text, NULL) - axis.tick[k].at);
        ck_assert_msg(off < 0.1 * step, "%s is at %.17g", axis.tick[k].text, axis.tick[k].at);
        ck_assert(!whole || axis.tick[k].at == round(axis.tick[k].at));
        ck_assert(k == 0 || strcmp(axis.tick[k].text, axis.tick[k - 1].text) != 0);
    }
}

START_TEST(test_ticks_have_texts_of_their_own)
{
    for (int power = -12; power < 15; power++)
        for (int small = power - 12; small <= power; small++) {
            check_axis(pow(10, power), pow(10, power) + 7.3 * pow(10, small), false);
            check_axis(-pow(10, power) - 3.1 * pow(10, small), -pow(10, power), false);
        }
    check_axis(1e9, 1e9 + 1, false);
    check_axis(0, 1e300, false);
}
END_TEST

START_TEST(test_indices_are_whole)
{
    for (int n = 2; n < 200; n++)
        check_axis(-0.5, n - 0.5, true);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("plot_axis");
    TCase *tc = tcase_create("all");

    tcase_add_test(tc, test_ticks_have_texts_of_their_own);
    tcase_add_test(tc, test_indices_are_whole);
    suite_add_tcase(suite, tc);
    return run_suite(suite);
}
