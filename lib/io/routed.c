/* routed.c - a file whose payload has another way, which not every thread may take.
 *
 * Ranks under MPI reach payload by MPI-IO, and MPI allows that to some threads only.  The functions
 * of the other way say so, and the bytes are then read or written as those of any file. */
/* SPDX-License-Identifier: MIT */
#include "io/io.h"

#include "base/error.h"
#include "base/mem.h"

struct routed {
    struct io io;
    struct io *base, *way;
};

static int routed_read(struct io *io, void *buf, size_t size, uint64_t offset)
{
    const struct routed *r = (const struct routed *)io;
    int err = r->way->ops->read_at(r->way, buf, size, offset);

    return err == DREP_ERR_UNSUPPORTED_OPERATION ? r->base->ops->read_at(r->base, buf, size, offset)
                                                 : err;
}

static int routed_write(struct io *io, const void *buf, size_t size, uint64_t offset)
{
    const struct routed *r = (const struct routed *)io;
    int err = r->way->ops->write_at(r->way, buf, size, offset);

    return err == DREP_ERR_UNSUPPORTED_OPERATION
               ? r->base->ops->write_at(r->base, buf, size, offset)
               : err;
}

static void routed_close(struct io *io)
{
    struct routed *r = (struct routed *)io;

    r->way->ops->close(r->way);
    mem_free(r);
}

static const struct io_ops routed_ops = {
    .read_at = routed_read, .write_at = routed_write, .close = routed_close};

int io_routed(struct io *base, const drep_driver *driver, void *state, struct io **out)
{
    struct routed *r = mem_zalloc(1, sizeof(*r));
    int err = r ? io_driver(driver, state, base->path, &r->way) : fail_nomem();

    if (err) {
        mem_free(r);
        return err;
    }
    r->io.ops = &routed_ops;
    r->io.path = base->path;
    r->base = base;
    *out = &r->io;
    return 0;
}
