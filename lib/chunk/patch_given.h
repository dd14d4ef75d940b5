/* patch_given.h - patches of plain chunks whose bytes somebody else writes.
 *
 * The chunk goes where chunk_patch() would put it, in space that it would allocate; but its bytes
 * are not here.  Who has them knows the checksums of all blocks that patches touch, and writes
 * these blocks once all patches are made.  Until then the file has older bytes in them: whoever
 * moves the chunk meanwhile copies what there is, with the checksums that the chunk has, and
 * verifies nothing.
 *
 * Nothing of this is for chunks that are decoded as a whole, nor for those of a dataset that grows:
 * these may leave bytes behind where they grow. */
/* SPDX-License-Identifier: MIT */
#ifndef CHUNK_PATCH_GIVEN_H
#define CHUNK_PATCH_GIVEN_H

#include "chunk/patch.h"
#include "chunk/run.h"

/* A chunk as all its patches leave it. */
struct given_payload {
    uint64_t size;
    const uint64_t *sums; /* of its blocks; 0: of one that no patch touches, or left out */
    /* Set by patches, which come upwards: the end of the last one where the chunk stands; and if it
     * has moved after some of them, where they would have left bytes: the first so many of the
     * chunk, which nobody else gets before the operation ends. */
    uint64_t patched;
    uint64_t left_at, left;
};

/* Write a chunk anew: `size` bytes of it after this patch, and room to grow to `room` bytes. */
int given_anew(struct chunks *cs, const uint64_t *coord, struct given_payload *given, uint64_t size,
               uint64_t room);
/* Overwrite bytes [offset, offset + size) of a chunk of an open run.  noted: keep the old bytes for
 * undo. */
int given_over(struct store *st, struct chunk_run *r, uint32_t index, uint64_t offset,
               uint64_t size, struct given_payload *given, bool noted);
/* Enter the checksums of bytes [from, to) of a chunk that a patch changes where it stands. */
void given_sums(uint64_t *sums, struct given_payload *given, uint64_t from, uint64_t to);
/* Write n slabs from `first` on anew, back to back, if all of them are stored whole. */
int given_slabs(struct chunks *cs, uint64_t first, uint64_t n);

#endif
