/* raw_in.h - bare elements as a source. */
/* SPDX-License-Identifier: MIT */
#ifndef TOOLS_FLAT_RAW_IN_H
#define TOOLS_FLAT_RAW_IN_H

#include "tools/flat/source.h"

/* The options of a raw file. */
struct raw_file {
    const char *file;
    const drep_type *type;       /* of an element */
    int rank;                    /* -1: not said, one dimension */
    int64_t dims[DREP_MAX_RANK]; /* one may be -1: as many as there are */
    const char *datarep;         /* how elements lie there */
    int64_t offset;              /* bytes before the first */
    const char *records;         /* records.h; NULL: there are none */
    bool column_major;
};
/* fd: the same file, or what came through standard input; the caller's. */
int source_raw(struct source *out, const struct raw_file *raw, int fd);

/* How elements of a dataset of this type lie in a file under a representation, as a filetype
 * for views: packed, but under "native..." as that machine's compiler puts them.  *size is
 * from one to the next.  A DREP_ERR_... code. */
int raw_filetype(const drep_type *type, const char *datarep, drep_type **out, int64_t *size);

#endif
