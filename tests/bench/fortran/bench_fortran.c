/* bench_fortran.c - the module for Fortran beside the calls of C that it makes.
 *
 * Each row runs work.f90 and the same work in C in turn, by the same shared library, on files of
 * their own.  Calls that do little: what Fortran's takes more, in microseconds.  Transfers of much:
 * ratios.  Memory: what a fresh process needs beside the array, as the system counts it.
 *
 * Usage: bench_fortran [calls | transfers | memory] */
/* SPDX-License-Identifier: MIT */
#include "../bench.h"

#include <datarep.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define MIB (1024.0 * 1024.0)
#define CALL_BAR 0.5    /* microseconds */
#define STRIDED_BAR 1.2 /* times C's time */
#define MEMORY_BAR 8.0  /* MiB more than C */
enum { CALLS = 1000, CALL_ROUNDS = 151, ROUNDS = 7 };

extern void fortran_begin(const char *path, int make, const char *representation, void *p,
                          int64_t nx, int64_t ny, int64_t nz);
extern void fortran_make(const char *path, int64_t nx, int64_t ny, int64_t nz);
extern void fortran_small(const char *path, int64_t n);
extern void fortran_end(void);
typedef void calls_fn(int64_t n);
extern calls_fn fortran_one_read, fortran_one_write, fortran_all_read, fortran_all_write,
    fortran_path_read, fortran_attr_number, fortran_attr_set, fortran_exists;
extern void fortran_planes_write(void), fortran_planes_read(void), fortran_rows_write(void),
    fortran_rows_read(void), fortran_elements_write(void), fortran_elements_read(void);

static drep_file *file;
static drep_dataset *dataset;
static double small[8], *array;
static int64_t nx, ny, nz; /* of the array, in Fortran's order */
static char path_c[300], path_f[300];
static int missed;

static void must(int err, const char *what)
{
    bench_must(err == 0, what);
}

static void paths(void)
{
    snprintf(path_c, sizeof path_c, "%s/bench-fortran-%d-c.drep", bench_dir(), (int)getpid());
    snprintf(path_f, sizeof path_f, "%s/bench-fortran-%d-f.drep", bench_dir(), (int)getpid());
}

static void make(const char *name, int64_t x, int64_t y, int64_t z)
{
    int64_t dims[] = {z, y, x};
    drep_spec spec = DREP_SPEC(.type = DREP_DOUBLE, .rank = 3, .dims = dims);

    must(drep_dataset_create(file, name, &spec, &dataset), "creating");
    fortran_make(name, x, y, z);
}

static void begin(const char *representation)
{
    must(drep_create(path_c, DREP_RDWR, representation, NULL, &file), "creating a file");
    fortran_begin(path_f, 1, representation, array, nx, ny, nz);
}

static void end(void)
{
    drep_dataset_close(dataset);
    must(drep_close(file), "closing");
    fortran_end();
    remove(path_c);
    remove(path_f);
}

/* ---------------------------------------------------------------- calls */

static void one(int64_t n, int writes)
{
    double x = 1.5;

    for (int64_t i = 1; i <= n; i++) {
        drep_selection *sel;

        must(drep_select_box(3, (int64_t[]){0, 0, i % 8}, (int64_t[]){1, 1, 1}, NULL, NULL, &sel),
             "selecting");
        must(writes ? drep_write(dataset, sel, DREP_DOUBLE, &x, NULL)
                    : drep_read(dataset, sel, DREP_DOUBLE, &x, NULL),
             "moving one");
        drep_selection_free(sel);
    }
}

static void one_read(int64_t n)
{
    one(n, 0);
}

static void one_write(int64_t n)
{
    one(n, 1);
}

static void all_read(int64_t n)
{
    for (int64_t i = 0; i < n; i++)
        must(drep_read(dataset, NULL, DREP_DOUBLE, small, NULL), "reading");
}

static void all_write(int64_t n)
{
    for (int64_t i = 0; i < n; i++)
        must(drep_write(dataset, NULL, DREP_DOUBLE, small, NULL), "writing");
}

static void path_read(int64_t n)
{
    for (int64_t i = 0; i < n; i++) {
        drep_dataset *d;

        must(drep_dataset_open(file, "/small", &d), "opening");
        must(drep_read(d, NULL, DREP_DOUBLE, small, NULL), "reading");
        drep_dataset_close(d);
    }
}

static void attr_number(int64_t n)
{
    int step;

    for (int64_t i = 0; i < n; i++)
        must(drep_attr_read(file, "/small", "step", DREP_INT, &step), "an attribute");
}

static void attr_set(int64_t n)
{
    for (int64_t i = 1; i <= n; i++) {
        int step = (int)i;

        must(drep_attr_write(file, "/small", "step", DREP_INT, 0, NULL, &step), "an attribute");
    }
}

static void exists(int64_t n)
{
    int kind;

    for (int64_t i = 0; i < n; i++)
        must(drep_exists(file, "/small", &kind) || kind == 0, "exists");
}

/* What a call of Fortran takes more than C's. */
static void calls_row(const char *what, calls_fn *c, calls_fn *fortran)
{
    double more[CALL_ROUNDS], times[CALL_ROUNDS], theirs, m;

    for (int round = -1; round < CALL_ROUNDS; round++) {
        double t0 = bench_now(), t1, t2;

        c(CALLS);
        t1 = bench_now();
        fortran(CALLS);
        t2 = bench_now();
        if (round < 0)
            continue;
        times[round] = (t1 - t0) / CALLS * 1e6;
        more[round] = (t2 - t1) / CALLS * 1e6 - times[round];
    }
    m = bench_median(more, CALL_ROUNDS);
    theirs = bench_median(times, CALL_ROUNDS);
    printf("%-46s C %7.3f us  Fortran %+7.3f us  bar %.1f %s\n", what, theirs, m, CALL_BAR,
           m <= CALL_BAR ? "met" : "MISSED");
    fflush(stdout);
    missed += m > CALL_BAR;
}

static void calls(void)
{
    int64_t dims[] = {8};
    drep_spec spec = DREP_SPEC(.type = DREP_DOUBLE, .rank = 1, .dims = dims);

    printf("-- calls\n");
    nx = 8;
    ny = nz = 1;
    array = small;
    begin("native");
    make("/cube", 8, 1, 1);
    calls_row("one element by its indices, read", one_read, fortran_one_read);
    calls_row("one element by its indices, written", one_write, fortran_one_write);
    drep_dataset_close(dataset);
    must(drep_dataset_create(file, "/small", &spec, &dataset), "creating");
    fortran_small("/small", 8);
    all_write(1);
    fortran_all_write(1);
    attr_set(1);
    fortran_attr_set(1);
    calls_row("8 elements, a whole dataset, read", all_read, fortran_all_read);
    calls_row("8 elements, a whole dataset, written", all_write, fortran_all_write);
    calls_row("the same read by its path", path_read, fortran_path_read);
    calls_row("an attribute, read", attr_number, fortran_attr_number);
    calls_row("an attribute, written", attr_set, fortran_attr_set);
    calls_row("whether there is an object", exists, fortran_exists);
    end();
}

/* ---------------------------------------------------------------- transfers */

/* A transfer of a part of the array: its strided memory type, as a program in C makes it. */
struct part {
    const char *name;
    double bar;                /* Fortran's time / C's */
    int64_t blocks, len, step; /* of a vector of doubles */
    int64_t x, y, z;           /* lengths of the part */
    void (*write)(void), (*read)(void);
};
static drep_type *part_type;

static void c_write(void *ctx)
{
    (void)ctx;
    must(drep_write(dataset, NULL, part_type, array, NULL), "writing");
}

static void c_read(void *ctx)
{
    (void)ctx;
    must(drep_read(dataset, NULL, part_type, array, NULL), "reading");
}

static void f_write(void *ctx)
{
    ((const struct part *)ctx)->write();
}

static void f_read(void *ctx)
{
    ((const struct part *)ctx)->read();
}

/* 512 MiB and a plane. */
static void array_new(void)
{
    nx = 512;
    ny = 512;
    nz = 257;
    array = malloc((size_t)(nx * ny * nz) * sizeof *array);
    bench_must(array != NULL, "memory");
    bench_doubles(array, (size_t)(nx * ny * nz), 1);
}

static int parts(struct part *list)
{
    const struct part all[] = {
        {"a(:, :, :n-1), contiguous, 512 MiB", 1.05, 1, nx * ny * (nz - 1), 0, nx, ny, nz - 1,
         fortran_planes_write, fortran_planes_read},
        {"a(:, ::2, :), 257 MiB", STRIDED_BAR, ny / 2 * nz, nx, 2 * nx, nx, ny / 2, nz,
         fortran_rows_write, fortran_rows_read},
        {"a(::2, :, :), 257 MiB", STRIDED_BAR, nx / 2 * ny * nz, 1, 2, nx / 2, ny, nz,
         fortran_elements_write, fortran_elements_read},
    };

    memcpy(list, all, sizeof all);
    return (int)(sizeof all / sizeof *all);
}

static void part_begin(const struct part *p, const char *representation)
{
    begin(representation);
    make("/a", p->x, p->y, p->z);
    if (p->step)
        must(drep_type_vector(p->blocks, p->len, p->step, DREP_DOUBLE, &part_type), "a datatype");
    else
        part_type = drep_type_ref(DREP_DOUBLE);
}

static void part_end(void)
{
    drep_type_free(part_type);
    end();
}

static void transfers(void)
{
    struct part list[8];
    const char *const representations[] = {"native", "external32"};
    int n;

    printf("-- transfers: C's time / Fortran's\n");
    array_new();
    n = parts(list);
    for (int r = 0; r < 2; r++)
        for (int i = 0; i < n; i++) {
            double bytes = 8.0 * (double)(list[i].x * list[i].y * list[i].z);
            const struct bench_entry there[] = {
                {"C, written", NULL, c_write, 0},
                {"Fortran, written", NULL, f_write, 1 / list[i].bar}};
            const struct bench_entry back[] = {{"C, read", NULL, c_read, 0},
                                               {"Fortran, read", NULL, f_read, 1 / list[i].bar}};
            char title[120];

            snprintf(title, sizeof title, "%s, %s", list[i].name, representations[r]);
            part_begin(&list[i], representations[r]);
            missed += bench_row(title, bytes, ROUNDS, there, 2, &list[i]);
            missed += bench_row(title, bytes, ROUNDS, back, 2, &list[i]);
            part_end();
        }
    free(array);
}

/* ---------------------------------------------------------------- memory */

/* The greatest resident size of this process so far, in MiB, without what files of tmpfs that are
 * mapped take. */
static double peak(void)
{
    char line[200];
    double kib = 0;
    FILE *f = fopen("/proc/self/status", "r");

    bench_must(f != NULL, "/proc/self/status");
    while (fgets(line, sizeof line, f))
        if (sscanf(line, "VmHWM: %lf", &kib) == 1)
            break;
    fclose(f);
    return kib / 1024;
}

/* In a process of its own: MiB beside the array. */
static void memory_of_part(int which, int fortran, int reads)
{
    struct part list[8];

    array_new();
    parts(list);
    part_begin(&list[which], "external32");
    if (fortran)
        (reads ? list[which].read : list[which].write)();
    else
        (reads ? c_read : c_write)(NULL);
    printf("%.1f\n", peak() - (double)(nx * ny * nz) * sizeof *array / MIB);
    part_end();
}

static double memory_in_process(const char *self, int which, int fortran, int reads)
{
    char command[400];
    double mib = -1;
    FILE *out;

    snprintf(command, sizeof command, "%s part %d %d %d | tail -n 1", self, which, fortran, reads);
    fflush(stdout);
    out = popen(command, "r");
    bench_must(out != NULL && fscanf(out, "%lf", &mib) == 1, "the measured process");
    pclose(out);
    return mib;
}

static void memory(const char *self)
{
    struct part list[8];
    int n;

    printf("-- memory beside the array, external32\n");
    nx = ny = nz = 2; /* for the names alone */
    n = parts(list);
    for (int i = 0; i < n; i++)
        for (int reads = 0; reads < 2; reads++) {
            double c = memory_in_process(self, i, 0, reads),
                   f = memory_in_process(self, i, 1, reads);

            printf("%-40s %-8s C %6.1f MiB  Fortran %6.1f MiB  bar +%.0f MiB %s\n", list[i].name,
                   reads ? "read" : "written", c, f, MEMORY_BAR,
                   f - c <= MEMORY_BAR ? "met" : "MISSED");
            missed += f - c > MEMORY_BAR;
        }
}

int main(int argc, char **argv)
{
    if (argc == 5) {
        paths();
        memory_of_part(atoi(argv[2]), atoi(argv[3]), atoi(argv[4]));
        return 0;
    }
    paths();
    if (bench_wanted(argc, argv, "calls"))
        calls();
    if (bench_wanted(argc, argv, "transfers"))
        transfers();
    if (bench_wanted(argc, argv, "memory"))
        memory(argv[0]);
    if (missed)
        printf("%d bars missed\n", missed);
    return missed != 0;
}
