/* scale_out.c - dimension objects become the dimension scales of HDF5 and netCDF-4.
 *
 * A scale is a dataset with the attributes CLASS and NAME, and REFERENCE_LIST with its uses; a
 * dataset says in DIMENSION_LIST which scales its dimensions have.  These are written last, as
 * they refer to objects that must exist. */
/* SPDX-License-Identifier: MIT */
#include "tools/h5/scale_out.h"
#include "base/vec.h"
#include "tools/h5/attribute_out.h"
#include "tools/h5/job.h"
#include "tools/h5/object.h"
#include "tools/h5/scale.h"
#include "tools/h5/verify.h"
#include <datarep.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct users {
    struct scale_use {
        uint64_t scale; /* address of the scale */
        size_t order;
        struct scale_user user;
    } * use;
    size_t n, room;
};

/* The object in HDF5 that is a dimension's scale, NULL if there is none. */
static struct h5_object *scale_of(struct job *j, uint64_t id)
{
    struct h5_object *o = id ? job_find(j, id) : NULL;

    if (o && o->kind == DREP_OBJ_DIMENSION && o->scale == 1)
        o = job_find(j, o->digest);
    return o && o->made ? o : NULL;
}

static int add_use(struct job *j, struct users *u, uint64_t scale, uint64_t dataset, int dim)
{
    if (VEC_ROOM(u->use, u->n, u->room, 1))
        return job_no_memory(j);
    u->use[u->n] = (struct scale_use){scale, u->n, {(hobj_ref_t)dataset, dim}};
    u->n++;
    return 0;
}

/* True if an attribute of HDF5's own came with the container's, and is not to be made. */
static int is_carried(struct job *j, const struct h5_object *o, hid_t object, const char *name)
{
    drep_attrinfo *info;
    char *path;
    int there;

    if (!j->back)
        return H5Aexists(object, name) > 0;
    path = job_source(j, o);
    info = calloc(1, sizeof *info);
    if (info)
        *info = DREP_ATTRINFO;
    there = path && info && drep_attr_info(j->d, path, name, info) == 0;
    if (there)
        drep_attrinfo_release(info);
    free(info);
    free(path);
    return there && !attribute_is_lost(j, o->key, name);
}

/* An attribute of HDF5's own; space: of one dimension, or a scalar. */
static int write_hdf5_attribute(struct job *j, const struct h5_object *o, hid_t object,
                                const char *name, hid_t type, hid_t space, const void *value)
{
    struct verified at = {.path = o->path, .what = "attribute ", .name = name};
    hid_t attr;
    int err;

    if (j->back)
        return verify_made(j, object, &at, type, value,
                           (size_t)H5Sget_simple_extent_npoints(space));
    attr = H5Acreate2(object, name, type, space, H5P_DEFAULT, H5P_DEFAULT);
    err = attr < 0 || H5Awrite(attr, type, value) < 0 ? job_fail_hdf5(j, name) : 0;
    if (attr > 0)
        H5Aclose(attr);
    return err;
}

/* DIMENSION_LIST of one dataset. */
static int list_scales(struct job *j, struct h5_object *o, struct users *u)
{
    hobj_ref_t refs[DREP_MAX_RANK];
    hvl_t lists[DREP_MAX_RANK];
    drep_dataset *ds = NULL;
    drep_dsinfo info = DREP_DSINFO;
    hid_t dset, type, space;
    hsize_t rank;
    char *path = job_source(j, o);
    int d, any = 0, err = path ? drep_dataset_open(j->d, path, &ds) : DREP_ERR_NOMEM;

    if (!err)
        err = drep_dataset_info(ds, &info);
    drep_dataset_close(ds);
    free(path);
    if (err)
        return path ? job_fail_drep(j, err) : job_no_memory(j);
    for (d = 0; !err && d < info.rank; d++) {
        struct h5_object *scale = scale_of(j, info.dim_ids[d]);

        lists[d] = (hvl_t){0, NULL};
        if (!scale || scale == o)
            continue;
        refs[d] = (hobj_ref_t)scale->made;
        lists[d] = (hvl_t){1, &refs[d]};
        any = 1;
    }
    dset = H5Oopen_by_addr(j->h, (haddr_t)o->made);
    /* A scale has none itself, and one that was carried as an attribute stays. */
    if (any && !o->scale && !is_carried(j, o, dset, SCALE_LIST)) {
        rank = (hsize_t)info.rank;
        type = H5Tvlen_create(H5T_STD_REF_OBJ);
        space = H5Screate_simple(1, &rank, NULL);
        err = write_hdf5_attribute(j, o, dset, SCALE_LIST, type, space, lists);
        for (d = 0; !err && d < info.rank; d++)
            if (lists[d].len)
                err = add_use(j, u, (uint64_t)refs[d], o->made, d);
        H5Sclose(space);
        H5Tclose(type);
    }
    H5Oclose(dset);
    return err;
}

static int by_scale(const void *a, const void *b)
{
    const struct scale_use *x = a, *y = b;

    if (x->scale != y->scale)
        return x->scale < y->scale ? -1 : 1;
    return x->order < y->order ? -1 : x->order > y->order;
}

static int mark_text(struct job *j, const struct h5_object *o, hid_t object, const char *name,
                     const char *text, size_t size)
{
    char value[1100] = "";
    hid_t type, space;
    int err;

    if (is_carried(j, o, object, name))
        return 0;
    snprintf(value, sizeof value, "%s", text);
    type = H5Tcopy(H5T_C_S1);
    H5Tset_size(type, size);
    space = H5Screate(H5S_SCALAR);
    err = write_hdf5_attribute(j, o, object, name, type, space, value);
    H5Sclose(space);
    H5Tclose(type);
    return err;
}

/* REFERENCE_LIST of one scale, in the order in which its users were met. */
static int mark_users(struct job *j, const struct h5_object *o, hid_t object,
                      const struct scale_use *use, size_t n)
{
    struct scale_user *list = n ? calloc(n, sizeof *list) : NULL;
    hid_t type, space;
    hsize_t count = n;
    size_t i;
    int err;

    if (n == 0 || is_carried(j, o, object, SCALE_USERS)) {
        free(list);
        return 0;
    }
    if (!list)
        return job_no_memory(j);
    for (i = 0; i < n; i++)
        list[i] = use[i].user;
    type = scale_user_type(j->usual.unsigned_uses);
    space = H5Screate_simple(1, &count, NULL);
    err = write_hdf5_attribute(j, o, object, SCALE_USERS, type, space, list);
    H5Sclose(space);
    H5Tclose(type);
    free(list);
    return err;
}

/* True if import found that HDF5's scale has no name. */
static int is_nameless(struct job *j, const struct h5_object *o)
{
    char *path = job_source(j, o);
    drep_attrinfo *info = calloc(1, sizeof *info);
    int nameless = 0;

    if (info)
        *info = DREP_ATTRINFO;
    if (path && info && drep_attr_info(j->d, path, SCALE_NAME, info) == 0) {
        nameless = info->rank == DREP_NULL_SPACE;
        drep_attrinfo_release(info);
    }
    free(info);
    free(path);
    return nameless;
}

/* Index of the first use in the list sorted by scale. */
static size_t first_use(const struct users *u, uint64_t scale)
{
    size_t low = 0, high = u->n;

    while (low < high) {
        size_t mid = low + (high - low) / 2;

        if (u->use[mid].scale < scale)
            low = mid + 1;
        else
            high = mid;
    }
    return low;
}

static int mark_scale(struct job *j, const struct h5_object *dim, const struct users *u)
{
    struct h5_object *o = scale_of(j, dim->key);
    char text[1100];
    size_t first, n = 0, size = SCALE_NO_VARIABLE_SIZE;
    hid_t object;
    int err;

    if (!o)
        return 0;
    snprintf(text, sizeof text, "%s%10lld", SCALE_NO_VARIABLE, (long long)dim->length);
    if (dim->scale == 1) {
        snprintf(text, sizeof text, "%s", strrchr(o->path, '/') + 1);
        size = strlen(text) + 1;
    }
    first = first_use(u, o->made);
    while (first + n < u->n && u->use[first + n].scale == o->made)
        n++;
    object = H5Oopen_by_addr(j->h, (haddr_t)o->made);
    err = mark_text(j, o, object, SCALE_CLASS, SCALE_VALUE, sizeof SCALE_VALUE);
    if (!err && !is_nameless(j, o))
        err = mark_text(j, o, object, SCALE_NAME, text, size);
    if (!err)
        err = mark_users(j, o, object, u->n ? &u->use[first] : NULL, n);
    H5Oclose(object);
    return err;
}

/* Datasets that are the variable of a dimension, before any list is written. */
static void note_variables(struct job *j)
{
    size_t i;

    for (i = 0; i < j->objects.n; i++) {
        struct h5_object *o = &j->objects.list[i];

        if (o->kind == DREP_OBJ_DIMENSION && o->scale == 1 && job_find(j, o->digest))
            job_find(j, o->digest)->scale = 1;
    }
}

/* Like job_skip(), but a difference found on reading back is never skipped. */
static int skip_back(struct job *j, int err, const char *what, const char *path, const char *text)
{
    return j->back ? err : job_skip(j, err, what, path, text);
}

int export_dimensions(struct job *j)
{
    struct users u = {0};
    size_t i;
    int err = 0;

    note_variables(j);
    for (i = 0; !err && i < j->objects.n; i++)
        if (j->objects.list[i].kind == DREP_OBJ_DATASET && j->objects.list[i].made)
            err = list_scales(j, &j->objects.list[i], &u);
    if (u.n)
        qsort(u.use, u.n, sizeof *u.use, by_scale);
    for (i = 0; !err && i < j->objects.n; i++)
        if (j->objects.list[i].kind == DREP_OBJ_DIMENSION)
            err = skip_back(j, mark_scale(j, &j->objects.list[i], &u), "dimension",
                            j->objects.list[i].path, "not a dimension scale");
    free(u.use);
    return err;
}
