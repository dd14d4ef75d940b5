/* access.h - one call of a program that reads or writes elements. */
/* SPDX-License-Identifier: MIT */
#ifndef ELEM_ACCESS_H
#define ELEM_ACCESS_H

#include "elem/dataset.h"
#include "elem/select.h"

/* The elements are those of `sel`, or if `box` those of the box. */
struct access {
    const char *call; /* the public function */
    drep_dataset *ds;
    const drep_selection *sel; /* NULL: all */
    bool box;
    const int64_t *start, *count; /* NULL: from the first; up to the last */
    const drep_type *type;
    void *buf;
    struct drep_selection *room; /* for that of the box; it need not be initialized */
};

/* Check the selection, or make that of the box; the file's lock is held, so that the shape stays.
 * DREP_ERR_ARG for a freed selection; DREP_ERR_RANGE, DREP_ERR_NOT_FOUND. */
int access_select(struct access *a);

#endif
