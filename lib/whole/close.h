/* close.h - the end of a handle that may have open datasets. */
/* SPDX-License-Identifier: MIT */
#ifndef WHOLE_CLOSE_H
#define WHOLE_CLOSE_H

#include "file/file.h"

/* Frees the handle and all that calls keep in it, without committing: rows that wait, open
 * datasets, the files behind its links. */
void file_end(drep_file *f);

#endif
