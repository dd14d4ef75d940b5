/* sieve.c - many small items of a file in one call of its driver. */
/* SPDX-License-Identifier: MIT */
#include "elem/sieve.h"

#include "base/isa.h"

#include <datarep.h>
#include <string.h>

#define DENSE_ENOUGH                                                             \
    ((int64_t)64 << 10) /* bytes back to back that are worth a call of their own \
                         */

/* ---- planning ---- */

/* Items of a run, `left` at most, that still fit.  Those that are too far apart come one by one. */
static int64_t run_fits(const struct sieve_plan *p, const drep_run *run, int64_t size, int64_t left,
                        const struct sieve_limits *most)
{
    int64_t n = run->count < left ? run->count : left, room = most->bytes - p->bytes;
    int64_t span = run->offset + size - p->low; /* to the end of its first item */
    int64_t ahead = most->end - run->offset - size;

    if (size > room || span > most->window || ahead < 0)
        return 0;
    if (run->count > 1 && run->stride != size &&
        (run->stride < 0 || most->gap == 0 || run->stride - size > most->gap))
        n = 1;
    n = n < room / size ? n : room / size;
    if (n > 1 && run->stride > 0) {
        int64_t far = (most->window - span) / run->stride + 1;

        n = n < far ? n : far;
        n = n - 1 <= ahead / run->stride ? n : ahead / run->stride + 1;
    }
    return n;
}

/* True if a run that begins at this byte may join those before it. */
static bool joins(const struct sieve_plan *p, int64_t offset, const struct sieve_limits *most)
{
    if (p->items == 0 || offset == p->high)
        return true;
    if (offset < p->low || most->gap == 0 || offset - p->high > most->gap)
        return false;
    return !p->dense || p->bytes < DENSE_ENOUGH;
}

void sieve_plan(const struct sieve_at *at, const struct type_sizes *sizes,
                const struct sieve_limits *most, struct sieve_plan *out)
{
    struct sieve_plan p = {.dense = true};
    drep_cursor c = at->cursor;
    drep_run run = at->run;
    int64_t left = most->items;

    while (left > 0 && (run.count > 0 || drep_cursor_next(&c, left, &run) != 0)) {
        int64_t size = sizes->size[run.type->code], n, end;

        if (!joins(&p, run.offset, most))
            break;
        if (p.items == 0)
            p.low = p.high = run.offset;
        n = run_fits(&p, &run, size, left, most);
        if (n == 0)
            break;
        p.dense &= run.offset == p.high && (n == 1 || run.stride == size);
        end = run.offset + (n - 1) * run.stride + size;
        p.high = p.high > end ? p.high : end;
        p.items += n;
        p.bytes += n * size;
        left -= n;
        if (n < run.count)
            break;
        run.count = 0;
    }
    *out = p;
}

/* ---- copying ---- */

/* Always with a constant size: then an item is one load and one store. */
INLINE void copy_by(uint8_t *to, int64_t to_step, const uint8_t *from, int64_t from_step,
                    int64_t size, int64_t n)
{
    for (int64_t i = 0; i < n; i++, to += to_step, from += from_step)
        memcpy(to, from, (size_t)size);
}

static void copy_items(uint8_t *to, int64_t to_step, const uint8_t *from, int64_t from_step,
                       int64_t size, int64_t n)
{
    if (n == 1 || (to_step == size && from_step == size))
        memcpy(to, from, (size_t)(n * size));
    else if (size == 1)
        copy_by(to, to_step, from, from_step, 1, n);
    else if (size == 2)
        copy_by(to, to_step, from, from_step, 2, n);
    else if (size == 4)
        copy_by(to, to_step, from, from_step, 4, n);
    else if (size == 8)
        copy_by(to, to_step, from, from_step, 8, n);
    else
        copy_by(to, to_step, from, from_step, size, n);
}

/* The next items, `most` at most, that one run holds: the rest of it stays in *at. */
static int64_t take(struct sieve_at *at, int64_t most, drep_run *run)
{
    int64_t n;

    if (at->run.count == 0 && drep_cursor_next(&at->cursor, most, &at->run) == 0)
        return 0;
    *run = at->run;
    n = run->count < most ? run->count : most;
    at->run.count -= n;
    at->run.offset += n * at->run.stride;
    return n;
}

void sieve_gather(struct sieve_at *at, const struct type_sizes *sizes,
                  const struct sieve_plan *plan, const uint8_t *window, uint8_t *packed)
{
    drep_run run;

    for (int64_t left = plan->items, n; left > 0 && (n = take(at, left, &run)) > 0; left -= n) {
        int64_t size = sizes->size[run.type->code];

        copy_items(packed, size, window + (run.offset - plan->low), run.stride, size, n);
        packed += n * size;
    }
}

void sieve_scatter(struct sieve_at *at, const struct type_sizes *sizes,
                   const struct sieve_plan *plan, uint8_t *window, const uint8_t *packed)
{
    drep_run run;

    for (int64_t left = plan->items, n; left > 0 && (n = take(at, left, &run)) > 0; left -= n) {
        int64_t size = sizes->size[run.type->code];

        copy_items(window + (run.offset - plan->low), run.stride, packed, size, size, n);
        packed += n * size;
    }
}

void sieve_skip(struct sieve_at *at, int64_t items)
{
    drep_run run;

    for (int64_t n; items > 0 && (n = take(at, items, &run)) > 0;)
        items -= n;
}
