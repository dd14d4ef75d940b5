/* export.h - a container becomes an HDF5 file. */
/* SPDX-License-Identifier: MIT */
#ifndef TOOLS_H5_EXPORT_H
#define TOOLS_H5_EXPORT_H

#include "tools/h5/job.h"

/* Reads what import noted of the whole file, which must be known when the new one is made. */
int export_defaults(struct job *j);
int export_all(struct job *j);
/* Walks over the finished file as export_all() did, and compares. */
int export_back(struct job *j);

#endif
