/* hdf5_import.c - an HDF5 or netCDF-4 file becomes a container.
 *
 * Four walks: find the objects and what is a dimension; find who uses which dimension;
 * make objects and links in their order; move attributes and data.  References can so
 * name objects that come later, and memory holds one entry an object and one block.
 *
 * A dimension scale becomes a dimension object.  One without a variable takes the
 * scale's place; for one with coordinates the object stands beside the dataset, as
 * "NAME.dim", and its attribute "variable" leads to it.  The attributes CLASS, NAME,
 * REFERENCE_LIST and DIMENSION_LIST are left out where export makes the same again, and
 * kept as attributes where it would not. */
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "tools/hdf5_parts.h"

#define ATTR_SIZE_MAX (256 << 20)

/* One dataset being made or filled. */
struct source {
    hid_t dset, type, space, dcpl;
    int rank; /* or DREP_NULL_SPACE */
    hsize_t dims[H5S_MAX_RANK], maxdims[H5S_MAX_RANK];
    H5D_layout_t layout;
    hsize_t chunk[H5S_MAX_RANK];
    struct map map;
    void *fill; /* the fill value in HDF5's memory, if it was read */
};

static uint64_t address_of(hid_t object)
{
    H5O_info_t info;

    return H5Oget_info2(object, &info, H5O_INFO_BASIC) < 0 ? 0 : (uint64_t)info.addr;
}

/* ------------------------------------------------------------------ opening */

static int read_shape(struct job *j, struct source *s)
{
    H5S_class_t cls = H5Sget_simple_extent_type(s->space);
    int d;

    if (cls == H5S_NULL) {
        s->rank = DREP_NULL_SPACE;
        return 0;
    }
    s->rank = H5Sget_simple_extent_dims(s->space, s->dims, s->maxdims);
    if (s->rank < 0)
        return job_fail_hdf5(j, "dataspace");
    for (d = 0; d < s->rank; d++)
        if (s->dims[d] > INT64_MAX / 4)
            return job_fail(j, DREP_ERR_UNSUPPORTED, "a dimension beyond 2^61");
    return 0;
}

static void source_close(struct source *s)
{
    if (s->fill && s->map.variable) {
        hid_t one = H5Screate(H5S_SCALAR);

        H5Dvlen_reclaim(s->map.mem, one, H5P_DEFAULT, s->fill);
        H5Sclose(one);
    }
    free(s->fill);
    map_release(&s->map);
    if (s->dcpl > 0)
        H5Pclose(s->dcpl);
    if (s->space > 0)
        H5Sclose(s->space);
    if (s->type > 0)
        H5Tclose(s->type);
    if (s->dset > 0)
        H5Dclose(s->dset);
}

/* dapl: 0 for the default; only opening by name takes one. */
static int source_open(struct job *j, const struct object *o, hid_t dapl, struct source *out)
{
    struct source s = {0};
    char *path = dapl > 0 ? path_join(j->o->root ? j->o->root : "/", o->path) : NULL;
    int err = 0;

    s.dset = path ? H5Dopen2(j->h, path, dapl) : H5Oopen_by_addr(j->h, (haddr_t)o->key);
    free(path);
    if (s.dset > 0) {
        s.type = H5Dget_type(s.dset);
        s.space = H5Dget_space(s.dset);
        s.dcpl = H5Dget_create_plist(s.dset);
    }
    if (s.dset <= 0 || s.type <= 0 || s.space <= 0 || s.dcpl <= 0)
        err = job_fail_hdf5(j, "dataset");
    if (!err)
        err = read_shape(j, &s);
    if (!err) {
        s.layout = H5Pget_layout(s.dcpl);
        if (s.layout == H5D_CHUNKED && H5Pget_chunk(s.dcpl, H5S_MAX_RANK, s.chunk) < 0)
            err = job_fail_hdf5(j, "chunks");
    }
    if (!err)
        err = map_from_hdf5(j, s.type, &s.map);
    if (err)
        source_close(&s);
    else
        *out = s;
    return err;
}

/* ------------------------------------------------------- attributes of scales */

/* A scalar fixed-size ASCII string, as H5DSset_scale and netCDF write them; 0 if the
 * attribute is anything else.  *size is that of the type. */
static int read_mark(hid_t object, const char *name, char *text, size_t room, size_t *size)
{
    hid_t a, t, s;
    int ok = 0;

    if (H5Aexists(object, name) <= 0)
        return 0;
    a = H5Aopen(object, name, H5P_DEFAULT);
    t = H5Aget_type(a);
    s = H5Aget_space(a);
    if (t > 0 && s > 0 && H5Tget_class(t) == H5T_STRING && H5Tis_variable_str(t) == 0 &&
        H5Tget_strpad(t) == H5T_STR_NULLTERM && H5Sget_simple_extent_type(s) == H5S_SCALAR &&
        H5Tget_size(t) < room) {
        memset(text, 0, room);
        ok = H5Aread(a, t, text) >= 0;
        *size = H5Tget_size(t);
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

    return read_mark(object, SCALE_CLASS, text, sizeof text, &size) &&
           strcmp(text, SCALE_VALUE) == 0;
}

/* Whether a scale is netCDF's way to name a length: no values in it. */
static int is_bare(struct job *j, hid_t dset, const struct source *s)
{
    char text[256];
    size_t size;

    (void)j;
    return s->rank == 1 && H5Tequal(s->type, H5T_IEEE_F32BE) > 0 &&
           H5Dget_storage_size(dset) == 0 &&
           read_mark(dset, SCALE_NAME, text, sizeof text, &size) &&
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

/* Whether REFERENCE_LIST is what our own record of the scale's users would make. */
static int users_are_known(hid_t dset, const struct object *o)
{
    struct user {
        hobj_ref_t dataset;
        int dimension;
    } *users = NULL;
    uint64_t digest = 0;
    hid_t a, s, mem;
    hssize_t i, n;
    int ok;

    if (H5Aexists(dset, SCALE_USERS) <= 0)
        return o->users == 0;
    a = H5Aopen(dset, SCALE_USERS, H5P_DEFAULT);
    s = H5Aget_space(a);
    n = H5Sget_simple_extent_npoints(s);
    mem = H5Tcreate(H5T_COMPOUND, sizeof *users);
    H5Tinsert(mem, "dataset", HOFFSET(struct user, dataset), H5T_STD_REF_OBJ);
    H5Tinsert(mem, "dimension", HOFFSET(struct user, dimension), H5T_NATIVE_INT);
    ok = n > 0 && (uint64_t)n == o->users;
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

/* ------------------------------------------------------------ walk 1: objects */

struct walk {
    struct job *j;
    size_t group; /* index of the group that is walked */
    int err;
};

static int kind_of(H5O_type_t type)
{
    return type == H5O_TYPE_GROUP            ? DREP_OBJ_GROUP
           : type == H5O_TYPE_DATASET        ? DREP_OBJ_DATASET
           : type == H5O_TYPE_NAMED_DATATYPE ? DREP_OBJ_TYPE
                                             : 0;
}

/* Enters what a scale says of its dimension. */
static int note_scale(struct job *j, struct object *o)
{
    struct source s = {0};
    hid_t dset = H5Oopen_by_addr(j->h, (haddr_t)o->key);
    int err = 0;

    if (dset > 0 && is_scale(dset)) {
        s.type = H5Dget_type(dset);
        s.space = H5Dget_space(dset);
        err = read_shape(j, &s);
        if (!err && s.rank >= 1) {
            o->scale = is_bare(j, dset, &s) ? 2 : 1;
            o->length = (int64_t)s.dims[0];
            o->unlimited = s.maxdims[0] == H5S_UNLIMITED;
            o->dim_path = o->scale == 2 ? strdup(o->path) : NULL;
            if (o->scale == 1 && asprintf(&o->dim_path, "%s.dim", o->path) < 0)
                o->dim_path = NULL;
            if (!o->dim_path)
                err = job_fail(j, DREP_ERR_NOMEM, "out of memory");
        }
        H5Sclose(s.space);
        H5Tclose(s.type);
    }
    if (dset > 0)
        H5Oclose(dset);
    return err == DREP_ERR_NOMEM ? err : 0;
}

static herr_t find_link(hid_t group, const char *name, const H5L_info_t *link, void *ctx)
{
    struct walk *w = ctx;
    struct job *j = w->j;
    H5O_info_t info;

    if (link->type != H5L_TYPE_HARD)
        return 0;
    if (H5Oget_info_by_name2(group, name, &info, H5O_INFO_BASIC, H5P_DEFAULT) < 0)
        return 0; /* named when the link is made */
    if (job_find(j, (uint64_t)info.addr) || !kind_of(info.type))
        return 0;
    w->err = job_add(j, (uint64_t)info.addr, kind_of(info.type),
                     path_join(j->objects[w->group].path, name));
    if (!w->err && info.type == H5O_TYPE_DATASET)
        w->err = note_scale(j, &j->objects[j->n - 1]);
    return w->err ? -1 : 0;
}

/* Calls fn for each link of a group: in creation order where HDF5 has kept it. */
static int each_link(struct job *j, size_t i, H5L_iterate_t fn)
{
    struct walk w = {.j = j, .group = i};
    hid_t group = H5Oopen_by_addr(j->h, (haddr_t)j->objects[i].key);
    hid_t gcpl = group > 0 ? H5Gget_create_plist(group) : -1;
    unsigned order = 0;
    herr_t status;

    if (gcpl < 0) {
        job_fail_hdf5(j, "group");
        job_warn(j, j->objects[i].path, "%s", j->why);
        return 0;
    }
    H5Pget_link_creation_order(gcpl, &order);
    status = H5Literate(group, order & H5P_CRT_ORDER_TRACKED ? H5_INDEX_CRT_ORDER : H5_INDEX_NAME,
                        H5_ITER_INC, NULL, fn, &w);
    if (status < 0 && !w.err) {
        job_fail_hdf5(j, "group");
        job_warn(j, j->objects[i].path, "%s", j->why);
    }
    H5Pclose(gcpl);
    H5Oclose(group);
    return w.err;
}

static int find_objects(struct job *j)
{
    const char *root = j->o->root ? j->o->root : "/";
    hid_t group = H5Gopen2(j->h, root, H5P_DEFAULT);
    size_t i;
    int err;

    if (group < 0)
        return job_fail(j, DREP_ERR_NOT_FOUND, "%s: no such group", root);
    err = job_add(j, address_of(group), DREP_OBJ_GROUP, strdup("/"));
    H5Gclose(group);
    for (i = 0; !err && i < j->n; i++)
        if (j->objects[i].kind == DREP_OBJ_GROUP)
            err = each_link(j, i, find_link);
    return err;
}

/* ---------------------------------------------------- walk 2: uses of dimensions */

/* A dataset may use a dimension of its own length, or of any if that is unlimited. */
static int fits(const struct object *scale, const struct source *s, int d)
{
    return scale && scale->scale && (scale->unlimited || scale->length == (int64_t)s->dims[d]);
}

/* The objects behind a dataset's DIMENSION_LIST; false if it has none to speak of, or
 * one that does not fit and is kept as an attribute instead. */
static int find_scales(struct job *j, const struct source *s, struct object **scales)
{
    uint64_t address[H5S_MAX_RANK];
    int d, any = 0;

    if (!read_scales(s->dset, s->rank, address))
        return 0;
    for (d = 0; d < s->rank; d++) {
        scales[d] = address[d] ? job_find(j, address[d]) : NULL;
        if (address[d] && !fits(scales[d], s, d))
            return 0;
        any |= address[d] != 0;
    }
    return any;
}

static void note_uses(struct job *j, struct object *o)
{
    struct object *scales[H5S_MAX_RANK];
    struct source s = {0};
    int d;

    s.dset = H5Oopen_by_addr(j->h, (haddr_t)o->key);
    if (s.dset > 0 && H5Aexists(s.dset, SCALE_LIST) > 0) {
        s.space = H5Dget_space(s.dset);
        if (read_shape(j, &s) == 0 && find_scales(j, &s, scales))
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

static void find_uses(struct job *j)
{
    size_t i;

    for (i = 0; i < j->n; i++)
        if (j->objects[i].kind == DREP_OBJ_DATASET && !j->objects[i].scale)
            note_uses(j, &j->objects[i]);
}

/* ------------------------------------------------------------ walk 3: making */

static int made(struct job *j, struct object *o)
{
    drep_objinfo info;
    int err = drep_stat(j->d, o->path, &info);

    if (err)
        return job_fail_drep(j, err);
    o->made = info.id;
    return 0;
}

/* Groups above a dimension that is needed before its own turn. */
static int make_parents(struct job *j, const char *path)
{
    char *parent = strdup(path);
    char *slash = parent ? strrchr(parent, '/') : NULL;
    int err = !parent ? job_fail(j, DREP_ERR_NOMEM, "out of memory") : 0;

    if (!err && slash != parent) {
        *slash = 0;
        err = drep_group_create(j->d, parent, 1);
        err = err == DREP_ERR_EXISTS ? 0 : err ? job_fail_drep(j, err) : 0;
    }
    free(parent);
    return err;
}

/* The dimension object of a scale, made at its first use. */
static int make_dimension(struct job *j, struct object *o)
{
    drep_objinfo info;
    int err;

    if (drep_stat(j->d, o->dim_path, &info) == 0 && info.kind == DREP_OBJ_DIMENSION)
        return 0;
    err = make_parents(j, o->dim_path);
    if (!err) {
        err = drep_dimension_create(j->d, o->dim_path, o->length, o->unlimited);
        if (err)
            job_fail_drep(j, err);
    }
    if (!err && o->scale == 2)
        err = made(j, o);
    return err;
}

static int translate_filter(struct job *j, const char *path, hid_t dcpl, unsigned i,
                            drep_filter *out)
{
    unsigned flags, config, values[8] = {0};
    size_t n = 8;
    char name[80] = "";
    H5Z_filter_t id = H5Pget_filter2(dcpl, i, &flags, &n, values, sizeof name, name, &config);

    switch (id) {
    case H5Z_FILTER_SHUFFLE:
        out->id = DREP_FILTER_SHUFFLE;
        return 0;
    case H5Z_FILTER_DEFLATE:
        out->id = DREP_FILTER_DEFLATE;
        out->level = (int)values[0];
        break;
    case H5Z_FILTER_FLETCHER32:
        job_note(j, path, "filter fletcher32 is left out: every byte is checksummed anyway");
        return 0;
    default:
        if (H5Zfilter_avail(id) <= 0)
            return job_fail(j, DREP_ERR_UNSUPPORTED, "filter %d (%s) is not available to HDF5",
                            (int)id, *name ? name : "no name");
        out->id = DREP_FILTER_ZSTD;
        job_note(j, path, "filter %d (%s) becomes zstd: the values are the same", (int)id,
                 *name ? name : "no name");
    }
    if (!drep_filter_available(out->id))
        out->id = out->id == DREP_FILTER_ZSTD ? DREP_FILTER_DEFLATE : DREP_FILTER_ZSTD;
    if (!drep_filter_available(out->id)) {
        out->id = 0;
        job_note(j, path, "no compressor is built in: stored as it is");
    }
    return 0;
}

/* At most one of each: two compressors in a row help nobody. */
static int translate_filters(struct job *j, const char *path, const struct source *s,
                             drep_filter *filters, int *n)
{
    int i, k, count = H5Pget_nfilters(s->dcpl);
    int err = 0;

    for (*n = i = 0; !err && i < count; i++) {
        drep_filter f = {0};

        err = translate_filter(j, path, s->dcpl, (unsigned)i, &f);
        for (k = 0; k < *n; k++)
            if (filters[k].id == f.id || (filters[k].id >= 16 && f.id >= 16))
                f.id = 0;
        if (!err && f.id && *n < DREP_MAX_FILTERS)
            filters[(*n)++] = f;
    }
    return err;
}

/* The largest payload that the container takes. */
static int64_t chunk_limit(struct job *j)
{
    drep_info *info = NULL;
    int64_t limit = 16 << 20;
    const char *text;

    if (drep_get_info(j->d, &info) == 0) {
        text = drep_info_get(info, "drep_chunk_max");
        if (text && atoll(text) > 0)
            limit = atoll(text);
        drep_info_free(info);
    }
    return limit;
}

/* Smaller chunks that divide the old ones, if any do. */
static void shrink_chunk(int rank, int64_t *chunk, int64_t most)
{
    int64_t n = 1, part;
    int d;

    for (d = 0; d < rank; d++)
        n *= chunk[d];
    for (d = 0; d < rank && n > most; d++) {
        int64_t rest = n / chunk[d];
        int64_t want = most / rest > 0 ? most / rest : 1;

        for (part = want; part > want / 2 && part > 1 && chunk[d] % part != 0;)
            part--;
        chunk[d] = chunk[d] % part == 0 ? part : want;
        n = rest * chunk[d];
    }
}

static void choose_layout(struct job *j, const char *path, const struct source *s, drep_spec *spec,
                          int64_t *chunk)
{
    int64_t size = 0, was = 1, now = 1;
    int d;

    if (drep_type_file_extent(s->map.type, j->o->datarep, &size) != 0 || size <= 0)
        size = drep_type_extent(s->map.type) > 0 ? drep_type_extent(s->map.type) : 1;
    if (s->layout == H5D_CHUNKED && s->rank > 0) {
        spec->layout = DREP_CHUNKED;
        spec->chunk = chunk;
        for (d = 0; d < s->rank; d++)
            was *= chunk[d] = (int64_t)s->chunk[d];
        shrink_chunk(s->rank, chunk, chunk_limit(j) / size > 0 ? chunk_limit(j) / size : 1);
        for (d = 0; d < s->rank; d++)
            now *= chunk[d];
        if (now != was)
            job_warn(j, path,
                     "chunks of %lld elements are beyond drep_chunk_max: now %lld elements",
                     (long long)was, (long long)now);
        return;
    }
    spec->layout = DREP_CONTIGUOUS;
    if (s->layout == H5D_COMPACT) {
        hssize_t n = H5Sget_simple_extent_npoints(s->space);

        if (n <= 2048 / size)
            spec->layout = DREP_COMPACT;
        else
            job_note(j, path, "compact layout becomes contiguous: more than 2048 bytes");
    }
    if (s->layout == H5D_VIRTUAL)
        job_note(j, path, "a virtual dataset becomes an ordinary one, with its values");
    if (spec->layout != DREP_CONTIGUOUS)
        return;
    /* Strings and sequences stand in chunks, and only the first dimension grows. */
    if (drep_type_variable(s->map.type))
        spec->layout = DREP_LAYOUT_AUTO;
    for (d = 1; d < s->rank; d++)
        if (s->maxdims[d] != s->dims[d])
            spec->layout = DREP_LAYOUT_AUTO;
}

/* ------------------------------------------------------------------ references */

/* A reference to nothing stays one; to something that was not carried becomes one. */
static int ref_in(struct move *mv, int region, void *h, drep_ref *d)
{
    struct job *j = mv->j;
    hobj_ref_t address = 0;
    hdset_reg_ref_t none = {0};
    struct object *o;
    hid_t object, space;
    int err = 0;

    if (!region) {
        memcpy(&address, h, sizeof address);
    } else if (memcmp(h, none, sizeof none) != 0) {
        object = H5Rdereference2(j->h, H5P_DEFAULT, H5R_DATASET_REGION, h);
        address = object > 0 ? (hobj_ref_t)address_of(object) : 0;
        space = object > 0 ? H5Rget_region(j->h, H5R_DATASET_REGION, h) : -1;
        if (space > 0) {
            err = region_print(mv, space, &d->region);
            H5Sclose(space);
        }
        if (object > 0)
            H5Oclose(object);
        if (object <= 0 || space <= 0)
            err = job_fail_hdf5(j, "region reference");
    } else {
        return 0;
    }
    o = address ? job_find(j, (uint64_t)address) : NULL;
    if (!err && address && (!o || !o->made))
        err = job_fail(j, DREP_ERR_UNSUPPORTED, "it leads to an object that is not carried");
    if (err) {
        memset(d, 0, sizeof *d);
        job_warn(j, mv->path, "a reference becomes none: %s", j->why);
        return err == DREP_ERR_NOMEM ? err : 0;
    }
    d->object = o ? o->made : 0;
    return 0;
}

/* ------------------------------------------------------------- making datasets */

static int read_fill(struct job *j, const struct object *o, struct source *s, drep_spec *spec,
                     struct move *mv)
{
    H5D_fill_value_t defined = H5D_FILL_VALUE_DEFAULT;
    void *d;

    if (H5Pfill_value_defined(s->dcpl, &defined) < 0)
        return job_fail_hdf5(j, "fill value");
    if (defined == H5D_FILL_VALUE_UNDEFINED)
        spec->fill = DREP_FILL_NONE;
    if (defined != H5D_FILL_VALUE_USER_DEFINED)
        return 0;
    s->fill = calloc(1, s->map.hsize);
    d = move_alloc(mv, s->map.dsize);
    if (!s->fill || !d)
        return job_fail(j, DREP_ERR_NOMEM, "out of memory");
    if (H5Pget_fill_value(s->dcpl, s->map.mem, s->fill) < 0) {
        job_fail_hdf5(j, "fill value");
        job_warn(j, o->path, "%s", j->why);
        return 0;
    }
    spec->fill = DREP_FILL_VALUE;
    spec->fill_value = d;
    return move_in(mv, &s->map, 1, s->fill, d);
}

/* The dimension objects of a dataset's dimensions, made if need be. */
static int choose_dims(struct job *j, struct object *o, const struct source *s, const char **names)
{
    struct object *scales[H5S_MAX_RANK] = {NULL};
    int d, err = 0;

    if (o->scale && s->rank >= 1)
        scales[0] = o;
    else if (!find_scales(j, s, scales))
        return 0;
    for (d = 0; !err && d < s->rank; d++) {
        if (!scales[d])
            continue;
        err = make_dimension(j, scales[d]);
        names[d] = scales[d]->dim_path;
    }
    return err;
}

static int create_dataset(struct job *j, struct object *o, struct source *s, struct move *mv)
{
    int64_t dims[H5S_MAX_RANK], maxdims[H5S_MAX_RANK], chunk[H5S_MAX_RANK];
    const char *names[H5S_MAX_RANK] = {NULL};
    drep_filter filters[DREP_MAX_FILTERS];
    drep_spec spec = {.type = s->map.type, .rank = s->rank, .dims = dims, .maxdims = maxdims};
    int d, err = 0;

    for (d = 0; d < s->rank; d++) {
        dims[d] = (int64_t)s->dims[d];
        maxdims[d] = s->maxdims[d] == H5S_UNLIMITED ? DREP_UNLIMITED : (int64_t)s->maxdims[d];
    }
    if (s->rank >= 0) {
        choose_layout(j, o->path, s, &spec, chunk);
        err = read_fill(j, o, s, &spec, mv);
    }
    if (!err && spec.layout == DREP_CHUNKED) {
        err = translate_filters(j, o->path, s, filters, &spec.nfilters);
        spec.filters = filters;
    }
    if (!err && s->rank > 0) {
        err = choose_dims(j, o, s, names);
        spec.dim_names = names;
    }
    if (err)
        return err;
    if (s->map.ascii)
        job_note(j, o->path, "strings marked ASCII become UTF-8: the bytes are the same");
    err = drep_dataset_create(j->d, o->path, &spec, NULL);
    return err ? job_fail_drep(j, err) : made(j, o);
}

static int make_dataset(struct job *j, struct object *o)
{
    struct move mv = {.j = j, .ref = ref_in, .path = o->path};
    struct source s;
    int err;

    if (o->scale == 2)
        return make_dimension(j, o);
    err = source_open(j, o, 0, &s);
    if (err)
        return err;
    err = create_dataset(j, o, &s, &mv);
    move_release(&mv);
    source_close(&s);
    return err;
}

static int make_type(struct job *j, struct object *o)
{
    hid_t type = H5Oopen_by_addr(j->h, (haddr_t)o->key);
    struct map m;
    int err = type > 0 ? map_from_hdf5(j, type, &m) : job_fail_hdf5(j, "datatype");

    if (type > 0)
        H5Tclose(type);
    if (err)
        return err;
    err = drep_type_commit(j->d, o->path, m.type);
    map_release(&m);
    return err ? job_fail_drep(j, err) : made(j, o);
}

static int make_object(struct job *j, struct object *o)
{
    int err;

    if (o->made)
        return 0;
    if (o->kind == DREP_OBJ_DATASET)
        return make_dataset(j, o);
    if (o->kind == DREP_OBJ_TYPE)
        return make_type(j, o);
    err = drep_group_create(j->d, o->path, 0);
    /* It may have been made for a dimension in it. */
    if (err && err != DREP_ERR_EXISTS)
        return job_fail_drep(j, err);
    return made(j, o);
}

static int make_hard(struct job *j, hid_t group, const char *name, const char *path)
{
    struct object *o;
    H5O_info_t info;
    int err;

    if (H5Oget_info_by_name2(group, name, &info, H5O_INFO_BASIC, H5P_DEFAULT) < 0)
        return job_fail_hdf5(j, "link");
    o = job_find(j, (uint64_t)info.addr);
    if (!o)
        return job_fail(j, DREP_ERR_UNSUPPORTED, "an object of unknown kind");
    if (strcmp(o->path, path) == 0)
        return make_object(j, o);
    if (!o->made)
        return job_fail(j, DREP_ERR_UNSUPPORTED, "hard link to %s, which is not carried", o->path);
    err = drep_link_hard(j->d, o->path, path);
    return err ? job_fail_drep(j, err) : 0;
}

/* Soft and external links hold their targets as text. */
static int make_text_link(struct job *j, hid_t group, const char *name, const H5L_info_t *link,
                          const char *path)
{
    char *value = calloc(link->u.val_size + 1, 1);
    const char *file, *target;
    unsigned flags;
    int err;

    if (!value)
        return job_fail(j, DREP_ERR_NOMEM, "out of memory");
    if (H5Lget_val(group, name, value, link->u.val_size, H5P_DEFAULT) < 0)
        err = job_fail_hdf5(j, "link");
    else if (link->type == H5L_TYPE_SOFT)
        err = drep_link_soft(j->d, value, path);
    else if (link->type != H5L_TYPE_EXTERNAL)
        err = job_fail(j, DREP_ERR_UNSUPPORTED, "a link of a kind only its maker knows");
    else if (H5Lunpack_elink_val(value, link->u.val_size, &flags, &file, &target) < 0)
        err = job_fail_hdf5(j, "link");
    else
        err = drep_link_external(j->d, file, target, path);
    if (err && !*j->why)
        job_fail_drep(j, err);
    free(value);
    return err;
}

static herr_t make_link(hid_t group, const char *name, const H5L_info_t *link, void *ctx)
{
    struct walk *w = ctx;
    struct job *j = w->j;
    char *path = path_join(j->objects[w->group].path, name);

    *j->why = 0;
    w->err = job_stopped(j)                ? DREP_ERR_STOPPED
             : !path                       ? job_fail(j, DREP_ERR_NOMEM, "out of memory")
             : link->type == H5L_TYPE_HARD ? make_hard(j, group, name, path)
                                           : make_text_link(j, group, name, link, path);
    if (path)
        w->err = job_skip(j, w->err, path, "not carried");
    free(path);
    return w->err ? -1 : 0;
}

static int make_all(struct job *j)
{
    size_t i;
    int err = made(j, &j->objects[0]);

    for (i = 0; !err && i < j->n; i++)
        if (j->objects[i].kind == DREP_OBJ_GROUP && j->objects[i].made)
            err = each_link(j, i, make_link);
    return err;
}

/* ------------------------------------------------------- walk 4: attributes */

/* 1 if the export makes the attribute again by itself. */
static int is_implied(struct job *j, hid_t object, const struct object *o, const char *name)
{
    struct object *scales[H5S_MAX_RANK];
    char text[1200], own[1200];
    size_t size;

    if (o->scale && strcmp(name, SCALE_CLASS) == 0)
        return read_mark(object, name, text, sizeof text, &size) && size == sizeof SCALE_VALUE;
    if (o->scale && strcmp(name, SCALE_USERS) == 0)
        return users_are_known(object, o);
    if (o->scale && strcmp(name, SCALE_NAME) == 0) {
        const char *last = strrchr(o->path, '/') + 1;

        if (!read_mark(object, name, text, sizeof text, &size))
            return 0;
        if (o->scale == 1)
            return size == strlen(last) + 1 && strcmp(text, last) == 0;
        snprintf(own, sizeof own, "%s%10lld", SCALE_NO_VARIABLE, (long long)o->length);
        return size == SCALE_NO_VARIABLE_SIZE && strcmp(text, own) == 0;
    }
    if (o->kind == DREP_OBJ_DATASET && !o->scale && strcmp(name, SCALE_LIST) == 0) {
        struct source s = {.dset = object, .space = H5Dget_space(object)};
        int known = read_shape(j, &s) == 0 && find_scales(j, &s, scales);

        H5Sclose(s.space);
        return known;
    }
    return 0;
}

static int copy_attribute(struct job *j, const char *path, const char *name, hid_t attr,
                          struct move *mv)
{
    struct source s = {.type = H5Aget_type(attr), .space = H5Aget_space(attr)};
    int64_t dims[H5S_MAX_RANK];
    hssize_t n = 0;
    void *h = NULL, *d = NULL;
    int i, err = s.type > 0 && s.space > 0 ? read_shape(j, &s) : job_fail_hdf5(j, "attribute");

    if (!err)
        err = map_from_hdf5(j, s.type, &s.map);
    if (!err && s.map.ascii)
        job_note(j, path, "attribute \"%s\": strings marked ASCII become UTF-8", name);
    if (!err && s.rank >= 0) {
        n = H5Sget_simple_extent_npoints(s.space);
        if ((uint64_t)n > ATTR_SIZE_MAX / (s.map.hsize + s.map.dsize))
            err = job_fail(j, DREP_ERR_LIMIT, "an attribute beyond 256 MiB");
    }
    for (i = 0; i < s.rank; i++)
        dims[i] = (int64_t)s.dims[i];
    if (!err) {
        h = move_alloc(mv, (size_t)n * s.map.hsize);
        d = s.map.kind == MAP_FLAT ? h : move_alloc(mv, (size_t)n * s.map.dsize);
        err = h && d ? 0 : DREP_ERR_NOMEM;
    }
    if (!err && n && H5Aread(attr, s.map.mem, h) < 0)
        err = job_fail_hdf5(j, "attribute");
    if (!err) {
        err = d != h ? move_in(mv, &s.map, (size_t)n, h, d) : 0;
        if (!err) {
            err = drep_attr_write(j->d, path, name, s.map.type, s.rank, dims, d);
            if (err)
                job_fail_drep(j, err);
        }
        if (n && s.map.variable)
            H5Dvlen_reclaim(s.map.mem, s.space, H5P_DEFAULT, h);
    }
    source_close(&s);
    return err;
}

struct attributes {
    struct job *j;
    const struct object *o;
    int err;
};

static herr_t import_attribute(hid_t object, const char *name, const H5A_info_t *info, void *ctx)
{
    struct attributes *as = ctx;
    struct job *j = as->j;
    struct move mv = {.j = j, .ref = ref_in, .path = as->o->path};
    char what[1100];
    hid_t attr;

    (void)info;
    if (is_implied(j, object, as->o, name))
        return 0;
    snprintf(what, sizeof what, "attribute \"%.1023s\" is not carried", name);
    attr = H5Aopen(object, name, H5P_DEFAULT);
    as->err =
        attr > 0 ? copy_attribute(j, as->o->path, name, attr, &mv) : job_fail_hdf5(j, "attribute");
    as->err = job_skip(j, as->err, as->o->path, what);
    move_release(&mv);
    if (attr > 0)
        H5Aclose(attr);
    return as->err ? -1 : 0;
}

/* What a dimension object says beyond its length. */
static int mark_dimension(struct job *j, hid_t object, const struct object *o)
{
    drep_type *type = NULL;
    drep_ref ref = {.object = o->made};
    hid_t space;
    hsize_t length = 0;
    int err;

    if (o->scale == 1) {
        /* An absent name is kept as one without a value. */
        if (H5Aexists(object, SCALE_NAME) == 0) {
            err = drep_type_vstring(&type);
            if (!err)
                err = drep_attr_write(j->d, o->path, SCALE_NAME, type, DREP_NULL_SPACE, NULL, NULL);
            drep_type_free(type);
            if (err)
                return job_fail_drep(j, err);
        }
        err = drep_type_reference(DREP_REF_OBJECT, &type);
        if (!err)
            err = drep_attr_write(j->d, o->dim_path, DIM_VARIABLE, type, 0, NULL, &ref);
        drep_type_free(type);
        return err ? job_fail_drep(j, err) : 0;
    }
    space = H5Dget_space(object);
    H5Sget_simple_extent_dims(space, &length, NULL);
    H5Sclose(space);
    err = (int64_t)length == o->length
              ? 0
              : drep_attr_write_int(j->d, o->path, DIM_SCALE_LENGTH, (int64_t)length);
    return err ? job_fail_drep(j, err) : 0;
}

static int import_attributes(struct job *j, const struct object *o)
{
    struct attributes as = {.j = j, .o = o};
    hid_t object = H5Oopen_by_addr(j->h, (haddr_t)o->key);
    hid_t plist = -1;
    unsigned order = 0;
    int err = 0;

    if (object < 0) {
        job_fail_hdf5(j, "attributes");
        job_warn(j, o->path, "%s", j->why);
        return 0;
    }
    plist = o->kind == DREP_OBJ_GROUP     ? H5Gget_create_plist(object)
            : o->kind == DREP_OBJ_DATASET ? H5Dget_create_plist(object)
                                          : H5Tget_create_plist(object);
    H5Pget_attr_creation_order(plist, &order);
    if (H5Aiterate2(object, order & H5P_CRT_ORDER_TRACKED ? H5_INDEX_CRT_ORDER : H5_INDEX_NAME,
                    H5_ITER_INC, NULL, import_attribute, &as) < 0 &&
        !as.err) {
        job_fail_hdf5(j, "attributes");
        job_warn(j, o->path, "%s", j->why);
    }
    err = as.err;
    if (!err && o->scale)
        err = mark_dimension(j, object, o);
    if (H5Oget_comment(object, NULL, 0) > 0)
        job_warn(j, o->path, "its comment is not carried");
    H5Pclose(plist);
    H5Oclose(object);
    return err;
}

/* -------------------------------------------------------------- walk 4: data */

/* What the loop over a dataset's blocks holds. */
struct filler {
    struct job *j;
    const struct object *o;
    const struct source *s;
    drep_dataset *ds;
    int64_t step[DREP_MAX_RANK]; /* of a block */
    void *h, *d;                 /* one block in either memory */
    int64_t unread;              /* elements that HDF5 could not give */
    drep_report lost;
};

static void add_report(drep_report *sum, const drep_report *r)
{
    sum->overflow += r->overflow;
    sum->inexact += r->inexact;
    sum->nan_lost += r->nan_lost;
}

static int write_block(struct filler *f, const struct box *b, int64_t n)
{
    struct job *j = f->j;
    struct move mv = {.j = j, .ref = ref_in, .path = f->o->path};
    drep_report report = {0};
    drep_xfer xfer = {.range = j->o->range, .report = &report};
    drep_selection *sel = NULL;
    int err = 0;

    if (f->d != f->h)
        err = move_in(&mv, &f->s->map, (size_t)n, f->h, f->d);
    if (!err && b->rank > 0) {
        err = drep_select_box(b->rank, b->start, b->count, NULL, NULL, &sel);
        if (err)
            job_fail_drep(j, err);
    }
    if (!err) {
        err = drep_write(f->ds, sel, f->s->map.type, f->d, &xfer);
        if (err)
            job_fail_drep(j, err);
    }
    add_report(&f->lost, &report);
    drep_selection_free(sel);
    move_release(&mv);
    return err;
}

/* Moves a block.  One of several chunks may be damaged: then each is moved alone. */
static int fill_block(struct filler *f, const struct box *block, int several)
{
    const struct source *s = f->s;
    int64_t chunk[DREP_MAX_RANK];
    hid_t mem;
    struct box b;
    int d, err = job_stopped(f->j);

    if (err)
        return err;
    mem = box_space(block);
    if (box_select_hdf5(block, s->space) >= 0 &&
        H5Dread(s->dset, s->map.mem, mem, s->space, H5P_DEFAULT, f->h) >= 0) {
        err = write_block(f, block, box_elements(block));
        if (s->map.variable)
            H5Dvlen_reclaim(s->map.mem, mem, H5P_DEFAULT, f->h);
    } else if (several && s->layout == H5D_CHUNKED) {
        for (d = 0; d < s->rank; d++)
            chunk[d] = (int64_t)s->chunk[d];
        box_init(&b, s->rank, block->count, chunk);
        memcpy(b.base, block->start, sizeof b.base);
        while (!err && box_next(&b))
            err = fill_block(f, &b, 0);
    } else {
        if (!f->unread)
            job_fail_hdf5(f->j, "data");
        f->unread += box_elements(block);
    }
    H5Sclose(mem);
    return err;
}

/* All blocks of a region of the dataset. */
static int fill_region(struct filler *f, const struct box *region)
{
    struct box b;
    int d, err = 0;

    box_init(&b, region->rank, region->count, f->step);
    for (d = 0; d < region->rank; d++)
        b.base[d] = region->start[d];
    while (!err && box_next(&b))
        err = fill_block(f, &b, 1);
    return err;
}

/* The stored chunks only.  HDF5 finds the k-th by counting, so a well-filled grid is
 * asked by coordinate instead. */
static int fill_stored(struct filler *f, hsize_t stored, double cells)
{
    const struct source *s = f->s;
    int64_t dims[DREP_MAX_RANK], chunk[DREP_MAX_RANK];
    hsize_t i, at[H5S_MAX_RANK], size;
    unsigned mask;
    haddr_t address;
    struct box b;
    int d, err = 0, by_index = (double)stored * (double)stored < cells;

    for (d = 0; d < s->rank; d++) {
        dims[d] = (int64_t)s->dims[d];
        chunk[d] = (int64_t)s->chunk[d];
    }
    box_init(&b, s->rank, dims, chunk);
    for (i = 0; !err && (by_index ? i < stored : box_next(&b)); i++) {
        if (by_index) {
            if (H5Dget_chunk_info(s->dset, s->space, i, at, &mask, &address, &size) < 0)
                return job_fail_hdf5(f->j, "chunks");
            for (d = 0; d < s->rank; d++) {
                b.start[d] = (int64_t)at[d];
                b.count[d] = dims[d] - b.start[d] < chunk[d] ? dims[d] - b.start[d] : chunk[d];
            }
        } else {
            for (d = 0; d < s->rank; d++)
                at[d] = (hsize_t)b.start[d];
            if (H5Dget_chunk_info_by_coord(s->dset, at, &mask, &address, &size) < 0)
                return job_fail_hdf5(f->j, "chunks");
            if (address == HADDR_UNDEF)
                continue;
        }
        err = fill_region(f, &b);
    }
    return err;
}

/* Blocks follow our chunks; where HDF5's are larger, one of those after the other. */
static int fill_dataset(struct filler *f, const drep_dsinfo *info, int64_t most)
{
    const struct source *s = f->s;
    int64_t dims[DREP_MAX_RANK], outer[DREP_MAX_RANK];
    hsize_t stored = 0;
    double cells = 1;
    struct box b;
    int d, err = 0;

    for (d = 0; d < s->rank; d++) {
        dims[d] = (int64_t)s->dims[d];
        f->step[d] = info->layout == DREP_CHUNKED ? info->chunk[d] : 1;
    }
    box_grow(s->rank, dims, most, f->step);
    for (d = 0; d < s->rank; d++) {
        int64_t chunk = s->layout == H5D_CHUNKED ? (int64_t)s->chunk[d] : 1;

        outer[d] = f->step[d] > chunk ? f->step[d] : chunk;
        cells *= chunk ? (double)((dims[d] - 1) / chunk + 1) : 1;
    }
    if (s->layout == H5D_CHUNKED && H5Dget_num_chunks(s->dset, s->space, &stored) >= 0 &&
        (double)stored < cells)
        return fill_stored(f, stored, cells);
    box_init(&b, s->rank, dims, outer);
    while (!err && box_next(&b))
        err = fill_region(f, &b);
    return err;
}

/* HDF5 decompresses a whole chunk for every part of it that is not in its cache. */
static hid_t large_cache(struct job *j, const struct object *o)
{
    hid_t dset = H5Oopen_by_addr(j->h, (haddr_t)o->key);
    hid_t dcpl = H5Dget_create_plist(dset), type = H5Dget_type(dset), dapl = 0;
    hsize_t chunk[H5S_MAX_RANK], size = H5Tget_size(type);
    int d, rank;

    if (H5Pget_layout(dcpl) == H5D_CHUNKED) {
        rank = H5Pget_chunk(dcpl, H5S_MAX_RANK, chunk);
        for (d = 0; d < rank; d++)
            size *= chunk[d];
        if (size > BLOCK_SIZE / 4) {
            dapl = H5Pcreate(H5P_DATASET_ACCESS);
            H5Pset_chunk_cache(dapl, 521, (size_t)size + 1, 1.0);
        }
    }
    H5Tclose(type);
    H5Pclose(dcpl);
    H5Dclose(dset);
    return dapl;
}

static int has_data(const struct source *s)
{
    int external = H5Pget_external_count(s->dcpl) > 0;

    if (s->rank < 0 || H5Sget_simple_extent_npoints(s->space) == 0)
        return 0;
    return external || s->layout == H5D_VIRTUAL || H5Dget_storage_size(s->dset) > 0;
}

static void say_lost(struct filler *f)
{
    if (f->unread)
        job_warn(f->j, f->o->path, "%lld elements could not be read and hold the fill value: %s",
                 (long long)f->unread, f->j->why);
    if (f->lost.overflow || f->lost.inexact || f->lost.nan_lost)
        job_warn(f->j, f->o->path,
                 "%lld values overflowed, %lld were rounded, %lld NaNs lost their payload",
                 (long long)f->lost.overflow, (long long)f->lost.inexact,
                 (long long)f->lost.nan_lost);
}

static int import_data(struct job *j, const struct object *o)
{
    struct filler f = {.j = j, .o = o};
    struct source s;
    drep_dsinfo info;
    hid_t dapl = large_cache(j, o);
    int64_t most;
    int d, err = source_open(j, o, dapl, &s);

    if (dapl > 0)
        H5Pclose(dapl);
    if (err)
        return err;
    f.s = &s;
    if (has_data(&s)) {
        size_t size = s.map.hsize > s.map.dsize ? s.map.hsize : s.map.dsize;
        int64_t n = 1;

        /* What strings and sequences hold besides is not known beforehand. */
        most = (int64_t)((s.map.variable ? BLOCK_SIZE / 4 : BLOCK_SIZE) / (size ? size : 1));
        err = drep_dataset_open(j->d, o->path, &f.ds);
        if (!err)
            err = drep_dataset_info(f.ds, &info);
        for (d = 0; !err && d < s.rank; d++)
            n *= info.layout == DREP_CHUNKED ? info.chunk[d] : 1;
        if (err)
            job_fail_drep(j, err);
        n = n > most ? n : most;
        if (!err && (uint64_t)n > SIZE_MAX / size)
            err = job_fail(j, DREP_ERR_NOMEM, "out of memory");
        if (!err) {
            f.h = malloc((size_t)n * size + 1);
            f.d = s.map.kind == MAP_FLAT ? f.h : calloc((size_t)n + 1, size);
            err = f.h && f.d ? fill_dataset(&f, &info, most)
                             : job_fail(j, DREP_ERR_NOMEM, "out of memory");
        }
        if (!err)
            say_lost(&f);
        if (f.d != f.h)
            free(f.d);
        free(f.h);
        drep_dataset_close(f.ds);
    }
    source_close(&s);
    return err;
}

/* ------------------------------------------------------------------ the whole */

static void say_file(struct job *j)
{
    hid_t fcpl = H5Fget_create_plist(j->h);
    hsize_t block = 0;

    if (H5Pget_userblock(fcpl, &block) >= 0 && block > 0)
        job_warn(j, "", "the user block of %llu bytes is not carried", (unsigned long long)block);
    H5Pclose(fcpl);
}

int import_all(struct job *j)
{
    static const char *const kinds[] = {"", "group", "dataset", "datatype", "dimension"};
    size_t i;
    int err = find_objects(j);

    say_file(j);
    if (!err) {
        find_uses(j);
        err = make_all(j);
    }
    for (i = 0; !err && i < j->n; i++) {
        struct object *o = &j->objects[i];

        if (!o->made)
            continue;
        job_note(j, o->path, "%s", kinds[o->scale == 2 ? DREP_OBJ_DIMENSION : o->kind]);
        err = import_attributes(j, o);
        if (!err && o->kind == DREP_OBJ_DATASET && o->scale != 2)
            err = import_data(j, o);
    }
    return err;
}
