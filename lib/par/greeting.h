/* greeting.h - what rank 0 tells the others of a file that it has opened: as bytes, the slot and
 * the number of the commit that it looks at, whether it holds its lock, leases, where the file is,
 * and the hints that it was given. */
/* SPDX-License-Identifier: MIT */
#ifndef PAR_GREETING_H
#define PAR_GREETING_H

#include "par/leases.h"
#include "team/team.h"
#include "format/block.h"

/* The contents of a greeting. */
struct greeting {
    struct slot slot;
    uint64_t sequence;    /* 0: a file without a commit, and no slot */
    bool locked;          /* against other writers, or as a reader */
    const uint8_t *grant; /* of leases, in the bytes */
    const char *where;    /* likewise */
    drep_info *info;      /* theirs to free, also after an error */
};

/* DREP_ERR_UNSUPPORTED_OPERATION: the file is in memory. */
int greeting_put(const drep_file *f, const drep_info *info, const uint8_t grant[LEASE_GRANT],
                 struct buf *b);
int greeting_get(const struct buf *b, struct greeting *g);

/* What must be the same on all ranks before one opens a file: this library, the format that it
 * writes, its filters and the versions of the libraries behind them, as a text without a NUL.  The
 * processor's kernels may differ, as all give the same bytes. */
int greeting_library(struct buf *b);
/* 0, or DREP_ERR_NOT_SAME with a message that names both libraries. */
int greeting_compare(const struct team_said *said, int ranks);

#endif
