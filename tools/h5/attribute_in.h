/* attribute_in.h - the attributes of an HDF5 object become those of ours. */
/* SPDX-License-Identifier: MIT */
#ifndef TOOLS_H5_ATTRIBUTE_IN_H
#define TOOLS_H5_ATTRIBUTE_IN_H

#include "tools/h5/job.h"
#include "tools/h5/named.h"
#include "tools/h5/note.h"

/* One object whose attributes and data are moved. */
struct mover {
    struct job *j;
    const struct h5_object *o;
    struct notes object_notes;
    struct sharings sharings;
    int err;
};

/* Moves the attributes of m->o. */
int import_attributes(struct mover *m, hid_t object);

#endif
