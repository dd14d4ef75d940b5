/* shadow.c - a file that is read, and room of one's own behind it.
 *
 * A rank that does not commit works on a file as if it were the writer: what its transaction puts
 * into the file goes to offsets from IO_SHADOW on, which no file has, and from there to a nameless
 * file.  Nothing of the real file changes. */
/* SPDX-License-Identifier: MIT */
#include "io/io.h"

#include "base/error.h"
#include "base/mem.h"

#include <pthread.h>

struct shadow {
    struct io io;
    struct io *base;
    pthread_mutex_t lock; /* of the next, which is made when it is needed */
    struct io *apart;
};

/* The nameless file, which few ranks need: small changes stay in the tree's memory.  Calls that
 * read may come in many threads. */
static int own_file(struct shadow *s, struct io **out)
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

static int shadow_read(struct io *io, void *buf, size_t size, uint64_t offset)
{
    struct shadow *s = (struct shadow *)io;
    struct io *own;
    int err;

    if (offset < IO_SHADOW)
        return s->base->ops->read_at(s->base, buf, size, offset);
    err = own_file(s, &own);
    return err ? err : own->ops->read_at(own, buf, size, offset - IO_SHADOW);
}

static int shadow_write(struct io *io, const void *buf, size_t size, uint64_t offset)
{
    struct shadow *s = (struct shadow *)io;
    struct io *own;
    int err;

    if (offset < IO_SHADOW)
        return fail_byte(DREP_ERR_UNSUPPORTED_OPERATION, offset,
                         "%s: byte %llu may be written by the rank that commits alone", io->path,
                         (unsigned long long)offset);
    err = own_file(s, &own);
    return err ? err : own->ops->write_at(own, buf, size, offset - IO_SHADOW);
}

static int shadow_size(struct io *io, uint64_t *size)
{
    struct shadow *s = (struct shadow *)io;

    return s->base->ops->size(s->base, size);
}

/* How long the file is to be is the business of the rank that commits. */
static int shadow_truncate(struct io *io, uint64_t size)
{
    (void)io;
    (void)size;
    return 0;
}

/* Makes payload durable that this rank has written past the shadow. */
static int shadow_sync(struct io *io)
{
    struct shadow *s = (struct shadow *)io;

    return s->base->ops->sync(s->base);
}

static void shadow_advise(struct io *io, int pattern)
{
    struct shadow *s = (struct shadow *)io;

    if (s->base->ops->advise)
        s->base->ops->advise(s->base, pattern);
}

static int shadow_apart(struct io *io, struct io **out)
{
    struct shadow *s = (struct shadow *)io;

    return s->base->ops->apart ? s->base->ops->apart(s->base, out) : io_memory(NULL, 0, out);
}

static void shadow_close(struct io *io)
{
    struct shadow *s = (struct shadow *)io;

    if (s->apart)
        s->apart->ops->close(s->apart);
    s->base->ops->close(s->base);
    pthread_mutex_destroy(&s->lock);
    mem_free(io->path);
    mem_free(s);
}

/* In a child process the file and its locks are the parent's. */
static void shadow_leave(struct io *io)
{
    struct shadow *s = (struct shadow *)io;

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

static const struct io_ops shadow_ops = {.read_at = shadow_read,
                                         .write_at = shadow_write,
                                         .size = shadow_size,
                                         .truncate = shadow_truncate,
                                         .sync = shadow_sync,
                                         .close = shadow_close,
                                         .leave = shadow_leave,
                                         .advise = shadow_advise,
                                         .apart = shadow_apart};

int io_shadow(struct io *base, struct io **out)
{
    struct shadow *s = mem_zalloc(1, sizeof(*s));

    if (!s)
        return DREP_ERR_NOMEM;
    s->io.ops = &shadow_ops;
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

struct io *io_shadow_base(struct io *shadow)
{
    return ((struct shadow *)shadow)->base;
}
