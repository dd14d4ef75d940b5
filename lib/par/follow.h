/* follow.h - a rank moves to the commit that rank 0 has made. */
/* SPDX-License-Identifier: MIT */
#ifndef PAR_FOLLOW_H
#define PAR_FOLLOW_H

#include "par/foreign.h"

/* The slot of the commit, as it stands in the file, and its number.  Open datasets stay open.  ids:
 * what has become of those that this rank has given; NULL: its numbers are those of the commit. */
int follow(drep_file *f, const uint8_t *slot, uint64_t sequence, const struct id_pairs *ids);

#endif
