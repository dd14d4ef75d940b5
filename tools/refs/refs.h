/* refs.h - a file's references as kerchunk writes them (version 1), for readers of zarr.
 *
 * One JSON document: the keys of a store of zarr version 2, each with its contents as text, or with
 * the place of its bytes in the Datarep file: [URL, offset, size].  It is written while the file
 * is walked; in memory are the metadata of one object, and no list of chunks.
 *
 * What zarr cannot express is left out, and said by name with the reason.  Chunks that it could
 * express but not at their place (they skipped a filter, or are stored short) are written into the
 * document. */
/* SPDX-License-Identifier: MIT */
#ifndef TOOLS_REFS_REFS_H
#define TOOLS_REFS_REFS_H

#include "base/handles.h"
#include "tools/text/sink.h"
#include <stdbool.h>
#include <stdint.h>

struct refs_job {
    const char *file_name; /* for messages */
    const char *target;    /* what the references name: a URL or a path */
    int64_t small;         /* datasets of at most so many bytes are written inline */
    bool quiet;            /* say nothing */
    int64_t left_out;      /* objects and attributes; counted here */
};

/* Where readers find the file: `url`, or NULL for the absolute path or URL that the file was opened
 * by, without user part and query.  *target is malloc'ed.  A `url` that has them is refused:
 * whoever gets the references would get a password or a signature, too.  0, or an exit code after
 * saying why. */
int refs_target(const char *command, const char *file_name, const char *url, char **target);
/* True if a URL, or any part of a chained one, has a user part, a query or a fragment. */
bool refs_has_secret(const char *url);

/* Writes the document.  An exit code: TOOL_DIFFERS if anything was left out. */
int refs_write(struct refs_job *r, drep_file *file, struct sink *sink);

#endif
