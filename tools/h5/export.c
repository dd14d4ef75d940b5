/* export.c - a container becomes an HDF5 file.
 *
 * The import backwards: find the objects, make them and their links in order, then move
 * attributes and data, last the attributes that make dimension objects the dimension
 * scales of HDF5 and netCDF-4.  What import kept in attributes of ours comes back. */
#include "tools/h5/export.h"
#include "base/mem.h"
#include "base/vec.h"
#include "schema/paths.h"
#include "tools/h5/data_out.h"
#include "tools/h5/drain.h"
#include "tools/h5/encoding.h"
#include "tools/h5/interface.h"
#include "tools/h5/job.h"
#include "tools/h5/keep.h"
#include "tools/h5/layout.h"
#include "tools/h5/map.h"
#include "tools/h5/named.h"
#include "tools/h5/note.h"
#include "tools/h5/null.h"
#include "tools/h5/object.h"
#include "tools/h5/odd_link.h"
#include "tools/h5/reference.h"
#include "tools/h5/scale.h"
#include "tools/h5/type_in.h"
#include "tools/h5/type_out.h"
#include "tools/h5/values.h"
#include "tools/h5/verify.h"
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
    int err;
};

/* A dimension whose coordinates are a dataset of their own has no object in HDF5. */
static int note_dimension(struct job *j, struct h5_object *o)
{
    drep_attrinfo info;
    drep_objinfo about;
    drep_type *type = NULL;
    drep_ref ref = {0};
    char *path = job_source(j, o);
    int err = !path ? job_no_memory(j) : 0;

    if (!err) {
        err = drep_stat(j->d, path, &about);
        if (err)
            job_fail_drep(j, err);
        o->length = about.len;
        o->unlimited = about.unlimited;
        o->scale = 2;
    }
    if (!err && drep_attr_info(j->d, path, DIM_VARIABLE, &info) == 0) {
        int is_ref = info.rank == 0 && drep_type_kind(info.type) == DREP_KIND_REFERENCE &&
                     drep_type_reference_what(info.type) == DREP_REF_OBJECT;

        drep_attrinfo_release(&info);
        if (is_ref && drep_type_reference(DREP_REF_OBJECT, &type) == 0 &&
            drep_attr_read(j->d, path, DIM_VARIABLE, type, &ref) == 0 && ref.object) {
            o->scale = 1;
            o->digest = ref.object;
        }
        drep_type_free(type);
    }
    free(path);
    return err;
}

/* The name in HDF5 of a link that import renamed; NULL: its own.  malloc'ed. */
static char *name_before(const struct notes *r, const char *kind, const char *name)
{
    size_t i, len = strlen(kind), size;

    for (i = 0; i < r->n; i++) {
        const char *p = r->line[i], *end;
        uint8_t *was;

        if (strncmp(p, kind, len) != 0 || p[len] != ' ')
            continue;
        p += len + 1;
        end = strchr(p, ' ');
        if (!end || strcmp(end + 1, name) != 0)
            continue;
        was = hex_to(p, (size_t)(end - p), &size);
        if (was)
            was[size] = 0;
        return (char *)was;
    }
    return NULL;
}

/* Paths of a member in the destination, and in the source if that is another. */
static int member_paths(struct group_walk *w, const char *name, char **path, char **source)
{
    const struct h5_object *g = &w->j->objects.list[w->group];
    char *was = name_before(&w->object_notes, "link-was", name);

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

static int find_link(const drep_linkinfo *link, void *ctx)
{
    struct group_walk *w = ctx;
    struct job *j = w->j;
    char *path, *source;

    if (link->link != DREP_LINK_HARD || job_find(j, link->id))
        return 0;
    w->err = member_paths(w, link->name, &path, &source);
    if (!w->err && too_deep(path)) {
        job_say(j, HDF5_LOST, "object", path, "deeper than %d groups: left out with all below it",
                GROUPS_MAX);
        free(path);
        free(source);
        return 0;
    }
    if (!w->err)
        w->err = job_add(j, link->id, link->kind, path, source);
    if (!w->err && link->kind == DREP_OBJ_DIMENSION)
        w->err = note_dimension(j, &j->objects.list[j->objects.n - 1]);
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
    H5Pclose(w->lcpl);
}

static int make_odd_links(struct group_walk *w, int all);

/* Calls fn for each link of a group; making it, also makes those that only HDF5 has. */
static int each_link(struct job *j, size_t i, drep_list_fn *fn, int make)
{
    struct group_walk w = {.j = j, .group = i};
    char *path = job_source(j, &j->objects.list[i]);
    int err = path ? notes_read(j, path, &w.object_notes) : job_no_memory(j);

    if (!err && make)
        err = read_odd_links(&w, path);
    w.lcpl = H5Pcreate(H5P_LINK_CREATE);
    H5Pset_char_encoding(w.lcpl, H5T_CSET_UTF8);
    if (!err) {
        err = drep_list(j->d, path, DREP_BY_CREATION, fn, &w);
        if (err && !w.err)
            job_fail_drep(j, err);
    }
    if (!err && make)
        err = make_odd_links(&w, 1);
    walk_release(&w);
    free(path);
    return err;
}

static int find_objects(struct job *j)
{
    drep_objinfo info;
    size_t i;
    int err = drep_stat(j->d, j->o->root ? j->o->root : "/", &info);

    if (err)
        return job_fail_drep(j, err);
    if (info.kind != DREP_OBJ_GROUP)
        return job_fail(j, DREP_ERR_KIND, "%s: not a group", j->o->root);
    err = job_add(j, info.id, DREP_OBJ_GROUP, strdup("/"), NULL);
    for (i = 0; !err && i < j->objects.n; i++)
        if (j->objects.list[i].kind == DREP_OBJ_GROUP)
            err = each_link(j, i, find_link, 0);
    return err;
}

/* ------------------------------------------------------------ walk 2: making */

static int made(struct job *j, struct h5_object *o, hid_t object)
{
    H5O_info_t info;

    if (object < 0 || H5Oget_info2(object, &info, H5O_INFO_BASIC) < 0)
        return job_fail_hdf5(j, "not made");
    o->made = (uint64_t)info.addr;
    return 0;
}

static int make_group(struct job *j, struct h5_object *o, hid_t lcpl)
{
    hid_t gcpl = H5Pcreate(H5P_GROUP_CREATE), group;
    int err;

    H5Pset_link_creation_order(gcpl, H5P_CRT_ORDER_TRACKED | H5P_CRT_ORDER_INDEXED);
    H5Pset_attr_creation_order(gcpl, H5P_CRT_ORDER_TRACKED);
    group = H5Gcreate2(j->h, o->path, lcpl, gcpl, H5P_DEFAULT);
    err = made(j, o, group);
    if (group > 0)
        H5Gclose(group);
    H5Pclose(gcpl);
    j->totals.groups += !err;
    return err;
}

/* The datatype in HDF5 of a named one. */
static int own_type(struct job *j, const struct h5_object *o, hid_t *out)
{
    char *path = job_source(j, o);
    struct notes all = {0}, notes = {0};
    drep_type *type = NULL;
    int err = path ? notes_read(j, path, &all) : job_no_memory(j);

    if (!err)
        err = notes_of_type(j, &all, "type", NULL, &notes);
    if (!err) {
        err = drep_type_open(j->d, path, &type);
        if (err)
            job_fail_drep(j, err);
    }
    if (!err) {
        *out = made_type(j, type, &notes, 1);
        err = *out ? 0 : DREP_ERR_UNSUPPORTED;
    }
    drep_type_free(type);
    notes_release(&all);
    notes_release(&notes);
    free(path);
    return err;
}

/* A named datatype before it has a name: datasets may be of it. */
static int prepare_type(struct job *j, struct h5_object *o)
{
    hid_t tcpl, t = 0;
    int err = own_type(j, o, &t);

    if (!err) {
        tcpl = H5Pcreate(H5P_DATATYPE_CREATE);
        H5Pset_attr_creation_order(tcpl, H5P_CRT_ORDER_TRACKED);
        err = H5Tcommit_anon(j->h, t, tcpl, H5P_DEFAULT) < 0 ? job_fail_hdf5(j, "datatype")
                                                             : made(j, o, t);
        H5Pclose(tcpl);
    }
    if (t > 0 && err)
        H5Tclose(t);
    else
        o->handle = t;
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

static int make_type(struct job *j, struct h5_object *o, hid_t lcpl)
{
    if (!o->handle)
        return 0; /* said already */
    if (H5Olink(o->handle, j->h, o->path, lcpl, H5P_DEFAULT) < 0)
        return job_fail_hdf5(j, "datatype");
    j->totals.types++;
    return 0;
}

/* The scale of a dimension that has no variable: its length and no values. */
static int make_dimension(struct job *j, struct h5_object *o, hid_t lcpl)
{
    hid_t dcpl = H5Pcreate(H5P_DATASET_CREATE), space, dset;
    hsize_t length = (hsize_t)o->length, most = H5S_UNLIMITED, chunk = LAYOUT_BARE_CHUNK;
    char *path = job_source(j, o);
    struct notes r = {0};
    const char *text;
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
    notes_release(&r);
    H5Pset_attr_creation_order(dcpl, H5P_CRT_ORDER_TRACKED);
    space = H5Screate_simple(1, &length, o->unlimited ? &most : NULL);
    dset = err ? -1 : H5Dcreate2(j->h, o->path, H5T_IEEE_F32BE, space, lcpl, dcpl, H5P_DEFAULT);
    err = err ? err : made(j, o, dset);
    if (dset > 0)
        H5Dclose(dset);
    H5Sclose(space);
    H5Pclose(dcpl);
    j->totals.dimensions += !err;
    return err;
}

/* ------------------------------------------------------------- making datasets */

/* References in fill values would have to exist before the dataset does. */
static int set_fill(struct job *j, const struct h5_object *o, const struct drain *s, hid_t dcpl)
{
    struct value_move mv = {.j = j, .ref = ref_out, .path = o->path};
    void *d, *h;
    int err;

    if (s->info.fill == DREP_FILL_NONE && !s->map.variable)
        H5Pset_fill_value(dcpl, s->file, NULL);
    if (s->info.fill != DREP_FILL_VALUE)
        return 0;
    if (has_references(&s->map)) {
        job_say(j, HDF5_LOST, "fill", o->path, "its fill value, a reference, is not kept");
        return 0;
    }
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

static hid_t make_space(const drep_dsinfo *info)
{
    hsize_t dims[DREP_MAX_RANK], maxdims[DREP_MAX_RANK];
    int d;

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
static hid_t create_dataset(struct job *j, const struct h5_object *o, const struct drain *s,
                            const struct notes *r, hid_t lcpl)
{
    hid_t dcpl = H5Pcreate(H5P_DATASET_CREATE), space = make_space(&s->info), dset = -1;

    H5Pset_attr_creation_order(dcpl, H5P_CRT_ORDER_TRACKED);
    if (layout_out(j, o->path, &s->info, s->file, r, dcpl) == 0 && set_fill(j, o, s, dcpl) == 0) {
        dset = H5Dcreate2(j->h, o->path, s->file, space, lcpl, dcpl, H5P_DEFAULT);
        if (dset < 0)
            job_fail_hdf5(j, "not made");
    }
    H5Sclose(space);
    H5Pclose(dcpl);
    return dset;
}

static int make_dataset(struct job *j, struct h5_object *o, hid_t lcpl)
{
    struct notes none = {0};
    struct drain s;
    hid_t dset;
    int err = drain_open(j, o, &s);

    if (err)
        return err;
    dset = create_dataset(j, o, &s, &s.object_notes, lcpl);
    if (dset < 0 && s.object_notes.n)
        dset = create_dataset(j, o, &s, &none, lcpl);
    err = dset < 0 ? DREP_ERR_UNSUPPORTED : made(j, o, dset);
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

static int make_object(struct job *j, struct h5_object *o, hid_t lcpl)
{
    switch (o->kind) {
    case DREP_OBJ_GROUP:
        return make_group(j, o, lcpl);
    case DREP_OBJ_DATASET:
        return make_dataset(j, o, lcpl);
    case DREP_OBJ_TYPE:
        return make_type(j, o, lcpl);
    case DREP_OBJ_DIMENSION:
        return o->scale == 2 ? make_dimension(j, o, lcpl) : 0;
    default:
        return job_fail(j, DREP_ERR_UNSUPPORTED, "an object of unknown kind");
    }
}

/* ----------------------------------------------------------------- making links */

static int make_hard(struct job *j, const drep_linkinfo *link, const char *path, hid_t lcpl)
{
    struct h5_object *o = job_find(j, link->id);

    if (strcmp(o->path, path) == 0)
        return make_object(j, o, lcpl);
    if (!o->made)
        return job_fail(j, DREP_ERR_UNSUPPORTED, "hard link to %s, which is not kept", o->path);
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

    if (l->cls && create_odd_link(w, l, path) < 0)
        return job_fail_hdf5(j, "link");
    if (!l->cls && (!o || !o->made))
        return job_fail(j, DREP_ERR_UNSUPPORTED, "its group is not kept");
    if (o && H5Lcreate_hard(j->h, o->path, j->h, path, w->lcpl, H5P_DEFAULT) < 0)
        return job_fail_hdf5(j, "link");
    j->totals.links++;
    return 0;
}

/* Those whose turn it is; all: those that are left. */
static int make_odd_links(struct group_walk *w, int all)
{
    int err = 0;

    while (!err && w->next_odd < w->nodd && (all || w->odd[w->next_odd].position <= w->position)) {
        const struct odd_link *l = &w->odd[w->next_odd++];
        char *path = NULL, *source = NULL;

        err = member_paths(w, l->name, &path, &source);
        if (!err)
            err = job_skip(w->j, make_odd_link(w, l, path), "link", path, "not carried");
        w->position++;
        free(path);
        free(source);
    }
    return err;
}

static int make_any(struct group_walk *w, const drep_linkinfo *link, const char *path)
{
    struct job *j = w->j;
    herr_t status;

    if (job_stopped(j))
        return DREP_ERR_STOPPED;
    if (link->link == DREP_LINK_HARD)
        return make_hard(j, link, path, w->lcpl);
    status =
        link->link == DREP_LINK_SOFT
            ? H5Lcreate_soft(link->target, j->h, path, w->lcpl, H5P_DEFAULT)
            : H5Lcreate_external(link->target_file, link->target, j->h, path, w->lcpl, H5P_DEFAULT);
    j->totals.links += status >= 0;
    return status < 0 ? job_fail_hdf5(j, "link") : 0;
}

static int make_link(const drep_linkinfo *link, void *ctx)
{
    struct group_walk *w = ctx;
    struct job *j = w->j;
    const struct h5_object *o = link->link == DREP_LINK_HARD ? job_find(j, link->id) : NULL;
    char *path, *source;

    *j->why = 0;
    if (link->link == DREP_LINK_HARD && !o) /* too deep */
        return 0;
    w->err = make_odd_links(w, 0);
    if (!w->err)
        w->err = member_paths(w, link->name, &path, &source);
    if (w->err)
        return w->err;
    w->err = job_skip(j, make_any(w, link, path), o ? "object" : "link", path, "not carried");
    /* A dimension with a variable is no link in HDF5. */
    w->position += !(o && o->kind == DREP_OBJ_DIMENSION && o->scale == 1);
    free(path);
    free(source);
    return w->err;
}

static int make_all(struct job *j)
{
    hid_t root = H5Gopen2(j->h, "/", H5P_DEFAULT);
    size_t i;
    int err = made(j, &j->objects.list[0], root);

    H5Gclose(root);
    j->totals.groups++;
    if (!err)
        err = prepare_types(j);
    for (i = 0; !err && i < j->objects.n; i++)
        if (j->objects.list[i].kind == DREP_OBJ_GROUP && j->objects.list[i].made)
            err = each_link(j, i, make_link, 1);
    for (i = 0; i < j->objects.n; i++)
        if (j->objects.list[i].handle > 0)
            H5Tclose(j->objects.list[i].handle);
    return err;
}

/* The datatype of data or an attribute in HDF5: the named one that it shares, if that
 * still is the same, else one of its own. */
/* ------------------------------------------------------- walk 3: attributes */

struct attributes {
    struct job *j;
    const struct h5_object *o;
    const char *path; /* in the container */
    hid_t object;
    struct notes object_notes;
    struct sharings sharings;
    int err;
};

static hid_t attribute_space(const drep_attrinfo *info)
{
    hsize_t dims[DREP_MAX_RANK];
    int d;

    if (info->rank == DREP_NULL_SPACE)
        return H5Screate(H5S_NULL);
    if (info->rank == 0)
        return H5Screate(H5S_SCALAR);
    for (d = 0; d < info->rank; d++)
        dims[d] = (hsize_t)info->dims[d];
    return H5Screate_simple(info->rank, dims, NULL);
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

static int write_attribute(struct attributes *as, const char *name, const drep_attrinfo *info,
                           const struct map *m, hid_t file, struct nulls *nulls)
{
    struct job *j = as->j;
    struct value_move mv = {.j = j, .ref = ref_out, .path = as->o->path};
    size_t n = info->rank == DREP_NULL_SPACE ? 0 : (size_t)info->count;
    char *was = name_before(&as->object_notes, "attribute-was", name);
    hid_t acpl, space, attr;
    void *d = NULL, *h = NULL;
    int err = read_attribute(as, name, m, n, nulls, &mv, &d, &h);

    acpl = H5Pcreate(H5P_ATTRIBUTE_CREATE);
    H5Pset_char_encoding(acpl, H5T_CSET_UTF8);
    space = attribute_space(info);
    attr =
        err ? -1 : H5Acreate2(as->object, was && *was ? was : name, file, space, acpl, H5P_DEFAULT);
    if (!err && (attr < 0 || (n && H5Awrite(attr, m->mem, h) < 0)))
        err = job_fail_hdf5(j, "attribute");
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
static int is_ours(const struct attributes *as, const char *name, const drep_attrinfo *info)
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
    char *was = name_before(&as->object_notes, "attribute-was", name);
    hid_t attr = H5Aopen(as->object, was && *was ? was : name, H5P_DEFAULT);
    hid_t type = attr > 0 ? H5Aget_type(attr) : -1, space = attr > 0 ? H5Aget_space(attr) : -1;
    void *d = move_alloc(&mv, n * m->dsize), *h = move_alloc(&mv, n * m->hsize);
    int err = d && h ? 0 : DREP_ERR_NOMEM, filled = 0;

    if (!err && space < 0)
        err = verify_failed(j, &at, "it is not read back");
    if (!err)
        err = verify_type(j, &at, file, type);
    if (!err)
        err = verify_shape(j, &at, info->dims, space);
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

static int carry_attribute(struct attributes *as, const char *name, const drep_attrinfo *info)
{
    struct job *j = as->j;
    struct notes notes;
    struct map m;
    /* The netCDF library reads its own attributes as if they were in this machine's order. */
    int named = strncmp(name, NETCDF_OWN, strlen(NETCDF_OWN)) == 0;
    struct nulls nulls;
    hid_t file;
    int err = notes_of_type(j, &as->object_notes, "attribute", name, &notes);

    if (!err)
        err = nulls_read(j, &as->object_notes, &notes, name, &nulls);
    if (err)
        return err;
    file = type_out(j, as->o, info->type, sharing_of(&as->sharings, name), &notes, named);
    err = file ? map_from_hdf5(j, file, info->type, ORDER_SILENT, NULL, &m) : DREP_ERR_UNSUPPORTED;
    if (!err) {
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

static int is_lost(const struct job *j, uint64_t key, const char *name)
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

    if (is_annotation(name) || (j->back && is_lost(j, as->o->key, name)))
        return 0;
    info = calloc(1, sizeof *info);
    if (!info)
        return as->err = job_no_memory(j);
    snprintf(what, sizeof what, "attribute \"%.1023s\" is not kept", name);
    err = drep_attr_info(j->d, as->path, name, info);
    if (err)
        job_fail_drep(j, err);
    else if (!is_ours(as, name, info))
        err = carry_attribute(as, name, info);
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

    if (strcmp(name, DIM_VARIABLE) != 0 && !is_annotation(name))
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

static int export_attributes(struct job *j, const struct h5_object *o)
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

/* ------------------------------------------------------- walk 4: dimensions */

struct users {
    struct use {
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
    u->use[u->n] = (struct use){scale, u->n, {(hobj_ref_t)dataset, dim}};
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
    there = path && info && drep_attr_info(j->d, path, name, info) == 0;
    if (there)
        drep_attrinfo_release(info);
    free(info);
    free(path);
    return there && !is_lost(j, o->key, name);
}

/* An attribute of HDF5's own; space: of one dimension, or a scalar. */
static int write_made(struct job *j, const struct h5_object *o, hid_t object, const char *name,
                      hid_t type, hid_t space, const void *value)
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
    drep_dsinfo info;
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
        err = write_made(j, o, dset, SCALE_LIST, type, space, lists);
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
    const struct use *x = a, *y = b;

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
    err = write_made(j, o, object, name, type, space, value);
    H5Sclose(space);
    H5Tclose(type);
    return err;
}

/* REFERENCE_LIST of one scale, in the order in which its users were met. */
static int mark_users(struct job *j, const struct h5_object *o, hid_t object, const struct use *use,
                      size_t n)
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
    type = scale_user_type();
    space = H5Screate_simple(1, &count, NULL);
    err = write_made(j, o, object, SCALE_USERS, type, space, list);
    H5Sclose(space);
    H5Tclose(type);
    free(list);
    return err;
}

/* Whether import found that HDF5's scale has no name. */
static int is_nameless(struct job *j, const struct h5_object *o)
{
    char *path = job_source(j, o);
    drep_attrinfo *info = calloc(1, sizeof *info);
    int nameless = 0;

    if (path && info && drep_attr_info(j->d, path, SCALE_NAME, info) == 0) {
        nameless = info->rank == DREP_NULL_SPACE;
        drep_attrinfo_release(info);
    }
    free(info);
    free(path);
    return nameless;
}

/* Of the uses in order of their scales. */
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

/* As job_skip(); but what is read back otherwise is never skipped. */
static int skip_back(struct job *j, int err, const char *what, const char *path, const char *text)
{
    return j->back ? err : job_skip(j, err, what, path, text);
}

static int export_dimensions(struct job *j)
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

/* ------------------------------------------------------------------ the whole */

/* What the container, as import made it, says of the whole file. */
static int read_defaults(struct job *j)
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
    size_t i;
    int err = encodings_load(j);

    if (!err)
        err = read_defaults(j);
    if (!err)
        err = find_objects(j);
    if (!err)
        err = make_all(j);
    for (i = 0; !err && i < j->objects.n; i++) {
        const struct h5_object *o = &j->objects.list[i];
        int joined = o->kind == DREP_OBJ_DIMENSION && o->scale == 1;

        if (!o->made && !joined)
            continue;
        job_say(j, HDF5_MADE, kinds[o->kind], o->path, "%s", kinds[o->kind]);
        err = export_attributes(j, o);
        if (!err && o->kind == DREP_OBJ_DATASET)
            err = export_data(j, o);
    }
    return err ? err : export_dimensions(j);
}

/* ------------------------------------------------------------------- reading back */

/* Whether the object's path leads to it. */
static int check_object(struct job *j, const struct h5_object *o)
{
    struct verified at = {.path = o->path, .what = "", .name = ""};
    hid_t object = H5Oopen(j->h, o->path, H5P_DEFAULT), type = 0;
    H5O_info_t info;
    int err = 0;

    if (object < 0 || H5Oget_info2(object, &info, H5O_INFO_BASIC) < 0 ||
        (uint64_t)info.addr != o->made)
        err = verify_failed(j, &at, "it is not read back");
    if (!err && o->kind == DREP_OBJ_TYPE) {
        err = own_type(j, o, &type);
        if (!err)
            err = verify_type(j, &at, type, object);
    }
    if (type > 0)
        H5Tclose(type);
    if (object > 0)
        H5Oclose(object);
    return err;
}

int export_back(struct job *j)
{
    size_t i;
    int err = 0;

    for (i = 0; !err && i < j->objects.n; i++) {
        const struct h5_object *o = &j->objects.list[i];

        if (!o->made)
            continue;
        err = check_object(j, o);
        if (!err)
            err = export_attributes(j, o);
        if (!err && o->kind == DREP_OBJ_DATASET)
            err = export_data(j, o);
    }
    return err ? err : export_dimensions(j);
}
