/* copy_payload.h - the elements of one dataset into another that has none yet.
 *
 * Both have the same type and shape, or the target that of a box of the source, perhaps other
 * chunks, other filters, another representation. The work follows what is stored: what no chunk
 * covers is fill on both sides.  Of five ways the first that fits is taken:
 *
 *   copy_compact()    both are compact: one value of the tree
 *   copy_stored()     the same elements, chunks and filters: stored bytes as they are
 *   copy_chunks()     the same chunks: payload by payload, converted by many threads; but not of a
 *                     contiguous source that is stored whole
 *   copy_gathered()   other chunks of a variable-length type: each payload of the target from those
 *                     of the source that it touches
 *   copy_boxes()      the others: box by box through the usual transfers
 *
 * A box of the source takes one of the last two. */
/* SPDX-License-Identifier: MIT */
#ifndef WHOLE_COPY_PAYLOAD_H
#define WHOLE_COPY_PAYLOAD_H

#include "chunk/place.h"
#include "conv/transcode.h"
#include "elem/dataset.h"
#include "elem/select.h"

struct payload_copy {
    drep_dataset *from, *to;
    const struct drep_selection *cut; /* the elements of `from`, a box; NULL: all */
    bool same_elements;               /* stored elements are equal in both files */
    int range, threads;
    bool external;                           /* chunks in other files stay there */
    uint64_t (*map)(void *ctx, uint64_t id); /* of references; NULL: they stay */
    void *map_ctx;
    int (*progress)(int64_t bytes, void *ctx); /* payload written; may stop it */
    void *ctx;
    /* The result. */
    struct losses report; /* no indices */
    int64_t bytes;
    /* For the work. */
    bool stored;             /* copy_stored(), or copy_compact() with bytes as they are */
    uint32_t file, new_file; /* the other file at hand, and its number in the copy */
    struct transcoder transcoder;
    struct buf room[3];
};
int copy_payload(struct payload_copy *c);
void copy_payload_release(struct payload_copy *c);

/* ---- the ways ---- */

int copy_compact(struct payload_copy *c);
int copy_stored(struct payload_copy *c);
int copy_chunks(struct payload_copy *c);
int copy_gathered(struct payload_copy *c);
int copy_boxes(struct payload_copy *c);

/* ---- for all of them ---- */

/* So many bytes were written; what the caller's function says of that. */
static inline int copy_progress(struct payload_copy *c, uint64_t bytes)
{
    c->bytes += (int64_t)bytes;
    return c->progress((int64_t)bytes, c->ctx);
}
/* Like copy_progress(), when all chunks written so far are whole: they may leave with a stream. */
static inline int copy_whole_progress(struct payload_copy *c, uint64_t bytes)
{
    int err = place_settle(c->to->file->st, UINT64_MAX);

    return err ? err : copy_progress(c, bytes);
}
/* The index in the source of index i of the target. */
static inline uint64_t source_index(const struct payload_copy *c, int d, uint64_t i)
{
    return c->cut ? (uint64_t)span_at(&c->cut->dim[d], (int64_t)i) : i;
}
/* The first index of the target that comes from index i of the source, or from one behind it. */
static inline uint64_t target_index(const struct payload_copy *c, int d, uint64_t i)
{
    return c->cut ? (uint64_t)span_first(&c->cut->dim[d], (int64_t)i) : i;
}
static inline uint64_t element_bytes(const drep_dataset *ds, uint64_t n)
{
    return n * (uint64_t)ds->esize;
}

#endif
