/* reference.c - references of HDF5 and ours.
 *
 * A target may come later in the walk than a reference to it; therefore all objects are made before
 * any value is moved. */
/* SPDX-License-Identifier: MIT */
#include "tools/h5/reference.h"
#include "tools/h5/interface.h"
#include "tools/h5/job.h"
#include "tools/h5/object.h"
#include "tools/h5/region.h"
#include "tools/h5/values.h"
#include <datarep.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

/* The object and the selection that a region reference means. */
static int region_in(struct value_move *mv, void *h, uint64_t *address, char **text)
{
    struct job *j = mv->j;
    hid_t object = H5Rdereference2(j->h, H5P_DEFAULT, H5R_DATASET_REGION, h);
    hid_t space = object > 0 ? H5Rget_region(j->h, H5R_DATASET_REGION, h) : -1;
    int err = space > 0 ? region_print(mv, space, text) : job_fail_hdf5(j, "region reference");

    *address = object > 0 ? h5_address(object) : 0;
    if (space > 0)
        H5Sclose(space);
    if (object > 0)
        H5Oclose(object);
    return err;
}

/* A reference to nothing stays one; to something that was not carried becomes one. */
int ref_in(struct value_move *mv, int region, void *h, drep_ref *d)
{
    struct job *j = mv->j;
    hdset_reg_ref_t none = {0};
    uint64_t address = 0;
    hobj_ref_t own = 0;
    struct h5_object *o;
    int err = 0;

    if (region && memcmp(h, &none, sizeof none) == 0)
        return 0;
    if (region) {
        err = region_in(mv, h, &address, &d->region);
    } else {
        memcpy(&own, h, sizeof own);
        address = (uint64_t)own;
    }
    o = address ? job_find(j, address) : NULL;
    if (!err && address && (!o || !o->made))
        err = job_fail(j, DREP_ERR_UNSUPPORTED, "its target is not kept");
    if (err) {
        memset(d, 0, sizeof *d);
        job_say(j, HDF5_LOST, "reference", mv->path, "a reference becomes null: %s", j->why);
        return err == DREP_ERR_NOMEM ? err : 0;
    }
    d->object = o ? o->made : 0;
    return 0;
}

int ref_out(struct value_move *mv, int region, void *h, drep_ref *d)
{
    struct job *j = mv->j;
    struct h5_object *o = d->object ? job_find(j, d->object) : NULL;
    hobj_ref_t address;
    hid_t dset, space;
    int err = 0;

    if (!d->object)
        return 0;
    /* A dimension with coordinates is its dataset in HDF5. */
    if (o && o->kind == DREP_OBJ_DIMENSION && o->scale == 1)
        o = job_find(j, o->digest);
    if (!o || !o->made)
        err = job_fail(j, DREP_ERR_UNSUPPORTED, "its target is not kept");
    if (!err && !region) {
        address = (hobj_ref_t)o->made;
        memcpy(h, &address, sizeof address);
        return 0;
    }
    if (!err) {
        dset = H5Oopen_by_addr(j->h, (haddr_t)o->made);
        space = dset > 0 ? H5Dget_space(dset) : -1;
        err = space > 0 ? region_select(j, d->region, space) : job_fail_hdf5(j, "region");
        if (!err && H5Rcreate(h, j->h, o->path, H5R_DATASET_REGION, space) < 0)
            err = job_fail_hdf5(j, "region");
        if (space > 0)
            H5Sclose(space);
        if (dset > 0)
            H5Oclose(dset);
    }
    if (err)
        job_say(j, HDF5_LOST, "reference", mv->path, "a reference becomes null: %s", j->why);
    return 0;
}
