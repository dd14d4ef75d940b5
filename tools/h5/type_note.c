/* type_note.c - the datatype of ours that an exported file states. */
/* SPDX-License-Identifier: MIT */
#include "tools/h5/type_note.h"
#include "tools/h5/job.h"
#include "tools/h5/map.h"
#include "tools/h5/type_in.h"
#include "tools/h5/type_out.h"
#include <datarep.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define TYPE_NOTE "drep.type"

/* Limit of a text that is read. */
#define TEXT_MAX 65536

int is_type_note(const char *name)
{
    size_t len = strlen(TYPE_NOTE);

    return strncmp(name, TYPE_NOTE, len) == 0 && (name[len] == 0 || name[len] == ':');
}

/* The name of the attribute with the text; malloc'ed. */
static char *type_note_name(const char *attribute)
{
    char *name;

    return asprintf(&name, attribute ? "%s:%s" : "%s", TYPE_NOTE, attribute) < 0 ? NULL : name;
}

/* What import makes of HDF5's datatype by itself; NULL: nothing. */
static drep_type *natural(struct job *j, hid_t made)
{
    struct map m = {0};
    drep_type *type;

    if (map_from_hdf5(j, made, NULL, ORDER_SILENT, NULL, &m) != 0)
        return NULL;
    type = drep_type_ref(m.type);
    map_release(&m);
    return type;
}

static int stored_alike(const drep_type *a, const drep_type *b);

static int same_members(const drep_type *a, const drep_type *b)
{
    int64_t i, n = drep_type_members(a);
    int same = drep_type_members(b) == n;

    for (i = 0; same && i < n; i++)
        same = strcmp(drep_type_member_name(a, i), drep_type_member_name(b, i)) == 0 &&
               stored_alike(drep_type_member(a, i), drep_type_member(b, i));
    return same;
}

static int same_arrays(const drep_type *a, const drep_type *b)
{
    int rank = drep_type_array_rank(a);

    return drep_type_array_rank(b) == rank &&
           memcmp(drep_type_array_dims(a), drep_type_array_dims(b),
                  (size_t)rank * sizeof(int64_t)) == 0 &&
           stored_alike(drep_type_member(a, 0), drep_type_member(b, 0));
}

/* True if a container stores both alike: it does not say where members lie in memory. */
static int stored_alike(const drep_type *a, const drep_type *b)
{
    int kind = drep_type_kind(a);

    if (drep_type_equal(a, b))
        return 1;
    if (drep_type_kind(b) != kind)
        return 0;
    return kind == DREP_KIND_COMPOUND ? same_members(a, b)
           : kind == DREP_KIND_ARRAY  ? same_arrays(a, b)
           : kind == DREP_KIND_SEQUENCE
               ? stored_alike(drep_type_member(a, 0), drep_type_member(b, 0))
               : 0;
}

/* The text to be stated, malloc'ed; NULL with 0: none. */
static int stated_text(struct job *j, hid_t made, const drep_type *type, char **text)
{
    drep_type *own = natural(j, made);
    /* netCDF's char says as much, and its programs would show the note. */
    int same = (own && stored_alike(own, type)) ||
               (j->netcdf && drep_type_code(type) == DREP_CODE_CHAR),
        err;

    *text = NULL;
    drep_type_free(own);
    err = same ? 0 : drep_type_print(type, text);
    return err ? job_fail_drep(j, err) : 0;
}

static hid_t text_type(size_t size)
{
    hid_t t = H5Tcopy(H5T_C_S1);

    H5Tset_size(t, size);
    H5Tset_cset(t, H5T_CSET_UTF8);
    return t;
}

static int write_text(struct job *j, hid_t object, const char *name, const char *text)
{
    hid_t type = text_type(strlen(text) + 1), space = H5Screate(H5S_SCALAR);
    hid_t attr = H5Acreate2(object, name, type, space, H5P_DEFAULT, H5P_DEFAULT);
    int err = attr < 0 || H5Awrite(attr, type, text) < 0 ? job_fail_hdf5(j, name) : 0;

    if (attr > 0)
        H5Aclose(attr);
    H5Sclose(space);
    H5Tclose(type);
    return err;
}

/* The text at an object, malloc'ed; NULL: none that export writes. */
static char *read_type_text(hid_t object, const char *name)
{
    hid_t attr = H5Aexists(object, name) > 0 ? H5Aopen(object, name, H5P_DEFAULT) : -1;
    hid_t type = attr > 0 ? H5Aget_type(attr) : -1, space = attr > 0 ? H5Aget_space(attr) : -1;
    size_t size = type > 0 ? H5Tget_size(type) : 0;
    char *text = NULL;

    if (space > 0 && H5Tget_class(type) == H5T_STRING && H5Tis_variable_str(type) == 0 &&
        H5Sget_simple_extent_type(space) == H5S_SCALAR && size <= TEXT_MAX)
        text = calloc(1, size + 1);
    if (text && H5Aread(attr, type, text) < 0) {
        free(text);
        text = NULL;
    }
    if (space > 0)
        H5Sclose(space);
    if (type > 0)
        H5Tclose(type);
    if (attr > 0)
        H5Aclose(attr);
    return text;
}

int type_note_write(struct job *j, hid_t object, const char *attribute, hid_t made,
                    const drep_type *type)
{
    char *text, *name;
    int err = stated_text(j, made, type, &text);

    if (err || !text)
        return err;
    name = type_note_name(attribute);
    err = name ? write_text(j, object, name, text) : job_no_memory(j);
    free(text);
    free(name);
    return err;
}

int type_note_check(struct job *j, const struct verified *at, hid_t object, const char *attribute,
                    hid_t made, const drep_type *type)
{
    char *text, *name, *read;
    int err = stated_text(j, made, type, &text);

    if (err || !text)
        return err;
    name = type_note_name(attribute);
    read = name ? read_type_text(object, name) : NULL;
    if (!name)
        err = job_no_memory(j);
    else if (!read || strcmp(read, text) != 0)
        err = verify_failed(j, at, "its datatype is read back as another");
    free(text);
    free(name);
    free(read);
    return err;
}

/* True if import makes the same of HDF5's datatype and of what export makes of `type`, whatever
 * their byte orders. */
static int made_alike(struct job *j, hid_t made, const drep_type *type)
{
    hid_t own = type_out_make(j, type, NULL, 0);
    drep_type *a = own > 0 ? natural(j, own) : NULL, *b = a ? natural(j, made) : NULL;
    int same = b && stored_alike(a, b);

    drep_type_free(a);
    drep_type_free(b);
    if (own > 0)
        H5Tclose(own);
    return same;
}

/* The same for a file of either kind. */
static int made_alike_either(struct job *j, hid_t made, const drep_type *type)
{
    int same = made_alike(j, made, type);

    j->netcdf = 1;
    same = same || made_alike(j, made, type);
    j->netcdf = 0;
    return same;
}

int type_note_read(struct job *j, hid_t object, const char *attribute, hid_t made, drep_type **type)
{
    char *name = type_note_name(attribute), *text = name ? read_type_text(object, name) : NULL;
    int err = name ? 0 : job_no_memory(j);

    *type = NULL;
    if (text) {
        err = drep_type_parse(text, type);
        err = err == DREP_ERR_NOMEM ? job_fail_drep(j, err) : 0;
    }
    if (*type && !made_alike_either(j, made, *type)) {
        drep_type_free(*type);
        *type = NULL;
    }
    free(name);
    free(text);
    return err;
}
