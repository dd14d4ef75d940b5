/* bench_runs.c - many filtered chunks: what a file of them wastes, and what each costs.
 *
 * Chunks of 8 KiB that lz4 makes 1.45 times smaller, written at once, and as time steps of
 * interleaved variables with a commit each thousand.  Printed for each: free space, bytes of the
 * tree a chunk, time a chunk.  The bars are for the first: 1 % of free space, 14 bytes.  Then
 * chunks of 64 bytes, 10^4, 10^6 and 10^7 of them: to place one must not cost more where there are
 * many.  The argument `runs=N` writes N chunks of 8 KiB (by default 20,000; the bars are said of
 * 200,000). */
/* SPDX-License-Identifier: MIT */
#include "tests/bench/bench.h"

#include <datarep.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define CHUNK 8192
#define VARIABLES 20
#define STEPS 1000 /* of all variables, from commit to commit */
#define BATCH 2000 /* chunks of one call */

static char path[600];
static unsigned char *bytes;

/* Noise, and zeros for 31 % of each chunk. */
static void make_chunks(size_t n)
{
    bench_random(bytes, n * CHUNK, 5);
    for (size_t i = 0; i < n; i++)
        memset(bytes + i * CHUNK, 0, CHUNK * 31 / 100);
}

static drep_dataset *make_dataset(drep_file *f, const char *name, int64_t steps)
{
    int64_t dims[2] = {steps, CHUNK}, max[2] = {DREP_UNLIMITED, CHUNK}, chunk[2] = {1, CHUNK};
    const drep_filter filters[] = {{.id = DREP_FILTER_LZ4}};
    drep_spec spec =
        DREP_SPEC(.type = DREP_UINT8_T, .rank = 2, .dims = dims, .maxdims = max,
                  .layout = DREP_CHUNKED, .chunk = chunk, .filters = filters, .nfilters = 1);
    drep_dataset *ds;

    bench_must(drep_dataset_create(f, name, &spec, &ds) == 0, drep_error());
    return ds;
}

static void write_steps(drep_dataset *ds, int64_t first, int64_t n, const unsigned char *from)
{
    int64_t start[2] = {first, 0}, count[2] = {n, CHUNK};
    drep_selection *sel;

    bench_must(drep_select_box(2, start, count, NULL, NULL, &sel) == 0, drep_error());
    bench_must(drep_write(ds, sel, NULL, from, NULL) == 0, drep_error());
    drep_selection_free(sel);
}

static int report(const char *title, int64_t chunks, double seconds, int bars)
{
    drep_usage usage = DREP_USAGE;
    drep_objusage object = DREP_OBJUSAGE;
    int64_t findings, tree = 0, size;
    double waste, each;
    drep_file *f;

    bench_must(drep_open(path, DREP_RDONLY, NULL, &f) == 0, drep_error());
    bench_must(drep_check(f, 0, NULL, NULL, &findings) == 0 && findings == 0, "check");
    bench_must(drep_usage_get(f, &usage) == 0, drep_error());
    if (bars) {
        bench_must(drep_object_usage(f, "/v0", &object) == 0, drep_error());
        tree = object.metadata;
    }
    bench_must(drep_close(f) == 0, drep_error());
    size = usage.data + usage.free + usage.nodes + usage.sums;
    waste = 100.0 * (double)usage.free / (double)size;
    tree = tree ? tree : usage.nodes;
    each = (double)tree / (double)chunks;
    printf("%-44s %8.1f MB, free %5.2f %%, tree %5.1f B/chunk, %6.2f us/chunk\n", title,
           (double)size / 1e6, waste, each, seconds / (double)chunks * 1e6);
    bench_record(title, "datarep", seconds);
    return bars ? (waste > 1) + (each > 14) : 0;
}

static int at_once(int64_t chunks)
{
    double start;
    drep_dataset *ds;
    drep_file *f;

    bench_must(drep_create(path, DREP_RDWR, "external32", NULL, &f) == 0, drep_error());
    ds = make_dataset(f, "/v0", chunks);
    start = bench_now();
    for (int64_t i = 0; i < chunks; i += BATCH)
        write_steps(ds, i, chunks - i < BATCH ? chunks - i : BATCH, bytes);
    drep_dataset_close(ds);
    bench_must(drep_close(f) == 0, drep_error());
    return report("chunks of 8 KiB, lz4, at once", chunks, bench_now() - start, 1);
}

static int interleaved(int64_t chunks)
{
    drep_dataset *ds[VARIABLES];
    int64_t steps = chunks / VARIABLES;
    double start;
    drep_file *f;

    bench_must(drep_create(path, DREP_RDWR, "external32", NULL, &f) == 0, drep_error());
    for (int v = 0; v < VARIABLES; v++) {
        char name[16];

        snprintf(name, sizeof name, "/v%d", v);
        ds[v] = make_dataset(f, name, steps);
    }
    start = bench_now();
    for (int64_t s = 0; s < steps; s++) {
        for (int v = 0; v < VARIABLES; v++)
            write_steps(ds[v], s, 1, bytes + (s * VARIABLES + v) % BATCH * CHUNK);
        if ((s + 1) * VARIABLES % STEPS == 0)
            bench_must(drep_commit(f) == 0, drep_error());
    }
    for (int v = 0; v < VARIABLES; v++)
        drep_dataset_close(ds[v]);
    bench_must(drep_close(f) == 0, drep_error());
    return report("20 variables step by step, commit each 1,000", steps * VARIABLES,
                  bench_now() - start, 0);
}

/* ---- very many small ones ---- */

enum { SMALL = 64, READS = 20000 };

static drep_dataset *make_small(drep_file *f, int64_t chunks)
{
    int64_t dims[] = {chunks, SMALL}, chunk[] = {1, SMALL};
    const drep_filter filters[] = {{.id = DREP_FILTER_LZ4}};
    drep_spec spec = DREP_SPEC(.type = DREP_UINT8_T, .rank = 2, .dims = dims, .chunk = chunk,
                               .filters = filters, .nfilters = 1);
    drep_dataset *ds;

    bench_must(drep_dataset_create(f, "/v0", &spec, &ds) == 0, drep_error());
    return ds;
}

/* Microseconds for each of `chunks`, written in calls of 1,000, until they are committed. */
static double place(int64_t chunks)
{
    const int64_t n[] = {1000, SMALL};
    drep_xfer xfer = DREP_XFER(.threads = 1);
    drep_info *info;
    drep_dataset *ds;
    drep_file *f = NULL;
    double start;

    bench_must(drep_info_new(&info) == 0 && drep_info_set(info, "drep_sync", "none") == 0 &&
                   drep_create(path, DREP_RDWR, "external32", info, &f) == 0,
               drep_error());
    drep_info_free(info);
    ds = make_small(f, chunks);
    start = bench_now();
    for (int64_t i = 0; i < chunks; i += n[0]) {
        const int64_t at[] = {i, 0};

        bench_must(drep_write_box(ds, at, n, NULL, bytes + i / 1000 % 1000 * SMALL, &xfer) == 0,
                   drep_error());
    }
    drep_dataset_close(ds);
    bench_must(drep_close(f) == 0, drep_error());
    return (bench_now() - start) / (double)chunks * 1e6;
}

/* Microseconds for one of them, anywhere; the file has just been opened. */
static double read_small(int64_t chunks)
{
    const int64_t n[] = {1, SMALL};
    uint64_t at[READS];
    uint8_t got[SMALL];
    double start;
    drep_dataset *ds;
    drep_file *f;

    bench_random(at, sizeof at, 9);
    bench_must(drep_open(path, DREP_RDONLY, NULL, &f) == 0 && drep_dataset_open(f, "/v0", &ds) == 0,
               drep_error());
    start = bench_now();
    for (int i = 0; i < READS; i++) {
        const int64_t from[] = {(int64_t)(at[i] % (uint64_t)chunks), 0};
        const unsigned char *want = bytes + (from[0] / 1000 % 1000 + from[0] % 1000) * SMALL;

        bench_must(drep_read_box(ds, from, n, NULL, got, NULL) == 0, drep_error());
        bench_must(memcmp(got, want, SMALL) == 0, "comparing what was read");
    }
    start = bench_now() - start;
    drep_dataset_close(ds);
    bench_must(drep_close(f) == 0, drep_error());
    return start / READS * 1e6;
}

static int very_many(void)
{
    static const int64_t counts[] = {10000, 1000000, 10000000};
    static const int rounds[] = {15, 3, 1};
    static const char *const titles[] = {"chunks of 64 bytes, lz4, 10^4",
                                         "chunks of 64 bytes, lz4, 10^6",
                                         "chunks of 64 bytes, lz4, 10^7"};
    double cost[3], times[15], reading;
    int missed;

    for (int i = 0; i < 3; i++) {
        for (int k = 0; k < rounds[i]; k++)
            times[k] = place(counts[i]);
        cost[i] = bench_median(times, rounds[i]);
        reading = read_small(counts[i]);
        printf("%-44s %6.2f us/chunk to place, %6.2f us to read one of them\n", titles[i], cost[i],
               reading);
        bench_record(titles[i], "datarep, placed", cost[i] * 1e-6);
        bench_record(titles[i], "datarep, read", reading * 1e-6);
    }
    missed = (cost[1] > 1.2 * cost[0]) + (cost[2] > 1.2 * cost[0]);
    printf("  10^6: %.2f times the cost at 10^4, 10^7: %.2f times, at most 1.20: %s\n",
           cost[1] / cost[0], cost[2] / cost[0], missed ? "MISSED" : "met");
    return missed;
}

int main(int argc, char **argv)
{
    int64_t chunks = 20000;
    int missed = 0;

    for (int i = 1; i < argc; i++)
        if (strncmp(argv[i], "runs=", 5) == 0)
            chunks = strtoll(argv[i] + 5, NULL, 10);
    if (!drep_filter_available(DREP_FILTER_LZ4) || chunks < STEPS) {
        printf("runs of filtered chunks: left out, lz4 is not built in\n");
        return 0;
    }
    snprintf(path, sizeof path, "%s/bench_runs.drep", bench_dir());
    bytes = malloc((size_t)BATCH * CHUNK);
    bench_must(bytes != NULL, "memory");
    make_chunks(BATCH);
    missed += at_once(chunks);
    missed += interleaved(chunks);
    missed += very_many();
    remove(path);
    free(bytes);
    printf("bars missed: %d\n", missed);
    return 0;
}
