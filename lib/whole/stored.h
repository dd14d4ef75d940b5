/* stored.h - walks over the elements of a dataset that are stored.
 *
 * What is not stored is fill and cannot be wrong, so the work follows the size of the file and not
 * that of the dataset: a sparse dataset may have 2^62 elements. */
/* SPDX-License-Identifier: MIT */
#ifndef WHOLE_STORED_H
#define WHOLE_STORED_H

#include "elem/dataset.h"

struct advance;

/* Calls fn for boxes that hold, one after the other, every element that is stored.  The caller
 * holds the file. */
typedef int stored_box_fn(const uint64_t *start, const uint64_t *count, void *ctx);
int stored_boxes(drep_dataset *ds, stored_box_fn *fn, void *ctx);
/* Reads every element that is stored; *budget: bytes of payload that may still be read, so that
 * what many records share is not read without end.  `damaged` is called with the error of each
 * chunk that cannot be read or converted; 0 goes on with the next one, anything else ends the
 * walk and becomes its result.  What was read is added to `advance`.  The caller does not hold the
 * file. */
typedef int stored_damage_fn(int err, void *ctx);
int stored_read_all(drep_dataset *ds, uint64_t *budget, struct advance *advance,
                    stored_damage_fn *damaged, void *ctx);

#endif
