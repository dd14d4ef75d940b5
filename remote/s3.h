/* s3.h - buckets: which server has them, and with which keys it is asked.
 *
 * As other clients of S3 do it: hints first, then the environment, then the files of profiles. */
/* SPDX-License-Identifier: MIT */
#ifndef REMOTE_S3_H
#define REMOTE_S3_H

#include "remote/say.h"
#include <datarep.h>
#include <stdbool.h>

struct s3 {
    char *key, *secret, *session; /* NULL: none; without a key requests are not signed */
    char *region, *endpoint;      /* endpoint NULL: Amazon's of the region */
};

/* Read the settings.  DREP_ERR_NOMEM; DREP_ERR_ARG (a key without its secret). */
int s3_init(struct s3 *s3, const drep_info *hints, struct why *why);
void s3_release(struct s3 *s3);
/* Make the https URL of s3://BUCKET/KEY; the caller frees it.  Region NULL: that of the settings.
 * DREP_ERR_ARG, DREP_ERR_NOMEM. */
int s3_url(const struct s3 *s3, const char *url, const char *region, char **out, struct why *why);

#endif
