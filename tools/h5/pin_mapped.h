/* pin_mapped.h - a virtual import of a virtual dataset: chunks stay in its sources. */
/* SPDX-License-Identifier: MIT */
#ifndef TOOLS_H5_PIN_MAPPED_H
#define TOOLS_H5_PIN_MAPPED_H

#include "tools/h5/raw_chunk.h"
#include "tools/h5/chunk.h"
#include "tools/h5/measure.h"
#include "tools/h5/pin.h"

/* State of the loop over the cells of the container's chunk grid. */
struct mapped_pin {
    struct job *j;
    const struct h5_source *s;
    drep_dataset *ds; /* NULL: elements are copied */
    const drep_dsinfo *info;
    const struct direct *direct; /* the source at hand */
    hid_t dset;                  /* that the members below belong to; 0: none */
    int fits, contiguous;
    struct pin_file file;
    struct raw_chunks raw;
    struct decoding *decoding; /* NULL: chunks are not decoded */
    int64_t untried;           /* those that stay, and were not, */
    int64_t undecoded;         /* and those that could not be */
    hsize_t chunk[H5S_MAX_RANK];
    struct bare_edge bare;
    struct stored stored;
};
/* Gives a container's dataset chunks and filters such that chunks can stay in the sources; false:
 * nothing is set, as that cannot be. */
int pin_mapped_layout(struct job *j, const char *path, const struct h5_source *s, drep_spec *spec,
                      int64_t *chunk, drep_filter *filters);
/* Takes `p` with its first five members set; its ds becomes NULL where elements are copied. */
int pin_mapped_begin(struct mapped_pin *p);
void pin_mapped_end(struct mapped_pin *p);
/* True if a cell, which a mapping covers, may be a chunk of the source at hand. */
int pin_mapped_fits(struct mapped_pin *p, const struct box *cell);
/* Makes it; `bytes` are the `size` bytes of its elements where
 * p->contiguous.  *done 0: it must be copied. */
int pin_mapped_cell(struct mapped_pin *p, const struct box *cell, const void *bytes, size_t size,
                    int *done);

#endif
