/* bytes.c - files by MPI's calls, and the same ones by those of <datarep.h>.
 *
 * Usage: bytes DIRECTORY RANKS    writes DIRECTORY/0, 1, ..., by RANKS ranks, or with -DORACLE by a
 * process of its own, which plays one rank after the other. */
/* SPDX-License-Identifier: MIT */
#include "tests/mpiio/tap.h"

#include <stddef.h>
#include <wchar.h>
#ifdef ORACLE
#include <datarep-mpi.h>
#endif

enum { CASES = 9, ITEMS = 48, SIZE = 1 << 16 };

struct item {
    char c;
    double d;
    long l;
    long double x;
};

/* What one rank writes. */
struct part {
    MPI_Offset disp;
    MPI_Datatype etype, filetype, type;
    int count;
    const char *datarep;
    union {
        struct item item[ITEMS];
        long l[4 * ITEMS];
        double d[4 * ITEMS];
        long double x[ITEMS];
        wchar_t w[ITEMS];
        _Complex double z[ITEMS];
    } v;
};

static MPI_Datatype item_type(void)
{
    int lens[4] = {1, 1, 1, 1};
    MPI_Aint at[4] = {offsetof(struct item, c), offsetof(struct item, d), offsetof(struct item, l),
                      offsetof(struct item, x)};
    MPI_Datatype parts[4] = {MPI_CHAR, MPI_DOUBLE, MPI_LONG, MPI_LONG_DOUBLE}, bare, type;

    MPI_Type_create_struct(4, lens, at, parts, &bare);
    MPI_Type_create_resized(bare, 0, sizeof(struct item), &type);
    MPI_Type_commit(&type);
    MPI_Type_free(&bare);
    return type;
}

/* Each rank's column of `etype`. */
static MPI_Datatype column(MPI_Datatype etype, int rank, int ranks)
{
    int sizes[2] = {4, ranks}, parts[2] = {4, 1}, starts[2] = {0, rank};
    MPI_Datatype type;

    MPI_Type_create_subarray(2, sizes, parts, starts, MPI_ORDER_C, etype, &type);
    return type;
}

/* Whose items lie beyond its extent: it begins with the first one. */
static MPI_Datatype far_column(MPI_Datatype etype, int rank, int ranks)
{
    int places[3] = {100 + rank, 100 + rank + ranks, 100 + rank + 2 * ranks};
    MPI_Datatype bare, type;
    MPI_Aint lb, extent;

    MPI_Type_create_indexed_block(3, 1, places, etype, &bare);
    MPI_Type_get_extent(etype, &lb, &extent);
    MPI_Type_create_resized(bare, places[0] * extent, 3 * ranks * extent, &type);
    MPI_Type_free(&bare);
    return type;
}

static MPI_Datatype cyclic(int rank, int ranks)
{
    int sizes[2] = {8, 6 * ranks}, procs[2] = {1, ranks}, args[2] = {MPI_DISTRIBUTE_DFLT_DARG, 2};
    int how[2] = {MPI_DISTRIBUTE_BLOCK, MPI_DISTRIBUTE_CYCLIC};
    MPI_Datatype type;

    MPI_Type_create_darray(ranks, rank, 2, sizes, how, args, procs, MPI_ORDER_C, MPI_DOUBLE, &type);
    return type;
}

static void part_make(struct part *p, int n, int rank, int ranks)
{
    memset(p, 0, sizeof *p);
    p->datarep = n == 4 ? "internal" : n == 5 ? "three" : "external32";
    p->disp = 16;
    p->count = ITEMS;
    for (int i = 0; i < ITEMS; i++)
        switch (n) {
        case 1:
            p->v.item[i] = (struct item){(char)('a' + i % 26), i / 3.0, -i * 1000L,
                                         (long double)rank / (i + 3)};
            break;
        case 2:
            p->v.d[i] = rank + i / 7.0;
            break;
        case 6:
            p->v.x[i] = 1 / (i + rank + 1.0L);
            break;
        case 7:
            p->v.z[i] = i / 3.0 - rank * 1.0i;
            break;
        default:
            p->v.l[i] = 65536 * (rank + 1) + 256 * i + i;
        }
    p->type = n == 2   ? MPI_DOUBLE
              : n == 6 ? MPI_LONG_DOUBLE
              : n == 7 ? MPI_C_DOUBLE_COMPLEX
                       : MPI_LONG;
    if (n == 1)
        p->type = item_type();
    p->etype = p->type;
    if (n == 3) { /* every third of memory, an etype of two */
        for (int i = 4 * ITEMS - 1; i >= 0; i--)
            p->v.l[i] = rank * 1000 + i;
        MPI_Type_vector(ITEMS, 1, 3, MPI_LONG, &p->type);
        MPI_Type_contiguous(2, MPI_LONG, &p->etype);
        MPI_Type_commit(&p->type);
        MPI_Type_commit(&p->etype);
        p->count = 1;
    }
    p->filetype = n == 2   ? cyclic(rank, ranks)
                  : n == 8 ? far_column(p->etype, rank, ranks)
                           : column(p->etype, rank, ranks);
    MPI_Type_commit(&p->filetype);
}

static void part_free(struct part *p, int n)
{
    MPI_Type_free(&p->filetype);
    if (n == 3)
        MPI_Type_free(&p->etype);
    if (n == 1 || n == 3)
        MPI_Type_free(&p->type);
}

/* "three": a LONG has three bytes, big-endian. */
static int to_three(void *user, MPI_Datatype type, int count, void *file, MPI_Offset position,
                    void *x)
{
    const long *v = (const long *)user + position;
    uint8_t *p = file;

    (void)type, (void)x;
    for (int i = 0; i < count; i++, p += 3)
        p[0] = (uint8_t)(v[i] >> 16), p[1] = (uint8_t)(v[i] >> 8), p[2] = (uint8_t)v[i];
    return MPI_SUCCESS;
}

static int extent_three(MPI_Datatype type, MPI_Aint *extent, void *x)
{
    (void)type, (void)x;
    *extent = 3;
    return MPI_SUCCESS;
}

#ifdef ORACLE
static void write_case(const char *path, int n, int ranks)
{
    static struct part p;
    drep_type *etype, *filetype, *type;
    drep_view *view;
    FILE *f = fopen(path, "wb");

    OK(!f || ftruncate(fileno(f), SIZE) || fclose(f));
    for (int r = 0; r < ranks; r++) {
        part_make(&p, n, r, ranks);
        OK(drep_mpi_type(p.etype, &etype));
        OK(drep_mpi_type(p.filetype, &filetype));
        OK(drep_mpi_type(p.type, &type));
        OK(drep_view_raw(path, DREP_RDWR, NULL, &view));
        OK(drep_view_set(view, p.disp, etype, filetype, p.datarep, NULL));
        OK(drep_write_at(view, 4, &p.v, p.count, type, NULL, NULL));
        OK(drep_view_close(view));
        drep_type_free(etype);
        drep_type_free(filetype);
        drep_type_free(type);
        part_free(&p, n);
    }
}
#else
static void write_case(const char *path, int n, int ranks)
{
    static struct part p;
    MPI_File f;

    part_make(&p, n, tap_rank, ranks);
    OK(MPI_File_open(MPI_COMM_WORLD, path, MPI_MODE_CREATE | MPI_MODE_RDWR, MPI_INFO_NULL, &f));
    OK(MPI_File_set_size(f, SIZE));
    OK(MPI_File_set_view(f, p.disp, p.etype, p.filetype, p.datarep, MPI_INFO_NULL));
    OK(n % 2 ? MPI_File_write_at(f, 4, &p.v, p.count, p.type, MPI_STATUS_IGNORE)
             : MPI_File_write_at_all(f, 4, &p.v, p.count, p.type, MPI_STATUS_IGNORE));
    OK(MPI_File_close(&f));
    part_free(&p, n);
}
#endif

int main(int argc, char **argv)
{
    char path[600];

    tap_begin(&argc, &argv);
#ifdef ORACLE
    OK(drep_mpi_register_datarep("three", to_three, to_three, extent_three, NULL));
#else
    OK(MPI_Register_datarep("three", to_three, to_three, extent_three, NULL));
#endif
    for (int n = 0; n < CASES; n++) {
        snprintf(path, sizeof path, "%s/%d", argv[1], n);
        write_case(path, n, atoi(argv[2]));
    }
    tap_case("written");
    return tap_end();
}
