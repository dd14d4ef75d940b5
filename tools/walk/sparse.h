/* sparse.h - the chunks that were ever written, of two datasets side by side.
 *
 * A dataset may have 2^48 elements and two chunks.  Where both have the same grid, all that
 * neither has stored reads as the fill values: one such chunk speaks for the others. */
/* SPDX-License-Identifier: MIT */
#ifndef TOOLS_WALK_SPARSE_H
#define TOOLS_WALK_SPARSE_H

#include <datarep.h>
#include <stdbool.h>

struct sparse {
    int rank;
    size_t n;    /* chunks that at least one side has, in the order of the grid */
    int64_t *at; /* n + 1 times the coordinates of a first element; the last: of a chunk that
                    neither has */
};

/* True if the search pays: most chunks of large datasets are stored on neither side.  False also if
 * that cannot be counted: reading says why. */
bool sparse_pays(drep_dataset *a, const drep_dsinfo *a_info, drep_dataset *b,
                 const drep_dsinfo *b_info);
/* DREP_ERR_NOMEM or an error of the reading. */
int sparse_find(struct sparse *out, drep_dataset *a, drep_dataset *b, const drep_dsinfo *info);
void sparse_release(struct sparse *s);

#endif
