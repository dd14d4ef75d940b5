/* dimension.h - dimensions: objects with a length that datasets share.
 *
 * A dataset names the dimension of each of its axes; the dimension keeps an entry for each use, so
 * that removing it finds the datasets. */
/* SPDX-License-Identifier: MIT */
#ifndef NAME_DIMENSION_H
#define NAME_DIMENSION_H

#include "name/object.h"

/* Looks a dimension up by name from `path` upwards, or by its address; DREP_ERR_NOT_FOUND. */
int dimension_find(drep_file *f, const char *path, const char *name, struct stored_object *dim);
/* Makes a dimension in a group. */
int dimension_make(drep_file *f, uint64_t group, const char *name, uint64_t len, bool unlimited,
                   struct stored_object *dim);
/* The dimension holds at least `len`.  DREP_ERR_DIMS: it does not and is not unlimited. */
int dimension_grow(drep_file *f, struct stored_object *dim, uint64_t len);
/* Notes the dataset's uses in the dimensions that its record names. */
int dimension_uses_add(drep_file *f, uint64_t id, const struct object_rec *rec);
/* Removes these uses. */
int dimension_uses_remove(drep_file *f, uint64_t id, const struct object_rec *rec);
/* One use of the dimension; DREP_ERR_NOT_FOUND: it has none. */
int dimension_used(drep_file *f, uint64_t id, uint64_t *dataset, int *d);
/* The datasets that use the dimension, each once; the caller frees users->id. */
int dimension_users(drep_file *f, uint64_t id, struct worklist *users);
/* The entry of the dimension at an address, and where it stands.  DREP_ERR_NOT_FOUND,
 * DREP_ERR_NAME. */
int dimension_entry(drep_file *f, const char *path, uint64_t *group, const char **name,
                    struct dim_rec *rec);
/* The dimension is removed: the datasets that use it have none in its place. */
int dimension_drop(drep_file *f, uint64_t id);

#endif
