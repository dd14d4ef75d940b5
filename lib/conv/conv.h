/* conv.h - elements between memory and the bytes of a file.
 *
 * A converter is made once a transfer (conv_init) and copied for each part and thread.  Where a
 * table of encodings describes the file's side, the engine converts in one pass; where functions
 * do, functions.c calls them.  Contents of variable length live in a heap beside the elements: a
 * transfer reads from `heap` or appends to `heap_out`, and each sequence is a conversion of its
 * own. */
/* SPDX-License-Identifier: MIT */
#ifndef CONV_CONV_H
#define CONV_CONV_H

#include "conv/file_rep.h"
#include "conv/ftype.h"
#include "conv/byte_ranges.h"
#include "base/buf.h"
#include "format/record.h"
#include "rep/pick.h"

struct conv {
    const struct file_rep *rep;
    const struct ftype *ft;
    const drep_type *mem;
    const struct rep_table *table; /* of the file's side; NULL: functions */
    const struct prog *stored;
    bool self;                      /* a self-described value: contents of sequences lie */
    const struct type_sizes *sizes; /* by these sizes, */
    enum prog_layout layout;        /* packed */
    struct rep_opts opts;
    struct rep_var var;
    struct losses report;
    int64_t staging;
    bool same_items; /* functions can work on mem directly */
    bool packed;     /* functions convert every item, and these lie back to back in the file */
    const drep_type *called; /* the items that they convert, of one element in memory; NULL:
                                none.  Packed, these take */
    int64_t called_size;     /* so many bytes in the file */
    bool dense;              /* both sides one array of one scalar: kernel */
    bool copy;               /* the bytes of both sides are equal, from an element's start on */
    bool raw;                /* memory holds stored elements, back to back, */
    bool contents;           /* which refer to `heap`: a write moves what they refer to */
    const struct byte_ranges *ranges; /* what a write names of each element, NULL: all */
    struct kernel kernel;
    const uint8_t *heap; /* reading variable parts */
    size_t heap_size;
    struct buf *heap_out; /* writing them, */
    uint64_t heap_base;   /* behind so many bytes of heap that stand elsewhere */
    int depth;
};
int conv_init(struct conv *c, const struct file_rep *rep, struct ftype *ft, const drep_type *mem,
              const drep_xfer *xfer, bool writing);
/* For values with their own table: attributes and fill values. */
int conv_init_table(struct conv *c, const struct file_rep *rep, const struct ftype *ft,
                    const struct rep_table *table, const struct type_sizes *sizes,
                    const struct prog *stored, const drep_type *mem, const drep_xfer *xfer,
                    bool writing);
void conv_report(const struct conv *c, const drep_xfer *xfer);
/* n elements, `step` stored bytes apart on the file's side; on the memory side the
 * elements number `at`, at + 1, ... of the transfer. */
int conv_read(struct conv *c, void *mem, int64_t at, const uint8_t *file, int64_t step, int64_t n);
int conv_write(struct conv *c, const void *mem, int64_t at, uint8_t *file, int64_t step, int64_t n);
/* Bytes of heap that n elements on the file's side refer to, where a write names something. */
uint64_t conv_weight(const struct conv *c, const uint8_t *file, int64_t step, int64_t n);
/* Counts n elements that were moved as they are, where a report is wanted. */
static inline void conv_count(struct conv *c, int64_t n)
{
    if (c->opts.report)
        c->report.items += n * c->stored->items;
}
/* Do a user's functions convert?  Then each call costs much and few are made. */
static inline bool conv_calls(const struct conv *c)
{
    return !c->table && !c->raw && c->rep->datarep;
}

#endif
