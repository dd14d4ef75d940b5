/* touched.h - the datasets whose elements changed since the last commit.
 *
 * A changed entry of elements (a chunk record, the value of a compact dataset) and a change that
 * the cache holds back mark their object here; the commit writes its own number into the records of
 * the marked datasets (txn/changed.h).  So a call that writes elements does not change the object's
 * record, and a thousand writes to a dataset change it once.  Taking an operation back removes its
 * marks.  Only the writer uses this. */
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
    bool paused; /* changes now only store the same elements in another way */
};

/* Mark an object.  Only those of the last commit need it: the record of a newer one names the next
 * commit already.  Unless `sure`, taking the operation back removes the mark.  DREP_ERR_NOMEM. */
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
