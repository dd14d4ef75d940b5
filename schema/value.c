/* value.c - values in a schema become elements in memory. */
/* SPDX-License-Identifier: MIT */
#include "schema/value.h"
#include "format/byteorder.h"
#include "schema/number.h"
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define VALUES_MAX ((int64_t)1 << 30) /* bytes of the values of one node */

/* Value of a real's `bits`: held as two doubles. */
#define HELD_PAIR (-1)

/* Bits of the significand, where rounding to them needs care; else a number below that. */
static int format_bits(int format, const drep_scalar *custom)
{
    const drep_format_info *f = drep_format_describe(format);

    if (format == DREP_FORMAT_DOUBLE_DOUBLE)
        return HELD_PAIR;
    if (format == DREP_FORMAT_CUSTOM)
        return custom->mant_width + (custom->norm == DREP_NORM_IMPLIED);
    if (!f || f->precision <= 64)
        return 64;
    return f->base_log2 == 1 ? f->precision : NUMBER_HEX128;
}

/* The form of a format that goes beyond binary128; bits 0 for all others. */
static struct wide_form wide_form(int format, const drep_scalar *custom)
{
    const drep_format_info *f = drep_format_describe(format);
    bool implied = custom->norm == DREP_NORM_IMPLIED;
    struct wide_form w = {0, 0};

    if (format == DREP_FORMAT_VAX_H)
        return (struct wide_form){f->precision, f->least};
    if (format != DREP_FORMAT_CUSTOM || custom->cls != DREP_SCALAR_REAL)
        return w;
    w.bits = custom->exp_base_log2 == 1 ? custom->mant_width + implied : -custom->mant_width;
    if (__builtin_sub_overflow((int64_t)(custom->exp_base_log2 == 1 ? implied : implied - 1),
                               custom->exp_bias, &w.least) ||
        __builtin_mul_overflow(w.least, (int64_t)custom->exp_base_log2, &w.least))
        w.least = custom->exp_bias > 0 ? -((int64_t)1 << 40) : (int64_t)1 << 40;
    return w;
}

static int load_rows(const char *datarep, drep_encoding *rows, int *n)
{
    int err = drep_datarep_table(datarep, rows, DREP_CODE_MAX, n);

    if (!err && *n > DREP_CODE_MAX)
        *n = DREP_CODE_MAX;
    return err;
}

static void store_rows(struct encoder *e, const drep_encoding *rows, int n,
                       const drep_scalar *scalars, int nscalars)
{
    const drep_scalar none = {0};
    const drep_scalar *custom;
    int i;

    for (i = 0; i < n; i++) {
        if (rows[i].format == DREP_FORMAT_CUSTOM && rows[i].custom >= nscalars)
            continue;
        custom = rows[i].format == DREP_FORMAT_CUSTOM ? &scalars[rows[i].custom] : &none;
        e->stored[rows[i].code] = rows[i].format;
        e->size[rows[i].code] = rows[i].size;
        e->bits[rows[i].code] = format_bits(rows[i].format, custom);
        e->wide[rows[i].code] = wide_form(rows[i].format, custom);
    }
}

int encoder_store(struct encoder *e, const char *datarep)
{
    drep_encoding rows[DREP_CODE_MAX];
    drep_scalar scalars[256];
    int n, nscalars, err = load_rows(datarep, rows, &n);

    if (!err && n == 0) /* functions take what the machine holds */
        err = load_rows("native", rows, &n);
    if (!err)
        err = drep_datarep_scalars(datarep, scalars, 256, &nscalars);
    if (!err)
        store_rows(e, rows, n, scalars, nscalars);
    return err;
}

int file_datareps(const drep_file *file, drep_repinfo **list, int *n)
{
    int room, err = drep_header_datareps(file, NULL, 0, &room);

    *list = NULL;
    *n = 0;
    if (err)
        return err;
    *list = calloc((size_t)room + 1, sizeof **list);
    if (!*list)
        return DREP_ERR_NOMEM;
    err = drep_header_datareps(file, *list, room, n);
    if (*n > room) /* somebody added one */
        *n = room;
    return err;
}

const drep_repinfo *datarep_numbered(const drep_repinfo *list, int n, int number)
{
    int low = 0, high = n;

    while (low < high) {
        int at = low + (high - low) / 2;

        if (list[at].number == number)
            return &list[at];
        if (list[at].number < number)
            low = at + 1;
        else
            high = at;
    }
    return NULL;
}

/* The table of the file has the types that are in use, and counts more than the name. */
static int store_in(struct encoder *e, const drep_file *file, const drep_repinfo *rep)
{
    const drep_encoding *rows;
    const drep_scalar *scalars;
    int n, nscalars, err = encoder_store(e, rep->name);

    if (err)
        err = encoder_store(e, "native");
    if (err || strcmp(rep->form, "table") != 0)
        return err;
    err = drep_header_types(file, rep->number, &rows, &n);
    if (!err)
        err = drep_header_scalars(file, rep->number, &scalars, &nscalars);
    if (!err)
        store_rows(e, rows, n, scalars, nscalars);
    return err;
}

int encoder_store_in(struct encoder *e, const drep_file *file, int number)
{
    drep_repinfo *reps;
    const drep_repinfo *rep;
    int n, err = file_datareps(file, &reps, &n);

    if (!err && (rep = datarep_numbered(reps, n, number)))
        err = store_in(e, file, rep);
    free(reps);
    return err;
}

int encoder_init(struct encoder *e, struct complaints *c)
{
    drep_encoding rows[DREP_CODE_MAX];
    int i, n, err;

    *e = (struct encoder){.c = c};
    err = load_rows("internal", rows, &n);
    for (i = 0; i < n && !err; i++)
        e->plain[rows[i].code] = rows[i];
    return err ? err : encoder_store(e, "native");
}

void elements_release(struct elements *v)
{
    if (v->buf)
        drep_vlen_free(v->type, v->count, v->buf);
    free(v->buf);
    drep_type_free(v->type);
    *v = (struct elements){0};
}

/* --------------------------------------------------- types to hold values as */

int value_pair(drep_type **out)
{
    return drep_type_parse(
        HOST_LITTLE ? "scalar{double-double,little,16}" : "scalar{double-double,big,16}", out);
}

static int value_wide(drep_type **out)
{
    const drep_scalar scalar = number_wide_scalar();

    return drep_type_scalar(&scalar, out);
}

bool encoding_is_real(const drep_encoding *row)
{
    const drep_format_info *f = drep_format_describe(row->format);

    return f && f->type;
}

bool encoding_is_complex(const drep_encoding *row)
{
    return encoding_is_real(row) && row->size == 2 * drep_format_describe(row->format)->size;
}

/* Types for values on their way: HELD, from which storing them rounds once; WIDEST, with
 * all that any machine's representation can hold.  Texts are counted, as they may have NULs. */
enum way { HELD, WIDEST };

/* An integer may have more bytes in the file than here, or the other sign. */
static int integer_on_way(const struct encoder *e, int code, enum way way)
{
    int format = e->plain[code].format, here = (int)drep_type_size(drep_predefined(code));
    int size = e->plain[code].size <= 8 ? e->plain[code].size : here;
    bool other = way == HELD && e->stored[code] != format &&
                 (e->stored[code] == DREP_FORMAT_INT || e->stored[code] == DREP_FORMAT_UINT);

    if (other)
        format = e->stored[code];
    if (way == HELD && e->size[code] > size)
        size = e->size[code];
    if (!other && here >= size)
        return code;
    if (format == DREP_FORMAT_INT)
        return size > 8 ? DREP_CODE_INT128_T : DREP_CODE_INT64_T;
    return size > 8 ? DREP_CODE_UINT128_T : DREP_CODE_UINT64_T;
}

static int code_on_way(const struct encoder *e, int code, enum way way)
{
    int format = e->plain[code].format;

    if (format == DREP_FORMAT_INT || format == DREP_FORMAT_UINT)
        return integer_on_way(e, code, way);
    if (!encoding_is_real(&e->plain[code]))
        return code;
    if (way == WIDEST && format != DREP_FORMAT_BINARY128)
        return code;
    if ((format == DREP_FORMAT_BINARY32 || format == DREP_FORMAT_BINARY64) &&
        e->stored[code] == format)
        return code;
    return encoding_is_complex(&e->plain[code]) ? DREP_CODE_COMPLEX32 : DREP_CODE_FLOAT128;
}

static bool type_on_way(const struct encoder *e, const drep_type *type, enum way way,
                        drep_type **out);

static bool compound_on_way(const struct encoder *e, const drep_type *type, enum way way,
                            drep_type **out)
{
    int64_t i, n = drep_type_members(type);
    const char **names = calloc((size_t)n + 1, sizeof *names);
    const drep_type **types = calloc((size_t)n + 1, sizeof *types);
    bool fine = names && types;
    drep_type *member;

    for (i = 0; i < n && fine; i++) {
        names[i] = drep_type_member_name(type, i);
        fine = type_on_way(e, drep_type_member(type, i), way, &member);
        if (fine)
            types[i] = member;
    }
    if (fine && drep_type_kind(type) == DREP_KIND_STRUCT)
        fine = drep_type_struct(n, NULL, NULL, types, out) == 0;
    else if (fine)
        fine = drep_type_compound(n, names, NULL, types, 0, out) == 0;
    for (i = 0; types && i < n; i++)
        drep_type_free((drep_type *)types[i]);
    free(types);
    free(names);
    return fine;
}

/* The type that elements are held as on their way into a file. Text is converted to it exactly
 * or rounded to odd, so that storing rounds once, whatever the representation. */
static bool type_on_way(const struct encoder *e, const drep_type *type, enum way way,
                        drep_type **out)
{
    int code = drep_type_code(type);
    drep_type *base;
    bool fine;

    switch (drep_type_kind(type)) {
    case DREP_KIND_VSTRING:
        return drep_type_text(out) == 0;
    case DREP_KIND_PREDEFINED:
        if (way == HELD && e->bits[code] == HELD_PAIR && !encoding_is_complex(&e->plain[code]))
            return value_pair(out) == 0;
        if (way == HELD && e->wide[code].bits != 0 && encoding_is_real(&e->plain[code]) &&
            !encoding_is_complex(&e->plain[code]))
            return value_wide(out) == 0;
        *out = drep_type_ref(drep_predefined(code_on_way(e, code, way)));
        return true;
    case DREP_KIND_SCALAR:
        if (way == WIDEST || drep_type_scalar_desc(type)->cls != DREP_SCALAR_REAL)
            break;
        if (drep_type_scalar_desc(type)->format == DREP_FORMAT_DOUBLE_DOUBLE)
            return value_pair(out) == 0;
        if (wide_form(drep_type_scalar_desc(type)->format, drep_type_scalar_desc(type)).bits != 0)
            return value_wide(out) == 0;
        *out = drep_type_ref(DREP_FLOAT128);
        return true;
    case DREP_KIND_COMPOUND:
    case DREP_KIND_STRUCT: /* a compound without names */
        return compound_on_way(e, type, way, out);
    case DREP_KIND_ARRAY:
    case DREP_KIND_SEQUENCE:
        if (!type_on_way(e, drep_type_member(type, 0), way, &base))
            return false;
        if (drep_type_kind(type) == DREP_KIND_SEQUENCE)
            fine = drep_type_sequence(base, out) == 0;
        else
            fine = drep_type_array(drep_type_array_rank(type), drep_type_array_dims(type), base,
                                   out) == 0;
        drep_type_free(base);
        return fine;
    default:
        break;
    }
    *out = drep_type_ref(type);
    return true;
}

/* ------------------------------------------------------------------ leaves */

/* Target of one element. */
struct value_place {
    const drep_type *type; /* what it is */
    const drep_type *held; /* what it is held as: the same tree, with other leaves */
    char *at;
};

static bool put_value(const struct encoder *e, struct value_place p, const struct doc *node);

/* The i-th member's type, `offset` bytes further. */
static struct value_place member_place(struct value_place p, int64_t i, int64_t offset)
{
    return (struct value_place){.type = drep_type_member(p.type, i),
                                .held = drep_type_member(p.held, i),
                                .at = p.at + offset};
}

static bool put_integer(const struct encoder *e, const struct doc *node, int64_t size,
                        bool is_signed, void *at)
{
    struct integer n;

    if (!doc_want(e->c, node, DOC_SCALAR, "an integer"))
        return false;
    if (!number_integer(node->text, &n))
        return complain(e->c, node, "expected an integer, not \"%.100s\"", node->text);
    if (!number_store(&n, size, is_signed, at))
        return complain(e->c, node, "%.100s does not fit %s integer of %d bits", node->text,
                        is_signed ? "a signed" : "an unsigned", (int)size * 8);
    return true;
}

static void store_small(uint64_t value, int64_t size, void *at)
{
    struct integer n = {.low = value};

    number_store(&n, size, false, at);
}

static bool put_boolean(const struct encoder *e, const struct doc *node, int64_t size, void *at)
{
    bool value = doc_is(node, "1");

    if (!value && !doc_is(node, "0") && !doc_boolean(e->c, node, &value))
        return false;
    memset(at, 0, (size_t)size);
    store_small(value, size, at);
    return true;
}

/* The code point, if the text is a single one. */
static bool one_character(const struct doc *node, uint32_t *out)
{
    const unsigned char *p = (const unsigned char *)node->text;
    size_t i, n = node->size == 0 ? 0 : *p < 0x80 ? 1 : *p < 0xe0 ? 2 : *p < 0xf0 ? 3 : 4;
    uint32_t code;

    /* The YAML reader has checked the UTF-8. */
    if (n == 0 || n != node->size)
        return false;
    code = n == 1 ? *p : *p & (0x7fu >> n);
    for (i = 1; i < n; i++)
        code = code << 6 | (p[i] & 0x3fu);
    *out = code;
    return true;
}

static bool put_character(const struct encoder *e, const struct doc *node, int64_t size, void *at)
{
    uint32_t code;

    if (!doc_want(e->c, node, DOC_SCALAR, "a character"))
        return false;
    if (!one_character(node, &code)) {
        if (!node->quoted && number_is_integer(node->text))
            return put_integer(e, node, size, false, at);
        return complain(e->c, node, "expected one character, not \"%.100s\"", node->text);
    }
    if (size < 4 && code >> (8 * size))
        return complain(e->c, node, "\"%s\" does not fit a character of %d byte%s", node->text,
                        (int)size, size > 1 ? "s" : "");
    store_small(code, size, at);
    return true;
}

static bool put_wide(const struct encoder *e, const struct doc *node, struct wide_form form,
                     void *at)
{
    return doc_want(e->c, node, DOC_SCALAR, "a number") &&
           (number_wide(node->text, form, at) ||
            complain(e->c, node, "expected a number of this type, not \"%.100s\"", node->text));
}

/* size: of the real it is held as. */
static bool put_real(const struct encoder *e, const struct doc *node, int64_t size, int bits,
                     void *at)
{
    double d, pair[2];
    float f;
    bool fine;

    if (!doc_want(e->c, node, DOC_SCALAR, "a number"))
        return false;
    if (bits == HELD_PAIR) {
        fine = number_pair(node->text, pair);
        if (fine)
            memcpy(at, pair, sizeof pair);
    } else if (size == sizeof f) {
        fine = number_float(node->text, &f);
        if (fine)
            memcpy(at, &f, sizeof f);
    } else if (size == sizeof d) {
        fine = number_double(node->text, &d);
        if (fine)
            memcpy(at, &d, sizeof d);
    } else {
        fine = number_quad(node->text, bits, at);
    }
    if (fine)
        return true;
    return complain(e->c, node, "expected a number of this type, not \"%.100s\"", node->text);
}

/* A part of a complex whose format goes beyond binary128, as which it is held nevertheless: a
 * complex has no scalar of its own.  What that would round is refused. */
static bool put_part(const struct encoder *e, const struct doc *node, int code, char *at)
{
    drep_report report = DREP_REPORT;
    drep_xfer xfer = DREP_XFER(.range = DREP_RANGE_CLAMP, .report = &report);
    char part[NUMBER_WIDE_SIZE];
    drep_type *type = NULL;
    bool pair = e->bits[code] == HELD_PAIR,
         fine = pair ? put_real(e, node, 2 * sizeof(double), HELD_PAIR, part)
                     : put_wide(e, node, e->wide[code], part);
    int err = !fine ? 0 : pair ? value_pair(&type) : value_wide(&type);

    if (fine && !err)
        err = drep_convert(DREP_FLOAT128, at, type, part, 1, &xfer);
    drep_type_free(type);
    if (err)
        return complain(e->c, node, "%s", drep_strerror(err));
    return fine &&
           ((!report.inexact && !report.overflow) ||
            complain(e->c, node,
                     "\"%.100s\" in a complex number has more digits, or another power, than "
                     "binary128 holds",
                     node->text));
}

static bool put_complex(const struct encoder *e, const struct doc *node, int64_t size, int code,
                        char *at)
{
    int bits = e->bits[code];

    if (node->kind != DOC_LIST || node->len != 2)
        return complain(e->c, node, "expected a complex number, [real, imaginary]");
    if (size == 16 && (bits == HELD_PAIR || e->wide[code].bits != 0))
        return put_part(e, node->item[0], code, at) && put_part(e, node->item[1], code, at + size);
    return put_real(e, node->item[0], size, bits, at) &&
           put_real(e, node->item[1], size, bits, at + size);
}

static bool put_predefined(const struct encoder *e, struct value_place p, const struct doc *node)
{
    int code = drep_type_code(p.type), format = e->plain[code].format, bits = e->bits[code];
    int held = drep_type_code(p.held); /* an integer of the sign that it is stored with */
    int64_t size = drep_type_size(p.held);
    void *at = p.at;

    switch (format) {
    case DREP_FORMAT_BYTES:
        return put_integer(e, node, size, false, at);
    case DREP_FORMAT_UINT:
    case DREP_FORMAT_INT:
        return put_integer(e, node, size, e->plain[held].format == DREP_FORMAT_INT, at);
    case DREP_FORMAT_CHAR:
    case DREP_FORMAT_UNICODE:
        return put_character(e, node, size, at);
    case DREP_FORMAT_BOOL:
        return put_boolean(e, node, size, at);
    default:
        if (size == NUMBER_WIDE_SIZE && drep_type_kind(p.held) == DREP_KIND_SCALAR)
            return put_wide(e, node, e->wide[code], at);
        if (encoding_is_complex(&e->plain[code]))
            return put_complex(e, node, size / 2, code, at);
        if (bits == HELD_PAIR && drep_type_kind(p.held) != DREP_KIND_SCALAR)
            bits = 113;
        return put_real(e, node, size, bits, at);
    }
}

/* An integer scalar is held as its description says, bit by bit; one of a format that has
 * a name is all value. */
static bool put_bits(const struct encoder *e, const drep_scalar *scalar, const struct doc *node,
                     unsigned char *at)
{
    bool custom = scalar->format == DREP_FORMAT_CUSTOM;
    bool is_signed = custom ? scalar->cls == DREP_SCALAR_INT && scalar->is_signed
                            : scalar->format == DREP_FORMAT_INT;
    unsigned bits = custom ? scalar->precision : 8u * scalar->size;
    unsigned offset = custom ? scalar->offset : 0, i, bit, byte;
    uint64_t low, high, above;
    struct integer n;

    if (!doc_want(e->c, node, DOC_SCALAR, "an integer"))
        return false;
    if (!number_integer(node->text, &n))
        return complain(e->c, node, "expected an integer, not \"%.100s\"", node->text);
    low = number_low(&n);
    high = number_high(&n);
    for (i = bits; i < 128; i++) {
        above = i < 64 ? low >> i & 1 : high >> (i - 64) & 1;
        if (above != (is_signed && n.negative) || (n.negative && !is_signed))
            return complain(e->c, node, "%.100s does not fit %u bits", node->text, bits);
    }
    memset(at, 0, scalar->size);
    for (i = 0; i < bits && i < 128; i++) {
        if (!((i < 64 ? low >> i : high >> (i - 64)) & 1))
            continue;
        bit = offset + i;
        byte = bit / 8;
        if (scalar->order == DREP_BIG)
            byte = scalar->size - 1u - byte;
        else if (scalar->order == DREP_VAX && scalar->size > 1)
            byte = (scalar->size / 2u - 1 - byte / 2) * 2 + byte % 2;
        if (byte < scalar->size)
            at[byte] |= (unsigned char)(1u << bit % 8);
    }
    return true;
}

static bool put_scalar(const struct encoder *e, struct value_place p, const struct doc *node)
{
    const drep_scalar *scalar = drep_type_scalar_desc(p.type);

    if (scalar->cls != DREP_SCALAR_REAL)
        return put_bits(e, scalar, node, (unsigned char *)p.at);
    if (drep_type_size(p.held) == NUMBER_WIDE_SIZE)
        return put_wide(e, node, wide_form(scalar->format, scalar), p.at);
    return put_real(e, node, drep_type_size(p.held), format_bits(scalar->format, scalar), p.at);
}

/* ------------------------------------------------------------ bytes and text */

static int hex_digit(char c)
{
    return c >= '0' && c <= '9'   ? c - '0'
           : c >= 'a' && c <= 'f' ? c - 'a' + 10
           : c >= 'A' && c <= 'F' ? c - 'A' + 10
                                  : -1;
}

/* Hexadecimal digits to bytes, malloc'ed. */
static bool from_hex(const struct encoder *e, const struct doc *node, char **out, size_t *size)
{
    char *bytes;
    size_t i;

    if (!doc_want(e->c, node, DOC_SCALAR, "hexadecimal digits"))
        return false;
    for (i = 0; i < node->size; i++)
        if (hex_digit(node->text[i]) < 0)
            break;
    if (i < node->size || node->size % 2)
        return complain(e->c, node, "expected hexadecimal digits, two a byte");
    bytes = malloc(node->size / 2 + 1);
    if (!bytes)
        return complain(e->c, node, "out of memory");
    for (i = 0; i < node->size / 2; i++)
        bytes[i] = (char)(hex_digit(node->text[2 * i]) << 4 | hex_digit(node->text[2 * i + 1]));
    bytes[i] = '\0';
    *out = bytes;
    *size = i;
    return true;
}

/* Text, or {hex: ...} for bytes that are no UTF-8; malloc'ed with a NUL behind. */
static bool get_text(const struct encoder *e, const struct doc *node, char **out, size_t *size)
{
    static const char *const keys[] = {"hex", NULL};
    char *text;

    if (node->kind == DOC_MAP && doc_get(node, "hex"))
        return doc_keys(e->c, node, keys) && from_hex(e, doc_get(node, "hex"), out, size);
    if (!doc_want(e->c, node, DOC_SCALAR, "a text"))
        return false;
    text = malloc(node->size + 1);
    if (!text)
        return complain(e->c, node, "out of memory");
    memcpy(text, node->text, node->size + 1);
    *out = text;
    *size = node->size;
    return true;
}

static bool put_string(const struct encoder *e, const drep_type *type, const struct doc *node,
                       char *at)
{
    size_t room = (size_t)drep_type_size(type), size;
    int pad = drep_type_string_pad(type);
    char *text;

    if (!get_text(e, node, &text, &size))
        return false;
    /* A NUL-terminated string may be full without a NUL: HDF5 files have such. */
    if (size > room) {
        free(text);
        return complain(e->c, node, "a text of %zu bytes does not fit a string of %zu", size, room);
    }
    memset(at, pad == DREP_PAD_SPACE ? ' ' : 0, room);
    memcpy(at, text, size);
    free(text);
    return true;
}

static bool put_vstring(const struct encoder *e, const drep_type *held, const struct doc *node,
                        void *at)
{
    bool counted = drep_type_counted(held);
    drep_vlen v;
    size_t size;
    char *text;

    if (!get_text(e, node, &text, &size))
        return false;
    if (!counted && strlen(text) != size) {
        free(text);
        return complain(e->c, node, "this text cannot contain a NUL here");
    }
    v = (drep_vlen){(int64_t)size, text};
    if (counted)
        memcpy(at, &v, sizeof v);
    else
        memcpy(at, &text, sizeof text);
    return true;
}

static bool put_opaque(const struct encoder *e, const drep_type *type, const struct doc *node,
                       void *at)
{
    size_t want = (size_t)drep_type_size(type), size;
    char *bytes;
    bool fine;

    if (!from_hex(e, node, &bytes, &size))
        return false;
    fine = size == want;
    if (fine)
        memcpy(at, bytes, size);
    else
        complain(e->c, node, "expected %zu bytes, not %zu", want, size);
    free(bytes);
    return fine;
}

static bool base_is_signed(const struct encoder *e, const drep_type *base)
{
    const drep_scalar *s = drep_type_scalar_desc(base);
    int format = s ? s->format : e->plain[drep_type_code(base)].format;

    return format == DREP_FORMAT_INT || (format == DREP_FORMAT_CUSTOM && s->is_signed);
}

static bool put_enum(const struct encoder *e, const drep_type *type, const struct doc *node,
                     void *at)
{
    const drep_type *base = drep_type_member(type, 0);
    int64_t i, n = drep_type_enum_count(type), value;
    struct doc number = {.kind = DOC_SCALAR, .line = node->line, .column = node->column};
    char digits[24];

    if (!doc_want(e->c, node, DOC_SCALAR, "a name"))
        return false;
    for (i = 0; i < n && strcmp(drep_type_enum_name(type, i), node->text) != 0; i++)
        ;
    if (i == n && !number_is_integer(node->text))
        return complain(e->c, node, "\"%.100s\" is not a name of this enum", node->text);
    number.text = node->text;
    if (i < n) {
        value = drep_type_enum_value(type, i);
        if (base_is_signed(e, base))
            snprintf(digits, sizeof digits, "%lld", (long long)value);
        else /* the value of a name is the u64 of the same bits (R5.13) */
            snprintf(digits, sizeof digits, "%llu", (unsigned long long)value);
        number.text = digits;
    }
    return put_value(e, (struct value_place){.type = base, .held = base, .at = at}, &number);
}

/* -------------------------------------------------------------- references */

static bool find_object(const struct encoder *e, const struct doc *node, uint64_t *id)
{
    const char *path;

    if (!doc_string(e->c, node, &path))
        return false;
    *id = 0;
    if (e->object)
        *id = e->object(e->ctx, path);
    if (e->object ? *id == 0 : e->exists && !e->exists(e->ctx, path))
        return complain(e->c, node, "no object \"%s\"", path);
    return true;
}

/* Encode a reference. While a schema is only checked, objects have no ids yet: then it counts
 * that they exist. */
static bool put_reference(const struct encoder *e, const drep_type *type, const struct doc *node,
                          void *at)
{
    static const char *const keys[] = {"object", "region", NULL};
    const struct doc *object = node, *region = NULL;
    const char *text;
    drep_ref ref = {0};

    if (doc_null(node)) {
        memcpy(at, &ref, sizeof ref);
        return true;
    }
    if (drep_type_reference_what(type) == DREP_REF_REGION) {
        if (!doc_want(e->c, node, DOC_MAP, "{object: PATH, region: TEXT}") ||
            !doc_keys(e->c, node, keys))
            return false;
        object = doc_get(node, "object");
        region = doc_get(node, "region");
        if (!object || !region)
            return complain(e->c, node, "a region reference has an object and a region");
    }
    if (doc_null(object))
        ref.object = 0;
    else if (!find_object(e, object, &ref.object))
        return false;
    if (region) {
        if (!doc_string(e->c, region, &text))
            return false;
        ref.region = strdup(text);
        if (!ref.region)
            return complain(e->c, node, "out of memory");
    }
    memcpy(at, &ref, sizeof ref);
    return true;
}

/* ------------------------------------------------------- what is composite */

/* p moves on. */
static bool put_lists(const struct encoder *e, struct value_place *p, int rank, const int64_t *dims,
                      const struct doc *node)
{
    bool fine = true;
    size_t i;

    if (rank == 0) {
        fine = put_value(e, *p, node);
        p->at += drep_type_extent(p->held);
        return fine;
    }
    if (!doc_want(e->c, node, DOC_LIST, "a list"))
        return false;
    if ((int64_t)node->len != dims[0])
        return complain(e->c, node, "expected %lld values, not %zu", (long long)dims[0], node->len);
    for (i = 0; i < node->len; i++)
        fine = put_lists(e, p, rank - 1, dims + 1, node->item[i]) && fine;
    return fine;
}

static bool put_array(const struct encoder *e, struct value_place p, const struct doc *node)
{
    struct value_place item = member_place(p, 0, 0);

    return put_lists(e, &item, drep_type_array_rank(p.type), drep_type_array_dims(p.type), node);
}

/* Encode a compound, by a list in the order of the members or by a map of their names. */
static bool is_compound(int kind)
{
    return kind == DREP_KIND_COMPOUND || kind == DREP_KIND_STRUCT;
}

static bool put_compound(const struct encoder *e, struct value_place p, const struct doc *node)
{
    const drep_type *type = p.type;
    int64_t i, n = drep_type_members(type);
    const char **names;
    const struct doc *item;
    bool fine = true;

    if (node->kind == DOC_LIST || drep_type_kind(type) == DREP_KIND_STRUCT) {
        if (!doc_want(e->c, node, DOC_LIST, "a list of members"))
            return false;
        if ((int64_t)node->len != n)
            return complain(e->c, node, "expected %lld members, not %zu", (long long)n, node->len);
        for (i = 0; i < n; i++)
            fine = put_value(e, member_place(p, i, drep_type_member_offset(p.held, i)),
                             node->item[i]) &&
                   fine;
        return fine;
    }
    if (!doc_want(e->c, node, DOC_MAP, "a map of members"))
        return false;
    names = calloc((size_t)n + 1, sizeof *names);
    if (!names)
        return complain(e->c, node, "out of memory");
    for (i = 0; i < n; i++) {
        names[i] = drep_type_member_name(type, i) ? drep_type_member_name(type, i) : "";
        item = doc_get(node, names[i]);
        if (!item)
            fine = complain(e->c, node, "member \"%s\" is missing", names[i]);
        else
            fine =
                put_value(e, member_place(p, i, drep_type_member_offset(p.held, i)), item) && fine;
    }
    fine = doc_keys(e->c, node, names) && fine;
    free(names);
    return fine;
}

/* The element owns the data from here on. */
static void give_sequence(drep_vlen vlen, void *at)
{
    memcpy(at, &vlen, sizeof vlen);
}

static bool put_sequence(const struct encoder *e, struct value_place p, const struct doc *node)
{
    struct value_place item = member_place(p, 0, 0);
    int64_t extent = drep_type_extent(item.held);
    drep_vlen vlen = {0};
    bool fine = true;
    size_t i;

    if (!doc_want(e->c, node, DOC_LIST, "a list"))
        return false;
    if (node->len == 0)
        return true; /* zeros are an empty sequence */
    if (extent > 0 && (int64_t)node->len > VALUES_MAX / extent)
        return complain(e->c, node, "more values than a schema may hold");
    vlen.data = calloc(node->len, (size_t)(extent > 0 ? extent : 1));
    if (!vlen.data)
        return complain(e->c, node, "out of memory");
    vlen.count = (int64_t)node->len;
    item.at = vlen.data;
    for (i = 0; i < node->len; i++, item.at += extent)
        fine = put_value(e, item, node->item[i]) && fine;
    give_sequence(vlen, p.at);
    return fine;
}

/* Encode one element by the kind of its type. All errors below are reported, not just the first. */
static bool put_value(const struct encoder *e, struct value_place p, const struct doc *node)
{
    const drep_type *type = p.type;
    void *at = p.at;

    switch (drep_type_kind(type)) {
    case DREP_KIND_PREDEFINED:
        return put_predefined(e, p, node);
    case DREP_KIND_SCALAR:
        return put_scalar(e, p, node);
    case DREP_KIND_STRING:
        return put_string(e, type, node, at);
    case DREP_KIND_OPAQUE:
        return put_opaque(e, type, node, at);
    case DREP_KIND_ENUM:
        return put_enum(e, type, node, at);
    case DREP_KIND_BOOLEAN:
        return put_boolean(e, node, drep_type_size(type), at);
    case DREP_KIND_ARRAY:
        return put_array(e, p, node);
    case DREP_KIND_COMPOUND:
    case DREP_KIND_STRUCT:
        return put_compound(e, p, node);
    case DREP_KIND_SEQUENCE:
        return put_sequence(e, p, node);
    case DREP_KIND_VSTRING:
        return put_vstring(e, p.held, node, at);
    case DREP_KIND_REFERENCE:
        return put_reference(e, type, node, at);
    default:
        return complain(e->c, node, "a datatype that cannot have values here");
    }
}

/* ------------------------------------------------------------------ values */

/* Infer the shape of nested lists: all siblings must agree. Returns the rank, or -1 after
 * complaining. */
int value_shape(struct complaints *c, const struct doc *node, int64_t *dims)
{
    int64_t inner[DREP_MAX_RANK], first[DREP_MAX_RANK];
    int rank = 0, r;
    size_t i;

    if (node->kind != DOC_LIST)
        return 0;
    for (i = 0; i < node->len; i++) {
        r = value_shape(c, node->item[i], inner);
        if (r < 0)
            return -1;
        if (r + 1 > DREP_MAX_RANK) {
            complain(c, node, "more than %d dimensions", DREP_MAX_RANK);
            return -1;
        }
        if (i == 0) {
            rank = r;
            memcpy(first, inner, sizeof first);
        } else if (r != rank || memcmp(first, inner, (size_t)r * sizeof *first) != 0) {
            complain(c, node->item[i], "its shape differs from that of the values before it");
            return -1;
        }
    }
    dims[0] = (int64_t)node->len;
    memcpy(dims + 1, first, (size_t)rank * sizeof *first);
    return rank + 1;
}

bool value_is_list(const struct encoder *e, const drep_type *type)
{
    int kind = drep_type_kind(type);

    if (kind == DREP_KIND_PREDEFINED)
        return encoding_is_complex(&e->plain[drep_type_code(type)]);
    return kind == DREP_KIND_ARRAY || kind == DREP_KIND_SEQUENCE || is_compound(kind);
}

/* The element count is bounded before anything is allocated: dims come from the schema. */
bool elements_encode(const struct encoder *e, const drep_type *type, int rank, const int64_t *dims,
                     const struct doc *node, struct elements *out)
{
    struct elements v = {.count = 1};
    struct value_place p;
    int64_t extent;
    int d;

    if (!type_on_way(e, type, HELD, &v.type))
        return complain_error(e->c, node, "datatype");
    extent = drep_type_extent(v.type);
    for (d = 0; d < rank; d++) {
        if (dims[d] < 0 || (dims[d] > 0 && v.count > VALUES_MAX / dims[d]))
            break;
        v.count *= dims[d];
    }
    if (d < rank || (extent > 0 && v.count > VALUES_MAX / extent)) {
        drep_type_free(v.type);
        return complain(e->c, node, "more values than a schema may hold");
    }
    v.buf = calloc((size_t)v.count + 1, (size_t)(extent > 0 ? extent : 1));
    p = (struct value_place){.type = type, .held = v.type, .at = v.buf};
    if (!v.buf)
        complain(e->c, node, "out of memory");
    if (v.buf && put_lists(e, &p, rank, dims, node)) {
        *out = v;
        return true;
    }
    elements_release(&v);
    return false;
}

bool encoder_held(const struct encoder *e, const drep_type *type, drep_type **held)
{
    return type_on_way(e, type, HELD, held);
}

bool encoder_put(const struct encoder *e, const drep_type *type, const drep_type *held,
                 const struct doc *node, void *at)
{
    return put_value(e, (struct value_place){.type = type, .held = held, .at = at}, node);
}

/* The value that the item with this number, counted in the elements of a node, came from;
 * the number is what is left of it when this gives NULL. */
static const struct doc *find_item(const drep_type *type, int rank, const struct doc *node,
                                   int64_t *item)
{
    int kind = drep_type_kind(type);
    const struct doc *found = NULL, *value;
    int64_t i;

    if (rank > 0 || kind == DREP_KIND_ARRAY || is_compound(kind)) {
        if (rank == 0 && kind == DREP_KIND_ARRAY) {
            rank = drep_type_array_rank(type);
            type = drep_type_member(type, 0);
            kind = DREP_KIND_ARRAY;
        }
        for (i = 0; i < (int64_t)node->len && !found; i++) {
            value = node->item[i];
            if (rank > 0) {
                found = find_item(type, rank - 1, value, item);
                continue;
            }
            if (node->kind == DOC_MAP)
                value = doc_get(node, drep_type_member_name(type, i));
            found = find_item(drep_type_member(type, i), 0, value, item);
        }
        return found;
    }
    if (*item < drep_type_items(type))
        return node;
    *item -= drep_type_items(type);
    return NULL;
}

bool value_complain(struct complaints *c, const drep_type *type, int rank, const struct doc *node,
                    const drep_report *report, const char *what)
{
    int64_t item = report->first_overflow;
    const struct doc *found = NULL;

    if (item < 0)
        item = report->first_nan_lost;
    if (item >= 0)
        found = find_item(type, rank, node, &item);
    return complain_error(c, found ? found : node, what);
}

static bool has_hex(const struct doc *node)
{
    size_t i;

    if (node->kind == DOC_SCALAR)
        return number_is_hex(node->text);
    for (i = 0; i < node->len; i++)
        if (has_hex(node->item[i]))
            return true;
    return false;
}

/* Decimals are rounded.  Hexadecimal numbers are written to be read as they are, as by dump of a
 * long double of another machine. */
static bool hex_is_exact(struct complaints *c, const drep_type *type, int rank,
                         const struct doc *node, const drep_report *report)
{
    int64_t item = report->first_inexact;
    const struct doc *found = item < 0 ? NULL : find_item(type, rank, node, &item);

    return !found || !has_hex(found) ||
           complain(
               c, found,
               "a hexadecimal number with more digits than this machine's type has; a decimal is "
               "rounded");
}

/* The elements of a node as `to`; `type` is what they are. */
static bool encode_as(const struct encoder *e, const drep_type *type, const drep_type *to, int rank,
                      const int64_t *dims, const struct doc *node, struct elements *out)
{
    struct elements held, v = {0};
    int64_t extent = drep_type_extent(to);
    drep_report report = {.size = sizeof(drep_report),
                          .first_overflow = -1,
                          .first_inexact = -1,
                          .first_nan_lost = -1};
    drep_xfer strict = DREP_XFER(.range = DREP_RANGE_STRICT, .report = &report);
    int err = 0;

    if (!elements_encode(e, type, rank, dims, node, &held))
        return false;
    if (drep_type_equal(held.type, to)) {
        *out = held;
        return true;
    }
    v.type = drep_type_ref(to);
    v.count = held.count;
    v.buf = calloc((size_t)v.count + 1, (size_t)(extent > 0 ? extent : 1));
    if (v.buf && v.count > 0)
        err = drep_convert(to, v.buf, held.type, held.buf, held.count, &strict);
    elements_release(&held);
    if (v.buf && !err && hex_is_exact(e->c, type, rank, node, &report)) {
        *out = v;
        return true;
    }
    if (err)
        value_complain(e->c, type, rank, node, &report, "value");
    else if (!v.buf)
        complain(e->c, node, "out of memory");
    elements_release(&v);
    return false;
}

bool elements_encode_exact(const struct encoder *e, const drep_type *type, int rank,
                           const int64_t *dims, const struct doc *node, struct elements *out)
{
    drep_type *held;
    bool fine;

    if (drep_type_with_texts(type, &held))
        return complain_error(e->c, node, "datatype");
    fine = encode_as(e, type, held, rank, dims, node, out);
    drep_type_free(held);
    return fine;
}

bool value_fits(const struct encoder *e, const drep_type *type, int rank, const int64_t *dims,
                const struct doc *node)
{
    struct elements v;
    drep_type *widest;
    bool fine;

    if (!type_on_way(e, type, WIDEST, &widest))
        return complain_error(e->c, node, "datatype");
    fine = encode_as(e, type, widest, rank, dims, node, &v);
    if (fine)
        elements_release(&v);
    drep_type_free(widest);
    return fine;
}

/* ----------------------------------------------------------------- guesses */

enum guess { GUESS_NONE, GUESS_INTEGER, GUESS_UNSIGNED, GUESS_REAL, GUESS_BOOLEAN, GUESS_TEXT };

static enum guess guess_leaf(const struct doc *node)
{
    struct integer n;
    int64_t here;

    if (node->kind == DOC_MAP)
        return doc_get(node, "hex") ? GUESS_TEXT : GUESS_NONE;
    if (node->quoted)
        return GUESS_TEXT;
    if (doc_null(node))
        return GUESS_NONE;
    if (doc_is(node, "true") || doc_is(node, "True") || doc_is(node, "TRUE") ||
        doc_is(node, "false") || doc_is(node, "False") || doc_is(node, "FALSE"))
        return GUESS_BOOLEAN;
    if (number_integer(node->text, &n))
        return number_store(&n, 8, true, &here) ? GUESS_INTEGER : GUESS_UNSIGNED;
    return number_is_real(node->text) ? GUESS_REAL : GUESS_TEXT;
}

/* Combine the guesses of two values in one list; GUESS_NONE: they do not go together. */
static enum guess guess_both(enum guess a, enum guess b)
{
    if (a == b)
        return a;
    if (a > GUESS_REAL || b > GUESS_REAL || !a || !b)
        return GUESS_NONE;
    return a > b ? a : b;
}

static enum guess guess_node(struct complaints *c, const struct doc *node)
{
    enum guess all = GUESS_NONE, one;
    size_t i;

    if (node->kind != DOC_LIST) {
        all = guess_leaf(node);
        if (!all)
            complain(c, node, "no datatype follows from this; say {type: TYPE, value: ...}");
        return all;
    }
    if (node->len == 0)
        complain(c, node, "no datatype follows from an empty list; say {type: TYPE, shape: [0]}");
    for (i = 0; i < node->len; i++) {
        one = guess_node(c, node->item[i]);
        if (!one)
            return GUESS_NONE;
        all = i ? guess_both(all, one) : one;
        if (!all) {
            complain(c, node->item[i], "its kind differs from that of the values before it");
            return GUESS_NONE;
        }
    }
    return all;
}

bool value_guess(struct complaints *c, const struct doc *node, drep_type **type, int *rank,
                 int64_t *dims)
{
    enum guess guess = guess_node(c, node);
    drep_type *t = NULL;
    int r, err = 0;

    if (!guess)
        return false;
    r = value_shape(c, node, dims);
    if (r < 0)
        return false;
    if (guess == GUESS_TEXT)
        err = drep_type_vstring(&t);
    else if (guess == GUESS_BOOLEAN)
        err = drep_type_boolean(DREP_INT8_T, &t);
    else
        t = drep_type_ref(guess == GUESS_REAL       ? DREP_DOUBLE
                          : guess == GUESS_UNSIGNED ? DREP_UINT64_T
                                                    : DREP_INT64_T);
    if (err)
        return complain_error(c, node, "datatype");
    *type = t;
    *rank = r;
    return true;
}
