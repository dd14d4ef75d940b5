/* bench.h - rows of interleaved timings.
 *
 * A row is a piece of work with competitors; every round runs each competitor once, in
 * turn, so that a machine whose speed drifts treats all alike.  Figures are medians;
 * the first competitor of a row is the limit that the others are held against. */
/* SPDX-License-Identifier: MIT */
#ifndef BENCH_H
#define BENCH_H

#include <stddef.h>
#include <stdint.h>

/* In front of the loops that limits are made of: the compiler's best for the processor
 * that runs them. */
#if defined(__x86_64__) && defined(__GNUC__) && !defined(__clang__)
#define BEST \
    __attribute__((target_clones("arch=x86-64-v4", "arch=x86-64-v3", "default"), optimize("O3")))
#else
#define BEST
#endif

/* Figures of a piece of work: those that it is known by, and (make bench-second) others, so that
 * what was made for the first ones shows.  Titles say the first. */
#ifdef BENCH_SECOND
#define FIGURE(first, second) (second)
#else
#define FIGURE(first, second) (first)
#endif

typedef void bench_fn(void *ctx);

struct bench_entry {
    const char *name;
    bench_fn *before; /* not timed; may be NULL */
    bench_fn *run;
    double bar; /* least ratio to the limit; 0: none */
};

/* Runs and prints a row.  bytes: moved by each run, for the rate.  Gives the number of
 * bars missed. */
int bench_row(const char *title, double bytes, int rounds, const struct bench_entry *entry, int n,
              void *ctx);

/* The same the other way round: the first entry is ours and has no bar; every other one is
 * a competitor, and its bar says how many times faster than it we must be.  Prints one line
 * for each competitor: work, our time, its name, its time, ratio, bar. */
int bench_versus(const char *work, int rounds, const struct bench_entry *entry, int n, void *ctx);
/* The ratio of the line printed last, for bars that depend on it. */
double bench_ratio(void);

/* `rounds`, or BENCH_ROUNDS, where a script repeats the whole program instead. */
int bench_rounds(int rounds);
/* True for an entry whose name begins with one of the names of BENCH_SKIP, with '|' between them: a
 * script that compares two of our builds leaves the others out.  Rows above do. */
int bench_skipped(const char *name);
/* Appends a median, unless it is 0, to the file that BENCH_TIMES names, for tests/bench/versus.py;
 * rows above do. */
void bench_record(const char *row, const char *entry, double seconds);

/* Seconds; with BENCH_CLOCK=cpu those of the processor, of all threads, for rows of one thread on a
 * machine that others use. */
double bench_now(void);
double bench_median(double *v, int n); /* sorts them */
/* Fills with random bytes (never zeros: pages must be real and values differ). */
void bench_random(void *p, size_t size, uint64_t seed);
/* Random doubles, all finite and normal. */
void bench_doubles(double *p, size_t n, uint64_t seed);
/* What measured arrays look like: a smooth field with noise, in steps of an instrument, so
 * that compressors find something but not much.  Rows of `columns` values. */
void bench_field(double *p, size_t rows, size_t columns, uint64_t seed);
/* A directory for files: on tmpfs when there is one.  Says which. */
const char *bench_dir(void);
/* Whether a row, or a group of rows, is to run: all do when the program has no argument. */
int bench_wanted(int argc, char **argv, const char *row);
/* Ends the program when something that must work did not. */
void bench_must(int ok, const char *what);
/* Greatest resident size of a child process that runs fn, in bytes. */
double bench_peak(bench_fn *fn, void *ctx);

/* The sums of a payload's 4 KiB blocks, as fast as XXH3 goes here; the limits use it. */
uint64_t bench_sums(const void *p, size_t size);
/* Doubles with their bytes swapped, as fast as a plain loop goes here. */
void bench_swap64(void *dst, const void *src, size_t n);

#endif
