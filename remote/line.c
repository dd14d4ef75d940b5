/* line.c - requests of many threads over few connections. */
/* SPDX-License-Identifier: MIT */
#include "remote/line.h"
#include <string.h>
#include <time.h>

static double clock_now(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

int line_init(struct line *l, struct site *site, struct why *why)
{
    memset(l, 0, sizeof *l);
    l->site = site;
    l->end = &l->first;
    pthread_mutex_init(&l->lock, NULL);
    pthread_cond_init(&l->turn, NULL);
    l->multi = curl_multi_init();
    if (!l->multi)
        return why_set(why, DREP_ERR_NOMEM, "out of memory");
    curl_multi_setopt(l->multi, CURLMOPT_PIPELINING, (long)CURLPIPE_MULTIPLEX);
    curl_multi_setopt(l->multi, CURLMOPT_MAXCONNECTS, (long)site->requests);
    curl_multi_setopt(l->multi, CURLMOPT_MAX_TOTAL_CONNECTIONS, (long)site->requests);
    return 0;
}

void line_release(struct line *l)
{
    while (l->nspare > 0)
        curl_easy_cleanup(l->spare[--l->nspare]);
    if (l->multi)
        curl_multi_cleanup(l->multi);
    pthread_cond_destroy(&l->turn);
    pthread_mutex_destroy(&l->lock);
}

static void queue_add(struct line *l, struct request *r)
{
    r->next = NULL;
    *l->end = r;
    l->end = &r->next;
}

/* ---- the thread that serves; all functions hold the lock ---- */

static void take_off(struct line *l, size_t i)
{
    struct request *r = l->running[i];

    curl_multi_remove_handle(l->multi, r->easy);
    curl_easy_reset(r->easy); /* it refers to what the request has */
    l->spare[l->nspare++] = r->easy;
    r->easy = NULL;
    l->running[i] = l->running[--l->nrunning];
}

/* A request is done, or its batch has failed. */
static void leave_batch(struct request *r)
{
    request_release(r);
    r->batch->left--;
}

/* End all requests of a batch that failed. */
static void end_batch(struct line *l, const struct request_batch *b)
{
    struct request **at = &l->first;

    for (size_t i = l->nrunning; i-- > 0;) {
        struct request *r = l->running[i];

        if (r->batch == b) {
            take_off(l, i);
            leave_batch(r);
        }
    }
    while (*at) {
        struct request *r = *at;

        if (r->batch == b) {
            *at = r->next;
            leave_batch(r);
        } else {
            at = &r->next;
        }
    }
    l->end = at;
}

static void fail_batch(struct line *l, struct request *r)
{
    struct request_batch *b = r->batch;

    if (!b->why.err)
        b->why = r->why;
    leave_batch(r);
    end_batch(l, b);
}

/* Begin a request; false: it failed. */
static bool line_begin(struct line *l, struct request *r)
{
    CURL *easy = l->nspare > 0 ? l->spare[--l->nspare] : curl_easy_init();

    if (!easy || request_begin(r, l->site, easy) || curl_multi_add_handle(l->multi, easy)) {
        why_set(&r->why, DREP_ERR_NOMEM, "out of memory");
        if (easy) {
            curl_easy_reset(easy);
            l->spare[l->nspare++] = easy;
        }
        return false;
    }
    l->running[l->nrunning++] = r;
    return true;
}

/* Begin what may begin; gives the milliseconds until the next one may. */
static int begin_waiting(struct line *l)
{
    struct request **at = &l->first, *r;
    double now = clock_now(), next = now + 1;

    while ((r = *at) && l->nrunning < l->site->requests) {
        if (r->not_before > now) {
            next = r->not_before < next ? r->not_before : next;
            at = &r->next;
            continue;
        }
        *at = r->next;
        if (!*at)
            l->end = at;
        if (!line_begin(l, r)) {
            fail_batch(l, r);
            at = &l->first; /* others may have left */
        }
    }
    return (int)((next - now) * 1000) + 1;
}

/* End the batches that are to be cancelled; false: there are none. */
static bool end_cancelled(struct line *l)
{
    bool any = l->cancelling > 0;

    for (size_t i = l->nrunning; any && i-- > 0;) {
        if (l->running[i]->batch->cancelled) {
            end_batch(l, l->running[i]->batch);
            i = l->nrunning; /* others have moved */
        }
    }
    for (struct request *r = any ? l->first : NULL; r;) {
        struct request *next = r->next;

        if (r->batch->cancelled) {
            end_batch(l, r->batch);
            next = l->first;
        }
        r = next;
    }
    return any;
}

static void line_end(struct line *l, struct request *r, CURLcode code)
{
    size_t i = 0;
    enum outcome outcome;

    while (l->running[i] != r)
        i++;
    outcome = request_end(r, l->site, code, clock_now());
    take_off(l, i);
    if (outcome == REQUEST_AGAIN)
        queue_add(l, r);
    else if (outcome == REQUEST_FAILED)
        fail_batch(l, r);
    else
        leave_batch(r);
}

/* Serve the queue until a batch is done.  The lock is free while libcurl works and waits. */
static void serve_queue(struct line *l, const struct request_batch *own)
{
    CURLMsg *m;
    int n;

    while (own->left > 0) {
        int pause = begin_waiting(l);

        if (own->left == 0)
            break;
        pthread_mutex_unlock(&l->lock);
        curl_multi_perform(l->multi, &n);
        pthread_mutex_lock(&l->lock);
        pause = l->first && l->nrunning < l->site->requests ? pause : 1000;
        for (bool any = false;; any = true) {
            struct request *r = NULL;

            m = curl_multi_info_read(l->multi, &n);
            if (!m) {
                pause = any ? 0 : pause;
                break;
            }
            if (m->msg == CURLMSG_DONE) {
                CURLcode code = m->data.result;

                curl_easy_getinfo(m->easy_handle, CURLINFO_PRIVATE, (char **)&r);
                line_end(l, r, code);
            }
        }
        if (end_cancelled(l))
            pause = 0;
        if (own->left > 0 && pause > 0) {
            pthread_mutex_unlock(&l->lock);
            curl_multi_poll(l->multi, NULL, 0, pause, NULL);
            pthread_mutex_lock(&l->lock);
        } else {
            pthread_cond_broadcast(&l->turn); /* batches of others may be done */
        }
    }
}

/* Become the thread that serves; false: another one did, and has done something since. */
static bool take_turn(struct line *l)
{
    if (l->served) {
        pthread_cond_wait(&l->turn, &l->lock);
        return false;
    }
    l->served = true;
    return true;
}

static void end_turn(struct line *l)
{
    l->served = false;
    pthread_cond_broadcast(&l->turn);
}

void line_start(struct line *l, struct request *requests, size_t n, struct request_batch *batch)
{
    int running;

    pthread_mutex_lock(&l->lock);
    *batch = (struct request_batch){.left = n};
    for (size_t i = 0; i < n; i++) {
        requests[i].batch = batch;
        queue_add(l, &requests[i]);
    }
    if (l->served) {
        curl_multi_wakeup(l->multi);
    } else { /* so that they are under way when this returns */
        l->served = true;
        begin_waiting(l);
        pthread_mutex_unlock(&l->lock);
        curl_multi_perform(l->multi, &running);
        pthread_mutex_lock(&l->lock);
        end_turn(l);
    }
    pthread_mutex_unlock(&l->lock);
}

int line_wait(struct line *l, struct request_batch *batch, struct why *why)
{
    pthread_mutex_lock(&l->lock);
    while (batch->left > 0) {
        if (take_turn(l)) {
            serve_queue(l, batch);
            end_turn(l);
        }
    }
    if (batch->why.err)
        *why = batch->why;
    pthread_mutex_unlock(&l->lock);
    return batch->why.err;
}

/* Whoever serves ends the batch at once: its own may take long. */
void line_cancel(struct line *l, struct request_batch *batch)
{
    pthread_mutex_lock(&l->lock);
    batch->cancelled = true;
    l->cancelling++;
    while (batch->left > 0 && l->served) {
        curl_multi_wakeup(l->multi);
        pthread_cond_wait(&l->turn, &l->lock);
    }
    if (batch->left > 0)
        end_batch(l, batch);
    l->cancelling--;
    pthread_mutex_unlock(&l->lock);
}

int line_run(struct line *l, struct request *requests, size_t n, struct why *why)
{
    struct request_batch batch;

    line_start(l, requests, n, &batch);
    return line_wait(l, &batch, why);
}
