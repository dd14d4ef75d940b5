/* load.c - puts what a source has into datasets.
 *
 * A source is read box by box and each box is written at once.  Boxes end where chunks do, so
 * that no chunk is written twice: a filtered chunk would be compressed each time. */
/* SPDX-License-Identifier: MIT */
#include "tools/flat/load.h"
#include "tools/flat/column_major.h"
#include "tools/host/exit.h"
#include "tools/host/fail.h"
#include "tools/host/limit.h"
#include "tools/host/message.h"
#include "tools/host/progress.h"
#include "tools/walk/box.h"
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#define BLOCK ((int64_t)16 << 20)     /* bytes in memory, where nothing speaks for more */
#define BLOCK_MAX ((int64_t)64 << 20) /* so that each chunk is written once */

/* -------------------------------------------------------------------- boxes */

static int64_t least(int64_t a, int64_t b)
{
    return a < b ? a : b;
}

/* Rows, planes, ...: the elements of a box follow each other.  The dimension in which boxes
 * follow each other is cut where chunks are. */
static int64_t shape_rows(const struct source *s, int64_t *step, const int64_t *chunk, int64_t most,
                          int64_t at_most)
{
    int64_t len = 1, k;
    int d = s->rank - 1;

    for (; d >= 0 && s->dims[d] <= most / len; d--) {
        step[d] = s->dims[d] > 0 ? s->dims[d] : 1;
        len *= step[d];
    }
    if (d >= 0) {
        k = chunk && chunk[d] > most / len ? at_most / len : most / len;
        k = k > 0 ? k : 1;
        if (chunk && k > chunk[d])
            k -= k % chunk[d];
        step[d] = k;
        len *= k;
        while (--d >= 0)
            step[d] = 1;
    }
    return len;
}

/* Choose boxes of whole chunks, long in the first dimension, which is fastest in the source, then
 * in the last, which is fastest here. */
static int64_t shape_columns(const struct source *s, int64_t *step, const int64_t *chunk,
                             int64_t most)
{
    int64_t len = 1;
    int d, turn;

    for (d = 0; d < s->rank; d++) {
        step[d] = chunk ? least(chunk[d], s->dims[d]) : 1;
        step[d] = step[d] > 0 ? step[d] : 1;
        len *= step[d];
    }
    for (turn = 0; turn < 64 * s->rank; turn++) {
        d = turn % s->rank ? s->rank - turn % s->rank : 0;
        if (step[d] >= s->dims[d] || len > most / 2)
            continue;
        len = len / step[d] * least(2 * step[d], s->dims[d]);
        step[d] = least(2 * step[d], s->dims[d]);
    }
    return len;
}

/* Chooses the boxes; gives the elements of the largest. */
static int64_t choose_boxes(struct box *b, const struct source *s, const drep_dsinfo *info)
{
    int64_t extent = drep_type_extent(s->type), step[DREP_MAX_RANK], most, len;
    const int64_t *chunk = info->layout == DREP_CHUNKED ? info->chunk : NULL;

    extent = extent > 0 ? extent : 1;
    /* Variable parts are not counted: strings come a few thousand at a time. */
    if (drep_type_variable(s->type))
        extent += 1024;
    most = BLOCK / extent > 0 ? BLOCK / extent : 1;
    if (s->column_major)
        len = shape_columns(s, step, chunk, most * (BLOCK_MAX / BLOCK));
    else
        len = shape_rows(s, step, chunk, most, most * (BLOCK_MAX / BLOCK));
    box_init(b, s->rank, s->dims, step);
    return len;
}

/* ------------------------------------------------------------------- making */

int load_create(const struct source *s, const struct exchange *x, drep_file *file, const char *path,
                bool grows, drep_dataset **out)
{
    int64_t most[DREP_MAX_RANK];
    drep_spec spec =
        DREP_SPEC(.type = s->stored, .rank = s->rank, .dims = s->rank > 0 ? s->dims : NULL);
    const char *slash = strrchr(path, '/');
    char *group;
    int err = 0;

    if (slash && slash > path) {
        group = strndup(path, (size_t)(slash - path));
        err = group ? drep_group_create(file, group, 1) : DREP_ERR_NOMEM;
        free(group);
        if (err == DREP_ERR_EXISTS)
            err = 0;
    }
    memcpy(most, s->dims, sizeof most);
    if (grows && s->rank > 0) {
        most[0] = DREP_UNLIMITED;
        spec.maxdims = most;
    }
    /* Columns into rows: only chunks can be written one after the other. */
    if (s->column_major || (x->nfilters > 0 && s->rank > 0))
        spec.layout = DREP_CHUNKED;
    if (x->nfilters > 0 && s->rank > 0) {
        spec.filters = x->filters;
        spec.nfilters = x->nfilters;
    }
    if (!err)
        err = drep_dataset_create(file, path, &spec, out);
    if (!err && s->note)
        err = drep_attr_write_string(file, path, s->note_name, s->note);
    if (!err && s->order_name)
        err = drep_attr_write_string(file, path, s->order_name, "fortran");
    return err ? tool_fail(x->dst, path, err) : 0;
}

static int does_not_fit(const struct source *s, const struct load_target *t,
                        const drep_dsinfo *info)
{
    char want[1024] = "", have[1024] = "";
    size_t n = 0, m = 0;
    int d;

    for (d = 0; d < s->rank && n < sizeof want - 32; d++)
        n += (size_t)snprintf(want + n, sizeof want - n, "%s%" PRId64, d ? ", " : "", s->dims[d]);
    for (d = 0; d < info->rank && m < sizeof have - 32; d++)
        m +=
            (size_t)snprintf(have + m, sizeof have - m, "%s%" PRId64, d ? ", " : "", info->dims[d]);
    tool_say(t->name, t->path, "[%s] elements of %s do not fit the shape [%s]%s", want, s->file,
             info->rank < 0 ? "null" : have,
             t->first > 0 && info->maxdims[0] == info->dims[0]
                 ? ", which is full; one that grows is made with "
                   "maxshape: [unlimited]"
                 : "");
    return TOOL_USAGE;
}

int load_fit(const struct source *s, struct load_target *t, bool append)
{
    int64_t dims[DREP_MAX_RANK];
    drep_dsinfo info = DREP_DSINFO;
    bool same = true, grown = false;
    int d, err = drep_dataset_info(t->dataset, &info);

    if (err)
        return tool_fail(t->name, t->path, err);
    if (info.rank != s->rank || (append && s->rank == 0))
        return does_not_fit(s, t, &info);
    t->first = append ? info.dims[0] : 0;
    for (d = 0; d < s->rank; d++) {
        dims[d] = s->dims[d] + (d == 0 ? t->first : 0);
        grown = grown || dims[d] != info.dims[d];
        same = same && (dims[d] == info.dims[d] || info.maxdims[d] == DREP_UNLIMITED ||
                        (dims[d] > info.dims[d] && dims[d] <= info.maxdims[d]));
    }
    if (!same)
        return does_not_fit(s, t, &info);
    err = grown ? drep_dataset_resize(t->dataset, dims) : 0;
    return err ? tool_fail(t->name, t->path, err) : 0;
}

/* ------------------------------------------------------------------- moving */

static int write_box(const struct source *s, const struct load_target *t, const struct box *b,
                     const drep_type *type, const void *buf)
{
    drep_xfer xfer = DREP_XFER(.range = t->range);
    int64_t start[DREP_MAX_RANK];
    drep_selection *sel = NULL;
    drep_type *columns = NULL;
    int err = 0;

    memcpy(start, b->start, sizeof start);
    if (b->rank > 0) {
        start[0] += t->first;
        err = drep_select_box(b->rank, start, b->count, NULL, NULL, &sel);
    }
    if (!err && s->column_major)
        err = column_major_elements(s->type, s->rank, b->count, &columns);
    if (!err)
        err = drep_write(t->dataset, sel, columns ? columns : type, buf, &xfer);
    drep_type_free(columns);
    drep_selection_free(sel);
    return err ? tool_fail(t->name, t->path, err) : 0;
}

typedef int box_fn(const struct source *s, const struct load_target *t, const struct box *b,
                   const void *buf);

static int write_whole(const struct source *s, const struct load_target *t, const struct box *b,
                       const void *buf)
{
    return write_box(s, t, b, s->type, buf);
}

/* Each member of the compounds, from where it lies in them. */
static int write_members(const struct source *s, const struct load_target *t, const struct box *b,
                         const void *buf)
{
    int64_t i, extent = drep_type_extent(s->type);
    int err = 0, status = 0;

    for (i = 0; i < drep_type_members(s->type) && !status; i++) {
        drep_type *strided;

        err = drep_type_resized(0, extent, drep_type_member(s->type, i), &strided);
        if (err)
            return tool_fail(t[i].name, t[i].path, err);
        status = write_box(s, &t[i], b, strided,
                           (const char *)buf + drep_type_member_offset(s->type, i));
        drep_type_free(strided);
    }
    return status;
}

static int move_boxes(struct source *s, const struct load_target *t, struct box *b, char *buf,
                      box_fn *write)
{
    size_t size = (size_t)drep_type_extent(s->type);
    int64_t len;
    int status = 0;

    while (!status && box_next(b)) {
        len = box_elements(b);
        memset(buf, 0, size * (size_t)len);
        status = s->read(s, b->start, b->count, buf);
        if (!status)
            status = write(s, t, b, buf);
        if (drep_type_variable(s->type))
            drep_vlen_free(s->type, len, buf);
        limit_output(size * (uint64_t)len);
        if (!status && progress_add((uint64_t)len))
            status = TOOL_IO; /* a signal asks for an end, or a limit that has said so */
    }
    return status;
}

static int load_boxes(struct source *s, const struct load_target *t, box_fn *write)
{
    drep_dsinfo info = DREP_DSINFO;
    struct box b;
    int64_t len;
    uint64_t total = 1;
    char *buf;
    int d, status, err = drep_dataset_info(t->dataset, &info);

    if (err)
        return tool_fail(t->name, t->path, err);
    for (d = 0; d < s->rank; d++)
        total *= (uint64_t)s->dims[d];
    if (total == 0)
        return 0;
    len = choose_boxes(&b, s, &info);
    buf = calloc((size_t)len, (size_t)(drep_type_extent(s->type) + 1));
    if (!buf)
        return tool_no_memory();
    progress_begin("import", PROGRESS_ITEMS, total);
    status = move_boxes(s, t, &b, buf, write);
    progress_end();
    free(buf);
    return status;
}

int load_all(struct source *s, const struct load_target *t)
{
    return load_boxes(s, t, write_whole);
}

int load_columns(struct source *s, const struct load_target *columns)
{
    return load_boxes(s, columns, write_members);
}
