/* overlay.c - a file that cannot be written, with room for more bytes behind its end. */
/* SPDX-License-Identifier: MIT */
#include "txn/overlay.h"

#include "base/error.h"
#include "base/mem.h"
#include "format/block.h"
#include "space/extents.h"

static int overlay_read(struct io *io, void *buf, size_t size, uint64_t offset)
{
    struct overlay *o = (struct overlay *)io;

    if (offset >= o->end)
        return o->upper->ops->read_at(o->upper, buf, size, offset - o->end);
    return o->base->ops->read_at(o->base, buf, size, offset);
}

static int overlay_write(struct io *io, const void *buf, size_t size, uint64_t offset)
{
    struct overlay *o = (struct overlay *)io;

    if (offset < o->end)
        return fail(DREP_ERR_READ_ONLY, "%s: a damaged file is not written", io->path);
    return o->upper->ops->write_at(o->upper, buf, size, offset - o->end);
}

static int overlay_size(struct io *io, uint64_t *size)
{
    struct overlay *o = (struct overlay *)io;
    int err = o->upper->ops->size(o->upper, size);

    *size += err ? 0 : o->end;
    return err;
}

static int overlay_truncate(struct io *io, uint64_t size)
{
    struct overlay *o = (struct overlay *)io;

    return o->upper->ops->truncate(o->upper, size > o->end ? size - o->end : 0);
}

static int overlay_sync(struct io *io)
{
    (void)io;
    return 0;
}

static void overlay_close(struct io *io)
{
    struct overlay *o = (struct overlay *)io;

    o->base->ops->close(o->base);
    if (o->upper)
        o->upper->ops->close(o->upper);
    mem_free(io->path);
    mem_free(o);
}

static const struct io_ops overlay_ops = {.read_at = overlay_read,
                                          .write_at = overlay_write,
                                          .size = overlay_size,
                                          .truncate = overlay_truncate,
                                          .sync = overlay_sync,
                                          .close = overlay_close};

int overlay_new(struct io *base, struct io **out)
{
    struct overlay *o = mem_zalloc(1, sizeof(*o));
    int err = o ? 0 : DREP_ERR_NOMEM;

    if (err) {
        base->ops->close(base);
        return err;
    }
    o->io.ops = &overlay_ops;
    o->base = base;
    o->io.path = mem_strdup(base->path);
    err = o->io.path ? base->ops->size(base, &o->size) : DREP_ERR_NOMEM;
    o->end = round_up(o->size < FMT_SPACE_START ? FMT_SPACE_START : o->size, FMT_SUM_BLOCK);
    /* If no file can be made, use memory. */
    if (!err && (!base->ops->apart || base->ops->apart(base, &o->upper)))
        err = io_memory(NULL, 0, &o->upper);
    if (err) {
        overlay_close(&o->io);
        return err;
    }
    *out = &o->io;
    return 0;
}
