/* visit.h - everything that a reader can ask of a file. */
/* SPDX-License-Identifier: MIT */
#ifndef TESTS_FUZZ_VISIT_H
#define TESTS_FUZZ_VISIT_H

#include "tests/fuzz/fuzz.h"

#include <datarep.h>

#define READ_MAX (1 << 20) /* bytes of one read */
#define OBJECTS_MAX 300    /* visited */
#define ELEMENTS_MAX ((int64_t)1 << 16)

/* ---- reading everything ---- */

struct visit {
    drep_file *file;
    int objects; /* left */
    const char *group;
    int depth;
    char damage[300]; /* the first error of a call that says the file is damaged */
};

static inline void met(struct visit *v, int err)
{
    if ((err == DREP_ERR_FORMAT || err == DREP_ERR_CHECKSUM || err == DREP_ERR_TRUNCATE) &&
        !v->damage[0])
        snprintf(v->damage, sizeof v->damage, "%s", drep_error());
}

static inline void show_type(const drep_type *type)
{
    char *text;

    if (drep_type_print(type, &text) == 0)
        free(text);
    (void)drep_type_equal(type, type);
}

/* Room for `count` elements, zeros, so that what a failed read has put there can be freed
 * too; NULL if they are too many to read at once. */
static inline void *room(const drep_type *type, int64_t count)
{
    int64_t extent = drep_type_extent(type);
    int64_t lb = drep_type_true_lb(type), true_extent = drep_type_true_extent(type);

    /* Types from a file have no displacements of their own, but let us not trust that. */
    if (lb < 0 || extent < 0 || true_extent > READ_MAX || lb > READ_MAX || count > ELEMENTS_MAX)
        return NULL;
    if (extent > 0 && count > READ_MAX / extent)
        return NULL;
    return calloc(1, (size_t)(count * extent + lb + true_extent + 1));
}

static inline int visit_attr(const char *name, void *ctx)
{
    struct visit *v = ctx;
    drep_attrinfo info = DREP_ATTRINFO;
    void *buf;
    int err = drep_attr_info(v->file, v->group, name, &info);

    met(v, err);
    if (err)
        return 0;
    show_type(info.type);
    buf = room(info.type, info.count);
    if (buf) {
        met(v, drep_attr_read(v->file, v->group, name, info.type, buf));
        drep_vlen_free(info.type, info.count, buf);
    }
    free(buf);
    drep_attrinfo_release(&info);
    return 0;
}

/* A few elements at the far end of each dimension. */
static inline void read_corner(struct visit *v, drep_dataset *ds, const drep_dsinfo *info)
{
    int64_t start[DREP_MAX_RANK], count[DREP_MAX_RANK], n = 1;
    drep_selection *sel;
    void *buf;

    for (int d = 0; d < info->rank; d++) {
        count[d] = info->dims[d] < 3 || d < info->rank - 4 ? info->dims[d] > 0 : 3;
        start[d] = info->dims[d] - count[d];
        n *= count[d];
    }
    if (info->rank < 1 || drep_select_box(info->rank, start, count, NULL, NULL, &sel))
        return;
    buf = room(info->type, n);
    if (buf) {
        met(v, drep_read(ds, sel, NULL, buf, NULL));
        drep_vlen_free(info->type, n, buf);
    }
    free(buf);
    drep_selection_free(sel);
}

/* The first and the last element, and bytes that lie in the file as they lie in memory. */
static inline void read_points(struct visit *v, drep_dataset *ds, const drep_dsinfo *info)
{
    int64_t point[2 * DREP_MAX_RANK] = {0};
    drep_selection *sel;
    void *buf;

    for (int d = 0; d < info->rank; d++)
        point[info->rank + d] = info->dims[d] - 1;
    if (info->rank < 1 || drep_select_points(info->rank, 2, point, &sel))
        return;
    buf = room(info->type, 2);
    if (buf) {
        met(v, drep_read(ds, sel, NULL, buf, NULL));
        drep_vlen_free(info->type, 2, buf);
    }
    free(buf);
    drep_selection_free(sel);
}

static inline void read_map(drep_dataset *ds)
{
    const void *data;
    size_t size;
    unsigned sum = 0;

    if (drep_dataset_map(ds, 0, &data, &size))
        return;
    for (size_t i = 0; i < size; i++)
        sum += ((const uint8_t *)data)[i];
    PROMISE(sum < UINT32_MAX && drep_dataset_unmap(ds, data) == 0);
}

static inline int chunk_start(const int64_t *start, void *ctx)
{
    return start[0] < 0 || ++*(int *)ctx > 1000 ? DREP_ERR_STOPPED : 0;
}

static inline void visit_dataset(struct visit *v, const char *path)
{
    drep_dataset *ds;
    drep_dsinfo info = DREP_DSINFO;
    int chunks = 0, err;
    void *buf;

    err = drep_dataset_open(v->file, path, &ds);
    met(v, err);
    if (err)
        return;
    err = drep_dataset_info(ds, &info);
    met(v, err);
    if (err == 0) {
        show_type(info.type);
        buf = room(info.type, 1);
        if (buf) {
            met(v, drep_dataset_fill(ds, NULL, buf));
            drep_vlen_free(info.type, 1, buf);
        }
        free(buf);
        buf = room(info.type, info.count);
        if (buf) {
            met(v, drep_read(ds, NULL, NULL, buf, NULL));
            drep_vlen_free(info.type, info.count, buf);
        }
        free(buf);
        read_corner(v, ds, &info);
        read_points(v, ds, &info);
        read_map(ds);
        if (info.rank > 0)
            met(v, drep_dataset_chunks(ds, chunk_start, &chunks));
    }
    drep_dataset_close(ds);
}

static inline void visit_object(struct visit *v, const char *path);

static inline int visit_link(const drep_linkinfo *link, void *ctx)
{
    struct visit *v = ctx;
    const char *group = v->group;
    char *path;

    if (v->objects-- <= 0)
        return DREP_ERR_STOPPED;
    path = malloc(strlen(group) + strlen(link->name) + 2);
    sprintf(path, "%s/%s", strcmp(group, "/") == 0 ? "" : group, link->name);
    v->depth++;
    if (v->depth < 8)
        visit_object(v, path);
    v->depth--;
    v->group = group;
    free(path);
    return 0;
}

static inline int visit_dimension(const drep_diminfo *dimension, void *ctx)
{
    struct visit *v = ctx;
    const char *group = v->group;
    uint64_t ids[4];
    char *path;
    int n;

    if (v->objects-- <= 0)
        return DREP_ERR_STOPPED;
    PROMISE(dimension->len >= 0 || dimension->id == 0);
    visit_object(v, dimension->path);
    met(v, drep_dimension_scales(v->file, dimension->path, ids, 4, &n));
    if (drep_dimension_coordinate(v->file, dimension->path, &path) == 0)
        free(path);
    v->group = group;
    return 0;
}

static inline void visit_object(struct visit *v, const char *path)
{
    drep_objinfo info = DREP_OBJINFO;
    drep_type *type;
    char *other;
    int err = drep_stat(v->file, path, &info);

    met(v, err);
    if (err)
        return;
    if (drep_object_path(v->file, info.id, &other) == 0)
        free(other);
    v->group = path;
    met(v, drep_attr_list(v->file, path, DREP_BY_NAME, visit_attr, v));
    met(v, drep_attr_list(v->file, path, DREP_BY_CREATION, visit_attr, v));
    switch (info.kind) {
    case DREP_OBJ_DATASET:
        visit_dataset(v, path);
        break;
    case DREP_OBJ_TYPE:
        if (drep_type_open(v->file, path, &type) == 0) {
            show_type(type);
            drep_type_free(type);
        }
        break;
    case DREP_OBJ_GROUP:
        met(v, drep_list(v->file, path, DREP_BY_NAME, visit_link, v));
        v->group = path;
        met(v, drep_dimension_list(v->file, path, DREP_BY_CREATION, visit_dimension, v));
        v->group = path;
        if (v->depth == 0)
            met(v, drep_list(v->file, path, DREP_BY_CREATION, visit_link, v));
        break;
    }
}

/* Error 0 is no fault: a newer version wrote that. */
static inline int finding(int err, uint64_t offset, const char *message, void *ctx)
{
    int *found = ctx;

    (void)offset;
    PROMISE(message != NULL && message[0]);
    *found += err != 0;
    return *found > 100 ? DREP_ERR_STOPPED : 0;
}

static inline int leak(uint64_t offset, uint64_t length, void *ctx)
{
    (void)ctx;
    PROMISE(length > 0 && offset + length > offset);
    return 0;
}

static inline int commit(const drep_commitinfo *info, void *ctx)
{
    (void)ctx;
    PROMISE(info->sequence > 0);
    return 0;
}

static inline void read_everything(drep_file *file)
{
    struct visit v = {.file = file, .objects = OBJECTS_MAX, .group = "/"};
    const drep_encoding *rows;
    drep_header header = DREP_HEADER;
    drep_objusage object = DREP_OBJUSAGE;
    drep_usage usage = DREP_USAGE;
    drep_info *info;
    int64_t findings;
    int n, found = 0, err;

    PROMISE(drep_header_get(file, &header) == 0 && header.datarep && header.form);
    drep_header_types(file, 0, &rows, &n);
    if (drep_header_hints(file, &info) == 0)
        drep_info_free(info);
    if (drep_get_info(file, &info) == 0)
        drep_info_free(info);
    visit_object(&v, "/");
    drep_usage_get(file, &usage);
    drep_object_usage(file, "/", &object);
    drep_leaks(file, leak, NULL);
    drep_log(file, commit, NULL);
    drep_check(file, 0, finding, &found, &findings);
    err = drep_check(file, 1, finding, &found, &findings);
    if (err == 0 && found == 0 && v.damage[0]) {
        fprintf(stderr, "a check finds nothing, but: %s\n", v.damage);
        PROMISE(!v.damage[0]);
    }
}

#endif
