/* test_ranks_read.c - reads that many ranks make together, against what was written.
 *
 * The oracle is the number of each element, which the test keeps: what one process reads back is
 * held against it as well.
 *
 * needs: deflate zstd */
/* stacks: off */
/* SPDX-License-Identifier: MIT */
#include "tests/unit/ranks_help.h"

#include <stdatomic.h>

enum cut { ROWS, COLUMNS, BLOCKS, CYCLE, STRIPES, BOXES, POINTS, ALL, ONE, CUTS };

struct task {
    const char *name, *datarep;
    int kind, layout, filter;
    drep_type *type;
    int64_t dims[2], chunk[2];
    uint64_t seed;
};

/* What a rank reads: places in the order of the transfer. */
struct wish {
    drep_selection *sel;
    int64_t *place, n;
};

static void wish_free(struct wish *w)
{
    drep_selection_free(w->sel);
    free(w->place);
}

static void wish_points(struct teller *me, const struct task *task, struct rnd *r, struct wish *w)
{
    int64_t coord[2 * 60];

    w->n = (int64_t)rnd_below(r, 60);
    for (int64_t i = 0; i < w->n; i++) {
        coord[2 * i] = (int64_t)rnd_below(r, (uint64_t)task->dims[0]);
        coord[2 * i + 1] = (int64_t)rnd_below(r, (uint64_t)task->dims[1]);
        w->place[i] = coord[2 * i] * task->dims[1] + coord[2 * i + 1];
    }
    went(me, drep_select_points(2, w->n, coord, &w->sel));
}

static void wish_make(struct teller *me, const struct task *task, enum cut cut, struct rnd *r,
                      struct wish *w)
{
    int64_t start[2] = {0, 0}, count[2] = {task->dims[0], task->dims[1]}, stride[2] = {1, 1};
    int64_t rank = me->rank, ranks = me->ranks, across = ranks > 3 ? ranks / 2 : ranks;

    *w = (struct wish){.place =
                           malloc(sizeof(int64_t) * (size_t)(task->dims[0] * task->dims[1] + 60))};
    if (cut == POINTS) {
        wish_points(me, task, r, w);
        return;
    }
    for (int d = 0; d < 2; d++) {
        int64_t part = d == 0 ? rank / across : rank % across;
        int64_t parts = d == 0 ? (ranks - 1) / across + 1 : across;

        if ((cut == ROWS && d == 0) || (cut == COLUMNS && d == 1)) {
            part = rank;
            parts = ranks;
        }
        if (cut == BLOCKS || (cut == ROWS && d == 0) || (cut == COLUMNS && d == 1)) {
            start[d] = task->dims[d] * part / parts;
            count[d] = task->dims[d] * (part + 1) / parts - start[d];
        } else if ((cut == CYCLE && d == 0) || (cut == STRIPES && d == 1)) {
            start[d] = rank;
            stride[d] = ranks;
            count[d] = (task->dims[d] - 1 - rank) / ranks + 1;
        } else if (cut == BOXES) {
            start[d] = (int64_t)rnd_below(r, (uint64_t)task->dims[d]);
            count[d] = (int64_t)rnd_below(r, (uint64_t)(task->dims[d] - start[d]) + 1);
        } else if (cut == ONE && rank != ranks - 1) {
            count[d] = 0;
        }
    }
    for (int64_t y = 0; y < count[0]; y++)
        for (int64_t x = 0; x < count[1]; x++)
            w->place[w->n++] =
                (start[0] + y * stride[0]) * task->dims[1] + start[1] + x * stride[1];
    if (cut != ALL)
        went(me, drep_select_box(2, start, count, stride, NULL, &w->sel));
}

/* Reads one cut and holds it against the numbers. */
static void read_cut(struct teller *me, drep_dataset *ds, enum cut cut, const uint32_t *number,
                     const char *when, bool together)
{
    const struct task *task = me->ctx;
    size_t size = (size_t)drep_type_extent(task->type);
    struct wish w;
    struct rnd r;
    uint8_t *v;

    rnd_init(&r, task->seed * 1000 + (uint64_t)cut * 50 + (uint64_t)me->rank);
    wish_make(me, task, cut, &r, &w);
    v = calloc((size_t)w.n + 1, size);
    went(me, drep_read(ds, w.sel, task->type, v, &DREP_XFER(.collective = together)));
    for (int64_t i = 0; !me->err && i < w.n; i++)
        if (!value_is(task->kind, task->type, number[w.place[i]], v + (size_t)i * size)) {
            me->err = -1;
            snprintf(me->text, sizeof me->text, "%s, cut %d, %s: element %lld at %lld", task->name,
                     (int)cut, when, (long long)i, (long long)w.place[i]);
        }
    drep_vlen_free(task->type, w.n, v);
    free(v);
    wish_free(&w);
}

/* Writes a box of new numbers; the box of rank r of the rows from `start` to `end`. */
static void write_rows(struct teller *me, drep_dataset *ds, int64_t start, int64_t end,
                       int64_t left, int64_t right, uint32_t plus, uint32_t *number, bool together)
{
    const struct task *task = me->ctx;
    size_t size = (size_t)drep_type_extent(task->type);
    int64_t from[2] = {start + (end - start) * me->rank / me->ranks, left};
    int64_t count[2] = {start + (end - start) * (me->rank + 1) / me->ranks - from[0], right - left};
    uint8_t *v = calloc((size_t)(count[0] * count[1]) + 1, size), *p = v;

    for (int64_t y = start; y < end; y++)
        for (int64_t x = left; x < right; x++) {
            int64_t at = y * task->dims[1] + x;

            number[at] = (uint32_t)(at % 1009) + plus;
            if (y >= from[0] && y < from[0] + count[0]) {
                value_make(task->kind, number[at], p);
                p += size;
            }
        }
    went(me, drep_write_box(ds, from, count, task->type, v, &DREP_XFER(.collective = together)));
    drep_vlen_free(task->type, count[0] * count[1], v);
    free(v);
}

static drep_dataset *make(struct teller *me, drep_file *f, const struct task *task)
{
    drep_filter filters[2] = {{.id = DREP_FILTER_SHUFFLE}, {.id = task->filter}};
    drep_spec spec =
        DREP_SPEC(.type = task->type, .rank = 2, .dims = task->dims, .layout = task->layout);
    _Alignas(16) uint8_t fill[VALUE_ROOM];
    drep_dataset *ds = NULL;

    value_make(task->kind, 37, fill);
    spec.fill = DREP_FILL_VALUE;
    spec.fill_value = fill;
    if (task->layout == DREP_CHUNKED)
        spec.chunk = task->chunk;
    if (task->filter) {
        spec.filters = filters;
        spec.nfilters = 2;
    }
    went(me, drep_dataset_create(f, "/data", &spec, &ds));
    drep_vlen_free(task->type, 1, fill);
    return ds;
}

static void tell_reads(struct teller *me, drep_file *f)
{
    const struct task *task = me->ctx;
    int64_t rows = task->dims[0], columns = task->dims[1], n = rows * columns;
    uint32_t *number = malloc((size_t)n * sizeof *number);
    bool alone = task->layout != DREP_COMPACT && task->kind < V_FIXED_KINDS;
    drep_dataset *ds = make(me, f, task);

    for (int64_t i = 0; i < n; i++)
        number[i] = 37;
    if (ds) {
        read_cut(me, ds, BOXES, number, "without writes", true);
        write_rows(me, ds, 0, rows * 3 / 4, 0, columns, 0, number, true);
        for (int cut = 0; cut < CUTS; cut++)
            read_cut(me, ds, (enum cut)cut, number, "not committed", true);
        write_rows(me, ds, 1, rows - 1, 1, columns - 2, 5, number, true);
        for (int cut = 0; cut < CUTS; cut += 2)
            read_cut(me, ds, (enum cut)cut, number, "written in part", true);
        if (alone) {
            write_rows(me, ds, 0, rows, 3, columns / 2, 9, number, false);
            read_cut(me, ds, CYCLE, number, "written alone", true);
            read_cut(me, ds, POINTS, number, "written alone", true);
            write_rows(me, ds, 0, rows, 3, columns / 3, 11, number, false);
        }
        went(me, drep_commit(f));
        for (int cut = 0; cut < CUTS; cut++)
            read_cut(me, ds, (enum cut)cut, number, "committed", true);
        read_cut(me, ds, BOXES, number, "alone", false);
        if (alone)
            write_rows(me, ds, 2, rows, 3, columns / 3, 13, number, false);
        read_cut(me, ds, STRIPES, number, "after the commit", true);
        write_rows(me, ds, rows / 3, rows / 2, 2, columns, 15, number, true);
        read_cut(me, ds, COLUMNS, number, "over the commit", true);
        read_cut(me, ds, POINTS, number, "over the commit", true);
        drep_dataset_close(ds);
    }
    free(number);
}

static const struct task tasks[] = {
    {.name = "native", .datarep = "native", .kind = V_DOUBLE, .layout = DREP_CHUNKED},
    {.name = "external32", .datarep = "external32", .kind = V_INT32, .layout = DREP_CHUNKED},
    {.name = "functions", .datarep = "xor", .kind = V_FLAT, .layout = DREP_CHUNKED},
    {.name = "functions, deflate",
     .datarep = "xor",
     .kind = V_DOUBLE,
     .layout = DREP_CHUNKED,
     .filter = DREP_FILTER_DEFLATE},
    {.name = "deflate",
     .datarep = "native",
     .kind = V_DOUBLE,
     .layout = DREP_CHUNKED,
     .filter = DREP_FILTER_DEFLATE},
    {.name = "zstd",
     .datarep = "external32",
     .kind = V_FLAT,
     .layout = DREP_CHUNKED,
     .filter = DREP_FILTER_ZSTD},
    {.name = "texts", .datarep = "native", .kind = V_VSTRING, .layout = DREP_CHUNKED},
    {.name = "texts, zstd",
     .datarep = "external32",
     .kind = V_VSTRING,
     .layout = DREP_CHUNKED,
     .filter = DREP_FILTER_ZSTD},
    {.name = "compounds", .datarep = "xor", .kind = V_DEEP, .layout = DREP_CHUNKED},
    {.name = "sequences, deflate",
     .datarep = "native:s390x",
     .kind = V_NESTED,
     .layout = DREP_CHUNKED,
     .filter = DREP_FILTER_DEFLATE},
    {.name = "contiguous", .datarep = "native", .kind = V_DOUBLE, .layout = DREP_CONTIGUOUS},
    {.name = "contiguous, small", .datarep = "small", .kind = V_INT, .layout = DREP_CONTIGUOUS},
    {.name = "contiguous, functions", .datarep = "xor", .kind = V_FLAT, .layout = DREP_CONTIGUOUS},
    {.name = "compact", .datarep = "external32", .kind = V_DOUBLE, .layout = DREP_COMPACT},
    {.name = "compact texts", .datarep = "native", .kind = V_VSTRING, .layout = DREP_COMPACT},
    {.name = NULL},
};

static void try_tasks(int64_t rows, int64_t columns, const int64_t *chunk, const int *ranks)
{
    const char *path = temp_path("ranks.drep");

    register_datareps();
    for (size_t k = 0; tasks[k].name; k++)
        for (size_t i = 0; ranks[i]; i++) {
            struct task task = tasks[k];
            struct story s = {
                .fn = tell_reads, .path = path, .ctx = &task, .datarep = task.datarep};

            if (!in_sanitized_part((unsigned)(7 * k + i)))
                continue;
            task.dims[0] = task.layout == DREP_COMPACT ? 18 : rows;
            task.dims[1] = task.layout == DREP_COMPACT ? 20 : columns;
            memcpy(task.chunk, chunk, sizeof task.chunk);
            task.type = value_type(task.kind);
            task.seed = k + 20 * i;
            story_run_well(&s, ranks[i]);
            drep_type_free(task.type);
        }
}

START_TEST(test_a_read_by_many_is_the_read_of_one)
{
    try_tasks(41, 46, (const int64_t[]){7, 12}, (const int[]){1, 2, 3, 4, 8, 16, 0});
}
END_TEST

START_TEST(test_few_large_chunks)
{
    try_tasks(37, 50, (const int64_t[]){30, 50}, (const int[]){2, 5, 0});
}
END_TEST

/* ---- more pieces than one process takes at once ---- */

enum { MANY = 1500 };

/* Each rank writes every so many rows, and all read all before the commit. */
static void tell_many(struct teller *me, drep_file *f)
{
    const int64_t dims[2] = {MANY, MANY}, chunk[2] = {64, 16}, start[2] = {me->rank, 0};
    const int64_t stride[2] = {me->ranks, 1}, count[2] = {MANY / me->ranks, MANY};
    const drep_filter *filter = me->ctx;
    drep_spec spec = DREP_SPEC(.type = DREP_INT32_T, .rank = 2, .dims = dims,
                               .layout = DREP_CHUNKED, .chunk = chunk);
    int32_t *v = malloc(MANY * MANY * sizeof *v);
    drep_selection *sel;
    drep_dataset *ds;

    if (filter->id) {
        spec.filters = filter;
        spec.nfilters = 1;
    }
    for (int64_t i = 0; i < count[0] * MANY; i++)
        v[i] = (int32_t)((me->rank + i / MANY * me->ranks) * MANY + i % MANY);
    went(me, drep_dataset_create(f, "/data", &spec, &ds));
    went(me, drep_select_box(2, start, count, stride, NULL, &sel));
    went(me, drep_write(ds, sel, DREP_INT32_T, v, &DREP_XFER(.collective = 1)));
    memset(v, 0, MANY * MANY * sizeof *v);
    went(me, drep_read(ds, NULL, DREP_INT32_T, v, &DREP_XFER(.collective = 1)));
    for (int32_t i = 0; !me->err && i < MANY * MANY; i++)
        if (v[i] != i)
            me->err = -1;
    drep_selection_free(sel);
    drep_dataset_close(ds);
    free(v);
}

START_TEST(test_more_pieces_than_a_batch)
{
    static const drep_filter filters[2] = {{.id = 0}, {.id = DREP_FILTER_DEFLATE, .level = 1}};

    for (int i = 0; i < 2; i++)
        for (int ranks = 2; ranks <= 3; ranks++) {
            struct story s = {.fn = tell_many,
                              .path = temp_path("many.drep"),
                              .datarep = "native",
                              .ctx = &filters[i]};

            story_run_well(&s, ranks);
        }
}
END_TEST

/* ---- each chunk is decoded once ---- */

static atomic_int decodes, fails_at;

static int keep_bytes(const uint32_t *params, int nparams, const void *in, size_t in_size,
                      void *out, size_t *out_size, void *state)
{
    size_t room = *out_size;

    (void)params;
    (void)nparams;
    (void)state;
    *out_size = in_size;
    if (room >= in_size)
        memcpy(out, in, in_size);
    return 0;
}

static int count_bytes(const uint32_t *params, int nparams, const void *in, size_t in_size,
                       void *out, size_t *out_size, void *state)
{
    if (atomic_fetch_add(&decodes, 1) + 1 == atomic_load(&fails_at))
        return 1;
    return keep_bytes(params, nparams, in, in_size, out, out_size, state);
}

static void register_count(void)
{
    static bool done;

    if (!done)
        ok(drep_register_filter("count", keep_bytes, count_bytes, NULL,
                                DREP_FILTER_KEEP | DREP_FILTER_NO_SUM));
    done = true;
}

enum { SIDE = 48, CHUNK = 16, CHUNKS = 9 };

static double value_at(int64_t y, int64_t x)
{
    return (double)(y * SIDE + x) * 0.37;
}

/* A file of one dataset, of which all chunks are stored, some of them dear to read. */
static void make_counted(const char *path, bool filter)
{
    const drep_filter count = {.id = DREP_FILTER_USER, .name = "count"};
    const int64_t dims[2] = {SIDE, SIDE}, chunk[2] = {CHUNK, CHUNK};
    drep_spec spec =
        DREP_SPEC(.type = DREP_DOUBLE, .rank = 2, .dims = dims, .layout = DREP_CHUNKED,
                  .chunk = chunk, .filters = filter ? &count : NULL, .nfilters = filter);
    drep_file *f = new_file(path, "native");
    double *v = malloc(SIDE * SIDE * sizeof *v);
    drep_dataset *ds;

    for (int64_t i = 0; i < SIDE * SIDE; i++)
        v[i] = value_at(i / SIDE, i % SIDE);
    ok(drep_dataset_create(f, "/data", &spec, &ds));
    ok(drep_write(ds, NULL, DREP_DOUBLE, v, NULL));
    drep_dataset_close(ds);
    ok(drep_close(f));
    free(v);
}

/* Every rank reads all, or every so many rows. */
static void tell_counted(struct teller *me, drep_file *f)
{
    const bool *all = me->ctx;
    int64_t start[2] = {*all ? 0 : me->rank, 0}, stride[2] = {*all ? 1 : me->ranks, 1};
    int64_t count[2] = {(SIDE - 1 - start[0]) / stride[0] + 1, SIDE};
    double v[SIDE * SIDE];
    drep_selection *sel;
    drep_dataset *ds;

    went(me, drep_dataset_open(f, "/data", &ds));
    went(me, drep_select_box(2, start, count, stride, NULL, &sel));
    went(me, drep_read(ds, sel, DREP_DOUBLE, v, &DREP_XFER(.collective = 1)));
    for (int64_t i = 0; !me->err && i < count[0] * count[1]; i++)
        if (v[i] != value_at(start[0] + i / SIDE * stride[0], i % SIDE))
            me->err = -1;
    drep_selection_free(sel);
    drep_dataset_close(ds);
}

START_TEST(test_each_chunk_is_decoded_once)
{
    static const bool all[] = {false, true};
    const char *path = temp_path("counted.drep");

    register_count();
    make_counted(path, true);
    for (int ranks = 2; ranks <= 16; ranks++)
        for (int i = 0; i < 2; i++) {
            struct story s = {.fn = tell_counted, .path = path, .existing = true, .ctx = &all[i]};

            atomic_store(&decodes, 0);
            story_run_well(&s, ranks);
            ck_assert_int_eq(atomic_load(&decodes), CHUNKS);
        }
}
END_TEST

/* ---- failures ---- */

/* All ranks have one error, with these texts in its message. */
static void all_say(const struct story *s, int ranks, int err, const char *const *texts)
{
    ck_assert(!s->all.deadlock);
    for (int r = 0; r < ranks; r++) {
        const struct teller *me = &s->teller[r];

        ck_assert_msg(me->err == err, "rank %d: %d: %s", r, me->err, me->text);
        ck_assert_str_eq(me->text, s->teller[0].text);
        for (int i = 0; texts[i]; i++)
            ck_assert_msg(strstr(me->text, texts[i]), "%s in \"%s\"", texts[i], me->text);
    }
}

START_TEST(test_a_failure_is_one_of_all)
{
    static const bool all[] = {false, true};
    const char *path = temp_path("counted.drep");

    register_count();
    make_counted(path, true);
    for (int ranks = 2; ranks <= 8; ranks += 3)
        for (int at = 1; at <= CHUNKS; at += 4) {
            struct story s = {
                .fn = tell_counted, .path = path, .existing = true, .ctx = &all[at % 2]};

            atomic_store(&decodes, 0);
            atomic_store(&fails_at, at);
            story_run(&s, ranks);
            atomic_store(&fails_at, 0);
            all_say(&s, ranks, DREP_ERR_CONVERSION,
                    (const char *const[]){"rank ", "dataset \"/data\"", "chunk (", NULL});
        }
}
END_TEST

/* Changes a byte of the element in row y, column x; returns where it was. */
static size_t damage(const char *path, int64_t y, int64_t x)
{
    double what[2] = {value_at(y, x), value_at(y, x + 1)};
    size_t size, at;
    uint8_t *p = read_whole_file(path, &size);
    FILE *out;

    for (at = 0; at + sizeof what <= size && memcmp(p + at, what, sizeof what) != 0;)
        at++;
    ck_assert_uint_lt(at + sizeof what, size);
    p[at] ^= 4;
    out = fopen(path, "wb");
    fwrite(p, 1, size, out);
    fclose(out);
    free(p);
    return at;
}

START_TEST(test_damage_is_an_error_of_all)
{
    static const bool all[] = {false, true};
    const char *path = temp_path("counted.drep");
    char byte[32];

    register_count();
    for (int filter = 0; filter < 2; filter++)
        for (int ranks = 2; ranks <= 9; ranks += 7)
            for (int i = 0; i < 2; i++) {
                struct story s = {
                    .fn = tell_counted, .path = path, .existing = true, .ctx = &all[i]};
                size_t at;

                make_counted(path, filter);
                at = damage(path, 20, 36);
                /* The sum is that of the block, or of the chunk, which begins with its length and
                 * sum. */
                at -= ((20 % CHUNK) * CHUNK + 36 % CHUNK) * sizeof(double) + (filter ? 16 : 0);
                snprintf(byte, sizeof byte, "at byte %zu", at);
                story_run(&s, ranks);
                all_say(
                    &s, ranks, DREP_ERR_CHECKSUM,
                    (const char *const[]){"rank ", "dataset \"/data\"", "chunk (1,2)", byte, NULL});
            }
}
END_TEST

/* ---- what is refused ---- */

/* A read of one rank. */
static void tell_early(struct teller *me, drep_file *f)
{
    const int64_t dims[2] = {32, 8}, start[2] = {me->rank, 0}, count[2] = {1, 8};
    drep_spec spec =
        DREP_SPEC(.type = DREP_DOUBLE, .rank = 2, .dims = dims, .layout = DREP_CONTIGUOUS);
    double v[32 * 8] = {0};
    drep_dataset *ds;
    int err;

    went(me, drep_dataset_create(f, "/data", &spec, &ds));
    went(me, drep_write_box(ds, start, count, DREP_DOUBLE, v, &DREP_XFER(.collective = 1)));
    err = drep_read(ds, NULL, DREP_DOUBLE, v, NULL);
    if (err != (me->rank ? DREP_ERR_NOT_COMMITTED : 0) ||
        (err && !strstr(drep_error(), "with .collective = 1")))
        me->err = 1000;
    went(me, drep_read(ds, NULL, DREP_DOUBLE, v, &DREP_XFER(.collective = 1)));
    drep_dataset_close(ds);
}

/* One rank names too many elements. */
static void tell_outside(struct teller *me, drep_file *f)
{
    const int64_t start[2] = {0, 0}, count[2] = {me->rank == 1 ? SIDE + 1 : 1, 8};
    double v[SIDE * 8] = {0};
    drep_dataset *ds;

    went(me, drep_dataset_open(f, "/data", &ds));
    went(me, drep_read_box(ds, start, count, DREP_DOUBLE, v, &DREP_XFER(.collective = 1)));
    drep_dataset_close(ds);
}

/* Two ranks have written an element: the read says so, and what each has stays. */
static void tell_overlap(struct teller *me, drep_file *f)
{
    const int64_t start[2] = {me->rank, 0}, count[2] = {2, 8};
    double v[16] = {0};
    drep_dataset *ds;
    int err;

    went(me, drep_dataset_open(f, "/data", &ds));
    went(me, drep_write_box(ds, start, count, DREP_DOUBLE, v, NULL));
    err = drep_read_box(ds, start, count, DREP_DOUBLE, v, &DREP_XFER(.collective = 1));
    if (err != DREP_ERR_NOT_SAME || !strstr(drep_error(), "write the same element"))
        me->err = 1000;
    drep_dataset_close(ds);
}

START_TEST(test_what_reads_refuse)
{
    const char *path = temp_path("refused.drep");
    struct story early = {.fn = tell_early, .path = path, .datarep = "native"},
                 outside = {.fn = tell_outside, .path = path, .existing = true},
                 overlap = {.fn = tell_overlap, .path = path, .existing = true};

    story_run_well(&early, 3);
    make_counted(path, false);
    story_run(&outside, 3);
    all_say(&outside, 3, DREP_ERR_RANGE,
            (const char *const[]){"rank 1: ", "dataset \"/data\"", NULL});
    story_run(&overlap, 3);
    all_say(&overlap, 3, DREP_ERR_NOT_SAME,
            (const char *const[]){"ranks 0 and 1 write the same element", NULL});
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("ranks_read");
    TCase *tc = tcase_create("ranks_read");

    tcase_set_timeout(tc, 600);
    tcase_add_test(tc, test_a_read_by_many_is_the_read_of_one);
    tcase_add_test(tc, test_few_large_chunks);
    tcase_add_test(tc, test_more_pieces_than_a_batch);
    tcase_add_test(tc, test_each_chunk_is_decoded_once);
    tcase_add_test(tc, test_a_failure_is_one_of_all);
    tcase_add_test(tc, test_damage_is_an_error_of_all);
    tcase_add_test(tc, test_what_reads_refuse);
    suite_add_tcase(suite, tc);
    return run_suite(suite);
}
