/* request.h - one HTTP request, until it is answered: hops, retries, checks.
 *
 * A request for bytes names a range and where its bytes go.  Only an answer with exactly these
 * bytes, of the version that was pinned, reaches the buffers' owner as success.  What follows a
 * failure is decided here: another hop, another try after a pause, or an error. */
/* SPDX-License-Identifier: MIT */
#ifndef REMOTE_REQUEST_H
#define REMOTE_REQUEST_H

#include "remote/reply.h"
#include "remote/site.h"
#include <datarep.h>

#define REQUEST_HOPS 5 /* redirects in a row */

/* The version of the file that every answer must be of. */
struct version_pin {
    bool tagged, dated;
    char tag[256], date[64];
    uint64_t size;
};

/* What a request is for. */
enum aim {
    AIM_FIRST, /* the first bytes; says the size and the version */
    AIM_BYTES, /* bytes of the pinned version */
    AIM_SEND   /* whatever `method` says; the body of the answer is collected */
};

struct request_batch;
struct request {
    struct request *next;
    struct request_batch *batch; /* line.h */
    enum aim aim;
    const struct version_pin *pin;
    /* Bytes: the range, and the buffers that get what of it they want, in ascending order. */
    uint64_t first, size;
    const drep_range *range;
    size_t nrange;
    /* AIM_SEND: what is sent.  NULL: GET. */
    const char *method, *query;
    const void *body;
    size_t body_size;
    bool excl;  /* only if nothing is there */
    bool spare; /* nobody waits for it yet: one that fails is not tried again */
    /* AIM_FIRST and AIM_SEND: the body, up to `room` bytes or, where `grows`, up to grow_max. */
    uint8_t *sink;
    size_t sunk, room;
    bool grows;
    uint64_t grow_max;

    /* While it runs. */
    struct hop hop;
    bool hopped, from_start;
    int hops, tries;
    uint64_t got; /* bytes of the range that have arrived, in order */
    size_t filling;
    uint64_t before; /* `got` when this try began */
    double not_before;
    struct reply reply;
    bool judged;   /* the head was looked at */
    char said[64]; /* the code that the body of an error gives, or "" */
    char front[512];
    size_t nfront;
    CURL *easy;
    struct curl_slist *headers;
    char curl_error[CURL_ERROR_SIZE];
    struct why why;
};

/* Prepare a handle for the next try. */
int request_begin(struct request *r, struct site *s, CURL *easy);
/* What became of a try. */
enum outcome { REQUEST_DONE, REQUEST_FAILED, REQUEST_AGAIN };
enum outcome request_end(struct request *r, struct site *s, CURLcode code, double now);
/* Frees what a request has while it runs; not the buffers of its caller, nor `sink`. */
void request_release(struct request *r);

#endif
