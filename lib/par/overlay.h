/* overlay.h - reading what a rank has written alone, over what the last commit has. */
/* SPDX-License-Identifier: MIT */
#ifndef PAR_OVERLAY_H
#define PAR_OVERLAY_H

#include "elem/dataset.h"

/* Read a dataset of which something is kept: the last commit's elements, and those that this rank
 * has written since.  The message does not name the dataset. */
int pending_read(drep_dataset *ds, const drep_selection *sel, const drep_type *type, void *buf,
                 const drep_xfer *xfer);

#endif
