/* write.c - elements into a file. */
/* SPDX-License-Identifier: MIT */
#include "netcdf/transfer.h"
#include <stdlib.h>
#include <string.h>

static int begin_write(int ncid, int varid, struct door **door, struct nc_variable **v)
{
    int err = door_find_variable(ncid, varid, door, v);

    if (err)
        return err;
    if (!(*door)->writes)
        return NC_EPERM;
    if ((*door)->classic && (*door)->defining)
        return NC_EINDEFINE;
    return (*v)->dataset ? 0 : variable_settle(*door);
}

/* The dataset reaches to the end of the box, and each unlimited dimension to that of its datasets.
 */
static int grow_dataset(struct door *door, struct nc_variable *v, const struct nc_box *box)
{
    int64_t shape[DREP_MAX_RANK];
    int d, grows = 0, err;

    for (d = 0; d < v->rank; d++) {
        int64_t end = box->start[d] + (box->count[d] - 1) * box->stride[d] + 1;

        shape[d] = v->shape[d] < end ? end : v->shape[d];
        grows |= shape[d] > v->shape[d];
    }
    if (!grows)
        return 0;
    err = drep_dataset_resize(v->dataset, shape);
    if (err)
        return door_error(err);
    for (d = 0; d < v->rank; d++)
        door_set_length(door, v, d, shape[d]);
    return 0;
}

/* True if the box is the next elements along the first dimension. */
static int box_appends(const struct nc_variable *v, const struct nc_box *box)
{
    int d;

    if (v->rank == 0 || box->start[0] != v->shape[0] || (box->stride[0] != 1 && box->count[0] > 1))
        return 0;
    for (d = 1; d < v->rank; d++)
        if (box->start[d] != 0 || box->count[d] != v->shape[d] ||
            (box->stride[d] != 1 && box->count[d] > 1))
            return 0;
    return 1;
}

static int append_rows(struct door *door, struct nc_variable *v, const struct nc_box *box,
                       const drep_type *type, const void *in, const drep_xfer *xfer)
{
    int err = drep_append(v->dataset, 0, box->count[0], type, in, xfer);

    if (!err)
        door_set_length(door, v, 0, v->shape[0] + box->count[0]);
    return err;
}

static int write_box(struct door *door, struct nc_variable *v, const struct nc_box *box,
                     const void *in, nc_type memory)
{
    const drep_type *type = memory == NC_CHAR ? NULL : type_memory(door, memory);
    drep_report report = DREP_REPORT;
    drep_xfer xfer = DREP_XFER(.range = DREP_RANGE_WRAP);
    drep_selection *selection = NULL;
    int err;

    if (memory != v->type)
        xfer.report = &report;
    if (type && box_appends(v, box)) {
        err = append_rows(door, v, box, type, in, &xfer);
    } else {
        err = grow_dataset(door, v, box);
        if (err)
            return err;
        if (v->rank)
            err = drep_select_box(v->rank, box->start, box->count, box->stride, NULL, &selection);
        if (!err)
            err = drep_write(v->dataset, selection, type, in, &xfer);
        drep_selection_free(selection);
    }
    if (err)
        return door_error(err);
    v->written = 1;
    return report.overflow ? NC_ERANGE : 0;
}

/* Get the fill value, which quantizing does not change: the variable's, or netCDF's default. */
static int read_fill(struct door *door, struct nc_variable *v, void *fill)
{
    if (!v->no_fill)
        return variable_read_fill(door, v, v->type, fill);
    memcpy(fill, type_default_fill(door, v->type), type_bytes(door, v->type));
    return 0;
}

/* Elements of the variable's type in memory of their own, quantized. */
static int write_quantized(struct door *door, struct nc_variable *v, const struct nc_box *box,
                           const void *in, nc_type memory)
{
    size_t size = type_bytes(door, v->type);
    drep_report report = DREP_REPORT;
    void *values = malloc((size_t)box->n * size);
    double fill; /* or a float */
    int err = values ? read_fill(door, v, &fill) : NC_ENOMEM;

    if (!err)
        err = door_error(drep_convert(type_memory(door, v->type), values, type_memory(door, memory),
                                      in, box->n,
                                      &DREP_XFER(.range = DREP_RANGE_WRAP, .report = &report)));
    if (!err) {
        quantize_values(v, &fill, values, (size_t)box->n);
        err = write_box(door, v, box, values, v->type);
    }
    free(values);
    return err ? err : report.overflow ? NC_ERANGE : 0;
}

/* Whichever way it goes. */
static int write_elements(int ncid, struct door *door, struct nc_variable *v,
                          const struct nc_box *box, const void *in, nc_type memory)
{
    struct nc_group *group;
    int err = door_find(ncid, &door, &group);

    if (err)
        return err;
    return quantize_mode(door, group, v) ? write_quantized(door, v, box, in, memory)
                                         : write_box(door, v, box, in, memory);
}

int slot_put_vars(int ncid, int varid, const size_t *start, const size_t *count,
                  const ptrdiff_t *stride, const void *in, nc_type memory)
{
    struct door *door;
    struct nc_variable *v;
    struct nc_box box;
    int err = begin_write(ncid, varid, &door, &v);

    if (!err)
        err = box_memory_type(door, v, &memory);
    if (!err)
        err = box_get(door, v, start, count, stride, 1, &box);
    return err || box.n == 0 ? err : write_elements(ncid, door, v, &box, in, memory);
}

int slot_put_vara(int ncid, int varid, const size_t *start, const size_t *count, const void *in,
                  nc_type memory)
{
    return slot_put_vars(ncid, varid, start, count, NULL, in, memory);
}

int slot_put_varm(int ncid, int varid, const size_t *start, const size_t *count,
                  const ptrdiff_t *stride, const ptrdiff_t *map, const void *in, nc_type memory)
{
    struct door *door;
    struct nc_variable *v;
    struct nc_box box;
    char *packed;
    int err = begin_write(ncid, varid, &door, &v);

    if (err)
        return err;
    if (!map || v->rank == 0)
        return slot_put_vars(ncid, varid, start, count, stride, in, memory);
    if (type_user(door, v->type))
        return NC_EMAPTYPE;
    err = box_memory_type(door, v, &memory);
    if (!err)
        err = box_get(door, v, start, count, stride, 1, &box);
    if (err || box.n == 0)
        return err;
    packed = malloc((size_t)box.n * type_bytes(door, memory));
    if (!packed)
        return NC_ENOMEM;
    box_map(v, &box, map, type_bytes(door, memory), (char *)in, packed, 0);
    err = write_elements(ncid, door, v, &box, packed, memory);
    free(packed);
    return err;
}
