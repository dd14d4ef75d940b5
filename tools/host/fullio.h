/* fullio.h - reading and writing as many bytes as were asked for.
 *
 * read() and write() may stop before that, at a signal or where a pipe is full. */
/* SPDX-License-Identifier: MIT */
#ifndef TOOLS_HOST_FULLIO_H
#define TOOLS_HOST_FULLIO_H

#include <stddef.h>
#include <sys/types.h>

/* Reads until `size` bytes are there or the file ends; at: its offset, -1: where the descriptor
 * stands.  The bytes read, or -1 with errno. */
ssize_t full_read(int fd, void *buf, size_t size, off_t at);
/* Writes all of it.  0, or -1 with errno. */
int full_write(int fd, const void *buf, size_t size);

#endif
