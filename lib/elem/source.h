/* source.h - where the elements of a write come from, if not from the caller's memory.
 *
 * A source has them by chunks, numbered as the grid does.  Of a chunk that is written whole it has
 * the size and the checksums, and learns where the store has placed it: its payload gets there
 * another way.  Of a plain chunk that is written in part it may have just the checksums that this
 * one has afterwards.  Of other chunks it has the elements, where they stand in the chunk. */
/* SPDX-License-Identifier: MIT */
#ifndef ELEM_SOURCE_H
#define ELEM_SOURCE_H

#include "chunk/patch_given.h"
#include "elem/mover.h"

/* A payload that is written by somebody else. */
struct encoded_chunk {
    uint64_t size;
    uint32_t skipped; /* filters */
    uint64_t *sums;   /* of the blocks; filtered: of the whole */
    uint64_t offset;  /* in the file, once it is placed */
    bool placed;
};

/* Elements of a chunk from its first on, and the heap that they refer to; those that are not
 * written have no meaning.  Or what the chunk will be, if somebody else writes them. */
struct source_elements {
    char *elements;
    const uint8_t *heap;
    size_t heap_size;
    struct given_payload *given; /* NULL: the elements are here */
};

/* The store asks in the order of the grid, mostly. */
struct part_source_ops {
    /* True if the chunk is written whole. */
    bool (*whole)(struct part_source *s, int64_t chunk);
    /* Such a chunk; `*out` is the source's, who sees from it where the chunk was placed. */
    int (*encoded)(struct part_source *s, int64_t chunk, struct encoded_chunk **out);
    /* Any other chunk; the memory stays until the next chunk is asked for. */
    int (*elements)(struct part_source *s, int64_t chunk, struct source_elements *out);
};

struct part_source {
    const struct part_source_ops *ops;
};

/* For transfers that have a source: true if the chunk is written whole. */
bool source_whole(const struct transfer *t, const uint64_t *coord);
/* Give such chunks their places: n plain ones of `size` bytes, in grid order; or one that is
 * filtered or has a heap. */
int source_place(const struct transfer *t, const uint64_t *coords, uint64_t n, uint64_t size);
int source_place_one(const struct transfer *t, const uint64_t *coord);
/* Let the elements of this chunk be the memory of the part's transfer, or m->given be set. */
int source_elements(struct part_mover *m, const uint64_t *coord);

#endif
