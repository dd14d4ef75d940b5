/* path.h - paths: the names that lead from the root to an object.
 *
 * A dimension has an address instead: the path of its group, "#" and its name.  Soft links are
 * followed by splicing their path in.  Reading calls may leave the file at an external link
 * (external.h); all others refuse it. */
/* SPDX-License-Identifier: MIT */
#ifndef NAME_PATH_H
#define NAME_PATH_H

#include "name/object.h"

/* Address of a dimension, "GROUP#NAME": the length of the group's path and the name.  A link of
 * exactly that path goes first, except in the form "GROUP//#NAME" (*only), which no link has.
 * False: the path is no address. */
bool path_dimension(const char *path, size_t *group, const char **name, bool *only);
/* The group that is to hold the dimension of this address.  DREP_ERR_NAME: no address. */
int path_dimension_parent(drep_file *f, const char *path, uint64_t *group, const char **name);
/* The address of a dimension that is there, malloc'ed: the shortest that leads to it.  id 0: one
 * of a later version. */
int path_dimension_address(drep_file *f, const char *group, const char *name, uint64_t id,
                           char **path);

/* The object that a path leads to; its record is not looked at. */
int path_id(drep_file *f, const char *path, uint64_t *id);
/* Finds an object and loads it. */
int path_find(drep_file *f, const char *path, struct stored_object *o);
/* The group that is to hold the last name of path; makes groups when parents. */
int path_parent(drep_file *f, const char *path, int parents, uint64_t *group, const char **name);

/* The groups from below the root to the one that holds the last name of path, in the order of hard
 * links that lead there.  The caller frees trail->id, also after an error. */
int path_trail(drep_file *f, const char *path, struct worklist *trail);

/* Where a path leaves the file: by the link's name of the other one, on that path there.  file
 * NULL: nowhere, as far as it leads. */
struct crossing {
    char *file, *path;
};
int path_cross(drep_file *f, const char *path, struct crossing *x);

#endif
