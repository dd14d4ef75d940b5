/* import.c - an HDF5 or netCDF-4 file becomes a container.
 *
 * Four walks: find the objects and what is a dimension; find who uses which dimension;
 * make objects and links in their order; move attributes and data.  References can so
 * name objects that come later, and memory holds one entry an object and one block. */
/* SPDX-License-Identifier: MIT */
#include "tools/h5/import.h"
#include "schema/paths.h"
#include "tools/h5/attribute_in.h"
#include "tools/h5/data_in.h"
#include "tools/h5/encoding.h"
#include "tools/h5/header.h"
#include "tools/h5/interface.h"
#include "tools/h5/job.h"
#include "tools/h5/keep.h"
#include "tools/h5/layout.h"
#include "tools/h5/map.h"
#include "tools/h5/name.h"
#include "tools/h5/named.h"
#include "tools/h5/netcdf.h"
#include "tools/h5/note.h"
#include "tools/h5/null.h"
#include "tools/h5/object.h"
#include "tools/h5/odd_link.h"
#include "tools/h5/pin_mapped.h"
#include "tools/h5/reference.h"
#include "tools/h5/scale.h"
#include "tools/h5/source.h"
#include "tools/h5/type_in.h"
#include "tools/h5/type_note.h"
#include "tools/h5/values.h"
#include <datarep.h>
#include <limits.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ------------------------------------------------------------ walk 1: objects */

struct h5_link_walk {
    struct job *j;
    size_t group;     /* index of the group that is walked */
    int64_t position; /* links made in it */
    int err;
};

static int kind_of(H5O_type_t type)
{
    return type == H5O_TYPE_GROUP            ? DREP_OBJ_GROUP
           : type == H5O_TYPE_DATASET        ? DREP_OBJ_DATASET
           : type == H5O_TYPE_NAMED_DATATYPE ? DREP_OBJ_TYPE
                                             : 0;
}

/* The name behind netCDF's prefix for a dataset beside a dimension of the same name; here they
 * have name spaces of their own. */
static const char *plain_name(struct job *j, hid_t group, const char *name)
{
    size_t n = strlen(NETCDF_NON_COORD);

    return strncmp(name, NETCDF_NON_COORD, n) == 0 && name[n] && scale_only(j, group, name + n)
               ? name + n
               : name;
}

/* Paths of a member in the destination, and in the source if that is another. */
static int import_member_paths(struct job *j, size_t at, hid_t group, const char *name, char **path,
                               char **source)
{
    const struct h5_object *g = &j->objects.list[at];
    char *own = own_name(j->o->plain ? name : plain_name(j, group, name), 0);

    *source = NULL;
    *path = own ? path_of_member(g->path, own) : NULL;
    if (*path && (g->source || strcmp(own, name) != 0)) {
        *source = path_of_member(g->source ? g->source : g->path, name);
        if (!*source) {
            free(*path);
            *path = NULL;
        }
    }
    free(own);
    return *path ? 0 : job_no_memory(j);
}

/* True if export has made the named datatype for readers of netCDF. */
static int is_of_netcdf(hid_t group, const char *name, const H5O_info_t *info)
{
    return info->type == H5O_TYPE_NAMED_DATATYPE &&
           H5Aexists_by_name(group, name, NETCDF_MADE, H5P_DEFAULT) > 0;
}

static herr_t import_find_object(hid_t group, const char *name, const H5L_info_t *link, void *ctx)
{
    struct h5_link_walk *w = ctx;
    struct job *j = w->j;
    char *path, *source;
    H5O_info_t info;

    w->err = job_stopped(j);
    if (w->err)
        return -1;
    if (link->type != H5L_TYPE_HARD)
        return 0;
    if (H5Oget_info_by_name2(group, name, &info, H5O_INFO_BASIC, H5P_DEFAULT) < 0)
        return 0; /* named when the link is made */
    if (job_find(j, (uint64_t)info.addr) || !kind_of(info.type) || is_of_netcdf(group, name, &info))
        return 0;
    w->err = import_member_paths(j, w->group, group, name, &path, &source);
    if (!w->err)
        w->err = job_add(j, (uint64_t)info.addr, kind_of(info.type), path, source);
    if (!w->err)
        j->objects.list[j->objects.n - 1].group = w->group;
    if (!w->err && info.type == H5O_TYPE_DATASET && !j->o->plain)
        w->err = scale_note(j, &j->objects.list[j->objects.n - 1]);
    return w->err ? -1 : 0;
}

/* Calls fn for each link of a group: in creation order where HDF5 has kept it. */
static int import_each_link(struct job *j, size_t i, H5L_iterate_t fn)
{
    struct h5_link_walk w = {.j = j, .group = i};
    hid_t group;
    hid_t gcpl;
    unsigned order = 0;
    herr_t status;

    job_at(j, j->objects.list[i].path);
    group = H5Oopen_by_addr(j->h, (haddr_t)j->objects.list[i].key);
    gcpl = group > 0 ? H5Gget_create_plist(group) : -1;
    if (gcpl < 0) {
        job_fail_hdf5(j, "group");
        job_say(j, HDF5_LOST, "group", j->objects.list[i].path, "%s", j->why);
        return 0;
    }
    H5Pget_link_creation_order(gcpl, &order);
    j->untracked += fn == import_find_object && !(order & H5P_CRT_ORDER_TRACKED);
    status = H5Literate(group, order & H5P_CRT_ORDER_TRACKED ? H5_INDEX_CRT_ORDER : H5_INDEX_NAME,
                        H5_ITER_INC, NULL, fn, &w);
    if (status < 0 && !w.err) {
        job_fail_hdf5(j, "group");
        job_say(j, HDF5_LOST, "group", j->objects.list[i].path, "%s", j->why);
    }
    H5Pclose(gcpl);
    H5Oclose(group);
    return w.err;
}

/* Why there is no group at this path.  The root group is always there. */
static int no_group(struct job *j, const char *path)
{
    hid_t object;
    H5I_type_t kind;

    if (!j->o->root || strcmp(path, "/") == 0) {
        job_fail_hdf5(j, "root group");
        return DREP_ERR_FORMAT;
    }
    object = H5Oopen(j->h, path, H5P_DEFAULT);
    kind = object < 0 ? H5I_BADID : H5Iget_type(object);

    if (object >= 0)
        H5Oclose(object);
    if (kind == H5I_BADID && *j->guard.why)
        return job_fail(j, DREP_ERR_ACCESS, "%s: %s", path, j->guard.why);
    if (kind == H5I_DATASET || kind == H5I_DATATYPE)
        return job_fail(j, DREP_ERR_KIND, "%s is a %s; --root takes a group", path,
                        kind == H5I_DATASET ? "dataset" : "named datatype");
    return job_fail(j, DREP_ERR_NOT_FOUND, "%s: no such group", path);
}

/* A path may lead through an external link; addresses are of one file. */
static int is_of_source(struct job *j, hid_t group)
{
    H5O_info_t root, info;

    return H5Oget_info2(group, &info, H5O_INFO_BASIC) >= 0 &&
           H5Oget_info2(j->h, &root, H5O_INFO_BASIC) >= 0 && info.fileno == root.fileno;
}

static int import_find_objects(struct job *j)
{
    const char *root = j->o->root ? j->o->root : "/";
    hid_t group = H5Gopen2(j->h, root, H5P_DEFAULT);
    size_t i;
    int err;

    if (group < 0)
        return no_group(j, root);
    if (!is_of_source(j, group)) {
        H5Gclose(group);
        return job_fail(j, DREP_ERR_UNSUPPORTED, "%s lies in another file; import that one", root);
    }
    err = job_add(j, h5_address(group), DREP_OBJ_GROUP, strdup("/"), NULL);
    H5Gclose(group);
    for (i = 0; !err && i < j->objects.n; i++)
        if (j->objects.list[i].kind == DREP_OBJ_GROUP)
            err = import_each_link(j, i, import_find_object);
    return err;
}

/* ------------------------------------------------------------ walk 3: making */

static int set_made_id(struct job *j, struct h5_object *o)
{
    drep_objinfo info = DREP_OBJINFO;
    int err = drep_stat(j->d, o->path, &info);

    if (err)
        return job_fail_drep(j, err);
    o->made = info.id;
    return 0;
}

/* A name for an object while it moves; malloc'ed. */
static char *name_aside(const char *path, int n)
{
    char *aside;

    return asprintf(&aside, "%s~%d", path, n) < 0 ? NULL : aside;
}

/* Gives a link or a dimension that was made before its turn its place in the order of its group. */
static int take_turn(struct job *j, const char *path, int dimension)
{
    const char *name = strrchr(path, '/') + 1 + dimension;
    int n, err = DREP_ERR_EXISTS;

    for (n = 0; err == DREP_ERR_EXISTS && n < INT_MAX; n++) {
        char *aside = name_aside(path, n);

        if (!aside)
            return job_no_memory(j);
        err = dimension ? drep_dimension_rename(j->d, path, strrchr(aside, '/') + 2)
                        : drep_link_move(j->d, path, aside);
        if (!err)
            err = dimension ? drep_dimension_rename(j->d, aside, name)
                            : drep_link_move(j->d, aside, path);
        free(aside);
    }
    /* There is no room for a longer name: it keeps its early place. */
    return err == DREP_ERR_NAME ? 0 : err ? job_fail_drep(j, err) : 0;
}

/* Groups above a dimension that is needed before its own turn. */
static int import_parents(struct job *j, const char *path)
{
    char *parent = strdup(path);
    char *slash = parent ? strrchr(parent, '/') : NULL;
    int err = !parent ? job_no_memory(j) : 0;

    if (!err && slash != parent) {
        *slash = 0;
        err = drep_group_create(j->d, parent, 1);
        err = err == DREP_ERR_EXISTS ? 0 : err ? job_fail_drep(j, err) : 0;
    }
    free(parent);
    return err;
}

static int dimension_is_made(struct job *j, const struct h5_object *scale)
{
    drep_objinfo info = DREP_OBJINFO;

    return drep_stat(j->d, scale->dim_path, &info) == 0 && info.kind == DREP_OBJ_DIMENSION;
}

/* The dimension object of a scale, made at its first use. */
static int import_dimension(struct job *j, struct h5_object *o)
{
    int err;

    if (dimension_is_made(j, o))
        return 0;
    err = import_parents(j, o->dim_path);
    if (!err) {
        err = drep_dimension_create(j->d, o->dim_path, o->length, o->unlimited);
        if (err)
            job_fail_drep(j, err);
    }
    if (!err)
        j->totals.dimensions++;
    if (!err && o->scale == 2)
        err = set_made_id(j, o);
    return err;
}

static int import_object(struct job *j, struct h5_object *o);

/* A fill value refers to what may come later in the walk: that is made now.  If it cannot be, this
 * is said in its own turn. */
static int make_early(struct job *j, struct h5_object *o, const char *path)
{
    int err;

    if (o->made || o->making)
        return 0;
    o->making = 1;
    err = import_parents(j, o->path);
    if (!err)
        err = import_object(j, o);
    o->making = 0;
    job_at(j, path);
    return err == DREP_ERR_NOMEM || err == DREP_ERR_STOPPED ? err : 0;
}

static int fill_ref_in(struct value_move *mv, int region, void *h, drep_ref *d)
{
    struct job *j = mv->j;
    hdset_reg_ref_t none = {0};
    hid_t object = -1;
    struct h5_object *o;
    int err = 0;

    if (memcmp(h, &none, region ? sizeof none : sizeof(hobj_ref_t)) != 0)
        object = H5Rdereference2(j->h, H5P_DEFAULT, region ? H5R_DATASET_REGION : H5R_OBJECT, h);
    o = object > 0 ? job_find(j, h5_address(object)) : NULL;
    if (object > 0)
        H5Oclose(object);
    if (o)
        err = make_early(j, o, mv->path);
    return err ? err : ref_in(mv, region, h, d);
}

/* The fill value in HDF5's memory becomes one element of the container's datatype. */
static int convert_fill(struct h5_source *s, void *h, drep_spec *spec, struct value_move *mv)
{
    void *held = move_alloc(mv, s->map.dsize);
    void *own = move_alloc(mv, (size_t)drep_type_extent(s->map.type));
    int err = held && own ? move_in(mv, &s->map, 1, h, held) : DREP_ERR_NOMEM;

    if (!err) {
        err = drep_convert(s->map.type, own, s->map.held, held, 1, NULL);
        if (err)
            job_fail_drep(mv->j, err);
    }
    if (!err) {
        spec->fill = DREP_FILL_VALUE;
        spec->fill_value = own;
    }
    return err;
}

static int read_fill(struct job *j, const struct h5_object *o, struct h5_source *s, drep_spec *spec,
                     struct value_move *mv)
{
    H5D_fill_value_t defined = H5D_FILL_VALUE_DEFAULT;
    void *h;
    int err;

    if (H5Pfill_value_defined(s->dcpl, &defined) < 0)
        return job_fail_hdf5(j, "fill value");
    if (defined == H5D_FILL_VALUE_UNDEFINED)
        spec->fill = DREP_FILL_NONE;
    if (defined != H5D_FILL_VALUE_USER_DEFINED)
        return 0;
    h = calloc(1, s->map.hsize);
    if (!h)
        return job_no_memory(j);
    if (H5Pget_fill_value(s->dcpl, s->map.mem, h) < 0) {
        job_fail_hdf5(j, "fill value");
        job_say(j, HDF5_LOST, "fill", o->path, "%s", j->why);
        free(h);
        return 0;
    }
    err = convert_fill(s, h, spec, mv);
    if (s->map.variable) {
        hid_t one = H5Screate(H5S_SCALAR);

        H5Dvlen_reclaim(s->map.mem, one, H5P_DEFAULT, h);
        H5Sclose(one);
    }
    free(h);
    return err;
}

/* The dimension objects of a dataset's dimensions, made if need be. */
static int choose_dims(struct job *j, struct h5_object *o, const struct h5_source *s,
                       const char **names)
{
    struct h5_object *scales[H5S_MAX_RANK] = {NULL};
    int d, err = 0;

    if (o->scale && s->rank >= 1)
        scales[0] = o;
    else if (!scale_find(j, s, scales))
        return 0;
    for (d = 0; !err && d < s->rank; d++) {
        if (!scales[d])
            continue;
        /* It was made for another dataset, and others follow it. */
        if (scales[d] == o && o->place >= 0 && !o->placed && dimension_is_made(j, o))
            err = take_turn(j, o->dim_path, 1);
        else
            err = import_dimension(j, scales[d]);
        names[d] = scales[d]->dim_path;
    }
    return err;
}

/* The representation of the container may be narrower than the machine's. */
static int say_fill_rounded_in(struct job *j, const struct h5_object *o, const drep_spec *spec)
{
    size_t size = (size_t)drep_type_extent(spec->type);
    drep_dataset *ds = NULL;
    void *stored;
    int err;

    if (spec->fill != DREP_FILL_VALUE || drep_type_variable(spec->type))
        return 0;
    stored = calloc(1, size);
    err = stored ? drep_dataset_open(j->d, o->path, &ds) : DREP_ERR_NOMEM;
    if (!err)
        err = drep_dataset_fill(ds, spec->type, stored);
    if (!err && memcmp(stored, spec->fill_value, size) != 0)
        job_say(j, HDF5_LOST, "values", o->path, "fill value: rounded");
    drep_dataset_close(ds);
    free(stored);
    return err;
}

static int create_drep_dataset(struct job *j, struct h5_object *o, struct h5_source *s,
                               struct value_move *mv)
{
    int64_t dims[H5S_MAX_RANK], maxdims[H5S_MAX_RANK], chunk[H5S_MAX_RANK];
    const char *names[H5S_MAX_RANK] = {NULL};
    drep_filter filters[DREP_MAX_FILTERS];
    drep_spec spec = DREP_SPEC(.type = s->map.type, .datarep = s->datarep, .rank = s->rank,
                               .dims = s->rank > 0 ? dims : NULL,
                               .maxdims = s->rank > 0 ? maxdims : NULL, .placed = s->placed);
    int d, err = 0;

    for (d = 0; d < s->rank; d++) {
        dims[d] = (int64_t)s->dims[d];
        maxdims[d] = s->maxdims[d] == H5S_UNLIMITED ? DREP_UNLIMITED : (int64_t)s->maxdims[d];
    }
    if (s->layout == H5D_CHUNKED && s->rank > 0) {
        err = filters_in(j, o->path, s, filters, &spec.nfilters);
        spec.filters = filters;
    }
    if (!err && s->rank >= 0) {
        if (!pin_mapped_layout(j, o->path, s, &spec, chunk, filters))
            layout_in(j, o->path, s, &spec, chunk);
        err = read_fill(j, o, s, &spec, mv);
    }
    if (!err && s->rank > 0) {
        err = choose_dims(j, o, s, names);
        spec.dim_names = names;
    }
    if (err)
        return err;
    /* What the layout left without use. */
    if (spec.nfilters == 0)
        spec.filters = NULL;
    if (spec.layout == DREP_COMPACT || spec.layout == DREP_CONTIGUOUS)
        spec.chunk = NULL;
    err = drep_dataset_create(j->d, o->path, &spec, NULL);
    if (!err)
        err = say_fill_rounded_in(j, o, &spec);
    return err ? job_fail_drep(j, err) : set_made_id(j, o);
}

static int import_dataset(struct job *j, struct h5_object *o)
{
    struct value_move mv = {.j = j, .ref = fill_ref_in, .path = o->path};
    struct h5_source s;
    int err;

    if (o->scale == 2)
        return import_dimension(j, o);
    err = source_open(j, o, &s);
    if (err)
        return err;
    err = create_drep_dataset(j, o, &s, &mv);
    if (!err) {
        j->totals.datasets++;
        j->total += s.rank < 0
                        ? 0
                        : (uint64_t)H5Sget_simple_extent_npoints(s.space) * (uint64_t)s.map.hsize;
    }
    move_release(&mv);
    source_close(&s);
    return err;
}

static int import_type(struct job *j, struct h5_object *o)
{
    hid_t type = H5Oopen_by_addr(j->h, (haddr_t)o->key);
    drep_type *stated = NULL;
    struct map m;
    int err =
        type > 0 ? type_note_read(j, type, NULL, type, &stated) : job_fail_hdf5(j, "datatype");

    if (!err)
        err = map_from_hdf5(j, type, stated, ORDER_SILENT, NULL, &m);
    drep_type_free(stated);
    if (type > 0)
        H5Tclose(type);
    if (err)
        return err;
    err = drep_type_commit(j->d, o->path, m.type);
    map_release(&m);
    j->totals.types += !err;
    return err ? job_fail_drep(j, err) : set_made_id(j, o);
}

static int import_object(struct job *j, struct h5_object *o)
{
    int err;

    if (o->made && o->scale == 2 && o->placed)
        return 0;
    if (o->made)
        return take_turn(j, o->path, o->scale == 2);
    if (o->kind == DREP_OBJ_DATASET)
        return import_dataset(j, o);
    if (o->kind == DREP_OBJ_TYPE)
        return import_type(j, o);
    err = drep_group_create(j->d, o->path, 0);
    /* It may have been made for a dimension in it. */
    if (err == DREP_ERR_EXISTS)
        err = take_turn(j, o->path, 0);
    else if (err)
        job_fail_drep(j, err);
    if (err)
        return err;
    j->totals.groups++;
    return set_made_id(j, o);
}

/* ---------------------------------------------------------- walk 3: links */

static int keep_circle(struct h5_link_walk *w, const char *path, const struct h5_object *to)
{
    struct job *j = w->j;
    struct odd_link link = {.group = w->group,
                            .position = w->position,
                            .name = strdup(strrchr(path, '/') + 1),
                            .target = to->key};

    if (!link.name)
        return job_no_memory(j);
    job_say(j, HDF5_KEPT, "link", path, "a hard link to %s, above it, is in \"%s\" of its group",
            to->path, KEEP_CIRCLES);
    return odd_link_add(j, &link);
}

static int import_hard_link(struct h5_link_walk *w, hid_t group, const char *name, const char *path)
{
    struct job *j = w->j;
    struct h5_object *o;
    H5O_info_t info;
    int err;

    if (H5Oget_info_by_name2(group, name, &info, H5O_INFO_BASIC, H5P_DEFAULT) < 0)
        return job_fail_hdf5(j, "link");
    o = job_find(j, (uint64_t)info.addr);
    if (!o)
        return job_fail(j, DREP_ERR_UNSUPPORTED, "an object of unknown kind");
    if (strcmp(o->link_path ? o->link_path : o->path, path) == 0)
        return import_object(j, o);
    if (!o->made)
        return job_fail(j, DREP_ERR_UNSUPPORTED, "hard link to %s, which is not kept", o->path);
    err = drep_link_hard(j->d, o->path, path);
    if (err == DREP_ERR_ARG && o->kind == DREP_OBJ_GROUP)
        return keep_circle(w, path, o);
    j->totals.links += !err;
    return err ? job_fail_drep(j, err) : 0;
}

/* So that HDF5 gives out the bytes of links whose class nobody registered here. */
/* A link of a user's class, or one whose target is no text to us. */
static int keep_odd_link(struct h5_link_walk *w, hid_t group, const char *name, int cls,
                         const char *path)
{
    struct job *j = w->j;
    struct odd_link link = {.group = w->group, .position = w->position, .cls = cls};
    H5L_info_t info;

    if ((cls > H5L_TYPE_EXTERNAL && !user_class(cls)) ||
        H5Lget_info(group, name, &info, H5P_DEFAULT) < 0)
        return job_fail_hdf5(j, "link");
    link.size = info.u.val_size;
    link.name = strdup(strrchr(path, '/') + 1);
    link.data = calloc(link.size + 1, 1);
    if (!link.name || !link.data ||
        (link.size && H5Lget_val(group, name, link.data, link.size, H5P_DEFAULT) < 0)) {
        free(link.name);
        free(link.data);
        return job_fail_hdf5(j, "link");
    }
    job_say(j, HDF5_KEPT, "link", path, "a link %s is in \"%s\" of its group",
            cls > H5L_TYPE_EXTERNAL ? "of a user's own class" : "whose target is not UTF-8",
            KEEP_NOTES);
    return odd_link_add(j, &link);
}

/* Soft and external links hold their targets as text. */
static int make_text_link(struct h5_link_walk *w, hid_t group, const char *name,
                          const H5L_info_t *link, const char *path)
{
    struct job *j = w->j;
    char *value = calloc(link->u.val_size + 1, 1);
    const char *file, *target;
    unsigned flags;
    int err;

    if (!value)
        return job_no_memory(j);
    if (H5Lget_val(group, name, value, link->u.val_size, H5P_DEFAULT) < 0)
        err = job_fail_hdf5(j, "link");
    else if (link->type == H5L_TYPE_SOFT)
        err = drep_link_soft(j->d, value, path);
    else if (H5Lunpack_elink_val(value, link->u.val_size, &flags, &file, &target) < 0)
        err = job_fail_hdf5(j, "link");
    else
        err = drep_link_external(j->d, file, target, path);
    if (err && !*j->why)
        job_fail_drep(j, err);
    j->totals.links += !err;
    free(value);
    if (err == DREP_ERR_NAME || err == DREP_ERR_ARG || err == DREP_ERR_LIMIT)
        err = keep_odd_link(w, group, name, (int)link->type, path);
    return err;
}

static int keep_name(struct h5_link_walk *w, const char *name, const char *path)
{
    struct job *j = w->j;
    struct odd_link link = {
        .group = w->group, .name = strdup(strrchr(path, '/') + 1), .was = strdup(name)};

    if (!link.name || !link.was) {
        free(link.name);
        free(link.was);
        return job_no_memory(j);
    }
    job_say(j, HDF5_KEPT, "name", path, "its name in HDF5 is in \"%s\" of its group", KEEP_NOTES);
    return odd_link_add(j, &link);
}

static int import_any_link(struct h5_link_walk *w, hid_t group, const char *name,
                           const H5L_info_t *link, const char *path)
{
    int err = job_stopped(w->j);

    if (err)
        return err;
    if (link->type == H5L_TYPE_HARD)
        err = import_hard_link(w, group, name, path);
    else if (link->type == H5L_TYPE_SOFT || link->type == H5L_TYPE_EXTERNAL)
        err = make_text_link(w, group, name, link, path);
    else
        err = keep_odd_link(w, group, name, (int)link->type, path);
    if (!err && strcmp(strrchr(path, '/') + 1, plain_name(w->j, group, name)) != 0)
        err = keep_name(w, name, path);
    return err;
}

static herr_t import_link(hid_t group, const char *name, const H5L_info_t *link, void *ctx)
{
    struct h5_link_walk *w = ctx;
    struct job *j = w->j;
    char *path, *source;
    H5O_info_t info;

    *j->why = 0;
    if (link->type == H5L_TYPE_HARD &&
        H5Oget_info_by_name2(group, name, &info, H5O_INFO_BASIC, H5P_DEFAULT) >= 0 &&
        is_of_netcdf(group, name, &info))
        return 0;
    w->err = import_member_paths(j, w->group, group, name, &path, &source);
    if (!w->err) {
        job_at(j, path);
        w->err = import_any_link(w, group, name, link, path);
        w->position += !w->err;
        w->err = job_skip(j, w->err, link->type == H5L_TYPE_HARD ? "object" : "link", path,
                          "not carried");
        free(path);
        free(source);
    }
    return w->err ? -1 : 0;
}

/* The scales of groups whose links are not in the order that netCDF-4 says of its dimensions, by
 * their groups and in that order. */
struct placed_scales {
    struct h5_object **scale;
    size_t n, next;
};

static int by_place(const void *left, const void *right)
{
    const struct h5_object *a = *(struct h5_object *const *)left;
    const struct h5_object *b = *(struct h5_object *const *)right;

    if (a->group != b->group)
        return a->group < b->group ? -1 : 1;
    return a->place < b->place ? -1 : a->place > b->place;
}

/* Drops the scales that come in the turn of their links: n of one group, in that order. */
static size_t drop_ordered(struct h5_object **scale, size_t n)
{
    size_t i;

    for (i = 1; i < n && scale[i - 1]->place <= scale[i]->place; i++)
        ;
    if (i >= n)
        return 0;
    for (i = 0; i < n; i++)
        scale[i]->placed = 1;
    return n;
}

static int placed_find(struct job *j, struct placed_scales *p)
{
    size_t i, n = 0, first = 0;

    for (i = 0; i < j->objects.n; i++)
        n += j->objects.list[i].scale && j->objects.list[i].place >= 0;
    p->scale = calloc(n + 1, sizeof *p->scale);
    if (!p->scale)
        return job_no_memory(j);
    for (i = 0; i < j->objects.n; i++) {
        struct h5_object *o = &j->objects.list[i];

        if (!o->scale || o->place < 0)
            continue;
        if (p->n > first && p->scale[first]->group != o->group)
            p->n = first = first + drop_ordered(p->scale + first, p->n - first);
        p->scale[p->n++] = o;
    }
    p->n = first + drop_ordered(p->scale + first, p->n - first);
    qsort(p->scale, p->n, sizeof *p->scale, by_place);
    return 0;
}

/* The dimensions of a group, before whatever uses them; groups come in their order. */
static int make_placed(struct job *j, size_t group, struct placed_scales *p)
{
    int err = 0;

    while (p->next < p->n && p->scale[p->next]->group < group)
        p->next++;
    while (!err && p->next < p->n && p->scale[p->next]->group == group) {
        struct h5_object *o = p->scale[p->next++];

        err = job_skip(j, import_dimension(j, o), "object", o->path, "not carried");
    }
    return err;
}

static int import_objects(struct job *j)
{
    struct placed_scales placed = {0};
    size_t i;
    int err = set_made_id(j, &j->objects.list[0]);

    j->totals.groups++;
    if (!err)
        err = placed_find(j, &placed);
    for (i = 0; !err && i < j->objects.n; i++) {
        if (j->objects.list[i].kind != DREP_OBJ_GROUP || !j->objects.list[i].made)
            continue;
        err = make_placed(j, i, &placed);
        if (!err)
            err = import_each_link(j, i, import_link);
    }
    free(placed.scale);
    return err;
}

/* ---------------------------------------------------------------- walk 4: data */

/* Notes about a datatype of its own: of a dataset's data, or a named one. */
static int note_type(struct mover *m, const struct notes *notes)
{
    size_t i;
    int err = 0;

    for (i = 0; !err && i < notes->n; i++)
        err = notes_add(m->j, &m->object_notes, "type %s", notes->line[i]);
    return err;
}

static int move_named(struct mover *m, hid_t object)
{
    struct notes notes = {0};
    struct map map;
    int err = map_from_hdf5(m->j, object, NULL, ORDER_NAMED, &notes, &map);

    if (!err) {
        map_release(&map);
        err = note_type(m, &notes);
    }
    notes_release(&notes);
    return err;
}

static int note_storage(struct mover *m, const struct h5_source *s)
{
    drep_dataset *ds = NULL;
    drep_dsinfo info = DREP_DSINFO;
    int err = drep_dataset_open(m->j->d, m->o->path, &ds);

    if (!err)
        err = drep_dataset_info(ds, &info);
    if (err)
        job_fail_drep(m->j, err);
    else
        err = layout_notes(m->j, &info, s, &m->object_notes);
    drep_dataset_close(ds);
    return err ? err : keep_mapping(m->j, m->o->path, s, &m->object_notes);
}

static int move_dataset(struct mover *m)
{
    struct h5_source s;
    int shared = 0, err = source_open(m->j, m->o, &s);

    if (err)
        return err;
    err = keep_sharing(m->j, &m->sharings, s.type, m->o->path, NULL, &shared);
    if (!err && !shared)
        err = note_type(m, &s.notes);
    if (!err)
        err = note_storage(m, &s);
    if (!err)
        err = import_data(m->j, m->o, &s, &m->object_notes);
    source_close(&s);
    return err;
}

/* Says which numbers are more than a container's datatypes can say. */
static void say_types(struct mover *m)
{
    size_t i;

    for (i = 0; i < m->object_notes.n; i++) {
        const char *is = strstr(m->object_notes.line[i], " is=");
        char cls[12];
        int size, precision;

        if (!is || sscanf(is, " is=%11[a-z],size=%d,order=%*[a-z],precision=%d", cls, &size,
                          &precision) != 3)
            continue;
        if (precision == 0)
            job_say(m->j, HDF5_LOST, "datatype", m->o->path,
                    "damaged: a number of 0 bits in %d bytes, which are kept", size);
        else if (strcmp(cls, "real") == 0 && size == 16 && precision == 64)
            job_say(m->j, HDF5_KEPT, "datatype", m->o->path,
                    "a real of 64 bits in 16 bytes is taken for a pair of doubles");
        else if (strcmp(cls, "time") == 0 || size > 32)
            job_say(m->j, HDF5_KEPT, "datatype", m->o->path,
                    "an unsupported number is kept as bytes; \"%s\" says what it is: %s",
                    KEEP_NOTES, is + 4);
        else
            job_say(m->j, HDF5_STORED, "datatype", m->o->path,
                    "\"%s\" holds more about a number: %s", KEEP_NOTES, is + 4);
    }
}

/* Containers have no place for it, and HDF5 no call that would set it again. */
static int64_t has_time(hid_t object)
{
    H5O_info_t info;

    return H5Oget_info2(object, &info, H5O_INFO_TIME) >= 0 && info.ctime != 0;
}

static int move_object(struct job *j, size_t i)
{
    struct mover m = {.j = j, .o = &j->objects.list[i]};
    hid_t object;
    int err;

    job_at(j, m.o->path);
    object = H5Oopen_by_addr(j->h, (haddr_t)m.o->key);
    if (object < 0) {
        job_fail_hdf5(j, "attributes");
        job_say(j, HDF5_LOST, "attribute", m.o->path, "%s", j->why);
        return 0;
    }
    j->dated += has_time(object);
    err = import_attributes(&m, object);
    if (!err && m.o->scale)
        err = scale_mark(j, object, m.o);
    if (!err)
        err = keep_object(j, object, i, &m.object_notes);
    if (!err && m.o->scale == 2)
        err = layout_notes_bare(j, object, m.o, &m.object_notes);
    if (!err && m.o->scale == 2)
        err = scale_note_type(j, object, &m.object_notes);
    if (!err && i == 0)
        err = keep_file(j, &m.object_notes);
    if (!err && m.o->kind == DREP_OBJ_TYPE)
        err = move_named(&m, object);
    H5Oclose(object);
    if (!err && m.o->kind == DREP_OBJ_DATASET && m.o->scale != 2)
        err = move_dataset(&m);
    if (!err)
        say_types(&m);
    if (!err)
        err = notes_write(j, &m.object_notes, m.o->path);
    if (!err)
        err = sharings_write(j, &m.sharings, m.o->path);
    notes_release(&m.object_notes);
    sharings_release(&m.sharings);
    return err;
}

/* ------------------------------------------------------------------ the whole */

int import_all(struct job *j)
{
    static const char *const kinds[] = {"", "group", "dataset", "datatype", "dimension"};
    size_t i;
    int err = encodings_load(j);

    if (!err)
        err = import_find_objects(j);
    if (!err)
        err = keep_defaults(j);
    if (!err) {
        scale_find_uses(j);
        err = import_objects(j);
    }
    for (i = 0; !err && i < j->objects.n; i++) {
        const struct h5_object *o = &j->objects.list[i];
        const char *kind = kinds[o->scale == 2 ? DREP_OBJ_DIMENSION : o->kind];

        if (!o->made)
            continue;
        job_say(j, HDF5_MADE, kind, o->path, "%s", kind);
        err = job_skip(j, move_object(j, i), kind, o->path, "not all of it is kept");
    }
    guard_report(j);
    if (j->dated)
        job_say(j, HDF5_STORED, "times", "", "the times of change of %lld objects are not kept",
                (long long)j->dated);
    if (j->untracked)
        job_say(j, HDF5_STORED, "order", "",
                "the links of %lld groups are in no order but that of their names; export tracks "
                "the order in which they were made",
                (long long)j->untracked);
    if (!err && j->incomplete && !j->o->partial)
        err =
            job_fail(j, DREP_ERR_UNSUPPORTED,
                     "elements of %lld %s could not be read; --partial imports the rest, and marks "
                     "them",
                     (long long)j->incomplete, j->incomplete == 1 ? "dataset" : "datasets");
    return err;
}
