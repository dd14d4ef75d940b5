/* by_value.h - selections by coordinates: "[time=2026-01-05:2026-02-01, lat=40:60]".
 *
 * They become selections by index, so that everything behind operand.h knows only those.  A part
 * NAME=VALUE or NAME=LOW:HIGH selects, along the dimension of that name, the elements whose
 * coordinates have the value, or are in the range, both ends included; an end that is left out is
 * that of the coordinates.  One value makes the dimension vanish, as an index does.  A part without
 * a name selects by index along the dimension in its place.  The coordinates are those of
 * drep_dimension_coordinate(), with scale_factor and add_offset applied; where their units are
 * those of a time, values are dates of their calendar, and a date without a time of the day, a
 * month or a year stands for all of it. */
/* SPDX-License-Identifier: MIT */
#ifndef TOOLS_TEXT_BY_VALUE_H
#define TOOLS_TEXT_BY_VALUE_H

#include "base/handles.h"
#include <stdbool.h>

/* True if a selection has such a part. */
bool by_value_is(const char *slice);
/* Write the selection in indices; *out is malloc'ed.  path: of the dataset.  0, or an exit code
 * after saying what is wrong. */
int by_value_resolve(drep_file *file, const char *file_name, const char *path,
                     const drep_dsinfo *info, const char *slice, char **out);

#endif
