/* threads.h - threads that work through a list together. */
/* SPDX-License-Identifier: MIT */
#ifndef TOOLS_H5_THREADS_H
#define TOOLS_H5_THREADS_H

#include <stddef.h>

/* Threads beside the caller's that take items of a list.  fn is told which
 * of them it runs in, from 0. */
typedef void threads_fn(void *ctx, int thread, size_t i);
struct threads *threads_new(int threads); /* 0: as many as processors; NULL without memory */
int threads_size(const struct threads *c);
void threads_run(struct threads *c, size_t n, threads_fn *fn, void *ctx);
void threads_free(struct threads *c);

#endif
