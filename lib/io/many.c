/* many.c - what all drivers share: several ranges read by one call, the message of a lock. */
/* SPDX-License-Identifier: MIT */
#include "io/io.h"

#include "base/error.h"

int io_read_many(struct io *io, const struct io_range *range, size_t n)
{
    int err = 0;

    if (io->ops->read_many)
        return io->ops->read_many(io, range, n);
    for (size_t i = 0; !err && i < n; i++)
        err = io->ops->read_at(io, range[i].buf, range[i].size, range[i].offset);
    return err;
}

int io_in_use(const struct io *io)
{
    return fail(DREP_ERR_FILE_IN_USE,
                "%s: file is in use by another writer (hints: drep_lock_wait=SECONDS waits for it, "
                "drep_lock=false takes no locks)",
                io->path);
}

int io_ranks_left(const struct io *io)
{
    return fail(
        DREP_ERR_FILE_IN_USE,
        "%s: file is in use by ranks of a parallel job whose rank 0 has ended or closed it; "
        "they may still write: end them, or wait (hint: drep_lock_wait=SECONDS)",
        io->path);
}
