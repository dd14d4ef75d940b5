/* site.h - what a file behind a URL is asked with: the URL that was named, limits, credentials.
 *
 * Credentials belong to the origin that the user named.  No other origin gets them, wherever a
 * redirect leads, and no URL that a file names. */
/* SPDX-License-Identifier: MIT */
#ifndef REMOTE_SITE_H
#define REMOTE_SITE_H

#include "remote/hop.h"
#include "remote/s3.h"
#include <curl/curl.h>
#include <stdatomic.h>
#include <stdint.h>

struct site {
    char *url;        /* as it was named */
    struct hop named; /* the http or https URL that this is */
    struct hop
        moved; /* where redirects led, text NULL: nowhere; line.c says which thread changes it */
    bool s3;   /* of a bucket; keys are in `bucket` */
    struct s3 bucket;
    char *token;     /* for "Authorization: Bearer", NULL: none */
    bool by_file;    /* a file named it, not the user */
    bool private_ok; /* an address of `named` may be private */
    /* `named` is at a private address itself, so redirects to others are no way in. */
    atomic_bool private_home;
    atomic_bool blocked; /* a connection to a private address was refused */
    bool secure; /* the process has rights that its user lacks: nothing of the environment counts */
    bool proxied; /* the environment names a proxy */
    char *ca;     /* file of certificates, NULL: the system's */
    long connect_ms, stall_s;
    int retries;
    unsigned requests; /* under way at once */
    bool whole;
    uint64_t whole_max;
};

/* Take a URL and the hints that are in force.  site_release() also after an error. */
int site_init(struct site *s, const char *url, bool by_file, const drep_info *hints,
              struct why *why);
void site_release(struct site *s);
/* A bucket is in another region than was assumed: name its server there. */
int site_move(struct site *s, const char *region, struct why *why);
/* Prepare a handle of libcurl for a request to `hop`, which gets `headers` and more of them; body:
 * the request has one.  DREP_ERR_NOMEM. */
int site_prepare(struct site *s, const struct hop *hop, CURL *easy, struct curl_slist **headers,
                 bool body, struct why *why);

#endif
