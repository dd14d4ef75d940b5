/* raw_out.c - a dataset as bare elements, through a view or in records.
 *
 * Without records the elements go through a view, which places and converts them; those of
 * records are packed here, in the order of the file, and framed by record_out.c. */
/* SPDX-License-Identifier: MIT */
#include "tools/flat/raw_out.h"
#include "tools/flat/column_major.h"
#include "tools/flat/raw_in.h"
#include "tools/flat/record_out.h"
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

static int raw_begin(struct raw_out *r)
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
    drep_report report = DREP_REPORT;
    drep_xfer xfer = DREP_XFER(.range = r->e.outlet->x->range, .report = &report);
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
        report = DREP_REPORT;
    }
    if (view && !err)
        err = drep_view_close(view);
    drep_type_free(filetype);
    return err ? extract_failed(&r->e, err) : status;
}

/* ------------------------------------------------------------------- records */

/* A record for each index of the dimension that varies slowest.  Of one dimension or none,
 * Fortran has one record, IBM's forms have one for each element. */
static int64_t record_len(const struct raw_out *r, bool ibm)
{
    bool columns = r->e.outlet->f->column_major;
    int64_t len = 1;
    int d, slowest = r->rank < 2 && !ibm ? -1 : columns ? r->rank - 1 : 0;

    for (d = 0; d < r->rank; d++)
        len *= d == slowest ? 1 : r->dims[d];
    return len;
}

static int put_elements(const struct raw_out *r, struct record_out *out, int64_t len, char *packed,
                        int64_t size)
{
    int64_t position = 0;
    int err = drep_pack(r->datarep, r->buf, len, r->e.info.type, packed, size, &position);

    return err ? extract_failed(&r->e, err) : record_out_put(out, packed, size);
}

static int write_rows(struct raw_out *r, struct record_out *out, int64_t item)
{
    char *packed = malloc((size_t)(r->blocks.most * item) + 1);
    int status = packed ? 0 : tool_no_memory();

    while (!status && blocks_next(&r->blocks)) {
        status = next(r);
        if (!status)
            status = put_elements(r, out, r->blocks.len, packed, r->blocks.len * item);
    }
    free(packed);
    return status;
}

static int write_turned(struct raw_out *r, struct record_out *out, int64_t item)
{
    int64_t extent = drep_type_extent(r->e.info.type), most;
    struct box b;
    char *packed;
    int status = 0;

    if (slice_count(&r->e.slice) == 0)
        return 0;
    most = turned_init(&b, r->rank, r->dims, extent);
    free(r->buf);
    r->buf = calloc((size_t)most, (size_t)extent + 1);
    packed = malloc((size_t)(most * item) + 1);
    if (!r->buf || !packed)
        status = tool_no_memory();
    while (!status && box_next(&b)) {
        status = extract_turned(&r->e, &b, r->e.info.type, r->buf);
        if (!status)
            status = outlet_advance((uint64_t)box_elements(&b));
        if (!status)
            status = put_elements(r, out, box_elements(&b), packed, box_elements(&b) * item);
    }
    free(packed);
    return status;
}

static int write_records(struct raw_out *r, int fd)
{
    const struct flat *f = r->e.outlet->f;
    const struct record_form *form = records_form(f->records);
    struct record_out *out;
    int64_t item;
    int status, err = drep_pack_size(r->datarep, 1, r->e.info.type, &item);

    if (err)
        return extract_failed(&r->e, err);
    status = record_out_open(&out, r->e.outlet, fd, form, record_len(r, form->ibm) * item);
    if (status)
        return status;
    status = f->column_major && r->rank > 1 ? write_turned(r, out, item) : write_rows(r, out, item);
    return record_out_close(out, status);
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
    int status = raw_begin(&r);

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
