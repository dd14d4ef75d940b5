/* memory.c - a file that lies in memory: growing, or a read-only view of an image.
 *
 * Growing may move it, so that is done alone; bytes are moved by many threads at once. */
/* SPDX-License-Identifier: MIT */
#include "io/io.h"

#include "base/error.h"
#include "base/mem.h"
#include "base/vec.h"

#include <pthread.h>
#include <string.h>

struct memory_io {
    struct io io;
    const uint8_t *image; /* the view; NULL when growing */
    uint8_t *p;
    size_t size, room;
    pthread_rwlock_t lock;
};

static const uint8_t *bytes_of(const struct memory_io *m)
{
    return m->image ? m->image : m->p;
}

static int memory_read(struct io *io, void *buf, size_t size, uint64_t offset)
{
    struct memory_io *m = (struct memory_io *)io;
    int err = 0;

    pthread_rwlock_rdlock(&m->lock);
    if (offset > m->size || size > m->size - offset)
        err = fail_byte(DREP_ERR_TRUNCATE, m->size, "%s: read: the file ends at byte %zu", io->path,
                        m->size);
    else if (size)
        memcpy(buf, bytes_of(m) + offset, size);
    pthread_rwlock_unlock(&m->lock);
    return err;
}

/* The caller holds the lock for writing. */
static int resize(struct memory_io *m, uint64_t size)
{
    if (size > PTRDIFF_MAX)
        return fail_byte(DREP_ERR_NO_SPACE, size, "%s: no space left at byte %llu", m->io.path,
                         (unsigned long long)size);
    if (size > m->size && VEC_ROOM(m->p, m->size, m->room, (size_t)size - m->size))
        return DREP_ERR_NOMEM;
    if (size > m->size)
        memset(m->p + m->size, 0, (size_t)size - m->size);
    m->size = (size_t)size;
    return 0;
}

static int memory_truncate(struct io *io, uint64_t size)
{
    struct memory_io *m = (struct memory_io *)io;
    int err;

    if (m->image)
        return fail(DREP_ERR_READ_ONLY, "%s: an image in memory is read-only", io->path);
    pthread_rwlock_wrlock(&m->lock);
    err = resize(m, size);
    pthread_rwlock_unlock(&m->lock);
    return err;
}

/* Grow to `end` bytes at least. */
static int grow(struct memory_io *m, uint64_t end)
{
    int err = 0;

    pthread_rwlock_wrlock(&m->lock);
    if (end > m->size)
        err = resize(m, end);
    pthread_rwlock_unlock(&m->lock);
    return err;
}

static int memory_write(struct io *io, const void *buf, size_t size, uint64_t offset)
{
    struct memory_io *m = (struct memory_io *)io;
    int fits, err;

    if (m->image)
        return fail(DREP_ERR_READ_ONLY, "%s: an image in memory is read-only", io->path);
    if (size > UINT64_MAX - offset)
        return fail_byte(DREP_ERR_NO_SPACE, offset, "%s: no space left at byte %llu", io->path,
                         (unsigned long long)offset);
    for (;;) {
        pthread_rwlock_rdlock(&m->lock);
        fits = offset + size <= m->size;
        if (fits && size)
            memcpy(m->p + offset, buf, size);
        pthread_rwlock_unlock(&m->lock);
        if (fits)
            return 0;
        err = grow(m, offset + size);
        if (err)
            return err;
    }
}

static int memory_size(struct io *io, uint64_t *size)
{
    *size = ((struct memory_io *)io)->size;
    return 0;
}

static int memory_sync(struct io *io)
{
    (void)io;
    return 0;
}

/* Locks always succeed: no other handle reaches this memory. */
static int memory_lock(struct io *io, uint64_t first, uint64_t count, int how)
{
    (void)io;
    (void)first;
    (void)count;
    (void)how;
    return 0;
}

static int memory_probe(struct io *io, uint64_t first, uint64_t count, int *held)
{
    (void)io;
    (void)first;
    (void)count;
    *held = 0;
    return 0;
}

/* Map a view in place; growing memory may move, so it is copied. */
static int memory_map(struct io *io, uint64_t offset, size_t size, void **base, void **handle)
{
    struct memory_io *m = (struct memory_io *)io;
    uint8_t *copy;

    if (offset > m->size || size > m->size - offset)
        return fail_byte(DREP_ERR_TRUNCATE, m->size, "%s: map: the file ends at byte %zu", io->path,
                         m->size);
    copy = mem_alloc(m->image ? 1 : size);
    if (!copy)
        return DREP_ERR_NOMEM;
    if (!m->image && size)
        memcpy(copy, m->p + offset, size);
    *handle = copy;
    *base = m->image ? (void *)(uintptr_t)(m->image + offset) : copy;
    return 0;
}

static void memory_unmap(void *handle, size_t size)
{
    (void)size;
    mem_free(handle);
}

static void memory_close(struct io *io)
{
    struct memory_io *m = (struct memory_io *)io;

    pthread_rwlock_destroy(&m->lock);
    mem_free(m->p);
    mem_free(io->path);
    mem_free(m);
}

/* A forked process has its own copy of the memory. */
static int memory_reopen(struct io *io, struct io **out)
{
    const struct memory_io *m = (const struct memory_io *)io;

    if (!m->image)
        return fail(DREP_ERR_UNSUPPORTED_OPERATION, "%s: memory that grows", io->path);
    return io_memory(m->image, m->size, out);
}

static int memory_apart(struct io *io, struct io **out)
{
    (void)io;
    return io_memory(NULL, 0, out);
}

static const struct io_ops memory_ops = {.read_at = memory_read,
                                         .write_at = memory_write,
                                         .size = memory_size,
                                         .truncate = memory_truncate,
                                         .sync = memory_sync,
                                         .lock = memory_lock,
                                         .probe = memory_probe,
                                         .map = memory_map,
                                         .unmap = memory_unmap,
                                         .close = memory_close,
                                         .reopen = memory_reopen,
                                         .apart = memory_apart};

int io_memory(const void *image, size_t size, struct io **out)
{
    struct memory_io *m = mem_zalloc(1, sizeof(*m));

    if (!m)
        return DREP_ERR_NOMEM;
    m->io.ops = &memory_ops;
    m->io.path = mem_strdup(":memory:");
    if (!m->io.path) {
        mem_free(m);
        return DREP_ERR_NOMEM;
    }
    if (pthread_rwlock_init(&m->lock, NULL)) {
        mem_free(m->io.path);
        mem_free(m);
        return fail(DREP_ERR_NOMEM, "out of memory: no lock");
    }
    m->image = image;
    m->size = image ? size : 0;
    *out = &m->io;
    return 0;
}
