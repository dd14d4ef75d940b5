/* pack.c - data items to and from a buffer, as a representation stores them.
 *
 * MPI 5.0, 5.3: exactly the data, no header, so that units of "external32" are what
 * every MPI calls by that name. */
#include "rep/registry.h"

#include "base/error.h"
#include "rep/dispatch.h"
#include "rep/packed.h"

struct pack_unit {
    const struct datarep *rep;
    int64_t items, size;
};

static int unit_init(struct pack_unit *u, const char *datarep, int64_t count, const drep_type *type)
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
    int err = unit_init(&u, datarep, count, type);

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

int drep_pack(const char *datarep, const void *inbuf, int64_t count, const drep_type *type,
              void *outbuf, int64_t outsize, int64_t *position)
{
    struct pack_unit u;
    int err = unit_init(&u, datarep, count, type);

    if (!err)
        err = type_elements(type, count, &u.items);
    if (!err)
        err = room(&u, inbuf, outbuf, outsize, position, DREP_ERR_BUFFER);
    if (!err && u.items)
        err = rep_write_items(u.rep, NULL, inbuf, type, 0, u.items, (uint8_t *)outbuf + *position,
                              INT64_MAX, NULL, NULL);
    if (err)
        return fail_in(err, "pack");
    *position += u.size;
    return 0;
}

int drep_unpack(const char *datarep, const void *inbuf, int64_t insize, int64_t *position,
                void *outbuf, int64_t count, const drep_type *type)
{
    struct pack_unit u;
    int err = unit_init(&u, datarep, count, type);

    if (!err)
        err = type_elements(type, count, &u.items);
    if (!err)
        err = room(&u, outbuf, inbuf, insize, position, DREP_ERR_TRUNCATE);
    if (!err && u.items)
        err = rep_read_items(u.rep, NULL, outbuf, type, 0, u.items,
                             (const uint8_t *)inbuf + *position, INT64_MAX, NULL, NULL);
    if (err)
        return fail_in(err, "unpack");
    *position += u.size;
    return 0;
}
