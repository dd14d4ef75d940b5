/* lend.h - rank 0 lends the others the records of what all have written together. */
/* SPDX-License-Identifier: MIT */
#ifndef PAR_LEND_H
#define PAR_LEND_H

#include "par/shares.h"

/* Collective: reads of the dataset find what rank 0 has of the chunks that this rank is to read,
 * until records_return().  Those are the ones in `wanted` that nobody else sends.  `err` and the
 * result are this rank's. */
int records_lend(struct team *team, drep_dataset *ds, const struct shares *wanted, struct buf *room,
                 int err);
void records_return(drep_dataset *ds);

#endif
