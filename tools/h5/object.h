/* object.h - the objects of one job, in the order of a walk, breadth first.
 *
 * An HDF5 object is known by its address, one of ours by its id; the source's is the key by which
 * it is found. */
/* SPDX-License-Identifier: MIT */
#ifndef TOOLS_H5_OBJECT_H
#define TOOLS_H5_OBJECT_H

#include "base/idset.h"
#include "tools/h5/library.h"
#include <stddef.h>
#include <stdint.h>

/* One object of the source. */
struct h5_object {
    uint64_t key;    /* import: its address; export: our id */
    uint64_t made;   /* the other of the two once it is made, else 0 */
    char *path;      /* in the destination */
    char *source;    /* in the source, if that is another; else NULL */
    int kind;        /* enum drep_objkind */
    int making;      /* it is being made, for what refers to it */
    int scale;       /* a dimension: 1 with a variable, 2 without */
    int unlimited;   /* a dimension */
    int64_t length;  /* a dimension */
    int64_t place;   /* import: a dimension's among those of its group; -1: not known */
    int placed;      /* import: it is made by its place, not in the turn of its link */
    size_t group;    /* import: where its first link is, as an index */
    char *dim_path;  /* import: address of the dimension that this scale becomes */
    char *link_path; /* import: of a scale that is only a dimension: where its link would be */
    uint64_t users;  /* import: how many dimensions of datasets refer to this scale, */
    uint64_t digest; /*         and which, in order; export: a dimension's variable */
    hid_t handle;    /* export: a named datatype without a name yet */
};

struct objects {
    struct h5_object *list;
    size_t n, room;
    struct idset ids; /* of the keys: index + 1 */
};
/* The address of an object of HDF5, its key on import; 0 if HDF5 does not tell. */
uint64_t h5_address(hid_t object);
/* NULL if it is not known. */
struct h5_object *objects_find(const struct objects *all, uint64_t key);
/* Takes path and source over, also on failure.  Pointers to objects die here.  0 or
 * DREP_ERR_NOMEM. */
int objects_add(struct objects *all, uint64_t key, int kind, char *path, char *source);
void objects_release(struct objects *all);

#endif
