/* data_in.h - the elements of an HDF5 dataset go into a container's. */
/* SPDX-License-Identifier: MIT */
#ifndef TOOLS_H5_DATA_IN_H
#define TOOLS_H5_DATA_IN_H

#include "tools/h5/source.h"

int import_data(struct job *j, const struct h5_object *o, struct h5_source *s, struct notes *r);

#endif
