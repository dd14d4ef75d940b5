/* stream.c - a descriptor, or a driver, that bytes can only be written to in order, such as a pipe.
 *
 * Bytes that may still change wait in a window in memory.  When the store settles them, they leave:
 * in order, without gaps, and cannot be read again.  What does not fit into the window waits in a
 * nameless temporary file, so memory is bounded whatever the store writes first. */
/* SPDX-License-Identifier: MIT */
#include "io/io.h"

#include "base/error.h"
#include "base/mem.h"

#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <stdbool.h>
#include <string.h>
#include <unistd.h>

#define WINDOW ((size_t)32 << 20)  /* bytes that wait in memory */
#define AT_ONCE ((size_t)1 << 20)  /* bytes that leave in one call, if there are as many */
#define CALL_MAX ((size_t)1 << 30) /* of one system call */

struct stream_io {
    struct io io;
    int fd;
    struct io *to;    /* in place of the descriptor */
    uint64_t sent;    /* bytes that have left */
    uint64_t settled; /* bytes that may leave */
    uint64_t size;    /* the end of what was written */
    /* Bytes [sent, split) are in memory, of which p holds the first len (the rest is zeros);
     * bytes from split on are in the spool, at their own offsets. */
    uint8_t *p;
    size_t len, room;
    uint64_t split; /* UINT64_MAX: all of them are in memory */
    struct io *spool;
    pthread_rwlock_t lock; /* shared: bytes of the window; alone: its size */
};

/* ---- what leaves ---- */

static int fail_at_end(const struct stream_io *s, const char *what, int number)
{
    return fail_byte(number == ENOSPC || number == EDQUOT || number == EFBIG ? DREP_ERR_NO_SPACE
                                                                             : DREP_ERR_IO,
                     s->sent, "%s: %s: %s at byte %llu", s->io.path, what, strerror(number),
                     (unsigned long long)s->sent);
}

/* Write bytes in order; a descriptor that does not block is waited for. */
static int send_bytes(struct stream_io *s, const uint8_t *p, size_t size)
{
    if (s->to && size > 0) {
        int err = s->to->ops->write_at(s->to, p, size, s->sent);

        s->sent += err ? 0 : size;
        return err;
    }
    while (size > 0) {
        ssize_t n = write(s->fd, p, size < CALL_MAX ? size : CALL_MAX);
        struct pollfd wait = {.fd = s->fd, .events = POLLOUT};

        if (n < 0 && errno == EAGAIN && poll(&wait, 1, -1) >= 0)
            continue;
        if (n < 0 && errno == EINTR)
            continue;
        if (n <= 0)
            return fail_at_end(s, "write", n == 0 ? ENOSPC : errno);
        p += n;
        size -= (size_t)n;
        s->sent += (uint64_t)n;
    }
    return 0;
}

static int send_zeros(struct stream_io *s, uint64_t size)
{
    static const uint8_t zeros[4096];
    int err = 0;

    while (!err && size > 0) {
        size_t now = size < sizeof(zeros) ? (size_t)size : sizeof(zeros);

        err = send_bytes(s, zeros, now);
        size -= now;
    }
    return err;
}

/* Send the window up to a byte, and move what is behind it to the front. */
static int send_window(struct stream_io *s, uint64_t upto)
{
    uint64_t n = upto - s->sent;
    size_t held = n < s->len ? (size_t)n : s->len;
    int err = send_bytes(s, s->p, held);

    if (!err)
        err = send_zeros(s, n - held);
    if (err)
        return err;
    s->len -= held;
    if (s->len > 0)
        memmove(s->p, s->p + held, s->len);
    return 0;
}

/* Send bytes of the spool; behind its end are zeros. */
static int send_spool(struct stream_io *s, uint64_t upto)
{
    uint8_t *piece = mem_alloc(AT_ONCE);
    uint64_t size = 0;
    int err = piece ? s->spool->ops->size(s->spool, &size) : DREP_ERR_NOMEM;

    while (!err && s->sent < upto) {
        size_t now = upto - s->sent < AT_ONCE ? (size_t)(upto - s->sent) : AT_ONCE;
        uint64_t there = size > s->sent ? size - s->sent : 0;
        size_t held = there < now ? (size_t)there : now;

        err = s->spool->ops->read_at(s->spool, piece, held, s->sent);
        memset(piece + held, 0, now - held);
        if (!err)
            err = send_bytes(s, piece, now);
    }
    mem_free(piece);
    if (!err && s->sent >= s->size) { /* empty: memory is enough again */
        err = s->spool->ops->truncate(s->spool, 0);
        s->split = UINT64_MAX;
    }
    return err;
}

/* Send all settled bytes. */
static int send_settled(struct stream_io *s)
{
    uint64_t upto = s->settled < s->split ? s->settled : s->split;
    int err = 0;

    if (s->sent < upto)
        err = send_window(s, upto);
    if (!err && s->sent < s->settled)
        err = send_spool(s, s->settled);
    return err;
}

static int stream_settle(struct io *io, uint64_t upto)
{
    struct stream_io *s = (struct stream_io *)io;
    int err = 0;

    pthread_rwlock_wrlock(&s->lock);
    s->settled = upto > s->settled ? upto : s->settled;
    s->size = upto > s->size ? upto : s->size;
    if (s->settled - s->sent >= AT_ONCE)
        err = send_settled(s);
    pthread_rwlock_unlock(&s->lock);
    return err;
}

/* Pipes and sockets cannot be synced, nor do they need it. */
static int stream_sync(struct io *io)
{
    struct stream_io *s = (struct stream_io *)io;
    int err;

    pthread_rwlock_wrlock(&s->lock);
    err = send_settled(s);
    pthread_rwlock_unlock(&s->lock);
    if (s->to)
        return err ? err : s->to->ops->sync(s->to);
    while (!err && fdatasync(s->fd)) {
        if (errno == EINVAL || errno == EROFS || errno == ENOTSUP || errno == EBADF)
            break;
        if (errno != EINTR)
            err = fail_at_end(s, "fdatasync", errno);
    }
    return err;
}

/* ---- what waits ---- */

static int already_sent(const struct stream_io *s, const char *what, uint64_t offset)
{
    return fail_byte(DREP_ERR_UNSUPPORTED_OPERATION, offset,
                     "%s: %s at byte %llu, which has left with the stream", s->io.path, what,
                     (unsigned long long)offset);
}

/* Make place for bytes up to `end`: in memory as far as the window goes, else in the spool. */
static int make_place(struct stream_io *s, uint64_t end)
{
    uint64_t most = s->split < s->sent + WINDOW ? s->split : s->sent + WINDOW;
    uint64_t top = end < most ? end : most;
    size_t need = top > s->sent ? (size_t)(top - s->sent) : 0;
    int err = 0;

    if (end > s->sent + WINDOW && s->split == UINT64_MAX) {
        if (!s->spool)
            err = io_temporary(s->io.path, &s->spool);
        if (!err)
            s->split = s->sent + WINDOW;
    }
    if (!err && need > s->room) {
        size_t room = need < WINDOW / 2 ? 2 * need : WINDOW;
        uint8_t *p = mem_resize(s->p, room, 1);

        if (!p)
            return DREP_ERR_NOMEM;
        s->p = p;
        s->room = room;
    }
    if (!err && need > s->len) {
        memset(s->p + s->len, 0, need - s->len);
        s->len = need;
    }
    if (!err && end > s->size)
        s->size = end;
    return err;
}

/* True if there is a place for bytes up to `end`. */
static bool has_place(const struct stream_io *s, uint64_t end)
{
    return end <= s->size && (end <= s->sent + s->len || s->split <= s->sent + s->len);
}

/* The part of bytes [offset, offset + size) that memory has. */
static size_t in_memory(const struct stream_io *s, size_t size, uint64_t offset)
{
    uint64_t n = offset < s->split ? s->split - offset : 0;

    return n < size ? (size_t)n : size;
}

static int stream_write(struct io *io, const void *buf, size_t size, uint64_t offset)
{
    struct stream_io *s = (struct stream_io *)io;
    size_t n;
    int err = 0;

    if (size > UINT64_MAX - offset)
        return fail_byte(DREP_ERR_NO_SPACE, offset, "%s: no space left at byte %llu", io->path,
                         (unsigned long long)offset);
    pthread_rwlock_rdlock(&s->lock);
    if (offset >= s->sent && !has_place(s, offset + size)) {
        pthread_rwlock_unlock(&s->lock);
        pthread_rwlock_wrlock(&s->lock);
        err = offset < s->sent ? 0 : make_place(s, offset + size);
        pthread_rwlock_unlock(&s->lock);
        pthread_rwlock_rdlock(&s->lock);
    }
    if (!err && offset < s->sent)
        err = already_sent(s, "write", offset);
    n = in_memory(s, size, offset);
    if (!err && n > 0)
        memcpy(s->p + (offset - s->sent), buf, n);
    if (!err && n < size)
        err = s->spool->ops->write_at(s->spool, (const uint8_t *)buf + n, size - n, offset + n);
    pthread_rwlock_unlock(&s->lock);
    return err;
}

/* Bytes that were allocated and not written yet are zeros. */
static int stream_read(struct io *io, void *buf, size_t size, uint64_t offset)
{
    struct stream_io *s = (struct stream_io *)io;
    size_t n, held;
    int err = 0;

    pthread_rwlock_rdlock(&s->lock);
    if (offset < s->sent)
        err = already_sent(s, "read", offset);
    else if (offset > s->size || size > s->size - offset)
        err = fail_byte(DREP_ERR_TRUNCATE, s->size, "%s: read: the stream ends at byte %llu",
                        io->path, (unsigned long long)s->size);
    n = err ? 0 : in_memory(s, size, offset);
    held = !err && offset - s->sent < s->len ? s->len - (size_t)(offset - s->sent) : 0;
    held = held < n ? held : n;
    if (held > 0)
        memcpy(buf, s->p + (offset - s->sent), held);
    if (n > held)
        memset((uint8_t *)buf + held, 0, n - held);
    if (!err && n < size)
        err = s->spool->ops->read_at(s->spool, (uint8_t *)buf + n, size - n, offset + n);
    pthread_rwlock_unlock(&s->lock);
    return err;
}

/* ---- the rest of the interface ---- */

static int stream_size(struct io *io, uint64_t *size)
{
    *size = ((struct stream_io *)io)->size;
    return 0;
}

static int stream_truncate(struct io *io, uint64_t size)
{
    struct stream_io *s = (struct stream_io *)io;

    return size < s->size ? already_sent(s, "truncate", size) : 0;
}

static int stream_apart(struct io *io, struct io **out)
{
    return io_temporary(io->path, out);
}

/* The descriptor stays open: it is the caller's.  A driver is the stream's. */
static void stream_close(struct io *io)
{
    struct stream_io *s = (struct stream_io *)io;

    if (s->spool)
        s->spool->ops->close(s->spool);
    if (s->to)
        s->to->ops->close(s->to);
    pthread_rwlock_destroy(&s->lock);
    mem_free(s->p);
    mem_free(io->path);
    mem_free(s);
}

static const struct io_ops stream_ops = {.read_at = stream_read,
                                         .write_at = stream_write,
                                         .size = stream_size,
                                         .truncate = stream_truncate,
                                         .sync = stream_sync,
                                         .settle = stream_settle,
                                         .close = stream_close,
                                         .apart = stream_apart};

int io_stream(int fd, const char *name, struct io **out)
{
    struct stream_io *s = mem_zalloc(1, sizeof(*s));

    if (!s)
        return DREP_ERR_NOMEM;
    s->io.ops = &stream_ops;
    s->fd = fd;
    s->split = UINT64_MAX;
    s->io.path = mem_strdup(name);
    if (!s->io.path || pthread_rwlock_init(&s->lock, NULL)) {
        mem_free(s->io.path);
        mem_free(s);
        return fail_nomem();
    }
    *out = &s->io;
    return 0;
}

int io_stream_to(struct io *to, struct io **out)
{
    int err = io_stream(-1, to->path, out);

    if (err) {
        to->ops->close(to);
        return err;
    }
    ((struct stream_io *)*out)->to = to;
    return 0;
}
