/* answers.h - elements on their way from the owner of their chunk.
 *
 * A rank asks with a piece (pieces.h) that has runs and no elements; the owner answers with one
 * that has the elements of these runs, as the file stores them, and no runs. */
/* SPDX-License-Identifier: MIT */
#ifndef PAR_ANSWERS_H
#define PAR_ANSWERS_H

#include "par/pieces.h"

/* A chunk as its owner has it: with fill, and the heap behind `fixed` bytes of elements. */
struct decoded {
    struct buf b;
    size_t fixed;
};

/* Append an ask to a parcel. */
int ask_pack(const struct shares *s, const struct share *share, struct buf *b);
/* Bytes of the answer, without a heap. */
uint64_t answer_size(const drep_dataset *ds, int64_t n);
/* Append the answer to an ask, whose n counts its elements.  DREP_ERR_IO: the runs are not inside.
 */
int answer_pack(const drep_dataset *ds, const struct decoded *d, struct piece *ask, struct buf *b);
/* Convert what an answer brought, or what the owner has itself, to memory. */
int answer_take(struct transfer *t, const struct shares *s, const struct share *share,
                const struct piece *answer);
int decoded_take(struct transfer *t, const struct shares *s, const struct share *share,
                 const struct decoded *d);

#endif
