/* npy_out.h - a dataset as the bytes of a .npy file, as they are asked for. */
/* SPDX-License-Identifier: MIT */
#ifndef TOOLS_FLAT_NPY_OUT_H
#define TOOLS_FLAT_NPY_OUT_H

#include "tools/flat/outlet.h"
#include <sys/types.h>

struct npy_out;
/* OUTLET_NONE: NumPy has no dtype for it. */
int npy_out_open(struct npy_out **out, const struct extract *extract);
/* The next bytes, 0 at the end, -1 with an exit code in *status after saying what is wrong. */
ssize_t npy_out_read(struct npy_out *n, void *buf, size_t size, int *status);
/* Gives how many values were rounded. */
int64_t npy_out_close(struct npy_out *n);

#endif
