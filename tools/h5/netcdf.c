/* netcdf.c - what libnetcdf sees of an HDF5 file that export makes for it. */
/* SPDX-License-Identifier: MIT */
#include "tools/h5/netcdf.h"
#include "base/mem.h"
#include "base/vec.h"
#include "tools/h5/interface.h"
#include "tools/h5/job.h"
#include "tools/h5/object.h"
#include "tools/h5/type_in.h"
#include "tools/text/real.h"
#include <datarep.h>
#include <stdio.h>
#include <string.h>

#define DEPTH_MAX 64

int netcdf_format(int format)
{
    return real_covers(drep_format_describe(format), 24, -126, 127) ? DREP_FORMAT_BINARY32
                                                                    : DREP_FORMAT_BINARY64;
}

/* ------------------------------------------------------------ user-defined types */

/* The datatypes in a compound or a sequence. */
static int part_count(hid_t type)
{
    H5T_class_t cls = H5Tget_class(type);

    return cls == H5T_COMPOUND ? H5Tget_nmembers(type) : cls == H5T_VLEN ? 1 : 0;
}

/* Part i: of a member that is an array, the type of its elements. */
static hid_t part_type(hid_t type, int i)
{
    int compound = H5Tget_class(type) == H5T_COMPOUND;
    hid_t part = compound ? H5Tget_member_type(type, (unsigned)i) : H5Tget_super(type), super;

    if (!compound || H5Tget_class(part) != H5T_ARRAY)
        return part;
    super = H5Tget_super(part);
    H5Tclose(part);
    return super;
}

/* True for members as netCDF has them: numbers, texts, and what has a name. */
static int is_member(hid_t part)
{
    H5T_class_t cls = H5Tget_class(part);

    return cls == H5T_STRING || (cls == H5T_INTEGER || cls == H5T_FLOAT ? H5Tget_size(part) <= 8
                                                                        : netcdf_can_name(part));
}

int netcdf_can_name(hid_t type)
{
    H5T_class_t cls = H5Tget_class(type);
    int i, n = part_count(type), can = n > 0 || cls == H5T_ENUM || cls == H5T_OPAQUE;

    for (i = 0; can && i < n; i++) {
        hid_t part = part_type(type, i);

        can = is_member(part);
        if (part > 0)
            H5Tclose(part);
    }
    return can;
}

/* A name that no member of the root group has. */
static int unused_name(struct job *j, hid_t type, char *name, size_t size)
{
    H5T_class_t cls = H5Tget_class(type);
    const char *front = cls == H5T_ENUM       ? "enum"
                        : cls == H5T_COMPOUND ? "compound"
                        : cls == H5T_VLEN     ? "vlen"
                                              : "opaque";
    drep_objinfo info = DREP_OBJINFO;
    char path[64];
    int i, named = cls == H5T_COMPOUND && type_is_complex(type);

    if (named)
        front = H5Tget_size(type) == 8 ? "complex64" : "complex128";
    for (i = !named; i < 1 << 20; i++) {
        snprintf(name, size, i ? "%s_%d" : "%s", front, i);
        snprintf(path, sizeof path, "/%s", name);
        if (H5Lexists(j->h, name, H5P_DEFAULT) == 0 && drep_stat(j->d, path, &info) != 0)
            return 0;
    }
    return job_fail(j, DREP_ERR_LIMIT, "no name for a datatype of netCDF");
}

/* The mark by which import knows the datatype. */
static int mark(struct job *j, hid_t type)
{
    hid_t space = H5Screate(H5S_SCALAR);
    hid_t attr = H5Acreate2(type, NETCDF_MADE, H5T_STD_I8LE, space, H5P_DEFAULT, H5P_DEFAULT);
    int8_t one = 1;
    int err =
        attr < 0 || H5Awrite(attr, H5T_NATIVE_INT8, &one) < 0 ? job_fail_hdf5(j, NETCDF_MADE) : 0;

    if (attr > 0)
        H5Aclose(attr);
    H5Sclose(space);
    return err;
}

/* libnetcdf compares datatypes as they are in memory. */
static int is_named(const struct committed *all, hid_t type)
{
    hid_t native = H5Tget_native_type(type, H5T_DIR_ASCEND);
    size_t i;
    int is = 0;

    for (i = 0; native > 0 && !is && i < all->n; i++) {
        hid_t other = H5Tget_native_type(all->type[i], H5T_DIR_ASCEND);

        is = other > 0 && H5Tequal(native, other) > 0;
        if (other > 0)
            H5Tclose(other);
    }
    if (native > 0)
        H5Tclose(native);
    return is;
}

static int commit_one(struct job *j, hid_t type)
{
    struct committed *all = &j->committed;
    char name[32];
    hid_t own;
    int err;

    if (is_named(all, type))
        return 0;
    if (VEC_ROOM(all->type, all->n, all->room, 1))
        return job_no_memory(j);
    err = unused_name(j, type, name, sizeof name);
    own = err ? -1 : H5Tcopy(type);
    if (!err && (own < 0 || H5Tcommit2(j->h, name, own, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT) < 0))
        err = job_fail_hdf5(j, "datatype");
    if (!err)
        err = mark(j, own);
    if (!err)
        all->type[all->n++] = own;
    else if (own > 0)
        H5Tclose(own);
    return err;
}

static int commit(struct job *j, hid_t type, int depth);

static int commit_parts(struct job *j, hid_t type, int depth)
{
    int i, n = part_count(type);
    int err = depth > DEPTH_MAX ? job_fail(j, DREP_ERR_LIMIT, "a datatype too deep") : 0;

    for (i = 0; !err && i < n; i++) {
        hid_t part = part_type(type, i);

        err = part > 0 ? commit(j, part, depth + 1) : job_fail_hdf5(j, "datatype");
        if (part > 0)
            H5Tclose(part);
    }
    return err;
}

static int commit(struct job *j, hid_t type, int depth)
{
    H5T_class_t cls = H5Tget_class(type);
    int err = commit_parts(j, type, depth);

    return err || !(cls == H5T_COMPOUND || cls == H5T_VLEN || cls == H5T_ENUM || cls == H5T_OPAQUE)
               ? err
               : commit_one(j, type);
}

int netcdf_named(struct job *j, hid_t type)
{
    struct committed *all = &j->committed;
    int err = j->netcdf ? commit_parts(j, type, 0) : 0;

    if (err || !j->netcdf)
        return err;
    if (VEC_ROOM(all->type, all->n, all->room, 1))
        return job_no_memory(j);
    all->type[all->n] = H5Tcopy(type);
    return all->type[all->n] > 0 ? (all->n++, 0) : job_fail_hdf5(j, "datatype");
}

int netcdf_commit(struct job *j, hid_t type)
{
    return !j->netcdf || j->back || !netcdf_can_name(type) ? 0 : commit(j, type, 0);
}

void netcdf_release(struct job *j)
{
    size_t i;

    for (i = 0; i < j->committed.n; i++)
        H5Tclose(j->committed.type[i]);
    mem_free(j->committed.type);
    j->committed = (struct committed){0};
}

/* ------------------------------------------------------------- shapes and fill */

void netcdf_lengths(struct job *j, drep_dsinfo *info, int *longer)
{
    int d;

    *longer = 0;
    for (d = 0; j->netcdf && d < info->rank; d++) {
        struct h5_object *o = info->dim_ids[d] ? job_find(j, info->dim_ids[d]) : NULL;

        /* libnetcdf itself gives fill values behind the end of an unlimited one. */
        if (!o || o->kind != DREP_OBJ_DIMENSION || o->length <= info->dims[d] ||
            info->maxdims[d] == DREP_UNLIMITED)
            continue;
        info->dims[d] = o->length;
        if (info->maxdims[d] < o->length)
            info->maxdims[d] = o->length;
        *longer = 1;
    }
}

void netcdf_fill(hid_t type, hid_t dcpl)
{
    static const long long least[9] = {
        [1] = -127, [2] = -32767, [4] = -2147483647, [8] = -9223372036854775806};
    H5T_class_t cls = H5Tget_class(type);
    size_t size = H5Tget_size(type);
    double real = 9.9692099683868690e+36;
    unsigned long long most = size < 8 ? (1ULL << 8 * size) - 1 : UINT64_MAX - 1;

    if (cls == H5T_FLOAT)
        H5Pset_fill_value(dcpl, H5T_NATIVE_DOUBLE, &real);
    else if (cls == H5T_INTEGER && size <= 8 && H5Tget_sign(type) == H5T_SGN_2)
        H5Pset_fill_value(dcpl, H5T_NATIVE_LLONG, &least[size]);
    else if (cls == H5T_INTEGER && size <= 8)
        H5Pset_fill_value(dcpl, H5T_NATIVE_ULLONG, &most);
}

void netcdf_flatten(struct job *j, const char *path, drep_attrinfo *info)
{
    if (!j->netcdf || info->rank <= 1)
        return;
    if (!j->back)
        job_say(j, HDF5_LOST, "attribute", path,
                "attribute \"%s\" of %d dimensions has one: netCDF has no more", info->name,
                info->rank);
    info->rank = 1;
    info->dims[0] = info->count;
}

int netcdf_join_chars(struct job *j, hid_t file, hid_t mem, drep_attrinfo *info)
{
    if (!j->netcdf || info->rank <= 0 || info->count == 0 ||
        drep_type_code(info->type) != DREP_CODE_CHAR)
        return 0;
    if (H5Tset_size(file, (size_t)info->count) < 0 || H5Tset_size(mem, (size_t)info->count) < 0)
        return job_fail_hdf5(j, "attribute");
    info->rank = 0;
    return 0;
}

/* ----------------------------------------------------------------------- links */

/* libnetcdf follows each link when it opens a file, and opens none with a link that leads nowhere.
 * Groups stand behind those that hold them, so that links which lead on make no circle. */
int netcdf_link(struct job *j, size_t group, const drep_linkinfo *link, const char *source)
{
    drep_objinfo info = DREP_OBJINFO;
    const struct h5_object *o = NULL;

    if (!j->netcdf)
        return 0;
    if (link->link == DREP_LINK_HARD)
        o = job_find(j, link->id);
    else if (link->link == DREP_LINK_SOFT && drep_stat(j->d, source, &info) == 0)
        o = job_find(j, info.id);
    if (!o)
        return job_fail(j, DREP_ERR_UNSUPPORTED,
                        "netCDF has no links, and opens no file with one that may lead nowhere");
    if (o->kind == DREP_OBJ_GROUP && o <= &j->objects.list[group])
        return job_fail(j, DREP_ERR_UNSUPPORTED,
                        "netCDF has no links, and may follow this one in a circle");
    return 0;
}
