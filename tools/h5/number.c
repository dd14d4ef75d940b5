/* number.c - HDF5's datatypes of numbers, whole or as the text of a note. */
/* SPDX-License-Identifier: MIT */
#include "tools/h5/number.h"
#include "tools/h5/encoding.h"
#include "tools/text/real.h"
#include <datarep.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

hid_t number_type_int(size_t size, int is_signed, H5T_order_t order)
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

static const char *class_name(hid_t t)
{
    H5T_class_t cls = H5Tget_class(t);

    return cls == H5T_INTEGER    ? "integer"
           : cls == H5T_FLOAT    ? "real"
           : cls == H5T_BITFIELD ? "bits"
                                 : "time";
}

/* The fields of a real, to the end of `buf`. */
static void real_to_text(hid_t t, char *buf, size_t size)
{
    size_t len = strlen(buf), sign, exp_pos, exp_width, mant_pos, mant_width;

    if (H5Tget_fields(t, &sign, &exp_pos, &exp_width, &mant_pos, &mant_width) >= 0)
        snprintf(buf + len, size - len,
                 ",sign=%zu,exp=%zu/%zu,sig=%zu/%zu,bias=%zu,norm=%d,inpad=%d", sign, exp_pos,
                 exp_width, mant_pos, mant_width, H5Tget_ebias(t), (int)H5Tget_norm(t),
                 (int)H5Tget_inpad(t));
}

/* Decode the fields of a real. */
static bool real_from_text(const char *text, struct atom *a)
{
    return sscanf(text, ",sign=%9zu,exp=%9zu/%9zu,sig=%9zu/%9zu,bias=%19zu,norm=%1d,inpad=%1d",
                  &a->sign_pos, &a->exp_pos, &a->exp_width, &a->mant_pos, &a->mant_width, &a->bias,
                  &a->norm, &a->inside) == 8;
}

#define TAG "hdf5:"

void number_type_to_tag(hid_t t, char tag[NUMBER_TAG_SIZE])
{
    H5T_pad_t low = H5T_PAD_ZERO, high = H5T_PAD_ZERO;
    char is_signed[12] = "";
    size_t len;

    if (H5Tget_class(t) == H5T_INTEGER)
        snprintf(is_signed, sizeof is_signed, "signed=%d,", H5Tget_sign(t) == H5T_SGN_2);
    H5Tget_pad(t, &low, &high);
    snprintf(tag, NUMBER_TAG_SIZE, TAG "%s,%s,%sprecision=%zu,offset=%zu", class_name(t),
             order_name(H5Tget_order(t)), is_signed, H5Tget_precision(t), (size_t)H5Tget_offset(t));
    if (H5Tget_class(t) == H5T_FLOAT)
        real_to_text(t, tag, NUMBER_TAG_SIZE);
    len = strlen(tag);
    if (low != H5T_PAD_ZERO || high != H5T_PAD_ZERO)
        snprintf(tag + len, NUMBER_TAG_SIZE - len, ",pad=%d/%d", (int)low, (int)high);
}

hid_t number_type_from_tag(const char *tag, size_t size)
{
    struct atom a = {.size = size};
    const char *pad;
    int n = 0, m = 0;

    if (!tag || sscanf(tag, TAG "%11[a-z],%11[a-z],%n", a.cls, a.order, &n) != 2 || n == 0)
        return 0;
    tag += n;
    if (strcmp(a.cls, "integer") == 0 && sscanf(tag, "signed=%1d,%n", &a.sign, &m) == 1)
        tag += m;
    if (sscanf(tag, "precision=%9zu,offset=%9zu%n", &a.precision, &a.offset, &n) != 2 ||
        a.precision == 0)
        return 0;
    pad = strstr(tag, ",pad=");
    if (pad && sscanf(pad, ",pad=%1d/%1d", &a.low, &a.high) != 2)
        return 0;
    return strcmp(a.cls, "real") == 0 && !real_from_text(tag + n, &a) ? 0 : atom_make(&a);
}

void number_type_to_text(hid_t t, char *buf, size_t size)
{
    H5T_pad_t low = H5T_PAD_ZERO, high = H5T_PAD_ZERO;
    size_t len;

    H5Tget_pad(t, &low, &high);
    snprintf(buf, size, "%s,size=%zu,order=%s,precision=%zu,offset=%zu,pad=%d/%d", class_name(t),
             H5Tget_size(t), order_name(H5Tget_order(t)), H5Tget_precision(t),
             (size_t)H5Tget_offset(t), (int)low, (int)high);
    len = strlen(buf);
    if (H5Tget_class(t) == H5T_INTEGER)
        snprintf(buf + len, size - len, ",sign=%d", (int)H5Tget_sign(t));
    if (H5Tget_class(t) == H5T_FLOAT)
        real_to_text(t, buf, size);
}

hid_t number_type_from_text(const char *text)
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
    return real_from_text(text, &a) ? atom_make(&a) : 0;
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
hid_t real_for(int format, size_t size, int order)
{
    const drep_format_info *r = real_of_format(format);

    if (r && (!r->vax || order == DREP_VAX))
        return named_real(r, r->format == DREP_FORMAT_X87 ? size : (size_t)r->size, order);
    r = real_of_format(real_covers(drep_format_describe(format), 53, -1022, 1023)
                           ? DREP_FORMAT_BINARY64
                           : DREP_FORMAT_BINARY128);
    return named_real(r, (size_t)r->size, order);
}

bool scalar_beyond(const drep_scalar *s)
{
    int64_t power = s->exp_width < 62 ? (int64_t)1 << s->exp_width : INT64_MAX, most, least;

    if (s->cls != DREP_SCALAR_REAL || s->format != DREP_FORMAT_CUSTOM || s->exp_base_log2 == 1)
        return false;
    /* The significand is a fraction; the least number has its last bit alone. */
    return __builtin_sub_overflow(power - 1, s->exp_bias, &most) ||
           __builtin_mul_overflow(most, (int64_t)s->exp_base_log2, &most) || most > 16384 ||
           __builtin_mul_overflow(s->exp_bias, -(int64_t)s->exp_base_log2, &least) ||
           least < -16494 + s->mant_width;
}

hid_t scalar_for(const drep_scalar *s)
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
    /* HDF5 stores no integer in VAX order; one byte has none. */
    bool vax = s->size == 1 && s->order == DREP_VAX;
    snprintf(a.order, sizeof a.order, "%s", drep_order_name(vax ? DREP_LITTLE : s->order));
    return atom_make(&a);
}
