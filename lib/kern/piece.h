/* piece.h - small elements whose conversion only moves bytes.
 *
 * The fields of an element that are neighbours on both sides are joined into pieces that a vector
 * register loads and stores; a list of pieces is made once for a pair of types and run over all
 * elements. */
/* SPDX-License-Identifier: MIT */
#ifndef KERN_PIECE_H
#define KERN_PIECE_H

#include "kern/move.h"

/* An element that only moves bytes, as pieces of 32, 16, 8, 4, 2 and 1 bytes: each one
 * load, one shuffle inside 16 bytes, and one store, and no byte beside them.  Neighbours
 * may overlap. */
enum { PIECES = 256, PIECE_SIZES = 6, SPAN = 64 };
struct kern_piece {
    int32_t to, from;
    uint8_t size, mask[32];
};
/* Where elements are back to back in the target, 16 bytes of one may be gathered from up to
 * three places; bytes stored past its end are overwritten by the next element. */
enum { GATHERS = 16, GATHER_TERMS = 3 };
struct kern_gather {
    int32_t to, from[GATHER_TERMS];
    uint8_t terms, mask[GATHER_TERMS][16];
};
struct pieces {
    int n[PIECE_SIZES]; /* how many of each size, the largest first */
    int all;
    bool full;
    struct kern_piece piece[PIECES];
    int gathers[GATHER_TERMS]; /* of one term, of two, of three, in this order */
    int64_t packed;            /* 0: no gathers; bytes of an element from its first on */
    struct kern_gather gather[GATHERS];
    /* Units that are neighbours on both sides, on their way into pieces. */
    struct {
        int32_t to, from;
        int size;
        bool begins[SPAN + 1]; /* a unit at this byte */
        uint8_t map[SPAN];
    } span;
};
/* True if this processor has the vector shuffles that pieces need. */
bool pieces_known(enum isa isa);
void pieces_init(struct pieces *p);
/* `units` units of 1, 2, 4, 8 or 16 bytes, each from as many bytes, by `map` (as a move's
 * mask).  No two go to the same bytes. */
void pieces_add(struct pieces *p, int32_t to, int32_t from, int unit, int units,
                const uint8_t *map);
/* Finish the list; false: too many pieces. */
bool pieces_end(struct pieces *p);
/* n elements; the sides are apart. */
void pieces_run(const struct pieces *p, uint8_t *dst, struct pace dst_pace, const uint8_t *src,
                struct pace src_pace, int64_t n);

#endif
