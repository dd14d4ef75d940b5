/* printer.c - how the elements of a file are read so that they can be printed. */
/* SPDX-License-Identifier: MIT */
#include "tools/text/printer.h"
#include "format/byteorder.h"
#include "schema/value.h"
#include "tools/walk/walk.h"
#include <stdlib.h>
#include <string.h>

/* ------------------------------------------------------- what a code means */

static void load_rows(drep_encoding *by_code, const drep_encoding *rows, int n)
{
    int i;

    for (i = 0; i < n; i++)
        if (rows[i].code >= 1 && rows[i].code <= DREP_CODE_MAX)
            by_code[rows[i].code] = rows[i];
}

/* A code form states sizes only. */
static int printer_load_stored(struct printer *p, const drep_repinfo *rep)
{
    struct printer_rep *to = &p->rep[p->nreps++];
    const drep_encoding *rows;
    int n, err;

    to->number = rep->number;
    to->table = strcmp(rep->form, "table") == 0;
    if (!to->table)
        return 0;
    err = drep_header_types(p->file, rep->number, &rows, &n);
    if (err || n == 0)
        return err;
    to->stored = calloc(DREP_CODE_MAX + 1, sizeof *rows);
    if (!to->stored)
        return DREP_ERR_NOMEM;
    load_rows(to->stored, rows, n);
    return drep_header_scalars(p->file, rep->number, &to->custom, &to->ncustom);
}

int printer_init(struct printer *p, drep_file *file, bool json)
{
    drep_encoding plain[DREP_CODE_MAX];
    drep_repinfo *reps = NULL;
    int i, n, err;

    *p = (struct printer){.file = file, .json = json};
    err = drep_datarep_table("internal", plain, DREP_CODE_MAX, &n);
    if (err)
        return err;
    p->plain = calloc(DREP_CODE_MAX + 1, sizeof *plain);
    if (!p->plain)
        return DREP_ERR_NOMEM;
    load_rows(p->plain, plain, n < DREP_CODE_MAX ? n : DREP_CODE_MAX);
    p->paths = calloc(1, sizeof *p->paths);
    p->search = calloc(1, sizeof *p->search);
    if (p->search)
        pthread_mutex_init(&p->search->lock, NULL);
    err = p->paths && p->search ? file_datareps(file, &reps, &n) : DREP_ERR_NOMEM;
    if (!err && !(p->rep = calloc((size_t)n + 1, sizeof *p->rep)))
        err = DREP_ERR_NOMEM;
    for (i = 0; !err && i < n; i++)
        err = printer_load_stored(p, &reps[i]);
    free(reps);
    if (err)
        printer_release(p);
    return err;
}

void printer_release(struct printer *p)
{
    int i;

    if (p->paths)
        paths_release(p->paths);
    free(p->paths);
    for (i = 0; i < p->nreps; i++)
        free(p->rep[i].stored);
    free(p->rep);
    free(p->plain);
    p->rep = NULL;
    p->plain = NULL;
    p->nreps = 0;
    if (p->search)
        pthread_mutex_destroy(&p->search->lock);
    free(p->search);
    p->paths = NULL;
    p->search = NULL;
}

const char *printer_path(const struct printer *p, uint64_t id)
{
    pthread_mutex_lock(&p->search->lock);
    if (!p->search->done)
        (void)walk_paths(p->paths, p->file);
    p->search->done = true;
    pthread_mutex_unlock(&p->search->lock);
    return paths_get(p->paths, id);
}

bool printer_complex(const struct printer *p, int code)
{
    return encoding_is_complex(&p->plain[code]);
}

/* ------------------------------------------------------- types to read as */

/* The code in which a real, or both parts of a complex, of this format is read. */
static int real_code(int format, bool complex)
{
    const drep_format_info *f = drep_format_describe(format);

    if (!f || !f->type) /* one that holds all of any other */
        f = drep_format_describe(DREP_FORMAT_BINARY128);
    if (!complex)
        return f->type;
    /* As a float it would be printed like one, and has not the digits of one. */
    return f->complex == DREP_CODE_C_FLOAT_COMPLEX && format != DREP_FORMAT_BINARY32
               ? DREP_CODE_C_DOUBLE_COMPLEX
               : f->complex;
}

/* A value's own rows, where the number of a representation is expected. */
#define OWN_NUMBER (-2)

const struct printer_rep *printer_rep(const struct printer *p, int number)
{
    int low = 0, high = p->nreps;

    while (low < high) {
        int at = low + (high - low) / 2;

        if (p->rep[at].number == number)
            return &p->rep[at];
        if (p->rep[at].number < number)
            low = at + 1;
        else
            high = at;
    }
    return NULL;
}

/* Return the encoding of a predefined type under a representation. */
static const drep_encoding *row_of(const struct printer *p, int code, int datarep)
{
    static const drep_encoding unknown;
    const struct printer_rep *rep = printer_rep(p, datarep);

    if (datarep == PRINTER_NO_DATAREP)
        return &p->plain[code];
    if (datarep == OWN_NUMBER)
        return &p->own_rows[code];
    return rep && rep->stored ? &rep->stored[code] : &unknown;
}

/* A long double is another thing on every machine, so it is never read as one. */
static int readable_code(const struct printer *p, int code, int datarep)
{
    const drep_encoding *plain = &p->plain[code], *stored = row_of(p, code, datarep);
    int64_t here = drep_type_size(drep_predefined(code));
    int format = stored->size ? stored->format : plain->format;
    bool complex = printer_complex(p, code), wide, other_sign;

    if (encoding_is_real(plain)) {
        if (format == plain->format && plain->format != DREP_FORMAT_BINARY128)
            return code;
        return real_code(format, complex);
    }
    if (plain->format != DREP_FORMAT_INT && plain->format != DREP_FORMAT_UINT)
        return code;
    wide = stored->size > 8;
    /* The bits mean what the stored format says, also if the datatype has the other sign. */
    other_sign =
        format != plain->format && (format == DREP_FORMAT_INT || format == DREP_FORMAT_UINT);
    if (stored->size <= here && plain->size <= here && !other_sign)
        return code;
    if ((other_sign ? format : plain->format) == DREP_FORMAT_INT)
        return wide ? DREP_CODE_INT128_T : DREP_CODE_INT64_T;
    return wide ? DREP_CODE_UINT128_T : DREP_CODE_UINT64_T;
}

static int readable_compound(const struct printer *p, const drep_type *type, int datarep,
                             drep_type **out)
{
    int64_t i, n = drep_type_members(type);
    const char **names = calloc((size_t)n + 1, sizeof *names);
    const drep_type **types = calloc((size_t)n + 1, sizeof *types);
    bool changed = false;
    drep_type *member;
    int err = names && types ? 0 : DREP_ERR_NOMEM;

    for (i = 0; i < n && !err; i++) {
        err = printer_type(p, drep_type_member(type, i), datarep, &member);
        if (err)
            break;
        names[i] = drep_type_member_name(type, i);
        types[i] = member;
        changed = changed || member != drep_type_member(type, i);
    }
    if (!err && changed)
        err = drep_type_kind(type) == DREP_KIND_STRUCT
                  ? drep_type_struct(n, NULL, NULL, types, out)
                  : drep_type_compound(n, names, NULL, types, 0, out);
    else if (!err)
        *out = drep_type_ref(type);
    for (i = 0; types && i < n && types[i]; i++)
        drep_type_free((drep_type *)types[i]);
    free(types);
    free(names);
    return err;
}

/* True if binary128 does not hold all numbers of this real, or not for certain: VAX-H reaches two
 * powers further down, and the fields of a description go far beyond. */
static bool beyond_quad(const drep_scalar *s)
{
    return s->cls == DREP_SCALAR_REAL &&
           (s->format == DREP_FORMAT_VAX_H || s->format == DREP_FORMAT_CUSTOM);
}

/* A format of our own with the precision and the base of another, in which all of its numbers are
 * there and have the same neighbours. */
static drep_scalar same_precision(const drep_format_info *f)
{
    int stored = f->precision - (f->base_log2 == 1);
    drep_scalar s = {.cls = DREP_SCALAR_REAL,
                     .order = HOST_LITTLE ? DREP_LITTLE : DREP_BIG,
                     .size = 24,
                     .is_signed = 1,
                     .format = DREP_FORMAT_CUSTOM,
                     .norm = f->base_log2 == 1 ? DREP_NORM_IMPLIED : DREP_NORM_NONE,
                     .mant_width = (uint16_t)stored,
                     .exp_pos = (uint16_t)stored,
                     .exp_width = 17,
                     .sign_pos = (uint16_t)(stored + 17),
                     .precision = (uint16_t)(stored + 18),
                     .exp_base_log2 = (uint8_t)f->base_log2,
                     .exp_bias = f->base_log2 == 1 ? 1 - f->least : 1 << 16};

    return s;
}

/* True if numbers of this format are printed from such a form. */
static bool needs_precision(int format)
{
    const drep_format_info *f = drep_format_describe(format);

    return f && f->cls == DREP_SCALAR_REAL && !f->type && format != DREP_FORMAT_VAX_H &&
           format != DREP_FORMAT_DOUBLE_DOUBLE;
}

/* The scalar in which the file holds a predefined real, if that is to be printed as it is. */
static bool own_scalar(const struct printer *p, int code, int datarep, drep_scalar *out)
{
    const drep_encoding *stored = row_of(p, code, datarep);
    bool custom = stored->format == DREP_FORMAT_CUSTOM;
    const struct printer_rep *rep = printer_rep(p, datarep);

    if (!p->own || stored->size == 0 || !encoding_is_real(&p->plain[code]) ||
        printer_complex(p, code) || (custom && (!rep || stored->custom >= rep->ncustom)))
        return false;
    *out = custom ? rep->custom[stored->custom]
                  : (drep_scalar){.cls = DREP_SCALAR_REAL,
                                  .order = stored->order,
                                  .size = stored->size,
                                  .is_signed = 1,
                                  .format = stored->format};
    if (p->precise && needs_precision(stored->format)) {
        *out = same_precision(drep_format_describe(stored->format));
        return true;
    }
    return beyond_quad(out);
}

static int readable_leaf(int code, drep_type **out)
{
    *out = drep_type_ref(drep_predefined(code));
    return 0;
}

/* An enum over a base that holds what the file has.  Where that has the other sign, names of
 * numbers that only one of the two has are left out: no element has them. */
static int readable_enum(const drep_type *type, const drep_type *base, bool turned, drep_type **out)
{
    int64_t n = drep_type_enum_count(type), kept = 0;
    const char **names = calloc((size_t)n + 1, sizeof *names);
    int64_t *values = calloc((size_t)n + 1, sizeof *values);
    int err = names && values ? 0 : DREP_ERR_NOMEM;

    for (int64_t i = 0; i < n && !err; i++) {
        if (turned && drep_type_enum_value(type, i) < 0)
            continue;
        names[kept] = drep_type_enum_name(type, i);
        values[kept++] = drep_type_enum_value(type, i);
    }
    if (!err)
        err = drep_type_enum(base, kept, names, values, out);
    free(values);
    free(names);
    return err;
}

static int readable_over_base(const struct printer *p, const drep_type *type, int datarep,
                              drep_type **out)
{
    const drep_type *of = drep_type_member(type, 0);
    drep_type *base;
    bool turned;
    int err = printer_type(p, of, datarep, &base);

    if (err)
        return err;
    turned = p->plain[drep_type_code(of)].format != p->plain[drep_type_code(base)].format;
    if (base == of)
        *out = drep_type_ref(type);
    else if (drep_type_kind(type) == DREP_KIND_BOOLEAN)
        err = drep_type_boolean(base, out);
    else
        err = readable_enum(type, base, turned, out);
    drep_type_free(base);
    return err;
}

int printer_type(const struct printer *p, const drep_type *type, int datarep, drep_type **out)
{
    const drep_scalar *scalar;
    drep_scalar own;
    drep_type *base;
    int err, code;

    switch (drep_type_kind(type)) {
    case DREP_KIND_PREDEFINED:
        code = drep_type_code(type);
        if (row_of(p, code, datarep)->format == DREP_FORMAT_DOUBLE_DOUBLE &&
            !printer_complex(p, code))
            return value_pair(out);
        if (datarep != PRINTER_NO_DATAREP && own_scalar(p, code, datarep, &own))
            return drep_type_scalar(&own, out);
        return readable_leaf(readable_code(p, code, datarep), out);
    case DREP_KIND_SCALAR:
        scalar = drep_type_scalar_desc(type);
        if (scalar->format == DREP_FORMAT_DOUBLE_DOUBLE)
            return value_pair(out);
        if (p->own && beyond_quad(scalar))
            break;
        if (p->precise && scalar->cls == DREP_SCALAR_REAL && needs_precision(scalar->format)) {
            own = same_precision(drep_format_describe(scalar->format));
            return drep_type_scalar(&own, out);
        }
        if (scalar->cls == DREP_SCALAR_REAL)
            return readable_leaf(real_code(scalar->format, false), out);
        break;
    case DREP_KIND_VSTRING: /* which may have NULs */
        return drep_type_text(out);
    case DREP_KIND_REFERENCE:
        (void)printer_path(p, 0); /* all are found now, so that values only look up */
        break;
    case DREP_KIND_ENUM:
    case DREP_KIND_BOOLEAN:
        return readable_over_base(p, type, datarep, out);
    case DREP_KIND_COMPOUND:
    case DREP_KIND_STRUCT: /* a compound without names */
        return readable_compound(p, type, datarep, out);
    case DREP_KIND_ARRAY:
    case DREP_KIND_SEQUENCE:
        err = printer_type(p, drep_type_member(type, 0), datarep, &base);
        if (err)
            return err;
        if (base == drep_type_member(type, 0))
            *out = drep_type_ref(type);
        else if (drep_type_kind(type) == DREP_KIND_SEQUENCE)
            err = drep_type_sequence(base, out);
        else
            err =
                drep_type_array(drep_type_array_rank(type), drep_type_array_dims(type), base, out);
        drep_type_free(base);
        return err;
    default:
        break;
    }
    *out = drep_type_ref(type);
    return 0;
}

int printer_value_type(const struct printer *p, const drep_type *type, const drep_encoding *rows,
                       int n, drep_type **out)
{
    drep_encoding by_code[DREP_CODE_MAX + 1] = {{0}};
    struct printer value = *p;

    load_rows(by_code, rows, n);
    value.own_rows = by_code;
    return printer_type(&value, type, OWN_NUMBER, out);
}
