/* team.h - the ranks that share one container, and the patterns of their messages.
 *
 * A team is `size` ranks, each with a `struct team` of its own.  How a message travels is the
 * business of a transport (drep_transport): MPI, threads of one process, or a simulation.  All
 * that the engine uses is built on it here, once: agreement, broadcast, merge, gather, scatter,
 * reductions and sparse exchange.
 *
 * Every function below team_init() is collective: all ranks call the same ones in the same order,
 * and only team_agree() notices if they do not.  So a collective call of the library begins with
 * an agreement, and does nothing irreversible before it.
 *
 * A rank that waits longer than the team's timeout gives up.  It tells its neighbours in the tree,
 * who give up with the same message and pass it on.  A team that was given up is dead: each later
 * call gives the same error at once, and sends nothing.  Lack of memory amidst a pattern kills
 * the team, too, for the others cannot know.
 *
 * Ranks that are in different calls will not meet again: an agreement that finds this ends the team
 * on all of them, in order, so that no later call waits for a rank that has left. */
/* SPDX-License-Identifier: MIT */
#ifndef TEAM_TEAM_H
#define TEAM_TEAM_H

#include "base/buf.h"
#include "base/error.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct team {
    const struct drep_transport *transport; /* <datarep-team.h>; the caller's */
    void *ctx;                              /* its */
    int rank, size;
    int64_t timeout; /* in ns; 0: wait for ever */

    /* Private to lib/team. */
    int height;       /* of the tree */
    int pattern;      /* the running pattern ... */
    uint32_t epoch;   /* ... and its number */
    const char *call; /* the last agreement's, for messages */
    int dead;         /* the error with which the team was given up */
    bool apart;       /* ... in order: all ranks know that they are in different calls */
    struct fail_state why;
    struct drep_message **early; /* arrived before this rank was ready for them */
    size_t n_early, early_room;
};

/* The transport stays until team_release(). */
void team_init(struct team *t, const struct drep_transport *transport, void *ctx);
/* Free what is kept of messages; the transport is the caller's. */
void team_release(struct team *t);
/* Give up on behalf of the caller, who set the message: 0 does nothing.  Returns err. */
int team_kill(struct team *t, int err);
/* The error of a dead team, with its message; 0: it lives. */
int team_dead(const struct team *t);

/* ---------------------------------------------------------------- agreement */

enum { TEAM_ARGS = 12 };

struct team_arg {
    const char *name;
    uint64_t hash;
};

/* The part of one rank in an agreement.  `name` is a constant string of less than 32 bytes.  Ranks
 * in the same call give the same number of arguments, with the same names. */
struct team_call {
    const char *name;
    int err; /* the rank's error so far, whose message is fail_text() */
    int args;
    struct team_arg arg[TEAM_ARGS];
};

/* 0 on all ranks if all are in the same call, with equal arguments and without an error.  Else one
 * error with one message on all, the first of these that applies:
 *     DREP_ERR_NOT_SAME   "rank 3 is in drep_close, ranks 0-2 in drep_commit", and then the next;
 *                         the team is dead from here on
 *     the error of the lowest rank that has one, "rank 2: " before its message
 *     DREP_ERR_NOT_SAME   "drep_mpi_open: rank 3 and ranks 0-2 differ in argument \"path\""
 * The team lives on after the others. */
int team_agree(struct team *t, const struct team_call *call);

/* What all ranks have said, rank after rank: that of r from at[r] to at[r + 1]. */
struct team_said {
    struct buf all;
    uint64_t *at;
};
void team_said_release(struct team_said *said);

/* Rank 0's reply to what all have said.  0, or a code with its message. */
typedef int team_reply_fn(void *ctx, const struct team_said *said, struct buf *reply);
/* An agreement in which each rank says `mine`, and all get the reply of rank 0, whose error is one
 * of the agreement: it costs no more messages.  Rank 0 has `said` afterwards, which is empty
 * before on all ranks; so is `reply`. */
int team_meet(struct team *t, const struct team_call *call, const struct buf *mine,
              team_reply_fn *fn, void *ctx, struct team_said *said, struct buf *reply);

/* ------------------------------------------------------------ along the tree */

/* Rank 0's bytes replace those of all others. */
int team_bcast(struct team *t, struct buf *b);

/* Combine a later rank's bytes into `mine`.  0, or a code with its message. */
typedef int team_merge_fn(void *ctx, struct buf *mine, const void *theirs, size_t size);
/* Merge the bytes of all ranks, in the order of ranks: a rank merges those of its subtree into
 * `mine` and passes them on, so nothing is gathered whole.  Rank 0 has the result.  An error, `err`
 * of the rank before it or one of `merge`, is given to that rank and those between it and rank 0,
 * and leaves the team alive: rank 0 tells the others.  `mine` of ranks other than 0 is undefined
 * afterwards. */
int team_merge(struct team *t, int err, struct buf *mine, team_merge_fn *merge, void *ctx);

/* Rank 0 gets the bytes of all ranks, rank after rank; offset[r] is where those of r begin,
 * offset[size] their end.  Other ranks may pass NULL for `all` and `offset`. */
int team_gather(struct team *t, const void *p, size_t size, struct buf *all, uint64_t *offset);
/* The inverse: rank 0 gives `all` and offset[size + 1], every rank gets its part. */
int team_scatter(struct team *t, const uint8_t *all, const uint64_t *offset, struct buf *part);

enum team_op { TEAM_MAX, TEAM_MIN, TEAM_SUM };
/* Reduce n numbers one by one; all ranks get the results.  Sums wrap. */
int team_reduce(struct team *t, enum team_op op, uint64_t *v, size_t n);
/* True on all ranks if all gave the same hash. */
int team_same(struct team *t, uint64_t hash, bool *same);

/* ---------------------------------------------------------- sparse exchange */

struct team_parcel {
    int to;
    size_t size;
    const void *p;
};

/* The parcels that a rank got, by sender and then in the order of sending. */
struct team_inbox {
    struct team_arrival {
        int from;
        size_t size;
        const uint8_t *p;             /* aligned for any number */
        struct drep_message *message; /* owns the bytes */
        size_t turn;                  /* of arrival */
    } * in;
    size_t n, room;
};

/* Each rank sends to some; nobody knows from how many.  Parcels are acknowledged, a rank whose
 * parcels are all acknowledged reports to the tree, and rank 0 ends the exchange: messages are two
 * a parcel and two a rank.  A parcel to oneself is copied and sends nothing.  `in` is empty
 * before; team_inbox_release() frees it. */
int team_exchange(struct team *t, const struct team_parcel *out, size_t n, struct team_inbox *in);
void team_inbox_release(struct team_inbox *in);

#endif
