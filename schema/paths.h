/* paths.h - paths of objects: joined, and found by an object's id.
 *
 * An object may have several hard links; it is printed, exported or compared at the first path
 * and linked to at the others. */
/* SPDX-License-Identifier: MIT */
#ifndef SCHEMA_PATHS_H
#define SCHEMA_PATHS_H

#include "base/idset.h"
#include <stddef.h>
#include <stdint.h>

/* "/group" and "name" joined; malloc'ed, NULL without memory. */
char *path_of_member(const char *group, const char *name);

/* The address of a dimension of a group; malloc'ed, NULL without memory. */
char *path_of_dimension(const char *group, const char *name);

/* The first path of each object, by id. */
struct paths {
    struct idset ids; /* with the path of each */
};
/* Add an object; *before is its path if it was there already, else NULL.  An id of 0, which is no
 * object that this version knows, is left out.  0 or DREP_ERR_NOMEM. */
int paths_add(struct paths *paths, uint64_t id, const char *path, const char **before);
/* NULL if there is no such object. */
const char *paths_get(const struct paths *paths, uint64_t id);
void paths_release(struct paths *paths);

#endif
