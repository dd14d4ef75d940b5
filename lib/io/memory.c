/* memory.c - a file that lies in memory: growing, or a read-only view of an image. */
#include "io/io.h"

#include "base/error.h"
#include "base/mem.h"

#include <string.h>

struct memory {
    struct io io;
    const uint8_t *image; /* the view; NULL when growing */
    uint8_t *p;
    size_t size, room;
};

static const uint8_t *bytes_of(const struct memory *m)
{
    return m->image ? m->image : m->p;
}

static int memory_read(struct io *io, void *buf, size_t size, uint64_t offset)
{
    struct memory *m = (struct memory *)io;

    if (offset > m->size || size > m->size - offset)
        return fail(DREP_ERR_TRUNCATE, "%s: read: the file ends at byte %zu", io->path, m->size);
    if (size)
        memcpy(buf, bytes_of(m) + offset, size);
    return 0;
}

static int memory_truncate(struct io *io, uint64_t size)
{
    struct memory *m = (struct memory *)io;
    size_t room = m->room < 65536 ? 65536 : m->room;
    uint8_t *p;

    if (m->image)
        return fail(DREP_ERR_READ_ONLY, "%s: an image in memory is read-only", io->path);
    if (size > PTRDIFF_MAX)
        return fail(DREP_ERR_NO_SPACE, "%s: no space left at byte %llu", io->path,
                    (unsigned long long)size);
    if (size > m->room) {
        while (room < size)
            room = room > PTRDIFF_MAX / 2 ? (size_t)size : room * 2;
        p = mem_resize(m->p, room, 1);
        if (!p)
            return DREP_ERR_NOMEM;
        m->p = p;
        m->room = room;
    }
    if (size > m->size)
        memset(m->p + m->size, 0, (size_t)size - m->size);
    m->size = (size_t)size;
    return 0;
}

static int memory_write(struct io *io, const void *buf, size_t size, uint64_t offset)
{
    struct memory *m = (struct memory *)io;
    int err;

    if (m->image)
        return fail(DREP_ERR_READ_ONLY, "%s: an image in memory is read-only", io->path);
    if (offset > m->size || size > m->size - offset) {
        if (size > UINT64_MAX - offset)
            return fail(DREP_ERR_NO_SPACE, "%s: no space left at byte %llu", io->path,
                        (unsigned long long)offset);
        err = memory_truncate(io, offset + size);
        if (err)
            return err;
    }
    if (size)
        memcpy(m->p + offset, buf, size);
    return 0;
}

static int memory_size(struct io *io, uint64_t *size)
{
    *size = ((struct memory *)io)->size;
    return 0;
}

static int memory_sync(struct io *io)
{
    (void)io;
    return 0;
}

/* Nobody else can reach this memory through us. */
static int memory_lock(struct io *io, uint64_t byte, int how)
{
    (void)io;
    (void)byte;
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

/* A view is given as it lies; of growing memory a copy, which may move. */
static int memory_map(struct io *io, uint64_t offset, size_t size, void **base, void **handle)
{
    struct memory *m = (struct memory *)io;
    uint8_t *copy;

    if (offset > m->size || size > m->size - offset)
        return fail(DREP_ERR_TRUNCATE, "%s: map: the file ends at byte %zu", io->path, m->size);
    copy = mem_alloc(m->image ? 1 : size);
    if (!copy)
        return DREP_ERR_NOMEM;
    if (!m->image && size)
        memcpy(copy, m->p + offset, size);
    *handle = copy;
    *base = m->image ? (void *)(uintptr_t)(m->image + offset) : copy;
    return 0;
}

static void memory_unmap(struct io *io, void *handle, size_t size)
{
    (void)io;
    (void)size;
    mem_free(handle);
}

static void memory_close(struct io *io)
{
    struct memory *m = (struct memory *)io;

    mem_free(m->p);
    mem_free(io->path);
    mem_free(m);
}

static const struct io_ops memory_ops = {memory_read, memory_write, memory_size,  memory_truncate,
                                         memory_sync, memory_lock,  memory_probe, NULL,
                                         memory_map,  memory_unmap, memory_close};

int io_memory(const void *image, size_t size, struct io **out)
{
    struct memory *m = mem_zalloc(1, sizeof(*m));

    if (!m)
        return DREP_ERR_NOMEM;
    m->io.ops = &memory_ops;
    m->io.path = mem_strdup(":memory:");
    if (!m->io.path) {
        mem_free(m);
        return DREP_ERR_NOMEM;
    }
    m->image = image;
    m->size = image ? size : 0;
    *out = &m->io;
    return 0;
}
