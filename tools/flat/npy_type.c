/* npy_type.c - NumPy's dtypes and our datatypes. */
/* SPDX-License-Identifier: MIT */
#include "format/byteorder.h"
#include "format/utf8.h"
#include "tools/flat/npy.h"
#include "tools/text/real.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ------------------------------------------------------- a dtype's three types */

/* A long double is 80 bits of x87 where the order is little, as on the machines that NumPy
 * runs on most. */
static int real_format(const struct npy_dtype *d, int64_t size)
{
    switch (size) {
    case 2:
        return DREP_FORMAT_BINARY16;
    case 4:
        return DREP_FORMAT_BINARY32;
    case 8:
        return DREP_FORMAT_BINARY64;
    case 12:
        return d->order == '<' ? DREP_FORMAT_X87 : DREP_FORMAT_M68K;
    default:
        return d->order == '<' ? DREP_FORMAT_X87 : DREP_FORMAT_BINARY128;
    }
}

static int scalar_type(const struct npy_dtype *d, int cls, int format, int64_t size,
                       drep_type **out)
{
    drep_scalar scalar = {.cls = (uint8_t)cls,
                          .order = d->order == '>' ? DREP_BIG : DREP_LITTLE,
                          .size = (uint8_t)size,
                          .is_signed = format == DREP_FORMAT_INT,
                          .format = (uint8_t)format};

    return drep_type_scalar(&scalar, out);
}

static int predefined(int code, drep_type **out)
{
    *out = drep_type_ref(drep_predefined(code));
    return 0;
}

static int integer_code(int64_t size, bool is_signed)
{
    switch (size) {
    case 1:
        return is_signed ? DREP_CODE_INT8_T : DREP_CODE_UINT8_T;
    case 2:
        return is_signed ? DREP_CODE_INT16_T : DREP_CODE_UINT16_T;
    case 4:
        return is_signed ? DREP_CODE_INT32_T : DREP_CODE_UINT32_T;
    default:
        return is_signed ? DREP_CODE_INT64_T : DREP_CODE_UINT64_T;
    }
}

static int real_code(int64_t size)
{
    return size == 2   ? DREP_CODE_FLOAT16
           : size == 4 ? DREP_CODE_FLOAT
           : size == 8 ? DREP_CODE_DOUBLE
                       : DREP_CODE_FLOAT128;
}

static int integer_types(const struct npy_dtype *d, struct npy_types *out)
{
    bool is_signed = d->kind != 'u';
    int err = scalar_type(d, DREP_SCALAR_INT, is_signed ? DREP_FORMAT_INT : DREP_FORMAT_UINT,
                          d->size, &out->file);

    if (!err)
        err = predefined(integer_code(d->size, is_signed), &out->numbers);
    out->stored = drep_type_ref(out->numbers);
    return err;
}

static int real_types(const struct npy_dtype *d, struct npy_types *out)
{
    int err = scalar_type(d, DREP_SCALAR_REAL, real_format(d, d->size), d->size, &out->file);

    if (!err)
        err = predefined(real_code(d->size), &out->numbers);
    out->stored = drep_type_ref(out->numbers);
    return err;
}

/* `count` of each. */
static int repeat(struct npy_types *t, int rank, const int64_t *dims, bool stored)
{
    drep_type *file = NULL, *numbers = NULL, *kept = NULL;
    int err = drep_type_array(rank, dims, t->file, &file);

    if (!err)
        err = drep_type_array(rank, dims, t->numbers, &numbers);
    if (!err && stored)
        err = drep_type_array(rank, dims, t->stored, &kept);
    if (err) {
        drep_type_free(file);
        drep_type_free(numbers);
        return err;
    }
    drep_type_free(t->file);
    drep_type_free(t->numbers);
    t->file = file;
    t->numbers = numbers;
    if (stored) {
        drep_type_free(t->stored);
        t->stored = kept;
    }
    return 0;
}

static int complex_types(const struct npy_dtype *d, struct npy_types *out)
{
    static const int64_t two = 2;
    struct npy_dtype part = {.kind = 'f', .order = d->order, .size = d->size / 2};
    int err = real_types(&part, out);

    if (!err)
        err = repeat(out, 1, &two, false);
    drep_type_free(out->stored);
    out->stored = drep_type_ref(drep_predefined(d->size == 8    ? DREP_CODE_C_FLOAT_COMPLEX
                                                : d->size == 16 ? DREP_CODE_C_DOUBLE_COMPLEX
                                                                : DREP_CODE_COMPLEX32));
    return err;
}

static int text_types(const struct npy_dtype *d, struct npy_types *out)
{
    struct npy_dtype one = {.kind = 'u', .order = d->order, .size = 4};
    int64_t len = d->size / 4;
    int err = integer_types(&one, out);

    if (!err)
        err = repeat(out, 1, &len, false);
    drep_type_free(out->stored);
    out->stored = NULL;
    out->text = true;
    return err ? err : drep_type_vstring(&out->stored);
}

/* Types that do not depend on the machine. */
static int plain_types(const struct npy_dtype *d, struct npy_types *out)
{
    int err;

    if (d->kind == 'b')
        err = drep_type_boolean(DREP_INT8_T, &out->file);
    else if (d->kind == 'S')
        err = drep_type_string(d->size, DREP_PAD_NUL, &out->file);
    else
        err = drep_type_opaque(d->size, NULL, &out->file);
    out->numbers = drep_type_ref(out->file);
    out->stored = drep_type_ref(out->file);
    return err;
}

struct npy_fields {
    const char **name;
    int64_t *offset;
    struct npy_types *types;
    const drep_type **list;
    int64_t n;
};

static int columns_type(struct npy_fields *c, const int64_t *offset, int64_t size, int which,
                        drep_type **out)
{
    int64_t i;

    for (i = 0; i < c->n; i++)
        c->list[i] = which == 0   ? c->types[i].file
                     : which == 1 ? c->types[i].numbers
                                  : c->types[i].stored;
    return drep_type_compound(c->n, c->name, offset, c->list, size, out);
}

static int field_types(const struct npy_dtype *d, struct npy_fields *c, struct npy_types *out)
{
    int err = 0;
    size_t i;

    for (i = 0; i < d->nfields && !err; i++) {
        if (d->field[i].pad)
            continue;
        c->name[c->n] = d->field[i].name;
        c->offset[c->n] = d->field[i].offset;
        err = npy_types(&d->field[i].type, &c->types[c->n]);
        out->text = out->text || c->types[c->n].text;
        c->n++;
    }
    if (!err)
        err = columns_type(c, c->offset, d->size, 0, &out->file);
    if (!err)
        err = columns_type(c, NULL, 0, 1, &out->numbers);
    return err ? err : columns_type(c, NULL, 0, 2, &out->stored);
}

static int struct_types(const struct npy_dtype *d, struct npy_types *out)
{
    struct npy_fields c = {.name = calloc(d->nfields + 1, sizeof *c.name),
                           .offset = calloc(d->nfields + 1, sizeof *c.offset),
                           .types = calloc(d->nfields + 1, sizeof *c.types),
                           .list = calloc(d->nfields + 1, sizeof *c.list)};
    int err = DREP_ERR_NOMEM;
    int64_t i;

    if (c.name && c.offset && c.types && c.list)
        err = field_types(d, &c, out);
    for (i = 0; i < c.n; i++)
        npy_types_release(&c.types[i]);
    free(c.name);
    free(c.offset);
    free(c.types);
    free(c.list);
    return err;
}

int npy_types(const struct npy_dtype *d, struct npy_types *out)
{
    struct npy_types t = {0};
    int err;

    if (d->kind == '{')
        err = struct_types(d, &t);
    else if (strchr("iuMm", d->kind))
        err = integer_types(d, &t);
    else if (d->kind == 'f')
        err = real_types(d, &t);
    else if (d->kind == 'c')
        err = complex_types(d, &t);
    else if (d->kind == 'U')
        err = text_types(d, &t);
    else
        err = plain_types(d, &t);
    if (!err && d->rank > 0)
        err = repeat(&t, d->rank, d->dims, true);
    if (err)
        npy_types_release(&t);
    else
        *out = t;
    return err;
}

void npy_types_release(struct npy_types *types)
{
    drep_type_free(types->file);
    drep_type_free(types->numbers);
    drep_type_free(types->stored);
    *types = (struct npy_types){0};
}

/* ------------------------------------------------------------ a type's dtype */

struct finder {
    int64_t text;
    const char *what;
    bool exact;
    drep_encoding plain[DREP_CODE_MAX + 1];
};

static bool find_dtype(struct finder *f, const drep_type *type, int depth, struct npy_dtype *out);

static bool none(struct finder *f, const char *what)
{
    f->what = what;
    return false;
}

static bool leaf(struct npy_dtype *out, char kind, int64_t size)
{
    bool ordered = strchr("iufcU", kind) && size > 1;

    *out = (struct npy_dtype){.kind = kind,
                              .size = size,
                              .order = !ordered      ? '|'
                                       : HOST_LITTLE ? '<'
                                                     : '>'};
    return true;
}

/* Reals of a format: NumPy has binary16, 32, 64, and the long double of its machine. */
static bool real_leaf(struct finder *f, int format, int parts, struct npy_dtype *out)
{
    const drep_format_info *real = drep_format_describe(format);
    char kind = parts == 2 ? 'c' : 'f';

    if (format == DREP_FORMAT_BINARY16)
        return leaf(out, kind, parts == 2 ? 8 : 2);
    if (real_covers(real, 24, -126, 127))
        return leaf(out, kind, 4 * parts);
    /* VAX-G goes two powers lower: what it has there may be rounded, and is reported. */
    if (real_covers(real, 53, -1024, 1023))
        return leaf(out, kind, 8 * parts);
    f->exact = f->exact && real_covers(real, 64, -16382, 16383);
    leaf(out, kind, 16 * parts);
    out->order = '<'; /* x87 */
    return true;
}

static bool predefined_dtype(struct finder *f, int code, struct npy_dtype *out)
{
    const drep_encoding *row = &f->plain[code];
    bool complex;

    switch (row->format) {
    case DREP_FORMAT_INT:
    case DREP_FORMAT_UINT:
        if (row->size > 8)
            return none(f, "an integer of 128 bits");
        return leaf(out, row->format == DREP_FORMAT_INT ? 'i' : 'u', row->size);
    case DREP_FORMAT_BOOL:
        return leaf(out, 'b', 1);
    case DREP_FORMAT_BYTES:
        return leaf(out, 'V', row->size);
    case DREP_FORMAT_CHAR:
        return leaf(out, 'S', row->size);
    case DREP_FORMAT_UNICODE:
        return leaf(out, 'u', 4);
    default:
        complex =
            code == DREP_CODE_COMPLEX4 || code == DREP_CODE_COMPLEX8 ||
            code == DREP_CODE_COMPLEX16 || code == DREP_CODE_COMPLEX32 ||
            code == DREP_CODE_COMPLEX || code == DREP_CODE_DOUBLE_COMPLEX ||
            (code >= DREP_CODE_C_FLOAT_COMPLEX && code <= DREP_CODE_C_LONG_DOUBLE_COMPLEX) ||
            (code >= DREP_CODE_CXX_FLOAT_COMPLEX && code <= DREP_CODE_CXX_LONG_DOUBLE_COMPLEX);
        return real_leaf(f, row->format, complex ? 2 : 1, out);
    }
}

static bool scalar_dtype(struct finder *f, const drep_scalar *s, struct npy_dtype *out)
{
    bool is_signed;

    if (s->cls == DREP_SCALAR_REAL)
        return real_leaf(f, s->format, 1, out);
    if (s->cls == DREP_SCALAR_BITS)
        return leaf(out, 'V', s->size);
    if (s->size > 8)
        return none(f, "an integer of more than 64 bits");
    is_signed = s->format == DREP_FORMAT_CUSTOM ? s->is_signed : s->format == DREP_FORMAT_INT;
    return leaf(out, is_signed ? 'i' : 'u', s->size <= 2 ? s->size : s->size <= 4 ? 4 : 8);
}

static bool array_dtype(struct finder *f, const drep_type *type, int depth, struct npy_dtype *out)
{
    struct npy_dtype base;
    int rank = drep_type_array_rank(type);

    if (!find_dtype(f, drep_type_member(type, 0), depth + 1, &base))
        return false;
    if (base.rank + rank > DREP_MAX_RANK) {
        npy_dtype_release(&base);
        return none(f, "arrays of arrays with more than 32 dimensions");
    }
    memmove(base.dims + rank, base.dims, (size_t)base.rank * sizeof *base.dims);
    memcpy(base.dims, drep_type_array_dims(type), (size_t)rank * sizeof *base.dims);
    base.rank += rank;
    *out = base;
    return true;
}

static bool compound_dtype(struct finder *f, const drep_type *type, int depth,
                           struct npy_dtype *out)
{
    int64_t i, n = drep_type_members(type);
    struct npy_dtype d = {.kind = '{', .order = '|'};

    d.field = calloc((size_t)n + 1, sizeof *d.field);
    if (!d.field)
        return none(f, "out of memory");
    for (i = 0; i < n; i++) {
        struct npy_field *field = &d.field[d.nfields];
        const char *name = drep_type_member_name(type, i);

        if (!find_dtype(f, drep_type_member(type, i), depth + 1, &field->type))
            break;
        d.nfields++;
        field->offset = d.size;
        field->name = strdup(name ? name : "");
        d.size += npy_item_size(&field->type);
        if (!field->name)
            break;
    }
    if (i == n && n > 0) {
        *out = d;
        return true;
    }
    npy_dtype_release(&d);
    return f->what ? false : none(f, n ? "out of memory" : "a compound without members");
}

static bool find_dtype(struct finder *f, const drep_type *type, int depth, struct npy_dtype *out)
{
    if (depth >= NPY_DEPTH_MAX)
        return none(f, "a datatype nested too deep");
    switch (drep_type_kind(type)) {
    case DREP_KIND_PREDEFINED:
        return predefined_dtype(f, drep_type_code(type), out);
    case DREP_KIND_SCALAR:
        return scalar_dtype(f, drep_type_scalar_desc(type), out);
    case DREP_KIND_STRING:
        return leaf(out, 'S', drep_type_size(type));
    case DREP_KIND_OPAQUE:
        return leaf(out, 'V', drep_type_size(type));
    case DREP_KIND_ENUM:
        return find_dtype(f, drep_type_member(type, 0), depth + 1, out);
    case DREP_KIND_BOOLEAN:
        return leaf(out, 'b', 1);
    case DREP_KIND_VSTRING:
        return leaf(out, 'U', 4 * (f->text > 0 ? f->text : 1));
    case DREP_KIND_ARRAY:
        return array_dtype(f, type, depth, out);
    case DREP_KIND_COMPOUND:
        return compound_dtype(f, type, depth, out);
    case DREP_KIND_SEQUENCE:
        return none(f, "a sequence of variable length");
    case DREP_KIND_REFERENCE:
        return none(f, "a reference");
    default:
        return none(f, "this kind of datatype");
    }
}

bool npy_dtype_of(const drep_type *type, int64_t text, struct npy_dtype *out, const char **what,
                  bool *exact)
{
    struct finder f = {.text = text, .exact = true};
    drep_encoding rows[DREP_CODE_MAX];
    int i, n;
    bool found;

    *what = "this datatype";
    if (drep_datarep_table("internal", rows, DREP_CODE_MAX, &n))
        return false;
    for (i = 0; i < n && i < DREP_CODE_MAX; i++)
        f.plain[rows[i].code] = rows[i];
    found = find_dtype(&f, type, 0, out);
    *what = f.what;
    *exact = f.exact;
    return found;
}

/* -------------------------------------------------------------------- texts */

/* The library has UTF-8 in its vstrings; whatever else there is counts byte by byte. */
static uint32_t utf8_get(const char **p)
{
    uint32_t code;
    size_t n = utf8_next(*p, strnlen(*p, 4), &code);

    if (n == 0)
        code = (unsigned char)**p;
    *p += n ? n : 1;
    return code;
}

static int64_t utf8_count(const char *text)
{
    int64_t n = 0;

    while (*text) {
        utf8_get(&text);
        n++;
    }
    return n;
}

static int text_in(const char *from, int64_t len, void *to)
{
    uint32_t code;
    char *text, *end;
    int64_t i;

    for (; len > 0; len--) {
        memcpy(&code, from + 4 * (len - 1), sizeof code);
        if (code)
            break;
    }
    for (i = 0; i < len; i++) {
        memcpy(&code, from + 4 * i, sizeof code);
        if (code == 0 || code > 0x10ffff || (code >= 0xd800 && code < 0xe000))
            return DREP_ERR_CONVERSION;
    }
    text = end = malloc((size_t)len * 4 + 1);
    if (!text)
        return DREP_ERR_NOMEM;
    for (i = 0; i < len; i++) {
        memcpy(&code, from + 4 * i, sizeof code);
        end = utf8_put(end, code);
    }
    *end = '\0';
    memcpy(to, &text, sizeof text);
    return 0;
}

static int text_out(const char *from, int64_t len, char *to)
{
    const char *text;
    uint32_t code;
    int64_t i;

    memcpy(&text, from, sizeof text);
    for (i = 0; text && *text; i++) {
        if (i == len)
            return DREP_ERR_CONVERSION;
        code = utf8_get(&text);
        memcpy(to + 4 * i, &code, sizeof code);
    }
    memset(to + 4 * i, 0, (size_t)(len - i) * 4);
    return 0;
}

/* One element of either type in memory. */
struct twin {
    const drep_type *numbers, *stored;
    char *number, *store;
};

static int64_t array_len(const drep_type *type)
{
    int64_t n = 1;
    int d;

    for (d = 0; d < drep_type_array_rank(type); d++)
        n *= drep_type_array_dims(type)[d];
    return n;
}

static int move_texts(struct twin t, bool in);

static int move_items(struct twin t, int64_t n, bool in)
{
    int err = 0;

    for (; n > 0 && !err; n--) {
        err = move_texts(t, in);
        t.number += drep_type_extent(t.numbers);
        t.store += drep_type_extent(t.stored);
    }
    return err;
}

static int move_texts(struct twin t, bool in)
{
    int64_t i, n = drep_type_members(t.stored);
    int kind = drep_type_kind(t.stored), err = 0;

    if (kind == DREP_KIND_VSTRING)
        return in ? text_in(t.number, array_len(t.numbers), t.store)
                  : text_out(t.store, array_len(t.numbers), t.number);
    if (kind == DREP_KIND_ARRAY)
        return move_items((struct twin){.numbers = drep_type_member(t.numbers, 0),
                                        .stored = drep_type_member(t.stored, 0),
                                        .number = t.number,
                                        .store = t.store},
                          array_len(t.stored), in);
    if (kind != DREP_KIND_COMPOUND) {
        memcpy(in ? t.store : t.number, in ? t.number : t.store,
               (size_t)drep_type_extent(t.stored));
        return 0;
    }
    for (i = 0; i < n && !err; i++)
        err = move_texts((struct twin){.numbers = drep_type_member(t.numbers, i),
                                       .stored = drep_type_member(t.stored, i),
                                       .number = t.number + drep_type_member_offset(t.numbers, i),
                                       .store = t.store + drep_type_member_offset(t.stored, i)},
                         in);
    return err;
}

static int move_elements(const struct npy_types *types, int64_t count, char *numbers, char *stored,
                         bool in, int64_t *at)
{
    struct twin t = {
        .numbers = types->numbers, .stored = types->stored, .number = numbers, .store = stored};
    int err = 0;

    for (*at = 0; *at < count; ++*at) {
        err = move_texts(t, in);
        if (err)
            break;
        t.number += drep_type_extent(t.numbers);
        t.store += drep_type_extent(t.stored);
    }
    return err;
}

int npy_texts_in(const struct npy_types *types, int64_t count, const void *numbers, void *stored,
                 int64_t *at)
{
    return move_elements(types, count, (char *)numbers, stored, true, at);
}

int npy_texts_out(const struct npy_types *types, int64_t count, const void *stored, void *numbers,
                  int64_t *at)
{
    return move_elements(types, count, numbers, (char *)stored, false, at);
}

int64_t npy_texts_longest(const drep_type *type, int64_t count, const void *elements)
{
    const char *p = elements, *text;
    int64_t longest = 0, len, i, k;

    for (i = 0; i < count; i++, p += drep_type_extent(type)) {
        switch (drep_type_kind(type)) {
        case DREP_KIND_VSTRING:
            memcpy(&text, p, sizeof text);
            len = text ? utf8_count(text) : 0;
            longest = len > longest ? len : longest;
            break;
        case DREP_KIND_ARRAY:
            len = npy_texts_longest(drep_type_member(type, 0), array_len(type), p);
            longest = len > longest ? len : longest;
            break;
        case DREP_KIND_COMPOUND:
            for (k = 0; k < drep_type_members(type); k++) {
                len = npy_texts_longest(drep_type_member(type, k), 1,
                                        p + drep_type_member_offset(type, k));
                longest = len > longest ? len : longest;
            }
            break;
        default:
            return longest;
        }
    }
    return longest;
}
