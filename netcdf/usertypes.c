/* usertypes.c - the slots about user-defined types. */
/* SPDX-License-Identifier: MIT */
#include "netcdf/door.h"
#include <stdlib.h>
#include <string.h>

static int find_type(int ncid, nc_type type, struct door **door, struct user_type **u)
{
    struct nc_group *group;
    int err = door_find(ncid, door, &group);

    if (err)
        return err;
    *u = type_user(*door, type);
    return *u ? 0 : NC_EBADTYPID;
}

static int find_of_class(int ncid, nc_type type, int cls, struct door **door, struct user_type **u)
{
    int err = find_type(ncid, type, door, u);

    return err ? err : (*u)->cls == cls ? 0 : cls == NC_COMPOUND ? NC_EBADTYPE : NC_EBADCLASS;
}

/* --------------------------------------------------------------------- questions */

int slot_inq_type(int ncid, nc_type type, char *name, size_t *size)
{
    struct door *door;
    struct nc_group *group;
    const struct user_type *u;
    int err = door_find(ncid, &door, &group);

    if (err)
        return err;
    u = type_user(door, type);
    if (!u && !type_atomic_name(type))
        return NC_EBADTYPE;
    if (name)
        strcpy(name, u ? u->name : type_atomic_name(type));
    TELL(size, type_bytes(door, type));
    return 0;
}

int slot_inq_typeids(int ncid, int *n, int *ids)
{
    struct door *door;
    struct nc_group *group;
    int i, k = 0, err = door_find(ncid, &door, &group);

    if (err)
        return err;
    for (i = 0; i < door->ntypes; i++) {
        if (door->types[i].group != (ncid & 0xffff))
            continue;
        if (ids)
            ids[k] = NC_FIRSTUSERTYPEID + i;
        k++;
    }
    TELL(n, k);
    return 0;
}

/* A path, or a name: of an atomic type, of one of the group or those above, or of any. */
static nc_type type_of_name(const struct door *door, int group, const char *name)
{
    const char *slash = strrchr(name, '/'), *last = slash ? slash + 1 : name;
    size_t len = slash ? (size_t)(slash - name) : 0;
    int i, g;

    for (i = NC_BYTE; i <= NC_STRING; i++)
        if (strcmp(type_atomic_name(i), name) == 0)
            return i;
    for (g = group; !slash && g >= 0; g = door->groups[g].parent)
        for (i = 0; i < door->ntypes; i++)
            if (door->types[i].group == g && strcmp(door->types[i].name, name) == 0)
                return NC_FIRSTUSERTYPEID + i;
    for (i = 0; i < door->ntypes; i++) {
        const char *path = door->groups[door->types[i].group].path;

        if (strcmp(door->types[i].name, last) == 0 &&
            (!slash || (len == 0 && path[1] == 0) ||
             (strlen(path) == len && strncmp(path, name, len) == 0)))
            return NC_FIRSTUSERTYPEID + i;
    }
    return NC_NAT;
}

int slot_inq_typeid(int ncid, const char *name, nc_type *id)
{
    struct door *door;
    struct nc_group *group;
    int err = door_find(ncid, &door, &group);
    nc_type found;

    if (err)
        return err;
    if (name && *name != '/' && strchr(name, '/'))
        return NC_EINVAL;
    found = name ? type_of_name(door, ncid & 0xffff, door_name(name)) : NC_NAT;
    if (found == NC_NAT)
        return NC_EBADTYPE;
    TELL(id, found);
    return 0;
}

/* Types of this format: the other file may have another, whose types only libnetcdf knows. */
int slot_inq_type_equal(int ncid, nc_type type, int other, nc_type other_type, int *equal)
{
    struct door *door, *other_door;
    struct nc_group *group;
    const struct user_type *u, *w;
    int err = door_find(ncid, &door, &group);

    if (err)
        return err;
    u = type_user(door, type);
    if ((!u && !type_atomic_name(type)) || other_type <= NC_NAT)
        return NC_EBADTYPE;
    if (!u || other_type < NC_FIRSTUSERTYPEID) {
        TELL(equal, type == other_type);
        return 0;
    }
    err = door_find(other, &other_door, &group);
    if (err)
        return err;
    w = type_user(other_door, other_type);
    if (!w)
        return NC_EBADTYPE;
    TELL(equal, u == w || (u->cls == w->cls && u->memory && w->memory &&
                           drep_type_equal(u->memory, w->memory)));
    return 0;
}

int slot_inq_user_type(int ncid, nc_type type, char *name, size_t *size, nc_type *base,
                       size_t *fields, int *cls)
{
    struct door *door;
    struct user_type *u;
    int err = find_type(ncid, type, &door, &u);

    if (err)
        return err;
    if (name)
        strcpy(name, u->name);
    TELL(size, u->size);
    TELL(base, u->base);
    TELL(fields, (size_t)u->nmembers);
    TELL(cls, u->cls);
    return 0;
}

int slot_inq_compound_field(int ncid, nc_type type, int field, char *name, size_t *offset,
                            nc_type *field_type, int *rank, int *dims)
{
    struct door *door;
    struct user_type *u;
    const struct nc_member *m;
    int d, err = find_of_class(ncid, type, NC_COMPOUND, &door, &u);

    if (err)
        return err;
    if (field < 0 || field >= u->nmembers)
        return NC_EBADFIELD;
    m = &u->members[field];
    if (name)
        strcpy(name, m->name);
    TELL(offset, m->offset);
    TELL(field_type, m->type);
    TELL(rank, m->rank);
    for (d = 0; dims && d < m->rank; d++)
        dims[d] = m->dim[d];
    return 0;
}

int slot_inq_compound_fieldindex(int ncid, nc_type type, const char *name, int *field)
{
    struct door *door;
    struct user_type *u;
    int i, err = find_of_class(ncid, type, NC_COMPOUND, &door, &u);

    name = door_name(name);
    if (err)
        return err;
    for (i = 0; i < u->nmembers; i++)
        if (name && strcmp(u->members[i].name, name) == 0) {
            TELL(field, i);
            return 0;
        }
    return NC_EBADFIELD;
}

/* A number of an enumeration from and to the caller's memory. */
static int64_t load_number(nc_type base, const void *from)
{
    switch (base) {
    case NC_BYTE:
    case NC_CHAR:
        return *(const int8_t *)from;
    case NC_UBYTE:
        return *(const uint8_t *)from;
    case NC_SHORT:
        return *(const int16_t *)from;
    case NC_USHORT:
        return *(const uint16_t *)from;
    case NC_INT:
        return *(const int32_t *)from;
    case NC_UINT:
        return *(const uint32_t *)from;
    default:
        return *(const int64_t *)from;
    }
}

static void store_number(struct door *door, nc_type base, int64_t value, void *to)
{
    drep_convert(type_memory(door, base), to, DREP_INT64_T, &value, 1,
                 &DREP_XFER(.range = DREP_RANGE_WRAP));
}

int slot_inq_enum_member(int ncid, nc_type type, int i, char *name, void *value)
{
    struct door *door;
    struct user_type *u;
    int err = find_of_class(ncid, type, NC_ENUM, &door, &u);

    if (err)
        return err;
    if (i < 0 || i >= u->nmembers)
        return NC_EINVAL;
    if (name)
        strcpy(name, u->members[i].name);
    if (value)
        store_number(door, u->base, u->members[i].value, value);
    return 0;
}

int slot_inq_enum_ident(int ncid, nc_type type, long long value, char *name)
{
    struct door *door;
    struct user_type *u;
    int i, err = find_of_class(ncid, type, NC_ENUM, &door, &u);

    if (err)
        return err;
    for (i = 0; i < u->nmembers; i++)
        if (u->members[i].value == value) {
            if (name)
                strcpy(name, u->members[i].name);
            return 0;
        }
    return NC_EINVAL;
}

int slot_put_vlen_element(int ncid, nc_type type, void *element, size_t len, const void *data)
{
    struct door *door;
    struct user_type *u;
    nc_vlen_t *vlen = element;
    int err = find_of_class(ncid, type, NC_VLEN, &door, &u);

    if (err)
        return err;
    vlen->len = len;
    vlen->p = (void *)data;
    return 0;
}

int slot_get_vlen_element(int ncid, nc_type type, const void *element, size_t *len, void *data)
{
    struct door *door;
    struct user_type *u;
    const nc_vlen_t *vlen = element;
    int err = find_of_class(ncid, type, NC_VLEN, &door, &u);

    if (err)
        return err;
    TELL(len, vlen->len);
    if (data && vlen->len)
        memcpy(data, vlen->p, vlen->len * type_bytes(door, u->base));
    return 0;
}

/* -------------------------------------------------------------------- definitions */

static int define_type(int ncid, const char *name, int cls, size_t size, nc_type base, nc_type *id)
{
    struct door *door;
    struct nc_group *group;
    nc_type added;
    int err = door_find(ncid, &door, &group);

    name = door_name(name);
    if (err)
        return err;
    if (!door->writes)
        return NC_EPERM;
    if (door->classic)
        return NC_ESTRICTNC3;
    err = door_check_name(name);
    if (!err)
        err = door_check_new_name(door, ncid & 0xffff, name);
    if (!err)
        err = type_add(door, ncid & 0xffff, name, cls, &added);
    if (err)
        return err;
    type_user(door, added)->size = size;
    type_user(door, added)->base = base;
    door->defining = 1;
    TELL(id, added);
    return 0;
}

int slot_def_compound(int ncid, size_t size, const char *name, nc_type *id)
{
    return size ? define_type(ncid, name, NC_COMPOUND, size, NC_NAT, id) : NC_EINVAL;
}

int slot_def_opaque(int ncid, size_t size, const char *name, nc_type *id)
{
    return size ? define_type(ncid, name, NC_OPAQUE, size, NC_NAT, id) : NC_EINVAL;
}

int slot_def_vlen(int ncid, const char *name, nc_type base, nc_type *id)
{
    struct door *door;
    struct nc_group *group;
    int err = door_find(ncid, &door, &group);

    if (!err && sizeof(nc_vlen_t) != sizeof(drep_vlen))
        err = NC_ENOTBUILT;
    if (!err)
        err = type_bytes(door, base) ? type_seal(door, base) : NC_EBADTYPE;
    return err ? err : define_type(ncid, name, NC_VLEN, sizeof(nc_vlen_t), base, id);
}

int slot_def_enum(int ncid, nc_type base, const char *name, nc_type *id)
{
    struct door *door;
    struct nc_group *group;
    int err = door_find(ncid, &door, &group);

    if (err)
        return err;
    if (!type_atomic_name(base) || base == NC_CHAR || base == NC_FLOAT || base == NC_DOUBLE ||
        base == NC_STRING)
        return NC_EINVAL;
    return define_type(ncid, name, NC_ENUM, type_bytes(door, base), base, id);
}

static int insert_member(struct user_type *u, const char *name, const struct nc_member *m)
{
    struct nc_member *list;
    int i, err;

    name = door_name(name);
    err = door_check_name(name);
    if (err)
        return err;
    if (u->memory)
        return NC_ETYPDEFINED;
    for (i = 0; i < u->nmembers; i++)
        if (strcmp(u->members[i].name, name) == 0)
            return NC_ENAMEINUSE;
    list = door_grow(u->members, u->nmembers, sizeof *list);
    if (!list)
        return NC_ENOMEM;
    u->members = list;
    list += u->nmembers;
    *list = *m;
    list->name = strdup(name);
    if (!list->name)
        return NC_ENOMEM;
    u->nmembers++;
    return 0;
}

int slot_insert_array_compound(int ncid, nc_type type, const char *name, size_t offset,
                               nc_type field, int rank, const int *dims)
{
    struct door *door;
    struct user_type *u;
    struct nc_member m = {.offset = offset, .type = field, .rank = rank};
    int d, err = find_of_class(ncid, type, NC_COMPOUND, &door, &u);

    if (!err && !door->writes)
        err = NC_EPERM;
    if (!err)
        err = type_seal(door, field);
    if (err)
        return err;
    if (rank < 0 || rank > DREP_MAX_RANK)
        return NC_EMAXDIMS;
    for (d = 0; d < rank; d++)
        m.dim[d] = dims[d];
    for (d = 0; d < rank; d++)
        if (dims[d] < 1)
            return NC_EINVAL;
    return insert_member(u, name, &m);
}

int slot_insert_compound(int ncid, nc_type type, const char *name, size_t offset, nc_type field)
{
    return slot_insert_array_compound(ncid, type, name, offset, field, 0, NULL);
}

int slot_insert_enum(int ncid, nc_type type, const char *name, const void *value)
{
    struct door *door;
    struct user_type *u;
    struct nc_member m = {0};
    int err = find_of_class(ncid, type, NC_ENUM, &door, &u);

    if (err)
        return err;
    if (!door->writes)
        return NC_EPERM;
    if (!value)
        return NC_EINVAL;
    m.value = load_number(u->base, value);
    return insert_member(u, name, &m);
}
