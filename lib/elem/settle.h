/* settle.h - at a commit: what single ranks have written comes together. */
/* SPDX-License-Identifier: MIT */
#ifndef ELEM_SETTLE_H
#define ELEM_SETTLE_H

#include "elem/dataset.h"

/* Collective, inside a change: every dataset that some rank has written to alone.  `call` names the
 * public function, `err` is why this rank cannot take part. */
int settle_pending(drep_file *f, const char *call, int err);

#endif
