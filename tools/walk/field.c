/* field.c - one member of each element. */
/* SPDX-License-Identifier: MIT */
#include "tools/walk/field.h"
#include <string.h>

/* The member that the path begins with, and *rest behind it; -1: there is none. */
static int64_t first_member(const drep_type *type, const char *path, const char **rest)
{
    int64_t i, best = -1;
    size_t longest = 0;

    for (i = 0; i < drep_type_members(type); i++) {
        const char *name = drep_type_member_name(type, i);
        size_t len = name ? strlen(name) : 0;

        if (len > longest && strncmp(path, name, len) == 0 && (!path[len] || path[len] == '.')) {
            best = i;
            longest = len;
        }
    }
    *rest = path[longest] == '.' ? path + longest + 1 : path + longest;
    return best;
}

static int one_member(const drep_type *type, int64_t i, const drep_type *member, drep_type **out)
{
    const char *name = drep_type_member_name(type, i);

    return drep_type_compound(1, &name, NULL, &member, 0, out);
}

/* The type with the named member alone at every level. */
static int narrow(const drep_type *type, const char *path, drep_type **out)
{
    int kind = drep_type_kind(type), err;
    const char *rest = path;
    drep_type *inner;
    int64_t i = 0;

    if (!*path) {
        *out = drep_type_ref(type);
        return 0;
    }
    if (kind == DREP_KIND_COMPOUND)
        i = first_member(type, path, &rest);
    else if (kind != DREP_KIND_ARRAY && kind != DREP_KIND_SEQUENCE)
        i = -1;
    if (i < 0)
        return DREP_ERR_NOT_FOUND;
    err = narrow(drep_type_member(type, i), rest, &inner);
    if (err)
        return err;
    if (kind == DREP_KIND_COMPOUND)
        err = one_member(type, i, inner, out);
    else if (kind == DREP_KIND_ARRAY)
        err = drep_type_array(drep_type_array_rank(type), drep_type_array_dims(type), inner, out);
    else
        err = drep_type_sequence(inner, out);
    drep_type_free(inner);
    return err;
}

int field_type(const drep_type *type, const char *path, drep_type **out)
{
    int64_t i;

    if (!*path)
        return DREP_ERR_NOT_FOUND;
    for (; *path && drep_type_kind(type) == DREP_KIND_COMPOUND; type = drep_type_member(type, i)) {
        i = first_member(type, path, &path);
        if (i < 0)
            return DREP_ERR_NOT_FOUND;
    }
    return narrow(type, path, out);
}

int field_around(const drep_type *type, const char *path, const drep_type *shown, drep_type **out)
{
    const char *rest;
    drep_type *inner;
    int64_t i;
    int err;

    if (!*path || drep_type_kind(type) != DREP_KIND_COMPOUND) {
        *out = drep_type_ref(shown);
        return 0;
    }
    i = first_member(type, path, &rest);
    if (i < 0)
        return DREP_ERR_NOT_FOUND;
    err = field_around(drep_type_member(type, i), rest, shown, &inner);
    if (err)
        return err;
    err = one_member(type, i, inner, out);
    drep_type_free(inner);
    return err;
}
