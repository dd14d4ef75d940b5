/* plan.h - which requests fetch a list of ranges. */
/* SPDX-License-Identifier: MIT */
#ifndef REMOTE_PLAN_H
#define REMOTE_PLAN_H

#include <datarep.h>

#define PLAN_GAP                                                                                 \
    ((uint64_t)256 << 10)             /* a gap of fewer bytes may be fetched with its neighbours \
                                       */
#define PLAN_PART ((uint64_t)8 << 20) /* a request has so many bytes at most */

/* One request: bytes of the file, and the ranges that want some of them. */
struct part {
    uint64_t first, size;
    const drep_range *range;
    size_t nrange;
};

/* Plan for n ranges, which ascend, do not overlap and are not empty.  Small gaps are fetched, as
 * long as they are a quarter of what is wanted, or 256 KiB; long ranges are cut, so that several
 * connections share them.  *out is the caller's to free.  DREP_ERR_NOMEM, without a message. */
int plan_parts(const drep_range *range, size_t n, struct part **out, size_t *nparts);

#endif
