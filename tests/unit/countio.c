/* countio.c - a file far away: a read-only driver that counts reads and charges for them. */
/* SPDX-License-Identifier: MIT */
#include "countio.h"

#include "base/error.h"

#include <datarep.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define LATENCY 0.05
#define SPEED (COUNT_TRIP / LATENCY)

static pthread_mutex_t alone = PTHREAD_MUTEX_INITIALIZER;

struct count_io {
    struct io io;
    struct count_file *file;
};

static void charge(struct count_file *f, size_t ranges, size_t bytes)
{
    f->reads += (int64_t)ranges;
    f->trips++;
    f->bytes += (int64_t)bytes;
    f->seconds += LATENCY + (double)bytes / SPEED;
}

static int copy(struct count_file *f, void *buf, size_t size, uint64_t offset)
{
    if (offset > f->size || size > f->size - offset)
        return fail(DREP_ERR_TRUNCATE, "count: the file ends at byte %zu", f->size);
    if (size > 0)
        memcpy(buf, f->p + offset, size);
    return 0;
}

static int count_read(struct io *io, void *buf, size_t size, uint64_t offset)
{
    struct count_file *f = ((struct count_io *)io)->file;
    int err;

    pthread_mutex_lock(&alone);
    charge(f, 1, size);
    err = copy(f, buf, size, offset);
    pthread_mutex_unlock(&alone);
    return err;
}

static int count_many(struct io *io, const struct io_range *range, size_t n)
{
    struct count_file *f = ((struct count_io *)io)->file;
    size_t bytes = 0;
    int err = 0;

    pthread_mutex_lock(&alone);
    for (size_t i = 0; i < n; i++)
        bytes += range[i].size;
    charge(f, n, bytes);
    if (f->fail)
        err = fail(DREP_ERR_IO, "count: made to fail");
    for (size_t i = 0; !err && i < n; i++) {
        err = copy(f, range[i].buf, range[i].size, range[i].offset);
        if (f->damage && range[i].size > 0)
            ((uint8_t *)range[i].buf)[range[i].size / 2] ^= 1;
    }
    pthread_mutex_unlock(&alone);
    return err;
}

static int count_size(struct io *io, uint64_t *size)
{
    *size = ((struct count_io *)io)->file->size;
    return 0;
}

static void count_close(struct io *io)
{
    free(io->path);
    free(io);
}

static const struct io_ops ops = {
    .read_at = count_read, .read_many = count_many, .size = count_size, .close = count_close};

void count_init(struct count_file *f, const char *path)
{
    FILE *in = fopen(path, "rb");
    long size;

    memset(f, 0, sizeof(*f));
    if (!in || fseek(in, 0, SEEK_END) || (size = ftell(in)) < 0 || fseek(in, 0, SEEK_SET))
        abort();
    f->size = (size_t)size;
    f->p = malloc(f->size + 1);
    if (!f->p || fread(f->p, 1, f->size, in) != f->size)
        abort();
    fclose(in);
    f->first = (size_t)64 << 10;
    f->round_trip = COUNT_TRIP;
}

void count_release(struct count_file *f)
{
    free(f->p);
    f->p = NULL;
}

void count_reset(struct count_file *f)
{
    f->reads = f->trips = f->bytes = 0;
    f->seconds = 0;
}

struct io *count_io(struct count_file *f)
{
    struct count_io *io = calloc(1, sizeof(*io));

    if (!io || !(io->io.path = strdup("far.drep")))
        abort();
    io->io.ops = &ops;
    io->io.first = f->first;
    io->io.round_trip = f->round_trip;
    io->file = f;
    return &io->io;
}
