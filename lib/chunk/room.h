/* room.h - space behind plain chunks that grow.
 *
 * A program that appends and commits by turns lengthens the last chunk of a dataset again and
 * again.  Bytes of a commit may not change, but the chunk need not move for that: it is stored
 * short, and what it gets stands behind its last byte.  No commit refers to those bytes:
 *
 *   - The chunk got its place by this handle, and since then it only became longer (whatever else
 *     changes it moves it: plan_overwrite()).  So every commit that knows this place, and every
 *     transaction that was given up or died, knows the chunk as long as it is now, or shorter; also
 *     commits that snapshots and drep_keep hold.  Other handles cannot have written meanwhile: this
 *     one holds the writer's role from before the chunk was placed.
 *   - The sum of the chunk's last block covers the bytes that the commit has of it, and no more.
 *   - The line of 64 bytes in which the chunk ends is the chunk's alone (R6.2).  The lines behind
 *     are free in every commit, by a FREE entry or as the end of the file; only this handle's
 *     memory says that they are kept.  After a crash, or in the next handle, they are free.
 *
 * A crash leaves any part of the bytes behind the commit's, which nobody reads.  The bytes before
 * are not written again: what a sector of them holds is what it held (R6.13, as with packed runs).
 *
 * Memory is bounded: a table of fixed size, in which a newer chunk may displace an older one, which
 * moves then when it grows next. */
/* SPDX-License-Identifier: MIT */
#ifndef CHUNK_ROOM_H
#define CHUNK_ROOM_H

#include "space/space.h"

struct room;
struct rooms {
    struct room *slot; /* NULL: there are none */
};

/* Keep the lines [from, end) of the open transaction for the chunk at `chunk`, whose last line ends
 * at `from`. */
void room_set(struct store *st, uint64_t chunk, uint64_t from, uint64_t end);
/* True if this chunk, whose last line ends at `from`, may grow up to `to`: the lines between belong
 * to the operation then. */
bool room_take(struct store *st, uint64_t chunk, uint64_t from, uint64_t to);
/* True if this handle placed the chunk at `chunk` because commits came between appends to it. */
bool room_has(const struct store *st, uint64_t chunk);
/* The chunk leaves this place: what was kept is free. */
void room_drop(struct store *st, uint64_t chunk);

#endif
