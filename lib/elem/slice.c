/* slice.c - selections as NumPy writes them: "[0,10:20,::2]". */
/* SPDX-License-Identifier: MIT */
#include "base/error.h"
#include "base/mem.h"
#include "elem/select.h"

#include <datarep.h>
#include <stdint.h>
#include <string.h>

struct slice_parser {
    const char *text, *p; /* the whole, and how far it was read */
    int rank;
    const int64_t *dims;
    int64_t start[DREP_MAX_RANK], count[DREP_MAX_RANK], step[DREP_MAX_RANK];
    uint32_t single;
};

static int slice_fail(const struct slice_parser *s, int err, const char *why)
{
    return fail(err, "%s: column %d: %s", s->text, (int)(s->p - s->text) + 1, why);
}

static void skip_spaces(struct slice_parser *s)
{
    while (*s->p == ' ' || *s->p == '\t')
        s->p++;
}

/* Reads a number, if there is one: *found. */
static int parse_number(struct slice_parser *s, int64_t *out, bool *found)
{
    bool negative = *s->p == '-', sign = negative || *s->p == '+';
    const char *p = s->p + sign;
    int64_t n = 0;

    *found = sign || (*p >= '0' && *p <= '9');
    if (!*found)
        return 0;
    if (*p < '0' || *p > '9')
        return slice_fail(s, DREP_ERR_SYNTAX, "a sign without a number");
    for (; *p >= '0' && *p <= '9'; p++)
        if (__builtin_mul_overflow(n, 10, &n) || __builtin_add_overflow(n, *p - '0', &n))
            return slice_fail(s, DREP_ERR_SYNTAX, "a number of more than 63 bits");
    *out = negative ? -n : n;
    s->p = p;
    skip_spaces(s);
    return 0;
}

/* A bound of a range: from the end when negative, and never outside. */
static int64_t clip_bound(int64_t at, int64_t len)
{
    if (at < 0)
        at = at < -len ? 0 : at + len;
    return at > len ? len : at;
}

static int index_part(struct slice_parser *s, int d, int64_t at, const char *where)
{
    int64_t len = s->dims[d];

    if (at < -len || at >= len)
        return fail(DREP_ERR_RANGE,
                    "%s: column %d: index %lld is outside of dimension %d, whose length is %lld",
                    s->text, (int)(where - s->text) + 1, (long long)at, d, (long long)len);
    s->start[d] = at < 0 ? at + len : at;
    s->count[d] = s->step[d] = 1;
    s->single |= UINT32_C(1) << d;
    return 0;
}

/* START:STOP:STEP, of which START was read. */
static int range_part(struct slice_parser *s, int d, int64_t start)
{
    int64_t stop = s->dims[d], step = 1;
    const char *where;
    bool found;
    int err;

    if (*s->p != ':')
        return slice_fail(s, DREP_ERR_SYNTAX, "expected an index or a range a:b:c");
    s->p++;
    skip_spaces(s);
    if ((err = parse_number(s, &stop, &found)))
        return err;
    if (*s->p == ':') {
        s->p++;
        skip_spaces(s);
        where = s->p;
        if ((err = parse_number(s, &step, &found)))
            return err;
        if (step <= 0) {
            s->p = where;
            return slice_fail(s, DREP_ERR_SYNTAX, "steps must be positive");
        }
    }
    s->start[d] = clip_bound(start, s->dims[d]);
    stop = clip_bound(stop, s->dims[d]);
    s->count[d] = stop > s->start[d] ? (stop - s->start[d] - 1) / step + 1 : 0;
    s->step[d] = s->count[d] > 1 ? step : 1;
    return 0;
}

/* One of the parts between the commas. */
static int parse_part(struct slice_parser *s, int d)
{
    const char *where = s->p;
    int64_t start = 0;
    bool found;
    int err;

    if (d >= s->rank)
        return slice_fail(s, DREP_ERR_DIMS, "more indices than dimensions");
    if ((err = parse_number(s, &start, &found)))
        return err;
    return found && *s->p != ':' ? index_part(s, d, start, where) : range_part(s, d, start);
}

/* Goes on behind the dimensions that "..." stands for: those that no later part names. */
static int parse_ellipsis(struct slice_parser *s, int *d)
{
    int parts = 0;

    for (const char *p = s->p + 3; *p && *p != ']'; p++) {
        parts += *p == ',';
        if (strncmp(p, "...", 3) == 0)
            return slice_fail(s, DREP_ERR_SYNTAX, "more than one \"...\"");
    }
    if (s->rank - *d < parts)
        return slice_fail(s, DREP_ERR_DIMS, "more indices than dimensions");
    *d = s->rank - parts;
    s->p += 3;
    return 0;
}

static int parse_parts(struct slice_parser *s)
{
    int d = 0, err = 0;

    if (*s->p != '[')
        return slice_fail(s, DREP_ERR_SYNTAX, "expected '['");
    s->p++;
    skip_spaces(s);
    while (!err && *s->p != ']') {
        if (strncmp(s->p, "...", 3) == 0)
            err = parse_ellipsis(s, &d);
        else
            err = parse_part(s, d++);
        skip_spaces(s);
        if (!err && *s->p != ',' && *s->p != ']')
            err = slice_fail(s, DREP_ERR_SYNTAX, "expected ',' or ']'");
        if (!err && *s->p == ',') {
            s->p++;
            skip_spaces(s);
        }
    }
    if (!err && *++s->p)
        err = slice_fail(s, DREP_ERR_SYNTAX, "text after the ']'");
    return err;
}

int drep_select_parse(const char *text, int rank, const int64_t *dims, drep_selection **out)
{
    struct slice_parser s = {.text = text, .p = text, .rank = rank, .dims = dims};
    int err;

    if (!text || !out || rank < 0 || rank > DREP_MAX_RANK || (rank > 0 && !dims))
        return fail(DREP_ERR_ARG, "drep_select_parse: rank %d or null argument", rank);
    for (int d = 0; d < rank; d++) {
        if (dims[d] < 0)
            return fail(DREP_ERR_DIMS, "drep_select_parse: length %lld", (long long)dims[d]);
        s.count[d] = dims[d];
        s.step[d] = 1;
    }
    err = parse_parts(&s);
    if (!err)
        err = drep_select_box(rank, s.start, s.count, s.step, NULL, out);
    if (!err)
        (*out)->single = s.single;
    return err;
}
