/* test_ranks_shapes.c - shapes that ranks change alike or apart, beside metadata of their own; and
 * compact datasets that they write together.
 *
 * Equal final states never contradict each other, and what all have written together stays. */
/* SPDX-License-Identifier: MIT */
#include "tests/unit/ranks_help.h"

enum { LEN = 20, TEXTS = 3300 };

static drep_dataset *grower(struct teller *me, drep_file *f, const char *path, int64_t n)
{
    const int64_t max = DREP_UNLIMITED, chunk = 4;
    drep_dataset *ds = NULL;

    went(me,
         drep_dataset_create(f, path,
                             &DREP_SPEC(.type = DREP_INT, .rank = 1, .dims = &n, .maxdims = &max,
                                        .layout = DREP_CHUNKED, .chunk = &chunk),
                             &ds));
    return ds;
}

/* Write the box [from, to), cut between the ranks, or all of it alone. */
static void write_all(struct teller *me, drep_dataset *ds, int from, int to, int value)
{
    int64_t start = from + (to - from) * me->rank / me->ranks;
    int64_t count = from + (to - from) * (me->rank + 1) / me->ranks - start;
    int v[4 * LEN];

    for (int i = 0; i < 4 * LEN; i++)
        v[i] = value + (int)start + i;
    went(me,
         drep_write_box(ds, &start, &count, DREP_INT, v, &DREP_XFER(.collective = me->ranks > 1)));
}

static void hold(struct teller *me, drep_dataset *ds, int n, const int *want)
{
    drep_dsinfo info = DREP_DSINFO;
    int v[4 * LEN];

    went(me, drep_dataset_info(ds, &info));
    if (!me->err && info.dims[0] != n) {
        me->err = -1;
        snprintf(me->text, sizeof me->text, "%lld elements, not %d", (long long)info.dims[0], n);
    }
    if (me->err || !went(me, drep_read(ds, NULL, DREP_INT, v, NULL)))
        return;
    for (int i = 0; i < n && !me->err; i++)
        if (v[i] != want[i]) {
            me->err = -1;
            snprintf(me->text, sizeof me->text, "element %d is %d, not %d", i, v[i], want[i]);
        }
}

static void own_group(struct teller *me, drep_file *f)
{
    char path[20];

    snprintf(path, sizeof path, "/own%d", me->rank);
    went(me, drep_group_create(f, path, 0));
}

/* All make it smaller, and each writes an element of what is left. */
static void tell_smaller(struct teller *me, drep_file *f)
{
    const int64_t few = 10, at = me->rank, one = 1;
    drep_dataset *ds = grower(me, f, "/d", LEN);
    int want[LEN], mine = 1000 + me->rank;

    write_all(me, ds, 0, LEN, 100);
    went(me, drep_commit(f));
    went(me, drep_dataset_resize(ds, &few));
    own_group(me, f);
    went(me, drep_write_box(ds, &at, &one, DREP_INT, &mine, NULL));
    went(me, drep_commit(f));
    for (int i = 0; i < few; i++)
        want[i] = i < me->ranks ? 1000 + i : 100 + i;
    hold(me, ds, (int)few, want);
    drep_dataset_close(ds);
}

/* All make it smaller and larger again, and write what is new together: that must stay.  Then one
 * rank alone cuts something off once more. */
static void tell_regrown(struct teller *me, drep_file *f)
{
    const int64_t few = 10, fewer = 14, all = LEN;
    drep_dataset *ds = grower(me, f, "/d", LEN);
    int want[LEN];

    write_all(me, ds, 0, LEN, 100);
    went(me, drep_commit(f));
    went(me, drep_dataset_resize(ds, &few));
    went(me, drep_dataset_resize(ds, &all));
    write_all(me, ds, 8, LEN, 500);
    own_group(me, f);
    if (me->rank == me->ranks - 1) {
        went(me, drep_dataset_resize(ds, &fewer));
        went(me, drep_dataset_resize(ds, &all));
    }
    went(me, drep_commit(f));
    for (int i = 0; i < LEN; i++)
        want[i] = i < 8 ? 100 + i : i < fewer ? 500 + i : 0;
    hold(me, ds, LEN, want);
    drep_dataset_close(ds);
}

/* A new dataset to which each rank gives a length and an element of its own. */
static void tell_new(struct teller *me, drep_file *f)
{
    const int64_t n = 4 + me->rank, at = n - 1, one = 1;
    drep_dataset *ds = grower(me, f, "/new", me->rank % 2 ? n : 3);
    int want[4 * LEN] = {0}, mine = 7 + me->rank;

    went(me, drep_dataset_resize(ds, &n));
    went(me, drep_write_box(ds, &at, &one, DREP_INT, &mine, NULL));
    went(me, drep_commit(f));
    for (int r = 0; r < me->ranks; r++)
        want[3 + r] = 7 + r;
    hold(me, ds, 3 + me->ranks, want);
    drep_dataset_close(ds);
}

/* One rank alone makes a dataset and writes to it; the others have nothing to say. */
static void tell_one(struct teller *me, drep_file *f)
{
    int want[8] = {5, 5, 5, 5, 5, 5, 5, 5};
    drep_dataset *ds = NULL;

    went(me, drep_commit(f));
    for (int r = 0; r < 2; r++) {
        char path[10];

        snprintf(path, sizeof path, "/d%d", r);
        if (me->rank == r) {
            ds = grower(me, f, path, 8);
            went(me, drep_write(ds, NULL, DREP_INT, want, NULL));
            drep_dataset_close(ds);
        }
        went(me, drep_commit(f));
        went(me, drep_dataset_open(f, path, &ds));
        hold(me, ds, 8, want);
        drep_dataset_close(ds);
    }
}

START_TEST(test_shapes_beside_own_metadata)
{
    static story_fn *const tales[] = {tell_smaller, tell_regrown, tell_new, tell_one};

    for (int ranks = 2; ranks <= 5; ranks++) {
        struct story s = {
            .fn = tales[_i], .path = temp_path("shapes.drep"), .datarep = "external32"};
        int64_t findings = 0;
        drep_file *f;

        story_run_well(&s, ranks);
        ok(drep_open(s.path, DREP_RDONLY, NULL, &f));
        ok(drep_check(f, 1, say_finding, NULL, &findings));
        ck_assert_int_eq(findings, 0);
        ok(drep_close(f));
    }
}
END_TEST

/* A new dataset that a rank has made smaller than another one: that is no growth. */
static void tell_apart(struct teller *me, drep_file *f)
{
    const int64_t few = 2;
    drep_dataset *ds = grower(me, f, "/new", 5);
    int err;

    if (me->rank == 1)
        went(me, drep_dataset_resize(ds, &few));
    err = drep_commit(f);
    if (err != DREP_ERR_NOT_SAME || !strstr(drep_error(), "different shapes"))
        went(me, err ? err : -1);
    if (me->rank == 1)
        went(me, drep_dataset_resize(ds, (const int64_t[]){6}));
    drep_dataset_close(ds);
}

/* A failed merge leaves nothing on rank 0: after the contradiction is gone, ranks commit. */
static void tell_second_try(struct teller *me, drep_file *f)
{
    const int64_t few = 5;
    drep_dataset *ds = grower(me, f, "/d", LEN);
    int want[LEN];

    write_all(me, ds, 0, LEN, 100);
    went(me, drep_commit(f));
    if (me->rank == 1)
        went(me, drep_dataset_resize(ds, &few));
    went(me, drep_attr_write_int64(f, "/", "a", me->rank));
    if (drep_commit(f) != DREP_ERR_NOT_SAME)
        went(me, -1);
    went(me, drep_attr_write_int64(f, "/", "a", 7));
    if (me->rank == 1)
        went(me, drep_dataset_resize(ds, (const int64_t[]){2 * LEN}));
    went(me, drep_commit(f));
    for (int i = 0; i < few; i++)
        want[i] = 100 + i;
    went(me, drep_dataset_resize(ds, &few));
    went(me, drep_commit(f));
    hold(me, ds, (int)few, want);
    drep_dataset_close(ds);
}

START_TEST(test_shapes_that_contradict)
{
    struct story s = {.fn = tell_second_try, .path = temp_path("try.drep"), .datarep = "native"};

    story_run_well(&s, 3);
    s.fn = tell_apart;
    s.abandons = true;
    story_run_well(&s, 3);
}
END_TEST

/* ---- compact datasets ---- */

struct record {
    int a;
    double b;
};

/* Texts and structs, written together once or twice: more bytes than a rank may take by itself. */
static void tell_compact(struct teller *me, drep_file *f)
{
    const int64_t n = TEXTS, from = n * me->rank / me->ranks;
    const int64_t count = n * (me->rank + 1) / me->ranks - from;
    const char *names[] = {"a", "b"};
    const drep_type *types[] = {DREP_INT, DREP_DOUBLE};
    char room[TEXTS][16], *text[TEXTS];
    static struct record record[TEXTS];
    drep_type *texts, *records;
    drep_dataset *ds;

    went(me, drep_type_vstring(&texts));
    went(me, drep_type_compound(2, names, NULL, types, 0, &records));
    for (int i = 0; i < n; i++) {
        snprintf(room[i], sizeof room[i], "text %d", i);
        text[i] = room[i];
    }
    for (int k = 0; k < 2; k++) {
        const drep_type *type = k ? records : texts;
        const void *from_here = k ? (const void *)(record + from) : (const void *)(text + from);

        went(me, drep_dataset_create(
                     f, k ? "/records" : "/texts",
                     &DREP_SPEC(.type = type, .rank = 1, .dims = &n, .layout = DREP_COMPACT), &ds));
        for (int times = 0; times < 3; times++)
            went(me, drep_write_box(ds, &from, &count, type, from_here,
                                    &DREP_XFER(.collective = me->ranks > 1)));
        drep_dataset_close(ds);
    }
    went(me, drep_dataset_create(f, "/after",
                                 &DREP_SPEC(.type = DREP_LONG, .rank = 2,
                                            .dims = (const int64_t[]){36, 26},
                                            .layout = DREP_CONTIGUOUS),
                                 NULL));
    drep_type_free(texts);
    drep_type_free(records);
}

START_TEST(test_compact_datasets_have_the_bytes_of_one_process)
{
    struct story alone = {
        .fn = tell_compact, .path = temp_path("alone.drep"), .datarep = datareps[_i]};
    struct story s = alone;

    register_datareps();
    s.path = temp_path("ranks.drep");
    story_alone(&alone);
    for (int ranks = 2; ranks <= 5; ranks++) {
        story_run_well(&s, ranks);
        same_file(alone.path, s.path, datareps[_i], ranks);
    }
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("ranks_shapes");
    TCase *tc = tcase_create("ranks_shapes");

    tcase_set_timeout(tc, 60);
    tcase_add_loop_test(tc, test_shapes_beside_own_metadata, 0, 4);
    tcase_add_test(tc, test_shapes_that_contradict);
    tcase_add_loop_test(tc, test_compact_datasets_have_the_bytes_of_one_process, 0, DATAREPS);
    suite_add_tcase(suite, tc);
    return run_suite(suite);
}
