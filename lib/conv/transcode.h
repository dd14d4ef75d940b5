/* transcode.h - stored elements of one file as stored elements of another.
 *
 * Where tables describe both sides the engine goes from one to the other in one pass, so that
 * nothing is lost that both can hold, whatever this machine can; where functions convert, through
 * native memory.  Contents of variable length go from heap to heap. */
/* SPDX-License-Identifier: MIT */
#ifndef CONV_TRANSCODE_H
#define CONV_TRANSCODE_H

#include "conv/conv.h"
#include "rep/convert.h"

struct transcoder {
    const struct prog *source, *target;
    const drep_type *type;
    const struct rep_table *from_table, *to_table; /* NULL: through memory */
    struct rep_opts opts;
    struct losses report; /* what was lost so far; no indices */
    const uint8_t *heap;  /* of the source's elements */
    size_t heap_size;
    struct buf *heap_out; /* and of the target's, which grows */
    int depth;
    struct conv in, out;
};
int transcode_init(struct transcoder *a, const struct file_rep *from, struct ftype *source,
                   const struct file_rep *to, struct ftype *target, int range);
/* What one thread works with; its report begins anew. */
void transcode_begin(struct transcoder *a, const struct transcoder *plan);
/* n elements, so many bytes apart on either side. */
int transcode_run(struct transcoder *a, uint8_t *dst, int64_t dstep, const uint8_t *src,
                  int64_t sstep, int64_t n);

#endif
