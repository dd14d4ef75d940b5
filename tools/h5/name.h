/* name.h - names of links and attributes that we cannot have. */
/* SPDX-License-Identifier: MIT */
#ifndef TOOLS_H5_NAME_H
#define TOOLS_H5_NAME_H

/* Our name for a link or attribute of HDF5: the same, or, where that is none, one made
 * from it; malloc'ed. */
char *own_name(const char *name, int attribute);

#endif
