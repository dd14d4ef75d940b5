/* remote.h - chunks that come from other ranks, as rank 0's store writes them.
 *
 * In a collective write rank 0 makes the same calls of its store that one process would make with
 * everybody's elements.  Of a chunk that is written whole only its size and checksums are here; the
 * store gives it a place, where its owner writes it.  Likewise of a patched one, a plain chunk that
 * is written in part, the size and the checksums that it has afterwards.  Of other chunks the
 * elements are here.
 *
 * They may come window by window (windows.h): then the store, asking for one that is not here,
 * gets the next window, and gives up what it had of the one before. */
/* SPDX-License-Identifier: MIT */
#ifndef PAR_REMOTE_H
#define PAR_REMOTE_H

#include "elem/source.h"

struct remote_chunk {
    int64_t chunk; /* its number (shares.h) */
    int64_t slabs; /* 1; or whole slabs that follow each other, this one with them */
    bool whole;
    /* Not whole: its elements, where they stand in the chunk, and the heap that they refer to.
     * Other elements have no meaning. */
    char *elements;
    const uint8_t *heap;
    size_t heap_size;
    /* Whole or patched. */
    int owner;
    bool patched;
    struct given_payload given;
    const uint8_t *stretch; /* of a merge, where it is patched: u64 first element, u64 number */
    size_t stretches;
    struct encoded_chunk encoded; /* slabs: the first, with the checksums of all */
    uint64_t *scattered;          /* slabs that do not stand back to back: their offsets */
    bool leased;                  /* its owner has written it there already, alone */
};

struct remote {
    struct part_source source;  /* first: what the transfer sees */
    struct remote_chunk *chunk; /* by number */
    size_t n;
    size_t room;
    size_t next; /* is likely to be asked for */
    /* One of several slabs, while the store asks for it. */
    struct remote_slab {
        int64_t number; /* and 1; 0: none */
        struct encoded_chunk encoded;
        struct given_payload given;
    } one;
    /* In windows: gets the next one, or fails; and the chunks that are not whole, ascending. */
    int (*more)(void *ctx);
    void *ctx;
    const int64_t *part;
    size_t nparts;
};

/* True if a chunk is here, whole or patched: its elements are with its owner. */
bool remote_is_owned(struct remote *r, int64_t chunk);
/* Forget what is here. */
void remote_drop(struct remote *r);
/* Let a transfer take its elements from here. */
void remote_begin(struct remote *r, struct transfer *t);
/* Set the places of chunks that have been given some: where they stand now.  Others of the same
 * write may have moved them.  DREP_ERR_FAILED: one has none. */
int remote_places(drep_dataset *ds, struct remote *r);
/* True if a chunk is here, or is to come, and written whole. */
bool remote_is_whole(struct remote *r, int64_t chunk);
/* Record a leased one, where it stands. */
int remote_record(drep_dataset *ds, const struct remote_chunk *c);

#endif
