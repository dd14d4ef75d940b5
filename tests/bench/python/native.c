/* native.c - the sides of tests/bench/python.py that are C: a call of the library without Python,
 * and the limit of reading verified bytes.  python.py builds it as a shared object. */
/* SPDX-License-Identifier: MIT */
#include <datarep.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdatomic.h>
#include <time.h>
#include <unistd.h>

#define XXH_INLINE_ALL
#include <xxhash.h>

#define BLOCK 4096 /* bytes of a sum */
#define PIECE ((size_t)256 << 10)
#define SHARE ((size_t)1 << 20) /* bytes that a thread takes at a time */
#define THREADS_MAX 16

static double now(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

/* Seconds of one read of elements [0, 16) of dataset x, which holds doubles; below 0: an error. */
double call_seconds(const char *path, long times)
{
    const int64_t start = 0, count = 16;
    double out[16], began;
    drep_dataset *ds;
    drep_file *f;
    int err;

    if (drep_open(path, DREP_RDONLY, NULL, &f))
        return -1;
    if (drep_dataset_open(f, "x", &ds)) {
        drep_close(f);
        return -1;
    }
    err = drep_read_box(ds, &start, &count, NULL, out, NULL);
    began = now();
    for (long i = 0; !err && i < times; i++)
        err = drep_read_box(ds, &start, &count, NULL, out, NULL);
    began = now() - began;
    drep_dataset_close(ds);
    return drep_close(f) || err ? -1 : began / (double)times;
}

struct reading {
    int fd, sums;
    char *to;
    size_t size;
    atomic_size_t next;
    atomic_ullong sum; /* used, so that it is computed */
};

static void *read_shares(void *ctx)
{
    struct reading *r = ctx;
    unsigned long long sum = 0;

    for (;;) {
        size_t at = atomic_fetch_add(&r->next, SHARE);
        size_t end = at < r->size && r->size - at > SHARE ? at + SHARE : r->size;

        if (at >= r->size)
            break;
        for (size_t now; at < end; at += now) {
            now = end - at < PIECE ? end - at : PIECE;
            if (pread(r->fd, r->to + at, now, (off_t)at) != (ssize_t)now)
                return NULL;
            for (size_t k = 0; r->sums && k < now; k += BLOCK)
                sum += XXH3_64bits(r->to + at + k, now - k < BLOCK ? now - k : BLOCK);
        }
    }
    atomic_fetch_add(&r->sum, sum);
    return NULL;
}

/* Reads `size` bytes of a file by pread() and, with sums, XXH3 over each block of 4 KiB. */
int limit_read(const char *path, char *to, size_t size, int threads, int sums)
{
    struct reading r = {.fd = open(path, O_RDONLY), .sums = sums, .to = to, .size = size};
    pthread_t thread[THREADS_MAX];
    int n = 0;

    if (r.fd < 0)
        return -1;
    while (n < threads - 1 && n < THREADS_MAX && !pthread_create(&thread[n], NULL, read_shares, &r))
        n++;
    read_shares(&r);
    while (n > 0)
        pthread_join(thread[--n], NULL);
    close(r.fd);
    return r.next < size ? -1 : 0;
}
