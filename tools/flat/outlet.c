/* outlet.c - one export that is not HDF5.
 *
 * Formats differ in how they convert and place a block; reading it, counting rounded values and
 * writing bytes is done here for all of them. */
/* SPDX-License-Identifier: MIT */
#include "tools/flat/outlet.h"
#include "tools/host/exit.h"
#include "tools/host/fail.h"
#include "tools/host/fullio.h"
#include "tools/host/message.h"
#include "tools/host/progress.h"
#include <errno.h>
#include <string.h>
#include <unistd.h>

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
