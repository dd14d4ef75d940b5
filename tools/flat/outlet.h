/* outlet.h - one export that is not HDF5: where it goes, and the elements that go there.
 *
 * A format reads what it writes through a struct extract, block by block, converts it and puts
 * the bytes.  Functions give an exit code after saying what is wrong. */
/* SPDX-License-Identifier: MIT */
#ifndef TOOLS_FLAT_OUTLET_H
#define TOOLS_FLAT_OUTLET_H

#include "tools/flat/flat.h"
#include "tools/walk/blocks.h"
#include "tools/walk/box.h"
#include <datarep.h>

struct outlet {
    const struct flat *f;
    const struct exchange *x;
    const char *name; /* of the container, for messages */
    drep_file *file;
    bool left_out;      /* something could not be carried over, and that was said */
    uint64_t sum, size; /* of the table that was written */
};

/* An exit code: what was asked for has no place in the other format, and the rest may go on. */
enum { OUTLET_NONE = 100 };

/* Advance the progress by so many elements.  0, or an exit code when a signal asks for an end. */
int outlet_advance(uint64_t elements);
/* Writes to the target. */
int outlet_put(const struct outlet *o, int fd, const void *bytes, size_t size);

/* The elements of one dataset that are exported. */
struct extract {
    struct outlet *outlet;
    const char *path; /* of the dataset */
    drep_dataset *dataset;
    drep_dsinfo info;
    struct slice slice;
    int64_t rounded; /* values that extract_read() rounded */
};

/* Says how reading or writing it failed. */
int extract_failed(const struct extract *e, int err);
/* Reads the block as `type`. */
int extract_read(struct extract *e, struct blocks *b, const drep_type *type, void *buf);
/* The elements of an export in boxes that follow each other in the order of columns, the first
 * dimension fastest.  The box is of an array with the dimensions turned round: `rank` of them, as
 * slice_shape() gives them.  Gives the elements of the largest box, of `extent` bytes each. */
int64_t turned_init(struct box *b, int rank, const int64_t *dims, int64_t extent);
/* Reads such a box as `type`, first dimension fastest. */
int extract_turned(struct extract *e, const struct box *b, const drep_type *type, void *buf);
/* The block's place in the export, without the dimensions that one index has taken away; gives
 * how many are left. */
int extract_box(const struct extract *e, const struct blocks *b, int64_t *start, int64_t *count);

#endif
