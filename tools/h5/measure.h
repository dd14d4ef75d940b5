/* measure.h - whether stored chunks hold what HDF5 will read of them. */
/* SPDX-License-Identifier: MIT */
#ifndef TOOLS_H5_MEASURE_H
#define TOOLS_H5_MEASURE_H

#include "tools/h5/job.h"
#include "tools/walk/box.h"

/* The chunks at the edge of a dataset that are not filtered, although their masks do not say so
 * (H5Pset_chunk_opts()). */
struct bare_edge {
    int rank;     /* 0: there are none */
    unsigned all; /* the mask of all filters */
    hsize_t dims[H5S_MAX_RANK], chunk[H5S_MAX_RANK];
};
void bare_edge_read(struct bare_edge *e, hid_t dset, hid_t dcpl);
/* True if the chunk that begins there is such a one. */
int bare_edge_has(const struct bare_edge *e, const int64_t *start);

/* A chunk as it is stored. */
struct stored {
    const struct bare_edge *bare; /* of its dataset; NULL: it has none */
    uint8_t *bytes;
    size_t room, size;
    unsigned skipped;
    int there;
    int excess;     /* more bytes than any chunk takes: not to be read */
    int read;       /* its bytes are read */
    int good;       /* likewise; then: DECODE_... */
    struct box box; /* where its elements belong: start and count */
};
/* HDF5 reads the bytes of the chunk at c->box; a chunk that is not stored is not there.  The mask
 * of one in c->bare becomes that of all filters. */
int stored_read(struct job *j, hid_t dset, size_t chunk_size, struct stored *c);

/* Tells whether the chunks of a dataset may be read through HDF5, which fills up those that
 * are short with what lies behind them in memory.  NULL without memory; dset and dcpl remain
 * the caller's. */
struct measure;
struct measure *measure_new(struct job *j, hid_t dset, hid_t dcpl, int rank, const hsize_t *chunk);
void measure_free(struct measure *m);
/* True if HDF5 may read all chunks that the box touches.  Else j->why says why not, if `say`. */
int measure_box(struct measure *m, const struct box *block, int say);
/* Like measure_box(), for all chunks of a dataset, once a job: 0, or an error. */
int measure_all(struct job *j, hid_t dset, hid_t dcpl);

/* Frees what measure_all() noted of a job. */
void measured_release(struct job *j);

#endif
