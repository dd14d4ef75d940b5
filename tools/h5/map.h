/* map.h - how elements lie in both memories. */
/* SPDX-License-Identifier: MIT */
#ifndef TOOLS_H5_MAP_H
#define TOOLS_H5_MAP_H

#include "base/handles.h"
#include "tools/h5/library.h"
#include <stddef.h>

enum map_kind {
    MAP_FLAT,     /* the same bytes in both memories */
    MAP_SWAP,     /* two halves, each the same in reverse */
    MAP_COMPOUND, /* parts side by side */
    MAP_ARRAY,    /* n of one part */
    MAP_SEQUENCE, /* hvl_t and drep_vlen of one part */
    MAP_OBJECT,   /* hobj_ref_t and drep_ref */
    MAP_REGION    /* hdset_reg_ref_t and drep_ref */
};

/* How elements lie.  HDF5 gets them in memory as they lie in its file, but for pointers
 * and references, so that it converts nothing; our library takes and gives the same
 * bytes as scalars of that order and format. */
struct map {
    hid_t mem;       /* as HDF5 has an element in memory */
    drep_type *held; /* what our library calls those bytes, or what they become */
    drep_type *type; /* as the container stores it */
    size_t hsize, dsize;
    int kind;     /* enum map_kind */
    int variable; /* strings or sequences inside own memory */
    int strings;  /* strings of variable length inside */
    size_t n;     /* members, elements */
    size_t nparts;
    struct map *parts;
    size_t *hoffset, *doffset; /* of a compound's parts */
};

void map_release(struct map *m);
int has_references(const struct map *m);
/* True if HDF5 moves elements between its file and our memory without touching them. */
int map_is_copy(hid_t file, const struct map *m);

#endif
