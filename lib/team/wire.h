/* wire.h - what the patterns of lib/team share: the tree, frames and waits.
 *
 * The tree is binomial.  The parent of a rank is the rank without its lowest set bit; the subtree
 * of a child r + 2^k is r + 2^k to r + 2^(k+1) - 1.  So subtrees are ranges of ranks, and a rank
 * that takes its children in ascending order meets the ranks in ascending order.
 *
 * A frame is a head of 16 bytes (epoch, pattern, kind, a note of the pattern) and a body.  Frames
 * of a later pattern wait in t->early until this rank gets there. */
/* SPDX-License-Identifier: MIT */
#ifndef TEAM_WIRE_H
#define TEAM_WIRE_H

#include "team/team.h"
#include "format/byteorder.h"

#include <datarep-team.h>

enum team_pattern {
    TEAM_AGREE = 1,
    TEAM_BCAST,
    TEAM_MERGE,
    TEAM_GATHER,
    TEAM_SCATTER,
    TEAM_EXCHANGE
};
enum team_kind { FRAME_UP = 1, FRAME_DOWN, FRAME_PARCEL, FRAME_ACK, FRAME_ABORT };
enum { FRAME_HEAD = 16 };

static inline const uint8_t *frame_body(const struct drep_message *m)
{
    return m->bytes + FRAME_HEAD;
}

static inline size_t frame_size(const struct drep_message *m)
{
    return m->size - FRAME_HEAD;
}

static inline unsigned frame_kind(const struct drep_message *m)
{
    return load_u16(m->bytes + 6);
}

static inline uint64_t frame_note(const struct drep_message *m)
{
    return load_u64(m->bytes + 8);
}

/* The error that a frame reports: its note is the code, its body the message.  0 if none. */
int frame_error(const struct drep_message *m);
/* True if the error says that ranks are in different calls. */
static inline bool frame_apart(const struct drep_message *m)
{
    return frame_note(m) >> 32 != 0;
}

/* Begin a pattern: its number, or the error of a dead team. */
int wire_begin(struct team *t, enum team_pattern pattern);

/* Send a frame of the running pattern.  On failure the team is dead. */
int wire_send(struct team *t, int to, enum team_kind kind, uint64_t note, const void *p,
              size_t size);
/* Before this rank computes while others wait for what it sent: let the transport see it off, for
 * at most a second. */
int wire_flush(struct team *t);
/* Send an error with its message, or 0 without one.  apart: it ends the team, see frame_apart(). */
int wire_send_error(struct team *t, int to, enum team_kind kind, int err, bool apart);

/* Take the next frame of a kind in `kinds` (bits 1 << kind) of rank `from`, or of any if from is
 * negative; the caller frees it.  `blame` is the rank that a give-up names, `patience` how long
 * to wait, in parts of 1,024 of the timeout.  On failure the team is dead. */
int wire_recv(struct team *t, int from, unsigned kinds, int blame, int64_t patience,
              struct drep_message **m);
/* Frame `kind` of a child or of the parent, which gets the patience of its place: who waits for a
 * deeper rank gives up earlier, so that messages name the rank that is absent. */
int wire_from_child(struct team *t, int child, struct drep_message **m);
int wire_from_parent(struct team *t, struct drep_message **m);
int64_t wire_patience_up(const struct team *t, int child);
int64_t wire_patience_down(const struct team *t);

/* Send bytes of the running pattern to all children, and see them off. */
int wire_pass_down(struct team *t, const void *p, size_t size);

/* Bytes of the ranks of a subtree, rank after rank, and their sizes; both are sent as one.  Begin
 * with this rank's, */
int gather_own(struct team *t, const void *p, size_t size, struct buf *sizes, struct buf *bytes);
/* append those that child number k has sent, */
int gather_take(struct team *t, int k, const uint8_t *p, size_t size, struct buf *sizes,
                struct buf *bytes);
/* and on rank 0 make offsets of the sizes.  On failure the team is dead. */
void gathered(const struct team *t, const struct buf *sizes, uint64_t *offset);

static inline int tree_parent(int rank)
{
    return rank & (rank - 1);
}

/* The child number k (from 0) of a rank, or -1 if there are no more. */
static inline int tree_child(const struct team *t, int k)
{
    int64_t step = (int64_t)1 << k;

    if ((t->rank && step >= (t->rank & -t->rank)) || step >= t->size - t->rank)
        return -1;
    return t->rank + (int)step;
}

/* The first rank behind the subtree of child number k. */
static inline int tree_end(const struct team *t, int k)
{
    int64_t end = (int64_t)t->rank + ((int64_t)2 << k);

    return end < t->size ? (int)end : t->size;
}

#endif
