/* read_back.h - reading an exported file back. */
/* SPDX-License-Identifier: MIT */
#ifndef TOOLS_H5_READ_BACK_H
#define TOOLS_H5_READ_BACK_H

#include "tools/h5/job.h"

/* Compares the file that was written with the container.  user_block: of that size, in front. */
int verify_all(struct job *j, const void *user_block, size_t size);

#endif
