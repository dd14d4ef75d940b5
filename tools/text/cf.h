/* cf.h - what a dataset's attributes say about its numbers, by the CF conventions.
 *
 * Source: NetCDF Climate and Forecast Metadata Conventions 1.10: missing data (2.5.1), the time
 * coordinate and calendars (4.4), packed data (8.1). */
/* SPDX-License-Identifier: MIT */
#ifndef TOOLS_TEXT_CF_H
#define TOOLS_TEXT_CF_H

#include "tools/text/num.h"
#include "tools/text/printer.h"
#include "tools/text/sink.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define CF_MISSING_MAX 16
#define CF_TEXT 64 /* bytes of a date as text */

enum cf_calendar {
    CF_STANDARD, /* Julian until 1582-10-04, Gregorian from 1582-10-15 */
    CF_PROLEPTIC,
    CF_JULIAN,
    CF_NOLEAP,
    CF_ALL_LEAP,
    CF_360
};

/* `units: UNIT since DATE`.  Moments are microseconds from a day of the calendar. */
struct cf_time {
    bool known;
    int calendar; /* enum cf_calendar */
    int64_t unit; /* microseconds */
    int64_t epoch;
};

struct cf {
    double scale, offset; /* a stored number n means scale * n + offset */
    struct double_pair missing[CF_MISSING_MAX];
    int nmissing;
    double low, high;    /* the valid numbers; NaN: no bound */
    bool bounds_of_real; /* they bound what is meant, not what is stored */
    bool single;         /* scale and offset have the precision of a binary32 */
    struct cf_time time;
};

/* The attributes of the dataset at `path`; those that are absent or not of the kind that the
 * conventions ask for have no effect. */
void cf_read(struct cf *cf, const struct printer *p, const char *path, const drep_type *type);
/* True if elements of this type are single numbers: their attributes say what one element means. */
bool cf_applies(const struct printer *p, const drep_type *type);
/* True if scale and offset change numbers. */
bool cf_is_packed(const struct cf *cf);
/* True if stored numbers mean themselves and none is missing. */
bool cf_is_plain(const struct cf *cf);
bool cf_missing(const struct cf *cf, struct double_pair stored);
double cf_number(const struct cf *cf, double stored);
/* Print what a stored number means: as a date, unless `number`, with every digit it has. */
void cf_put(const struct cf *cf, const struct printer *p, struct sink *s, double stored,
            bool number);

/* Print a stored element as the date that it means; false, and nothing printed: it means none, is
 * missing, or, if `exact`, cf_number_of() does not give the stored number for that text. */
bool cf_put_date(const struct cf *cf, const struct printer *p, struct sink *s,
                 const drep_type *type, const void *element, bool exact);
/* As cf_read(), and true if elements of this type are times. */
bool cf_read_time(struct cf *cf, const struct printer *p, const char *path, const drep_type *type);
/* The number of these units at a date as cf_date_text() prints it; false: it is no such text, or no
 * day of the calendar. */
bool cf_number_of(const struct cf_time *t, const char *text, double *number);

struct cf_date {
    int64_t year;
    int month, day;      /* from 1 */
    int64_t microsecond; /* of the day */
};
/* The moment that a number of these units is; false: beyond some 190,000 years. */
bool cf_moment(const struct cf_time *t, double number, int64_t *moment);
/* Write the date that a number stands for; false: it stands for none. */
bool cf_moment_text(const struct cf_time *t, double number, char text[CF_TEXT]);
/* The number at a moment. */
double cf_at(const struct cf_time *t, int64_t moment);
struct cf_date cf_date_of(const struct cf_time *t, int64_t moment);
int64_t cf_moment_of(const struct cf_time *t, const struct cf_date *date);
/* "2001-02-03", with "T04:05:06.7" where there is a time of the day. */
void cf_date_text(const struct cf_date *date, char *text, size_t size);

#define CF_SECOND INT64_C(1000000)
#define CF_DAY (86400 * CF_SECOND)
#define CF_YEARS 200000 /* moments of more years before or after 0 are beyond 64 bits */

#endif
