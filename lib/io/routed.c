/* routed.c - bytes of a file through a driver that may decline a call.
 *
 * The driver serves what it can, for example from those threads only that its library allows; what
 * it declines goes to the file itself. */
/* SPDX-License-Identifier: MIT */
#include "io/io.h"

#include "base/error.h"
#include "base/mem.h"

struct routed {
    struct io io;
    struct io *base, *driver;
};

static int routed_read(struct io *io, void *buf, size_t size, uint64_t offset)
{
    const struct routed *r = (const struct routed *)io;
    int err = r->driver->ops->read_at(r->driver, buf, size, offset);

    return err == DREP_ERR_UNSUPPORTED_OPERATION ? r->base->ops->read_at(r->base, buf, size, offset)
                                                 : err;
}

static int routed_write(struct io *io, const void *buf, size_t size, uint64_t offset)
{
    const struct routed *r = (const struct routed *)io;
    int err = r->driver->ops->write_at(r->driver, buf, size, offset);

    return err == DREP_ERR_UNSUPPORTED_OPERATION
               ? r->base->ops->write_at(r->base, buf, size, offset)
               : err;
}

static void routed_close(struct io *io)
{
    struct routed *r = (struct routed *)io;

    r->driver->ops->close(r->driver);
    mem_free(r);
}

static const struct io_ops routed_ops = {
    .read_at = routed_read, .write_at = routed_write, .close = routed_close};

int io_routed(struct io *base, const drep_driver *driver, void *state, struct io **out)
{
    struct io *io;
    struct routed *r;
    int err = io_driver(driver, state, base->path, &io);

    if (err)
        return err;
    r = mem_zalloc(1, sizeof(*r));
    if (!r) {
        io->ops->close(io);
        return DREP_ERR_NOMEM;
    }
    r->driver = io;
    r->io.ops = &routed_ops;
    r->io.path = base->path;
    r->base = base;
    *out = &r->io;
    return 0;
}
