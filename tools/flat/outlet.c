/* outlet.c - one export that is not HDF5.
 *
 * Formats differ in how they convert and place a block; reading it, counting rounded values and
 * writing bytes is done here for all of them. */
/* SPDX-License-Identifier: MIT */
#include "tools/flat/outlet.h"
#include "tools/flat/column_major.h"
#include "tools/host/exit.h"
#include "tools/host/fail.h"
#include "tools/host/fullio.h"
#include "tools/host/message.h"
#include "tools/host/progress.h"
#include "tools/host/unfinished.h"
#include <errno.h>
#include <string.h>
#include <unistd.h>

#define BOX_SIZE ((int64_t)16 << 20) /* bytes in memory, of columns */

int outlet_advance(uint64_t elements)
{
    return progress_add(elements) ? TOOL_IO : 0;
}

int outlet_put(const struct outlet *o, int fd, const void *bytes, size_t size)
{
    if (full_write(fd, bytes, size) == 0)
        return 0;
    /* The reader of a pipe may close it early. */
    if (errno != EPIPE || fd != STDOUT_FILENO)
        tool_say(o->x->dst, NULL, "%s", strerror(errno));
    return TOOL_IO;
}

int extract_failed(const struct extract *e, int err)
{
    const char *made = unfinished_path();
    size_t n = made ? strlen(made) : 0;

    /* The file that is made has another name yet. */
    if (n > 0 && strncmp(drep_error(), made, n) == 0 && strncmp(drep_error() + n, ": ", 2) == 0) {
        tool_say(e->outlet->x->dst, NULL, "%s", drep_error() + n + 2);
        return tool_exit_code(err);
    }
    return err == DREP_ERR_NOMEM ? tool_no_memory() : tool_fail(e->outlet->name, e->path, err);
}

int extract_read(struct extract *e, struct blocks *b, const drep_type *type, void *buf)
{
    drep_report report = DREP_REPORT;
    drep_xfer xfer = DREP_XFER(.range = e->outlet->x->range, .report = &report);
    int err;

    b->xfer = &xfer;
    err = blocks_read(b, e->dataset, type, buf);
    b->xfer = NULL;
    e->rounded += report.inexact;
    return err ? extract_failed(e, err) : 0;
}

/* Whole first dimensions, some indices of the next. */
int64_t turned_init(struct box *b, int rank, const int64_t *dims, int64_t extent)
{
    int64_t turned[DREP_MAX_RANK], step[DREP_MAX_RANK], len = 1, most;
    int d;

    most = BOX_SIZE / (extent > 0 ? extent : 1);
    most = most > 0 ? most : 1;
    for (d = 0; d < rank; d++)
        turned[rank - 1 - d] = dims[d];
    for (d = rank - 1; d >= 0; d--) {
        step[d] = turned[d] < most / len ? turned[d] : most / len;
        step[d] = step[d] > 0 ? step[d] : 1;
        len *= step[d];
        most = step[d] < turned[d] ? 0 : most;
    }
    box_init(b, rank, turned, step);
    return len;
}

int extract_turned(struct extract *e, const struct box *b, const drep_type *type, void *buf)
{
    const struct slice *slice = &e->slice;
    int64_t start[DREP_MAX_RANK], count[DREP_MAX_RANK], columns[DREP_MAX_RANK];
    drep_report report = DREP_REPORT;
    drep_xfer xfer = DREP_XFER(.range = e->outlet->x->range, .report = &report);
    drep_selection *selection = NULL;
    drep_type *memory = NULL;
    int d, k = 0, err;

    for (d = 0; d < slice->rank; d++) {
        start[d] = slice->start[d];
        count[d] = 1;
        if (slice->single[d])
            continue;
        start[d] += b->start[b->rank - 1 - k] * slice->step[d];
        columns[k] = count[d] = b->count[b->rank - 1 - k];
        k++;
    }
    err = drep_select_box(slice->rank, start, count, slice->step, NULL, &selection);
    if (!err)
        err = column_major_elements(type, b->rank, columns, &memory);
    if (!err)
        err = drep_read(e->dataset, selection, memory, buf, &xfer);
    drep_type_free(memory);
    drep_selection_free(selection);
    e->rounded += report.inexact;
    return err ? extract_failed(e, err) : 0;
}

int extract_box(const struct extract *e, const struct blocks *b, int64_t *start, int64_t *count)
{
    int d, k = 0;

    for (d = 0; d < e->slice.rank; d++) {
        if (e->slice.single[d])
            continue;
        start[k] = b->at[d];
        count[k++] = b->count[d];
    }
    return k;
}
