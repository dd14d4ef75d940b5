/* filter.h - encoding and decoding the payload of a chunk through its list of filters.
 *
 * SPEC.md, 8, says what each filter does.  A filter that does not shrink its input is skipped, and
 * the record says so.  Decoding is bounded: no stage may grow beyond the limits below, whatever the
 * file claims. */
/* SPDX-License-Identifier: MIT */
#ifndef CHUNK_FILTER_H
#define CHUNK_FILTER_H

#include "base/buf.h"
#include "format/record.h"

#include <stdbool.h>

/* Working memory of filters: buffers, and the compressors' own state.  Kept from chunk to chunk;
 * one thread at a time uses it.  {0} is empty. */
struct codec {
    struct buf room[2];
    struct buf stored;     /* for the caller */
    struct buf proof;      /* what a user's filter gives back while it is proven */
    void *compressor[2];   /* deflate's, and for which level; zstd's */
    void *decompressor[2]; /* likewise */
    int level;
    uint64_t limit; /* decoding: bytes that no stage may exceed twice over; 0: none */
    bool strict;    /* decoding: look for what the libraries of compressors let pass */
};
void codec_release(struct codec *k);

/* The mask of n filters. */
static inline uint32_t filters_all(int n)
{
    return (uint32_t)(((uint64_t)1 << n) - 1);
}

bool filter_available(int id);
/* Check that all filters of the list, but those skipped, are available; DREP_ERR_UNSUPPORTED
 * names the first one that is not. */
int filters_known(const struct filter_rec *f, int n, uint32_t skipped);
/* 0; DREP_ERR_UNSUPPORTED names the first filter of the list that a newer version wrote. */
int filters_later(const struct filter_rec *f, int n);
/* Bytes of the elements that a filter shuffles; 0: it is no shuffle of bytes. */
uint32_t filter_shuffles(const struct filter_rec *f);
/* Encode `size` bytes at buf through the list; `fixed` bytes at its start are the fixed part.
 * *skipped: filters not applied, because they did not shrink their input.  The result is in buf
 * or in the codec, until that is used again. */
int filters_encode(struct codec *k, const struct filter_rec *f, int n, const void *buf, size_t size,
                   size_t fixed, struct span *out, uint32_t *skipped);
/* The most bytes that a payload of `size` can be stored as: each filter applied to it that changes
 * lengths may add as much again and 64 KiB (R8.38). */
uint64_t filters_stored_max(const struct filter_rec *f, int n, uint32_t skipped, uint64_t size);
/* Decode; the result has at most `max` bytes.  out is not one of the codec's buffers. */
int filters_decode(struct codec *k, const struct filter_rec *f, int n, uint32_t skipped,
                   const void *buf, size_t size, size_t fixed, uint64_t max, struct buf *out);

#endif
