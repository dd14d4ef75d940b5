/* file.c - files that ranks share: the one that a single process writes, byte for byte.
 *
 * Usage: file [KEY=VALUE...]: hints of all files. */
/* SPDX-License-Identifier: MIT */
#include "tests/mpi/check.h"

#include <unistd.h>

enum { ROWS = 61, COLUMNS = 47 };

static const int64_t dims[2] = {ROWS, COLUMNS}, chunk[2] = {16, 16};
static char serial_path[512], path[512];
static char **more; /* hints */

struct way {
    const char *name, *datarep;
    int filter, layout;
};
static const struct way ways[] = {
    {"native", "native", 0, DREP_CHUNKED},
    {"external32", "external32", 0, DREP_CHUNKED},
    {"deflate", "external32", DREP_FILTER_DEFLATE, DREP_CHUNKED},
    {"zstd", "native", DREP_FILTER_ZSTD, DREP_CHUNKED},
    {"contiguous", "external32", 0, DREP_CONTIGUOUS},
};
enum { WAYS = sizeof ways / sizeof *ways };

static drep_info *hints(void)
{
    drep_info *info;
    int i;

    OK(drep_info_new(&info));
    OK(drep_info_set(info, "drep_uuid", "000102030405060708090a0b0c0d0e0f"));
    OK(drep_info_set(info, "drep_time", "1700000000000000000"));
    OK(drep_info_set(info, "drep_mpi_timeout", "60"));
    for (i = 0; more[i]; i++) {
        char key[64];

        snprintf(key, sizeof key, "%.*s", (int)strcspn(more[i], "="), more[i]);
        OK(drep_info_set(info, key, more[i] + strlen(key) + 1));
    }
    return info;
}

static double value(int64_t i, int64_t j, int step)
{
    return (double)(i * COLUMNS + j) / 8 + step;
}

/* What every rank makes. */
static void make(drep_file *file, const struct way *w, drep_dataset **ds)
{
    const drep_filter filter = {.id = w->filter};
    drep_spec spec = DREP_SPEC(.type = DREP_DOUBLE, .rank = 2, .dims = dims, .layout = w->layout);

    if (w->layout == DREP_CHUNKED)
        spec.chunk = chunk;
    if (w->filter) {
        spec.filters = &filter;
        spec.nfilters = 1;
    }
    OK(drep_group_create(file, "/run", 0));
    OK(drep_dataset_create(file, "/run/p", &spec, ds));
    OK(drep_attr_write_string(file, "/run/p", "units", "Pa"));
}

/* A rank's part of n elements dealt to `parts`. */
static void part_of(int64_t n, int parts, int which, int64_t *start, int64_t *count)
{
    *start = n * which / parts;
    *count = n * (which + 1) / parts - *start;
}

/* how: rows, columns, blocks of two columns of ranks, or all on the last rank. */
static void box_of(int how, int64_t *start, int64_t *count)
{
    int across = check_ranks % 2 ? 1 : 2, r = check_rank;

    start[0] = start[1] = 0;
    count[0] = ROWS;
    count[1] = COLUMNS;
    if (how == 0) {
        part_of(ROWS, check_ranks, r, &start[0], &count[0]);
    } else if (how == 1) {
        part_of(COLUMNS, check_ranks, r, &start[1], &count[1]);
    } else if (how == 2) {
        part_of(ROWS, check_ranks / across, r / across, &start[0], &count[0]);
        part_of(COLUMNS, across, r % across, &start[1], &count[1]);
    } else if (r != check_ranks - 1) {
        count[0] = count[1] = 0;
    }
}

static double *values(const int64_t *start, const int64_t *count, int step)
{
    double *p = malloc((size_t)(count[0] * count[1] + 1) * sizeof *p);
    int64_t i, j;

    for (i = 0; i < count[0]; i++)
        for (j = 0; j < count[1]; j++)
            p[i * count[1] + j] = value(start[0] + i, start[1] + j, step);
    return p;
}

static void write_serial(const struct way *w)
{
    const int64_t zero[2] = {0, 0};
    drep_info *info = hints();
    drep_dataset *ds;
    drep_file *file;
    int step;

    OK(drep_create(serial_path, DREP_RDWR, w->datarep, info, &file));
    make(file, w, &ds);
    for (step = 0; step < 2; step++) {
        double *p = values(zero, dims, step);

        OK(drep_write(ds, NULL, DREP_DOUBLE, p, NULL));
        OK(drep_commit(file));
        free(p);
    }
    drep_dataset_close(ds);
    OK(drep_close(file));
    drep_info_free(info);
}

static void write_together(const struct way *w, int how)
{
    int64_t start[2], count[2];
    drep_info *info = hints();
    drep_dataset *ds;
    drep_file *file;
    int step;

    box_of(how, start, count);
    OK(drep_mpi_create(MPI_COMM_WORLD, path, DREP_RDWR, w->datarep, info, &file));
    make(file, w, &ds);
    for (step = 0; step < 2; step++) {
        double *p = values(start, count, step);

        OK(drep_write_box(ds, start, count, DREP_DOUBLE, p, &DREP_XFER(.collective = 1)));
        OK(drep_commit(file));
        free(p);
    }
    drep_dataset_close(ds);
    OK(drep_close(file));
    drep_info_free(info);
}

static void compare_files(const char *name, int how)
{
    FILE *a = fopen(serial_path, "rb"), *b = fopen(path, "rb");
    long at = 0;
    int x = 0, y = 0;

    CHECK(a && b, "no file");
    while (a && b && x != EOF && x == y) {
        x = getc(a);
        y = getc(b);
        at++;
    }
    CHECK(x == y, "%s, decomposition %d: byte %ld differs", name, how, at - 1);
    if (a)
        fclose(a);
    if (b)
        fclose(b);
}

static void test_same_bytes(void)
{
    char name[128];
    int w, how;

    for (w = 0; w < WAYS; w++) {
        if (!check_rank)
            write_serial(&ways[w]);
        for (how = 0; how < 4; how++) {
            write_together(&ways[w], how);
            if (!check_rank)
                compare_files(ways[w].name, how);
            MPI_Barrier(MPI_COMM_WORLD);
        }
        snprintf(name, sizeof name, "%s: rows, columns, blocks and one rank give the serial bytes",
                 ways[w].name);
        check_case(name);
    }
}

/* The file of the last test, read by all. */
static void test_read(void)
{
    int64_t start[2], count[2], i, j;
    drep_info *info = hints();
    drep_dataset *ds;
    drep_file *file;
    int rank = -1, ranks = -1, together, wrong = 0;
    double *p;

    OK(drep_mpi_open(MPI_COMM_WORLD, path, DREP_RDONLY, info, &file));
    OK(drep_team_of(file, &rank, &ranks));
    CHECK(rank == check_rank && ranks == check_ranks, "rank %d of %d", rank, ranks);
    OK(drep_dataset_open(file, "/run/p", &ds));
    for (together = 0; together < 2; together++) {
        box_of(1, start, count);
        p = calloc((size_t)(count[0] * count[1]), sizeof *p);
        OK(drep_read_box(ds, start, count, DREP_DOUBLE, p, &DREP_XFER(.collective = together)));
        for (i = 0; i < count[0]; i++)
            for (j = 0; j < count[1]; j++)
                wrong += p[i * count[1] + j] != value(start[0] + i, start[1] + j, 1);
        free(p);
    }
    drep_dataset_close(ds);
    OK(drep_close(file));
    drep_info_free(info);
    CHECK(!wrong, "%d wrong values", wrong);
    check_case("all ranks read their parts");
}

static void test_reopen(void)
{
    drep_info *info = hints();
    drep_file *file;
    char *text = NULL;

    OK(drep_mpi_open(MPI_COMM_WORLD, path, DREP_RDWR, info, &file));
    OK(drep_attr_write_int64(file, "/run", "ranks", check_ranks));
    OK(drep_close(file));
    OK(drep_open(path, DREP_RDONLY, NULL, &file));
    {
        int64_t n = 0;

        OK(drep_attr_read_int64(file, "/run", "ranks", &n));
        CHECK(n == check_ranks, "%d ranks", (int)n);
        OK(drep_attr_read_string(file, "/run/p", "units", &text));
        CHECK(!strcmp(text, "Pa"), "%s", text);
        free(text);
    }
    OK(drep_close(file));
    drep_info_free(info);
    check_case("a file is opened again and changed");
}

static void test_disagree(void)
{
    drep_info *info = hints();
    drep_file *file = NULL;
    char other[600];
    int err;

    if (check_ranks == 1) {
        check_case("ranks that disagree # SKIP one rank");
        drep_info_free(info);
        return;
    }
    snprintf(other, sizeof other, "%s%s", path, check_rank == 1 ? ".other" : "");
    FAILS(drep_mpi_create(MPI_COMM_WORLD, other, DREP_RDWR, NULL, info, &file), DREP_ERR_NOT_SAME,
          "\"path\"");
    CHECK(strstr(drep_error(), "drep_mpi_create: rank 1"), "%s", drep_error());
    err = check_rank == 1 ? drep_mpi_open(MPI_COMM_WORLD, path, DREP_RDWR, info, &file)
                          : drep_mpi_create(MPI_COMM_WORLD, path, DREP_RDWR, NULL, info, &file);
    FAILS(err, DREP_ERR_NOT_SAME, "rank 1 is in drep_mpi_open");
    FAILS(drep_mpi_create(MPI_COMM_WORLD, path, DREP_RDWR,
                          check_rank == 1 ? "native" : "external32", info, &file),
          DREP_ERR_NOT_SAME, "\"datarep\"");
    FAILS(
        drep_mpi_create(MPI_COMM_WORLD, "/no/such/directory/f.drep", DREP_RDWR, NULL, info, &file),
        DREP_ERR_NO_SUCH_FILE, "/no/such");
    check_case("ranks that disagree at the beginning get one error");

    /* The rank that closes too early is missed in the others' close. */
    OK(drep_info_set(info, "drep_mpi_timeout", "2"));

    OK(drep_mpi_create(MPI_COMM_WORLD, path, DREP_RDWR, NULL, info, &file));
    OK(drep_attr_write_int64(file, "/", "who", check_rank == 1 ? 1 : 0));
    FAILS(drep_commit(file), DREP_ERR_NOT_SAME, "attribute \"who\"");
    CHECK(strstr(drep_error(), "rank"), "%s", drep_error());
    OK(drep_attr_write_int64(file, "/", "who", 0));
    err = check_rank == 1 ? drep_close(file) : drep_commit(file);
    FAILS(err, DREP_ERR_NOT_SAME, "rank 1 is in drep_close");
    if (check_rank != 1)
        drep_close(file);
    check_case("ranks that disagree later get one error");
    drep_info_free(info);
}

/* Each rank for itself, in any order; they meet at the commit. */
static void test_alone(void)
{
    int64_t start[2], count[2];
    drep_info *info = hints();
    int w, how;

    for (w = 0; w < WAYS; w++)
        for (how = 0; how < 3; how++) {
            int64_t i, wrong = 0;
            drep_dataset *ds;
            drep_file *file;
            double *p, *all;

            box_of(how, start, count);
            p = values(start, count, 0);
            OK(drep_mpi_create(MPI_COMM_WORLD, path, DREP_RDWR, ways[w].datarep, info, &file));
            make(file, &ways[w], &ds);
            OK(drep_write_box(ds, start, count, DREP_DOUBLE, p, NULL));
            OK(drep_close(file));
            drep_dataset_close(ds);
            free(p);
            OK(drep_open(path, DREP_RDONLY, NULL, &file));
            OK(drep_dataset_open(file, "/run/p", &ds));
            all = calloc(ROWS * COLUMNS, sizeof *all);
            OK(drep_read(ds, NULL, DREP_DOUBLE, all, NULL));
            for (i = 0; i < ROWS * COLUMNS; i++)
                wrong += all[i] != value(i / COLUMNS, i % COLUMNS, 0);
            CHECK(!wrong, "%s, decomposition %d: %lld wrong values", ways[w].name, how,
                  (long long)wrong);
            free(all);
            drep_dataset_close(ds);
            OK(drep_close(file));
            MPI_Barrier(MPI_COMM_WORLD);
        }
    drep_info_free(info);
    check_case("independent writes meet at the commit");
}

/* Each rank makes objects that no other knows, in one group and in groups of its own. */
static void test_own_objects(void)
{
    enum { OWN = 250 };
    const int64_t length = 100;
    drep_info *info = hints();
    drep_objinfo is = DREP_OBJINFO;
    drep_file *file;
    char name[100];
    int64_t number = -1, findings = 0;
    int i, r;

    OK(drep_mpi_create(MPI_COMM_WORLD, path, DREP_RDWR, "external32", info, &file));
    OK(drep_group_create(file, "/shared", 0));
    OK(drep_commit(file));
    snprintf(name, sizeof name, "/own%d", check_rank);
    OK(drep_group_create(file, name, 0));
    for (i = 0; i < OWN; i++) {
        snprintf(name, sizeof name, i % 2 ? "/shared/r%d.%d" : "/own%d/%d", check_rank, i);
        OK(drep_dataset_create(file, name,
                               &DREP_SPEC(.type = DREP_FLOAT, .rank = 1, .dims = &length), NULL));
        OK(drep_attr_write_int64(file, name, "number", check_rank * OWN + i));
        OK(drep_attr_write_string(file, name, "unit", "K"));
    }
    OK(drep_commit(file));
    for (r = 0; r < check_ranks; r++)
        for (i = 0; i < OWN; i += 7) {
            snprintf(name, sizeof name, i % 2 ? "/shared/r%d.%d" : "/own%d/%d", r, i);
            OK(drep_stat(file, name, &is));
            CHECK(is.kind == DREP_OBJ_DATASET && is.attrs == 2, "%s: kind %d, %d attributes", name,
                  is.kind, (int)is.attrs);
            OK(drep_attr_read_int64(file, name, "number", &number));
            CHECK(number == r * OWN + i, "%s: number %d", name, (int)number);
        }
    OK(drep_stat(file, "/shared", &is));
    CHECK(is.members == check_ranks * (OWN / 2), "%d members", (int)is.members);
    OK(drep_close(file));
    if (!check_rank) {
        OK(drep_open(path, DREP_RDONLY, NULL, &file));
        OK(drep_check(file, 1, NULL, NULL, &findings));
        CHECK(!findings, "%d findings", (int)findings);
        OK(drep_close(file));
    }
    MPI_Barrier(MPI_COMM_WORLD);
    drep_info_free(info);
    check_case("objects that each rank makes meet at the commit");
}

static void test_refused(void)
{
    const int64_t one = 1;
    drep_info *info = hints();
    drep_dataset *ds;
    drep_file *file;
    const void *data;
    double x = 0;
    size_t size;

    if (check_ranks == 1) {
        check_case("calls that are refused # SKIP one rank");
        drep_info_free(info);
        return;
    }
    OK(drep_mpi_create(MPI_COMM_WORLD, path, DREP_RDWR, NULL, info, &file));
    OK(drep_dataset_create(
        file, "/x",
        &DREP_SPEC(.type = DREP_DOUBLE, .rank = 1, .dims = &one, .layout = DREP_CONTIGUOUS), &ds));
    FAILS(drep_append(ds, 0, 1, DREP_DOUBLE, &x, NULL), DREP_ERR_UNSUPPORTED_OPERATION,
          "dataset \"/x\": drep_append: not on a file that");
    CHECK(strstr(drep_error(), "ranks share; all ranks resize it, then write") &&
              strncmp(drep_error(), path, strlen(path)) == 0,
          "%s", drep_error());
    FAILS(drep_check(file, 0, NULL, NULL, NULL), DREP_ERR_UNSUPPORTED_OPERATION, "");
    FAILS(drep_seal(file, NULL), DREP_ERR_UNSUPPORTED_OPERATION, "");
    FAILS(drep_refresh(file), DREP_ERR_UNSUPPORTED_OPERATION, "");
    FAILS(drep_copy(file, "/x", file, "/y", NULL), DREP_ERR_UNSUPPORTED_OPERATION, "");
    FAILS(drep_dataset_map(ds, 0, &data, &size), DREP_ERR_UNSUPPORTED_OPERATION, "");
    drep_dataset_close(ds);
    OK(drep_close(file));
    drep_info_free(info);
    check_case("calls that are refused");
}

int main(int argc, char **argv)
{
    const char *dir = getenv("TMPDIR");

    check_begin(&argc, &argv);
    more = argv + 1;
    snprintf(serial_path, sizeof serial_path, "%s/serial.drep", dir ? dir : "/tmp");
    snprintf(path, sizeof path, "%s/together.drep", dir ? dir : "/tmp");
    test_same_bytes();
    test_read();
    test_reopen();
    test_disagree();
    test_alone();
    test_own_objects();
    test_refused();
    if (!check_rank) {
        unlink(serial_path);
        unlink(path);
    }
    return check_end();
}
