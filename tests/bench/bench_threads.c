/* bench_threads.c - one handle, threads that read without a pause and one that commits.
 *
 * Commits wait for a disk, so the file lies in /var/tmp, or where TMPDIR says.  The bars are of
 * one run on one machine: commits beside four readers against commits alone, and what these
 * readers read against what they read without a writer. */
#include "bench.h"

#include <datarep.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

enum { LEN = 1000, READERS_MAX = 4 };

static const double seconds = 3;

static drep_file *f;
static atomic_int stop;
static atomic_long reads;

static void *read_on(void *unused)
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

/* Gives commits and reads, a second. */
static void run(const char *path, int readers, int writes, double *commits, double *read)
{
    const int64_t len = LEN;
    drep_spec spec = {.type = DREP_DOUBLE, .rank = 1, .dims = &len};
    static double v[LEN];
    pthread_t thread[READERS_MAX];
    drep_dataset *ds;
    double start, took;
    int n = 0;

    bench_must(drep_create(path, DREP_RDWR, "native", NULL, &f) == 0, "create");
    bench_must(drep_dataset_create(f, "a", &spec, &ds) == 0, "dataset");
    bench_must(drep_write(ds, NULL, DREP_DOUBLE, v, NULL) == 0, "write");
    bench_must(drep_commit(f) == 0, "commit");
    stop = 0;
    reads = 0;
    for (int i = 0; i < readers; i++)
        bench_must(pthread_create(&thread[i], NULL, read_on, NULL) == 0, "thread");
    start = bench_now();
    while (bench_now() < start + seconds) {
        v[0]++;
        if (!writes)
            nanosleep(&(struct timespec){.tv_nsec = 10000000}, NULL);
        else
            bench_must(drep_write(ds, NULL, DREP_DOUBLE, v, NULL) == 0 && drep_commit(f) == 0,
                       "commit");
        n += writes;
    }
    took = bench_now() - start;
    stop = 1;
    for (int i = 0; i < readers; i++)
        pthread_join(thread[i], NULL);
    drep_dataset_close(ds);
    bench_must(drep_close(f) == 0, "close");
    *commits = n / took;
    *read = (double)reads / took;
    printf("  %d readers%s: %.0f commits/s, %.0f reads/s\n", readers, writes ? "" : ", no writer",
           *commits, *read);
}

static int bar(const char *what, double ratio, double least)
{
    printf("  %s: %.2f, at least %.2f: %s\n", what, ratio, least,
           ratio >= least ? "met" : "MISSED");
    return ratio < least;
}

int main(void)
{
    const char *dir = getenv("TMPDIR");
    double alone, beside, with, without, none;
    char path[400];
    int missed;

    snprintf(path, sizeof path, "%s/bench-%d.drep", dir != NULL ? dir : "/var/tmp", (int)getpid());
    printf("one handle, %d doubles; file in %s\n", LEN, dir != NULL ? dir : "/var/tmp");
    run(path, 0, 1, &alone, &none);
    run(path, 1, 1, &beside, &none);
    run(path, 2, 1, &beside, &none);
    run(path, 4, 0, &none, &without);
    run(path, 4, 1, &beside, &with);
    unlink(path);
    missed = bar("commits beside 4 readers to commits alone", beside / alone, 1.0 / 3);
    missed += bar("reads beside a writer to reads without", with / without, 0.8);
    printf("bars missed: %d\n", missed);
    return 0;
}
