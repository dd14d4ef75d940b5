/* reply.h - the head of an HTTP answer, as far as readers of ranges need it. */
/* SPDX-License-Identifier: MIT */
#ifndef REMOTE_REPLY_H
#define REMOTE_REPLY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define REPLY_HEAD_MAX ((size_t)64 << 10) /* bytes of all heads of one request */

struct reply {
    int status;
    size_t head; /* bytes of heads so far */
    bool tagged, dated, sized, ranged;
    bool encoded;    /* the body is compressed, whatever was asked for */
    char tag[256];   /* ETag, as it came; "W/..." is weak */
    char date[64];   /* Last-Modified */
    uint64_t length; /* Content-Length, if sized */
    /* Content-Range: bytes first-last/total, if ranged; total alone (first > last) with 416. */
    uint64_t first, last, total;
    long wait;        /* Retry-After, seconds; -1: none */
    char place[4096]; /* Location; "": none */
    char region[64];  /* x-amz-bucket-region */
};

void reply_init(struct reply *r);
/* Take one line of a head, with its end.  False: the heads are longer than REPLY_HEAD_MAX. */
bool reply_line(struct reply *r, const char *line, size_t size);
/* The error that a status of 300 or more means; missing: that of 404 and 410. */
int reply_error(int status, int missing);

#endif
