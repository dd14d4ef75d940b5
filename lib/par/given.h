/* given.h - elements of a merge, for which there is no selection.
 *
 * What single ranks have written may be anything; the store gets it as pieces that are cut already
 * (parts.h): all of the chunks that are written whole, what owners write of patched ones, and of
 * the others what came to rank 0. */
/* SPDX-License-Identifier: MIT */
#ifndef PAR_GIVEN_H
#define PAR_GIVEN_H

#include "par/owned.h"
#include "elem/parts.h"
#include "par/remote.h"

struct given {
    struct cut_run *piece; /* by chunk and place */
    size_t n, room;
};

/* Rank 0: make the list; `remote` is sorted.  *count: elements. */
int given_make(struct given *g, const struct owning *own, struct remote *remote, int64_t *count);

#endif
