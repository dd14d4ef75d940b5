/* box.h - an array walked in boxes. */
/* SPDX-License-Identifier: MIT */
#ifndef TOOLS_WALK_BOX_H
#define TOOLS_WALK_BOX_H

#include "base/handles.h"
#include <stddef.h>
#include <stdint.h>

/* The boxes come in row-major order of their places.  Import loads flat files by them, the HDF5
 * module moves datasets by them. */
struct box {
    int rank;
    int started;
    int64_t base[DREP_MAX_RANK];  /* of the array inside a larger one */
    int64_t dims[DREP_MAX_RANK];  /* of the array */
    int64_t step[DREP_MAX_RANK];  /* of a box */
    int64_t start[DREP_MAX_RANK]; /* of this box, base included */
    int64_t count[DREP_MAX_RANK]; /* its size, cut at the edge */
};

void box_init(struct box *b, int rank, const int64_t *dims, const int64_t *step);
int box_next(struct box *b);
int64_t box_elements(const struct box *b);
/* "[1,0]" of element number n of a box that begins at `start` (NULL: the origin). */
void box_index_text(int rank, const int64_t *start, const int64_t *count, int64_t n, char *text,
                    size_t size);
/* The box in two, along its longest dimension. */
void box_halves(struct box *b, const struct box *whole);
/* Multiplies step, from the last dimension on, while a box has at most `most` elements. */
void box_grow(int rank, const int64_t *dims, int64_t most, int64_t *step);

#endif
