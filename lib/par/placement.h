/* placement.h - rank 0 tells the owners of chunks where in the file these stand. */
/* SPDX-License-Identifier: MIT */
#ifndef PAR_PLACEMENT_H
#define PAR_PLACEMENT_H

#include "par/remote.h"
#include "team/team.h"

/* Bytes of the place of a whole chunk, its offset; and of a patched one: that, and left_at and left
 * of given_payload.  Slabs that were reported as one have one such offset if they stand back to
 * back; else it is 0, and those of all follow. */
enum { PLACE_WHOLE = 8, PLACE_PATCHED = 24 };
/* Collective: each rank gets the `size` bytes of `front`, and the places of the chunks that it
 * owns, in the order of their numbers; nobody gets any of these if rank 0 has an error.  All but
 * `team` and `mine` count on rank 0. */
int places_give(struct team *team, const struct remote *remote, int err, const uint8_t *front,
                size_t size, struct buf *mine);

#endif
