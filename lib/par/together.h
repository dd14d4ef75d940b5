/* together.h - what all ranks select, as one selection. */
/* SPDX-License-Identifier: MIT */
#ifndef PAR_TOGETHER_H
#define PAR_TOGETHER_H

#include "elem/select.h"
#include "par/shares.h"

/* What a single process would give to write the same: a call for each choice of members, in the
 * order of the first ranks that made it. */
struct together_call {
    struct drep_selection sel;
    struct byte_ranges ranges; /* borrowed from `all` */
};
struct united {
    struct together_call *call;
    size_t n;
    struct buf all; /* what the ranks gave */
};

/* Collective: the calls are made on rank 0, or if `everywhere` on all ranks; the others have none.
 * ranges: what this rank writes of each element, NULL: all.  *how is for all, and for chunks of
 * which nobody writes members.  together_release() frees *united.  With drep_overlap=last boxes
 * that may overlap are TOGETHER_PARTS. DREP_ERR_UNSUPPORTED_OPERATION on all ranks: points and
 * boxes, which make no selection. */
int together_meet(struct team *team, const drep_dataset *ds, const struct drep_selection *mine,
                  const struct byte_ranges *ranges, bool everywhere, struct united *united,
                  enum together *how);
void together_release(struct united *united);

#endif
