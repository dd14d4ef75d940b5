/* team.h - the ranks that share a file, as the rooms that serve one process see them.
 *
 * A file of one process has no team: `team` of its handle is NULL.  lib/par opens files that ranks
 * share and fills the table; the rooms below it know nothing else of ranks. */
/* SPDX-License-Identifier: MIT */
#ifndef FILE_TEAM_H
#define FILE_TEAM_H

#include "file/file.h"

struct access; /* a call that reads or writes elements: elem/access.h */

/* Acts that a rank may be refused while it is alone: team_ops.may. */
enum team_act {
    TEAM_CHANGE, /* begin a change that a commit can still publish */
    TEAM_READ,   /* read the elements of a dataset where the store has them */
    TEAM_WRITE   /* write them there */
};

/* Each entry is called at one place, with the file open. */
struct team_ops {
    /* Transfers, before a lock is taken.  err: why the call cannot be made, to be given back; but
     * of a collective call the other ranks hear first. */
    int (*read)(struct access *a, const drep_xfer *xfer, int err);
    int (*write)(struct access *a, const drep_xfer *xfer, int err);
    /* 0, or why not; ds NULL with TEAM_CHANGE. */
    int (*may)(const drep_file *f, const drep_dataset *ds, enum team_act act);
    /* A dataset of this rank has got another shape; `old` are the lengths that it had. */
    int (*resized)(drep_dataset *ds, const uint64_t *old);
    /* The dataset made at `path` has made the dimension `id` of a group, as its name led to none.
     */
    int (*implied)(drep_file *f, uint64_t id, uint64_t group, const char *path, const char *name);
    int (*commit)(drep_file *f);
    /* Commit what succeeded on each rank; gives what failed on any.  The handle is freed after. */
    int (*close)(drep_file *f);
    /* Free the team; NULL is not given. */
    void (*release)(struct file_team *team);
    /* A collective call named no file; transfer: it was one of elements.  Returns the error. */
    int (*refuse)(const char *call, bool transfer, int err);
};

struct file_team {
    const struct team_ops *ops;
    int size;  /* ranks */
    bool left; /* this rank goes without a word to the others */
};

/* True if there are other ranks. */
static inline bool file_shared(const drep_file *f)
{
    return f->team && f->team->size > 1;
}

/* DREP_ERR_UNSUPPORTED_OPERATION for a call that a shared file does not have. */
static inline int shared_refuses(const drep_file *f, const char *call)
{
    return !file_shared(f)
               ? 0
               : fail(DREP_ERR_UNSUPPORTED_OPERATION, "%s: %s: not on a file that %d ranks share",
                      f->path, call, f->team->size);
}

/* 0 for one process, and for a rank that may. */
int file_may(const drep_file *f, const drep_dataset *ds, enum team_act act);
/* The handle leaves its team, if it has one.  left: without a word to the other ranks, who give
 * this rank up; shallow: what the team keeps belongs to the parent process and is not freed. */
void file_leave_team(drep_file *f, bool left, bool shallow);

/* A collective call of this rank names no file, as its dataset is NULL or closed: `err`.  If the
 * call can only mean one file that ranks share, the one that this thread has open or else this
 * process, the rank takes part with the error, of which the others hear at once; with several, in
 * its next collective call.  Returns the error. */
int team_refuse(const char *call, bool transfer, int err);
/* This process has opened a file that ranks share: from now on team_refuse() asks this table. */
void team_known(const struct team_ops *ops);

#endif
