/* scale.c - dimension scales of HDF5 and netCDF-4, on their way in.
 *
 * A dimension scale becomes a dimension of its group, under its name.  One with coordinates
 * becomes a dataset too, of the same name, along that dimension.  The attributes CLASS, NAME,
 * REFERENCE_LIST and DIMENSION_LIST are left out where export makes the same again, and
 * kept as attributes where it would not. */
/* SPDX-License-Identifier: MIT */
#include "tools/h5/scale.h"
#include "tools/h5/header.h"
#include "tools/h5/job.h"
#include "tools/h5/object.h"
#include "tools/h5/source.h"
#include <datarep.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

hid_t scale_user_type(int is_unsigned)
{
    hid_t t = H5Tcreate(H5T_COMPOUND, sizeof(struct scale_user));

    H5Tinsert(t, "dataset", HOFFSET(struct scale_user, dataset), H5T_STD_REF_OBJ);
    H5Tinsert(t, "dimension", HOFFSET(struct scale_user, dimension),
              is_unsigned ? H5T_NATIVE_UINT : H5T_NATIVE_INT);
    return t;
}

/* A variable-length string of the attribute, with H5Aread()'s memory given back. */
static int read_variable(hid_t a, hid_t t, hid_t space, char *text, size_t room)
{
    char *value = NULL;
    int ok = H5Aread(a, t, &value) >= 0 && value && strlen(value) < room;

    if (ok)
        memcpy(text, value, strlen(value) + 1);
    if (value)
        H5Dvlen_reclaim(t, space, H5P_DEFAULT, &value);
    return ok;
}

/* A scalar string that ends with a NUL, as H5DSis_scale() takes it in some version of HDF5: ASCII
 * or UTF-8, of fixed size or not.  0 if the attribute is anything else.  *size is that of the type
 * if it is as H5DSset_scale() and netCDF write it, fixed and ASCII, else 0. */
static int read_scale_text(hid_t object, const char *name, char *text, size_t room, size_t *size)
{
    hid_t a, t, s;
    int ok = 0, variable;

    if (H5Aexists(object, name) <= 0)
        return 0;
    a = H5Aopen(object, name, H5P_DEFAULT);
    t = H5Aget_type(a);
    s = H5Aget_space(a);
    if (t > 0 && s > 0 && H5Tget_class(t) == H5T_STRING && H5Tget_strpad(t) == H5T_STR_NULLTERM &&
        H5Sget_simple_extent_type(s) == H5S_SCALAR) {
        variable = H5Tis_variable_str(t) != 0;
        memset(text, 0, room);
        if (variable)
            ok = read_variable(a, t, s, text, room);
        else if (H5Tget_size(t) < room)
            ok = H5Aread(a, t, text) >= 0;
        *size = variable || H5Tget_cset(t) != H5T_CSET_ASCII ? 0 : H5Tget_size(t);
    }
    H5Sclose(s);
    H5Tclose(t);
    H5Aclose(a);
    return ok;
}

static int is_scale(hid_t object)
{
    char text[64];
    size_t size;

    return read_scale_text(object, SCALE_CLASS, text, sizeof text, &size) &&
           strcmp(text, SCALE_VALUE) == 0;
}

/* True if only chunks and times of the dataset's storage are unusual. */
static int has_plain_storage(struct job *j, hid_t dset)
{
    hid_t dcpl = dataset_plist(j, dset);
    H5D_fill_value_t fill = H5D_FILL_VALUE_ERROR;
    H5D_layout_t layout = H5Pget_layout(dcpl);
    int plain = (layout == H5D_CONTIGUOUS || layout == H5D_CHUNKED) &&
                H5Pget_external_count(dcpl) == 0 && H5Pget_nfilters(dcpl) == 0 &&
                H5Pfill_value_defined(dcpl, &fill) >= 0 && fill == H5D_FILL_VALUE_DEFAULT;

    H5Pclose(dcpl);
    return plain;
}

/* The datatypes of scales without values, by the names that notes have for them. */
#define SCALE_TYPES(X) \
    X(IEEE_F32BE)      \
    X(IEEE_F32LE)      \
    X(IEEE_F64BE)      \
    X(IEEE_F64LE)      \
    X(STD_I8BE)        \
    X(STD_I8LE)        \
    X(STD_I16BE)       \
    X(STD_I16LE)       \
    X(STD_I32BE)       \
    X(STD_I32LE)       \
    X(STD_I64BE)       \
    X(STD_I64LE)       \
    X(STD_U8BE)        \
    X(STD_U8LE)        \
    X(STD_U16BE)       \
    X(STD_U16LE)       \
    X(STD_U32BE)       \
    X(STD_U32LE)       \
    X(STD_U64BE)       \
    X(STD_U64LE)

static const char *scale_type_name(hid_t type)
{
#define X(name)                         \
    if (H5Tequal(type, H5T_##name) > 0) \
        return #name;
    SCALE_TYPES(X)
#undef X
    return NULL;
}

hid_t scale_type(const struct notes *r)
{
    const char *text = notes_find(r, SCALE_TYPE_NOTE);

#define X(name)                           \
    if (text && strcmp(text, #name) == 0) \
        return H5T_##name;
    SCALE_TYPES(X)
#undef X
    return H5T_IEEE_F32BE;
}

int scale_note_type(struct job *j, hid_t dset, struct notes *r)
{
    hid_t type = H5Dget_type(dset);
    const char *name = type > 0 ? scale_type_name(type) : NULL;

    if (type > 0)
        H5Tclose(type);
    /* The first one is netCDF's own. */
    return name && strcmp(name, "IEEE_F32BE") != 0 ? notes_add(j, r, SCALE_TYPE_NOTE " %s", name)
                                                   : 0;
}

/* True if a scale is netCDF's way to name a length: no values in it.  libnetcdf goes by its NAME
 * alone, whatever its datatype. */
static int is_bare(struct job *j, hid_t dset, const struct h5_source *s)
{
    char text[256];
    size_t size;

    return s->rank == 1 && scale_type_name(s->type) &&
           (s->maxdims[0] == H5S_UNLIMITED || s->maxdims[0] == s->dims[0]) &&
           H5Dget_storage_size(dset) == 0 && has_plain_storage(j, dset) &&
           read_scale_text(dset, SCALE_NAME, text, sizeof text, &size) &&
           strncmp(text, SCALE_NO_VARIABLE, strlen(SCALE_NO_VARIABLE)) == 0;
}

/* Every dimension's one scale, 0 for none.  False if the attribute is missing or holds
 * what a container cannot say: several scales on one dimension. */
static int read_scales(hid_t dset, int rank, uint64_t *scales)
{
    hvl_t lists[H5S_MAX_RANK];
    hid_t a, t, s, mem;
    int d, ok;

    if (rank <= 0 || H5Aexists(dset, SCALE_LIST) <= 0)
        return 0;
    a = H5Aopen(dset, SCALE_LIST, H5P_DEFAULT);
    t = H5Aget_type(a);
    s = H5Aget_space(a);
    mem = H5Tvlen_create(H5T_STD_REF_OBJ);
    ok = t > 0 && s > 0 && H5Tequal(t, mem) > 0 && H5Sget_simple_extent_npoints(s) == rank &&
         H5Aread(a, mem, lists) >= 0;
    if (ok) {
        for (d = 0; d < rank; d++) {
            hobj_ref_t ref = 0;

            ok &= lists[d].len <= 1;
            if (lists[d].len == 1)
                memcpy(&ref, lists[d].p, sizeof ref);
            scales[d] = (uint64_t)ref;
        }
        H5Dvlen_reclaim(mem, s, H5P_DEFAULT, lists);
    }
    H5Tclose(mem);
    H5Sclose(s);
    H5Tclose(t);
    H5Aclose(a);
    return ok;
}

static void digest_user(uint64_t *digest, uint64_t address, int dim)
{
    *digest = (*digest ^ (address * 64 + (uint64_t)dim)) * UINT64_C(0x100000001b3);
}

/* True if the datatype is that of a REFERENCE_LIST which H5DSattach_scale() made. */
static int is_user_type(hid_t t, int is_unsigned)
{
    hid_t own = scale_user_type(is_unsigned);
    int is = H5Tequal(t, own) > 0;

    H5Tclose(own);
    return is;
}

/* True if REFERENCE_LIST equals the list that our record of the scale's users would make. */
static int users_are_known(hid_t dset, const struct h5_object *o)
{
    struct scale_user *users = NULL;
    uint64_t digest = 0;
    hid_t a, s, t, mem;
    hssize_t i, n;
    int ok;

    if (H5Aexists(dset, SCALE_USERS) <= 0)
        return o->users == 0;
    a = H5Aopen(dset, SCALE_USERS, H5P_DEFAULT);
    s = H5Aget_space(a);
    t = H5Aget_type(a);
    n = H5Sget_simple_extent_npoints(s);
    mem = scale_user_type(0);
    /* H5DSattach_scale() makes it of a C struct, as the export does. */
    ok = n > 0 && (uint64_t)n == o->users && (is_user_type(t, 0) || is_user_type(t, 1));
    H5Tclose(t);
    if (ok) {
        users = calloc((size_t)n, sizeof *users);
        ok = users && H5Aread(a, mem, users) >= 0;
    }
    for (i = 0; ok && i < n; i++)
        digest_user(&digest, (uint64_t)users[i].dataset, users[i].dimension);
    free(users);
    H5Tclose(mem);
    H5Sclose(s);
    H5Aclose(a);
    return ok && digest == o->digest;
}

/* The address of the dimension of a scale. */
static char *dimension_address(const struct h5_object *o)
{
    const char *last = strrchr(o->path, '/');
    char *address;

    if (asprintf(&address, "%.*s/#%s", (int)(last - o->path), o->path, last + 1) < 0)
        return NULL;
    return address;
}

int scale_only(struct job *j, hid_t group, const char *name)
{
    struct h5_source s = {0};
    hid_t dset = H5Lexists(group, name, H5P_DEFAULT) > 0 ? H5Oopen(group, name, H5P_DEFAULT) : -1;
    int only = 0;

    if (dset > 0 && H5Iget_type(dset) == H5I_DATASET && is_scale(dset)) {
        s.type = H5Dget_type(dset);
        s.space = H5Dget_space(dset);
        only = source_shape(j, &s) == 0 && is_bare(j, dset, &s);
        H5Sclose(s.space);
        H5Tclose(s.type);
    }
    if (dset > 0)
        H5Oclose(dset);
    return only;
}

/* The place of a dimension among those of its group, as netCDF-4 counts; -1: it says nothing. */
static int64_t read_place(hid_t dset)
{
    int64_t place = -1;
    hid_t a = H5Aexists(dset, NETCDF_OWN "Dimid") > 0
                  ? H5Aopen(dset, NETCDF_OWN "Dimid", H5P_DEFAULT)
                  : -1;
    hid_t t = a > 0 ? H5Aget_type(a) : -1, s = a > 0 ? H5Aget_space(a) : -1;

    if (t > 0 && s > 0 &&
        (H5Tget_class(t) != H5T_INTEGER || H5Sget_simple_extent_npoints(s) != 1 ||
         H5Aread(a, H5T_NATIVE_INT64, &place) < 0))
        place = -1;
    if (s > 0)
        H5Sclose(s);
    if (t > 0)
        H5Tclose(t);
    if (a > 0)
        H5Aclose(a);
    return place;
}

/* True if the scale has a REFERENCE_LIST as HDF5 1.14 makes it. */
static int has_unsigned_uses(hid_t dset)
{
    hid_t a = H5Aexists(dset, SCALE_USERS) > 0 ? H5Aopen(dset, SCALE_USERS, H5P_DEFAULT) : -1;
    hid_t t = a > 0 ? H5Aget_type(a) : -1;
    int has = t > 0 && is_user_type(t, 1);

    if (t > 0)
        H5Tclose(t);
    if (a > 0)
        H5Aclose(a);
    return has;
}

/* Enters what a scale says of its dimension. */
int scale_note(struct job *j, struct h5_object *o)
{
    struct h5_source s = {0};
    hid_t dset = H5Oopen_by_addr(j->h, (haddr_t)o->key);
    int err = 0;

    if (dset > 0 && is_scale(dset)) {
        s.type = H5Dget_type(dset);
        s.space = H5Dget_space(dset);
        err = source_shape(j, &s);
        if (!err && s.rank >= 1) {
            o->scale = is_bare(j, dset, &s) ? 2 : 1;
            o->length = (int64_t)s.dims[0];
            o->unlimited = s.maxdims[0] == H5S_UNLIMITED;
            o->dim_path = dimension_address(o);
            o->place = read_place(dset);
            j->usual.unsigned_uses |= has_unsigned_uses(dset);
            if (o->dim_path && o->scale == 2) {
                o->link_path = o->path;
                o->path = strdup(o->dim_path);
            }
            if (!o->dim_path || !o->path)
                err = job_no_memory(j);
        }
        H5Sclose(s.space);
        H5Tclose(s.type);
    }
    if (dset > 0)
        H5Oclose(dset);
    return err == DREP_ERR_NOMEM ? err : 0;
}

/* A dataset may use a dimension of its own length, or of any if that is unlimited. */
static int scale_fits(const struct h5_object *scale, const struct h5_source *s, int d)
{
    return scale && scale->scale && (scale->unlimited || scale->length == (int64_t)s->dims[d]);
}

int scale_find(struct job *j, const struct h5_source *s, struct h5_object **scales)
{
    uint64_t address[H5S_MAX_RANK];
    int d, any = 0;

    if (!read_scales(s->dset, s->rank, address))
        return 0;
    for (d = 0; d < s->rank; d++) {
        scales[d] = address[d] ? job_find(j, address[d]) : NULL;
        if (address[d] && !scale_fits(scales[d], s, d))
            return 0;
        any |= address[d] != 0;
    }
    return any;
}

static void note_uses(struct job *j, struct h5_object *o)
{
    struct h5_object *scales[H5S_MAX_RANK];
    struct h5_source s = {0};
    int d;

    s.dset = H5Oopen_by_addr(j->h, (haddr_t)o->key);
    if (s.dset > 0 && H5Aexists(s.dset, SCALE_LIST) > 0) {
        s.space = H5Dget_space(s.dset);
        if (source_shape(j, &s) == 0 && scale_find(j, &s, scales))
            for (d = 0; d < s.rank; d++) {
                if (!scales[d])
                    continue;
                if (scales[d]->length < (int64_t)s.dims[d])
                    scales[d]->length = (int64_t)s.dims[d];
                scales[d]->users++;
                digest_user(&scales[d]->digest, o->key, d);
            }
    }
    source_close(&s);
}

void scale_find_uses(struct job *j)
{
    size_t i;

    for (i = 0; i < j->objects.n; i++)
        if (j->objects.list[i].kind == DREP_OBJ_DATASET && !j->objects.list[i].scale)
            note_uses(j, &j->objects.list[i]);
}

int scale_implies(struct job *j, hid_t object, const struct h5_object *o, const char *name)
{
    struct h5_object *scales[H5S_MAX_RANK];
    char text[1200], own[1200];
    size_t size;

    if (o->scale && strcmp(name, SCALE_CLASS) == 0)
        return read_scale_text(object, name, text, sizeof text, &size) &&
               size == sizeof SCALE_VALUE;
    if (o->scale && strcmp(name, SCALE_USERS) == 0)
        return users_are_known(object, o);
    if (o->scale && strcmp(name, SCALE_NAME) == 0) {
        const char *last = strrchr(o->path, '/') + 1;

        if (!read_scale_text(object, name, text, sizeof text, &size))
            return 0;
        if (o->scale == 1)
            return size == strlen(last) + 1 && strcmp(text, last) == 0;
        snprintf(own, sizeof own, "%s%10lld", SCALE_NO_VARIABLE, (long long)o->length);
        return size == SCALE_NO_VARIABLE_SIZE && strcmp(text, own) == 0;
    }
    if (o->kind == DREP_OBJ_DATASET && !o->scale && strcmp(name, SCALE_LIST) == 0) {
        struct h5_source s = {.dset = object, .space = H5Dget_space(object)};
        int known = source_shape(j, &s) == 0 && scale_find(j, &s, scales);

        H5Sclose(s.space);
        return known;
    }
    return 0;
}

int scale_mark(struct job *j, hid_t object, const struct h5_object *o)
{
    drep_type *type = NULL;
    hid_t space;
    hsize_t length = 0;
    int err;

    if (o->scale == 1) {
        /* An absent name is kept as one without a value. */
        if (H5Aexists(object, SCALE_NAME) != 0)
            return 0;
        err = drep_type_vstring(&type);
        if (!err)
            err = drep_attr_write(j->d, o->path, SCALE_NAME, type, DREP_NULL_SPACE, NULL, NULL);
        drep_type_free(type);
        return err ? job_fail_drep(j, err) : 0;
    }
    space = H5Dget_space(object);
    H5Sget_simple_extent_dims(space, &length, NULL);
    H5Sclose(space);
    err = (int64_t)length == o->length
              ? 0
              : drep_attr_write_int64(j->d, o->path, DIM_SCALE_LENGTH, (int64_t)length);
    return err ? job_fail_drep(j, err) : 0;
}
