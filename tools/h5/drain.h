/* drain.h - a dataset of the container on its way out. */
/* SPDX-License-Identifier: MIT */
#ifndef TOOLS_H5_DRAIN_H
#define TOOLS_H5_DRAIN_H

#include "tools/h5/job.h"
#include "tools/h5/map.h"
#include "tools/h5/note.h"
#include <datarep.h>

struct drain {
    char *path; /* in the container */
    drep_dataset *ds;
    drep_dsinfo info;
    drep_dsusage usage;
    struct notes object_notes, notes; /* of the object; of its datatype */
    hid_t file;                       /* its datatype in HDF5 */
    struct map map;
};
int drain_open(struct job *j, const struct h5_object *o, struct drain *out);
void drain_close(struct drain *d);
/* The fill value as what is held; its variable parts for drep_vlen_free(). */
int drain_fill(struct job *j, const struct drain *s, void *held);

/* Says how many numbers of n elements of the container's `type` are rounded where they are held as
 * the map says. */
int drain_say_rounded(struct job *j, const char *path, const char *what, const struct map *m,
                      const drep_type *type, int64_t n, const void *own);

/* The datatype in HDF5 of an object's data: the named one that it shares (an address, 0: none),
 * or one made for it; 0 with j->why on failure. */
hid_t type_out(struct job *j, const struct h5_object *o, const drep_type *type, uint64_t shared,
               const struct notes *notes, int named);

#endif
