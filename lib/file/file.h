/* file.h - the handle of an open file.
 *
 * Each part has one owner, the file in this room that its header names, and one lock at most. Locks
 * are taken in this order: `lock`, then one of the others, never two of those at once. */
/* SPDX-License-Identifier: MIT */
#ifndef FILE_FILE_H
#define FILE_FILE_H

#include "base/error.h"
#include "base/fork.h"
#include "base/rwlock.h"
#include "conv/value.h"
#include "file/call.h"
#include "file/header.h"
#include "file/hints.h"
#include "file/inherit.h"
#include "file/linked.h"
#include "file/paths.h"
#include "file/reps.h"
#include "file/types.h"

#define OPEN_BUCKETS 256

/* The head of a drep_dataset (elem/dataset.h): what another store of the file changes of it. */
struct open_dataset {
    struct open_dataset *next;
    struct chunks *chunks; /* the dataset's */
    bool verified;         /* all of its run was, since it was written to last */
};

/* elem/dataset.c owns them. */
struct open_datasets {
    pthread_mutex_t lock;                      /* of the lists and of what handles count */
    struct open_dataset *bucket[OPEN_BUCKETS]; /* lists, by the id */
    size_t n;
    drep_dataset *spare; /* one that was closed; its memory serves again */
};

struct drep_file {
    struct store *st;
    char *path;
    int amode;
    struct rwlock lock; /* call.c: shared by calls that read, alone for calls that write */
    struct inherit_state inherit;
    struct file_reps reps; /* changed alone; entries stay */
    struct header header;  /* changed alone */
    struct hints hints;    /* changed alone */
    struct type_cache types;
    struct value_cache values; /* conv/value.c */
    struct path_cache paths;
    struct linked_files linked;
    struct open_datasets datasets;
    struct open_tails tails;
    struct operation op;
    struct file_team *team; /* team.h: the ranks that share the file; NULL: one process */
};

/* ---- inherit.c: whose handle it is ---- */

static inline bool file_is_here(const drep_file *f)
{
    return atomic_load_explicit(&f->inherit.forks, memory_order_acquire) == fork_count() &&
           f->inherit.lost == 0;
}
/* First in every public call: may this process use the handle?  One that reads is taken over from
 * the parent process.  DREP_ERR_FILE_IN_USE, DREP_ERR_STALE; DREP_ERR_NOMEM and the like may
 * pass. */
static inline int file_here(const drep_file *f)
{
    if (!f)
        return fail(DREP_ERR_ARG, "no file");
    return file_is_here(f) ? 0 : file_here_slow((drep_file *)f);
}

/* Another store takes the place of the file's, on the same bytes: the handle and its open datasets
 * go on with it.  Nobody else uses the handle meanwhile; the old store is the caller's. */
void file_move(drep_file *f, struct store *st);

/* ---- file.c: making and freeing the handle ---- */

/* A handle without a store. */
int file_new(const char *path, int amode, const drep_info *info, drep_file **out);
/* Frees the handle, and those of files that its links led to, without committing; they have no open
 * datasets (whole/close.h). */
void file_free(drep_file *f);
/* The store is open and the header resolved: what they made of the hints is in force. */
int file_opened(drep_file *f);

/* ---- open.c ---- */

/* On bytes of any kind; io belongs to the file from here on, also when this fails.  commit 0: the
 * newest one. */
int file_open_on(struct io *io, int amode, const drep_info *info, uint64_t commit, drep_file **out);
/* A file that another handle has open, at the commit of its slot: for reading, or with a private
 * store (txn/private.h). */
int file_open_other(struct io *io, const char *path, int amode, const struct slot *slot,
                    const drep_info *info, drep_file **out);
/* The last commit, for reading beside a handle that writes and must not commit meanwhile. */
int file_last_commit(drep_file *f, drep_file **out);
/* What is left of a damaged file: see store_salvage(). */
int file_salvage(struct io *io, const drep_info *info, drep_finding_fn *fn, void *ctx,
                 drep_file **out, uint64_t *first);

#endif
