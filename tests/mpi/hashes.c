/* hashes.c - one array, written by any number of ranks in any parts: whose bytes are the same.
 *
 * Usage: hashes DIRECTORY     by one rank: also by one process without MPI's calls, "serial"
 *
 * Writes each kind of file in each way: DIRECTORY/KIND.WAY.RANKS.drep.  Collective writes promise
 * the bytes of the serial file, those of single ranks its values. */
/* SPDX-License-Identifier: MIT */
#include "tests/mpi/check.h"

enum { HEIGHT = 150, WIDTH = 170, PARTS_MAX = 64, RANDOM_PARTS = 24 };

struct box {
    int64_t start[2], count[2];
};

/* ---- the kinds ---- */

/* Each byte of an item turned around, by functions of MPI's signature. */
static int turn(void *userbuf, MPI_Datatype datatype, int count, char *filebuf, MPI_Offset position,
                int to_file)
{
    drep_cursor cursor;
    drep_type *type;
    drep_run run;
    int64_t left = count, i, b;

    if (drep_mpi_type(datatype, &type) || drep_cursor_init(&cursor, type, position))
        return MPI_ERR_TYPE;
    for (; left > 0 && drep_cursor_next(&cursor, left, &run); left -= run.count) {
        int64_t size = drep_type_size(run.type);

        for (i = 0; i < run.count; i++, filebuf += size) {
            char *item = (char *)userbuf + run.offset + i * run.stride;

            for (b = 0; b < size; b++)
                if (to_file)
                    filebuf[b] = (char)~item[b];
                else
                    item[b] = (char)~filebuf[b];
        }
    }
    drep_type_free(type);
    return MPI_SUCCESS;
}

static int turn_in(void *userbuf, MPI_Datatype datatype, int count, void *filebuf,
                   MPI_Offset position, void *extra)
{
    (void)extra;
    return turn(userbuf, datatype, count, filebuf, position, 0);
}

static int turn_out(void *userbuf, MPI_Datatype datatype, int count, void *filebuf,
                    MPI_Offset position, void *extra)
{
    (void)extra;
    return turn(userbuf, datatype, count, filebuf, position, 1);
}

static int same_extent(MPI_Datatype datatype, MPI_Aint *extent, void *extra)
{
    MPI_Aint lb;

    (void)extra;
    return MPI_Type_get_extent(datatype, &lb, extent);
}

static const struct kind {
    const char *name, *datarep;
    int layout, texts, compressor;
} kinds[] = {
    {"native", "native", DREP_CHUNKED, 0, 0},
    {"external32", "external32", DREP_CHUNKED, 0, 0},
    {"user", "turned", DREP_CHUNKED, 0, 0},
    {"shuffle-deflate", "native", DREP_CHUNKED, 0, DREP_FILTER_DEFLATE},
    {"shuffle-zstd", "external32", DREP_CHUNKED, 0, DREP_FILTER_ZSTD},
    {"texts", "native", DREP_CHUNKED, 1, 0},
    {"contiguous", "external32", DREP_CONTIGUOUS, 0, 0},
};
enum { KINDS = sizeof kinds / sizeof *kinds };

/* ---- the ways ---- */

enum way { ROWS, COLUMNS, BLOCKS, BOXES, ALONE, WAYS };
static const char *const way_names[WAYS] = {"rows", "columns", "blocks", "boxes", "alone"};

static uint32_t state;

static int64_t below(int64_t n)
{
    state = state * 1664525u + 1013904223u;
    return (int64_t)(state >> 8) % n;
}

/* Cut a box in two, again and again, until there are n. */
static void split(struct box all, int n, enum way way, struct box *out)
{
    int d = way == COLUMNS ? 1 : way == ROWS ? 0 : all.count[1] > all.count[0];
    int64_t at = all.count[d] * (n / 2) / n;
    struct box a = all, b = all;

    if (n == 1) {
        *out = all;
        return;
    }
    if (way == BOXES && all.count[d] > 1)
        at = 1 + below(all.count[d] - 1);
    a.count[d] = at;
    b.start[d] += at;
    b.count[d] -= at;
    split(a, n / 2, way, out);
    split(b, n - n / 2, way, out + n / 2);
}

/* ---- the values ---- */

static void *values_of(const struct kind *kind, const struct box *box, drep_type **type)
{
    int64_t n = box->count[0] * box->count[1], k = 0, i, j;
    double *numbers = calloc((size_t)n + 1, sizeof *numbers);
    char **texts = calloc((size_t)n + 1, sizeof *texts);

    for (i = box->start[0]; i < box->start[0] + box->count[0]; i++)
        for (j = box->start[1]; j < box->start[1] + box->count[1]; j++, k++) {
            char text[80];

            numbers[k] = (double)(i * 7 % 31) + (double)j / 8;
            snprintf(text, sizeof text, "%.*s %d", (int)((i * 13 + j) % 29),
                     "abcdefghijklmnopqrstuvwxyz...", (int)(i * j));
            if (kind->texts)
                texts[k] = strdup(text);
        }
    *type = NULL;
    if (kind->texts)
        OK(drep_type_vstring(type));
    free(kind->texts ? (void *)numbers : (void *)texts);
    return kind->texts ? (void *)texts : (void *)numbers;
}

static void values_free(const struct kind *kind, const struct box *box, void *values)
{
    int64_t k;

    for (k = 0; kind->texts && k < box->count[0] * box->count[1]; k++)
        free(((char **)values)[k]);
    free(values);
}

static void write_box(drep_dataset *ds, const struct kind *kind, const struct box *box,
                      int collective)
{
    drep_type *type;
    void *values = values_of(kind, box, &type);

    OK(drep_write_box(ds, box->start, box->count, type ? type : DREP_DOUBLE, values,
                      &DREP_XFER(.collective = collective)));
    drep_type_free(type);
    values_free(kind, box, values);
}

/* ---- the files ---- */

static drep_dataset *make_dataset(drep_file *f, const struct kind *kind)
{
    const int64_t dims[2] = {HEIGHT, WIDTH}, chunk[2] = {16, 24};
    drep_filter filters[2] = {{.id = DREP_FILTER_SHUFFLE}, {.id = kind->compressor}};
    drep_spec spec =
        DREP_SPEC(.type = DREP_DOUBLE, .rank = 2, .dims = dims, .layout = kind->layout);
    drep_dataset *ds = NULL;
    drep_type *text = NULL;

    if (kind->texts)
        OK(drep_type_vstring(&text));
    if (text)
        spec.type = text;
    if (kind->layout == DREP_CHUNKED)
        spec.chunk = chunk;
    if (kind->compressor) {
        spec.filters = filters;
        spec.nfilters = 2;
    }
    OK(drep_dataset_create(f, "/x", &spec, &ds));
    drep_type_free(text);
    return ds;
}

static void write_serial(const char *path, const struct kind *kind, const drep_info *info)
{
    const struct box all = {{0, 0}, {HEIGHT, WIDTH}};
    drep_file *f = NULL;
    drep_dataset *ds;

    OK(drep_create(path, DREP_RDWR, kind->datarep, info, &f));
    if (!f)
        return;
    ds = make_dataset(f, kind);
    if (ds)
        write_box(ds, kind, &all, 0);
    drep_dataset_close(ds);
    OK(drep_close(f));
}

/* Each rank has several boxes, or none, and writes their union in one call: one write of all ranks
 * is to be one write of the serial file. */
static void write_boxes(drep_dataset *ds, const struct kind *kind, const struct box *box, int n,
                        int collective)
{
    drep_selection *all = NULL, *one, *both;
    char *in = calloc(HEIGHT * WIDTH, 1), *values;
    const struct box whole = {{0, 0}, {HEIGHT, WIDTH}};
    size_t size = kind->texts ? sizeof(char *) : sizeof(double), k = 0, i;
    drep_type *type;
    char *packed;
    int b;

    for (b = check_rank; b < n; b += check_ranks) {
        int64_t y;

        OK(drep_select_box(2, box[b].start, box[b].count, NULL, NULL, &one));
        if (all) {
            OK(drep_select_union(all, one, &both));
            drep_selection_free(all);
            drep_selection_free(one);
            one = both;
        }
        all = one;
        for (y = 0; y < box[b].count[0]; y++)
            memset(in + (box[b].start[0] + y) * WIDTH + box[b].start[1], 1,
                   (size_t)box[b].count[1]);
    }
    values = values_of(kind, &whole, &type);
    packed = calloc(HEIGHT * WIDTH, size);
    for (i = 0; i < HEIGHT * WIDTH; i++)
        if (in[i])
            memcpy(packed + k++ * size, values + i * size, size);
    if (all)
        OK(drep_write(ds, all, type ? type : DREP_DOUBLE, packed,
                      &DREP_XFER(.collective = collective)));
    drep_selection_free(all);
    drep_type_free(type);
    values_free(kind, &whole, values);
    free(packed);
    free(in);
}

static void write_way(const char *path, const struct kind *kind, enum way way,
                      const drep_info *info)
{
    const struct box all = {{0, 0}, {HEIGHT, WIDTH}};
    struct box box[PARTS_MAX];
    drep_file *f = NULL;
    drep_dataset *ds;
    int n = way == BOXES || way == ALONE ? RANDOM_PARTS : check_ranks;

    state = 1;
    split(all, n, way == ALONE ? BOXES : way, box);
    OK(drep_mpi_create(MPI_COMM_WORLD, path, DREP_RDWR, kind->datarep, info, &f));
    if (!f)
        return;
    ds = make_dataset(f, kind);
    if (ds && n == check_ranks)
        write_box(ds, kind, &box[check_rank], 1);
    else if (ds)
        write_boxes(ds, kind, box, n, way != ALONE);
    drep_dataset_close(ds);
    OK(drep_close(f));
}

int main(int argc, char **argv)
{
    char path[4096];
    drep_info *info;
    int k, w;

    check_begin(&argc, &argv);
    if (argc < 2)
        MPI_Abort(MPI_COMM_WORLD, 2);
    OK(drep_info_new(&info));
    OK(drep_info_set(info, "drep_uuid", "000102030405060708090a0b0c0d0e0f"));
    OK(drep_info_set(info, "drep_time", "1700000000000000000"));
    OK(drep_mpi_register_datarep("turned", turn_in, turn_out, same_extent, NULL));
    for (k = 0; k < KINDS; k++) {
        for (w = 0; w < WAYS; w++) {
            snprintf(path, sizeof path, "%s/%s.%s.%d.drep", argv[1], kinds[k].name, way_names[w],
                     check_ranks);
            write_way(path, &kinds[k], (enum way)w, info);
        }
        snprintf(path, sizeof path, "%s/%s.serial.1.drep", argv[1], kinds[k].name);
        if (check_ranks == 1)
            write_serial(path, &kinds[k], info);
        check_case(kinds[k].name);
    }
    drep_info_free(info);
    return check_end();
}
