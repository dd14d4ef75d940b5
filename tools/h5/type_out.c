/* type_out.c - HDF5's datatypes, made from ours.
 *
 * Numbers get the order, size and format in which the container stores them, wherever
 * HDF5 can say it, so that their bytes are copied.  Remarks that import left say what a
 * container does not: character sets, gaps of compounds, strange numbers. */
#include <float.h>
#include <stdlib.h>
#include <string.h>

#include "tools/h5/parts.h"
#include "tools/text/real.h"

#define DEPTH_MAX 64

/* ----------------------------------------------------------- numbers of HDF5 */

hid_t made_int(size_t size, int is_signed, H5T_order_t order)
{
    hid_t t = H5Tcopy(is_signed ? H5T_STD_I8LE : H5T_STD_U8LE);

    H5Tset_precision(t, 8 * size);
    H5Tset_size(t, size);
    /* One byte has no order; HDF5's own tools take it for little-endian. */
    if (size > 1)
        H5Tset_order(t, order);
    return t;
}

/* All that HDF5 says of a number. */
struct atom {
    char cls[12]; /* integer, bits, real, time */
    size_t size, precision, offset;
    char order[12]; /* little, big, vax, none */
    int low, high, inside, sign;
    size_t sign_pos, exp_pos, exp_width, mant_pos, mant_width;
    size_t bias;
    int norm;
};

static H5T_order_t order_named(const char *name)
{
    return strcmp(name, "big") == 0   ? H5T_ORDER_BE
           : strcmp(name, "vax") == 0 ? H5T_ORDER_VAX
                                      : H5T_ORDER_LE;
}

static const char *order_name(H5T_order_t order)
{
    return order == H5T_ORDER_BE ? "big" : order == H5T_ORDER_VAX ? "vax" : "little";
}

static hid_t atom_real(const struct atom *a)
{
    /* Only a copy of one of these is stored with VAX order. */
    hid_t t = H5Tcopy(order_named(a->order) == H5T_ORDER_VAX ? H5T_VAX_F64 : H5T_IEEE_F64LE);

    if (a->size > 8) {
        H5Tset_size(t, a->size);
        H5Tset_precision(t, 8 * a->size);
    }
    /* Fields first: precision may not be set below them. */
    if (H5Tset_fields(t, a->sign_pos, a->exp_pos, a->exp_width, a->mant_pos, a->mant_width) < 0 ||
        H5Tset_offset(t, a->offset) < 0 || H5Tset_precision(t, a->precision) < 0 ||
        H5Tset_size(t, a->size) < 0 || H5Tset_ebias(t, a->bias) < 0 ||
        H5Tset_norm(t, (H5T_norm_t)a->norm) < 0 ||
        H5Tset_inpad(t, a->inside == H5T_PAD_ONE ? H5T_PAD_ONE : H5T_PAD_ZERO) < 0) {
        H5Tclose(t);
        return 0;
    }
    return t;
}

static hid_t atom_other(const struct atom *a)
{
    hid_t t = H5Tcopy(strcmp(a->cls, "bits") == 0   ? H5T_STD_B8LE
                      : strcmp(a->cls, "time") != 0 ? H5T_STD_I8LE
                      : order_named(a->order) == H5T_ORDER_BE
                          ? (a->size == 8 ? H5T_UNIX_D64BE : H5T_UNIX_D32BE)
                          : (a->size == 8 ? H5T_UNIX_D64LE : H5T_UNIX_D32LE));

    if (strcmp(a->cls, "time") == 0 && H5Tget_size(t) == a->size)
        return t;
    if (H5Tset_size(t, a->size) < 0 || H5Tset_precision(t, a->precision) < 0 ||
        H5Tset_offset(t, a->offset) < 0 ||
        (strcmp(a->cls, "integer") == 0 && H5Tset_sign(t, (H5T_sign_t)a->sign) < 0)) {
        H5Tclose(t);
        return 0;
    }
    return t;
}

static hid_t atom_make(const struct atom *a)
{
    hid_t t = strcmp(a->cls, "real") == 0 ? atom_real(a) : atom_other(a);

    if (t > 0)
        H5Tset_order(t, order_named(a->order));
    /* Padding that is left as it was cannot be said in a file. */
    if (t > 0 && strcmp(a->cls, "time") != 0)
        H5Tset_pad(t, a->low == H5T_PAD_ONE ? H5T_PAD_ONE : H5T_PAD_ZERO,
                   a->high == H5T_PAD_ONE ? H5T_PAD_ONE : H5T_PAD_ZERO);
    return t;
}

void made_to_text(hid_t t, char *buf, size_t size)
{
    struct atom a = {.size = H5Tget_size(t)};
    H5T_class_t cls = H5Tget_class(t);
    H5T_pad_t low = H5T_PAD_ZERO, high = H5T_PAD_ZERO;
    size_t len;

    H5Tget_pad(t, &low, &high);
    snprintf(buf, size, "%s,size=%zu,order=%s,precision=%zu,offset=%zu,pad=%d/%d",
             cls == H5T_INTEGER    ? "integer"
             : cls == H5T_FLOAT    ? "real"
             : cls == H5T_BITFIELD ? "bits"
                                   : "time",
             a.size, order_name(H5Tget_order(t)), H5Tget_precision(t), (size_t)H5Tget_offset(t),
             (int)low, (int)high);
    len = strlen(buf);
    if (cls == H5T_INTEGER)
        snprintf(buf + len, size - len, ",sign=%d", (int)H5Tget_sign(t));
    if (cls != H5T_FLOAT)
        return;
    H5Tget_fields(t, &a.sign_pos, &a.exp_pos, &a.exp_width, &a.mant_pos, &a.mant_width);
    snprintf(buf + len, size - len, ",sign=%zu,exp=%zu/%zu,sig=%zu/%zu,bias=%zu,norm=%d,inpad=%d",
             a.sign_pos, a.exp_pos, a.exp_width, a.mant_pos, a.mant_width, H5Tget_ebias(t),
             (int)H5Tget_norm(t), (int)H5Tget_inpad(t));
}

hid_t made_from_text(const char *text)
{
    struct atom a = {0};
    int n = 0;

    if (sscanf(text, "%11[a-z],size=%9zu,order=%11[a-z],precision=%9zu,offset=%9zu,pad=%1d/%1d%n",
               a.cls, &a.size, a.order, &a.precision, &a.offset, &a.low, &a.high, &n) != 7)
        return 0;
    text += n;
    if (a.size == 0 || a.precision == 0)
        return 0;
    if (strcmp(a.cls, "real") != 0) {
        a.sign = sscanf(text, ",sign=%1d", &n) == 1 ? n : H5T_SGN_NONE;
        return atom_make(&a);
    }
    if (sscanf(text, ",sign=%9zu,exp=%9zu/%9zu,sig=%9zu/%9zu,bias=%19zu,norm=%1d,inpad=%1d",
               &a.sign_pos, &a.exp_pos, &a.exp_width, &a.mant_pos, &a.mant_width, &a.bias, &a.norm,
               &a.inside) != 8)
        return 0;
    return atom_make(&a);
}

static const char *drep_order_name(int order)
{
    return order == DREP_BIG ? "big" : order == DREP_VAX ? "vax" : "little";
}

static hid_t named_real(const drep_format_info *r, size_t size, int order)
{
    struct atom a = {.cls = "real",
                     .size = size,
                     .precision = (size_t)r->sign_pos + 1,
                     .sign_pos = (size_t)r->sign_pos,
                     .exp_pos = (size_t)r->exp_pos,
                     .exp_width = (size_t)r->exp_width,
                     .mant_pos = (size_t)r->mant_pos,
                     .mant_width = (size_t)r->mant_width,
                     .bias = (size_t)r->bias,
                     .norm = r->implied ? H5T_NORM_IMPLIED : H5T_NORM_NONE};

    /* A VAX format is one by its order, and no other format has it. */
    snprintf(a.order, sizeof a.order, "%s",
             r->vax              ? "vax"
             : order == DREP_VAX ? "little"
                                 : drep_order_name(order));
    return atom_make(&a);
}

/* The real of HDF5 for a format: itself, or the smallest that holds its values. */
static hid_t real_for(int format, size_t size, int order)
{
    const drep_format_info *r = real_of_format(format);

    if (r && (!r->vax || order == DREP_VAX))
        return named_real(r, r->format == DREP_FORMAT_X87 ? size : (size_t)r->size, order);
    r = real_of_format(real_covers(drep_format_describe(format), 53, -1022, 1023)
                           ? DREP_FORMAT_BINARY64
                           : DREP_FORMAT_BINARY128);
    return named_real(r, (size_t)r->size, order);
}

static hid_t scalar_for(const drep_scalar *s)
{
    struct atom a = {.size = s->size,
                     .precision = s->precision,
                     .offset = s->offset,
                     .low = s->low_pad,
                     .high = s->high_pad,
                     .sign = s->is_signed ? H5T_SGN_2 : H5T_SGN_NONE,
                     .sign_pos = s->sign_pos,
                     .exp_pos = s->exp_pos,
                     .exp_width = s->exp_width,
                     .mant_pos = s->mant_pos,
                     .mant_width = s->mant_width,
                     .bias = (size_t)s->exp_bias,
                     .norm = s->norm == DREP_NORM_IMPLIED  ? H5T_NORM_IMPLIED
                             : s->norm == DREP_NORM_MSBSET ? H5T_NORM_MSBSET
                                                           : H5T_NORM_NONE};

    if (s->cls == DREP_SCALAR_REAL && s->format != DREP_FORMAT_CUSTOM)
        return real_for(s->format, s->size, s->order);
    if (s->format == DREP_FORMAT_INT || s->format == DREP_FORMAT_UINT)
        a.precision = 8 * (size_t)s->size;
    if (s->format == DREP_FORMAT_INT)
        a.sign = H5T_SGN_2;
    /* HDF5 knows no other base than 2. */
    if (s->cls == DREP_SCALAR_REAL && s->exp_base_log2 != 1)
        return real_for(DREP_FORMAT_IBM_HEX128, s->size, s->order);
    snprintf(a.cls, sizeof a.cls, "%s",
             s->cls == DREP_SCALAR_REAL  ? "real"
             : s->cls == DREP_SCALAR_INT ? "integer"
                                         : "bits");
    snprintf(a.order, sizeof a.order, "%s", drep_order_name(s->order));
    return atom_make(&a);
}

/* ------------------------------------------------------------- a walk of ours */

struct to {
    struct job *j;
    const struct remarks *notes;
    int named;
    char place[12 * DEPTH_MAX + 2];
    int depth;
};

static hid_t to_hdf5(struct to *w, const drep_type *type);

static const char *remark(const struct to *w, const char *word)
{
    return w->notes ? remark_of(w->notes, *w->place ? w->place : ".", word) : NULL;
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
    const char *cset = remark(w, "cset"), *own = remark(w, "pad");
    int ascii = cset ? strcmp(cset, "ascii") == 0 : w->j->cset == H5T_CSET_ASCII;

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

/* Where HDF5 has the bytes of an integer otherwise than the container. */
static int order_of(const struct to *w, const drep_encoding *e)
{
    const char *own = remark(w, "order");

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
    return made_int(e->size, is_signed, order_to_hdf5(order == DREP_VAX ? DREP_LITTLE : order));
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

static hid_t to_boolean(struct to *w, const drep_encoding *e)
{
    hid_t base = integer_for(w, e, 1), t = boolean_over(w->j, base);

    H5Tclose(base);
    return t;
}

/* A long double that was written as x87 goes out as such, not as binary128, which few
 * readers of HDF5 files can take. */
static hid_t to_real(struct to *w, int code, const drep_encoding *e, size_t size)
{
    const char *name = drep_code_name(code);
    int format = e->format, is_complex = name && strstr(name, "COMPLEX");

    if (format == DREP_FORMAT_BINARY128 && w->j->from_x86 && name && strstr(name, "LONG_DOUBLE")) {
        format = DREP_FORMAT_X87;
        size = 16;
    }
    if (format == DREP_FORMAT_X87 && is_complex && LDBL_MANT_DIG != 64)
        format = DREP_FORMAT_BINARY128;
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
    drep_encoding e = map_encoding(w->j, code, w->named);

    if (!name || e.size == 0)
        return fail_type(w->j, "a predefined datatype has no counterpart in HDF5");
    if (strstr(name, "COMPLEX"))
        return to_complex(w, code, &e);
    switch (w->j->standard[code & 255]) {
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
            t = boolean_over(w->j, base);
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
struct members {
    size_t n, size;
    hid_t *type;
    size_t *offset;
};

/* The offsets that remarks give, where they make sense; else one behind the other. */
static void place_members(struct to *w, struct members *ms)
{
    const char *own = remark(w, "size");
    size_t i, at = 0, len = strlen(w->place);
    size_t size = own ? (size_t)strtoull(own, NULL, 10) : 0;
    int sense = 1;

    for (i = 0; i < ms->n; i++) {
        const char *offset;

        snprintf(w->place + len, sizeof w->place - len, ".%zu", i);
        offset = remark(w, "offset");
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
static hid_t join_members(struct job *j, const drep_type *type, const struct members *ms)
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
    struct members ms = {.n = (size_t)drep_type_members(type)};
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

/* What a remark describes whole, if that has the size of what it stands for. */
static hid_t to_described(const struct to *w, const drep_type *type)
{
    int kind = drep_type_kind(type);
    int number =
        kind == DREP_KIND_PREDEFINED || kind == DREP_KIND_SCALAR || kind == DREP_KIND_OPAQUE;
    const char *is = number ? remark(w, "is") : NULL;
    hid_t t = is ? made_from_text(is) : 0;

    if (t > 0 && kind != DREP_KIND_PREDEFINED && (int64_t)H5Tget_size(t) != drep_type_size(type)) {
        H5Tclose(t);
        return 0;
    }
    return t;
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
        return scalar_for(drep_type_scalar_desc(type));
    case DREP_KIND_STRING:
        return string_for(w, size, drep_type_string_pad(type));
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

hid_t made_type(struct job *j, const drep_type *type, const struct remarks *notes, int named)
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
