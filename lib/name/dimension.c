/* dimension.c - dimensions: objects with a length that datasets share. */
/* SPDX-License-Identifier: MIT */
#include "name/dimension.h"

#include "base/buf.h"
#include "base/mem.h"
#include "base/sized.h"
#include "base/vec.h"
#include "name/dim_entry.h"
#include "name/external.h"
#include "name/find.h"
#include "name/path.h"
#include "tree/edit.h"
#include "tree/walk.h"

#include <stdlib.h>
#include <string.h>

static int want_dimension(uint8_t kind, const char *path)
{
    return kind == FMT_DIMENSION ? 0
                                 : fail_object(DREP_ERR_KIND, path, "%s: not a dimension", path);
}

/* The dimension of a group. */
static int in_group(drep_file *f, const char *group, const char *name, struct stored_object *dim)
{
    struct dim_rec rec = {.object = 0};
    uint64_t id;
    int err = path_id(f, group, &id);

    if (!err)
        err = dim_entry_find(f, id, name, strlen(name), &rec);
    if (!err)
        err = object_load(f, rec.object, dim);
    return err;
}

/* The nearest dimension of that name counts: that of the dataset's group, then those of the groups
 * above it by the path. */
int dimension_find(drep_file *f, const char *path, const char *name, struct stored_object *dim)
{
    char *group = mem_strdup(path);
    int err = DREP_ERR_NOT_FOUND;

    if (!group)
        return fail_nomem();
    if (strchr(name, '/')) {
        err = path_find(f, name, dim);
    } else {
        for (size_t at = strlen(path) + 1; err == DREP_ERR_NOT_FOUND && at-- > 0;) {
            if (at != 0 && path[at] != '/')
                continue;
            group[at] = '\0';
            err = in_group(f, group, name, dim);
        }
        if ((err == DREP_ERR_NOT_FOUND || err == DREP_ERR_NAME) && strchr(name, '#'))
            err = path_find(f, name, dim);
    }
    mem_free(group);
    return err ? err : want_dimension(dim->rec.kind, name);
}

/* The object is stored after its entry: a name that exists refuses it before anything is made. */
static int make(drep_file *f, uint64_t group, const char *name, struct object_rec *rec,
                uint64_t *id)
{
    struct dim_rec entry = {.kind = FMT_PLAIN};
    int err = store_new_objects(f->st, 1, &entry.object);

    rec->kind = FMT_DIMENSION;
    rec->links = 1;
    if (!err)
        err = dim_entry_add(f, group, name, &entry);
    if (!err)
        err = object_store(f, entry.object, rec);
    if (!err)
        *id = entry.object;
    return err;
}

int dimension_make(drep_file *f, uint64_t group, const char *name, uint64_t len, bool unlimited,
                   struct stored_object *dim)
{
    struct object_rec rec = {.unlimited = unlimited};
    uint64_t id;
    int err;

    rec.len[0] = len;
    err = make(f, group, name, &rec, &id);
    return err ? err : object_load(f, id, dim);
}

int dimension_grow(drep_file *f, struct stored_object *dim, uint64_t len)
{
    if (len <= dim->rec.len[0])
        return 0;
    if (!dim->rec.unlimited)
        return fail(DREP_ERR_DIMS, "a dimension of length %llu, not unlimited, cannot hold %llu",
                    (unsigned long long)dim->rec.len[0], (unsigned long long)len);
    dim->rec.len[0] = len;
    return object_store(f, dim->id, &dim->rec);
}

/* The key of an entry for axis d of a dataset: dimension, tag, dataset, d. */
enum { USE_DATASET_AT = FMT_KEY_HEAD, USE_AXIS_AT = FMT_KEY_HEAD + 8, USE_BYTES };

static void use_key(struct key *key, uint64_t dimension, uint64_t dataset, int d)
{
    key_make(key, dimension, FMT_TAG_USER);
    key_add_u64(key, dataset);
    key_add_u8(key, (uint8_t)d);
}

int dimension_uses_add(drep_file *f, uint64_t id, const struct object_rec *rec)
{
    int err = 0;

    for (int d = 0; !err && rec->has_dims && d < rec->rank; d++) {
        struct key key;

        if (rec->dim[d] == 0)
            continue;
        use_key(&key, rec->dim[d], id, d);
        err = tree_put(f->st, &key, "", 0);
    }
    return err;
}

int dimension_uses_remove(drep_file *f, uint64_t id, const struct object_rec *rec)
{
    for (int d = 0; rec->has_dims && rec->rank != FMT_RANK_NULL && d < rec->rank; d++) {
        struct key key;
        int err;

        if (rec->dim[d] == 0)
            continue;
        use_key(&key, rec->dim[d], id, d);
        err = tree_del(f->st, &key);
        if (err && err != DREP_ERR_NOT_FOUND)
            return err;
    }
    return 0;
}

/* The walk over the users of a dimension. */
static void uses_walk(struct tree_walk *w, drep_file *f, uint64_t id)
{
    struct key key;

    key_make(&key, id, FMT_TAG_USER);
    tree_walk(w, f->st, &key, USE_DATASET_AT);
}

/* Read the next dataset and its axis; DREP_ERR_NOT_FOUND at the end. */
static int use_next(struct tree_walk *w, uint64_t *dataset, int *d)
{
    struct key key;
    int err;

    do {
        err = tree_next(w, &key, NULL);
    } while (!err && key.len != USE_BYTES);
    if (err)
        return err;
    *dataset = key_u64(key.p + USE_DATASET_AT);
    *d = key.p[USE_AXIS_AT];
    return 0;
}

/* Datasets that used the dimension have none in its place. */
int dimension_drop(drep_file *f, uint64_t id)
{
    struct stored_object o = {0};
    struct tree_walk w;
    uint64_t dataset;
    int err, d;

    uses_walk(&w, f, id);
    while (!(err = use_next(&w, &dataset, &d))) {
        if ((err = object_load(f, dataset, &o)))
            break;
        if (o.rec.kind != FMT_DATASET || !o.rec.has_dims || d >= o.rec.rank || o.rec.dim[d] != id)
            continue;
        o.rec.dim[d] = 0;
        if ((err = object_store(f, dataset, &o.rec)))
            break;
    }
    object_release(&o);
    return err == DREP_ERR_NOT_FOUND ? 0 : err;
}

int dimension_users(drep_file *f, uint64_t id, struct worklist *users)
{
    struct tree_walk w;
    uint64_t dataset;
    int err, d;

    uses_walk(&w, f, id);
    while (!(err = use_next(&w, &dataset, &d)))
        if ((users->n == 0 || users->id[users->n - 1] != dataset) &&
            (err = worklist_add(users, dataset)))
            break;
    return err == DREP_ERR_NOT_FOUND ? 0 : err;
}

int dimension_used(drep_file *f, uint64_t id, uint64_t *dataset, int *d)
{
    struct tree_walk w;

    uses_walk(&w, f, id);
    return use_next(&w, dataset, d);
}

int dimension_entry(drep_file *f, const char *path, uint64_t *group, const char **name,
                    struct dim_rec *rec)
{
    int err = path_dimension_parent(f, path, group, name);

    if (!err)
        err = dim_entry_find(f, *group, *name, strlen(*name), rec);
    return err != DREP_ERR_NOT_FOUND ? err : fail_object(err, path, "%s: no such dimension", path);
}

/* ---- calls ---- */

int drep_dimension_create(drep_file *file, const char *path, int64_t len, int unlimited)
{
    struct object_rec rec = {.unlimited = unlimited != 0};
    const char *name;
    uint64_t group, id;
    int err = fail_about(write_begin(file), path);

    if (err)
        return err;
    err = path_dimension_parent(file, path, &group, &name);
    if (!err && (len < 0 || len > TYPE_SIZE_MAX))
        err = fail_object(DREP_ERR_DIMS, path, "%s: length %lld", path, (long long)len);
    rec.len[0] = (uint64_t)len;
    if (!err)
        err = fail_about(fail_in(make(file, group, name, &rec, &id), "%s", path), path);
    return write_end(file, err);
}

int drep_dimension_find(drep_file *file, const char *path, const char *name, char **address)
{
    struct stored_object dim = {0};
    struct external_target to;
    int err = external_target(file, path, &to);

    if (err)
        return err;
    if (to.file)
        return external_done(&to, drep_dimension_find(to.file, to.path, name, address));
    if ((err = read_begin(file)))
        return err;
    err = !path || !name || !address ? fail(DREP_ERR_ARG, "drep_dimension_find: null argument")
                                     : dimension_find(file, path, name, &dim);
    if (err == DREP_ERR_NOT_FOUND)
        fail_object(err, path, "%s: no dimension \"%s\"", path, name);
    if (!err)
        err = object_path(file, dim.id, address);
    object_release(&dim);
    return read_end(file, err);
}

static int rename_in(drep_file *f, const char *path, const char *new_name)
{
    struct dim_rec rec;
    const char *name;
    uint64_t group;
    int err = dimension_entry(f, path, &group, &name, &rec);

    if (!err)
        err = dim_entry_free(f, group, new_name);
    if (!err)
        err = dim_entry_drop(f, group, name);
    return err ? err : dim_entry_add(f, group, new_name, &rec);
}

int drep_dimension_rename(drep_file *file, const char *path, const char *new_name)
{
    int err = fail_about(write_begin(file), path);

    if (err)
        return err;
    err = !new_name ? fail(DREP_ERR_ARG, "no new name") : rename_in(file, path, new_name);
    return write_end(file, err);
}

/* ---- listing ---- */

struct listed_dim {
    struct dim_rec rec;
    char *name, *path;
    int64_t len;
    bool unlimited, attrs;
    int kind; /* enum drep_object_kind */
    int number;
    uint8_t flags;
};
struct dim_list {
    struct listed_dim *p;
    size_t n, room;
};

static void dim_list_release(struct dim_list *l)
{
    for (size_t i = 0; i < l->n; i++) {
        mem_free(l->p[i].name);
        mem_free(l->p[i].path);
    }
    mem_free(l->p);
}

static int dim_list_add(struct dim_list *l, const struct dim_walk *w)
{
    struct listed_dim *at;

    if (VEC_ROOM(l->p, l->n, l->room, 1) != 0)
        return fail_nomem();
    at = &l->p[l->n];
    *at = (struct listed_dim){.rec = w->rec};
    at->name = mem_strndup((const char *)w->key.p + DIM_NAME_AT, w->key.len - DIM_NAME_AT);
    if (!at->name)
        return fail_nomem();
    l->n++;
    return 0;
}

static int by_creation(const void *a, const void *b)
{
    uint64_t x = ((const struct listed_dim *)a)->rec.index;
    uint64_t y = ((const struct listed_dim *)b)->rec.index;

    return (x > y) - (x < y);
}

/* Fills in what is told of a dimension besides its name. */
static int list_describe(drep_file *f, const char *group, struct listed_dim *at)
{
    struct stored_object dim = {0};
    int err = 0;

    at->kind = DREP_OBJ_DIMENSION;
    if (at->rec.kind == FMT_LATER) { /* the address leads to an error that says so */
        at->kind = DREP_OBJ_UNKNOWN;
        at->number = at->rec.beyond ? -1 : at->rec.number;
        at->flags = at->rec.flags;
        at->rec.object = 0;
        return path_dimension_address(f, group, at->name, 0, &at->path);
    }
    err = object_load(f, at->rec.object, &dim);
    if (err == DREP_ERR_UNSUPPORTED) {
        at->kind = DREP_OBJ_UNKNOWN;
        at->number = dim.rec.beyond ? -1 : dim.rec.number;
        at->flags = dim.rec.flags;
        err = 0;
    } else if (!err && dim.rec.kind != FMT_DIMENSION)
        err = fail_object(DREP_ERR_FORMAT, group,
                          "%s: dimension \"%s\": object %llu is not a dimension (R7.14)", group,
                          at->name, (unsigned long long)at->rec.object);
    if (!err)
        err = path_dimension_address(f, group, at->name, at->rec.object, &at->path);
    if (at->kind == DREP_OBJ_DIMENSION) {
        at->len = (int64_t)dim.rec.len[0];
        at->unlimited = dim.rec.unlimited;
    }
    at->attrs = dim.rec.next_attr != 0;
    object_release(&dim);
    return err;
}

/* Dimensions of a group are few: all are collected before the first is told. */
static int list_all(drep_file *f, const char *group, int order, struct dim_list *l)
{
    struct object_head head;
    struct dim_walk w;
    uint64_t id;
    int err = path_id(f, group, &id);

    if (!err)
        err = head_load(f, id, &head);
    if (!err && head.kind != FMT_GROUP)
        err = fail_object(DREP_ERR_KIND, group, "%s: not a group", group);
    if (err)
        return err;
    dim_walk_begin(&w, f, id);
    while (!(err = dim_walk_next(&w)))
        if ((err = dim_list_add(l, &w)))
            break;
    err = dim_walk_end(&w, err);
    if (order == DREP_BY_CREATION && l->n > 1)
        qsort(l->p, l->n, sizeof *l->p, by_creation);
    for (size_t i = 0; !err && i < l->n; i++)
        err = list_describe(f, group, &l->p[i]);
    return err;
}

int drep_dimension_list(drep_file *file, const char *group, int order, drep_dimension_fn *fn,
                        void *ctx)
{
    struct dim_list l = {0};
    struct external_target to;
    int err = order_valid("drep_dimension_list", order), theirs = 0;

    if (!err)
        err = external_target(file, group, &to);
    if (err)
        return err;
    if (to.file)
        return external_done(&to, drep_dimension_list(to.file, to.path, order, fn, ctx));
    if ((err = read_begin(file)))
        return err;
    err = !fn ? fail(DREP_ERR_ARG, "drep_dimension_list: no callback")
              : list_all(file, group, order, &l);
    /* The callback may use the file: the lock is not held while it runs. */
    err = read_end(file, err);
    if (!err) {
        walk_begin(file);
        for (size_t i = 0; theirs == 0 && i < l.n; i++) {
            drep_diminfo info = {.name = l.p[i].name,
                                 .path = l.p[i].path,
                                 .id = l.p[i].rec.object,
                                 .len = l.p[i].len,
                                 .unlimited = l.p[i].unlimited,
                                 .attrs = l.p[i].attrs,
                                 .index = l.p[i].rec.index,
                                 .kind = l.p[i].kind,
                                 .number = l.p[i].number,
                                 .flags = l.p[i].flags};

            theirs = fn(&info, ctx);
        }
        walk_end();
    }
    dim_list_release(&l);
    return theirs != 0 ? theirs : err;
}

/* ---- coordinates ---- */

/* The coordinates are in the dataset of the dimension's own group and name that has it as its only
 * dimension. */
static int coordinate(drep_file *f, uint64_t id, const char *address, char **dataset)
{
    struct stored_object o = {0};
    const char *name;
    size_t len;
    bool only;
    char *path;
    int err;

    if (!path_dimension(address, &len, &name, &only))
        return fail_object(DREP_ERR_KIND, address, "%s: not a dimension", address);
    while (len > 0 && address[len - 1] == '/')
        len--;
    path = mem_alloc(len + strlen(name) + 2);
    if (!path)
        return fail_nomem();
    memcpy(path, address, len);
    path[len] = '/';
    strcpy(path + len + 1, name);
    err = path_find(f, path, &o);
    if (err == DREP_ERR_NOT_FOUND || (!err && (o.rec.kind != FMT_DATASET || o.rec.rank != 1 ||
                                               !o.rec.has_dims || o.rec.dim[0] != id)))
        err = fail_object(DREP_ERR_NOT_FOUND, address, "%s: no coordinates", address);
    object_release(&o);
    if (err)
        mem_free(path);
    else
        *dataset = path;
    return err;
}

int drep_dimension_coordinate(drep_file *file, const char *path, char **dataset)
{
    struct object_head head;
    struct external_target to;
    char *address = NULL;
    uint64_t id;
    int err = external_target(file, path, &to);

    if (err)
        return err;
    if (to.file)
        return external_done(&to, drep_dimension_coordinate(to.file, to.path, dataset));
    if ((err = read_begin(file)))
        return err;
    err = !dataset ? fail(DREP_ERR_ARG, "drep_dimension_coordinate: null argument")
                   : path_id(file, path, &id);
    if (!err)
        err = head_load(file, id, &head);
    if (!err)
        err = want_dimension(head.kind, path);
    if (!err)
        err = object_path(file, id, &address);
    if (!err)
        err = coordinate(file, id, address, dataset);
    mem_free(address);
    return read_end(file, err);
}

/* ---- further scales ---- */

int drep_dimension_scales(drep_file *file, const char *path, uint64_t *ids, int room, int *n)
{
    struct stored_object dim = {0};
    struct external_target to;
    int err = external_target(file, path, &to);

    if (err)
        return err;
    if (to.file)
        return external_done(&to, drep_dimension_scales(to.file, to.path, ids, room, n));
    if ((err = read_begin(file)))
        return err;
    err = !n || room < 0 || (room > 0 && !ids)
              ? fail(DREP_ERR_ARG, "drep_dimension_scales: null argument")
              : path_find(file, path, &dim);
    if (!err)
        err = want_dimension(dim.rec.kind, path);
    if (!err)
        *n = (int)(dim.rec.scales.len / 8);
    for (int i = 0; !err && i < *n && i < room; i++)
        ids[i] = load_u64(dim.rec.scales.p + 8 * (size_t)i);
    object_release(&dim);
    return read_end(file, err);
}

/* Replaces the list of a dimension; every id is that of a dataset. */
static int scales_put(drep_file *f, const char *path, const uint64_t *ids, int n)
{
    struct stored_object dim = {0};
    struct object_head head;
    struct buf bytes = {0};
    int err = path_find(f, path, &dim);

    if (!err)
        err = want_dimension(dim.rec.kind, path);
    if (!err && (n < 0 || n > UINT16_MAX || (n > 0 && !ids)))
        err = fail_object(DREP_ERR_COUNT, path, "%s: %d scales; at most %d are possible", path, n,
                          UINT16_MAX);
    if (!err)
        err = buf_room(&bytes, 8 * (size_t)n);
    for (int i = 0; !err && i < n; i++) {
        err = head_load(f, ids[i], &head);
        if (!err && head.kind != FMT_DATASET)
            err = fail_object(DREP_ERR_KIND, path, "%s: object %llu is not a dataset", path,
                              (unsigned long long)ids[i]);
        store_u64(bytes.p + 8 * (size_t)i, ids[i]);
    }
    dim.rec.scales = (struct span){bytes.p, 8 * (size_t)n};
    if (!err)
        err = object_store(f, dim.id, &dim.rec);
    buf_release(&bytes);
    object_release(&dim);
    return err;
}

int drep_dimension_set_scales(drep_file *file, const char *path, const uint64_t *ids, int n)
{
    int err = fail_about(write_begin(file), path);

    return err ? err : write_end(file, scales_put(file, path, ids, n));
}
