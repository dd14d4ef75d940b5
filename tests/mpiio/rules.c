/* rules.c - the standard's rules of views, representations, counts and errors, under the library.
 *
 * The names of rules are those of MPI's chapters on views and file interoperability, as the other
 * tests have them: V, X, U, N, P, E. */
/* SPDX-License-Identifier: MIT */
#include "tests/mpiio/tap.h"

#include <fcntl.h>
#include <stdbool.h>
#include <stddef.h>
#include <sys/stat.h>

static char path[500];

static MPI_File open_new(int amode)
{
    MPI_File f = MPI_FILE_NULL;

    MPI_Barrier(MPI_COMM_WORLD);
    if (!tap_rank)
        unlink(path);
    MPI_Barrier(MPI_COMM_WORLD);
    OK(MPI_File_open(MPI_COMM_WORLD, path, amode | MPI_MODE_CREATE, MPI_INFO_NULL, &f));
    return f;
}

static void close_file(MPI_File *f)
{
    OK(MPI_File_close(f));
    MPI_Barrier(MPI_COMM_WORLD);
}

static void expect_bytes(long at, const void *want, size_t n)
{
    uint8_t is[256] = {0};
    int fd = open(path, O_RDONLY);
    ssize_t got = fd < 0 ? -1 : pread(fd, is, n, at);

    if (fd >= 0)
        close(fd);
    CHECK(got == (ssize_t)n && !memcmp(is, want, n),
          "bytes from %ld on differ: %02x %02x %02x %02x", at, is[0], is[1], is[2], is[3]);
}

static long file_size(void)
{
    struct stat s;

    return stat(path, &s) ? -1 : (long)s.st_size;
}

/* ---------------------------------------------------------------------- views */

/* V7: a view is what was set; N2: also internal. */
static void views_are_told(void)
{
    static const char *const names[] = {"external32", "internal"};
    MPI_File f = open_new(MPI_MODE_RDWR);
    MPI_Datatype vector, etype, filetype;
    int ni, na, nd, combiner, size;
    char name[MPI_MAX_DATAREP_STRING];
    MPI_Offset disp = -1;

    MPI_Type_vector(3, 2, 4, MPI_DOUBLE, &vector);
    MPI_Type_commit(&vector);
    for (int i = 0; i < 2; i++) {
        OK(MPI_File_set_view(f, 16, MPI_DOUBLE, vector, names[i], MPI_INFO_NULL));
        OK(MPI_File_get_view(f, &disp, &etype, &filetype, name));
        EQUAL(disp, 16);
        CHECK(!strcmp(name, names[i]), "the name is %s", name);
        CHECK(etype == MPI_DOUBLE, "another etype");
        MPI_Type_size(filetype, &size);
        EQUAL(size, 48);
        OK(MPI_Type_get_envelope(filetype, &ni, &na, &nd, &combiner));
        CHECK(combiner == MPI_COMBINER_DUP || combiner == MPI_COMBINER_VECTOR, "combiner %d",
              combiner);
        MPI_Type_free(&filetype);
    }
    MPI_Type_free(&vector);
    /* A native view is MPI's own again. */
    OK(MPI_File_set_view(f, 0, MPI_INT, MPI_INT, "native", MPI_INFO_NULL));
    OK(MPI_File_get_view(f, &disp, &etype, &filetype, name));
    CHECK(!strcmp(name, "native") && disp == 0, "the name is %s", name);
    close_file(&f);
    tap_case("views are what was set (V7, N2)");
}

/* V3, V4: holes of portable types scale, bytes do not. X1: extents are those of the file. */
static void layouts_scale(void)
{
    MPI_File f = open_new(MPI_MODE_RDWR);
    MPI_Datatype vector, hvector;
    MPI_Offset at = -1;
    MPI_Aint extent = -1;
    long v[2] = {1, 2};

    MPI_Type_vector(2, 1, 3, MPI_LONG, &vector);
    MPI_Type_commit(&vector);
    OK(MPI_File_set_view(f, 0, MPI_LONG, vector, "external32", MPI_INFO_NULL));
    OK(MPI_File_get_type_extent(f, vector, &extent));
    EQUAL(extent, 16);
    OK(MPI_File_get_type_extent(f, MPI_LONG, &extent));
    EQUAL(extent, 4);
    OK(MPI_File_get_byte_offset(f, 1, &at));
    EQUAL(at, 12);
    OK(MPI_File_get_byte_offset(f, 2, &at));
    EQUAL(at, 16);
    if (!tap_rank)
        OK(MPI_File_write_at(f, 0, v, 2, MPI_LONG, MPI_STATUS_IGNORE));
    MPI_Barrier(MPI_COMM_WORLD);
    /* What is between them is whatever the MPI leaves there. */
    expect_bytes(0, "\0\0\0\1", 4);
    expect_bytes(12, "\0\0\0\2", 4);
    EQUAL(file_size(), 16);
    MPI_Type_create_hvector(2, 1, 24, MPI_LONG, &hvector);
    MPI_Type_commit(&hvector);
    OK(MPI_File_set_view(f, 100, MPI_LONG, hvector, "external32", MPI_INFO_NULL));
    OK(MPI_File_get_byte_offset(f, 1, &at));
    EQUAL(at, 124);
    OK(MPI_File_get_type_extent(f, hvector, &extent));
    EQUAL(extent, 28);
    MPI_Type_free(&vector);
    MPI_Type_free(&hvector);
    close_file(&f);
    tap_case("layouts scale if they are portable (V3, V4, X1)");
}

/* Where the etype is MPI_BYTE any datatype is written, by its own conversion. */
static void bytes_take_any_type(void)
{
    MPI_File f = open_new(MPI_MODE_RDWR);
    long v = 3, back = 0;
    MPI_Status s;

    OK(MPI_File_set_view(f, 0, MPI_BYTE, MPI_BYTE, "external32", MPI_INFO_NULL));
    if (!tap_rank)
        OK(MPI_File_write_at(f, 6, &v, 1, MPI_LONG, &s));
    MPI_Barrier(MPI_COMM_WORLD);
    expect_bytes(6, "\0\0\0\3", 4);
    EQUAL(file_size(), 10);
    OK(MPI_File_read_at(f, 6, &back, 1, MPI_LONG, &s));
    EQUAL(back, 3);
    close_file(&f);
    tap_case("an etype of bytes takes any datatype");
}

/* A rank without a part in the file has a filetype without items. */
static void empty_filetypes(void)
{
    MPI_File f = open_new(MPI_MODE_RDWR);
    MPI_Datatype none;
    long v = 7;
    bool has = tap_rank == 0;

    MPI_Type_contiguous(0, MPI_LONG, &none);
    MPI_Type_commit(&none);
    OK(MPI_File_set_view(f, 0, MPI_LONG, has ? MPI_LONG : none, "external32", MPI_INFO_NULL));
    OK(MPI_File_write_at_all(f, 0, &v, has, MPI_LONG, MPI_STATUS_IGNORE));
    if (!has)
        CLASS(MPI_File_write_at(f, 0, &v, 1, MPI_LONG, MPI_STATUS_IGNORE), MPI_ERR_ARG);
    MPI_Type_free(&none);
    close_file(&f);
    expect_bytes(0, "\0\0\0\7", 4);
    EQUAL(file_size(), 4);
    tap_case("a rank without a part in the file takes part");
}

/* V6: a filetype that is written must not overlap itself.  The next tile may overlap it, as in
 * PnetCDF's views of a header and a variable. */
static void overlaps(void)
{
    MPI_File f = open_new(MPI_MODE_RDWR);
    int both[2] = {2, 1}, lens[2] = {1, 1};
    MPI_Aint same[2] = {0, 4}, apart[2] = {0, 12};
    MPI_Datatype overlapping, wide, tile;

    MPI_Type_create_hindexed(2, both, same, MPI_INT, &overlapping);
    MPI_Type_create_hindexed(2, lens, apart, MPI_INT, &wide);
    MPI_Type_create_resized(wide, 0, 12, &tile);
    MPI_Type_commit(&overlapping);
    MPI_Type_commit(&tile);
    CLASS(MPI_File_set_view(f, 0, MPI_INT, overlapping, "external32", MPI_INFO_NULL), MPI_ERR_TYPE);
    OK(MPI_File_set_view(f, 0, MPI_INT, tile, "external32", MPI_INFO_NULL));
    if (!tap_rank)
        OK(MPI_File_write_at(f, 0, (int[]){1, 2}, 2, MPI_INT, MPI_STATUS_IGNORE));
    MPI_Type_free(&overlapping);
    MPI_Type_free(&wide);
    MPI_Type_free(&tile);
    close_file(&f);
    expect_bytes(0, "\0\0\0\1", 4); /* MPICH writes what it likes between them */
    expect_bytes(12, "\0\0\0\2", 4);
    tap_case("a filetype that overlaps itself is refused, one that overlaps its next tile is not");
}

/* Elements that are not whole etypes, and what is no type. */
static void wrong_arguments(void)
{
    MPI_File f = open_new(MPI_MODE_RDWR);
    MPI_Datatype two;
    long v[4] = {0};

    MPI_Type_contiguous(2, MPI_LONG, &two);
    MPI_Type_commit(&two);
    OK(MPI_File_set_view(f, 0, two, two, "external32", MPI_INFO_NULL));
    CLASS(MPI_File_write_at(f, 0, v, 3, MPI_LONG, MPI_STATUS_IGNORE), MPI_ERR_ARG);
    CLASS(MPI_File_write_at(f, -1, v, 2, MPI_LONG, MPI_STATUS_IGNORE), MPI_ERR_ARG);
    CLASS(MPI_File_write_at(f, 0, v, -2, MPI_LONG, MPI_STATUS_IGNORE), MPI_ERR_COUNT);
    CLASS(MPI_File_write_at(f, 0, v, 2, MPI_DATATYPE_NULL, MPI_STATUS_IGNORE), MPI_ERR_TYPE);
    CLASS(MPI_File_write_all_end(f, v, MPI_STATUS_IGNORE), MPI_ERR_IO);
    OK(MPI_File_write_all_begin(f, v, 2, MPI_LONG));
    CLASS(MPI_File_write_all(f, v, 2, MPI_LONG, MPI_STATUS_IGNORE), MPI_ERR_IO);
    CLASS(MPI_File_read_all_end(f, v, MPI_STATUS_IGNORE), MPI_ERR_IO);
    OK(MPI_File_write_all_end(f, v, MPI_STATUS_IGNORE));
    MPI_Type_free(&two);
    close_file(&f);
    tap_case("wrong arguments are errors of their class");
}

/* ---------------------------------------------------------------------- counts */

/* V8: ten bytes are two LONGs and a half. */
static void reads_end_at_the_end(void)
{
    MPI_File f = open_new(MPI_MODE_RDWR);
    long v[5] = {-1, -1, -1, -1, -1};
    MPI_Status s;
    MPI_Offset at = -1;
    int n = -1;

    if (!tap_rank)
        OK(MPI_File_write_at(f, 0, "\0\0\0\1\0\0\0\2\0\0", 10, MPI_BYTE, &s));
    MPI_Barrier(MPI_COMM_WORLD);
    OK(MPI_File_set_view(f, 0, MPI_LONG, MPI_LONG, "external32", MPI_INFO_NULL));
    OK(MPI_File_read(f, v, 5, MPI_LONG, &s));
    MPI_Get_count(&s, MPI_LONG, &n);
    EQUAL(n, 2);
    CHECK(v[0] == 1 && v[1] == 2 && v[2] == -1 && v[4] == -1, "%ld %ld %ld", v[0], v[1], v[2]);
    OK(MPI_File_get_position(f, &at));
    CHECK(at == 2 || at == 5, "the pointer is at %lld", (long long)at);
    OK(MPI_File_read_at(f, 7, v, 1, MPI_LONG, &s));
    MPI_Get_count(&s, MPI_LONG, &n);
    EQUAL(n, 0);
    OK(MPI_File_seek(f, 0, MPI_SEEK_END));
    OK(MPI_File_get_position(f, &at));
    EQUAL(at, 3);
    OK(MPI_File_seek(f, 1, MPI_SEEK_SET));
    OK(MPI_File_seek(f, 1, MPI_SEEK_CUR));
    OK(MPI_File_get_position(f, &at));
    EQUAL(at, 2);
    OK(MPI_File_seek_shared(f, -1, MPI_SEEK_END));
    OK(MPI_File_get_position_shared(f, &at));
    EQUAL(at, 2);
    close_file(&f);
    tap_case("reads end with the last whole item (V8)");
}

/* Of a struct that is cut its first items are read, and counted. */
static void part_of_a_struct(void)
{
    struct item {
        int a;
        double b;
        char c;
    } v[2] = {{9, 9, 9}, {9, 9, 9}};
    MPI_Datatype bare, type;
    int lens[3] = {1, 1, 1}, n = -1;
    MPI_Aint at[3] = {offsetof(struct item, a), offsetof(struct item, b), offsetof(struct item, c)};
    MPI_Datatype parts[3] = {MPI_INT, MPI_DOUBLE, MPI_CHAR};
    MPI_File f = open_new(MPI_MODE_RDWR);
    MPI_Status s;

    MPI_Type_create_struct(3, lens, at, parts, &bare);
    MPI_Type_create_resized(bare, 0, sizeof *v, &type);
    MPI_Type_commit(&type);
    if (!tap_rank)
        OK(MPI_File_write_at(f, 0, "\0\0\0\1\x3f\xf0\0\0\0\0\0\0X\0\0\0\2\x40", 18, MPI_BYTE, &s));
    MPI_Barrier(MPI_COMM_WORLD);
    OK(MPI_File_set_view(f, 0, MPI_BYTE, MPI_BYTE, "external32", MPI_INFO_NULL));
    OK(MPI_File_read_at_all(f, 0, v, 2, type, &s));
    CHECK(v[0].a == 1 && v[0].b == 1 && v[0].c == 'X', "the first is wrong");
    CHECK(v[1].a == 2 && v[1].b == 9 && v[1].c == 9, "the second is %d %g %d", v[1].a, v[1].b,
          v[1].c);
    MPI_Get_elements(&s, type, &n);
    EQUAL(n, 4);
    MPI_Get_count(&s, type, &n);
    EQUAL(n, MPI_UNDEFINED);
    MPI_Type_free(&bare);
    MPI_Type_free(&type);
    close_file(&f);
    tap_case("items of an element that is cut are read and counted");
}

/* --------------------------------------------------------------------- files */

static void access_modes(void)
{
    long v = 5, back = 0;
    MPI_File f = open_new(MPI_MODE_WRONLY);

    OK(MPI_File_set_view(f, 0, MPI_LONG, MPI_LONG, "external32", MPI_INFO_NULL));
    OK(MPI_File_write_at_all(f, tap_rank, &v, 1, MPI_LONG, MPI_STATUS_IGNORE));
    CHECK(MPI_File_read_at(f, 0, &back, 1, MPI_LONG, MPI_STATUS_IGNORE) != MPI_SUCCESS,
          "it was read");
    close_file(&f);
    expect_bytes(0, "\0\0\0\5", 4);
    EQUAL(file_size(), 4 * tap_ranks);
    MPI_Barrier(MPI_COMM_WORLD);
    OK(MPI_File_open(MPI_COMM_WORLD, path, MPI_MODE_RDONLY | MPI_MODE_DELETE_ON_CLOSE,
                     MPI_INFO_NULL, &f));
    OK(MPI_File_set_view(f, 0, MPI_LONG, MPI_LONG, "external32", MPI_INFO_NULL));
    OK(MPI_File_read_at(f, tap_rank, &back, 1, MPI_LONG, MPI_STATUS_IGNORE));
    EQUAL(back, 5);
    CHECK(MPI_File_write_at(f, 0, &v, 1, MPI_LONG, MPI_STATUS_IGNORE) != MPI_SUCCESS,
          "it was written");
    close_file(&f);
    EQUAL(file_size(), -1);
    tap_case("files that are write-only, read-only, deleted on close");
}

static void sizes_and_modes(void)
{
    MPI_File f = open_new(MPI_MODE_RDWR);
    MPI_Offset size = -1;
    MPI_Group group;
    MPI_Info info;
    long v = 1, back = 0;
    int flag = -1, amode = 0;

    OK(MPI_File_set_view(f, 8, MPI_LONG, MPI_LONG, "external32", MPI_INFO_NULL));
    OK(MPI_File_set_atomicity(f, 1));
    OK(MPI_File_get_atomicity(f, &flag));
    EQUAL(flag, 1);
    OK(MPI_File_write_at_all(f, 0, &v, 1, MPI_LONG, MPI_STATUS_IGNORE));
    OK(MPI_File_read_at_all(f, 0, &back, 1, MPI_LONG, MPI_STATUS_IGNORE));
    EQUAL(back, 1);
    OK(MPI_File_sync(f));
    OK(MPI_File_get_size(f, &size));
    EQUAL(size, 12);
    MPI_Barrier(MPI_COMM_WORLD);
    OK(MPI_File_preallocate(f, 100));
    OK(MPI_File_set_size(f, 9));
    OK(MPI_File_get_size(f, &size));
    EQUAL(size, 9);
    OK(MPI_File_get_group(f, &group));
    MPI_Group_size(group, &flag);
    EQUAL(flag, tap_ranks);
    MPI_Group_free(&group);
    OK(MPI_File_get_amode(f, &amode));
    CHECK(amode & MPI_MODE_RDWR, "amode %d", amode);
    OK(MPI_File_get_info(f, &info));
    OK(MPI_File_set_info(f, info));
    MPI_Info_free(&info);
    close_file(&f);
    OK(tap_rank ? MPI_SUCCESS : MPI_File_delete(path, MPI_INFO_NULL));
    tap_case("sizes, atomic mode and what is MPI's beside a view of ours");
}

/* --------------------------------------------------------------------- errors */

static int handled, handled_class;

static void handler(MPI_File *f, int *err, ...)
{
    MPI_Offset at = -1;

    handled++;
    MPI_Error_class(*err, &handled_class);
    if (*f != MPI_FILE_NULL)
        MPI_File_get_position(*f, &at); /* it may call MPI */
}

/* U3: an unknown name is an error by the file's handler, and the old view stays. */
static void unknown_names(void)
{
    MPI_File f = open_new(MPI_MODE_RDWR);
    MPI_Errhandler own;
    MPI_Datatype etype, filetype;
    MPI_Offset disp;
    char name[MPI_MAX_DATAREP_STRING];
    long v = 1;

    OK(MPI_File_set_view(f, 4, MPI_LONG, MPI_LONG, "external32", MPI_INFO_NULL));
    MPI_File_create_errhandler(handler, &own);
    MPI_File_set_errhandler(f, own);
    CLASS(MPI_File_set_view(f, 0, MPI_LONG, MPI_LONG, "no such", MPI_INFO_NULL),
          MPI_ERR_UNSUPPORTED_DATAREP);
    EQUAL(handled, 1);
    EQUAL(handled_class, MPI_ERR_UNSUPPORTED_DATAREP);
    OK(MPI_File_get_view(f, &disp, &etype, &filetype, name));
    CHECK(disp == 4 && !strcmp(name, "external32"), "%lld %s", (long long)disp, name);
    CLASS(MPI_File_write_at(f, 0, &v, -1, MPI_LONG, MPI_STATUS_IGNORE), MPI_ERR_COUNT);
    EQUAL(handled, 2);
    MPI_Errhandler_free(&own);
    close_file(&f);
    tap_case("an unknown representation is an error, the view stays (U3, R1)");
}

/* V1: all ranks name one representation. */
static void names_differ(void)
{
    MPI_File f = open_new(MPI_MODE_RDWR);
    const char *mine = tap_rank ? "internal" : "external32";

    if (tap_ranks > 1) {
        CLASS(MPI_File_set_view(f, 0, MPI_LONG, MPI_LONG, mine, MPI_INFO_NULL), MPI_ERR_NOT_SAME);
        mine = tap_rank ? "no such" : "external32";
        CLASS(MPI_File_set_view(f, 0, MPI_LONG, MPI_LONG, mine, MPI_INFO_NULL),
              tap_rank ? MPI_ERR_UNSUPPORTED_DATAREP : MPI_ERR_NOT_SAME);
    }
    close_file(&f);
    tap_case("ranks that name different representations are told (V1)");
}

/* -------------------------------------------------------------------- functions */

struct state {
    int calls, fail, last_position, bad;
    const void *user;
    long units; /* bytes of a LONG in the file */
};

/* A LONG as three bytes, big-endian; others as they are. */
static int convert(void *user, MPI_Datatype type, int count, void *file, MPI_Offset position,
                   struct state *s, int writes)
{
    long *v = (long *)user + position;
    uint8_t *p = file;
    int size;

    MPI_Type_size(type, &size);
    s->bad |= size % (int)sizeof *v != 0;
    s->bad |= position != 0 && (position != s->last_position || user != s->user);
    s->user = user;
    s->last_position = (int)position + count;
    s->calls++;
    for (int i = 0; i < count; i++, p += 3)
        if (writes)
            p[0] = (uint8_t)(v[i] >> 16), p[1] = (uint8_t)(v[i] >> 8), p[2] = (uint8_t)v[i];
        else
            v[i] = p[0] << 16 | p[1] << 8 | p[2];
    return s->fail ? MPI_ERR_OTHER : MPI_SUCCESS;
}

static int read_three(void *user, MPI_Datatype type, int count, void *file, MPI_Offset position,
                      void *s)
{
    return convert(user, type, count, file, position, s, 0);
}

static int write_three(void *user, MPI_Datatype type, int count, void *file, MPI_Offset position,
                       void *s)
{
    return convert(user, type, count, file, position, s, 1);
}

static int extent_three(MPI_Datatype type, MPI_Aint *extent, void *extra)
{
    const struct state *s = extra;
    int size;

    if (type == MPI_SHORT) {
        *extent = MPI_UNDEFINED;
        return MPI_SUCCESS;
    }
    MPI_Type_size(type, &size);
    *extent = size == sizeof(long) ? s->units : size;
    return MPI_SUCCESS;
}

#define OWN_ERRHANDLER(f) MPI_File_set_errhandler(f, MPI_ERRORS_RETURN)

/* U1-U6, U8: functions convert what goes through a view of their name, wherever its holes are. */
static void functions_convert(void)
{
    static struct state s = {.units = 3};
    MPI_File f = open_new(MPI_MODE_RDWR);
    MPI_Datatype column;
    long v[4], back[4] = {0};
    MPI_Aint extent = -1;

    OK(MPI_Register_datarep("three", read_three, write_three, extent_three, &s));
    /* U2: by the handler of MPI_FILE_NULL, which returns. */
    CLASS(MPI_Register_datarep("three", read_three, write_three, extent_three, &s),
          MPI_ERR_DUP_DATAREP);
    CLASS(MPI_Register_datarep("external32", read_three, write_three, extent_three, &s),
          MPI_ERR_DUP_DATAREP);
    for (int i = 0; i < 4; i++)
        v[i] = 0x10000 * (tap_rank + 1) + i;
    MPI_Type_vector(2, 2, 2 * tap_ranks, MPI_LONG, &column);
    MPI_Type_commit(&column);
    OK(MPI_File_set_view(f, 6 * tap_rank, MPI_LONG, column, "three", MPI_INFO_NULL));
    OK(MPI_File_write_at_all(f, 0, v, 4, MPI_LONG, MPI_STATUS_IGNORE));
    OK(MPI_File_read_at_all(f, 0, back, 4, MPI_LONG, MPI_STATUS_IGNORE));
    CHECK(!memcmp(v, back, sizeof v), "other values");
    CHECK(s.calls >= 2 && !s.bad, "calls %d, wrong %d", s.calls, s.bad);
    OK(MPI_File_get_type_extent(f, MPI_LONG, &extent));
    EQUAL(extent, 3);
    OK(MPI_File_get_type_extent(f, column, &extent));
    EQUAL(extent, 3 * (2 * tap_ranks + 2)); /* X2 */
    /* U9: a function that fails, on one rank alone; all of them return. */
    s.fail = tap_rank == 0;
    OWN_ERRHANDLER(f);
    CLASS(MPI_File_write_at_all(f, 0, v, 4, MPI_LONG, MPI_STATUS_IGNORE),
          tap_rank ? MPI_SUCCESS : MPI_ERR_CONVERSION);
    CLASS(MPI_File_read_at_all(f, 0, back, 4, MPI_LONG, MPI_STATUS_IGNORE),
          tap_rank ? MPI_SUCCESS : MPI_ERR_CONVERSION);
    s.fail = 0;
    close_file(&f);
    for (int r = 0; r < tap_ranks; r++) {
        const uint8_t want[6] = {(uint8_t)(r + 1), 0, 0, (uint8_t)(r + 1), 0, 1};

        expect_bytes(6 * r, want, 6);
    }
    MPI_Type_free(&column);
    tap_case("functions convert (U1, U2, U5, U6, U8, U9, X2)");
}

/* U4: a type that the file does not hold. */
static void undefined_extents(void)
{
    MPI_File f = open_new(MPI_MODE_RDWR);
    int class = MPI_SUCCESS;

#ifdef MPI_ERR_VALUE_TOO_LARGE
    class = MPI_ERR_VALUE_TOO_LARGE;
#else
    class = MPI_ERR_OTHER;
#endif
    CLASS(MPI_File_set_view(f, 0, MPI_SHORT, MPI_SHORT, "three", MPI_INFO_NULL), class);
    close_file(&f);
    tap_case("a type that a representation does not hold (U4)");
}

/* U10: a null function leaves native bytes in its direction. */
static void null_functions(void)
{
    static struct state s = {.units = sizeof(long)};
    MPI_File f = open_new(MPI_MODE_RDWR);
    long v = 0x0102030405060708, back = 0;

    OK(MPI_Register_datarep("null", MPI_CONVERSION_FN_NULL, MPI_CONVERSION_FN_NULL, extent_three,
                            &s));
    OK(MPI_File_set_view(f, 0, MPI_LONG, MPI_LONG, "null", MPI_INFO_NULL));
    OK(MPI_File_write_at_all(f, tap_rank, &v, 1, MPI_LONG, MPI_STATUS_IGNORE));
    OK(MPI_File_read_at_all(f, tap_rank, &back, 1, MPI_LONG, MPI_STATUS_IGNORE));
    EQUAL(back, v);
    close_file(&f);
    expect_bytes(0, &v, sizeof v);
    EQUAL(s.calls, 0);
    tap_case("null functions are native bytes (U10)");
}

#if MPI_VERSION >= 4
static int read_large(void *user, MPI_Datatype type, MPI_Count count, void *file,
                      MPI_Offset position, void *s)
{
    return convert(user, type, (int)count, file, position, s, 0);
}

static int write_large(void *user, MPI_Datatype type, MPI_Count count, void *file,
                       MPI_Offset position, void *s)
{
    return convert(user, type, (int)count, file, position, s, 1);
}

/* U12: functions with large counts. X3: so are extents. */
static void large_functions(void)
{
    static struct state s = {.units = 3};
    MPI_File f = open_new(MPI_MODE_RDWR);
    long v = 0x010203, back = 0;
    MPI_Count extent = -1;

    OK(MPI_Register_datarep_c("large", read_large, write_large, extent_three, &s));
    OK(MPI_File_set_view(f, 0, MPI_LONG, MPI_LONG, "large", MPI_INFO_NULL));
    OK(MPI_File_get_type_extent_c(f, MPI_LONG, &extent));
    EQUAL(extent, 3);
    OK(MPI_File_write_at_all_c(f, tap_rank, &v, 1, MPI_LONG, MPI_STATUS_IGNORE));
    OK(MPI_File_read_at_all_c(f, tap_rank, &back, 1, MPI_LONG, MPI_STATUS_IGNORE));
    EQUAL(back, v);
    EQUAL(s.calls, 2);
    close_file(&f);
    expect_bytes(0, "\1\2\3", 3);
    tap_case("functions with large counts convert (U12, X3)");
}
#endif

/* ---------------------------------------------------------------------- packing */

/* P6, E1, E7: exactly the data. */
static void packs(void)
{
    uint8_t out[64] = {0};
    long v[2] = {1, -2}, back[2] = {0};
    long double third = 1.0L / 3, again = 0;
    MPI_Aint at = 0, size = -1;
    long before = tap_calls();

    OK(MPI_Pack_external_size("external32", 2, MPI_LONG, &size));
    EQUAL(size, 8);
    OK(MPI_Pack_external("external32", v, 2, MPI_LONG, out, sizeof out, &at));
    EQUAL(at, 8);
    CHECK(!memcmp(out, "\0\0\0\1\xff\xff\xff\xfe", 8), "other bytes");
    OK(MPI_Pack_external("external32", &third, 1, MPI_LONG_DOUBLE, out, sizeof out, &at));
    EQUAL(at, 24);
    CHECK(!memcmp(out + 8, "\x3f\xfd\x55\x55\x55\x55\x55\x55\x55\x56\0", 11), "other bytes of 1/3");
    at = 0;
    OK(MPI_Unpack_external("external32", out, sizeof out, &at, back, 2, MPI_LONG));
    CHECK(back[0] == 1 && back[1] == -2, "%ld %ld", back[0], back[1]);
    OK(MPI_Unpack_external("external32", out, sizeof out, &at, &again, 1, MPI_LONG_DOUBLE));
    EQUAL(at, 24);
    CHECK(again == third, "another long double");
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
    at = 60;
    CLASS(MPI_Pack_external("external32", v, 2, MPI_LONG, out, sizeof out, &at), MPI_ERR_TRUNCATE);
    EQUAL(at, 60);
    EQUAL(tap_calls() - before, 6);
    tap_case("packs are exactly the data (P6, E1, E7)");
}

int main(int argc, char **argv)
{
    tap_begin(&argc, &argv);
    snprintf(path, sizeof path, "%s/rules", argc > 1 ? argv[1] : "/tmp");
    views_are_told();
    layouts_scale();
    bytes_take_any_type();
    empty_filetypes();
    overlaps();
    wrong_arguments();
    reads_end_at_the_end();
    part_of_a_struct();
    access_modes();
    sizes_and_modes();
    unknown_names();
    names_differ();
    functions_convert();
    undefined_extents();
    null_functions();
#if MPI_VERSION >= 4
    large_functions();
#endif
    packs();
    return tap_end();
}
