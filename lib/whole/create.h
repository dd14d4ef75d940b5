/* create.h - making files on bytes of any kind. */
/* SPDX-License-Identifier: MIT */
#ifndef API_CREATE_H
#define API_CREATE_H

#include "base/handles.h"
#include "io/io.h"

/* io belongs to the file from here on, also when this fails. */
int file_create_on(struct io *io, const char *datarep, const drep_info *info, drep_file **out);
/* Begins a file with a private store (txn/private.h) on the one that another process makes at the
 * path; the hint drep_uuid is given. */
int file_create_private(struct io *io, const char *path, const char *datarep, const drep_info *info,
                        drep_file **out);

#endif
