/* api.c - hints, representations with MPI's signatures, and what is refused. */
/* SPDX-License-Identifier: MIT */
#include "tests/mpi/check.h"

#include <pthread.h>
#include <unistd.h>

static void test_info(void)
{
    MPI_Info from, back;
    drep_info *info = NULL;
    char value[64];
    int flag, n;

    MPI_Info_create(&from);
    MPI_Info_set(from, "cb_nodes", "2");
    MPI_Info_set(from, "some_key", "a b, c");
    OK(drep_mpi_info(from, &info));
    CHECK(drep_info_count(info) == 2 && !strcmp(drep_info_get(info, "cb_nodes"), "2") &&
              !strcmp(drep_info_get(info, "some_key"), "a b, c"),
          "%d hints", drep_info_count(info));
    OK(drep_mpi_info_get(info, &back));
    MPI_Info_get_nkeys(back, &n);
    MPI_Info_get(back, "some_key", sizeof value - 1, value, &flag);
    CHECK(n == 2 && flag && !strcmp(value, "a b, c"), "%d keys", n);
    MPI_Info_free(&back);
    drep_info_free(info);
    MPI_Info_free(&from);

    OK(drep_mpi_info(MPI_INFO_NULL, &info));
    CHECK(drep_info_count(info) == 0, "MPI_INFO_NULL");
    check_case("H5: hints of MPI and back");

    {
        char *text = malloc(MPI_MAX_INFO_VAL + 10);

        memset(text, 'x', MPI_MAX_INFO_VAL + 9);
        text[MPI_MAX_INFO_VAL] = 0;
        OK(drep_info_set(info, "long", text));
        FAILS(drep_mpi_info_get(info, &back), DREP_ERR_INFO_VALUE, "long");
        OK(drep_info_delete(info, "long"));
        if (MPI_MAX_INFO_KEY <= DREP_MAX_INFO_KEY) {
            text[MPI_MAX_INFO_KEY] = 0;
            OK(drep_info_set(info, text, "v"));
            FAILS(drep_mpi_info_get(info, &back), DREP_ERR_INFO_KEY, "xxx");
        }
        free(text);
    }
    drep_info_free(info);
    FAILS(drep_mpi_info(MPI_INFO_NULL, NULL), DREP_ERR_ARG, "no result");
    FAILS(drep_mpi_info_get(NULL, &back), DREP_ERR_ARG, "null pointer");
    check_case("H5: hints that this MPI cannot hold");
}

/* ------------------------------------------- functions with MPI's signatures */

struct seen {
    int calls, fail;
    MPI_Datatype datatype;
    void *userbuf;
    MPI_Offset next;
    int wrong; /* calls that break a rule */
};

/* Every item with its bytes reversed.  The typemap is decoded from the datatype of MPI. */
static int turn(void *userbuf, MPI_Datatype datatype, int count, char *filebuf, MPI_Offset position,
                struct seen *seen, int to_file)
{
    drep_cursor cursor;
    drep_type *type;
    drep_run run;
    int64_t left = count, i;

    if (seen->fail)
        return MPI_ERR_OTHER;
    if (position == 0) {
        seen->datatype = datatype;
        seen->userbuf = userbuf;
    } else if (position != seen->next || datatype != seen->datatype || userbuf != seen->userbuf) {
        seen->wrong++;
    }
    seen->next = position + count;
    seen->calls++;
    if (drep_mpi_type(datatype, &type) || drep_cursor_init(&cursor, type, position))
        return MPI_ERR_TYPE;
    for (; left > 0 && drep_cursor_next(&cursor, left, &run); left -= run.count) {
        int64_t b, size = drep_type_size(run.type);

        for (i = 0; i < run.count; i++, filebuf += size) {
            char *item = (char *)userbuf + run.offset + i * run.stride;

            for (b = 0; b < size; b++)
                if (to_file)
                    filebuf[b] = item[size - 1 - b];
                else
                    item[size - 1 - b] = filebuf[b];
        }
    }
    drep_type_free(type);
    return MPI_SUCCESS;
}

static int turn_read(void *userbuf, MPI_Datatype datatype, int count, void *filebuf,
                     MPI_Offset position, void *extra)
{
    return turn(userbuf, datatype, count, filebuf, position, extra, 0);
}

static int turn_write(void *userbuf, MPI_Datatype datatype, int count, void *filebuf,
                      MPI_Offset position, void *extra)
{
    return turn(userbuf, datatype, count, filebuf, position, extra, 1);
}

static int same_extent(MPI_Datatype datatype, MPI_Aint *extent, void *extra)
{
    MPI_Aint lb;

    (void)extra;
    return MPI_Type_get_extent(datatype, &lb, extent);
}

static int no_extent(MPI_Datatype datatype, MPI_Aint *extent, void *extra)
{
    (void)datatype;
    (void)extra;
    *extent = MPI_UNDEFINED;
    return MPI_SUCCESS;
}

enum { COUNT = 2000 };

static void test_register(void)
{
    static int in[3 * COUNT], out[3 * COUNT];
    struct seen seen = {0};
    char path[512];
    drep_type *type = NULL;
    drep_view *view;
    drep_info *info;
    MPI_Datatype vector;
    unsigned char bytes[8];
    FILE *f;
    int i;

    snprintf(path, sizeof path, "%s/turned.%d", getenv("TMPDIR") ? getenv("TMPDIR") : "/tmp",
             check_rank);
    OK(drep_mpi_register_datarep("turned", turn_read, turn_write, same_extent, &seen));
    MPI_Type_vector(2, 1, 2, MPI_INT, &vector);
    OK(drep_mpi_type(vector, &type));
    MPI_Type_free(&vector);
    for (i = 0; i < 3 * COUNT; i++)
        in[i] = i + 1;
    OK(drep_info_new(&info));
    OK(drep_info_set(info, "cb_buffer_size", "4096"));
    OK(drep_view_raw(path, DREP_RDWR, info, &view));
    OK(drep_view_set(view, 0, DREP_INT, DREP_INT, "turned", NULL));
    OK(drep_write_at(view, 0, in, COUNT, type, NULL, NULL));
    CHECK(seen.calls > 1 && !seen.wrong, "%d calls, %d wrong", seen.calls, seen.wrong);
    OK(drep_read_at(view, 0, out, COUNT, type, NULL, NULL));
    CHECK(!seen.wrong, "%d wrong", seen.wrong);
    for (i = 0; i < COUNT; i++)
        if (out[3 * i] != in[3 * i] || out[3 * i + 2] != in[3 * i + 2] || out[3 * i + 1])
            break;
    CHECK(i == COUNT, "element %d", i);
    f = fopen(path, "rb");
    CHECK(f && fread(bytes, 1, 8, f) == 8 && !memcmp(bytes, "\0\0\0\1\0\0\0\3", 8),
          "bytes in the file");
    if (f)
        fclose(f);
    check_case("U4 U5 U6 U7 U8: functions with MPI's signatures convert");

    seen.fail = 1;
    FAILS(drep_write_at(view, 0, in, 1, type, NULL, NULL), DREP_ERR_CONVERSION, "turned");
    seen.fail = 0;
    FAILS(drep_mpi_register_datarep("turned", turn_read, turn_write, same_extent, &seen),
          DREP_ERR_DUP_DATAREP, "turned");
    FAILS(drep_mpi_register_datarep("unturned", turn_read, turn_write, NULL, &seen), DREP_ERR_ARG,
          "extent");
    check_case("U2 U9: errors of functions with MPI's signatures");

    OK(drep_mpi_register_datarep("turned in", turn_read, MPI_CONVERSION_FN_NULL, same_extent,
                                 &seen));
    OK(drep_view_set(view, 0, DREP_INT, DREP_INT, "turned in", NULL));
    in[0] = 1;
    OK(drep_write_at(view, 0, in, 1, DREP_INT, NULL, NULL));
    OK(drep_read_at(view, 0, out, 1, DREP_INT, NULL, NULL));
    CHECK(out[0] == 1 << 24, "%d", out[0]);
    check_case("U10: no function, no conversion");

    OK(drep_mpi_register_datarep("nothing", turn_read, turn_write, no_extent, &seen));
    i = drep_view_set(view, 0, DREP_INT, DREP_INT, "nothing", NULL);
    if (!i)
        i = drep_write_at(view, 0, in, 1, DREP_INT, NULL, NULL);
    CHECK(i == DREP_ERR_VALUE_TOO_LARGE, "%d: %s", i, drep_error());
    check_case("U4: a type that has no extent");
    drep_view_close(view);
    drep_info_free(info);
    drep_type_free(type);
    unlink(path);
}

/* -------------------------------------------------------------- the refused */

/* Every call of the library, where MPI may not be called. */
static void all_fail(const char *text)
{
    drep_info *info = NULL;
    drep_type *type;
    drep_file *file;
    MPI_Datatype datatype;
    MPI_Info hints;

    OK(drep_info_new(&info));
    FAILS(drep_mpi_create(MPI_COMM_WORLD, "x.drep", DREP_RDWR, NULL, NULL, &file),
          DREP_ERR_UNSUPPORTED_OPERATION, text);
    CHECK(strstr(drep_error(), "drep_mpi_create"), "%s", drep_error());
    FAILS(drep_mpi_open(MPI_COMM_SELF, "x.drep", DREP_RDONLY, NULL, &file),
          DREP_ERR_UNSUPPORTED_OPERATION, text);
    FAILS(drep_mpi_type(MPI_INT, &type), DREP_ERR_UNSUPPORTED_OPERATION, text);
    FAILS(drep_mpi_datatype(DREP_INT, &datatype), DREP_ERR_UNSUPPORTED_OPERATION, text);
    FAILS(drep_mpi_info(MPI_INFO_NULL, &info), DREP_ERR_UNSUPPORTED_OPERATION, text);
    FAILS(drep_mpi_info_get(info, &hints), DREP_ERR_UNSUPPORTED_OPERATION, text);
    FAILS(drep_mpi_register_datarep("never", turn_read, turn_write, same_extent, NULL),
          DREP_ERR_UNSUPPORTED_OPERATION, text);
    drep_info_free(info);
}

static void *on_a_thread(void *none)
{
    all_fail("MPI_THREAD_SERIALIZED");
    return none;
}

static void test_refused(void)
{
    MPI_Comm half, inter;
    drep_file *file;
    pthread_t thread;

    FAILS(drep_mpi_open(MPI_COMM_NULL, "x.drep", DREP_RDONLY, NULL, &file), DREP_ERR_ARG,
          "drep_mpi_open: MPI_COMM_NULL");
    FAILS(drep_mpi_create(MPI_COMM_NULL, "x.drep", DREP_RDWR, NULL, NULL, &file), DREP_ERR_ARG,
          "drep_mpi_create: MPI_COMM_NULL");
    if (check_ranks > 1) {
        MPI_Comm_split(MPI_COMM_WORLD, check_rank > 0, 0, &half);
        MPI_Intercomm_create(half, 0, MPI_COMM_WORLD, check_rank > 0 ? 0 : 1, 1, &inter);
        FAILS(drep_mpi_open(inter, "x.drep", DREP_RDONLY, NULL, &file), DREP_ERR_ARG,
              "drep_mpi_open: an intercommunicator");
        FAILS(drep_mpi_create(inter, "x.drep", DREP_RDWR, NULL, NULL, &file), DREP_ERR_ARG,
              "drep_mpi_create: an intercommunicator");
        MPI_Comm_free(&inter);
        MPI_Comm_free(&half);
    }
    check_case("communicators that are refused");

    pthread_create(&thread, NULL, on_a_thread, NULL);
    pthread_join(thread, NULL);
    check_case("a thread that may not call MPI");
}

/* ------------------------------------------------------- one rank, and the end */

static void path_of(char path[512], const char *name)
{
    snprintf(path, 512, "%s/%s.%d", getenv("TMPDIR") ? getenv("TMPDIR") : "/tmp", name, check_rank);
}

static drep_file *one_file(MPI_Comm comm, const char *path)
{
    const int64_t dims = 3, max = DREP_UNLIMITED, more = 4, chunk = 5;
    const double v[4] = {1, 2, 3, 4};
    drep_file *file = NULL;
    drep_dataset *ds;

    OK(drep_mpi_create(comm, path, DREP_RDWR, "external32", NULL, &file));
    OK(drep_dataset_create(file, "/x",
                           &DREP_SPEC(.type = DREP_DOUBLE, .rank = 1, .dims = &dims,
                                      .maxdims = &max, .layout = DREP_CHUNKED, .chunk = &chunk),
                           &ds));
    OK(drep_write(ds, NULL, DREP_DOUBLE, v, &DREP_XFER(.collective = 1)));
    OK(drep_append(ds, 0, more, DREP_DOUBLE, v, NULL));
    drep_dataset_close(ds);
    return file;
}

/* Each rank for itself: nothing is refused, and no other is waited for. */
static void test_one(void)
{
    char path[512];
    int rank = -1, ranks = -1;
    drep_file *file;
    MPI_Comm comm;

    path_of(path, "one");
    MPI_Comm_dup(MPI_COMM_SELF, &comm);
    file = one_file(comm, path);
    MPI_Comm_free(&comm);
    OK(drep_team_of(file, &rank, &ranks));
    CHECK(rank == 0 && ranks == 1, "rank %d of %d", rank, ranks);
    OK(drep_commit(file));
    OK(drep_check(file, 0, NULL, NULL, NULL));
    OK(drep_copy(file, "/x", file, "/y", NULL));
    OK(drep_close(file));
    OK(drep_mpi_open(MPI_COMM_SELF, path, DREP_RDONLY, NULL, &file));
    OK(drep_refresh(file));
    OK(drep_close(file));
    unlink(path);
    check_case("communicators of one rank, freed before the file is closed");
}

/* A file that is still open, of all ranks: nobody can meet, so nothing is committed. */
static void test_late(drep_file *late, const char *path)
{
    int alone = check_ranks == 1;

    if (alone)
        OK(drep_close(late));
    else
        FAILS(drep_close(late), DREP_ERR_UNSUPPORTED_OPERATION, "finalised");
    CHECK((access(path, F_OK) < 0) == !alone, "%s is wrong", path);
}

int main(int argc, char **argv)
{
    drep_file *late = NULL;
    int failures;
    char path[512];

    all_fail("not initialised");
    failures = check_failures;
    check_begin(&argc, &argv);
    check_failures = failures;
    check_case("before MPI_Init");
    test_info();
    test_register();
    test_refused();
    test_one();
    path_of(path, "late");
    *strrchr(path, '.') = 0;
    OK(drep_mpi_create(MPI_COMM_WORLD, path, DREP_RDWR, NULL, NULL, &late));
    if (!check_rank)
        printf("1..%d\n", check_cases + 1);
    fflush(stdout);
    MPI_Finalize();
    all_fail("already finalised");
    test_late(late, path);
    if (!check_rank)
        printf("%sok %d - after MPI_Finalize\n", check_failures ? "not " : "", check_cases + 1);
    unlink(path);
    return check_failures > 0;
}
