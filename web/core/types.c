/* types.c - in which types JavaScript gets elements.
 *
 * Never "this machine's": a long has 4 bytes here, and what a file holds does not depend on where
 * it is read.  Integers are as wide as they are stored, reals FLOAT or DOUBLE. */
/* SPDX-License-Identifier: MIT */
#include "base/error.h"
#include "web/core/binding.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

enum value_class { V_BYTES, V_CHAR, V_WCHAR, V_INT, V_UINT, V_BOOL, V_REAL, V_COMPLEX };

/* Of each predefined type: what a value is, and its bytes on a machine where none is short. */
static const struct {
    enum value_class what;
    uint8_t size;
} predefined[DREP_CODE_MAX + 1] = {
#define X(name, code, what, external, internal, abi) [code] = {V_##what, internal},
#include "format/types.def"
#undef X
};

#define DEPTH_MAX 64 /* of types in types, as the format allows */

void stored_fill(struct stored *s, const drep_encoding *rows, int n)
{
    memset(s, 0, sizeof *s);
    for (int i = 0; i < n; i++)
        if (rows[i].code <= DREP_CODE_MAX)
            s->row[rows[i].code] = rows[i];
}

static int describe(const char *kind, int64_t size, const char *name, const drep_type *type,
                    drep_type **out_type)
{
    out("{\"k\":\"%s\",\"size\":%lld,\"name\":", kind, (long long)size);
    out_quoted(name ? name : "");
    out("}");
    *out_type = drep_type_ref(type);
    return 0;
}

static int integer_type(int code, const drep_encoding *row, drep_type **out_type)
{
    static const int codes[2][4] = {
        {DREP_CODE_UINT8_T, DREP_CODE_UINT16_T, DREP_CODE_UINT32_T, DREP_CODE_UINT64_T},
        {DREP_CODE_INT8_T, DREP_CODE_INT16_T, DREP_CODE_INT32_T, DREP_CODE_INT64_T}};
    bool is_signed = predefined[code].what == V_INT;
    int size = predefined[code].size, log = 0;
    const char *name = drep_code_name(code);

    if (row->size && (row->format == DREP_FORMAT_INT || row->format == DREP_FORMAT_UINT))
        is_signed = row->format == DREP_FORMAT_INT; /* what the stored bits mean */
    if (row->size > size)
        size = row->size;
    if (size > 8) {
        out("{\"k\":\"w\",\"size\":16,\"signed\":%d,\"name\":\"%s\"}", is_signed, name);
        *out_type =
            drep_type_ref(drep_predefined(is_signed ? DREP_CODE_INT128_T : DREP_CODE_UINT128_T));
        return 0;
    }
    while (1 << log < size)
        log++;
    return describe(is_signed ? "i" : "u", 1 << log, name, drep_predefined(codes[is_signed][log]),
                    out_type);
}

/* True if a float holds all numbers of the type as it is stored. */
static bool is_narrow(int code, const drep_encoding *row)
{
    switch (row->size ? row->format : 0) {
    case DREP_FORMAT_BINARY16:
    case DREP_FORMAT_BFLOAT16:
    case DREP_FORMAT_FP8_E4M3:
    case DREP_FORMAT_FP8_E5M2:
    case DREP_FORMAT_BINARY32:
        return true;
    case 0:
        return predefined[code].size <= (predefined[code].what == V_COMPLEX ? 8 : 4);
    default:
        return false;
    }
}

static int predefined_type(const drep_type *type, const struct stored *s, drep_type **out_type)
{
    int code = drep_type_code(type);
    const drep_encoding *row = &s->row[code];
    const char *name = drep_code_name(code);
    bool narrow;

    switch (predefined[code].what) {
    case V_BYTES:
        return describe("u", 1, name, type, out_type);
    case V_CHAR:
        return describe("a", 1, name, type, out_type);
    case V_WCHAR:
        return describe("U", drep_type_size(type), name, type, out_type);
    case V_BOOL:
        return describe("b", 1, name, drep_predefined(DREP_CODE_C_BOOL), out_type);
    case V_REAL:
        narrow = is_narrow(code, row);
        return describe("f", narrow ? 4 : 8, name,
                        drep_predefined(narrow ? DREP_CODE_FLOAT : DREP_CODE_DOUBLE), out_type);
    case V_COMPLEX:
        narrow = is_narrow(code, row);
        return describe(
            "c", narrow ? 8 : 16, name,
            drep_predefined(narrow ? DREP_CODE_C_FLOAT_COMPLEX : DREP_CODE_C_DOUBLE_COMPLEX),
            out_type);
    default:
        return integer_type(code, row, out_type);
    }
}

/* Reals become doubles; other scalars keep their bits, which the description explains. */
static int scalar_type(const drep_type *type, drep_type **out_type)
{
    const drep_scalar *s = drep_type_scalar_desc(type);
    bool custom = s->format == DREP_FORMAT_CUSTOM;

    if (s->cls == DREP_SCALAR_REAL)
        return describe("f", 8, "scalar", drep_predefined(DREP_CODE_DOUBLE), out_type);
    out("{\"k\":\"x\",\"size\":%d,\"order\":%d,\"signed\":%d,\"offset\":%d,\"precision\":%d,"
        "\"name\":\"scalar\"}",
        s->size, s->order, custom ? s->is_signed : s->format == DREP_FORMAT_INT,
        custom ? s->offset : 0, custom ? s->precision : 8 * s->size);
    *out_type = drep_type_ref(type);
    return 0;
}

static int nested_type(const drep_type *type, const struct stored *s, int depth,
                       drep_type **out_type);

/* Names go by what the base type says; elements are read as integers. */
static int enum_type(const drep_type *type, const struct stored *s, drep_type **out_type)
{
    bool any = false;

    out("{\"k\":\"e\",\"names\":{");
    for (int64_t i = 0; i < drep_type_enum_count(type); i++) {
        int64_t value = drep_type_enum_value(type, i);
        int code = drep_type_code(drep_type_member(type, 0));
        bool is_unsigned = predefined[code].what == V_UINT;

        out(is_unsigned ? "%s\"%llu\":" : "%s\"%lld\":", any ? "," : "", (long long)value);
        out_quoted(drep_type_enum_name(type, i));
        any = true;
    }
    out("},\"base\":");
    predefined_type(drep_type_member(type, 0), s, out_type);
    out(",\"size\":%lld}", (long long)drep_type_extent(*out_type));
    return 0;
}

static int array_type(const drep_type *type, const struct stored *s, int depth,
                      drep_type **out_type)
{
    bool is_array = drep_type_kind(type) == DREP_KIND_ARRAY;
    drep_type *base = NULL;
    int err;

    out("{\"k\":\"%s\",\"dims\":", is_array ? "A" : "V");
    out_lengths(drep_type_array_rank(type), drep_type_array_dims(type));
    out(",\"base\":");
    err = nested_type(drep_type_member(type, 0), s, depth + 1, &base);
    if (!err && is_array)
        err =
            drep_type_array(drep_type_array_rank(type), drep_type_array_dims(type), base, out_type);
    else if (!err)
        err = drep_type_sequence(base, out_type);
    drep_type_free(base);
    if (!err)
        out(",\"size\":%lld}", (long long)drep_type_extent(*out_type));
    return err;
}

struct fields {
    const char **name;
    int64_t *at;
    drep_type **type;
};

/* Members lie at multiples of 8 bytes, so that typed arrays may be laid over them. */
static int fields_fill(struct fields *f, const drep_type *type, const struct stored *s, int depth,
                       int64_t *end)
{
    int err = 0;

    *end = 0;
    for (int64_t i = 0; i < drep_type_members(type) && !err; i++) {
        const char *name = drep_type_member_name(type, i);

        f->name[i] = name;
        out("%s{\"name\":", i ? "," : "");
        out_quoted(name ? name : "");
        out(",\"o\":%lld,\"t\":", (long long)*end);
        err = nested_type(drep_type_member(type, i), s, depth + 1, &f->type[i]);
        out("}");
        f->at[i] = *end;
        if (!err)
            *end += (drep_type_extent(f->type[i]) + 7) & ~(int64_t)7;
    }
    return err;
}

static int members_type(const drep_type *type, const struct stored *s, int depth,
                        drep_type **out_type)
{
    size_t n = (size_t)drep_type_members(type);
    struct fields f = {calloc(n + 1, sizeof *f.name), calloc(n + 1, sizeof *f.at),
                       calloc(n + 1, sizeof *f.type)};
    bool named = drep_type_kind(type) == DREP_KIND_COMPOUND;
    int err = f.name && f.at && f.type ? 0 : fail_nomem();
    drep_type *members = NULL;
    int64_t end = 0;

    out("{\"k\":\"%s\",\"fields\":[", named ? "C" : "T");
    if (!err)
        err = fields_fill(&f, type, s, depth, &end);
    out("],\"size\":%lld}", (long long)end);
    if (!err && named)
        err = drep_type_compound((int64_t)n, f.name, f.at, (const drep_type *const *)f.type, end,
                                 out_type);
    else if (!err)
        err = drep_type_struct((int64_t)n, NULL, f.at, (const drep_type *const *)f.type, &members);
    if (members) {
        err = drep_type_resized(0, end, members, out_type);
        drep_type_free(members);
    }
    for (size_t i = 0; f.type && i < n; i++)
        drep_type_free(f.type[i]);
    free(f.type);
    free(f.at);
    free(f.name);
    return err;
}

static int text_type(const drep_type *type, drep_type **out_type)
{
    out("{\"k\":\"s\",\"size\":%lld,\"pad\":%d}", (long long)drep_type_size(type),
        drep_type_string_pad(type));
    *out_type = drep_type_ref(type);
    return 0;
}

static int reference_type(const drep_type *type, drep_type **out_type)
{
    out("{\"k\":\"R\",\"size\":%lld,\"region\":%d,\"name\":\"reference\"}",
        (long long)drep_type_extent(type), drep_type_reference_what(type) == DREP_REF_REGION);
    *out_type = drep_type_ref(type);
    return 0;
}

static int opaque_type(const drep_type *type, drep_type **out_type)
{
    out("{\"k\":\"o\",\"size\":%lld,\"name\":\"opaque\",\"tag\":", (long long)drep_type_size(type));
    out_quoted(drep_type_opaque_tag(type));
    out("}");
    *out_type = drep_type_ref(type);
    return 0;
}

static int nested_type(const drep_type *type, const struct stored *s, int depth,
                       drep_type **out_type)
{
    if (depth > DEPTH_MAX)
        return fail(DREP_ERR_LIMIT, "a type of more than %d levels", DEPTH_MAX);
    switch (drep_type_kind(type)) {
    case DREP_KIND_PREDEFINED:
        return predefined_type(type, s, out_type);
    case DREP_KIND_SCALAR:
        return scalar_type(type, out_type);
    case DREP_KIND_STRING:
        return text_type(type, out_type);
    case DREP_KIND_VSTRING:
        out("{\"k\":\"S\",\"size\":%zu}", sizeof(drep_vlen));
        return drep_type_text(out_type);
    case DREP_KIND_OPAQUE:
        return opaque_type(type, out_type);
    case DREP_KIND_REFERENCE:
        return reference_type(type, out_type);
    case DREP_KIND_BOOLEAN:
        return describe("b", 1, "bool", drep_predefined(DREP_CODE_C_BOOL), out_type);
    case DREP_KIND_ENUM:
        return enum_type(type, s, out_type);
    case DREP_KIND_ARRAY:
    case DREP_KIND_SEQUENCE:
        return array_type(type, s, depth, out_type);
    case DREP_KIND_COMPOUND:
    case DREP_KIND_STRUCT:
        return members_type(type, s, depth, out_type);
    default:
        return describe("?", drep_type_extent(type), "", type, out_type);
    }
}

int memory_type(const drep_type *type, const struct stored *s, drep_type **out_type)
{
    return nested_type(type, s, 0, out_type);
}
