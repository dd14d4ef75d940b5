/* retype.c - a datatype with other types in place of its leaves. */
/* SPDX-License-Identifier: MIT */
#include "tools/flat/retype.h"
#include <stdlib.h>

static int retype_members(const drep_type *type, retype_fn *fn, void *ctx, drep_type **out)
{
    int64_t i, n = drep_type_members(type);
    const char **names = calloc((size_t)n + 1, sizeof *names);
    drep_type **types = calloc((size_t)n + 1, sizeof *types);
    int err = names && types ? 0 : DREP_ERR_NOMEM;

    for (i = 0; i < n && !err; i++) {
        names[i] = drep_type_member_name(type, i);
        err = retype(drep_type_member(type, i), fn, ctx, &types[i]);
    }
    if (!err)
        err = drep_type_kind(type) == DREP_KIND_STRUCT
                  ? drep_type_struct(n, NULL, NULL, (const drep_type *const *)types, out)
                  : drep_type_compound(n, names, NULL, (const drep_type *const *)types, 0, out);
    for (i = 0; types && i < n; i++)
        drep_type_free(types[i]);
    free(types);
    free(names);
    return err;
}

int retype(const drep_type *type, retype_fn *fn, void *ctx, drep_type **out)
{
    drep_type *base;
    int err;

    switch (drep_type_kind(type)) {
    case DREP_KIND_COMPOUND:
    case DREP_KIND_STRUCT:
        return retype_members(type, fn, ctx, out);
    case DREP_KIND_ARRAY:
        err = retype(drep_type_member(type, 0), fn, ctx, &base);
        if (err)
            return err;
        err = drep_type_array(drep_type_array_rank(type), drep_type_array_dims(type), base, out);
        drep_type_free(base);
        return err;
    default:
        return fn(type, out, ctx);
    }
}
