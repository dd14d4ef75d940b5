/* hop.h - one URL that is asked: the one that was named, or one that a redirect leads to. */
/* SPDX-License-Identifier: MIT */
#ifndef REMOTE_HOP_H
#define REMOTE_HOP_H

#include "remote/say.h"
#include <stdbool.h>

struct hop {
    char *text;            /* with its query, without user part and fragment */
    char *shown;           /* for messages: also without its query */
    char *host;            /* lower case */
    char *user, *password; /* decoded, NULL: none */
    long port;
    bool https;
};

/* Parse an http or https URL; base: what a relative one is relative to, or NULL.  A URL that is
 * relative to another has no user part.  DREP_ERR_ARG, DREP_ERR_NOMEM. */
int hop_parse(struct hop *out, const char *text, const struct hop *base, struct why *why);
void hop_release(struct hop *hop);
/* Equal scheme, host and port. */
bool hop_same_origin(const struct hop *a, const struct hop *b);

#endif
