/* extremes.c - the least and the greatest value of a dataset.
 *
 * Both are kept as elements, so that they are printed with every digit they have. */
/* SPDX-License-Identifier: MIT */
#include "tools/text/extremes.h"
#include "tools/host/progress.h"
#include "tools/text/cf.h"
#include "tools/text/num.h"
#include "tools/text/print.h"
#include "tools/text/printer.h"
#include "tools/text/real.h"
#include "tools/text/sink.h"
#include "tools/walk/blocks.h"
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

struct extremes {
    const struct printer *printer;
    const drep_type *type; /* of the elements in memory */
    size_t size;
    int format;             /* of a real, else 0 */
    const drep_scalar *own; /* of one that is read as it is stored, else NULL */
    struct cf cf;
    bool choosy; /* some numbers stand for none */
    bool any;
    int64_t nans, missing;
    char *least, *greatest;
};

/* A binary128 as an integer of the same order. */
static struct wide quad_order(const void *at)
{
    struct wide w = num_machine_int(at, 16, true);

    if (w.high >> 63) {
        w.high = ~w.high ^ (uint64_t)1 << 63;
        w.low = ~w.low;
    }
    return w;
}

static bool wide_less(struct wide a, struct wide b)
{
    uint64_t flip = a.is_signed ? (uint64_t)1 << 63 : 0;

    return a.high == b.high ? a.low < b.low : (a.high ^ flip) < (b.high ^ flip);
}

static bool less_fields(const drep_scalar *own, const void *a, const void *b)
{
    struct real_number x, y;

    real_load(&x, own, a);
    real_load(&y, own, b);
    return real_order(&x, &y) < 0;
}

/* True for elements that cannot be ordered: NaN, and numbers whose power of two is out of range. */
static bool no_number(const struct extremes *e, const void *element)
{
    struct real_number n;

    if (!e->own)
        return e->format && isnan(num_of_real(e->format, element).value);
    real_load(&n, e->own, element);
    return n.nan || n.beyond;
}

static bool less(const struct extremes *e, const void *a, const void *b)
{
    if (e->own)
        return less_fields(e->own, a, b);
    if (e->format == DREP_FORMAT_BINARY128)
        return wide_less(quad_order(a), quad_order(b));
    if (e->format) {
        struct double_pair x = num_of_real(e->format, a), y = num_of_real(e->format, b);

        return x.value == y.value ? x.rest < y.rest : x.value < y.value;
    }
    return wide_less(num_integer(e->printer, e->type, a), num_integer(e->printer, e->type, b));
}

static void take(struct extremes *e, const char *least, const char *greatest)
{
    if (!e->any || less(e, least, e->least))
        memcpy(e->least, least, e->size);
    if (!e->any || less(e, e->greatest, greatest))
        memcpy(e->greatest, greatest, e->size);
    e->any = true;
}

static bool is_missing(const struct extremes *e, double value)
{
    return cf_missing(&e->cf, (struct double_pair){.value = value});
}

/* Fast paths for the types that most datasets hold. */
/* Extremes of elements that are REAL in memory, one after the other. */
#define TAKE_REALS(NAME, REAL)                                             \
    static void NAME(struct extremes *e, const REAL *value, int64_t count) \
    {                                                                      \
        const REAL *low = NULL, *high = NULL;                              \
        int64_t i;                                                         \
                                                                           \
        for (i = 0; i < count; i++) {                                      \
            if (e->choosy && is_missing(e, (double)value[i])) {            \
                e->missing++;                                              \
                continue;                                                  \
            }                                                              \
            if (isnan(value[i])) {                                         \
                e->nans++;                                                 \
                continue;                                                  \
            }                                                              \
            low = !low || value[i] < *low ? value + i : low;               \
            high = !high || value[i] > *high ? value + i : high;           \
        }                                                                  \
        if (low)                                                           \
            take(e, (const char *)low, (const char *)high);                \
    }

TAKE_REALS(take_doubles, double)
TAKE_REALS(take_floats, float)

static void take_any(struct extremes *e, const char *element, int64_t count)
{
    int64_t i, extent = drep_type_extent(e->type);

    for (i = 0; i < count; i++, element += extent) {
        if (e->choosy && cf_missing(&e->cf, num_value(e->printer, e->type, element)))
            e->missing++;
        else if (no_number(e, element))
            e->nans++;
        else
            take(e, element, element);
    }
}

static int take_block(void *ctx, const drep_type *type, const void *elements, int64_t first,
                      int64_t count)
{
    struct extremes *e = ctx;

    (void)first;
    if (e->format == DREP_FORMAT_BINARY64)
        take_doubles(e, elements, count);
    else if (e->format == DREP_FORMAT_BINARY32)
        take_floats(e, elements, count);
    else
        take_any(e, elements, count);
    return progress_add((uint64_t)(count * drep_type_extent(type)));
}

/* As it is stored, with every digit, unless it means something else. */
static void put_one(const struct extremes *e, struct sink *s, const void *element)
{
    double stored = e->own ? 0 : num_value(e->printer, e->type, element).value;
    int64_t moment;
    bool number = e->printer->json || !cf_moment(&e->cf.time, cf_number(&e->cf, stored), &moment);

    if (number && !cf_is_packed(&e->cf))
        print_value(e->printer, s, e->type, element);
    else
        cf_put(&e->cf, e->printer, s, stored, number);
}

static void put(const struct extremes *e, struct sink *s)
{
    bool json = e->printer->json;

    if (e->any) {
        sink_text(s, json ? ", \"min\": " : "  min ");
        put_one(e, s, e->cf.scale < 0 ? e->greatest : e->least);
        sink_text(s, json ? ", \"max\": " : "  max ");
        put_one(e, s, e->cf.scale < 0 ? e->least : e->greatest);
    }
    if (e->missing)
        sink_format(s, json ? ", \"missing\": %" PRId64 : "  %" PRId64 " missing", e->missing);
    if (e->nans)
        sink_format(s, json ? ", \"nans\": %" PRId64 : "  %" PRId64 " NaN", e->nans);
}

static int read_all(struct extremes *e, struct sink *s, drep_dataset *dataset,
                    const drep_dsinfo *info)
{
    struct slice slice;
    int err;

    slice_all(&slice, info->rank, info->dims);
    e->size = (size_t)drep_type_extent(e->type);
    e->format = num_format(e->printer, e->type);
    e->own = num_own(e->type);
    e->least = malloc(e->size);
    e->greatest = malloc(e->size);
    err = e->least && e->greatest ? 0 : DREP_ERR_NOMEM;
    if (!err)
        err = blocks_each(dataset, info, e->type, &slice, take_block, e);
    if (!err)
        put(e, s);
    free(e->least);
    free(e->greatest);
    return err;
}

int extremes_put(const struct printer *p, struct sink *s, drep_dataset *dataset,
                 const drep_dsinfo *info, const char *path)
{
    struct extremes e = {.printer = p, .cf = {.scale = 1, .low = NAN, .high = NAN}};
    drep_type *type;
    int err;

    if (info->rank == DREP_NULL_SPACE || info->count == 0)
        return 0;
    err = printer_type(p, info->type, info->datarep_number, &type);
    if (err)
        return err;
    e.type = type;
    if (path && !num_own(type)) {
        cf_read(&e.cf, p, path, type);
        e.choosy = e.cf.nmissing > 0 || !isnan(e.cf.low) || !isnan(e.cf.high);
    }
    if (num_is(p, type) && !printer_complex(p, drep_type_code(type)))
        err = read_all(&e, s, dataset, info);
    drep_type_free(type);
    return err;
}
