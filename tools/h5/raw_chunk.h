/* raw_chunk.h - chunks that go over as they are stored. */
/* SPDX-License-Identifier: MIT */
#ifndef TOOLS_H5_RAW_CHUNK_H
#define TOOLS_H5_RAW_CHUNK_H

#include "tools/h5/library.h"
#include "tools/h5/map.h"
#include <datarep.h>
#include <stddef.h>
#include <stdint.h>

/* How the filters of an HDF5 dataset and of the container's go together. */
struct raw_chunks {
    int n;                      /* filters of HDF5 */
    int ours[H5Z_MAX_NFILTERS]; /* the container's filter that does the same; RAW_CHUNK_SUM */
    int deflate[H5Z_MAX_NFILTERS];
    int pipeline;   /* both lists are HDF5's: bytes, sums and masks are the same */
    size_t size;    /* bytes of the elements of a chunk */
    size_t most;    /* bytes of any stored chunk */
    uint8_t *bytes; /* room for one chunk of the container's; raw_chunks_release() frees it */
    size_t room;
};
/* A fletcher32 sum behind the chunk, which the container does not keep: it has sums of its own. */
#define RAW_CHUNK_SUM (-1)

/* True if stored chunks of one are those of the other, whose elements are as m says.  plain: also
 * where they have no filters. */
int raw_chunks_match(struct raw_chunks *r, hid_t dcpl, const drep_dsinfo *info, drep_dataset *ds,
                     const struct map *m, int plain);
void raw_chunks_release(struct raw_chunks *r);

/* A chunk of HDF5 becomes the container's: it loses its sum, if that is right, and its mask of
 * skipped filters is translated.  bytes NULL: the sum is taken on trust.  False: it cannot go over
 * as it is. */
int raw_chunk_in(const struct raw_chunks *r, const uint8_t *bytes, size_t *size, unsigned skipped,
                 uint32_t *out);
/* True if the filters of a chunk that the container has, all but `skipped`, are any. */
int raw_chunk_filtered(const struct raw_chunks *r, uint32_t skipped);
/* The container's chunk at `start` becomes HDF5's: in r->bytes, with its sum, but not if it is
 * bare (measure.h).  *size 0: it is not stored.  0 or a DREP_ERR_... of the library. */
int raw_chunk_out(struct raw_chunks *r, drep_dataset *ds, const int64_t *start, int bare,
                  size_t *size, unsigned *skipped);

#endif
