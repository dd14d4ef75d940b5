/* bench_defaults.c - default threads against one thread, in work of every size.
 *
 * Whoever sets nothing must never be slower than with one thread.  Each row is the same work on
 * the same file, opened anew for each run, once with `threads` 0 and once with 1; rows of the disk
 * read a file that the system has been asked to forget.  Rows: by the name of the dataset. */
/* SPDX-License-Identifier: MIT */
#include "bench.h"

#include <datarep.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { ROWS = 4096, COLUMNS = 4096, CHUNK = 256, TEXTS = 500000, RECORDS = 2 << 20, BLOCKS = 500 };

struct record {
    int64_t number;
    double value;
    float position[4];
};

struct work {
    char path[2][64]; /* tmpfs, disk */
    const char *name;
    int disk, threads, side;
    drep_file *file;
    drep_dataset *dataset;
    const drep_type *type;
    drep_type *text, *record;
    char *data, *out;
    int64_t (*place)[2];
};

/* ---- the file ---- */

static void make(struct work *w, const char *name, const drep_type *type, const char *datarep,
                 int filter, const int64_t *chunk, int rank, const void *data)
{
    const int64_t dims[] = {rank == 2 ? ROWS : type == w->text ? TEXTS : RECORDS, COLUMNS};
    const drep_filter filters[] = {{.id = DREP_FILTER_SHUFFLE}, {.id = filter, .level = 1}};
    drep_spec spec =
        DREP_SPEC(.type = type, .rank = rank, .dims = dims, .chunk = chunk, .datarep = datarep);
    drep_dataset *ds;

    if (filter) {
        spec.filters = filters;
        spec.nfilters = 2;
    }
    bench_must(drep_dataset_create(w->file, name, &spec, &ds) == 0 &&
                   drep_write(ds, NULL, NULL, data, NULL) == 0,
               drep_error());
    drep_dataset_close(ds);
}

static void make_file(struct work *w)
{
    static const int64_t square[] = {CHUNK, CHUNK}, line[] = {100000};
    const char *const names[] = {"number", "value", "position"};
    const int64_t four = 4;
    double *field = (double *)(void *)w->data;
    struct record *records = malloc(RECORDS * sizeof *records);
    char **texts = malloc(TEXTS * sizeof *texts);
    drep_type *array;

    bench_must(records && texts, "memory");
    bench_field(field, ROWS, COLUMNS, 1);
    bench_random(records, RECORDS * sizeof *records, 2);
    for (int i = 0; i < RECORDS; i++)
        records[i].value = i;
    for (int i = 0; i < TEXTS; i++) {
        texts[i] = malloc(32);
        snprintf(texts[i], 32, "%.*s%d", i % 17, "abcdefghijklmnopq", i);
    }
    bench_must(drep_type_vstring(&w->text) == 0 &&
                   drep_type_array(1, &four, DREP_FLOAT, &array) == 0 &&
                   drep_type_compound(3, names, NULL,
                                      (const drep_type *const[]){DREP_INT64_T, DREP_DOUBLE, array},
                                      0, &w->record) == 0 &&
                   drep_create(w->path[0], DREP_RDWR, "native", NULL, &w->file) == 0,
               "create");
    make(w, "contiguous", DREP_DOUBLE, NULL, 0, NULL, 2, field);
    make(w, "external32", DREP_DOUBLE, "external32", 0, NULL, 2, field);
    make(w, "chunks", DREP_DOUBLE, NULL, 0, square, 2, field);
    make(w, "deflate", DREP_DOUBLE, NULL, DREP_FILTER_DEFLATE, square, 2, field);
    make(w, "lz4", DREP_DOUBLE, NULL, DREP_FILTER_LZ4, square, 2, field);
    make(w, "zstd", DREP_DOUBLE, NULL, DREP_FILTER_ZSTD, square, 2, field);
    make(w, "structs", w->record, NULL, 0, NULL, 1, records);
    make(w, "structs32", w->record, "external32", 0, NULL, 1, records);
    make(w, "texts", w->text, NULL, 0, NULL, 1, texts);
    make(w, "lz4 texts", w->text, NULL, DREP_FILTER_LZ4, line, 1, texts);
    bench_must(drep_close(w->file) == 0, "close");
    for (int i = 0; i < TEXTS; i++)
        free(texts[i]);
    free(texts);
    free(records);
    drep_type_free(array);
}

static void copy_file(const struct work *w)
{
    char command[300];

    snprintf(command, sizeof command, "cp '%s' '%s' && sync '%s'", w->path[0], w->path[1],
             w->path[1]);
    bench_must(system(command) == 0, command);
}

/* ---- the works ---- */

static void open_file(void *ctx)
{
    struct work *w = ctx;
    int fd = w->disk ? open(w->path[1], O_RDONLY) : -1;

    if (fd >= 0) {
        posix_fadvise(fd, 0, 0, POSIX_FADV_DONTNEED);
        close(fd);
    }
    bench_must(drep_open(w->path[w->disk], DREP_RDONLY, NULL, &w->file) == 0 &&
                   drep_dataset_open(w->file, w->name, &w->dataset) == 0,
               "open");
}

static void close_file(struct work *w)
{
    drep_dataset_close(w->dataset);
    bench_must(drep_close(w->file) == 0, "close");
}

static void read_all(struct work *w, int threads)
{
    const drep_xfer xfer = DREP_XFER(.threads = threads);

    bench_must(drep_read(w->dataset, NULL, w->type, w->out, &xfer) == 0, "read");
    if (w->type == w->text)
        drep_vlen_free(w->type, TEXTS, w->out);
    close_file(w);
}

static void read_blocks(struct work *w, int threads)
{
    const int64_t count[] = {w->side, w->side};
    const drep_xfer xfer = DREP_XFER(.threads = threads);

    for (int k = 0; k < (w->side == 1 ? 10 * BLOCKS : BLOCKS); k++) {
        int i = k % BLOCKS;
        const int64_t at[] = {w->place[i][0] % (ROWS - w->side),
                              w->place[i][1] % (COLUMNS - w->side)};

        bench_must(drep_read_box(w->dataset, at, count, NULL, w->out, &xfer) == 0, "read");
    }
    close_file(w);
}

static void read_texts(struct work *w, int threads)
{
    const int64_t count = 10;
    const drep_xfer xfer = DREP_XFER(.threads = threads);

    for (int i = 0; i < BLOCKS; i++) {
        const int64_t at = w->place[i][0] * (TEXTS / ROWS);

        bench_must(drep_read_box(w->dataset, &at, &count, NULL, w->out, &xfer) == 0, "read");
        drep_vlen_free(w->text, count, w->out);
    }
    close_file(w);
}

/* A new file each time: the whole field, or records. */
static void write_all(struct work *w, int threads)
{
    static const int64_t square[] = {CHUNK, CHUNK};
    const int64_t dims[] = {ROWS, COLUMNS};
    const drep_filter filters[] = {{.id = DREP_FILTER_SHUFFLE},
                                   {.id = DREP_FILTER_LZ4, .level = 1}};
    drep_spec spec = DREP_SPEC(.type = DREP_DOUBLE, .rank = 2, .dims = dims);
    const drep_xfer xfer = DREP_XFER(.threads = threads);
    char path[80];

    snprintf(path, sizeof path, "%s.new", w->path[w->disk]);
    if (strcmp(w->name, "contiguous") != 0)
        spec.chunk = square;
    if (strcmp(w->name, "lz4") == 0) {
        spec.filters = filters;
        spec.nfilters = 2;
    }
    bench_must(drep_create(path, DREP_RDWR, "native", NULL, &w->file) == 0 &&
                   drep_dataset_create(w->file, "d", &spec, &w->dataset) == 0 &&
                   drep_write(w->dataset, NULL, NULL, w->data, &xfer) == 0,
               "write");
    close_file(w);
    unlink(path);
}

static void convert_all(struct work *w, int threads)
{
    const drep_xfer xfer = DREP_XFER(.threads = threads);

    bench_must(
        drep_convert(DREP_FLOAT, w->out, DREP_DOUBLE, w->data, (int64_t)ROWS * COLUMNS, &xfer) == 0,
        "convert");
}

typedef void work_fn(struct work *w, int threads);

static const struct {
    const char *name, *what;
    work_fn *run;
    int disk, side;
} rows[] = {
    {"contiguous", "read all", read_all, 0, 0},
    {"external32", "read all", read_all, 0, 0},
    {"chunks", "read all", read_all, 0, 0},
    {"deflate", "read all", read_all, 0, 0},
    {"lz4", "read all", read_all, 0, 0},
    {"zstd", "read all", read_all, 0, 0},
    {"structs", "read all", read_all, 0, 0},
    {"structs32", "read all", read_all, 0, 0},
    {"texts", "read all", read_all, 0, 0},
    {"lz4 texts", "read all", read_all, 0, 0},
    {"contiguous", "5,000 elements, 500 of them others", read_blocks, 0, 1},
    {"contiguous", "500 blocks of 64x64", read_blocks, 0, 64},
    {"contiguous", "500 blocks of 400x400", read_blocks, 0, 400},
    {"external32", "500 blocks of 64x64", read_blocks, 0, 64},
    {"chunks", "5,000 elements, 500 of them others", read_blocks, 0, 1},
    {"chunks", "500 blocks of 64x64", read_blocks, 0, 64},
    {"chunks", "500 blocks of 400x400", read_blocks, 0, 400},
    {"deflate", "5,000 elements, 500 of them others", read_blocks, 0, 1},
    {"deflate", "500 blocks of 64x64", read_blocks, 0, 64},
    {"deflate", "500 blocks of 400x400", read_blocks, 0, 400},
    {"lz4", "5,000 elements, 500 of them others", read_blocks, 0, 1},
    {"lz4", "500 blocks of 64x64", read_blocks, 0, 64},
    {"lz4", "500 blocks of 400x400", read_blocks, 0, 400},
    {"zstd", "500 blocks of 64x64", read_blocks, 0, 64},
    {"texts", "500 times 10", read_texts, 0, 0},
    {"lz4 texts", "500 times 10", read_texts, 0, 0},
    {"contiguous", "write", write_all, 0, 0},
    {"chunks", "write", write_all, 0, 0},
    {"lz4", "write", write_all, 0, 0},
    {"contiguous", "convert to float in memory", convert_all, 0, -1},
    {"contiguous", "read all from a disk", read_all, 1, 0},
    {"chunks", "read all from a disk", read_all, 1, 0},
    {"deflate", "read all from a disk", read_all, 1, 0},
    {"contiguous", "500 blocks of 64x64 from a disk", read_blocks, 1, 64},
    {"chunks", "500 blocks of 64x64 from a disk", read_blocks, 1, 64},
    {"lz4", "500 blocks of 64x64 from a disk", read_blocks, 1, 64},
};

struct one {
    struct work *w;
    work_fn *run;
};

static void before(void *ctx)
{
    const struct one *o = ctx;

    if (o->run != write_all && o->run != convert_all)
        open_file(o->w);
}

static void with_default(void *ctx)
{
    const struct one *o = ctx;

    o->run(o->w, 0);
}

static void with_one(void *ctx)
{
    const struct one *o = ctx;

    o->run(o->w, 1);
}

static int row(struct work *w, size_t i)
{
    const struct bench_entry e[] = {{"default", before, with_default, 0},
                                    {"one thread", before, with_one, 0.95}};
    struct one o = {w, rows[i].run};
    char title[80];

    w->name = rows[i].name;
    w->disk = rows[i].disk;
    w->side = rows[i].side;
    w->type = strstr(w->name, "text") ? w->text : strstr(w->name, "structs") ? w->record : NULL;
    snprintf(title, sizeof title, "%s: %s", w->name, rows[i].what);
    return bench_versus(title, w->disk ? 21 : 11, e, 2, &o);
}

int main(int argc, char **argv)
{
    const char *disk = getenv("TMPDIR");
    struct work w = {0};
    size_t size = (size_t)ROWS * COLUMNS * sizeof(double);
    int missed = 0;

    snprintf(w.path[0], sizeof w.path[0], "%s/defaults-%d.drep", bench_dir(), (int)getpid());
    snprintf(w.path[1], sizeof w.path[1], "%s/defaults-%d.drep", disk ? disk : "/var/tmp",
             (int)getpid());
    w.data = malloc(size);
    w.out = calloc(1, size);
    w.place = malloc(BLOCKS * sizeof *w.place);
    bench_must(w.data && w.out && w.place, "memory");
    bench_random(w.place, BLOCKS * sizeof *w.place, 3);
    for (int i = 0; i < BLOCKS; i++) {
        w.place[i][0] &= ROWS - 1;
        w.place[i][1] &= COLUMNS - 1;
    }
    make_file(&w);
    copy_file(&w);
    printf("median times; default threads against one, at least 0.95\n");
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        if (bench_wanted(argc, argv, rows[i].name))
            missed += row(&w, i);
    unlink(w.path[0]);
    unlink(w.path[1]);
    printf("bars missed: %d\n", missed);
    return 0;
}
