/* test_data_grows.c - datasets that grow by writes beyond their end: the chunks that nobody chose,
 * the last of which is stored as far as it is used.
 *
 * needs: deflate */
/* SPDX-License-Identifier: MIT */
#include "data_help.h"

#include <sys/stat.h>

enum { U = -1 };

/* ---- chunks that nobody chose ---- */

static const struct {
    int code, rank, filtered;
    int64_t dims[3], most[3], chunk[3];
} choices[] = {
    /* Few small records: 8 KiB, and no more than twice that. */
    {DREP_CODE_DOUBLE, 1, 0, {0}, {U}, {1024}},
    {DREP_CODE_FLOAT, 3, 0, {2, 3, 4}, {U, 3, 4}, {256, 3, 4}},
    {DREP_CODE_FLOAT, 3, 1, {2, 3, 4}, {U, 3, 4}, {256, 3, 4}},
    {DREP_CODE_INT8_T, 1, 0, {5}, {100}, {80}}, /* up to half of the most that may be */
    /* Many of them: all, up to 1 MiB. */
    {DREP_CODE_DOUBLE, 1, 0, {100000}, {U}, {100000}},
    {DREP_CODE_DOUBLE, 1, 0, {200000}, {U}, {100000}},
    {DREP_CODE_FLOAT, 2, 0, {1000000, 3}, {U, 3}, {62500, 3}},
    /* Records of more than 8 KiB: one, where none is there yet. */
    {DREP_CODE_FLOAT, 3, 0, {0, 44, 64}, {U, 44, 64}, {1, 44, 64}},
    {DREP_CODE_FLOAT, 3, 1, {0, 181, 360}, {U, 181, 360}, {1, 181, 360}},
    {DREP_CODE_FLOAT, 3, 0, {365, 181, 360}, {U, 181, 360}, {3, 181, 360}},
    /* Of more than 1 MiB: parts of one. */
    {DREP_CODE_FLOAT, 3, 0, {365, 721, 1440}, {U, 721, 1440}, {1, 361, 720}},
    /* Several that grow, and none. */
    {DREP_CODE_FLOAT, 2, 0, {10000, 10000}, {U, U}, {313, 625}},
    {DREP_CODE_FLOAT, 2, 1, {10000, 10000}, {10000, 10000}, {313, 625}},
};

START_TEST(test_chunks_that_nobody_chose)
{
    const drep_filter shuffle = {.id = DREP_FILTER_SHUFFLE};
    drep_spec spec = DREP_SPEC(.rank = choices[_i].rank, .dims = choices[_i].dims,
                               .maxdims = choices[_i].most, .layout = DREP_CHUNKED);
    drep_dsinfo info = DREP_DSINFO;
    drep_dataset *ds;
    drep_file *f;

    spec.type = drep_predefined(choices[_i].code);
    spec.filters = choices[_i].filtered ? &shuffle : NULL;
    spec.nfilters = choices[_i].filtered;
    ok(drep_create(":memory:", DREP_RDWR, "internal", NULL, &f));
    ok(drep_dataset_create(f, "d", &spec, &ds));
    ok(drep_dataset_info(ds, &info));
    for (int d = 0; d < info.rank; d++)
        ck_assert_msg(info.chunk[d] == choices[_i].chunk[d], "choice %d: %lld in dimension %d", _i,
                      (long long)info.chunk[d], d);
    drep_dataset_close(ds);
    ok(drep_close(f));
}
END_TEST

/* ---- records beyond the end ---- */

enum { STEPS = 700, HIGH = 3, WIDE = 4, FIELD = HIGH * WIDE };

static float value_of(int step, int i)
{
    return (float)(step * FIELD + i) + 0.5f;
}

static drep_dataset *series(drep_file *f, int filtered)
{
    const int64_t dims[] = {0, HIGH, WIDE}, most[] = {U, HIGH, WIDE};
    const drep_filter deflate = {.id = DREP_FILTER_DEFLATE};
    const float fill = -1;
    drep_spec spec = DREP_SPEC(.type = DREP_FLOAT, .rank = 3, .dims = dims, .maxdims = most,
                               .fill = DREP_FILL_VALUE, .fill_value = &fill);
    drep_dataset *ds;

    spec.filters = filtered ? &deflate : NULL;
    spec.nfilters = filtered;
    ok(drep_dataset_create(f, "series", &spec, &ds));
    return ds;
}

/* As netCDF's programs do it: the shape first, then the record. */
static void put_step(drep_dataset *ds, int step)
{
    const int64_t dims[] = {step + 1, HIGH, WIDE}, at[] = {step, 0, 0}, n[] = {1, HIGH, WIDE};
    float v[FIELD];

    for (int i = 0; i < FIELD; i++)
        v[i] = value_of(step, i);
    ok(drep_dataset_resize(ds, dims));
    ok(drep_write_box(ds, at, n, DREP_FLOAT, v, NULL));
}

static void has_steps(drep_dataset *ds, int steps)
{
    static float v[STEPS * FIELD];

    ok(drep_read(ds, NULL, DREP_FLOAT, v, NULL));
    for (int i = 0; i < steps * FIELD; i++)
        ck_assert_msg(v[i] == value_of(0, i), "element %d: %g", i, v[i]);
}

/* Two steps of a small field, its time and two coordinates take 10 kB at most, however they are
 * written. */
START_TEST(test_two_steps_take_little)
{
    const char *path = temp_path("two.drep");
    const int64_t none = 0, unlimited = U;
    drep_dataset *ds, *time;
    struct stat st;
    drep_file *f;

    ok(drep_create(path, DREP_RDWR, "native", NULL, &f));
    ds = series(f, _i / 3);
    ok(drep_dataset_create(
        f, "time", &DREP_SPEC(.type = DREP_DOUBLE, .rank = 1, .dims = &none, .maxdims = &unlimited),
        &time));
    for (int step = 0; step < 2; step++) {
        const int64_t at = step, n = 1, len = step + 1;
        const double t = step;

        put_step(ds, step);
        ok(drep_dataset_resize(time, &len));
        ok(drep_write_box(time, &at, &n, DREP_DOUBLE, &t, NULL));
        if (_i % 3 > 0)
            ok(drep_commit(f));
        if (_i % 3 > 1) {
            drep_dataset_close(ds);
            drep_dataset_close(time);
            ok(drep_close(f));
            ok(drep_open(path, DREP_RDWR, NULL, &f));
            ok(drep_dataset_open(f, "series", &ds));
            ok(drep_dataset_open(f, "time", &time));
        }
    }
    has_steps(ds, 2);
    check_file(f);
    drep_dataset_close(ds);
    drep_dataset_close(time);
    ok(drep_close(f));
    ck_assert_int_eq(stat(path, &st), 0);
    ck_assert_int_le(st.st_size, 10000);
}
END_TEST

/* The last chunk has what was written of it, in every commit; those before it are whole. */
START_TEST(test_the_last_chunk_is_as_long_as_it_is_used)
{
    const char *path = temp_path("many.drep");
    drep_stored at = DREP_STORED;
    drep_dsinfo info = DREP_DSINFO;
    drep_dataset *ds;
    drep_file *f;

    ok(drep_create(path, DREP_RDWR, "native", NULL, &f));
    ds = series(f, 0);
    ok(drep_dataset_info(ds, &info));
    for (int step = 0; step < STEPS; step++) {
        const int64_t start[] = {step, 0, 0}, chunk = info.chunk[0];

        put_step(ds, step);
        if (step % 50 != _i)
            continue;
        ok(drep_commit(f));
        ok(drep_stored_at(ds, start, &at));
        ck_assert_int_eq(at.bytes, (step % chunk + 1) * FIELD * 4);
        if (step >= chunk) {
            ok(drep_stored_at(ds, (const int64_t[]){0, 0, 0}, &at));
            ck_assert_int_eq(at.bytes, chunk * FIELD * 4);
        }
    }
    has_steps(ds, STEPS);
    check_file(f);
    drep_dataset_close(ds);
    ok(drep_close(f));
    ok(drep_open(path, DREP_RDONLY, NULL, &f));
    ok(drep_dataset_open(f, "series", &ds));
    has_steps(ds, STEPS);
    drep_dataset_close(ds);
    ok(drep_close(f));
}
END_TEST

/* Rewriting all of a short chunk needs nothing of its old bytes; what it does not have is fill. */
START_TEST(test_a_short_chunk_is_written_again)
{
    static float v[8 * FIELD], got[8 * FIELD];
    const int64_t five[] = {5, HIGH, WIDE}, eight[] = {8, HIGH, WIDE}, one[] = {1, HIGH, WIDE};
    const int64_t last[] = {7, 0, 0}, origin[] = {0, 0, 0};
    const char *path = temp_path("again.drep");
    drep_stored at = DREP_STORED;
    drep_dataset *ds;
    drep_file *f;
    FILE *raw;

    ok(drep_create(path, DREP_RDWR, "native", NULL, &f));
    ds = series(f, 0);
    for (int step = 0; step < 5; step++)
        put_step(ds, step);
    ok(drep_commit(f));
    ok(drep_stored_at(ds, origin, &at));
    ck_assert_ptr_nonnull(raw = fopen(path, "r+b"));
    ck_assert_int_eq(fseek(raw, (long)at.offset, SEEK_SET), 0);
    fputs("damage", raw);
    fclose(raw);
    drep_dataset_close(ds);
    ok(drep_close(f));
    ok(drep_open(path, DREP_RDWR, NULL, &f));
    ok(drep_dataset_open(f, "series", &ds));
    fails(drep_read(ds, NULL, DREP_FLOAT, got, NULL), DREP_ERR_CHECKSUM);
    for (int i = 0; i < 8 * FIELD; i++)
        v[i] = i < 5 * FIELD ? value_of(0, i) : -1;
    ok(drep_write_box(ds, origin, five, DREP_FLOAT, v, NULL));
    ok(drep_dataset_resize(ds, eight));
    ok(drep_read(ds, NULL, DREP_FLOAT, got, NULL));
    ck_assert_int_eq(memcmp(v, got, sizeof v), 0);
    ok(drep_write_box(ds, last, one, DREP_FLOAT, v, NULL));
    memcpy(v + 7 * FIELD, v, FIELD * sizeof *v);
    ok(drep_commit(f));
    ok(drep_read(ds, NULL, DREP_FLOAT, got, NULL));
    ck_assert_int_eq(memcmp(v, got, sizeof v), 0);
    check_file(f);
    drep_dataset_close(ds);
    ok(drep_close(f));
}
END_TEST

int main(void)
{
    Suite *s = suite_create("data grows");
    TCase *t = tcase_create("grows");

    tcase_set_timeout(t, 300);
    tcase_add_loop_test(t, test_chunks_that_nobody_chose, 0, sizeof choices / sizeof *choices);
    tcase_add_loop_test(t, test_two_steps_take_little, 0, 6);
    tcase_add_loop_test(t, test_the_last_chunk_is_as_long_as_it_is_used, 0, 3);
    tcase_add_test(t, test_a_short_chunk_is_written_again);
    suite_add_tcase(s, t);
    return run_suite(s);
}
