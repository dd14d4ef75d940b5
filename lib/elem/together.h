/* together.h - what all ranks select, as one selection. */
/* SPDX-License-Identifier: MIT */
#ifndef ELEM_TOGETHER_H
#define ELEM_TOGETHER_H

#include "elem/select.h"
#include "elem/shares.h"

/* Collective: *united is what a single process would give to write the same, on rank 0, or if
 * `everywhere` on all ranks; on the others it is empty.  *how is for all.  together_release() frees
 * it.  With drep_overlap=last boxes that may overlap are TOGETHER_PARTS.
 * DREP_ERR_UNSUPPORTED_OPERATION on all ranks: points and boxes, which make no selection. */
int together_meet(struct team *team, const drep_dataset *ds, const struct drep_selection *mine,
                  bool everywhere, struct drep_selection *united, enum together *how);
void together_release(struct drep_selection *united);

#endif
