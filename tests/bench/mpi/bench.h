/* bench.h - benchmarks of several ranks: sides that take turns, and what they cost. */
/* SPDX-License-Identifier: MIT */
#ifndef TESTS_BENCH_MPI_H
#define TESTS_BENCH_MPI_H

/* End all ranks with a message of the library, unless `ok`. */
void must(int ok, const char *what);

/* One of the things that are compared.  All ranks run it with the same file name. */
struct side {
    const char *name;
    void (*run)(void *ctx, const char *path);
};

/* Medians of all rounds: seconds from a barrier until the last rank is done, seconds of the
 * processors that all ranks used, and the largest memory that a rank took beside what it had, in
 * MiB. */
struct cost {
    double wall, cpu, memory;
};

/* Run n sides in turn, in so many rounds (at most 15).  The file is removed before each run, if
 * `fresh`; else the sides have one each, with their number behind the name. */
void bench(const struct side *side, int n, int rounds, int fresh, void *ctx, const char *path,
           struct cost *cost);

/* A cell of a table, on rank 0: a ratio, and after a bar whether it is met. */
void cell(double ratio);
void cell_with_bar(double ratio, double bar);
/* Bars that were missed so far. */
extern int bars_missed;

#endif
