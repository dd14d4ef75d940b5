/* type_in.c - what HDF5's datatypes are to us.
 *
 * A number is known by its fields (order, precision, position and width of sign, exponent
 * and significand, bias, implied bit), never by its size.  Integers become the
 * fixed-width types, reals with a name those of that name; every other number keeps its
 * bytes and becomes a scalar.  In memory all numbers stay as HDF5's file has them. */
/* SPDX-License-Identifier: MIT */
#include "tools/h5/type_in.h"
#include "tools/h5/encoding.h"
#include "tools/h5/job.h"
#include "tools/h5/map.h"
#include "tools/h5/note.h"
#include "tools/h5/number.h"
#include <datarep.h>
#include <float.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define DEPTH_MAX 64

/* -------------------------------------------------------------------- the map */

/* A walk through an HDF5 datatype. */
struct from {
    struct job *j;
    int orders;
    struct notes *notes;
    char place[12 * DEPTH_MAX + 2]; /* of the datatype in hand: "", ".3", ".3.0" */
    int depth;
};

static int from_hdf5(struct from *f, hid_t t, const drep_type *as, struct map *m);

static int add_type_note(struct from *f, const char *text)
{
    return f->notes ? notes_add(f->j, f->notes, "%s %s", *f->place ? f->place : ".", text) : 0;
}

/* One level down, into part i. */
static int from_part(struct from *f, hid_t t, size_t i, const drep_type *as, struct map *m)
{
    size_t len = strlen(f->place);
    int err;

    if (f->depth >= DEPTH_MAX)
        return job_fail(f->j, DREP_ERR_LIMIT, "a datatype deeper than %d", DEPTH_MAX);
    snprintf(f->place + len, sizeof f->place - len, ".%zu", i);
    f->depth++;
    err = from_hdf5(f, t, as, m);
    f->depth--;
    f->place[len] = 0;
    return err;
}

/* Room for the parts of a compound, or the one of an array or sequence. */
static int map_parts(struct job *j, struct map *m, int kind, size_t n)
{
    size_t parts = kind == MAP_COMPOUND ? n : 1;

    m->kind = kind;
    m->n = n;
    m->parts = calloc(parts, sizeof *m->parts);
    m->hoffset = calloc(parts, sizeof *m->hoffset);
    m->doffset = calloc(parts, sizeof *m->doffset);
    if (!m->parts || !m->hoffset || !m->doffset)
        return job_no_memory(j);
    m->nparts = parts;
    return 0;
}

/* A sequence is the same in both memories where their structs are. */
static int sequence_is_flat(const struct map *part)
{
    return part->kind == MAP_FLAT && sizeof(hvl_t) == sizeof(drep_vlen) &&
           offsetof(hvl_t, len) == offsetof(drep_vlen, count) &&
           offsetof(hvl_t, p) == offsetof(drep_vlen, data) &&
           sizeof((hvl_t *)0)->len == sizeof((drep_vlen *)0)->count;
}

/* ------------------------------------------------------------------- numbers */

/* The fields that every class has; DREP_ERR_UNSUPPORTED if no scalar of ours has them. */
static int describe(struct job *j, hid_t t, drep_scalar *s)
{
    size_t size = H5Tget_size(t);
    H5T_order_t order = H5Tget_order(t);
    H5T_pad_t low = H5T_PAD_ZERO, high = H5T_PAD_ZERO;

    if (size > (H5Tget_class(t) == H5T_FLOAT ? 32 : 16))
        return job_fail(j, DREP_ERR_UNSUPPORTED, "a number of %zu bytes", size);
    if (order != H5T_ORDER_LE && order != H5T_ORDER_BE && order != H5T_ORDER_VAX)
        return job_fail(j, DREP_ERR_UNSUPPORTED, "a number of mixed byte order");
    H5Tget_pad(t, &low, &high);
    s->size = (uint8_t)size;
    s->order = order == H5T_ORDER_LE ? DREP_LITTLE : order == H5T_ORDER_BE ? DREP_BIG : DREP_VAX;
    s->precision = (uint16_t)H5Tget_precision(t);
    s->offset = (uint16_t)H5Tget_offset(t);
    s->low_pad = (uint8_t)low;
    s->high_pad = (uint8_t)high;
    return 0;
}

/* A number without a counterpart: its bytes, under a tag with all that HDF5 says of it. */
static int from_strange(struct from *f, hid_t t, struct map *m)
{
    char tag[NUMBER_TAG_SIZE], text[300] = "is=";
    int err;

    number_type_to_tag(t, tag);
    err = drep_type_opaque((int64_t)H5Tget_size(t), tag, &m->type);
    m->held = drep_type_ref(m->type);
    m->mem = H5Tcopy(t);
    if (err || H5Tget_precision(t) > 0)
        return err ? job_fail_drep(f->j, err) : 0;
    /* No tag can restore such a number: add a note. */
    number_type_to_text(t, text + 3, sizeof text - 3);
    return add_type_note(f, text);
}

/* Bytes that mean the same under every representation. */
static int from_scalar(struct from *f, hid_t t, const drep_scalar *s, struct map *m)
{
    int err = drep_type_scalar(s, &m->type);

    if (err == DREP_ERR_NOMEM)
        return job_fail_drep(f->j, err);
    if (err)
        return from_strange(f, t, m);
    m->held = drep_type_ref(m->type);
    m->mem = H5Tcopy(t);
    return 0;
}

/* True if the export would give another order than `order`. */
static int note_order(struct from *f, int code, H5T_order_t order, size_t size)
{
    int named = f->orders == ORDER_NAMED;
    H5T_order_t stored;

    if (f->orders == ORDER_SILENT || size == 1)
        return 0;
    stored = order_to_hdf5(encoding_of(f->j, code, named).order);
    /* The header of a declared representation may say nothing of an attribute's datatype. */
    if (order == stored && (named || !f->j->encodings->declared))
        return 0;
    return add_type_note(f, order == H5T_ORDER_BE   ? "order=big"
                            : order == H5T_ORDER_LE ? "order=little"
                                                    : "order=vax");
}

/* A predefined datatype, in memory as HDF5 has it. */
static int from_predefined(struct from *f, hid_t t, int code, drep_scalar *s, struct map *m)
{
    int err = 0;

    m->type = drep_type_ref(drep_predefined(code));
    m->mem = H5Tcopy(t);
    s->format = s->cls == DREP_SCALAR_REAL ? s->format
                : s->is_signed             ? DREP_FORMAT_INT
                                           : DREP_FORMAT_UINT;
    if ((s->size == 1 || order_to_hdf5(s->order) == order_native()) &&
        (int64_t)s->size == drep_type_extent(m->type) && s->format != DREP_FORMAT_X87)
        m->held = drep_type_ref(m->type);
    else
        err = drep_type_scalar(s, &m->held);
    return err ? job_fail_drep(f->j, err) : note_order(f, code, order_to_hdf5(s->order), s->size);
}

static int from_integer(struct from *f, hid_t t, struct map *m)
{
    static const uint8_t codes[17][2] = {
        [1] = {DREP_CODE_UINT8_T, DREP_CODE_INT8_T},
        [2] = {DREP_CODE_UINT16_T, DREP_CODE_INT16_T},
        [4] = {DREP_CODE_UINT32_T, DREP_CODE_INT32_T},
        [8] = {DREP_CODE_UINT64_T, DREP_CODE_INT64_T},
        [16] = {DREP_CODE_UINT128_T, DREP_CODE_INT128_T},
    };
    drep_scalar s = {.cls = DREP_SCALAR_INT, .format = DREP_FORMAT_CUSTOM};

    if (describe(f->j, t, &s))
        return from_strange(f, t, m);
    s.is_signed = H5Tget_sign(t) == H5T_SGN_2;
    if (s.size > 16 || !codes[s.size][0] || s.offset || s.precision != 8 * s.size || s.low_pad ||
        s.high_pad || s.order == DREP_VAX)
        return from_scalar(f, t, &s, m);
    return from_predefined(f, t, codes[s.size][s.is_signed], &s, m);
}

static int from_bitfield(struct from *f, hid_t t, struct map *m)
{
    drep_scalar s = {.cls = DREP_SCALAR_BITS, .format = DREP_FORMAT_CUSTOM};

    return describe(f->j, t, &s) ? from_strange(f, t, m) : from_scalar(f, t, &s, m);
}

/* HDF5 of ppc64 and ppc64el finds of its pairs of doubles only the first: 64 bits in 16
 * bytes.  No machine has another reason to write such a thing. */
static int is_double_double(const drep_scalar *s)
{
    int at = s->order == DREP_BIG ? 64 : 0;

    return s->size == 16 && s->order != DREP_VAX && s->precision == 64 && s->offset == at &&
           s->sign_pos == at + 63 && s->exp_pos == at + 52 && s->exp_width == 11 &&
           s->mant_pos == at && s->mant_width == 52 && s->exp_bias == 1023;
}

static int from_double_double(struct from *f, hid_t t, drep_scalar *s, struct map *m)
{
    drep_scalar pair = {.cls = DREP_SCALAR_REAL,
                        .order = s->order,
                        .size = 16,
                        .is_signed = 1,
                        .format = DREP_FORMAT_DOUBLE_DOUBLE};
    char text[300] = "is=";
    int err = drep_type_scalar(&pair, &m->type);

    m->held = drep_type_ref(m->type);
    m->mem = H5Tcopy(t);
    number_type_to_text(t, text + 3, sizeof text - 3);
    return err ? job_fail_drep(f->j, err) : add_type_note(f, text);
}

static int real_fields(struct job *j, hid_t t, drep_scalar *s)
{
    size_t sign, exp_pos, exp_width, mant_pos, mant_width;
    H5T_norm_t norm = H5Tget_norm(t);

    if (H5Tget_fields(t, &sign, &exp_pos, &exp_width, &mant_pos, &mant_width) < 0)
        return job_fail_hdf5(j, "datatype");
    s->sign_pos = (uint16_t)sign;
    s->exp_pos = (uint16_t)exp_pos;
    s->exp_width = (uint16_t)exp_width;
    s->mant_pos = (uint16_t)mant_pos;
    s->mant_width = (uint16_t)mant_width;
    s->exp_bias = (int64_t)H5Tget_ebias(t);
    s->norm = norm == H5T_NORM_IMPLIED  ? DREP_NORM_IMPLIED
              : norm == H5T_NORM_MSBSET ? DREP_NORM_MSBSET
                                        : DREP_NORM_NONE;
    return 0;
}

/* Bits between the fields of a real have no place in a scalar. */
static int note_padding(struct from *f, hid_t t, const drep_scalar *s, const drep_format_info *r)
{
    char text[300] = "is=";

    if (H5Tget_inpad(t) == H5T_PAD_ZERO && !(r && (s->low_pad || s->high_pad)) &&
        !(r && r->format == DREP_FORMAT_X87 && s->size != 16))
        return 0;
    number_type_to_text(t, text + 3, sizeof text - 3);
    return add_type_note(f, text);
}

static int from_real(struct from *f, hid_t t, struct map *m)
{
    drep_scalar s = {
        .cls = DREP_SCALAR_REAL, .is_signed = 1, .format = DREP_FORMAT_CUSTOM, .exp_base_log2 = 1};
    const drep_format_info *r;
    int code;
    int err;

    if (describe(f->j, t, &s))
        return from_strange(f, t, m);
    err = real_fields(f->j, t, &s);
    if (err)
        return err;
    if (is_double_double(&s))
        return from_double_double(f, t, &s, m);
    r = real_of_fields(&s);
    if (r)
        s.format = (uint8_t)r->format;
    code = !r ? 0 : r->format == DREP_FORMAT_X87 ? DREP_CODE_LONG_DOUBLE : r->type;
    err = code ? from_predefined(f, t, code, &s, m) : from_scalar(f, t, &s, m);
    return err ? err : note_padding(f, t, &s, r);
}

/* ------------------------------------------------------------ texts and bytes */

static int note_text(struct from *f, hid_t t, int variable)
{
    H5T_cset_t cset = H5Tget_cset(t);
    H5T_str_t pad = H5Tget_strpad(t);
    int err = 0;

    if ((int)cset != f->j->usual.cset)
        err = add_type_note(f, cset == H5T_CSET_ASCII ? "cset=ascii" : "cset=utf8");
    if (!err && variable && pad != H5T_STR_NULLTERM)
        err = add_type_note(f, pad == H5T_STR_SPACEPAD ? "pad=space" : "pad=null");
    return err;
}

static int from_string(struct from *f, hid_t t, struct map *m)
{
    H5T_str_t pad = H5Tget_strpad(t);
    int err;

    m->mem = H5Tcopy(t);
    m->variable = m->strings = H5Tis_variable_str(t) > 0;
    err = m->variable ? drep_type_vstring(&m->type)
                      : drep_type_string((int64_t)H5Tget_size(t),
                                         pad == H5T_STR_SPACEPAD  ? DREP_PAD_SPACE
                                         : pad == H5T_STR_NULLPAD ? DREP_PAD_NUL
                                                                  : DREP_PAD_NULTERM,
                                         &m->type);
    m->held = drep_type_ref(m->type);
    return err ? job_fail_drep(f->j, err) : note_text(f, t, m->variable);
}

static int from_opaque(struct from *f, hid_t t, struct map *m)
{
    char *tag = H5Tget_tag(t);
    int err = drep_type_opaque((int64_t)H5Tget_size(t), tag && *tag ? tag : NULL, &m->type);
    hid_t number = err ? 0 : number_type_from_tag(tag, H5Tget_size(t));

    H5free_memory(tag);
    m->held = drep_type_ref(m->type);
    m->mem = H5Tcopy(t);
    if (number > 0)
        H5Tclose(number);
    /* An opaque of HDF5's own whose tag is one of ours stays an opaque. */
    return err ? job_fail_drep(f->j, err) : number > 0 ? add_type_note(f, "is=opaque") : 0;
}

static int from_reference(struct from *f, hid_t t, struct map *m)
{
    int err;

    m->kind = H5Tequal(t, H5T_STD_REF_OBJ) > 0 ? MAP_OBJECT : MAP_REGION;
    if (m->kind == MAP_REGION && H5Tequal(t, H5T_STD_REF_DSETREG) <= 0)
        return job_fail(f->j, DREP_ERR_UNSUPPORTED, "a reference of unknown kind");
    m->variable = m->kind == MAP_REGION;
    m->mem = H5Tcopy(t);
    err = drep_type_reference(m->kind == MAP_OBJECT ? DREP_REF_OBJECT : DREP_REF_REGION, &m->type);
    m->held = drep_type_ref(m->type);
    return err ? job_fail_drep(f->j, err) : 0;
}

/* ----------------------------------------------------------------- composites */

struct enum_names {
    char **name;
    int64_t *value;
    size_t n;
};

static void names_release(struct enum_names *e)
{
    size_t i;

    for (i = 0; i < e->n; i++)
        H5free_memory(e->name[i]);
    free(e->name);
    free(e->value);
}

static int names_init(struct job *j, struct enum_names *e, size_t n)
{
    e->n = 0;
    e->name = calloc(n ? n : 1, sizeof *e->name);
    e->value = calloc(n ? n : 1, sizeof *e->value);
    return e->name && e->value ? 0 : job_no_memory(j);
}

/* A name's value as 64 bits, by HDF5, which clips it where it does not fit. */
static int widen_value(struct job *j, hid_t base, hid_t wide, const char *name, uint8_t value[64])
{
    uint8_t again[64], first[64];
    int err = 0;

    memcpy(first, value, sizeof first);
    if (H5Tconvert(base, wide, 1, value, NULL, H5P_DEFAULT) < 0)
        return job_fail_hdf5(j, "enum");
    memcpy(again, value, sizeof again);
    if (H5Tget_precision(base) > 64 && (H5Tconvert(wide, base, 1, again, NULL, H5P_DEFAULT) < 0 ||
                                        memcmp(again, first, H5Tget_size(base)) != 0))
        err = job_fail(j, DREP_ERR_UNSUPPORTED, "the value of \"%s\" in an enum is beyond 64 bits",
                       name);
    return err;
}

/* The members of an enum, their values widened through HDF5. */
static int read_enum(struct job *j, hid_t t, hid_t base, struct enum_names *e)
{
    int n = H5Tget_nmembers(t);
    hid_t wide = H5Tget_sign(base) == H5T_SGN_2 ? H5T_NATIVE_INT64 : H5T_NATIVE_UINT64;
    uint8_t value[64];
    int i;
    int err = names_init(j, e, n > 0 ? (size_t)n : 0);

    if (!err && H5Tget_size(base) > sizeof value / 4)
        err = job_fail(j, DREP_ERR_UNSUPPORTED, "an enum of %zu bytes", H5Tget_size(base));
    for (i = 0; !err && i < n; i++) {
        e->name[i] = H5Tget_member_name(t, (unsigned)i);
        e->n = (size_t)i + 1;
        if (!e->name[i] || H5Tget_member_value(t, (unsigned)i, value) < 0)
            err = job_fail_hdf5(j, "enum");
        if (!err)
            err = widen_value(j, base, wide, e->name[i], value);
        memcpy(&e->value[i], value, sizeof e->value[i]);
    }
    return err;
}

/* h5py has no other boolean. */
static int is_boolean(const struct enum_names *e)
{
    return e->n == 2 && !strcmp(e->name[0], "FALSE") && e->value[0] == 0 &&
           !strcmp(e->name[1], "TRUE") && e->value[1] == 1;
}

/* HDF5 converts enums by name and loses values without one; their bytes move alone. */
static int from_enum(struct from *f, hid_t t, struct map *m)
{
    struct map base = {0};
    struct enum_names e = {0};
    hid_t super = H5Tget_super(t);
    int err = from_hdf5(f, super, NULL, &base);

    if (!err)
        err = read_enum(f->j, t, super, &e);
    if (!err) {
        err = is_boolean(&e) && drep_type_code(base.type)
                  ? drep_type_boolean(base.type, &m->type)
                  : drep_type_enum(base.type, (int64_t)e.n, (const char *const *)e.name, e.value,
                                   &m->type);
        if (err)
            job_fail_drep(f->j, err);
    }
    m->mem = H5Tcopy(t);
    m->held = drep_type_ref(base.held);
    names_release(&e);
    map_release(&base);
    H5Tclose(super);
    return err;
}

static int from_array(struct from *f, hid_t t, const drep_type *as, struct map *m)
{
    hsize_t dims[H5S_MAX_RANK];
    int64_t ours[H5S_MAX_RANK];
    hid_t super = H5Tget_super(t);
    int rank = H5Tget_array_dims2(t, dims);
    size_t n = 1;
    int i, err;

    for (i = 0; i < rank; i++) {
        ours[i] = (int64_t)dims[i];
        n *= (size_t)dims[i];
    }
    err = map_parts(f->j, m, MAP_ARRAY, n);
    if (!err)
        err = from_part(f, super, 0, as ? drep_type_member(as, 0) : NULL, m->parts);
    H5Tclose(super);
    if (err)
        return err;
    m->mem = H5Tarray_create2(m->parts->mem, (unsigned)rank, dims);
    m->variable = m->parts->variable;
    m->strings = m->parts->strings;
    err = drep_type_array(rank, ours, m->parts->type, &m->type);
    if (!err)
        err = drep_type_array(rank, ours, m->parts->held, &m->held);
    if (m->parts->kind == MAP_FLAT)
        m->kind = MAP_FLAT;
    return err ? job_fail_drep(f->j, err) : 0;
}

static int from_sequence(struct from *f, hid_t t, const drep_type *as, struct map *m)
{
    hid_t super = H5Tget_super(t);
    int err = map_parts(f->j, m, MAP_SEQUENCE, 1);

    if (!err)
        err = from_part(f, super, 0, as ? drep_type_member(as, 0) : NULL, m->parts);
    H5Tclose(super);
    if (err)
        return err;
    m->mem = H5Tvlen_create(m->parts->mem);
    m->variable = 1;
    m->strings = m->parts->strings;
    err = drep_type_sequence(m->parts->type, &m->type);
    if (!err)
        err = drep_type_sequence(m->parts->held, &m->held);
    if (sequence_is_flat(m->parts))
        m->kind = MAP_FLAT;
    return err ? job_fail_drep(f->j, err) : 0;
}

/* True if all members are the same bytes in HDF5's file and memory. */
static int members_are_flat(const struct map *m)
{
    size_t i;

    for (i = 0; i < m->nparts; i++)
        if (m->parts[i].variable || m->parts[i].kind != MAP_FLAT)
            return 0;
    return 1;
}

/* A compound in memory: as it lies in HDF5's file if it is plain; else as our compiler
 * lays out what is held, and HDF5's with it where they are the same bytes. */
static int lay_out(struct from *f, hid_t t, char *const *name, struct map *m)
{
    const drep_type **held = calloc(m->n, sizeof *held);
    int64_t *displs = calloc(m->n, sizeof *displs);
    int plain = members_are_flat(m), flat = 1;
    size_t i, size = 0;
    int err = held && displs ? 0 : job_no_memory(f->j);

    for (i = 0; !err && i < m->n; i++) {
        held[i] = m->parts[i].held;
        flat &= m->parts[i].kind == MAP_FLAT;
        m->variable |= m->parts[i].variable;
        m->strings |= m->parts[i].strings;
        m->hoffset[i] = plain ? H5Tget_member_offset(t, (unsigned)i) : size;
        displs[i] = (int64_t)m->hoffset[i];
        size += m->parts[i].hsize;
    }
    if (!err) {
        err = drep_type_compound((int64_t)m->n, (const char *const *)name, plain ? displs : NULL,
                                 held, plain ? (int64_t)H5Tget_size(t) : 0, &m->held);
        if (err)
            job_fail_drep(f->j, err);
    }
    for (i = 0; !err && i < m->n; i++) {
        m->doffset[i] = (size_t)drep_type_member_offset(m->held, (int64_t)i);
        m->hoffset[i] = flat ? m->doffset[i] : m->hoffset[i];
    }
    free(held);
    free(displs);
    if (err)
        return err;
    m->kind = flat ? MAP_FLAT : MAP_COMPOUND;
    m->mem = plain ? H5Tcopy(t)
                   : H5Tcreate(H5T_COMPOUND, flat ? (size_t)drep_type_extent(m->held) : size);
    for (i = 0; !plain && i < m->n; i++)
        if (H5Tinsert(m->mem, name[i], m->hoffset[i], m->parts[i].mem) < 0)
            return job_fail_hdf5(f->j, name[i]);
    return 0;
}

/* HDF5's own place of each member, where that is not behind the one before. */
static int note_offsets(struct from *f, hid_t t, int n)
{
    size_t packed = 0, at, len = strlen(f->place);
    char text[40];
    int i, err = 0;

    for (i = 0; !err && i < n; i++) {
        hid_t member = H5Tget_member_type(t, (unsigned)i);

        at = H5Tget_member_offset(t, (unsigned)i);
        if (at != packed) {
            snprintf(f->place + len, sizeof f->place - len, ".%d", i);
            snprintf(text, sizeof text, "offset=%zu", at);
            err = add_type_note(f, text);
            f->place[len] = 0;
        }
        packed = at + H5Tget_size(member);
        H5Tclose(member);
    }
    if (err || packed == H5Tget_size(t))
        return err;
    snprintf(text, sizeof text, "size=%zu", H5Tget_size(t));
    return add_type_note(f, text);
}

static int from_members(struct from *f, hid_t t, const drep_type *as, struct enum_names *e,
                        const drep_type **types, struct map *m)
{
    size_t i;
    int err = 0;

    for (i = 0; !err && i < m->n; i++) {
        hid_t member = H5Tget_member_type(t, (unsigned)i);

        e->name[i] = H5Tget_member_name(t, (unsigned)i);
        e->n = i + 1;
        err = e->name[i] ? from_part(f, member, i, as ? drep_type_member(as, (int64_t)i) : NULL,
                                     &m->parts[i])
                         : job_fail_hdf5(f->j, "compound");
        H5Tclose(member);
        types[i] = m->parts[i].type;
    }
    return err;
}

/* Make the container's compound.  Members of a plain one keep the offsets that they have in HDF5's
 * file, unless they are larger in memory and do not fit. */
static int own_compound(struct from *f, hid_t t, char *const *name, const drep_type *const *types,
                        struct map *m)
{
    const char *const *names = (const char *const *)name;
    int64_t *displs = calloc(m->n, sizeof *displs), n = (int64_t)m->n;
    int err;
    size_t i;

    if (!displs)
        return job_no_memory(f->j);
    for (i = 0; i < m->n; i++)
        displs[i] = (int64_t)H5Tget_member_offset(t, (unsigned)i);
    err = members_are_flat(m)
              ? drep_type_compound(n, names, displs, types, (int64_t)H5Tget_size(t), &m->type)
              : DREP_ERR_ARG;
    if (err == DREP_ERR_ARG)
        err = drep_type_compound(n, names, NULL, types, 0, &m->type);
    free(displs);
    return err ? job_fail_drep(f->j, err) : 0;
}

static int from_compound(struct from *f, hid_t t, const drep_type *as, struct map *m)
{
    int n = H5Tget_nmembers(t);
    const drep_type **types = calloc(n > 0 ? (size_t)n : 1, sizeof *types);
    struct enum_names e = {0};
    int err = n > 0 ? names_init(f->j, &e, (size_t)n)
                    : job_fail(f->j, DREP_ERR_UNSUPPORTED, "a compound without members");

    if (!err)
        err = types ? map_parts(f->j, m, MAP_COMPOUND, (size_t)n) : job_no_memory(f->j);
    if (!err)
        err = note_offsets(f, t, n);
    if (!err)
        err = from_members(f, t, as, &e, types, m);
    if (!err)
        err = own_compound(f, t, e.name, types, m);
    if (!err)
        err = lay_out(f, t, e.name, m);
    names_release(&e);
    free(types);
    return err;
}

/* ------------------------------------ predefined datatypes that are no scalars */

/* The complex datatype whose halves lie in this machine's memory in a format; 0: none. */
static int complex_of(const drep_format_info *r, size_t size)
{
    if (!r)
        return 0;
    if (r->format == DREP_FORMAT_X87)
        return LDBL_MANT_DIG == 64 && size == sizeof(long double) ? DREP_CODE_C_LONG_DOUBLE_COMPLEX
                                                                  : 0;
    return r->complex && drep_type_size(drep_predefined(r->complex)) == 2 * r->size ? r->complex
                                                                                    : 0;
}

/* Two reals one behind the other, one data item to us: in this machine's order for our
 * library, in that of its file for HDF5. */
static int as_complex(struct from *f, hid_t t, struct map *m)
{
    drep_scalar s = {0};
    hid_t half = H5Tget_class(t) == H5T_COMPOUND ? H5Tget_member_type(t, 0) : -1;
    int code = 0;

    if (half > 0 && H5Tget_class(half) == H5T_FLOAT && describe(f->j, half, &s) == 0 &&
        real_fields(f->j, half, &s) == 0 && !s.low_pad && !s.high_pad)
        code = complex_of(real_of_fields(&s), s.size);
    if (half > 0)
        H5Tclose(half);
    if (!code)
        return DREP_ERR_UNSUPPORTED;
    m->held = drep_type_ref(drep_predefined(code));
    m->mem = H5Tcopy(t);
    m->kind = order_to_hdf5(s.order) == order_native() ? MAP_FLAT : MAP_SWAP;
    return 0;
}

int type_is_complex(hid_t t)
{
    hid_t r, i;
    int same;

    if (H5Tget_class(t) != H5T_COMPOUND || H5Tget_nmembers(t) != 2 ||
        H5Tget_member_index(t, "r") != 0 || H5Tget_member_index(t, "i") != 1)
        return 0;
    r = H5Tget_member_type(t, 0);
    i = H5Tget_member_type(t, 1);
    same = r > 0 && i > 0 && H5Tget_class(r) == H5T_FLOAT && H5Tequal(r, i) > 0 &&
           H5Tget_member_offset(t, 1) == H5Tget_size(r) && H5Tget_size(t) == 2 * H5Tget_size(r) &&
           H5Tget_inpad(r) == H5T_PAD_ZERO;
    H5Tclose(r);
    H5Tclose(i);
    return same;
}

/* h5py's complex number; 0: it is none, or none that we have. */
static int from_complex(struct from *f, hid_t t, struct map *m, int *err)
{
    hid_t half;
    H5T_order_t order;

    if (!type_is_complex(t) || as_complex(f, t, m) != 0)
        return 0;
    half = H5Tget_member_type(t, 0);
    order = H5Tget_order(half);
    H5Tclose(half);
    m->type = drep_type_ref(m->held);
    *err = note_order(f, drep_type_code(m->type), order, H5Tget_size(t));
    return 1;
}

/* A predefined datatype that no value conversion leads to or from; 0: it is none. */
static int from_as(struct from *f, hid_t t, const drep_type *as, struct map *m, int *err)
{
    const char *name = as ? drep_code_name(drep_type_code(as)) : NULL;
    int format = name ? f->j->encodings->standard[drep_type_code(as) & 255] : 0;

    *err = 0;
    if (name && strstr(name, "COMPLEX")) {
        *err = as_complex(f, t, m)
                   ? job_fail(f->j, DREP_ERR_UNSUPPORTED, "HDF5 cannot hold this complex number")
                   : 0;
        return 1;
    }
    if (format != DREP_FORMAT_BYTES && format != DREP_FORMAT_CHAR && format != DREP_FORMAT_UNICODE)
        return 0;
    m->held = drep_type_ref(as);
    m->mem = format == DREP_FORMAT_UNICODE
                 ? number_type_int((size_t)drep_type_extent(as), 0, order_native())
                 : H5Tcopy(t);
    return 1;
}

/* True if the scalar made of HDF5's number is the container's own. */
static int is_own_scalar(const struct map *m, const drep_type *as)
{
    const drep_scalar *a = as ? drep_type_scalar_desc(as) : NULL;
    const drep_scalar *b = a ? drep_type_scalar_desc(m->held) : NULL;

    if (!a || !b || drep_type_kind(as) != DREP_KIND_SCALAR || a->cls != b->cls ||
        a->size != b->size || a->order != b->order)
        return 0;
    if (a->format != DREP_FORMAT_CUSTOM || b->format != DREP_FORMAT_CUSTOM)
        return a->format == b->format;
    return a->precision == b->precision && a->offset == b->offset && a->exp_base_log2 == 1 &&
           (a->cls != DREP_SCALAR_REAL ||
            (a->exp_bias == b->exp_bias && a->exp_width == b->exp_width && a->norm == b->norm));
}

static int from_class(struct from *f, hid_t t, const drep_type *as, struct map *m)
{
    switch (H5Tget_class(t)) {
    case H5T_INTEGER:
        return from_integer(f, t, m);
    case H5T_FLOAT:
        return from_real(f, t, m);
    case H5T_BITFIELD:
        return from_bitfield(f, t, m);
    case H5T_STRING:
        return from_string(f, t, m);
    case H5T_OPAQUE:
        return from_opaque(f, t, m);
    case H5T_REFERENCE:
        return from_reference(f, t, m);
    case H5T_ENUM:
        return from_enum(f, t, m);
    case H5T_ARRAY:
        return from_array(f, t, as, m);
    case H5T_VLEN:
        return from_sequence(f, t, as, m);
    case H5T_COMPOUND:
        return from_compound(f, t, as, m);
    case H5T_TIME:
        return from_strange(f, t, m);
    default:
        return job_fail(f->j, DREP_ERR_UNSUPPORTED, "an unknown class of datatype");
    }
}

static int from_hdf5(struct from *f, hid_t t, const drep_type *as, struct map *m)
{
    int err;

    if (!from_as(f, t, as, m, &err) && (as || !from_complex(f, t, m, &err)))
        err = from_class(f, t, as, m);
    if (!err && is_own_scalar(m, as)) {
        drep_type_free(m->held);
        m->held = drep_type_ref(as);
    }
    if (!err && as) {
        drep_type_free(m->type);
        m->type = drep_type_ref(as);
    }
    if (!err && (m->mem <= 0 || !m->held || !m->type))
        err = job_fail_hdf5(f->j, "datatype");
    if (err)
        return err;
    m->hsize = H5Tget_size(m->mem);
    m->dsize = (size_t)drep_type_extent(m->held);
    return 0;
}

enum { SEEN_BIG = 1, SEEN_OTHER = 2 };

/* Return the byte orders of the numbers in a datatype, as bits; 0 below the depth of a map. */
static int orders_of(hid_t t, int depth)
{
    H5T_class_t cls = H5Tget_class(t);
    int i, n, seen = 0;
    hid_t part;

    if (cls == H5T_INTEGER || cls == H5T_FLOAT)
        return H5Tget_size(t) == 1 ? 0 : H5Tget_order(t) == H5T_ORDER_BE ? SEEN_BIG : SEEN_OTHER;
    if (depth >= DEPTH_MAX ||
        (cls != H5T_COMPOUND && cls != H5T_ENUM && cls != H5T_ARRAY && cls != H5T_VLEN))
        return 0;
    n = cls == H5T_COMPOUND ? H5Tget_nmembers(t) : 1;
    for (i = 0; i < n; i++) {
        part = cls == H5T_COMPOUND ? H5Tget_member_type(t, (unsigned)i) : H5Tget_super(t);
        if (part <= 0)
            continue;
        seen |= orders_of(part, depth + 1);
        H5Tclose(part);
    }
    return seen;
}

int type_is_big(hid_t type)
{
    return orders_of(type, 0) == SEEN_BIG;
}

int map_from_hdf5(struct job *j, hid_t type, const drep_type *as, int orders, struct notes *notes,
                  struct map *out)
{
    struct from f = {.j = j, .orders = orders, .notes = notes};
    struct map m = {0};
    int err = from_hdf5(&f, type, as, &m);

    if (err)
        map_release(&m);
    else
        *out = m;
    return err;
}
