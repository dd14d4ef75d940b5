/* unread.h - the elements of a dataset that import cannot read. */
/* SPDX-License-Identifier: MIT */
#ifndef TOOLS_H5_UNREAD_H
#define TOOLS_H5_UNREAD_H

#include "tools/h5/job.h"
#include "tools/h5/note.h"
#include "tools/walk/box.h"
#include <stdint.h>

/* Boxes that are noted one by one; the rest goes into one box around it. */
#define UNREAD_BOXES 1000

struct unread {
    int64_t elements; /* of all boxes; 0: all could be read */
    struct unread_box {
        int rank;
        int64_t start[DREP_MAX_RANK], end[DREP_MAX_RANK];
        int64_t elements;
    } * box;
    size_t n, room;
};

/* Adds the start and count of a box, joined with earlier ones where they make one.  0 or an error,
 * with j->why. */
int unread_add(struct job *j, struct unread *u, const struct box *b);
void unread_release(struct unread *u);
/* Notes all boxes, with one reason. */
int unread_note(struct job *j, const struct unread *u, const char *why, struct notes *r);
/* Notes elements whose place is not known; -1: nor their number. */
int unread_note_some(struct job *j, int64_t elements, const char *why, struct notes *r);

#endif
