/* find.h - a path of an object that is known by its number: the inverse of a path.
 *
 * Objects do not know where they hang, so the tree of groups is searched from the root, each group
 * once and the nearest first. */
/* SPDX-License-Identifier: MIT */
#ifndef NAME_FIND_H
#define NAME_FIND_H

#include "base/handles.h"

/* One path of an object, malloc'ed. */
int object_path(drep_file *f, uint64_t id, char **path);

#endif
