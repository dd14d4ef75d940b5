/* contiguous.h - elements of datasets whose chunks are slabs of one sequence.
 *
 * A box is runs of the flat sequence.  Long ones are shared between threads slab by slab, many
 * short ones by cutting the box. */
/* SPDX-License-Identifier: MIT */
#ifndef ELEM_CONTIGUOUS_H
#define ELEM_CONTIGUOUS_H

#include "elem/transfer.h"

int contiguous_run(struct transfer *t);

#endif
