/* dealing.h - which ranks write the whole chunks of a collective write: hints of MPI.
 *
 * A chunk goes to the rank that has most of it.  The hints say otherwise: at most cb_nodes ranks
 * write, spread evenly over all; chunks that share a unit of striping_unit bytes go to one rank; or
 * units of cb_block_size bytes are dealt to the ranks in turn.  The places of chunks in the file,
 * and so its bytes, are the same whoever writes them. */
/* SPDX-License-Identifier: MIT */
#ifndef PAR_DEALING_H
#define PAR_DEALING_H

#include "elem/dataset.h"

struct dealing {
    int ranks, nodes;
    int64_t span; /* neighbouring chunks that go to one rank: a domain */
    bool in_turn;
};

/* The hints in force, which are equal on all ranks, for a dataset. */
void dealing_of(const drep_dataset *ds, struct dealing *d);
/* Who writes the domain of a chunk, of which rank `most` has most. */
int dealing_owner(const struct dealing *d, int64_t chunk, int most);

#endif
