/* windows.h - a collective write in steps, so that what travels and what waits is bounded.
 *
 * A window is the shares of some chunks, which follow each other as rank 0's store asks for them:
 * in the order of the grid; of filtered chunks and of those with heaps first all that are written
 * whole.  It ends before a rank would send, or get, more than cb_buffer_size bytes of elements, and
 * among filtered chunks after drep_mpi_window bytes of the grid; but it has one chunk at least.
 * The store makes the calls that it would make without windows, and gets the next one when it asks
 * for a chunk that is not here yet (remote.h): so the file does not depend on them.  What single
 * ranks have written is a call of the store for each window.
 *
 * Of many points, and of several choices of members, chunks come more than once (TOGETHER_PARTS):
 * they are one window, and so is a compact dataset, which has 64 KiB at most. */
/* SPDX-License-Identifier: MIT */
#ifndef PAR_WINDOWS_H
#define PAR_WINDOWS_H

#include "par/shares.h"

struct windows {
    struct team *team;
    const drep_dataset *ds;
    struct shares *shares;            /* in the order of windows */
    bool several;                     /* there may be more than one */
    const struct byte_ranges *ranges; /* members that this rank writes, or NULL */
    uint64_t most;                    /* bytes that a rank sends or gets in one */
    uint64_t chunks;                  /* of the grid in one; 0: any number */
    uint64_t end;                     /* behind the last chunk of all ranks */
    size_t at;                        /* the first share that was not sent yet */
    struct due *due;                  /* what others will send to this rank, in that order */
    size_t ndue, due_at;
    int64_t *part; /* rank 0: the chunks that are written in part, ascending */
    size_t nparts;
    struct shares now; /* the window: a part of `shares`, not to be released */
    bool last;
};

/* Collective, once owners are known: sorts the shares.  patches: some chunks are patched by their
 * owners. */
int windows_begin(struct windows *w, struct team *team, const struct transfer *t, struct shares *s,
                  enum together how, bool patches);
/* Collective: the next one. */
int windows_next(struct windows *w);
void windows_release(struct windows *w);

#endif
