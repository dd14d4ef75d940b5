/* nesting.c - elements as lists nested as deep as their rank. */
/* SPDX-License-Identifier: MIT */
#include "tools/text/nesting.h"
#include "tools/text/print.h"
#include "tools/text/printer.h"
#include "tools/text/sink.h"
#include <datarep.h>

/* Lists that hold nothing but empty lists are not worth more than this many. */
#define EMPTY_MAX 10000

/* Number of lists that begin with the element at this place. */
static int lists_begun(const struct nesting *nest, const int64_t *at)
{
    int d = nest->rank;

    while (d > 0 && at[d - 1] == 0)
        d--;
    return nest->rank - d;
}

/* Print the separators and brackets before the element at this place. */
static void put_brackets(const struct nesting *nest, struct sink *s, const int64_t *at, bool start)
{
    int begun = lists_begun(nest, at), outer = nest->lines && nest->rank > 0, n;
    int lists = start ? nest->rank - outer : begun;

    /* A list that begins ends the one before it. */
    for (n = start ? lists : 0; n < lists; n++)
        sink_char(s, ']');
    if (!start && outer && begun == nest->rank - 1)
        sink_char(s, '\n');
    else if (!start)
        sink_text(s, begun ? nest->between : ", ");
    for (n = 0; n < lists; n++)
        sink_char(s, '[');
}

void nesting_put(const struct nesting *nest, const struct printer *p, struct sink *s,
                 const drep_type *type, const void *elements, int64_t first, int64_t count)
{
    int64_t i, extent = drep_type_extent(type), at[DREP_MAX_RANK] = {0}, rest = first;
    print_fn *put = print_direct(p, type);
    int d;

    for (d = nest->rank - 1; d >= 0 && count > 0; d--) {
        at[d] = rest % nest->dims[d];
        rest /= nest->dims[d];
    }
    for (i = 0; i < count && !s->err; i++) {
        put_brackets(nest, s, at, first + i == 0);
        put(p, s, type, (const char *)elements + i * extent);
        for (d = nest->rank - 1; d >= 0 && ++at[d] == nest->dims[d]; d--)
            at[d] = 0;
    }
}

static void put_empty(const struct nesting *nest, struct sink *s, int d)
{
    int64_t i;

    sink_char(s, '[');
    for (i = 0; i < nest->dims[d]; i++) {
        if (i)
            sink_text(s, ", ");
        put_empty(nest, s, d + 1);
    }
    sink_char(s, ']');
}

void nesting_end(const struct nesting *nest, struct sink *s, bool any)
{
    int64_t lists = 1;
    int d;

    if (any) {
        for (d = nest->lines && nest->rank > 0; d < nest->rank; d++)
            sink_char(s, ']');
        return;
    }
    for (d = 0; d < nest->rank && nest->dims[d] > 0; d++)
        lists = nest->dims[d] > EMPTY_MAX / lists ? EMPTY_MAX + 1 : lists * nest->dims[d];
    if (d == nest->rank || nest->lines)
        return;
    if (lists > EMPTY_MAX)
        sink_text(s, "[]");
    else
        put_empty(nest, s, 0);
}
