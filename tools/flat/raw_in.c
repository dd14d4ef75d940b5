/* raw_in.c - files that are nothing but elements, read and written through views. */
/* SPDX-License-Identifier: MIT */
#include "tools/flat/raw_in.h"
#include "tools/flat/records.h"
#include "tools/flat/retype.h"
#include "tools/flat/source.h"
#include "tools/host/exit.h"
#include "tools/host/fail.h"
#include "tools/host/message.h"
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* ---------------------------------------------------------------- filetypes */

struct layout {
    drep_encoding row[DREP_CODE_MAX + 1];
};

/* A datatype as it lies in the file. */
struct laid {
    drep_type *type;
    int64_t size, align;
};

static int lay(const struct layout *l, const char *datarep, const drep_type *type,
               struct laid *out);

static int64_t up(int64_t offset, int64_t align)
{
    return (offset + align - 1) / align * align;
}

static int lay_members(const struct layout *l, const char *datarep, const drep_type *type,
                       const drep_type **types, int64_t *displs, struct laid *out)
{
    int64_t i, n = drep_type_members(type);
    drep_type *whole;
    struct laid one;
    int err = 0;

    out->align = 1;
    for (i = 0; i < n && !err; i++) {
        err = lay(l, datarep, drep_type_member(type, i), &one);
        if (err)
            break;
        types[i] = one.type;
        displs[i] = up(out->size, one.align);
        out->size = displs[i] + one.size;
        out->align = one.align > out->align ? one.align : out->align;
    }
    out->size = up(out->size, out->align);
    if (err)
        return err;
    err = drep_type_struct(n, NULL, displs, types, &whole);
    if (err)
        return err;
    err = drep_type_resized(0, out->size, whole, &out->type);
    drep_type_free(whole);
    return err;
}

static int lay_compound(const struct layout *l, const char *datarep, const drep_type *type,
                        struct laid *out)
{
    int64_t i, n = drep_type_members(type);
    const drep_type **types = calloc((size_t)n + 1, sizeof *types);
    int64_t *displs = calloc((size_t)n + 1, sizeof *displs);
    int err = types && displs ? lay_members(l, datarep, type, types, displs, out) : DREP_ERR_NOMEM;

    for (i = 0; types && i < n; i++)
        drep_type_free((drep_type *)types[i]);
    free(types);
    free(displs);
    return err;
}

static int lay_array(const struct layout *l, const char *datarep, const drep_type *type,
                     struct laid *out)
{
    struct laid base;
    int d, err = lay(l, datarep, drep_type_member(type, 0), &base);

    if (err)
        return err;
    err = drep_type_array(drep_type_array_rank(type), drep_type_array_dims(type), base.type,
                          &out->type);
    drep_type_free(base.type);
    out->align = base.align;
    out->size = base.size;
    for (d = 0; d < drep_type_array_rank(type); d++)
        out->size *= drep_type_array_dims(type)[d];
    return err;
}

static int lay(const struct layout *l, const char *datarep, const drep_type *type, struct laid *out)
{
    struct laid laid = {.align = 1};
    int err = 0;

    switch (drep_type_kind(type)) {
    case DREP_KIND_COMPOUND:
    case DREP_KIND_STRUCT:
        err = lay_compound(l, datarep, type, &laid);
        break;
    case DREP_KIND_ARRAY:
        err = lay_array(l, datarep, type, &laid);
        break;
    case DREP_KIND_ENUM:
    case DREP_KIND_BOOLEAN:
        err = lay(l, datarep, drep_type_member(type, 0), &laid);
        drep_type_free(laid.type);
        laid.type = drep_type_ref(type);
        break;
    case DREP_KIND_PREDEFINED:
        laid.align = l->row[drep_type_code(type)].align;
        err = drep_type_file_extent(type, datarep, &laid.size);
        laid.type = drep_type_ref(type);
        break;
    default:
        laid.size = drep_type_size(type);
        laid.type = drep_type_ref(type);
    }
    if (laid.align < 1)
        laid.align = 1;
    if (err)
        drep_type_free(laid.type);
    else
        *out = laid;
    return err;
}

int raw_filetype(const drep_type *type, const char *datarep, drep_type **out, int64_t *size)
{
    drep_encoding rows[DREP_CODE_MAX];
    struct layout l = {0};
    struct laid laid;
    int i, n, err = drep_datarep_table(datarep, rows, DREP_CODE_MAX, &n);

    for (i = 0; i < n && i < DREP_CODE_MAX && !err; i++)
        l.row[rows[i].code] = rows[i];
    if (!err)
        err = lay(&l, datarep, type, &laid);
    if (err)
        return err;
    *out = laid.type;
    *size = laid.size;
    return 0;
}

/* ------------------------------------------------------- types to read as */

/* A long double is another thing on every machine: where the representation has it as it has
 * FLOAT128, elements are read as that and lose nothing. */
static int exact_code(const struct layout *l, int code)
{
    int same =
        code == DREP_CODE_LONG_DOUBLE ? DREP_CODE_FLOAT128
        : code == DREP_CODE_C_LONG_DOUBLE_COMPLEX || code == DREP_CODE_CXX_LONG_DOUBLE_COMPLEX
            ? DREP_CODE_COMPLEX32
            : code;
    const drep_encoding *a = &l->row[code], *b = &l->row[same];

    return a->size != 0 && a->format == DREP_FORMAT_BINARY128 && a->format == b->format &&
                   a->order == b->order && a->size == b->size && a->align == b->align
               ? same
               : code;
}

static int exact_leaf(const drep_type *leaf, drep_type **out, void *ctx)
{
    int code = drep_type_code(leaf);

    *out = drep_type_ref(code ? drep_predefined(exact_code(ctx, code)) : leaf);
    return 0;
}

static int raw_type(const drep_type *type, const char *datarep, drep_type **out)
{
    drep_encoding rows[DREP_CODE_MAX];
    struct layout l = {0};
    int i, n, err = drep_datarep_table(datarep, rows, DREP_CODE_MAX, &n);

    for (i = 0; i < n && i < DREP_CODE_MAX && !err; i++)
        l.row[rows[i].code] = rows[i];
    return err ? err : retype(type, exact_leaf, &l, out);
}

/* ------------------------------------------------------------------- sources */

struct raw_source {
    struct raw_file raw;
    drep_view *view;
    drep_type *filetype;
    int64_t size, item; /* of an element in the file; of the file, without what is before */
    struct records records;
    int fd;
    char *bytes; /* a block of records */
    size_t cap;
    int64_t rounded;
};

static void release_raw(struct source *s)
{
    struct raw_source *r = s->own;

    if (r->view)
        drep_view_close(r->view);
    records_release(&r->records);
    drep_type_free(r->filetype);
    free(r->bytes);
    free(r);
}

static int64_t box_len(const struct source *s, const int64_t *count)
{
    int64_t n = 1;
    int d;

    for (d = 0; d < s->rank; d++)
        n *= count[d];
    return n;
}

/* The number of an element in row-major order. */
static int64_t place(const struct source *s, const int64_t *start)
{
    int64_t at = 0;
    int d;

    for (d = 0; d < s->rank; d++)
        at = at * s->dims[d] + start[d];
    return at;
}

static int read_view(struct source *s, const int64_t *start, const int64_t *count, void *buf)
{
    struct raw_source *r = s->own;
    int64_t items, n = box_len(s, count), want = n * drep_type_items(s->type);
    drep_report report = DREP_REPORT;
    drep_xfer xfer = DREP_XFER(.report = &report);
    drep_type *box;
    int err;

    if (!s->column_major || s->rank < 2) {
        err = drep_read_at(r->view, place(s, start), buf, n, s->type, &xfer, &items);
    } else {
        err = drep_type_subarray(s->rank, s->dims, count, start, DREP_ORDER_FORTRAN, r->filetype,
                                 &box);
        if (!err)
            err = drep_view_set(r->view, r->raw.offset, r->filetype, box, r->raw.datarep, NULL);
        if (!err)
            err = drep_read_at(r->view, 0, buf, n, s->type, &xfer, &items);
        drep_type_free(box);
    }
    r->rounded += report.inexact;
    if (err)
        return tool_fail(s->file, NULL, err);
    if (items == want)
        return 0;
    tool_say(s->file, NULL, "the file was truncated meanwhile");
    return TOOL_IO;
}

/* The bytes of a box in records: in columns, run by run along the first dimensions. */
static int read_runs(struct source *s, const int64_t *start, const int64_t *count)
{
    struct raw_source *r = s->own;
    int64_t len = count[0], at[DREP_MAX_RANK] = {0}, position;
    char *to = r->bytes;
    int d, run = 1, status = 0;

    while (run < s->rank && count[run - 1] == s->dims[run - 1])
        len *= count[run++];
    for (;;) {
        position = 0;
        for (d = s->rank - 1; d >= 0; d--)
            position = position * s->dims[d] + start[d] + at[d];
        status = records_read(&r->records, position * r->item, to, (size_t)(len * r->item));
        to += len * r->item;
        for (d = run; d < s->rank && ++at[d] == count[d]; d++)
            at[d] = 0;
        if (status || d == s->rank)
            return status;
    }
}

/* Elements in records are packed: what MPI_Unpack_external takes, record after record. */
static int read_records(struct source *s, const int64_t *start, const int64_t *count, void *buf)
{
    struct raw_source *r = s->own;
    int64_t n = box_len(s, count), position = 0;
    size_t size = (size_t)(n * r->item);
    int err, status;

    if (size > r->cap) {
        free(r->bytes);
        r->bytes = malloc(size);
        r->cap = r->bytes ? size : 0;
        if (!r->bytes)
            return tool_no_memory();
    }
    if (n > 0 && s->column_major)
        status = read_runs(s, start, count);
    else
        status = records_read(&r->records, place(s, start) * r->item, r->bytes, size);
    if (status)
        return status;
    err = drep_unpack(r->raw.datarep, r->bytes, (int64_t)size, &position, buf, n, s->type);
    return err ? tool_fail(s->file, NULL, err) : 0;
}

static bool rest_raw(struct source *s)
{
    const struct raw_source *r = s->own;
    int64_t taken = r->item, d;

    for (d = 0; d < s->rank; d++)
        taken *= s->dims[d];
    if (r->rounded > 0)
        tool_say(s->file, NULL,
                 "warning: %" PRId64 " values are rounded to what this machine's types hold",
                 r->rounded);
    if (taken == r->size)
        return r->rounded > 0;
    tool_say(s->file, NULL, "warning: %" PRId64 " bytes after the last element are left out",
             r->size - taken);
    return true;
}

/* The dimension that was left open; whether the elements are there. */
static int settle_shape(struct source *s, const struct raw_source *r)
{
    int64_t there = r->item > 0 ? r->size / r->item : 0, count = 1;
    int d, open = -1;

    for (d = 0; d < s->rank; d++) {
        if (s->dims[d] < 0)
            open = d;
        else if (s->dims[d] > 0 && count > ((int64_t)1 << 61) / s->dims[d])
            count = (int64_t)1 << 62;
        else
            count *= s->dims[d];
    }
    if (open >= 0)
        s->dims[open] = count ? there / count : 0;
    else if (count > there) {
        tool_say(s->file, NULL,
                 "%" PRId64 " elements of %" PRId64 " bytes were asked for; there are %" PRId64,
                 count, r->item, there);
        return TOOL_CORRUPT;
    }
    if (r->raw.rank < 0 && r->size % r->item) {
        tool_say(s->file, NULL,
                 "%" PRId64 " bytes are not a whole number of elements of %" PRId64
                 " (byte %" PRId64 "); say how many with --shape",
                 r->size, r->item, r->raw.offset + there * r->item);
        return TOOL_CORRUPT;
    }
    return 0;
}

static int open_records(struct source *s, struct raw_source *r)
{
    const struct raw_file *raw = &r->raw;
    int status, err;

    if (raw->offset > 0) {
        tool_say(s->file, NULL, "records are read from the first; --offset is for files without");
        return TOOL_USAGE;
    }
    err = drep_pack_size(raw->datarep, 1, s->type, &r->item);
    if (err)
        return tool_fail(s->file, NULL, err);
    status = records_open(&r->records, s->file, r->fd, raw->records, r->item);
    if (status)
        return status;
    r->size = r->records.payload;
    s->read = read_records;
    s->column_major = raw->column_major && s->rank > 1;
    return 0;
}

static int open_view(struct source *s, struct raw_source *r)
{
    const struct raw_file *raw = &r->raw;
    char path[64];
    struct stat st;
    int err = raw_filetype(s->type, raw->datarep, &r->filetype, &r->item);

    /* Data that came through a pipe has no name. */
    snprintf(path, sizeof path, "/proc/self/fd/%d", r->fd);
    if (!err)
        err = drep_view_raw(stat(raw->file, &st) == 0 && S_ISREG(st.st_mode) ? raw->file : path,
                            DREP_RDONLY, NULL, &r->view);
    if (!err)
        err = drep_view_set(r->view, raw->offset, r->filetype, r->filetype, raw->datarep, NULL);
    if (err)
        return tool_fail(s->file, NULL, err);
    if (fstat(r->fd, &st) != 0) {
        tool_say(s->file, NULL, "%s", strerror(errno));
        return TOOL_IO;
    }
    r->size = st.st_size > raw->offset ? st.st_size - raw->offset : 0;
    s->read = read_view;
    s->column_major = raw->column_major;
    return 0;
}

int source_raw(struct source *out, const struct raw_file *raw, int fd)
{
    struct source s = {
        .file = raw->file, .rank = raw->rank, .release = release_raw, .rest = rest_raw};
    struct raw_source *r = calloc(1, sizeof *r);
    int status;

    if (!r)
        return tool_no_memory();
    r->raw = *raw;
    r->fd = fd;
    s.own = r;
    s.stored = drep_type_ref(raw->type);
    if (raw_type(raw->type, raw->datarep, &s.type))
        s.type = drep_type_ref(raw->type); /* the view says what is wrong */
    memcpy(s.dims, raw->dims, sizeof s.dims);
    if (raw->rank < 0) {
        s.rank = 1;
        s.dims[0] = -1;
    }
    status = raw->records ? open_records(&s, r) : open_view(&s, r);
    if (!status)
        status = settle_shape(&s, r);
    if (status)
        source_release(&s);
    else
        *out = s;
    return status;
}
