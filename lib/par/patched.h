/* patched.h - plain chunks that all ranks together write in part.
 *
 * The owner of such a chunk brings together the 4 KiB blocks that have written elements: what
 * nobody writes of them it reads from the file.  Rank 0 enters the checksums of these blocks, and
 * gives the chunk a place (chunk/patch_given.h), where the owner writes them.  They are brought
 * together a second time then, for memory for all of them would be as much as the ranks write; what
 * is read again stands in the new place, where rank 0 has copied it if the chunk has moved. */
/* SPDX-License-Identifier: MIT */
#ifndef PAR_PATCHED_H
#define PAR_PATCHED_H

#include "par/owned.h"

/* Which elements and blocks of a chunk are written. */
struct patched {
    const struct owning *m;
    const struct owned *o;
    uint64_t *bits;  /* of elements */
    uint8_t *block;  /* of each block, enum of patched.c */
    uint64_t blocks; /* as many as the chunk has afterwards */
};

/* Find out what is written; the first time also o->old and o->size.  patched_release() also after
 * an error. */
int patched_begin(struct patched *p, const struct owning *m, struct owned *o);
void patched_release(struct patched *p);
/* Bring the blocks together where they stand in `room`.  place: of the chunk; 0: it has none yet,
 * and what is read is verified. */
int patched_bring(const struct patched *p, uint64_t place, struct buf *room);
/* Step to the next bytes [from, to) of the chunk that are written; from the first if *to is 0.
 * False after the last. */
bool patched_next(const struct patched *p, uint64_t *from, uint64_t *to);
/* Step to the next elements [from, to) that one patch may cover. */
bool patched_stretch(const struct patched *p, int64_t *from, int64_t *to);

#endif
