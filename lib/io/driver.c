/* driver.c - a file behind the functions of a program (drep_driver).
 *
 * The functions say that they failed, and with drep_error_set() why, and this file where: each
 * message has the name that the program gave, what was done, and the byte.  Without write_at the
 * handle only reads: nobody calls driver_write() and driver_truncate() then. */
/* SPDX-License-Identifier: MIT */
#include "io/io.h"

#include "base/error.h"
#include "base/mem.h"

#include <datarep.h>

struct driver {
    struct io io;
    drep_driver fn;
    void *state;
};

/* The codes that a function may give; any other one is DREP_ERR_IO. */
static int code_of(int err)
{
    switch (err) {
    case DREP_ERR_ACCESS:
    case DREP_ERR_FILE_IN_USE:
    case DREP_ERR_NOMEM:
    case DREP_ERR_NO_SPACE:
    case DREP_ERR_READ_ONLY:
    case DREP_ERR_STALE:
    case DREP_ERR_TIMEOUT:
    case DREP_ERR_TRUNCATE:
    case DREP_ERR_UNSUPPORTED_OPERATION:
        return err;
    default:
        return DREP_ERR_IO;
    }
}

/* What the function said, or what its code says; said: fail_said() before it was called. */
static const char *reason(int err, unsigned said)
{
    return fail_said() != said && *fail_text() ? fail_text() : drep_strerror(code_of(err));
}

/* Report a failure that no byte belongs to. */
static int failed(const struct io *io, int err, unsigned said, const char *what)
{
    return fail(code_of(err), "%s: %s: the driver failed: %s", io->path, what, reason(err, said));
}

static int failed_at(const struct io *io, int err, unsigned said, const char *what, uint64_t offset)
{
    return fail_byte(code_of(err), offset, "%s: %s: the driver failed at byte %llu: %s", io->path,
                     what, (unsigned long long)offset, reason(err, said));
}

/* Offsets are those of files everywhere: a driver may use signed ones. The message of a vector that
 * fails names its first byte, as nothing says which of its ranges it was. */
static int call_read(const struct driver *d, const drep_range *range, size_t n)
{
    unsigned said = fail_said();
    int err;

    for (size_t i = 0; i < n; i++) {
        if (range[i].offset > INT64_MAX || range[i].size > INT64_MAX - range[i].offset)
            return fail_byte(DREP_ERR_LIMIT, range[i].offset,
                             "%s: byte %llu exceeds the largest file offset", d->io.path,
                             (unsigned long long)range[i].offset);
    }
    err = d->fn.read_many(d->state, range, n);
    return err ? failed_at(&d->io, err, said, "read", range->offset) : 0;
}

static int driver_many(struct io *io, const struct io_range *range, size_t n)
{
    drep_range few[8], *r = n <= sizeof few / sizeof *few ? few : mem_array(n, sizeof *r);
    int err;

    if (!r)
        return fail_nomem();
    if (n == 0)
        return 0;
    for (size_t i = 0; i < n; i++)
        r[i] = (drep_range){range[i].offset, range[i].size, range[i].buf};
    err = call_read((const struct driver *)io, r, n);
    if (r != few)
        mem_free(r);
    return err;
}

static int driver_read(struct io *io, void *buf, size_t size, uint64_t offset)
{
    const drep_range range = {offset, size, buf};

    return size > 0 ? call_read((const struct driver *)io, &range, 1) : 0;
}

static int driver_write(struct io *io, const void *buf, size_t size, uint64_t offset)
{
    const struct driver *d = (const struct driver *)io;
    unsigned said = fail_said();
    int err;

    if (size == 0)
        return 0;
    if (offset > INT64_MAX || size > INT64_MAX - offset)
        return fail_byte(DREP_ERR_LIMIT, offset, "%s: byte %llu exceeds the largest file offset",
                         io->path, (unsigned long long)offset);
    err = d->fn.write_at(d->state, buf, size, offset);
    return err ? failed_at(io, err, said, "write", offset) : 0;
}

/* *size stays as it is where the function fails, whatever it did with its own. */
static int driver_size(struct io *io, uint64_t *size)
{
    const struct driver *d = (const struct driver *)io;
    unsigned said = fail_said();
    uint64_t is = 0;
    int err = d->fn.file_size(d->state, &is);

    if (err)
        return failed(io, err, said, "size");
    *size = is;
    return 0;
}

static int driver_truncate(struct io *io, uint64_t size)
{
    const struct driver *d = (const struct driver *)io;
    unsigned said = fail_said();
    int err = d->fn.truncate(d->state, size);

    return err ? failed_at(io, err, said, "truncate", size) : 0;
}

static int driver_sync(struct io *io)
{
    const struct driver *d = (const struct driver *)io;
    unsigned said = fail_said();
    int err = d->fn.sync ? d->fn.sync(d->state) : 0;

    return err ? failed(io, err, said, "sync") : 0;
}

/* Without locks a handle goes on unlocked, as on a file system that has none. */
static int driver_lock(struct io *io, uint64_t first, uint64_t count, int how)
{
    const struct driver *d = (const struct driver *)io;
    unsigned said = fail_said();
    int err = DREP_ERR_UNSUPPORTED_OPERATION;

    if (d->fn.lock && count == 1)
        err = d->fn.lock(d->state, first, how);
    if (err == DREP_ERR_FILE_IN_USE)
        return io_in_use(io);
    return err ? failed(io, err, said, "lock") : 0;
}

/* Nobody holds a lock where there are none. */
static int driver_probe(struct io *io, uint64_t first, uint64_t count, int *held)
{
    const struct driver *d = (const struct driver *)io;
    unsigned said = fail_said();
    int err;

    *held = 0;
    err = d->fn.locked ? d->fn.locked(d->state, first, count, held) : 0;
    return err ? failed(io, err, said, "lock") : 0;
}

/* The spare file of a program's own is memory: nothing is known of its storage. */
static int driver_apart(struct io *io, struct io **out)
{
    (void)io;
    return io_memory(NULL, 0, out);
}

/* In a child process: what the state refers to is the parent's. */
static void driver_leave(struct io *io)
{
    mem_free(io->path);
    mem_free(io);
}

static void driver_close(struct io *io)
{
    const struct driver *d = (const struct driver *)io;

    if (d->fn.close)
        d->fn.close(d->state);
    driver_leave(io);
}

static const struct io_ops driver_ops = {.read_at = driver_read,
                                         .read_many = driver_many,
                                         .write_at = driver_write,
                                         .size = driver_size,
                                         .truncate = driver_truncate,
                                         .sync = driver_sync,
                                         .lock = driver_lock,
                                         .probe = driver_probe,
                                         .close = driver_close,
                                         .leave = driver_leave,
                                         .apart = driver_apart};

/* The state belongs to the io from here on: it is closed also where there is no memory for that. */
int io_driver(const drep_driver *driver, void *state, const char *name, struct io **out)
{
    struct driver *d = mem_zalloc(1, sizeof(*d));

    if (d)
        d->io.path = mem_strdup(name ? name : "(driver)");
    if (!d || !d->io.path) {
        mem_free(d);
        if (driver->close)
            driver->close(state);
        return DREP_ERR_NOMEM;
    }
    d->io.ops = &driver_ops;
    d->io.first = driver->first_read;
    d->io.round_trip = driver->round_trip;
    d->fn = *driver;
    d->state = state;
    *out = &d->io;
    return 0;
}
