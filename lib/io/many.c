/* many.c - several ranges read by one call. */
/* SPDX-License-Identifier: MIT */
#include "io/io.h"

int io_read_many(struct io *io, const drep_range *range, size_t n)
{
    int err = 0;

    if (io->ops->read_many)
        return io->ops->read_many(io, range, n);
    for (size_t i = 0; !err && i < n; i++)
        err = io->ops->read_at(io, range[i].buf, range[i].size, range[i].offset);
    return err;
}
