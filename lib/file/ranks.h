/* ranks.h - the ranks that share an open file.
 *
 * Rank 0 is the writer: its store is the file's.  The others' are shadows (txn/shadow.h), changed
 * by the same calls.  What all of them do together is in elem/collective.c and in api/team.c. */
/* SPDX-License-Identifier: MIT */
#ifndef FILE_RANKS_H
#define FILE_RANKS_H

#include "base/idset.h"
#include "file/file.h"
#include "team/team.h"

/* Elements that a rank has written alone to a dataset (elem/pending.c). */
struct pending {
    struct pending *next;
    uint64_t object;
    struct buf runs;     /* struct share_run, in the order of writing */
    struct buf elements; /* as the file stores them */
    int64_t n;           /* elements */
};
void pending_free(struct pending *p);

struct ranks {
    struct team team;
    /* Since the last commit: */
    bool wrote;           /* this rank has written payload */
    struct idset written; /* datasets to which the ranks have written together */
    struct pending *pending;
};

/* ctx is released by whoever frees the result, or by this when it fails. */
int ranks_new(const drep_transport *transport, void *ctx, struct ranks **out);
/* Forget what counts since the last commit. */
void ranks_committed(struct ranks *r);
/* NULL is allowed. */
void ranks_release(struct ranks *r);

/* True if there are other ranks. */
static inline bool file_shared(const drep_file *f)
{
    return f->ranks && f->ranks->team.size > 1;
}
/* DREP_ERR_UNSUPPORTED_OPERATION for a call that a shared file does not have. */
static inline int shared_refuses(const drep_file *f, const char *call)
{
    return !file_shared(f)
               ? 0
               : fail(DREP_ERR_UNSUPPORTED_OPERATION, "%s: not on a file that %d ranks share", call,
                      f->ranks->team.size);
}
/* Where a rank writes payload that rank 0 has placed. */
static inline struct io *ranks_io(const drep_file *f)
{
    return f->st->shadow ? io_shadow_base(f->st->io) : f->st->io;
}

#endif
