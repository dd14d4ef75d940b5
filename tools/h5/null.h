/* null.h - strings of variable length that HDF5 has not at all. */
/* SPDX-License-Identifier: MIT */
#ifndef TOOLS_H5_NULL_H
#define TOOLS_H5_NULL_H

#include "tools/h5/job.h"
#include "tools/h5/map.h"
#include "tools/h5/note.h"
#include "tools/walk/box.h"

struct null_run {
    int64_t start, count; /* numbers of strings */
};
struct nulls {
    int64_t null, empty; /* how many strings are not there, and are empty */
    int64_t per;         /* strings in an element, -1: not known */
    int64_t at;          /* number of the string in hand */
    struct null_run *run;
    size_t n, room;
    int many; /* more than are listed */
    int all;  /* out: every empty string is none */
};
void nulls_release(struct nulls *n);
/* Notes, or on the way out makes, absent strings among `count` elements in HDF5's memory:
 * those of a box in a dataset, or, without one, in a row. */
void nulls_note(struct nulls *n, const struct map *m, const struct box *box, const int64_t *dims,
                size_t count, void *h);
void nulls_apply(struct nulls *n, const struct map *m, const struct box *box, const int64_t *dims,
                 size_t count, void *h);
int nulls_any(const struct nulls *n);
/* The lines about them; name: of an attribute, NULL for a dataset. */
int nulls_write(struct job *j, const struct nulls *n, const char *name, const char *path,
                struct notes *r);
int nulls_read(struct job *j, const struct notes *all, const struct notes *notes, const char *name,
               struct nulls *n);

#endif
