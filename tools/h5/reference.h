/* reference.h - references of HDF5 and ours. */
#ifndef TOOLS_H5_REFERENCE_H
#define TOOLS_H5_REFERENCE_H

#include "tools/h5/values.h"

/* A reference of HDF5 as one of ours, and back; for struct move. */
int ref_in(struct move *mv, int region, void *h, drep_ref *d);
int ref_out(struct move *mv, int region, void *h, drep_ref *d);

#endif
