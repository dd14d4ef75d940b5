/* map.c - how elements lie in both memories.
 *
 * A map owns the datatypes of both sides; parts are owned by the map that they are in. */
/* SPDX-License-Identifier: MIT */
#include "tools/h5/map.h"
#include <datarep.h>
#include <stdlib.h>
#include <string.h>

void map_release(struct map *m)
{
    size_t i;

    for (i = 0; i < m->nparts; i++)
        map_release(&m->parts[i]);
    free(m->parts);
    free(m->hoffset);
    free(m->doffset);
    if (m->mem > 0)
        H5Tclose(m->mem);
    drep_type_free(m->held);
    drep_type_free(m->type);
    memset(m, 0, sizeof *m);
}

int has_references(const struct map *m)
{
    size_t i;

    if (m->kind == MAP_OBJECT || m->kind == MAP_REGION)
        return 1;
    for (i = 0; i < m->nparts; i++)
        if (has_references(&m->parts[i]))
            return 1;
    return 0;
}

/* HDF5 has one function for pairs of datatypes with nothing to do. */
int map_is_copy(hid_t file, const struct map *m)
{
    H5T_cdata_t *data;
    H5T_conv_t none = H5Tfind(H5T_NATIVE_INT, H5T_NATIVE_INT, &data);

    return m->kind == MAP_FLAT && !m->variable && H5Tfind(file, m->mem, &data) == none;
}
