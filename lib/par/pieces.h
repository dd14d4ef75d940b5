/* pieces.h - elements on their way to the owner of their chunk.
 *
 * A piece is what one rank writes of one chunk that another rank owns: runs, the elements of these
 * as the file stores them, back to back, and the heap that they refer to.  All pieces for one owner
 * are one parcel.  A rank sends elements of variable length to itself, too, and so those of which
 * it has written some members alone. */
/* SPDX-License-Identifier: MIT */
#ifndef PAR_PIECES_H
#define PAR_PIECES_H

#include "par/shares.h"
#include "format/byteorder.h"

struct piece {
    int64_t chunk;
    int from;
    struct byte_ranges ranges; /* what of each element is written; borrowed */
    uint64_t runs;
    const uint8_t *run;      /* encoded */
    const uint8_t *elements; /* borrowed from the inbox */
    uint64_t n;
    const uint8_t *heap;
    size_t heap_size;
};

struct parcels {
    struct team_parcel *parcel;
    struct buf *bytes;
    size_t n;
};

/* Convert the elements of a share, run after run, to where p has room for them; their contents go
 * to the end of a heap (NULL: they have none). */
int share_pack(struct transfer *t, const struct shares *s, const struct share *share, uint8_t *p,
               struct buf *heap);
/* Bytes of the piece that a share becomes, without its heap.  ranges: members, or NULL. */
uint64_t piece_bytes(const struct drep_dataset *ds, const struct share *share,
                     const struct byte_ranges *ranges);
/* Convert what this rank sends. */
int pieces_pack(struct transfer *t, const struct team *team, const struct shares *s,
                struct parcels *out);
void parcels_release(struct parcels *p);
/* The order of pieces for qsort(): by chunk and then by sender. */
int pieces_order(const void *a, const void *b);
/* List the pieces that an exchange brought, in their order. */
int pieces_list(const struct drep_dataset *ds, const struct team_inbox *in, struct piece **list,
                size_t *n);

/* Run number k of a piece; mem has no meaning. */
/* Bytes: before the ranges of members, which are before the first run, and of a run. */
enum { PIECE_HEAD = 40, PIECE_RUN = 24 };
static inline struct share_run piece_run(const struct piece *p, uint64_t k)
{
    const uint8_t *r = p->run + k * PIECE_RUN;

    return (struct share_run){.chunk = p->chunk,
                              .at = (int64_t)load_u64(r),
                              .step = (int64_t)load_u64(r + 8),
                              .n = (int64_t)load_u64(r + 16)};
}
/* Calls fn for the runs of a piece of a chunk that has `room` elements; `from` is the run's first
 * element.  DREP_ERR_IO: they are not inside. */
typedef int piece_run_fn(void *ctx, int64_t at, int64_t step, int64_t n, const uint8_t *from);
int piece_runs(const struct drep_dataset *ds, const struct piece *p, int64_t room, piece_run_fn *fn,
               void *ctx);
/* True if this rank's own elements travel like those of others. */
bool sends_itself(const struct drep_dataset *ds, const struct shares *s);

/* Set the bits of n elements. */
void elements_mark(uint64_t *bits, int64_t at, int64_t step, int64_t n);
/* Elements that ranks have written, for each choice of members. */
struct taken {
    struct taken_members {
        struct byte_ranges ranges;
        uint64_t *bits;
    } * of;
    size_t n, room;
    int64_t elements; /* of the chunk */
    bool members;     /* two ranks may write different ones of an element */
    int64_t clash;    /* the first element that two have written, or -1 */
};
/* Take what piece number i of a list has.  DREP_ERR_NOT_SAME: another rank has written some of it;
 * `own` is the one that has sent none. */
int taken_piece(struct taken *t, const struct drep_dataset *ds, const struct piece *list, size_t i,
                int own);
void taken_release(struct taken *t);

/* DREP_ERR_NOT_SAME: element `at` of a chunk is written by ranks a and b; -1: all of it by one of
 * them, and some of it by the other. */
int overlap_error(const struct drep_dataset *ds, int64_t chunk, int64_t at, int a, int b);

/* Where this rank's memory holds a chunk of `size` bytes, of which it writes all, as the file will;
 * else NULL. */
const uint8_t *share_in_memory(const struct transfer *t, const struct shares *s,
                               const struct share *own, uint64_t size);

/* What the elements of a chunk are that nobody writes. */
enum ground {
    GROUND_NONE, /* of no meaning */
    GROUND_FILL,
    GROUND_STORED /* what the file has */
};

/* Bring a chunk together in b, which has room for chunk_elements(): this rank's own share (NULL:
 * none), and n pieces.  GROUND_STORED: b holds the stored ones.  DREP_ERR_NOT_SAME: two ranks write
 * one element; with drep_overlap=last the higher one's counts. */
int chunk_assemble(struct transfer *t, const struct shares *s, const struct share *own, int rank,
                   const struct piece *piece, size_t n, enum ground ground, uint8_t *b,
                   uint64_t size);

#endif
