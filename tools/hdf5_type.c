/* hdf5_type.c - how HDF5's datatypes and ours correspond.
 *
 * A real is known by its fields (precision, position and width of sign, exponent and
 * significand, bias, implied bit), never by its size.  What has no predefined datatype
 * keeps its bytes and becomes a scalar.  Integers become the fixed-width types. */
#include <float.h>
#include <stdlib.h>
#include <string.h>

#include "tools/hdf5_parts.h"

#define DEPTH_MAX 64

/* The real formats that HDF5 can describe and that have a name. */
struct real {
    uint8_t format;
    uint8_t code; /* 0: ours is a scalar */
    uint8_t size;
    uint8_t implied;
    uint8_t vax;
    uint16_t precision, sign_pos, exp_pos, exp_width, mant_pos, mant_width;
    uint32_t bias;
};
static const struct real reals[] = {
    {DREP_FORMAT_BINARY16, DREP_CODE_FLOAT16, 2, 1, 0, 16, 15, 10, 5, 0, 10, 15},
    {DREP_FORMAT_BFLOAT16, DREP_CODE_BFLOAT16, 2, 1, 0, 16, 15, 7, 8, 0, 7, 127},
    {DREP_FORMAT_FP8_E4M3, DREP_CODE_FP8_E4M3, 1, 1, 0, 8, 7, 3, 4, 0, 3, 7},
    {DREP_FORMAT_FP8_E5M2, DREP_CODE_FP8_E5M2, 1, 1, 0, 8, 7, 2, 5, 0, 2, 15},
    {DREP_FORMAT_BINARY32, DREP_CODE_FLOAT, 4, 1, 0, 32, 31, 23, 8, 0, 23, 127},
    {DREP_FORMAT_BINARY64, DREP_CODE_DOUBLE, 8, 1, 0, 64, 63, 52, 11, 0, 52, 1023},
    {DREP_FORMAT_BINARY128, DREP_CODE_FLOAT128, 16, 1, 0, 128, 127, 112, 15, 0, 112, 16383},
    {DREP_FORMAT_X87, DREP_CODE_LONG_DOUBLE, 16, 0, 0, 80, 79, 64, 15, 0, 64, 16383},
    {DREP_FORMAT_VAX_F, 0, 4, 1, 1, 32, 31, 23, 8, 0, 23, 129},
    {DREP_FORMAT_VAX_D, 0, 8, 1, 1, 64, 63, 55, 8, 0, 55, 129},
    {DREP_FORMAT_VAX_G, 0, 8, 1, 1, 64, 63, 52, 11, 0, 52, 1025},
    {DREP_FORMAT_VAX_H, 0, 16, 1, 1, 128, 127, 112, 15, 0, 112, 16385},
};
#define NREALS (sizeof reals / sizeof reals[0])

static const struct real *real_of(int format)
{
    size_t i;

    for (i = 0; i < NREALS; i++)
        if (reals[i].format == format)
            return &reals[i];
    return NULL;
}

/* Whether a long double of this machine holds every x87 number. */
static int host_holds_x87(void)
{
    return LDBL_MANT_DIG == 64 || LDBL_MANT_DIG == 113;
}

static H5T_order_t native_order(void)
{
    return H5Tget_order(H5T_NATIVE_INT);
}

static H5T_order_t hdf5_order(int order)
{
    return order == DREP_BIG ? H5T_ORDER_BE : order == DREP_VAX ? H5T_ORDER_VAX : H5T_ORDER_LE;
}

static int is_native(int order)
{
    return hdf5_order(order) == native_order();
}

void map_release(struct map *m)
{
    size_t i;

    for (i = 0; i < m->nparts; i++)
        map_release(&m->parts[i]);
    free(m->parts);
    free(m->hoffset);
    free(m->doffset);
    if (m->file > 0)
        H5Tclose(m->file);
    if (m->mem > 0)
        H5Tclose(m->mem);
    drep_type_free(m->type);
    memset(m, 0, sizeof *m);
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
        return job_fail(j, DREP_ERR_NOMEM, "out of memory");
    m->nparts = parts;
    return 0;
}

/* Checks what was built and completes it; `err` is what building it gave. */
static int map_done(struct job *j, struct map *m, int err)
{
    if (!err && (m->mem <= 0 || !m->type))
        err = job_fail_hdf5(j, "datatype");
    if (err)
        return err;
    m->hsize = H5Tget_size(m->mem);
    m->dsize = (size_t)drep_type_extent(m->type);
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

/* ------------------------------------------------------ HDF5's types, made */

static hid_t make_int(size_t size, int is_signed, H5T_order_t order)
{
    hid_t t = H5Tcopy(is_signed ? H5T_STD_I8LE : H5T_STD_U8LE);

    H5Tset_precision(t, 8 * size);
    H5Tset_size(t, size);
    /* One byte has no order; HDF5's own tools take it for little-endian. */
    if (size > 1)
        H5Tset_order(t, order);
    return t;
}

static hid_t make_real(const drep_scalar *s)
{
    /* Only a copy of one of these is stored with VAX order. */
    hid_t t = H5Tcopy(s->order == DREP_VAX ? H5T_VAX_F64 : H5T_IEEE_F64LE);

    if (s->size > 8) {
        H5Tset_size(t, s->size);
        H5Tset_precision(t, 8 * (size_t)s->size);
    }
    /* Fields first: precision may not be set below them. */
    H5Tset_fields(t, s->sign_pos, s->exp_pos, s->exp_width, s->mant_pos, s->mant_width);
    H5Tset_offset(t, s->offset);
    H5Tset_precision(t, s->precision);
    H5Tset_size(t, s->size);
    H5Tset_ebias(t, (size_t)s->exp_bias);
    H5Tset_norm(t, s->norm == DREP_NORM_IMPLIED  ? H5T_NORM_IMPLIED
                   : s->norm == DREP_NORM_MSBSET ? H5T_NORM_MSBSET
                                                 : H5T_NORM_NONE);
    H5Tset_pad(t, (H5T_pad_t)s->low_pad, (H5T_pad_t)s->high_pad);
    H5Tset_order(t, hdf5_order(s->order));
    return t;
}

static hid_t make_named_real(const struct real *r, size_t size, H5T_order_t order)
{
    drep_scalar s = {.size = (uint8_t)size,
                     .norm = r->implied ? DREP_NORM_IMPLIED : DREP_NORM_NONE,
                     .precision = r->precision,
                     .sign_pos = r->sign_pos,
                     .exp_pos = r->exp_pos,
                     .exp_width = r->exp_width,
                     .mant_pos = r->mant_pos,
                     .mant_width = r->mant_width,
                     .exp_bias = r->bias};
    hid_t t;

    s.order = order == H5T_ORDER_BE ? DREP_BIG : order == H5T_ORDER_VAX ? DREP_VAX : DREP_LITTLE;
    t = make_real(&s);
    return t;
}

static hid_t make_scalar(const drep_scalar *s)
{
    hid_t t;

    if (s->cls == DREP_SCALAR_REAL) {
        const struct real *r = s->format == DREP_FORMAT_CUSTOM ? NULL : real_of(s->format);

        return r ? make_named_real(r, s->size, hdf5_order(s->order)) : make_real(s);
    }
    t = H5Tcopy(s->cls == DREP_SCALAR_BITS ? H5T_STD_B8LE : H5T_STD_I8LE);
    H5Tset_precision(t, s->precision);
    H5Tset_size(t, s->size);
    H5Tset_offset(t, s->offset);
    H5Tset_order(t, hdf5_order(s->order));
    H5Tset_pad(t, (H5T_pad_t)s->low_pad, (H5T_pad_t)s->high_pad);
    if (s->cls == DREP_SCALAR_INT)
        H5Tset_sign(t, s->is_signed ? H5T_SGN_2 : H5T_SGN_NONE);
    return t;
}

static hid_t make_string(size_t size, int pad)
{
    hid_t t = H5Tcopy(H5T_C_S1);

    H5Tset_size(t, size);
    H5Tset_cset(t, H5T_CSET_UTF8);
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

/* --------------------------------------------------------- from HDF5: atoms */

static int from_hdf5(struct job *j, hid_t t, int depth, struct map *m);

/* The part of a description that every class has. */
static int describe(struct job *j, hid_t t, drep_scalar *s)
{
    size_t size = H5Tget_size(t);
    H5T_order_t order = H5Tget_order(t);
    H5T_pad_t low = H5T_PAD_ZERO, high = H5T_PAD_ZERO;

    if (size > 32)
        return job_fail(j, DREP_ERR_UNSUPPORTED, "a number of %zu bytes (at most 32)", size);
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

/* Its bytes as they are, whatever they mean. */
static int from_scalar(struct job *j, hid_t t, const drep_scalar *s, struct map *m)
{
    int err = drep_type_scalar(s, &m->type);

    m->mem = H5Tcopy(t);
    return err ? job_fail_drep(j, err) : 0;
}

static int from_integer(struct job *j, hid_t t, struct map *m)
{
    static const uint8_t codes[9][2] = {
        [1] = {DREP_CODE_UINT8_T, DREP_CODE_INT8_T},
        [2] = {DREP_CODE_UINT16_T, DREP_CODE_INT16_T},
        [4] = {DREP_CODE_UINT32_T, DREP_CODE_INT32_T},
        [8] = {DREP_CODE_UINT64_T, DREP_CODE_INT64_T},
    };
    drep_scalar s = {.cls = DREP_SCALAR_INT, .format = DREP_FORMAT_CUSTOM};
    int err = describe(j, t, &s);

    if (err)
        return err;
    s.is_signed = H5Tget_sign(t) == H5T_SGN_2;
    if (s.size > 8 || !codes[s.size][0] || s.offset || s.precision != 8 * s.size ||
        s.order == DREP_VAX)
        return from_scalar(j, t, &s, m);
    m->type = drep_type_ref(drep_predefined(codes[s.size][s.is_signed]));
    m->mem = H5Tcopy(t);
    H5Tset_order(m->mem, native_order());
    return 0;
}

static int from_bitfield(struct job *j, hid_t t, struct map *m)
{
    drep_scalar s = {.cls = DREP_SCALAR_BITS, .format = DREP_FORMAT_CUSTOM};
    int err = describe(j, t, &s);

    return err ? err : from_scalar(j, t, &s, m);
}

static const struct real *real_named(const drep_scalar *s)
{
    size_t i;

    for (i = 0; i < NREALS; i++) {
        const struct real *r = &reals[i];

        if (s->offset == 0 && s->precision == r->precision && s->sign_pos == r->sign_pos &&
            s->exp_pos == r->exp_pos && s->exp_width == r->exp_width &&
            s->mant_pos == r->mant_pos && s->mant_width == r->mant_width &&
            s->exp_bias == (int64_t)r->bias && (s->norm == DREP_NORM_IMPLIED) == r->implied &&
            (s->order == DREP_VAX) == r->vax &&
            (s->size == r->size || (r->format == DREP_FORMAT_X87 && s->size <= 16)))
            return r;
    }
    return NULL;
}

static int from_real(struct job *j, hid_t t, struct map *m)
{
    drep_scalar s = {
        .cls = DREP_SCALAR_REAL, .is_signed = 1, .format = DREP_FORMAT_CUSTOM, .exp_base_log2 = 1};
    size_t sign, exp_pos, exp_width, mant_pos, mant_width;
    H5T_norm_t norm = H5Tget_norm(t);
    const struct real *r;
    int err = describe(j, t, &s);

    if (!err && H5Tget_fields(t, &sign, &exp_pos, &exp_width, &mant_pos, &mant_width) < 0)
        err = job_fail_hdf5(j, "datatype");
    if (err)
        return err;
    s.sign_pos = (uint16_t)sign;
    s.exp_pos = (uint16_t)exp_pos;
    s.exp_width = (uint16_t)exp_width;
    s.mant_pos = (uint16_t)mant_pos;
    s.mant_width = (uint16_t)mant_width;
    s.exp_bias = (int64_t)H5Tget_ebias(t);
    s.norm = norm == H5T_NORM_IMPLIED  ? DREP_NORM_IMPLIED
             : norm == H5T_NORM_MSBSET ? DREP_NORM_MSBSET
                                       : DREP_NORM_NONE;
    r = real_named(&s);
    if (r)
        s.format = r->format;
    if (!r || !r->code || (r->format == DREP_FORMAT_X87 && !host_holds_x87()))
        return from_scalar(j, t, &s, m);
    m->type = drep_type_ref(drep_predefined(r->code));
    if (r->format == DREP_FORMAT_X87) {
        m->mem = H5Tcopy(H5T_NATIVE_LDOUBLE);
        return 0;
    }
    m->mem = H5Tcopy(t);
    H5Tset_order(m->mem, native_order());
    return 0;
}

static int from_string(struct job *j, hid_t t, struct map *m)
{
    H5T_str_t pad = H5Tget_strpad(t);
    int err;

    /* The same type in memory: HDF5 does not convert between character sets. */
    m->mem = H5Tcopy(t);
    m->ascii = H5Tget_cset(t) == H5T_CSET_ASCII;
    if (H5Tis_variable_str(t) > 0) {
        m->variable = 1;
        err = drep_type_vstring(&m->type);
        return err ? job_fail_drep(j, err) : 0;
    }
    err = drep_type_string((int64_t)H5Tget_size(t),
                           pad == H5T_STR_SPACEPAD  ? DREP_PAD_SPACE
                           : pad == H5T_STR_NULLPAD ? DREP_PAD_NUL
                                                    : DREP_PAD_NULTERM,
                           &m->type);
    return err ? job_fail_drep(j, err) : 0;
}

static int from_opaque(struct job *j, hid_t t, struct map *m)
{
    char *tag = H5Tget_tag(t);
    int err = drep_type_opaque((int64_t)H5Tget_size(t), tag && *tag ? tag : NULL, &m->type);

    H5free_memory(tag);
    m->mem = H5Tcopy(t);
    return err ? job_fail_drep(j, err) : 0;
}

static int from_reference(struct job *j, hid_t t, struct map *m)
{
    int err;

    m->kind = H5Tequal(t, H5T_STD_REF_OBJ) > 0 ? MAP_OBJECT : MAP_REGION;
    if (m->kind == MAP_REGION && H5Tequal(t, H5T_STD_REF_DSETREG) <= 0)
        return job_fail(j, DREP_ERR_UNSUPPORTED, "a reference of unknown kind");
    m->mem = H5Tcopy(t);
    err = drep_type_reference(m->kind == MAP_OBJECT ? DREP_REF_OBJECT : DREP_REF_REGION, &m->type);
    return err ? job_fail_drep(j, err) : 0;
}

/* ---------------------------------------------------- from HDF5: composites */

struct names {
    char **name;
    int64_t *value;
    size_t n;
};

static void names_release(struct names *e)
{
    size_t i;

    for (i = 0; i < e->n; i++)
        H5free_memory(e->name[i]);
    free(e->name);
    free(e->value);
}

static int names_init(struct job *j, struct names *e, size_t n)
{
    e->n = 0;
    e->name = calloc(n ? n : 1, sizeof *e->name);
    e->value = calloc(n ? n : 1, sizeof *e->value);
    return e->name && e->value ? 0 : job_fail(j, DREP_ERR_NOMEM, "out of memory");
}

/* The members of an enum, their values widened through HDF5. */
static int read_enum(struct job *j, hid_t t, hid_t base, struct names *e)
{
    int n = H5Tget_nmembers(t);
    hid_t wide = H5Tget_sign(base) == H5T_SGN_2 ? H5T_NATIVE_INT64 : H5T_NATIVE_UINT64;
    uint8_t value[64];
    int i;
    int err = names_init(j, e, n > 0 ? (size_t)n : 0);

    for (i = 0; !err && i < n; i++) {
        e->name[i] = H5Tget_member_name(t, (unsigned)i);
        e->n = (size_t)i + 1;
        if (!e->name[i] || H5Tget_size(base) > sizeof value / 2 ||
            H5Tget_member_value(t, (unsigned)i, value) < 0 ||
            H5Tconvert(base, wide, 1, value, NULL, H5P_DEFAULT) < 0)
            err = job_fail_hdf5(j, "enum");
        memcpy(&e->value[i], value, sizeof e->value[i]);
    }
    return err;
}

/* h5py has no other boolean. */
static int is_boolean(const struct names *e)
{
    return e->n == 2 && !strcmp(e->name[0], "FALSE") && e->value[0] == 0 &&
           !strcmp(e->name[1], "TRUE") && e->value[1] == 1;
}

static int from_enum(struct job *j, hid_t t, struct map *m)
{
    struct map base = {0};
    struct names e = {0};
    hid_t super = H5Tget_super(t);
    int err = from_hdf5(j, super, DEPTH_MAX - 1, &base);

    if (!err)
        err = read_enum(j, t, super, &e);
    if (!err) {
        err = is_boolean(&e) && drep_type_code(base.type)
                  ? drep_type_boolean(base.type, &m->type)
                  : drep_type_enum(base.type, (int64_t)e.n, (const char *const *)e.name, e.value,
                                   &m->type);
        if (err)
            job_fail_drep(j, err);
    }
    /* HDF5 converts enums by name and loses values without one, so we turn the bytes. */
    m->mem = H5Tcopy(t);
    if (!err && drep_type_code(base.type) && H5Tget_size(t) > 1 &&
        H5Tget_order(super) != native_order())
        m->kind = MAP_SWAP;
    names_release(&e);
    map_release(&base);
    H5Tclose(super);
    return err;
}

static int from_array(struct job *j, hid_t t, int depth, struct map *m)
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
    err = map_parts(j, m, MAP_ARRAY, n);
    if (!err)
        err = from_hdf5(j, super, depth + 1, m->parts);
    H5Tclose(super);
    if (err)
        return err;
    m->mem = H5Tarray_create2(m->parts->mem, (unsigned)rank, dims);
    m->variable = m->parts->variable;
    m->ascii = m->parts->ascii;
    err = drep_type_array(rank, ours, m->parts->type, &m->type);
    if (m->parts->kind == MAP_FLAT)
        m->kind = MAP_FLAT;
    return err ? job_fail_drep(j, err) : 0;
}

static int from_sequence(struct job *j, hid_t t, int depth, struct map *m)
{
    hid_t super = H5Tget_super(t);
    int err = map_parts(j, m, MAP_SEQUENCE, 1);

    if (!err)
        err = from_hdf5(j, super, depth + 1, m->parts);
    H5Tclose(super);
    if (err)
        return err;
    m->mem = H5Tvlen_create(m->parts->mem);
    m->variable = 1;
    m->ascii = m->parts->ascii;
    err = drep_type_sequence(m->parts->type, &m->type);
    if (sequence_is_flat(m->parts))
        m->kind = MAP_FLAT;
    return err ? job_fail_drep(j, err) : 0;
}

/* HDF5's compound in memory: as ours lies there if the members are alike, else packed. */
static int lay_out(struct job *j, struct map *m, const char *const *name)
{
    int flat = 1;
    size_t i, size = 0;

    for (i = 0; i < m->n; i++) {
        flat &= m->parts[i].kind == MAP_FLAT;
        m->variable |= m->parts[i].variable;
        m->ascii |= m->parts[i].ascii;
        m->doffset[i] = (size_t)drep_type_member_offset(m->type, (int64_t)i);
        m->hoffset[i] = size;
        size += m->parts[i].hsize;
    }
    if (flat) {
        memcpy(m->hoffset, m->doffset, m->n * sizeof *m->hoffset);
        size = (size_t)drep_type_extent(m->type);
        m->kind = MAP_FLAT;
    }
    m->mem = H5Tcreate(H5T_COMPOUND, size);
    for (i = 0; i < m->n; i++)
        if (H5Tinsert(m->mem, name[i], m->hoffset[i], m->parts[i].mem) < 0)
            return job_fail_hdf5(j, name[i]);
    return 0;
}

static int from_compound(struct job *j, hid_t t, int depth, struct map *m)
{
    int n = H5Tget_nmembers(t);
    const drep_type **types = calloc(n > 0 ? (size_t)n : 1, sizeof *types);
    struct names e = {0};
    int i, err = n > 0 ? names_init(j, &e, (size_t)n)
                       : job_fail(j, DREP_ERR_UNSUPPORTED, "a compound without members");

    if (!err)
        err = types ? map_parts(j, m, MAP_COMPOUND, (size_t)n) : DREP_ERR_NOMEM;
    for (i = 0; !err && i < n; i++) {
        hid_t member = H5Tget_member_type(t, (unsigned)i);

        e.name[i] = H5Tget_member_name(t, (unsigned)i);
        e.n = (size_t)i + 1;
        err = e.name[i] ? from_hdf5(j, member, depth + 1, &m->parts[i])
                        : job_fail_hdf5(j, "compound");
        H5Tclose(member);
        types[i] = m->parts[i].type;
    }
    if (!err) {
        err = drep_type_compound(n, (const char *const *)e.name, NULL, types, 0, &m->type);
        if (err)
            job_fail_drep(j, err);
    }
    if (!err)
        err = lay_out(j, m, (const char *const *)e.name);
    names_release(&e);
    free(types);
    return err;
}

static int from_hdf5(struct job *j, hid_t t, int depth, struct map *m)
{
    int err;

    if (depth >= DEPTH_MAX)
        return job_fail(j, DREP_ERR_LIMIT, "a datatype deeper than %d", DEPTH_MAX);
    switch (H5Tget_class(t)) {
    case H5T_INTEGER:
        err = from_integer(j, t, m);
        break;
    case H5T_FLOAT:
        err = from_real(j, t, m);
        break;
    case H5T_BITFIELD:
        err = from_bitfield(j, t, m);
        break;
    case H5T_STRING:
        err = from_string(j, t, m);
        break;
    case H5T_OPAQUE:
        err = from_opaque(j, t, m);
        break;
    case H5T_REFERENCE:
        err = from_reference(j, t, m);
        break;
    case H5T_ENUM:
        err = from_enum(j, t, m);
        break;
    case H5T_ARRAY:
        err = from_array(j, t, depth, m);
        break;
    case H5T_VLEN:
        err = from_sequence(j, t, depth, m);
        break;
    case H5T_COMPOUND:
        err = from_compound(j, t, depth, m);
        break;
    case H5T_TIME:
        return job_fail(j, DREP_ERR_UNSUPPORTED, "HDF5's time datatype has no meaning to keep");
    default:
        return job_fail(j, DREP_ERR_UNSUPPORTED, "an unknown class of datatype");
    }
    return map_done(j, m, err);
}

int map_from_hdf5(struct job *j, hid_t file_type, struct map *out)
{
    struct map m = {0};
    int err = from_hdf5(j, file_type, 0, &m);

    if (err)
        map_release(&m);
    else
        *out = m;
    return err;
}

/* ------------------------------------------------------ from ours: predefined */

int map_encodings(struct job *j)
{
    const drep_encoding *rows;
    drep_encoding base[256];
    drep_header h;
    int i, n = 0;
    int err = drep_header_get(j->d, &h);

    if (!err)
        j->from_x86 = strstr(h.machine, "86") != NULL;
    if (!err)
        err = drep_datarep_table("external32", base, 256, &n);
    for (i = 0; !err && i < n && i < 256; i++)
        j->standard[base[i].code & 255] = base[i].format;
    /* Attributes may use types that the header has no row for. */
    if (!err && (drep_datarep_table(h.datarep, base, 256, &n) != 0 || n == 0))
        err = drep_datarep_table("external32", base, 256, &n);
    for (i = 0; !err && i < n && i < 256; i++)
        j->encodings[base[i].code & 255] = base[i];
    if (!err)
        err = drep_header_types(j->d, &rows, &n);
    for (i = 0; !err && i < n; i++)
        if (rows[i].format)
            j->encodings[rows[i].code & 255] = rows[i];
    return err ? job_fail_drep(j, err) : 0;
}

/* As the file stores it; with own_order in the order of this machine. */
static drep_encoding encoding_of(const struct job *j, int code)
{
    drep_encoding e = j->encodings[code & 255];

    /* HDF5 has integers in no such order, and reals only as scalars have it. */
    if (e.order == DREP_VAX)
        e.order = DREP_LITTLE;
    if (j->own_order)
        e.order = native_order() == H5T_ORDER_BE ? DREP_BIG : DREP_LITTLE;
    return e;
}

static void set_flat(struct map *m, hid_t file, hid_t mem)
{
    m->file = file;
    m->mem = mem;
}

/* FALSE and TRUE over an integer, as h5py has it. */
static int to_boolean(struct job *j, struct map *m, size_t size, int is_signed, int order)
{
    hid_t base = make_int(size, is_signed, hdf5_order(order));
    uint8_t value[32];
    int i;

    m->file = H5Tenum_create(base);
    H5Tclose(base);
    for (i = 0; i < 2; i++) {
        put_value(value, size, hdf5_order(order), (uint64_t)i, 0);
        if (H5Tenum_insert(m->file, i ? "TRUE" : "FALSE", value) < 0)
            return job_fail_hdf5(j, "boolean");
    }
    m->mem = H5Tcopy(m->file);
    m->kind = size > 1 && !is_native(order) ? MAP_SWAP : MAP_FLAT;
    return 0;
}

/* The format of a real as it lies in this machine's memory. */
static const struct real *real_in_memory(int code, int64_t extent)
{
    switch (code) {
    case DREP_CODE_BFLOAT16:
        return real_of(DREP_FORMAT_BFLOAT16);
    case DREP_CODE_FP8_E4M3:
        return real_of(DREP_FORMAT_FP8_E4M3);
    case DREP_CODE_FP8_E5M2:
        return real_of(DREP_FORMAT_FP8_E5M2);
    case DREP_CODE_LONG_DOUBLE:
    case DREP_CODE_C_LONG_DOUBLE_COMPLEX:
    case DREP_CODE_CXX_LONG_DOUBLE_COMPLEX:
        return LDBL_MANT_DIG == 64    ? real_of(DREP_FORMAT_X87)
               : LDBL_MANT_DIG == 113 ? real_of(DREP_FORMAT_BINARY128)
               : LDBL_MANT_DIG == 53  ? real_of(DREP_FORMAT_BINARY64)
                                      : NULL;
    default:
        return extent == 2    ? real_of(DREP_FORMAT_BINARY16)
               : extent == 4  ? real_of(DREP_FORMAT_BINARY32)
               : extent == 8  ? real_of(DREP_FORMAT_BINARY64)
               : extent == 16 ? real_of(DREP_FORMAT_BINARY128)
                              : NULL;
    }
}

/* The file's format where HDF5 has it, else memory's.  A long double that was written as
 * x87 goes out as such, not as binary128, which few readers of HDF5 files can take. */
static int to_real(struct job *j, int code, int64_t extent, hid_t *file, hid_t *mem)
{
    drep_encoding e = encoding_of(j, code);
    const struct real *in = real_in_memory(code, extent);
    const struct real *out = real_of(e.format);
    H5T_order_t order = hdf5_order(e.order);

    if (!in)
        return job_fail(j, DREP_ERR_UNSUPPORTED, "HDF5 cannot hold this machine's %s",
                        drep_code_name(code));
    if (!out || out->vax || out->format == DREP_FORMAT_BINARY128)
        out = in;
    *mem = make_named_real(in, (size_t)extent, native_order());
    *file =
        make_named_real(out, out->format == DREP_FORMAT_X87 ? (size_t)extent : out->size, order);
    return 0;
}

/* As h5py has complex numbers: a compound of r and i. */
static int to_complex(struct job *j, int code, int64_t extent, struct map *m)
{
    hid_t file = 0, mem = 0;
    size_t half = (size_t)extent / 2, size;
    int err = to_real(j, code, extent / 2, &file, &mem);

    if (err)
        return err;
    size = H5Tget_size(file);
    m->file = H5Tcreate(H5T_COMPOUND, 2 * size);
    m->mem = H5Tcreate(H5T_COMPOUND, 2 * half);
    if (H5Tinsert(m->file, "r", 0, file) < 0 || H5Tinsert(m->file, "i", size, file) < 0 ||
        H5Tinsert(m->mem, "r", 0, mem) < 0 || H5Tinsert(m->mem, "i", half, mem) < 0)
        err = job_fail_hdf5(j, "complex");
    H5Tclose(file);
    H5Tclose(mem);
    return err;
}

enum cls {
    CLS_NONE,
    CLS_BYTES,
    CLS_INT,
    CLS_UINT,
    CLS_BOOL,
    CLS_CHAR,
    CLS_WCHAR,
    CLS_REAL,
    CLS_COMPLEX
};

/* The same under every representation, so external32's formats tell it. */
static enum cls class_of(const struct job *j, int code)
{
    const char *name = drep_code_name(code);

    if (!name)
        return CLS_NONE;
    if (strstr(name, "COMPLEX"))
        return CLS_COMPLEX;
    switch (j->standard[code & 255]) {
    case 0:
        return CLS_NONE;
    case DREP_FORMAT_BYTES:
        return CLS_BYTES;
    case DREP_FORMAT_INT:
        return CLS_INT;
    case DREP_FORMAT_UINT:
        return CLS_UINT;
    case DREP_FORMAT_BOOL:
        return CLS_BOOL;
    case DREP_FORMAT_CHAR:
    case DREP_FORMAT_EBCDIC:
        return CLS_CHAR;
    case DREP_FORMAT_UNICODE:
        return CLS_WCHAR;
    default:
        return CLS_REAL;
    }
}

static int to_predefined(struct job *j, const drep_type *type, struct map *m)
{
    int code = drep_type_code(type);
    size_t extent = (size_t)drep_type_extent(type);
    drep_encoding e = encoding_of(j, code);
    H5T_order_t order = hdf5_order(e.order);
    int is_signed = 0;

    switch (class_of(j, code)) {
    case CLS_INT:
        is_signed = 1;
        /* fall through */
    case CLS_UINT:
    case CLS_WCHAR:
        set_flat(m, make_int(e.size, is_signed, order),
                 make_int(extent, is_signed, native_order()));
        return 0;
    case CLS_BYTES:
        set_flat(m, H5Tcopy(H5T_STD_U8LE), H5Tcopy(H5T_STD_U8LE));
        return 0;
    case CLS_CHAR:
        set_flat(m, make_string(1, DREP_PAD_NUL), make_string(1, DREP_PAD_NUL));
        return 0;
    case CLS_BOOL:
        return to_boolean(j, m, extent, 1, e.order);
    case CLS_REAL:
        return to_real(j, code, (int64_t)extent, &m->file, &m->mem);
    case CLS_COMPLEX:
        return to_complex(j, code, (int64_t)extent, m);
    default:
        return job_fail(j, DREP_ERR_UNSUPPORTED, "%s has no counterpart in HDF5",
                        drep_code_name(code) ? drep_code_name(code) : "a predefined datatype");
    }
}

/* ------------------------------------------------------ from ours: the rest */

static int to_hdf5(struct job *j, const drep_type *type, int depth, struct map *m);

static int to_opaque(struct job *j, const drep_type *type, struct map *m)
{
    const char *tag = drep_type_opaque_tag(type);

    m->file = H5Tcreate(H5T_OPAQUE, (size_t)drep_type_size(type));
    if (m->file > 0 && tag && H5Tset_tag(m->file, tag) < 0) {
        H5Tclose(m->file);
        m->file = 0;
        return job_fail_hdf5(j, "opaque");
    }
    m->mem = H5Tcopy(m->file);
    return 0;
}

/* Shape of the integers below an enum or boolean: those of memory, in the file's order,
 * so that values without a name survive. */
static int base_of(struct job *j, const drep_type *type, drep_scalar *s)
{
    const drep_type *base = drep_type_member(type, 0);
    const drep_scalar *given = drep_type_scalar_desc(base);
    int code = drep_type_code(base);
    enum cls cls;

    if (!code && given) {
        *s = *given;
        return 0;
    }
    cls = class_of(j, code);
    if (cls != CLS_INT && cls != CLS_UINT && cls != CLS_BOOL)
        return job_fail(j, DREP_ERR_UNSUPPORTED, "an enum over something not an integer");
    *s = (drep_scalar){.cls = DREP_SCALAR_INT, .order = encoding_of(j, code).order};
    s->size = (uint8_t)drep_type_extent(base);
    if (s->size == 1)
        s->order = DREP_LITTLE;
    s->precision = (uint16_t)(8 * s->size);
    s->is_signed = cls != CLS_UINT;
    return 0;
}

static int to_enum(struct job *j, const drep_type *type, struct map *m)
{
    int64_t i, n = drep_type_enum_count(type);
    drep_scalar s;
    hid_t base;
    uint8_t value[32];
    int err = base_of(j, type, &s);

    if (err)
        return err;
    if (drep_type_kind(type) == DREP_KIND_BOOLEAN)
        return to_boolean(j, m, s.size, s.is_signed, s.order);
    base = make_scalar(&s);
    m->file = H5Tenum_create(base);
    H5Tclose(base);
    for (i = 0; i < n; i++) {
        put_value(value, s.size, hdf5_order(s.order),
                  (uint64_t)drep_type_enum_value(type, i) << s.offset, s.is_signed);
        if (H5Tenum_insert(m->file, drep_type_enum_name(type, i), value) < 0)
            return job_fail_hdf5(j, drep_type_enum_name(type, i));
    }
    m->mem = H5Tcopy(m->file);
    m->kind = drep_type_code(drep_type_member(type, 0)) && s.size > 1 && !is_native(s.order)
                  ? MAP_SWAP
                  : MAP_FLAT;
    return 0;
}

static int to_array(struct job *j, const drep_type *type, int depth, struct map *m)
{
    int rank = drep_type_array_rank(type);
    const int64_t *ours = drep_type_array_dims(type);
    int64_t one;
    hsize_t dims[H5S_MAX_RANK];
    size_t n = 1;
    int i, err;

    if (drep_type_kind(type) == DREP_KIND_CONTIGUOUS) {
        one = drep_type_arg(type, 0);
        ours = &one;
        rank = 1;
    }
    for (i = 0; i < rank; i++) {
        dims[i] = (hsize_t)ours[i];
        n *= (size_t)ours[i];
    }
    if (n == 0)
        return job_fail(j, DREP_ERR_UNSUPPORTED, "HDF5 has no array of no elements");
    err = map_parts(j, m, MAP_ARRAY, n);
    if (!err)
        err = to_hdf5(j, drep_type_member(type, 0), depth + 1, m->parts);
    if (err)
        return err;
    m->file = H5Tarray_create2(m->parts->file, (unsigned)rank, dims);
    m->mem = H5Tarray_create2(m->parts->mem, (unsigned)rank, dims);
    m->variable = m->parts->variable;
    if (m->parts->kind == MAP_FLAT)
        m->kind = MAP_FLAT;
    return 0;
}

static int to_sequence(struct job *j, const drep_type *type, int depth, struct map *m)
{
    int err = map_parts(j, m, MAP_SEQUENCE, 1);

    if (!err)
        err = to_hdf5(j, drep_type_member(type, 0), depth + 1, m->parts);
    if (err)
        return err;
    m->file = H5Tvlen_create(m->parts->file);
    m->mem = H5Tvlen_create(m->parts->mem);
    m->variable = 1;
    if (sequence_is_flat(m->parts))
        m->kind = MAP_FLAT;
    return 0;
}

/* Members without names get numpy's: f0, f1, ... */
static int to_compound(struct job *j, const drep_type *type, int depth, struct map *m)
{
    size_t i, size = 0, n = (size_t)drep_type_members(type);
    const char **names = calloc(n ? n : 1, sizeof *names);
    char(*numbers)[24] = calloc(n ? n : 1, sizeof *numbers);
    int err = !names || !numbers ? job_fail(j, DREP_ERR_NOMEM, "out of memory")
              : n == 0           ? job_fail(j, DREP_ERR_UNSUPPORTED, "a compound without members")
                                 : map_parts(j, m, MAP_COMPOUND, n);

    for (i = 0; !err && i < n; i++) {
        names[i] = drep_type_member_name(type, (int64_t)i);
        snprintf(numbers[i], sizeof numbers[i], "f%zu", i);
        if (!names[i] || !*names[i])
            names[i] = numbers[i];
        if (drep_type_member_blocklen(type, (int64_t)i) != 1)
            err = job_fail(j, DREP_ERR_UNSUPPORTED, "a struct with blocks");
        else
            err = to_hdf5(j, drep_type_member(type, (int64_t)i), depth + 1, &m->parts[i]);
        if (!err)
            size += H5Tget_size(m->parts[i].file);
    }
    if (!err) {
        m->file = H5Tcreate(H5T_COMPOUND, size);
        m->type = drep_type_ref(type);
        err = lay_out(j, m, names);
    }
    for (i = size = 0; !err && i < n; size += H5Tget_size(m->parts[i].file), i++)
        if (H5Tinsert(m->file, names[i], size, m->parts[i].file) < 0)
            err = job_fail_hdf5(j, names[i]);
    free(numbers);
    free(names);
    return err;
}

static int to_hdf5(struct job *j, const drep_type *type, int depth, struct map *m)
{
    size_t size = (size_t)drep_type_size(type);
    int err = 0;

    if (depth >= DEPTH_MAX)
        return job_fail(j, DREP_ERR_LIMIT, "a datatype deeper than %d", DEPTH_MAX);
    switch (drep_type_kind(type)) {
    case DREP_KIND_PREDEFINED:
        err = to_predefined(j, type, m);
        break;
    case DREP_KIND_SCALAR:
        set_flat(m, make_scalar(drep_type_scalar_desc(type)),
                 make_scalar(drep_type_scalar_desc(type)));
        break;
    case DREP_KIND_STRING:
        set_flat(m, make_string(size, drep_type_string_pad(type)),
                 make_string(size, drep_type_string_pad(type)));
        break;
    case DREP_KIND_VSTRING:
        m->variable = 1;
        set_flat(m, make_string(H5T_VARIABLE, DREP_PAD_NULTERM),
                 make_string(H5T_VARIABLE, DREP_PAD_NULTERM));
        break;
    case DREP_KIND_OPAQUE:
        err = to_opaque(j, type, m);
        break;
    case DREP_KIND_ENUM:
    case DREP_KIND_BOOLEAN:
        err = to_enum(j, type, m);
        break;
    case DREP_KIND_ARRAY:
    case DREP_KIND_CONTIGUOUS:
        err = to_array(j, type, depth, m);
        break;
    case DREP_KIND_COMPOUND:
    case DREP_KIND_STRUCT:
        err = to_compound(j, type, depth, m);
        break;
    case DREP_KIND_SEQUENCE:
        err = to_sequence(j, type, depth, m);
        break;
    case DREP_KIND_REFERENCE:
        m->kind = drep_type_reference_what(type) == DREP_REF_OBJECT ? MAP_OBJECT : MAP_REGION;
        set_flat(m, H5Tcopy(m->kind == MAP_OBJECT ? H5T_STD_REF_OBJ : H5T_STD_REF_DSETREG),
                 H5Tcopy(m->kind == MAP_OBJECT ? H5T_STD_REF_OBJ : H5T_STD_REF_DSETREG));
        break;
    default:
        return job_fail(j, DREP_ERR_UNSUPPORTED, "a derived datatype with displacements");
    }
    if (!err && m->file <= 0)
        err = job_fail_hdf5(j, "datatype");
    if (!err && !m->type)
        m->type = drep_type_ref(type);
    return map_done(j, m, err);
}

/* ---------------------------------------------------------- types that hold more */

/* The real that holds every value of a format; 0: the type's own does. */
static int wider_real(const struct job *j, int code, int format)
{
    switch (format) {
    case DREP_FORMAT_IBM_HEX32:
        return DREP_CODE_DOUBLE;
    case DREP_FORMAT_X87:
        return host_holds_x87() ? 0 : DREP_CODE_FLOAT128;
    case DREP_FORMAT_BINARY128:
        /* On such a machine it was an x87 number, and may be one again. */
        if (code == DREP_CODE_LONG_DOUBLE && LDBL_MANT_DIG == 64 && j->from_x86)
            return 0;
        return DREP_CODE_FLOAT128;
    case DREP_FORMAT_M68K:
    case DREP_FORMAT_DOUBLE_DOUBLE:
    case DREP_FORMAT_IBM_HEX64:
    case DREP_FORMAT_IBM_HEX128:
    case DREP_FORMAT_VAX_D:
    case DREP_FORMAT_VAX_G:
    case DREP_FORMAT_VAX_H:
    case DREP_FORMAT_CRAY64:
    case DREP_FORMAT_CUSTOM:
        return DREP_CODE_FLOAT128;
    default:
        return 0;
    }
}

/* The predefined datatype to read one by, so that this machine holds what the file does:
 * a short of 8 bytes, a long double of another format. */
static int wider(const struct job *j, int code)
{
    static const uint8_t codes[9][2] = {
        [2] = {DREP_CODE_UINT16_T, DREP_CODE_INT16_T},
        [3] = {DREP_CODE_UINT32_T, DREP_CODE_INT32_T},
        [4] = {DREP_CODE_UINT32_T, DREP_CODE_INT32_T},
        [5] = {DREP_CODE_UINT64_T, DREP_CODE_INT64_T},
        [6] = {DREP_CODE_UINT64_T, DREP_CODE_INT64_T},
        [7] = {DREP_CODE_UINT64_T, DREP_CODE_INT64_T},
        [8] = {DREP_CODE_UINT64_T, DREP_CODE_INT64_T},
    };
    drep_encoding e = encoding_of(j, code);
    enum cls cls = class_of(j, code);
    int64_t extent = drep_type_extent(drep_predefined(code));
    int real;

    if ((cls == CLS_INT || cls == CLS_UINT) && e.size > extent && e.size <= 8)
        return codes[e.size][cls == CLS_INT];
    if (cls == CLS_REAL) {
        real = wider_real(j, code, e.format);
        return real ? real : code;
    }
    if (cls != CLS_COMPLEX)
        return code;
    real = wider_real(j, extent / 2 == (int64_t)sizeof(long double) ? DREP_CODE_LONG_DOUBLE : code,
                      e.format);
    return real == DREP_CODE_FLOAT128 ? DREP_CODE_COMPLEX32
           : real == DREP_CODE_DOUBLE ? DREP_CODE_C_DOUBLE_COMPLEX
                                      : code;
}

static int widen(struct job *j, const drep_type *type, int depth, drep_type **out);

/* A compound with wider members. */
static int widen_members(struct job *j, const drep_type *type, int depth, drep_type **out)
{
    size_t i, n = (size_t)drep_type_members(type);
    drep_type **types = calloc(n ? n : 1, sizeof *types);
    const char **names = calloc(n ? n : 1, sizeof *names);
    int changed = 0, named = 1;
    int err = types && names ? 0 : job_fail(j, DREP_ERR_NOMEM, "out of memory");

    for (i = 0; !err && i < n; i++) {
        const drep_type *member = drep_type_member(type, (int64_t)i);

        err = widen(j, member, depth + 1, &types[i]);
        changed |= !err && types[i] != member;
        names[i] = drep_type_member_name(type, (int64_t)i);
        named &= names[i] && *names[i];
    }
    if (!err && changed) {
        err = named
                  ? drep_type_compound((int64_t)n, names, NULL, (const drep_type *const *)types, 0,
                                       out)
                  : drep_type_struct((int64_t)n, NULL, NULL, (const drep_type *const *)types, out);
        if (err)
            job_fail_drep(j, err);
    } else if (!err) {
        *out = drep_type_ref(type);
    }
    for (i = 0; types && i < n; i++)
        drep_type_free(types[i]);
    free(types);
    free(names);
    return err;
}

/* The same type, or one that differs in its predefined datatypes. */
static int widen(struct job *j, const drep_type *type, int depth, drep_type **out)
{
    int kind = drep_type_kind(type), code = drep_type_code(type);
    drep_type *base;
    int err;

    if (depth >= DEPTH_MAX)
        return job_fail(j, DREP_ERR_LIMIT, "a datatype deeper than %d", DEPTH_MAX);
    if (kind == DREP_KIND_COMPOUND || kind == DREP_KIND_STRUCT)
        return widen_members(j, type, depth, out);
    if (kind != DREP_KIND_ARRAY && kind != DREP_KIND_SEQUENCE) {
        *out = drep_type_ref(code ? drep_predefined(wider(j, code)) : type);
        return 0;
    }
    err = widen(j, drep_type_member(type, 0), depth + 1, &base);
    if (err)
        return err;
    if (base == drep_type_member(type, 0))
        *out = drep_type_ref(type);
    else if (kind == DREP_KIND_SEQUENCE)
        err = drep_type_sequence(base, out);
    else
        err = drep_type_array(drep_type_array_rank(type), drep_type_array_dims(type), base, out);
    drep_type_free(base);
    return err ? job_fail_drep(j, err) : 0;
}

int map_from_drep(struct job *j, const drep_type *type, struct map *out)
{
    struct map m = {0};
    drep_type *wide = NULL;
    int err = j->own_order ? 0 : widen(j, type, 0, &wide);

    if (!err)
        err = to_hdf5(j, wide ? wide : type, 0, &m);
    drep_type_free(wide);
    if (err)
        map_release(&m);
    else
        *out = m;
    return err;
}
