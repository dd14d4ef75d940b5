/* named.c - which datatypes of an object's data and attributes are named ones.
 *
 * HDF5 lets objects share a named datatype, a container only equal ones: a list of references
 * restores the sharing. */
/* SPDX-License-Identifier: MIT */
#include "tools/h5/named.h"
#include "base/vec.h"
#include "tools/h5/interface.h"
#include "tools/h5/job.h"
#include "tools/h5/note.h"
#include "tools/h5/object.h"
#include <datarep.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

static int sharings_add(struct job *j, struct sharings *all, uint64_t type, const char *attribute)
{
    char *name = attribute ? strdup(attribute) : NULL;

    if (attribute && !name)
        return job_no_memory(j);
    if (VEC_ROOM(all->s, all->n, all->room, 1)) {
        free(name);
        return job_no_memory(j);
    }
    all->s[all->n++] = (struct sharing){name, type};
    return 0;
}

void sharings_release(struct sharings *all)
{
    size_t i;

    for (i = 0; i < all->n; i++)
        free(all->s[i].attribute);
    free(all->s);
    memset(all, 0, sizeof *all);
}

int keep_sharing(struct job *j, struct sharings *all, hid_t type, const char *path,
                 const char *attribute, int *shared)
{
    H5O_info_t info;
    struct h5_object *o;

    *shared = 0;
    if (H5Tcommitted(type) <= 0 || H5Oget_info2(type, &info, H5O_INFO_BASIC) < 0)
        return 0;
    o = job_find(j, (uint64_t)info.addr);
    if (!o || !o->made) {
        job_say(j, HDF5_LOST, "datatype", path, "%s%s%sits named datatype has no place here",
                attribute ? "attribute \"" : "", attribute ? attribute : "",
                attribute ? "\": " : "");
        return 0;
    }
    *shared = 1;
    return sharings_add(j, all, o->made, attribute);
}

/* In memory as our library wants it. */
struct shared {
    char *attribute;
    drep_ref type;
};

static int shared_type(drep_type **out)
{
    static const char *const names[] = {"attribute", "datatype"};
    const int64_t displs[] = {offsetof(struct shared, attribute), offsetof(struct shared, type)};
    drep_type *text = NULL, *ref = NULL;
    int err = drep_type_vstring(&text);

    if (!err)
        err = drep_type_reference(DREP_REF_OBJECT, &ref);
    if (!err) {
        const drep_type *types[] = {text, ref};

        err = drep_type_compound(2, names, displs, types, sizeof(struct shared), out);
    }
    drep_type_free(text);
    drep_type_free(ref);
    return err;
}

/* No name stands for the data itself: no attribute has it. */
int sharings_write(struct job *j, const struct sharings *all, const char *path)
{
    struct shared *list;
    drep_type *type = NULL;
    int64_t n = (int64_t)all->n;
    size_t i;
    int err;

    if (n == 0)
        return 0;
    list = calloc(all->n, sizeof *list);
    if (!list)
        return job_no_memory(j);
    for (i = 0; i < all->n; i++)
        list[i] = (struct shared){all->s[i].attribute, {all->s[i].type, NULL}};
    err = shared_type(&type);
    if (!err)
        err = drep_attr_write(j->d, path, KEEP_NAMED, type, 1, &n, list);
    drep_type_free(type);
    free(list);
    return err ? job_fail_drep(j, err) : 0;
}

int sharings_read(struct job *j, const char *path, struct sharings *all)
{
    drep_attrinfo info = DREP_ATTRINFO;
    drep_type *type = NULL;
    struct shared *list;
    int64_t i, n = 0;
    int err = 0;

    memset(all, 0, sizeof *all);
    if (drep_attr_info(j->d, path, KEEP_NAMED, &info) != 0)
        return 0;
    if (info.rank == 1 && drep_type_kind(info.type) == DREP_KIND_COMPOUND &&
        drep_type_members(info.type) == 2)
        n = info.count;
    drep_attrinfo_release(&info);
    list = calloc((size_t)n + 1, sizeof *list);
    if (!list)
        return job_no_memory(j);
    /* An attribute of that name which is not ours says nothing. */
    if (n && shared_type(&type) == 0 && drep_attr_read(j->d, path, KEEP_NAMED, type, list) == 0)
        for (i = 0; !err && i < n; i++)
            err = sharings_add(j, all, list[i].type.object,
                               list[i].attribute && *list[i].attribute ? list[i].attribute : NULL);
    if (type)
        drep_vlen_free(type, n, list);
    drep_type_free(type);
    free(list);
    if (err)
        sharings_release(all);
    return err;
}

uint64_t sharing_of(const struct sharings *all, const char *attribute)
{
    size_t i;

    for (i = 0; i < all->n; i++)
        if (attribute ? all->s[i].attribute && strcmp(all->s[i].attribute, attribute) == 0
                      : !all->s[i].attribute)
            return all->s[i].type;
    return 0;
}
