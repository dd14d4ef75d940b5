/* change.h - everything that a writer can do to a file. */
/* SPDX-License-Identifier: MIT */
#ifndef TESTS_FUZZ_CHANGE_H
#define TESTS_FUZZ_CHANGE_H

#include "file/file.h"
#include "tests/fuzz/visit.h"

#define CHANGED_MAX 40 /* objects */

/* ---- what there is ---- */

struct paths {
    drep_file *file;
    char *path[CHANGED_MAX];
    int n, depth;
    const char *group;
};

static inline int paths_add(const drep_linkinfo *link, void *ctx)
{
    struct paths *p = ctx;
    const char *group = p->group;
    drep_objinfo info = DREP_OBJINFO;
    char *path;

    if (p->n == CHANGED_MAX)
        return DREP_ERR_STOPPED;
    path = malloc(strlen(group) + strlen(link->name) + 2);
    sprintf(path, "%s/%s", strcmp(group, "/") == 0 ? "" : group, link->name);
    p->path[p->n++] = path;
    if (p->depth < 4 && drep_stat(p->file, path, &info) == 0 && info.kind == DREP_OBJ_GROUP) {
        p->group = path;
        p->depth++;
        drep_list(p->file, path, DREP_BY_NAME, paths_add, p);
        p->depth--;
        p->group = group;
    }
    return 0;
}

static inline int name_first(const char *name, void *ctx)
{
    char **first = ctx;

    *first = malloc(strlen(name) + 1);
    strcpy(*first, name);
    return DREP_ERR_STOPPED;
}

/* ---- changing one object ---- */

/* What it says must be well, or an error with a message. */
static inline int tried(int err)
{
    PROMISE(err == 0 || drep_error()[0] != 0);
    return err;
}

static inline void change_attrs(drep_file *file, const char *path, unsigned how)
{
    char *first = NULL;

    tried(drep_attr_write_int64(file, path, "a number", how));
    tried(drep_attr_write_string(file, path, "a number",
                                 "and then a text, too long for a record "
                                 "that is kept among others"));
    drep_attr_list(file, path, DREP_BY_CREATION, name_first, &first);
    if (first && how & 2)
        tried(drep_attr_rename(file, path, first, "another name"));
    if (first && how & 1)
        tried(drep_attr_remove(file, path, first));
    else if (first)
        tried(drep_attr_write_double(file, path, first, 0.5));
    free(first);
}

/* The last element as it is, then all of them, then one more in a dimension and one less. */
static inline void change_elements(drep_dataset *ds, const drep_dsinfo *info, unsigned how)
{
    int64_t start[DREP_MAX_RANK] = {0}, count[DREP_MAX_RANK], dims[DREP_MAX_RANK] = {0};
    int d = info->rank > 0 ? (int)(how % (unsigned)info->rank) : 0;
    int64_t n = info->count < 5000 ? info->count : 1;
    drep_selection *sel = NULL;
    void *buf = room(info->type, n > 0 ? n : 1);

    for (int k = 0; k < info->rank; k++) {
        count[k] = 1;
        dims[k] = info->dims[k];
        start[k] = dims[k] - 1;
    }
    if (buf && info->count > 0 && info->rank > 0 &&
        drep_select_box(info->rank, start, count, NULL, NULL, &sel) == 0) {
        if (tried(drep_read(ds, sel, info->type, buf, NULL)) == 0)
            tried(drep_write(ds, sel, info->type, buf, NULL));
        drep_vlen_free(info->type, 1, buf);
        drep_selection_free(sel);
    }
    if (buf && n == info->count) {
        memset(buf, 0, (size_t)(n * drep_type_extent(info->type)));
        tried(drep_read(ds, NULL, info->type, buf, NULL));
        tried(drep_write(ds, NULL, info->type, buf, NULL));
        drep_vlen_free(info->type, n, buf);
    }
    if (info->rank > 0) {
        dims[d] += dims[d] < INT64_MAX;
        tried(drep_dataset_resize(ds, dims));
        dims[d] = info->dims[d] / 2;
        tried(drep_dataset_resize(ds, dims));
        dims[d] = info->dims[d] > 0 ? info->dims[d] - 1 : 0;
        tried(drep_dataset_resize(ds, dims));
    }
    if (buf && info->rank == 1) {
        memset(buf, 0, (size_t)drep_type_extent(info->type));
        tried(drep_append(ds, 0, 1, info->type, buf, NULL));
    }
    free(buf);
}

static inline void change_dataset(drep_file *file, const char *path, unsigned how)
{
    drep_dataset *ds;
    drep_dsinfo info = DREP_DSINFO;

    if (drep_dataset_open(file, path, &ds))
        return;
    if (drep_dataset_info(ds, &info) == 0 && info.rank != DREP_NULL_SPACE)
        change_elements(ds, &info, how);
    drep_dataset_close(ds);
}

static inline void change_links(drep_file *file, const char *path, unsigned how)
{
    char *other = malloc(strlen(path) + 8), *third = malloc(strlen(path) + 8);
    drep_copying copying = DREP_COPYING(.range = DREP_RANGE_CLAMP, .threads = 1);

    sprintf(other, "%s other", path);
    sprintf(third, "%s third", path);
    if (how % 5 == 0)
        tried(drep_copy(file, path, file, third, &copying));
    tried(drep_link_hard(file, path, other));
    tried(drep_link_move(file, other, third));
    if (how & 2)
        tried(drep_link_remove(file, path));
    if (how & 4)
        tried(drep_link_remove(file, third));
    free(other);
    free(third);
}

static inline void change_object(drep_file *file, const char *path, unsigned how)
{
    drep_objinfo info = DREP_OBJINFO;

    if (drep_stat(file, path, &info))
        return;
    change_attrs(file, path, how);
    if (info.kind == DREP_OBJ_DATASET)
        change_dataset(file, path, how);
    change_links(file, path, how);
}

static inline void make_texts(drep_file *file)
{
    const char *text[2] = {"one text", "another text"};
    int64_t two = 2;
    drep_spec spec = DREP_SPEC(.rank = 1, .dims = &two);
    drep_dataset *ds;
    drep_type *type;

    if (drep_type_vstring(&type))
        return;
    spec.type = type;
    tried(drep_type_commit(file, "/made/type", type));
    if (tried(drep_dataset_create(file, "/made/texts", &spec, &ds)) == 0) {
        tried(drep_write(ds, NULL, type, text, NULL));
        drep_dataset_close(ds);
    }
    drep_type_free(type);
}

static inline void make_objects(drep_file *file)
{
    int64_t dims[] = {300}, max[] = {DREP_UNLIMITED}, chunk[] = {16};
    const char *names[] = {"x"};
    drep_spec spec = DREP_SPEC(.type = DREP_DOUBLE, .rank = 1, .dims = dims, .maxdims = max,
                               .dim_names = names, .layout = DREP_CHUNKED, .chunk = chunk);
    double value[300] = {1, 2, 3};
    drep_dataset *ds;

    tried(drep_group_create(file, "/made/by/us", 1));
    make_texts(file);
    tried(drep_dimension_create(file, "/made#x", 300, 1));
    if (tried(drep_dataset_create(file, "/made/by/us/set", &spec, &ds)) == 0) {
        tried(drep_write(ds, NULL, NULL, value, NULL));
        drep_dataset_close(ds);
    }
    tried(drep_link_soft(file, "/made/by", "/made/soft"));
}

/* A file in memory with these bytes. */
static inline struct io *writable(const uint8_t *data, size_t size)
{
    struct io *io;

    PROMISE(io_memory(NULL, 0, &io) == 0);
    PROMISE(io->ops->write_at(io, data, size, 0) == 0);
    return io;
}

/* Commits now and then; `how`: which of the changes that exclude each other. */
static inline void change_everything(drep_file *file, unsigned how)
{
    struct paths p = {.file = file, .group = "/"};

    if (how & 8)
        make_objects(file);
    drep_list(file, "/", DREP_BY_NAME, paths_add, &p);
    for (int i = 0; i < p.n; i++) {
        change_object(file, p.path[i], how + (unsigned)i);
        if (((unsigned)i + how) % 4 == 0)
            tried(drep_commit(file));
    }
    for (int i = 0; i < p.n; i++)
        free(p.path[i]);
    if (!(how & 8))
        make_objects(file);
    if (how & 16)
        tried(drep_link_remove(file, "/made"));
}

/* These bytes as a file to which all that was done, after the last commit; NULL: it is not opened
 * for writing, or nothing more can be committed. */
static inline uint8_t *changed(const uint8_t *data, size_t size, const drep_info *info,
                               unsigned how, size_t *after)
{
    struct io *io = writable(data, size);
    uint8_t *bytes = NULL;
    drep_file *file;
    uint64_t n;

    if (file_open_on(io, DREP_RDWR, info, 0, &file))
        return NULL;
    change_everything(file, how);
    if (tried(drep_commit(file)) == 0) {
        PROMISE(io->ops->size(io, &n) == 0);
        *after = (size_t)n;
        bytes = malloc(*after);
        PROMISE(bytes && io->ops->read_at(io, bytes, *after, 0) == 0);
    }
    drep_abandon(file);
    return bytes;
}

#endif
