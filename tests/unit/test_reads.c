/* test_reads.c - how often a file is read, where each round trip counts (D41).
 *
 * Each work begins with the opening, on a driver that counts.  `near`: a driver that has no round
 * trip to save, as the local file; `far`: one as HTTP would be; each for a packed file and for one
 * that is not.
 *
 * needs: deflate */
/* SPDX-License-Identifier: MIT */
#include "file/file.h" /* before Check, which has a fail() of its own */

#include "countio.h"
#include "data_help.h"

/* Round trips are the same with a sanitizer, and 10^6 chunks take it minutes. */
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define SLOW 0
#else
#define SLOW 1
#endif
#define GROUPS 100
#define EACH 99        /* datasets of a group */
#define ROWS 317       /* of chunks, and as many in a row: 10^5 */
#define MANY_ROWS 1000 /* of chunks of another dataset */
#define CHUNK 8        /* elements of a chunk along a dimension */
#define SLICE_ROWS 100 /* of other datasets */
#define SLICE_CHUNK 14 /* 64 elements touch five chunks */
#define PATH_MAX_TEST 64
#define SMALL_TREE 12000
#define PLAIN_ROWS 1500 /* of PLAIN_LEN elements: 12 MiB */
#define PLAIN_LEN 1024

/* ---- the files ---- */

static drep_file *create(const char *name, bool pack)
{
    drep_info *info =
        hints("drep_sync=none", pack ? "drep_pack=true" : "drep_pack=false", (char *)NULL);
    drep_file *f;

    ok(drep_create(temp_path(name), DREP_RDWR, "external32", info, &f));
    drep_info_free(info);
    if (!pack) /* the extent that the slot names is that of the first commit */
        ok(drep_commit(f));
    return f;
}

static void add_attributes(drep_file *f, const char *path)
{
    ok(drep_attr_write_string(f, path, "units", "metres per second, measured"));
    ok(drep_attr_write_string(f, path, "long_name", "a name that says what the value is of"));
    ok(drep_attr_write_string(f, path, "origin", "made by a test, to have some bytes here"));
}

static void fill_objects(drep_file *f)
{
    char path[PATH_MAX_TEST];

    for (int g = 0; g < GROUPS; g++) {
        snprintf(path, sizeof path, "/group%03d", g);
        ok(drep_group_create(f, path, 0));
        for (int i = 0; i < EACH; i++) {
            double value = g * EACH + i;
            drep_dataset *ds;

            snprintf(path, sizeof path, "/group%03d/measured%02d", g, i);
            ds = new_dataset(f, path, DREP_DOUBLE, 0, NULL);
            ok(drep_write(ds, NULL, NULL, &value, NULL));
            drep_dataset_close(ds);
            add_attributes(f, path);
        }
    }
}

static double value_at(int64_t row, int64_t column)
{
    return (double)(row * 3 + column % 1000) + (double)((row ^ column) % 7) / 8;
}

/* Make a square of chunks, deflated or not. */
static void fill_square(drep_file *f, int64_t square, int64_t chunk, int nfilters)
{
    static const drep_filter filter = {.id = DREP_FILTER_DEFLATE, .level = 1};
    int64_t n = square * chunk, dims[2] = {n, n}, chunks[2] = {chunk, chunk};
    drep_spec spec =
        DREP_SPEC(.type = DREP_DOUBLE, .rank = 2, .dims = dims, .layout = DREP_CHUNKED,
                  .chunk = chunks, .filters = nfilters > 0 ? &filter : NULL, .nfilters = nfilters);
    double *rows = malloc((size_t)(n * chunk) * sizeof *rows);
    drep_dataset *ds;

    ck_assert_ptr_nonnull(rows);
    ok(drep_dataset_create(f, "/a", &spec, &ds));
    for (int64_t r = 0; r < square; r++) {
        int64_t start[2] = {r * chunk, 0}, count[2] = {chunk, n};
        drep_selection *sel;

        for (int64_t i = 0; i < chunk * n; i++)
            rows[i] = value_at(r * chunk + i / n, i % n);
        ok(drep_select_box(2, start, count, NULL, NULL, &sel));
        ok(drep_write(ds, sel, NULL, rows, NULL));
        drep_selection_free(sel);
    }
    free(rows);
    drep_dataset_close(ds);
}

/* ---- the works ---- */

static drep_file *open_on(struct count_file *c, drep_info *info)
{
    drep_file *f;

    ok(file_open_on(count_io(c), DREP_RDONLY, info, 0, &f));
    return f;
}

struct walk {
    drep_file *f;
    const char *group;
    bool values; /* and attributes, not only what a listing shows */
    int objects;
};

static int see_attribute(const char *name, void *ctx)
{
    (void)name;
    (void)ctx;
    return 0;
}

static int walk_member(const drep_linkinfo *link, void *ctx)
{
    struct walk *w = ctx, inner = {w->f, NULL, w->values, 0};
    char path[PATH_MAX_TEST];
    drep_objinfo info = DREP_OBJINFO;

    snprintf(path, sizeof path, "%s/%s", w->group, link->name);
    ok(drep_stat(w->f, path, &info));
    w->objects++;
    if (link->kind == DREP_OBJ_GROUP) {
        inner.group = path;
        ok(drep_list(w->f, path, DREP_BY_NAME, walk_member, &inner));
        ck_assert_int_eq(inner.objects, EACH);
        w->objects += inner.objects;
    } else {
        drep_dsinfo shape = DREP_DSINFO;
        double value = -1;
        drep_dataset *ds;

        ok(drep_dataset_open(w->f, path, &ds));
        ok(drep_dataset_info(ds, &shape));
        if (w->values) {
            ok(drep_read(ds, NULL, NULL, &value, NULL));
            ck_assert(value >= 0 && value < GROUPS * EACH);
            ok(drep_attr_list(w->f, path, DREP_BY_NAME, see_attribute, NULL));
        }
        drep_dataset_close(ds);
    }
    return 0;
}

static void walk_all(drep_file *f)
{
    struct walk w = {f, "", true, 0};

    ok(drep_list(f, "/", DREP_BY_NAME, walk_member, &w));
    ck_assert_int_eq(w.objects, GROUPS * (EACH + 1));
}

static void describe(drep_file *f)
{
    drep_dsinfo info = DREP_DSINFO;
    drep_dataset *ds;

    ok(drep_dataset_open(f, "/a", &ds));
    ok(drep_dataset_info(ds, &info));
    ck_assert_int_eq(info.dims[0], ROWS * CHUNK);
    ck_assert_int_eq(info.nfilters, 1);
    drep_dataset_close(ds);
}

static void read_box(drep_file *f, int64_t row, int64_t column, int64_t rows, int64_t columns)
{
    int64_t start[2] = {row, column}, count[2] = {rows, columns};
    double *got = malloc((size_t)(rows * columns) * sizeof *got);
    drep_selection *sel;
    drep_dataset *ds;
    int wrong = 0;

    ck_assert_ptr_nonnull(got);
    ok(drep_dataset_open(f, "/a", &ds));
    ok(drep_select_box(2, start, count, NULL, NULL, &sel));
    ok(drep_read(ds, sel, NULL, got, NULL));
    for (int64_t i = 0; i < rows * columns; i++)
        wrong += got[i] != value_at(row + i / columns, column + i % columns);
    ck_assert_int_eq(wrong, 0);
    drep_selection_free(sel);
    drep_dataset_close(ds);
    free(got);
}

static void one_element(drep_file *f)
{
    read_box(f, 1000, 2000, 1, 1);
}

static void slice(drep_file *f)
{
    read_box(f, 15 * SLICE_CHUNK + 3, 20 * SLICE_CHUNK + 3, 64, 64);
}

/* List the objects with their shapes, then read a slice of the dataset beside them. */
static void list_and_slice(drep_file *f)
{
    struct walk w = {f, "", false, 0};

    ok(drep_list(f, "/", DREP_BY_NAME, walk_member, &w));
    ck_assert_int_eq(w.objects, GROUPS * (EACH + 1) + 1);
    slice(f);
}

static void column(drep_file *f)
{
    read_box(f, 0, 1234, ROWS * CHUNK, 1);
}

/* ---- the table ---- */

static const struct work {
    const char *name;
    void (*run)(drep_file *f);
    int file;      /* objects, small chunks, larger ones, those without filters */
    int64_t trips; /* at most: packed and far, by the issue; */
    int64_t loose; /* not packed and far; */
    int64_t near;  /* packed and near: reads */
} works[] = {
    {"open, list and walk 10,000 objects", walk_all, 0, 4, 24, 1000},
    {"describe 10^5 filtered chunks", describe, 1, 2, 4, 6},
    {"one element of 10^5 filtered chunks", one_element, 1, 5, 5, 7},
    {"64x64 of 25 filtered chunks", slice, 2, 3, 6, 60},
    {"64x64 of 25 plain chunks", slice, 3, 3, 6, 120},
    {"a column of 10^5 filtered chunks", column, 1, 8, 8, 700},
    {"list 10,000 objects, 64x64 of 25 chunks", list_and_slice, 4, 4, 12, 1000},
#if SLOW
    {"one element of 10^6 filtered chunks", one_element, 5, 6, 6, 7},
#endif
};
enum { WORKS = sizeof works / sizeof works[0], FILES = 5 + SLOW };

static void make_file(int file, const char *name, bool pack)
{
    drep_file *f = create(name, pack);

    if (file == 0 || file == 4)
        fill_objects(f);
    if (file == 1 || file == 5)
        fill_square(f, file == 1 ? ROWS : MANY_ROWS, CHUNK, 1);
    else if (file > 0)
        fill_square(f, SLICE_ROWS, SLICE_CHUNK, file != 3);
    ok(drep_close(f));
}

static void run_work(const struct work *w, struct count_file *c, const char *how, drep_info *info)
{
    drep_file *f;

    count_reset(c);
    f = open_on(c, info);
    w->run(f);
    printf("# %-40s %-13s %5lld reads %5lld trips %9lld bytes %7.2f s\n", w->name, how,
           (long long)c->reads, (long long)c->trips, (long long)c->bytes, c->seconds);
    ok(drep_close(f));
}

/* Runs the works of a packed file: far, near, and far without reading ahead. */
static void run_packed(const struct work *w, struct count_file *c)
{
    drep_info *info = hints("drep_fetch_size=0", (char *)NULL);

    run_work(w, c, "far packed", NULL);
    ck_assert_int_le(c->trips, w->trips);
    run_work(w, c, "one by one", info);
    ck_assert_int_eq(c->trips, c->reads);
    ck_assert_int_le(c->reads, w->near);
    c->round_trip = 0;
    run_work(w, c, "near packed", NULL);
    ck_assert_int_le(c->reads, w->near);
    c->round_trip = COUNT_TRIP;
    drep_info_free(info);
}

START_TEST(test_D41_few_round_trips)
{
    for (int file = 0; file < FILES; file++) {
        for (int pack = 1; pack >= 0; pack--) {
            struct count_file c;

            if (pack && file == 5) /* a million chunks take long, and are found by the same nodes */
                continue;
            make_file(file, "counted", pack);
            count_init(&c, temp_path("counted"));
            for (int i = 0; i < WORKS; i++) {
                if (works[i].file != file)
                    continue;
                if (pack) {
                    run_packed(&works[i], &c);
                    continue;
                }
                run_work(&works[i], &c, "far", NULL);
                ck_assert_int_le(c.trips, works[i].loose);
            }
            count_release(&c);
        }
    }
}
END_TEST

/* A contiguous dataset of 8 MiB comes slab by slab; a column of one large plain chunk, whose rows
 * are far apart, window by window. */
START_TEST(test_D41_few_large_reads)
{
    int64_t side = 1000, one[2] = {side, 1}, dims[2] = {side, side};
    double *values = malloc((size_t)(side * side) * sizeof *values);
    drep_file *f = create("counted", true);
    const char *paths[] = {"/contiguous", "/chunk"};
    struct count_file c;

    ck_assert_ptr_nonnull(values);
    for (int64_t i = 0; i < side * side; i++)
        values[i] = value_at(i / side, i % side);
    for (int k = 0; k < 2; k++) {
        drep_spec spec = DREP_SPEC(.type = DREP_DOUBLE, .rank = 2, .dims = dims);
        drep_dataset *ds;

        spec.layout = k == 0 ? DREP_CONTIGUOUS : DREP_CHUNKED;
        spec.chunk = k == 0 ? NULL : dims;
        ok(drep_dataset_create(f, paths[k], &spec, &ds));
        ok(drep_write(ds, NULL, NULL, values, NULL));
        drep_dataset_close(ds);
    }
    ok(drep_close(f));
    count_init(&c, temp_path("counted"));
    for (int k = 0; k < 3; k++) {
        int64_t start[2] = {0, 500};
        drep_selection *sel = NULL;
        drep_dataset *ds;
        int wrong = 0;

        count_reset(&c);
        memset(values, 0, (size_t)(side * side) * sizeof *values);
        f = open_on(&c, NULL);
        ok(drep_dataset_open(f, paths[k > 1], &ds));
        if (k > 0)
            ok(drep_select_box(2, start, one, NULL, NULL, &sel));
        ok(drep_read(ds, sel, NULL, values, NULL));
        for (int64_t i = 0; i < (k > 0 ? side : side * side); i++)
            wrong += values[i] != (k > 0 ? value_at(i, 500) : value_at(i / side, i % side));
        ck_assert_int_eq(wrong, 0);
        printf("# %s of %s: %lld trips\n", k > 0 ? "a column" : "all", paths[k > 1],
               (long long)c.trips);
        ck_assert_int_le(c.trips, k > 1 ? 130 : 8);
        drep_selection_free(sel);
        drep_dataset_close(ds);
        ok(drep_close(f));
    }
    count_release(&c);
    free(values);
}
END_TEST

/* A tree whose leaves cost no more than a round trip comes at once, though no extent names it. */
START_TEST(test_D41_a_small_tree_is_one_fetch)
{
    drep_file *f = create("counted", false);
    struct count_file c;
    char path[PATH_MAX_TEST];
    struct walk w = {NULL, "", false, 0};

    for (int i = 0; i < SMALL_TREE; i++) {
        snprintf(path, sizeof path, "/measured%04d", i);
        drep_dataset_close(new_dataset(f, path, DREP_DOUBLE, 0, NULL));
    }
    ok(drep_close(f));
    count_init(&c, temp_path("counted"));
    f = w.f = open_on(&c, NULL);
    ok(drep_list(f, "/", DREP_BY_NAME, walk_member, &w));
    ck_assert_int_eq(w.objects, SMALL_TREE);
    ok(drep_close(f));
    printf("# a small tree: %lld trips, %lld bytes\n", (long long)c.trips, (long long)c.bytes);
    ck_assert_int_gt(c.bytes, COUNT_TRIP / 4 + (64 << 10)); /* more than a stream begins with */
    ck_assert_int_le(c.trips, 3);                           /* the front, the root, the leaves */
    count_release(&c);
}
END_TEST

/* Make "/a", plain, of elements as memory has them. */
static void make_plain(int layout)
{
    int64_t dims[2] = {PLAIN_ROWS, PLAIN_LEN}, chunk[2] = {64, PLAIN_LEN};
    drep_spec spec = DREP_SPEC(.type = DREP_DOUBLE, .rank = 2, .dims = dims);
    double *values = malloc(sizeof *values * PLAIN_ROWS * PLAIN_LEN);
    drep_dataset *ds;
    drep_file *f;

    ck_assert_ptr_nonnull(values);
    for (int64_t i = 0; i < PLAIN_ROWS * PLAIN_LEN; i++)
        values[i] = value_at(i / PLAIN_LEN, i % PLAIN_LEN);
    spec.layout = layout;
    spec.chunk = layout == DREP_CHUNKED ? chunk : NULL;
    ok(drep_create(temp_path("counted"), DREP_RDWR, "native", NULL, &f));
    ok(drep_dataset_create(f, "/a", &spec, &ds));
    ok(drep_write(ds, NULL, NULL, values, NULL));
    drep_dataset_close(ds);
    ok(drep_close(f));
    free(values);
}

/* Large plain chunks go to the caller's memory at once, and are right whatever arrives; chunks and
 * their checksums are looked up once. */
START_TEST(test_D41_straight_to_memory)
{
    static const int64_t boxes[][2] = {{0, PLAIN_ROWS}, {1, PLAIN_ROWS - 2}, {100, 1300}};
    drep_info *info = hints("drep_cache_size=1048576", "drep_fetch_size=2097152", (char *)NULL);

    for (int i = 0; i < 18; i++) {
        const int64_t *box = boxes[i / 6];
        int64_t least = box[1] * PLAIN_LEN * (int64_t)sizeof(double);
        int fault = i % 3;
        struct count_file c;
        drep_file *f;

        make_plain(i / 3 % 2 ? DREP_CHUNKED : DREP_CONTIGUOUS);
        count_init(&c, temp_path("counted"));
        f = open_on(&c, info);
        c.damage = fault == 1;
        c.fail = fault == 2;
        read_box(f, box[0], 0, box[1], PLAIN_LEN);
        printf("# %lld rows, fault %d: %lld trips, %lld of %lld bytes\n", (long long)box[1], fault,
               (long long)c.trips, (long long)c.bytes, (long long)least);
        if (fault == 0) {
            ck_assert_int_le(c.bytes, least + (1 << 20));
            ck_assert_int_le(c.trips, 14); /* 12 MiB by 7/4 MiB, the root, leaves, checksums */
        }
        ok(drep_close(f));
        count_release(&c);
    }
    drep_info_free(info);
}
END_TEST

/* What was fetched is advice: where all of it is wrong, or fails, the values are right and nothing
 * is reported. */
START_TEST(test_D41_what_was_fetched_is_used_only_if_its_sum_agrees)
{
    for (int i = 1; i < WORKS; i++) {
        struct count_file c;

        if ((works[i].file == 1 && i > 2) || works[i].file > 3)
            continue;
        make_file(works[i].file, "counted", i % 2);
        count_init(&c, temp_path("counted"));
        c.damage = true;
        run_work(&works[i], &c, "damaged", NULL);
        c.damage = false;
        c.fail = true;
        run_work(&works[i], &c, "failing", NULL);
        count_release(&c);
    }
}
END_TEST

int main(void)
{
    Suite *s = suite_create("reads");
    TCase *c = tcase_create("all");
    SRunner *r = srunner_create(s);
    int failed;

    tcase_add_test(c, test_D41_few_round_trips);
    tcase_add_test(c, test_D41_few_large_reads);
    tcase_add_test(c, test_D41_a_small_tree_is_one_fetch);
    tcase_add_test(c, test_D41_straight_to_memory);
    tcase_add_test(c, test_D41_what_was_fetched_is_used_only_if_its_sum_agrees);
    tcase_set_timeout(c, 300);
    suite_add_tcase(s, c);
    srunner_run_all(r, CK_NORMAL);
    failed = srunner_ntests_failed(r);
    srunner_free(r);
    return failed != 0;
}
