/* bench_command.c - the command against h5dump, as users run both.
 *
 * Standard output goes into a file.  The digits of the large dump are read back first: a
 * text that is fast and loses some would be no text of these numbers. */
/* SPDX-License-Identifier: MIT */
#include "bench.h"

#include <datarep.h>
#include <fcntl.h>
#include <hdf5.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#define DATAREP "build/release/datarep"

enum { SETS = FIGURE(10000, 6000), LEN = FIGURE(100, 7), DOUBLES = 5000000, STARTS = 51 };

struct work {
    double *data;
    char drep[64], h5[64], out[64], text[64];
};

/* Runs a command to its end; it has to succeed.  Gives the processor's seconds.  Spawned, not
 * forked: to copy this process, large as it is, is no part of what the command takes. */
static double run(const char *out, const char *const argv[])
{
    posix_spawn_file_actions_t actions;
    struct rusage use;
    int status = 0;
    pid_t child;

    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_addopen(&actions, STDOUT_FILENO, out, O_WRONLY | O_CREAT | O_TRUNC,
                                     0600);
    bench_must(posix_spawnp(&child, argv[0], &actions, NULL, (char *const *)(uintptr_t)argv,
                            environ) == 0 &&
                   wait4(child, &status, 0, &use) == child && status == 0,
               argv[0]);
    posix_spawn_file_actions_destroy(&actions);
    return (double)(use.ru_utime.tv_sec + use.ru_stime.tv_sec) +
           1e-6 * (double)(use.ru_utime.tv_usec + use.ru_stime.tv_usec);
}

#define RUN(w, ...) run((w)->out, (const char *const[]){__VA_ARGS__, NULL})

/* To let go of what the run before wrote is no part of this one. */
static void fresh(void *ctx)
{
    struct work *w = ctx;

    unlink(w->out);
}

static void our_headers(void *ctx)
{
    struct work *w = ctx;

    RUN(w, DATAREP, "dump", "-H", w->drep);
}

/* Least that can be done: the text, copied. */
static void cat_headers(void *ctx)
{
    struct work *w = ctx;

    RUN(w, "cat", w->text);
}

static void their_headers(void *ctx)
{
    struct work *w = ctx;

    RUN(w, "h5dump", "-H", w->h5);
}

static void our_text(void *ctx)
{
    struct work *w = ctx;

    RUN(w, DATAREP, "dump", w->drep);
}

static void our_json(void *ctx)
{
    struct work *w = ctx;

    RUN(w, DATAREP, "dump", "--json", w->drep);
}

static void their_text(void *ctx)
{
    struct work *w = ctx;

    RUN(w, "h5dump", w->h5);
}

static void their_digits(void *ctx)
{
    struct work *w = ctx;

    RUN(w, "h5dump", "-m", "%.17g", w->h5);
}

/* ---------------------------------------------------------------------- files */

/* Datasets in groups, in the root if there is one group alone; each with an attribute, or
 * none. */
static void make_sets(const struct work *w, int groups, bool attribute)
{
    const hsize_t dims[1] = {LEN};
    const int64_t len = LEN;
    drep_spec spec = DREP_SPEC(.type = DREP_FLOAT, .rank = 1, .dims = &len);
    drep_file *file;
    drep_dataset *set;
    hid_t f = H5Fcreate(w->h5, H5F_ACC_TRUNC, H5P_DEFAULT, H5P_DEFAULT);
    hid_t space = H5Screate_simple(1, dims, NULL), one = H5Screate(H5S_SCALAR), text, d, a;
    char path[64];

    bench_must(drep_create(w->drep, DREP_RDWR, "internal", NULL, &file) == 0, "drep_create");
    text = H5Tcopy(H5T_C_S1);
    H5Tset_size(text, 2);
    for (int i = 0; i < SETS; i++) {
        snprintf(path, sizeof path, "/station%02d", i / (SETS / groups));
        if (groups > 1 && i % (SETS / groups) == 0) {
            bench_must(drep_group_create(file, path, 0) == 0, "drep_group_create");
            H5Gclose(H5Gcreate2(f, path, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT));
        }
        snprintf(path + (groups > 1 ? strlen(path) : 0), 32, "/quantity%04d", i);
        bench_must(drep_dataset_create(file, path, &spec, &set) == 0, "drep_dataset_create");
        drep_dataset_close(set);
        d = H5Dcreate2(f, path, H5T_IEEE_F32LE, space, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT);
        if (attribute) {
            a = H5Acreate2(d, "units", text, one, H5P_DEFAULT, H5P_DEFAULT);
            bench_must(H5Awrite(a, text, "m") >= 0 &&
                           drep_attr_write_string(file, path, "units", "m") == 0,
                       "an attribute");
            H5Aclose(a);
        }
        H5Dclose(d);
    }
    H5Tclose(text);
    H5Sclose(one);
    H5Sclose(space);
    bench_must(H5Fclose(f) >= 0 && drep_close(file) == 0, "closing");
}

/* Datasets in the root with as many attributes as files of measurements have. */
static void make_described(const struct work *w)
{
    static const char *const texts[][2] = {
        {"units", "m"}, {"long_name", "a text of some length"}, {"comment", "another, as long"}};
    const int64_t len = LEN;
    drep_spec spec = DREP_SPEC(.type = DREP_FLOAT, .rank = 1, .dims = &len);
    drep_dataset *set;
    drep_file *file;
    char path[32];

    bench_must(drep_create(w->drep, DREP_RDWR, "internal", NULL, &file) == 0, "drep_create");
    for (int i = 0; i < SETS; i++) {
        int err;

        snprintf(path, sizeof path, "/quantity%04d", i);
        err = drep_dataset_create(file, path, &spec, &set);
        drep_dataset_close(set);
        for (int k = 0; k < 3; k++)
            err |= drep_attr_write_string(file, path, texts[k][0], texts[k][1]);
        err |= drep_attr_write_double(file, path, "scale", i * 0.5);
        err |= drep_attr_write_int64(file, path, "version", i);
        bench_must(err == 0, "a dataset with attributes");
    }
    bench_must(drep_close(file) == 0, "drep_close");
}

static void make_doubles(const struct work *w)
{
    const hsize_t dims[1] = {DOUBLES};
    const int64_t len = DOUBLES;
    drep_spec spec = DREP_SPEC(.type = DREP_DOUBLE, .rank = 1, .dims = &len);
    drep_file *file;
    drep_dataset *set = NULL;
    hid_t f = H5Fcreate(w->h5, H5F_ACC_TRUNC, H5P_DEFAULT, H5P_DEFAULT);
    hid_t space = H5Screate_simple(1, dims, NULL);
    hid_t d = H5Dcreate2(f, "x", H5T_IEEE_F64LE, space, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT);

    bench_must(H5Dwrite(d, H5T_NATIVE_DOUBLE, H5S_ALL, H5S_ALL, H5P_DEFAULT, w->data) >= 0,
               "H5Dwrite");
    H5Dclose(d);
    H5Sclose(space);
    bench_must(H5Fclose(f) >= 0, "H5Fclose");
    bench_must(drep_create(w->drep, DREP_RDWR, "internal", NULL, &file) == 0 &&
                   drep_dataset_create(file, "/x", &spec, &set) == 0 &&
                   drep_write(set, NULL, DREP_DOUBLE, w->data, NULL) == 0,
               "writing");
    drep_dataset_close(set);
    bench_must(drep_close(file) == 0, "drep_close");
}

/* ----------------------------------------------------------------------- rows */

/* The numbers of the text, in order, are the numbers of the dataset, bit for bit. */
static void read_back(const struct work *w)
{
    FILE *f = fopen(w->out, "r");
    char *line = NULL, *p, *end;
    size_t room = 0, n = 0, same = 0;
    double v;

    bench_must(f != NULL, w->out);
    while (getline(&line, &room, f) > 0 && strcmp(line, "  data =\n") != 0)
        ;
    while (getline(&line, &room, f) > 0) {
        for (p = line; n < DOUBLES && *p != '#'; p = end + (*end == ',')) {
            v = strtod(p, &end);
            if (end == p)
                break;
            same += memcmp(&v, &w->data[n++], sizeof v) == 0;
        }
    }
    free(line);
    fclose(f);
    printf("numbers of the text that are those of the file, bit for bit: %zu of %d\n", same,
           DOUBLES);
    bench_must(same == DOUBLES, "reading the text back");
}

static int headers(struct work *w)
{
    const struct bench_entry e[] = {
        {"datarep dump -H", fresh, our_headers, 0},
        {"h5dump -H", fresh, their_headers, 30},
    };

    int missed;

    make_sets(w, 1, false);
    missed = bench_versus("dump -H, 10,000 datasets", 7, e, 2, w);
    make_sets(w, 100, true);
    return missed + bench_versus("dump -H, in 100 groups, an attribute each", 7, e, 2, w);
}

/* The text is copied by a program that only copies. */
static int beside_cat(struct work *w, const char *title, int times)
{
    const struct bench_entry e[] = {
        {"cat", fresh, cat_headers, 0},
        {"datarep dump -H", fresh, our_headers, 1.0 / times},
    };
    int missed;

    our_headers(w);
    bench_must(rename(w->out, w->text) == 0, "rename");
    missed = bench_row(title, 0, 15, e, 2, w);
    printf("  %.1f times cat, at most %d\n", 1 / bench_ratio(), times);
    unlink(w->text);
    return missed;
}

static int described(struct work *w)
{
    int missed;

    make_sets(w, 1, false);
    missed = beside_cat(w, "dump -H, 10,000 datasets, beside its text", 5);
    make_described(w);
    return missed + beside_cat(w, "dump -H, 10,000 datasets with 5 attributes", 10);
}

static int texts(struct work *w)
{
    const struct bench_entry e[] = {
        {"datarep dump", fresh, our_text, 0},
        {"h5dump (6 digits)", fresh, their_text, 15},
        {"h5dump -m %.17g", fresh, their_digits, 0},
    };
    const struct bench_entry json[] = {
        {"datarep dump --json", fresh, our_json, 0},
        {"h5dump (6 digits)", fresh, their_text, 0},
    };
    int missed;

    bench_doubles(w->data, DOUBLES, 11);
    make_doubles(w);
    our_text(w);
    read_back(w);
    missed = bench_versus("dump, 5 million doubles as text", 5, e, 3, w);
    return missed + bench_versus("dump --json, 5 million doubles", 3, json, 2, w);
}

/* The processor's time of the least that each command can do. */
static int start(struct work *w)
{
    double ours[STARTS], theirs[STARTS], our_time, their_time;
    bool missed;

    for (int i = 0; i < STARTS; i++) {
        ours[i] = RUN(w, DATAREP, "--version");
        theirs[i] = RUN(w, "h5dump", "--version");
    }
    our_time = bench_median(ours, STARTS);
    their_time = bench_median(theirs, STARTS);
    missed = our_time > 0.005;
    printf("%-46s %8.2f ms of CPU (h5dump %.2f ms)  bar 5 ms %s\n", "--version", 1e3 * our_time,
           1e3 * their_time, missed ? "MISSED" : "met");
    return missed;
}

static void name(char *path, size_t size, const char *what)
{
    snprintf(path, size, "%s/bench-%d-%s", bench_dir(), (int)getpid(), what);
}

/* `headers`, `described`, `texts` or `start` as an argument: only these rows. */
int main(int argc, char **argv)
{
    struct work w = {0};
    int missed = 0;

    name(w.drep, sizeof w.drep, "command.drep");
    name(w.h5, sizeof w.h5, "command.h5");
    name(w.out, sizeof w.out, "command.out");
    name(w.text, sizeof w.text, "command.text");
    w.data = malloc(DOUBLES * sizeof *w.data);
    bench_must(w.data != NULL, "memory");
    printf("median times, times faster; whole commands, into a file\n");
    if (bench_wanted(argc, argv, "headers"))
        missed += headers(&w);
    if (bench_wanted(argc, argv, "described"))
        missed += described(&w);
    if (bench_wanted(argc, argv, "texts"))
        missed += texts(&w);
    if (bench_wanted(argc, argv, "start"))
        missed += start(&w);
    unlink(w.drep);
    unlink(w.h5);
    unlink(w.out);
    free(w.data);
    printf("bars missed: %d\n", missed);
    return 0;
}
