/* line.h - requests of many threads over few connections.
 *
 * Threads put their requests into one queue.  One of the waiting threads serves the queue for all,
 * until its own requests are done; then another one does.  So there is no thread of the module's
 * own, connections are kept, and no more requests than the hint allows are under way. */
/* SPDX-License-Identifier: MIT */
#ifndef REMOTE_LINE_H
#define REMOTE_LINE_H

#include "remote/request.h"
#include <pthread.h>

#define LINE_MOST 64 /* requests under way */

/* Requests that one call waits for. */
struct request_batch {
    size_t left;    /* requests that are not done */
    bool cancelled; /* nobody wants it any more */
    struct why why; /* the first failure: the others are ended */
};

struct line {
    struct site *site;
    CURLM *multi;
    pthread_mutex_t
        lock; /* of all that follows, of `batch` and, while somebody serves, of nothing else */
    pthread_cond_t turn;
    bool served;
    struct request *first, **end; /* that wait */
    struct request *running[LINE_MOST];
    size_t nrunning;
    unsigned cancelling; /* calls of line_cancel() */
    CURL *spare[LINE_MOST];
    size_t nspare;
};

/* line_release() also after an error; site must outlive it. */
int line_init(struct line *l, struct site *site, struct why *why);
void line_release(struct line *l);
/* Have n requests answered; 0, or the code of the first failure, which is in `why`.  After a
 * failure none of them runs any more.  Any number of threads may call this at once. */
int line_run(struct line *l, struct request *requests, size_t n, struct why *why);
/* Its two halves: put the requests into the queue and begin them, and wait for them.  Between the
 * two they go on when any thread serves.  Requests and batch must live until line_wait() returns,
 * which any number of threads may call, or line_cancel(), which ends what is left. */
void line_start(struct line *l, struct request *requests, size_t n, struct request_batch *batch);
int line_wait(struct line *l, struct request_batch *batch, struct why *why);
void line_cancel(struct line *l, struct request_batch *batch);

#endif
