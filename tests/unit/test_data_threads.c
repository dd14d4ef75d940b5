/* test_data_threads.c - many threads on one handle: readers of different parts, of the
 * same parts, and writers that are serialised (D23).  Meant for MODE=tsan. */
/* SPDX-License-Identifier: MIT */
#include "data_help.h"

#include <pthread.h>
#include <stdatomic.h>

enum { THREADS = 8, ROWS = 64, COLUMNS = 500 };

static drep_file *f;
static atomic_int bad;

struct part {
    pthread_t thread;
    const char *name;
    int number;
};

static double expected(int row, int column)
{
    return row * 1000.0 + column;
}

static void fill(drep_dataset *ds)
{
    static double v[ROWS][COLUMNS];

    for (int i = 0; i < ROWS; i++)
        for (int k = 0; k < COLUMNS; k++)
            v[i][k] = expected(i, k);
    ok(drep_write(ds, NULL, DREP_DOUBLE, v, NULL));
}

/* Reads rows of its own and some of all, under a handle of its own. */
static void *read_rows(void *ctx)
{
    struct part *p = ctx;
    double row[COLUMNS];
    drep_dataset *ds;
    int wrong = 0;

    for (int turn = 0; turn < 4; turn++) {
        if (drep_dataset_open(f, p->name, &ds) != 0) {
            bad++;
            return NULL;
        }
        for (int i = 0; i < ROWS; i++) {
            const int columns = turn >= 2 && (p->number + i) % 3 == 0;
            int64_t start[] = {turn % 2 ? i : (i * THREADS + p->number) % ROWS, 0};
            int64_t count[] = {1, COLUMNS};
            drep_selection *sel;

            if (columns) { /* of a shuffled chunk that others read row by row */
                start[1] = start[0];
                start[0] = 0;
                count[0] = ROWS;
                count[1] = 1;
            }

            if (drep_select_box(2, start, count, NULL, NULL, &sel) != 0 ||
                drep_read(ds, sel, DREP_DOUBLE, row, NULL) != 0)
                bad++;
            for (int k = 0; k < count[0] * count[1]; k++)
                wrong +=
                    row[k] != (columns ? expected(k, (int)start[1]) : expected((int)start[0], k));
            drep_selection_free(sel);
        }
        drep_dataset_close(ds);
    }
    bad += wrong;
    return NULL;
}

static void run(struct part *parts, int n, void *(*fn)(void *))
{
    atomic_store(&bad, 0);
    for (int i = 0; i < n; i++) {
        parts[i].number = i;
        ck_assert_int_eq(pthread_create(&parts[i].thread, NULL, fn, &parts[i]), 0);
    }
    for (int i = 0; i < n; i++)
        pthread_join(parts[i].thread, NULL);
    ck_assert_int_eq(bad, 0);
}

static void make_datasets(const char *path, const char *datarep)
{
    static const char *const names[] = {"flat", "chunked", "packed"};
    const int64_t dims[] = {ROWS, COLUMNS}, chunk[] = {10, 100};
    drep_filter filter[] = {{.id = DREP_FILTER_SHUFFLE}, {.id = DREP_FILTER_DEFLATE}};

    register_datareps();
    f = new_file(path, datarep);
    for (int i = 0; i < 3; i++) {
        drep_spec spec =
            DREP_SPEC(.type = i == 1 ? DREP_FLOAT : DREP_DOUBLE, .rank = 2, .dims = dims,
                      .layout = i == 0 ? DREP_CONTIGUOUS : DREP_CHUNKED,
                      .chunk = i == 0 ? NULL : chunk, .filters = i == 2 ? filter : NULL,
                      .nfilters = i == 2 ? 1 + drep_filter_available(DREP_FILTER_DEFLATE) : 0);
        drep_dataset *ds;

        ok(drep_dataset_create(f, names[i], &spec, &ds));
        fill(ds);
        drep_dataset_close(ds);
    }
    ok(drep_attr_write_string(f, "/", "text", "said by all"));
}

/* D23: reads of one handle from many threads, of a file that was opened for reading and
 * of one with changes that are not committed. */
START_TEST(test_D23_readers_of_one_handle)
{
    static const char *const names[] = {"flat", "chunked", "packed"};
    struct part parts[THREADS];

    make_datasets(temp_path("threads"), datareps[_i]);
    for (int committed = 0; committed < 2; committed++) {
        for (int i = 0; i < THREADS; i++)
            parts[i].name = names[i % 3];
        run(parts, THREADS, read_rows);
        for (int i = 0; i < THREADS; i++)
            parts[i].name = names[1];
        run(parts, THREADS, read_rows);
        ok(drep_close(f));
        ok(drep_open(temp_path("threads"), DREP_RDONLY, NULL, &f));
    }
    ok(drep_close(f));
}
END_TEST

/* Whatever reads beside what writes: each call is whole. */
static void *anything(void *ctx)
{
    struct part *p = ctx;
    char name[20], *text;

    for (int i = 0; i < 40; i++) {
        drep_objinfo info = DREP_OBJINFO;
        drep_dataset *ds;
        double v[4] = {p->number, p->number, p->number, p->number};
        const int64_t four = 4;

        snprintf(name, sizeof name, "t%d-%d", p->number, i);
        switch ((p->number + i) % 4) {
        case 0:
            if (drep_dataset_create(
                    f, name, &DREP_SPEC(.type = DREP_DOUBLE, .rank = 1, .dims = &four), &ds) != 0) {
                bad++;
                break;
            }
            bad += drep_write(ds, NULL, NULL, v, NULL) != 0;
            drep_dataset_close(ds);
            break;
        case 1:
            bad += drep_attr_write_int64(f, "/", name, i) != 0;
            break;
        case 2:
            if (drep_dataset_open(f, "shared", &ds) != 0) {
                bad++;
                break;
            }
            bad += drep_write(ds, NULL, NULL, v, NULL) != 0;
            bad += drep_read(ds, NULL, NULL, v, NULL) != 0;
            bad += v[0] != v[1] || v[0] != v[3]; /* of one writer */
            drep_dataset_close(ds);
            break;
        default:
            bad += drep_stat(f, "/shared", &info) != 0;
            bad += drep_attr_read(f, "/", "text", NULL, &text) != 0;
            bad += strcmp(text, "said by all") != 0;
            free(text);
            bad += i % 10 == 0 && drep_commit(f) != 0;
        }
    }
    return NULL;
}

START_TEST(test_D23_writers_are_serialised)
{
    struct part parts[THREADS];
    const int64_t four = 4;

    make_datasets(temp_path("writers"), "external32");
    drep_dataset_close(new_dataset(f, "shared", DREP_DOUBLE, 1, &four));
    run(parts, THREADS, anything);
    check_file(f);
    ok(drep_close(f));
}
END_TEST

/* Types of the file that all threads meet for the first time at once. */
static void *read_types(void *ctx)
{
    struct part *p = ctx;
    char name[32];

    for (int i = 0; i < 20; i++) {
        drep_attrinfo info = DREP_ATTRINFO;
        drep_dataset *ds;
        drep_dsinfo d = DREP_DSINFO;

        snprintf(name, sizeof name, "d%d", (i + p->number) % 20);
        if (drep_dataset_open(f, name, &ds) != 0) {
            bad++;
            continue;
        }
        bad += drep_dataset_info(ds, &d) != 0;
        bad += drep_attr_info(f, name, "a", &info) != 0;
        drep_attrinfo_release(&info);
        drep_dataset_close(ds);
    }
    return NULL;
}

START_TEST(test_D23_first_meetings)
{
    struct part parts[THREADS];

    f = new_file(temp_path("types"), "external32");
    for (int i = 0; i < 20; i++) {
        drep_type *type;
        char name[32];

        snprintf(name, sizeof name, "d%d", i);
        ok(drep_type_string(i + 1, DREP_PAD_NUL, &type));
        drep_dataset_close(new_dataset(f, name, type, 0, NULL));
        drep_type_free(type);
        ok(drep_attr_write_string(f, name, "a", name));
    }
    ok(drep_close(f));
    ok(drep_open(temp_path("types"), DREP_RDONLY, NULL, &f));
    run(parts, THREADS, read_types);
    ok(drep_close(f));
}
END_TEST

/* ---- boxes that several threads share ---- */

enum { PLANES = 3, LINES = 600, WIDE = 700, BOXES = 150 };

/* What stands there: the last plane is never written. */
static double value_at(int64_t plane, int64_t line, int64_t column)
{
    return plane == PLANES - 1 ? -1 : (double)((plane * LINES + line) * WIDE + column);
}

static void some_box(struct rnd *r, int64_t most, int64_t *start, int64_t *count, int64_t *stride,
                     int64_t *block)
{
    int64_t left;

    *start = (int64_t)rnd_below(r, (uint64_t)most);
    left = most - *start;
    *stride = rnd_below(r, 2) ? 1 : 1 + (int64_t)rnd_below(r, (uint64_t)(left < 40 ? left : 40));
    *block = rnd_below(r, 2) ? 1 : 1 + (int64_t)rnd_below(r, (uint64_t)*stride);
    *count =
        *block > left ? 0 : 1 + (int64_t)rnd_below(r, (uint64_t)((left - *block) / *stride + 1));
    if (*count == 0)
        *block = *count = 1;
}

static int64_t nth(int64_t start, int64_t stride, int64_t block, int64_t k)
{
    return start + k / block * stride + k % block;
}

static void check_box(drep_dataset *ds, struct rnd *r, double *to)
{
    static const int threads[] = {1, 2, 4};
    const int64_t dims[] = {PLANES, LINES, WIDE};
    int64_t start[3], count[3], stride[3], block[3], n[3], wrong = 0;
    drep_selection *sel;

    for (int d = 0; d < 3; d++) {
        some_box(r, dims[d], &start[d], &count[d], &stride[d], &block[d]);
        n[d] = count[d] * block[d];
    }
    ok(drep_select_box(3, start, count, stride, block, &sel));
    for (int t = 0; t < 3; t++) {
        drep_xfer xfer = DREP_XFER(.threads = threads[t]);
        const double *p = to;

        memset(to, 0x55, (size_t)(n[0] * n[1] * n[2]) * sizeof *to);
        ok(drep_read(ds, sel, DREP_DOUBLE, to, &xfer));
        for (int64_t i = 0; i < n[0]; i++)
            for (int64_t k = 0; k < n[1]; k++)
                for (int64_t l = 0; l < n[2]; l++)
                    wrong += *p++ != value_at(nth(start[0], stride[0], block[0], i),
                                              nth(start[1], stride[1], block[1], k),
                                              nth(start[2], stride[2], block[2], l));
        ck_assert_int_eq(wrong, 0);
    }
    drep_selection_free(sel);
}

/* nfilters -1: contiguous. */
static drep_dataset *new_box(const char *name, const drep_type *type, int nfilters)
{
    static const int64_t dims[] = {PLANES, LINES, WIDE}, chunk[] = {1, 250, 256};
    static const drep_filter filters[][2] = {
        {{.id = DREP_FILTER_SHUFFLE}, {.id = DREP_FILTER_LZ4}},
        {{.id = DREP_FILTER_BITSHUFFLE}, {.id = DREP_FILTER_LZ4}}};
    const double fill = -1;
    const float small = -1;
    drep_spec spec = DREP_SPEC(.type = type, .rank = 3, .dims = dims,
                               .layout = nfilters < 0 ? DREP_CONTIGUOUS : DREP_CHUNKED,
                               .chunk = nfilters < 0 ? NULL : chunk, .fill = DREP_FILL_VALUE,
                               .fill_value = type == DREP_FLOAT ? (const void *)&small : &fill,
                               .filters = nfilters > 0 ? filters[nfilters > 2] : NULL,
                               .nfilters = nfilters > 2   ? 2
                                           : nfilters < 0 ? 0
                                                          : nfilters);
    drep_dataset *ds;

    if (!drep_filter_available(DREP_FILTER_LZ4) && spec.nfilters > 1)
        spec.nfilters = 1;
    ok(drep_dataset_create(f, name, &spec, &ds));
    return ds;
}

/* However few bytes are wanted, and however they are cut into pieces for threads. */
START_TEST(test_boxes_in_pieces)
{
    static const int64_t start[] = {0, 0, 0}, count[] = {PLANES - 1, LINES, WIDE};
    double *v = malloc(sizeof(double) * PLANES * LINES * WIDE);
    drep_selection *all;
    struct rnd r;

    ck_assert_ptr_nonnull(v);
    rnd_init(&r, 11);
    f = new_file(temp_path("pieces"), _i % 2 ? "external32" : "native");
    for (int filters = -1; filters < 4; filters++) {
        char name[8] = {(char)('b' + filters), 0};
        drep_dataset *ds = new_box(name, _i / 2 ? DREP_FLOAT : DREP_DOUBLE, filters);

        for (int64_t i = 0; i < (int64_t)PLANES * LINES * WIDE; i++)
            v[i] = (double)i;
        ok(drep_select_box(3, start, count, NULL, NULL, &all));
        ok(drep_write(ds, all, DREP_DOUBLE, v, NULL));
        drep_selection_free(all);
        ok(drep_commit(f));
        for (int i = 0; i < BOXES; i++)
            check_box(ds, &r, v);
        drep_dataset_close(ds);
    }
    ok(drep_close(f));
    free(v);
}
END_TEST

int main(void)
{
    Suite *s = suite_create("data threads");
    TCase *t = tcase_create("threads");

    tcase_set_timeout(t, 300);
    tcase_add_loop_test(t, test_D23_readers_of_one_handle, 0, DATAREPS);
    tcase_add_test(t, test_D23_writers_are_serialised);
    tcase_add_test(t, test_D23_first_meetings);
    tcase_add_loop_test(t, test_boxes_in_pieces, 0, 4);
    suite_add_tcase(s, t);
    return run_suite(s);
}
