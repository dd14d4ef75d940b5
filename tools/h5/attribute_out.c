/* attribute_out.c - the attributes of a container's objects become HDF5's, or are compared with
 * them while the file is read back. */
/* SPDX-License-Identifier: MIT */
#include "tools/h5/attribute_out.h"
#include "base/mem.h"
#include "base/vec.h"
#include "tools/h5/book.h"
#include "tools/h5/drain.h"
#include "tools/h5/encoding.h"
#include "tools/h5/interface.h"
#include "tools/h5/job.h"
#include "tools/h5/map.h"
#include "tools/h5/named.h"
#include "tools/h5/netcdf.h"
#include "tools/h5/note.h"
#include "tools/h5/null.h"
#include "tools/h5/object.h"
#include "tools/h5/reference.h"
#include "tools/h5/scale.h"
#include "tools/h5/type_in.h"
#include "tools/h5/type_note.h"
#include "tools/h5/values.h"
#include "tools/h5/verify.h"
#include <datarep.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct attributes {
    struct job *j;
    const struct h5_object *o;
    const char *path; /* in the container */
    hid_t object;
    struct notes object_notes;
    struct sharings sharings;
    int err;
};

/* The name that the attribute had, or gets; malloc'ed, NULL without memory. */
static char *name_in_hdf5(const struct attributes *as, const char *name)
{
    const char *own = book_name(name);
    char *was = notes_old_name(&as->object_notes, "attribute-was", name);

    if (was && *was)
        return was;
    free(was);
    return strdup(own ? own : name);
}

/* "LENGTHS NAME": false if it is of another attribute, or does not fit the shape any more. */
static int parse_most(const char *text, const char *name, const drep_attrinfo *info, hsize_t *most)
{
    char *end = NULL;
    int d;

    for (d = 0; d < info->rank; d++, text = end) {
        if (d > 0 && *text++ != ',')
            return 0;
        most[d] = *text == '*' ? H5S_UNLIMITED : strtoull(text, &end, 10);
        end = *text == '*' ? (char *)(uintptr_t)text + 1 : end;
        if (end == text || most[d] < (hsize_t)info->dims[d])
            return 0;
    }
    return *text == ' ' && strcmp(text + 1, name) == 0;
}

static hid_t attribute_space(const drep_attrinfo *info, const struct notes *r, const char *name)
{
    hsize_t dims[DREP_MAX_RANK], most[DREP_MAX_RANK];
    const size_t n = strlen(ATTRIBUTE_MOST);
    int d, limited = 0;
    size_t i;

    if (info->rank == DREP_NULL_SPACE)
        return H5Screate(H5S_NULL);
    if (info->rank == 0)
        return H5Screate(H5S_SCALAR);
    for (d = 0; d < info->rank; d++)
        dims[d] = (hsize_t)info->dims[d];
    for (i = 0; i < r->n && !limited; i++)
        limited = strncmp(r->line[i], ATTRIBUTE_MOST " ", n + 1) == 0 &&
                  parse_most(r->line[i] + n + 1, name, info, most);
    return H5Screate_simple(info->rank, dims, limited ? most : NULL);
}

/* The attribute's elements in HDF5's memory, in *h; their variable parts lie in *d. */
static int read_attribute(struct attributes *as, const char *name, const struct map *m, size_t n,
                          struct nulls *nulls, struct value_move *mv, void **d, void **h)
{
    int err;

    *d = move_alloc(mv, n * m->dsize);
    *h = m->kind == MAP_FLAT && !nulls_any(nulls) ? *d : move_alloc(mv, n * m->hsize);
    if (!*d || !*h)
        return DREP_ERR_NOMEM;
    err = n ? drep_attr_read(as->j->d, as->path, name, m->held, *d) : 0;
    if (err)
        return job_fail_drep(as->j, err);
    if (*h != *d)
        err = move_out(mv, m, n, *d, *h);
    if (!err)
        nulls_apply(nulls, m, NULL, NULL, n, *h);
    return err;
}

/* Numbers that netCDF's narrower type rounds. */
static int say_rounded(struct attributes *as, const char *name, const drep_attrinfo *info,
                       const struct map *m, size_t n)
{
    char what[sizeof info->name + 20];
    void *own;
    int err;

    if (!as->j->netcdf || n == 0)
        return 0;
    own = calloc(n, (size_t)drep_type_extent(info->type));
    err = own ? drep_attr_read(as->j->d, as->path, name, info->type, own) : DREP_ERR_NOMEM;
    if (err)
        job_fail_drep(as->j, err);
    snprintf(what, sizeof what, "attribute \"%s\": ", name);
    if (!err)
        err = drain_say_rounded(as->j, as->o->path, what, m, info->type, (int64_t)n, own);
    if (own)
        drep_vlen_free(info->type, (int64_t)n, own);
    free(own);
    return err;
}

static int write_attribute(struct attributes *as, const char *name, const drep_attrinfo *info,
                           const struct map *m, hid_t file, struct nulls *nulls)
{
    struct job *j = as->j;
    struct value_move mv = {.j = j, .ref = ref_out, .path = as->o->path};
    size_t n = info->rank == DREP_NULL_SPACE ? 0 : (size_t)info->count;
    char *was = name_in_hdf5(as, name);
    hid_t acpl, space, attr;
    void *d = NULL, *h = NULL;
    int err = read_attribute(as, name, m, n, nulls, &mv, &d, &h);

    acpl = H5Pcreate(H5P_ATTRIBUTE_CREATE);
    H5Pset_char_encoding(acpl, H5T_CSET_UTF8);
    space = attribute_space(info, &as->object_notes, name);
    attr = err ? -1 : H5Acreate2(as->object, was, file, space, acpl, H5P_DEFAULT);
    if (!err && (attr < 0 || (n && H5Awrite(attr, m->mem, h) < 0)))
        err = job_fail_hdf5(j, "attribute");
    if (!err)
        err = say_rounded(as, name, info, m, n);
    if (!err)
        err = type_note_write(j, as->object, was, file, info->type);
    if (attr > 0)
        H5Aclose(attr);
    H5Sclose(space);
    H5Pclose(acpl);
    if (n && d && drep_type_variable(m->held))
        drep_vlen_free(m->held, info->count, d);
    move_release(&mv);
    free(was);
    j->totals.attributes += !err;
    return err;
}

/* Attributes by which import keeps what HDF5 says otherwise. */
static int is_import_note(const struct attributes *as, const char *name, const drep_attrinfo *info)
{
    if (as->o->kind == DREP_OBJ_DIMENSION && strcmp(name, DIM_SCALE_LENGTH) == 0)
        return 1;
    return as->o->kind == DREP_OBJ_DATASET && strcmp(name, SCALE_NAME) == 0 &&
           info->rank == DREP_NULL_SPACE && drep_type_kind(info->type) == DREP_KIND_VSTRING;
}

/* Compares what HDF5 gives back with the attribute. */
static int check_attribute(struct attributes *as, const char *name, const drep_attrinfo *info,
                           const struct map *m, hid_t file)
{
    struct job *j = as->j;
    struct value_move mv = {.j = j, .path = as->o->path};
    struct verified at = {.path = as->o->path,
                          .what = "attribute ",
                          .name = name,
                          .rank = info->rank,
                          .count = info->dims};
    size_t n = info->rank == DREP_NULL_SPACE ? 0 : (size_t)info->count;
    char *was = name_in_hdf5(as, name);
    hid_t attr = H5Aopen(as->object, was, H5P_DEFAULT);
    hid_t type = attr > 0 ? H5Aget_type(attr) : -1, space = attr > 0 ? H5Aget_space(attr) : -1;
    void *d = move_alloc(&mv, n * m->dsize), *h = move_alloc(&mv, n * m->hsize);
    int err = d && h ? 0 : DREP_ERR_NOMEM, filled = 0;

    if (!err && space < 0)
        err = verify_failed(j, &at, "it is not read back");
    if (!err)
        err = verify_type(j, &at, file, type);
    if (!err)
        err = verify_shape(j, &at, info->dims, space);
    if (!err)
        err = type_note_check(j, &at, as->object, was, file, info->type);
    if (!err && n) {
        err = drep_attr_read(j->d, as->path, name, m->held, d);
        if (err)
            job_fail_drep(j, err);
        filled = !err;
    }
    if (filled && H5Aread(attr, m->mem, h) < 0) {
        job_fail_hdf5(j, "read back");
        err = verify_failed(j, &at, "it is not read back");
    } else if (filled) {
        err = verify_elements(j, &at, m, n, d, h);
        if (m->variable)
            H5Dvlen_reclaim(m->mem, space, H5P_DEFAULT, h);
    }
    if (filled && drep_type_variable(m->held))
        drep_vlen_free(m->held, info->count, d);
    if (type > 0)
        H5Tclose(type);
    if (space > 0)
        H5Sclose(space);
    if (attr > 0)
        H5Aclose(attr);
    move_release(&mv);
    free(was);
    return err;
}

static int copy_attribute_out(struct attributes *as, const char *name, drep_attrinfo *info)
{
    struct job *j = as->j;
    struct notes notes;
    struct map m;
    /* The netCDF library reads its own attributes as if they were in this machine's order. */
    int named = book_name(name) && strncmp(book_name(name), NETCDF_OWN, strlen(NETCDF_OWN)) == 0;
    struct nulls nulls;
    hid_t file;
    int err = notes_of_type(j, &as->object_notes, "attribute", name, &notes);

    if (!err)
        err = nulls_read(j, &as->object_notes, &notes, name, &nulls);
    if (!err)
        err = encodings_use(j, NULL, 0);
    if (err)
        return err;
    j->in_attribute = 1;
    file = type_out(j, as->o, info->type, sharing_of(&as->sharings, name), &notes, named);
    j->in_attribute = 0;
    err = file ? map_from_hdf5(j, file, info->type, ORDER_SILENT, NULL, &m) : DREP_ERR_UNSUPPORTED;
    if (!err) {
        err = netcdf_commit(j, file);
        if (!err)
            err = netcdf_join_chars(j, file, m.mem, info);
        if (!err)
            err = j->back ? check_attribute(as, name, info, &m, file)
                          : write_attribute(as, name, info, &m, file, &nulls);
        map_release(&m);
    }
    if (file > 0)
        H5Tclose(file);
    nulls_release(&nulls);
    notes_release(&notes);
    return err;
}

/* Attributes that have no counterpart in HDF5, and were reported as lost. */
struct lost_attributes {
    struct lost_attribute {
        uint64_t key; /* of its object */
        char *name;
    } * list;
    size_t n, room;
};

/* Notes that an attribute is lost: it will not be read back. */
static int lose_attribute(struct job *j, uint64_t key, const char *name)
{
    struct lost_attributes *all = j->lost;

    if (!all)
        all = j->lost = calloc(1, sizeof *all);
    if (!all || VEC_ROOM(all->list, all->n, all->room, 1))
        return job_no_memory(j);
    all->list[all->n] = (struct lost_attribute){key, strdup(name)};
    return all->list[all->n].name ? (all->n++, 0) : job_no_memory(j);
}

int attribute_is_lost(const struct job *j, uint64_t key, const char *name)
{
    size_t i;

    for (i = 0; j->lost && i < j->lost->n; i++)
        if (j->lost->list[i].key == key && strcmp(j->lost->list[i].name, name) == 0)
            return 1;
    return 0;
}

void lost_attributes_free(struct lost_attributes *all)
{
    size_t i;

    for (i = 0; all && i < all->n; i++)
        free(all->list[i].name);
    if (all)
        mem_free(all->list);
    free(all);
}

static int export_attribute(const char *name, void *ctx)
{
    struct attributes *as = ctx;
    struct job *j = as->j;
    drep_attrinfo *info;
    char what[1100];
    int err;

    if (book_name(name) ? !book_fits(j, as->o, as->path, name) : is_annotation(name))
        return 0;
    if (j->back && attribute_is_lost(j, as->o->key, name))
        return 0;
    info = calloc(1, sizeof *info);
    if (!info)
        return as->err = job_no_memory(j);
    *info = DREP_ATTRINFO;
    snprintf(what, sizeof what, "attribute \"%.1023s\" is not kept", name);
    err = drep_attr_info(j->d, as->path, name, info);
    if (!err)
        netcdf_flatten(j, as->o->path, info);
    if (err)
        job_fail_drep(j, err);
    else if (!is_import_note(as, name, info))
        err = copy_attribute_out(as, name, info);
    drep_attrinfo_release(info);
    free(info);
    as->err = j->back ? err : job_skip(j, err, "attribute", as->o->path, what);
    if (err && !as->err)
        as->err = lose_attribute(j, as->o->key, name);
    return as->err;
}

/* A dimension with a variable has no object in HDF5 to take its other attributes. */
static int name_lost(const char *name, void *ctx)
{
    struct attributes *as = ctx;

    if (!is_annotation(name))
        job_say(as->j, HDF5_LOST, "attribute", as->o->path,
                "attribute \"%s\" is not kept: HDF5 has the dimension's dataset only", name);
    return 0;
}

static int set_comment(struct attributes *as)
{
    const char *text = notes_find(&as->object_notes, "comment");

    if (text && !as->j->back && H5Oset_comment(as->object, text) < 0)
        return job_fail_hdf5(as->j, "comment");
    return 0;
}

int export_attributes(struct job *j, const struct h5_object *o)
{
    struct attributes as = {.j = j, .o = o, .object = -1};
    char *path = job_source(j, o);
    int lost = o->kind == DREP_OBJ_DIMENSION && o->scale == 1;
    int err = !path ? job_no_memory(j) : 0;

    as.path = path;
    if (!err)
        err = notes_read(j, path, &as.object_notes);
    if (!err)
        err = sharings_read(j, path, &as.sharings);
    if (!err && !lost) {
        as.object = H5Oopen_by_addr(j->h, (haddr_t)o->made);
        err = as.object < 0 ? job_fail_hdf5(j, "attributes")
                            : job_skip(j, set_comment(&as), "comment", o->path, "not carried");
    }
    if (!err) {
        err =
            drep_attr_list(j->d, path, DREP_BY_CREATION, lost ? name_lost : export_attribute, &as);
        if (err && !as.err)
            job_fail_drep(j, err);
    }
    if (as.object > 0)
        H5Oclose(as.object);
    notes_release(&as.object_notes);
    sharings_release(&as.sharings);
    free(path);
    return err;
}
