/* pack.c - data items to and from a buffer, as a representation stores them.
 *
 * MPI 5.0, 5.3: exactly the data, no header, so that units of "external32" are what
 * every MPI calls by that name. */
/* SPDX-License-Identifier: MIT */
#include "rep/registry.h"

#include "base/error.h"
#include "base/pool.h"
#include "base/sized.h"
#include "rep/dispatch.h"
#include "rep/packed.h"
#include "rep/tables.h"

#include <datarep.h>
#include <pthread.h>

struct pack_unit {
    const struct datarep *rep;
    int64_t items, size;
};

static int pack_unit_init(struct pack_unit *u, const char *datarep, int64_t count,
                          const drep_type *type)
{
    struct type_sizes sizes;
    int err;

    if (!type)
        return fail(DREP_ERR_ARG, "no datatype");
    if (count < 0)
        return fail(DREP_ERR_COUNT, "a count of %lld", (long long)count);
    err = rep_need(datarep, &u->rep);
    if (err)
        return err;
    if (type->variable)
        return fail(DREP_ERR_TYPE, "datatypes of variable length are not packed");
    if (__builtin_mul_overflow(count, type->items, &u->items))
        return fail(DREP_ERR_VALUE_TOO_LARGE, "more than 2^63 data items");
    err = rep_sizes_of(u->rep, type, &sizes);
    return err ? err : packed_size(&sizes, type, 0, u->items, &u->size);
}

int drep_pack_size(const char *datarep, int64_t count, const drep_type *type, int64_t *size)
{
    struct pack_unit u;
    int err = pack_unit_init(&u, datarep, count, type);

    if (!err && !size)
        err = fail(DREP_ERR_ARG, "null pointer for the size");
    if (err)
        return fail_in(err, "pack size");
    *size = u.size;
    return 0;
}

/* Check that there is room for the unit at *position. */
static int room(const struct pack_unit *u, const void *user, const void *packed,
                int64_t packed_size, const int64_t *position, int small)
{
    if (!position || *position < 0 || *position > packed_size)
        return fail(DREP_ERR_ARG, "the position lies outside the buffer");
    if (u->size > 0 && (!user || !packed))
        return fail(DREP_ERR_ARG, "no buffer");
    if (u->size > packed_size - *position)
        return fail(small, "%lld bytes from position %lld on are needed, the buffer has %lld",
                    (long long)u->size, (long long)*position, (long long)packed_size);
    return 0;
}

/* ---- by the engine, with options ---- */

#define PART_SIZE (1 << 20) /* packed bytes that are worth a thread */

/* A transfer that is cut into parts of `per` items, whole elements each. */
struct pack_parts {
    const struct pack_unit *u;
    struct type_sizes sizes;
    struct packed_items all;
    bool reading;
    int range;
    int64_t per;
    bool counts;
    pthread_mutex_t lock; /* of the report */
    struct losses report;
};

static int part_convert(void *ctx, int64_t i)
{
    struct pack_parts *p = ctx;
    struct packed_items part = p->all;
    struct losses report = NO_LOSSES;
    struct rep_opts opts = {.range = p->range, .value_range = p->range};
    int64_t offset;
    int err;

    part.position = i * p->per;
    part.items = part.items - part.position < p->per ? part.items - part.position : p->per;
    opts.base = part.position;
    opts.report = p->counts ? &report : NULL;
    err = packed_size(&p->sizes, part.type, 0, part.position, &offset);
    if (err)
        return err;
    part.file = (uint8_t *)part.file + offset;
    err = packed_convert(p->u->rep->table, &part, p->reading, &opts, NULL);
    if (err || !p->counts)
        return err;
    pthread_mutex_lock(&p->lock);
    losses_add(&p->report, &report);
    pthread_mutex_unlock(&p->lock);
    return 0;
}

static int parts_convert(struct pack_parts *p, const drep_xfer *xfer)
{
    int64_t tile = p->all.type->items, elements = p->all.items / tile;
    int64_t n = p->u->size / PART_SIZE + 1;
    int err;

    rep_table_sizes(p->u->rep->table, &p->sizes);
    n = n > elements ? elements : n;
    p->per = (elements + n - 1) / n * tile;
    n = (p->all.items + p->per - 1) / p->per;
    pthread_mutex_init(&p->lock, NULL);
    err = pool_run(xfer->threads > 0 ? xfer->threads : pool_cpus(), n, part_convert, p);
    pthread_mutex_destroy(&p->lock);
    return err;
}

/* Moves the items of a unit between the user's buffer and the packed bytes. */
static int unit_move(const struct pack_unit *u, const drep_type *type, void *user, void *buffer,
                     int64_t position, bool reading, const drep_xfer *xfer)
{
    uint8_t *packed = !buffer ? NULL : (uint8_t *)buffer + position;
    struct pack_parts p = {.u = u,
                           .all = {type, 0, u->items, user, packed},
                           .reading = reading,
                           .counts = xfer && xfer->report,
                           .report = NO_LOSSES};
    int err = 0;

    if (u->items > 0 && xfer && u->rep->table) {
        p.range = xfer->range == DREP_RANGE_DEFAULT ? DREP_RANGE_WRAP : xfer->range;
        err = parts_convert(&p, xfer);
    } else if (u->items > 0) {
        err = reading ? rep_read_items(u->rep, NULL, user, type, 0, u->items, packed, INT64_MAX,
                                       NULL, NULL)
                      : rep_write_items(u->rep, NULL, user, type, 0, u->items, packed, INT64_MAX,
                                        NULL, NULL);
        p.report.items = u->items;
    }
    if (p.counts)
        losses_report(&p.report, xfer->report);
    return err;
}

/* What both directions check before they move anything. */
static int pack_move_init(struct pack_unit *u, const char *datarep, int64_t count,
                          const drep_type *type, const drep_xfer *xfer)
{
    int err = pack_unit_init(u, datarep, count, type);

    if (!err)
        err = type_elements(type, count, &u->items);
    if (!err && xfer)
        err = type_fits(type, count, xfer->buf_size);
    return err;
}

int drep_pack_xfer(const char *datarep, const void *inbuf, int64_t count, const drep_type *type,
                   void *outbuf, int64_t outsize, int64_t *position, const drep_xfer *xfer)
{
    struct pack_unit u;
    struct xfer x;
    int err;

    if ((err = xfer_begin(&x, xfer, "drep_pack_xfer")))
        return err;
    err = pack_move_init(&u, datarep, count, type, x.use);
    if (!err)
        err = room(&u, inbuf, outbuf, outsize, position, DREP_ERR_BUFFER);
    if (!err)
        err = unit_move(&u, type, (void *)(uintptr_t)inbuf, outbuf, *position, false, x.use);
    xfer_end(&x, err);
    if (err)
        return fail_in(err, "pack");
    *position += u.size;
    return 0;
}

int drep_unpack_xfer(const char *datarep, const void *inbuf, int64_t insize, int64_t *position,
                     void *outbuf, int64_t count, const drep_type *type, const drep_xfer *xfer)
{
    struct pack_unit u;
    struct xfer x;
    int err;

    if ((err = xfer_begin(&x, xfer, "drep_unpack_xfer")))
        return err;
    err = pack_move_init(&u, datarep, count, type, x.use);
    if (!err)
        err = room(&u, outbuf, inbuf, insize, position, DREP_ERR_TRUNCATE);
    if (!err)
        err = unit_move(&u, type, outbuf, (void *)(uintptr_t)inbuf, *position, true, x.use);
    xfer_end(&x, err);
    if (err)
        return fail_in(err, "unpack");
    *position += u.size;
    return 0;
}

int drep_pack(const char *datarep, const void *inbuf, int64_t count, const drep_type *type,
              void *outbuf, int64_t outsize, int64_t *position)
{
    return drep_pack_xfer(datarep, inbuf, count, type, outbuf, outsize, position, NULL);
}

int drep_unpack(const char *datarep, const void *inbuf, int64_t insize, int64_t *position,
                void *outbuf, int64_t count, const drep_type *type)
{
    return drep_unpack_xfer(datarep, inbuf, insize, position, outbuf, count, type, NULL);
}
