/* export.h - a container becomes an HDF5 file. */
/* SPDX-License-Identifier: MIT */
#ifndef TOOLS_H5_EXPORT_H
#define TOOLS_H5_EXPORT_H

#include "tools/h5/job.h"

int export_all(struct job *j);
/* Walks over the finished file as export_all() did, and compares. */
int export_back(struct job *j);

#endif
