/* touched.h - the datasets whose elements changed since the last commit.
 *
 * Every entry of elements that changes (a chunk record, the value of a compact dataset), and every
 * change that the cache holds back, marks its object here; the commit notes its own number in the
 * records of these datasets (txn/changed.h).  So a call that writes elements changes no record of
 * an object, and a dataset that is written to a thousand times has its record changed once.  Marks
 * of an operation that is taken back go.  For the writer alone. */
/* SPDX-License-Identifier: MIT */
#ifndef TREE_TOUCHED_H
#define TREE_TOUCHED_H

#include "base/idset.h"
#include "space/store.h"

struct touched {
    struct idset objects; /* by id, with enum touch */
    uint64_t last;        /* the object marked last, 0: none */
    bool sure;            /* it stays marked if the operation is taken back */
    uint64_t *op;         /* objects that only the operation under way has marked */
    size_t nop, room;
    bool paused; /* what changes says the same elements in another way */
};

/* Mark an object of the last commit, as the record of a newer one names the next commit already; in
 * an operation, if not `sure`, for as long as it is not taken back.
 * DREP_ERR_NOMEM. */
int touched_add(struct store *st, uint64_t object, bool sure);
static inline int touched_mark(struct store *st, uint64_t object, bool sure)
{
    const struct touched *t = st->touched;

    if (t->paused || object >= st->slot.next_object || (t->last == object && (t->sure || !sure)))
        return 0;
    return touched_add(st, object, sure);
}
/* True if elements of the object changed since the last commit. */
bool touched_is(const struct store *st, uint64_t object);
/* The marked objects, in no order; the caller frees the list, also after an error. */
int touched_list(const struct store *st, uint64_t **list, size_t *n);
/* End an operation; keep: its marks stay. */
void touched_op_end(struct store *st, bool keep);
/* Forget all: a commit was made. */
void touched_clear(struct store *st);
void touched_release(struct touched *t);

#endif
