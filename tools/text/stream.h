/* stream.h - the elements of a dataset as text, formatted by all processors, in order.
 *
 * Elements are read in blocks; a block is cut into pieces, each formatted for itself into
 * memory, and what they gave is printed one after the other.  So a piece must not ask
 * what stands before it: it is told the number of its first element. */
/* SPDX-License-Identifier: MIT */
#ifndef TOOLS_TEXT_STREAM_H
#define TOOLS_TEXT_STREAM_H

#include "tools/text/sink.h"
#include "tools/walk/blocks.h"

struct stream {
    struct sink *sink;
    /* Appends the text of some elements.  Called by several threads at once. */
    void (*put)(const struct stream *stream, struct sink *s, const drep_type *type,
                const char *elements, int64_t first, int64_t count);
    const void *ctx;
    bool any; /* something was put */
};

/* Reads what the slice selects as `type` and prints it.  No piece goes beyond a row of the
 * last dimension unless it has whole ones.  0, DREP_ERR_STOPPED when the sink takes no
 * more, or an error of reading: what was read before is printed. */
int stream_run(struct stream *stream, drep_dataset *dataset, const drep_dsinfo *info,
               const drep_type *type, const struct slice *slice);

#endif
