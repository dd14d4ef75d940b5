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

/* ---- new datasets that ranks extend differently ---- */

enum { ROWS = 3, COLUMNS = 5, MOST = 48 }; /* at first; at most, either way */

struct apart {
    int layout;
    bool filtered, texts, wide; /* wide: each rank also has a number of columns of its own */
    bool all_first;             /* all write the first rows together before */
    bool some;                  /* rank 0 has nothing to do with it */
    bool named;                 /* along dimensions that ranks make with it */
    bool closes;                /* drep_close() commits */
};

/* Rows that a rank adds: those of rank 0 come second, and those of the last rank first. */
static int turn_of(const struct teller *me, int rank)
{
    return (rank + 1) % me->ranks;
}

static void shape_of(const struct teller *me, int rank, int64_t dims[2])
{
    const struct apart *a = me->ctx;

    dims[0] = ROWS + 4 * (turn_of(me, rank) + 1);
    dims[1] = a->wide ? COLUMNS + 3 * (me->ranks - turn_of(me, rank)) : COLUMNS;
}

static int value_at(int64_t y, int64_t x)
{
    return 1000 + 100 * (int)y + (int)x;
}

/* Write rows, each element its value; no row if this rank has no part. */
static void write_rows(struct teller *me, drep_dataset *ds, const drep_type *type, int64_t from,
                       int64_t n, int64_t columns, const drep_xfer *xfer)
{
    const struct apart *a = me->ctx;
    const int64_t start[2] = {from, 0}, count[2] = {n, columns};
    static _Thread_local char room[MOST * MOST][12], *text[MOST * MOST];
    int v[MOST * MOST];

    for (int64_t i = 0; i < n * columns; i++) {
        v[i] = value_at(from + i / columns, i % columns);
        snprintf(text[i] = room[i], sizeof room[i], "%d", v[i]);
    }
    went(me, drep_write_box(ds, start, count, type, a->texts ? (void *)text : (void *)v, xfer));
}

static drep_dataset *apart_dataset(struct teller *me, drep_file *f, const drep_type *type)
{
    const struct apart *a = me->ctx;
    const int64_t dims[2] = {ROWS, COLUMNS}, chunk[2] = {2, 4};
    const int64_t max[2] = {DREP_UNLIMITED, a->wide ? DREP_UNLIMITED : COLUMNS};
    const drep_filter filters[2] = {{.id = DREP_FILTER_SHUFFLE}, {.id = DREP_FILTER_LZ4}};
    const char *const names[2] = {"rows", a->wide ? "columns" : NULL};
    drep_spec spec =
        DREP_SPEC(.type = type, .rank = 2, .dims = dims, .maxdims = max, .layout = a->layout);
    drep_dataset *ds = NULL;

    spec.filters = a->filtered ? filters : NULL;
    spec.nfilters = a->filtered ? 2 : 0;
    spec.chunk = a->layout == DREP_CHUNKED ? chunk : NULL;
    spec.dim_names = a->named ? names : NULL;
    went(me, drep_group_create(f, "/g", 0));
    went(me, drep_dataset_create(f, "/g/d", &spec, &ds));
    return ds;
}

/* The shape holds all that ranks have written, and nothing else. */
static void hold_apart(struct teller *me, drep_dataset *ds, const drep_type *type)
{
    const struct apart *a = me->ctx;
    drep_dsinfo info = DREP_DSINFO;
    int64_t dims[2] = {0}, own[2];
    static _Thread_local char *text[MOST * MOST];
    int v[MOST * MOST];

    for (int r = a->some; r < me->ranks; r++) {
        shape_of(me, r, own);
        for (int d = 0; d < 2; d++)
            dims[d] = own[d] > dims[d] ? own[d] : dims[d];
    }
    if (went(me, drep_dataset_info(ds, &info)) &&
        (info.dims[0] != dims[0] || info.dims[1] != dims[1])) {
        me->err = -1;
        snprintf(me->text, sizeof me->text, "%lld x %lld", (long long)info.dims[0],
                 (long long)info.dims[1]);
    }
    if (me->err || !went(me, drep_read(ds, NULL, type, a->texts ? (void *)text : (void *)v, NULL)))
        return;
    for (int64_t i = 0; i < dims[0] * dims[1] && !me->err; i++) {
        int64_t y = i / dims[1], x = i % dims[1], r = (y - ROWS) / 4 - 1;
        int want, is = !a->texts ? v[i] : text[i] && *text[i] ? atoi(text[i]) : 0;

        r = r < 0 ? r + me->ranks : r;
        shape_of(me, (int)r, own);
        want = y < ROWS ? a->all_first && x < COLUMNS : x < own[1] && r >= a->some;
        want = want ? value_at(y, x) : 0;
        if (is != want) {
            me->err = -1;
            snprintf(me->text, sizeof me->text, "element (%lld,%lld) is %d, not %d", (long long)y,
                     (long long)x, is, want);
        }
    }
    if (a->texts)
        drep_vlen_free(type, dims[0] * dims[1], text);
}

static drep_type *apart_type(struct teller *me)
{
    const struct apart *a = me->ctx;
    drep_type *type = NULL;

    went(me, a->texts ? drep_type_vstring(&type) : drep_type_dup(DREP_INT, &type));
    return type;
}

static void tell_grown_apart(struct teller *me, drep_file *f)
{
    const struct apart *a = me->ctx;
    drep_type *type = apart_type(me);
    drep_dataset *ds = NULL;
    int64_t dims[2];

    shape_of(me, me->rank, dims);
    for (int i = 0; i < me->rank; i++) { /* so that ids are different ones */
        char path[40];

        snprintf(path, sizeof path, "/own%d.%d", me->rank, i);
        went(me, drep_group_create(f, path, 0));
    }
    if (!a->some || me->rank > 0) {
        ds = apart_dataset(me, f, type);
        if (a->all_first)
            write_rows(me, ds, type, ROWS * me->rank / me->ranks,
                       ROWS * (me->rank + 1) / me->ranks - ROWS * me->rank / me->ranks, COLUMNS,
                       &DREP_XFER(.collective = 1));
        went(me, drep_dataset_resize(ds, dims));
        write_rows(me, ds, type, dims[0] - 4, 4, dims[1], NULL);
    }
    if (!a->closes) {
        went(me, drep_commit(f));
        if (!ds)
            went(me, drep_dataset_open(f, "/g/d", &ds));
        hold_apart(me, ds, type);
    }
    drep_dataset_close(ds);
    drep_type_free(type);
}

/* One process finds the same, and nothing wrong. */
static void hold_alone(const struct story *s, int ranks)
{
    struct teller me = {.ranks = ranks, .ctx = s->ctx};
    drep_type *type = apart_type(&me);
    int64_t findings = 0;
    drep_dataset *ds;
    drep_file *f;

    ok(drep_open(s->path, DREP_RDONLY, NULL, &f));
    ok(drep_check(f, 1, say_finding, NULL, &findings));
    ck_assert_int_eq(findings, 0);
    ok(drep_dataset_open(f, "/g/d", &ds));
    hold_apart(&me, ds, type);
    ck_assert_msg(me.err == 0, "%d ranks: %s", ranks, me.text);
    drep_dataset_close(ds);
    ok(drep_close(f));
    drep_type_free(type);
}

START_TEST(test_new_datasets_grown_apart)
{
    static const struct apart kinds[] = {
        {.layout = DREP_CHUNKED},
        {.layout = DREP_CHUNKED, .filtered = true},
        {.layout = DREP_CHUNKED, .texts = true},
        {.layout = DREP_CHUNKED, .wide = true},
        {.layout = DREP_CHUNKED, .wide = true, .filtered = true},
        {.layout = DREP_CHUNKED, .wide = true, .filtered = true, .texts = true},
        {.layout = DREP_CONTIGUOUS},
    };

    for (int modes = 0; modes < 16; modes++)
        for (int ranks = 2; ranks <= 5; ranks++) {
            struct apart a = kinds[_i];
            struct story s = {.fn = tell_grown_apart,
                              .ctx = &a,
                              .path = temp_path("apart.drep"),
                              .datarep = modes % 3 ? "external32" : "native"};

            a.all_first = modes & 1;
            a.some = modes & 2;
            a.named = modes & 4;
            a.closes = modes & 8;
            if (a.all_first && a.some)
                continue;
            story_run_well(&s, ranks);
            hold_alone(&s, ranks);
        }
}
END_TEST

/* The last rank cuts off what all have written, and makes the dataset as long as the others have
 * it: those elements are gone, and what rank 0 writes there alone is not. */
static void tell_cut(struct teller *me, drep_file *f)
{
    const int64_t all = LEN, few = 14, at = 15, one = 1;
    drep_dataset *ds = grower(me, f, "/new", LEN);
    int want[LEN], mine = 7;

    write_all(me, ds, 0, LEN, 500);
    if (me->rank == me->ranks - 1) {
        went(me, drep_dataset_resize(ds, &few));
        went(me, drep_dataset_resize(ds, &all));
    }
    if (me->rank == 0)
        went(me, drep_write_box(ds, &at, &one, DREP_INT, &mine, NULL));
    own_group(me, f);
    went(me, drep_commit(f));
    for (int i = 0; i < LEN; i++)
        want[i] = i == at ? mine : i < few ? 500 + i : 0;
    hold(me, ds, LEN, want);
    drep_dataset_close(ds);
}

START_TEST(test_a_new_dataset_cut_and_grown_again)
{
    struct story s = {.fn = tell_cut, .path = temp_path("cut.drep"), .datarep = "native"};

    for (int ranks = 2; ranks <= 4; ranks++)
        story_run_well(&s, ranks);
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
    tcase_add_loop_test(tc, test_new_datasets_grown_apart, 0, 7);
    tcase_add_test(tc, test_a_new_dataset_cut_and_grown_again);
    tcase_add_loop_test(tc, test_compact_datasets_have_the_bytes_of_one_process, 0, DATAREPS);
    suite_add_tcase(suite, tc);
    return run_suite(suite);
}
