/* transfer.h - requests for elements, as read.c and write.c have them. */
/* SPDX-License-Identifier: MIT */
#ifndef NETCDF_TRANSFER_H
#define NETCDF_TRANSFER_H

#include "netcdf/door.h"

/* Checks and translates a request; *n = its elements. */
struct nc_box {
    int64_t start[DREP_MAX_RANK], count[DREP_MAX_RANK], stride[DREP_MAX_RANK], n;
};
int box_get(struct door *door, struct nc_variable *v, const size_t *start, const size_t *count,
            const ptrdiff_t *stride, int grows, struct nc_box *out);
int box_memory_type(struct door *door, const struct nc_variable *v, nc_type *memory);
/* Elements between the places in memory that nc_get_varm() means and packed ones. */
void box_map(const struct nc_variable *v, const struct nc_box *box, const ptrdiff_t *map,
             size_t size, char *mapped, char *packed, int to_mapped);

#endif
