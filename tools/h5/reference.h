/* reference.h - references of HDF5 and ours. */
/* SPDX-License-Identifier: MIT */
#ifndef TOOLS_H5_REFERENCE_H
#define TOOLS_H5_REFERENCE_H

#include "tools/h5/values.h"

/* A reference of HDF5 as one of ours, and back; for struct value_move. */
int ref_in(struct value_move *mv, int region, void *h, drep_ref *d);
int ref_out(struct value_move *mv, int region, void *h, drep_ref *d);

#endif
