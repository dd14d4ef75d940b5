/* space.h - which bytes of the file are free, and when they may be used again.
 *
 * Invariant: bytes that a commit refers to are never overwritten while anybody may open that
 * commit.  So an extent that the open transaction frees is in one of two states.  If the open
 * transaction allocated it, no commit refers to it: it is available at once.  Otherwise it goes to
 * `freed`, the commit writes a FREE entry with its own sequence number, and the extent becomes
 * available to a later transaction, when no reader can look at an older commit any more (txn/free.c
 * decides that).
 *
 * Extents are multiples of FMT_ALIGN bytes, except in files of other writers.  One thread at a
 * time: all of it belongs to the writer.  space.c owns struct space; txn/free.c moves extents
 * between it and the FREE entries of the tree. */
/* SPDX-License-Identifier: MIT */
#ifndef SPACE_SPACE_H
#define SPACE_SPACE_H

#include "space/list.h"
#include "space/store.h"

#define FREED_MAX 32768

/* What the operation under way did to space, so that all of it can be taken back. */
struct space_op {
    bool active;
    struct extents alloc;      /* allocated by it */
    struct extent_list freed;  /* freed by it, for good when it ends */
    struct extent_list unused; /* to be freed if it is taken back */
};

struct space {
    bool loaded;               /* `later` and `pending` are those of the commit in force */
    bool ready;                /* and `avail` is what the open transaction may use (txn/free.h);
                                  nothing is allocated before */
    bool committing;           /* the FREE entries are written: avail must not change */
    uint64_t end;              /* of allocated space */
    struct extents avail;      /* free now */
    struct extents kept;       /* free for every commit, but kept for chunks that grow */
    struct extents fresh;      /* allocated by the open transaction, below the committed end too */
    uint64_t limit;            /* what commits up to this one freed is in avail */
    struct later_list later;   /* freed by later commits, with a FREE entry each, by sequence */
    struct later_list pending; /* likewise, but still without a FREE entry */
    struct extent_list freed;  /* by the open transaction; the last commit refers to it */
    struct extent_list late;   /* likewise, while committing */
    struct extent_list left;   /* freed while committing, and no commit refers to it */
    bool onward;               /* a stream: space is taken at the end alone */
    uint64_t settled;          /* of it: bytes below may have left */
    size_t freed_max;          /* beyond so many freed extents FREE entries are written early */
    uint64_t *touched;         /* offsets whose FREE entry may be out of date */
    size_t ntouched, room_touched;
    struct extents dealt; /* taken out of avail for holders of leases, until these end */
    struct lease *lease;  /* the store's own; bytes behind its base are leased; NULL: none are */
    uint64_t reach;       /* the end of what the store refers to there, or 0 */
    struct space_op op;
};

/* Whether an allocation is taken back with the operation. */
enum keep { WITH_OP, ANYWAY };

/* The end of what references may point to. */
static inline uint64_t store_end(const struct store *st)
{
    const struct space *sp = st->space;
    uint64_t end = sp->end > st->slot.end ? sp->end : st->slot.end;

    return sp->reach > end ? sp->reach : end;
}

/* ---- allocating and freeing ---- */

/* Allocate `size` bytes, rounded up to FMT_ALIGN, at a multiple of `align`. */
int space_alloc(struct store *st, uint64_t size, uint64_t align, enum keep keep, uint64_t *offset);
/* Allocate exactly these bytes if they are free; false: they are not. */
bool space_alloc_at(struct store *st, uint64_t offset, uint64_t size);
/* Free bytes.  Never fails: without memory they become slack that no list names. */
void space_free(struct store *st, uint64_t offset, uint64_t size, enum keep keep);
/* True if the open transaction allocated these bytes: then they may be overwritten. */
bool space_fresh(const struct store *st, uint64_t offset, uint64_t size);
/* Keep bytes that the open transaction allocated, and that no commit shall refer to: its FREE
 * entries list them, but no allocation takes them.  Then either allocate some of them, or let them
 * be free for all. */
int space_withhold(struct store *st, uint64_t offset, uint64_t size);
int space_take_kept(struct store *st, uint64_t offset, uint64_t size);
void space_unkeep(struct store *st, uint64_t offset, uint64_t size);
/* Free bytes if the operation is taken back. */
void space_unused(struct store *st, uint64_t offset, uint64_t size);

/* Bytes below `upto` will neither change nor be read again: where the file is a stream, they may
 * leave.  Other files take no notice. */
int space_settle(struct store *st, uint64_t upto);

/* ---- leases (space/lease.h) ---- */

struct lease;
/* Find the offset behind which free bytes can be dealt while allocations of the store itself, of
 * `room` bytes in all, stay where they would be without that. */
uint64_t space_behind_room(struct store *st, uint64_t room);
/* Count the free bytes from an offset on that space_deal() can give. */
uint64_t space_to_deal(struct store *st, uint64_t from, uint64_t grain);
/* Take `want` free bytes, or what there is, out of avail for one holder and append them to a list,
 * in pieces of multiples of `grain`, a multiple of 4 KiB.  *at: for the first holder where to
 * begin, carried on to the next one. */
int space_deal(struct store *st, uint64_t *at, uint64_t want, uint64_t grain,
               struct extent_list *out);
/* Begin leases: from here on the store allocates below own->base, and of its own lease what does
 * not fit there.  `own` must live until space_lease_end().  NULL: end leases of which nothing was
 * used. */
void space_lease(struct store *st, struct lease *own);
/* The store may refer to leased bytes below `end` (store_end()). */
void space_reached(struct store *st, uint64_t end);
/* End leases.  `used`: what all holders have used of them and of what was dealt, in any order; it
 * is sorted.  The open transaction allocates that, ANYWAY, and the rest is free.  DREP_ERR_FAILED:
 * two holders claim one byte; the transaction must not be committed then. */
int space_lease_end(struct store *st, struct extent_list *used);

/* ---- the operation under way ---- */

static inline bool store_op_active(const struct store *st)
{
    return st->space->op.active;
}
/* True if the operation allocated all of these bytes. */
bool space_of_op(const struct store *st, uint64_t offset, uint64_t size);
/* The operation takes over bytes that were allocated before it, or gives them up. */
int space_op_adopt(struct store *st, uint64_t offset, uint64_t size);
void space_op_disown(struct store *st, uint64_t offset, uint64_t size);
/* End the operation: free what it freed; or free what it allocated. */
void space_op_commit(struct store *st);
void space_op_undo(struct store *st);

/* ---- for the commit ---- */

/* Take an extent out of avail for nodes, of `want` bytes or less; length 0: there is none. */
int space_reserve(struct store *st, uint64_t want, struct extent *out);
/* Give back bytes that were allocated or reserved and not used. */
void space_return(struct store *st, uint64_t offset, uint64_t size);
/* Cut free bytes off the end of allocated space. */
void space_trim(struct store *st);
/* Make extents available that commits up to `limit` freed. */
int space_reuse(struct store *st, uint64_t limit);
/* Sort `touched`, each offset once. */
void space_touched_sort(struct space *sp);
/* The commit succeeded, or did not. */
void space_committed(struct store *st);
void space_failed(struct store *st);
void space_release(struct space *sp);

#endif
