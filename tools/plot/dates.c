/* dates.c - ticks of an axis of time: at round seconds to days, or at the first of a month. */
/* SPDX-License-Identifier: MIT */
#include "tools/plot/dates.h"
#include "tools/plot/plot.h"
#include "tools/text/cf.h"
#include <inttypes.h>
#include <math.h>
#include <stdint.h>
#include <stdio.h>

#define MINUTE (60 * CF_SECOND)
#define HOUR (60 * MINUTE)

static const int64_t steps[] = {
    CF_SECOND,  2 * CF_SECOND, 5 * CF_SECOND, 10 * CF_SECOND, 15 * CF_SECOND, 30 * CF_SECOND,
    MINUTE,     2 * MINUTE,    5 * MINUTE,    10 * MINUTE,    15 * MINUTE,    30 * MINUTE,
    HOUR,       2 * HOUR,      3 * HOUR,      6 * HOUR,       12 * HOUR,      CF_DAY,
    2 * CF_DAY, 5 * CF_DAY,    10 * CF_DAY};
static const int64_t months[] = {1, 2, 3, 6};

/* What the axis shows. */
struct span_of_time {
    int64_t low, high; /* moments */
};

/* form: what its text says: y a year, m a month, d a day, h a time of the day in minutes or, at
 * midnight, the day, s in seconds. */
static void add(struct plot_axis *axis, const struct cf_time *t, int64_t moment, const char *form)
{
    struct plot_tick *tick = &axis->tick[axis->ticks++];
    struct cf_date d = cf_date_of(t, moment);
    int second = (int)(d.microsecond / CF_SECOND);
    char year[24];

    tick->at = cf_at(t, moment);
    snprintf(year, sizeof year, "%04" PRId64, d.year);
    if (*form == 'y')
        snprintf(tick->text, sizeof tick->text, "%.20s", year);
    else if (*form == 'm')
        snprintf(tick->text, sizeof tick->text, "%.16s-%02d", year, d.month);
    else if (*form == 'd')
        snprintf(tick->text, sizeof tick->text, "%.12s-%02d-%02d", year, d.month, d.day);
    else if (*form == 'h' && second == 0)
        snprintf(tick->text, sizeof tick->text, "%02d-%02d", d.month, d.day);
    else if (*form == 'h')
        snprintf(tick->text, sizeof tick->text, "%02d:%02d", second / 3600, second / 60 % 60);
    else
        snprintf(tick->text, sizeof tick->text, "%02d:%02d:%02d", second / 3600, second / 60 % 60,
                 second % 60);
}

/* At multiples of a step that is a part of a day, or whole days. */
static void ticks_of_equal(struct plot_axis *axis, const struct cf_time *t,
                           const struct span_of_time *s, int64_t step)
{
    int64_t at = s->low / step * step;

    for (at -= at > s->low ? step : 0; at <= s->high && axis->ticks < PLOT_TICKS; at += step)
        if (at >= s->low)
            add(axis, t, at, step >= CF_DAY ? "d" : step >= MINUTE ? "h" : "s");
}

/* At the first day of months whose count from year 0 is a multiple of the step. */
static void ticks_of_months(struct plot_axis *axis, const struct cf_time *t,
                            const struct span_of_time *s, int64_t step)
{
    struct cf_date d = cf_date_of(t, s->low);
    int64_t month = (d.year * 12 + d.month - 1) / step * step;

    for (month -= step; axis->ticks < PLOT_TICKS; month += step) {
        int64_t year = month / 12 - (month % 12 < 0), moment;

        if (year < -CF_YEARS)
            continue;
        if (year > CF_YEARS)
            return;
        d = (struct cf_date){.year = year, .month = (int)(month - year * 12) + 1, .day = 1};
        moment = cf_moment_of(t, &d);
        if (moment > s->high)
            return;
        if (moment >= s->low)
            add(axis, t, moment, step % 12 == 0 ? "y" : "m");
    }
}

static void put_end(char *text, size_t size, const struct cf_time *t, int64_t moment)
{
    struct cf_date d = cf_date_of(t, moment);

    cf_date_text(&d, text, size);
}

/* Months of a step of which at most `most` are in so many; 0: there is none. */
static int64_t step_of_months(double in_all, int most)
{
    int64_t ten = 12;

    for (size_t i = 0; i < sizeof months / sizeof *months; i++)
        if (in_all <= (double)months[i] * most)
            return months[i];
    for (; ten < INT64_C(12000000); ten *= 10)
        for (int k = 0; k < 3; k++) {
            int64_t step = ten * (k == 0 ? 1 : k == 1 ? 2 : 5);

            if (in_all <= (double)step * most)
                return step;
        }
    return 0;
}

bool dates_ticks(struct plot_axis *axis, const struct cf_time *t, int most)
{
    struct span_of_time s;
    double range;
    int64_t step;
    size_t i;

    if (!cf_moment(t, fmin(axis->from, axis->to), &s.low) ||
        !cf_moment(t, fmax(axis->from, axis->to), &s.high))
        return false;
    range = (double)s.high - (double)s.low;
    most = most < 2 ? 2 : most < PLOT_TICKS ? most : PLOT_TICKS - 1;
    if (range < (double)CF_SECOND)
        return false;
    axis->ticks = 0;
    put_end(axis->end[0], sizeof axis->end[0], t, axis->from > axis->to ? s.high : s.low);
    put_end(axis->end[1], sizeof axis->end[1], t, axis->from > axis->to ? s.low : s.high);
    for (i = 0; i < sizeof steps / sizeof *steps; i++)
        if (range <= (double)steps[i] * most) {
            ticks_of_equal(axis, t, &s, steps[i]);
            return true;
        }
    step = step_of_months(range / (double)CF_DAY / 30, most);
    if (step > 0)
        ticks_of_months(axis, t, &s, step);
    else
        axis->end[0][0] = axis->end[1][0] = 0;
    return step > 0;
}
