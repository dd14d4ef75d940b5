/* publish.h - the commit of one process: header and store. */
/* SPDX-License-Identifier: MIT */
#ifndef WHOLE_PUBLISH_H
#define WHOLE_PUBLISH_H

#include "file/file.h"

/* The caller has begun a change (change_begin()). */
int file_commit(drep_file *f);

#endif
