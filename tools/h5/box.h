/* box.h - an array walked in boxes. */
#ifndef TOOLS_H5_BOX_H
#define TOOLS_H5_BOX_H

#include "tools/h5/library.h"
#include <datarep.h>
#include <stdint.h>

/* Walks an array in boxes, row-major. */
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
/* The box in two, along its longest dimension. */
void box_halves(struct box *b, const struct box *whole);
/* Multiplies step, from the last dimension on, while a box has at most `most` elements. */
void box_grow(int rank, const int64_t *dims, int64_t most, int64_t *step);
/* Selects the box in an HDF5 dataspace; -1 on failure. */
int box_select_hdf5(const struct box *b, hid_t space);
/* A dataspace of a box alone, for HDF5's memory. */
hid_t box_space(const struct box *b);

/* Bytes of one block in memory, where chunks do not ask for more. */
#define BLOCK_SIZE (4 << 20)

#endif
