/* cf.c - what a dataset's attributes say about its numbers, by the CF conventions. */
/* SPDX-License-Identifier: MIT */
#include "tools/text/cf.h"
#include "tools/text/array.h"
#include "tools/text/num.h"
#include "tools/text/print.h"
#include "tools/text/printer.h"
#include "tools/text/sink.h"
#include <datarep.h>
#include <ctype.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

/* ------------------------------------------------------------------ calendars */

static int64_t floor_div(int64_t a, int64_t b)
{
    return a / b - (a % b < 0);
}

/* Days before each month of a year without a leap day. */
static const int before[] = {0, 31, 59, 90, 120, 151, 181, 212, 243, 273, 304, 334, 365};

/* Julian and Gregorian years begin in March here, so that a leap day is their last.  Days are
 * counted from 1970-01-01 of the Gregorian calendar. */
#define GREGORIAN_DAY 719468
#define JULIAN_DAY 719470
#define FIRST_GREGORIAN (-141427) /* 1582-10-15 */

/* Days from 1 March to this day: the months from March on have 31 and 30 days in a pattern of five,
 * 153 days long. */
static int64_t march_day(int month, int day)
{
    return (153 * (month > 2 ? month - 3 : month + 9) + 2) / 5 + day - 1;
}

static int64_t gregorian_day(int64_t year, int month, int day)
{
    int64_t y = year - (month <= 2), era = floor_div(y, 400), of_era = y - era * 400;

    return era * 146097 + of_era * 365 + of_era / 4 - of_era / 100 + march_day(month, day) -
           GREGORIAN_DAY;
}

static int64_t julian_day(int64_t year, int month, int day)
{
    int64_t y = year - (month <= 2), era = floor_div(y, 4);

    return era * 1461 + (y - era * 4) * 365 + march_day(month, day) - JULIAN_DAY;
}

/* The number of a day; only differences within one calendar mean something. */
static int64_t day_of(int calendar, int64_t year, int month, int day)
{
    bool after = year > 1582 || (year == 1582 && (month > 10 || (month == 10 && day >= 15)));

    switch (calendar) {
    case CF_360:
        return year * 360 + (month - 1) * 30 + day - 1;
    case CF_NOLEAP:
        return year * 365 + before[month - 1] + day - 1;
    case CF_ALL_LEAP:
        return year * 366 + before[month - 1] + (month > 2) + day - 1;
    case CF_JULIAN:
        return julian_day(year, month, day);
    case CF_PROLEPTIC:
        return gregorian_day(year, month, day);
    default:
        return after ? gregorian_day(year, month, day) : julian_day(year, month, day);
    }
}

/* The date of day `of_year` of a year that begins in March. */
static void from_march(int64_t year, int64_t of_year, struct cf_date *d)
{
    int month = (int)((5 * of_year + 2) / 153);

    d->day = (int)(of_year - (153 * month + 2) / 5 + 1);
    d->month = month < 10 ? month + 3 : month - 9;
    d->year = year + (d->month <= 2);
}

static void from_gregorian(int64_t day, struct cf_date *d)
{
    int64_t z = day + GREGORIAN_DAY, era = floor_div(z, 146097), of_era = z - era * 146097;
    int64_t y = (of_era - of_era / 1460 + of_era / 36524 - of_era / 146096) / 365;

    from_march(era * 400 + y, of_era - (365 * y + y / 4 - y / 100), d);
}

static void from_julian(int64_t day, struct cf_date *d)
{
    int64_t z = day + JULIAN_DAY, era = floor_div(z, 1461), of_era = z - era * 1461;
    int64_t y = (of_era - of_era / 1460) / 365;

    from_march(era * 4 + y, of_era - 365 * y, d);
}

/* Years of equal length; leap: 29 February is in each. */
static void from_equal(int64_t day, int leap, struct cf_date *d)
{
    int64_t length = 365 + leap;
    int of_year, month = 1;

    d->year = floor_div(day, length);
    of_year = (int)(day - d->year * length);
    while (month < 12 && of_year >= before[month] + (month >= 2 ? leap : 0))
        month++;
    d->month = month;
    d->day = of_year - before[month - 1] - (month > 2 ? leap : 0) + 1;
}

static void from_360(int64_t day, struct cf_date *d)
{
    int64_t of_year;

    d->year = floor_div(day, 360);
    of_year = day - d->year * 360;
    d->month = (int)(of_year / 30) + 1;
    d->day = (int)(of_year % 30) + 1;
}

struct cf_date cf_date_of(const struct cf_time *t, int64_t moment)
{
    struct cf_date d = {0};
    int64_t day = floor_div(moment, CF_DAY);

    d.microsecond = moment - day * CF_DAY;
    if (t->calendar == CF_360)
        from_360(day, &d);
    else if (t->calendar == CF_NOLEAP || t->calendar == CF_ALL_LEAP)
        from_equal(day, t->calendar == CF_ALL_LEAP, &d);
    else if (t->calendar == CF_JULIAN || (t->calendar == CF_STANDARD && day < FIRST_GREGORIAN))
        from_julian(day, &d);
    else
        from_gregorian(day, &d);
    return d;
}

int64_t cf_moment_of(const struct cf_time *t, const struct cf_date *d)
{
    return day_of(t->calendar, d->year, d->month, d->day) * CF_DAY + d->microsecond;
}

void cf_date_text(const struct cf_date *d, char *text, size_t size)
{
    int64_t second = d->microsecond / CF_SECOND;
    int fraction = (int)(d->microsecond % CF_SECOND), digits = 6;
    size_t n = (size_t)snprintf(text, size, "%s%04" PRId64 "-%02d-%02d", d->year < 0 ? "-" : "",
                                d->year < 0 ? -d->year : d->year, d->month, d->day);

    if (d->microsecond == 0 || n >= size)
        return;
    n += (size_t)snprintf(text + n, size - n, "T%02d:%02d:%02d", (int)(second / 3600),
                          (int)(second / 60 % 60), (int)(second % 60));
    if (fraction == 0 || n >= size)
        return;
    for (; fraction % 10 == 0; digits--)
        fraction /= 10;
    snprintf(text + n, size - n, ".%0*d", digits, fraction);
}

/* ------------------------------------------------------------------- moments */

bool cf_moment(const struct cf_time *t, double number, int64_t *moment)
{
    long double at = (long double)number * (long double)t->unit + (long double)t->epoch;
    double step = nextafter(fabs(number), HUGE_VAL) - fabs(number);
    int64_t whole;

    if (!t->known || !(fabsl(at) < 6e18L))
        return false;
    *moment = llroundl(at);
    /* A second is meant where the number cannot say it any better. */
    whole = floor_div(*moment + CF_SECOND / 2, CF_SECOND) * CF_SECOND;
    if (fabs((double)(*moment - whole)) <= fmin(2 * step * (double)t->unit, 1000))
        *moment = whole;
    return true;
}

bool cf_moment_text(const struct cf_time *t, double number, char text[CF_TEXT])
{
    struct cf_date date;
    int64_t moment;

    if (!cf_moment(t, number, &moment))
        return false;
    date = cf_date_of(t, moment);
    cf_date_text(&date, text, CF_TEXT);
    return true;
}

double cf_at(const struct cf_time *t, int64_t moment)
{
    return (double)(((long double)moment - (long double)t->epoch) / (long double)t->unit);
}

static const struct {
    const char *name; /* with and without an s */
    int64_t unit;
} units[] = {
    {"microsecond", 1},       {"microsec", 1},
    {"millisecond", 1000},    {"millisec", 1000},
    {"msec", 1000},           {"ms", 1000},
    {"second", CF_SECOND},    {"sec", CF_SECOND},
    {"s", CF_SECOND},         {"minute", 60 * CF_SECOND},
    {"min", 60 * CF_SECOND},  {"hour", 3600 * CF_SECOND},
    {"hr", 3600 * CF_SECOND}, {"h", 3600 * CF_SECOND},
    {"day", CF_DAY},          {"d", CF_DAY},
    {"week", 7 * CF_DAY},
};

static const struct {
    const char *name;
    int calendar;
} calendars[] = {
    {"standard", CF_STANDARD}, {"gregorian", CF_STANDARD}, {"proleptic_gregorian", CF_PROLEPTIC},
    {"julian", CF_JULIAN},     {"noleap", CF_NOLEAP},      {"365_day", CF_NOLEAP},
    {"all_leap", CF_ALL_LEAP}, {"366_day", CF_ALL_LEAP},   {"360_day", CF_360},
};

/* Microseconds of a unit; 0: it is none of time, or has no length of its own, like a month. */
static int64_t unit_of(const char *name, size_t n)
{
    for (size_t i = 0; i < sizeof units / sizeof *units; i++) {
        size_t own = strlen(units[i].name);

        if (strncasecmp(name, units[i].name, own) == 0 &&
            (n == own || (n == own + 1 && tolower((unsigned char)name[own]) == 's')))
            return units[i].unit;
    }
    return 0;
}

static const char *skip_space(const char *p)
{
    while (isspace((unsigned char)*p))
        p++;
    return p;
}

/* "Z", "UTC", "+1", "-03:30": minutes east; false if something else is there. */
static bool parse_zone(const char *p, int *minutes)
{
    int hour = 0, minute = 0, n = 0, sign = *p == '-' ? -1 : 1;

    *minutes = 0;
    p = skip_space(p);
    if (!*p || strcasecmp(p, "Z") == 0 || strcasecmp(p, "UTC") == 0 || strcasecmp(p, "GMT") == 0)
        return true;
    sign = *p == '-' ? -1 : 1;
    if ((*p != '-' && *p != '+') || !isdigit((unsigned char)p[1]))
        return false;
    if (sscanf(p + 1, "%2d:%2d%n", &hour, &minute, &n) < 2 &&
        sscanf(p + 1, "%2d%2d%n", &hour, &minute, &n) < 2) {
        minute = 0;
        if (sscanf(p + 1, "%2d%n", &hour, &n) < 1)
            return false;
    }
    *minutes = sign * (hour * 60 + minute);
    return *skip_space(p + 1 + n) == 0 && hour < 24 && minute < 60;
}

/* "04", "04:05", "04:05:06.7" */
static const char *parse_clock(const char *p, int64_t *microsecond)
{
    int hour = 0, minute = 0, n = 0, end = 0;
    double second = 0;

    if (sscanf(p, "%2d%n", &hour, &end) < 1)
        return p;
    if (p[end] == ':' && sscanf(p + end, ":%2d%n", &minute, &n) == 1)
        end += n;
    n = 0;
    if (p[end] == ':' && sscanf(p + end, ":%lf%n", &second, &n) == 1)
        end += n;
    if (hour > 24 || minute < 0 || minute > 59 || !(second >= 0 && second < 61))
        return NULL;
    *microsecond = (hour * INT64_C(3600) + minute * INT64_C(60)) * CF_SECOND +
                   llround(second * (double)CF_SECOND);
    return p + end;
}

/* "2000-1-1", with a time of the day and a zone behind it; false if there is no such day. */
static bool parse_date(const char *p, struct cf_time *t)
{
    struct cf_date d = {0}, again;
    int64_t of_day = 0;
    int n = 0, zone = 0;
    long long year = 0;

    if (sscanf(p, "%7lld-%2d-%2d%n", &year, &d.month, &d.day, &n) < 3 || year < -CF_YEARS ||
        year > CF_YEARS || d.month < 1 || d.month > 12 || d.day < 1 || d.day > 31)
        return false;
    d.year = year;
    p += n;
    if (*p == 'T' || *p == 't' || isspace((unsigned char)*p)) {
        p = skip_space(p + 1);
        if (isdigit((unsigned char)*p))
            p = parse_clock(p, &of_day);
    }
    if (!p || !parse_zone(p, &zone))
        return false;
    t->epoch = cf_moment_of(t, &d);
    again = cf_date_of(t, t->epoch);
    t->epoch += of_day - zone * 60 * CF_SECOND;
    return again.month == d.month && again.day == d.day; /* there is such a day */
}

static void time_read(struct cf_time *t, const char *text, const char *calendar)
{
    const char *p = skip_space(text);
    size_t n = strcspn(p, " \t"), i;

    t->calendar = -1;
    for (i = 0; i < sizeof calendars / sizeof *calendars; i++)
        if (strcasecmp(calendar ? calendar : "standard", calendars[i].name) == 0)
            t->calendar = calendars[i].calendar;
    t->unit = unit_of(p, n);
    p = skip_space(p + n);
    if (t->calendar < 0 || t->unit == 0 || strncasecmp(p, "since", 5) != 0)
        return;
    t->known = parse_date(skip_space(p + 5), t);
}

/* ---------------------------------------------------------------- attributes */

/* Up to `most` numbers of an attribute; how many.  *format: of reals, DREP_FORMAT_..., -1 of others
 * than the usual ones; 0: they are integers. */
static int attr_numbers(const struct printer *p, const char *path, const char *name,
                        struct double_pair *out, int most, int *format)
{
    struct array v;
    int n = 0;

    if (array_attr(&v, p, path, name))
        return 0;
    if (v.count > 0 && v.rank != DREP_NULL_SPACE && num_is(p, v.type)) {
        *format = num_own(v.type) ? -1 : num_format(p, v.type);
        for (; n < most && n < v.count; n++)
            out[n] = num_value(p, v.type, (char *)v.buf + n * drep_type_extent(v.type));
    }
    array_release(&v);
    return n;
}

/* packed: stored numbers are integers. */
static void bounds_read(struct cf *cf, const struct printer *p, const char *path, bool packed)
{
    struct double_pair v[2];
    int real = 0;

    if (attr_numbers(p, path, "valid_range", v, 2, &real) == 2) {
        cf->low = v[0].value;
        cf->high = v[1].value;
    } else {
        if (attr_numbers(p, path, "valid_min", v, 1, &real) == 1)
            cf->low = v[0].value;
        if (attr_numbers(p, path, "valid_max", v, 1, &real) == 1)
            cf->high = v[0].value;
    }
    /* Reals that bound packed integers bound what these mean. */
    cf->bounds_of_real = packed && real && cf_is_packed(cf);
}

void cf_read(struct cf *cf, const struct printer *p, const char *path, const drep_type *type)
{
    char *text = NULL, *calendar = NULL;
    int of_scale = DREP_FORMAT_BINARY32, of_offset = DREP_FORMAT_BINARY32, any = 0;
    struct double_pair one;

    *cf = (struct cf){.scale = 1, .low = NAN, .high = NAN};
    if (attr_numbers(p, path, "scale_factor", &one, 1, &of_scale) && isfinite(one.value) &&
        one.value != 0)
        cf->scale = one.value;
    if (attr_numbers(p, path, "add_offset", &one, 1, &of_offset) && isfinite(one.value))
        cf->offset = one.value;
    cf->single = of_scale == DREP_FORMAT_BINARY32 && of_offset == DREP_FORMAT_BINARY32;
    cf->nmissing = attr_numbers(p, path, "_FillValue", cf->missing, 1, &any);
    cf->nmissing += attr_numbers(p, path, "missing_value", cf->missing + cf->nmissing,
                                 CF_MISSING_MAX - cf->nmissing, &any);
    bounds_read(cf, p, path, num_is(p, type) && !num_format(p, type) && !num_own(type));
    if (drep_attr_read_string(p->file, path, "units", &text) == 0) {
        if (drep_attr_read_string(p->file, path, "calendar", &calendar))
            calendar = NULL;
        time_read(&cf->time, text, calendar);
        free(calendar);
    }
    free(text);
}

bool cf_is_packed(const struct cf *cf)
{
    return cf->scale != 1 || cf->offset != 0;
}

bool cf_is_plain(const struct cf *cf)
{
    return !cf_is_packed(cf) && cf->nmissing == 0 && isnan(cf->low) && isnan(cf->high);
}

double cf_number(const struct cf *cf, double stored)
{
    return cf_is_packed(cf) ? stored * cf->scale + cf->offset : stored;
}

bool cf_missing(const struct cf *cf, struct double_pair stored)
{
    double bounded = cf->bounds_of_real ? cf_number(cf, stored.value) : stored.value;

    for (int i = 0; i < cf->nmissing; i++)
        if (stored.value == cf->missing[i].value && stored.rest == cf->missing[i].rest)
            return true;
    return bounded < cf->low || bounded > cf->high;
}

void cf_put(const struct cf *cf, const struct printer *p, struct sink *s, double stored,
            bool number)
{
    double meant = cf_number(cf, stored);
    float single = (float)meant;
    char text[CF_TEXT];

    if (!number && cf_moment_text(&cf->time, meant, text)) {
        sink_text(s, text);
    } else if (cf->single) {
        print_value(p, s, DREP_FLOAT, &single);
    } else {
        print_value(p, s, DREP_DOUBLE, &meant);
    }
}

/* True if the text of a date gives the stored number again. */
static bool exact_date(const struct cf *cf, const struct printer *p, const drep_type *type,
                       struct double_pair stored, const char *text)
{
    double number;

    if (cf_is_packed(cf) || stored.rest != 0 || !cf_number_of(&cf->time, text, &number))
        return false;
    if (num_format(p, type) == DREP_FORMAT_BINARY32)
        number = (float)number;
    return number == stored.value && !signbit(number) == !signbit(stored.value);
}

bool cf_put_date(const struct cf *cf, const struct printer *p, struct sink *s,
                 const drep_type *type, const void *element, bool exact)
{
    struct double_pair stored = num_value(p, type, element);
    char text[CF_TEXT];

    if (cf_missing(cf, stored) || !cf_moment_text(&cf->time, cf_number(cf, stored.value), text))
        return false;
    if (exact && !exact_date(cf, p, type, stored, text))
        return false;
    sink_text(s, text);
    return true;
}

bool cf_applies(const struct printer *p, const drep_type *type)
{
    return num_is(p, type) && !printer_complex(p, drep_type_code(type));
}

bool cf_read_time(struct cf *cf, const struct printer *p, const char *path, const drep_type *type)
{
    *cf = (struct cf){0};
    if (!cf_applies(p, type))
        return false;
    cf_read(cf, p, path, type);
    return cf->time.known;
}

bool cf_number_of(const struct cf_time *t, const char *text, double *number)
{
    struct cf_time at = *t;

    if (!parse_date(skip_space(text), &at))
        return false;
    *number = cf_at(t, at.epoch);
    return true;
}
