/* bench.c - what the benchmarks share. */
#include "bench.h"

#include <datarep.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/vfs.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

double bench_now(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

void bench_must(int ok, const char *what)
{
    if (ok)
        return;
    fprintf(stderr, "bench: %s failed: %s\n", what, drep_error());
    exit(1);
}

static uint64_t next(uint64_t *s)
{
    *s ^= *s << 13;
    *s ^= *s >> 7;
    *s ^= *s << 17;
    return *s;
}

void bench_random(void *p, size_t size, uint64_t seed)
{
    uint64_t s = seed * 0x9e3779b97f4a7c15u + 1;
    uint8_t *b = p;

    for (size_t i = 0; i < size; i += 8) {
        uint64_t v = next(&s);

        memcpy(b + i, &v, size - i < 8 ? size - i : 8);
    }
}

void bench_doubles(double *p, size_t n, uint64_t seed)
{
    uint64_t s = seed * 0x9e3779b97f4a7c15u + 1;

    for (size_t i = 0; i < n; i++)
        p[i] = ((double)(next(&s) >> 11) / 9007199254740992.0 - 0.5) * 1e6;
}

const char *bench_dir(void)
{
    static const char *const dirs[] = {"/dev/shm", "/tmp"};
    static const char *chosen;
    struct statfs fs;

    if (chosen != NULL)
        return chosen;
    for (size_t i = 0; i < 2; i++)
        if (statfs(dirs[i], &fs) == 0 && access(dirs[i], W_OK) == 0) {
            chosen = dirs[i];
            printf("files are in %s (%s)\n", chosen,
                   fs.f_type == 0x01021994 ? "tmpfs" : "not tmpfs: the bars do not hold here");
            return chosen;
        }
    bench_must(0, "finding a directory for files");
    return NULL;
}

static int by_value(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;

    return (x > y) - (x < y);
}

static double median(double *v, int n)
{
    qsort(v, (size_t)n, sizeof *v, by_value);
    return n % 2 ? v[n / 2] : (v[n / 2 - 1] + v[n / 2]) / 2;
}

int bench_row(const char *title, double bytes, int rounds, const struct bench_entry *entry, int n,
              void *ctx)
{
    double *times = calloc((size_t)(n * rounds), sizeof *times), limit;
    double *ratio = calloc((size_t)rounds, sizeof *ratio);
    int missed = 0;

    bench_must(times != NULL && ratio != NULL, "memory");
    for (int round = -1; round < rounds; round++) /* the first one warms up */
        for (int i = 0; i < n; i++) {
            double begin;

            if (entry[i].before != NULL)
                entry[i].before(ctx);
            begin = bench_now();
            entry[i].run(ctx);
            if (round >= 0)
                times[i * rounds + round] = bench_now() - begin;
        }
    printf("%s\n", title);
    for (int i = 0; i < n; i++) {
        double m;

        /* Ratios within a round first, then their median. */
        for (int r = 0; r < rounds; r++)
            ratio[r] = times[r] / times[i * rounds + r];
        m = median(ratio, rounds);
        memcpy(ratio, times + i * rounds, (size_t)rounds * sizeof *ratio);
        limit = median(ratio, rounds);
        printf("  %-44s %8.3f s", entry[i].name, limit);
        if (bytes > 0)
            printf(" %8.0f MB/s", bytes / limit / 1e6);
        printf("  %5.2f", m);
        if (entry[i].bar > 0) {
            printf("  bar %.2f %s", entry[i].bar, m >= entry[i].bar ? "met" : "MISSED");
            missed += m < entry[i].bar;
        }
        printf("\n");
    }
    fflush(stdout);
    free(times);
    free(ratio);
    return missed;
}

double bench_peak(bench_fn *fn, void *ctx)
{
    struct rusage use;
    int status;
    pid_t pid;

    fflush(stdout);
    pid = fork();
    bench_must(pid >= 0, "fork");
    if (pid == 0) {
        fn(ctx);
        _exit(0);
    }
    bench_must(wait4(pid, &status, 0, &use) == pid && status == 0, "the measured child");
    return (double)use.ru_maxrss * 1024;
}
