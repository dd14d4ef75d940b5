/* faultio.c - files in memory that fail when told to, and remember what was written. */
/* SPDX-License-Identifier: MIT */
#include "faultio.h"

#include "base/error.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

static pthread_mutex_t alone = PTHREAD_MUTEX_INITIALIZER; /* of all files: they are small */

struct fault_io {
    struct io io;
    struct fault_file *file;
};

static struct fault_file *file_of(struct io *io)
{
    return ((struct fault_io *)io)->file;
}

static int fails(struct io *io)
{
    struct fault_file *f = file_of(io);
    void (*hook)(void *) = f->hook;
    int now;

    if (hook && f->hook_io == io) {
        f->hook = NULL;
        hook(f->hook_ctx);
        f->hook = hook;
    }
    pthread_mutex_lock(&alone);
    now = f->fail_at >= 0 && f->fail_at-- == 0;
    pthread_mutex_unlock(&alone);
    if (!now)
        return 0;
    return fail(f->fail_code, "fault: made to fail");
}

static void *must(void *p)
{
    if (!p)
        abort();
    return p;
}

static void set_size(struct fault_file *f, size_t size)
{
    if (size > f->room) {
        f->room = size * 2;
        f->p = must(realloc(f->p, f->room));
    }
    if (size > f->size)
        memset(f->p + f->size, 0, size - f->size);
    f->size = size;
}

static void note(struct fault_file *f, int kind, uint64_t offset, const void *p, size_t size)
{
    struct fault_event *e;

    if (!f->record)
        return;
    if (f->events == f->event_room) {
        f->event_room = f->event_room ? f->event_room * 2 : 64;
        f->event = must(realloc(f->event, f->event_room * sizeof(*f->event)));
    }
    e = &f->event[f->events++];
    e->kind = kind;
    e->offset = offset;
    e->size = size;
    e->bytes = p ? must(malloc(size ? size : 1)) : NULL;
    if (p)
        memcpy(e->bytes, p, size);
}

static int fault_read(struct io *io, void *buf, size_t size, uint64_t offset)
{
    struct fault_file *f = file_of(io);
    int err = fails(io);

    if (err)
        return err;
    pthread_mutex_lock(&alone);
    if (offset > f->size || size > f->size - offset)
        err = fail(DREP_ERR_TRUNCATE, "fault: the file ends at byte %zu", f->size);
    else if (size)
        memcpy(buf, f->p + offset, size);
    pthread_mutex_unlock(&alone);
    return err;
}

static int fault_write(struct io *io, const void *buf, size_t size, uint64_t offset)
{
    struct fault_file *f = file_of(io);
    int err = fails(io);

    if (err)
        return err;
    pthread_mutex_lock(&alone);
    if (offset + size > f->size)
        set_size(f, (size_t)offset + size);
    memcpy(f->p + offset, buf, size);
    note(f, FAULT_WRITE, offset, buf, size);
    pthread_mutex_unlock(&alone);
    return 0;
}

static int fault_size(struct io *io, uint64_t *size)
{
    struct fault_file *f = file_of(io);
    int err = fails(io);

    if (!err)
        *size = f->size;
    return err;
}

static int fault_truncate(struct io *io, uint64_t size)
{
    struct fault_file *f = file_of(io);
    int err = fails(io);

    if (err)
        return err;
    set_size(f, (size_t)size);
    note(f, FAULT_TRUNCATE, size, NULL, 0);
    return 0;
}

static int fault_sync(struct io *io)
{
    struct fault_file *f = file_of(io);
    int err = fails(io);

    if (err)
        return err;
    if (f->fail_syncs)
        return fail(DREP_ERR_IO, "fault: sync fails");
    note(f, FAULT_SYNC, 0, NULL, 0);
    return 0;
}

static int fault_publish(struct io *io, int sync, int *visible)
{
    int err = fails(io);

    (void)sync;
    *visible = !err;
    if (!err)
        note(file_of(io), FAULT_PUBLISH, 0, NULL, 0);
    return err;
}

static int fault_lock(struct io *io, uint64_t byte, uint64_t count, int how)
{
    struct fault_file *f = file_of(io);
    int at = -1;
    int err = fails(io);

    if (count != 1)
        abort();
    if (err)
        return err;
    for (int i = 0; i < f->locks; i++) {
        if (f->lock[i].byte != byte)
            continue;
        if (f->lock[i].owner == io)
            at = i;
        else if (how == 2 || (how == 1 && f->lock[i].how == 2))
            return fail(DREP_ERR_FILE_IN_USE, "fault: file is in use by another writer");
    }
    if (how == 0) {
        if (at >= 0)
            f->lock[at] = f->lock[--f->locks];
        return 0;
    }
    if (at < 0)
        at = f->locks++;
    if (at >= 64)
        abort();
    f->lock[at].byte = byte;
    f->lock[at].owner = io;
    f->lock[at].how = how;
    return 0;
}

static int fault_probe(struct io *io, uint64_t first, uint64_t count, int *held)
{
    struct fault_file *f = file_of(io);
    int err = fails(io);

    if (err)
        return err;
    *held = 0;
    for (int i = 0; i < f->locks; i++) {
        if (f->lock[i].owner != io && f->lock[i].byte >= first && f->lock[i].byte - first < count)
            *held = 1;
    }
    return 0;
}

static void fault_close(struct io *io)
{
    struct fault_file *f = file_of(io);

    for (int i = f->locks - 1; i >= 0; i--) {
        if (f->lock[i].owner == io)
            f->lock[i] = f->lock[--f->locks];
    }
    free(io);
}

static const struct io_ops ops = {
    .read_at = fault_read,
    .write_at = fault_write,
    .size = fault_size,
    .truncate = fault_truncate,
    .sync = fault_sync,
    .lock = fault_lock,
    .probe = fault_probe,
    .publish = fault_publish,
    .close = fault_close,
};

void fault_init(struct fault_file *f)
{
    memset(f, 0, sizeof(*f));
    f->fail_at = -1;
    f->fail_code = DREP_ERR_IO;
}

void fault_resize(struct fault_file *f, size_t size)
{
    set_size(f, size);
}

void fault_forget(struct fault_file *f)
{
    for (size_t i = 0; i < f->events; i++)
        free(f->event[i].bytes);
    f->events = 0;
}

void fault_release(struct fault_file *f)
{
    fault_forget(f);
    free(f->event);
    free(f->p);
    fault_init(f);
}

struct io *fault_io(struct fault_file *f)
{
    struct fault_io *io = must(calloc(1, sizeof(*io)));

    io->io.ops = &ops;
    io->io.path = (char *)"fault";
    io->file = f;
    return &io->io;
}

static void apply(struct fault_file *out, const struct fault_event *e, size_t size)
{
    if (e->kind == FAULT_TRUNCATE)
        set_size(out, (size_t)e->offset);
    if (e->kind != FAULT_WRITE || size == 0)
        return;
    if (e->offset + size > out->size)
        set_size(out, (size_t)e->offset + size);
    memcpy(out->p + e->offset, e->bytes, size);
}

void fault_build(const struct fault_file *f, size_t n, size_t from, uint64_t lost, int64_t torn,
                 struct fault_file *out)
{
    fault_init(out);
    for (size_t i = 0; i < n && i < f->events; i++) {
        const struct fault_event *e = &f->event[i];

        if (i >= from && i - from < 64 && (lost >> (i - from) & 1))
            continue;
        apply(out, e, (int64_t)i == torn ? e->size / 2 : e->size);
    }
}
