/* dimension.c - dimensions: objects with a length that datasets share. */
#include "name/dimension.h"

#include "base/mem.h"
#include "name/link.h"
#include "name/path.h"
#include "tree/edit.h"
#include "tree/walk.h"

#include <string.h>

/* The nearest dimension of that name counts: that of the dataset's group, then those of the groups
 * above. */
int dimension_find(drep_file *f, const char *path, const char *name, struct stored_object *dim)
{
    size_t len = strlen(path), n = strlen(name);
    char *try = mem_alloc(len + n + 2);
    int err = DREP_ERR_NOT_FOUND;

    if (!try)
        return fail_nomem();
    if (name[0] == '/') {
        err = path_find(f, name, dim);
    } else {
        for (size_t at = len + 1; err == DREP_ERR_NOT_FOUND && at-- > 0;) {
            if (at != 0 && path[at - 1] != '/')
                continue;
            memcpy(try, path, at);
            memcpy(try + at, name, n + 1);
            err = path_find(f, try, dim);
            if (!err && dim->rec.kind != FMT_DIMENSION)
                err = DREP_ERR_NOT_FOUND;
        }
    }
    mem_free(try);
    if (!err && dim->rec.kind != FMT_DIMENSION)
        return fail(DREP_ERR_KIND, "%s: not a dimension", name);
    return err;
}

int dimension_make(drep_file *f, uint64_t group, const char *name, uint64_t len, bool unlimited,
                   struct stored_object *dim)
{
    struct object_rec rec = {.kind = FMT_DIMENSION, .unlimited = unlimited};
    uint64_t id;
    int err;

    rec.len[0] = len;
    if (strchr(name, '/'))
        return fail(DREP_ERR_NOT_FOUND, "no dimension \"%s\"", name);
    err = object_link(f, group, name, &rec, &id);
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

/* The entry of a dimension for axis d of a dataset. */
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

/* Datasets that used the dimension have none in its place. */
int dimension_drop(drep_file *f, uint64_t id)
{
    struct stored_object o = {0};
    struct tree_walk w;
    struct key key;
    int err;

    key_make(&key, id, FMT_TAG_USER);
    tree_walk(&w, f->st, &key, 9);
    while (!(err = tree_next(&w, &key, NULL))) {
        uint64_t dataset;
        uint8_t d;

        if (key.len != 18)
            continue;
        dataset = key_u64(key.p + 9);
        d = key.p[17];
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

int drep_dimension_create(drep_file *file, const char *path, int64_t len, int unlimited)
{
    struct object_rec rec = {.kind = FMT_DIMENSION, .unlimited = unlimited != 0};
    const char *name;
    uint64_t group, id;
    int err = write_begin(file);

    if (err)
        return err;
    err = path_parent(file, path, 0, &group, &name);
    if (!err && (len < 0 || len > TYPE_SIZE_MAX))
        err = fail(DREP_ERR_DIMS, "%s: length %lld", path, (long long)len);
    rec.len[0] = (uint64_t)len;
    if (!err)
        err = object_link(file, group, name, &rec, &id);
    return write_end(file, err);
}
