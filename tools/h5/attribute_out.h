/* attribute_out.h - the attributes of a container's objects become HDF5's. */
/* SPDX-License-Identifier: MIT */
#ifndef TOOLS_H5_ATTRIBUTE_OUT_H
#define TOOLS_H5_ATTRIBUTE_OUT_H

#include "tools/h5/job.h"

/* Writes them or, while the file is read back (j->back), compares. */
int export_attributes(struct job *j, const struct h5_object *o);

/* Attributes that were reported as lost, and will not be read back. */
struct lost_attributes;
int attribute_is_lost(const struct job *j, uint64_t key, const char *name);
void lost_attributes_free(struct lost_attributes *all);

#endif
