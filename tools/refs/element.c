/* element.c - a datatype as zarr version 2 says it. */
/* SPDX-License-Identifier: MIT */
#include "tools/refs/element.h"
#include "format/byteorder.h"
#include "tools/refs/base64.h"
#include "tools/text/num.h"
#include "tools/text/print.h"
#include "tools/text/real.h"
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The members of structs nest at most so deep. */
#define ELEMENT_DEPTH 16

/* A dtype under construction. */
struct dtype_maker {
    const struct printer *printer;
    const struct printer_rep *rep;
    struct sink text;
    char *why;
    int order; /* of the numbers seen so far: enum drep_byte_order, or -1 */
    char kind; /* of the item made last */
    int depth;
    bool padded; /* text with spaces behind it was among them */
};

static int element_refused(struct dtype_maker *m, const char *format, const char *what)
{
    if (!m->why[0])
        snprintf(m->why, REFS_WHY, format, what);
    return 0;
}

/* Note the byte order of a number; false if another member has the other one. */
static bool order_noted(struct dtype_maker *m, int order, int64_t size)
{
    if (size > 1 && m->order >= 0 && m->order != order) {
        element_refused(m, "its members differ in %s", "byte order");
        return false;
    }
    if (size > 1)
        m->order = order;
    return true;
}

/* The datatype that has these bytes in memory; NULL: no format that NumPy has. */
static const drep_type *number_in_memory(int format, int64_t size, bool complex, char *kind)
{
    int step = size == 1 ? 0 : size == 2 ? 1 : size == 4 ? 2 : size == 8 ? 3 : -1;
    const drep_type *const ints[] = {DREP_INT8_T, DREP_INT16_T, DREP_INT32_T, DREP_INT64_T};
    const drep_type *const uints[] = {DREP_UINT8_T, DREP_UINT16_T, DREP_UINT32_T, DREP_UINT64_T};
    const drep_type *const bools[] = {DREP_C_BOOL, drep_predefined(DREP_CODE_LOGICAL2),
                                      drep_predefined(DREP_CODE_LOGICAL4),
                                      drep_predefined(DREP_CODE_LOGICAL8)};

    *kind = complex ? 'c' : 'f';
    if (complex)
        return format == DREP_FORMAT_BINARY32   ? DREP_C_FLOAT_COMPLEX
               : format == DREP_FORMAT_BINARY64 ? DREP_C_DOUBLE_COMPLEX
                                                : NULL;
    switch (format) {
    case DREP_FORMAT_INT:
        *kind = 'i';
        return step < 0 ? NULL : ints[step];
    case DREP_FORMAT_UINT:
        *kind = 'u';
        return step < 0 ? NULL : uints[step];
    case DREP_FORMAT_BOOL:
        *kind = size == 1 ? 'b' : 'u';
        return step < 0 ? NULL : bools[step];
    case DREP_FORMAT_BYTES:
        *kind = 'u';
        return size == 1 ? DREP_BYTE : NULL;
    case DREP_FORMAT_CHAR:
        *kind = 'S';
        return DREP_CHAR;
    case DREP_FORMAT_UNICODE:
        *kind = 'U';
        return size == 4 && drep_type_size(DREP_WCHAR) == 4 ? DREP_WCHAR : NULL;
    case DREP_FORMAT_BINARY16:
        return DREP_FLOAT16;
    case DREP_FORMAT_BINARY32:
        return DREP_FLOAT;
    case DREP_FORMAT_BINARY64:
        return DREP_DOUBLE;
    default:
        return NULL;
    }
}

static int item_number(struct dtype_maker *m, int format, int order, int64_t size, bool complex,
                       drep_type **out)
{
    const char *name = drep_format_name(format);
    const drep_type *in = number_in_memory(format, size, complex, &m->kind);
    char text[96];

    if (!in || order == DREP_VAX) {
        snprintf(text, sizeof text, "%s%s of %d bytes", complex ? "complex " : "",
                 name ? name : "numbers", (int)size);
        return element_refused(m, "zarr has no dtype for %s", text);
    }
    if (!order_noted(m, order, size))
        return 0;
    sink_format(&m->text, "\"%c%c%d\"",
                size == 1           ? '|'
                : order == DREP_BIG ? '>'
                                    : '<',
                m->kind, (int)(m->kind == 'U' ? 1 : size));
    *out = drep_type_ref(in);
    return 0;
}

static int item_predefined(struct dtype_maker *m, const drep_type *type, drep_type **out)
{
    int code = drep_type_code(type);
    const drep_encoding *row = m->rep->stored ? &m->rep->stored[code] : NULL;

    if (!m->rep->table)
        return element_refused(m, "functions convert its elements%s", "");
    if (!row || row->code != code || row->format == DREP_FORMAT_CUSTOM)
        return element_refused(m, "its representation has a format of its own for %s",
                               drep_code_name(code));
    return item_number(m, row->format, row->order, row->size, printer_complex(m->printer, code),
                       out);
}

static int item_scalar(struct dtype_maker *m, const drep_type *type, drep_type **out)
{
    const drep_scalar *s = drep_type_scalar_desc(type);
    int format = s->format;

    if (s->cls == DREP_SCALAR_INT && (format == DREP_FORMAT_CUSTOM || !format))
        format = s->precision == 8 * s->size && s->offset == 0
                     ? s->is_signed ? DREP_FORMAT_INT : DREP_FORMAT_UINT
                     : DREP_FORMAT_CUSTOM;
    return item_number(m, format, s->order, s->size, false, out);
}

/* Text and opaque bytes are in memory as they are in the file. */
static int item_bytes(struct dtype_maker *m, const drep_type *type, char kind, drep_type **out)
{
    if (drep_type_size(type) < 1)
        return element_refused(m, "zarr has no dtype for %s of 0 bytes",
                               kind == 'S' ? "text" : "bytes");
    m->kind = kind;
    sink_format(&m->text, "\"|%c%" PRId64 "\"", kind, drep_type_size(type));
    m->padded |= kind == 'S' && drep_type_string_pad(type) == DREP_PAD_SPACE;
    *out = drep_type_ref(type);
    return 0;
}

static int item_struct(struct dtype_maker *m, const drep_type *type, const drep_type *placed,
                       drep_type **out);

/* Make one item: no array, no struct with gaps.  *out stays NULL if it is refused. */
static int item_make(struct dtype_maker *m, const drep_type *type, const drep_type *placed,
                     drep_type **out)
{
    switch (drep_type_kind(type)) {
    case DREP_KIND_PREDEFINED:
        return item_predefined(m, type, out);
    case DREP_KIND_SCALAR:
        return item_scalar(m, type, out);
    case DREP_KIND_ENUM:
    case DREP_KIND_BOOLEAN:
        return item_make(m, drep_type_member(type, 0), NULL, out);
    case DREP_KIND_STRING:
        return item_bytes(m, type, 'S', out);
    case DREP_KIND_OPAQUE:
        return item_bytes(m, type, 'V', out);
    case DREP_KIND_COMPOUND:
        return item_struct(m, type, placed, out);
    case DREP_KIND_SEQUENCE:
    case DREP_KIND_VSTRING:
        return element_refused(m, "zarr version 2 has no %s of variable length",
                               drep_type_kind(type) == DREP_KIND_VSTRING ? "text" : "sequences");
    case DREP_KIND_REFERENCE:
        return element_refused(m, "zarr has no %s", "references");
    default:
        return element_refused(m, "zarr has no dtype for %s", "types that MPI's constructors made");
    }
}

/* The item that arrays consist of; adds their dimensions. */
static const drep_type *array_item(const drep_type *type, const drep_type **placed, int *rank,
                                   int64_t *dims)
{
    while (drep_type_kind(type) == DREP_KIND_ARRAY) {
        int n = drep_type_array_rank(type);

        if (*rank + n > DREP_MAX_RANK)
            return NULL;
        memcpy(dims + *rank, drep_type_array_dims(type), (size_t)n * sizeof *dims);
        *rank += n;
        type = drep_type_member(type, 0);
        *placed = *placed ? drep_type_member(*placed, 0) : NULL;
    }
    return type;
}

static int array_around(drep_type *item, int rank, const int64_t *dims, drep_type **out)
{
    if (rank == 0) {
        *out = drep_type_ref(item);
        return 0;
    }
    return drep_type_array(rank, dims, item, out);
}

/* Put a member: its name, dtype and, of an array, dimensions. */
static int member_make(struct dtype_maker *m, const char *name, const drep_type *type,
                       const drep_type *placed, drep_type **out)
{
    int64_t dims[DREP_MAX_RANK];
    drep_type *item = NULL;
    int rank = 0, err;

    if (!name || !*name)
        return element_refused(m, "a member has no %s", "name");
    type = array_item(type, &placed, &rank, dims);
    if (!type)
        return element_refused(m, "NumPy has at most %s dimensions", "32");
    sink_char(&m->text, '[');
    sink_quoted(&m->text, name, strlen(name));
    sink_text(&m->text, ", ");
    err = item_make(m, type, placed, &item);
    if (rank > 0) {
        sink_text(&m->text, ", ");
        print_lengths(&m->text, dims, rank);
    }
    sink_char(&m->text, ']');
    if (!err && item)
        err = array_around(item, rank, dims, out);
    drep_type_free(item);
    return err;
}

static int members_make(struct dtype_maker *m, const drep_type *type, const drep_type *placed,
                        int64_t n, drep_type **members, const char **names, int64_t *displs)
{
    int64_t at = 0;
    int err = 0;

    for (int64_t i = 0; i < n && !err; i++) {
        names[i] = drep_type_member_name(type, i);
        if (placed && drep_type_member_offset(placed, i) != at)
            return element_refused(m, "zarr has no structs with %s", "gaps");
        sink_text(&m->text, i ? ", " : "");
        err = member_make(m, names[i], drep_type_member(type, i),
                          placed ? drep_type_member(placed, i) : NULL, &members[i]);
        if (err || !members[i])
            return err;
        displs[i] = at;
        at += drep_type_size(members[i]);
    }
    return err;
}

static int item_struct(struct dtype_maker *m, const drep_type *type, const drep_type *placed,
                       drep_type **out)
{
    int64_t n = drep_type_members(type), made = 0, size = 0;
    drep_type **members = calloc((size_t)n + 1, sizeof *members);
    const char **names = calloc((size_t)n + 1, sizeof *names);
    int64_t *displs = calloc((size_t)n + 1, sizeof *displs);
    int err = members && names && displs ? 0 : DREP_ERR_NOMEM;

    if (++m->depth > ELEMENT_DEPTH || n == 0)
        element_refused(m, "zarr has no structs %s",
                        n ? "that are nested so deep" : "without members");
    sink_char(&m->text, '[');
    if (!err && !m->why[0])
        err = members_make(m, type, placed, n, members, names, displs);
    sink_char(&m->text, ']');
    while (members && made < n && members[made])
        size += drep_type_size(members[made++]);
    if (!err && !m->why[0] && made == n)
        err = drep_type_compound(n, names, displs, (const drep_type *const *)members, size, out);
    for (int64_t i = 0; i < made; i++)
        drep_type_free(members[i]);
    free(members);
    free(names);
    free(displs);
    m->depth--;
    m->kind = 'V';
    return err;
}

static int element_make(struct dtype_maker *m, struct refs_element *e, drep_dataset *dataset,
                        const drep_dsinfo *info)
{
    drep_type *placed = NULL;
    const drep_type *type, *where;
    int64_t items = 1;
    int err = drep_dataset_placed(dataset, &placed);

    if (err)
        return err;
    where = placed;
    type = array_item(info->type, &where, &e->rank, e->dims);
    if (!type || e->rank + info->rank > DREP_MAX_RANK)
        element_refused(m, "NumPy has at most %s dimensions", "32");
    else
        err = item_make(m, type, where, &e->item);
    drep_type_free(placed);
    if (err || m->why[0])
        return err;
    e->kind = m->kind;
    e->padded = m->padded;
    e->swapped = m->order >= 0 && m->order != (HOST_LITTLE ? DREP_LITTLE : DREP_BIG);
    e->size = drep_type_size(e->item);
    for (int d = 0; d < e->rank; d++)
        items *= e->dims[d];
    if (items * e->size != info->element_size || drep_type_extent(e->item) != e->size)
        return element_refused(m, "zarr has no structs with %s", "gaps");
    return array_around(e->item, e->rank, e->dims, &e->memory);
}

int refs_element_init(struct refs_element *out, const struct printer *p, drep_dataset *dataset,
                      const drep_dsinfo *info, char why[REFS_WHY])
{
    struct refs_element e = {0};
    struct dtype_maker m = {
        .printer = p, .rep = printer_rep(p, info->datarep_number), .why = why, .order = -1};
    int err;

    why[0] = 0;
    if (!m.rep) {
        element_refused(&m, "its representation is %s", "unknown");
        return 0;
    }
    if (sink_init(&m.text, -1))
        return DREP_ERR_NOMEM;
    err = element_make(&m, &e, dataset, info);
    sink_put(&m.text, "", 1);
    if (!err && m.text.err)
        err = DREP_ERR_NOMEM;
    if (err || why[0]) {
        sink_release(&m.text);
        refs_element_release(&e);
        return err;
    }
    e.dtype = m.text.buf;
    *out = e;
    return 0;
}

void refs_element_release(struct refs_element *e)
{
    free(e->dtype);
    drep_type_free(e->item);
    drep_type_free(e->memory);
    *e = (struct refs_element){0};
}

/* ------------------------------------------------------------------ bytes */

static void bytes_reverse(uint8_t *p, int64_t n)
{
    for (int64_t i = 0; i < n / 2; i++) {
        uint8_t b = p[i];

        p[i] = p[n - 1 - i];
        p[n - 1 - i] = b;
    }
}

/* Replace the spaces behind texts by zeros. */
static void texts_pad(const drep_type *type, uint8_t *item)
{
    int kind = drep_type_kind(type);

    if (kind == DREP_KIND_STRING && drep_type_string_pad(type) == DREP_PAD_SPACE)
        for (int64_t n = drep_type_size(type); n > 0 && item[n - 1] == ' '; n--)
            item[n - 1] = 0;
    for (int64_t i = 0; kind == DREP_KIND_COMPOUND && i < drep_type_members(type); i++)
        texts_pad(drep_type_member(type, i), item + drep_type_member_offset(type, i));
    if (kind == DREP_KIND_ARRAY) {
        const drep_type *base = drep_type_member(type, 0);
        int64_t size = drep_type_size(base);

        for (int64_t at = 0; size > 0 && at < drep_type_size(type); at += size)
            texts_pad(base, item + at);
    }
}

void refs_element_store(const struct refs_element *e, void *items, int64_t n)
{
    drep_cursor cursor;
    drep_run run;

    for (int64_t i = 0; e->padded && i < n; i++)
        texts_pad(e->item, (uint8_t *)items + i * e->size);
    if (!e->swapped || drep_cursor_init(&cursor, e->item, 0))
        return;
    for (int64_t left = n * drep_type_items(e->item);
         left > 0 && drep_cursor_next(&cursor, left, &run); left -= run.count) {
        int code = drep_type_code(run.type);
        int parts = code == DREP_CODE_C_FLOAT_COMPLEX || code == DREP_CODE_C_DOUBLE_COMPLEX ? 2 : 1;
        int64_t size = drep_type_size(run.type);

        for (int64_t i = 0; code && size > 1 && i < run.count; i++)
            for (int k = 0; k < parts; k++)
                bytes_reverse((uint8_t *)items + run.offset + i * run.stride + k * size / parts,
                              size / parts);
    }
}

static void put_real(struct sink *s, double value, bool narrow)
{
    if (value != value)
        sink_text(s, "\"NaN\"");
    else if (value - value != 0)
        sink_text(s, value > 0 ? "\"Infinity\"" : "\"-Infinity\"");
    else if (narrow)
        real_put_float(s, (float)value, true);
    else
        real_put_double(s, value, true);
}

static double real_part(const void *at, int64_t size)
{
    uint16_t half;
    float single;
    double wide;

    if (size == 2) {
        memcpy(&half, at, 2);
        return (double)real_narrow(DREP_FORMAT_BINARY16, half);
    }
    if (size == 4) {
        memcpy(&single, at, 4);
        return (double)single;
    }
    memcpy(&wide, at, 8);
    return wide;
}

static void put_integer(struct sink *s, const void *at, int64_t size, bool is_signed)
{
    struct wide w = num_machine_int(at, size, is_signed);

    if (is_signed)
        sink_i64(s, (int64_t)w.low);
    else
        sink_u64(s, w.low);
}

static int put_character(struct sink *s, const void *at)
{
    uint32_t c;
    char text[40];

    memcpy(&c, at, 4);
    snprintf(text, sizeof text, "\"\\u%04x\"", (unsigned)c);
    if (c > 0xffff)
        snprintf(text, sizeof text, "\"\\u%04x\\u%04x\"", 0xd800 + (unsigned)((c - 0x10000) >> 10),
                 0xdc00 + (unsigned)((c - 0x10000) & 0x3ff));
    sink_text(s, c ? text : "\"\"");
    return s->err;
}

int refs_element_put_fill(const struct refs_element *e, struct sink *s, const void *item)
{
    const char *at = item;
    void *copy;

    switch (e->kind) {
    case 'i':
    case 'u':
        put_integer(s, at, e->size, e->kind == 'i');
        return 0;
    case 'b':
        sink_text(s, *at ? "true" : "false");
        return 0;
    case 'f':
        put_real(s, real_part(at, e->size), e->size < 8);
        return 0;
    case 'c':
        sink_char(s, '[');
        put_real(s, real_part(at, e->size / 2), e->size < 16);
        sink_text(s, ", ");
        put_real(s, real_part(at + e->size / 2, e->size / 2), e->size < 16);
        sink_char(s, ']');
        return 0;
    case 'U':
        return put_character(s, at);
    default:
        copy = malloc((size_t)e->size);
        if (!copy)
            return DREP_ERR_NOMEM;
        memcpy(copy, item, (size_t)e->size);
        refs_element_store(e, copy, 1);
        sink_char(s, '"');
        base64_put(s, copy, (size_t)e->size);
        sink_char(s, '"');
        free(copy);
        return 0;
    }
}
