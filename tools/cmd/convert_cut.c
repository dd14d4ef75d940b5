/* convert_cut.c - a dataset or a part of one, with the coordinates of its dimensions.
 *
 * Each is a copy of its own; drep_copy() finds the dimensions that the copies share by their names
 * and new lengths.  A dimension of which one index is chosen has length 1: without it its
 * coordinate would be lost.  What is taken whole is copied without a selection, so that stored
 * chunks go over as they are. */
/* SPDX-License-Identifier: MIT */
#include "tools/cmd/convert_cut.h"
#include "tools/cmd/attributes.h"
#include "tools/host/fail.h"
#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* A path without a slice: all of the dataset.  Another object, or one that cannot be opened, is not
 * cut: drep_copy() takes it, or says what is wrong. */
static int find_whole(struct dataset_cut *cut, const char *file_name, drep_file *file)
{
    drep_objinfo info = DREP_OBJINFO;
    drep_dataset *ds;
    int err = drep_stat(file, cut->operand.path, &info);

    if (err == DREP_ERR_NOT_FOUND)
        return operand_missing(file_name, file, cut->operand.path, err);
    if (err || info.kind != DREP_OBJ_DATASET || drep_dataset_open(file, cut->operand.path, &ds))
        return 0;
    cut->info = DREP_DSINFO;
    cut->found = drep_dataset_info(ds, &cut->info) == 0;
    drep_dataset_close(ds);
    if (cut->found)
        slice_all(&cut->slice, cut->info.rank, cut->info.dims);
    return 0;
}

int cut_find(struct dataset_cut *cut, const char *file_name, drep_file *file, const char *root)
{
    drep_dataset *ds;
    int status;

    if (!root)
        return 0;
    if (operand_init(&cut->operand, file, root))
        return tool_no_memory();
    if (!cut->operand.slice)
        return find_whole(cut, file_name, file);
    status = operand_open(&cut->operand, file_name, file, &ds, &cut->info, &cut->slice);
    if (status)
        return status;
    cut->found = true;
    drep_dataset_close(ds);
    return 0;
}

void cut_release(struct dataset_cut *cut)
{
    operand_release(&cut->operand);
}

uint64_t cut_bytes(const struct dataset_cut *cut)
{
    return (uint64_t)slice_count(&cut->slice) * (uint64_t)drep_type_size(cut->info.type);
}

/* True if the slice takes all of a dataset that has some of the dimensions, from d on. */
static bool takes_all(const struct slice *s, int d, const drep_dsinfo *info)
{
    for (int k = 0; k < info->rank; k++)
        if (s->start[d + k] != 0 || s->step[d + k] != 1 || s->count[d + k] != info->dims[k])
            return false;
    return true;
}

/* Copy the slice of a dataset that has some of the dimensions, from d on, to the root of the
 * target. */
static int copy_selected(const struct dataset_cut *cut, int d, const drep_dsinfo *info,
                         drep_file *from, const char *path, drep_file *to, const drep_copying *how)
{
    const struct slice *s = &cut->slice;
    drep_copying part = *how;
    drep_selection *sel = NULL;
    int err = takes_all(s, d, info) ? 0
                                    : drep_select_box(info->rank, s->start + d, s->count + d,
                                                      s->step + d, NULL, &sel);

    if (err)
        return err;
    part.selection = sel;
    err = drep_copy(from, path, to, strrchr(path, '/'), &part);
    drep_selection_free(sel);
    return err;
}

/* The last index of the slice in a dimension. */
static int64_t last_index(const struct slice *s, int d)
{
    return s->count[d] > 0 ? s->start[d] + (s->count[d] - 1) * s->step[d] : -1;
}

static int copy_coordinate(const struct dataset_cut *cut, int d, drep_file *from, const char *path,
                           drep_file *to, const drep_copying *how)
{
    drep_dsinfo info = DREP_DSINFO;
    char why[120];
    drep_dataset *ds;
    int err = drep_dataset_open(from, path, &ds);

    if (err)
        return err;
    err = drep_dataset_info(ds, &info);
    drep_dataset_close(ds);
    if (err || info.id == cut->info.id)
        return err;
    if (last_index(&cut->slice, d) < info.dims[0])
        return copy_selected(cut, d, &info, from, path, to, how);
    snprintf(why, sizeof why, "%" PRId64 " coordinates, and the slice goes up to index %" PRId64,
             info.dims[0], last_index(&cut->slice, d));
    return how->unknown(info.id, why, how->ctx);
}

/* True if the dataset has this dimension before d, too. */
static bool is_repeated(const struct dataset_cut *cut, int d)
{
    for (int k = 0; k < d; k++)
        if (cut->info.dim_ids[k] == cut->info.dim_ids[d])
            return true;
    return false;
}

/* The coordinates of a dimension of the dataset, if it has any. */
static int copy_coordinates(const struct dataset_cut *cut, int d, drep_file *from, drep_file *to,
                            const drep_copying *how)
{
    char *address = NULL, *path = NULL;
    int err;

    if (!cut->info.dim_ids[d] || is_repeated(cut, d))
        return 0;
    err = drep_object_path(from, cut->info.dim_ids[d], &address);
    if (!err)
        err = drep_dimension_coordinate(from, address, &path);
    if (!err)
        err = copy_coordinate(cut, d, from, path, to, how);
    else if (err == DREP_ERR_NOT_FOUND)
        err = 0;
    free(address);
    free(path);
    return err;
}

int cut_copy(const struct dataset_cut *cut, drep_file *from, drep_file *to, const drep_copying *how)
{
    int err = attributes_copy(from, to, how);

    for (int d = 0; !err && d < cut->slice.rank; d++)
        err = copy_coordinates(cut, d, from, to, how);
    return err ? err : copy_selected(cut, 0, &cut->info, from, cut->operand.path, to, how);
}
