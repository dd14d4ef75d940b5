/* upload.h - a file sent to a URL, in order and once: PUT, or S3's multipart upload. */
/* SPDX-License-Identifier: MIT */
#ifndef REMOTE_UPLOAD_H
#define REMOTE_UPLOAD_H

#include "remote/say.h"
#include <datarep.h>

/* Begin an upload.  The driver's write_at() takes bytes in order, its sync() ends the file: it is
 * there when that returns, and not before.  A close without sync() leaves nothing.  excl: what is
 * there already is not replaced (DREP_ERR_FILE_EXISTS). */
int upload_open(const char *url, int excl, const drep_info *hints, drep_driver *driver,
                void **state, struct why *why);

#endif
