/* attr.c - attributes, and lists of names. */
/* SPDX-License-Identifier: MIT */
#include "memory.h"

#include <stdlib.h>
#include <string.h>

/* ---- attributes ---- */

/* Copies the elements of a section, one behind the other. */
struct gathered {
    char *end;
    size_t size;
};
static void gather(char *element, void *ctx)
{
    struct gathered *to = ctx;

    memcpy(to->end, element, to->size);
    to->end += to->size;
}

/* One text, without the spaces at its end. */
static int text_write(drep_file *f, const char *path, const char *name, const CFI_cdesc_t *a)
{
    const char *p = a->base_addr;
    size_t len = a->elem_len;
    char *text;
    int err;

    if (!p)
        return refuse(DREP_ERR_ARG, path, "attribute \"%s\": the text is not allocated", name);
    while (len > 0 && p[len - 1] == ' ')
        len--;
    if (memchr(p, '\0', len))
        return refuse(DREP_ERR_CONVERSION, path, "attribute \"%s\": its text has a NUL", name);
    text = strndup(p, len);
    if (!text)
        return refuse(DREP_ERR_NOMEM, path, "out of memory");
    err = drep_attr_write_string(f, path, name, text);
    free(text);
    return err;
}

DREP_API int drep_fortran_attr_write(struct fortran_file *file, const char *path, const char *name,
                                     const CFI_cdesc_t *a, int code, const char *type)
{
    drep_file *f = file_for(file, path);
    int64_t dims[CFI_MAX_RANK];
    struct gathered to = {.size = a->elem_len};
    char *copy = NULL;
    struct memory m;
    int err;

    if (!f)
        return DREP_ERR_ARG;
    if (code == DREP_CODE_CHARACTER && !type && a->rank == 0)
        return about(text_write(f, path, name, a), file, path);
    err = memory_of(a, code, type, path, &m);
    if (err)
        return about(err, file, path);
    for (int d = 0; d < m.rank; d++)
        dims[m.rank - 1 - d] = m.len[d];
    if (!m.dense) { /* the call takes no strides */
        copy = to.end = malloc((size_t)m.count * a->elem_len + 1);
        if (copy)
            memory_each(a, gather, &to);
        else
            err = refuse(DREP_ERR_NOMEM, path, "out of memory");
    }
    if (!err)
        err = drep_attr_write(f, path, name, m.element, m.rank, dims, copy ? copy : a->base_addr);
    free(copy);
    memory_release(&m);
    return about(err, file, path);
}

/* Has the array the attribute's shape, but for lengths of 1? */
static int same_shape(const char *path, const char *name, const struct memory *m,
                      const drep_attrinfo *info)
{
    char x[MEMORY_SHAPE_TEXT], y[MEMORY_SHAPE_TEXT];
    int64_t len[DREP_MAX_RANK];
    int rank = info->rank > 0 ? info->rank : 0;

    for (int d = 0; d < rank; d++)
        len[d] = info->dims[rank - 1 - d];
    if (info->rank == DREP_NULL_SPACE)
        return refuse(DREP_ERR_DIMS, path, "attribute \"%s\" has no elements", name);
    if (memory_fits(m, rank, len))
        return 0;
    return refuse(DREP_ERR_DIMS, path, "the array has the shape %s, attribute \"%s\" %s",
                  memory_shape_text(x, m->rank, m->len), name, memory_shape_text(y, rank, len));
}

DREP_API int drep_fortran_attr_read(struct fortran_file *file, const char *path, const char *name,
                                    const CFI_cdesc_t *a, int code, const char *type)
{
    drep_file *f = file_for(file, path);
    drep_attrinfo info = DREP_ATTRINFO;
    struct memory m;
    int err = f ? drep_attr_info(f, path, name, &info) : DREP_ERR_ARG;

    if (err)
        return about(err, file, path);
    err = memory_for(a, code, type, info.type, 1, path, &m);
    if (!err) {
        err = same_shape(path, name, &m, &info);
        if (!err && m.count > 0)
            err = drep_attr_read(f, path, name, m.type, memory_buffer(&m, a));
        if (!err)
            memory_get(&m, a);
        memory_release(&m);
    }
    drep_attrinfo_release(&info);
    return about(err, file, path);
}

/* *text is malloc'ed. */
DREP_API int drep_fortran_attr_text(struct fortran_file *file, const char *path, const char *name,
                                    char **text)
{
    drep_file *f = file_for(file, path);

    return about(f ? drep_attr_read_string(f, path, name, text) : DREP_ERR_ARG, file, path);
}

/* *rank: -1 for the null dataspace; shape: room for 32, in Fortran's order; *type: malloc'ed. */
DREP_API int drep_fortran_attr_inquire(struct fortran_file *file, const char *path,
                                       const char *name, int *rank, int64_t *shape, char **type,
                                       int *class)
{
    drep_file *f = file_for(file, path);
    drep_attrinfo info = DREP_ATTRINFO;
    int err = f ? drep_attr_info(f, path, name, &info) : DREP_ERR_ARG;

    if (err)
        return about(err, file, path);
    err = drep_type_print(info.type, type);
    *rank = info.rank;
    *class = memory_class(info.type);
    for (int d = 0; d < info.rank; d++)
        shape[d] = info.dims[info.rank - 1 - d];
    drep_attrinfo_release(&info);
    return about(err, file, path);
}

DREP_API int drep_fortran_attr_remove(struct fortran_file *file, const char *path, const char *name)
{
    drep_file *f = file_for(file, path);

    return about(f ? drep_attr_remove(f, path, name) : DREP_ERR_ARG, file, path);
}

DREP_API int drep_fortran_attr_rename(struct fortran_file *file, const char *path, const char *name,
                                      const char *new_name)
{
    drep_file *f = file_for(file, path);

    return about(f ? drep_attr_rename(f, path, name, new_name) : DREP_ERR_ARG, file, path);
}

/* ---- lists ---- */

struct fortran_names {
    int64_t n, room, longest;
    char **name;
    int *kind;
};

DREP_API void drep_fortran_names_free(struct fortran_names *l)
{
    for (int64_t i = 0; l && i < l->n; i++)
        free(l->name[i]);
    if (l) {
        free(l->name);
        free(l->kind);
    }
    free(l);
}

static int names_add(struct fortran_names *l, const char *name, int kind)
{
    if (l->n == l->room) {
        int64_t room = l->room ? 2 * l->room : 16;
        char **names = realloc(l->name, (size_t)room * sizeof *names);
        int *kinds;

        if (!names)
            return refuse(DREP_ERR_NOMEM, NULL, "out of memory");
        l->name = names;
        kinds = realloc(l->kind, (size_t)room * sizeof *kinds);
        if (!kinds)
            return refuse(DREP_ERR_NOMEM, NULL, "out of memory");
        l->kind = kinds;
        l->room = room;
    }
    l->name[l->n] = strdup(name);
    if (!l->name[l->n])
        return refuse(DREP_ERR_NOMEM, NULL, "out of memory");
    if ((int64_t)strlen(name) > l->longest)
        l->longest = (int64_t)strlen(name);
    l->kind[l->n++] = kind;
    return 0;
}

static int names_link(const drep_linkinfo *link, void *ctx)
{
    return names_add(ctx, link->name, link->kind);
}

static int names_attr(const char *name, void *ctx)
{
    return names_add(ctx, name, 0);
}

static int names_dimension(const drep_diminfo *dimension, void *ctx)
{
    return names_add(ctx, dimension->name, dimension->kind);
}

static int names_object(const drep_visited *object, void *ctx)
{
    return names_add(ctx, object->path, object->kind);
}

/* what: 0 members of a group, 1 attributes of an object, 2 dimensions of a group, 3 an object and
 * all below it.  *longest: bytes of the longest name. */
DREP_API int drep_fortran_names_list(struct fortran_file *file, const char *path, int what,
                                     int64_t *n, int64_t *longest, struct fortran_names **out)
{
    drep_file *f = file_for(file, path);
    struct fortran_names *l = f ? calloc(1, sizeof *l) : NULL;
    int err = 0;

    if (!f)
        return DREP_ERR_ARG;
    if (!l)
        return refuse(DREP_ERR_NOMEM, NULL, "out of memory");
    switch (what) {
    case 0:
        err = drep_list(f, path, DREP_BY_CREATION, names_link, l);
        break;
    case 1:
        err = drep_attr_list(f, path, DREP_BY_CREATION, names_attr, l);
        break;
    case 2:
        err = drep_dimension_list(f, path, DREP_BY_CREATION, names_dimension, l);
        break;
    default:
        err = drep_visit(f, path, DREP_BY_CREATION, names_object, l);
        break;
    }
    if (err) {
        drep_fortran_names_free(l);
        return about(err, file, path);
    }
    *n = l->n;
    *longest = l->longest;
    *out = l;
    return 0;
}

/* The names of a dataset's dimensions, in Fortran's order: "" where one has none. */
DREP_API int drep_fortran_dataset_dims(const struct fortran_dataset *box, int64_t *n,
                                       int64_t *longest, struct fortran_names **out)
{
    drep_dsinfo info = DREP_DSINFO;
    struct fortran_names *l = calloc(1, sizeof *l);
    drep_file *f = file_for(box->file, box->path);
    int err = f ? drep_dataset_info(box->dataset, &info) : DREP_ERR_ARG;

    if (!err && !l)
        err = refuse(DREP_ERR_NOMEM, box->path, "out of memory");
    for (int d = info.rank - 1; !err && d >= 0; d--) {
        char *address = NULL, *name = "";

        if (info.dim_ids[d]) {
            err = drep_object_path(f, info.dim_ids[d], &address);
            name = !err && strrchr(address, '#') ? strrchr(address, '#') + 1 : "";
        }
        if (!err)
            err = names_add(l, name, DREP_OBJ_DIMENSION);
        free(address);
    }
    if (err) {
        drep_fortran_names_free(l);
        return about(err, box->file, box->path);
    }
    *n = l->n;
    *longest = l->longest;
    *out = l;
    return 0;
}

/* Name i, from 1 on, padded with spaces to `size` bytes, and the kind of its object. */
DREP_API void drep_fortran_names_get(const struct fortran_names *l, int64_t i, char *text,
                                     int64_t size, int *kind)
{
    size_t len = strlen(l->name[i - 1]);

    memset(text, ' ', (size_t)size);
    memcpy(text, l->name[i - 1], len < (size_t)size ? len : (size_t)size);
    *kind = l->kind[i - 1];
}
