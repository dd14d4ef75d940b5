/* read.h - a file behind a URL, read by ranges. */
/* SPDX-License-Identifier: MIT */
#ifndef REMOTE_READ_H
#define REMOTE_READ_H

#include "remote/say.h"
#include <datarep.h>

/* Open a file; the driver's functions get *state.  Its version is pinned by its first bytes, which
 * are here when this returns. */
int remote_open(const char *url, int by_file, const drep_info *hints, drep_driver *driver,
                void **state, struct why *why);

#endif
