/* transfer.h - one read or write of elements.
 *
 * A transfer is cut into parts, one for each chunk or slab that it touches (parts.h).  A part's
 * elements come as runs: places in the chunk, and the numbers they have in the transfer.  Each part
 * is read, verified and converted while it is in the processor's cache; parts run in the worker
 * pool. A write runs inside one operation of the store: when an element fails, nothing of it stays.
 */
/* SPDX-License-Identifier: MIT */
#ifndef ELEM_TRANSFER_H
#define ELEM_TRANSFER_H

#include "conv/conv.h"
#include "conv/members.h"
#include "elem/dataset.h"
#include "elem/select.h"

struct part_source;
struct advance;

struct transfer {
    drep_dataset *ds;
    const struct drep_selection *sel;
    struct picked_members members;
    struct conv conv; /* what each part starts from */
    char *mem;
    bool writing;
    bool appending; /* more is to come behind: chunks are not written before they are full, or short
                     */
    int threads;
    const drep_xfer *xfer;
    pthread_mutex_t *lock; /* of the report, which copies share; NULL without a report */
    int64_t nparts;        /* chunks that a box touches, below */

    /* Other selections, a batch at a time: pieces in grid order, where those of each chunk
     * begin, how many chunks. */
    struct cut_run *piece;
    int64_t *group;
    bool begun; /* something may have been changed */

    struct advance *advance; /* of the call, which asks whether it goes on; NULL: nobody does */

    struct part_source *from; /* source.h; NULL: elements are those of the caller's memory */
    struct given_parts {      /* pieces that were cut before, by chunk and place; NULL: none */
        struct cut_run *piece;
        int64_t n;
    } given;
    void *cutting;     /* of who cuts the selection and moves nothing */
    int64_t *left_out; /* a read: numbers of chunks that come another way, ascending */
    size_t nleft_out;

    /* From here on transfer_begin() clears nothing: it would take a tenth of an element's time.
     * `all` is set where `sel` leads to it. */
    struct drep_selection all;
    /* Chunked boxes: the chunks that the box touches, dimension by dimension: the first and
     * how many. */
    int64_t chunk0[DREP_MAX_RANK], chunks[DREP_MAX_RANK];
    bool apart[DREP_MAX_RANK]; /* no two selected indices fall into one chunk */
};

/* Number of threads: the transfer's wish, else the file's, else as many as there are processors.
 * Functions that are not thread-safe get one. */
int threads_of(const drep_dataset *ds, const drep_selection *sel, const drep_xfer *xfer);
/* Do n elements of the type in the file fill whole elements of memory's type, and are these inside
 * the buffer that the transfer names?  Where it names none, an element of memory is one of the
 * file, or several: no file decides how far memory is reached. */
int items_check(const drep_type *file, const drep_type *mem, int64_t n, const drep_xfer *xfer);
/* True if the transfer writes some members of each element and keeps the others. */
static inline bool writes_members(const struct transfer *t)
{
    return t->conv.ranges;
}
/* Moves the selected elements in one direction; the message of an error does not name the dataset.
 */
enum transfer_way { READING, WRITING, APPENDING };
int transfer_run(drep_dataset *ds, const drep_selection *sel, const drep_type *type, char *mem,
                 const drep_xfer *xfer, enum transfer_way way);
/* The same in steps: checks and a converter, for transfer_end(), which frees it (NULL: nothing);
 * then the elements of one layout. */
int transfer_begin(drep_dataset *ds, const drep_selection *sel, const drep_type *type, char *mem,
                   const drep_xfer *xfer, enum transfer_way way, struct transfer **out);
void transfer_end(struct transfer *t);
int transfer_layout(struct transfer *t);
/* Between these steps: false if there is nothing to move.  Members of memory's `type` that the
 * stored one lacks become zeros. */
bool transfer_moves(struct transfer *t, const drep_type *type);
/* Frees what a read has made of variable length in memory. */
void transfer_free_contents(const struct transfer *t);
/* Reads inside a call that reads; the message does not name the dataset. */
int dataset_read(drep_dataset *ds, const drep_selection *sel, const drep_type *type, void *buf,
                 const drep_xfer *xfer);
/* Writes inside an operation of the store.  appending: more elements are to come behind these. */
int dataset_write(drep_dataset *ds, const drep_selection *sel, const drep_type *type,
                  const void *buf, const drep_xfer *xfer, bool appending);
/* Moves n stored elements as they are, from number `at` of the row-major sequence on. */
int dataset_raw(drep_dataset *ds, int64_t at, int64_t n, void *buf, bool writing);
/* Like dataset_raw(), with those of a selection, which is a box. */
int dataset_raw_part(drep_dataset *ds, const struct drep_selection *sel, void *buf, int threads,
                     enum transfer_way way);
/* Like dataset_raw_part(), with a box of adjacent elements. */
int dataset_raw_box(drep_dataset *ds, const uint64_t *from, const uint64_t *len, void *buf,
                    int threads, enum transfer_way way);

#endif
