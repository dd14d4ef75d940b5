/* rounds.h - chunks that several ranks read: decoded once by their owners, and sent to the others.
 *
 * A rank asks for its parts of such chunks, in the order of their numbers, as long as the answers
 * that it waits for fit into READ_ROUND; an owner answers when all ranks have asked for a chunk, so
 * much at a time.  Heaps, whose bytes only the owner knows, count as much as those of the answers
 * before.  The chunk with the lowest number that was not answered has been asked for by
 * all, for their others are answered: so each round gets on. */
/* SPDX-License-Identifier: MIT */
#ifndef PAR_ROUNDS_H
#define PAR_ROUNDS_H

#include "par/answers.h"

#define READ_ROUND ((uint64_t)8 << 20) /* bytes of answers that a rank waits for, or gives */

/* Collective: move this rank's parts, which shares_cut_met() has cut, to memory.  `err` is why this
 * rank has nothing to move; then all get an error. */
int rounds_run(struct team *team, struct transfer *t, const struct shares *s, int err);

#endif
