/* settle.h - at a commit: what single ranks have written comes together. */
/* SPDX-License-Identifier: MIT */
#ifndef PAR_SETTLE_H
#define PAR_SETTLE_H

#include "elem/dataset.h"

/* Append the ids of the datasets that this rank has written to alone; forget elements of those that
 * it has removed since. */
int settle_waiting(drep_file *f, struct buf *ids);
/* Sort ids, each once. */
void settle_sort(struct buf *ids);
/* Collective, inside a change: the datasets that some rank has written to alone, in the same order
 * on all ranks.  `call` names the public function.  known: handles in the order of `ids`, or NULL
 * where ids are this rank's own.  stays: rank 0 keeps each dataset that is merged, also if a later
 * one fails. */
int settle_pending(drep_file *f, const char *call, const struct buf *ids,
                   drep_dataset *const *known, bool stays);

#endif
