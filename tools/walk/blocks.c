/* blocks.c - cutting a selection into blocks, and reading them. */
/* SPDX-License-Identifier: MIT */
#include "tools/walk/blocks.h"
#include "tools/walk/field.h"
#include <stdlib.h>

#define BLOCK_SIZE ((int64_t)4 << 20)
#define BLOCK_VARIABLE ((int64_t)1 << 14) /* elements, when their size is not known */

/* Whole trailing dimensions, some rows of one, single indices of those before. */
void blocks_init(struct blocks *b, const struct slice *slice, const drep_dsinfo *info,
                 int64_t extent, bool variable)
{
    int64_t most = BLOCK_SIZE / (extent > 0 ? extent : 1), inner = 1;
    int d;

    *b = (struct blocks){.slice = slice, .first = -1, .split = -1};
    if (slice_count(slice) == 0)
        return;
    if (variable && most > BLOCK_VARIABLE)
        most = BLOCK_VARIABLE;
    if (most < 1)
        most = 1;
    for (d = slice->rank; d > 0 && slice->count[d - 1] <= most / inner; d--) {
        inner *= slice->count[d - 1];
        b->count[d - 1] = slice->count[d - 1];
    }
    b->split = d - 1;
    b->rows = most / inner;
    b->most = b->split >= 0 ? inner * b->rows : inner;
    while (--d > 0)
        b->count[d - 1] = 1;
    b->chunk = info->layout == DREP_CHUNKED && b->split >= 0 ? info->chunk[b->split] : 1;
}

/* Number of rows in the block that begins here. */
static int64_t rows_here(const struct blocks *b)
{
    const struct slice *s = b->slice;
    int64_t at = b->at[b->split], step = s->step[b->split], left = s->count[b->split] - at, end;

    if (left <= b->rows)
        return left;
    /* Back to where a row of chunks ends, unless that is before the first row. */
    end = s->start[b->split] + (at + b->rows) * step;
    end -= end % b->chunk;
    end = (end - s->start[b->split] + step - 1) / step;
    return end > at ? end - at : b->rows;
}

static bool blocks_step(struct blocks *b)
{
    int d;

    for (d = b->split; d >= 0; d--) {
        b->at[d] += b->count[d];
        if (b->at[d] < b->slice->count[d])
            return true;
        b->at[d] = 0;
    }
    return false;
}

bool blocks_next(struct blocks *b)
{
    int64_t n = 1;
    int d;

    if (b->first < 0 && slice_count(b->slice) == 0)
        return false;
    if (b->first >= 0 && !blocks_step(b))
        return false;
    b->first = b->first < 0 ? 0 : b->first + b->len;
    if (b->split >= 0)
        b->count[b->split] = rows_here(b);
    for (d = 0; d < b->slice->rank; d++)
        n *= b->count[d];
    b->len = n;
    return true;
}

/* True if complex numbers are read as the widest ones that memory has. */
static bool is_widest(const drep_type *type)
{
    int64_t i, n = drep_type_members(type);

    if (drep_type_code(type) == DREP_CODE_COMPLEX32)
        return true;
    for (i = 0; i < n; i++)
        if (is_widest(drep_type_member(type, i)))
            return true;
    return false;
}

/* The library reads it; the command does not take it. */
static int complex_rounded(void)
{
    return drep_error_set(DREP_ERR_CONVERSION, "a complex number has more digits, or another "
                                               "power, than binary128 holds");
}

int elements_read(drep_dataset *dataset, const drep_selection *selection, const drep_type *type,
                  void *buf)
{
    drep_report report = DREP_REPORT;
    drep_xfer xfer = DREP_XFER(.report = &report);
    int err = drep_read(dataset, selection, type, buf, is_widest(type) ? &xfer : NULL);

    return !err && report.inexact > 0 ? complex_rounded() : err;
}

int attribute_read(drep_file *file, const char *path, const char *name, const drep_type *type,
                   void *buf)
{
    drep_item item = {.path = path, .attr = name, .type = type, .buf = buf};
    drep_report report = DREP_REPORT;
    drep_xfer xfer = DREP_XFER(.report = &report);
    int err;

    if (!is_widest(type))
        return drep_attr_read(file, path, name, type, buf);
    err = drep_readv(file, &item, 1, &xfer);
    return !err && report.inexact > 0 ? complex_rounded() : err;
}

int blocks_read(const struct blocks *b, drep_dataset *dataset, const drep_type *type, void *buf)
{
    const struct slice *s = b->slice;
    int64_t start[DREP_MAX_RANK];
    drep_selection *selection = NULL;
    drep_type *around = NULL;
    int d, err = s->member ? field_around(s->type, s->member, type, &around) : 0;

    for (d = 0; d < s->rank; d++)
        start[d] = s->start[d] + b->at[d] * s->step[d];
    if (!err && s->rank > 0)
        err = drep_select_box(s->rank, start, b->count, s->step, NULL, &selection);
    if (!err && b->xfer)
        err = drep_read(dataset, selection, around ? around : type, buf, b->xfer);
    else if (!err)
        err = elements_read(dataset, selection, around ? around : type, buf);
    drep_type_free(around);
    drep_selection_free(selection);
    return err;
}

int blocks_each(drep_dataset *dataset, const drep_dsinfo *info, const drep_type *type,
                const struct slice *slice, blocks_fn *fn, void *ctx)
{
    int64_t extent = drep_type_extent(type);
    bool variable = drep_type_variable(type);
    struct blocks b;
    void *buf;
    int err = 0;

    blocks_init(&b, slice, info, extent, variable);
    if (b.most == 0)
        return 0;
    buf = calloc((size_t)b.most, (size_t)(extent > 0 ? extent : 1));
    if (!buf)
        return DREP_ERR_NOMEM;
    while (!err && blocks_next(&b)) {
        err = blocks_read(&b, dataset, type, buf);
        if (err)
            break;
        err = fn(ctx, type, buf, b.first, b.len);
        if (variable)
            drep_vlen_free(type, b.len, buf);
    }
    free(buf);
    return err;
}
