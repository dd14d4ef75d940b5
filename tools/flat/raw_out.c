/* raw_out.c - a dataset as bare elements, through a view or in Fortran's records.
 *
 * Without records the elements go through a view, which places and converts them; records are
 * packed and framed here, as a length stands before and after each. */
#include "tools/flat/raw_out.h"
#include "tools/flat/column_major.h"
#include "tools/flat/raw_in.h"
#include "tools/flat/records.h"
#include "tools/flat/verify.h"
#include "tools/host/exit.h"
#include "tools/host/fail.h"
#include "tools/host/message.h"
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define PIECE_MAX ((int64_t)INT32_MAX - 8) /* bytes between two lengths of 4 bytes */

struct raw_out {
    struct extract e;
    const char *datarep;
    int rank;
    int64_t dims[DREP_MAX_RANK];
    struct blocks blocks;
    char *buf;
    int64_t changed; /* by the representation of the file */
};

/* A representation that only this file's header knows gets its name in this process. */
static int find_datarep(struct raw_out *r)
{
    const drep_encoding *rows;
    const drep_scalar *scalars;
    drep_encoding known[DREP_CODE_MAX];
    const drep_dsinfo *info = &r->e.info;
    int n, nscalars, err;

    r->datarep = r->e.outlet->x->datarep;
    if (r->datarep)
        return 0;
    r->datarep = info->datarep;
    if (drep_datarep_table(info->datarep, known, DREP_CODE_MAX, &n) == 0)
        return 0;
    err = drep_header_types(r->e.outlet->file, info->datarep_number, &rows, &n);
    /* Functions have sizes alone. */
    if (!err && n > 0 && rows[0].format == 0)
        return 0;
    if (!err)
        err = drep_header_scalars(r->e.outlet->file, info->datarep_number, &scalars, &nscalars);
    if (!err)
        err = drep_declare_datarep(info->datarep, "external32", rows, n, scalars, nscalars);
    return err ? extract_failed(&r->e, err) : 0;
}

static int begin(struct raw_out *r)
{
    int64_t extent = drep_type_extent(r->e.info.type);
    int status = find_datarep(r);

    if (status)
        return status;
    if (drep_type_variable(r->e.info.type)) {
        tool_say(r->e.outlet->name, r->e.path, "elements of variable length are not bare bytes");
        return TOOL_USAGE;
    }
    r->rank = slice_shape(&r->e.slice, r->dims);
    blocks_init(&r->blocks, &r->e.slice, &r->e.info, extent, false);
    r->buf = calloc((size_t)r->blocks.most + 1, (size_t)extent + 1);
    return r->buf ? 0 : tool_no_memory();
}

static int next(struct raw_out *r)
{
    int status = extract_read(&r->e, &r->blocks, r->e.info.type, r->buf);

    return status ? status : outlet_advance((uint64_t)r->blocks.len);
}

/* -------------------------------------------------------------------- views */

static int write_columns(const struct raw_out *r, drep_view *view, const drep_type *filetype,
                         const drep_xfer *xfer)
{
    int64_t start[DREP_MAX_RANK], count[DREP_MAX_RANK];
    drep_type *box = NULL, *memory = NULL;
    int err;

    extract_box(&r->e, &r->blocks, start, count);
    err = drep_type_subarray(r->rank, r->dims, count, start, DREP_ORDER_FORTRAN, filetype, &box);
    if (!err)
        err = drep_view_set(view, 0, filetype, box, r->datarep, NULL);
    if (!err)
        err = column_major_order(r->e.info.type, r->rank, count, &memory);
    if (!err)
        err = drep_write_at(view, 0, r->buf, 1, memory, xfer, NULL);
    drep_type_free(box);
    drep_type_free(memory);
    return err;
}

static int write_view(struct raw_out *r, const char *name)
{
    drep_report report = {0};
    drep_xfer xfer = {.range = r->e.outlet->x->range, .report = &report};
    drep_type *filetype = NULL;
    drep_view *view = NULL;
    int64_t size;
    bool columns = r->e.outlet->f->column_major && r->rank > 1;
    int status = 0, err = raw_filetype(r->e.info.type, r->datarep, &filetype, &size);

    if (!err)
        err = drep_view_raw(name, DREP_RDWR, NULL, &view);
    if (!err)
        err = drep_view_set(view, 0, filetype, filetype, r->datarep, NULL);
    while (!err && !status && blocks_next(&r->blocks)) {
        status = next(r);
        if (!status && columns)
            err = write_columns(r, view, filetype, &xfer);
        else if (!status)
            err = drep_write_at(view, r->blocks.first, r->buf, r->blocks.len, r->e.info.type, &xfer,
                                NULL);
        r->changed += report.inexact + report.overflow + report.nan_lost;
        report = (drep_report){0};
    }
    if (view && !err)
        err = drep_view_close(view);
    drep_type_free(filetype);
    return err ? extract_failed(&r->e, err) : status;
}

/* ------------------------------------------------------------------- records */

struct record_writer {
    int fd, width;
    bool big;
    const struct outlet *outlet;
    int64_t left, piece; /* of the record; of the piece being written */
    bool inside;         /* the piece continues another */
};

static int put_mark(const struct record_writer *w, int64_t length)
{
    unsigned char mark[8];

    return outlet_put(w->outlet, w->fd, mark, records_mark(w->width, w->big, length, mark));
}

/* The length before a piece is negative if another follows, behind it if one came before. */
static int begin_piece(struct record_writer *w)
{
    int64_t most = w->width == 4 ? PIECE_MAX : INT64_MAX;

    w->piece = w->left < most ? w->left : most;
    return put_mark(w, w->left > w->piece ? -w->piece : w->piece);
}

static int put_record(struct record_writer *w, const char *bytes, int64_t size, int64_t *done)
{
    int64_t part;
    int status = 0;

    while (size > 0 && !status) {
        if (*done == w->piece) {
            status = put_mark(w, w->inside ? -w->piece : w->piece);
            w->left -= w->piece;
            w->inside = true;
            *done = 0;
            if (!status)
                status = begin_piece(w);
        }
        part = w->piece - *done < size ? w->piece - *done : size;
        if (!status)
            status = outlet_put(w->outlet, w->fd, bytes, (size_t)part);
        bytes += part;
        size -= part;
        *done += part;
    }
    return status;
}

/* A record for each index of the first dimension, or one for all. */
static int64_t record_len(const struct raw_out *r)
{
    int64_t len = 1;
    int d;

    for (d = r->rank > 1; d < r->rank; d++)
        len *= r->dims[d];
    return len;
}

static int pack_block(const struct raw_out *r, char *packed, int64_t size)
{
    int64_t position = 0;
    int err = drep_pack(r->datarep, r->buf, r->blocks.len, r->e.info.type, packed, size, &position);

    return err ? extract_failed(&r->e, err) : 0;
}

/* The packed bytes of a block, which may begin and end inside of records. */
static int put_block(struct record_writer *w, const char *bytes, int64_t size, int64_t record,
                     int64_t *done)
{
    int64_t part;
    int status = 0;

    while (size > 0 && !status) {
        if (w->left == 0) {
            w->left = record;
            w->inside = false;
            *done = 0;
            status = begin_piece(w);
        }
        part = w->left - *done < size ? w->left - *done : size;
        if (!status)
            status = put_record(w, bytes, part, done);
        bytes += part;
        size -= part;
        if (!status && *done == w->left) {
            status = put_mark(w, w->inside ? -w->piece : w->piece);
            w->left = 0;
        }
    }
    return status;
}

static int write_records(struct raw_out *r, int fd)
{
    struct record_writer w = {.fd = fd, .outlet = r->e.outlet};
    int64_t item, size, done = 0, record;
    char *packed;
    int status = 0, err = drep_pack_size(r->datarep, 1, r->e.info.type, &item);

    if (err)
        return extract_failed(&r->e, err);
    records_form(r->e.outlet->f->records, &w.width, &w.big);
    if (w.width == 0)
        w.width = 4;
    record = record_len(r) * item;
    packed = malloc((size_t)(r->blocks.most * item) + 1);
    if (!packed)
        return tool_no_memory();
    while (!status && blocks_next(&r->blocks)) {
        size = r->blocks.len * item;
        status = next(r);
        if (!status)
            status = pack_block(r, packed, size);
        if (!status)
            status = put_block(&w, packed, size, record, &done);
    }
    free(packed);
    return status;
}

static int read_back(const struct raw_out *r, const char *name)
{
    struct raw_file raw = {.file = name,
                           .type = r->e.info.type,
                           .rank = r->rank,
                           .datarep = r->datarep,
                           .records = r->e.outlet->f->records,
                           .column_major = r->e.outlet->f->column_major && r->rank > 1};
    int fd = open(name, O_RDONLY | O_CLOEXEC), status;
    struct source s;

    if (fd < 0) {
        tool_say(r->e.outlet->x->dst, NULL, "%s", strerror(errno));
        return TOOL_IO;
    }
    memcpy(raw.dims, r->dims, sizeof raw.dims);
    status = source_raw(&s, &raw, fd);
    if (!status) {
        status = flat_verify(&r->e, &s, true);
        source_release(&s);
    }
    close(fd);
    return status;
}

int raw_out(const struct extract *extract, const char *name, int fd, bool verify)
{
    struct raw_out r = {.e = *extract};
    struct outlet *outlet = extract->outlet;
    int status = begin(&r);

    if (!status)
        status = outlet->f->records ? write_records(&r, fd) : write_view(&r, name);
    /* Rounded values differ from the dataset's, so they cannot be compared. */
    if (!status && verify && r.e.rounded == 0 && r.changed == 0)
        status = read_back(&r, name);
    free(r.buf);
    if (r.e.rounded > 0) {
        tool_say(outlet->name, extract->path,
                 "warning: %" PRId64 " values are rounded to what this machine's types hold; "
                 "dump --raw gives all digits",
                 r.e.rounded);
        outlet->left_out = true;
    }
    return status;
}
