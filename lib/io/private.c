/* private.c - a file that is read, and a nameless file for what is written.
 *
 * A store on it works as a writer (txn/private.h), and the file does not change: the store
 * allocates from IO_PRIVATE on, an offset that no file has, and bytes there are in the nameless
 * file. */
/* SPDX-License-Identifier: MIT */
#include "io/io.h"

#include "base/error.h"
#include "base/mem.h"

#include <pthread.h>

struct io_private {
    struct io io;
    struct io *base;
    pthread_mutex_t lock; /* of `apart` while it is made */
    struct io *apart;     /* the nameless file; NULL: nobody has needed it yet */
};

/* Get the nameless file, made at the first use: small changes stay in the tree's memory and need
 * none.  Many threads may read at once. */
static int own_file(struct io_private *s, struct io **out)
{
    int err = 0;

    pthread_mutex_lock(&s->lock);
    if (!s->apart)
        err = s->base->ops->apart ? s->base->ops->apart(s->base, &s->apart)
                                  : io_memory(NULL, 0, &s->apart);
    pthread_mutex_unlock(&s->lock);
    *out = s->apart;
    return err;
}

static int private_read(struct io *io, void *buf, size_t size, uint64_t offset)
{
    struct io_private *s = (struct io_private *)io;
    struct io *own;
    int err;

    if (offset < IO_PRIVATE)
        return s->base->ops->read_at(s->base, buf, size, offset);
    err = own_file(s, &own);
    return err ? err : own->ops->read_at(own, buf, size, offset - IO_PRIVATE);
}

static int private_write(struct io *io, const void *buf, size_t size, uint64_t offset)
{
    struct io_private *s = (struct io_private *)io;
    struct io *own;
    int err;

    if (offset < IO_PRIVATE)
        return fail_byte(DREP_ERR_UNSUPPORTED_OPERATION, offset,
                         "%s: byte %llu belongs to the writer of the file", io->path,
                         (unsigned long long)offset);
    err = own_file(s, &own);
    return err ? err : own->ops->write_at(own, buf, size, offset - IO_PRIVATE);
}

static int private_size(struct io *io, uint64_t *size)
{
    struct io_private *s = (struct io_private *)io;

    return s->base->ops->size(s->base, size);
}

/* The size of the file is the writer's business. */
static int private_truncate(struct io *io, uint64_t size)
{
    (void)io;
    (void)size;
    return 0;
}

/* Make durable what the holder of io_private_base() has written; the nameless file needs no sync.
 */
static int private_sync(struct io *io)
{
    struct io_private *s = (struct io_private *)io;

    return s->base->ops->sync(s->base);
}

static void private_advise(struct io *io, int pattern)
{
    struct io_private *s = (struct io_private *)io;

    if (s->base->ops->advise)
        s->base->ops->advise(s->base, pattern);
}

static int private_apart(struct io *io, struct io **out)
{
    struct io_private *s = (struct io_private *)io;

    return s->base->ops->apart ? s->base->ops->apart(s->base, out) : io_memory(NULL, 0, out);
}

static void private_close(struct io *io)
{
    struct io_private *s = (struct io_private *)io;

    if (s->apart)
        s->apart->ops->close(s->apart);
    s->base->ops->close(s->base);
    pthread_mutex_destroy(&s->lock);
    mem_free(io->path);
    mem_free(s);
}

/* In a child process the file and its locks are the parent's. */
static void private_leave(struct io *io)
{
    struct io_private *s = (struct io_private *)io;

    if (s->apart)
        s->apart->ops->close(s->apart);
    if (s->base->ops->leave)
        s->base->ops->leave(s->base);
    else
        s->base->ops->close(s->base);
    pthread_mutex_destroy(&s->lock);
    mem_free(io->path);
    mem_free(s);
}

static const struct io_ops private_ops = {.read_at = private_read,
                                          .write_at = private_write,
                                          .size = private_size,
                                          .truncate = private_truncate,
                                          .sync = private_sync,
                                          .close = private_close,
                                          .leave = private_leave,
                                          .advise = private_advise,
                                          .apart = private_apart};

int io_private(struct io *base, struct io **out)
{
    struct io_private *s = mem_zalloc(1, sizeof(*s));

    if (!s)
        return DREP_ERR_NOMEM;
    s->io.ops = &private_ops;
    s->io.path = mem_strdup(base->path);
    s->io.round_trip = base->round_trip;
    s->base = base;
    if (!s->io.path || pthread_mutex_init(&s->lock, NULL)) {
        mem_free(s->io.path);
        mem_free(s);
        return fail_nomem();
    }
    *out = &s->io;
    return 0;
}

struct io *io_private_base(struct io *own)
{
    return ((struct io_private *)own)->base;
}
