/* container.c - the constructors of the kinds that containers add to MPI's:
 * compounds, arrays, texts, enums, scalars, and what has a variable length. */
/* SPDX-License-Identifier: MIT */
#include "type/build.h"

#include "base/error.h"
#include "base/mem.h"
#include "format/record.h"

#include <datarep.h>
#include <stdlib.h>
#include <string.h>

#define SCALAR_REC_SIZE 32

static int by_text(const void *a, const void *b)
{
    return strcmp(*(const char *const *)a, *(const char *const *)b);
}

/* Unique, nonempty, not too long. */
static int check_names(int64_t n, const char *const *names)
{
    const char **sorted;
    int err = 0;

    if (n > 0 && !names)
        return fail(DREP_ERR_ARG, "datatype: a null pointer");
    sorted = mem_array((uint64_t)n, sizeof(*sorted));
    if (!sorted)
        return DREP_ERR_NOMEM;
    for (int64_t i = 0; i < n && !err; i++) {
        if (!names[i])
            err = fail(DREP_ERR_ARG, "datatype: name %lld is a null pointer", (long long)i);
        else if (!names[i][0])
            err = fail(DREP_ERR_NAME, "datatype: name %lld is empty", (long long)i);
        else if (strnlen(names[i], FMT_NAME_MAX + 1) > FMT_NAME_MAX)
            err = fail(DREP_ERR_NAME, "datatype: name %lld is longer than %d bytes", (long long)i,
                       FMT_NAME_MAX);
        else if (text_check((const uint8_t *)names[i], strlen(names[i])))
            err = fail(DREP_ERR_NAME, "datatype: name %lld is not UTF-8", (long long)i);
        sorted[i] = names[i];
    }
    if (!err)
        qsort(sorted, (size_t)n, sizeof(*sorted), by_text);
    for (int64_t i = 1; i < n && !err; i++)
        if (strcmp(sorted[i - 1], sorted[i]) == 0)
            err = fail(DREP_ERR_NAME, "datatype: the name \"%s\" is there twice", sorted[i]);
    mem_free(sorted);
    return err;
}

static int check_out(drep_type **out)
{
    return out ? 0 : fail(DREP_ERR_ARG, "datatype: a null pointer");
}

/* Members put somewhere lie inside the compound, which begins at 0. */
static int check_inside(const drep_type *t, int64_t size)
{
    for (int64_t i = 0; i < t->nmembers; i++) {
        const drep_type *m = t->member[i];
        bool over = false;
        int64_t low = m->items && m->true_lb < m->lb ? m->true_lb : m->lb;
        int64_t high = m->items && m->true_ub > m->ub ? m->true_ub : m->ub;

        if (m->blank)
            continue;
        low = size_add(t->displ[i], low, &over);
        high = size_add(t->displ[i], high, &over);
        if (over)
            return size_fail();
        if (low < 0 || (size && high > size))
            return fail(DREP_ERR_ARG, "compound: member \"%s\" lies outside: bytes %lld to %lld",
                        t->name[i], (long long)low, (long long)high);
    }
    return 0;
}

/* Two layouts of one meaning must not become two descriptions: a size that equals the natural
 * one is dropped, so that equal types compare and print alike. */
int drep_type_compound(int64_t count, const char *const *names, const int64_t *displs,
                       const drep_type *const *types, int64_t size, drep_type **out)
{
    drep_type *t;
    drep_type *done;
    int err = type_check_members(count, types, out);

    if (!err)
        err = check_names(count, names);
    if (!err && size < 0)
        err = fail(DREP_ERR_ARG, "compound: size %lld is negative", (long long)size);
    if (err)
        return err;
    t = type_new(DREP_KIND_COMPOUND, count + 2, count);
    if (!t)
        return DREP_ERR_NOMEM;
    t->args[0] = count;
    t->displ = t->args + 1;
    for (int64_t i = 0; i < count; i++) {
        type_set_member(t, i, types[i]);
        t->displ[i] = displs ? displs[i] : 0;
    }
    err = type_set_names(t, count, names);
    if (!err && !displs)
        err = type_place_members(t);
    if (!err && displs)
        err = check_inside(t, size);
    if (err) {
        drep_type_free(t);
        return err;
    }
    t->args[count + 1] = size;
    err = type_finish(t, &done);
    if (err)
        return err;
    if (size == 0 || done->blank) {
        *out = done;
        return 0;
    }
    /* A size that the members ask for anyway is none: one layout, one description. */
    err = type_natural_size(done, &size);
    if (err) {
        drep_type_free(done);
        return err;
    }
    if (size == done->ub)
        done->args[count + 1] = 0;
    *out = done;
    return 0;
}

int drep_type_array(int rank, const int64_t *dims, const drep_type *base, drep_type **out)
{
    drep_type *t;
    int err = type_check_base(base, out);

    if (!err && (rank < 1 || rank > DREP_MAX_RANK))
        err = fail(DREP_ERR_DIMS, "array: rank %d is not in 1..%d", rank, DREP_MAX_RANK);
    if (!err && !dims)
        err = fail(DREP_ERR_ARG, "datatype: a null pointer");
    for (int d = 0; d < rank && !err; d++)
        if (dims[d] < 1)
            err = fail(DREP_ERR_DIMS, "array: dimension %d is %lld", d, (long long)dims[d]);
    if (err)
        return err;
    t = type_new(DREP_KIND_ARRAY, rank + 1, 1);
    if (!t)
        return DREP_ERR_NOMEM;
    type_set_member(t, 0, base);
    t->args[0] = rank;
    for (int d = 0; d < rank; d++)
        t->args[1 + d] = dims[d];
    return type_finish(t, out);
}

/* Bytes without members: string, opaque. */
static int check_size(const char *what, int64_t size)
{
    if (size < 1)
        return fail(DREP_ERR_COUNT, "%s: size %lld", what, (long long)size);
    return size > TYPE_SIZE_MAX ? size_fail() : 0;
}

int drep_type_string(int64_t size, int pad, drep_type **out)
{
    drep_type *t;
    int err = check_out(out);

    if (!err)
        err = check_size("string", size);
    if (!err && (pad < DREP_PAD_NUL || pad > DREP_PAD_SPACE))
        err = fail(DREP_ERR_ARG, "string: %d is not a padding", pad);
    if (err)
        return err;
    t = type_new(DREP_KIND_STRING, 2, 0);
    if (!t)
        return DREP_ERR_NOMEM;
    t->args[0] = size;
    t->args[1] = pad;
    return type_finish(t, out);
}

int type_text(const drep_type *string, drep_type **out)
{
    drep_type *t = type_new(DREP_KIND_STRING, 2, 0);

    if (!t)
        return DREP_ERR_NOMEM;
    t->args[0] = string->args[0];
    t->args[1] = string->args[1];
    t->text = true;
    return type_finish(t, out);
}

int drep_type_opaque(int64_t size, const char *tag, drep_type **out)
{
    drep_type *t;
    int err = check_out(out);

    if (!err)
        err = check_size("opaque", size);
    if (!err && tag && strnlen(tag, FMT_NAME_MAX + 1) > FMT_NAME_MAX)
        err = fail(DREP_ERR_NAME, "opaque: the tag is longer than %d bytes", FMT_NAME_MAX);
    if (!err && tag && text_check((const uint8_t *)tag, strlen(tag)))
        err = fail(DREP_ERR_NAME, "opaque: the tag is not UTF-8");
    if (err)
        return err;
    t = type_new(DREP_KIND_OPAQUE, 1, 0);
    if (!t)
        return DREP_ERR_NOMEM;
    t->args[0] = size;
    t->tag = mem_strdup(tag ? tag : "");
    if (t->tag)
        return type_finish(t, out);
    drep_type_free(t);
    return DREP_ERR_NOMEM;
}

/* counted: 1 if memory has a drep_vlen, which is an argument; else 0. */
static int make_vstring(int counted, drep_type **out)
{
    int err = check_out(out);
    drep_type *t = err ? NULL : type_new(DREP_KIND_VSTRING, counted, 0);

    if (err)
        return err;
    if (t && counted)
        t->args[0] = 1;
    return t ? type_finish(t, out) : DREP_ERR_NOMEM;
}

int drep_type_vstring(drep_type **out)
{
    return make_vstring(0, out);
}

int drep_type_text(drep_type **out)
{
    return make_vstring(1, out);
}

int drep_type_counted(const drep_type *type)
{
    return type_counted(type);
}

static int members_with_texts(const drep_type *type, drep_type **out)
{
    int64_t n = type->nmembers;
    const char **name = mem_zalloc((uint64_t)n + 1, sizeof *name);
    drep_type **part = mem_zalloc((uint64_t)n + 1, sizeof *part);
    int err = name && part ? 0 : DREP_ERR_NOMEM;
    bool same = true;

    for (int64_t i = 0; !err && i < n; i++) {
        name[i] = drep_type_member_name(type, i);
        err = drep_type_with_texts(drep_type_member(type, i), &part[i]);
        same &= part[i] == drep_type_member(type, i);
    }
    if (!err && same)
        *out = drep_type_ref(type);
    else if (!err && type->kind == DREP_KIND_STRUCT)
        err = drep_type_struct(n, type->blocklen, NULL, (const drep_type *const *)part, out);
    else if (!err)
        err = drep_type_compound(n, name, NULL, (const drep_type *const *)part, 0, out);
    for (int64_t i = 0; part && i < n; i++)
        drep_type_free(part[i]);
    mem_free(name);
    mem_free(part);
    return err;
}

int drep_type_with_texts(const drep_type *type, drep_type **out)
{
    drep_type *base;
    int err = type_check_base(type, out);

    if (err)
        return err;
    if (type->kind == DREP_KIND_VSTRING && !type_counted(type))
        return drep_type_text(out);
    if (type->variable && (type->kind == DREP_KIND_COMPOUND || type->kind == DREP_KIND_STRUCT))
        return members_with_texts(type, out);
    if (!type->variable || (type->kind != DREP_KIND_ARRAY && type->kind != DREP_KIND_SEQUENCE)) {
        *out = drep_type_ref(type);
        return 0;
    }
    if ((err = drep_type_with_texts(drep_type_member(type, 0), &base)))
        return err;
    if (base == drep_type_member(type, 0))
        *out = drep_type_ref(type);
    else if (type->kind == DREP_KIND_SEQUENCE)
        err = drep_type_sequence(base, out);
    else
        err = drep_type_array(drep_type_array_rank(type), drep_type_array_dims(type), base, out);
    drep_type_free(base);
    return err;
}

int drep_type_sequence(const drep_type *base, drep_type **out)
{
    int err = type_check_base(base, out);
    drep_type *t = err ? NULL : type_new(DREP_KIND_SEQUENCE, 0, 1);

    if (err)
        return err;
    if (!t)
        return DREP_ERR_NOMEM;
    type_set_member(t, 0, base);
    return type_finish(t, out);
}

int drep_type_reference(int what, drep_type **out)
{
    drep_type *t;
    int err = check_out(out);

    if (!err && what != DREP_REF_OBJECT && what != DREP_REF_REGION)
        err = fail(DREP_ERR_ARG, "reference: %d is neither object nor region", what);
    if (err)
        return err;
    t = type_new(DREP_KIND_REFERENCE, 1, 0);
    if (!t)
        return DREP_ERR_NOMEM;
    t->args[0] = what;
    return type_finish(t, out);
}

/* ---------------------------------------------------------- enum and boolean */

/* INT or UINT of an integer type, BOOL of a truth value, else -1. */
static int integer_class(const drep_type *base)
{
    int cls = base->kind == DREP_KIND_PREDEFINED ? fmt_code_class(base->code) : -1;

    if (base->kind == DREP_KIND_SCALAR && base->scalar->cls == DREP_SCALAR_INT)
        cls = base->scalar->format == FMT_FORMAT_CUSTOM
                  ? (base->scalar->is_signed ? FMT_INT : FMT_UINT)
                  : fmt_format_class(base->scalar->format);
    return cls == FMT_INT || cls == FMT_UINT || cls == FMT_BOOL ? cls : -1;
}

/* True if the base holds this value, here and on a machine of wide integers: a file of the other
 * kind must not become unreadable for its names. */
static bool enum_value_fits(const drep_type *base, int64_t value)
{
    bool is_signed = integer_class(base) == FMT_INT;
    int64_t bits = 8 * base->size;

    if (base->code && bits < 8 * fmt_code_internal(base->code))
        bits = 8 * fmt_code_internal(base->code);
    if (base->kind == DREP_KIND_SCALAR && base->scalar->format == DREP_FORMAT_CUSTOM)
        bits = base->scalar->precision;
    if (bits >= 64)
        return true;
    if (is_signed)
        return value >= -((int64_t)1 << (bits - 1)) && value < (int64_t)1 << (bits - 1);
    return value >= 0 && value < (int64_t)1 << bits;
}

int drep_type_enum(const drep_type *base, int64_t count, const char *const *names,
                   const int64_t *values, drep_type **out)
{
    drep_type *made;
    int err = type_enum(base, count, names, values, &made);

    for (int64_t i = 0; i < count && !err; i++)
        if (!enum_value_fits(base, values[i])) {
            drep_type_free(made);
            err = fail(DREP_ERR_VALUE_TOO_LARGE, "enum: the base cannot hold %s = %lld", names[i],
                       (long long)values[i]);
        }
    if (!err)
        *out = made;
    return err;
}

/* Names are checked before anything is allocated: counts may come from a file. */
int type_enum(const drep_type *base, int64_t count, const char *const *names, const int64_t *values,
              drep_type **out)
{
    drep_type *t;
    int err = type_check_base(base, out);

    if (!err && integer_class(base) != FMT_INT && integer_class(base) != FMT_UINT)
        err = fail(DREP_ERR_TYPE, "enum: its base is not an integer type");
    if (!err && count < 0)
        err = fail(DREP_ERR_COUNT, "enum: count %lld is negative", (long long)count);
    if (!err && count > PTRDIFF_MAX / 32)
        err = fail(DREP_ERR_NOMEM, "out of memory: an enum of %lld names", (long long)count);
    if (!err)
        err = check_names(count, names);
    if (!err && count && !values)
        err = fail(DREP_ERR_ARG, "datatype: a null pointer");
    if (err)
        return err;
    t = type_new(DREP_KIND_ENUM, count + 1, 1);
    if (!t)
        return DREP_ERR_NOMEM;
    type_set_member(t, 0, base);
    t->args[0] = count;
    t->value = t->args + 1;
    for (int64_t i = 0; i < count; i++)
        t->value[i] = values[i];
    err = type_set_names(t, count, names);
    if (!err)
        return type_finish(t, out);
    drep_type_free(t);
    return err;
}

int drep_type_boolean(const drep_type *base, drep_type **out)
{
    drep_type *t;
    int err = type_check_base(base, out);

    if (!err && integer_class(base) < 0)
        err = fail(DREP_ERR_TYPE, "bool: its base is neither an integer nor a boolean type");
    if (err)
        return err;
    t = type_new(DREP_KIND_BOOLEAN, 0, 1);
    if (!t)
        return DREP_ERR_NOMEM;
    type_set_member(t, 0, base);
    return type_finish(t, out);
}

/* -------------------------------------------------------------------- scalar */

void scalar_to_rec(const drep_scalar *s, struct scalar_rec *out)
{
    *out = (struct scalar_rec){.cls = s->cls,
                               .order = s->order,
                               .size = s->size,
                               .is_signed = s->is_signed,
                               .format = s->format,
                               .norm = s->norm,
                               .low_pad = s->low_pad,
                               .high_pad = s->high_pad,
                               .precision = s->precision,
                               .offset = s->offset,
                               .sign_pos = s->sign_pos,
                               .exp_pos = s->exp_pos,
                               .exp_width = s->exp_width,
                               .mant_pos = s->mant_pos,
                               .mant_width = s->mant_width,
                               .exp_base_log2 = s->exp_base_log2,
                               .exp_bias = s->exp_bias};
}

void scalar_from_rec(const struct scalar_rec *r, drep_scalar *out)
{
    *out = (drep_scalar){.cls = r->cls,
                         .order = r->order,
                         .size = r->size,
                         .is_signed = r->is_signed,
                         .format = r->format,
                         .norm = r->norm,
                         .low_pad = r->low_pad,
                         .high_pad = r->high_pad,
                         .precision = r->precision,
                         .offset = r->offset,
                         .sign_pos = r->sign_pos,
                         .exp_pos = r->exp_pos,
                         .exp_width = r->exp_width,
                         .mant_pos = r->mant_pos,
                         .mant_width = r->mant_width,
                         .exp_base_log2 = r->exp_base_log2,
                         .exp_bias = r->exp_bias};
}

void scalar_from_table(const uint8_t *description, drep_scalar *out)
{
    struct scalar_rec rec = {
        .cls = FMT_SCALAR_BITS, .size = 1, .format = FMT_FORMAT_UINT, .precision = 8};
    struct in in;

    in_init(&in, description, FMT_SCALAR_SIZE);
    scalar_get(&in, &rec);
    scalar_from_rec(&rec, out);
}

/* Refuse scalars that the file format would refuse: its decoder knows the rules. */
static int check_scalar(const drep_scalar *s)
{
    uint8_t bytes[SCALAR_REC_SIZE];
    struct scalar_rec rec;
    struct out out;
    struct in in;

    if (s->order == DREP_VAX && s->size % 2 && s->size != 1)
        return fail(DREP_ERR_ARG, "scalar: an odd number of bytes in 16-bit words (R3.17)");
    scalar_to_rec(s, &rec);
    out_init(&out, bytes, sizeof(bytes));
    scalar_put(&out, &rec);
    in_init(&in, bytes, sizeof(bytes));
    if (scalar_get(&in, &rec))
        return fail(DREP_ERR_ARG, "scalar: %s", in.why);
    return 0;
}

int drep_type_scalar(const drep_scalar *scalar, drep_type **out)
{
    drep_type *t;
    int err;

    if (!scalar || !out)
        return fail(DREP_ERR_ARG, "datatype: a null pointer");
    err = check_scalar(scalar);
    if (err)
        return err;
    t = type_new(DREP_KIND_SCALAR, 0, 0);
    if (!t)
        return DREP_ERR_NOMEM;
    t->scalar = mem_alloc(sizeof *t->scalar);
    if (!t->scalar) {
        drep_type_free(t);
        return fail_nomem();
    }
    *t->scalar = *scalar;
    return type_finish(t, out);
}
