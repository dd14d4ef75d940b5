/* marks.h - which elements of compact datasets a rank has written alone.
 *
 * What a compact dataset holds is an entry of the tree, which each rank changes for itself.  When
 * entries of several ranks meet, the marked elements of each count, whatever they hold; elements
 * without a mark are what others have made of them. */
/* SPDX-License-Identifier: MIT */
#ifndef PAR_MARKS_H
#define PAR_MARKS_H

#include "elem/dataset.h"
#include "elem/select.h"
#include "par/ranks.h"

/* Write to a compact dataset and mark the elements. */
int marks_write(drep_dataset *ds, const drep_selection *sel, const drep_type *type, const void *buf,
                const drep_xfer *xfer);

/* Those of a dataset, or NULL; forget them. */
struct marked *marks_find(const drep_dataset *ds);
void marks_drop(const drep_dataset *ds);

#endif
