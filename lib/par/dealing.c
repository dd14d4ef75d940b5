/* dealing.c - which ranks write the whole chunks of a collective write: hints of MPI. */
/* SPDX-License-Identifier: MIT */
#include "par/dealing.h"

#include "par/ranks.h"

void dealing_of(const drep_dataset *ds, struct dealing *d)
{
    const struct ranks *r = ranks_of(ds->file);
    uint64_t chunk =
        ds->rec.layout == FMT_CHUNKED ? ds->chunks.payload : bytes_of(ds, chunk_elements(ds));
    uint64_t unit = r->buffering.block ? r->buffering.block : r->buffering.unit;

    *d = (struct dealing){.ranks = r->team.size,
                          .nodes = r->buffering.nodes,
                          .in_turn = r->buffering.block > 0,
                          .span = 1};
    if (chunk > 0 && unit > chunk)
        d->span = (int64_t)((unit - 1) / chunk + 1);
}

/* Node number i, of the first rank that is not before its part of all ranks. */
static int node_rank(const struct dealing *d, int64_t i)
{
    return (int)((i * d->ranks + d->nodes - 1) / d->nodes);
}

int dealing_owner(const struct dealing *d, int64_t chunk, int most)
{
    int64_t node = d->in_turn ? chunk / d->span % d->nodes : (int64_t)most * d->nodes / d->ranks;

    return node_rank(d, node);
}
