/* bench.c - what the benchmarks share. */
/* SPDX-License-Identifier: MIT */
#include "bench.h"

#include <datarep.h>
#include <math.h>
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
    const char *clock = getenv("BENCH_CLOCK");
    struct timespec t;

    clock_gettime(clock && strcmp(clock, "cpu") == 0 ? CLOCK_PROCESS_CPUTIME_ID : CLOCK_MONOTONIC,
                  &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

int bench_wanted(int argc, char **argv, const char *row)
{
    return argc < 2 || strcmp(argv[1], row) == 0;
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

/* Roughly normal, deviation 1. */
static double noise(uint64_t *s)
{
    uint64_t v = next(s);
    double sum = 0;

    for (int i = 0; i < 4; i++, v >>= 16)
        sum += (double)(v & 0xffff);
    return (sum / 65535 - 2) * 1.7320508;
}

void bench_field(double *p, size_t rows, size_t columns, uint64_t seed)
{
    uint64_t s = seed * 0x9e3779b97f4a7c15u + 1;
    double *x = malloc(3 * columns * sizeof *x);

    bench_must(x != NULL, "memory");
    for (size_t k = 0; k < columns; k++) {
        x[3 * k] = cos((double)k / 701);
        x[3 * k + 1] = sin((double)k / 163 + 1);
        x[3 * k + 2] = sin((double)k / 31);
    }
    for (size_t i = 0; i < rows; i++) {
        double a = 15 * sin((double)i / 907), b = 6 * cos((double)i / 211), c = sin((double)i / 43);

        for (size_t k = 0; k < columns; k++) {
            double v = 280 + a * x[3 * k] + b * x[3 * k + 1] + c * x[3 * k + 2];

            /* Steps of 2^-22: shuffle and deflate 1 make it about 2.5 times smaller. */
            p[i * columns + k] = rint((v + 0.25 * noise(&s)) * 4194304) / 4194304;
        }
    }
    free(x);
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

double bench_median(double *v, int n)
{
    qsort(v, (size_t)n, sizeof *v, by_value);
    return n % 2 ? v[n / 2] : (v[n / 2 - 1] + v[n / 2]) / 2;
}

int bench_skipped(const char *name)
{
    const char *skip = getenv("BENCH_SKIP");

    for (size_t n; skip != NULL && *skip != '\0'; skip += n + (skip[n] == '|')) {
        n = strcspn(skip, "|");
        if (n > 0 && strncmp(name, skip, n) == 0)
            return 1;
    }
    return 0;
}

/* Times of all entries, each round in turn, 0 for what is skipped; the first round warms up. */
static double *measure(int rounds, const struct bench_entry *entry, int n, void *ctx)
{
    double *times = calloc((size_t)(n * rounds), sizeof *times);

    bench_must(times != NULL, "memory");
    for (int round = -1; round < rounds; round++)
        for (int i = 0; i < n; i++) {
            double begin;

            if (bench_skipped(entry[i].name))
                continue;
            if (entry[i].before != NULL)
                entry[i].before(ctx);
            begin = bench_now();
            entry[i].run(ctx);
            if (round >= 0)
                times[i * rounds + round] = bench_now() - begin;
        }
    return times;
}

int bench_rounds(int rounds)
{
    const char *text = getenv("BENCH_ROUNDS");

    return text != NULL && atoi(text) > 0 ? atoi(text) : rounds;
}

void bench_record(const char *row, const char *entry, double seconds)
{
    const char *path = getenv("BENCH_TIMES");
    FILE *out = path != NULL ? fopen(path, "a") : NULL;

    if (out == NULL)
        return;
    if (seconds > 0)
        fprintf(out, "%s\t%s\t%.9f\n", row, entry, seconds);
    fclose(out);
}

static double last_ratio;

double bench_ratio(void)
{
    return last_ratio;
}

int bench_versus(const char *work, int rounds, const struct bench_entry *entry, int n, void *ctx)
{
    double *times, *ratio, ours, theirs, m;
    int missed = 0;

    rounds = bench_rounds(rounds);
    times = measure(rounds, entry, n, ctx);
    ratio = calloc((size_t)rounds, sizeof *ratio);
    bench_must(ratio != NULL, "memory");
    for (int i = 1; i < n; i++) {
        for (int r = 0; r < rounds; r++)
            ratio[r] = times[i * rounds + r] / times[r];
        m = last_ratio = bench_median(ratio, rounds);
        memcpy(ratio, times, (size_t)rounds * sizeof *ratio);
        ours = bench_median(ratio, rounds);
        memcpy(ratio, times + i * rounds, (size_t)rounds * sizeof *ratio);
        theirs = bench_median(ratio, rounds);
        if (i == 1)
            bench_record(work, "datarep", ours);
        bench_record(work, entry[i].name, theirs);
        printf("%-46s %8.4f s  %-24s %8.4f s  %6.2f", i == 1 ? work : "", ours, entry[i].name,
               theirs, m);
        if (entry[i].bar > 0) {
            printf("  bar %5.2f %s", entry[i].bar, m >= entry[i].bar ? "met" : "MISSED");
            missed += m < entry[i].bar;
        }
        printf("\n");
    }
    fflush(stdout);
    free(times);
    free(ratio);
    return missed;
}

int bench_row(const char *title, double bytes, int rounds, const struct bench_entry *entry, int n,
              void *ctx)
{
    double *times, *ratio, limit;
    int missed = 0;

    rounds = bench_rounds(rounds);
    times = measure(rounds, entry, n, ctx);
    ratio = calloc((size_t)rounds, sizeof *ratio);
    bench_must(ratio != NULL, "memory");
    printf("%s\n", title);
    for (int i = 0; i < n; i++) {
        double m;

        /* Ratios within a round first, then their median. */
        for (int r = 0; r < rounds; r++)
            ratio[r] = times[r] / times[i * rounds + r];
        last_ratio = m = bench_median(ratio, rounds);
        memcpy(ratio, times + i * rounds, (size_t)rounds * sizeof *ratio);
        limit = bench_median(ratio, rounds);
        bench_record(title, entry[i].name, limit);
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
