/* npy_out.c - a dataset as the bytes of a .npy file, as they are asked for.
 *
 * An archive asks for the bytes of one member after the other, so the conversion is a reader that
 * is asked for bytes, not a loop that writes them. */
/* SPDX-License-Identifier: MIT */
#include "tools/flat/npy_out.h"
#include "tools/flat/npy.h"
#include "tools/host/exit.h"
#include "tools/host/fail.h"
#include "tools/host/message.h"
#include <errno.h>
#include <stdlib.h>
#include <string.h>

struct npy_out {
    struct extract e;
    struct blocks blocks;
    struct box columns; /* instead of blocks, in that order */
    struct npy npy;
    struct npy_types types;
    drep_type *read; /* what elements are read as: `stored`, but for what has no conversion */
    char *header;
    size_t header_size, header_at;
    /* A block on its way. */
    char *elements, *numbers, *bytes;
    size_t size, at; /* of bytes */
};

/* ------------------------------------------------------------ what it is read as */

static int read_type(const drep_type *type, const drep_type *stored, drep_type **out);

static int read_compound(const drep_type *type, const drep_type *stored, drep_type **out)
{
    int64_t i, n = drep_type_members(stored);
    const char **names = calloc((size_t)n + 1, sizeof *names);
    const drep_type **types = calloc((size_t)n + 1, sizeof *types);
    drep_type *member;
    int err = names && types ? 0 : DREP_ERR_NOMEM;

    for (i = 0; i < n && !err; i++) {
        err = read_type(drep_type_member(type, i), drep_type_member(stored, i), &member);
        names[i] = drep_type_member_name(stored, i);
        types[i] = err ? NULL : member;
    }
    if (!err)
        err = drep_type_compound(n, names, NULL, types, 0, out);
    for (i = 0; types && i < n; i++)
        drep_type_free((drep_type *)types[i]);
    free(names);
    free(types);
    return err;
}

/* Characters and bits are no numbers to the library: they are taken as they are. */
static bool taken_as_is(const drep_type *type, const drep_type *stored)
{
    int code = drep_type_code(type);

    if (drep_type_kind(type) == DREP_KIND_SCALAR)
        return drep_type_scalar_desc(type)->cls == DREP_SCALAR_BITS;
    return (code == DREP_CODE_CHAR || code == DREP_CODE_CHARACTER || code == DREP_CODE_WCHAR ||
            code == DREP_CODE_PACKED) &&
           drep_type_extent(type) == drep_type_extent(stored);
}

static int read_type(const drep_type *type, const drep_type *stored, drep_type **out)
{
    drep_type *base;
    int err;

    if (drep_type_kind(type) == DREP_KIND_COMPOUND && drep_type_kind(stored) == DREP_KIND_COMPOUND)
        return read_compound(type, stored, out);
    if (drep_type_kind(type) == DREP_KIND_ARRAY && drep_type_kind(stored) == DREP_KIND_ARRAY) {
        const drep_type *inner = drep_type_member(type, 0);

        /* Blocks of blocks are one to NumPy. */
        while (drep_type_kind(inner) == DREP_KIND_ARRAY)
            inner = drep_type_member(inner, 0);
        err = read_type(inner, drep_type_member(stored, 0), &base);
        if (err)
            return err;
        err =
            drep_type_array(drep_type_array_rank(stored), drep_type_array_dims(stored), base, out);
        drep_type_free(base);
        return err;
    }
    *out = drep_type_ref(taken_as_is(type, stored) ? type : stored);
    return 0;
}

/* -------------------------------------------------------------------- dtype */

/* Takes the dtype, and what elements are read as. */
static int set_dtype(struct npy_out *n, struct npy_dtype *dtype)
{
    int err;

    npy_dtype_release(&n->npy.dtype);
    npy_types_release(&n->types);
    drep_type_free(n->read);
    n->read = NULL;
    n->npy.dtype = *dtype;
    *dtype = (struct npy_dtype){0};
    err = npy_types(&n->npy.dtype, &n->types);
    if (!err)
        err = read_type(n->e.info.type, n->types.stored, &n->read);
    return err ? extract_failed(&n->e, err) : 0;
}

/* A text that import has kept; NULL: none.  free() it. */
static char *kept_text(const struct npy_out *n, const char *name)
{
    drep_attrinfo info = DREP_ATTRINFO;
    drep_type *vstring;
    char *text = NULL;

    if (drep_attr_info(n->e.outlet->file, n->e.path, name, &info))
        return NULL;
    if (drep_type_kind(info.type) == DREP_KIND_VSTRING && info.count == 1 &&
        drep_type_vstring(&vstring) == 0) {
        if (drep_attr_read(n->e.outlet->file, n->e.path, name, vstring, &text))
            text = NULL;
        drep_type_free(vstring);
    }
    drep_attrinfo_release(&info);
    return text;
}

/* The dtype that import has kept, where it still describes the dataset. */
static bool kept_dtype(const struct npy_out *n, struct npy_dtype *out)
{
    struct npy_types types;
    struct npy_dtype d;
    char *descr = kept_text(n, NPY_DESCR);
    bool fine = false;

    if (descr && npy_descr_read(&d, descr)) {
        if (npy_types(&d, &types) == 0) {
            fine = drep_type_equal(types.stored, n->e.info.type);
            npy_types_release(&types);
        }
        if (fine)
            *out = d;
        else
            npy_dtype_release(&d);
    }
    free(descr);
    return fine;
}

/* True if elements go out in columns, as they came in. */
static bool kept_columns(const struct npy_out *n)
{
    char *order = kept_text(n, NPY_ORDER);
    bool columns = order && strcmp(order, "fortran") == 0 && n->npy.rank > 1 &&
                   slice_count(&n->e.slice) > 0 && !drep_type_variable(n->read);

    free(order);
    return columns;
}

/* The strings of a dataset, measured. */
struct text_survey {
    const struct npy_types *types;
    int64_t longest; /* code points */
    bool fit;        /* in the room that the types have */
};

static int look_at_texts(void *ctx, const drep_type *type, const void *elements, int64_t first,
                         int64_t count)
{
    struct text_survey *t = ctx;
    int64_t len = npy_texts_longest(type, count, elements), at, i;
    size_t extent = (size_t)drep_type_extent(t->types->numbers);
    void *numbers = t->fit ? calloc(64, extent) : NULL;

    (void)first;
    t->longest = len > t->longest ? len : t->longest;
    if (t->fit && !numbers)
        return DREP_ERR_NOMEM;
    for (i = 0; i < count && t->fit; i += 64)
        t->fit =
            npy_texts_out(t->types, count - i < 64 ? count - i : 64,
                          (const char *)elements + i * drep_type_extent(type), numbers, &at) == 0;
    free(numbers);
    return 0;
}

static int choose_dtype(struct npy_out *n)
{
    struct text_survey texts = {.types = &n->types};
    struct npy_dtype dtype;
    const char *what;
    bool exact, kept;
    int err, status;

    if (!npy_dtype_of(n->e.info.type, 1, &dtype, &what, &exact)) {
        tool_say(n->e.outlet->name, n->e.path, "NumPy has no dtype for %s", what);
        return OUTLET_NONE;
    }
    status = set_dtype(n, &dtype);
    if (status)
        return status;
    kept = kept_dtype(n, &dtype);
    if (kept)
        status = set_dtype(n, &dtype);
    if (status || !n->types.text)
        return status;
    texts.fit = kept;
    err = blocks_each(n->e.dataset, &n->e.info, n->read, &n->e.slice, look_at_texts, &texts);
    if (err)
        return extract_failed(&n->e, err);
    if (!texts.fit && npy_dtype_of(n->e.info.type, texts.longest, &dtype, &what, &exact))
        status = set_dtype(n, &dtype);
    return status;
}

/* ---------------------------------------------------------------- the bytes */

static int npy_out_prepare(struct npy_out *n)
{
    size_t item, most;
    int status = choose_dtype(n);

    if (status)
        return status;
    n->npy.rank = slice_shape(&n->e.slice, n->npy.dims);
    n->npy.fortran = kept_columns(n);
    n->header = npy_write(&n->npy, &n->header_size);
    blocks_init(&n->blocks, &n->e.slice, &n->e.info, drep_type_extent(n->read),
                drep_type_variable(n->read));
    item = (size_t)npy_item_size(&n->npy.dtype);
    most = (size_t)n->blocks.most + 1;
    if (n->npy.fortran)
        most =
            (size_t)turned_init(&n->columns, n->npy.rank, n->npy.dims, drep_type_extent(n->read));
    n->elements = calloc(most, (size_t)drep_type_extent(n->read) + 1);
    n->numbers = n->types.text ? calloc(most, (size_t)drep_type_extent(n->types.numbers)) : NULL;
    n->bytes = calloc(most, item);
    if (!n->header || !n->elements || !n->bytes || (n->types.text && !n->numbers))
        return tool_no_memory();
    return 0;
}

/* Converts the `len` elements that were read. */
static int convert_block(struct npy_out *n, int64_t len)
{
    drep_report report = DREP_REPORT;
    drep_xfer xfer = DREP_XFER(.range = n->e.outlet->x->range, .report = &report);
    void *numbers = n->elements;
    int64_t at;
    int err = 0;

    if (n->types.text) {
        err = npy_texts_out(&n->types, len, n->elements, n->numbers, &at);
        drep_vlen_free(n->read, len, n->elements);
        numbers = n->numbers;
    }
    if (err == DREP_ERR_CONVERSION) {
        tool_say(n->e.outlet->name, n->e.path, "element %lld is longer than it was",
                 (long long)(n->blocks.first + at));
        return TOOL_CORRUPT;
    }
    memset(n->bytes, 0, (size_t)(len * npy_item_size(&n->npy.dtype)));
    if (!err)
        err = drep_convert(n->types.file, n->bytes, n->types.numbers, numbers, len, &xfer);
    n->e.rounded += report.inexact;
    n->size = (size_t)(len * npy_item_size(&n->npy.dtype));
    n->at = 0;
    return err ? extract_failed(&n->e, err) : 0;
}

/* Reads and converts what comes next; n->size stays 0 at the end. */
static int next_block(struct npy_out *n)
{
    int64_t len;
    int status;

    if (!(n->npy.fortran ? box_next(&n->columns) : blocks_next(&n->blocks)))
        return 0;
    len = n->npy.fortran ? box_elements(&n->columns) : n->blocks.len;
    status = n->npy.fortran ? extract_turned(&n->e, &n->columns, n->read, n->elements)
                            : extract_read(&n->e, &n->blocks, n->read, n->elements);
    if (!status)
        status = convert_block(n, len);
    return status ? status : outlet_advance((uint64_t)len);
}

ssize_t npy_out_read(struct npy_out *n, void *buf, size_t size, int *status)
{
    char *from = n->header + n->header_at;
    size_t part = n->header_size - n->header_at;

    if (part > 0) {
        part = part < size ? part : size;
        memcpy(buf, from, part);
        n->header_at += part;
        return (ssize_t)part;
    }
    while (n->at == n->size) {
        n->at = n->size = 0;
        *status = next_block(n);
        if (*status)
            return -1;
        if (n->size == 0)
            return 0;
    }
    part = n->size - n->at < size ? n->size - n->at : size;
    memcpy(buf, n->bytes + n->at, part);
    n->at += part;
    return (ssize_t)part;
}

int npy_out_open(struct npy_out **out, const struct extract *extract)
{
    struct npy_out *n = calloc(1, sizeof *n);
    int status;

    if (!n)
        return tool_no_memory();
    n->e = *extract;
    status = npy_out_prepare(n);
    if (status)
        npy_out_close(n);
    else
        *out = n;
    return status;
}

int64_t npy_out_close(struct npy_out *n)
{
    int64_t rounded = n->e.rounded;

    npy_release(&n->npy);
    npy_types_release(&n->types);
    drep_type_free(n->read);
    free(n->header);
    free(n->elements);
    free(n->numbers);
    free(n->bytes);
    free(n);
    return rounded;
}
