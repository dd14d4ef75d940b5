/* type_out.c - HDF5's datatypes, made from ours.
 *
 * Numbers get the order, size and format in which the container stores them, wherever
 * HDF5 can say it, so that their bytes are copied.  Remarks that import left say what a
 * container does not: character sets, gaps of compounds, strange numbers. */
/* SPDX-License-Identifier: MIT */
#include "tools/h5/type_out.h"
#include "tools/h5/encoding.h"
#include "tools/h5/job.h"
#include "tools/h5/netcdf.h"
#include "tools/h5/note.h"
#include "tools/h5/number.h"
#include <datarep.h>
#include <float.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define DEPTH_MAX 64

/* ------------------------------------------------------------- a walk of ours */

struct to {
    struct job *j;
    const struct notes *notes;
    int named;
    char place[12 * DEPTH_MAX + 2];
    int depth;
};

static hid_t to_hdf5(struct to *w, const drep_type *type);

static const char *note_word(const struct to *w, const char *word)
{
    return w->notes ? note_of(w->notes, *w->place ? w->place : ".", word) : NULL;
}

static hid_t fail_type(struct job *j, const char *what)
{
    job_fail(j, DREP_ERR_UNSUPPORTED, "%s", what);
    return 0;
}

/* One level down, into part i. */
static hid_t to_part(struct to *w, const drep_type *type, size_t i)
{
    size_t len = strlen(w->place);
    hid_t t;

    if (w->depth >= DEPTH_MAX)
        return fail_type(w->j, "a datatype too deep");
    snprintf(w->place + len, sizeof w->place - len, ".%zu", i);
    w->depth++;
    t = to_hdf5(w, type);
    w->depth--;
    w->place[len] = 0;
    return t;
}

static hid_t string_for(struct to *w, size_t size, int pad)
{
    hid_t t = H5Tcopy(H5T_C_S1);
    const char *cset = note_word(w, "cset"), *own = note_word(w, "pad");
    int ascii = cset ? strcmp(cset, "ascii") == 0 : w->j->usual.cset == H5T_CSET_ASCII;

    H5Tset_size(t, size);
    H5Tset_cset(t, ascii ? H5T_CSET_ASCII : H5T_CSET_UTF8);
    if (own)
        pad = strcmp(own, "space") == 0 ? DREP_PAD_SPACE : DREP_PAD_NUL;
    H5Tset_strpad(t, pad == DREP_PAD_SPACE ? H5T_STR_SPACEPAD
                     : pad == DREP_PAD_NUL ? H5T_STR_NULLPAD
                                           : H5T_STR_NULLTERM);
    return t;
}

/* A value as it lies in an enum's base type. */
static void put_value(uint8_t *p, size_t size, H5T_order_t order, uint64_t value, int is_signed)
{
    size_t i;

    for (i = 0; i < size; i++) {
        uint8_t fill = is_signed && (int64_t)value < 0 ? 0xff : 0;
        uint8_t byte = (uint8_t)(i < 8 ? value >> 8 * i : fill);

        p[order == H5T_ORDER_BE ? size - 1 - i : i] = byte;
    }
}

/* True if HDF5 orders the bytes of an integer otherwise than the container. */
static int order_of(const struct to *w, const drep_encoding *e)
{
    const char *own = note_word(w, "order");

    if (own)
        return strcmp(own, "big") == 0   ? DREP_BIG
               : strcmp(own, "vax") == 0 ? DREP_VAX
                                         : DREP_LITTLE;
    return e->order;
}

static hid_t integer_for(const struct to *w, const drep_encoding *e, int is_signed)
{
    int order = order_of(w, e);

    /* HDF5 has no integers of VAX order of its own. */
    return number_type_int(e->size, is_signed,
                           order_to_hdf5(order == DREP_VAX ? DREP_LITTLE : order));
}

/* FALSE and TRUE over an integer, as h5py has it. */
static hid_t boolean_over(struct job *j, hid_t base)
{
    size_t size = H5Tget_size(base);
    H5T_order_t order = H5Tget_order(base);
    hid_t t = H5Tenum_create(base);
    uint8_t value[32];
    int i;

    for (i = 0; t > 0 && i < 2; i++) {
        put_value(value, size, order, (uint64_t)i, 0);
        if (H5Tenum_insert(t, i ? "TRUE" : "FALSE", value) < 0) {
            H5Tclose(t);
            job_fail_hdf5(j, "boolean");
            return 0;
        }
    }
    return t;
}

/* Readers of enums, h5py among them, have 8 bytes for a value. */
static hid_t to_boolean(struct to *w, const drep_encoding *e)
{
    drep_encoding most = *e;
    hid_t base, t;

    most.size = e->size > 8 ? 8 : e->size;
    base = integer_for(w, &most, 1);
    if (w->j->netcdf)
        return base;
    t = boolean_over(w->j, base);

    H5Tclose(base);
    return t;
}

/* A long double that was written as x87 goes out as such, not as binary128, which few
 * readers of HDF5 files can take. */
static hid_t to_real(struct to *w, int code, const drep_encoding *e, size_t size)
{
    const char *name = drep_code_name(code);
    int format = e->format, is_complex = name && strstr(name, "COMPLEX");

    if (format == DREP_FORMAT_BINARY128 && w->j->encodings->from_x86 && name &&
        strstr(name, "LONG_DOUBLE")) {
        format = DREP_FORMAT_X87;
        size = 16;
    }
    if (format == DREP_FORMAT_X87 && is_complex && LDBL_MANT_DIG != 64)
        format = DREP_FORMAT_BINARY128;
    if (w->j->netcdf)
        format = netcdf_format(format);
    return real_for(format, size, order_of(w, e));
}

/* As h5py has complex numbers: a compound of r and i. */
static hid_t to_complex(struct to *w, int code, const drep_encoding *e)
{
    /* Both halves of x87 numbers lie as a long double does here. */
    hid_t half = to_real(w, code, e, sizeof(long double)), t;
    size_t size = H5Tget_size(half);

    t = H5Tcreate(H5T_COMPOUND, 2 * size);
    if (H5Tinsert(t, "r", 0, half) < 0 || H5Tinsert(t, "i", size, half) < 0)
        job_fail_hdf5(w->j, "complex");
    H5Tclose(half);
    return t;
}

static hid_t to_predefined(struct to *w, const drep_type *type)
{
    int code = drep_type_code(type);
    const char *name = drep_code_name(code);
    drep_encoding e = encoding_of(w->j, code, w->named);

    if (!name || e.size == 0)
        return fail_type(w->j, "a predefined datatype has no counterpart in HDF5");
    if (strstr(name, "COMPLEX"))
        return to_complex(w, code, &e);
    switch (w->j->encodings->standard[code & 255]) {
    case DREP_FORMAT_INT:
        return integer_for(w, &e, 1);
    case DREP_FORMAT_UINT:
    case DREP_FORMAT_UNICODE:
        return integer_for(w, &e, 0);
    case DREP_FORMAT_BOOL:
        return to_boolean(w, &e);
    case DREP_FORMAT_BYTES:
        return H5Tcopy(H5T_STD_U8LE);
    case DREP_FORMAT_CHAR:
        return string_for(w, 1, DREP_PAD_NUL);
    default:
        return to_real(w, code, &e, e.size);
    }
}

/* ----------------------------------------------------------------- composites */

static hid_t to_opaque(struct to *w, const drep_type *type)
{
    const char *tag = drep_type_opaque_tag(type);
    hid_t t = H5Tcreate(H5T_OPAQUE, (size_t)drep_type_size(type));

    if (t > 0 && tag && H5Tset_tag(t, tag) < 0) {
        H5Tclose(t);
        t = 0;
        job_fail_hdf5(w->j, "opaque");
    }
    return t;
}

static hid_t to_enum(struct to *w, const drep_type *type)
{
    hid_t base = to_hdf5(w, drep_type_member(type, 0)), t = 0;
    size_t size = base > 0 ? H5Tget_size(base) : 0;
    uint8_t value[64];
    int64_t i, n = drep_type_enum_count(type);
    int shift;

    /* A boolean is its own base where that is a predefined one. */
    if (base > 0 && H5Tget_class(base) == H5T_ENUM) {
        hid_t super = H5Tget_super(base);

        H5Tclose(base);
        base = super;
        size = H5Tget_size(base);
    }
    if (base > 0 && H5Tget_class(base) == H5T_INTEGER && size <= sizeof value) {
        if (drep_type_kind(type) == DREP_KIND_BOOLEAN) {
            t = w->j->netcdf ? H5Tcopy(base) : boolean_over(w->j, base);
            n = 0;
        } else {
            t = H5Tenum_create(base);
        }
        shift = H5Tget_offset(base);
        for (i = 0; t > 0 && i < n; i++) {
            put_value(value, size, H5Tget_order(base),
                      (uint64_t)drep_type_enum_value(type, i)
                          << (shift > 0 && shift < 64 ? shift : 0),
                      H5Tget_sign(base) == H5T_SGN_2);
            if (H5Tenum_insert(t, drep_type_enum_name(type, i), value) < 0) {
                job_fail_hdf5(w->j, drep_type_enum_name(type, i));
                H5Tclose(t);
                t = 0;
            }
        }
    } else if (base > 0) {
        fail_type(w->j, "an enum over something not an integer");
    }
    if (base > 0)
        H5Tclose(base);
    return t;
}

static hid_t to_array(struct to *w, const drep_type *type)
{
    int rank = drep_type_array_rank(type);
    const int64_t *ours = drep_type_array_dims(type);
    int64_t one;
    hsize_t dims[H5S_MAX_RANK];
    hid_t base, t;
    int i;

    if (drep_type_kind(type) == DREP_KIND_CONTIGUOUS) {
        one = drep_type_arg(type, 0);
        ours = &one;
        rank = 1;
    }
    for (i = 0; i < rank; i++) {
        if (ours[i] == 0)
            return fail_type(w->j, "HDF5 has no array of no elements");
        dims[i] = (hsize_t)ours[i];
    }
    base = to_part(w, drep_type_member(type, 0), 0);
    if (base <= 0)
        return 0;
    t = H5Tarray_create2(base, (unsigned)rank, dims);
    H5Tclose(base);
    return t;
}

static hid_t to_sequence(struct to *w, const drep_type *type)
{
    hid_t base = to_part(w, drep_type_member(type, 0), 0), t;

    if (base <= 0)
        return 0;
    t = H5Tvlen_create(base);
    H5Tclose(base);
    return t;
}

/* A compound of HDF5 being made. */
struct compound_members {
    size_t n, size;
    hid_t *type;
    size_t *offset;
};

/* The offsets that notes give, where they make sense; else one behind the other. */
static void place_members(struct to *w, struct compound_members *ms)
{
    const char *own = note_word(w, "size");
    size_t i, at = 0, len = strlen(w->place);
    size_t size = own ? (size_t)strtoull(own, NULL, 10) : 0;
    int sense = 1;

    for (i = 0; i < ms->n; i++) {
        const char *offset;

        snprintf(w->place + len, sizeof w->place - len, ".%zu", i);
        offset = note_word(w, "offset");
        w->place[len] = 0;
        at = offset ? (size_t)strtoull(offset, NULL, 10) : at;
        ms->offset[i] = at;
        at += H5Tget_size(ms->type[i]);
        sense &= at <= UINT32_MAX;
        ms->size = at > ms->size ? at : ms->size;
    }
    ms->size = size > ms->size && size <= UINT32_MAX ? size : ms->size;
    if (sense)
        return;
    for (ms->size = i = 0; i < ms->n; ms->size += H5Tget_size(ms->type[i++]))
        ms->offset[i] = ms->size;
}

/* Members without names get numpy's: f0, f1, ... */
static hid_t join_members(struct job *j, const drep_type *type, const struct compound_members *ms)
{
    hid_t t = H5Tcreate(H5T_COMPOUND, ms->size);
    char number[24];
    size_t i;

    for (i = 0; t > 0 && i < ms->n; i++) {
        const char *name = drep_type_member_name(type, (int64_t)i);

        snprintf(number, sizeof number, "f%zu", i);
        if (H5Tinsert(t, name && *name ? name : number, ms->offset[i], ms->type[i]) < 0) {
            job_fail_hdf5(j, name && *name ? name : number);
            H5Tclose(t);
            t = 0;
        }
    }
    return t;
}

static hid_t to_compound(struct to *w, const drep_type *type)
{
    struct compound_members ms = {.n = (size_t)drep_type_members(type)};
    size_t i, made = 0;
    hid_t t = 0;

    if (ms.n == 0)
        return fail_type(w->j, "a compound without members");
    ms.type = calloc(ms.n, sizeof *ms.type);
    ms.offset = calloc(ms.n, sizeof *ms.offset);
    if (!ms.type || !ms.offset)
        job_no_memory(w->j);
    for (i = 0; ms.type && ms.offset && i < ms.n; i++, made++) {
        if (drep_type_member_blocklen(type, (int64_t)i) != 1)
            fail_type(w->j, "a struct with blocks");
        else
            ms.type[i] = to_part(w, drep_type_member(type, (int64_t)i), i);
        if (ms.type[i] <= 0)
            break;
    }
    if (made == ms.n) {
        place_members(w, &ms);
        t = join_members(w->j, type, &ms);
    }
    for (i = 0; i < made; i++)
        H5Tclose(ms.type[i]);
    free(ms.type);
    free(ms.offset);
    return t;
}

/* The datatype that a note or an opaque's tag describes in full, if it has the right size. */
static hid_t to_described(const struct to *w, const drep_type *type)
{
    int kind = drep_type_kind(type);
    int number =
        kind == DREP_KIND_PREDEFINED || kind == DREP_KIND_SCALAR || kind == DREP_KIND_OPAQUE;
    const char *is = number && !w->j->netcdf ? note_word(w, "is") : NULL;
    hid_t t = is ? number_type_from_text(is) : 0;

    if (!is && kind == DREP_KIND_OPAQUE && !w->j->netcdf)
        t = number_type_from_tag(drep_type_opaque_tag(type), (size_t)drep_type_size(type));

    if (t > 0 && kind != DREP_KIND_PREDEFINED && (int64_t)H5Tget_size(t) != drep_type_size(type)) {
        H5Tclose(t);
        return 0;
    }
    return t;
}

static int is_named_real(const drep_scalar *s)
{
    return s->cls == DREP_SCALAR_REAL && s->format != DREP_FORMAT_CUSTOM;
}

static hid_t to_hdf5(struct to *w, const drep_type *type)
{
    hid_t t = to_described(w, type);
    size_t size = (size_t)drep_type_size(type);

    if (t > 0)
        return t;
    switch (drep_type_kind(type)) {
    case DREP_KIND_PREDEFINED:
        return to_predefined(w, type);
    case DREP_KIND_SCALAR:
        return w->j->netcdf && is_named_real(drep_type_scalar_desc(type))
                   ? real_for(netcdf_format(drep_type_scalar_desc(type)->format), size,
                              drep_type_scalar_desc(type)->order)
               : scalar_beyond(drep_type_scalar_desc(type))
                   ? fail_type(w->j,
                               "reals of base 16 beyond binary128 have no counterpart in HDF5")
                   : scalar_for(drep_type_scalar_desc(type));
    case DREP_KIND_STRING:
        /* netCDF reads the first bytes of each where a variable has such elements. */
        return w->j->netcdf && !w->j->in_attribute && w->depth == 0 && size > 1
                   ? string_for(w, H5T_VARIABLE, DREP_PAD_NULTERM)
                   : string_for(w, size, drep_type_string_pad(type));
    case DREP_KIND_VSTRING:
        return string_for(w, H5T_VARIABLE, DREP_PAD_NULTERM);
    case DREP_KIND_OPAQUE:
        return to_opaque(w, type);
    case DREP_KIND_ENUM:
    case DREP_KIND_BOOLEAN:
        return to_enum(w, type);
    case DREP_KIND_ARRAY:
    case DREP_KIND_CONTIGUOUS:
        return to_array(w, type);
    case DREP_KIND_COMPOUND:
    case DREP_KIND_STRUCT:
        return to_compound(w, type);
    case DREP_KIND_SEQUENCE:
        return to_sequence(w, type);
    case DREP_KIND_REFERENCE:
        return H5Tcopy(drep_type_reference_what(type) == DREP_REF_OBJECT ? H5T_STD_REF_OBJ
                                                                         : H5T_STD_REF_DSETREG);
    default:
        return fail_type(w->j, "a derived datatype with displacements");
    }
}

/* Some datatypes HDF5 takes, and then cannot close the file for them. */
static int can_be_stored(hid_t t)
{
    size_t size = 0;
    void *bytes = NULL;
    int ok = H5Tencode(t, NULL, &size) >= 0;

    if (ok)
        bytes = malloc(size + 1);
    ok = ok && bytes && H5Tencode(t, bytes, &size) >= 0;
    free(bytes);
    return ok;
}

hid_t type_out_make(struct job *j, const drep_type *type, const struct notes *notes, int named)
{
    struct to w = {.j = j, .notes = notes, .named = named};
    hid_t t;

    *j->why = 0;
    t = to_hdf5(&w, type);
    if (t > 0 && can_be_stored(t))
        return t;
    if (!*j->why)
        job_fail_hdf5(j, "datatype");
    if (t > 0)
        H5Tclose(t);
    return 0;
}
