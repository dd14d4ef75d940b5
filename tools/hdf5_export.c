/* hdf5_export.c - a container becomes an HDF5 file.
 *
 * The import backwards: find the objects, make them and their links in order, then move
 * attributes and data, last the attributes that make dimension objects the dimension
 * scales of HDF5 and netCDF-4.  Numbers lie in the file in the byte order of the
 * container's representation. */
#include <stdlib.h>
#include <string.h>

#include "tools/hdf5_parts.h"

/* ------------------------------------------------------------ walk 1: objects */

/* Where an object stands in the container. */
static char *source_path(struct job *j, const struct object *o)
{
    return path_join(j->o->root ? j->o->root : "/", o->path);
}

struct walk {
    struct job *j;
    size_t group;
    hid_t lcpl;
    int err;
};

/* A dimension whose coordinates are a dataset of their own has no object in HDF5. */
static int note_dimension(struct job *j, struct object *o)
{
    drep_attrinfo info;
    drep_objinfo about;
    drep_type *type = NULL;
    drep_ref ref = {0};
    char *path = source_path(j, o);
    int err = !path ? job_fail(j, DREP_ERR_NOMEM, "out of memory") : 0;

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

static int find_link(const drep_linkinfo *link, void *ctx)
{
    struct walk *w = ctx;
    struct job *j = w->j;

    if (link->link != DREP_LINK_HARD || job_find(j, link->id))
        return 0;
    w->err = job_add(j, link->id, link->kind, path_join(j->objects[w->group].path, link->name));
    if (!w->err && link->kind == DREP_OBJ_DIMENSION)
        w->err = note_dimension(j, &j->objects[j->n - 1]);
    return w->err;
}

static int each_link(struct job *j, size_t i, drep_list_fn *fn)
{
    struct walk w = {.j = j, .group = i};
    char *path = source_path(j, &j->objects[i]);
    int err;

    if (!path)
        return job_fail(j, DREP_ERR_NOMEM, "out of memory");
    w.lcpl = H5Pcreate(H5P_LINK_CREATE);
    H5Pset_char_encoding(w.lcpl, H5T_CSET_UTF8);
    err = drep_list(j->d, path, DREP_BY_CREATION, fn, &w);
    if (err && !w.err)
        job_fail_drep(j, err);
    H5Pclose(w.lcpl);
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
    err = job_add(j, info.id, DREP_OBJ_GROUP, strdup("/"));
    for (i = 0; !err && i < j->n; i++)
        if (j->objects[i].kind == DREP_OBJ_GROUP)
            err = each_link(j, i, find_link);
    return err;
}

/* ------------------------------------------------------------------ references */

static int ref_out(struct move *mv, int region, void *h, drep_ref *d)
{
    struct job *j = mv->j;
    struct object *o = d->object ? job_find(j, d->object) : NULL;
    hobj_ref_t address;
    hid_t dset, space;
    int err = 0;

    if (!d->object)
        return 0;
    /* A dimension with coordinates is its dataset in HDF5. */
    if (o && o->kind == DREP_OBJ_DIMENSION && o->scale == 1)
        o = job_find(j, o->digest);
    if (!o || !o->made)
        err = job_fail(j, DREP_ERR_UNSUPPORTED, "it leads to an object that is not carried");
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
        job_warn(j, mv->path, "a reference becomes none: %s", j->why);
    return 0;
}

/* ------------------------------------------------------------ walk 2: making */

static int made(struct job *j, struct object *o, hid_t object)
{
    H5O_info_t info;

    if (object < 0 || H5Oget_info2(object, &info, H5O_INFO_BASIC) < 0)
        return job_fail_hdf5(j, "not made");
    o->made = (uint64_t)info.addr;
    return 0;
}

static int make_group(struct job *j, struct object *o, hid_t lcpl)
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
    return err;
}

static int make_type(struct job *j, struct object *o, hid_t lcpl)
{
    char *path = source_path(j, o);
    drep_type *type = NULL;
    hid_t tcpl;
    struct map m;
    int err = !path ? job_fail(j, DREP_ERR_NOMEM, "out of memory") : 0;

    if (!err) {
        err = drep_type_open(j->d, path, &type);
        if (err)
            job_fail_drep(j, err);
    }
    free(path);
    /* A named datatype is not stored data, so no representation applies to it. */
    j->own_order = 1;
    if (!err)
        err = map_from_drep(j, type, &m);
    j->own_order = 0;
    drep_type_free(type);
    if (err)
        return err;
    tcpl = H5Pcreate(H5P_DATATYPE_CREATE);
    err = H5Tcommit2(j->h, o->path, m.file, lcpl, tcpl, H5P_DEFAULT) < 0
              ? job_fail_hdf5(j, "datatype")
              : made(j, o, m.file);
    H5Pclose(tcpl);
    map_release(&m);
    return err;
}

/* The scale of a dimension that has no variable: its length and no values. */
static int make_dimension(struct job *j, struct object *o, hid_t lcpl)
{
    hid_t dcpl = H5Pcreate(H5P_DATASET_CREATE), space, dset;
    hsize_t length = (hsize_t)o->length, most = H5S_UNLIMITED, chunk = 1024;
    char *path = source_path(j, o);
    int64_t own;
    int err;

    if (path && drep_attr_read(j->d, path, DIM_SCALE_LENGTH, DREP_INT64_T, &own) == 0 && own >= 0)
        length = (hsize_t)own;
    free(path);
    if (o->unlimited)
        H5Pset_chunk(dcpl, 1, &chunk);
    H5Pset_attr_creation_order(dcpl, H5P_CRT_ORDER_TRACKED);
    space = H5Screate_simple(1, &length, o->unlimited ? &most : NULL);
    dset = H5Dcreate2(j->h, o->path, H5T_IEEE_F32BE, space, lcpl, dcpl, H5P_DEFAULT);
    err = made(j, o, dset);
    if (dset > 0)
        H5Dclose(dset);
    H5Sclose(space);
    H5Pclose(dcpl);
    return err;
}

/* ------------------------------------------------------------- making datasets */

static void set_filters(struct job *j, const struct object *o, const drep_dsinfo *info, hid_t dcpl)
{
    int i;

    for (i = 0; i < info->nfilters; i++) {
        int level = info->filters[i].level;
        const char *name = drep_filter_name(info->filters[i].id);

        switch (info->filters[i].id) {
        case DREP_FILTER_BITSHUFFLE:
            job_note(j, o->path, "filter bitshuffle becomes shuffle");
            /* fall through */
        case DREP_FILTER_SHUFFLE:
            H5Pset_shuffle(dcpl);
            break;
        case DREP_FILTER_DEFLATE:
            H5Pset_deflate(dcpl, level >= 0 && level <= 9 ? (unsigned)level : 9);
            break;
        case DREP_FILTER_ZSTD:
        case DREP_FILTER_LZ4:
            job_note(j, o->path, "filter %s becomes deflate", name);
            H5Pset_deflate(dcpl, 6);
            break;
        default:
            job_note(j, o->path, "filter %s is left out: the values are the same",
                     name ? name : "of the user's");
        }
    }
}

/* HDF5's layout and chunks; a chunk may not be longer than a fixed dimension. */
static void set_layout(struct job *j, const struct object *o, const drep_dsinfo *info, hid_t dcpl)
{
    hsize_t chunk[DREP_MAX_RANK];
    int64_t step[DREP_MAX_RANK];
    int d, grows = 0, empty = 0, one = drep_type_variable(info->type) && !info->nfilters;

    for (d = 0; d < info->rank; d++) {
        grows |= info->maxdims[d] != info->dims[d];
        empty |= info->maxdims[d] == 0;
        one &= info->chunk[d] >= info->dims[d];
        step[d] = 1;
    }
    if (info->layout == DREP_COMPACT && !grows) {
        H5Pset_layout(dcpl, H5D_COMPACT);
        return;
    }
    /* Ours are in chunks where HDF5's strings and sequences need not be. */
    if (info->rank <= 0 || ((info->layout != DREP_CHUNKED || one || empty) && !grows)) {
        if (info->nfilters)
            job_note(j, o->path, "filters are left out: HDF5 has no chunks here");
        return;
    }
    if (info->layout == DREP_CHUNKED)
        memcpy(step, info->chunk, (size_t)info->rank * sizeof *step);
    else
        box_grow(info->rank, info->dims, BLOCK_SIZE / 4 / (info->element_size + 1) + 1, step);
    for (d = 0; d < info->rank; d++) {
        int64_t most = info->maxdims[d] == DREP_UNLIMITED ? step[d] : info->maxdims[d];

        chunk[d] = (hsize_t)(step[d] < most ? step[d] : most);
        if (chunk[d] == 0)
            chunk[d] = 1;
    }
    H5Pset_chunk(dcpl, info->rank, chunk);
    set_filters(j, o, info, dcpl);
}

/* References in fill values would have to exist before the dataset does. */
static int has_references(const struct map *m)
{
    size_t i;

    if (m->kind == MAP_OBJECT || m->kind == MAP_REGION)
        return 1;
    for (i = 0; i < m->nparts; i++)
        if (has_references(&m->parts[i]))
            return 1;
    return 0;
}

/* The fill value as the map's type, which may be wider than the dataset's. */
static int read_fill(struct job *j, drep_dataset *ds, const drep_dsinfo *info, const struct map *m,
                     void *d)
{
    void *own = calloc(1, (size_t)drep_type_extent(info->type) + 1);
    int err = own ? drep_dataset_fill(ds, own) : job_fail(j, DREP_ERR_NOMEM, "out of memory");

    if (own && !err) {
        err = drep_convert(m->type, d, info->type, own, 1, NULL);
        drep_vlen_free(info->type, 1, own);
    }
    free(own);
    return err && own ? job_fail_drep(j, err) : err;
}

static int set_fill(struct job *j, const struct object *o, drep_dataset *ds,
                    const drep_dsinfo *info, const struct map *m, hid_t dcpl)
{
    struct move mv = {.j = j, .ref = ref_out, .path = o->path};
    void *d, *h;
    int err;

    if (info->fill == DREP_FILL_NONE && !m->variable)
        H5Pset_fill_value(dcpl, m->file, NULL);
    if (info->fill != DREP_FILL_VALUE)
        return 0;
    if (has_references(m)) {
        job_warn(j, o->path, "its fill value, a reference, is not carried");
        return 0;
    }
    d = move_alloc(&mv, m->dsize);
    h = move_alloc(&mv, m->hsize);
    err = d && h ? read_fill(j, ds, info, m, d) : DREP_ERR_NOMEM;
    if (!err) {
        err = move_out(&mv, m, 1, d, h);
        if (!err && H5Pset_fill_value(dcpl, m->mem, h) < 0)
            err = job_fail_hdf5(j, "fill value");
        drep_vlen_free(m->type, 1, d);
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

static int open_dataset(struct job *j, const struct object *o, drep_dataset **ds, drep_dsinfo *info)
{
    char *path = source_path(j, o);
    int err;

    if (!path)
        return job_fail(j, DREP_ERR_NOMEM, "out of memory");
    *ds = NULL;
    err = drep_dataset_open(j->d, path, ds);
    free(path);
    if (!err)
        err = drep_dataset_info(*ds, info);
    if (err) {
        job_fail_drep(j, err);
        drep_dataset_close(*ds);
        *ds = NULL;
    }
    return err;
}

static int make_dataset(struct job *j, struct object *o, hid_t lcpl)
{
    drep_dataset *ds;
    drep_dsinfo info;
    struct map m = {0};
    hid_t dcpl, space, dset = -1;
    int err = open_dataset(j, o, &ds, &info);

    if (err)
        return err;
    dcpl = H5Pcreate(H5P_DATASET_CREATE);
    H5Pset_attr_creation_order(dcpl, H5P_CRT_ORDER_TRACKED);
    space = make_space(&info);
    err = map_from_drep(j, info.type, &m);
    if (!err) {
        set_layout(j, o, &info, dcpl);
        err = set_fill(j, o, ds, &info, &m, dcpl);
    }
    if (!err) {
        dset = H5Dcreate2(j->h, o->path, m.file, space, lcpl, dcpl, H5P_DEFAULT);
        err = made(j, o, dset);
    }
    if (dset > 0)
        H5Dclose(dset);
    H5Sclose(space);
    H5Pclose(dcpl);
    map_release(&m);
    drep_dataset_close(ds);
    return err;
}

static int make_object(struct job *j, struct object *o, hid_t lcpl)
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

static int make_hard(struct job *j, const drep_linkinfo *link, const char *path, hid_t lcpl)
{
    struct object *o = job_find(j, link->id);

    if (strcmp(o->path, path) == 0)
        return make_object(j, o, lcpl);
    if (!o->made)
        return job_fail(j, DREP_ERR_UNSUPPORTED, "hard link to %s, which is not carried", o->path);
    if (H5Lcreate_hard(j->h, o->path, j->h, path, lcpl, H5P_DEFAULT) < 0)
        return job_fail_hdf5(j, "link");
    return 0;
}

static int make_link(const drep_linkinfo *link, void *ctx)
{
    struct walk *w = ctx;
    struct job *j = w->j;
    char *path = path_join(j->objects[w->group].path, link->name);
    herr_t status = 0;

    *j->why = 0;
    if (job_stopped(j)) {
        free(path);
        return w->err = DREP_ERR_STOPPED;
    }
    if (!path) {
        w->err = job_fail(j, DREP_ERR_NOMEM, "out of memory");
        return w->err;
    }
    w->err = 0;
    if (link->link == DREP_LINK_HARD)
        w->err = make_hard(j, link, path, w->lcpl);
    else if (link->link == DREP_LINK_SOFT)
        status = H5Lcreate_soft(link->target, j->h, path, w->lcpl, H5P_DEFAULT);
    else
        status =
            H5Lcreate_external(link->target_file, link->target, j->h, path, w->lcpl, H5P_DEFAULT);
    if (status < 0)
        w->err = job_fail_hdf5(j, "link");
    w->err = job_skip(j, w->err, path, "not carried");
    free(path);
    return w->err;
}

static int make_all(struct job *j)
{
    hid_t root = H5Gopen2(j->h, "/", H5P_DEFAULT);
    size_t i;
    int err = made(j, &j->objects[0], root);

    H5Gclose(root);
    for (i = 0; !err && i < j->n; i++)
        if (j->objects[i].kind == DREP_OBJ_GROUP && j->objects[i].made)
            err = each_link(j, i, make_link);
    return err;
}

/* ------------------------------------------------------- walk 3: attributes */

struct attributes {
    struct job *j;
    const struct object *o;
    const char *path; /* in the container */
    hid_t object;
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

static int write_attribute(struct attributes *as, const char *name, const drep_attrinfo *info,
                           const struct map *m, struct move *mv)
{
    struct job *j = as->j;
    size_t n = info->rank == DREP_NULL_SPACE ? 0 : (size_t)info->count;
    void *d = move_alloc(mv, n * m->dsize);
    void *h = m->kind == MAP_FLAT ? d : move_alloc(mv, n * m->hsize);
    hid_t acpl, space, attr, file;
    int err;

    if (!d || !h)
        return DREP_ERR_NOMEM;
    err = n ? drep_attr_read(j->d, as->path, name, m->type, d) : 0;
    if (err)
        return job_fail_drep(j, err);
    if (h != d)
        err = move_out(mv, m, n, d, h);
    acpl = H5Pcreate(H5P_ATTRIBUTE_CREATE);
    H5Pset_char_encoding(acpl, H5T_CSET_UTF8);
    space = attribute_space(info);
    /* The netCDF library reads its own attributes as if they were in this machine's order. */
    file = strncmp(name, NETCDF_OWN, strlen(NETCDF_OWN)) == 0 ? m->mem : m->file;
    attr = err ? -1 : H5Acreate2(as->object, name, file, space, acpl, H5P_DEFAULT);
    if (!err && (attr < 0 || (n && H5Awrite(attr, m->mem, h) < 0)))
        err = job_fail_hdf5(j, "attribute");
    if (attr > 0)
        H5Aclose(attr);
    H5Sclose(space);
    H5Pclose(acpl);
    if (n)
        drep_vlen_free(m->type, info->count, d);
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

static int export_attribute(const char *name, void *ctx)
{
    struct attributes *as = ctx;
    struct job *j = as->j;
    struct move mv = {.j = j, .ref = ref_out, .path = as->o->path};
    drep_attrinfo *info = calloc(1, sizeof *info);
    char what[1100];
    struct map m;
    int err = !info ? job_fail(j, DREP_ERR_NOMEM, "out of memory") : 0;

    snprintf(what, sizeof what, "attribute \"%.1023s\" is not carried", name);
    if (!err) {
        err = drep_attr_info(j->d, as->path, name, info);
        if (err)
            job_fail_drep(j, err);
        else if (!is_ours(as, name, info)) {
            err = map_from_drep(j, info->type, &m);
            if (!err) {
                err = write_attribute(as, name, info, &m, &mv);
                map_release(&m);
            }
        }
        if (info->type)
            drep_attrinfo_release(info);
    }
    move_release(&mv);
    free(info);
    as->err = job_skip(j, err, as->o->path, what);
    return as->err;
}

/* A dimension with a variable has no object in HDF5 to take its other attributes. */
static int name_lost(const char *name, void *ctx)
{
    struct attributes *as = ctx;

    if (strcmp(name, DIM_VARIABLE) != 0)
        job_warn(as->j, as->o->path,
                 "attribute \"%s\" is not carried: HDF5 has the dimension's dataset only", name);
    return 0;
}

static int export_attributes(struct job *j, const struct object *o)
{
    struct attributes as = {.j = j, .o = o, .object = -1};
    char *path = source_path(j, o);
    int lost = o->kind == DREP_OBJ_DIMENSION && o->scale == 1;
    int err = !path ? job_fail(j, DREP_ERR_NOMEM, "out of memory") : 0;

    as.path = path;
    if (!err && !lost) {
        as.object = H5Oopen_by_addr(j->h, (haddr_t)o->made);
        if (as.object < 0)
            err = job_fail_hdf5(j, "attributes");
    }
    if (!err) {
        err =
            drep_attr_list(j->d, path, DREP_BY_CREATION, lost ? name_lost : export_attribute, &as);
        if (err && !as.err)
            job_fail_drep(j, err);
    }
    if (as.object > 0)
        H5Oclose(as.object);
    free(path);
    return err;
}

/* -------------------------------------------------------------- walk 3: data */

struct emptier {
    struct job *j;
    const struct object *o;
    drep_dataset *ds;
    const drep_dsinfo *info;
    const struct map *m;
    hid_t dset, space;
    int sparse;                  /* chunks that hold nothing but the fill value are left out */
    void *d, *h;                 /* one block in either memory */
    uint8_t *fill;               /* one element */
    int64_t step[DREP_MAX_RANK]; /* of a block */
    int err;                     /* of one chunk */
    drep_report lost;
};

/* Bytes equal to the fill value's need not be stored. */
static int is_fill(const struct emptier *e, int64_t n)
{
    size_t size = e->m->dsize;
    const uint8_t *p = e->d;

    if (!e->sparse || memcmp(p, e->fill, size) != 0)
        return 0;
    /* The same as itself one element on: all are as the first. */
    return memcmp(p, p + size, (size_t)(n - 1) * size) == 0;
}

static int write_block(struct emptier *e, const struct box *b, int64_t n)
{
    struct job *j = e->j;
    struct move mv = {.j = j, .ref = ref_out, .path = e->o->path};
    hid_t mem;
    int err = e->h != e->d ? move_out(&mv, e->m, (size_t)n, e->d, e->h) : 0;

    if (!err) {
        mem = box_space(b);
        if (box_select_hdf5(b, e->space) < 0 ||
            H5Dwrite(e->dset, e->m->mem, mem, e->space, H5P_DEFAULT, e->h) < 0) {
            job_fail_hdf5(j, e->o->path);
            err = DREP_ERR_IO;
        }
        H5Sclose(mem);
    }
    move_release(&mv);
    return err;
}

static int export_block(struct emptier *e, const struct box *b)
{
    drep_report report = {0};
    drep_xfer xfer = {.range = e->j->o->range, .report = &report};
    drep_selection *sel = NULL;
    int64_t n = box_elements(b);
    int err = job_stopped(e->j);

    if (err)
        return err;
    if (b->rank)
        err = drep_select_box(b->rank, b->start, b->count, NULL, NULL, &sel);
    if (!err)
        err = drep_read(e->ds, sel, e->m->type, e->d, &xfer);
    drep_selection_free(sel);
    if (err)
        return job_fail_drep(e->j, err);
    e->lost.overflow += report.overflow;
    e->lost.inexact += report.inexact;
    e->lost.nan_lost += report.nan_lost;
    if (!is_fill(e, n))
        err = write_block(e, b, n);
    if (drep_type_variable(e->m->type))
        drep_vlen_free(e->m->type, n, e->d);
    return err;
}

/* The blocks of a part of the dataset. */
static int export_region(struct emptier *e, const int64_t *start, const int64_t *dims)
{
    struct box b;
    int err = 0;

    box_init(&b, e->info->rank, dims, e->step);
    memcpy(b.base, start, (size_t)e->info->rank * sizeof *start);
    while (!err && box_next(&b))
        err = export_block(e, &b);
    return err;
}

static int export_chunk(const int64_t *start, void *ctx)
{
    struct emptier *e = ctx;
    int64_t dims[DREP_MAX_RANK];
    int d;

    for (d = 0; d < e->info->rank; d++) {
        if (start[d] >= e->info->dims[d])
            return 0;
        dims[d] = e->info->dims[d] - start[d];
        if (dims[d] > e->info->chunk[d])
            dims[d] = e->info->chunk[d];
    }
    e->err = export_region(e, start, dims);
    return e->err;
}

/* Chunk by chunk where many are not stored, else in larger blocks. */
static int export_all_blocks(struct emptier *e)
{
    static const int64_t origin[DREP_MAX_RANK];
    const drep_dsinfo *info = e->info;
    double cells = 1;
    int d, err;

    for (d = 0; d < info->rank && info->layout == DREP_CHUNKED; d++)
        cells *= (double)((info->dims[d] - 1) / info->chunk[d] + 1);
    if (info->layout != DREP_CHUNKED || (double)info->chunks >= cells)
        return export_region(e, origin, info->dims);
    err = drep_dataset_chunks(e->ds, export_chunk, e);
    return err && !e->err ? job_fail_drep(e->j, err) : err;
}

static int export_blocks(struct emptier *e, int64_t most)
{
    const drep_dsinfo *info = e->info;
    int64_t n = 1;
    int d, err = 0;

    for (d = 0; d < info->rank; d++) {
        e->step[d] = info->layout == DREP_CHUNKED ? info->chunk[d] : 1;
        n *= e->step[d];
    }
    box_grow(info->rank, info->dims, most, e->step);
    n = n > most ? n : most;
    if ((uint64_t)n > SIZE_MAX / (e->m->dsize + e->m->hsize + 1))
        return job_fail(e->j, DREP_ERR_NOMEM, "out of memory");
    /* Zeroed, so that gaps between members compare equal. */
    e->d = calloc((size_t)n + 1, e->m->dsize);
    e->h = e->m->kind == MAP_FLAT ? e->d : calloc((size_t)n + 1, e->m->hsize);
    e->fill = calloc(1, e->m->dsize + 1);
    if (!e->d || !e->h || !e->fill)
        err = job_fail(e->j, DREP_ERR_NOMEM, "out of memory");
    if (!err && e->sparse && info->fill == DREP_FILL_VALUE)
        err = read_fill(e->j, e->ds, info, e->m, e->fill);
    if (!err)
        err = export_all_blocks(e);
    free(e->fill);
    if (e->h != e->d)
        free(e->h);
    free(e->d);
    return err;
}

static int export_data(struct job *j, const struct object *o)
{
    struct emptier e = {.j = j, .o = o};
    drep_dsinfo info;
    struct map m;
    hid_t dcpl;
    int64_t most;
    int err = open_dataset(j, o, &e.ds, &info);

    if (err)
        return err;
    if (info.rank == DREP_NULL_SPACE || info.count == 0 || info.stored == 0) {
        drep_dataset_close(e.ds);
        return 0;
    }
    err = map_from_drep(j, info.type, &m);
    if (!err) {
        e.info = &info;
        e.m = &m;
        e.dset = H5Oopen_by_addr(j->h, (haddr_t)o->made);
        e.space = H5Dget_space(e.dset);
        dcpl = H5Dget_create_plist(e.dset);
        e.sparse = H5Pget_layout(dcpl) == H5D_CHUNKED && m.kind == MAP_FLAT && !m.variable &&
                   info.fill != DREP_FILL_NONE;
        most = (int64_t)((m.variable ? BLOCK_SIZE / 4 : BLOCK_SIZE) / (m.dsize ? m.dsize : 1));
        err = export_blocks(&e, most > 0 ? most : 1);
        H5Pclose(dcpl);
        H5Sclose(e.space);
        H5Dclose(e.dset);
        map_release(&m);
    }
    if (!err && (e.lost.overflow || e.lost.inexact || e.lost.nan_lost))
        job_warn(j, o->path,
                 "%lld values overflowed, %lld were rounded, %lld NaNs lost their payload",
                 (long long)e.lost.overflow, (long long)e.lost.inexact, (long long)e.lost.nan_lost);
    drep_dataset_close(e.ds);
    return err;
}

/* ------------------------------------------------------- walk 4: dimensions */

/* One use of a dimension, as REFERENCE_LIST has it. */
struct user {
    hobj_ref_t dataset;
    int dimension;
};

struct users {
    struct use {
        uint64_t scale; /* address of the scale */
        size_t order;
        struct user user;
    } * use;
    size_t n, room;
};

/* The object in HDF5 that is a dimension's scale, NULL if there is none. */
static struct object *scale_of(struct job *j, uint64_t id)
{
    struct object *o = id ? job_find(j, id) : NULL;

    if (o && o->kind == DREP_OBJ_DIMENSION && o->scale == 1)
        o = job_find(j, o->digest);
    return o && o->made ? o : NULL;
}

static int add_use(struct job *j, struct users *u, uint64_t scale, uint64_t dataset, int dim)
{
    if (u->n == u->room) {
        size_t room = u->room ? 2 * u->room : 64;
        struct use *use = realloc(u->use, room * sizeof *use);

        if (!use)
            return job_fail(j, DREP_ERR_NOMEM, "out of memory");
        u->use = use;
        u->room = room;
    }
    u->use[u->n] = (struct use){scale, u->n, {(hobj_ref_t)dataset, dim}};
    u->n++;
    return 0;
}

static int write_made(struct job *j, hid_t object, const char *name, hid_t file, hid_t mem,
                      hid_t space, const void *value)
{
    hid_t attr = H5Acreate2(object, name, file, space, H5P_DEFAULT, H5P_DEFAULT);
    int err = attr < 0 || H5Awrite(attr, mem, value) < 0 ? job_fail_hdf5(j, name) : 0;

    if (attr > 0)
        H5Aclose(attr);
    return err;
}

/* DIMENSION_LIST of one dataset. */
static int list_scales(struct job *j, struct object *o, struct users *u)
{
    hobj_ref_t refs[DREP_MAX_RANK];
    hvl_t lists[DREP_MAX_RANK];
    drep_dataset *ds;
    drep_dsinfo info;
    hid_t dset, type, space;
    hsize_t rank;
    int d, any = 0, err = open_dataset(j, o, &ds, &info);

    if (err)
        return err;
    drep_dataset_close(ds);
    for (d = 0; !err && d < info.rank; d++) {
        struct object *scale = scale_of(j, info.dim_ids[d]);

        lists[d] = (hvl_t){0, NULL};
        if (!scale || scale == o)
            continue;
        refs[d] = (hobj_ref_t)scale->made;
        lists[d] = (hvl_t){1, &refs[d]};
        any = 1;
    }
    dset = H5Oopen_by_addr(j->h, (haddr_t)o->made);
    /* A scale has none itself, and one that was carried as an attribute stays. */
    if (any && !o->scale && H5Aexists(dset, SCALE_LIST) == 0) {
        rank = (hsize_t)info.rank;
        type = H5Tvlen_create(H5T_STD_REF_OBJ);
        space = H5Screate_simple(1, &rank, NULL);
        err = write_made(j, dset, SCALE_LIST, type, type, space, lists);
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

static int mark_text(struct job *j, hid_t object, const char *name, const char *text, size_t size)
{
    char value[1100] = "";
    hid_t type, space;
    int err;

    if (H5Aexists(object, name) > 0)
        return 0;
    snprintf(value, sizeof value, "%s", text);
    type = H5Tcopy(H5T_C_S1);
    H5Tset_size(type, size);
    space = H5Screate(H5S_SCALAR);
    err = write_made(j, object, name, type, type, space, value);
    H5Sclose(space);
    H5Tclose(type);
    return err;
}

/* REFERENCE_LIST of one scale, in the order in which its users were met. */
static int mark_users(struct job *j, hid_t object, const struct use *use, size_t n)
{
    struct user *list = n ? calloc(n, sizeof *list) : NULL;
    hid_t file, mem, space;
    hsize_t count = n;
    size_t i;
    int err;

    if (n == 0 || H5Aexists(object, SCALE_USERS) > 0) {
        free(list);
        return 0;
    }
    if (!list)
        return job_fail(j, DREP_ERR_NOMEM, "out of memory");
    for (i = 0; i < n; i++)
        list[i] = use[i].user;
    mem = H5Tcreate(H5T_COMPOUND, sizeof *list);
    H5Tinsert(mem, "dataset", HOFFSET(struct user, dataset), H5T_STD_REF_OBJ);
    H5Tinsert(mem, "dimension", HOFFSET(struct user, dimension), H5T_NATIVE_INT);
    file = H5Tcreate(H5T_COMPOUND, 12);
    H5Tinsert(file, "dataset", 0, H5T_STD_REF_OBJ);
    H5Tinsert(file, "dimension", 8, H5T_STD_I32LE);
    space = H5Screate_simple(1, &count, NULL);
    err = write_made(j, object, SCALE_USERS, file, mem, space, list);
    H5Sclose(space);
    H5Tclose(file);
    H5Tclose(mem);
    free(list);
    return err;
}

/* Whether import found that HDF5's scale has no name. */
static int is_nameless(struct job *j, const struct object *o)
{
    char *path = source_path(j, o);
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

static int mark_scale(struct job *j, const struct object *dim, const struct users *u)
{
    struct object *o = scale_of(j, dim->key);
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
    err = mark_text(j, object, SCALE_CLASS, SCALE_VALUE, sizeof SCALE_VALUE);
    if (!err && !is_nameless(j, o))
        err = mark_text(j, object, SCALE_NAME, text, size);
    if (!err)
        err = mark_users(j, object, u->n ? &u->use[first] : NULL, n);
    H5Oclose(object);
    return err;
}

/* Datasets that are the variable of a dimension, before any list is written. */
static void note_variables(struct job *j)
{
    size_t i;

    for (i = 0; i < j->n; i++) {
        struct object *o = &j->objects[i];

        if (o->kind == DREP_OBJ_DIMENSION && o->scale == 1 && job_find(j, o->digest))
            job_find(j, o->digest)->scale = 1;
    }
}

static int export_dimensions(struct job *j)
{
    struct users u = {0};
    size_t i;
    int err = 0;

    note_variables(j);
    for (i = 0; !err && i < j->n; i++)
        if (j->objects[i].kind == DREP_OBJ_DATASET && j->objects[i].made)
            err = list_scales(j, &j->objects[i], &u);
    if (u.n)
        qsort(u.use, u.n, sizeof *u.use, by_scale);
    for (i = 0; !err && i < j->n; i++)
        if (j->objects[i].kind == DREP_OBJ_DIMENSION)
            err = job_skip(j, mark_scale(j, &j->objects[i], &u), j->objects[i].path,
                           "not a dimension scale");
    free(u.use);
    return err;
}

/* ------------------------------------------------------------------ the whole */

int export_all(struct job *j)
{
    static const char *const kinds[] = {"", "group", "dataset", "datatype", "dimension"};
    size_t i;
    int err = map_encodings(j);

    if (!err)
        err = find_objects(j);
    if (!err)
        err = make_all(j);
    for (i = 0; !err && i < j->n; i++) {
        const struct object *o = &j->objects[i];
        int joined = o->kind == DREP_OBJ_DIMENSION && o->scale == 1;

        if (!o->made && !joined)
            continue;
        job_note(j, o->path, "%s", kinds[o->kind]);
        err = export_attributes(j, o);
        if (!err && o->kind == DREP_OBJ_DATASET)
            err = export_data(j, o);
    }
    return err ? err : export_dimensions(j);
}
