/* attributes.c - the attributes of a root group, for a file that is made from one of its datasets.
 *
 * drep_copy() copies attributes with their object, and a group with all of its members.  History,
 * title and conventions are attributes of the root group that hold for each dataset of the file, so
 * they are read and written one by one. */
/* SPDX-License-Identifier: MIT */
#include "tools/cmd/attributes.h"
#include "schema/note.h"
#include <stdio.h>
#include <stdlib.h>

#define ROOT_ID 1

struct attribute_copy {
    drep_file *from, *to;
    const drep_copying *how;
};

bool attributes_refer(const drep_type *type)
{
    if (drep_type_kind(type) == DREP_KIND_REFERENCE)
        return true;
    for (int64_t i = 0; i < drep_type_members(type); i++)
        if (attributes_refer(drep_type_member(type, i)))
            return true;
    return false;
}

static int copy_value(const struct attribute_copy *c, const char *name, const drep_attrinfo *info)
{
    int64_t count = info->rank == DREP_NULL_SPACE ? 0 : info->count;
    void *buf = calloc((size_t)count + 1, (size_t)drep_type_extent(info->type) + 1);
    int err = !buf ? DREP_ERR_NOMEM : 0;

    if (!err && count > 0)
        err = drep_attr_read(c->from, "/", name, info->type, buf);
    if (!err)
        err = drep_attr_write(c->to, "/", name, info->type, info->rank, info->dims, buf);
    if (buf && count > 0 && drep_type_variable(info->type))
        drep_vlen_free(info->type, count, buf);
    free(buf);
    return err;
}

static int copy_root_attribute(const char *name, void *ctx)
{
    const struct attribute_copy *c = ctx;
    drep_attrinfo info = DREP_ATTRINFO;
    char why[1200];
    int err;

    if (is_note(name))
        return 0;
    err = drep_attr_info(c->from, "/", name, &info);
    if (err == DREP_ERR_UNSUPPORTED && c->how->left_out)
        return c->how->left_out(ROOT_ID, drep_error(), c->how->ctx);
    if (err)
        return err;
    if (attributes_refer(info.type)) {
        snprintf(why, sizeof why, "attribute \"%s\": it refers to objects of the file", name);
        err = c->how->unknown(ROOT_ID, why, c->how->ctx);
    } else {
        err = copy_value(c, name, &info);
    }
    drep_attrinfo_release(&info);
    return err;
}

int attributes_copy(drep_file *from, drep_file *to, const drep_copying *how)
{
    struct attribute_copy c = {from, to, how};

    return drep_attr_list(from, "/", DREP_BY_CREATION, copy_root_attribute, &c);
}
