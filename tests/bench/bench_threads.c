/* bench_threads.c - one handle, threads that read without a pause and one that commits.
 *
 * Commits wait for a disk, so the file lies in /var/tmp, or where TMPDIR says.  The bars are of
 * one run on one machine: commits beside four readers against commits alone, and what these
 * readers read against what they read without a writer.  The same two ratios are printed for a
 * program that knows of no lock: its commit is two writes, fdatasync, a write and fdatasync, and
 * its readers call pread.  They show what the kernel and the disk leave of each.  All runs are
 * interleaved; figures are medians. */
/* SPDX-License-Identifier: MIT */
#include "bench.h"

#include <datarep.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

enum { LEN = 1000, READERS = 4, ROUNDS = 5, BLOCK = 4096, NODES = 384, FAR = 32768 };

static const double seconds = 1;

static drep_file *f;
static int fd;
static atomic_int stop;
static atomic_long reads;

static void *read_library(void *unused)
{
    drep_dataset *ds;
    double v[LEN];
    long n = 0;

    (void)unused;
    bench_must(drep_dataset_open(f, "a", &ds) == 0, "open");
    for (; !stop; n++)
        bench_must(drep_read(ds, NULL, DREP_DOUBLE, v, NULL) == 0, "read");
    drep_dataset_close(ds);
    reads += n;
    return NULL;
}

static void *read_raw(void *unused)
{
    double v[LEN];
    long n = 0;

    (void)unused;
    for (; !stop; n++)
        bench_must(pread(fd, v, sizeof v, BLOCK) == (ssize_t)sizeof v, "pread");
    reads += n;
    return NULL;
}

static void commit_library(drep_dataset *ds, const double *v)
{
    bench_must(drep_write(ds, NULL, DREP_DOUBLE, v, NULL) == 0 && drep_commit(f) == 0, "commit");
}

static void commit_raw(const double *v)
{
    static int n;
    off_t at = n++ % 2 ? FAR : BLOCK;

    bench_must(pwrite(fd, v, LEN * sizeof *v, at) > 0 && pwrite(fd, v, NODES, 2L * FAR) > 0 &&
                   fdatasync(fd) == 0 && pwrite(fd, v, BLOCK, 0) > 0 && fdatasync(fd) == 0,
               "write");
}

struct rates {
    double commits, reads; /* a second */
};

static struct rates run(drep_dataset *ds, int readers, int writes)
{
    static double v[LEN];
    pthread_t thread[READERS];
    struct rates r;
    double start, took;
    int n = 0;

    stop = 0;
    reads = 0;
    for (int i = 0; i < readers; i++)
        bench_must(pthread_create(&thread[i], NULL, ds ? read_library : read_raw, NULL) == 0,
                   "thread");
    start = bench_now();
    while (bench_now() < start + seconds) {
        v[0]++;
        if (!writes)
            nanosleep(&(struct timespec){.tv_nsec = 10000000}, NULL);
        else if (ds)
            commit_library(ds, v);
        else
            commit_raw(v);
        n += writes;
    }
    took = bench_now() - start;
    stop = 1;
    for (int i = 0; i < readers; i++)
        pthread_join(thread[i], NULL);
    r.commits = n / took;
    r.reads = (double)reads / took;
    return r;
}

enum { ALONE, SOME, ALL, UNWRITTEN, RAW_ALONE, RAW_ALL, RAW_UNWRITTEN, KINDS };

static const struct {
    const char *name;
    int raw, readers, writes;
} kind[KINDS] = {
    [ALONE] = {"commits", 0, 0, 1},
    [SOME] = {"commits beside 2 readers", 0, 2, 1},
    [ALL] = {"commits beside 4 readers", 0, READERS, 1},
    [UNWRITTEN] = {"4 readers", 0, READERS, 0},
    [RAW_ALONE] = {"raw commits", 1, 0, 1},
    [RAW_ALL] = {"raw commits beside 4 raw readers", 1, READERS, 1},
    [RAW_UNWRITTEN] = {"4 raw readers", 1, READERS, 0},
};

static void measure(drep_dataset *ds, struct rates *middle)
{
    static double commits[KINDS][ROUNDS], read[KINDS][ROUNDS];

    for (int i = 0; i < ROUNDS; i++) {
        for (int k = 0; k < KINDS; k++) {
            struct rates r = run(kind[k].raw ? NULL : ds, kind[k].readers, kind[k].writes);

            commits[k][i] = r.commits;
            read[k][i] = r.reads;
        }
    }
    for (int k = 0; k < KINDS; k++) {
        middle[k].commits = bench_median(commits[k], ROUNDS);
        middle[k].reads = bench_median(read[k], ROUNDS);
        printf("  %s: %.0f commits/s, %.0f reads/s\n", kind[k].name, middle[k].commits,
               middle[k].reads);
        if (middle[k].commits > 0)
            bench_record(kind[k].name, kind[k].raw ? "pwrite" : "datarep, a commit",
                         1 / middle[k].commits);
        if (middle[k].reads > 0)
            bench_record(kind[k].name, kind[k].raw ? "pread" : "datarep, a read",
                         1 / middle[k].reads);
    }
}

static int bar(const char *what, double ratio, double raw, double least)
{
    printf("  %s: %.2f, at least %.2f: %s; raw %.2f\n", what, ratio, least,
           ratio >= least ? "met" : "MISSED", raw);
    return ratio < least;
}

static const char *file_name(char *out, size_t size, const char *kind_of)
{
    const char *dir = getenv("TMPDIR");

    snprintf(out, size, "%s/bench-%d.%s", dir != NULL ? dir : "/var/tmp", (int)getpid(), kind_of);
    return out;
}

int main(void)
{
    const int64_t len = LEN;
    drep_spec spec = DREP_SPEC(.type = DREP_DOUBLE, .rank = 1, .dims = &len);
    static double v[3 * FAR / sizeof(double)];
    struct rates r[KINDS];
    char path[400], raw[400];
    drep_dataset *ds;
    int missed;

    bench_doubles(v, sizeof v / sizeof *v, 1);
    printf("one handle, %d doubles; file %s\n", LEN, file_name(path, sizeof path, "drep"));
    fd = open(file_name(raw, sizeof raw, "raw"), O_RDWR | O_CREAT | O_TRUNC, 0600);
    bench_must(fd >= 0 && pwrite(fd, v, sizeof v, 0) == (ssize_t)sizeof v && fsync(fd) == 0, raw);
    bench_must(drep_create(path, DREP_RDWR, "native", NULL, &f) == 0, "create");
    bench_must(drep_dataset_create(f, "a", &spec, &ds) == 0, "dataset");
    commit_library(ds, v);
    measure(ds, r);
    drep_dataset_close(ds);
    bench_must(drep_close(f) == 0, "close");
    close(fd);
    unlink(path);
    unlink(raw);
    missed = bar("commits beside 4 readers to commits alone", r[ALL].commits / r[ALONE].commits,
                 r[RAW_ALL].commits / r[RAW_ALONE].commits, 1.0 / 3);
    missed += bar("reads beside a writer to reads without", r[ALL].reads / r[UNWRITTEN].reads,
                  r[RAW_ALL].reads / r[RAW_UNWRITTEN].reads, 0.8);
    printf("bars missed: %d\n", missed);
    return 0;
}
