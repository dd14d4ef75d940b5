/* thread_team.h - a team of threads in one process, whose messages fail when told to.
 *
 * Each rank has a queue; a message is handed over, not copied.  What goes wrong is set per rank
 * before the start and happens at its n-th send.
 *
 * Nobody sits out a timeout: when every rank waits, time jumps to the earliest deadline.  So a slow
 * machine gives no timeouts, long ones cost nothing, and ranks that wait for ever with nobody
 * left to send are seen: `deadlock`. */
/* SPDX-License-Identifier: MIT */
#ifndef TESTS_UNIT_THREAD_TEAM_H
#define TESTS_UNIT_THREAD_TEAM_H

#include "team/team.h"

#include <datarep-team.h>
#include <pthread.h>

enum thread_fault {
    RANK_WELL,
    RANK_DIES,  /* from the n-th send on it is gone: its thread ends its calls with an error */
    RANK_STOPS, /* before the n-th send it sleeps for longer than the timeout */
    SEND_FAILS, /* the n-th send gives DREP_ERR_IO */
    NO_MEMORY   /* the n-th send gives DREP_ERR_NOMEM */
};

struct thread_rank {
    enum thread_fault fault;
    int64_t at;       /* the send at which it happens */
    int max_delay_us; /* each send is delayed by a random time up to this */
    uint64_t seed;
    /* Results. */
    int64_t sends, bytes;
    bool dead;
    /* Private. */
    struct thread_team *all;
    int number;
    bool waits, asleep;
    int64_t deadline;
    pthread_cond_t wake;
    struct thread_letter *head, **tail;
};

struct thread_team {
    int size;
    int64_t timeout;
    struct thread_rank *rank;
    bool deadlock; /* ranks waited for ever; they were given DREP_ERR_FAILED */
    pthread_mutex_t lock;
    int busy; /* ranks that run */
};

/* What carries a rank's messages; its ctx is &all->rank[rank]. */
drep_transport thread_transport(const struct thread_team *all, int rank);

/* The work of one rank. */
typedef void thread_body(struct team *t, void *ctx);

/* `size` healthy ranks; then set faults, and run the body on all ranks until all have ended. */
void thread_team_init(struct thread_team *all, int size, int64_t timeout);
void thread_team_run(struct thread_team *all, thread_body *body, void *ctx);
void thread_team_release(struct thread_team *all);

#endif
