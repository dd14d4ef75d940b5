/* target.h - the record of a file that external chunks take their payload from (R8.43). */
/* SPDX-License-Identifier: MIT */
#ifndef FORMAT_TARGET_H
#define FORMAT_TARGET_H

#include "format/record.h"

#define FMT_PATH_MAX 4096 /* bytes of a path or a URI */

/* A file that external records take payload from. */
struct target_rec {
    uint8_t kind, flags; /* kind: enum fmt_target, or FMT_LATER */
    uint8_t number;      /* the kind as it stands in the record */
    const char *beyond;  /* FMT_LATER as this is beyond the limits of this version, or NULL */
    struct span name;    /* a relative path, or a URI */
    uint64_t size;       /* bytes of the whole file */
    uint64_t head;       /* sum of its first FMT_TARGET_HEAD bytes */
    int64_t time;        /* when it was changed last, in seconds since 1970; 0: unknown */
    struct span tag;     /* a text that changes with it: an ETag, a digest; or none */
    struct span tail;
};
int target_get(struct in *in, struct target_rec *out);
void target_put(struct out *out, const struct target_rec *r);
/* Check that a path is relative and leads down: no empty name, no "." or "..". FMT_ERR_NAME. */
int target_path_check(const uint8_t *p, size_t len);

#endif
