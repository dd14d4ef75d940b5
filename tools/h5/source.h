/* source.h - a dataset of HDF5, as import reads it. */
/* SPDX-License-Identifier: MIT */
#ifndef TOOLS_H5_SOURCE_H
#define TOOLS_H5_SOURCE_H

#include "tools/h5/job.h"
#include "tools/h5/map.h"
#include "tools/h5/mapping.h"
#include "tools/h5/note.h"

/* One dataset being made or filled. */
struct h5_source {
    hid_t dset, type, space, dcpl;
    int rank; /* or DREP_NULL_SPACE */
    hsize_t dims[H5S_MAX_RANK], maxdims[H5S_MAX_RANK];
    H5D_layout_t layout;
    hsize_t chunk[H5S_MAX_RANK];
    struct map map;
    int placed;               /* members keep their offsets in the container */
    const char *datarep;      /* of its elements in the container; NULL: the default */
    struct notes notes;       /* of its datatype */
    struct measure *measure;  /* of its chunks; NULL: it has none */
    struct mappings mappings; /* of a virtual one */
};

/* Keeps a virtual dataset open until the end of the import: libhdf5 copies all of its mappings
 * whenever it is opened.  For a few with few mappings, so that memory is bounded. */
void source_keep_open(struct job *j, const struct h5_object *o, hid_t dset, hid_t dcpl);
void sources_close(struct job *j);

int source_open(struct job *j, const struct h5_object *o, struct h5_source *out);
void source_close(struct h5_source *s);
/* Bytes of one element in the container. */
int64_t source_stored_size(const struct job *j, const struct h5_source *s);
int source_shape(struct job *j, struct h5_source *s);

#endif
