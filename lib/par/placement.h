/* placement.h - rank 0 tells the owners of chunks where in the file these stand. */
/* SPDX-License-Identifier: MIT */
#ifndef PAR_PLACEMENT_H
#define PAR_PLACEMENT_H

#include "par/remote.h"
#include "team/team.h"

/* Collective: each rank gets the `size` bytes of `front`, and the offsets of the whole chunks that
 * it owns, 8 bytes each, in the order of their numbers; nobody gets any of these if rank 0 has an
 * error.  All but `team` and `mine` count on rank 0. */
int places_give(struct team *team, const struct remote *remote, int err, const uint8_t *front,
                size_t size, struct buf *mine);

#endif
