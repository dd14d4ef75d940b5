/* types.c - netCDF's types and ours.
 *
 * Numbers keep their width; reals of other formats become float or double, whichever holds their
 * range (as in `datarep export`).  A user-defined type has one datatype for memory, laid out as a C
 * compiler lays out the struct, or as nc_insert_compound() was told; drep_vlen and nc_vlen_t are
 * one struct where size_t has 64 bits. */
/* SPDX-License-Identifier: MIT */
#include "netcdf/door.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const signed char fill_byte = NC_FILL_BYTE;
static const short fill_short = NC_FILL_SHORT;
static const int fill_int = NC_FILL_INT;
static const float fill_float = NC_FILL_FLOAT;
static const double fill_double = NC_FILL_DOUBLE;
static const unsigned char fill_ubyte = NC_FILL_UBYTE;
static const unsigned short fill_ushort = NC_FILL_USHORT;
static const unsigned fill_uint = NC_FILL_UINT;
static const long long fill_int64 = NC_FILL_INT64;
static const unsigned long long fill_uint64 = NC_FILL_UINT64;

static const struct atomic {
    const char *name;
    int code; /* 0: a text of variable length */
    size_t size;
    const void *fill;
} atomics[] = {
    [NC_BYTE] = {"byte", DREP_CODE_INT8_T, 1, &fill_byte},
    [NC_CHAR] = {"char", DREP_CODE_CHAR, 1, NULL},
    [NC_SHORT] = {"short", DREP_CODE_INT16_T, 2, &fill_short},
    [NC_INT] = {"int", DREP_CODE_INT32_T, 4, &fill_int},
    [NC_FLOAT] = {"float", DREP_CODE_FLOAT, 4, &fill_float},
    [NC_DOUBLE] = {"double", DREP_CODE_DOUBLE, 8, &fill_double},
    [NC_UBYTE] = {"ubyte", DREP_CODE_UINT8_T, 1, &fill_ubyte},
    [NC_USHORT] = {"ushort", DREP_CODE_UINT16_T, 2, &fill_ushort},
    [NC_UINT] = {"uint", DREP_CODE_UINT32_T, 4, &fill_uint},
    [NC_INT64] = {"int64", DREP_CODE_INT64_T, 8, &fill_int64},
    [NC_UINT64] = {"uint64", DREP_CODE_UINT64_T, 8, &fill_uint64},
    [NC_STRING] = {"string", 0, sizeof(char *), NULL},
};

static int is_atomic(nc_type type)
{
    return type >= NC_BYTE && type <= NC_STRING;
}

const char *type_atomic_name(nc_type type)
{
    return is_atomic(type) ? atomics[type].name : NULL;
}

struct user_type *type_user(struct door *door, nc_type type)
{
    int i = type - NC_FIRSTUSERTYPEID;

    return i >= 0 && i < door->ntypes ? &door->types[i] : NULL;
}

/* One for the life of the process. */
static const drep_type *text_type(void)
{
    static drep_type *text;

    return text || drep_type_vstring(&text) == 0 ? text : NULL;
}

const drep_type *type_memory(struct door *door, nc_type type)
{
    const struct user_type *u = type_user(door, type);

    if (u)
        return u->memory;
    if (!is_atomic(type))
        return NULL;
    return atomics[type].code ? drep_predefined(atomics[type].code) : text_type();
}

size_t type_bytes(struct door *door, nc_type type)
{
    const struct user_type *u = type_user(door, type);

    return u ? u->size : is_atomic(type) ? atomics[type].size : 0;
}

const void *type_default_fill(struct door *door, nc_type type)
{
    const struct user_type *u = type_user(door, type);

    if (u)
        return u->cls == NC_ENUM ? type_default_fill(door, u->base) : NULL;
    return is_atomic(type) ? atomics[type].fill : NULL;
}

/* NULL stays NULL, as netCDF has it in memory; a file has "" then. */
static int copy_texts(size_t n, char **to, char *const *from)
{
    size_t i;

    for (i = 0; i < n; i++) {
        to[i] = from[i] ? strdup(from[i]) : NULL;
        if (from[i] && !to[i])
            return NC_ENOMEM;
    }
    return 0;
}

int type_copy(struct door *door, nc_type type, size_t n, void *to, const void *from)
{
    const struct user_type *u = type_user(door, type);
    const drep_type *memory = type_memory(door, type);

    if (!n)
        return 0;
    if (!memory)
        return NC_EBADTYPE;
    if (type == NC_STRING)
        return copy_texts(n, to, from);
    if (!u || !drep_type_variable(memory)) {
        memcpy(to, from, n * type_bytes(door, type));
        return 0;
    }
    return door_error(drep_convert(memory, to, memory, from, (int64_t)n, NULL));
}

void type_release(struct user_type *type)
{
    int i;

    for (i = 0; i < type->nmembers; i++)
        free(type->members[i].name);
    free(type->members);
    free(type->name);
    drep_type_free(type->memory);
    drep_type_free(type->stored);
}

/* ---------------------------------------------------------------- types of a file */

static nc_type integer_of(int64_t size, int is_signed)
{
    static const nc_type with[] = {NC_BYTE, NC_SHORT, NC_INT, NC_INT64};
    static const nc_type without[] = {NC_UBYTE, NC_USHORT, NC_UINT, NC_UINT64};
    int i = size <= 1 ? 0 : size <= 2 ? 1 : size <= 4 ? 2 : 3;

    return size > 8 ? NC_NAT : is_signed ? with[i] : without[i];
}

static nc_type real_of(int format, int64_t size)
{
    const drep_format_info *info = drep_format_describe(format);

    if (!info || format == DREP_FORMAT_CUSTOM)
        return size <= 4 ? NC_FLOAT : NC_DOUBLE;
    return info->precision <= 24 && info->least >= -126 && info->greatest <= 127 ? NC_FLOAT
                                                                                 : NC_DOUBLE;
}

static int is_complex(const drep_type *type)
{
    const char *name = drep_code_name(drep_type_code(type));

    return name && strstr(name, "COMPLEX") != NULL;
}

static nc_type predefined_of(const drep_type *type)
{
    const char *name = drep_code_name(drep_type_code(type));
    int64_t size = drep_type_size(type);

    if (!name || is_complex(type))
        return NC_NAT;
    if (!strcmp(name, "CHAR") || !strcmp(name, "CHARACTER"))
        return NC_CHAR;
    if (strstr(name, "FLOAT") || strstr(name, "DOUBLE") || strstr(name, "REAL") ||
        strstr(name, "FP8"))
        return size <= 4 ? NC_FLOAT : NC_DOUBLE;
    if (!strcmp(name, "WCHAR") || !strcmp(name, "PACKED"))
        return NC_NAT;
    return integer_of(size, !strstr(name, "UINT") && !strstr(name, "UNSIGNED") &&
                                strcmp(name, "BYTE") != 0);
}

/* NC_NAT: none, or a user-defined one. */
static nc_type atomic_of(const drep_type *type)
{
    const drep_scalar *scalar;

    switch (drep_type_kind(type)) {
    case DREP_KIND_BOOLEAN:
        return atomic_of(drep_type_member(type, 0));
    case DREP_KIND_VSTRING:
        return NC_STRING;
    case DREP_KIND_STRING:
        return drep_type_size(type) == 1 ? NC_CHAR : NC_STRING;
    case DREP_KIND_SCALAR:
        scalar = drep_type_scalar_desc(type);
        if (scalar->cls == DREP_SCALAR_REAL)
            return real_of(scalar->format, scalar->size);
        return scalar->cls == DREP_SCALAR_INT ? integer_of(scalar->size, scalar->is_signed)
                                              : NC_NAT;
    case DREP_KIND_PREDEFINED:
        return predefined_of(type);
    default:
        return NC_NAT;
    }
}

/* ------------------------------------------------------------- user-defined types */

static int class_of_type(const drep_type *type)
{
    switch (drep_type_kind(type)) {
    case DREP_KIND_COMPOUND:
        return NC_COMPOUND;
    case DREP_KIND_ENUM:
        return NC_ENUM;
    case DREP_KIND_SEQUENCE:
        return sizeof(nc_vlen_t) == sizeof(drep_vlen) ? NC_VLEN : 0;
    case DREP_KIND_OPAQUE:
        return NC_OPAQUE;
    default:
        return is_complex(type) ? NC_COMPOUND : 0;
    }
}

int type_add(struct door *door, int group, const char *name, int cls, nc_type *id)
{
    struct user_type *list = door_grow(door->types, door->ntypes, sizeof *list);

    if (!list)
        return NC_ENOMEM;
    door->types = list;
    list += door->ntypes;
    *list = (struct user_type){.name = strdup(name), .group = group, .cls = cls};
    if (!list->name)
        return NC_ENOMEM;
    *id = NC_FIRSTUSERTYPEID + door->ntypes++;
    return 0;
}

static struct nc_member *add_member(struct user_type *u, const char *name)
{
    struct nc_member *list = door_grow(u->members, u->nmembers, sizeof *list);

    if (!list)
        return NULL;
    u->members = list;
    list += u->nmembers;
    *list = (struct nc_member){.name = strdup(name)};
    return list->name ? u->nmembers++, list : NULL;
}

/* What a member or a base is: its type, and dimensions if it is an array; a text of fixed length is
 * one of char.  NC_NAT: netCDF has none such. */
static nc_type member_type(struct door *door, const drep_type *type, struct nc_member *m)
{
    const int64_t *dims = drep_type_array_dims(type);
    int d;

    m->rank = 0;
    if (drep_type_kind(type) == DREP_KIND_ARRAY) {
        m->rank = drep_type_array_rank(type);
        for (d = 0; d < m->rank; d++) {
            if (dims[d] > INT32_MAX)
                return NC_NAT;
            m->dim[d] = (int)dims[d];
        }
        type = drep_type_member(type, 0);
    }
    if (drep_type_kind(type) != DREP_KIND_STRING || drep_type_size(type) == 1)
        return m->type = type_of(door, type);
    if (m->rank == DREP_MAX_RANK || drep_type_size(type) > INT32_MAX)
        return NC_NAT;
    m->dim[m->rank++] = (int)drep_type_size(type);
    return m->type = NC_CHAR;
}

/* The datatype in memory of a part that member_type() found. */
static int part_memory(struct door *door, const struct nc_member *m, drep_type **out)
{
    const drep_type *base = type_memory(door, m->type);
    int64_t dims[DREP_MAX_RANK];
    int d;

    for (d = 0; d < m->rank; d++)
        dims[d] = m->dim[d];
    if (!base)
        return DREP_ERR_TYPE;
    if (!m->rank)
        return *out = drep_type_ref(base), 0;
    return drep_type_array(m->rank, dims, base, out);
}

/* Of a stored string the text itself, whatever pads it. */
static int stored_memory(struct door *door, const drep_type *stored, const struct nc_member *m,
                         drep_type **out)
{
    const drep_type *base = stored;

    if (drep_type_kind(base) == DREP_KIND_ARRAY)
        base = drep_type_member(base, 0);
    if (drep_type_kind(base) == DREP_KIND_STRING)
        return *out = drep_type_ref(stored), 0;
    return part_memory(door, m, out);
}

/* From its members: with the offsets given, or, of a type of the file, as C has them. */
static int compound_memory(struct door *door, struct user_type *u, const drep_type *stored)
{
    int64_t *displs = calloc((size_t)u->nmembers + 1, sizeof *displs);
    const char **names = calloc((size_t)u->nmembers + 1, sizeof *names);
    drep_type **types = calloc((size_t)u->nmembers + 1, sizeof *types);
    int i, err = displs && names && types ? 0 : DREP_ERR_NOMEM;

    for (i = 0; !err && i < u->nmembers; i++) {
        const struct nc_member *m = &u->members[i];

        names[i] = m->name;
        displs[i] = (int64_t)m->offset;
        err = stored ? stored_memory(door, drep_type_member(stored, i), m, &types[i])
                     : part_memory(door, m, &types[i]);
    }
    if (!err)
        err = drep_type_compound(u->nmembers, names, stored ? NULL : displs,
                                 (const drep_type *const *)types, stored ? 0 : (int64_t)u->size,
                                 &u->memory);
    for (i = 0; types && i < u->nmembers; i++) {
        if (!err && stored)
            u->members[i].offset = (size_t)drep_type_member_offset(u->memory, i);
        drep_type_free(types[i]);
    }
    free(displs);
    free(names);
    free(types);
    return err;
}

static int enum_memory(struct door *door, struct user_type *u)
{
    int64_t *values = calloc((size_t)u->nmembers + 1, sizeof *values);
    const char **names = calloc((size_t)u->nmembers + 1, sizeof *names);
    int i, err = values && names ? 0 : DREP_ERR_NOMEM;

    for (i = 0; !err && i < u->nmembers; i++) {
        values[i] = u->members[i].value;
        names[i] = u->members[i].name;
    }
    if (!err)
        err = drep_type_enum(type_memory(door, u->base), u->nmembers, names, values, &u->memory);
    free(values);
    free(names);
    return err;
}

/* A complex number is a compound of two, in memory the number itself. */
static int fill_complex(struct user_type *u, const drep_type *type)
{
    int code = drep_type_size(type) <= 8 ? DREP_CODE_C_FLOAT_COMPLEX : DREP_CODE_C_DOUBLE_COMPLEX;
    size_t half = code == DREP_CODE_C_FLOAT_COMPLEX ? 4 : 8;
    struct nc_member *r = add_member(u, "r"), *i = add_member(u, "i");

    if (!r || !i)
        return NC_ENOMEM;
    u->members[0].type = u->members[1].type = half == 4 ? NC_FLOAT : NC_DOUBLE;
    u->members[1].offset = half;
    u->memory = drep_type_ref(drep_predefined(code));
    return 0;
}

static int fill_compound(struct door *door, struct user_type *u, const drep_type *type)
{
    int64_t i, n = drep_type_members(type);

    if (is_complex(type))
        return fill_complex(u, type);
    for (i = 0; i < n; i++) {
        const char *name = drep_type_member_name(type, i);
        struct nc_member part = {0}, *m;

        if (strlen(name) > NC_MAX_NAME || !member_type(door, drep_type_member(type, i), &part))
            return NC_EBADTYPE;
        m = add_member(u, name);
        if (!m)
            return NC_ENOMEM;
        part.name = m->name;
        *m = part;
    }
    return door_error(compound_memory(door, u, type));
}

static int fill_enum(struct door *door, struct user_type *u, const drep_type *type)
{
    int64_t i, n = drep_type_enum_count(type);

    u->base = atomic_of(drep_type_member(type, 0));
    for (i = 0; i < n; i++) {
        const char *name = drep_type_enum_name(type, i);
        struct nc_member *m = strlen(name) > NC_MAX_NAME ? NULL : add_member(u, name);

        if (!m)
            return NC_EBADTYPE;
        m->value = drep_type_enum_value(type, i);
    }
    return u->base ? door_error(enum_memory(door, u)) : NC_EBADTYPE;
}

static int fill_vlen(struct door *door, struct user_type *u, const drep_type *type)
{
    struct nc_member part = {0};

    u->base = member_type(door, drep_type_member(type, 0), &part);
    if (!u->base || part.rank)
        return NC_EBADTYPE;
    return door_error(drep_type_sequence(type_memory(door, u->base), &u->memory));
}

/* A user-defined type of the file in `u`, whose parts have their numbers. */
static int fill_type(struct door *door, struct user_type *u, const drep_type *type)
{
    int err;

    switch (u->cls) {
    case NC_COMPOUND:
        err = fill_compound(door, u, type);
        break;
    case NC_ENUM:
        err = fill_enum(door, u, type);
        break;
    case NC_VLEN:
        err = fill_vlen(door, u, type);
        break;
    default:
        u->memory = drep_type_ref(type);
        err = 0;
    }
    if (err)
        return err;
    u->size = (size_t)drep_type_extent(u->memory);
    u->stored = drep_type_ref(type);
    return 0;
}

/* Builds it apart, as its parts may be added to the list before it. */
static nc_type add_of_file(struct door *door, int group, const char *name, const drep_type *type)
{
    struct user_type u = {.cls = class_of_type(type), .group = group};
    nc_type id = NC_NAT;

    if (u.cls && fill_type(door, &u, type) == 0 && type_add(door, group, name, u.cls, &id) == 0) {
        struct user_type *added = type_user(door, id);

        u.name = added->name;
        *added = u;
        return id;
    }
    type_release(&u);
    return NC_NAT;
}

static void unused_name(struct door *door, const drep_type *type, char *name, size_t size)
{
    int i, cls = class_of_type(type), named = is_complex(type);
    const char *front = cls == NC_ENUM     ? "enum"
                        : cls == NC_VLEN   ? "vlen"
                        : cls == NC_OPAQUE ? "opaque"
                                           : "compound";

    if (named)
        front = drep_type_size(type) <= 8 ? "complex64" : "complex128";
    for (i = !named; i < 1 << 20; i++) {
        snprintf(name, size, i ? "%s_%d" : "%s", front, i);
        if (door_check_new_name(door, 0, name) == 0)
            return;
    }
}

nc_type type_of(struct door *door, const drep_type *type)
{
    nc_type atomic = atomic_of(type), id;
    char name[40];
    int i;

    if (atomic || !class_of_type(type))
        return atomic;
    for (i = 0; i < door->ntypes; i++)
        if (door->types[i].stored && drep_type_equal(door->types[i].stored, type))
            return NC_FIRSTUSERTYPEID + i;
    unused_name(door, type, name, sizeof name);
    id = add_of_file(door, 0, name, type);
    /* The parts of a new type may have taken the name. */
    for (i = 0; id && i < door->ntypes - 1; i++)
        if (door->types[i].group == 0 && strcmp(door->types[i].name, name) == 0) {
            struct user_type *u = type_user(door, id);

            unused_name(door, type, name, sizeof name);
            free(u->name);
            u->name = strdup(name);
            break;
        }
    return id;
}

int type_add_named(struct door *door, int group, const char *name, const drep_type *type)
{
    if (!add_of_file(door, group, name, type))
        door_refuse(0, "%s: netCDF has no place for this datatype", name);
    return 0;
}

/* ------------------------------------------------------------- types being defined */

static int build_memory(struct door *door, struct user_type *u)
{
    switch (u->cls) {
    case NC_COMPOUND:
        return compound_memory(door, u, NULL);
    case NC_ENUM:
        return enum_memory(door, u);
    case NC_VLEN:
        return drep_type_sequence(type_memory(door, u->base), &u->memory);
    default:
        return drep_type_opaque((int64_t)u->size, NULL, &u->memory);
    }
}

int type_seal(struct door *door, nc_type type)
{
    struct user_type *u = type_user(door, type);
    int i, err = 0;

    if (!u || u->memory)
        return u || is_atomic(type) ? 0 : NC_EBADTYPE;
    for (i = 0; !err && i < u->nmembers && u->cls == NC_COMPOUND; i++)
        err = type_seal(door, u->members[i].type);
    if (!err && u->cls == NC_VLEN)
        err = type_seal(door, u->base);
    if (err)
        return err;
    if (u->nmembers == 0 && (u->cls == NC_COMPOUND || u->cls == NC_ENUM))
        return door_refuse(NC_EINVAL, "type %s has no members", u->name);
    return door_error(build_memory(door, u));
}

int type_check_pair(struct door *door, nc_type type, nc_type other)
{
    int err = type_seal(door, type);

    if (err)
        return err;
    if (type == other)
        return 0;
    if (type_user(door, type) || !is_atomic(other))
        return NC_EBADTYPE;
    return type == NC_CHAR || other == NC_CHAR || type == NC_STRING || other == NC_STRING ? NC_ECHAR
                                                                                          : 0;
}

int type_settle(struct door *door)
{
    int i, err = 0;

    for (i = 0; !err && i < door->ntypes; i++) {
        struct user_type *u = &door->types[i];
        char *path;

        if (u->stored)
            continue;
        err = type_seal(door, NC_FIRSTUSERTYPEID + i);
        if (err)
            return err;
        path = door_join(door->groups[u->group].path, u->name);
        err = path ? drep_type_commit(door->file, path, u->memory) : DREP_ERR_NOMEM;
        if (!err)
            err = drep_type_open(door->file, path, &u->stored);
        free(path);
        err = door_error(err);
    }
    return err;
}
