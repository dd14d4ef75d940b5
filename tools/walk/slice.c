/* slice.c - selections as NumPy writes them. */
#include "tools/walk/slice.h"
#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

void slice_all(struct slice *out, int rank, const int64_t *dims)
{
    int d;

    *out = (struct slice){.rank = rank < 0 ? 0 : rank};
    for (d = 0; d < out->rank; d++) {
        out->count[d] = dims[d];
        out->step[d] = 1;
    }
}

/* An optional number; 1 if there is one, -1 if it is none. */
static int parse_number(const char **p, int64_t *out)
{
    char *end;
    long long value;

    while (isspace((unsigned char)**p))
        (*p)++;
    if (!isdigit((unsigned char)**p) && **p != '-' && **p != '+')
        return 0;
    errno = 0;
    value = strtoll(*p, &end, 10);
    if (end == *p || errno)
        return -1;
    *out = value;
    *p = end;
    while (isspace((unsigned char)**p))
        (*p)++;
    return 1;
}

/* A bound of a range: from the end when negative, and never outside. */
static int64_t clip(int64_t at, int64_t dim)
{
    if (at < 0)
        at = at < -dim ? 0 : at + dim;
    return at > dim ? dim : at;
}

/* One of the parts between the commas. */
static const char *parse_part(struct slice *s, int d, const char **p, int64_t dim)
{
    int64_t start = 0, stop = dim, step = 1;
    int had = parse_number(p, &start), more = 0;

    if (had > 0 && **p != ':') {
        if (start < -dim || start >= dim)
            return "index outside the dataset";
        s->start[d] = start < 0 ? start + dim : start;
        s->count[d] = s->step[d] = 1;
        s->single[d] = true;
        return NULL;
    }
    if (had < 0 || **p != ':')
        return "expected an index or a range a:b:c";
    (*p)++;
    more = parse_number(p, &stop);
    if (more >= 0 && **p == ':') {
        (*p)++;
        more = parse_number(p, &step);
    }
    if (more < 0)
        return "expected an index or a range a:b:c";
    if (step <= 0)
        return "steps must be positive";
    s->start[d] = clip(start, dim);
    stop = clip(stop, dim);
    s->count[d] = stop > s->start[d] ? (stop - s->start[d] - 1) / step + 1 : 0;
    s->step[d] = step;
    return NULL;
}

/* Number of parts that an ellipsis stands for. */
static int ellipsis_width(const char *p, int d, int rank)
{
    int parts = 0;

    for (p += 3; *p && *p != ']'; p++)
        parts += *p == ',';
    return rank - d - parts;
}

const char *slice_parse(struct slice *out, const char *text, int rank, const int64_t *dims)
{
    const char *p = text + 1, *wrong = NULL;
    struct slice s;
    int d = 0, width;

    slice_all(&s, rank, dims);
    while (isspace((unsigned char)*p))
        p++;
    while (*p != ']' && !wrong) {
        if (strncmp(p, "...", 3) == 0) {
            width = ellipsis_width(p, d, s.rank);
            if (width < 0)
                return "more indices than dimensions";
            d += width;
            p += 3;
        } else if (d >= s.rank) {
            return "more indices than dimensions";
        } else {
            wrong = parse_part(&s, d, &p, dims[d]);
            d++;
        }
        while (isspace((unsigned char)*p))
            p++;
        if (!wrong && *p != ',' && *p != ']')
            return "expected ',' or ']'";
        if (*p == ',')
            p++;
        while (isspace((unsigned char)*p))
            p++;
    }
    if (!wrong && p[1])
        wrong = "text after the ']'";
    if (!wrong)
        *out = s;
    return wrong;
}

int slice_shape(const struct slice *slice, int64_t *dims)
{
    int d, rank = 0;

    for (d = 0; d < slice->rank; d++)
        if (!slice->single[d])
            dims[rank++] = slice->count[d];
    return rank;
}

int64_t slice_count(const struct slice *slice)
{
    int64_t n = 1;
    int d;

    for (d = 0; d < slice->rank; d++)
        n *= slice->count[d];
    return n;
}
