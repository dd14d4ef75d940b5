/* plan.c - which requests fetch a list of ranges. */
/* SPDX-License-Identifier: MIT */
#include "remote/plan.h"
#include <stdbool.h>
#include <stdlib.h>

static uint64_t gap_after(const drep_range *r)
{
    return r[1].offset - r->offset - r->size;
}

/* Find the longest gap that is fetched rather than skipped: all of these together are within the
 * budget. */
static uint64_t gap_limit(const drep_range *range, size_t n)
{
    uint64_t wanted = 0, budget, limit = 0;

    for (size_t i = 0; i < n; i++)
        wanted += range[i].size;
    budget = wanted / 4 > PLAN_GAP ? wanted / 4 : PLAN_GAP;
    for (uint64_t longest = 1024; longest <= PLAN_GAP; longest *= 2) {
        uint64_t sum = 0;

        for (size_t i = 0; i + 1 < n; i++)
            sum += gap_after(&range[i]) <= longest ? gap_after(&range[i]) : 0;
        if (sum > budget)
            break;
        limit = longest;
    }
    return limit;
}

/* A list of parts that grows. */
struct parts {
    struct part *p;
    size_t n, room;
};

static bool parts_add(struct parts *list, const struct part *part)
{
    if (list->n == list->room) {
        size_t room = list->room ? 2 * list->room : 16;
        struct part *p = realloc(list->p, room * sizeof *p);

        if (!p)
            return false;
        list->p = p;
        list->room = room;
    }
    list->p[list->n++] = *part;
    return true;
}

/* Cut what one range, or several close ones, span into parts of at most PLAN_PART bytes. */
static bool cut_span(struct parts *list, const drep_range *range, size_t n)
{
    uint64_t at = range->offset, end = range[n - 1].offset + range[n - 1].size;

    while (at < end) {
        struct part part = {at, end - at < PLAN_PART ? end - at : PLAN_PART, range, 0};

        while (part.nrange < n && range[part.nrange].offset < at + part.size)
            part.nrange++;
        if (!parts_add(list, &part))
            return false;
        at += part.size;
        while (n > 0 && range->offset + range->size <= at) {
            range++;
            n--;
        }
        if (n > 0 && range->offset > at) /* a gap at the seam */
            at = range->offset;
    }
    return true;
}

int plan_parts(const drep_range *range, size_t n, struct part **out, size_t *nparts)
{
    uint64_t limit = gap_limit(range, n);
    struct parts list = {0};

    for (size_t i = 0, next; i < n; i = next) {
        for (next = i + 1; next < n && gap_after(&range[next - 1]) <= limit; next++)
            ;
        if (!cut_span(&list, range + i, next - i)) {
            free(list.p);
            return DREP_ERR_NOMEM;
        }
    }
    *out = list.p;
    *nparts = list.n;
    return 0;
}
