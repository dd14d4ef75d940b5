/* export.c - a container becomes an HDF5 file.
 *
 * The import backwards: find the objects, make them and their links in order, then move
 * attributes and data, last the attributes that make dimension objects the dimension
 * scales of HDF5 and netCDF-4.  What import kept in attributes of ours comes back. */
/* SPDX-License-Identifier: MIT */
#include "tools/h5/export.h"
#include "base/mem.h"
#include "base/vec.h"
#include "format/utf8.h"
#include "schema/members.h"
#include "schema/paths.h"
#include "tools/h5/attribute_out.h"
#include "tools/h5/data_out.h"
#include "tools/h5/drain.h"
#include "tools/h5/encoding.h"
#include "tools/h5/interface.h"
#include "tools/h5/job.h"
#include "tools/h5/keep.h"
#include "tools/h5/layout.h"
#include "tools/h5/map.h"
#include "tools/h5/named.h"
#include "tools/h5/netcdf.h"
#include "tools/h5/note.h"
#include "tools/h5/null.h"
#include "tools/h5/object.h"
#include "tools/h5/odd_link.h"
#include "tools/h5/reference.h"
#include "tools/h5/scale.h"
#include "tools/h5/scale_out.h"
#include "tools/h5/type_in.h"
#include "tools/h5/type_note.h"
#include "tools/h5/type_out.h"
#include "tools/h5/values.h"
#include "tools/h5/verify.h"
#include "tools/h5/virtual_out.h"
#include <datarep.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ------------------------------------------------------------ walk 1: objects */

struct group_walk {
    struct job *j;
    size_t group;
    hid_t lcpl;
    struct notes object_notes; /* of the group */
    struct odd_link *odd;      /* links that only HDF5 has, in the order of their positions */
    size_t nodd, next_odd;
    int64_t position; /* links made */
    char *source;     /* path of the group, without a slash at its end */
    struct members dims;
    size_t next_dim;
    int err;
};

/* The dataset that the scale of a dimension is in HDF5, as in netCDF: it has its name, is in its
 * group, and lies along it first; 0: none. */
static uint64_t variable_of(struct job *j, const char *path, uint64_t dimension, int *kind)
{
    drep_objinfo object = DREP_OBJINFO;
    drep_dataset *ds = NULL;
    drep_dsinfo *info = calloc(1, sizeof *info);
    uint64_t id = 0;

    if (info)
        *info = DREP_DSINFO;
    *kind = drep_stat(j->d, path, &object) == 0 ? object.kind : 0;
    if (info && *kind == DREP_OBJ_DATASET && drep_dataset_open(j->d, path, &ds) == 0 &&
        drep_dataset_info(ds, info) == 0 && info->rank > 0 && info->dim_ids[0] == dimension)
        id = object.id;
    drep_dataset_close(ds);
    free(info);
    return id;
}

/* True if a dimension of the group has no coordinates and needs this name in HDF5. */
static int is_taken(struct group_walk *w, const char *name)
{
    const struct h5_object *o = NULL;
    drep_objinfo info = DREP_OBJINFO;
    char *address;

    if (asprintf(&address, "%s//#%s", w->source, name) < 0)
        return 0;
    if (drep_stat(w->j->d, address, &info) == 0)
        o = job_find(w->j, info.id);
    free(address);
    return o && o->kind == DREP_OBJ_DIMENSION && o->scale == 2;
}

/* netCDF's name of a dataset beside a dimension; malloc'ed, NULL if its own name does. */
static char *name_beside(struct group_walk *w, const char *name)
{
    char *other;

    if (!is_taken(w, name) || asprintf(&other, NETCDF_NON_COORD "%s", name) < 0)
        return NULL;
    return other;
}

/* Paths of a member in the destination, and in the source if that is another. */
static int export_member_paths(struct group_walk *w, const char *name, int kind, char **path,
                               char **source)
{
    const struct h5_object *g = &w->j->objects.list[w->group];
    char *was = kind == DREP_OBJ_DATASET ? name_beside(w, name) : NULL;

    if (!was)
        was = notes_old_name(&w->object_notes, "link-was", name);

    *path = path_of_member(g->path, was && *was && !strchr(was, '/') ? was : name);
    *source = g->source || was ? path_of_member(g->source ? g->source : g->path, name) : NULL;
    if (*path && (g->source || was) && !*source) {
        free(*path);
        *path = NULL;
    }
    free(was);
    return *path ? 0 : job_no_memory(w->j);
}

/* Each object keeps its whole path, and the HDF5 library follows one step by step: what is as
 * deep as no other command goes (walk.c) would take time and memory by the square. */
#define GROUPS_MAX 512

static int too_deep(const char *path)
{
    int n = 0;

    for (; *path && n <= GROUPS_MAX; path++)
        n += *path == '/';
    return n > GROUPS_MAX;
}

/* The HDF5 path of a dimension's scale, which is also that of its coordinates, and its address. */
static int dimension_paths(struct group_walk *w, const char *name, char **path, char **source)
{
    const struct h5_object *g = &w->j->objects.list[w->group];
    char *mark = NULL;
    int err = export_member_paths(w, name, 0, path, source);

    if (err)
        return err;
    free(*source);
    *source = asprintf(&mark, "#%s", name) < 0
                  ? NULL
                  : path_of_member(g->source ? g->source : g->path, mark);
    free(mark);
    if (*source)
        return 0;
    free(*path);
    return job_no_memory(w->j);
}

/* A dimension whose coordinates are a dataset of their own has no object in HDF5. */
static int find_dimension(const drep_diminfo *info, void *ctx)
{
    struct group_walk *w = ctx;
    struct job *j = w->j;
    char *path = NULL, *source = NULL, *member = NULL;
    uint64_t variable;
    struct h5_object *o;
    int kind = 0;

    w->err = dimension_paths(w, info->name, &path, &source);
    if (w->err)
        return w->err;
    if (asprintf(&member, "%s/%s", w->source, info->name) < 0) {
        free(path);
        free(source);
        return w->err = job_no_memory(j);
    }
    variable = variable_of(j, member, info->id, &kind);
    free(member);
    if (info->kind == DREP_OBJ_UNKNOWN || (kind != 0 && kind != DREP_OBJ_DATASET)) {
        job_say(j, HDF5_LOST, "dimension", path,
                info->kind == DREP_OBJ_UNKNOWN ? "left out: written by a newer version"
                                               : "left out: HDF5 needs its name for a member");
        free(path);
        free(source);
        return 0;
    }
    w->err = job_add(j, info->id, DREP_OBJ_DIMENSION, path, source);
    if (w->err)
        return w->err;
    o = &j->objects.list[j->objects.n - 1];
    o->length = info->len;
    o->unlimited = info->unlimited;
    o->scale = variable ? 1 : 2;
    o->digest = variable;
    return 0;
}

static int export_find_object(const drep_linkinfo *link, void *ctx)
{
    struct group_walk *w = ctx;
    struct job *j = w->j;
    char *path, *source;

    if (link->link != DREP_LINK_HARD || job_find(j, link->id))
        return 0;
    w->err = export_member_paths(w, link->name, link->kind, &path, &source);
    if (!w->err && too_deep(path)) {
        job_say(j, HDF5_LOST, "object", path, "deeper than %d groups: left out with all below it",
                GROUPS_MAX);
        free(path);
        free(source);
        return 0;
    }
    if (!w->err)
        w->err = job_add(j, link->id, link->kind, path, source);
    return w->err;
}

static int by_position(const void *a, const void *b)
{
    const struct odd_link *x = a, *y = b;

    return x->position < y->position ? -1 : x->position > y->position;
}

/* "CLASS POSITION HEX NAME" */
static int parse_odd_link(struct job *j, const char *text, struct odd_link *l)
{
    long long position;
    int cls, at = 0, digits = 0;

    memset(l, 0, sizeof *l);
    if (sscanf(text, "%d %lld %n%*s%n", &cls, &position, &at, &digits) < 2 || digits <= at ||
        text[digits] != ' ' || cls > H5L_TYPE_MAX ||
        (cls < H5L_TYPE_EXTERNAL && cls != H5L_TYPE_SOFT))
        return 0;
    l->cls = cls;
    l->position = position;
    l->name = strdup(text + digits + 1);
    l->data = text[at] == '-' ? calloc(1, 1) : hex_to(text + at, (size_t)(digits - at), &l->size);
    if (l->name && l->data)
        return 0;
    free(l->name);
    free(l->data);
    memset(l, 0, sizeof *l);
    return job_no_memory(j);
}

/* The links of a group that only HDF5 has: circles and those of users' own classes. */
static int read_odd_links(struct group_walk *w, const char *path)
{
    struct odd_link *all;
    size_t i, n;
    int err = circles_read(w->j, path, &w->odd, &w->nodd);

    for (i = n = 0; i < w->object_notes.n; i++)
        n += strncmp(w->object_notes.line[i], "odd-link ", 9) == 0;
    if (err || n == 0)
        return err;
    all = realloc(w->odd, (w->nodd + n) * sizeof *all);
    if (!all)
        return job_no_memory(w->j);
    w->odd = all;
    for (i = 0; !err && i < w->object_notes.n; i++) {
        if (strncmp(w->object_notes.line[i], "odd-link ", 9) != 0)
            continue;
        err = parse_odd_link(w->j, w->object_notes.line[i] + 9, &all[w->nodd]);
        w->nodd += all[w->nodd].name != NULL;
    }
    qsort(all, w->nodd, sizeof *all, by_position);
    return err;
}

static void walk_release(struct group_walk *w)
{
    size_t i;

    for (i = 0; i < w->nodd; i++) {
        free(w->odd[i].name);
        free(w->odd[i].data);
    }
    free(w->odd);
    notes_release(&w->object_notes);
    members_release(&w->dims);
    H5Pclose(w->lcpl);
}

static int make_odd_links(struct group_walk *w, int all);
static int make_dimensions(struct group_walk *w, uint64_t before);

/* Calls fn for each link of a group; making it, also makes its dimensions and the links that only
 * HDF5 has. */
static int export_each_link(struct job *j, size_t i, drep_list_fn *fn, int make)
{
    struct group_walk w = {.j = j, .group = i};
    char *path = job_source(j, &j->objects.list[i]);
    int err;

    w.source = path && strcmp(path, "/") == 0 ? path + 1 : path;
    err = path ? notes_read(j, path, &w.object_notes) : job_no_memory(j);

    if (!err && make)
        err = read_odd_links(&w, path);
    w.lcpl = H5Pcreate(H5P_LINK_CREATE);
    if (!err) {
        err = make ? dimensions_list(&w.dims, j->d, path, DREP_BY_CREATION)
                   : drep_dimension_list(j->d, path, DREP_BY_CREATION, find_dimension, &w);
        if (!err)
            err = drep_list(j->d, path, DREP_BY_CREATION, fn, &w);
        if (err && !w.err)
            job_fail_drep(j, err);
    }
    if (!err && make)
        err = make_dimensions(&w, UINT64_MAX);
    if (!err && make)
        err = make_odd_links(&w, 1);
    walk_release(&w);
    free(path);
    return err;
}

static int export_find_objects(struct job *j)
{
    drep_objinfo info = DREP_OBJINFO;
    size_t i;
    int err = drep_stat(j->d, j->o->root ? j->o->root : "/", &info);

    if (err)
        return job_fail_drep(j, err);
    if (info.kind != DREP_OBJ_GROUP)
        return job_fail(j, DREP_ERR_KIND, "%s: not a group", j->o->root);
    err = job_add(j, info.id, DREP_OBJ_GROUP, strdup("/"), NULL);
    for (i = 0; !err && i < j->objects.n; i++)
        if (j->objects.list[i].kind == DREP_OBJ_GROUP)
            err = export_each_link(j, i, export_find_object, 0);
    return err;
}

/* ------------------------------------------------------------ walk 2: making */

static int set_made_address(struct job *j, struct h5_object *o, hid_t object)
{
    H5O_info_t info;

    if (object < 0 || H5Oget_info2(object, &info, H5O_INFO_BASIC) < 0)
        return job_fail_hdf5(j, "not made");
    o->made = (uint64_t)info.addr;
    return 0;
}

/* The last name of a path says which character set it is in: bytes that are not UTF-8 cannot be. */
static void mark_name(hid_t lcpl, const char *path)
{
    const char *name = strrchr(path, '/');
    H5T_cset_t set = H5T_CSET_UTF8;
    uint32_t code;
    size_t n;

    for (name = name ? name + 1 : path; *name; name += n)
        if ((n = utf8_next((const uint8_t *)name, strlen(name), &code)) == 0) {
            set = H5T_CSET_ASCII;
            break;
        }
    H5Pset_char_encoding(lcpl, set);
}

static int make_group(struct job *j, struct h5_object *o, hid_t lcpl)
{
    hid_t gcpl = H5Pcreate(H5P_GROUP_CREATE), group;
    int err;

    H5Pset_link_creation_order(gcpl, H5P_CRT_ORDER_TRACKED | H5P_CRT_ORDER_INDEXED);
    H5Pset_attr_creation_order(gcpl, H5P_CRT_ORDER_TRACKED);
    group = H5Gcreate2(j->h, o->path, lcpl, gcpl, H5P_DEFAULT);
    err = set_made_address(j, o, group);
    if (group > 0)
        H5Gclose(group);
    H5Pclose(gcpl);
    j->totals.groups += !err;
    return err;
}

/* A named datatype, and its counterpart in HDF5. */
static int own_type(struct job *j, const struct h5_object *o, drep_type **type, hid_t *out)
{
    char *path = job_source(j, o);
    struct notes all = {0}, notes = {0};
    int err = path ? notes_read(j, path, &all) : job_no_memory(j);

    if (!err)
        err = notes_of_type(j, &all, "type", NULL, &notes);
    if (!err) {
        err = drep_type_open(j->d, path, type);
        if (err)
            job_fail_drep(j, err);
    }
    if (!err) {
        *out = type_out_make(j, *type, &notes, 1);
        err = *out ? 0 : DREP_ERR_UNSUPPORTED;
    }
    notes_release(&all);
    notes_release(&notes);
    free(path);
    return err;
}

/* A named datatype before it has a name: datasets may be of it. */
static int prepare_type(struct job *j, struct h5_object *o)
{
    drep_type *type = NULL;
    hid_t tcpl, t = 0;
    int err = own_type(j, o, &type, &t);

    if (!err && j->netcdf && !netcdf_can_name(t))
        err = job_fail(j, DREP_ERR_UNSUPPORTED, "netCDF has no named datatypes of this kind");
    if (!err) {
        tcpl = H5Pcreate(H5P_DATATYPE_CREATE);
        H5Pset_attr_creation_order(tcpl, H5P_CRT_ORDER_TRACKED);
        err = H5Tcommit_anon(j->h, t, tcpl, H5P_DEFAULT) < 0 ? job_fail_hdf5(j, "datatype")
                                                             : set_made_address(j, o, t);
        if (!err)
            err = type_note_write(j, t, NULL, t, type);
        if (!err)
            err = netcdf_named(j, t);
        H5Pclose(tcpl);
    }
    if (t > 0 && err)
        H5Tclose(t);
    else
        o->handle = t;
    drep_type_free(type);
    return err;
}

static int prepare_types(struct job *j)
{
    size_t i;
    int err = 0;

    for (i = 0; !err && i < j->objects.n; i++)
        if (j->objects.list[i].kind == DREP_OBJ_TYPE)
            err = job_skip(j, prepare_type(j, &j->objects.list[i]), "datatype",
                           j->objects.list[i].path, "not carried");
    return err;
}

static int export_type(struct job *j, struct h5_object *o, hid_t lcpl)
{
    if (!o->handle)
        return 0; /* said already */
    if (H5Olink(o->handle, j->h, o->path, lcpl, H5P_DEFAULT) < 0)
        return job_fail_hdf5(j, "datatype");
    j->totals.types++;
    return 0;
}

/* The scale of a dimension that has no variable: its length and no values. */
static int export_dimension(struct job *j, struct h5_object *o, hid_t lcpl)
{
    hid_t dcpl = H5Pcreate(H5P_DATASET_CREATE), space, dset;
    hsize_t length = (hsize_t)o->length, most = H5S_UNLIMITED, chunk = LAYOUT_BARE_CHUNK;
    char *path = job_source(j, o);
    struct notes r = {0};
    const char *text;
    hid_t type;
    int64_t own;
    int err;

    if (path && drep_attr_read(j->d, path, DIM_SCALE_LENGTH, DREP_INT64_T, &own) == 0 && own >= 0)
        length = (hsize_t)own;
    err = path ? notes_read(j, path, &r) : job_no_memory(j);
    free(path);
    text = err ? NULL : notes_find(&r, "chunk");
    if (text && strtoull(text, NULL, 10) > 0 && strtoull(text, NULL, 10) <= UINT32_MAX)
        chunk = strtoull(text, NULL, 10);
    if (o->unlimited || text)
        H5Pset_chunk(dcpl, 1, &chunk);
    layout_times_out(j, &r, dcpl);
    type = scale_type(&r);
    notes_release(&r);
    H5Pset_attr_creation_order(dcpl, H5P_CRT_ORDER_TRACKED);
    space = H5Screate_simple(1, &length, o->unlimited ? &most : NULL);
    dset = err ? -1 : H5Dcreate2(j->h, o->path, type, space, lcpl, dcpl, H5P_DEFAULT);
    err = err ? err : set_made_address(j, o, dset);
    if (dset > 0)
        H5Dclose(dset);
    H5Sclose(space);
    H5Pclose(dcpl);
    j->totals.dimensions += !err;
    return err;
}

/* ------------------------------------------------------------- making datasets */

static int export_object(struct job *j, struct h5_object *o, hid_t lcpl);

/* The group at a path, and those above it. */
static int export_parents(struct job *j, const char *path, hid_t lcpl)
{
    char *parent = strdup(path);
    int err = parent ? 0 : job_no_memory(j);
    size_t i;

    for (char *slash = parent; !err && (slash = strchr(slash + 1, '/')) != NULL; *slash = '/') {
        *slash = 0;
        for (i = 0; !err && i < j->objects.n; i++)
            if (strcmp(j->objects.list[i].path, parent) == 0 &&
                j->objects.list[i].kind == DREP_OBJ_GROUP)
                err = export_object(j, &j->objects.list[i], lcpl);
    }
    free(parent);
    return err;
}

/* A fill value refers to what may come later in the walk: that is made now.  If it cannot be, this
 * is said in its own turn. */
static int fill_ref_out(struct value_move *mv, int region, void *h, drep_ref *d)
{
    struct job *j = mv->j;
    struct h5_object *o = d->object ? job_find(j, d->object) : NULL;
    hid_t lcpl;
    int err = 0;

    if (o && o->kind == DREP_OBJ_DIMENSION && o->scale == 1)
        o = job_find(j, o->digest);
    if (o && !o->made && !o->making) {
        lcpl = H5Pcreate(H5P_LINK_CREATE);
        o->making = 1;
        err = export_parents(j, o->path, lcpl);
        if (!err)
            err = export_object(j, o, lcpl);
        o->making = 0;
        H5Pclose(lcpl);
    }
    if (err == DREP_ERR_NOMEM || err == DREP_ERR_STOPPED)
        return err;
    return ref_out(mv, region, h, d);
}

static int say_fill_rounded_out(struct job *j, const struct h5_object *o, const struct drain *s)
{
    void *own = calloc(1, (size_t)drep_type_extent(s->info.type) + 1);
    int err = own ? drep_dataset_fill(s->ds, s->info.type, own) : DREP_ERR_NOMEM;

    if (err)
        job_fail_drep(j, err);
    else
        err = drain_say_rounded(j, o->path, "fill value: ", &s->map, s->info.type, 1, own);
    if (own)
        drep_vlen_free(s->info.type, 1, own);
    free(own);
    return err;
}

static int set_fill(struct job *j, const struct h5_object *o, const struct drain *s, hid_t dcpl)
{
    struct value_move mv = {.j = j, .ref = fill_ref_out, .path = o->path};
    void *d, *h;
    int err;

    /* libhdf5 would give readers addresses that nobody wrote, which they follow. */
    if (s->info.fill == DREP_FILL_NONE && s->map.variable)
        job_say(j, HDF5_STORED, "fill", o->path,
                "it has no fill value, but HDF5's default one: its elements hold addresses there");
    else if (s->info.fill == DREP_FILL_NONE)
        H5Pset_fill_value(dcpl, s->file, NULL);
    if (s->info.fill != DREP_FILL_VALUE)
        return 0;
    err = say_fill_rounded_out(j, o, s);
    if (err)
        return err;
    d = move_alloc(&mv, s->map.dsize);
    h = move_alloc(&mv, s->map.hsize);
    err = d && h ? drain_fill(j, s, d) : DREP_ERR_NOMEM;
    if (!err) {
        err = move_out(&mv, &s->map, 1, d, h);
        if (!err && H5Pset_fill_value(dcpl, s->map.mem, h) < 0)
            err = job_fail_hdf5(j, "fill value");
        drep_vlen_free(s->map.held, 1, d);
    }
    move_release(&mv);
    return err;
}

/* What libnetcdf reads behind the elements of a dataset that is shorter than its dimensions. */
static int set_longer_fill(struct job *j, const struct h5_object *o, const struct drain *s,
                           hid_t dcpl)
{
    if (s->info.fill == DREP_FILL_VALUE && !s->map.variable)
        return set_fill(j, o, s, dcpl);
    /* libhdf5 cannot read one of variable length where other elements are written. */
    if (s->info.fill == DREP_FILL_VALUE)
        job_say(j, HDF5_LOST, "fill", o->path,
                "it is shorter than its dimensions, and its fill value of variable length cannot "
                "stand behind its elements");
    else
        netcdf_fill(s->file, dcpl);
    return 0;
}

/* *longer: the space is longer than the elements of the container, for netCDF. */
static hid_t make_space(struct job *j, const drep_dsinfo *own, int *longer)
{
    hsize_t dims[DREP_MAX_RANK], maxdims[DREP_MAX_RANK];
    drep_dsinfo all = *own;
    const drep_dsinfo *info = &all;
    int d;

    netcdf_lengths(j, &all, longer);
    if (info->rank == DREP_NULL_SPACE)
        return H5Screate(H5S_NULL);
    if (info->rank == 0)
        return H5Screate(H5S_SCALAR);
    for (d = 0; d < info->rank; d++) {
        dims[d] = (hsize_t)info->dims[d];
        maxdims[d] = info->maxdims[d] == DREP_UNLIMITED ? H5S_UNLIMITED : (hsize_t)info->maxdims[d];
    }
    return H5Screate_simple(info->rank, dims, maxdims);
}

/* With the notes, or, where HDF5 does not take what they ask for, without. */
static hid_t create_h5_dataset(struct job *j, const struct h5_object *o, const struct drain *s,
                               const struct notes *r, hid_t lcpl)
{
    int longer;
    hid_t dcpl = H5Pcreate(H5P_DATASET_CREATE), space = make_space(j, &s->info, &longer), dset = -1;

    H5Pset_attr_creation_order(dcpl, H5P_CRT_ORDER_TRACKED);
    if (layout_out(j, o->path, &s->info, s->file, r, dcpl) == 0 &&
        (longer ? set_longer_fill(j, o, s, dcpl) : set_fill(j, o, s, dcpl)) == 0) {
        dset = layout_create(j, o->path, s->file, space, lcpl, dcpl);
        if (dset < 0)
            job_fail_hdf5(j, "not made");
    }
    if (dset > 0 && type_note_write(j, dset, NULL, s->file, s->info.type) != 0) {
        H5Dclose(dset);
        dset = -1;
    }
    H5Sclose(space);
    H5Pclose(dcpl);
    return dset;
}

/* True if the dataset that was made has the elements of the container. */
static int has_elements(struct job *j, const struct h5_object *o)
{
    struct job back = {.o = j->o, .d = j->d, .h = j->h, .lean = 1};
    int same;

    j->back = &back;
    same = export_data(j, o) == 0;
    j->back = NULL;
    return same;
}

/* As a virtual dataset, if import has noted its sources and they give its elements; else -1.  Where
 * nothing is compared, nobody knows that. */
static hid_t create_virtual(struct job *j, struct h5_object *o, const struct drain *s, hid_t lcpl)
{
    hid_t dcpl, space, dset = -1;
    int longer;

    if (!notes_find(&s->object_notes, "virtual") || s->info.rank <= 0 || !j->o->compare)
        return -1;
    dcpl = H5Pcreate(H5P_DATASET_CREATE);
    space = make_space(j, &s->info, &longer);
    H5Pset_attr_creation_order(dcpl, H5P_CRT_ORDER_TRACKED);
    if (virtual_out(j, &s->object_notes, space, dcpl) && set_fill(j, o, s, dcpl) == 0)
        dset = H5Dcreate_anon(j->h, s->file, space, dcpl, H5P_DEFAULT);
    if (dset > 0 && (set_made_address(j, o, dset) != 0 ||
                     type_note_write(j, dset, NULL, s->file, s->info.type) != 0 ||
                     !has_elements(j, o) || H5Olink(dset, j->h, o->path, lcpl, H5P_DEFAULT) < 0)) {
        H5Dclose(dset);
        dset = -1;
    }
    if (dset <= 0)
        job_say(j, HDF5_STORED, "layout", o->path,
                "a virtual dataset becomes an ordinary one: its sources are not beside the new "
                "file, or "
                "hold other elements");
    o->made = 0;
    H5Sclose(space);
    H5Pclose(dcpl);
    return dset;
}

static int export_dataset(struct job *j, struct h5_object *o, hid_t lcpl)
{
    struct notes none = {0};
    struct drain s;
    hid_t dset;
    int err = drain_open(j, o, &s);

    if (err)
        return err;
    dset = create_virtual(j, o, &s, lcpl);
    if (dset < 0)
        dset = create_h5_dataset(j, o, &s, &s.object_notes, lcpl);
    if (dset < 0 && s.object_notes.n)
        dset = create_h5_dataset(j, o, &s, &none, lcpl);
    err = dset < 0 ? DREP_ERR_UNSUPPORTED : set_made_address(j, o, dset);
    if (!err) {
        j->totals.datasets++;
        /* Once on the way out, and once on the way back. */
        j->total += (uint64_t)s.info.count * s.map.hsize * (j->o->compare ? 2 : 1);
    }
    if (dset > 0)
        H5Dclose(dset);
    drain_close(&s);
    return err;
}

static int export_object(struct job *j, struct h5_object *o, hid_t lcpl)
{
    /* A fill value may have referred to it; a named datatype has its link to come. */
    if (o->made && o->kind != DREP_OBJ_TYPE)
        return 0;
    mark_name(lcpl, o->path);
    switch (o->kind) {
    case DREP_OBJ_GROUP:
        return make_group(j, o, lcpl);
    case DREP_OBJ_DATASET:
        return export_dataset(j, o, lcpl);
    case DREP_OBJ_TYPE:
        return export_type(j, o, lcpl);
    case DREP_OBJ_DIMENSION:
        return export_dimension(j, o, lcpl);
    default:
        return job_fail(j, DREP_ERR_UNSUPPORTED, "an object of unknown kind");
    }
}

/* ----------------------------------------------------------------- making links */

static int export_hard_link(struct job *j, const drep_linkinfo *link, const char *path, hid_t lcpl)
{
    struct h5_object *o = job_find(j, link->id);

    if (strcmp(o->path, path) == 0)
        return export_object(j, o, lcpl);
    if (!o->made)
        return job_fail(j, DREP_ERR_UNSUPPORTED, "hard link to %s, which is not kept", o->path);
    mark_name(lcpl, path);
    if (H5Lcreate_hard(j->h, o->path, j->h, path, lcpl, H5P_DEFAULT) < 0)
        return job_fail_hdf5(j, "link");
    j->totals.links++;
    return 0;
}

/* By class and bytes; texts end with a NUL of their own, whatever the note says. */
static herr_t create_odd_link(struct group_walk *w, const struct odd_link *l, const char *path)
{
    const char *file, *target;
    unsigned flags;

    if (l->cls == H5L_TYPE_SOFT)
        return H5Lcreate_soft((const char *)l->data, w->j->h, path, w->lcpl, H5P_DEFAULT);
    if (l->cls > H5L_TYPE_EXTERNAL)
        return user_class(l->cls) ? H5Lcreate_ud(w->j->h, path, (H5L_type_t)l->cls, l->data,
                                                 l->size, w->lcpl, H5P_DEFAULT)
                                  : -1;
    if (l->size < 3 || l->data[l->size - 1] != 0 ||
        H5Lunpack_elink_val(l->data, l->size, &flags, &file, &target) < 0)
        return -1;
    return H5Lcreate_external(file, target, w->j->h, path, w->lcpl, H5P_DEFAULT);
}

static int make_odd_link(struct group_walk *w, const struct odd_link *l, const char *path)
{
    struct job *j = w->j;
    const struct h5_object *o = l->cls ? NULL : job_find(j, l->target);

    if (j->netcdf)
        return job_fail(j, DREP_ERR_UNSUPPORTED, "netCDF has no links of this kind");
    mark_name(w->lcpl, path);
    if (l->cls && create_odd_link(w, l, path) < 0)
        return job_fail_hdf5(j, "link");
    if (!l->cls && (!o || !o->made))
        return job_fail(j, DREP_ERR_UNSUPPORTED, "its group is not kept");
    if (o && H5Lcreate_hard(j->h, o->path, j->h, path, w->lcpl, H5P_DEFAULT) < 0)
        return job_fail_hdf5(j, "link");
    j->totals.links++;
    return 0;
}

/* Make the links whose turn it is; all: the rest of them. */
static int make_odd_links(struct group_walk *w, int all)
{
    int err = 0;

    while (!err && w->next_odd < w->nodd && (all || w->odd[w->next_odd].position <= w->position)) {
        const struct odd_link *l = &w->odd[w->next_odd++];
        char *path = NULL, *source = NULL;

        err = export_member_paths(w, l->name, 0, &path, &source);
        if (!err)
            err = job_skip(w->j, make_odd_link(w, l, path), "link", path, "not carried");
        w->position++;
        free(path);
        free(source);
    }
    return err;
}

/* Make the scales of dimensions that were created before this index. */
static int make_dimensions(struct group_walk *w, uint64_t before)
{
    struct job *j = w->j;
    int err = 0;

    while (!err && w->next_dim < w->dims.len && w->dims.list[w->next_dim].index < before) {
        struct h5_object *o = job_find(j, w->dims.list[w->next_dim++].id);

        if (!o || o->scale != 2) /* left out, or its dataset is a link of its own */
            continue;
        *j->why = 0;
        err = make_odd_links(w, 0);
        if (!err)
            err = job_skip(j, export_object(j, o, w->lcpl), "dimension", o->path, "not carried");
        w->position++;
    }
    return err;
}

static int export_any_link(struct group_walk *w, const drep_linkinfo *link, const char *path,
                           const char *source)
{
    struct job *j = w->j;
    herr_t status;
    int err = job_stopped(j) ? DREP_ERR_STOPPED : netcdf_link(j, w->group, link, source);

    if (err)
        return err;
    if (link->link == DREP_LINK_HARD)
        return export_hard_link(j, link, path, w->lcpl);
    if (link->link == DREP_LINK_UNKNOWN)
        return job_fail(j, DREP_ERR_UNSUPPORTED, "a link of kind %d, %s", link->number,
                        link->number < 0 ? "beyond the limits of this version"
                                         : "written by a newer version");
    mark_name(w->lcpl, path);
    status =
        link->link == DREP_LINK_SOFT
            ? H5Lcreate_soft(link->target, j->h, path, w->lcpl, H5P_DEFAULT)
            : H5Lcreate_external(link->target_file, link->target, j->h, path, w->lcpl, H5P_DEFAULT);
    j->totals.links += status >= 0;
    return status < 0 ? job_fail_hdf5(j, "link") : 0;
}

static int export_link(const drep_linkinfo *link, void *ctx)
{
    struct group_walk *w = ctx;
    struct job *j = w->j;
    const struct h5_object *o = link->link == DREP_LINK_HARD ? job_find(j, link->id) : NULL;
    char *path, *source;

    *j->why = 0;
    if (link->link == DREP_LINK_HARD && !o) /* too deep */
        return 0;
    w->err = make_dimensions(w, link->index);
    if (!w->err)
        w->err = make_odd_links(w, 0);
    if (!w->err)
        w->err = export_member_paths(w, link->name, link->kind, &path, &source);
    if (w->err)
        return w->err;
    w->err = job_skip(j, export_any_link(w, link, path, source ? source : path),
                      o ? "object" : "link", path, "not carried");
    w->position++;
    free(path);
    free(source);
    return w->err;
}

static int export_objects(struct job *j)
{
    hid_t root = H5Gopen2(j->h, "/", H5P_DEFAULT);
    size_t i;
    int err = set_made_address(j, &j->objects.list[0], root);

    H5Gclose(root);
    j->totals.groups++;
    if (!err)
        err = prepare_types(j);
    for (i = 0; !err && i < j->objects.n; i++)
        if (j->objects.list[i].kind == DREP_OBJ_GROUP && j->objects.list[i].made)
            err = export_each_link(j, i, export_link, 1);
    for (i = 0; i < j->objects.n; i++)
        if (j->objects.list[i].handle > 0)
            H5Tclose(j->objects.list[i].handle);
    return err;
}

/* ------------------------------------------------------------------ the whole */

/* Read the notes about the whole file that import made. */
int export_defaults(struct job *j)
{
    struct notes r;
    int err = notes_read(j, "/", &r);

    if (err)
        return err;
    layout_defaults_read(j, &r);
    notes_release(&r);
    return 0;
}

int export_all(struct job *j)
{
    static const char *const kinds[] = {"", "group", "dataset", "datatype", "dimension"};
    hid_t opened;
    size_t i;
    int err = encodings_load(j);

    if (!err)
        err = export_find_objects(j);
    if (!err)
        err = export_objects(j);
    for (i = 0; !err && i < j->objects.n; i++) {
        const struct h5_object *o = &j->objects.list[i];
        int joined = o->kind == DREP_OBJ_DIMENSION && o->scale == 1;

        if (!o->made && !joined)
            continue;
        job_say(j, HDF5_MADE, kinds[o->kind], o->path, "%s", kinds[o->kind]);
        opened = o->made ? H5Oopen_by_addr(j->h, (haddr_t)o->made) : -1;
        err = export_attributes(j, o);
        if (!err && o->kind == DREP_OBJ_DATASET)
            err = export_data(j, o);
        if (opened > 0)
            H5Oclose(opened);
    }
    return err ? err : export_dimensions(j);
}

/* ------------------------------------------------------------------- reading back */

/* Check that the object's path leads to it; *opened: it, as opening it again costs little then. */
static int check_object(struct job *j, const struct h5_object *o, hid_t *opened)
{
    struct verified at = {.path = o->path, .what = "", .name = ""};
    hid_t object = H5Oopen(j->h, o->path, H5P_DEFAULT), type = 0;
    drep_type *own = NULL;
    H5O_info_t info;
    int err = 0;

    if (object < 0 || H5Oget_info2(object, &info, H5O_INFO_BASIC) < 0 ||
        (uint64_t)info.addr != o->made)
        err = verify_failed(j, &at, "it is not read back");
    if (!err && o->kind == DREP_OBJ_TYPE) {
        err = own_type(j, o, &own, &type);
        if (!err)
            err = verify_type(j, &at, type, object);
        if (!err)
            err = type_note_check(j, &at, object, NULL, type, own);
    }
    drep_type_free(own);
    if (type > 0)
        H5Tclose(type);
    *opened = object;
    return err;
}

int export_back(struct job *j)
{
    hid_t opened;
    size_t i;
    int err = 0;

    for (i = 0; !err && i < j->objects.n; i++) {
        const struct h5_object *o = &j->objects.list[i];

        if (!o->made)
            continue;
        err = check_object(j, o, &opened);
        if (!err)
            err = export_attributes(j, o);
        if (!err && o->kind == DREP_OBJ_DATASET)
            err = export_data(j, o);
        if (opened > 0)
            H5Oclose(opened);
    }
    return err ? err : export_dimensions(j);
}
