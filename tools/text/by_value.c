/* by_value.c - selections by coordinates become selections by index. */
/* SPDX-License-Identifier: MIT */
#include "tools/text/by_value.h"
#include "tools/host/exit.h"
#include "tools/host/fail.h"
#include "tools/host/message.h"
#include "tools/text/cf.h"
#include "tools/text/num.h"
#include "tools/text/printer.h"
#include "tools/text/sink.h"
#include "tools/walk/blocks.h"
#include <datarep.h>
#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

bool by_value_is(const char *slice)
{
    const char *end = strchr(slice, ']'), *equals = strchr(slice, '=');

    return equals && (!end || equals < end);
}

/* The dataset, and the parts of its selection by now. */
struct by_value {
    struct printer printer;
    const char *file_name, *path;
    const drep_dsinfo *info;
    char *part[DREP_MAX_RANK]; /* malloc'ed; NULL: all */
};

/* Coordinates of one dimension.  Their keys are numbers, of times microseconds. */
struct coordinates {
    const struct by_value *v;
    const char *name; /* of the dimension */
    char *path;
    drep_dataset *dataset;
    drep_dsinfo info;
    drep_type *type; /* as which they are read */
    struct cf cf;
    bool single; /* they have the precision of a binary32 */
};

/* Keys from low to high, which may belong to it or not. */
struct wanted {
    double low, high;
    bool below; /* high itself does not belong to it */
    bool one;   /* given by one value */
};

/* What a scan over the coordinates finds. */
struct found {
    const struct coordinates *c;
    const struct wanted *w;
    int64_t first, last, n; /* of those that are wanted; n == 0: none */
    double least, most;     /* of all, as they are meant */
    double under, over;     /* the nearest ones beside a value that none has */
};

static int bad_part(const struct by_value *v, const char *part, const char *why)
{
    tool_say(v->file_name, v->path, "[%s]: %s", part, why);
    return TOOL_USAGE;
}

/* ---------------------------------------------------------------------- values */

/* "2026" and "2026-01", as the first day of the year or month and of the next one. */
static bool period_days(const char *text, char first[CF_TEXT], char next[CF_TEXT])
{
    int year, month = 0, n = 0, end = 0;

    if (sscanf(text, "%5d%n-%2d%n", &year, &n, &month, &end) < 1)
        return false;
    if (month ? text[end] != 0 || month < 1 || month > 12 : text[n] != 0 || n < 4)
        return false;
    snprintf(first, CF_TEXT, "%04d-%02d-01", year, month ? month : 1);
    snprintf(next, CF_TEXT, "%04d-%02d-01", month && month < 12 ? year : year + 1,
             month && month < 12 ? month + 1 : 1);
    return true;
}

static bool date_key(const struct coordinates *c, const char *text, double *key)
{
    double number;
    int64_t moment;

    if (!cf_number_of(&c->cf.time, text, &number) || !cf_moment(&c->cf.time, number, &moment))
        return false;
    *key = (double)moment;
    return true;
}

/* A date, a day, a month, a year: from *low to *high, which is beyond it unless equal. */
static bool parse_dates(const struct coordinates *c, const char *text, double *low, double *high)
{
    char first[CF_TEXT], next[CF_TEXT];

    if (period_days(text, first, next))
        return date_key(c, first, low) && date_key(c, next, high);
    if (!date_key(c, text, low))
        return false;
    *high = *low + (strpbrk(text, "Tt: ") ? 0 : (double)CF_DAY);
    return true;
}

static bool parse_number(const struct coordinates *c, const char *text, double *key)
{
    char *end;

    *key = strtod(text, &end);
    if (end == text || *end || isnan(*key))
        return false;
    if (c->single)
        *key = (float)*key;
    return true;
}

static bool parse_value(const struct coordinates *c, const char *text, double *low, double *high)
{
    if (c->cf.time.known)
        return parse_dates(c, text, low, high);
    *high = 0;
    if (!parse_number(c, text, low))
        return false;
    *high = *low;
    return true;
}

/* "LOW:HIGH" with its colon at `colon`. */
static bool parse_range(const struct coordinates *c, const char *text, const char *colon,
                        struct wanted *w)
{
    char *low = strndup(text, (size_t)(colon - text));
    double from = -INFINITY, from_end = -INFINITY, to = INFINITY, to_end = INFINITY;
    bool good = low && (!*low || parse_value(c, low, &from, &from_end)) &&
                (!colon[1] || parse_value(c, colon + 1, &to, &to_end));

    free(low);
    if (!good)
        return false;
    /* Either end may be the greater one: of periods, if one ends before the other begins. */
    *w = (struct wanted){.low = from, .high = to_end, .below = to_end > to};
    if (from > to_end || (from == to_end && w->below))
        *w = (struct wanted){.low = to, .high = from_end, .below = from_end > from};
    return true;
}

/* A date has colons of its own, so each may be the one between two values. */
static int parse_wanted(const struct coordinates *c, const char *part, const char *text,
                        struct wanted *w)
{
    double low, high;

    if (*text && parse_value(c, text, &low, &high)) {
        *w = (struct wanted){.low = low, .high = high, .below = high > low, .one = high == low};
        return 0;
    }
    for (const char *colon = strchr(text, ':'); colon; colon = strchr(colon + 1, ':'))
        if (parse_range(c, text, colon, w))
            return 0;
    return bad_part(c->v, part,
                    c->cf.time.known
                        ? "neither a date (2026-01-05, 2026-01-05T06:00, 2026-01, 2026) "
                          "nor a range of dates (FROM:TO)"
                        : "neither a number nor a range of numbers (FROM:TO)");
}

/* ---------------------------------------------------------------- coordinates */

static int open_error(const struct coordinates *c, int err)
{
    return tool_fail(c->v->file_name, c->path, err);
}

static int not_usable(struct coordinates *c, const char *part, const char *why)
{
    char text[256];

    snprintf(text, sizeof text, "%.100s %.140s", c->path ? c->path : c->name, why);
    return bad_part(c->v, part, text);
}

/* The dimension's coordinates.  0, or an exit code after saying what is wrong. */
static int coordinates_open(struct coordinates *c, const char *part, int d)
{
    const struct by_value *v = c->v;
    const char *dimension = printer_path(&v->printer, v->info->dim_ids[d]);
    int err;

    if (!dimension || drep_dimension_coordinate(v->printer.file, dimension, &c->path))
        return not_usable(c, part, "has no coordinates (no dataset of its name along it)");
    c->info = (drep_dsinfo)DREP_DSINFO;
    err = drep_dataset_open(v->printer.file, c->path, &c->dataset);
    if (!err)
        err = drep_dataset_info(c->dataset, &c->info);
    if (!err)
        err = printer_type(&v->printer, c->info.type, c->info.datarep_number, &c->type);
    if (err)
        return open_error(c, err);
    if (!cf_applies(&v->printer, c->info.type))
        return not_usable(c, part, "does not hold numbers or times");
    cf_read(&c->cf, &v->printer, c->path, c->info.type);
    c->single = !c->cf.time.known &&
                (cf_is_packed(&c->cf) ? c->cf.single
                                      : num_format(&v->printer, c->type) == DREP_FORMAT_BINARY32);
    return 0;
}

static void coordinates_close(struct coordinates *c)
{
    drep_type_free(c->type);
    if (c->dataset)
        drep_dataset_close(c->dataset);
    free(c->path);
}

/* The key of a coordinate; NaN: it is missing. */
static double key_of(const struct coordinates *c, double meant)
{
    int64_t moment;

    if (!c->cf.time.known)
        return c->single ? (float)meant : meant;
    return cf_moment(&c->cf.time, meant, &moment) ? (double)moment : NAN;
}

static int scan_block(void *ctx, const drep_type *type, const void *elements, int64_t first,
                      int64_t count)
{
    struct found *f = ctx;
    const struct coordinates *c = f->c;
    int64_t extent = drep_type_extent(type);

    for (int64_t k = 0; k < count; k++) {
        struct double_pair stored =
            num_value(&c->v->printer, type, (const char *)elements + k * extent);
        double meant = cf_number(&c->cf, stored.value), key = key_of(c, meant);

        if (isnan(key) || cf_missing(&c->cf, stored))
            continue;
        f->least = !(f->least <= meant) ? meant : f->least;
        f->most = !(f->most >= meant) ? meant : f->most;
        if (key < f->w->low) {
            f->under = !(f->under >= meant) ? meant : f->under;
        } else if (key > f->w->high || (f->w->below && key == f->w->high)) {
            f->over = !(f->over <= meant) ? meant : f->over;
        } else {
            f->first = f->n++ ? f->first : first + k;
            f->last = first + k;
        }
    }
    return 0;
}

/* "lat has no 40.3; the nearest are 40.0 and 41.0" */
static int none_found(const struct found *f, const char *part)
{
    const struct coordinates *c = f->c;
    bool near = !isnan(f->under) && !isnan(f->over);
    struct sink s;
    int status;

    if (sink_init(&s, -1))
        return tool_no_memory();
    sink_name(&s, c->path);
    if (isnan(f->least)) {
        sink_text(&s, " is empty");
    } else {
        sink_text(&s,
                  near ? " has none there; the nearest are " : " has none there; it reaches from ");
        cf_put(&c->cf, &c->v->printer, &s,
               near ? (f->under - c->cf.offset) / c->cf.scale
                    : (f->least - c->cf.offset) / c->cf.scale,
               false);
        sink_text(&s, near ? " and " : " to ");
        cf_put(&c->cf, &c->v->printer, &s,
               near ? (f->over - c->cf.offset) / c->cf.scale
                    : (f->most - c->cf.offset) / c->cf.scale,
               false);
    }
    sink_char(&s, '\0');
    status = s.err ? tool_no_memory() : bad_part(c->v, part, s.buf);
    sink_release(&s);
    return status;
}

/* Find the indices along dimension d: v->part[d]. */
static int resolve_value(struct by_value *v, int d, const char *name, const char *part,
                         const char *value)
{
    struct coordinates c = {.v = v, .name = name};
    struct wanted w;
    struct found f = {.c = &c, .w = &w, .least = NAN, .most = NAN, .under = NAN, .over = NAN};
    struct slice all;
    int err = 0, status = coordinates_open(&c, part, d);

    if (!status)
        status = parse_wanted(&c, part, value, &w);
    if (!status) {
        slice_all(&all, 1, c.info.dims);
        all.count[0] = c.info.dims[0] < v->info->dims[d] ? c.info.dims[0] : v->info->dims[d];
        err = blocks_each(c.dataset, &c.info, c.type, &all, scan_block, &f);
    }
    if (err)
        status = open_error(&c, err);
    else if (!status && f.n == 0)
        status = none_found(&f, part);
    else if (!status && f.last - f.first + 1 != f.n)
        status = not_usable(&c, part, "is not in order: what is there is not side by side");
    else if (!status && w.one && f.n > 1)
        status = not_usable(&c, part, "has this value more than once; select it by index");
    if (!status && asprintf(&v->part[d], w.one ? "%" PRId64 : "%" PRId64 ":%" PRId64, f.first,
                            f.last + 1) < 0) {
        v->part[d] = NULL;
        status = tool_no_memory();
    }
    coordinates_close(&c);
    return status;
}

/* ----------------------------------------------------------------------- parts */

/* The name of dimension d, or NULL. */
static const char *dimension_name(const struct by_value *v, int d)
{
    const char *path = v->info->dim_ids[d] ? printer_path(&v->printer, v->info->dim_ids[d]) : NULL;

    return path ? strchr(strrchr(path, '/'), '#') + 1 : NULL;
}

static int no_dimension(const struct by_value *v, const char *part, const char *name)
{
    char text[512];
    size_t n = (size_t)snprintf(text, sizeof text, "no dimension \"%.100s\" here; there %s", name,
                                v->info->rank == 1 ? "is" : "are");
    const char *own;
    bool any = false;

    for (int d = 0; d < v->info->rank && n < sizeof text; d++)
        if ((own = dimension_name(v, d))) {
            n += (size_t)snprintf(text + n, sizeof text - n, any ? ", %.60s" : " %.60s", own);
            any = true;
        }
    if (!any)
        snprintf(text, sizeof text, "its dimensions have no names: select by index");
    return bad_part(v, part, text);
}

/* Take the `number`-th part: "NAME=VALUE", or an index or a range of them. */
static int take_part(struct by_value *v, int number, char *part)
{
    char *equals = strchr(part, '='), *name;
    const char *own = NULL;
    int d = number, status = 0;

    name = equals ? strndup(part, (size_t)(equals - part)) : strdup(part);
    if (!name)
        return tool_no_memory();
    for (size_t n = strlen(name); n > 0 && isspace((unsigned char)name[n - 1]);)
        name[--n] = '\0';
    for (d = equals ? 0 : number; equals && d < v->info->rank; d++)
        if ((own = dimension_name(v, d)) && strcmp(own, name) == 0)
            break;
    if (equals && d >= v->info->rank)
        status = no_dimension(v, part, name);
    else if (strcmp(name, "...") == 0)
        status = bad_part(v, part, "has no place beside dimensions that are named");
    else if (d >= v->info->rank)
        status = bad_part(v, part, "there are not so many dimensions");
    else if (v->part[d])
        status = bad_part(v, part, "this dimension was selected before");
    else if (equals)
        status = resolve_value(v, d, name, part, equals + 1 + strspn(equals + 1, " "));
    else if (!(v->part[d] = strdup(part)))
        status = tool_no_memory();
    free(name);
    return status;
}

/* Cut at the commas, without the blanks around. */
static int take_parts(struct by_value *v, char *text)
{
    char *next;
    int status = 0;

    for (int number = 0; text && !status; number++, text = next) {
        next = strchr(text, ',');
        if (next)
            *next++ = '\0';
        text += strspn(text, " ");
        for (size_t n = strlen(text); n > 0 && isspace((unsigned char)text[n - 1]);)
            text[--n] = '\0';
        status = take_part(v, number, text);
    }
    return status;
}

/* "[3:17,0,:]" and what was behind it. */
static int put_parts(const struct by_value *v, const char *behind, char **out)
{
    struct sink s;

    if (sink_init(&s, -1))
        return tool_no_memory();
    for (int d = 0; d < v->info->rank; d++) {
        sink_char(&s, d ? ',' : '[');
        sink_text(&s, v->part[d] ? v->part[d] : ":");
    }
    sink_text(&s, behind);
    sink_char(&s, '\0');
    *out = s.err ? NULL : strdup(s.buf);
    sink_release(&s);
    return *out ? 0 : tool_no_memory();
}

int by_value_resolve(drep_file *file, const char *file_name, const char *path,
                     const drep_dsinfo *info, const char *slice, char **out)
{
    struct by_value v = {.file_name = file_name, .path = path, .info = info};
    const char *end = strchr(slice, ']');
    char *inside;
    int err, status;

    if (!end || info->rank < 1) {
        tool_say(file_name, path, "%s: %s", slice,
                 end ? "it has no dimensions" : "the ']' is missing");
        return TOOL_USAGE;
    }
    err = printer_init(&v.printer, file, false);
    if (err)
        return tool_fail(file_name, path, err);
    inside = strndup(slice + 1, (size_t)(end - slice - 1));
    status = inside ? take_parts(&v, inside) : tool_no_memory();
    if (!status)
        status = put_parts(&v, end, out);
    for (int d = 0; d < info->rank; d++)
        free(v.part[d]);
    free(inside);
    printer_release(&v.printer);
    return status;
}
