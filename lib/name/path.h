/* path.h - paths: the names that lead from the root to an object.
 *
 * Soft links are followed by splicing their path in.  Reading calls may leave the file at an
 * external link (external.h); all others refuse it. */
#ifndef NAME_PATH_H
#define NAME_PATH_H

#include "name/object.h"

/* The object that a path leads to; its record is not looked at. */
int path_id(drep_file *f, const char *path, uint64_t *id);
/* Finds an object and loads it. */
int path_find(drep_file *f, const char *path, struct stored_object *o);
/* The group that is to hold the last name of path; makes groups when parents. */
int path_parent(drep_file *f, const char *path, int parents, uint64_t *group, const char **name);

/* Where a path leaves the file: by the link's name of the other one, on that path there.  file
 * NULL: nowhere, as far as it leads. */
struct crossing {
    char *file, *path;
};
int path_cross(drep_file *f, const char *path, struct crossing *x);

#endif
