/* read.c - elements out of a file.
 *
 * A variable may be shorter than an unlimited dimension that others made longer: elements beyond it
 * are its fill value.  Numbers that the caller's type does not hold are converted as C does, and
 * the result is NC_ERANGE, as netCDF has it. */
/* SPDX-License-Identifier: MIT */
#include "netcdf/transfer.h"
#include <stdlib.h>
#include <string.h>

/* Lengths and strides fit an int64_t: the library refuses more than 2^62 elements. */
static int box_dimension(const struct nc_dimension *of, size_t start, size_t count,
                         ptrdiff_t stride, int grows)
{
    const size_t most = NC_LENGTH_MAX;
    size_t last;

    if (stride < 1)
        return NC_ESTRIDE;
    if (start > most || count > most || (size_t)stride > most)
        return NC_EINVALCOORDS;
    if (!grows && (start > of->len || (start == of->len && count)))
        return NC_EINVALCOORDS;
    if (!count)
        return 0;
    if ((count - 1) > (most - start) / (size_t)stride)
        return NC_EEDGE;
    last = start + (count - 1) * (size_t)stride;
    return !grows && last >= of->len ? NC_EEDGE : 0;
}

int box_get(struct door *door, struct nc_variable *v, const size_t *start, const size_t *count,
            const ptrdiff_t *stride, int grows, struct nc_box *out)
{
    int d;

    out->n = 1;
    for (d = 0; d < v->rank; d++) {
        const struct nc_dimension *of = &door->dimensions[v->dim[d]];
        size_t from = start ? start[d] : 0;
        size_t n = count ? count[d] : from < of->len ? of->len - from : 0;
        ptrdiff_t step = stride ? stride[d] : 1;
        int err = box_dimension(of, from, n, step, grows && of->unlimited);

        if (err)
            return err;
        out->start[d] = (int64_t)from;
        out->count[d] = (int64_t)n;
        out->stride[d] = step;
        if (n && out->n > INT64_MAX / (int64_t)n)
            return NC_EEDGE;
        out->n *= (int64_t)n;
    }
    return 0;
}

int box_memory_type(struct door *door, const struct nc_variable *v, nc_type *memory)
{
    if (*memory == NC_NAT)
        *memory = v->type;
    /* A byte of the classic model has no sign of its own. */
    if (door->classic && v->type == NC_BYTE && *memory == NC_UBYTE)
        *memory = NC_BYTE;
    return type_check_pair(door, v->type, *memory);
}

/* What drep_read() takes: characters come as they are. */
static const drep_type *transfer_type(struct door *door, nc_type memory)
{
    return memory == NC_CHAR ? NULL : type_memory(door, memory);
}

/* Elements that the dataset has. */
static int read_stored(struct door *door, struct nc_variable *v, const struct nc_box *box,
                       void *out, nc_type memory)
{
    const drep_type *type = transfer_type(door, memory);
    drep_report report = DREP_REPORT;
    drep_xfer xfer = DREP_XFER(.range = DREP_RANGE_WRAP);
    drep_selection *selection = NULL;
    int d, plain = 1, err;

    if (memory != v->type)
        xfer.report = &report;
    for (d = 0; d < v->rank; d++)
        plain &= box->stride[d] == 1 || box->count[d] == 1;
    if (!v->rank || plain) {
        err = v->rank ? drep_read_box(v->dataset, box->start, box->count, type, out, &xfer)
                      : drep_read(v->dataset, NULL, type, out, &xfer);
    } else {
        err = drep_select_box(v->rank, box->start, box->count, box->stride, NULL, &selection);
        if (!err)
            err = drep_read(v->dataset, selection, type, out, &xfer);
        drep_selection_free(selection);
    }
    return err ? door_error(err) : report.overflow ? NC_ERANGE : 0;
}

static int fill_elements(struct door *door, struct nc_variable *v, char *out, int64_t n,
                         nc_type memory)
{
    size_t size = type_bytes(door, memory);
    int64_t i;
    int err = 0, deep = drep_type_variable(type_memory(door, memory));

    for (i = 0; !err && i < n; i++) {
        if (deep || i == 0)
            err = variable_read_fill(door, v, memory, out + (size_t)i * size);
        else
            memcpy(out + (size_t)i * size, out, size);
    }
    return err;
}

/* The part of the box that the dataset has. */
static int64_t box_inside(const struct nc_variable *v, const struct nc_box *box,
                          struct nc_box *inside)
{
    int d;

    *inside = *box;
    inside->n = 1;
    for (d = 0; d < v->rank; d++) {
        int64_t left = v->shape[d] - box->start[d];
        int64_t have = left > 0 ? (left - 1) / box->stride[d] + 1 : 0;

        if (have < box->count[d])
            inside->count[d] = have;
        inside->n *= inside->count[d];
    }
    return inside->n;
}

/* Row by row from where they are together to where they belong. */
static void spread_rows(const struct nc_variable *v, const struct nc_box *box,
                        const struct nc_box *inside, size_t size, const char *from, char *to)
{
    int64_t at[DREP_MAX_RANK] = {0}, row = inside->count[v->rank - 1], done;
    int d;

    for (done = 0; done < inside->n; done += row) {
        int64_t place = 0;

        for (d = 0; d < v->rank; d++)
            place = place * box->count[d] + at[d];
        memcpy(to + (size_t)place * size, from, (size_t)row * size);
        from += (size_t)row * size;
        for (d = v->rank - 2; d >= 0 && ++at[d] == inside->count[d]; d--)
            at[d] = 0;
    }
}

/* Elements with variable parts are not filled where they are read. */
static int read_padded(struct door *door, struct nc_variable *v, const struct nc_box *box,
                       char *out, nc_type memory)
{
    size_t size = type_bytes(door, memory);
    struct nc_box inside;
    char *rows;
    int d, err, range;

    if (box_inside(v, box, &inside) == box->n)
        return read_stored(door, v, box, out, memory);
    for (d = 1; d < v->rank && inside.count[d] == box->count[d]; d++) {
    }
    if (d == v->rank || inside.n == 0) {
        int64_t have = inside.n;

        err = have ? read_stored(door, v, &inside, out, memory) : 0;
        if (err && err != NC_ERANGE)
            return err;
        range = err;
        err = fill_elements(door, v, out + (size_t)have * size, box->n - have, memory);
        return err ? err : range;
    }
    if (drep_type_variable(type_memory(door, memory)))
        return door_refuse(NC_EVARSIZE,
                           "%s: elements of variable length beyond the second dimension", v->name);
    err = fill_elements(door, v, out, box->n, memory);
    rows = err ? NULL : malloc((size_t)inside.n * size);
    if (!rows)
        return err ? err : NC_ENOMEM;
    err = read_stored(door, v, &inside, rows, memory);
    if (!err || err == NC_ERANGE)
        spread_rows(v, box, &inside, size, rows, out);
    free(rows);
    return err;
}

static int begin_read(int ncid, int varid, struct door **door, struct nc_variable **v)
{
    int err = door_find_variable(ncid, varid, door, v);

    if (err)
        return err;
    if ((*door)->classic && (*door)->defining)
        return NC_EINDEFINE;
    return (*v)->dataset ? 0 : variable_settle(*door);
}

int slot_get_vars(int ncid, int varid, const size_t *start, const size_t *count,
                  const ptrdiff_t *stride, void *out, nc_type memory)
{
    struct door *door;
    struct nc_variable *v;
    struct nc_box box;
    int err = begin_read(ncid, varid, &door, &v);

    if (!err)
        err = box_memory_type(door, v, &memory);
    if (!err)
        err = box_get(door, v, start, count, stride, 0, &box);
    return err || box.n == 0 ? err : read_padded(door, v, &box, out, memory);
}

int slot_get_vara(int ncid, int varid, const size_t *start, const size_t *count, void *out,
                  nc_type memory)
{
    return slot_get_vars(ncid, varid, start, count, NULL, out, memory);
}

/* ------------------------------------------------------------- mapped in memory */

void box_map(const struct nc_variable *v, const struct nc_box *box, const ptrdiff_t *map,
             size_t size, char *mapped, char *packed, int to_mapped)
{
    int64_t at[DREP_MAX_RANK] = {0}, i;
    int d;

    for (i = 0; i < box->n; i++) {
        ptrdiff_t place = 0;

        for (d = 0; d < v->rank; d++)
            place += (ptrdiff_t)at[d] * map[d];
        place *= (ptrdiff_t)size;
        if (to_mapped)
            memcpy(mapped + place, packed + (size_t)i * size, size);
        else
            memcpy(packed + (size_t)i * size, mapped + place, size);
        for (d = v->rank - 1; d >= 0 && ++at[d] == box->count[d]; d--)
            at[d] = 0;
    }
}

int slot_get_varm(int ncid, int varid, const size_t *start, const size_t *count,
                  const ptrdiff_t *stride, const ptrdiff_t *map, void *out, nc_type memory)
{
    struct door *door;
    struct nc_variable *v;
    struct nc_box box;
    char *packed;
    int err = begin_read(ncid, varid, &door, &v);

    if (err)
        return err;
    if (!map || v->rank == 0)
        return slot_get_vars(ncid, varid, start, count, stride, out, memory);
    if (type_user(door, v->type))
        return NC_EMAPTYPE;
    err = box_memory_type(door, v, &memory);
    if (!err)
        err = box_get(door, v, start, count, stride, 0, &box);
    if (err || box.n == 0)
        return err;
    packed = malloc((size_t)box.n * type_bytes(door, memory));
    if (!packed)
        return NC_ENOMEM;
    err = read_padded(door, v, &box, packed, memory);
    if (!err || err == NC_ERANGE)
        box_map(v, &box, map, type_bytes(door, memory), out, packed, 1);
    free(packed);
    return err;
}
