/* test_ranks_alone.c - ranks that write whole chunks alone, into leases, against one process.
 *
 * Each round every chunk gets a fate: written whole by one rank, once or again, with or without
 * parts of it before or behind, or by two ranks together.  The oracle is an array in memory, and
 * for the file what one process writes.
 *
 * needs: deflate lz4 zstd */
/* stacks: off */
/* SPDX-License-Identifier: MIT */
#include "par/leases.h"
#include "tree/tree.h"

#include "tests/unit/ranks_help.h"

#include <sys/stat.h>

struct lone {
    const char *datarep;
    int filter, rounds, groups; /* groups: rank 0 makes so many before each commit */
    int64_t dims[2], chunk[2];
    uint64_t seed;
    bool together;
};

struct area {
    int64_t start[2], count[2];
};

static double value_at(int round, int pass, int64_t y, int64_t x)
{
    return (double)((round * 701 + pass * 97 + y * 31 + x) % 3000);
}

/* Write an area, on the rank that has it; every rank notes what all write, and what it does. */
static void put(struct teller *me, drep_dataset *ds, int rank, struct area a, int round, int pass,
                double *want, double *mine)
{
    const struct lone *l = me->ctx;
    double *v = malloc((size_t)(a.count[0] * a.count[1]) * sizeof *v), *p = v;

    for (int64_t y = a.start[0]; y < a.start[0] + a.count[0]; y++)
        for (int64_t x = a.start[1]; x < a.start[1] + a.count[1]; x++) {
            want[y * l->dims[1] + x] = *p = value_at(round, pass, y, x);
            if (rank == me->rank)
                mine[y * l->dims[1] + x] = *p;
            p++;
        }
    if (rank == me->rank)
        went(me, drep_write_box(ds, a.start, a.count, DREP_DOUBLE, v, NULL));
    free(v);
}

enum fate { UNTOUCHED, WHOLE, TWICE, WHOLE_PART, PART_WHOLE, PART_WHOLE_PART, HALVES, FATES };

static void write_chunk(struct teller *me, drep_dataset *ds, struct rnd *r, struct area whole,
                        int round, double *want, double *mine)
{
    enum fate fate = (enum fate)rnd_below(r, FATES);
    int a = (int)rnd_below(r, 8) % me->ranks, b = (int)rnd_below(r, 8) % me->ranks;
    struct area upper = whole, lower = whole;

    upper.count[0] /= 2;
    lower.start[0] += upper.count[0];
    lower.count[0] -= upper.count[0];
    if (upper.count[0] == 0 && fate > TWICE)
        fate = WHOLE;
    if (fate == PART_WHOLE || fate == PART_WHOLE_PART)
        put(me, ds, a, upper, round, 1, want, mine);
    if (fate == TWICE)
        put(me, ds, a, whole, round, 2, want, mine);
    if (fate >= WHOLE && fate <= PART_WHOLE_PART)
        put(me, ds, a, whole, round, 3, want, mine);
    if (fate == WHOLE_PART || fate == PART_WHOLE_PART)
        put(me, ds, a, lower, round, 4, want, mine);
    if (fate == HALVES) {
        put(me, ds, a, upper, round, 5, want, mine);
        put(me, ds, b, lower, round, 6, want, mine);
    }
}

static void expect(struct teller *me, drep_dataset *ds, const double *want, const char *when,
                   int round)
{
    const struct lone *l = me->ctx;
    int64_t n = l->dims[0] * l->dims[1], i = 0;
    double *v = malloc((size_t)n * sizeof *v);

    went(me, drep_read(ds, NULL, DREP_DOUBLE, v, NULL));
    while (!me->err && i < n && v[i] == want[i])
        i++;
    if (!me->err && i < n) {
        me->err = -1;
        snprintf(me->text, sizeof me->text, "round %d, %s: element %lld is %g, not %g", round, when,
                 (long long)i, v[i], want[i]);
    }
    free(v);
}

static drep_dataset *make_grid(struct teller *me, drep_file *f, const char *path)
{
    const struct lone *l = me->ctx;
    drep_filter filters[2] = {{.id = DREP_FILTER_SHUFFLE}, {.id = l->filter}};
    drep_spec spec = DREP_SPEC(.type = DREP_DOUBLE, .rank = 2, .dims = l->dims,
                               .layout = DREP_CHUNKED, .chunk = l->chunk);
    drep_dataset *ds = NULL;

    if (l->filter) {
        spec.filters = filters;
        spec.nfilters = 2;
    }
    went(me, drep_dataset_create(f, path, &spec, &ds));
    return ds;
}

/* Rank 0 makes more metadata than may wait in memory. */
static void make_groups(struct teller *me, drep_file *f, int round)
{
    const struct lone *l = me->ctx;
    char name[64];

    if (l->groups)
        f->st->tree->leaves_max = 16;
    for (int i = 0; me->rank == 0 && i < l->groups && !me->err; i++) {
        snprintf(name, sizeof name, "/group-%d-%d", round, i);
        went(me, drep_group_create(f, name, 0));
        went(me, drep_attr_write_double(f, name, "a long name of an attribute of a group", i));
    }
}

static void tell_rounds(struct teller *me, drep_file *f)
{
    const struct lone *l = me->ctx;
    size_t bytes = (size_t)(l->dims[0] * l->dims[1]) * sizeof(double);
    double *want = calloc(1, bytes), *mine = malloc(bytes);
    drep_dataset *ds = make_grid(me, f, "/data"), *other = make_grid(me, f, "/other");
    struct rnd r;

    if (l->groups)
        went(me, drep_commit(f));
    rnd_init(&r, l->seed);
    for (int round = 0; round < l->rounds && !me->err; round++) {
        memcpy(mine, want, bytes);
        for (int64_t y = 0; y < l->dims[0]; y += l->chunk[0])
            for (int64_t x = 0; x < l->dims[1]; x += l->chunk[1]) {
                struct area all = {{y, x}, {l->chunk[0], l->chunk[1]}};

                for (int d = 0; d < 2; d++)
                    if (all.start[d] + all.count[d] > l->dims[d])
                        all.count[d] = l->dims[d] - all.start[d];
                write_chunk(me, ds, &r, all, round, want, mine);
            }
        make_groups(me, f, round);
        expect(me, ds, mine, "before the commit", round);
        if (l->together && round % 3 < 2) { /* to the other dataset, or to this one */
            int64_t start[2] = {me->rank, 0}, count[2] = {1, l->dims[1]};
            double *row = calloc((size_t)l->dims[1], sizeof *row);

            if (me->ranks == 1)
                count[0] = 0;
            went(me, drep_write_box(round % 3 ? ds : other, start, count, DREP_DOUBLE, row,
                                    &DREP_XFER(.collective = me->ranks > 1)));
            free(row);
            if (round % 3 && me->ranks > 1)
                memset(want, 0, (size_t)(me->ranks * l->dims[1]) * sizeof *want);
            if (round % 3 == 0)
                expect(me, ds, mine, "after a write of all to another", round);
        }
        went(me, drep_commit(f));
        expect(me, ds, want, "after the commit", round);
    }
    make_groups(me, f, l->rounds);
    if (l->groups && me->rank == 0 && ranks_of(f)->leases->taken_alone < LEASE_MIN / 2 &&
        !me->err) {
        me->err = -1;
        snprintf(me->text, sizeof me->text, "%llu bytes were spilled",
                 (unsigned long long)ranks_of(f)->leases->taken_alone);
    }
    drep_dataset_close(ds);
    drep_dataset_close(other);
    free(want);
    free(mine);
}

static int no_leak(uint64_t offset, uint64_t length, void *ctx)
{
    (void)ctx;
    ck_abort_msg("leaked: %llu bytes at %llu", (unsigned long long)length,
                 (unsigned long long)offset);
    return 1;
}

static int finding(int err, uint64_t offset, const char *message, void *ctx)
{
    (void)ctx;
    ck_abort_msg("finding %d at %llu: %s", err, (unsigned long long)offset, message);
    return 1;
}

/* A file is whole and has no leaks; gives its size. */
static int64_t whole_file(const char *path)
{
    struct stat s;
    drep_file *f;

    ok(drep_open(path, DREP_RDONLY, NULL, &f));
    ok(drep_check(f, 1, finding, NULL, NULL));
    ok(drep_leaks(f, no_leak, NULL));
    ok(drep_close(f));
    ck_assert_int_eq(stat(path, &s), 0);
    return (int64_t)s.st_size;
}

START_TEST(test_rounds_of_chunks)
{
    static const int filters[] = {0, DREP_FILTER_DEFLATE, DREP_FILTER_ZSTD, DREP_FILTER_LZ4};
    static const int ranks[] = {1, 2, 3, 4, 8};
    const char *many = temp_path("ranks.drep"), *one = temp_path("alone.drep");

    register_datareps();
    for (int k = 0; k < DATAREPS * 4; k++) {
        struct lone l = {.datarep = datareps[k / 4],
                         .filter = filters[k % 4],
                         .rounds = 5,
                         .dims = {61, 90 + k},
                         .chunk = {12, 32},
                         .seed = (uint64_t)k};
        struct story s = {.fn = tell_rounds, .ctx = &l, .datarep = l.datarep};

        if (!in_sanitized_part((unsigned)k))
            continue;
        s.path = one;
        story_alone(&s);
        for (size_t i = 0; i < sizeof ranks / sizeof *ranks; i++) {
            s.path = many;
            story_run_well(&s, ranks[i]);
            whole_file(many);
            if (ranks[i] > 1 && k % 4 == 1 && k / 4 < 3) /* the command has no functions of users */
                same_elements(one, many);
        }
        l.together = true;
        for (size_t i = 1; i < sizeof ranks / sizeof *ranks; i++) {
            story_run_well(&s, ranks[i]);
            whole_file(many);
        }
    }
}
END_TEST

/* ---- space ---- */

static const struct lone large = {
    .datarep = "native", .dims = {512, 1024}, .chunk = {64, 128}, .filter = DREP_FILTER_ZSTD};

/* Each rank writes its chunks, some times over.  Nothing of it stays in memory. */
static void write_mine(struct teller *me, drep_file *f, drep_dataset *ds, int times)
{
    const struct lone *l = me->ctx;
    int64_t n = l->chunk[0] * l->chunk[1];
    double *v = malloc((size_t)n * sizeof *v);
    struct rnd r;
    int i = 0;

    rnd_init(&r, (uint64_t)me->rank + 1);
    for (int64_t y = 0; y < l->dims[0]; y += l->chunk[0])
        for (int64_t x = 0; x < l->dims[1]; x += l->chunk[1], i++) {
            int64_t start[2] = {y, x};

            for (int t = 0; i % me->ranks == me->rank && t < times && !me->err; t++) {
                for (int64_t k = 0; k < n; k++)
                    v[k] = (double)rnd_below(&r, 1u << 30);
                went(me, drep_write_box(ds, start, l->chunk, DREP_DOUBLE, v, NULL));
            }
        }
    free(v);
    if (me->err || me->ranks == 1)
        return;
    for (const struct pending *p = ranks_of(f)->pending; p; p = p->next)
        if (p->elements.len || p->runs.len || !lease_in_use(&ranks_of(f)->leases->own)) {
            me->err = -1;
            snprintf(me->text, sizeof me->text, "%zu bytes of elements wait in memory",
                     p->elements.len);
        }
}

static void tell_large(struct teller *me, drep_file *f)
{
    drep_dataset *ds = make_grid(me, f, "/data");

    write_mine(me, f, ds, 1);
    drep_dataset_close(ds);
}

static void tell_again(struct teller *me, drep_file *f)
{
    drep_dataset *ds = make_grid(me, f, "/data");

    write_mine(me, f, ds, 20);
    drep_dataset_close(ds);
}

/* The same with commits between; after a few of them the space of old chunks is used again: a
 * single process comes to three times the data, since what a commit frees waits for the next. */
static void tell_steps(struct teller *me, drep_file *f)
{
    drep_dataset *ds = make_grid(me, f, "/data");

    for (int i = 0; i < 6; i++) {
        write_mine(me, f, ds, 1);
        went(me, drep_commit(f));
    }
    drep_dataset_close(ds);
}

START_TEST(test_space_is_bounded)
{
    const char *path = temp_path("ranks.drep");
    int64_t data = large.dims[0] * large.dims[1] * 8;

    for (int filtered = 0; filtered < 2; filtered++) {
        struct lone l = large;
        struct story s = {.fn = tell_large, .path = path, .ctx = &l, .datarep = "native"};

        l.filter = filtered ? large.filter : 0;
        for (int ranks = 2; ranks <= 8; ranks *= 2) {
            int64_t once, again, steps;

            s.fn = tell_large;
            story_run_well(&s, ranks);
            once = whole_file(path);
            s.fn = tell_again;
            story_run_well(&s, ranks);
            again = whole_file(path);
            s.fn = tell_steps;
            story_run_well(&s, ranks);
            steps = whole_file(path);
            printf("counted: %d ranks, filters %d: %lld KiB of data, files of %lld, rewritten "
                   "%lld, in 6 steps %lld\n",
                   ranks, filtered, (long long)data >> 10, (long long)once >> 10,
                   (long long)again >> 10, (long long)steps >> 10);
            /* Leases double, so the last one of each rank is half empty at most, and the first
             * follows a gap. */
            ck_assert_int_lt(once, 2 * data + (ranks + 2) * (int64_t)LEASE_MIN);
            ck_assert_int_lt(again, 4 * data);
            ck_assert_int_lt(steps, 3 * data + data / 4 + (ranks + 2) * (int64_t)LEASE_MIN);
        }
    }
}
END_TEST

/* Rank 0 makes metadata that spills into the file while the others write into leases. */
START_TEST(test_metadata_beside_leases)
{
    static const int ranks[] = {2, 4, 8};
    const char *many = temp_path("ranks.drep");

    for (size_t i = 0; i < sizeof ranks / sizeof *ranks; i++) {
        struct lone l = {.datarep = "native",
                         .filter = DREP_FILTER_LZ4,
                         .rounds = 3,
                         .groups = 3000,
                         .dims = {120, 200},
                         .chunk = {12, 32},
                         .together = i > 0,
                         .seed = i};
        struct story s = {.fn = tell_rounds, .path = many, .ctx = &l, .datarep = "native"};

        story_run_well(&s, ranks[i]);
        whole_file(many);
    }
}
END_TEST

/* ---- what ranks may not do, and what they may do after it ---- */

static const struct lone small = {
    .datarep = "native", .dims = {40, 40}, .chunk = {10, 10}, .filter = DREP_FILTER_ZSTD};

static void write_area(struct teller *me, drep_dataset *ds, struct area a, double value)
{
    double v[1600];

    for (int64_t i = 0; i < a.count[0] * a.count[1]; i++)
        v[i] = value;
    went(me, drep_write_box(ds, a.start, a.count, DREP_DOUBLE, v, NULL));
}

/* Ranks 1 and 2 write all of chunk (2, 1), or one of them a part. */
static void tell_two_wholes(struct teller *me, drep_file *f)
{
    drep_dataset *ds = make_grid(me, f, "/data");

    write_area(me, ds, (struct area){{10 * (me->rank % 4), 0}, {10, 10}}, 1);
    if (me->rank == 1 || me->rank == 2)
        write_area(me, ds, (struct area){{20, 10}, {10, 10}}, me->rank);
    went(me, drep_commit(f));
    drep_dataset_close(ds);
}

static void tell_whole_and_part(struct teller *me, drep_file *f)
{
    drep_dataset *ds = make_grid(me, f, "/data");

    if (me->rank == 3)
        write_area(me, ds, (struct area){{20, 10}, {10, 10}}, 3);
    if (me->rank == 0)
        write_area(me, ds, (struct area){{25, 0}, {1, 40}}, 4);
    went(me, drep_commit(f));
    drep_dataset_close(ds);
}

/* The conflict comes to light when all write together. */
static void tell_whole_and_all(struct teller *me, drep_file *f)
{
    drep_dataset *ds = make_grid(me, f, "/data");
    double v[40] = {0};

    if (me->rank > 1)
        write_area(me, ds, (struct area){{0, 30}, {10, 10}}, 3);
    went(me, drep_write_box(ds, (int64_t[2]){me->rank, 0}, (int64_t[2]){1, 40}, DREP_DOUBLE, v,
                            &DREP_XFER(.collective = 1)));
    drep_dataset_close(ds);
}

START_TEST(test_conflicts)
{
    static const struct {
        story_fn *fn;
        const char *text;
    } cases[] = {
        {tell_two_wholes,
         "rank 1: dataset \"/data\": chunk (2,1): ranks 1 and 2 write the same elements"},
        {tell_whole_and_part,
         "rank 0: dataset \"/data\": chunk (2,1): ranks 0 and 3 write the same elements"},
        {tell_whole_and_all,
         "rank 2: dataset \"/data\": chunk (0,3): ranks 2 and 3 write the same elements"},
    };

    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        for (int filtered = 0; filtered < 2; filtered++) {
            struct lone l = small;
            struct story s = {
                .fn = cases[i].fn, .path = temp_path("ranks.drep"), .ctx = &l, .datarep = "native"};

            l.filter = filtered ? small.filter : 0;
            story_run(&s, 4);
            ck_assert(!s.all.deadlock);
            for (int r = 0; r < 4; r++) {
                ck_assert_int_eq(s.teller[r].err, DREP_ERR_NOT_SAME);
                ck_assert_msg(strstr(s.teller[r].text, cases[i].text) != NULL, "rank %d: %s", r,
                              s.teller[r].text);
            }
        }
}
END_TEST

/* The second column of chunks is 7, an element of the third one 8. */
static void expect_failing(struct teller *me, drep_dataset *ds)
{
    double want[1600];

    for (int64_t i = 0; i < 1600; i++)
        want[i] = i % 40 / 10 == 1 ? 7 : i % 400 / 40 == 3 && i % 40 == 20 ? 8 : 1;
    for (int64_t i = me->ranks * 400; i < 1600; i++)
        want[i] = 0;
    expect(me, ds, want, "after a commit that failed", 0);
}

/* A commit fails, before or behind the dataset of which ranks have written chunks.  They write on,
 * and all of it comes with the next commit. */
static void tell_failing(struct teller *me, drep_file *f)
{
    const struct lone *l = me->ctx;
    drep_dataset *ds, *bad = NULL;
    int err;

    if (l->groups)
        bad = make_grid(me, f, "/bad");
    ds = make_grid(me, f, "/data");
    if (!l->groups)
        bad = make_grid(me, f, "/bad");
    went(me, drep_commit(f));
    write_area(me, ds, (struct area){{10 * me->rank, 0}, {10, 40}}, 1);
    write_area(me, bad, (struct area){{0, 0}, {10, 10}}, 1);
    err = drep_commit(f);
    if (err != DREP_ERR_NOT_SAME && !me->err) {
        me->err = -1;
        snprintf(me->text, sizeof me->text, "the commit gave %d", err);
    }
    write_area(me, ds, (struct area){{10 * me->rank, 10}, {10, 10}}, 7);
    write_area(me, ds, (struct area){{10 * me->rank + 3, 20}, {1, 1}}, 8);
    drep_dataset_close(bad);
    went(me, drep_link_remove(f, "/bad"));
    went(me, drep_commit(f));
    expect_failing(me, ds);
    write_area(me, ds, (struct area){{10 * me->rank, 0}, {10, 40}}, 1);
    write_area(me, ds, (struct area){{10 * me->rank, 10}, {10, 10}}, 7);
    write_area(me, ds, (struct area){{10 * me->rank + 3, 20}, {1, 1}}, 8);
    went(me, drep_commit(f));
    expect_failing(me, ds);
    drep_dataset_close(ds);
}

START_TEST(test_a_commit_that_fails_loses_nothing)
{
    const char *path = temp_path("ranks.drep");

    for (int k = 0; k < 4; k++)
        for (int ranks = 2; ranks <= 4; ranks++) {
            struct lone l = small;
            struct story s = {.fn = tell_failing, .path = path, .ctx = &l, .datarep = "native"};

            l.filter = k % 2 ? small.filter : 0;
            l.groups = k / 2;
            story_run_well(&s, ranks);
            whole_file(path);
        }
}
END_TEST

static void tell_first(struct teller *me, drep_file *f)
{
    drep_dataset *ds = make_grid(me, f, "/data");

    write_area(me, ds, (struct area){{10 * me->rank, 0}, {10, 40}}, 1);
    drep_dataset_close(ds);
}

static void tell_more(struct teller *me, drep_file *f)
{
    drep_dataset *ds = NULL;
    double want[1600];

    went(me, drep_dataset_open(f, "/data", &ds));
    for (int64_t i = 0; i < 1600; i++)
        want[i] = i < me->ranks * 400;
    expect(me, ds, want, "after others had left", 0);
    for (int i = 0; i < 50; i++)
        write_area(me, ds, (struct area){{10 * me->rank, 0}, {10, 40}}, i);
    write_area(me, ds, (struct area){{10 * me->rank, 0}, {10, 40}}, 1);
    drep_dataset_close(ds);
}

START_TEST(test_what_is_abandoned_leaves_nothing)
{
    const char *path = temp_path("ranks.drep");

    for (int filtered = 0; filtered < 2; filtered++) {
        struct lone l = small;
        struct story s = {.fn = tell_first, .path = path, .ctx = &l, .datarep = "native"};
        int64_t size;

        l.filter = filtered ? small.filter : 0;
        story_run_well(&s, 4);
        size = whole_file(path);
        s.fn = tell_more;
        s.existing = true;
        for (int i = 0; i < 3; i++) {
            s.abandons = true;
            story_run_well(&s, 4);
            whole_file(path); /* longer, if a rank wrote when rank 0 had left */
        }
        s.abandons = false;
        story_run_well(&s, 4);
        ck_assert_int_lt(whole_file(path), size + 8 * (int64_t)LEASE_MIN);
    }
}
END_TEST

/* Give each element of this rank's chunks a value. */
static void write_value(struct teller *me, drep_dataset *ds, double value)
{
    int64_t n = large.chunk[0] * large.chunk[1], i = 0;
    double *v = malloc((size_t)n * sizeof *v);

    for (int64_t k = 0; k < n; k++)
        v[k] = value;
    for (int64_t y = 0; y < large.dims[0]; y += large.chunk[0])
        for (int64_t x = 0; x < large.dims[1]; x += large.chunk[1])
            if (i++ % me->ranks == me->rank)
                went(me, drep_write_box(ds, (int64_t[2]){y, x}, large.chunk, DREP_DOUBLE, v, NULL));
    free(v);
}

enum { REWRITES = 5 };

/* From the third commit on ranks get free space; what they write there is not committed. */
static void tell_rewrites(struct teller *me, drep_file *f)
{
    drep_dataset *ds = make_grid(me, f, "/data");
    const struct lease *own = &ranks_of(f)->leases->own;
    struct extent e;

    for (int i = 1; i <= REWRITES; i++) {
        write_value(me, ds, i);
        if (i > 3 && !me->err &&
            !(extents_behind(&own->taken, 0, &e) && e.offset < own->base &&
              !extents_hold(&own->free, e.offset, e.length)))
            me->err = -5;
        went(me, drep_commit(f));
    }
    write_value(me, ds, -1);
    drep_dataset_close(ds);
}

static void expect_value(drep_file *f, const char *path, double value)
{
    int64_t n = large.dims[0] * large.dims[1];
    double *v = malloc((size_t)n * sizeof *v);
    drep_dataset *ds;

    ok(drep_dataset_open(f, path, &ds));
    ok(drep_read(ds, NULL, DREP_DOUBLE, v, NULL));
    for (int64_t i = 0; i < n; i++)
        ck_assert_double_eq(v[i], value);
    drep_dataset_close(ds);
    free(v);
}

START_TEST(test_free_space_of_the_last_commit)
{
    const char *path = temp_path("ranks.drep");
    int64_t data = large.dims[0] * large.dims[1] * 8;

    for (int ranks = 2; ranks <= 8; ranks *= 2) {
        struct lone l = large;
        struct story s = {
            .fn = tell_rewrites, .path = path, .ctx = &l, .datarep = "native", .abandons = true};
        drep_file *f;

        l.filter = 0;
        story_run_well(&s, ranks);
        ck_assert_int_lt(whole_file(path), 4 * data);
        ok(drep_open(path, DREP_RDONLY, NULL, &f));
        expect_value(f, "/data", REWRITES);
        ok(drep_close(f));
    }
}
END_TEST

/* In each step all write a row together, or read one, before they rewrite chunks alone. */
static void tell_rows_and_rewrites(struct teller *me, drep_file *f)
{
    const struct lone *l = me->ctx;
    const int64_t start[2] = {me->rank, 0}, count[2] = {1, l->dims[1]};
    drep_dataset *ds = make_grid(me, f, "/data"), *rows = make_grid(me, f, "/rows");
    double *row = calloc((size_t)l->dims[1], sizeof *row);

    for (int i = 1; i <= 4 * REWRITES && !me->err; i++) {
        drep_xfer together = DREP_XFER(.collective = 1);

        if (l->together) /* the read brings this together */
            write_value(me, ds, -i);
        went(me, l->together ? drep_read_box(ds, start, count, DREP_DOUBLE, row, &together)
                             : drep_write_box(rows, start, count, DREP_DOUBLE, row, &together));
        write_value(me, ds, i);
        went(me, drep_commit(f));
    }
    free(row);
    drep_dataset_close(rows);
    drep_dataset_close(ds);
}

START_TEST(test_space_beside_collective_calls)
{
    const char *path = temp_path("ranks.drep");
    int64_t data = large.dims[0] * large.dims[1] * 8;

    for (int ranks = 2; ranks <= 8; ranks *= 2) {
        struct lone l = large;
        struct story s = {
            .fn = tell_rows_and_rewrites, .path = path, .ctx = &l, .datarep = "native"};
        drep_file *f;

        l.filter = 0;
        l.together = _i;
        story_run_well(&s, ranks);
        printf("counted: %d ranks, %lld KiB, rewritten %lld\n", ranks, (long long)data >> 10,
               (long long)whole_file(path) >> 10);
        ok(drep_open(path, DREP_RDONLY, NULL, &f));
        expect_value(f, "/data", 4 * REWRITES);
        ok(drep_close(f));
        ck_assert_int_lt(whole_file(path), 5 * data);
    }
}
END_TEST

/* One process leaves a file of which half is free. */
static void tell_half(struct teller *me, drep_file *f)
{
    drep_dataset *ds = make_grid(me, f, "/kept"), *old = make_grid(me, f, "/old");

    write_value(me, ds, 1);
    write_value(me, old, 2);
    went(me, drep_commit(f));
    drep_dataset_close(old);
    drep_dataset_close(ds);
    went(me, drep_link_remove(f, "/old"));
    for (int i = 0; i < 4; i++) {
        went(me, drep_attr_write_int64(f, "/", "i", i));
        went(me, drep_commit(f));
    }
}

/* Each rank writes chunks alone: to free space, as far as it goes. */
static void tell_new(struct teller *me, drep_file *f)
{
    const struct lease *own = &ranks_of(f)->leases->own;
    drep_dataset *ds = make_grid(me, f, "/new");
    struct extent e;

    write_value(me, ds, 3);
    if (!me->err && !(extents_behind(&own->taken, 0, &e) && e.offset < own->base &&
                      !extents_hold(&own->free, e.offset, e.length)))
        me->err = -5;
    drep_dataset_close(ds);
}

START_TEST(test_free_space_of_a_file_that_is_opened)
{
    const char *path = temp_path("ranks.drep");
    int64_t data = large.dims[0] * large.dims[1] * 8, half, size;

    for (int ranks = 2; ranks <= 8; ranks *= 2) {
        struct lone l = large;
        struct story make = {.fn = tell_half, .path = path, .ctx = &l, .datarep = "native"};
        struct story s = {.fn = tell_new, .path = path, .ctx = &l, .existing = true};
        drep_file *reader;
        int kind;

        l.filter = 0;
        story_alone(&make);
        half = whole_file(path);
        ok(drep_open(path, DREP_RDONLY, NULL, &reader));
        s.abandons = true; /* which leaves the last commit as it was */
        story_run_well(&s, ranks);
        ok(drep_exists(reader, "/new", &kind));
        ck_assert_int_eq(kind, 0);
        expect_value(reader, "/kept", 1);
        whole_file(path);
        s.abandons = false;
        story_run_well(&s, ranks);
        size = whole_file(path);
        printf("counted: %d ranks, %lld KiB in a file of %lld, then %lld\n", ranks,
               (long long)data >> 10, (long long)half >> 10, (long long)size >> 10);
        ck_assert_int_lt(size, half + data / 2 + (ranks + 2) * (int64_t)LEASE_MIN);
        expect_value(reader, "/kept", 1); /* of its commit */
        ok(drep_refresh(reader));
        expect_value(reader, "/kept", 1);
        expect_value(reader, "/new", 3);
        ok(drep_close(reader));
    }
}
END_TEST

/* A commit that a reader looks at keeps what was free after it. */
START_TEST(test_free_space_that_a_reader_looks_at)
{
    const char *path = temp_path("ranks.drep");
    int64_t n = large.dims[0] * large.dims[1];
    double *v = malloc((size_t)n * sizeof *v);
    struct lone l = large;
    struct story s = {.fn = tell_new, .path = path, .ctx = &l, .existing = true};
    struct teller me = {.ranks = 1, .ctx = &l};
    drep_info *info = fixed();
    drep_file *f, *reader;
    drep_dataset *old;

    l.filter = 0;
    ok(drep_create(path, DREP_RDWR, "native", info, &f));
    old = make_grid(&me, f, "/old");
    write_value(&me, old, 2);
    drep_dataset_close(old);
    ok(drep_commit(f));
    ok(drep_open(path, DREP_RDONLY, NULL, &reader));
    ok(drep_dataset_open(reader, "/old", &old));
    ok(drep_link_remove(f, "/old"));
    for (int i = 0; i < 4; i++) {
        ok(drep_attr_write_int64(f, "/", "i", i));
        ok(drep_commit(f));
    }
    ok(drep_close(f));
    story_run(&s, 4);
    for (int r = 0; r < 4; r++) /* there was no free space for it */
        ck_assert_int_eq(s.teller[r].err, -5);
    ok(drep_read(old, NULL, DREP_DOUBLE, v, NULL));
    for (int64_t i = 0; i < n; i++)
        ck_assert_double_eq(v[i], 2);
    drep_dataset_close(old);
    ok(drep_close(reader));
    drep_info_free(info);
    free(v);
}
END_TEST

/* ---- shapes ---- */

static void expect_shape(struct teller *me, drep_dataset *ds, const double *want, const char *when)
{
    static const struct lone shape = {.dims = {58, 60}};
    const void *ctx = me->ctx;

    me->ctx = &shape;
    expect(me, ds, want, when, 0);
    me->ctx = ctx;
}

static void tell_growth(struct teller *me, drep_file *f)
{
    static const int64_t max[2] = {DREP_UNLIMITED, 80}, chunk[2] = {10, 10};
    drep_spec spec = DREP_SPEC(.type = DREP_DOUBLE, .rank = 2, .dims = (const int64_t[2]){25, 40},
                               .maxdims = max, .layout = DREP_CHUNKED, .chunk = chunk);
    double want[58 * 60], *v = want;
    drep_dataset *ds = NULL;

    went(me, drep_dataset_create(f, "/data", &spec, &ds));
    write_area(me, ds, (struct area){{0, 10 * me->rank}, {25, 10}}, 1);
    went(me, drep_dataset_resize(ds, (const int64_t[2]){65, 40}));
    write_area(me, ds, (struct area){{25, 10 * me->rank}, {5, 10}}, 2);
    write_area(me, ds, (struct area){{30, 10 * me->rank}, {35, 10}}, 3);
    went(me, drep_dataset_resize(ds, (const int64_t[2]){65, 60}));
    went(me, drep_dataset_resize(ds, (const int64_t[2]){58, 60}));
    for (int64_t y = 0; y < 58; y++)
        for (int64_t x = 0; x < 60; x++)
            *v++ = x / 10 != me->rank ? 0 : y < 25 ? 1 : y < 30 ? 2 : 3;
    expect_shape(me, ds, want, "before the commit");
    went(me, drep_commit(f));
    for (int64_t i = 0; i < 58 * 60; i++)
        want[i] = i % 60 >= 10 * me->ranks ? 0 : i / 60 < 25 ? 1 : i / 60 < 30 ? 2 : 3;
    expect_shape(me, ds, want, "after the commit");
    went(me, drep_dataset_resize(ds, (const int64_t[2]){20, 60}));
    drep_dataset_close(ds);
}

/* Rank 0 alone changes the shape, and others have written chunks of the old one. */
static void tell_foreign_shape(struct teller *me, drep_file *f)
{
    static const int64_t max[2] = {DREP_UNLIMITED, 80}, chunk[2] = {10, 10};
    drep_spec spec = DREP_SPEC(.type = DREP_DOUBLE, .rank = 2, .dims = (const int64_t[2]){25, 40},
                               .maxdims = max, .layout = DREP_CHUNKED, .chunk = chunk);
    double want[58 * 60];
    drep_dataset *ds = NULL;

    went(me, drep_dataset_create(f, "/data", &spec, &ds));
    went(me, drep_commit(f));
    write_area(me, ds, (struct area){{0, 10 * me->rank}, {25, 10}}, 1);
    if (me->rank == 0)
        went(me, drep_dataset_resize(ds, (const int64_t[2]){58, 60}));
    went(me, drep_commit(f));
    for (int64_t i = 0; i < 58 * 60; i++)
        want[i] = i % 60 < 10 * me->ranks && i / 60 < 25;
    expect_shape(me, ds, want, "after the commit");
    drep_dataset_close(ds);
}

START_TEST(test_shapes_that_change)
{
    const char *path = temp_path("ranks.drep");

    for (int ranks = 2; ranks <= 4; ranks++) {
        struct story s = {.fn = tell_growth, .path = path, .datarep = "native"};

        story_run_well(&s, ranks);
        whole_file(path);
        s.fn = tell_foreign_shape;
        story_run_well(&s, ranks);
        whole_file(path);
    }
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("ranks_alone");
    TCase *tc = tcase_create("ranks_alone");

    tcase_set_timeout(tc, 600);
    tcase_add_test(tc, test_rounds_of_chunks);
    tcase_add_test(tc, test_space_is_bounded);
    tcase_add_test(tc, test_metadata_beside_leases);
    tcase_add_test(tc, test_conflicts);
    tcase_add_test(tc, test_a_commit_that_fails_loses_nothing);
    tcase_add_test(tc, test_what_is_abandoned_leaves_nothing);
    tcase_add_test(tc, test_free_space_of_the_last_commit);
    tcase_add_loop_test(tc, test_space_beside_collective_calls, 0, 2);
    tcase_add_test(tc, test_free_space_of_a_file_that_is_opened);
    tcase_add_test(tc, test_free_space_that_a_reader_looks_at);
    tcase_add_test(tc, test_shapes_that_change);
    suite_add_tcase(suite, tc);
    return run_suite(suite);
}
