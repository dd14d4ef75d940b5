/* resize.h - changing the shape of a dataset, for calls that also write its elements. */
/* SPDX-License-Identifier: MIT */
#ifndef WHOLE_RESIZE_H
#define WHOLE_RESIZE_H

#include "elem/dataset.h"
#include "name/object.h"

/* Stores the new shape, inside an operation; *o is the record as it is in the file then. The handle
 * changes by shape_exchange(), when nothing can fail any more; object_release() frees *o. */
int shape_change(drep_dataset *ds, const int64_t *dims, struct stored_object *o);
/* The handle takes a record over and gives its own; cannot fail. */
void shape_exchange(drep_dataset *ds, struct stored_object *o);
/* The caller has set the length: appends to the dataset go on from there (whole/append.c). */
void append_goes_on(drep_dataset *ds);

#endif
