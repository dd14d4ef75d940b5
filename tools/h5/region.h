/* region.h - selections of HDF5 as texts, and back (SPEC.md, R10.3). */
/* SPDX-License-Identifier: MIT */
#ifndef TOOLS_H5_REGION_H
#define TOOLS_H5_REGION_H

#include "tools/h5/values.h"

int region_print(struct value_move *mv, hid_t space, char **text);
int region_select(struct job *j, const char *text, hid_t space);

#endif
