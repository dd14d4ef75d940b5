/* bench.c - benchmarks of several ranks: sides that take turns, and what they cost. */
/* SPDX-License-Identifier: MIT */
#include "bench.h"

#include <datarep-mpi.h>

#include <malloc.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

enum { ROUNDS_MAX = 15, SIDES_MAX = 8 };

int bars_missed;

void must(int ok, const char *what)
{
    if (ok)
        return;
    fprintf(stderr, "%s failed: %s\n", what, drep_error());
    MPI_Abort(MPI_COMM_WORLD, 1);
}

static double cpu_now(void)
{
    struct rusage r;

    getrusage(RUSAGE_SELF, &r);
    return (double)(r.ru_utime.tv_sec + r.ru_stime.tv_sec) +
           1e-6 * (double)(r.ru_utime.tv_usec + r.ru_stime.tv_usec);
}

/* Linux forgets the peak. */
static void peak_reset(void)
{
    FILE *f = fopen("/proc/self/clear_refs", "w");

    if (f) {
        fputs("5", f);
        fclose(f);
    }
}

/* A line of /proc/self/status, in MiB. */
static double memory_of(const char *name)
{
    FILE *f = fopen("/proc/self/status", "r");
    char line[256];
    double kib = 0;

    while (f && fgets(line, sizeof line, f))
        if (!strncmp(line, name, strlen(name)))
            kib = strtod(line + strlen(name), NULL);
    if (f)
        fclose(f);
    return kib / 1024;
}

static int by_value(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;

    return (x > y) - (x < y);
}

static double median(double *v, int n)
{
    qsort(v, (size_t)n, sizeof *v, by_value);
    return v[n / 2];
}

static struct cost run_once(const struct side *side, void *ctx, const char *path)
{
    double resident, begin, cpu, own[2], sum;
    struct cost cost;

    malloc_trim(0);
    peak_reset();
    resident = memory_of("VmRSS:");
    MPI_Barrier(MPI_COMM_WORLD);
    cpu = cpu_now();
    begin = MPI_Wtime();
    side->run(ctx, path);
    own[0] = MPI_Wtime() - begin;
    sum = cpu_now() - cpu;
    own[1] = memory_of("VmHWM:") - resident;
    MPI_Allreduce(&sum, &cost.cpu, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
    MPI_Allreduce(&own[0], &cost.wall, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
    MPI_Allreduce(&own[1], &cost.memory, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
    return cost;
}

void bench(const struct side *side, int n, int rounds, int fresh, void *ctx, const char *path,
           struct cost *cost)
{
    double wall[SIDES_MAX][ROUNDS_MAX], cpu[SIDES_MAX][ROUNDS_MAX], memory[SIDES_MAX][ROUNDS_MAX];
    char name[4096];
    int rank, round, k;

    must(n <= SIDES_MAX && rounds <= ROUNDS_MAX, "bench");
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    for (round = 0; round < rounds; round++)
        for (k = 0; k < n; k++) {
            struct cost c;

            if (fresh)
                snprintf(name, sizeof name, "%s", path);
            else
                snprintf(name, sizeof name, "%s.%d", path, k);
            if (fresh && rank == 0)
                unlink(name);
            MPI_Barrier(MPI_COMM_WORLD);
            c = run_once(&side[k], ctx, name);
            wall[k][round] = c.wall;
            cpu[k][round] = c.cpu;
            memory[k][round] = c.memory;
        }
    if (fresh && rank == 0)
        unlink(name);
    for (k = 0; k < n; k++)
        cost[k] = (struct cost){median(wall[k], rounds), median(cpu[k], rounds),
                                median(memory[k], rounds)};
}

void cell(double ratio)
{
    printf(" %.2f |", ratio);
}

void cell_with_bar(double ratio, double bar)
{
    bars_missed += ratio > bar;
    printf(" %.2f (%.2f%s) |", ratio, bar, ratio > bar ? ", missed" : "");
}
