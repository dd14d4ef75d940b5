/* calls.c - every call of MPI that reads or writes a file, through views that MPIs get wrong.
 *
 * A LONG has 8 bytes here and 4 in external32 (rule E1), so that a call which is only passed on
 * fails. Each call writes, and the bytes of the file are looked at; then each call reads what
 * stands there. The counter of the library says that it worked for each. */
/* SPDX-License-Identifier: MIT */
#include "tests/mpiio/tap.h"

enum { N = 5, ROUNDS = 3, FILE_MAX = 65536 };

static char path[500];

/* ------------------------------------------------------------------ the calls */

#define ARGS MPI_File f, MPI_Offset at, void *b, int n, MPI_Datatype t, MPI_Status *s

typedef int call_fn(ARGS);

/* A call that ends at once; `with`: its arguments. */
#define NOW(id, writes, reads, ...)           \
    static int w_##id(ARGS)                   \
    {                                         \
        return (void)at, writes(__VA_ARGS__); \
    }                                         \
    static int r_##id(ARGS)                   \
    {                                         \
        return (void)at, reads(__VA_ARGS__);  \
    }
/* One that gives a request: waited for beside another one, and tested. */
#define LATER(id, writes, reads, ...)                   \
    static int w_##id(ARGS)                             \
    {                                                   \
        MPI_Request r = MPI_REQUEST_NULL;               \
        (void)at;                                       \
        return wait_mixed(writes(__VA_ARGS__), &r, s);  \
    }                                                   \
    static int r_##id(ARGS)                             \
    {                                                   \
        MPI_Request r = MPI_REQUEST_NULL;               \
        (void)at;                                       \
        return wait_testing(reads(__VA_ARGS__), &r, s); \
    }
#define SPLIT(id, writes, writes_end, reads, reads_end, ...) \
    static int w_##id(ARGS)                                  \
    {                                                        \
        int err = writes(__VA_ARGS__);                       \
        (void)at;                                            \
        return err ? err : writes_end(f, b, s);              \
    }                                                        \
    static int r_##id(ARGS)                                  \
    {                                                        \
        int err = reads(__VA_ARGS__);                        \
        (void)at;                                            \
        return err ? err : reads_end(f, b, s);               \
    }

static int wait_mixed(int err, MPI_Request *r, MPI_Status *s)
{
    MPI_Request both[2];
    MPI_Status status[2];
    int x = 7, y = 0;

    MPI_Irecv(&y, 1, MPI_INT, 0, 5, MPI_COMM_SELF, &both[0]);
    MPI_Send(&x, 1, MPI_INT, 0, 5, MPI_COMM_SELF);
    both[1] = *r;
    if (!err)
        err = MPI_Waitall(2, both, status);
    *s = status[1];
    CHECK(y == 7, "the other request got %d", y);
    return err;
}

static int wait_testing(int err, MPI_Request *r, MPI_Status *s)
{
    int done = 0;

    while (!err && !done)
        err = MPI_Test(r, &done, s);
    return err;
}

/* The calls of one kind of count, by what their names end in. */
#define CALLS(_)                                                                                \
    NOW(at##_, MPI_File_write_at##_, MPI_File_read_at##_, f, at, b, n, t, s)                    \
    NOW(at_all##_, MPI_File_write_at_all##_, MPI_File_read_at_all##_, f, at, b, n, t, s)        \
    NOW(own##_, MPI_File_write##_, MPI_File_read##_, f, b, n, t, s)                             \
    NOW(own_all##_, MPI_File_write_all##_, MPI_File_read_all##_, f, b, n, t, s)                 \
    NOW(shared##_, MPI_File_write_shared##_, MPI_File_read_shared##_, f, b, n, t, s)            \
    NOW(ordered##_, MPI_File_write_ordered##_, MPI_File_read_ordered##_, f, b, n, t, s)         \
    LATER(i_at##_, MPI_File_iwrite_at##_, MPI_File_iread_at##_, f, at, b, n, t, &r)             \
    LATER(i_at_all##_, MPI_File_iwrite_at_all##_, MPI_File_iread_at_all##_, f, at, b, n, t, &r) \
    LATER(i_own##_, MPI_File_iwrite##_, MPI_File_iread##_, f, b, n, t, &r)                      \
    LATER(i_own_all##_, MPI_File_iwrite_all##_, MPI_File_iread_all##_, f, b, n, t, &r)          \
    LATER(i_shared##_, MPI_File_iwrite_shared##_, MPI_File_iread_shared##_, f, b, n, t, &r)     \
    SPLIT(split_at##_, MPI_File_write_at_all_begin##_, MPI_File_write_at_all_end,               \
          MPI_File_read_at_all_begin##_, MPI_File_read_at_all_end, f, at, b, n, t)              \
    SPLIT(split_own##_, MPI_File_write_all_begin##_, MPI_File_write_all_end,                    \
          MPI_File_read_all_begin##_, MPI_File_read_all_end, f, b, n, t)                        \
    SPLIT(split_ordered##_, MPI_File_write_ordered_begin##_, MPI_File_write_ordered_end,        \
          MPI_File_read_ordered_begin##_, MPI_File_read_ordered_end, f, b, n, t)

enum kind { AT, OWN, SHARED, ORDERED };
struct pair {
    const char *name;
    enum kind kind;
    int together;
    call_fn *write, *read;
};

/* ------------------------------------------------------------- files and values */

static long value_of(int rank, int i)
{
    return 1000000 * (rank + 1) + 1000 * i - 7;
}

static uint8_t *slurp(long *size)
{
    static uint8_t bytes[FILE_MAX];
    FILE *f = fopen(path, "rb");

    *size = f ? (long)fread(bytes, 1, sizeof bytes, f) : -1;
    if (f)
        fclose(f);
    return bytes;
}

static void put_big(uint8_t *p, long v)
{
    for (int i = 0; i < 4; i++)
        p[i] = (uint8_t)((unsigned long)v >> (24 - 8 * i));
}

/* The file that all ranks write: item i of rank r at `at(r, i)`. */
static long place(enum kind kind, int rank, int i)
{
    return kind == AT || kind == OWN ? (i * tap_ranks + rank) * 4L : (rank * N * ROUNDS + i) * 4L;
}

static void expect_file(enum kind kind, const char *name)
{
    static uint8_t want[FILE_MAX];
    long size, n = 4L * tap_ranks * N * ROUNDS;
    const uint8_t *is = slurp(&size);

    for (int r = 0; r < tap_ranks; r++)
        for (int i = 0; i < N * ROUNDS; i++)
            put_big(want + place(kind, r, i), value_of(r, i));
    CHECK(size == n && !memcmp(is, want, (size_t)n), "%s: other bytes, %ld, not %ld", name, size,
          n);
}

static MPI_File open_file(int amode)
{
    MPI_File f = MPI_FILE_NULL;

    OK(MPI_File_open(MPI_COMM_WORLD, path, amode, MPI_INFO_NULL, &f));
    return f;
}

/* Ranks in turn, or each its own column. */
static void set_view(MPI_File f, enum kind kind)
{
    MPI_Datatype type = MPI_LONG;

    if (kind == AT || kind == OWN) {
        /* A portable type, whose holes scale (rule V3). */
        MPI_Datatype vector;
        int size[1] = {tap_ranks}, one[1] = {1}, at[1] = {tap_rank};

        MPI_Type_create_subarray(1, size, one, at, MPI_ORDER_C, MPI_LONG, &vector);
        MPI_Type_commit(&vector);
        type = vector;
    }
    OK(MPI_File_set_view(f, 0, MPI_LONG, type, "external32", MPI_INFO_NULL));
    if (type != MPI_LONG)
        MPI_Type_free(&type);
}

static void expect_count(const struct pair *p, const MPI_Status *s, MPI_Datatype type, int n)
{
    int count = -1, items = -1;

    MPI_Get_count(s, type, &count);
    MPI_Get_elements(s, type, &items);
    CHECK(count == n && items == n, "%s: count %d, elements %d, not %d", p->name, count, items, n);
}

/* One turn of a shared pointer: rank by rank, unless the call orders them. */
static void one_call(const struct pair *p, MPI_File f, call_fn *call, long *v, int first)
{
    MPI_Status s;
    MPI_Offset at = -1;

    if (p->kind == SHARED) {
        for (int r = 0; r < tap_ranks; r++) {
            MPI_Barrier(MPI_COMM_WORLD);
            if (r == tap_rank)
                for (int i = 0; i < N * ROUNDS; i += N) {
                    OK(call(f, 0, v + i, N, MPI_LONG, &s));
                    expect_count(p, &s, MPI_LONG, N);
                }
            MPI_Barrier(MPI_COMM_WORLD);
        }
        OK(MPI_File_get_position_shared(f, &at));
        EQUAL(at, (MPI_Offset)tap_ranks * N * ROUNDS);
        return;
    }
    OK(call(f, first, v + first, p->kind == ORDERED ? N * ROUNDS : N, MPI_LONG, &s));
    expect_count(p, &s, MPI_LONG, p->kind == ORDERED ? N * ROUNDS : N);
    if (p->kind == OWN) {
        OK(MPI_File_get_position(f, &at));
        EQUAL(at, first + N);
    }
}

static void try_pair(const struct pair *p)
{
    long mine[N * ROUNDS], back[N * ROUNDS], before = tap_calls();
    MPI_File f;
    int rounds = p->kind == SHARED || p->kind == ORDERED ? 1 : ROUNDS;
    char name[200];

    for (int i = 0; i < N * ROUNDS; i++)
        mine[i] = value_of(tap_rank, i);
    memset(back, 0, sizeof back);
    if (!tap_rank)
        unlink(path);
    MPI_Barrier(MPI_COMM_WORLD);
    f = open_file(MPI_MODE_CREATE | MPI_MODE_RDWR);
    set_view(f, p->kind);
    for (int k = 0; k < rounds; k++)
        one_call(p, f, p->write, mine, k * N);
    OK(MPI_File_close(&f));
    MPI_Barrier(MPI_COMM_WORLD);
    expect_file(p->kind, p->name);
    f = open_file(MPI_MODE_RDONLY);
    set_view(f, p->kind);
    for (int k = 0; k < rounds; k++)
        one_call(p, f, p->read, back, k * N);
    CHECK(!memcmp(mine, back, sizeof mine), "%s: other values", p->name);
    OK(MPI_File_close(&f));
    /* Twice set_view and each transfer. */
    EQUAL(tap_calls() - before, 2 + 2 * (p->kind == SHARED ? ROUNDS : rounds));
    snprintf(name, sizeof name, "%s: written and read by the library (E1, V3, V8)", p->name);
    tap_case(name);
}

CALLS()
#if MPI_VERSION >= 4
CALLS(_c)
#endif

#define PAIR(_, id, kind, together)                  \
    {                                                \
#id #_, kind, together, w_##id##_, r_##id##_ \
    }
#define PAIRS(_)                                                                                \
    PAIR(_, at, AT, 0), PAIR(_, at_all, AT, 1), PAIR(_, own, OWN, 0), PAIR(_, own_all, OWN, 1), \
        PAIR(_, shared, SHARED, 0), PAIR(_, ordered, ORDERED, 1), PAIR(_, i_at, AT, 0),         \
        PAIR(_, i_at_all, AT, 0), PAIR(_, i_own, OWN, 0), PAIR(_, i_own_all, OWN, 0),           \
        PAIR(_, i_shared, SHARED, 0), PAIR(_, split_at, AT, 1), PAIR(_, split_own, OWN, 1),     \
        PAIR(_, split_ordered, ORDERED, 1)
static const struct pair pairs[] = {
    PAIRS(),
#if MPI_VERSION >= 4
    PAIRS(_c),
#endif
};

int main(int argc, char **argv)
{
    tap_begin(&argc, &argv);
    snprintf(path, sizeof path, "%s/calls", argc > 1 ? argv[1] : "/tmp");
    for (size_t i = 0; i < sizeof pairs / sizeof *pairs; i++)
        try_pair(&pairs[i]);
    return tap_end();
}
