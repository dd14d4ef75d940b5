/* codec.h - a dataset's filters as zarr version 2 says them: codecs of numcodecs.
 *
 * In zarr all chunks of an array have the same codecs, here a chunk may skip filters.  The filters
 * of the array are therefore those that most of its chunks have; any other chunk is encoded anew
 * and written inline.  Such an encoding stores: its streams are valid and save nothing. */
/* SPDX-License-Identifier: MIT */
#ifndef TOOLS_REFS_CODEC_H
#define TOOLS_REFS_CODEC_H

#include "tools/text/sink.h"
#include <datarep.h>
#include <stdint.h>

struct codecs {
    const drep_filter *filter[DREP_MAX_FILTERS]; /* as they are applied */
    int n;
    int tail; /* bytes behind the stored chunk that zarr must not see: a sum of HDF5's */
};

/* Finds the codecs of chunks of `payload` bytes that skipped these filters; borrows from info.
 * False, with the reason, if numcodecs has none of them or not in this order. */
bool codecs_init(struct codecs *out, const drep_dsinfo *info, uint32_t skipped, int64_t payload,
                 char *why, size_t room);
/* True if stored chunks that skipped these filters are as long as what they hold. */
bool codecs_keep_length(const drep_dsinfo *info, uint32_t skipped);
/* True if a stored stream has to be looked at, since not all of its kind can be read: */
bool codecs_frames(const struct codecs *c);
/* False if numcodecs refuses streams of this kind, which it needs to say their length. */
bool codecs_read(const struct codecs *c, const void *stream, int64_t size);
/* Puts `"compressor": ..., "filters": ...`. */
void codecs_put(const struct codecs *c, struct sink *s);
/* Encodes *size bytes at *bytes, malloc'ed, in place of which it puts others.  DREP_ERR_NOMEM. */
int codecs_encode(const struct codecs *c, uint8_t **bytes, size_t *size);

#endif
