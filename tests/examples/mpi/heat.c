/* heat.c - heat spreads over a plate; ranks keep their parts of it in one file and go on from
 * there.
 *
 * Usage: mpiexec -n RANKS heat FILE STEPS [rows]
 *
 * If FILE exists, the run goes on from its last checkpoint, with any number of ranks, whoever wrote
 * it.  The plate is divided into blocks, or with "rows" into bands.  Every 25 steps are a
 * checkpoint: a commit, which is in the file as a whole or not at all, whatever dies. */
/* SPDX-License-Identifier: MIT */
#include <datarep-mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { HEIGHT = 120, WIDTH = 160, EVERY = 25 };

/* The part of one rank: its rows and columns with a halo of one element all around. */
struct part {
    MPI_Comm grid;
    int up, down, left, right; /* neighbours, or MPI_PROC_NULL */
    int64_t start[2], count[2];
    int rows, columns; /* with the halo */
    double *now, *next;
    MPI_Datatype column;
    drep_type *inner; /* the elements without the halo, as they are in memory */
};

static void check(int err)
{
    if (err == 0)
        return;
    fprintf(stderr, "%s\n", drep_error());
    MPI_Abort(MPI_COMM_WORLD, 1);
}

static double *at(const struct part *p, double *u, int row, int column)
{
    return u + (size_t)row * (size_t)p->columns + column;
}

static void divide(struct part *p, int bands)
{
    const int size[2] = {HEIGHT, WIDTH};
    int ranks, rank, d, dims[2] = {0, bands ? 1 : 0}, periods[2] = {0, 0}, where[2];
    int whole[2], sub[2], one[2] = {1, 1};
    MPI_Datatype inner;

    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    MPI_Dims_create(ranks, 2, dims);
    MPI_Cart_create(MPI_COMM_WORLD, 2, dims, periods, 0, &p->grid);
    MPI_Comm_rank(p->grid, &rank);
    MPI_Cart_coords(p->grid, rank, 2, where);
    MPI_Cart_shift(p->grid, 0, 1, &p->up, &p->down);
    MPI_Cart_shift(p->grid, 1, 1, &p->left, &p->right);
    for (d = 0; d < 2; d++) {
        p->start[d] = (int64_t)size[d] * where[d] / dims[d];
        p->count[d] = (int64_t)size[d] * (where[d] + 1) / dims[d] - p->start[d];
        sub[d] = (int)p->count[d];
        whole[d] = sub[d] + 2;
    }
    p->rows = whole[0];
    p->columns = whole[1];
    p->now = calloc((size_t)p->rows * (size_t)p->columns, sizeof(double));
    p->next = calloc((size_t)p->rows * (size_t)p->columns, sizeof(double));
    if (!p->now || !p->next)
        MPI_Abort(MPI_COMM_WORLD, 1);
    MPI_Type_vector(p->rows, 1, p->columns, MPI_DOUBLE, &p->column);
    MPI_Type_commit(&p->column);
    /* One element of this type is all that the rank has, in place: nothing is copied. */
    MPI_Type_create_subarray(2, whole, sub, one, MPI_ORDER_C, MPI_DOUBLE, &inner);
    check(drep_mpi_type(inner, &p->inner));
    MPI_Type_free(&inner);
}

static void ignite(struct part *p)
{
    int64_t i, j;

    for (i = 0; i < p->count[0]; i++)
        for (j = 0; j < p->count[1]; j++) {
            int64_t y = p->start[0] + i - HEIGHT / 3, x = p->start[1] + j - WIDTH / 4;

            *at(p, p->now, (int)i + 1, (int)j + 1) = x * x + y * y < 400 ? 100 : 0;
        }
}

static void exchange(struct part *p)
{
    double *u = p->now;
    int rows = p->rows, columns = p->columns;

    MPI_Sendrecv(at(p, u, 1, 0), columns, MPI_DOUBLE, p->up, 0, at(p, u, rows - 1, 0), columns,
                 MPI_DOUBLE, p->down, 0, p->grid, MPI_STATUS_IGNORE);
    MPI_Sendrecv(at(p, u, rows - 2, 0), columns, MPI_DOUBLE, p->down, 0, at(p, u, 0, 0), columns,
                 MPI_DOUBLE, p->up, 0, p->grid, MPI_STATUS_IGNORE);
    MPI_Sendrecv(at(p, u, 0, 1), 1, p->column, p->left, 0, at(p, u, 0, columns - 1), 1, p->column,
                 p->right, 0, p->grid, MPI_STATUS_IGNORE);
    MPI_Sendrecv(at(p, u, 0, columns - 2), 1, p->column, p->right, 0, at(p, u, 0, 0), 1, p->column,
                 p->left, 0, p->grid, MPI_STATUS_IGNORE);
}

static void step(struct part *p)
{
    double *turn = p->now;
    int i, j;

    exchange(p);
    for (i = 1; i < p->rows - 1; i++)
        for (j = 1; j < p->columns - 1; j++) {
            double here = *at(p, p->now, i, j);

            *at(p, p->next, i, j) =
                here + 0.2 * (*at(p, p->now, i - 1, j) + *at(p, p->now, i + 1, j) +
                              *at(p, p->now, i, j - 1) + *at(p, p->now, i, j + 1) - 4 * here);
        }
    p->now = p->next;
    p->next = turn;
}

static void checkpoint(struct part *p, drep_file *file, drep_dataset *u, int64_t done)
{
    check(drep_write_box(u, p->start, p->count, p->inner, p->now, &DREP_XFER(.collective = 1)));
    check(drep_attr_write_int64(file, "/u", "step", done));
    check(drep_commit(file));
}

/* Open the file and read its last checkpoint, or create it; returns the number of its step. */
static int64_t begin(struct part *p, const char *path, drep_file **file, drep_dataset **u)
{
    const int64_t dims[2] = {HEIGHT, WIDTH}, chunk[2] = {32, 32};
    const char *names[2] = {"y", "x"};
    drep_spec spec = DREP_SPEC(.type = DREP_DOUBLE, .rank = 2, .dims = dims, .dim_names = names,
                               .layout = DREP_CHUNKED, .chunk = chunk);
    int64_t done = 0;
    int rank, there;

    MPI_Comm_rank(p->grid, &rank);
    there = rank == 0 && access(path, F_OK) == 0;
    MPI_Bcast(&there, 1, MPI_INT, 0, p->grid);
    if (there) {
        check(drep_mpi_open(p->grid, path, DREP_RDWR, NULL, file));
        check(drep_dataset_open(*file, "/u", u));
        check(drep_attr_read_int64(*file, "/u", "step", &done));
        check(drep_read_box(*u, p->start, p->count, p->inner, p->now, &DREP_XFER(.collective = 1)));
        return done;
    }
    check(drep_mpi_create(p->grid, path, DREP_RDWR, "external32", NULL, file));
    check(drep_dataset_create(*file, "/u", &spec, u));
    check(drep_attr_write_string(*file, "/u", "units", "K"));
    ignite(p);
    checkpoint(p, *file, *u, 0);
    return 0;
}

int main(int argc, char **argv)
{
    struct part p = {0};
    drep_dataset *u;
    drep_file *file;
    int64_t done, n;

    MPI_Init(&argc, &argv);
    if (argc < 3) {
        fprintf(stderr, "usage: mpiexec -n RANKS heat FILE STEPS [rows]\n");
        MPI_Abort(MPI_COMM_WORLD, 2);
    }
    divide(&p, argc > 3 && strcmp(argv[3], "rows") == 0);
    done = begin(&p, argv[1], &file, &u);
    for (n = atoll(argv[2]); n > 0; n--) {
        step(&p);
        done++;
        if (done % EVERY == 0 || n == 1)
            checkpoint(&p, file, u, done);
    }
    drep_dataset_close(u);
    check(drep_close(file));
    drep_type_free(p.inner);
    MPI_Type_free(&p.column);
    MPI_Comm_free(&p.grid);
    free(p.now);
    free(p.next);
    MPI_Finalize();
    return 0;
}
