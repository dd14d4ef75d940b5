/* values.c - elements of a dataset or an attribute, in memory that JavaScript reads. */
/* SPDX-License-Identifier: MIT */
#include "base/error.h"
#include "web/core/binding.h"

#include <stdlib.h>

#define ANY_LIMIT ((double)((int64_t)1 << 30)) /* all memory that an instance may have */

/* What the last read gave. */
static struct {
    drep_type *type;
    int64_t n;
    void *at;
} held;

EXPORT("web_free") void web_free(void)
{
    if (held.type && held.at)
        drep_vlen_free(held.type, held.n, held.at);
    drep_type_free(held.type);
    free(held.at);
    held.type = NULL;
    held.at = NULL;
    held.n = 0;
}

/* Take memory for n elements of held.type, at most `limit` bytes. */
static int take_memory(int64_t n, double limit)
{
    int64_t extent = drep_type_extent(held.type);

    if ((double)n * (double)extent > (limit < ANY_LIMIT ? limit : ANY_LIMIT))
        return fail(DREP_ERR_LIMIT,
                    "%lld elements of %lld bytes are more than the limit of %.0f bytes",
                    (long long)n, (long long)extent, limit);
    held.at = calloc(1, (size_t)(n * extent) + 16);
    return held.at ? 0 : fail_nomem();
}

/* Of what was read; dimensions of which one index was chosen are left out. */
struct shape {
    int rank;
    int64_t len[DREP_MAX_RANK];
};

static int read_elements(drep_dataset *dataset, const drep_dsinfo *info, const char *select,
                         double limit, struct shape *shape, drep_report *report)
{
    int64_t block[DREP_MAX_RANK];
    int single[DREP_MAX_RANK];
    drep_xfer xfer = DREP_XFER(.range = DREP_RANGE_WRAP, .report = report);
    drep_selection *selection = NULL;
    int64_t n = info->count;
    int err = 0;

    if (*select)
        err = drep_select_parse(select, info->rank, info->dims, &selection);
    if (selection) {
        n = drep_selection_count(selection);
        err = drep_selection_box(selection, NULL, NULL, shape->len, NULL, block, single);
    }
    for (int d = 0; !err && d < info->rank; d++)
        if (!selection)
            shape->len[shape->rank++] = info->dims[d];
        else if (!single[d])
            shape->len[shape->rank++] = shape->len[d] * block[d];
    if (!err)
        err = take_memory(n, limit);
    if (!err)
        err = drep_read(dataset, selection, held.type, held.at, &xfer);
    if (!err)
        held.n = n;
    drep_selection_free(selection);
    return err;
}

static void put_result(const struct shape *shape, const drep_report *report)
{
    out(",\"shape\":");
    out_lengths(shape->rank, shape->len);
    out(",\"n\":%lld,\"at\":%lu,\"overflow\":%lld,\"inexact\":%lld}", (long long)held.n,
        (unsigned long)(uintptr_t)held.at, (long long)report->overflow, (long long)report->inexact);
}

/* Elements of a dataset.  select: as drep_select_parse(), "" for all; limit: bytes of memory.
 * {"t": layout, "n": elements, "at": address, "overflow": numbers beyond their type, "inexact":
 * rounded ones, "shape"}.  DREP_ERR_LIMIT: more than `limit`. */
EXPORT("web_read") int web_read(const char *path, const char *select, double limit)
{
    drep_dsinfo info = DREP_DSINFO;
    drep_report report = DREP_REPORT;
    const drep_encoding *rows = NULL;
    drep_dataset *dataset;
    struct shape shape = {0};
    struct stored stored;
    int n = 0, err;

    web_free();
    err = drep_dataset_open(web_file, path, &dataset);
    if (err)
        return err;
    drep_dataset_info(dataset, &info);
    if (drep_header_types(web_file, info.datarep_number, &rows, &n))
        n = 0;
    stored_fill(&stored, rows, n);
    out_begin();
    out("{\"t\":");
    err = memory_type(info.type, &stored, &held.type);
    if (info.rank == DREP_NULL_SPACE)
        shape.rank = DREP_NULL_SPACE;
    else if (!err)
        err = read_elements(dataset, &info, select, limit, &shape, &report);
    put_result(&shape, &report);
    drep_dataset_close(dataset);
    return err ? err : out_end();
}

/* The value of an attribute, likewise. */
EXPORT("web_read_attr") int web_read_attr(const char *path, const char *name, double limit)
{
    drep_encoding rows[DREP_CODE_MAX + 1];
    drep_attrinfo info = DREP_ATTRINFO;
    drep_report report = DREP_REPORT;
    struct stored stored;
    drep_item item = {.path = path, .attr = name};
    struct shape shape;
    int n = 0, err;

    web_free();
    err = drep_attr_info(web_file, path, name, &info);
    if (err)
        return err;
    err = drep_attr_encodings(web_file, path, name, rows, DREP_CODE_MAX + 1, &n);
    stored_fill(&stored, rows, n);
    out_begin();
    out("{\"t\":");
    if (!err)
        err = memory_type(info.type, &stored, &held.type);
    if (!err)
        err = take_memory(info.count, limit);
    if (!err && info.rank != DREP_NULL_SPACE) {
        item.type = held.type;
        item.buf = held.at;
        err =
            drep_readv(web_file, &item, 1, &DREP_XFER(.range = DREP_RANGE_WRAP, .report = &report));
        held.n = err ? 0 : info.count;
    }
    shape.rank = info.rank;
    for (int d = 0; d < info.rank; d++)
        shape.len[d] = info.dims[d];
    put_result(&shape, &report);
    drep_attrinfo_release(&info);
    return err ? err : out_end();
}
