/* ranks.h - the ranks that share an open file.
 *
 * Rank 0 is the writer: its store is the file's.  The others have private ones (txn/private.h),
 * changed by the same calls.  What all of them do together is in par/collective.c and in
 * par/open.c. */
/* SPDX-License-Identifier: MIT */
#ifndef PAR_RANKS_H
#define PAR_RANKS_H

#include "base/idset.h"
#include "conv/byte_ranges.h"
#include "file/team.h"
#include "team/team.h"

#include <pthread.h>

/* A chunk that a rank has written alone, to space that it leased (par/leased.c). */
struct leased {
    int64_t chunk;
    uint64_t offset, size; /* what the file has of it */
    uint32_t skipped;      /* filters */
    uint64_t *sums;        /* of the blocks; filtered: of the whole */
};

/* Elements that a rank has written alone to a dataset (par/pending.c). */
struct pending {
    struct pending *next;
    uint64_t object;
    struct buf runs;            /* struct share_run, in the order of writing */
    struct buf elements;        /* as the file stores them, */
    struct buf heap;            /* and what they refer to */
    int64_t n;                  /* elements */
    struct byte_ranges *ranges; /* which members of them; runs have numbers of these */
    size_t nranges, ranges_room;
    uint64_t len[FMT_RANK_MAX]; /* the shape to whose chunks the runs belong */
    struct leased *leased;
    size_t nleased, leased_room;
    struct idset leased_at; /* 1 + chunk: 1 + its place in leased, or 0 */
};
void pending_free(struct pending *p);

/* Elements of a compact dataset that a rank has written alone; its tree has them (par/marks.c). */
struct marked {
    uint64_t object;
    int64_t n;    /* elements of the dataset */
    uint8_t *bit; /* a bit of each: it was written */
};

/* A dataset that a rank has made smaller, and the least lengths that it had since. */
struct shrunk_dataset {
    uint64_t id;
    int rank;
    uint64_t len[FMT_RANK_MAX];
};

/* A dimension that a dataset has made, as its name led to none. */
struct implied_dim {
    uint64_t id, group;
    char *path, *name; /* the dataset's path, and the name; of one block of memory */
};

struct ranks {
    struct file_team shared; /* first: what the rooms below know */
    struct team team;
    struct drep_transport *transport; /* a copy of what the opener gave */
    drep_file *file;                  /* that they share; NULL: it is not open yet */
    struct ranks *next;               /* of those whose file is open in this process, */
    pthread_t opener;                 /* and the thread that opened it */
    struct io *payload;               /* where payload goes; NULL: to the file (hint drep_mpi_io) */
    /* Hints in force, equal on all: how many ranks write in a collective write; the bytes that one
     * of them should write at once; those that are dealt in turn, 0: they are not; those of
     * filtered chunks that all write before others come, 0: all. */
    struct {
        int nodes;
        uint64_t unit, block, window;
    } buffering;
    bool last; /* hint in force: of an element that several ranks write, the highest one's counts */
    /* What this rank has done since the file was opened. */
    struct {
        uint64_t written;  /* bytes of chunks, as the file has them, in writes of all ranks */
        uint64_t foreseen; /* of them, those written before rank 0 gave them their place */
        uint64_t windows;  /* of those writes (par/windows.h), and the most bytes of one: */
        uint64_t sent, received, kept;
        uint64_t given, got; /* the most bytes of answers in a round of a read (par/rounds.h) */
    } counted;
    /* Since the last commit: */
    bool wrote;           /* this rank has written payload */
    struct idset written; /* datasets to which the ranks have written together */
    struct pending *pending;
    struct marked *marked; /* in the order of the first writes */
    size_t nmarked, marked_room;
    struct idset marked_at; /* object: 1 + its place in marked */
    struct shrunk_dataset *shrunk;
    size_t nshrunk, shrunk_room;
    struct implied_dim *implied;
    size_t nimplied, implied_room;
    struct leases *leases; /* leases.h */
};

/* ctx is released by whoever frees the result, or by this when it fails. */
int ranks_new(const struct drep_transport *transport, void *ctx, struct ranks **out);
/* Note that this rank has made a dataset smaller: elements that were cut off are gone, also if it
 * grows again. */
int ranks_shrunk(struct ranks *r, uint64_t id, int rank, const uint64_t *len);
/* Find a dataset that this rank has made smaller, or NULL. */
struct shrunk_dataset *ranks_find_shrunk(const struct ranks *r, uint64_t id);
/* Note that all ranks have written to a dataset of this shape together: what they had cut off alike
 * is settled, and only what is cut off from now on differs. */
void ranks_shrunk_alike(struct ranks *r, uint64_t id, const uint64_t *len);
/* Note that a dataset at `path` has made a dimension of its group. */
int ranks_implied(struct ranks *r, uint64_t id, uint64_t group, const char *path, const char *name);
/* Forget what this rank has written alone. */
void ranks_settled(struct ranks *r);
/* Forget what counts since the last commit. */
void ranks_committed(struct ranks *r);
/* NULL is allowed. */
void ranks_release(struct ranks *r);
/* The file is open: collective calls may follow. */
void ranks_opened(struct ranks *r, drep_file *f);
/* The file that ranks share and this thread has opened, if it is the only one; or the only one of
 * all if this thread has opened none; or NULL. */
drep_file *ranks_only_file(void);

/* The ranks of a file that several share, or NULL. */
static inline struct ranks *ranks_of(const drep_file *f)
{
    return (struct ranks *)f->team;
}
/* The first id that belongs to no object of the last commit: from there on ids are provisional, and
 * other ranks may have given them to other objects. */
static inline uint64_t ranks_first_new(const drep_file *f)
{
    return f->st->slot.sequence ? f->st->slot.next_object : FMT_OBJECT_ROOT + 1;
}
/* The file itself, for who writes bytes that nobody else has. */
static inline struct io *ranks_base(const drep_file *f)
{
    return f->st->private ? io_private_base(f->st->io) : f->st->io;
}
/* Where a rank writes payload that rank 0 has placed. */
static inline struct io *ranks_io(const drep_file *f)
{
    return ranks_of(f)->payload ? ranks_of(f)->payload : ranks_base(f);
}

#endif
